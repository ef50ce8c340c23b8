"""Arcs read off turns, routes that resonate, and the gate of one-sidedness."""

import pytest

from dream.index import Index
from dream.model import Focus
from dream.onesided import Leaning
from dream.routes import alike, resonance, resumed, route, route_of
from graphstore.ids import concept_id
from graphstore.model.arcs import ARCS, named
from graphstore.model.knowledge import Signal
from tests.planted import Plot

CORE = "Which fixing holds the oak post?"
PATH = ("zhun", "meng", "kan", "li", "zhun", "ge")
SHUFFLED = ("li", "zhun", "zhun", "ge", "meng", "kan")


def signed(kind, type_, clip="as said", *concepts):
    return (Signal(kind=kind, type=type_, clip=clip, concepts=tuple(map(concept_id, concepts))),)


def lines_of(plot, key, at):
    return route(key, Index(plot.ground()))[at].bits


# arcs read off turns


def walked(*stops, questions=(CORE,)):
    plot = Plot()
    refs = tuple(stop(plot) for stop in stops)
    return plot, plot.journey(CORE, refs, concepts=("oak post",), questions=questions)


def plain(plot):
    return plot.say("a", "The sky is grey.", days=50)


def asking(plot):
    plot.say("z", "oak post", "oak post")
    return plot.say("b", CORE, "oak post", asks=True, days=40)


def test_each_line_is_one_fact_of_the_turn():
    plot, key = walked(plain, asking, asking)
    assert lines_of(plot, key, 0) == "000010"
    assert lines_of(plot, key, 1) == "101010"
    # asked before, and the concept is no longer new
    assert lines_of(plot, key, 2) == "110010"
    plot.say("c", "It held.", resolves=CORE, days=1)
    assert lines_of(plot, key, 1) == "101011"


@pytest.mark.parametrize(
    ("signals", "text", "bits"),
    [
        (signed("correction", "claim"), "No, above datum.", "000000"),
        (signed("decision", "rejected"), "Not the resin.", "000000"),
        (signed("decision", "chose"), "The bolts.", "000010"),
        ((), "We measured and tested it.", "000110"),
    ],
)
def test_verification_and_contradiction_are_lines_of_their_own(signals, text, bits):
    plot, key = walked(lambda plot: plot.say("a", text, days=50, signals=signals))
    assert lines_of(plot, key, 0) == bits


def test_a_question_linked_to_an_earlier_one_was_met():
    plot, key = walked(asking)
    plot.say("c", "What holds a post?", asks=True, days=90)
    assert lines_of(plot, key, 0)[1] == "0"
    plot.link(CORE, "What holds a post?")
    assert lines_of(plot, key, 0)[1] == "1"


def test_what_somebody_named_is_kept():
    plot, key = walked(plain, plain)
    plot.arcs[key] = ("qian", "unmapped")
    found = route_of(key, Index(plot.ground()))
    assert (found.arcs, found.annotated) == (("qian", "bi"), 1)


def test_a_waypoint_whose_turn_left_the_main_line_has_no_arc():
    plot, key = walked(plain, plain)
    plot.lines["test:a"][1].changes = {"alternative": True}
    assert len(route(key, Index(plot.ground()))) == 1
    assert route("j:unknown", Index(plot.ground())) == ()


# resonance


def twins(other=PATH):
    plot = Plot()
    for name in "ab":
        for number in range(len(PATH)):
            plot.say(name, f"step {number}", days=40 - number)
    keys = []
    for name, core, arcs in (("a", CORE, PATH), ("b", "Which mast?", other)):
        refs = tuple(line.ref for line in plot.lines[f"test:{name}"])
        keys.append(plot.journey(core, refs))
        plot.arcs[keys[-1]] = arcs
    return plot, keys


def across(name):
    """Name of the opposite arc."""
    (found,) = (arc.opposite.name for arc in ARCS if arc.name == name)
    return found


def test_a_twin_of_another_thread_is_found():
    plot, (one, other) = twins()
    found = alike(other, one, Index(plot.ground()))
    assert found is not None
    assert (found.src, found.dst) == tuple(sorted((one, other)))
    assert found.score == 1.0
    assert not found.opposite


def test_a_shuffled_twin_is_none():
    plot, (one, other) = twins(SHUFFLED)
    assert alike(one, other, Index(plot.ground())) is None


def test_a_twin_that_stands_across_is_opposite():
    plot, (one, other) = twins()
    plot.arcs[other] = (*PATH[:-1], across("ge"))
    found = alike(one, other, Index(plot.ground()))
    assert found is not None
    assert found.opposite


def test_journeys_of_a_common_thread_never_resonate():
    plot, (one, other) = twins()
    plot.roots["test:b"] = "test:a"
    assert alike(one, other, Index(plot.ground())) is None


def test_three_arcs_are_too_few():
    short = tuple(named(name) for name in PATH[:3])
    assert resonance(short, short, "x") is None


# a Journey that went on


def freed():
    plot = Plot()
    plot.say("a", CORE, "oak post", asks=True, days=60)
    one = plot.say("a", "Waits for the permit.", days=60, signals=plot.stop("blocked", "waits"))
    plot.say("b", "The mayor signed the permit.", days=30)
    two = plot.say("b", "Then the post can go up.", role="assistant", days=30)
    return plot, plot.journey(CORE, (one, two))


