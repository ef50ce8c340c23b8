"""The use plan, row by row: the first row that matches decides."""

from itertools import combinations
from typing import Any

import pytest

from dream.use import Request, use
from graphstore.model.hypothesis import Expired, HypothesisState, Invalidated, ReviewDue, Valid
from tests.dreamt import a_hypothesis

AMBIENT = Request(kind="ambient")
EXPLICIT = Request(kind="explicit")
EVERYTHING = {
    "is_relevant": False,
    "source_visible": True,
    "contradiction_visible": True,
    "user_correction_visible": True,
    "evidence_requested": True,
    "strong_claim": True,
    "annoyance_high": True,
}
GONE = Invalidated(reason="source_gone")

ROWS: list[tuple[Any, ...]] = [
    ({}, GONE, {}, "silent", "reopen_source", "source_gone"),
    ({}, Expired(), {}, "silent", "reopen_source", "expired"),
    ({}, Valid(), {"source_visible": True}, "silent", "quiet", "source_visible"),
    ({}, Valid(), {"annoyance_high": True}, "silent", "quiet", "annoyance"),
    (
        {},
        Valid(),
        {"contradiction_visible": True},
        "reopen_source",
        "reopen_source",
        "contradiction_visible",
    ),
    (
        {},
        Valid(),
        {"user_correction_visible": True},
        "ask_to_confirm",
        "ask_to_confirm",
        "user_correction",
    ),
    (
        {},
        Valid(),
        {"evidence_requested": True},
        "reopen_source",
        "reopen_source",
        "evidence_requested",
    ),
    ({}, Valid(), {"strong_claim": True}, "reopen_source", "reopen_source", "strong_claim"),
    ({}, ReviewDue(), {}, "reopen_source", "reopen_source", "review_due"),
    ({}, Valid(), {"is_relevant": False}, "silent", "silent", "not_relevant"),
    ({}, Valid(), {}, "quiet", "quiet", "valid"),
]


@pytest.mark.parametrize("state", ["parked", "refuted", "superseded"])
@pytest.mark.parametrize("asked", [AMBIENT, EXPLICIT])
def test_closed_ones_are_never_used(state, asked):
    one = a_hypothesis(state=HypothesisState(state))
    assert use(one, Valid(), asked.replace(**EVERYTHING)).manner == "silent"
    assert use(one, Valid(), asked).reason == state


def test_a_sensitive_one_waits_for_a_human():
    one = a_hypothesis(sensitivity="human_review")
    assert use(one, Valid(), EXPLICIT).manner == "silent"
    assert use(one, GONE, EXPLICIT).reason == "sensitive"


@pytest.mark.parametrize(("changes", "standing", "flags", "ambient", "explicit", "reason"), ROWS)
def test_each_row_decides(changes, standing, flags, ambient, explicit, reason):
    one = a_hypothesis(**changes)
    assert use(one, standing, AMBIENT.replace(**flags)).manner == ambient
    answer = use(one, standing, EXPLICIT.replace(**flags))
    assert (answer.manner, answer.reason) == (explicit, reason)


ORDERED: list[tuple[dict[str, Any], Any, dict[str, bool], str]] = [
    ({"state": HypothesisState.PARKED}, None, {}, "parked"),
    ({"sensitivity": "human_review"}, None, {}, "sensitive"),
    ({}, GONE, {}, "source_gone"),
    ({}, Expired(), {}, "expired"),
    ({}, None, {"source_visible": True}, "source_visible"),
    ({}, None, {"annoyance_high": True}, "annoyance"),
    ({}, None, {"contradiction_visible": True}, "contradiction_visible"),
    ({}, None, {"user_correction_visible": True}, "user_correction"),
    ({}, None, {"evidence_requested": True}, "evidence_requested"),
    ({}, None, {"strong_claim": True}, "strong_claim"),
    ({}, ReviewDue(), {}, "review_due"),
    ({}, None, {"is_relevant": False}, "not_relevant"),
]
"""Each row of the table by what makes it match alone, in the order of the table."""


@pytest.mark.parametrize("asked", [AMBIENT, EXPLICIT], ids=["ambient", "explicit"])
@pytest.mark.parametrize(
    ("earlier", "later"), list(combinations(ORDERED, 2)), ids=lambda row: str(row[-1])
)
def test_of_two_rows_that_match_the_earlier_decides(earlier, later, asked):
    alone = use(a_hypothesis(**earlier[0]), earlier[1] or Valid(), asked.replace(**earlier[2]))
    both = use(
        a_hypothesis(**later[0] | earlier[0]),
        earlier[1] or later[1] or Valid(),
        asked.replace(**later[2] | earlier[2]),
    )
    assert alone.reason == earlier[-1]
    assert both == alone
