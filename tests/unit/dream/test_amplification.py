"""What an inquiry rhymes with: each rule fires on its plant and not on its decoy."""

from datetime import timedelta

import pytest

from dream.functions.amplification import (
    cross_thread_resonance,
    draft,
    journey_pattern_resonance,
    theme_deepening,
    top_quarter,
)
from dream.model import TooThin
from graphstore.ids import concept_id, question_id
from graphstore.model.knowledge import ConceptKind, LinkType
from tests.dreamt import a_pack, a_pair, a_question, is_sound, only, packed
from tests.planted import Plot, days_ago

LINE = "Why is the float line off the drum?"
GROOVE = "Should I cut a groove for the float line?"


def rhyming(*also):
    plot = Plot()
    plot.say("a", LINE, "float line", "drum", asks=True, days=30)
    plot.say("b", GROOVE, "float line", "drum", asks=True, days=20)
    plot.say("c", "elsewhere", *also)
    return plot


def bridge(plot):
    members = (("side_a", "test:a"), ("side_b", "test:b"))
    return packed(plot, "seed", "s:1", shape="weak_bridge", members=members)


def test_two_questions_on_two_concepts_rhyme():
    made = bridge(rhyming())
    found = only(cross_thread_resonance(made))
    low, high = sorted((question_id(LINE), question_id(GROOVE)))
    assert (found.src, found.dst, found.edge, found.start) == (low, high, "RESONATES", 30)
    assert '"Why is the float line off the drum?"' in found.title
    assert "rhymes with" in found.title
    assert len(found.title) <= 90
    assert 'Both turn on "' in found.summary
    assert found.summary.endswith("in threads that never meet.")
    assert [each.side for each in found.claims] == ["a", "b"]
    assert found.support == 1.0
    assert is_sound(made, found)


def test_two_questions_of_one_day_name_it_once():
    plot = rhyming()
    for line, hours in zip(plot.every(), (0, 12, 0), strict=True):
        line.at = days_ago(9.5) + timedelta(hours=hours)
    found = only(cross_thread_resonance(bridge(plot)))
    assert "; asked 2026-01-06 and 2026-01-06 in" not in found.summary
    assert found.summary.count("2026-01-06") == 1


@pytest.mark.parametrize(("minutes", "rhymes"), [(0, 0), (719, 0), (720, 1), (721, 1)])
def test_two_questions_of_one_sitting_do_not_rhyme(minutes, rhymes):
    plot = rhyming()
    for line, later in zip(plot.every(), (0, minutes, 0), strict=True):
        line.at = days_ago(9) + timedelta(minutes=later)
    assert len(list(cross_thread_resonance(bridge(plot)))) == rhymes


def test_undated_questions_are_of_no_sitting():
    plot = rhyming()
    for line in plot.every():
        line.at = None
    assert len(list(cross_thread_resonance(bridge(plot)))) == 1


@pytest.mark.parametrize("decoy", ["linked", "clustered", "lineage", "one_concept"])
def test_no_rhyme(decoy):
    plot = rhyming()
    if decoy == "linked":
        plot.link(LINE, GROOVE)
    if decoy == "clustered":
        plot.link(LINE, GROOVE, LinkType.RECURRING)
    if decoy == "lineage":
        plot.roots["test:b"] = "test:a"
        plot.say("c", "x", "float line", "drum")
    if decoy == "one_concept":
        plot = Plot()
        plot.say("a", LINE, "float line", asks=True, days=30)
        plot.say("b", GROOVE, "float line", asks=True, days=20)
    made = bridge(plot)
    assert getattr(made, "outcome", "") == "too_thin" or list(draft(made)) == []


def pair_with(**changes):
    made = a_pack(pairs=(a_pair(**{"shared": ("c:hall",), **changes}),))
    return list(cross_thread_resonance(made))


def test_one_rare_concept_is_enough_with_two_common_neighbours():
    assert len(pair_with()) == 1
    assert pair_with(common_neighbours=1) == []


def test_one_common_concept_is_not_rare():
    assert pair_with(shared=("c:salt",)) == []


@pytest.mark.parametrize(
    "changes",
    [
        {"is_linked": True},
        {"same_lineage": True},
        {"a": ()},
        {"b": ()},
        {"src": "q:unknown"},
        {"new_concept": "c:hall"},
        {"shared": ("c:unnamed", "c:nameless")},
    ],
)
def test_a_pair_that_is_not_apart_or_not_named_does_not_rhyme(changes):
    assert pair_with(**changes) == []


