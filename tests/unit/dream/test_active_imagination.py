"""What could join two things: each rule fires on its plant and not on its decoy."""

import pytest

from dream.adjudicate import adjudicate
from dream.functions.active_imagination import (
    bridge_concept,
    draft,
    question_not_yet_asked,
    single_thread_probe,
    synthesis_hypothesis,
)
from dream.landing import horizon
from dream.model import Accepted, Parked
from graphstore.ids import concept_id, question_id
from graphstore.model.knowledge import ConceptKind, Signal
from tests.dreamt import SETTINGS, a_pack, only, packed
from tests.planted import NOW, Plot

FOG = "How tall must the vent stack be against fog?"
DAMP = "What keeps the hall sensor dry?"
LINE = "Why is the float line off the drum?"
GROOVE = "Should I cut a groove for the float line?"


def judged(made, drafted):
    return adjudicate(drafted, made, horizon(SETTINGS, NOW), NOW)


# bridge_concept


def apart():
    """Two topics that never meet; the salt film meets both, and so does a busier word."""
    plot = Plot()
    plot.say("a", FOG, "vent stack", "salt film", "board", asks=True, days=20)
    plot.say("b", DAMP, "hall sensor", "salt film", "board", asks=True, days=10)
    plot.say("c", "The board.", "board", "vent stack", days=9)
    plot.say("d", "The board and the screen.", "board", "hall sensor", days=9)
    plot.say("e", "The vent stack by itself.", "vent stack", days=60)
    plot.say("f", "The hall sensor by itself.", "hall sensor", days=60)
    plot.relates = [
        ("vent stack", "salt film"),
        ("hall sensor", "salt film"),
        ("vent stack", "board"),
        ("hall sensor", "board"),
    ]
    return plot


def missing_middle(plot):
    members = (
        ("side_a", concept_id("vent stack")),
        ("side_b", concept_id("hall sensor")),
        ("via", concept_id("salt film")),
        ("via", concept_id("board")),
    )
    return packed(plot, "seed", "s:1", shape="missing_middle", members=members)


def test_what_meets_two_that_never_meet_may_join_them():
    made = missing_middle(apart())
    assert made.eligible == ("compensatory", "active_imagination")
    found = only(bridge_concept(made))
    ends = sorted(map(concept_id, ("vent stack", "hall sensor")))
    assert [found.src, found.dst] == ends
    assert (found.edge, found.mode, found.start) == ("IMAGINES", "creative", 30)
    assert found.next_check == "user_probe"
    assert found.title.endswith('"salt film"?')
    assert [each.side for each in found.claims] == ["a", "b"]
    assert found.artifact.kind == "probe"
    assert found.artifact.when_not_to_use
    assert isinstance(judged(made, found), Accepted)


@pytest.mark.parametrize("decoy", ["files", "no_turns", "linked", "plain_ends"])
def test_nothing_joins_them(decoy):
    plot = apart()
    if decoy == "files":
        plot.kinds = {"salt film": ConceptKind.PATH, "board": ConceptKind.SYMBOL}
    if decoy == "no_turns":
        for thread in "bd":
            plot.lines[f"test:{thread}"][0].concepts = ("hall sensor",)
        plot.say("e", "salt film and board", "salt film", "board")
    if decoy == "linked":
        plot.relates.append(("vent stack", "hall sensor"))
    if decoy == "plain_ends":
        plot.kinds = {"vent stack": ConceptKind.PATH}
    assert list(bridge_concept(missing_middle(plot))) == []


# question_not_yet_asked


def half_settled():
    """Two questions on two concepts; one was settled, and somebody gave up a direction."""
    plot = Plot()
    plot.say("a", LINE, "float line", "drum", asks=True, days=30)
    plot.say("a", "A deeper groove on the drum settled it.", "drum", resolves=LINE, days=29)
    gave_up = (Signal(kind="texture", type="abandoned_direction", clip="I gave up on glue"),)
    plot.say("b", GROOVE, "float line", "drum", asks=True, days=20, signals=gave_up)
    return plot


def edge(plot):
    key = " ".join(sorted(map(concept_id, ("float line", "drum"))))
    return packed(plot, "concept_edge", key)


def test_what_settled_one_question_may_settle_another():
    made = edge(half_settled())
    assert made.textures == ("abandoned_direction",)
    assert "active_imagination" in made.eligible
    found = only(question_not_yet_asked(made))
    assert {found.src, found.dst} == {question_id(LINE), question_id(GROOVE)}
    assert found.summary.startswith(f'Does what settled "{LINE}" (2025-12-17) also settle')
    assert (found.start, found.support) == (20, 0.5)
    assert found.artifact.kind == "question"
    answer = next(turn.alias for turn in made.turns if "settled it" in turn.text)
    assert answer in found.refs
    assert isinstance(judged(made, found), Accepted)


@pytest.mark.parametrize("missing", ["counter", "why_not_fact", "claims"])
def test_each_missing_part_parks(missing):
    made = edge(half_settled())
    found = only(question_not_yet_asked(made))
    gone: dict[str, dict[str, object]] = {
        "counter": {"counter": ()},
        "why_not_fact": {"why_not_fact": ""},
        "claims": {"claims": (*found.claims, found.claims[0].replace(refs=()))},
    }
    assert isinstance(judged(made, found.replace(**gone[missing])), Parked)


@pytest.mark.parametrize("decoy", ["both_open", "one_lineage"])
def test_no_question_is_left_to_ask(decoy):
    plot = half_settled()
    made = edge(plot)
    if decoy == "both_open":
        plot.lines["test:a"][1].resolves = None
        made = edge(plot)
    if decoy == "one_lineage":
        made = made.replace(pairs=tuple(each.replace(same_lineage=True) for each in made.pairs))
    assert list(question_not_yet_asked(made)) == []


