"""What the landed dream cycles add up to: last success, totals, rates; never counters."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from typing import Final

from dream import telemetry
from dream.settings import DreamSettings
from graphstore.model.base import Instant, Value
from graphstore.model.hypothesis import Hypothesis, HypothesisState
from graphstore.model.record import Count, CycleRecord, DreamRecord, ParkedDraft, ReviewRecord

FINAL: Final = ("done", "parked")
HELD: Final = frozenset({HypothesisState.VALIDATED, HypothesisState.APPLIED})
RECENT: Final = 20
"""Judged hypotheses that pace schedules."""


class FunctionTotals(Value):
    """What became of the drafts and hypotheses of one function."""

    function: str
    accepted: int
    parked: int
    rejected: int
    states: tuple[Count, ...]
    """Its hypothesis edges by state."""
    acceptance_rate: float | None
    """Accepted of all drafts; null without drafts."""
    validation_rate: float | None


class ModeTotals(Value):
    """What became of the hypotheses of one mode of dreaming."""

    mode: str
    hypotheses: int
    validation_rate: float | None


class Totals(Value):
    """Sums over all dream cycles. A rate is null where its denominator is 0."""

    cycles: tuple[Count, ...]
    """By outcome."""
    jobs: tuple[Count, ...]
    """By state."""
    failed_checks: tuple[Count, ...]
    """Of parked and rejected drafts, by check."""
    functions: tuple[FunctionTotals, ...]
    hypotheses: int
    last_success: Instant | None
    validation_rate: float | None
    """Validated of those validated or refuted."""
    false_alarm_rate: float | None
    """Refuted of those validated or refuted."""
    modes: tuple[ModeTotals, ...] = ()
    tokens: int = 0
    """Of models, as far as they are told."""
    tokens_per_validated: float | None = None
    signals: tuple[Count, ...] = ()
    """Where retention seems to have kept or dropped the wrong things; nothing acts on them."""


def last_success(cycles: Iterable[CycleRecord]) -> datetime | None:
    """When the newest dream cycle landed in which a job came to an end that is no failure."""
    return max((cycle.ended_at for cycle in cycles if succeeded(cycle)), default=None)


def succeeded(cycle: CycleRecord) -> bool:
    """Whether a dream cycle landed at least one job that came to an end."""
    return cycle.outcome != "failed" and any(job.state in FINAL for job in cycle.jobs)


def rolled_back(records: Iterable[DreamRecord]) -> frozenset[str]:
    """Ids of the dream cycles that the owner took back."""
    return frozenset(
        record.target
        for record in records
        if isinstance(record, ReviewRecord) and record.act == "rollback"
    )


def rejected(records: Iterable[DreamRecord]) -> frozenset[str]:
    """Ids of parked drafts that the owner put away."""
    return frozenset(
        record.target
        for record in records
        if isinstance(record, ReviewRecord) and record.act == "reject"
    )


def parked(cycles: Iterable[CycleRecord]) -> tuple[tuple[datetime, ParkedDraft], ...]:
    """Every parked draft with the time of its landing, in ledger order."""
    return tuple((cycle.ended_at, draft) for cycle in cycles for draft in cycle.parked)


def still_parked(
    records: Sequence[DreamRecord], settings: DreamSettings, now: datetime
) -> Iterator[ParkedDraft]:
    """Parked drafts whose time is not up, of no dream cycle that was taken back, oldest first."""
    since, gone = now - timedelta(days=settings.parked_days), rolled_back(records)
    for at, draft in parked(each for each in records if isinstance(each, CycleRecord)):
        if at > since and draft.hypothesis.cycle_id not in gone:
            yield draft


def rate(part: float, of: float) -> float | None:
    """A share, rounded to 6 decimals; None of nothing."""
    return round(part / of, 6) if of else None


def validation_rate(hypotheses: Iterable[Hypothesis], newest: int | None = None) -> float | None:
    """Validated of all judged ones, or of the ``newest`` judged ones."""
    judged = sorted(
        (one for one in hypotheses if one.state in HELD or one.state is HypothesisState.REFUTED),
        key=lambda one: (judged_at(one), one.hypothesis_id),
    )
    kept = judged if newest is None else judged[-newest:]
    return rate(sum(one.state in HELD for one in kept), len(kept))


def judged_at(one: Hypothesis) -> datetime:
    """When a hypothesis was last judged."""
    return one.closed_at or one.validated_at or one.created_at


def totals(cycles: tuple[CycleRecord, ...], hypotheses: tuple[Hypothesis, ...]) -> Totals:
    """Everything the journal adds up to."""
    checks = Counter(name for cycle in cycles for draft in cycle.parked for name in draft.failed)
    for cycle in cycles:
        for job in cycle.jobs:
            checks.update({each.name: each.count for each in job.rejected})
    held = validation_rate(hypotheses)
    names = sorted({job.function for cycle in cycles for job in cycle.jobs})
    tokens = sum(call.tokens or 0 for cycle in cycles for call in cycle.calls)
    stood = sum(one.state in HELD for one in hypotheses)
    return Totals(
        cycles=counts(Counter(cycle.outcome for cycle in cycles)),
        jobs=counts(Counter(job.state for cycle in cycles for job in cycle.jobs)),
        failed_checks=counts(checks),
        functions=tuple(of_function(name, cycles, hypotheses) for name in names),
        hypotheses=len(hypotheses),
        last_success=last_success(cycles),
        validation_rate=held,
        false_alarm_rate=None if held is None else round(1 - held, 6),
        modes=tuple(of_mode(mode, hypotheses) for mode in sorted({h.mode for h in hypotheses})),
        tokens=tokens,
        tokens_per_validated=rate(tokens, stood),
        signals=telemetry.signals(telemetry.events(cycles, hypotheses)),
    )


def of_mode(mode: str, hypotheses: tuple[Hypothesis, ...]) -> ModeTotals:
    """The share of one mode."""
    own = [one for one in hypotheses if one.mode == mode]
    return ModeTotals(mode=mode, hypotheses=len(own), validation_rate=validation_rate(own))


def of_function(
    name: str, cycles: tuple[CycleRecord, ...], hypotheses: tuple[Hypothesis, ...]
) -> FunctionTotals:
    """The share of one function."""
    jobs = [job for cycle in cycles for job in cycle.jobs if job.function == name]
    own = tuple(one for one in hypotheses if one.function == name)
    accepted, waiting = sum(job.accepted for job in jobs), sum(job.parked for job in jobs)
    rejected = sum(job.rejected_drafts for job in jobs)
    return FunctionTotals(
        function=name,
        accepted=accepted,
        parked=waiting,
        rejected=rejected,
        states=counts(Counter(one.state.value for one in own)),
        acceptance_rate=rate(accepted, accepted + waiting + rejected),
        validation_rate=validation_rate(own),
    )


def counts(figures: Counter[str]) -> tuple[Count, ...]:
    """Figures by name, sorted, without zeros."""
    return tuple(Count(name=name, count=figures[name]) for name in sorted(figures) if figures[name])
