import io
import os
import zipfile
from typing import Any

import pytest

from ingest import walk
from ingest.archives import members
from ingest.model import Source
from ingest.walk import Found, SourceNotFound, find


def walked(*paths, found=None):
    return list(find(tuple(str(path) for path in paths), found or Found()))


def names(found):
    return [
        one.name if isinstance(one, Source) else (one.where.rpartition("/")[2], one.code)
        for one in found
    ]


def test_folders_are_walked_in_order_without_what_is_never_a_talk(tmp_path):
    for name in ("b/x.jsonl", "a.jsonl", "node_modules/y.jsonl", ".claude/z.jsonl", "b/users.json",
                 "b/agent-1.meta.json", "workflows/w/journal.jsonl", "journal.jsonl"):  # fmt: skip
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("{}")
    found = Found()
    root = tmp_path.name
    given = names(find((str(tmp_path),), found))
    assert given == [
        f"{root}/{one}" for one in (".claude/z.jsonl", "a.jsonl", "b/x.jsonl", "journal.jsonl")
    ]
    assert found.side_files == 3
    assert found.ignored == {"skipped_folder": 1}


def test_links_and_special_files_are_never_opened(tmp_path):
    (tmp_path / "loop").symlink_to(tmp_path)
    (tmp_path / "link.jsonl").symlink_to(tmp_path / "real.jsonl")
    (tmp_path / "real.jsonl").write_text("{}")
    os.mkfifo(tmp_path / "pipe")
    found = Found()
    assert names(find((str(tmp_path),), found)) == [f"{tmp_path.name}/real.jsonl"]
    assert found.ignored == {"symlink": 2, "special_file": 1}
    assert names(find((str(tmp_path / "pipe"),), Found())) == [("pipe", "unreadable_file")]


def test_depth_and_number_of_files_are_bounded(tmp_path, monkeypatch):
    deep = tmp_path.joinpath(*["d"] * (walk.DEPTH + 2))
    deep.mkdir(parents=True)
    (deep / "x.jsonl").write_text("{}")
    found = Found()
    assert list(find((str(tmp_path),), found)) == []
    assert found.ignored == {"too_deep": 1}
    monkeypatch.setattr(walk, "FILES", 1)
    for name in "ab":
        (tmp_path / name).write_text("{}")
    found = Found()
    assert len(list(find((str(tmp_path),), found))) == 1
    assert found.ignored["too_many_files"] == 1


def test_a_path_that_is_not_there_is_told_before_anything_is_read(tmp_path):
    (tmp_path / "a").write_text("{}")
    with pytest.raises(SourceNotFound, match="no file or folder at"):
        list(find((str(tmp_path / "a"), str(tmp_path / "b")), Found()))


def test_one_file_given_in_several_ways_is_read_once(tmp_path, monkeypatch):
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "x.jsonl").write_text("{}")
    (tmp_path / "b.jsonl").write_text("{}")
    monkeypatch.chdir(tmp_path / "a")
    ways = ("x.jsonl", ".", "./x.jsonl", "..", f"{tmp_path}/a/", tmp_path / "b.jsonl")
    assert names(walked(*ways)) == ["x.jsonl", f"{tmp_path.name}/b.jsonl"]


def test_a_folder_is_called_by_its_name_however_it_is_given(tmp_path, monkeypatch):
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "a" / "x.jsonl").write_text("{}")
    monkeypatch.chdir(tmp_path / "a" / "b")
    assert names(walked("..")) == ["a/x.jsonl"]
    monkeypatch.chdir(tmp_path / "a")
    (one,) = walked(".")
    assert (one.name, one.path, one.root) == ("a/x.jsonl", f"{tmp_path}/a/x.jsonl", f"{tmp_path}/a")


def test_names_that_are_no_text_are_written_so_that_they_can_be_kept_and_read(tmp_path):
    folder = tmp_path / os.fsdecode(b"bad\xff dir")
    folder.mkdir()
    for end in (b"\xfe", b"\xfd"):
        (folder / os.fsdecode(b"one" + end + b".jsonl")).write_bytes(end)
    (named,) = walked(folder / os.fsdecode(b"one\xfd.jsonl"))
    for one in (named, *walked(tmp_path)):
        assert "\\xff" in (one.path + one.root).encode().decode()
        assert one.peek() in (b"\xfd", b"\xfe")
    assert names(walked(tmp_path)) == [
        f"{tmp_path.name}/bad\\xff dir/one\\x{end}.jsonl" for end in ("fd", "fe")
    ]


def test_a_named_side_file_is_no_talk_and_a_named_file_is_explicit(tmp_path):
    (tmp_path / "users.json").write_text("[]")
    (tmp_path / "a").write_text("{}")
    found = Found()
    (one,) = walked(tmp_path / "users.json", tmp_path / "a", found=found)
    assert (one.explicit, found.side_files) == (True, 1)
    assert one.parts[-1] == "a"


def test_standing_input_can_be_read_again(monkeypatch):
    class Stdin:
        buffer = io.BytesIO(b"one\ntwo\n")

    monkeypatch.setattr("sys.stdin", Stdin())
    given: Any = find(("-",), Found())  # a source lasts until the next one is asked for
    for src in given:
        with src.open() as stream:
            assert stream.readable()
            assert stream.seekable()
            assert stream.readline() == b"one\n"
            assert stream.tell() == 4
        assert src.peek() == b"one\ntwo\n"
        assert src.size == 8


def test_a_name_cannot_speak_to_the_terminal(tmp_path):
    file = tmp_path / "x\x1b[31mred\n.jsonl"
    file.write_text("{}\n", "utf-8")
    (found,) = find((str(tmp_path),), Found())
    assert isinstance(found, Source)
    assert found.name.endswith("x\\x1b[31mred\\x0a.jsonl")


def test_secrets_in_names_are_told_nowhere(tmp_path):
    key = "ghp_" + "a1B2" * 9
    (tmp_path / f"{key}.jsonl").write_text("{}")
    with zipfile.ZipFile(tmp_path / "z.zip", "w") as made:
        made.writestr(f"in/{key}.jsonl", "{}")
    file, packed = walked(tmp_path)
    (member,) = members(packed, Found())
    for src in (file, member):
        assert isinstance(src, Source)
        assert key not in src.path + src.name + src.root
        assert src.path.endswith(".jsonl")
        assert src.peek() == b"{}"
    with pytest.raises(SourceNotFound) as told:
        walked(tmp_path / key)
    assert key not in str(told.value)
