"""Which work is put in the queue, in which order it is taken, and when it is tried again."""

from collections.abc import Collection
from datetime import datetime, timedelta
from typing import Final

from dream.functions import place
from dream.model import Pack
from dream.settings import QueueSettings
from graphstore import ids
from graphstore.jobs import Jobs
from graphstore.model.job import Duplicate, Job, JobState

FAMILIES: Final = {
    "operator": 90,
    "correction": 70,
    "recall_miss": 65,
    "journey_frontier": 60,
    "topic_residue": 45,
    "ready_pack": 40,
    "other": 30,
    "periodic": 20,
}
HASTE: Final = 8
ASKED_FOR: Final = frozenset({"operator", "correction", "recall_miss"})
BACKOFF_MINUTES: Final = 15
REMEMBERED: Final = timedelta(days=1)
"""So long the attempts of a failed job count when its evidence comes again."""
BY_HAND: Final = 64
OUTDATED: Final = "evidence changed"
"""Why a queued job gave way to one of the same focus."""
UNSURE, SURE = 0.5, 0.7
"""Validation rates between which a scheduled dream cycle takes ten jobs."""


def priority(family: str, function: str) -> int:
    """By trigger family, a little less for the later functions."""
    return FAMILIES[family] - place(function)


def haste(pack: Pack, function: str) -> int:
    """More for what a slowing Journey is missing; never where somebody asked or corrected."""
    slowing = any(
        one.is_slowing and one.journey_id == pack.focus.id and function == "compensatory"
        for one in pack.journeys
    )
    return HASTE if slowing and pack.focus.family not in ASKED_FOR else 0


def job_id(pack: Pack, function: str) -> str:
    """Semantic key: the same function on the same ground is the same job."""
    refs = tuple(sorted(turn.ref for turn in pack.turns))
    return "job:" + ids.digest(function, pack.focus.kind, pack.focus.id, refs)


def job_of(pack: Pack, function: str, settings: QueueSettings, now: datetime) -> Job:
    """A queued job for a function on a pack."""
    return Job(
        job_id=job_id(pack, function),
        function=function,
        focus_kind=pack.focus.kind,
        focus_id=pack.focus.id,
        pack_id=pack.pack_id,
        family=pack.focus.family,
        provenance=pack.focus.provenance,
        priority=priority(pack.focus.family, function) + haste(pack, function),
        created_at=now,
        not_before=now + timedelta(hours=settings.not_before_hours),
        expires_at=now + timedelta(hours=settings.expires_hours),
    )


def considered(
    pack: Pack,
    function: str,
    known: Job | None,
    settings: QueueSettings,
    now: datetime,
    parked: Collection[tuple[str, str]] = (),
) -> Job | Duplicate:
    """The job that a pack gives, unless its work is there already; writes nothing.

    ``parked`` holds (pack id, function) of parked drafts that still wait.
    """
    if known is not None and suppresses(known, now):
        return Duplicate(reason="existing_job")
    if all_stand(pack, function):
        return Duplicate(reason="existing_hypothesis")
    if (pack.pack_id, function) in parked:
        return Duplicate(reason="existing_parked")
    fresh = job_of(pack, function, settings, now)
    failed = known is not None and known.state is JobState.FAILED
    if known is not None and failed and now - known.created_at < REMEMBERED:
        return fresh.replace(attempts=known.attempts)
    return fresh


def suppresses(known: Job, now: datetime) -> bool:
    """Queued and running work, and work that ended and is not past its date."""
    if known.state in (JobState.QUEUED, JobState.RUNNING):
        return True
    return known.state in (JobState.DONE, JobState.PARKED) and known.expires_at > now


def all_stand(pack: Pack, function: str) -> bool:
    """Whether every pair of a pack has a live hypothesis of the function."""
    live = {(each.src, each.dst) for each in pack.neighbours if each.function == function}
    return all((pair.src, pair.dst) in live for pair in pack.pairs)


def put(
    pack: Pack,
    function: str,
    jobs: Jobs,
    settings: QueueSettings,
    now: datetime,
    parked: Collection[tuple[str, str]] = (),
) -> Job | Duplicate:
    """Enqueue a pack for a function; in a full queue the lowest priority is refused.

    A queued job of the same focus, whose evidence has changed meanwhile, gives its place and its
    date to the new one: what grows every day would else rest for ever.
    """
    known = jobs.get(job_id(pack, function))
    job = considered(pack, function, known, settings, now, parked)
    if isinstance(job, Duplicate):
        return job
    queued = jobs.all(JobState.QUEUED)
    outdated = [each for each in queued if same_work(each, job)]
    if outdated:
        since = min(each.not_before for each in outdated)
        job = job.replace(not_before=min(since, job.not_before))
        gone = (each.replace(state=JobState.EXPIRED, last_reason=OUTDATED) for each in outdated)
        jobs.put((job, *gone))
        return job
    if len(queued) < settings.cap:
        jobs.put((job,))
        return job
    lowest = max(queued, key=order)
    if order(job) > order(lowest):
        return Duplicate(reason="queue_full")
    jobs.put((job, lowest.replace(state=JobState.EXPIRED, last_reason="queue_full")))
    return job


def same_work(one: Job, other: Job) -> bool:
    """Whether two jobs put the same function to the same focus, on whatever evidence."""
    return (one.function, one.focus_kind, one.focus_id) == (
        other.function,
        other.focus_kind,
        other.focus_id,
    )


def order(job: Job) -> tuple[int, bool, int, str]:
    """Sort key: priority, computed before annotated, function order, id."""
    return (-job.priority, job.provenance != "computed", place(job.function), job.job_id)


def due(jobs: Jobs, now: datetime, *, by_hand: bool) -> tuple[Job, ...]:
    """Queued jobs that may run now, the most urgent first; by hand all of them."""
    queued = jobs.all(JobState.QUEUED)
    return tuple(sorted((job for job in queued if by_hand or job.not_before <= now), key=order))


def allowance(validation_rate: float | None, *, by_hand: bool) -> int:
    """Jobs of one dream cycle: by hand 64, else the more the less its hypotheses hold."""
    if by_hand:
        return BY_HAND
    if validation_rate is None or UNSURE <= validation_rate < SURE:
        return 10
    return 15 if validation_rate < UNSURE else 5


def swept(jobs: Jobs, settings: QueueSettings, now: datetime) -> tuple[Job, ...]:
    """Jobs whose lease ran out or whose date passed, as they must become; written back."""
    changed = []
    for job in jobs.all(JobState.QUEUED, JobState.RUNNING):
        if job.state is JobState.RUNNING and (job.lease_until is None or job.lease_until <= now):
            changed.append(retried(job, settings, "lease ran out", now))
        elif job.state is JobState.QUEUED and job.expires_at <= now:
            changed.append(job.replace(state=JobState.EXPIRED, last_reason="expired"))
    jobs.put(changed)
    return tuple(changed)


def retried(job: Job, settings: QueueSettings, reason: str, now: datetime) -> Job:
    """A job that failed: queued again with growing distance, buried after the last attempt."""
    attempts = job.attempts + 1
    buried = attempts >= settings.max_attempts
    return job.replace(
        state=JobState.FAILED if buried else JobState.QUEUED,
        attempts=attempts,
        not_before=now + timedelta(minutes=BACKOFF_MINUTES * 2**attempts),
        lease_until=None,
        last_reason=reason,
    )
