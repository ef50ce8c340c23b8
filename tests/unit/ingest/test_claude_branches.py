"""Rewinds and prompts typed ahead in Claude Code, by the places of turns alone."""

import pytest

from ingest.readers._claude_branches import Branches
from ingest.readers._claude_queue import Queue


def asked(*places):
    """Branches after messages of a person, each below the one before it."""
    branches = Branches()
    for place in places:
        branches.ask(place, branches.last_human)
    return branches


def test_what_goes_on_is_on_the_path():
    branches = asked(0, 2)
    branches.answer(3)
    assert branches.left_behind() == set()


def test_an_earlier_parent_leaves_behind_what_came_after_it():
    branches = asked(0, 2, 4)
    branches.answer(5)
    branches.ask(6, 0)
    branches.answer(7)
    assert branches.left_behind() == {2, 4, 5}


@pytest.mark.parametrize(
    ("above", "reached"),
    [(0, 3), (1, 3), (2, 3), (3, 3), (-1, 3)],
)
def test_no_chain_of_parents_has_what_was_typed_ahead(above, reached):
    branches = asked(0)
    for place in (1, 2, 3):
        branches.ask(place, -1)
        branches.type_ahead(place)
    assert branches.reached(above) == reached


def test_typing_ahead_hides_no_rewind_to_before_it():
    branches = asked(0, 1)
    branches.ask(2, -1)
    branches.type_ahead(2)
    assert branches.reached(0) == 0
    assert branches.reached(1) == 2


def test_what_stood_under_a_message_that_was_taken_back_moves_up():
    branches = asked(0, 1, 2)
    branches.answer(3)
    branches.take_out([2, 1])
    assert branches.tip == 0
    assert branches.left_behind() == set()
    branches.ask(4, 0)
    assert branches.left_behind() == set()


def queue(*words):
    one = Queue()
    for place, text in enumerate(words):
        one.put(place, text)
    return one


@pytest.mark.parametrize(
    ("blocks", "places"),
    [
        (("b",), [1]),
        ((" b ",), [1]),
        (("a", "b"), [0, 1]),
        (("a\nb",), [0, 1]),
        (("a\nb\nc",), [0, 1, 2]),
        (("a", "c"), []),
        (("b", "c"), []),
        (("a\nbc",), []),
        (("ab",), []),
        (("a\nb\nc\nd",), []),
        (("a\n",), [0]),
        (("a", "b", "c", "d"), []),
        ((), []),
    ],
)
def test_a_message_is_one_queued_prompt_or_the_first_ones_together(blocks, places):
    assert queue("a", "b ", "c").places_of(blocks) == places
    assert queue().places_of(blocks) == []


def test_a_prompt_taken_back_by_its_words_else_the_first_that_waits():
    one = queue("a", "b", "c")
    one.take_back("b", every=False)
    one.take_back("never said", every=False)
    assert one.withdrawn() == [0, 1]
    one.take_back(None, every=True)
    assert one.withdrawn() == [0, 1, 2]


def test_a_prompt_that_is_run_after_all_was_not_taken_back():
    one = queue("a", "b")
    one.take_back(None, every=True)
    one.run([0])
    assert one.withdrawn() == [1]
    assert one.places_of(("a",)) == []
