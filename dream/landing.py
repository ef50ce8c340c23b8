"""From verdicts to hypotheses: duplicates out, retention, and the edge with all its lineage."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from dream import policies
from dream.model import Accepted, Draft, Pack, Parked, Verdict
from dream.settings import DreamSettings
from graphstore import ids
from graphstore.model.base import Value
from graphstore.model.hypothesis import (
    HYPOTHESES,
    AnyHypothesis,
    Expired,
    Hypothesis,
    HypothesisState,
    Invalidated,
    Resonates,
    TrustHorizon,
    standing,
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
TAGS: Final = 6
FRESH_REFS: Final = 2
"""New turns, later than its closing, that let a closed pair be proposed again."""
Ends = tuple[str, str, str]
"""(function, src, dst): a pair is hypothesised about once."""


class Judged(Value):
    """A verdict with the job and the pack it came from."""

    job: Job
    pack: Pack
    verdict: Verdict


class Dropped(Value):
    """A draft that left no trace but its count: which job, and why."""

    job_id: str
    reason: str
    """``duplicate``, or the check it failed."""


class Sorted(Value):
    """What lands: edges and parked drafts; and what was dropped."""

    hypotheses: tuple[AnyHypothesis, ...]
    parked: tuple[ParkedDraft, ...]
    dropped: tuple[Dropped, ...]


@dataclass(frozen=True, slots=True)
class Ground:
    """What a landing is judged against, read when the store is open again."""

    known: tuple[AnyHypothesis, ...]
    """Every hypothesis edge, whatever its state."""
    current: Mapping[str, str | None]
    """Fingerprints now of every ref that a draft or a known hypothesis cites."""


def horizon(settings: DreamSettings, now: datetime) -> TrustHorizon:
    """Review after a fortnight, expiry after 45 days, and what invalidates at once."""
    return TrustHorizon(
        review_after=now + timedelta(days=settings.review_after_days),
        expires_at=now + timedelta(days=settings.expires_after_days),
        invalidation_triggers=TRIGGERS,
    )


def ends(one: Hypothesis) -> Ends:
    """What makes two hypotheses say the same."""
    return (one.function, one.src, one.dst)


def gap(one: Hypothesis) -> Ends:
    """What is told once, though several pairs could tell it.

    What a rule says is missing, whichever thread it is missing in; and that the same threads rhyme.
    """
    if isinstance(one, Resonates):
        threads = {ref.rpartition("#")[0] for ref in one.refs}
        return (one.function, "", " ".join(sorted(threads)))
    if one.dst_table in ("Question", "Concept"):
        return (one.rule, "", one.dst)
    return ends(one)


def settle(
    judged: Sequence[Judged],
    ground: Ground,
    cycle_id: str,
    settings: DreamSettings,
    now: datetime,
    *,
    staged: bool,
) -> Sorted:
    """Sort verdicts into edges and parked drafts.

    A source that changed while the store was closed parks the draft. Of one (function, src, dst)
    the best accepted draft wins; a pair that stands already, or was closed and has no two later
    turns, is a duplicate.
    """
    live, closed = apart(ground, now)
    taken = {key for one in live for key in (ends(one), gap(one))}
    accepted: list[Hypothesis] = []
    parked: list[ParkedDraft] = []
    dropped: list[Dropped] = []
    for each in sorted(judged, key=best_first):
        edge = hypothesis_of(each, live, cycle_id, settings, now)
        failed = failures(each, edge, ground.current, staged=staged)
        before = closed.get(ends(edge))
        if not isinstance(each.verdict, Accepted | Parked):
            dropped += [Dropped(job_id=each.job.job_id, reason=name) for name in failed]
        elif taken.intersection((ends(edge), gap(edge))) or (
            before is not None and not reopens(each, edge, before)
        ):
            dropped.append(Dropped(job_id=each.job.job_id, reason="duplicate"))
        else:
            taken.update((ends(edge), gap(edge)))
            if before is not None:
                # an invitation with such a history is not made again
                edge = edge.replace(supersedes=before.hypothesis_id, extras=hushed(edge.extras))
            if failed:
                parked.append(park(edge, failed))
            else:
                accepted.append(edge)
    kept, faint = retained(accepted, settings)
    return Sorted(
        hypotheses=tuple(sorted(kept, key=lambda one: one.hypothesis_id)),  # type: ignore[arg-type]
        parked=tuple(sorted((*parked, *faint), key=lambda one: one.hypothesis.hypothesis_id)),
        dropped=tuple(sorted(dropped, key=lambda one: (one.job_id, one.reason))),
    )


def apart(ground: Ground, now: datetime) -> tuple[tuple[Hypothesis, ...], dict[Ends, Hypothesis]]:
    """Hypotheses that stand, and the newest refuted or expired one of each pair.

    Those whose source changed, and superseded ones, stand in nobody's way.
    """
    live: list[Hypothesis] = []
    closed: dict[Ends, Hypothesis] = {}
    for one in sorted(ground.known, key=lambda each: (each.created_at, each.hypothesis_id)):
        match standing(one, now, ground.current):
            case Invalidated(reason=HypothesisState.REFUTED.value) | Expired():
                closed[ends(one)] = one
            case Invalidated():
                continue
            case _:
                live.append(one)
    return tuple(live), closed


def reopens(each: Judged, edge: Hypothesis, before: Hypothesis) -> bool:
    """Whether two turns later than its closing speak for a closed pair."""
    since = before.closed_at or before.expires_at
    cited = set(each.verdict.draft.refs)
    fresh = [
        turn.ref
        for turn in each.pack.turns
        if turn.alias in cited and turn.at is not None and turn.at > since
    ]
    return len(fresh) >= FRESH_REFS and edge.hypothesis_id != before.hypothesis_id


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
    """A draft that waits; what is sensitive waits for a human."""
    sensitivity = "human_review" if "not_sensitive" in failed else edge.sensitivity
    waiting = edge.replace(state=HypothesisState.PARKED, sensitivity=sensitivity)
    return ParkedDraft(hypothesis=waiting, failed=failed)  # type: ignore[arg-type]


def retained(
    edges: Sequence[Hypothesis], settings: DreamSettings
) -> tuple[list[Hypothesis], list[ParkedDraft]]:
    """Those above the floor or among the best of the cycle; the others wait."""
    order = sorted(edges, key=lambda one: (-one.retention, one.hypothesis_id))
    best = {one.hypothesis_id for one in order[: settings.keep_best]}
    kept: list[Hypothesis] = []
    faint: list[ParkedDraft] = []
    for edge in order:
        if edge.retention >= settings.retention_min or edge.hypothesis_id in best:
            kept.append(edge)
        else:
            faint.append(park(edge, ("below_retention",)))
    return kept, faint


def hypothesis_of(
    each: Judged, live: Sequence[Hypothesis], cycle_id: str, settings: DreamSettings, now: datetime
) -> Hypothesis:
    """The edge that a draft would be: aliases become refs, dates and points are set by policy."""
    draft, pack = each.verdict.draft, each.pack
    refs = {turn.alias: turn.ref for turn in (*pack.turns, *pack.counter_turns)}
    prints = {turn.ref: turn.fingerprint for turn in (*pack.turns, *pack.counter_turns)}
    premises = tuple(sorted(in_order(draft.refs, refs)))
    claims = [one.replace(refs=in_order(one.refs, refs)) for one in draft.claims]
    against = [one.replace(refs=in_order(one.refs, refs)) for one in draft.counter]
    counts, dates = counts_of(draft, pack, live, now), horizon(settings, now)
    return TABLES[draft.edge](
        src_table=draft.src_table,
        src=draft.src,
        dst_table=draft.dst_table,
        dst=draft.dst,
        hypothesis_id=ids.hypothesis_id(draft.function, draft.rule, draft.src, draft.dst, premises),
        function=draft.function,
        rule=draft.rule,
        mode=draft.mode,
        method=draft.method,
        model=draft.model,
        title=draft.title,
        summary=draft.summary,
        why_not_fact=draft.why_not_fact,
        claims=texts(claims),
        refs=premises,
        ref_fingerprints=tuple(prints[ref] for ref in premises),
        counter_evidence=texts(against),
        counter_refs=tuple(sorted({ref for one in against for ref in one.refs})),
        source_fingerprint=ids.source_fingerprint((ref, prints[ref]) for ref in premises),
        cues=draft.cues,
        voices=tuple(each.voice for each in draft.voices if each.refs),
        seed_id=pack.focus.id if pack.focus.kind == "seed" else None,
        shape=pack.focus.shape,
        provenance=pack.focus.provenance,
        pack_id=pack.pack_id,
        job_id=each.job.job_id,
        cycle_id=cycle_id,
        state=HypothesisState.ACCEPTED,
        start_points=settings.ladder.start(draft.start),
        points=settings.ladder.start(draft.start),
        confirmations=0,
        contradictions=0,
        validation_ids=(),
        retention=policies.retention(counts),
        quality=draft.support,
        declared_confidence=draft.declared_confidence,
        divergence=round(policies.divergence(counts), 6),
        coefficients=policies.COEFFICIENTS,
        sensitivity="none",
        next_check=draft.next_check,
        extras=extras(draft, refs, counts),
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


def in_order(aliases: Sequence[str], refs: Mapping[str, str]) -> tuple[str, ...]:
    """Refs of aliases, each once; unknown ones were named by a check."""
    return tuple(dict.fromkeys(refs[alias] for alias in aliases if alias in refs))


def texts(values: Sequence[Value]) -> str:
    """Values as a canonical JSON list."""
    return ids.canonical([each.model_dump(mode="json") for each in values]).decode()


def extras(draft: Draft, refs: Mapping[str, str], counts: policies.Counts) -> str:
    """The parts of its retention, and what only some drafts carry, as a canonical JSON object."""
    parts = {name: round(part, 6) for name, part in policies.components(counts).items()}
    carried: dict[str, ids.Json] = {"retention": parts}
    if draft.bridge is not None:
        bridge = draft.bridge.replace(refs=in_order(draft.bridge.refs, refs))
        carried["bridge"] = bridge.model_dump(mode="json")
    for name, part in (("artifact", draft.artifact), ("invitation", draft.invitation)):
        if part is not None:
            dumped = part.model_dump(mode="json")
            held = {
                key: in_order(dumped[key], refs) for key in ("refs", "counter") if key in dumped
            }
            carried[name] = dumped | held
    if draft.voices:
        spoken = (each.replace(refs=in_order(each.refs, refs)) for each in draft.voices)
        carried["voices"] = [each.model_dump(mode="json") for each in spoken]
    if draft.atmosphere:
        carried["atmosphere"] = list(draft.atmosphere[:TAGS])
    return ids.canonical(carried).decode()


def hushed(extras: str) -> str:
    """Extras whose invitation, if there is one, annoys: its pair was refuted or ran out before."""
    held = json.loads(extras)
    if "invitation" in held:
        held["invitation"]["annoyance"] = "high"
    return ids.canonical(held).decode()


def counts_of(
    draft: Draft, pack: Pack, live: Sequence[Hypothesis], now: datetime
) -> policies.Counts:
    """The counts that retention looks at."""
    cited = set(draft.refs)
    turns = [turn for turn in pack.turns if turn.alias in cited]
    sides = Counter(each.side for each in draft.claims for _ in each.refs)
    newest = max((turn.at for turn in turns if turn.at is not None), default=None)
    alike = tuple(frozenset(each.cues) for each in live if each.function == draft.function)
    age = None if newest is None else (now - newest).total_seconds() / 86_400
    return policies.Counts(
        refs=len(turns),
        threads=len({turn.lineage for turn in turns}),
        bridge_refs=sides["a"] + sides["b"] if sides["a"] and sides["b"] else 0,
        voices=max(1, sum(bool(each.refs) for each in draft.voices)),
        proposals=max(1, len({each.node for each in draft.voices if each.refs})),
        counters=len({alias for each in draft.counter for alias in each.refs}),
        function=draft.function,
        novelty=policies.novelty(frozenset(draft.cues), alike),
        recency=policies.recency(age),
    )
