"""What is forgotten is in no file, does not come back, and takes nothing else with it."""

from datetime import timedelta

import pytest

from graphstore import open_store, proof
from graphstore.engine import Engine, marker
from graphstore.errors import NotForgotten
from graphstore.forgetting import SALT, words_of
from graphstore.graphfiles import graph_file
from graphstore.model.conversation import Thread
from graphstore.model.hypothesis import Resonates
from graphstore.model.knowledge import Question
from graphstore.model.record import CycleRecord, GoneRecord, JobEnd
from graphstore.model.refs import RefUnresolved
from graphstore.store import Store
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

KEY = b"k" * 32
STEPS = (
    "forget_recorded",
    "forget_rewritten",
    "forget_graph_removed",
    "forget_files_removed",
    "old_graph_removed",
    "forget_compacted",
)


class Cut(Exception):
    pass


@pytest.fixture
def path(tmp_path):
    folder = tmp_path / "workspace"
    folder.mkdir(mode=0o700)
    (folder / SALT).write_bytes(KEY)
    return folder


def opened(path, **options) -> Store:
    return open_store(path, FakeDerive(), **options)


def told(name: str) -> str:
    return f"Only the thread {name} says that the {name} lamp smokes at midnight"


def fill(store: Store, names: str) -> None:
    with store.deferred():
        for name in names:
            record = a_thread_record(name, f"Why does the {name} lamp smoke?", told(name))
            store.commit(record.replace(project=f"/w/{name}"), NOW)
        epoch = FakeDerive().epoch(store.threads(), store.roots())
        store.commit(epoch, NOW)


def known(store: Store, thread_id: str) -> Thread:
    found = store.thread(thread_id)
    assert found is not None
    return found


def prints(thread: Thread) -> list[str]:
    return [turn.fingerprint for turn in thread.turns if len(turn.text) >= proof.LEAST]


def where(path, *words: str) -> list[str]:
    """Files that hold one of some words, as bytes."""
    return sorted(
        file.name
        for file in path.rglob("*")
        if file.is_file() and any(word.encode() in file.read_bytes() for word in words)
    )


def ids(*names: str) -> list[str]:
    return [f"test:{name}" for name in names]


def faults(store: Store) -> list[str]:
    return [fault.kind for fault in store.verify()]


def test_forgotten_words_are_in_no_file(path):
    with opened(path) as store:
        fill(store, "abcdef")
        (path / "out").mkdir()
        (path / "out" / "report.md").write_text(told("b"))
    with opened(path) as store:
        store.forget(ids("b", "e"), NOW, KEY)
        assert store.thread("test:b") is None
        assert store.thread("test:c") is not None
        assert faults(store) == []
        assert where(path, "b lamp", "e lamp", "test:b", "test:e") == []
        assert where(path, "c lamp") != []
        grown = everything(store)
        store.rebuild(NOW)
        assert everything(store) == grown
    assert where(path, "b lamp", "e lamp", "test:b", "test:e") == []
    with opened(path) as store:
        assert store.notices == ()


def test_the_ledger_holds_its_chain_and_no_hole(path):
    with opened(path) as store:
        fill(store, "abc")
        count = store.ledger.last_seq()
        store.forget(ids("a"), NOW, KEY)
        kinds = [entry.kind for entry in store.ledger.entries()]
        assert kinds[:count] == ["gone", "thread", "thread", "gone"]
        assert kinds[count:] == ["forget", "epoch"]
        assert store.ledger.verify() == ()
        first = next(store.ledger.entries())
        assert first.record() == GoneRecord(was="thread")


@pytest.mark.parametrize("step", STEPS)
def test_a_kill_at_any_step_is_completed_at_the_next_opening(path, step):
    with opened(path) as store:
        fill(store, "abcd")

    def cut(boundary):
        if boundary == step:
            raise Cut

    with opened(path, fault=cut) as store, pytest.raises(Cut):
        store.forget(ids("b"), NOW, KEY)
    with opened(path) as store:
        assert [notice.kind for notice in store.notices] == ["forgotten"]
        assert store.thread("test:b") is None
        assert faults(store) == []
        assert where(path, "b lamp") == []
    with opened(path) as store:
        assert store.notices == ()


