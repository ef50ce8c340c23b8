"""What becomes of a hypothesis: events and owner acts, the ladder of confidence, its dates.

One state machine. Every change is asked for here and recorded by the caller. A dream cannot confirm
itself: a counted event rests on a turn that is newer than the hypothesis and no premise of it.
"""

from collections.abc import Collection
from datetime import datetime, timedelta
from typing import Annotated, Final, Literal, TypeAlias, TypeVar

from pydantic import Field

from dream.settings import DreamSettings, LadderSettings
from graphstore.model.base import Instant, Value
from graphstore.model.hypothesis import LIVE, Hypothesis, HypothesisState

H = TypeVar("H", bound=Hypothesis)
TOP: Final = 98
"""Most points: nothing dreamt is ever certain."""
RENEWAL: Final = timedelta(days=31)
"""Between review and expiry after a confirmation."""
DOUBLINGS: Final = 3
UNTESTED: Final = "untested"
PENDING: Final = frozenset({HypothesisState.ACCEPTED, HypothesisState.PARTIALLY_VALIDATED})
"""States that expire; what was validated decays instead."""
STANDING: Final = LIVE | {HypothesisState.PARKED}
Act: TypeAlias = Literal["approve", "refute", "supersede", "renew", "expire"]


class Evidence(Value):
    """A turn, or the owner's bare word, that speaks for or against a hypothesis."""

    event_id: str
    verdict: Literal["confirmed", "contradicted"]
    ref: str | None
    """Null for the owner's word without a turn."""
    lineage: str | None
    """Of the turn."""
    at: Instant | None
    """Time of the turn, or of the owner's word."""
    by: str
    """owner, graph, or agent:<name>."""


class Counted(Value):
    """An event that moves a hypothesis."""

    outcome: Literal["counted"] = "counted"


class Ignored(Value):
    """An event that moves nothing, and why."""

    outcome: Literal["ignored"] = "ignored"
    reason: Literal["undated", "before", "after_now", "premise", "same_thread", "known", "closed"]


Weighed: TypeAlias = Annotated[Counted | Ignored, Field(discriminator="outcome")]


class NotAllowed(Value):
    """An act that the state of a hypothesis does not know."""

    outcome: Literal["not_allowed"] = "not_allowed"
    act: Act
    state: HypothesisState


def weigh(
    hypothesis: Hypothesis, evidence: Evidence, earlier: Collection[Evidence], now: datetime
) -> Weighed:
    """Whether evidence counts: newer, no premise, the first of its kind from its thread.

    ``earlier`` holds what was counted of this hypothesis. A word without a turn counts once a day.
    """
    reason = ignored(hypothesis, evidence, earlier, now)
    return Counted() if reason is None else Ignored(reason=reason)


def ignored(
    hypothesis: Hypothesis, evidence: Evidence, earlier: Collection[Evidence], now: datetime
) -> Literal["undated", "before", "after_now", "premise", "same_thread", "known", "closed"] | None:
    """Why evidence does not count; None when it does."""
    if hypothesis.state not in LIVE:
        return "closed"
    if evidence.event_id in hypothesis.validation_ids:
        return "known"
    if evidence.at is None:
        return "undated"
    if evidence.at <= hypothesis.created_at:
        return "before"
    if evidence.at > now:
        return "after_now"
    if evidence.ref in hypothesis.refs:
        return "premise"
    return "same_thread" if any(repeats(evidence, each) for each in earlier) else None


def repeats(evidence: Evidence, before: Evidence) -> bool:
    """Whether the same thread, or the owner on the same day, said the same already."""
    if evidence.verdict != before.verdict:
        return False
    if evidence.ref is None or before.ref is None:
        return evidence.ref is before.ref and day(evidence) == day(before)
    return evidence.lineage == before.lineage


def day(evidence: Evidence) -> str:
    """Day of a bare word, in UTC."""
    return "" if evidence.at is None else evidence.at.date().isoformat()


def moved(hypothesis: H, evidence: Evidence, settings: DreamSettings) -> H:
    """The hypothesis after evidence that counts."""
    confirmed = evidence.verdict == "confirmed"
    ladder = settings.ladder
    after = hypothesis.replace(
        points=min(max(hypothesis.points + (ladder.up if confirmed else -ladder.down), 0), TOP),
        confirmations=hypothesis.confirmations + confirmed,
        contradictions=hypothesis.contradictions + (not confirmed),
        validation_ids=(*hypothesis.validation_ids, evidence.event_id),
    )
    if confirmed and evidence.at is not None:
        after = renewed_dates(after, evidence.at, settings).replace(validated_by=evidence.by)
    return settled(after, evidence, ladder)


