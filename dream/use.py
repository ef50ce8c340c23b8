"""The use plan: may a hypothesis be shown, and how. A decision table, first match wins."""

from typing import Literal, TypeAlias

from graphstore.model.base import Value
from graphstore.model.hypothesis import (
    Expired,
    Hypothesis,
    HypothesisState,
    Invalidated,
    ReviewDue,
    Standing,
    Valid,
)

Manner: TypeAlias = Literal["silent", "quiet", "ask_to_confirm", "reopen_source"]
CLOSED = frozenset({HypothesisState.PARKED, HypothesisState.REFUTED, HypothesisState.SUPERSEDED})


class Request(Value):
    """How a hypothesis is asked for."""

    kind: Literal["ambient", "explicit"]
    is_relevant: bool = True
    source_visible: bool = False
    contradiction_visible: bool = False
    user_correction_visible: bool = False
    evidence_requested: bool = False
    strong_claim: bool = False
    annoyance_high: bool = False


class Use(Value):
    """The manner, and the row of the table that decided it."""

    manner: Manner
    reason: str


def use(hypothesis: Hypothesis, standing: Standing, request: Request) -> Use:
    """How this hypothesis may be used for this request."""
    ambient = request.kind == "ambient"
    if hypothesis.state in CLOSED:
        return Use(manner="silent", reason=hypothesis.state.value)
    if hypothesis.sensitivity != "none":
        return Use(manner="silent", reason="sensitive")
    match standing:
        case Invalidated(reason=reason):
            return Use(manner="silent" if ambient else "reopen_source", reason=reason)
        case Expired():
            return Use(manner="silent" if ambient else "reopen_source", reason="expired")
    return usable(standing, request, ambient=ambient)


def usable(standing: Valid | ReviewDue, request: Request, *, ambient: bool) -> Use:
    """Rows 4 to 10: the hypothesis stands."""
    if request.source_visible or request.annoyance_high:
        reason = "source_visible" if request.source_visible else "annoyance"
        return Use(manner="silent" if ambient else "quiet", reason=reason)
    if request.contradiction_visible:
        return Use(manner="reopen_source", reason="contradiction_visible")
    if request.user_correction_visible:
        return Use(manner="ask_to_confirm", reason="user_correction")
    if request.evidence_requested or request.strong_claim:
        reason = "evidence_requested" if request.evidence_requested else "strong_claim"
        return Use(manner="reopen_source", reason=reason)
    if isinstance(standing, ReviewDue):
        return Use(manner="reopen_source", reason="review_due")
    if not request.is_relevant:
        return Use(manner="silent", reason="not_relevant")
    return Use(manner="quiet", reason="valid")
