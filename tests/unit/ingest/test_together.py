"""Which files are one source only together."""

from time import process_time

import pytest

from ingest.together import exports, files_of

DAY = "general/2026-01-01.json"
WHOLE = ("channels.json", DAY, "integration_logs.json", "users.json")


def test_an_export_is_people_rooms_and_days_in_any_folder():
    others = {"b/notes.md", "b/general/x.json", "b/general/deep/2026-01-01.json", "c/users.json"}
    names = {*WHOLE, *(f"b/{one}" for one in WHOLE), *others}
    assert dict(exports(names)) == {"": WHOLE, "b/": WHOLE}


@pytest.mark.parametrize("missing", ["channels.json", "users.json", DAY])
def test_without_one_of_its_parts_it_is_none(missing):
    assert list(exports(set(WHOLE) - {missing})) == []


@pytest.mark.parametrize("rooms", ["groups.json", "mpims.json", "dms.json"])
def test_any_list_of_rooms_will_do(rooms):
    assert [prefix for prefix, _ in exports({rooms, "users.json", DAY})] == [""]


def test_many_exports_are_found_in_time_that_grows_with_them():
    def seconds(count):
        names = {f"{number}/{one}" for number in range(count) for one in WHOLE}
        begun = process_time()
        assert len(list(exports(names))) == count
        return process_time() - begun

    few, many = (min(seconds(count) for _ in range(3)) for count in (400, 4000))
    assert many < 40 * max(few, 0.001)


def test_links_are_not_followed(tmp_path):
    real = tmp_path / "real"
    for name in WHOLE:
        (real / name).parent.mkdir(parents=True, exist_ok=True)
        (real / name).write_text("[]", "utf-8")
    assert files_of(real) == WHOLE
    linked = tmp_path / "linked"
    linked.mkdir()
    for name in ("channels.json", "users.json"):
        (linked / name).write_text("[]", "utf-8")
    (linked / "general").symlink_to(real / "general")
    assert files_of(linked) == ()


def test_a_folder_that_cannot_be_looked_into_is_none(tmp_path):
    assert files_of(tmp_path / ("x" * 300)) == ()
    assert files_of(tmp_path / "absent") == ()