def renewed_dates(hypothesis: H, at: datetime, settings: DreamSettings) -> H:
    """Review later the more often it was confirmed, expiry a month after."""
    doubled = 2 ** min(hypothesis.confirmations, DOUBLINGS)
    review = at + timedelta(days=settings.review_after_days) * doubled
    return hypothesis.replace(validated_at=at, review_after=review, expires_at=review + RENEWAL)


def settled(hypothesis: H, evidence: Evidence, ladder: LadderSettings) -> H:
    """The state that points and confirmations give."""
    if hypothesis.points < ladder.refuted:
        return closed(hypothesis, HypothesisState.REFUTED, evidence.at, "contradicted")
    if hypothesis.state in PENDING and hypothesis.confirmations:
        held = hypothesis.points >= ladder.validated
        state = HypothesisState.VALIDATED if held else HypothesisState.PARTIALLY_VALIDATED
        return hypothesis.replace(state=state)
    return hypothesis


def closed(hypothesis: H, state: HypothesisState, at: datetime | None, reason: str) -> H:
    """A hypothesis that leaves default use; it stays for audit."""
    return hypothesis.replace(state=state, closed_at=at, closed_reason=reason)


def acted(
    hypothesis: H, act: Act, now: datetime, settings: DreamSettings, *, reason: str = ""
) -> H | NotAllowed:
    """The hypothesis after an act of the owner or of the sweep."""
    state = hypothesis.state
    if state not in ALLOWED[act]:
        return NotAllowed(act=act, state=state)
    match act:
        case "approve":
            accepted = state is HypothesisState.PARKED
            return approved(hypothesis, now, settings, accepted=accepted)
        case "refute":
            return closed(hypothesis, HypothesisState.REFUTED, now, reason or "owner")
        case "supersede":
            return closed(hypothesis, HypothesisState.SUPERSEDED, now, reason)
        case "expire":
            events = hypothesis.confirmations + hypothesis.contradictions
            why = "expired" if events else UNTESTED
            return closed(hypothesis, HypothesisState.EXPIRED, now, why)
    return renewed(hypothesis, now, settings)


ALLOWED: Final[dict[Act, frozenset[HypothesisState]]] = {
    "approve": PENDING | {HypothesisState.PARKED},
    "refute": LIVE,
    "supersede": STANDING,
    "expire": PENDING,
    "renew": frozenset(
        {HypothesisState.EXPIRED, HypothesisState.VALIDATED, HypothesisState.APPLIED}
    ),
}
"""States in which each act is possible."""


def approved(hypothesis: H, now: datetime, settings: DreamSettings, *, accepted: bool) -> H:
    """The owner's yes: a parked draft stands, what stood already is validated."""
    state = HypothesisState.ACCEPTED if accepted else HypothesisState.VALIDATED
    points = hypothesis.points if accepted else max(hypothesis.points, settings.ladder.validated)
    review = now + timedelta(days=settings.review_after_days)
    return hypothesis.replace(
        state=state,
        points=points,
        validated_at=now,
        validated_by="owner",
        review_after=review,
        expires_at=now + timedelta(days=settings.expires_after_days),
    )


def renewed(hypothesis: H, now: datetime, settings: DreamSettings) -> H:
    """Back in use, or longer in use, from today."""
    state = hypothesis.state
    if state is HypothesisState.EXPIRED:
        tried = hypothesis.confirmations > 0
        state = HypothesisState.PARTIALLY_VALIDATED if tried else HypothesisState.ACCEPTED
    return hypothesis.replace(
        state=state,
        review_after=now + timedelta(days=settings.review_after_days),
        expires_at=now + timedelta(days=settings.expires_after_days),
        closed_at=None,
        closed_reason=None,
    )


# --- looking back

Bucket: TypeAlias = Literal[
    "refuted", "adopted", "ignored", "stale", "supported", "still_unknown", "unknown", "pending"
]


class Tally(Value):
    """What later turns said of one hypothesis; only what counted decides."""

    ignored_shown: int = 0
    """Times it was shown and passed over."""
    has_open_invitation: bool = False


def bucket(hypothesis: Hypothesis, tally: Tally, now: datetime) -> Bucket:
    """Where a hypothesis stands when its review is due; first match."""
    due = min(hypothesis.review_after, hypothesis.expires_at) <= now
    held = {HypothesisState.VALIDATED, HypothesisState.APPLIED}
    events = hypothesis.confirmations + hypothesis.contradictions
    rules: tuple[tuple[bool, Bucket], ...] = (
        (not due and hypothesis.state in LIVE, "pending"),
        (hypothesis.state is HypothesisState.REFUTED, "refuted"),
        (hypothesis.state in held, "adopted"),
        (tally.ignored_shown > 0 and not events, "ignored"),
        (hypothesis.expires_at <= now and not events, "stale"),
        (hypothesis.confirmations > hypothesis.contradictions, "supported"),
        (tally.has_open_invitation, "still_unknown"),
    )
    return next((name for holds, name in rules if holds), "unknown")
