import pytest

from graphstore.ids import question_id
from graphstore.model.knowledge import QuestionStatus
from graphstore.model.record import EpochRecord
from ingest.extract.lexicon import find
from ingest.extract.questions import explicit, implicit, phase, salience
from ingest.extract.reading import read
from ingest.extract.turns import Sentence
from tests.talk import EMPTY, a_thread, facts_of


def said(text: str) -> Sentence:
    return Sentence(text, find(text, "en"), "en")


def asked(*turns: str, **more) -> dict[str, str]:
    return {one.text: one.intent for one in facts_of(*turns, **more).questions}


@pytest.mark.parametrize(
    ("text", "intent"),
    [
        ("What stops the escape wheel?", "explain"),
        ("how do i stop the brownout reset", "fix"),
        ("Any idea why the drum slips", "explain"),
        ("I wonder whether the oil is too thick", "explain"),
        ("Which fixing will hold the oak post?", "decide"),
        ("Copper or steel under the enamel?", "decide"),
        ("What is the difference between oil and grease?", "compare"),
        ("What should we measure next?", "plan"),
        ("Is the vent stack to blame?", "verify"),
        ("Can you update the drum drawing?", "task"),
        ("Can you explain the drum drawing?", "explain"),
        ("Why is the drum not working?", "explain"),
        ("The drum is not working?", "fix"),
        ("Can you fix the drum drawing?", "fix"),
    ],
)
def test_intent_of_a_question(text, intent):
    told = explicit(said(text))
    assert told is not None
    assert told[0] == intent


@pytest.mark.parametrize(
    "text",
    [
        "That is the drum, right?",
        "How are you?",
        "ok?",
        "Does it work?",
        "Can you run the drum again?",
        "He asked \u201cwhy does the drum slip?\u201d",
        "Which is why the drum slips",
        "What I mean is the drum.",
        "How the drum works:",
        "The drum slips.",
    ],
)
def test_what_is_no_question(text):
    assert explicit(said(text)) is None


@pytest.mark.parametrize(
    ("text", "intent"),
    [
        ("Fix the winding drum", "fix"),
        ("Find out why the drum slips", "task"),
        ("I need to measure the drum", "task"),
        ("I can't get the drum to turn, cannot get the drum to work", "task"),
        ("The winding drum keeps failing", "problem"),
        ("Plan the drum of the second clock", "plan"),
    ],
)
def test_tasks_and_problems_imply_a_question(text, intent):
    told = explicit(said(text)) or implicit(said(text))
    assert told is not None
    assert told[0] == intent


@pytest.mark.parametrize(
    "text",
    [
        "Run the tests",
        "Implement the following plan:",
        "Fix it",
        "Add " + "one drum " * 60,
        "No, that drum doesn't work",
        "It works now, the drum problem is solved",
    ],
)
def test_what_implies_no_question(text):
    assert implicit(said(text)) is None


def test_only_human_words_ask():
    assert asked("> What stops the escape wheel?", "> How does it stop?") == {}
    assert asked("See:\n```\nWhy does the drum slip?\n```", "> Why?") == {}
    assert asked("> hi", "> > Why does the drum slip?") == {}


def test_a_pasted_turn_implies_one_task_at_most():
    lines = [f"Fix the winding drum number {word}." for word in "abcdefgh"]
    assert len(asked("\n".join(lines))) == 3
    assert len(asked("\n".join([*lines, "long words " * 200]))) == 1


def test_one_turn_asks_twelve_questions_at_most():
    lines = [f"Why does the drum in case {letter}{letter} slip?" for letter in "abcdefghijklmnop"]
    assert len(asked("\n".join(lines))) == 12


def test_the_same_words_are_one_question_with_each_asking():
    found = facts_of("What stops the drum wheel?", "> Oil.", "what stops the drum wheel")
    (question,) = found.questions
    assert question.question_id == question_id("What stops the drum wheel?")
    assert question.ref_count == 2
    assert [row.src for row in found.asks] == [
        "thread:test:one#turn:1",
        "thread:test:one#turn:3",
    ]