def test_questions_of_one_cluster_do_not_rhyme():
    made = a_pack(
        questions=(a_question("q:a", "One?", cluster="q"), a_question("q:b", "Two?", cluster="q"))
    )
    assert list(cross_thread_resonance(made)) == []


def test_without_weight_there_is_no_support():
    made = a_pack(pairs=(a_pair(adamic_adar=0.0),))
    assert only(cross_thread_resonance(made)).support == 0.0


def test_the_rarest_quarter_of_nothing_is_nothing():
    assert top_quarter(a_pack(concepts=())) == 0.0
    assert top_quarter(a_pack()) == 1.5


def test_words_of_any_length_fit_and_every_quote_is_closed():
    long = "x" * 36 + " and so on and on " * 20
    labels = tuple(f"{n} " + "concept " * 30 for n in "abc")
    plot = Plot()
    for name, days in (("a", 30), ("b", 20)):
        plot.say(name, long + name, *labels, asks=long + name, days=days)
        for core in (f"One {name}?",):
            ref = plot.say(name, "Waits.", *labels, signals=plot.stop("blocked", "waits"))
            key = plot.journey(core, (ref,), concepts=labels, frontier=long, path_label=long)
    found = [*draft(bridge(plot)), *draft(packed(plot, "journey", key))]
    assert {each.rule for each in found} == {
        "cross_thread_resonance",
        "journey_pattern_resonance",
    }
    for each in found:
        assert len(each.title) <= 90
        assert len(each.summary) <= 400
        assert each.title.count('"') % 2 == each.summary.count('"') % 2 == 0


# theme_deepening


def theme(plot):
    return packed(plot, "theme", concept_id("salt film"))


def deepening():
    plot = Plot()
    plot.say("a", "Is the salt film thick?", "salt film", asks=True, days=40)
    plot.say(
        "b",
        "Does the salt film reach the vent stack?",
        "salt film",
        "vent stack",
        asks=True,
        days=5,
    )
    plot.say("c", "How tall is the vent stack?", "vent stack", asks=True, days=20)
    return plot


def test_a_concept_new_to_a_theme_rhymes_with_who_asks_about_it():
    made = theme(deepening())
    found = only(theme_deepening(made))
    ends = map(
        question_id, ("Does the salt film reach the vent stack?", "How tall is the vent stack?")
    )
    assert {found.src, found.dst} == set(ends)
    assert found.summary.startswith('Both turn on "vent stack"; asked ')
    assert found.summary.endswith('It is new to "salt film".')
    assert is_sound(made, found)


def test_a_concept_that_the_theme_met_before_is_not_new():
    plot = deepening()
    plot.say("a", "The vent stack.", "vent stack", days=40)
    assert list(theme_deepening(theme(plot))) == []


@pytest.mark.parametrize("label", ["vent", "thin salt film", "src/vent stack.py"])
def test_a_plain_word_a_file_and_a_part_of_the_theme_are_nothing_new(label):
    plot = deepening()
    plot.kinds["src/vent stack.py"] = ConceptKind.PATH
    for line in plot.every():
        line.concepts = tuple(label if each == "vent stack" else each for each in line.concepts)
    assert list(theme_deepening(theme(plot))) == []


def test_a_theme_that_the_pack_cannot_name_is_not_deepened():
    made = theme(deepening())
    bare = tuple(each for each in made.concepts if each.label == "vent stack")
    assert list(theme_deepening(made.replace(concepts=bare))) == []


def test_a_new_concept_without_weight_has_no_support():
    made = theme(deepening())
    light = tuple(each.replace(idf=0.0) for each in made.concepts)
    assert only(theme_deepening(made.replace(concepts=light))).support == 0.0


# journey_pattern_resonance


def journeys(**changes):
    plot = Plot()
    one = plot.say("a", "Wait for the permit.", "permit", "quay", days=60)
    two = plot.say("b", "Wait for the permit too.", "permit", "mast", days=60)
    plot.say("c", "quay and mast", "quay", "mast")
    plot.say("d", "And x?", asks="x")
    first = plot.journey(
        "Which post on the quay?", (one,), concepts=("permit", "quay"), questions=("x",)
    )
    plot.journey(
        "Which mast?", (two,), **{"concepts": ("permit", "mast"), "questions": ("y",), **changes}
    )
    return plot, first


def test_two_journeys_that_stand_still_at_the_same_thing_rhyme():
    plot, key = journeys()
    made = packed(plot, "journey", key)
    found = only(journey_pattern_resonance(made))
    assert "stopped like" in found.title
    assert found.summary.startswith('Both stand still at "permit": "stands at ')
    assert (found.start, found.support) == (20, 0.625)
    assert found.bridge.kind == "shared_blockage"
    assert set(found.bridge.journeys) == {found.src, found.dst}
    assert is_sound(made, found)