def test_a_prefix_that_a_kept_thread_shares_stays_with_it(path):
    with opened(path) as store:
        store.commit(a_thread_record("a", "Why does it smoke?", told("a"), told("z")), NOW)
        store.commit(
            a_thread_record(
                "b",
                "Why does it smoke?",
                told("a"),
                told("b"),
                "More of the same lamp",
                lineage=child_of("a", 2),
            ),
            NOW,
        )
        assert len(known(store, "test:b").turns) == 2
        going = store.going(ids("a"), KEY)
        assert going.adopted == {"test:b": (1, 2)}
        store.forget(ids("a"), NOW, KEY)
        kept = known(store, "test:b")
        assert [turn.text for turn in kept.turns][:2] == ["Why does it smoke?", told("a")]
        assert faults(store) == []
        assert where(path, told("z"), "test:a#") == []
        # the shared words are no tombstone, those of the thread alone are
        stones = store.tombstones(KEY)
        assert not stones.holds("test:other", prints(kept))


def test_siblings_of_a_forgotten_parent_stay_one_lineage(path):
    with opened(path) as store:
        for name, split in (("a", 0), ("b", 1), ("c", 1)):
            links = child_of("a", split) if split else ()
            texts = ("Why does it smoke?", told(name))
            store.commit(a_thread_record(name, *texts, lineage=links), NOW)
        store.forget(ids("a"), NOW, KEY)
        assert len(set(store.roots().values())) == 1
        assert faults(store) == []


def test_copies_and_the_thread_itself_are_recognised(path):
    with opened(path) as store:
        fill(store, "ab")
        copied = prints(known(store, "test:b"))
        store.forget(ids("b"), NOW, KEY)
        stones = store.tombstones(KEY)
        assert stones.holds("test:b")
        assert stones.holds("else:9", copied)
        assert not stones.holds("test:a", prints(known(store, "test:a")))
        assert not store.tombstones(b"x" * 32).holds("test:b")


def test_stops_and_hypotheses_that_rest_on_it_go_and_others_stay(path):
    with opened(path) as store:
        fill(store, "abcd")
        texts = {node.text: node.question_id for node in store.nodes(Question)}
        one, two, three = (texts[f"Why does the {name} lamp smoke?"] for name in "abc")
        edges = (
            a_hypothesis(
                Resonates, min(one, two), max(one, two), refs_of("a", 1) + refs_of("b", 1)
            ),
            a_hypothesis(
                Resonates, min(two, three), max(two, three), refs_of("b", 1) + refs_of("c", 1)
            ),
        )
        store.commit(a_cycle_record(*edges), NOW)
        journey = a_journey_record(
            a_stop(1, "a", 1, moment=told("a")), a_stop(2, "b", 1), a_stop(3, "c", 1)
        )
        store.commit(journey, NOW)
        going = store.going(ids("a"), KEY)
        assert going.hypotheses == (edges[0].hypothesis_id,)
        assert going.stops == 1
        store.forget(ids("a"), NOW, KEY)
        assert [edge.hypothesis_id for edge in store.edges(Resonates)] == [edges[1].hypothesis_id]
        assert [stop.seq for record in store.journey_records() for stop in record.stops] == [2, 3]
        assert "ref" not in faults(store)
        assert where(path, told("a")) == []


def test_a_journey_whose_inquiry_only_they_asked_goes_whole(path):
    with opened(path) as store:
        fill(store, "abc")
        inquiry = "Why does the a lamp smoke?"
        store.commit(a_journey_record(a_stop(1, "b", 1), core_inquiry=inquiry), NOW)
        assert len(store.going(ids("a"), KEY).journeys) == 1
        store.forget(ids("a"), NOW, KEY)
        assert store.journey_records() == ()


