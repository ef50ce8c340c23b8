"""Corrections: what followed decides what they are good for."""

import pytest

from dream.corrections import anchors, corrections, status_of
from dream.index import Index
from graphstore.ids import concept_id
from graphstore.model.knowledge import Signal
from tests.planted import Plot


def told(plot):
    return corrections(Index(plot.ground()))


def a_plot(*, named=("weir gate",), elsewhere=True, target="claim") -> Plot:
    plot = Plot()
    plot.say("a", "The weir gate opens inwards.", "weir gate", role="assistant", days=30)
    signals = plot.correct("it opens outwards", *named, target=target)
    plot.say("a", "No, it opens outwards.", *named, signals=signals, days=29)
    if elsewhere:
        plot.say("b", "The weir gate is green.", "weir gate", days=40)
    return plot


def test_an_answer_that_takes_it_up_adopts_it():
    plot = a_plot()
    ref = plot.say("a", "Then the weir gate hinges left.", "weir gate", role="assistant", days=28)
    (one,) = told(plot)
    assert (one.outcome, one.status, one.route) == ("adopted", "valid_adopted", "anchor")
    assert one.verification == (ref,)
    assert (one.importance, one.concepts) == ("project", (concept_id("weir gate"),))


def test_an_answer_that_passes_over_it_ignores_it():
    plot = a_plot()
    ref = plot.say("a", "Let us paint it.", role="assistant", days=28)
    (one,) = told(plot)
    assert (one.outcome, one.status, one.route) == ("ignored", "valid_ignored", "anchor")
    assert one.verification == (ref,)


def test_a_person_who_rejects_it_later_contradicts_it():
    plot = a_plot()
    plot.say("a", "The weir gate hinges left.", "weir gate", role="assistant", days=28)
    rejected = (Signal(kind="decision", type="rejected", clip="not the weir gate"),)
    plot.say("a", "Not the weir gate after all.", "weir gate", signals=rejected, days=27)
    (one,) = told(plot)
    assert (one.outcome, one.status, one.route) == ("contradicted", "refuted", "note")


def test_nothing_after_it_leaves_it_open():
    (one,) = told(a_plot())
    assert (one.outcome, one.status, one.route) == ("unclear", "uncertain", "confirm")


def test_a_correction_of_nothing_is_of_unknown_weight():
    plot = a_plot(named=())
    plot.say("a", "Well.", role="assistant", days=28)
    (one,) = told(plot)
    assert (one.importance, one.outcome, one.status) == ("unknown", "unclear", "uncertain")


@pytest.mark.parametrize(("target", "superseded"), [("claim", True), ("test", False)])
def test_the_same_correction_given_later_takes_its_place(target, superseded):
    plot = a_plot()
    signals = plot.correct("it slides", "weir gate", target=target)
    plot.say("b", "No, it slides.", "weir gate", signals=signals, days=5)
    newest, first = told(plot)
    assert newest.clip == "it slides"
    assert (first.status == "superseded") == superseded
    assert (first.route == "suppressed") == superseded


@pytest.mark.parametrize(("later", "importance"), [(True, "local"), (False, "active_task")])
def test_what_no_other_lineage_names_reaches_no_further(later, importance):
    plot = a_plot(elsewhere=False)
    plot.say("a", "Then the weir gate hinges left.", "weir gate", role="assistant", days=28)
    if later:
        plot.say("c", "Something else.", days=2)
    (one,) = told(plot)
    assert one.importance == importance
    assert one.route == ("until_the_task_ends" if later else "anchor")


def test_words_of_an_assistant_correct_nobody():
    plot = Plot()
    signals = plot.correct("it opens", "weir gate")
    plot.say("a", "No, it opens.", "weir gate", role="assistant", signals=signals)
    assert told(plot) == ()


@pytest.mark.parametrize(
    ("outcome", "importance", "again", "status"),
    [
        ("adopted", "project", True, "superseded"),
        ("adopted", "project", False, "valid_adopted"),
        ("adopted", "local", False, "local_only"),
        ("ignored", "local", False, "valid_ignored"),
        ("contradicted", "project", False, "refuted"),
        ("unclear", "unknown", False, "uncertain"),
    ],
)
def test_the_first_rule_that_holds_gives_the_status(outcome, importance, again, status):
    assert status_of(outcome, importance, is_superseded=again) == status


def test_at_most_three_are_held_before_somebody_and_none_that_is_in_view():
    plot = Plot()
    for number in range(5):
        name, label = f"t{number}", f"weir gate {number}"
        plot.say(name, "It opens inwards.", label, role="assistant", days=30 - number)
        signals = plot.correct("outwards", label)
        plot.say(name, "No, outwards.", label, signals=signals, days=29 - number)
        plot.say(name, "Fine then.", role="assistant", days=28 - number)
        plot.say("z", f"About {label}.", label, days=60)
    known = told(plot)
    about = {concept_id(f"weir gate {number}") for number in range(5)}
    assert [one.ref for one in anchors(known, about, ())] == [one.ref for one in known[:3]]
    assert [one.ref for one in anchors(known, about, {known[0].ref})] == [
        one.ref for one in known[1:4]
    ]
    assert anchors(known, {concept_id("towpath")}, ()) == ()
    open_ones = [one.replace(route="confirm") for one in known]
    assert anchors(open_ones, about, ()) == ()