@pytest.mark.parametrize(
    "changes",
    [
        {"status": "arrived"},
        {"last_seen": days_ago(10)},
        {"last_seen": None},
        {"concepts": ("mast",)},
        {"last_activity_at": days_ago(3)},
    ],
)
def test_journeys_that_move_or_share_nothing_do_not_rhyme(changes):
    plot, key = journeys(**changes)
    assert list(journey_pattern_resonance(packed(plot, "journey", key))) == []


def test_a_blocked_journey_stands_still_however_young():
    plot, key = journeys(last_seen=days_ago(2))
    line = plot.lines["test:b"][0]
    line.signals = plot.stop("blocked", "waits")
    assert len(list(journey_pattern_resonance(packed(plot, "journey", key)))) == 1


def test_journeys_of_one_thread_do_not_rhyme():
    plot, key = journeys()
    plot.roots["test:b"] = "test:a"
    plot.say("f", "permit", "permit")
    plot.say("e", "Is the permit there?", "permit", asks="x")
    made = packed(plot, "journey", key)
    assert any(pair.same_lineage for pair in made.pairs)
    assert list(journey_pattern_resonance(made)) == []


def test_what_freed_one_journey_may_free_another():
    plot, key = journeys(last_seen=days_ago(2))
    stood = plot.lines["test:b"][0]
    stood.signals = plot.stop("blocked", "waits")
    went_on = plot.say("g", "The mayor signs every permit on Mondays.", "permit", days=3)
    journey, _, questions, concepts = plot.journeys[1]
    moved = journey.replace(frontier_refs=(went_on,))
    plot.journeys[1] = (moved, (stood.ref, went_on), questions, concepts)
    made = packed(plot, "journey", key)
    found = only(journey_pattern_resonance(made))
    assert found.bridge.kind == "shared_unblock_condition"
    assert found.bridge.unblock_condition == "The mayor signs every permit on Mondays."
    assert found.title.startswith("What freed ")
    assert found.summary.endswith('went on with: "The mayor signs every permit on Mondays."')
    assert is_sound(made, found)
    # seen from the other end it is the same bridge
    turned = packed(plot, "journey", moved.journey_id)
    assert only(journey_pattern_resonance(turned)).bridge.kind == "shared_unblock_condition"
    # nothing freed it: no bridge
    assert list(journey_pattern_resonance(made.replace(resumed=()))) == []


def test_one_that_moves_beside_one_that_waits_is_no_pattern():
    plot, key = journeys(last_seen=days_ago(2))
    assert list(journey_pattern_resonance(packed(plot, "journey", key))) == []


PATH = ("zhun", "meng", "kan", "li", "zhun", "ge")
SHUFFLED = ("li", "zhun", "zhun", "ge", "meng", "kan")


def twins(other):
    plot = Plot()
    keys = []
    for name, core, route in (("a", "Which oak post?", PATH), ("b", "Which mast?", other)):
        for number in range(len(PATH)):
            # one word of its own in each turn, so that a claim can be checked against it
            plot.say(name, f"Step {number} towards {core}", f"{name} thing", days=40 - number)
        plot.say(f"{name}2", "again", f"{name} thing", days=50)
        refs = tuple(line.ref for line in plot.lines[f"test:{name}"])
        keys.append(plot.journey(core, refs, frontier=f"stands at step 5 towards {core}"))
        plot.arcs[keys[-1]] = route
    plot.say("c", "And x?", asks="x")
    return plot, keys[0]


@pytest.mark.parametrize(
    ("other", "kind"),
    [
        (PATH, "frontier_rhyme"),
        ((*PATH[:-1], "meng"), "counterpath"),
    ],
)
def test_twin_routes_of_threads_that_never_meet_rhyme(other, kind):
    plot, key = twins(other)
    made = packed(plot, "journey", key)
    found = only(journey_pattern_resonance(made))
    assert "moves like" in found.title
    assert "arcs alone" in found.summary
    assert found.bridge.kind == kind
    assert ("opposite ends" in found.summary) is (kind == "counterpath")
    assert found.support >= 0.7
    assert is_sound(made, found)


def test_shuffled_routes_do_not_rhyme():
    plot, key = twins(SHUFFLED)
    made = packed(plot, "journey", key)
    assert isinstance(made, TooThin) or list(journey_pattern_resonance(made)) == []
