"""Five ways in which a hypothesis is seen or not, each by a rule."""

import pytest

from dream.activation import activation, seen, terms, topic_fit
from dream.use import Request, Use
from graphstore.model.hypothesis import Expired, HypothesisState, ReviewDue, Valid
from tests.dreamt import a_hypothesis

AMBIENT, EXPLICIT = Request(kind="ambient"), Request(kind="explicit")
ONE = a_hypothesis(cues=("weir gate", "hard frost"))


def shown(one=ONE, standing=None, request=AMBIENT, prompt="the weir gate", budget=1.0):
    return activation(one, standing or Valid(), request, prompt, budget=budget, anchor=0.8)


@pytest.mark.parametrize(
    ("changes", "visibility"),
    [
        ({}, "active_gentle_nudge"),
        ({"budget": 0.35}, "active_gentle_nudge"),
        ({"budget": 0.349}, "silent_tuning"),
        ({"prompt": "the towpath"}, "stay_silent"),
        ({"prompt": ""}, "stay_silent"),
        ({"standing": ReviewDue()}, "source_backed_recall_card"),
        ({"standing": ReviewDue(), "budget": 0.0}, "source_backed_recall_card"),
        ({"standing": Expired()}, "stay_silent"),
        ({"standing": Expired(), "request": EXPLICIT}, "source_backed_recall_card"),
        ({"one": ONE.replace(state=HypothesisState.REFUTED)}, "stay_silent"),
        (
            {"one": ONE.replace(state=HypothesisState.REFUTED), "request": EXPLICIT},
            "deep_archival_recall",
        ),
        ({"one": ONE.replace(sensitivity="human_review")}, "stay_silent"),
    ],
)
def test_a_rule_decides_how_it_is_seen(changes, visibility):
    assert shown(**changes).visibility == visibility


def test_to_confirm_is_a_nudge_too():
    plan = Use(manner="ask_to_confirm", reason="user_correction")
    assert seen(plan, 1.0) == "active_gentle_nudge"


def test_fit_counts_cues_against_at_most_four_long_terms():
    assert terms("Is it the weir or the sluice?") == {"weir", "sluice"}
    assert topic_fit(("weir gate", "hard frost"), "weir sluice") == 0.5
    assert topic_fit(("weir gate",), "weir sluice towpath bollard hawser") == 0.25
    assert topic_fit(("weir a", "weir b"), "weir") == 1.0
    assert topic_fit((), "weir") == 0.0


def test_pressure_is_told_and_decides_nothing():
    near, far = shown(budget=1.0), shown(budget=0.4)
    assert near.pressure == pytest.approx(0.5 * near.topic_fit + 0.25 + 0.2)
    assert near.pressure > far.pressure
    assert near.visibility == far.visibility
