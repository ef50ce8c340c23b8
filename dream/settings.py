"""Settings of the dream layer, each with its allowed range."""

from datetime import time
from typing import Annotated, Final, Literal
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import AfterValidator, Field

from graphstore.model.base import Value

Share = Annotated[float, Field(ge=0, le=1)]
Hours = Annotated[float, Field(ge=0, le=8760)]
ADVICE: Final = 20
"""The mark of a rule that advises; the others name patterns."""


def known_zone(name: str) -> str:
    """A time zone by name, or ``local``; raises ValueError for another word."""
    if name != "local":
        try:
            ZoneInfo(name)
        except (ZoneInfoNotFoundError, ValueError):
            raise ValueError("a time zone, for example Europe/Paris, or local") from None
    return name


def known_hours(span: str) -> str:
    """Two times of day; raises ValueError where a clock shows no such time."""
    for each in span.split("-"):
        time.fromisoformat(each)
    return span


class PackSettings(Value):
    max_refs: Annotated[int, Field(ge=2, le=64)] = 24
    """Turns in a pack."""
    max_counter: Annotated[int, Field(ge=0, le=32)] = 8
    """Turns in a pack that speak against."""
    max_characters: Annotated[int, Field(ge=1000, le=200_000)] = 32_000
    """Characters in a pack."""
    min_threads: Annotated[int, Field(ge=2, le=10)] = 2
    """Lineages that make a pack ready."""


class QueueSettings(Value):
    cap: Annotated[int, Field(ge=1, le=1000)] = 64
    """Queued jobs at most."""
    not_before_hours: Hours = 24
    """Rest of a finished job before it may come again."""
    expires_hours: Hours = 168
    """A queued job expires after this long."""
    lease_minutes: Annotated[int, Field(ge=1, le=1440)] = 30
    """A leased job goes back after this long."""
    max_attempts: Annotated[int, Field(ge=1, le=10)] = 3
    """Failures after which a job is given up."""


class ModelSettings(Value):
    """What a model may cost; none is used unless ``llm.model`` is set."""

    calls_per_job: Annotated[int, Field(ge=1, le=8)] = 1
    """Answers asked for of one pack; a repair and what was not answered come on top."""
    samples: Annotated[int, Field(ge=1, le=8)] = 1
    """Times that the same pack is put, within the calls of a job."""
    timeout_seconds: Annotated[float, Field(ge=0.1, le=3600)] = 180
    """How long a model may take to answer."""
    jobs_per_cycle: Annotated[int, Field(ge=0, le=64)] = 1
    """Jobs of a dream cycle that a model works on; rules do the others."""
    calls_per_day: Annotated[int, Field(ge=0, le=10_000)] = 20
    """Calls of a day (UTC), those without an answer included."""
    tokens_per_day: Annotated[int, Field(ge=0, le=1_000_000_000)] = 400_000
    """Tokens of a day, as far as the endpoint tells them."""
    output_characters: Annotated[int, Field(ge=100, le=1_000_000)] = 16_000
    """A longer answer is not used."""
    retries: Annotated[int, Field(ge=0, le=5)] = 2
    """How often a call is made again that met a passing failure."""
    confidence_floor: Share = 0.55
    """Least confidence that a model may declare."""
    confidence_cap: Share = 0.86
    """Most confidence that a model may declare."""
    calls_kept_days: Annotated[int, Field(ge=1, le=3650)] = 30
    """What was sent and received is kept this long."""


class LadderSettings(Value):
    """Confidence in points, 0 to 98."""

    start_advice: Annotated[int, Field(ge=1, le=98)] = 20
    """Points of an accepted draft that advises."""
    start_pattern: Annotated[int, Field(ge=1, le=98)] = 30
    """Points of an accepted draft that names a pattern."""
    up: Annotated[int, Field(ge=1, le=98)] = 10
    """Points for a confirmation."""
    down: Annotated[int, Field(ge=1, le=98)] = 5
    """Points for a contradiction."""
    validated: Annotated[int, Field(ge=1, le=98)] = 50
    """Points of a validated hypothesis."""
    applied: Annotated[int, Field(ge=1, le=98)] = 70
    """Points of an applied one: nothing is applied yet, the distance is told."""
    refuted: Annotated[int, Field(ge=0, le=98)] = 10
    """Points below which one is refuted."""

    def start(self, kind: Literal[20, 30]) -> int:
        """Points that a draft begins with; rules mark advice by 20, patterns by 30."""
        return self.start_advice if kind == ADVICE else self.start_pattern


class DreamSettings(Value):
    enabled: bool = True
    """Off: no dream cycle runs."""
    schedule: Literal["off", "idle", "window"] = "off"
    """When ``clew ingest --follow`` may dream: never, in quiet, or in the hours of the window."""
    window: Annotated[str, Field(pattern=r"^\d\d:\d\d-\d\d:\d\d$"), AfterValidator(known_hours)] = (
        "02:00-05:00"
    )
    """Hours of scheduled dreaming."""
    time_zone: Annotated[str, AfterValidator(known_zone)] = "local"
    """Time zone of the window."""
    check_interval_seconds: Annotated[int, Field(ge=0, le=86_400)] = 3600
    """How often ``clew ingest --follow`` looks whether it is time to dream; 0 is never."""
    min_hours: Hours = 4
    """Hours between scheduled dream cycles."""
    min_changed_threads: Annotated[int, Field(ge=0, le=1000)] = 3
    """Changed threads that a schedule waits for."""
    idle_minutes: Annotated[int, Field(ge=0, le=10_080)] = 30
    """Quiet that a schedule waits for."""
    starvation_hours: Hours = 24
    """A schedule waits for nothing after this long."""
    urgency_open: Share = 0.8
    """Urgency that opens a schedule early."""
    urgency_open_uncertain: Share = 0.6
    """The same, where few hypotheses held."""
    lock_wait_seconds: Annotated[float, Field(ge=0, le=3600)] = 10
    """How long to wait for another dream cycle."""
    overdue_after_seconds: Annotated[int, Field(ge=1, le=86_400)] = 3600
    """A dream cycle is called overdue after this long."""
    cycle_deadline_seconds: Annotated[int, Field(ge=1, le=86_400)] = 1800
    """Longest time of a dream cycle."""
    mode: Literal["auto", "deterministic", "model_required"] = "auto"
    """Whether a model must, may or must not be used."""
    pack: PackSettings = PackSettings()
    queue: QueueSettings = QueueSettings()
    ladder: LadderSettings = LadderSettings()
    model: ModelSettings = ModelSettings()
    drafts_per_job: Annotated[int, Field(ge=1, le=10)] = 3
    """Drafts kept of a job."""
    review_after_days: Annotated[int, Field(ge=1, le=365)] = 14
    """A hypothesis wants review after this long."""
    expires_after_days: Annotated[int, Field(ge=1, le=3650)] = 45
    """A hypothesis expires after this long."""
    retention_min: Share = 0.45
    """Drafts below are parked."""
    keep_best: Annotated[int, Field(ge=0, le=64)] = 3
    """Drafts kept all the same where a store has few hypotheses."""
    invitation_days: Annotated[int, Field(ge=1, le=90)] = 14
    """Life of an invitation."""
    parked_days: Annotated[int, Field(ge=1, le=365)] = 45
    """A parked draft waits this long."""
