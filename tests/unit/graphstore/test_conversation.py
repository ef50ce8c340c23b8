from graphstore.model.conversation import Role, Thread
from tests.fake_derive import a_turn


def a_thread(**changes):
    turns = (
        a_turn(1, "one"),
        a_turn(2, "two", Role.ASSISTANT),
        a_turn(3, "side", Role.OTHER),
        a_turn(4, "off"),
        a_turn(5, "three"),
    )
    base = Thread(thread_id="s:a", source="s", native_id="a", turns=turns, path=(1, 2, 3, 5))
    return base.replace(**changes)


def test_the_path_gives_the_reading_order():
    assert [turn.number for turn in a_thread(path=(2, 1, 5)).on_path()] == [2, 1, 5]


def test_numbers_of_a_shared_prefix_are_not_on_the_own_path():
    own = a_thread().turns[3:]
    assert [turn.number for turn in a_thread(turns=own).on_path()] == [5]


def test_clean_turns_leave_out_side_turns_and_alternatives():
    assert [turn.number for turn in a_thread().clean()] == [1, 2, 5]


def test_a_thread_names_its_turns():
    assert a_thread().ref(2) == "thread:s:a#turn:2"
