"""Which work is put in the queue, in which order it is taken, and when it is tried again."""

from collections.abc import Collection
from datetime import datetime, timedelta
from typing import Final

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
FUNCTIONS: Final = ("compensatory", "amplification", "prospective", "active_imagination")
BACKOFF_MINUTES: Final = 15


def priority(family: str, function: str) -> int:
    """By trigger family, a little less for the later functions."""
    return FAMILIES[family] - FUNCTIONS.index(function)


def job_id(pack: Pack, function: str) -> str:
    """Semantic key: the same function on the same ground is the same job."""
    refs = sorted(turn.ref for turn in pack.turns)
    return "job:" + ids.digest(function, pack.focus.kind, pack.focus.id, refs)


def put(
    pack: Pack,
    function: str,
    jobs: Jobs,
    settings: QueueSettings,
    now: datetime,
    parked: Collection[str] = (),
) -> Job | Duplicate:
    """Enqueue a pack for a function, unless that work is there already or the queue is full.

    ``parked`` holds the pack ids of unchanged parked drafts.
    """
    key = job_id(pack, function)
    known = jobs.get(key)
    if known is not None and suppresses(known, now):
        return Duplicate(reason="existing_job")
    if pack.pack_id in parked:
        return Duplicate(reason="existing_parked")
    if len(jobs.all(JobState.QUEUED)) >= settings.cap:
        return Duplicate(reason="queue_full")
    recent = (
        known is not None
        and known.state is JobState.FAILED
        and now - known.created_at < timedelta(days=1)
    )
    job = Job(
        job_id=key,
        function=function,
        focus_kind=pack.focus.kind,
        focus_id=pack.focus.id,
        pack_id=pack.pack_id,
        family=pack.focus.family,
        provenance=pack.focus.provenance,
        priority=priority(pack.focus.family, function),
        attempts=known.attempts if known is not None and recent else 0,
        created_at=now,
        not_before=now + timedelta(hours=settings.not_before_hours),
        expires_at=now + timedelta(hours=settings.expires_hours),
    )
    jobs.put((job,))
    return job


def suppresses(known: Job, now: datetime) -> bool:
    """Queued and running work, and work that ended and is not past its date."""
    if known.state in (JobState.QUEUED, JobState.RUNNING):
        return True
    return known.state in (JobState.DONE, JobState.PARKED) and known.expires_at > now


def order(job: Job) -> tuple[int, bool, int, str]:
    """Sort key: priority, computed before annotated, function order, id."""
    return (-job.priority, job.provenance != "computed", FUNCTIONS.index(job.function), job.job_id)


def due(jobs: Jobs, now: datetime, *, by_hand: bool) -> tuple[Job, ...]:
    """Queued jobs that may run now, the most urgent first; by hand all of them."""
    queued = jobs.all(JobState.QUEUED)
    return tuple(sorted((job for job in queued if by_hand or job.not_before <= now), key=order))


def swept(jobs: Jobs, settings: QueueSettings, now: datetime) -> tuple[Job, ...]:
    """Jobs whose lease ran out or whose date passed, as they must become; written back."""
    changed = []
    for job in jobs.all(JobState.QUEUED, JobState.RUNNING):
        if job.state is JobState.RUNNING and job.lease_until is not None and job.lease_until <= now:
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