@pytest.mark.parametrize("changes", [{"is_linked": True}, {"shared": ()}, {"a": ()}])
def test_a_pair_that_is_linked_or_bare_is_not_asked_about(changes):
    made = edge(half_settled())
    pairs = tuple(each.replace(**changes) for each in made.pairs)
    assert list(question_not_yet_asked(made.replace(pairs=pairs))) == []


def test_wordings_of_one_question_are_not_asked_about():
    made = edge(half_settled())
    one = tuple(each.replace(cluster="q:1") for each in made.questions)
    assert list(question_not_yet_asked(made.replace(questions=one))) == []


# synthesis_hypothesis and the voices


def of_many_voices():
    """A thread with an old question, another where it stands, and who rhymes with that."""
    plot = Plot()
    own = "Is the float line too thick?"
    plot.say("a", own, "float line", asks=True, days=40)
    stop = plot.stop("blocked", "waits for the drum", asks=LINE)
    plot.say("a", LINE, "float line", "drum", asks=True, days=30, signals=stop)
    gave_up = (Signal(kind="texture", type="affect", clip="it annoys me"),)
    plot.say("b", GROOVE, "float line", "drum", asks=True, days=20, signals=gave_up)
    plot.say("c", "The float line slips.", "float line", days=8)
    plot.say("d", "The drum of the float line.", "drum", "float line", days=9)
    plot.say("e", "The drum turns.", "drum", days=9)
    plot.say("f", "Nothing of it.", days=9)
    return plot


def thread(plot, name="a"):
    return packed(plot, "frontier", f"test:{name}")


def test_each_voice_proposes_one_node_with_its_turns():
    made = thread(of_many_voices())
    found = {each.voice: each.label for each in made.voices}
    assert found == {
        "active_question": "Is the float line too thick?",
        "current_frontier": LINE,
        "resonance": GROOVE,
    }
    assert all(each.refs for each in made.voices)


def test_two_questions_that_three_voices_propose_may_be_one():
    made = thread(of_many_voices())
    assert "active_imagination" in made.eligible
    found = only(synthesis_hypothesis(made))
    assert question_id(GROOVE) in (found.src, found.dst)
    assert "may be one question" in found.title
    assert "3 voices speak here: active question, current frontier, resonance" in found.summary
    assert len(found.voices) == 3
    assert 0 < found.support < 1
    assert isinstance(judged(made, found), Accepted)


def test_two_voices_are_not_enough():
    made = thread(of_many_voices())
    assert list(synthesis_hypothesis(made.replace(voices=made.voices[:2]))) == []


def test_voices_of_one_mind_join_nothing():
    made = thread(of_many_voices())
    agreed = tuple(each.replace(node=question_id(LINE)) for each in made.voices)
    assert list(synthesis_hypothesis(made.replace(voices=agreed))) == []


def test_voices_that_pair_with_nothing_join_nothing():
    made = thread(of_many_voices())
    assert list(synthesis_hypothesis(made.replace(pairs=()))) == []


def test_voices_of_one_thread_join_nothing():
    made = thread(of_many_voices())
    kin = tuple(each.replace(same_lineage=True) for each in made.pairs)
    assert list(synthesis_hypothesis(made.replace(pairs=kin))) == []


def test_questions_of_one_common_word_are_not_one():
    made = thread(of_many_voices())
    bare = tuple(each.replace(shared=each.shared[:1]) for each in made.pairs)
    assert list(synthesis_hypothesis(made.replace(pairs=bare))) == []


# one thread


def alone(also="affect"):
    plot = Plot()
    mood = (Signal(kind="texture", type=also, clip="it annoys me"),)
    plot.say("a", LINE, "float line", "drum", asks=True, days=30)
    plot.say("a", GROOVE, "float line", "drum", asks=True, days=20, signals=mood)
    plot.say("a", "The float line on the drum again.", "float line", "drum", days=19)
    plot.roots["test:b"] = "test:b"
    plot.say("z", "float line", "float line", "drum", days=200)
    plot.say("y", "settled", days=9)
    return plot


def knot(plot):
    members = (("member", question_id(LINE)), ("member", question_id(GROOVE)))
    return packed(plot, "seed", "s:k", shape="knot", members=members)


def test_one_thread_is_imagined_about_only_to_wait():
    made = knot(alone())
    assert made.readiness == "single_thread"
    assert made.eligible == ("active_imagination",)
    found = only(draft(made))
    assert found.rule == "synthesis_hypothesis"
    assert "single_thread_probe" in judged(made, found).failed
    assert list(single_thread_probe(made.replace(readiness="ready"))) == []


def test_a_thread_of_few_turns_gives_no_probe():
    made = knot(alone())
    few = tuple(each.replace(a=each.a[:1], b=each.b[:1]) for each in made.pairs)
    assert list(single_thread_probe(made.replace(pairs=few))) == []


def test_one_thread_is_refused_by_three_functions():
    plot = Plot()
    plot.say("a", LINE, "float line", asks=True)
    plot.say("a", "And the drum?", "drum", asks=True)
    assert thread(plot).eligible == ("compensatory",)


def test_every_draft_says_why_it_is_no_fact_and_shows_well():
    plots = ((edge, half_settled()), (thread, of_many_voices()), (missing_middle, apart()))
    for packing, plot in plots:
        for each in draft(packing(plot)):
            assert each.why_not_fact.endswith("no turn states it.")
            assert len(each.title) <= 90
            assert len(each.summary) <= 400
            assert each.title.count('"') % 2 == each.summary.count('"') % 2 == 0
            assert "the user" not in each.summary


def test_a_pack_of_nothing_gives_nothing():
    assert list(draft(a_pack(questions=()))) == []
