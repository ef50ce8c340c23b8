import io
import zipfile
from datetime import UTC, datetime

import pytest

from ingest.model import RawThread, ReadFailure, Source, Tally
from ingest.readers import note
from ingest.sniff import choose
from tests.ingest_memory import Memory

LATE = datetime(2100, 1, 1, tzinfo=UTC)
LONG = "word " * 900


def write(folder, name, text="# A note\n\nwords"):
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, "utf-8")
    return file


def source(file, root=None):
    src = Source.of_file(file, root=str(root or file.parent))
    src.as_note = True
    return src


def read(file, root=None):
    tally = Tally(file.name)
    (found,) = note.read(source(file, root), tally)
    assert isinstance(found, RawThread)
    tally.drop("turn", sum(turn.records for turn in found.turns))
    assert tally.balanced
    return found, tally


def vault(folder):
    (folder / ".obsidian").mkdir(parents=True)
    return folder


def told(store):
    return {
        one.thread_id: [turn.text for turn in one.turns if turn.number in one.path]
        for one in store.threads.values()
    }


# --- where notes are read


def test_a_markdown_file_is_a_note_only_where_notes_are_wanted(tmp_path):
    write(tmp_path / "code", "README.md")
    store = Memory()
    report = store.ingest(tmp_path / "code")
    assert store.threads == {}
    assert [(one.name, one.count) for one in report.ignored] == [("unknown_format", 1)]
    assert Memory().ingest(tmp_path / "code", notes=True).new == 1
    assert Memory().ingest(tmp_path / "code" / "README.md").new == 1


def test_every_markdown_file_below_a_vault_is_a_note(tmp_path):
    home = vault(tmp_path / "vault")
    write(home, "a.md")
    write(home, "deep/er/b.markdown")
    write(home, "deep/picture.txt")
    assert Memory().ingest(home).new == 2
    assert Memory().ingest(home / "deep" / "er").new == 1
    assert Memory().ingest(tmp_path).new == 2


def test_a_vault_in_a_zip_is_a_vault(tmp_path):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("mine/.obsidian/app.json", "{}")
        archive.writestr("mine/a.md", "# A\n\nwords")
        archive.writestr("other/b.md", "# B\n\nwords")
    file = tmp_path / "x.zip"
    file.write_bytes(packed.getvalue())
    store = Memory()
    store.ingest(file)
    assert [one.title for one in store.threads.values()] == ["A"]


def test_marks_of_a_chat_make_it_a_thread_of_turns(tmp_path):
    home = vault(tmp_path / "vault")
    write(home, "talk.md", "**You:** ask\n\n**Claude:** answer\n\n**You:** more\n")
    write(home, "capture.md", "> ask\n\n⏺ answer\n")
    store = Memory()
    store.ingest(home)
    assert sorted(one.source for one in store.threads.values()) == ["capture", "markdown-log"]


@pytest.mark.parametrize(
    ("name", "content", "is_note"),
    [
        ("a.md", b"plain words", True),
        ("a.MD", b"# head", True),
        ("-", b"# From standing input\n\nwords", True),
        ("-", b"plain words", False),
        ("a.txt", b"# head", False),
        ("a.md", b'{"a": 1}', False),
        ("a.md", b"binary \0 bytes", False),
        ("a.md", b"", False),
    ],
)
def test_a_note_is_markdown_and_nothing_else(name, content, is_note):
    assert (choose(Source.of_bytes(content, name)) is note) == is_note


def test_a_file_that_nobody_named_is_no_note():
    src = Source.of_bytes(b"# head", "a.md")
    src.explicit = False
    assert isinstance(choose(src), ReadFailure)
    src.as_note = True
    assert choose(src) is note


# --- what a note says


def test_a_short_note_is_one_turn_of_the_owner(tmp_path):
    text = "before\n\n# One\n\nfirst\n\n## Two\n\nsecond"
    found, tally = read(write(tmp_path, "a.md", text))
    (turn,) = found.turns
    assert (turn.role, turn.blocks, turn.line) == ("human", (text,), 1)
    assert (tally.records, tally.codes) == (1, {})


def test_a_long_note_has_a_turn_for_each_section(tmp_path):
    text = f"""before

# One
{LONG}
### Three stays inside
```
# no heading
```
## Two
second
# One
again
#tag is no heading
"""
    found, _ = read(write(tmp_path, "a.md", text))
    assert [turn.blocks[0].split("\n")[0] for turn in found.turns] == [
        "before", "# One", "## Two", "# One",
    ]  # fmt: skip
    assert "# no heading" in found.turns[1].blocks[0]
    assert "#tag" in found.turns[3].blocks[0]
    assert len({turn.key for turn in found.turns}) == 4
    one = found.turns[2]
    assert text.encode()[one.offset : one.offset + one.length] == b"## Two\nsecond\n"


