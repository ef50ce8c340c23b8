"""How far a hypothesis may be trusted, one second around each date."""

import ast
from datetime import timedelta
from pathlib import Path

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


ROOT = Path(__file__).parent.parent.parent.parent
DATES = {"review_after", "expires_at"}
WRITERS = {
    *("dream/lifecycle.py", "dream/sweep.py", "dream/adjudicate.py", "dream/queue.py"),
    *("graphstore/model/hypothesis.py", "graphstore/queries/journeys.py"),
}
"""Who moves a hypothesis or checks a horizon; jobs and Journeys have an ``expires_at`` too."""


def compares_a_date(file):
    tree = ast.parse(file.read_text("utf-8"))
    return any(
        isinstance(inner, ast.Attribute) and inner.attr in DATES
        for node in ast.walk(tree)
        if isinstance(node, ast.Compare)
        for inner in ast.walk(node)
    )


def test_no_reader_looks_at_the_dates_itself():
    packages = ("graphstore", "ingest", "topology", "export", "dream", "service", "cli")
    files = [file for name in packages for file in (ROOT / name).rglob("*.py")]
    found = {file.relative_to(ROOT).as_posix() for file in files if compares_a_date(file)}
    assert found == WRITERS
