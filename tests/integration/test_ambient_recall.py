"""What an agent recalls by itself: few turns, the same for hours, and none of its words kept."""

import sqlite3
from datetime import timedelta

import pytest

from graphstore import open_store
from graphstore.given import KEPT, MOST, Given
from ingest.derive import Derivation
from service import operations, settings
from service.session import Session
from tests.talk import START, a_thread, record_of

THEN = START + timedelta(days=50)
CUE = "lantern!!number... smoke"
SECOND = timedelta(seconds=1)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("ambient")
    with open_store(folder / "default", Derivation()) as store, store.deferred():
        for n in range(12):
            turns = (f"Why does the lantern number {n} smoke?", "> The wick of the lantern.")
            store.commit(record_of(a_thread(f"t{n}", *turns, day=n)), THEN)
    return folder


def at(folder, now=THEN):
    loaded = settings.load({"store.home": str(folder)}, folder)
    return Session(loaded=loaded, folder=folder, now=lambda: now)


def kept(folder):
    with sqlite3.connect(folder / "default" / "ledger.db") as connection:
        return connection.execute("SELECT key, at, body FROM recall_cache").fetchall()


def test_at_most_eight_turns_and_the_same_again_for_six_hours(made):
    first = operations.recall(at(made), CUE, ambient="s1")
    assert len(first.hits) == 8
    assert len(operations.recall(at(made), CUE).hits) == 10
    later = THEN + KEPT - SECOND
    again = operations.recall(at(made, later), f"  {CUE.upper()} ", ambient="s1")
    # recency would be another one by then
    assert again.hits == first.hits
    assert again.cue == f"  {CUE.upper()} "
    fresh = operations.recall(at(made, later + 2 * SECOND), CUE, ambient="s1")
    assert [hit.turn for hit in fresh.hits] == [hit.turn for hit in first.hits]
    assert fresh.hits != first.hits


def test_sessions_and_filters_are_told_apart_and_no_word_of_a_cue_is_kept(made):
    operations.recall(at(made), CUE, ambient="s2")
    before = len(kept(made))
    operations.recall(at(made), CUE, ambient="s3")
    operations.recall(at(made), CUE, ambient="s3", thread="test:t1")
    rows = kept(made)
    assert len(rows) == before + 2
    assert "!!" not in str(rows)
    assert not any("s3" in key for key, *_ in rows)


def test_what_is_recorded_in_between_is_heard(tmp_path):
    with open_store(tmp_path / "own" / "default", Derivation()) as store:
        store.commit(record_of(a_thread("a", "The wick is dry.", "> Yes.")), THEN)
    session = at(tmp_path / "own")

    def refs():
        found = operations.recall(session, "the wick is dry", ambient="s")
        return {hit.turn.ref for hit in found.hits}

    assert "thread:test:a#turn:1" in refs()
    with session.store("test") as store:
        store.commit(record_of(a_thread("b", "The wick is dry again.", "> Yes.")), THEN)
    assert "thread:test:b#turn:1" in refs()
    with session.store("test") as store:
        store.forget(["test:a"], THEN, session.salt())
    assert kept(tmp_path / "own") == []


def test_only_the_newest_are_kept(tmp_path):
    with open_store(tmp_path / "own" / "default", Derivation()) as store:
        given = Given(store.ledger)
        for n in range(MOST + 3):
            given.put(f"k{n}", "{}", THEN + n * SECOND)
        last = THEN + (MOST + 3) * SECOND
        assert [given.get(f"k{n}", last) for n in (2, 3, MOST + 2)] == [None, "{}", "{}"]
        given.put("late", "{}", last + KEPT)
    assert [key for key, *_ in kept(tmp_path / "own")] == ["late"]
