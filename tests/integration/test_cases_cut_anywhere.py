"""Every shared case in lines, cut at every line: read in two runs it is as read in one."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.ingest_memory import Memory

DATA = Path(__file__).parents[1] / "data" / "ingest"
LATE = datetime(2100, 1, 1, tzinfo=UTC)
EARLY = datetime(2000, 1, 1, tzinfo=UTC)
LONGEST = 10_000
"""Bytes: longer cases hold long lines, not more of them."""
GROWING = sorted(
    file.relative_to(DATA).as_posix()
    for file in DATA.rglob("*")
    if file.suffix in {".jsonl", ".md"}
    and 0 < file.stat().st_size < LONGEST
    and not file.name.startswith(("61-", "62-", "92-"))
    and "93-notes" not in file.parts
)
"""Files of tools that append. Renderings and notes are written anew and told by their words."""


def pieces(name):
    """Lengths of beginnings: at the end of each line, and once inside it."""
    at = 0
    for line in (DATA / name).read_bytes().splitlines(keepends=True):
        yield at + len(line) // 2
        at += len(line)
        yield at


def in_two(room, name, cut, first, resume_bytes):
    content = (DATA / name).read_bytes()
    file = room / Path(name).name
    store = Memory()
    file.write_bytes(content[:cut])
    store.ingest(room, now=first, resume_bytes=resume_bytes)
    file.write_bytes(content)
    store.ingest(room, now=LATE, resume_bytes=resume_bytes)
    return store


def said(store):
    return {one.thread_id: [turn.text for turn in one.on_path()] for one in store.threads.values()}


def revised(store):
    """Whether a message was marked as complete, and went on in the next line all the same."""
    return any(turn.superseded_by for one in store.threads.values() for turn in one.turns)


def test_there_are_such_cases():
    assert len(GROWING) > 20


@pytest.mark.parametrize("name", GROWING)
def test_a_beginning_and_then_the_whole_is_the_whole(tmp_path, name):
    (tmp_path / Path(name).name).write_bytes((DATA / name).read_bytes())
    whole = Memory()
    whole.ingest(tmp_path, now=LATE)
    for cut in pieces(name):
        if cut:
            store = in_two(tmp_path, name, cut, EARLY, 0)
            assert said(store) == said(whole), cut
            if not revised(store):
                assert store.told() == whole.told(), cut


@pytest.mark.parametrize("name", GROWING)
def test_reading_on_is_reading_whole(tmp_path, name):
    for cut in pieces(name):
        if cut:
            on = in_two(tmp_path, name, cut, LATE, 0)
            never = in_two(tmp_path, name, cut, LATE, 2**60)
            assert on.threads == never.threads, cut
