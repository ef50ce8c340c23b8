from datetime import UTC, datetime

import pytest

from graphstore.ids import fingerprint
from graphstore.model.conversation import Role
from ingest.clean import CleanTurn
from ingest.model import RawTurn, Tally
from ingest.options import Options
from ingest.settle import counted, settle

AT = datetime(2026, 1, 1, tzinfo=UTC)
LONG = "w" * 280


def turn(role, text, **facts):
    calls = facts.pop("calls", ())
    raw = RawTurn(role=role, blocks=(), **facts)
    return CleanTurn(raw, text, fingerprint(role, text), AT, (), (), 0, 0, calls)


def human(text="q"):
    return turn(Role.HUMAN, text)


def said(text, *, way=False, **facts):
    return turn(Role.ASSISTANT, text, calls_tool=way, **facts)


def settled(*turns, agent=True, closed=True, **options):
    tally = Tally()
    tally.read(sum(one.raw.records for one in turns))
    found = settle(turns, [tally], Options(**options), agent=agent, closed=closed)
    assert tally.balanced
    return found, tally


def texts(*turns, **choices):
    return [(one.text, one.interim) for one in settled(*turns, **choices)[0].turns]


def test_what_was_said_on_the_way_is_kept_only_if_long():
    talk = human(), said("short", way=True), said(LONG, way=True), said("done")
    assert texts(*talk) == [("q", False), (LONG, True), ("done", False)]
    _, tally = settled(*talk)
    assert tally.dispositions == {"turn": 3, "interim": 1}


@pytest.mark.parametrize(("least", "kept"), [(0, 3), (280, 2), (281, 1), (-1, 1)])
def test_the_length_from_which_it_is_kept_can_be_set(least, kept):
    talk = said("a", way=True), said(LONG, way=True), said("done")
    assert len(texts(*talk, interim_min_chars=least)) == kept


def test_the_mark_of_the_source_wins():
    assert texts(said("answer", way=True, final=True), said("note", final=False)) == [
        ("answer", False)
    ]


def test_a_closed_exchange_without_a_final_word_has_its_last_one_as_answer():
    talk = human("1"), said("a", way=True), said("b", way=True), human("2"), said("c", way=True)
    assert texts(*talk) == [("1", False), ("b", False), ("2", False), ("c", False)]
    assert texts(*talk, closed=False) == [("1", False), ("b", False), ("2", False)]


def test_an_exchange_that_has_a_final_word_needs_no_other():
    assert texts(human(), said("done"), said("a", way=True)) == [("q", False), ("done", False)]


def test_a_prompt_typed_ahead_leaves_the_exchange_open():
    ahead = turn(Role.HUMAN, "typed ahead", ahead=True)
    talk = human(), said("looking", way=True), ahead, said("done"), human("next"), said("yes")
    assert [text for text, _ in texts(*talk)] == ["q", "typed ahead", "done", "next", "yes"]
    unanswered = human(), said("looking", way=True), ahead, human("next")
    assert [text for text, _ in texts(*unanswered)] == ["q", "looking", "typed ahead", "next"]


def test_chats_have_no_interim_messages():
    assert texts(said("a", way=True), said("b"), agent=False) == [("a", False), ("b", False)]


def test_a_live_file_holds_its_last_message_back_unless_it_is_complete():
    assert texts(human(), said("may grow"), closed=False) == [("q", False)]
    assert texts(human(), said("done", stopped=True), closed=False) == [
        ("q", False),
        ("done", False),
    ]
    assert texts(human(), said("on", way=True, stopped=True), closed=False) == [("q", False)]
    assert texts(said("a"), human(), closed=False) == [("a", False), ("q", False)]
    found, tally = settled(human(), said("may grow", records=3), closed=False)
    assert (found.live, tally.records) == (True, 1)
    assert texts(human(), said("a"), agent=False, closed=False) == [("q", False)]


def test_calls_of_what_is_not_kept_go_to_the_next_answer():
    first = said("a", way=True, calls=(("Read", 1),))
    found, _ = settled(first, human(), said("b", way=True, calls=(("Read", 1),)), said("c"))
    assert [one.calls for one in found.turns] == [(("Read", 1),), (), (("Read", 1),)]


def test_what_was_passed_over_is_remembered():
    found, _ = settled(said("a  b", way=True, key="k", also=("l",)), said("c"))
    assert found.passed_keys == {"k", "l"}
    assert found.passed_words == {fingerprint(Role.ASSISTANT, "a b")}


def test_calls_are_added_up_by_name():
    assert list(counted((("b", 1), ("a", 2), ("b", 3))).items()) == [("a", 2), ("b", 4)]


def test_prompts_typed_ahead_of_an_answer_wait_in_a_live_file():
    ahead = turn(Role.HUMAN, "typed ahead", ahead=True)
    talk = human(), said("looking", way=True), ahead
    found, _ = settled(*talk, closed=False)
    assert [one.text for one in found.turns] == ["q"]
    assert found.held
    assert [text for text, _ in texts(*talk)] == ["q", "looking", "typed ahead"]
    assert [text for text, _ in texts(human(), ahead, closed=False)] == ["q", "typed ahead"]
    stopped = said("done", stopped=True)
    assert [text for text, _ in texts(human(), stopped, ahead, closed=False)] == [
        "q",
        "done",
        "typed ahead",
    ]
