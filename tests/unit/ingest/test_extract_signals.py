import pytest

from graphstore.model.record import Count, EpochRecord
from tests.talk import facts_of, signals_of

A = "> I used mean sea level."


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Blocked: waiting for the mason.", "blocked"),
        ("Let's leave it for another day.", "deferred"),
        ("Next: seal the lid.", "next"),
        ("It is still unclear what the drum does.", "unresolved"),
        ("Tomorrow, but we are blocked by the mason.", "blocked"),
    ],
)
def test_frontier_types(text, kind):
    assert signals_of(text, kind="frontier") == [(1, kind)]


@pytest.mark.parametrize("text", ["What is next?", "Are we blocked by the mason?", "The drum."])
def test_a_question_is_no_frontier(text):
    assert signals_of(text, kind="frontier") == []


def test_of_the_assistant_only_the_last_word_is_a_frontier():
    assert signals_of("> Next: seal the lid.", "Yes.", kind="frontier") == []
    assert signals_of("Yes.", "> Next: seal the lid.", kind="frontier") == [(2, "next")]
    assert signals_of("Yes.", "> You may seal the lid and go on tomorrow.", kind="frontier") == []


def test_a_frontier_joins_the_nearest_question_with_a_specific_concept():
    epoch = EpochRecord(
        extractor="x", lineages=9, concept_df=(Count(name="escape wheel", count=3),)
    )
    found = facts_of(
        "What stops the escape wheel?",
        "> Oil.",
        "Why is the dial blue and round?",
        "> Paint.",
        "Still unclear about the escape wheel.",
        epoch=epoch,
    )
    ((_, (frontier, *_)),) = [pair for pair in found.signals if pair[0] == 5]
    wheel = next(one for one in found.questions if "wheel" in one.text)
    assert frontier.question_id == wheel.question_id
    assert frontier.clip == "Still unclear about the escape wheel."
    alone = facts_of("What stops the dial?", "> Oil.", "Blocked by the mason.", epoch=epoch)
    assert alone.signals[0][1][0].question_id is None


@pytest.mark.parametrize(
    ("text", "target"),
    [
        ("No, heights are above chart datum.", "claim"),
        ("That's wrong, the test must fail first.", "test"),
        ("You forgot the readme.", "doc_contract"),
        ("That is not what the output says.", "tool_result"),
        ("You missed the commit message.", "handoff"),
        ("No, the default is nylon.", "default"),
        ("I didn't ask for that.", "scope"),
        ("Please don't seal it, use a heater instead of that.", "route"),
    ],
)
def test_correction_targets(text, target):
    assert signals_of("Do it.", A, text, kind="correction") == [(3, target)]


@pytest.mark.parametrize(
    "turns",
    [
        ("No, heights are above chart datum.",),
        ("One.", "No, heights are above chart datum."),
        ("Do it.", A, "Is that not wrong?"),
        ("Do it.", A, "Good, go on."),
        ("Do it.", "> No, that is wrong. I meant chart datum."),
    ],
)
def test_what_corrects_nothing(turns):
    assert signals_of(*turns, kind="correction") == []


def test_a_correction_is_told_by_the_sentence_with_the_fact():
    epoch = EpochRecord(extractor="x", lineages=9, concept_df=(Count(name="chart datum", count=3),))
    turns = ("Do it.", A, "No, that is wrong. Heights are above chart datum.")
    ((_, (correction,)),) = facts_of(*turns, epoch=epoch).signals
    assert correction.clip == turns[2]
    assert len(correction.concepts) == 1


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("I chose the anchor escapement.", ["chose"]),
        ("I decided on the spring.", ["decided"]),
        ("I rejected the resin anchors.", ["rejected"]),
        ("I chose bolts and rejected resin, because of rubble.", ["rejected", "chose"]),
        ("Should we go with bolts?", []),
        ("> I chose bolts.", []),
    ],
)
def test_decisions(text, kinds):
    assert signals_of(text, kind="decision") == [(1, kind) for kind in kinds]


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("I'm not sure it is the oil.", ["uncertainty"]),
        ("Note to self: measure first.", ["process_note"]),
        ("That was a dead end.", ["abandoned_direction"]),
        ("I tried grease but it froze.", ["rejected_route"]),
        ("I was wrong about the oil.", ["self_correction"]),
        ("This is frustrating.", ["affect"]),
        ("> This is frustrating.", []),
        ("The oil is thick.", []),
    ],
)
def test_textures(text, kinds):
    assert signals_of(text, kind="texture") == [(1, kind) for kind in kinds]


def test_clips_are_short():
    ((_, (one,)),) = facts_of("Blocked by " + "the mason " * 80).signals
    assert len(one.clip) <= 220


def test_of_a_long_turn_only_its_ends_are_heard():
    middle = "The dial of the clock is blue and it has a hand. " * 40
    assert signals_of(f"Look. One. Two. Blocked by it. {middle}", kind="frontier") == []
    assert signals_of(f"{middle} Blocked by the mason.", kind="frontier") == [(1, "blocked")]


@pytest.mark.parametrize(
    ("turns", "labels"),
    [
        (("The database is slow and the server waits.",), {"technical_work"}),
        (("The database is slow.",), set()),
        (("I read this book.",), {"reading_notes"}),
        (("My wife likes oak.",), {"life_context"}),
        (("> My wife likes oak.",), set()),
        (("What stops the escape wheel there now?",), {"open_question"}),
        (("What stops the escape wheel there now?", "> Oil.", "That worked."), set()),
    ],
)
def test_scope_labels(turns, labels):
    assert set(facts_of(*turns).scope_labels) == labels
