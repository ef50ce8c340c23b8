import io
import stat
import zipfile

import pytest

from ingest import archives
from ingest.archives import ZipBomb, members
from ingest.model import ReadFailure, Source
from ingest.walk import Found, find


def inside(src, found=None):
    return list(members(src, found or Found()))


def archive(path, entries):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, content in entries:
            packed.writestr(name, content)
    return Source.of_file(path, explicit=True)


def test_members_are_given_by_name_and_read_in_place(tmp_path):
    src = archive(
        tmp_path / "a.zip", [("b.json", "[2]"), ("a/c.json", "[1]"), ("a/users.json", "[]")]
    )
    found = Found()
    given = inside(src, found)
    assert [one.name for one in given] == [f"{src.name}!a/c.json", f"{src.name}!b.json"]
    with given[0].open() as stream:
        assert (stream.readable(), stream.readline(), stream.read()) == (True, b"[1]", b"")
    assert given[1].peek() == b"[2]"
    assert given[0].parts[-2:] == ("a", "c.json")
    assert found.side_files == 1
    assert not (tmp_path / "b.json").exists()


def special(name, mode):
    info = zipfile.ZipInfo(name)
    info.external_attr = mode << 16
    return info


@pytest.mark.parametrize(
    "name",
    [
        "/etc/passwd",
        "../up.json",
        "a/../../up.json",
        "C:/x.json",
        "a\\b.json",
        special("link.json", stat.S_IFLNK | 0o777),
        special("dev.json", stat.S_IFCHR | 0o600),
    ],
)
def test_unsafe_members_are_told_and_left(tmp_path, name):
    src = archive(tmp_path / "a.zip", [(name, "[]"), ("ok.json", "[]")])
    codes = [one.code if isinstance(one, ReadFailure) else "ok" for one in inside(src)]
    assert sorted(codes) == ["ok", "unsafe_path"]


def test_the_last_of_equal_names_wins(tmp_path):
    with pytest.warns(UserWarning, match="Duplicate name"):
        src = archive(tmp_path / "a.zip", [("x.json", "[1]"), ("x.json", "[2]")])
    (one,) = inside(src)
    assert one.peek() == b"[2]"


def test_an_encrypted_member_and_a_broken_archive_are_unreadable(tmp_path):
    src = archive(tmp_path / "a.zip", [("x.json", "[1]")])
    content = bytearray((tmp_path / "a.zip").read_bytes())
    at = content.index(b"PK\x01\x02") + 8
    content[at] |= 1
    (tmp_path / "a.zip").write_bytes(content)
    assert [one.code for one in inside(src)] == ["unreadable_file"]
    (tmp_path / "a.zip").write_bytes(content[:30])
    assert [one.code for one in inside(src)] == ["unreadable_file"]


def test_what_unpacks_to_too_much_stops(tmp_path, monkeypatch):
    monkeypatch.setattr(archives, "RATIO_FROM", 2**20)
    src = archive(tmp_path / "a.zip", [("x.json", b"0" * 2**22)])
    (one,) = inside(src)
    with pytest.raises(ZipBomb), one.open() as stream:
        stream.read()
    monkeypatch.setattr(archives, "RATIO_FROM", 2**40)
    monkeypatch.setattr(archives, "ZIP_TOTAL", 2**21)
    with pytest.raises(ZipBomb), one.open() as stream:
        stream.read()
    monkeypatch.setattr(archives, "MEMBERS", 0)
    assert [one.code for one in inside(src)] == ["zip_bomb"]


def test_a_member_that_cannot_be_unpacked_is_unreadable_however_that_shows():
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as made:
        made.writestr("a.jsonl", b'{"role": "user", "content": "words"}\n' * 50)
    sound = content.getvalue()
    spoiled = bytearray(sound)
    spoiled[45:60] = b"\xff" * 15  # the packed bytes
    shifted = bytearray(sound)
    shifted[-6] += 50  # where the directory begins: members lie before the first byte
    for damaged in (spoiled, shifted):
        (one,) = inside(Source.of_bytes(bytes(damaged), "a.zip"))
        assert isinstance(one, Source)
        with pytest.raises(zipfile.BadZipFile):
            one.open().read()


def names_of(found):
    return [one.parts[-1] for one in found if isinstance(one, Source)]


def test_an_archive_leaves_out_the_folders_that_a_walk_leaves_out(tmp_path):
    folder = tmp_path / "work"
    for name in ("a.txt", "build/b.txt", "x/node_modules/y/c.txt", "x/d.txt", "vendor/e/f.txt"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("words")
    told = []
    for base in (folder, tmp_path):  # what is in the folder, and the folder itself
        archive = tmp_path / "w.zip"
        with zipfile.ZipFile(archive, "w") as packed:
            for file in sorted(folder.rglob("*.txt")):
                packed.write(file, file.relative_to(base))
        found = Found()
        names = names_of(members(Source.of_file(archive), found))
        told.append((names, found.ignored))
    walked = Found()
    names = names_of(find((str(folder),), walked))
    assert told == [(names, walked.ignored)] * 2
    assert (names, walked.ignored) == (["a.txt", "d.txt"], {"skipped_folder": 3})


def test_an_archive_of_a_folder_with_such_a_name_is_read(tmp_path):
    archive = tmp_path / "build.zip"
    with zipfile.ZipFile(archive, "w") as packed:
        packed.writestr("build/a.txt", "words")
    assert names_of(members(Source.of_file(archive), Found())) == ["a.txt"]
