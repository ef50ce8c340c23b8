"""The one orchestrator: begin with the store open, work with it closed, land in one commit."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime, timedelta
from typing import Final, Literal, TypeAlias

from dream import functions, journal
from dream.adjudicate import adjudicate
from dream.consult import Advice, Aide, Errand
from dream.focus import foci
from dream.gate import Caller
from dream.index import Index
from dream.journal import counts
from dream.landing import Ground, Judged, Sorted, apart, horizon, settle
from dream.model import Accepted, Draft, Pack, Rejected, TooThin
from dream.pack import pack
from dream.permitted import permit
from dream.queue import allowance, considered, due, job_id, order, put, retried, swept
from dream.settings import DreamSettings
from dream.sweep import expired, hear, looked_back
from dream.worker import foreign
from graphstore import ids
from graphstore.model.base import Instant, Value
from graphstore.model.conversation import Unchanged
from graphstore.model.hypothesis import (
    LIVE,
    Anticipates,
    AnyHypothesis,
    Compensates,
    Hypothesis,
    Imagines,
    Resonates,
)
from graphstore.model.job import Duplicate, Job, JobState
from graphstore.model.knowledge import SeedRow
from graphstore.model.record import (
    Count,
    CycleRecord,
    GateLine,
    JobEnd,
    ModelCall,
    ReviewRecord,
)
from graphstore.store import Store

FULL: Final = "queue_full"
Mode: TypeAlias = Literal["normal", "stage", "dry_run"]


class Ask(Value):
    """What the caller wants of a dream cycle."""

    caller: Caller = Caller()
    mode: Mode = "normal"
    function: str | None = None
    seed: str | None = None
    """Id of the one focus to dream about."""

    @property
    def is_dry(self) -> bool:
        return self.mode == "dry_run"

    @property
    def by_hand(self) -> bool:
        return self.caller.trigger == "manual"


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
    reason: Literal["no_queue", "none_due"]
    next_action: str
    notes: tuple[Count, ...]


class Result(Value):
    """What one job gave."""

    unit: Unit
    judged: tuple[Judged, ...] = ()
    error: str | None = None
    advice: str | None = None
    """What came of asking a model; null where none was asked."""


class Worked(Value):
    """What was done of a lease."""

    leased: Leased
    results: tuple[Result, ...]
    interrupted: bool = False
    calls: tuple[ModelCall, ...] = ()


class Landed(Value):
    """One dream cycle landed (or would, in a dry run)."""

    outcome: Literal["landed"] = "landed"
    record: CycleRecord
    why_nothing: str = ""
    """Why no hypothesis came of it, by name; empty when one did."""


class Fenced(Value):
    """Another dream cycle was leased meanwhile; nothing was written."""

    outcome: Literal["fenced"] = "fenced"
    generation: int


def known_of(store: Store) -> tuple[AnyHypothesis, ...]:
    """Every hypothesis edge, by id."""
    found: list[AnyHypothesis] = [
        *store.edges(Compensates),
        *store.edges(Anticipates),
        *store.edges(Resonates),
        *store.edges(Imagines),
    ]
    return tuple(sorted(found, key=lambda each: each.hypothesis_id))


def live_of(store: Store) -> tuple[AnyHypothesis, ...]:
    """Every hypothesis edge in a live state, by id; whether it stands is ``standing()``'s word."""
    return tuple(each for each in known_of(store) if each.state in LIVE)


def acts_of(store: Store) -> tuple[ReviewRecord, ...]:
    """What the owner did, in ledger order."""
    return tuple(record for record in store.dreams() if isinstance(record, ReviewRecord))


def ground_of(store: Store, refs: Iterable[str]) -> Ground:
    """Known hypotheses, and fingerprints now of their refs and of some others."""
    known = known_of(store)
    wanted = {ref for one in known for ref in one.refs}.union(refs)
    return Ground(known=known, current=store.fingerprints(sorted(wanted)))