def test_templates_of_the_epoch_ask_nothing():
    name = question_id("What stops the drum wheel?")
    epoch = EpochRecord(extractor="x", lineages=5, templates=(name,))
    found = facts_of("What stops the drum wheel?", epoch=epoch)
    assert (found.questions, found.asks) == ((), ())


def _asking(text: str, thread_turns: tuple[str, ...] = ()):
    (one,) = read(a_thread("one", text, *thread_turns)).asked
    return one


@pytest.mark.parametrize(
    ("text", "axes", "typed", "first", "expected"),
    [
        # .24 refs + .14 cue + .20 axes + .12 tokens + .10 typed + .08 first
        ("What stops the escape wheel there now?", 3, True, True, 0.88),
        # no typed name, not the first asking, two axes: .24 + .14 + .09 + .12
        ("What stops the escape wheel there now?", 2, False, False, 0.59),
        # four tokens: .24 + .14 + .20 + .08
        ("What stops the drum?", 3, False, True, 0.66),
        # intent decide .08, continuity .08: .24 + .14 + .20 + .12 + .08 + .08
        ("Should we oil the drum again or not?", 3, False, False, 0.86),
        # two tokens: .24 + .14 + .20 - .20 + .08
        ("Drum slack?", 3, False, True, 0.46),
    ],
)
def test_salience_adds_up(text, axes, typed, first, expected):
    assert salience(_asking(text), axes=axes, names_typed=typed, first=first) == expected


def test_salience_without_refs_is_lower():
    one = _asking("What stops the drum?")
    told = salience(one, axes=3, names_typed=False, first=False, refs=False)
    assert told == pytest.approx(0.34)


def test_phase_is_the_third_of_the_thread():
    assert [phase(place, 9) for place in (0, 2, 3, 5, 6, 8)] == [
        "start", "start", "middle", "middle", "end", "end",
    ]  # fmt: skip
    assert phase(0, 0) == "start"


def status_of(*turns: str) -> dict[str, QuestionStatus]:
    return {one.text: one.status for one in facts_of(*turns).questions}


Q = "How do I stop the brownout reset?"


def test_silence_is_open():
    assert status_of(Q, "> Add a capacitor.", "The dial is blue.")[Q] is QuestionStatus.OPEN


def test_an_assistant_never_answers():
    assert status_of(Q, "> That worked. Fixed. Confirmed.")[Q] is QuestionStatus.OPEN


@pytest.mark.parametrize("said_later", ["That worked, thanks.", "Confirmed.", "fixed", "通了"])
def test_a_later_human_turn_accepts(said_later):
    found = facts_of(Q, "> Add a capacitor.", said_later)
    assert found.questions[0].status is QuestionStatus.ANSWERED
    (row,) = found.answers
    assert (row.src, row.dst, row.kind) == (
        "thread:test:one#turn:3",
        found.questions[0].question_id,
        "resolved",
    )
    assert row.source_refs == ("thread:test:one#turn:3",)


@pytest.mark.parametrize(
    "said_later",
    ["It still resets, nothing is fixed.", "Once that works we go on.", "Is it fixed?",
     "That worked for the dial but the reset is there."],
)  # fmt: skip
def test_what_accepts_nothing(said_later):
    assert status_of(Q, "> Add a capacitor.", said_later)[Q] is QuestionStatus.OPEN


def test_stating_the_answer_answers_the_question_it_names():
    told = status_of(
        Q,
        "> Look.",
        "Why does the winding drum slip?",
        "> Look.",
        "Turned out the brownout reset came from the radio.",
    )
    assert told[Q] is QuestionStatus.ANSWERED
    assert told["Why does the winding drum slip?"] is QuestionStatus.OPEN


def test_an_acceptance_needs_an_answer_in_between():
    assert status_of(Q, "That worked.")[Q] is QuestionStatus.OPEN


