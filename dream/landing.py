"""From verdicts to hypotheses: duplicates out, retention, and the edge with all its lineage."""

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final

from dream import policies
from dream.model import Accepted, Draft, Pack, Parked, Verdict
from dream.settings import DreamSettings
from graphstore import ids
from graphstore.model.base import Value
from graphstore.model.hypothesis import (
    HYPOTHESES,
    LIVE,
    AnyHypothesis,
    Claim,
    CounterEvidence,
    Hypothesis,
    HypothesisState,
    TrustHorizon,
)
from graphstore.model.job import Job
from graphstore.model.record import ParkedDraft

TRIGGERS: Final = (
    "source_fingerprint_changed",
    "source_gone",
    "contradiction_visible",
    "user_correction",
    "evidence_requested",
    "exact_or_quote_claim",
    "sensitive_claim",
    "horizon_expired",
    "horizon_review_due",
)
TABLES: Final = {kind.TABLE: kind for kind in HYPOTHESES}


class Judged(Value):
    """A verdict with the job and the pack it came from."""

    job: Job
    pack: Pack
    verdict: Verdict


class Sorted(Value):
    """What lands: edges, parked drafts, and what was dropped, by reason."""

    hypotheses: tuple[AnyHypothesis, ...]
    parked: tuple[ParkedDraft, ...]
    duplicates: int
    rejected: tuple[tuple[str, str], ...]
    """(job id, failed check)."""


def horizon(settings: DreamSettings, now: datetime) -> TrustHorizon:
    """Review after a fortnight, expiry after 45 days, and what invalidates at once."""
    return TrustHorizon(
        review_after=now + timedelta(days=settings.review_after_days),
        expires_at=now + timedelta(days=settings.expires_after_days),
        invalidation_triggers=TRIGGERS,
    )


def settle(
    judged: Sequence[Judged],
    live: Sequence[Hypothesis],
    current: Mapping[str, str | None],
    cycle_id: str,
    settings: DreamSettings,
    now: datetime,
    *,
    staged: bool,
) -> Sorted:
    """Sort verdicts into edges and parked drafts.

    ``current`` holds the fingerprints as they are now: a source that changed while the store
    was closed parks the draft. The best support of one (function, src, dst) wins.
    """
    accepted: list[Hypothesis] = []
    parked: list[ParkedDraft] = []
    rejected: list[tuple[str, str]] = []
    taken = {(each.function, each.src, each.dst) for each in live if each.state in LIVE}
    duplicates = 0
    for each in sorted(judged, key=best_first):
        edge = hypothesis_of(each, live, cycle_id, settings, now)
        failed = failures(each, edge, current, staged=staged)
        if not isinstance(each.verdict, Accepted | Parked):
            rejected += [(each.job.job_id, name) for name in failed]
        elif (edge.function, edge.src, edge.dst) in taken:
            duplicates += 1
        else:
            taken.add((edge.function, edge.src, edge.dst))
            if failed:
                parked.append(park(edge, failed))
            else:
                accepted.append(edge)
    kept, dropped = retained(accepted, settings)
    return Sorted(
        hypotheses=tuple(sorted(kept, key=lambda one: one.hypothesis_id)),  # type: ignore[arg-type]
        parked=tuple(sorted((*parked, *dropped), key=lambda one: one.hypothesis.hypothesis_id)),
        duplicates=duplicates,
        rejected=tuple(sorted(rejected)),
    )


def best_first(each: Judged) -> tuple[bool, float, str, str, str]:
    """Sort key: accepted before parked, support, then content."""
    draft = each.verdict.draft
    return (
        not isinstance(each.verdict, Accepted),
        -draft.support,
        draft.rule,
        f"{draft.src} {draft.dst}",
        each.job.job_id,
    )


def failures(
    each: Judged, edge: Hypothesis, current: Mapping[str, str | None], *, staged: bool
) -> tuple[str, ...]:
    """Names of failed checks, the re-read of sources and staging included."""
    found = () if isinstance(each.verdict, Accepted) else each.verdict.failed
    pairs = zip(edge.refs, edge.ref_fingerprints, strict=True)
    moved = any(current.get(ref) != then for ref, then in pairs)
    return (*found, *(("source_current",) if moved else ()), *(("staged_only",) if staged else ()))


def park(edge: Hypothesis, failed: tuple[str, ...]) -> ParkedDraft:
    """A draft that waits."""
    waiting = edge.replace(state=HypothesisState.PARKED)
    return ParkedDraft(hypothesis=waiting, failed=failed)  # type: ignore[arg-type]