def test_a_blocked_journey_went_on_with_a_human_turn():
    plot, key = freed()
    found = (plot.lines["test:b"][0].ref, "The mayor signed the permit.")
    assert resumed(key, Index(plot.ground())) == found


@pytest.mark.parametrize("decoy", ["not_blocked", "same_thread", "nobody"])
def test_a_journey_that_was_not_freed(decoy):
    plot, key = freed()
    if decoy == "not_blocked":
        plot.lines["test:a"][1].signals = ()
    if decoy == "same_thread":
        refs = tuple(line.ref for line in plot.lines["test:a"])
        plot.journeys = []
        key = plot.journey(CORE, refs)
    if decoy == "nobody":
        plot.lines["test:b"][0].role = "assistant"
        plot.lines["test:b"][0].changes = {"taint": "assistant"}
    assert resumed(key, Index(plot.ground())) is None


# the gate of one-sidedness


def leaning(plot, key, kind="journey"):
    return Leaning(Focus(kind=kind, id=key, family="journey_frontier"), Index(plot.ground()))


def still():
    """A Journey of four turns with no sign at all: one plain turn in each of four threads."""
    plot = Plot()
    refs = tuple(plot.say(name, f"Step {name}.", days=40) for name in "abcd")
    key = plot.journey(CORE, refs)
    plot.arcs[key] = ("qian", "kun", "kan", "li")
    return plot, key


def test_without_a_sign_it_is_closed_and_two_are_missing():
    plot, key = still()
    found = leaning(plot, key).verdict()
    assert (found.signals, found.is_open, found.missing) == ((), False, 2)
    # the direction is shown all the same
    assert (found.arc, found.opposite) == ("li", "kan")


def persist(plot, key, *, annotated=True):
    plot.arcs[key] = ("qian", "tai", "pi", "dazhuang") if annotated else ()


def ask_again(plot):
    plot.say("a", CORE, asks=True, days=30)
    plot.say("b", CORE, asks=True, days=29)


def leave(plot):
    for name in "ab":
        put_off = signed("frontier", "deferred", "later")
        plot.say(name, "The resin anchor waits.", "resin anchor", signals=put_off, days=39)


def corrected(plot):
    for name in "ab":
        plot.say(
            name,
            "No, above chart datum.",
            "chart datum",
            days=20,
            signals=signed("correction", "claim", "No", "chart datum"),
        )


SIGNS = {
    "questions_without_counter": ask_again,
    "absent_theme": leave,
    "corrections_at_one_angle": corrected,
}


@pytest.mark.parametrize("name", SIGNS)
def test_one_sign_alone_leaves_it_closed(name):
    plot, key = still()
    SIGNS[name](plot)
    found = leaning(plot, key).verdict()
    assert (found.signals, found.is_open, found.missing) == ((name,), False, 1)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("questions_without_counter", "absent_theme"),
        ("questions_without_counter", "corrections_at_one_angle"),
        ("absent_theme", "corrections_at_one_angle"),
    ],
)
def test_any_two_signs_open_it(one, other):
    plot, key = still()
    SIGNS[one](plot)
    SIGNS[other](plot)
    found = leaning(plot, key).verdict()
    assert found.is_open
    assert set(found.signals) == {one, other}


def test_persistent_trigrams_open_it_alone_where_somebody_named_the_arcs():
    plot, key = still()
    persist(plot, key)
    found = leaning(plot, key).verdict()
    assert (found.signals, found.is_open) == (("trigram_persistence",), True)


def test_persistent_trigrams_of_computed_arcs_are_one_sign():
    plot, key = still()
    persist(plot, key, annotated=False)
    found = leaning(plot, key).verdict()
    assert (found.signals, found.is_open, found.missing) == (("trigram_persistence",), False, 1)


def test_two_waypoints_do_not_persist():
    plot = Plot()
    refs = tuple(plot.say(name, f"Step {name}.", days=40) for name in "ab")
    key = plot.journey(CORE, refs)
    plot.arcs[key] = ("qian", "qian")
    assert leaning(plot, key).verdict().signals == ()


def test_a_question_that_somebody_spoke_against_has_its_counter():
    plot, key = still()
    for name in "ab":
        plot.say(name, CORE, "oak post", asks=True, days=30)
    plot.say("c", "Not the oak post.", "oak post", days=20, signals=signed("decision", "rejected"))
    assert leaning(plot, key).verdict().signals == ()


def test_what_came_back_lately_is_not_left():
    plot, key = still()
    leave(plot)
    plot.lines["test:d"][0].concepts = ("resin anchor",)
    assert leaning(plot, key).verdict().signals == ()


def test_a_correction_that_was_heard_is_no_angle():
    plot, key = still()
    corrected(plot)
    plot.say("b", "Above chart datum then.", "chart datum", role="assistant", days=1)
    assert leaning(plot, key).verdict().signals == ()


def test_a_decision_about_the_same_is_no_correction():
    plot, key = still()
    for name in "ab":
        chosen = signed("decision", "chose", "Chart datum", "chart datum")
        plot.say(name, "Chart datum it is.", "chart datum", days=20, signals=chosen)
    assert leaning(plot, key).verdict().signals == ()


def test_a_thread_may_lean_too():
    plot = Plot()
    for _ in range(2):
        plot.say("a", CORE, "oak post", asks=True)
        plot.say("b", "oak post", "oak post")
    found = leaning(plot, "test:a", "frontier").verdict()
    assert found.signals == ("questions_without_counter",)
    assert found.arc is None