def test_an_acceptance_far_away_is_about_something_else():
    between = ["> Look.", "The dial is blue."] * 4
    assert status_of(Q, *between, "> Look.", "That worked.")[Q] is QuestionStatus.OPEN


def test_dropped_when_the_human_says_so():
    found = facts_of(Q, "> Add a capacitor.", "Never mind.")
    assert found.questions[0].status is QuestionStatus.DROPPED
    assert found.answers == ()


def test_asked_again_is_open_again():
    assert status_of(Q, "> Look.", "That worked.", "> Good.", Q)[Q] is QuestionStatus.OPEN


def test_a_narrower_question_is_a_partial_answer():
    narrow = "How do I stop the brownout reset of the radio board?"
    found = facts_of(Q, "> Which?", narrow)
    (row,) = found.answers
    assert (row.kind, row.dst) == ("partial", question_id(Q))
    assert {one.status for one in found.questions} == {QuestionStatus.OPEN}


def test_rows_carry_refs_and_concepts():
    found = facts_of("What stops the `escape_wheel`?", "> The `escape_wheel` is dry.")
    (concept,) = found.concepts
    assert concept.cf == 2
    assert {(row.src_table, row.src) for row in found.mentions} == {
        ("SourceRef", "thread:test:one#turn:1"),
        ("SourceRef", "thread:test:one#turn:2"),
        ("Question", found.questions[0].question_id),
    }
    rows = [*found.mentions, *found.asks, *found.answers]
    assert all(row.source_refs and row.extractor for row in rows)
    assert found.dropped == 0


def test_touched_files_are_concepts_of_their_turn():
    from ingest.derive import Derivation

    thread = a_thread("one", "Do it.", "> Done.", touched={2: ["cad/drum.scad"]})
    found = Derivation().facts(thread, EMPTY)
    (concept,) = found.concepts
    assert (concept.label, concept.kind.value) == ("cad/drum.scad", "path")
    assert [row.src for row in found.mentions] == ["thread:test:one#turn:2"]
    assert found.scope_labels == ("technical_work",)


def test_a_whole_turn_may_ask_without_a_mark():
    assert asked("what stops the drum wheel") == {"what stops the drum wheel": "explain"}
    assert asked("what stops the drum wheel.") == {}
    assert asked("Look. what stops the drum wheel") == {}
    assert asked("what I mean is the drum wheel") == {}


@pytest.mark.parametrize(
    "text",
    [
        "Let's have the drum drawing in the readme",
        "install the drum driver",
        "in draw_drum, use the long scale",
        "Translate the drum notes",
        "uninstall all traces of the old driver",
        "can you update the drum drawing in all the right places",
        "let's look at the winding of the drum",
    ],
)
def test_an_order_is_a_task(text):
    told = implicit(said(text))
    assert told is not None
    assert told[0] == "task"


@pytest.mark.parametrize(
    "text",
    [
        "address 55 and 60",
        "Address 4, 18, 152",
        "\u2705 Add the drum test",
        "Add the drum test [x]",
    ],
)
def test_what_names_nothing_or_is_done_is_no_task(text):
    assert implicit(said(text)) is None


@pytest.mark.parametrize(
    "text",
    [
        "The notes list the pros and cons of the drum drawing.",
        "It would be better to have no drum than a loose drum.",
        "Where can the drum be mounted?: Only on this wall",
    ],
)
def test_a_cue_that_only_tells_asks_nothing(text):
    assert explicit(said(text)) is None


def test_a_scene_is_no_question():
    assert asked("when drawing the drum, don't wrap the winding labels") == {}
    assert asked("when does the drum slip at the quay") == {
        "when does the drum slip at the quay": "explain"
    }


def test_a_colon_leads_to_the_trouble_itself():
    assert implicit(said("fix the drum errors:")) == ("fix", 0.85)
    assert implicit(said("I am getting this error with the drum:")) == ("problem", 0.8)
    assert implicit(said("Add the following drum tests:")) is None


def test_a_decision_is_no_order():
    assert implicit(said("let's go with the oak drum")) is None
