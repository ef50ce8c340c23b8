"""Hypotheses as edges, their trust horizon, and their standing at read time."""

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from typing import Annotated, ClassVar, Literal, TypeAlias

from pydantic import Field

from graphstore.model.base import Instant, Value
from graphstore.model.knowledge import Edge

HYPOTHESIS_WORDS = "Hypothesis, not source"


class HypothesisState(StrEnum):
    PARKED = "parked"
    ACCEPTED = "accepted"
    PARTIALLY_VALIDATED = "partially_validated"
    VALIDATED = "validated"
    APPLIED = "applied"
    REFUTED = "refuted"
    EXPIRED = "expired"
    SUPERSEDED = "superseded"


LIVE = frozenset(
    {
        HypothesisState.ACCEPTED,
        HypothesisState.PARTIALLY_VALIDATED,
        HypothesisState.VALIDATED,
        HypothesisState.APPLIED,
    }
)


class Claim(Value):
    """One sentence of a hypothesis and the turns it rests on."""

    text: str
    side: Literal["a", "b", "middle", "none"] = "none"
    refs: tuple[str, ...]


class CounterEvidence(Value):
    """What speaks against a hypothesis; a statement without a ref is none."""

    kind: str
    statement: str
    refs: tuple[str, ...]


class TrustHorizon(Value):
    """How long, and under which conditions, a hypothesis may be used."""

    review_after: Instant
    expires_at: Instant
    invalidation_triggers: tuple[str, ...]
    """At most 16."""


class Hypothesis(Edge):
    """An accepted draft: a typed edge between two nodes. Never a fact."""

    KEYS: ClassVar[tuple[str, ...]] = ("hypothesis_id",)

    hypothesis_id: str
    function: str
    rule: str
    mode: str
    """replay, counterfactual, creative or threat."""
    method: str
    """deterministic or model."""
    model: str | None
    title: str
    summary: str
    why_not_fact: str
    claims: str
    """JSON list of Claim."""
    refs: tuple[str, ...]
    ref_fingerprints: tuple[str, ...]
    """Parallel to ``refs``."""
    counter_evidence: str
    """JSON list of CounterEvidence."""
    counter_refs: tuple[str, ...]
    source_fingerprint: str
    cues: tuple[str, ...]
    voices: tuple[str, ...]
    seed_id: str | None
    shape: str | None
    provenance: str
    """computed or annotated."""
    pack_id: str
    job_id: str
    cycle_id: str
    state: HypothesisState
    start_points: int
    points: int
    """Confidence x 100, 0 to 98."""
    confirmations: int
    contradictions: int
    validation_ids: tuple[str, ...]
    retention: float
    quality: float
    declared_confidence: float | None
    divergence: float
    coefficients: str
    sensitivity: str
    next_check: str
    extras: str
    """JSON object: bridge, artifact, invitation, atmosphere, what_not_to_overclaim."""
    created_at: Instant
    validated_at: Instant | None
    review_after: Instant
    expires_at: Instant
    validated_by: str
    invalidation_triggers: tuple[str, ...]
    supersedes: str | None
    superseded_by: str | None
    closed_at: Instant | None
    closed_reason: str | None


class Compensates(Hypothesis):
    TABLE = "COMPENSATES"
    PAIRS = tuple(
        (src, dst)
        for src in ("Thread", "Journey", "Question", "Concept")
        for dst in ("Question", "Concept", "Thread")
    )

    edge: Literal["COMPENSATES"] = "COMPENSATES"


class Anticipates(Hypothesis):
    TABLE = "ANTICIPATES"
    PAIRS = tuple(
        (src, dst) for src in ("Journey", "Question", "Concept") for dst in ("Question", "Concept")
    )

    edge: Literal["ANTICIPATES"] = "ANTICIPATES"


class Resonates(Hypothesis):
    """Undirected: src id < dst id."""

    TABLE = "RESONATES"
    PAIRS = (("Question", "Question"), ("Journey", "Journey"))

    edge: Literal["RESONATES"] = "RESONATES"


class Imagines(Hypothesis):
    TABLE = "IMAGINES"
    PAIRS = (("Concept", "Concept"), ("Question", "Question"))

    edge: Literal["IMAGINES"] = "IMAGINES"


HYPOTHESES: tuple[type[Hypothesis], ...] = (Compensates, Anticipates, Resonates, Imagines)
"""The four tables; never merged with what was extracted."""

AnyHypothesis: TypeAlias = Annotated[
    Compensates | Anticipates | Resonates | Imagines, Field(discriminator="edge")
]
"""``edge`` tells them apart in records; a Literal tag is not a column."""


class Valid(Value):
    standing: Literal["valid"] = "valid"


class ReviewDue(Value):
    standing: Literal["review_due"] = "review_due"


class Expired(Value):
    standing: Literal["expired"] = "expired"


class Invalidated(Value):
    standing: Literal["invalidated"] = "invalidated"
    reason: str


Standing: TypeAlias = Annotated[
    Valid | ReviewDue | Expired | Invalidated, Field(discriminator="standing")
]


def standing(hypothesis: Hypothesis, now: datetime, current: Mapping[str, str | None]) -> Standing:
    """How far a hypothesis may be trusted at ``now``; comparisons are inclusive.

    ``current`` maps each ref to the fingerprint its turn has now; null when the turn is gone
    or left the main line. Every reader calls this; none looks at the dates itself.
    """
    if hypothesis.state in (HypothesisState.REFUTED, HypothesisState.SUPERSEDED):
        return Invalidated(reason=hypothesis.state.value)
    for ref, then in zip(hypothesis.refs, hypothesis.ref_fingerprints, strict=True):
        if current.get(ref) is None:
            return Invalidated(reason="source_gone")
        if current[ref] != then:
            return Invalidated(reason="source_fingerprint_changed")
    if hypothesis.state is HypothesisState.EXPIRED or hypothesis.expires_at <= now:
        return Expired()
    return ReviewDue() if hypothesis.review_after <= now else Valid()
