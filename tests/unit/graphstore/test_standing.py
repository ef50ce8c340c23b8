from datetime import timedelta

import pytest

from graphstore.model.hypothesis import (
    LIVE,
    Expired,
    HypothesisState,
    Invalidated,
    Resonates,
    ReviewDue,
    Valid,
    standing,
)
from tests.fake_derive import NOW, a_hypothesis

REFS = ("thread:s:a#turn:1", "thread:s:b#turn:1")
CURRENT = {REFS[0]: "b2:0", REFS[1]: "b2:1"}


def stands(now=NOW, current=CURRENT, **changes):
    return standing(
        a_hypothesis(Resonates, "q:1", "q:2", refs=REFS).replace(**changes), now, current
    )


def test_a_fresh_hypothesis_is_valid():
    assert stands() == Valid()


def test_review_is_due_from_its_very_moment():
    assert stands(NOW + timedelta(days=14, microseconds=-1)) == Valid()
    assert stands(NOW + timedelta(days=14)) == ReviewDue()


def test_it_expires_at_its_very_moment():
    assert stands(NOW + timedelta(days=30, microseconds=-1)) == ReviewDue()
    assert stands(NOW + timedelta(days=30)) == Expired()


def test_a_swept_one_is_expired_at_once():
    assert stands(state=HypothesisState.EXPIRED) == Expired()


@pytest.mark.parametrize("state", [HypothesisState.REFUTED, HypothesisState.SUPERSEDED])
def test_a_closed_one_is_invalidated_by_its_state(state):
    assert stands(state=state) == Invalidated(reason=state.value)


@pytest.mark.parametrize("current", [{}, {**CURRENT, REFS[1]: None}])
def test_a_lost_turn_invalidates(current):
    assert stands(current=current) == Invalidated(reason="source_gone")


def test_other_words_invalidate():
    changed = {**CURRENT, REFS[0]: "b2:9"}
    assert stands(current=changed) == Invalidated(reason="source_fingerprint_changed")


def test_live_states_are_those_that_may_be_used():
    assert HypothesisState.ACCEPTED in LIVE
    assert HypothesisState.PARKED not in LIVE
