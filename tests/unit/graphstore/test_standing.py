"""How far a hypothesis may be trusted, one second around each date."""

from datetime import timedelta

import pytest

from graphstore.model.hypothesis import (
    Expired,
    HypothesisState,
    Invalidated,
    ReviewDue,
    Valid,
    standing,
)
from tests.dreamt import NOW, a_hypothesis

SECOND = timedelta(seconds=1)
ONE = a_hypothesis()
HERE = dict(zip(ONE.refs, ONE.ref_fingerprints, strict=True))


@pytest.mark.parametrize(
    ("moment", "expected"),
    [
        (NOW, Valid()),
        (ONE.review_after - SECOND, Valid()),
        (ONE.review_after, ReviewDue()),
        (ONE.review_after + SECOND, ReviewDue()),
        (ONE.expires_at - SECOND, ReviewDue()),
        (ONE.expires_at, Expired()),
        (ONE.expires_at + SECOND, Expired()),
    ],
)
def test_dates_decide_to_the_second(moment, expected):
    assert standing(ONE, moment, HERE) == expected


@pytest.mark.parametrize("state", ["refuted", "superseded"])
def test_a_closed_hypothesis_is_invalid_whatever_else_holds(state):
    one = ONE.replace(state=HypothesisState(state))
    assert standing(one, ONE.expires_at, {}) == Invalidated(reason=state)


def test_a_hypothesis_marked_expired_stays_so():
    assert standing(ONE.replace(state=HypothesisState.EXPIRED), NOW, HERE) == Expired()


@pytest.mark.parametrize("current", [{}, {ONE.refs[0]: None}])
def test_a_source_that_is_gone_invalidates(current):
    assert standing(ONE, ONE.expires_at, current) == Invalidated(reason="source_gone")


def test_a_source_that_changed_invalidates():
    changed = {ONE.refs[0]: "b2:other"}
    expected = Invalidated(reason="source_fingerprint_changed")
    assert standing(ONE, ONE.expires_at, changed) == expected
