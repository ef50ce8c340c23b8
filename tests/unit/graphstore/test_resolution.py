from contextlib import closing

import pytest

from graphstore.ledger import Ledger
from graphstore.model.query import Resolved
from graphstore.model.refs import RefUnresolved
from graphstore.resolution import resolve
from graphstore.threads import Threads
from tests.fake_derive import a_thread_record, a_turn, child_of, refs_of


@pytest.fixture
def threads():
    with closing(Ledger(None)) as ledger:
        made = Threads(ledger)
        made.grow(a_thread_record("a", "Why?", "Because"), 1)
        own = a_turn(3, "own")
        made.grow(a_thread_record("b", turns=(own,), path=(1, 2, 3), lineage=child_of("a", 2)), 2)
        twins = (a_turn(1, "x", native_key="twin"), a_turn(2, "y", native_key="twin"))
        made.grow(a_thread_record("c", turns=twins, path=(1, 2)), 3)
        yield made


@pytest.mark.parametrize(
    ("written", "native", "number"),
    [
        ("thread:test:a#turn:2", "a", 2),
        (" thread_key:test:a#turn:2 ", "a", 2),
        ("thread_id:test:a#turn:1-2", "a", 1),
        ("thread:test:b#turn:2", "a", 2),
        ("thread:test:b#turn:3", "b", 3),
        ('{"thread": "test:a", "turn": 2}', "a", 2),
        ('{"thread_key": "thread:test:a", "turn": 1}', "a", 1),
        ('{"thread_id": "test:a", "turn": 99, "message_id": "m2"}', "a", 2),
        ('{"thread": "test:a", "message_id": "m1"}', "a", 1),
        ('{"thread": "test:b", "message_id": "m2"}', "a", 2),
    ],
)
def test_a_reference_is_followed_to_the_turn_that_is_kept(threads, written, native, number):
    found = resolve(threads, written)
    assert isinstance(found, Resolved)
    assert found.ref == refs_of(native, number)[0]
    assert found.turn.number == number
    assert found.thread.thread_id == f"test:{native}"


@pytest.mark.parametrize(
    ("written", "reason"),
    [
        ("", "malformed"),
        ("{", "malformed"),
        ("{}", "malformed"),
        ('{"thread": 3, "turn": 1}', "malformed"),
        ("thread:test:z#turn:1", "no_thread"),
        ("thread:test:a#turn:9", "no_turn"),
        ('{"thread": "test:a"}', "no_turn"),
        ('{"thread": "test:a", "turn": "1"}', "no_turn"),
        ('{"thread": "test:z", "turn": 1}', "no_thread"),
        ('{"thread": "test:z", "message_id": "m1"}', "no_thread"),
        ('{"thread": "test:a", "message_id": "m9"}', "no_turn"),
        ('{"thread": "test:c", "message_id": "twin"}', "ambiguous"),
    ],
)
def test_what_does_not_resolve_says_why(threads, written, reason):
    assert resolve(threads, written) == RefUnresolved(reason=reason)


def test_a_ring_of_parents_ends(threads):
    threads.grow(a_thread_record("r", "x", lineage=child_of("s", 1)), 4)
    threads.grow(a_thread_record("s", "x", lineage=child_of("r", 1)), 5)
    found = resolve(threads, '{"thread": "test:r", "message_id": "m9"}')
    assert found == RefUnresolved(reason="no_turn")
