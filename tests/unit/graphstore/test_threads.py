# ruff: noqa: SLF001 - looks at, or breaks, what no public call gives away
from contextlib import closing

import pytest

from graphstore.ledger import Ledger
from graphstore.model.conversation import LineageKind, LineageLink, Role
from graphstore.model.record import TurnChange
from graphstore.threads import Link, Threads, TurnRewritten
from tests.fake_derive import a_thread_record, a_turn, child_of


@pytest.fixture
def threads():
    with closing(Ledger(None)) as ledger:
        yield Threads(ledger)


def take(threads, record, seq=1):
    grown = threads.grow(record, seq)
    if grown is not None:
        threads.drop(grown.gone)
    return grown


def numbers(threads, native):
    return [turn.number for turn in threads.turns(f"test:{native}")]


def test_a_new_thread_is_assembled_again(threads):
    record = a_thread_record("a", "Why?", "Because", project="p")
    assert take(threads, record).fresh == ("thread:test:a#turn:1", "thread:test:a#turn:2")
    thread = threads.get("test:a")
    assert thread.turns == record.turns
    assert (thread.project, thread.path) == ("p", (1, 2))
    assert threads.head("test:a").turns == ()
    assert [head.thread_id for head in threads.heads()] == ["test:a"]


def test_an_unknown_thread_is_none(threads):
    assert threads.get("test:x") is None
    assert threads.turn("thread:test:x#turn:1") is None
    assert not threads.exists("test:x")


def test_saying_it_again_changes_nothing(threads):
    record = a_thread_record("a", "Why?", "Because", citations=("b",))
    take(threads, record)
    assert take(threads, record) is None


@pytest.mark.parametrize(
    "changes",
    [
        {"title": "other"},
        {"citations": ("b",)},
        {"path": (2,)},
        {"lineage": child_of("b", 1)},
        {"changes": (TurnChange(number=1, source_gone=True),)},
    ],
)
def test_any_difference_is_news(threads, changes):
    take(threads, a_thread_record("a", "Why?", "Because"))
    assert take(threads, a_thread_record("a", "Why?", "Because", **changes)) is not None


def test_only_new_turns_are_fresh(threads):
    take(threads, a_thread_record("a", "Why?", "Because"))
    grown = take(threads, a_thread_record("a", "Why?", "Because", "thanks"))
    assert grown.fresh == ("thread:test:a#turn:3",)
    assert numbers(threads, "a") == [1, 2, 3]


def test_a_record_may_carry_only_what_is_new(threads):
    take(threads, a_thread_record("a", "Why?", "Because"))
    third = a_turn(3, "thanks")
    take(threads, a_thread_record("a", turns=(third,), path=(1, 2, 3)))
    assert numbers(threads, "a") == [1, 2, 3]


def test_a_number_keeps_its_words(threads):
    take(threads, a_thread_record("a", "Why?"))
    with pytest.raises(TurnRewritten) as caught:
        take(threads, a_thread_record("a", "How?"))
    assert "How" not in str(caught.value)


def test_a_replaced_turn_leaves_the_path(threads):
    take(threads, a_thread_record("a", "Why?", "Because"))
    take(
        threads,
        a_thread_record(
            "a",
            turns=(a_turn(3, "Therefore", Role.ASSISTANT),),
            changes=(TurnChange(number=2, superseded_by=3), TurnChange(number=9)),
            path=(1, 3),
        ),
    )
    rows = threads._ledger.select("SELECT number, position, alternative FROM turn ORDER BY number")
    assert rows == [(1, 1, 0), (2, None, 1), (3, 2, 0)]
    assert threads.turn("thread:test:a#turn:2").superseded_by == 3


def test_a_prefix_is_the_parents(threads):
    take(threads, a_thread_record("a", "Why?", "Because", "thanks"))
    take(threads, a_thread_record("b", "Why?", "Because", "other", lineage=child_of("a", 2)))
    assert numbers(threads, "b") == [3]
    assert threads.place("test:b", 2) == ("test:a", 2)
    assert threads.place("test:b", 3) == ("test:b", 3)


def test_copies_leave_when_the_parent_comes_later(threads):
    take(threads, a_thread_record("b", "Why?", "Because", "other", lineage=child_of("a", 2)))
    assert numbers(threads, "b") == [1, 2, 3]
    assert threads.place("test:b", 2) == ("test:b", 2)
    grown = take(threads, a_thread_record("a", "Why?", "Because"))
    assert grown.gone == ("thread:test:b#turn:1", "thread:test:b#turn:2")
    assert numbers(threads, "b") == [3]
    assert threads.place("test:b", 2) == ("test:a", 2)