def begin(
    store: Store,
    seeds: tuple[SeedRow, ...],
    ask: Ask,
    gate: tuple[GateLine, ...],
    settings: DreamSettings,
    now: datetime,
) -> Leased | NothingDue:
    """Sweep, pack, enqueue and lease. In a dry run nothing is written.

    Raises UnknownFunction when the one that is asked for is not installed.
    """
    if ask.function is not None:
        functions.load(ask.function)
    index = Index(store.ground(), acts_of(store))
    known = known_of(store)
    notes = looked_back(known, now)
    notes["recall_miss_without_source"] += index.misses_without_source
    if not ask.is_dry:
        notes += hear(store, known, index, settings, now)
    ground = ground_of(store, ())
    packs = packed(index, seeds, ask, apart(ground, now)[0], settings, now, notes)
    jobs = planned(store, packs, ask, settings, now, notes)
    if ask.by_hand:
        most = allowance(None, by_hand=True)
    else:
        most = allowance(journal.validation_rate(ground.known, journal.RECENT), by_hand=False)
    wanted = [job for job in jobs if ask.function in (None, job.function)][:most]
    if not wanted:
        if not ask.is_dry:
            store.jobs.stamp(store.jobs.stamps().replace(nothing_due_at=now))
        return nothing(notes)
    units = tuple(Unit(job=job, pack=packs[job.focus_kind, job.focus_id]) for job in wanted)
    generation = store.jobs.stamps().generation
    if not ask.is_dry:
        until = now + timedelta(minutes=settings.queue.lease_minutes)
        units = tuple(running(unit, until) for unit in units)
        generation = store.jobs.lease([unit.job for unit in units], now).generation
    seq = store.ledger.last_seq()
    return Leased(
        cycle_id="dc:" + ids.digest(seq, tuple(sorted(unit.job.job_id for unit in units))),
        generation=generation,
        leased_seq=seq,
        started_at=now,
        ask=ask,
        gate=gate,
        units=units,
        notes=counts(notes),
    )


def running(unit: Unit, until: datetime) -> Unit:
    """A unit whose job is leased, for the pack that goes with it."""
    job = unit.job.replace(
        state=JobState.RUNNING, lease_until=until, pack_id=unit.pack.pack_id, last_reason=""
    )
    return unit.replace(job=job)


def packed(
    index: Index,
    seeds: tuple[SeedRow, ...],
    ask: Ask,
    live: Sequence[Hypothesis],
    settings: DreamSettings,
    now: datetime,
    notes: Counter[str],
) -> dict[tuple[str, str], Pack]:
    """Packs by focus, in the order of the foci; what is too thin is counted."""
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
    """(pack, function): every pack's most eager function before anyone's second one."""
    packs = list(packs)
    first = [(each, name) for each in packs for name in each.eligible[:1]]
    return first + [(each, name) for each in packs for name in each.eligible[1:]]


def planned(
    store: Store,
    packs: dict[tuple[str, str], Pack],
    ask: Ask,
    settings: DreamSettings,
    now: datetime,
    notes: Counter[str],
) -> list[Job]:
    """Due jobs that have their pack, the most urgent first; enqueued unless the run is dry."""
    waiting = parked_of(store, settings, now)
    offered = offers(packs.values())
    if ask.is_dry:
        return imagined(store, offered, waiting, settings, now, notes)
    swept(store.jobs, settings.queue, now)
    full = refused(store)
    for made, function in offered:
        job = put(made, function, store.jobs, settings.queue, now, waiting)
        notes[job.reason if isinstance(job, Duplicate) else "enqueued"] += 1
    notes[FULL] += refused(store) - full
    # the evidence of a focus may have changed: a job without its pack waits for its date
    current = {job_id(made, function) for made, function in offered}
    return [job for job in due(store.jobs, now, by_hand=ask.by_hand) if job.job_id in current]


def refused(store: Store) -> int:
    """Queued jobs that gave way to more urgent ones."""
    return sum(job.last_reason == FULL for job in store.jobs.all(JobState.EXPIRED))


def parked_of(store: Store, settings: DreamSettings, now: datetime) -> set[tuple[str, str]]:
    """(pack id, function) of parked drafts that still wait."""
    return {
        (draft.hypothesis.pack_id, draft.hypothesis.function)
        for draft in journal.still_parked(store.dreams(), settings, now)
    }


