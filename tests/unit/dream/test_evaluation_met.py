"""The wide reading: a later turn of a person takes up both ends; likeness counts nothing."""

from dataclasses import replace

import pytest

from dream.evaluation.met import Met
from dream.evaluation.report import rows
from dream.evaluation.sides import Pool, ordered
from graphstore.ids import concept_id, question_id
from graphstore.model.hypothesis import Resonates
from tests.dreamt import a_hypothesis
from tests.planted import Plot
from tests.replayed import a_cut, sides

T = 50
BEFORE, AFTER = 60, 10
NEAR = "Does the weir gate jam in hard frost?"
FAR = "Does the sluice motor stall in spring flood?"
CONCEPTS = Pool("meet", "Concept", "Concept", apart=True)
QUESTIONS = Pool("meet", "Question", "Question", apart=True)


def a_plot() -> Plot:
    plot = Plot()
    plot.say("a", NEAR, "weir gate", "hard frost", asks=True, days=BEFORE)
    plot.say("a2", "The weir gate in hard frost.", "weir gate", "hard frost", days=BEFORE)
    plot.say("b", FAR, "sluice motor", "spring flood", asks=True, days=BEFORE)
    plot.say("b2", "Spring flood and the motor.", "sluice motor", "spring flood", days=BEFORE)
    return plot


def found(plot: Plot, pool: Pool):
    return Met(sides(plot, T)).hits(pool)


def pair(one: str, other: str):
    return ordered(concept_id(one), concept_id(other))


ASKED = ordered(question_id(NEAR), question_id(FAR))


def test_a_person_who_names_both_later_joins_two_concepts():
    plot = a_plot()
    plot.say("c", "The weir gate has no sluice motor.", "weir gate", "sluice motor", days=AFTER)
    assert found(plot, CONCEPTS) == {pair("weir gate", "sluice motor")}


@pytest.mark.parametrize("changes", [{"role": "assistant"}, {"days": BEFORE}, {"days": None}])
def test_an_answer_that_lists_things_and_an_earlier_turn_join_nothing(changes):
    plot = a_plot()
    said = {"days": AFTER} | changes
    plot.say("c", "The weir gate and the sluice motor.", "weir gate", "sluice motor", **said)
    assert found(plot, CONCEPTS) == frozenset()


def test_two_turns_that_name_one_each_join_nothing():
    plot = a_plot()
    plot.say("c", "The weir gate.", "weir gate", days=AFTER)
    plot.say("c", "The sluice motor.", "sluice motor", days=AFTER)
    assert found(plot, CONCEPTS) == frozenset()


def test_a_question_is_taken_up_by_two_of_its_concepts_or_by_asking_it():
    plot = a_plot()
    every = ("weir gate", "hard frost", "sluice motor", "spring flood")
    plot.say("c", "Gate, frost, motor, flood.", *every, days=AFTER)
    assert found(plot, QUESTIONS) == {ASKED}
    plot = a_plot()
    plot.say("c", NEAR, "sluice motor", "spring flood", asks=NEAR, days=AFTER)
    assert found(plot, QUESTIONS) == {ASKED}


def test_one_concept_takes_up_no_question():
    plot = a_plot()
    plot.say("c", "Gate, frost, motor.", "weir gate", "hard frost", "sluice motor", days=AFTER)
    assert found(plot, QUESTIONS) == frozenset()
    beside = found(plot, Pool("meet", "Question", "Concept"))
    assert (question_id(NEAR), concept_id("sluice motor")) in beside
    assert (question_id(FAR), concept_id("weir gate")) not in beside


def test_a_thread_is_taken_up_by_its_questions_and_by_going_on_with_it():
    wanted = Pool("meet", "Thread", "Concept")
    plot = a_plot()
    plot.say("c", "Gate, frost, motor.", "weir gate", "hard frost", "sluice motor", days=AFTER)
    assert ("test:a", concept_id("sluice motor")) in found(plot, wanted)
    assert ("test:a2", concept_id("sluice motor")) not in found(plot, wanted)
    plot = a_plot()
    plot.say("a2", "The sluice motor too.", "sluice motor", days=AFTER)
    assert ("test:a2", concept_id("sluice motor")) in found(plot, wanted)


def test_a_journey_is_taken_up_by_its_questions():
    plot = a_plot()
    key = plot.journey(NEAR, (plot.lines["test:a"][0].ref,))
    plot.say("c", "Gate, frost, motor.", "weir gate", "hard frost", "sluice motor", days=AFTER)
    assert (key, concept_id("sluice motor")) in found(plot, Pool("meet", "Journey", "Concept"))


@pytest.mark.parametrize(
    ("text", "settled"),
    [("I measured the gate in the frost.", True), ("The gate in the frost again.", False)],
)
def test_an_open_question_is_settled_by_a_test_in_any_thread(text, settled):
    plot = a_plot()
    plot.say("c", text, "weir gate", "hard frost", days=AFTER)
    own = ("test:a", question_id(NEAR))
    assert (own in found(plot, Pool("settle", "Thread", "Question"))) is settled


def test_corrections_have_no_wide_reading():
    assert found(a_plot(), Pool("correct", "Thread", "Thread")) == frozenset()


def test_the_wide_reading_holds_the_narrow_one():
    plot = a_plot()
    every = ("weir gate", "hard frost", "sluice motor", "spring flood")
    plot.say("c", "Gate, frost, motor, flood.", *every, days=AFTER)
    base = a_hypothesis().model_dump(exclude={"edge"})
    ends = dict(zip(("src", "dst"), ASKED, strict=True))
    rhyme = Resonates.model_validate(
        base | ends | {"src_table": "Question", "dst_table": "Question"}
    )
    cut = a_cut(plot, T, [rhyme])
    (narrow, wide) = (rows((each,))[-1] for each in (cut, cut.widened()))
    assert (narrow.hits, narrow.possible) == (0, 0)
    assert (wide.hits, wide.possible, wide.pool) == (1, 1, narrow.pool)
    linked = replace(cut.widened(), met=None)
    assert rows((linked,))[-1] == narrow