def test_front_matter_is_no_words_and_names_the_note(tmp_path):
    text = """---
uid: 42-a
title: Given
aliases: [span, "arch, old"]
created: 2026-01-02T03:04:05Z
modified: soon
nested: {a: 1}
---
# Heading

words
"""
    found, tally = read(write(tmp_path, "stem.md", text))
    assert (found.native_id, found.native_ids) == ("42-a", ("42-a", "stem", "span", "arch, old"))
    assert [(one.kind, one.text) for one in found.titles] == [
        ("user", "Given"), ("heading", "Heading"), ("stem", "stem"),
    ]  # fmt: skip
    assert found.started_at == datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
    assert found.turns[0].blocks == ("# Heading\n\nwords",)
    assert tally.codes == {"front_matter": 1, "bad_timestamp": 1}


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("---\ntitle: Given\n---\n# Heading\n", "Given"),
        ("words\n\n## Second level\n\n# Heading\n", "Heading"),
        ("```\n# code\n```\nwords\n", "stem"),
    ],
)
def test_the_title_is_given_or_the_heading_or_the_stem(tmp_path, text, title):
    store = Memory()
    store.ingest(write(tmp_path, "stem.md", text))
    (found,) = store.threads.values()
    assert found.title == title


def test_a_note_without_words_is_empty(tmp_path):
    store = Memory()
    report = store.ingest(write(tmp_path, "a.md", "---\ntitle: x\n---\n\n\n"))
    assert store.threads == {}
    assert [one.code for one in report.codes] == ["empty_thread"]


# --- which note it is


def test_ids_go_by_the_place_below_the_folder_that_was_given(tmp_path):
    for home in ("one", "two"):
        write(tmp_path / home, "x/a.md")
    first, _ = read(tmp_path / "one/x/a.md", tmp_path / "one")
    second, _ = read(tmp_path / "two/x/a.md", tmp_path / "two")
    third, _ = read(tmp_path / "two/x/a.md", tmp_path / "two/x")
    assert first.native_id == second.native_id != third.native_id
    assert "a.md" not in (first.native_id or "")


def test_an_edit_revises_the_turn_of_its_section(tmp_path):
    home = vault(tmp_path / "vault")
    file = write(home, "a.md", f"# One\n{LONG}\n# Two\nsecond\n")
    store = Memory()
    store.ingest(home, now=LATE)
    write(home, "a.md", f"# One\n{LONG}\n# Two\nedited\n# Three\nnew\n")
    report = store.ingest(home, now=LATE)
    (thread,) = store.threads.values()
    assert [turn.text for turn in thread.clean()][1:] == ["# Two\nedited", "# Three\nnew"]
    assert thread.turns[1].superseded_by == 3
    assert [one.code for one in report.codes] == ["turn_revised"]
    write(home, "a.md", "all else is new")
    store.ingest(file, now=LATE)
    assert list(told(store).values()) == [["all else is new"]]


def test_a_moved_note_is_the_same_thread_and_stays_it(tmp_path):
    home = vault(tmp_path / "vault")
    file = write(home, "a.md", "# One\n\nfirst")
    store = Memory()
    store.ingest(home, now=LATE)
    before = list(store.threads)
    (home / "sub").mkdir()
    moved = file.rename(home / "sub" / "a.md")
    report = store.ingest(home, now=LATE)
    assert (report.new, list(store.threads)) == (0, before)
    moved.write_text("# One\n\nedited")
    store.ingest(home, now=LATE)
    assert told(store) == {before[0]: ["# One\n\nedited"]}


def test_a_copy_is_another_note(tmp_path):
    home = vault(tmp_path / "vault")
    write(home, "a.md")
    store = Memory()
    store.ingest(home, now=LATE)
    write(home, "sub/a.md")
    assert store.ingest(home, now=LATE).new == 1


def test_notes_of_one_name_named_one_by_one_stay_apart(tmp_path):
    files = [write(tmp_path / one, "README.md", f"# {one}\n\nwords of {one}") for one in "ab"]
    together = Memory()
    together.ingest(*files, now=LATE)
    assert len(together.threads) == 2
    apart = Memory()
    for file in files:
        apart.ingest(file, now=LATE)
    assert len(apart.threads) == 2
    files[1].write_text("# b\n\nedited", "utf-8")
    apart.ingest(*files, now=LATE)
    assert sorted(told(apart).values()) == [["# a\n\nwords of a"], ["# b\n\nedited"]]


def test_names_of_other_notes_are_cited(tmp_path):
    text = """see [[Locks]] and [[sub/Cuts#Part|the cuts]] and ![[pic.png]] and [[Locks|again]]
[[#Here]] and `x` and https://example.org and #tag and [[ Spaced ^b1]]
```
[[in code]]
```
"""
    store = Memory()
    store.ingest(write(tmp_path, "a.md", text))
    assert store.records[-1].citations == ("Locks", "Spaced", "pic.png", "sub/Cuts")


def test_words_that_left_a_note_cite_nothing_any_more(tmp_path):
    file = write(tmp_path, "a.md", "see [[Locks]]")
    store = Memory()
    store.ingest(file, now=LATE)
    file.write_text("see [[Cuts]]", "utf-8")
    store.ingest(file, now=LATE)
    assert store.records[-1].citations == ("Cuts",)