def imagined(
    store: Store,
    offered: list[tuple[Pack, str]],
    waiting: set[tuple[str, str]],
    settings: DreamSettings,
    now: datetime,
    notes: Counter[str],
) -> list[Job]:
    """The jobs that a run would lease, without putting them."""
    jobs = []
    for made, function in offered:
        known = store.jobs.get(job_id(made, function))
        queued = known if known is not None and known.state is JobState.QUEUED else None
        job = queued or considered(made, function, known, settings.queue, now, waiting)
        if isinstance(job, Duplicate):
            notes[job.reason] += 1
        else:
            jobs.append(job.replace(pack_id=made.pack_id))
    return sorted(jobs, key=order)[: settings.queue.cap]


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


def work(
    leased: Leased,
    settings: DreamSettings,
    now: datetime,
    stop: Callable[[], bool],
    aide: Aide | None = None,
) -> Worked:
    """Draft and adjudicate every unit against its pack; ``stop`` is asked between jobs.

    A model may work on the first units; whatever it cannot do is done by rules.
    """
    results: list[Result] = []
    modelled = 0 if aide is None else settings.model.jobs_per_cycle
    calls = [] if aide is None else aide.calls
    for place, unit in enumerate(leased.units):
        if stop():
            return Worked(
                leased=leased, results=tuple(results), interrupted=True, calls=tuple(calls)
            )
        errand = None
        if aide is not None and place < modelled:
            errand = Errand(aide, unit.job.job_id, unit.job.function, unit.pack, stop)
        results.append(one(unit, settings, now, errand))
    return Worked(leased=leased, results=tuple(results), calls=tuple(calls))


def one(unit: Unit, settings: DreamSettings, now: datetime, errand: Errand | None = None) -> Result:
    """One job; whatever goes wrong in it ends this job alone."""
    try:
        advice = Advice(reason="") if errand is None else advised(errand)
        judged = judge(unit, best(advice.drafts, settings), settings, now)
        if not any(isinstance(each.verdict, Accepted) for each in judged):
            judged += judge(unit, drafted(unit, settings), settings, now)
    except Exception as error:  # noqa: BLE001 - a border: the next job goes on
        return Result(unit=unit, error=f"worker_error:{type(error).__name__}")
    return Result(unit=unit, judged=judged, advice=None if errand is None else advice.reason)


def advised(errand: Errand) -> Advice:
    """What a model has to say; whatever goes wrong in asking it costs no rule its say."""
    try:
        return errand.advice()
    except Exception as error:  # noqa: BLE001 - a border: rules take over
        return Advice(reason=f"worker_error:{type(error).__name__}")


def judge(
    unit: Unit, drafts: list[Draft], settings: DreamSettings, now: datetime
) -> tuple[Judged, ...]:
    """Verdicts on drafts, whoever made them."""
    dates = horizon(settings, now)
    return tuple(
        Judged(job=unit.job, pack=unit.pack, verdict=adjudicate(draft, unit.pack, dates, now))
        for draft in drafts
    )


def drafted(unit: Unit, settings: DreamSettings) -> list[Draft]:
    """The best drafts of a function on a pack."""
    return best(functions.load(unit.job.function).draft(unit.pack), settings)


def best(drafts: Iterable[Draft], settings: DreamSettings) -> list[Draft]:
    """The best drafts, by support, ties by content."""
    found = sorted(drafts, key=lambda draft: (-draft.support, draft.rule, draft.src, draft.dst))
    return found[: settings.drafts_per_job]


def land(
    worked: Worked, store: Store, settings: DreamSettings, now: datetime
) -> Landed | Fenced | Unchanged:
    """Land a dream cycle: hypotheses, parked drafts, job ends and journal in one commit.

    ``Fenced`` when another lease came after this one; ``Unchanged`` when it landed already. A dry
    run is settled and not written. Raises ForbiddenChange.
    """
    leased = worked.leased
    stamps = store.jobs.stamps()
    if not leased.ask.is_dry and stamps.generation != leased.generation:
        return Fenced(generation=stamps.generation)
    if not leased.ask.is_dry and any(each.cycle_id == leased.cycle_id for each in store.cycles()):
        return Unchanged()
    judged = [each for result in worked.results for each in result.judged]
    refs = {turn.ref for each in judged for turn in each.pack.turns}
    staged = leased.ask.mode == "stage"
    ground = ground_of(store, refs)
    landed = settle(judged, ground, leased.cycle_id, settings, now, staged=staged)
    changes = closing(ground.known, landed, settings, now)
    record = journal_of(worked, landed, now).replace(changes=changes)
    packs = [unit.pack for unit in leased.units]
    permit(record, packs, {one.hypothesis_id: one for one in ground.known})
    if not leased.ask.is_dry:
        store.commit(record, now)
        store.jobs.put(ended(worked, record, settings, now))
        failures = stamps.failures + 1 if record.outcome == "failed" else 0
        store.jobs.stamp(stamps.replace(failures=failures))
    return Landed(record=record, why_nothing=why_nothing(worked, landed, settings))


