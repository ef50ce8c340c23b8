# ruff: noqa: SLF001 - looks at, or breaks, what no public call gives away
"""Whatever order and grouping records come in, the graph is one function of the ledger."""

import tempfile
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphstore import courses, open_store
from graphstore.model.conversation import Committed, Unchanged
from graphstore.model.hypothesis import Resonates
from graphstore.model.knowledge import Question
from graphstore.model.record import ReviewRecord, ThreadRecord, TurnChange
from tests.fake_derive import (
    NOW,
    FakeDerive,
    a_cycle_record,
    a_hypothesis,
    a_journey_record,
    a_stop,
    a_thread_record,
    child_of,
    everything,
    refs_of,
)

TEXTS = (
    "Why do locks fail under load?",
    "Because waiting threads starve",
    "thanks, locks hold now",
    "More about waiting and load",
    "What about ladders?",
    "Ladders reach locks, load and threads",
    "Why do locks fail under load?",
    "See [[Thread a]] for ladders",
)
NATIVES = "abcde"

EXAMPLES = max(6, settings().max_examples // 8)  # each makes three databases

thread_steps = st.one_of(
    st.tuples(st.just("grow"), st.integers(0, 4), st.integers(1, 4)),
    st.tuples(st.just("fork"), st.integers(0, 4), st.integers(0, 4), st.integers(1, 3)),
)
steps = st.one_of(
    thread_steps,
    st.tuples(st.just("drop"), st.integers(0, 4)),
    st.tuples(st.just("retitle"), st.integers(0, 4), st.integers(0, 1)),
    st.tuples(st.just("epoch")),
    st.tuples(st.just("journey"), st.integers(0, 4), st.integers(1, 4)),
    st.tuples(st.just("dream")),
    st.tuples(st.just("review")),
    st.tuples(st.just("reopen")),
    st.tuples(st.just("checkpoint")),
)


class Author:
    """Turns steps into records that fit what the store holds."""

    def __init__(self, opened):
        self.opened = opened
        self.said = {}
        self.links = {}
        self.titles = {}
        self.stops = 0

    @property
    def store(self):
        return self.opened.store

    def record(self, step):
        return getattr(self, f"_{step[0]}")(*step[1:])

    def _thread(self, native, **changes):
        texts = [TEXTS[(NATIVES.index(native) + n) % len(TEXTS)] for n in range(self.said[native])]
        links = self.links.get(native, ())
        title = self.titles.get(native, f"Thread {native}")
        return a_thread_record(
            native,
            *texts,
            lineage=links,
            title=title,
            citations=("Thread a", "nowhere"),
            **changes,
        )

    def _grow(self, place, count):
        native = NATIVES[place]
        self.said[native] = self.said.get(native, 0) + count
        return self._thread(native)

    def _fork(self, place, other, split):
        native = NATIVES[place]
        if place != other:
            self.links[native] = child_of(NATIVES[other], split)
        self.said.setdefault(native, split + 1)
        return self._thread(native)

    def _drop(self, place):
        native = NATIVES[place]
        if self.said.get(native, 0) < 2:
            return None
        last = self.said[native]
        change = TurnChange(number=last, source_gone=True)
        return self._thread(native, changes=(change,), path=tuple(range(1, last)))

    def _retitle(self, place, variant):
        native = NATIVES[place]
        if native not in self.said:
            return None
        self.titles[native] = ("Thread a", f"Another {native}")[variant]
        return self._thread(native)

    def _epoch(self):
        return self.store._space.source.derive.epoch(self.store.threads(), self.store.roots())

    def _journey(self, place, number):
        self.stops += 1
        asked = tuple(node.question_id for node in self.store.nodes(Question))[:2]
        stop = a_stop(self.stops, NATIVES[place], number, frontier_hint=f"hint {number}")
        return a_journey_record(stop, questions=asked, created_at="a")

    def _dream(self):
        asked = [node.question_id for node in self.store.nodes(Question)]
        if len(asked) < 2:
            return None
        refs = refs_of("a", 1)
        return a_cycle_record(
            a_hypothesis(Resonates, asked[0], asked[1], refs=refs),
            cycle_id=f"dc:{self.store.ledger.last_seq()}",
        )

    def _review(self):
        """A word on the newest hypothesis, as recorded last."""
        known = courses.hypotheses(self.store.dreams())
        if not known:
            return None
        edge = known[-1]
        heard = edge.replace(points=edge.points + 1, confirmations=edge.confirmations + 1)
        record = {"act": "approve", "target": edge.hypothesis_id, "at": NOW, "after": (heard,)}
        return ReviewRecord.model_validate(record)


@contextmanager
def a_store():
    with tempfile.TemporaryDirectory() as folder, open_store(Path(folder), FakeDerive()) as store:
        yield store


class Reopened:
    """A store that can be closed and opened again between two steps."""

    def __init__(self, folder):
        self.folder = folder
        self.store = open_store(folder, FakeDerive())

    def reopen(self):
        self.store.close()
        self.store = open_store(self.folder, FakeDerive())
        assert self.store.notices == ()


def play(opened, plan):
    """Commit what the steps say, each record twice; returns the records that were news."""
    author, news = Author(opened), []
    for step in plan:
        if step[0] == "reopen":
            opened.reopen()
        elif step[0] == "checkpoint":
            opened.store.checkpoint()
        elif (record := author.record(step)) is not None:
            first = opened.store.commit(record, NOW)
            assert opened.store.commit(record, NOW) == Unchanged()
            news += [record] if isinstance(first, Committed) else []
    return news


@pytest.mark.slow
@settings(max_examples=EXAMPLES)
@given(st.lists(steps, min_size=2, max_size=10))
def test_incremental_bulk_and_replayed_graphs_are_one(plan):
    with tempfile.TemporaryDirectory() as folder, a_store() as later:
        opened = Reopened(Path(folder))
        records = play(opened, plan)
        live = opened.store
        grown = everything(live)
        assert [fault for fault in live.verify() if fault.kind not in ("ref", "id")] == []
        live.rebuild(NOW)
        assert everything(live) == grown
        with later.deferred():
            for record in records:
                assert isinstance(later.commit(record, NOW), Committed)
        assert everything(later) == grown
        assert list(later.ledger.export()) == list(live.ledger.export())
        live.close()


@pytest.mark.slow
@settings(max_examples=EXAMPLES)
@given(st.lists(thread_steps, min_size=2, max_size=6), st.randoms())
def test_order_of_threads_in_a_run_does_not_matter(plan, shuffler):
    with a_store() as one, a_store() as other:
        author = Author(None)
        last = {}
        for step in plan:
            record = author.record(step)
            assert isinstance(record, ThreadRecord)
            last[record.thread_id] = record
        records = list(last.values())
        with one.deferred():
            for record in records:
                one.commit(record, NOW)
        shuffler.shuffle(records)
        for record in records:
            other.commit(record, NOW)
        assert {**everything(one), "Meta": ()} == {**everything(other), "Meta": ()}
