"""Lift: high where what is dreamt comes true, that of chance where later turns ignore it."""

from functools import cache

import pytest

from dream.evaluation.recalled import Tally, report
from dream.evaluation.report import evaluation
from graphstore.ids import digest
from graphstore.model.knowledge import LinkType
from tests.planted import Plot
from tests.replayed import a_cut, dreamt

PAIRS = 24
T = 50


def a_history(order) -> Plot:
    """Pairs of questions that share two concepts in threads apart; later, links by an order.

    ``order`` says which second question is linked to each first one. In their own order later
    turns join what shares concepts; in a shuffled one they join whatever comes.
    """
    plot = Plot()
    for at in range(PAIRS):
        one, other = f"valve {at:02d}", f"gasket {at:02d}"
        for side in "ab":
            plot.say(
                f"{side}{at}",
                f"Does the {one} of rig {side} leak at the {other}?",
                one,
                other,
                asks=True,
                days=T + 30 if side == "a" else T + 20,
            )
            plot.say(
                f"{side}{at}",
                f"The {one} sits beside the {other} here.",
                one,
                other,
                role="assistant",
                days=T + 30 if side == "a" else T + 20,
            )
    for at, to in enumerate(order):
        near = f"Does the valve {at:02d} of rig a leak at the gasket {at:02d}?"
        far = f"Does the valve {to:02d} of rig b leak at the gasket {to:02d}?"
        asked = f"Is leak {at:02d} of a the leak {to:02d} of b?"
        plot.say(f"later{at}", asked, asks=True, days=10)
        plot.link(near, asked, LinkType.RELATED)
        plot.link(near, asked, LinkType.RECURRING)
        plot.link(asked, far, LinkType.RELATED)
    return plot


@cache
def hypotheses():
    """What is dreamt at T, whatever comes later."""
    return tuple(dreamt(a_history(range(PAIRS)), T))


def measured(order):
    cut = a_cut(a_history(order), T, hypotheses())
    return evaluation([cut], T, 0, (), report(Tally(), None)).pooled[-1]


def test_what_comes_true_is_above_chance():
    row = measured(range(PAIRS))
    assert row.possible >= 20
    assert row.candidates >= 8
    assert row.lift.lift > 3
    assert row.lift.low > 1


@pytest.mark.parametrize("seed", range(6))
def test_where_later_turns_join_whatever_comes_chance_does_as_well(seed):
    shuffled = sorted(range(PAIRS), key=lambda at: digest(seed, at))
    lift = measured(shuffled).lift
    assert lift.low is None or lift.low <= 1
    assert lift.high is None or lift.high >= 1