def closing(
    known: Sequence[AnyHypothesis], landed: Sorted, settings: DreamSettings, now: datetime
) -> tuple[AnyHypothesis, ...]:
    """Known hypotheses that this cycle closes: past their date, or followed by a newer one."""
    newer = {one.supersedes: one.hypothesis_id for one in landed.hypotheses if one.supersedes}
    gone = {one.hypothesis_id: one for one in expired(known, settings, now)}
    after = (gone.get(one.hypothesis_id, one) for one in known)
    return tuple(
        one.replace(superseded_by=newer.get(one.hypothesis_id))
        for one in after
        if one.hypothesis_id in gone or one.hypothesis_id in newer
    )


def journal_of(worked: Worked, landed: Sorted, now: datetime) -> CycleRecord:
    """The record of a dream cycle."""
    leased = worked.leased
    ends = tuple(job_end(result, landed) for result in worked.results)
    notes = Counter({each.name: each.count for each in leased.notes})
    notes["duplicate"] += sum(each.reason == "duplicate" for each in landed.dropped)
    notes["foreign_aliases"] += sum(
        foreign(each.verdict.draft, each.pack)
        for result in worked.results
        for each in result.judged
    )
    failed = all(end.state == "failed" for end in ends)
    return CycleRecord(
        cycle_id=leased.cycle_id,
        generation=leased.generation,
        trigger=leased.ask.caller.trigger,
        gate=leased.gate,
        leased_seq=leased.leased_seq,
        started_at=leased.started_at,
        ended_at=now,
        outcome="interrupted" if worked.interrupted else "failed" if failed else "landed",
        jobs=ends,
        hypotheses=landed.hypotheses,
        parked=landed.parked,
        calls=worked.calls,
        notes=counts(notes),
        next_action="clew hypotheses" if landed.hypotheses else "clew scout",
    )


def job_end(result: Result, landed: Sorted) -> JobEnd:
    """How one job ended: what of it was accepted, parked, rejected by which check."""
    job = result.unit.job
    accepted = sum(edge.job_id == job.job_id for edge in landed.hypotheses)
    parked = sum(each.hypothesis.job_id == job.job_id for each in landed.parked)
    dropped = Counter(each.reason for each in landed.dropped if each.job_id == job.job_id)
    duplicates = dropped.pop("duplicate", 0)
    empty = "duplicate" if duplicates else "rejected" if dropped else "no_draft"
    state: Literal["done", "parked", "failed"] = "parked" if parked and not accepted else "done"
    return JobEnd(
        job_id=job.job_id,
        function=job.function,
        focus=f"{job.focus_kind} {job.focus_id}",
        pack_id=job.pack_id,
        state="failed" if result.error else state,
        reason=result.error or ("accepted" if accepted else "parked" if parked else empty),
        accepted=accepted,
        parked=parked,
        rejected_drafts=sum(isinstance(each.verdict, Rejected) for each in result.judged),
        rejected=counts(dropped),
        advice=result.advice,
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


def why_nothing(worked: Worked, landed: Sorted, settings: DreamSettings) -> str:
    """The named reason of an empty dream cycle, the commonest failed check first."""
    if landed.hypotheses:
        return ""
    if landed.parked:
        names = Counter(name for each in landed.parked for name in each.failed)
        name = commonest(names)
        best = max(each.hypothesis.retention for each in landed.parked)
        missing = f" ({settings.retention_min - best:.2f} short)"
        return name + missing if name == "below_retention" else f"parked:{name}"
    dropped = Counter(each.reason for each in landed.dropped)
    if dropped:
        name = commonest(dropped)
        return name if name == "duplicate" else f"rejected:{name}"
    return next((result.error for result in worked.results if result.error), "no_draft")


def commonest(names: Counter[str]) -> str:
    """The most frequent name, the first in the alphabet of several."""
    return min(names, key=lambda name: (-names[name], name))
