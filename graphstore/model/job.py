"""Units of dream work as the queue keeps them; they can be planned again if lost."""

from enum import StrEnum
from typing import Literal

from graphstore.model.base import Instant, Value


class JobState(StrEnum):
    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    PARKED = "parked"
    FAILED = "failed"
    EXPIRED = "expired"


class Job(Value):
    """One function on one focus. The id is semantic: function, focus, refs."""

    job_id: str
    function: str
    focus_kind: str
    focus_id: str
    pack_id: str
    family: str
    provenance: str
    """computed or annotated."""
    priority: int
    state: JobState = JobState.QUEUED
    attempts: int = 0
    created_at: Instant
    not_before: Instant
    expires_at: Instant
    lease_until: Instant | None = None
    last_reason: str = ""


class Duplicate(Value):
    """A job was not put because its work is there already."""

    outcome: Literal["duplicate"] = "duplicate"
    reason: Literal["existing_job", "existing_hypothesis", "existing_parked", "queue_full"]


class Stamps(Value):
    """When dreaming was last tried, and how often it failed since."""

    generation: int = 0
    """Advanced by every lease; a landing with an older one is refused."""
    last_attempt: Instant | None = None
    failures: int = 0
    nothing_due_at: Instant | None = None
    """When a look found nothing to do; null once something was."""