def retained(
    edges: Sequence[Hypothesis], settings: DreamSettings
) -> tuple[list[Hypothesis], list[ParkedDraft]]:
    """Those above the floor or among the best of the cycle; the others wait, with their distance."""
    order = sorted(edges, key=lambda one: (-one.retention, one.hypothesis_id))
    best = {one.hypothesis_id for one in order[: settings.keep_best]}
    kept: list[Hypothesis] = []
    dropped: list[ParkedDraft] = []
    for edge in order:
        if edge.retention >= settings.retention_min or edge.hypothesis_id in best:
            kept.append(edge)
        else:
            dropped.append(park(edge, ("below_retention",)))
    return kept, dropped


def hypothesis_of(
    each: Judged, live: Sequence[Hypothesis], cycle_id: str, settings: DreamSettings, now: datetime
) -> Hypothesis:
    """The edge that a draft would be: aliases become refs, dates and points are set by policy."""
    draft, pack = each.verdict.draft, each.pack
    turns = {turn.alias: turn for turn in (*pack.turns, *pack.counter_turns)}
    premises = sorted(
        {turns[a].ref: turns[a].fingerprint for a in draft.refs if a in turns}.items()
    )
    counter = [resolved(one, turns_by_alias(pack)) for one in draft.counter]
    dates = horizon(settings, now)
    return TABLES[draft.edge](
        src_table=draft.src_table,
        src=draft.src,
        dst_table=draft.dst_table,
        dst=draft.dst,
        hypothesis_id=ids.hypothesis_id(
            draft.function, draft.rule, draft.src, draft.dst, (ref for ref, _ in premises)
        ),
        function=draft.function,
        rule=draft.rule,
        mode=draft.mode,
        method=draft.method,
        model=None,
        title=draft.title,
        summary=draft.summary,
        why_not_fact=draft.why_not_fact,
        claims=texts([resolved(one, turns_by_alias(pack)) for one in draft.claims]),
        refs=tuple(ref for ref, _ in premises),
        ref_fingerprints=tuple(fingerprint for _, fingerprint in premises),
        counter_evidence=texts(counter),
        counter_refs=tuple(sorted({ref for one in counter for ref in one.refs})),
        source_fingerprint=ids.source_fingerprint(premises),
        cues=draft.cues,
        voices=(),
        seed_id=pack.focus.id if pack.focus.kind == "seed" else None,
        shape=pack.focus.shape,
        provenance=pack.focus.provenance,
        pack_id=pack.pack_id,
        job_id=each.job.job_id,
        cycle_id=cycle_id,
        state=HypothesisState.ACCEPTED,
        start_points=draft.start,
        points=draft.start,
        confirmations=0,
        contradictions=0,
        validation_ids=(),
        retention=policies.retention(standing_of(draft, pack, live, now)),
        quality=draft.support,
        declared_confidence=draft.declared_confidence,
        divergence=0.0,
        coefficients=policies.COEFFICIENTS,
        sensitivity="none",
        next_check=draft.next_check,
        extras="{}",
        created_at=now,
        validated_at=None,
        review_after=dates.review_after,
        expires_at=dates.expires_at,
        validated_by="dream_adjudication",
        invalidation_triggers=dates.invalidation_triggers,
        supersedes=None,
        superseded_by=None,
        closed_at=None,
        closed_reason=None,
    )


def turns_by_alias(pack: Pack) -> dict[str, str]:
    """Alias to ref."""
    return {turn.alias: turn.ref for turn in (*pack.turns, *pack.counter_turns)}


def resolved(one: Claim | CounterEvidence, refs: Mapping[str, str]) -> Claim | CounterEvidence:
    """Aliases of a claim or of counter-evidence as refs."""
    found = tuple(sorted(refs[alias] for alias in one.refs if alias in refs))
    return one.replace(refs=found)


def texts(values: Sequence[Value]) -> str:
    """Values as a canonical JSON list."""
    return ids.canonical([each.model_dump(mode="json") for each in values]).decode()


def standing_of(
    draft: Draft, pack: Pack, live: Sequence[Hypothesis], now: datetime
) -> policies.Standing:
    """The counts that retention looks at."""
    turns = [turn for turn in pack.turns if turn.alias in set(draft.refs)]
    sides = Counter(each.side for each in draft.claims for _ in each.refs)
    moments = [turn.at for turn in turns if turn.at]
    newest = max(moments, default=None)
    alike = tuple(frozenset(each.cues) for each in live if each.function == draft.function)
    return policies.Standing(
        refs=len(turns),
        threads=len({turn.lineage for turn in turns}),
        bridge_refs=sides["a"] + sides["b"] if sides["a"] and sides["b"] else 0,
        voices=1,
        proposals=1,
        counters=len({alias for each in draft.counter for alias in each.refs}),
        function=draft.function,
        novelty=policies.novelty(frozenset(draft.cues), alike),
        recency=policies.recency(
            None if newest is None else (now - newest).total_seconds() / 86_400
        ),
    )