def test_both_orders_give_the_same_tables(threads):
    records = [
        a_thread_record("a", "Why?", "Because"),
        a_thread_record("b", "Why?", "Because", "other", lineage=child_of("a", 2)),
        a_thread_record("c", "Why?", "Because", "other", "last", lineage=child_of("b", 3)),
    ]
    with closing(Ledger(None)) as ledger:
        other = Threads(ledger)
        for record in records:
            take(threads, record)
        for record in reversed(records):
            take(other, record)
        assert [threads.get(own) for own in threads.ids()] == [
            other.get(own) for own in other.ids()
        ]
    assert threads.place("test:c", 1) == ("test:a", 1)
    assert threads.place("test:c", 3) == ("test:b", 3)


def test_a_subagent_shares_no_prefix(threads):
    take(threads, a_thread_record("a", "Why?", "Because"))
    take(threads, a_thread_record("b", "Look", "Found", lineage=child_of("a", 1, "subagent_of")))
    assert numbers(threads, "b") == [1, 2]
    assert threads.place("test:b", 1) == ("test:b", 1)


def test_a_ring_of_parents_ends(threads):
    take(threads, a_thread_record("a", "Why?", lineage=child_of("b", 1)))
    take(threads, a_thread_record("b", "Why?", lineage=child_of("a", 1)))
    assert threads.place("test:a", 1)[1] == 1


def test_links_are_kept_in_their_order(threads):
    links = (
        LineageLink(kind=LineageKind.FORKED_FROM, parent="test:z", split_turn=3),
        LineageLink(kind=LineageKind.SUBAGENT_OF, parent="test:a"),
    )
    take(threads, a_thread_record("b", "Why?", lineage=links))
    expected = (
        Link("test:b", "test:z", LineageKind.FORKED_FROM, 3),
        Link("test:b", "test:a", LineageKind.SUBAGENT_OF, None),
    )
    assert threads.links() == threads.links_of("test:b") == expected
    assert threads.children("test:z") == ("test:b",)
    assert threads.cut("test:b") == 0


def test_turns_are_found_by_the_id_of_their_source(threads):
    take(threads, a_thread_record("a", "Why?", "Because"))
    assert threads.by_native_key("test:a", "m2") == (2,)
    assert threads.by_native_key("test:a", "m9") == ()


def test_a_citation_names_a_thread_by_id_reference_native_id_or_title(threads):
    take(threads, a_thread_record("a", "Why?", title="Locks"))
    take(threads, a_thread_record("b", "Why?", title="Twice"))
    take(threads, a_thread_record("c", "Why?", title="twice", citations=("a", "b")))
    assert threads.cited_as("test:a") == "test:a"
    assert threads.cited_as("thread:test:a#turn:1") == "test:a"
    assert threads.cited_as("a") == "test:a"
    assert threads.cited_as("LOCKS") == "test:a"
    assert threads.cited_as("Twice") is None
    assert threads.cited_as("nothing") is None
    assert threads.citers() == ("test:c",)
    assert threads.citations("test:c") == ("a", "b")
    assert threads.citations("test:a") == ()


def test_those_who_may_mean_a_thread_are_found_by_its_names(threads):
    for native, target in (("c", "LOCKS"), ("d", "thread:test:a#turn:1"), ("e", "x/Locks.md")):
        take(threads, a_thread_record(native, "Why?", citations=(target,)))
    take(threads, a_thread_record("f", "Why?", citations=("other",)))
    take(threads, a_thread_record("a", "Why?", title="Locks"))
    assert threads.citing(threads.head("test:a")) == {"test:c", "test:d", "test:e"}
    take(threads, a_thread_record("c", "Why?", citations=()))
    assert threads.citing(threads.head("test:a")) == {"test:d", "test:e"}


def test_a_family_is_joined_by_lineage_also_through_who_is_not_here(threads):
    take(threads, a_thread_record("b", "Why?", lineage=child_of("z", 1)))
    take(threads, a_thread_record("c", "Why?", lineage=child_of("z", 1)))
    take(threads, a_thread_record("d", "Why?"))
    family, links = threads.family(["test:b"])
    assert family == {"test:b", "test:c", "test:z"}
    assert len(links) == 2


def test_of_a_forgotten_thread_no_row_is_left_and_of_another_every_one(threads):
    take(threads, a_thread_record("b", "Why?", lineage=child_of("a", 1), citations=("c",)))
    take(threads, a_thread_record("c", "How?", lineage=child_of("b", 1), citations=("b",)))
    threads.forget(["test:b"])
    assert threads.ids() == ("test:c",)
    assert [link.child for link in threads.links()] == ["test:c"]
    assert threads.turns("test:b") == ()
    assert threads.citers() == ("test:c",)


def test_threads_are_found_by_the_messages_they_hold(threads):
    take(threads, a_thread_record("a", "Why?", "Because"))
    take(threads, a_thread_record("b", "Why?", lineage=child_of("z", 0)))
    assert threads.holding("test", ["m1"]) == ("test:a", "test:b")
    assert threads.holding("test", ["m2", "m9"]) == ("test:a",)
    assert threads.holding("other", ["m1"]) == ()
    assert threads.children("test:z") == ("test:b",)