def test_a_plan_changes_nothing(path):
    with opened(path) as store:
        fill(store, "abc")
        before = list(store.ledger.export())
        going = store.going(ids("a", "b"), KEY)
        assert (going.turns, len(going.questions)) == (4, 2)
        assert list(store.ledger.export()) == before
        assert not isinstance(store.resolve("thread:test:a#turn:1"), RefUnresolved)


def test_ten_random_threads_then_all_before_a_day(path):
    names = "abcdefghijklmnopqrstuvwxyz"
    with opened(path) as store:
        fill(store, names)
        chosen = "bdfhjlnpru"
        threads = [known(store, f"test:{name}") for name in chosen]
        texts = [turn.text for thread in store.threads() for turn in thread.turns
                 if thread.native_id not in chosen]  # fmt: skip
        words = words_of(threads, texts)
        assert len(words.wanted) > 10
        assert proof.scan(path, words) != ()
        store.forget([thread.thread_id for thread in threads], NOW, KEY)
        assert proof.scan(path, words) == ()
        assert len(store.roots()) == 16
        store.forget(list(store.roots()), NOW + timedelta(days=1), KEY)
        assert store.roots() == {}
        assert faults(store) == []
    assert where(path, "lamp smoke") == []


def test_without_the_key_a_request_cannot_be_completed_and_that_is_said(path):
    with opened(path) as store:
        fill(store, "ab")

    def cut(boundary):
        if boundary == "forget_recorded":
            raise Cut

    with opened(path, fault=cut) as store, pytest.raises(Cut):
        store.forget(ids("b"), NOW, KEY)
    (path / SALT).unlink()
    with opened(path) as store:
        assert [notice.kind for notice in store.notices] == ["unforgotten"]
        assert store.thread("test:b") is not None
    (path / SALT).write_bytes(KEY)
    with opened(path) as store:
        assert store.thread("test:b") is None


def test_a_kill_while_the_graph_made_anew_is_opened_is_completed(path, monkeypatch):
    with opened(path) as store:
        fill(store, "ab")
    cut = []

    def fault(boundary):
        cut.append(boundary)
        if boundary == "new_graph_in_place":
            monkeypatch.setattr(Engine, "__init__", ended)

    def ended(_self, path, **_options):
        marker(path).touch()  # as the engine is opening it
        raise Cut

    with opened(path, fault=fault) as store, pytest.raises(Cut):
        store.forget(ids("b"), NOW, KEY)
    monkeypatch.undo()
    with opened(path) as store:
        assert [notice.kind for notice in store.notices] == ["forgotten"]
        assert store.thread("test:b") is None
        assert faults(store) == []


def test_what_cannot_be_removed_is_named_and_completed_when_it_can(path):
    with opened(path) as store:
        fill(store, "ab")
        stuck = store.path / (graph_file(path, store.engine_name).name + ".stuck")
        stuck.mkdir()
        with pytest.raises(NotForgotten, match=r"\.stuck"):
            store.forget(ids("b"), NOW, KEY)
    with pytest.raises(NotForgotten):
        opened(path)
    stuck.rmdir()
    with opened(path) as store:
        assert [notice.kind for notice in store.notices] == ["forgotten"]
        assert store.thread("test:b") is None


def test_no_dream_cycle_keeps_the_id_of_what_was_forgotten(path):
    with opened(path) as store:
        fill(store, "ab")
        ends = tuple(
            JobEnd(
                job_id=f"job:{name}",
                function="compensatory",
                focus=f"frontier test:{name}",
                pack_id="p:1",
                state="done",
                reason="accepted",
            )
            for name in "ab"
        )
        store.commit(a_cycle_record().replace(jobs=ends), NOW)
        store.forget(ids("b"), NOW, KEY)
        assert where(path, "test:b") == []
        [cycle] = [entry.record() for entry in store.ledger.of_kind("cycle")]
        assert isinstance(cycle, CycleRecord)
        assert [end.focus for end in cycle.jobs] == ["frontier test:a", "frontier"]
