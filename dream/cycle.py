"""The one orchestrator: begin with the store open, work with it closed, land in one commit."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime, timedelta
from typing import Final, Literal, TypeAlias

from dream.adjudicate import adjudicate
from dream.focus import foci
from dream.gate import Trigger
from dream.index import Index
from dream.landing import Judged, Sorted, horizon, settle
from dream.model import Draft, Pack, TooThin
from dream.pack import pack
from dream.queue import due, job_id, order, priority, put, retried, swept
from dream.settings import DreamSettings
from graphstore import ids, plugins
from graphstore.errors import UnknownFunction
from graphstore.model.base import Instant, Value
from graphstore.model.hypothesis import HYPOTHESES, LIVE, Hypothesis
from graphstore.model.job import Duplicate, Job, JobState
from graphstore.model.knowledge import SeedRow
from graphstore.model.record import Count, CycleRecord, GateLine, JobEnd
from graphstore.store import Store

FINAL: Final = ("done", "parked")
Mode: TypeAlias = Literal["normal", "stage", "dry_run"]


class Ask(Value):
    """What the caller wants of a dream cycle."""

    trigger: Trigger = "manual"
    mode: Mode = "normal"
    function: str | None = None
    seed: str | None = None


class Unit(Value):
    """A job and its pack."""

    job: Job
    pack: Pack


class Leased(Value):
    """Work taken out of the store; nothing else of the store is needed to do it."""

    outcome: Literal["leased"] = "leased"
    cycle_id: str
    generation: int
    leased_seq: int
    started_at: Instant
    ask: Ask
    gate: tuple[GateLine, ...]
    units: tuple[Unit, ...]
    notes: tuple[Count, ...]


class NothingDue(Value):
    """There is nothing to dream about now, and why."""

    outcome: Literal["nothing_due"] = "nothing_due"
    reason: str
    next_action: str
    notes: tuple[Count, ...]


class Result(Value):
    """What one job gave."""

    unit: Unit
    judged: tuple[Judged, ...] = ()
    error: str | None = None


class Worked(Value):
    leased: Leased
    results: tuple[Result, ...]
    interrupted: bool = False


class Landed(Value):
    """One dream cycle landed (or would, in a dry run)."""

    outcome: Literal["landed"] = "landed"
    record: CycleRecord
    why_nothing: str = ""


class Fenced(Value):
    """Another dream cycle was leased meanwhile; nothing was written."""

    outcome: Literal["fenced"] = "fenced"
    generation: int


def live_of(store: Store) -> tuple[Hypothesis, ...]:
    """Every hypothesis edge that counts as alive, by id."""
    found = [each for kind in HYPOTHESES for each in store.edges(kind) if each.state in LIVE]
    return tuple(sorted(found, key=lambda each: each.hypothesis_id))


def begin(
    store: Store,
    seeds: tuple[SeedRow, ...],
    ask: Ask,
    gate: tuple[GateLine, ...],
    settings: DreamSettings,
    now: datetime,
) -> Leased | NothingDue:
    """Sweep, pack, enqueue and lease. In a dry run nothing is written."""
    notes: Counter[str] = Counter()
    packs = packed(store, seeds, ask, settings, now, notes)
    dry = ask.mode == "dry_run"
    jobs = planned(packs, settings, now) if dry else enqueued(store, packs, settings, now, notes)
    wanted = [job for job in jobs if ask.function in (None, job.function)]
    if not wanted:
        return nothing(notes)
    units = tuple(Unit(job=job, pack=packs[job.focus_kind, job.focus_id]) for job in wanted)
    generation = store.jobs.stamps().generation
    if not dry:
        until = now + timedelta(minutes=settings.queue.lease_minutes)
        units = tuple(
            unit.replace(job=unit.job.replace(state=JobState.RUNNING, lease_until=until))
            for unit in units
        )
        generation = store.jobs.lease([unit.job for unit in units], now).generation
    seq = store.ledger.last_seq()
    return Leased(
        cycle_id="dc:" + ids.digest(seq, sorted(unit.job.job_id for unit in units)),
        generation=generation,
        leased_seq=seq,
        started_at=now,
        ask=ask,
        gate=gate,
        units=units,
        notes=counts(notes),
    )


def packed(
    store: Store,
    seeds: tuple[SeedRow, ...],
    ask: Ask,
    settings: DreamSettings,
    now: datetime,
    notes: Counter[str],
) -> dict[tuple[str, str], Pack]:
    """Packs by focus, in the order of the foci; what is too thin is counted."""
    index, live = Index(store.ground()), live_of(store)
    found: dict[tuple[str, str], Pack] = {}
    for focus in foci(index, seeds):
        if ask.seed in (None, focus.id):
            made = pack(focus, index, live, settings, now)
            if isinstance(made, TooThin):
                notes[f"too_thin:{made.status}"] += 1
            else:
                notes["packs"] += 1
                found[focus.kind, focus.id] = made
    return found


def offers(packs: Iterable[Pack]) -> list[tuple[Pack, str]]:
    """(pack, function): every pack's wanted function before anyone's second one."""
    packs = list(packs)
    first = [(each, each.eligible[0]) for each in packs]
    return first + [(each, name) for each in packs for name in each.eligible[1:]]


def enqueued(
    store: Store,
    packs: dict[tuple[str, str], Pack],
    settings: DreamSettings,
    now: datetime,
    notes: Counter[str],
) -> list[Job]:
    """Enqueue, then the due jobs that still have their pack."""
    swept(store.jobs, settings.queue, now)
    for made, function in offers(packs.values()):
        put_ = put(made, function, store.jobs, settings.queue, now)
        notes[put_.reason if isinstance(put_, Duplicate) else "enqueued"] += 1
    ready = due(store.jobs, now, by_hand=True)
    return [
        job.replace(pack_id=packs[job.focus_kind, job.focus_id].pack_id)
        for job in ready
        if (job.focus_kind, job.focus_id) in packs
    ][: settings.queue.cap]


def planned(
    packs: dict[tuple[str, str], Pack], settings: DreamSettings, now: datetime
) -> list[Job]:
    """The jobs that a run would put, without putting them."""
    jobs = [
        Job(
            job_id=job_id(made, function),
            function=function,
            focus_kind=made.focus.kind,
            focus_id=made.focus.id,
            pack_id=made.pack_id,
            family=made.focus.family,
            provenance=made.focus.provenance,
            priority=priority(made.focus.family, function),
            created_at=now,
            not_before=now,
            expires_at=now + timedelta(hours=settings.queue.expires_hours),
        )
        for made, function in offers(packs.values())[: settings.queue.cap]
    ]
    return sorted(jobs, key=order)


def nothing(notes: Counter[str]) -> NothingDue:
    """Why there is nothing to do, by name, with one next action."""
    if not notes["packs"]:
        return NothingDue(
            reason="no_queue",
            next_action="ingest more conversations: clew ingest PATH",
            notes=counts(notes),
        )
    return NothingDue(
        reason="none_due",
        next_action="nothing new since the last dream cycle; clew hypotheses shows what stands",
        notes=counts(notes),
    )


def counts(notes: Counter[str]) -> tuple[Count, ...]:
    """Figures by name, sorted."""
    return tuple(Count(name=name, count=notes[name]) for name in sorted(notes) if notes[name])


def work(
    leased: Leased, settings: DreamSettings, now: datetime, stop: Callable[[], bool]
) -> Worked:
    """Draft and adjudicate every unit against its pack; ``stop`` is asked between jobs."""
    results: list[Result] = []
    for unit in leased.units:
        if stop():
            return Worked(leased=leased, results=tuple(results), interrupted=True)
        results.append(one(unit, settings, now))
    return Worked(leased=leased, results=tuple(results))


def one(unit: Unit, settings: DreamSettings, now: datetime) -> Result:
    """One job; whatever goes wrong in it ends this job alone."""
    try:
        drafts = drafted(unit, settings)
        dates = horizon(settings, now)
        judged = tuple(
            Judged(job=unit.job, pack=unit.pack, verdict=adjudicate(draft, unit.pack, dates, now))
            for draft in drafts
        )
    except Exception as error:  # noqa: BLE001 - a border: the next job goes on
        return Result(unit=unit, error=f"worker_error:{type(error).__name__}")
    return Result(unit=unit, judged=judged)


def drafted(unit: Unit, settings: DreamSettings) -> list[Draft]:
    """The best drafts of a function on a pack, by support, ties by content."""
    function = plugins.load("dream.functions", unit.job.function, "clew.functions", UnknownFunction)
    found: list[Draft] = list(function.draft(unit.pack))
    found.sort(key=lambda draft: (-draft.support, draft.rule, draft.src, draft.dst))
    return found[: settings.drafts_per_job]


def land(worked: Worked, store: Store, settings: DreamSettings, now: datetime) -> Landed | Fenced:
    """Land a dream cycle: hypotheses, parked drafts, job ends and journal in one commit."""
    leased = worked.leased
    if leased.ask.mode != "dry_run" and store.jobs.stamps().generation != leased.generation:
        return Fenced(generation=store.jobs.stamps().generation)
    judged = [each for result in worked.results for each in result.judged]
    refs = sorted({turn.ref for each in judged for turn in each.pack.turns})
    landed = settle(
        judged,
        live_of(store),
        store.fingerprints(refs),
        leased.cycle_id,
        settings,
        now,
        staged=leased.ask.mode == "stage",
    )
    record = journal(worked, landed, now)
    if leased.ask.mode != "dry_run":
        store.commit(record, now)
        store.jobs.put(ended(worked, record, settings, now))
    return Landed(record=record, why_nothing=why_nothing(worked, landed))


def journal(worked: Worked, landed: Sorted, now: datetime) -> CycleRecord:
    """The record of a dream cycle."""
    leased = worked.leased
    ends = tuple(job_end(result, landed) for result in worked.results)
    notes = Counter({each.name: each.count for each in leased.notes})
    notes["duplicate"] = landed.duplicates
    failed = all(end.state in ("failed", "queued") for end in ends)
    return CycleRecord(
        cycle_id=leased.cycle_id,
        generation=leased.generation,
        trigger=leased.ask.trigger,
        gate=leased.gate,
        leased_seq=leased.leased_seq,
        started_at=leased.started_at,
        ended_at=now,
        outcome="interrupted" if worked.interrupted else "failed" if failed else "landed",
        jobs=ends,
        hypotheses=landed.hypotheses,
        parked=landed.parked,
        notes=counts(notes),
        next_action="clew hypotheses" if landed.hypotheses else "clew scout",
    )


def job_end(result: Result, landed: Sorted) -> JobEnd:
    """How one job ended: what of it was accepted, parked, rejected by which check."""
    job = result.unit.job
    accepted = sum(edge.job_id == job.job_id for edge in landed.hypotheses)
    parked = sum(each.hypothesis.job_id == job.job_id for each in landed.parked)
    rejected = Counter(name for owner, name in landed.rejected if owner == job.job_id)
    state: Literal["done", "parked", "failed"] = "parked" if parked and not accepted else "done"
    reason = "accepted" if accepted else "parked" if parked else "no_draft"
    if result.judged and not accepted and not parked:
        reason = "rejected" if rejected else "duplicate"
    return JobEnd(
        job_id=job.job_id,
        function=job.function,
        focus=f"{job.focus_kind} {job.focus_id}",
        pack_id=job.pack_id,
        state="failed" if result.error else state,
        reason=result.error or reason,
        accepted=accepted,
        parked=parked,
        rejected=counts(rejected),
    )


def ended(worked: Worked, record: CycleRecord, settings: DreamSettings, now: datetime) -> list[Job]:
    """Job rows after landing; what was not reached goes back to the queue."""
    ends = {end.job_id: end for end in record.jobs}
    return [
        after(unit.job, ends.get(unit.job.job_id), settings, now) for unit in worked.leased.units
    ]


def after(job: Job, end: JobEnd | None, settings: DreamSettings, now: datetime) -> Job:
    """One job row after landing."""
    if end is None:
        return job.replace(state=JobState.QUEUED, lease_until=None, last_reason="interrupted")
    if end.state == "failed":
        return retried(job, settings.queue, end.reason, now)
    return job.replace(state=JobState(end.state), lease_until=None, last_reason=end.reason)


def why_nothing(worked: Worked, landed: Sorted) -> str:
    """The named reason of an empty cycle, with the commonest failed check; empty otherwise."""
    if landed.hypotheses:
        return ""
    errors = [result.error for result in worked.results if result.error]
    failed: Sequence[str] = [
        f"parked:{name}" for each in landed.parked for name in each.failed
    ] or [f"rejected:{name}" for _, name in landed.rejected]
    if failed:
        return Counter(failed).most_common(1)[0][0]
    if errors:
        return errors[0]
    return "duplicate" if landed.duplicates else "no_draft"
