"""A run that is ended early: what was committed stays, the report tells it, a rerun completes."""

from datetime import UTC, datetime

import pytest

from graphstore.model.carrier import FileState
from graphstore.model.record import ThreadRecord
from ingest.model import IngestReport
from ingest.options import Options
from ingest.pace import Pace
from ingest.run import run
from tests.claude_talk import Talk
from tests.ingest_memory import SALT, Memory

LATE = datetime(2100, 1, 1, tzinfo=UTC)
FILES = 6


@pytest.fixture
def folder(tmp_path):
    for number in range(FILES):
        session = f"{number:08x}-0000-4000-8000-000000000001"
        Talk(session, f"-{number}-").play(["ask", "answer"]).write(tmp_path)
    return tmp_path


def taken(store, folder, pace):
    """One run, every product kept at once; its report."""
    for one in run([str(folder)], store, Options(salt=SALT), LATE, pace):
        match one:
            case ThreadRecord():
                store.commit(one)
            case FileState():
                store.files[one.path] = one
            case IngestReport():
                return one
    return None


def completed(store, folder):
    whole = Memory()
    whole.ingest(folder, now=LATE)
    store.ingest(folder, now=LATE)
    return store.told() == whole.told() and len(store.files) == FILES


@pytest.mark.parametrize("files", [1, 3])
def test_an_end_while_reading_keeps_what_was_read_whole(folder, files):
    store = Memory()
    pace = Pace(stops=lambda: int(f"{files:08x}-" in pace.step.file))
    report = taken(store, folder, pace)
    assert report.interrupted
    assert (report.new, len(store.threads), len(store.files)) == (files, files, files)
    assert completed(store, folder)


@pytest.mark.parametrize("threads", [1, 3])
def test_an_end_while_storing_comes_after_the_thread_in_hand(folder, threads):
    store = Memory()
    report = taken(store, folder, Pace(stops=lambda: int(len(store.threads) >= threads)))
    assert report.interrupted
    assert (report.new, len(store.threads), len(store.files)) == (threads, threads, threads)
    assert len(report.carriers) == threads
    assert completed(store, folder)


def test_a_second_wish_while_storing_ends_what_the_first_left(folder):
    store = Memory()
    wishes = set()

    def stops():
        if "00000003-" in pace.step.file:
            wishes.add("while reading")
        if store.threads:
            wishes.add("while storing")
        return len(wishes)

    pace = Pace(stops=stops)
    report = taken(store, folder, pace)
    assert report.interrupted
    assert len(store.threads) == 1
    assert completed(store, folder)


def test_nobody_who_wants_an_end_gets_none(folder):
    steps = []
    pace = Pace(lambda step: steps.append((step.done, step.total, step.threads, step.turns)))
    report = taken(Memory(), folder, pace)
    assert not report.interrupted
    size = sum(file.stat().st_size for file in folder.glob("*.jsonl"))
    assert steps[-1] == (size, size, FILES, 2 * FILES)
    assert sorted(steps) == steps
