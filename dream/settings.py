"""Settings of the dream layer, each with its allowed range."""

from typing import Annotated, Literal

from pydantic import Field

from graphstore.model.base import Value

Share = Annotated[float, Field(ge=0, le=1)]
Hours = Annotated[float, Field(ge=0, le=8760)]


class PackSettings(Value):
    max_refs: Annotated[int, Field(ge=2, le=64)] = 24
    max_counter: Annotated[int, Field(ge=0, le=32)] = 8
    max_characters: Annotated[int, Field(ge=1000, le=200_000)] = 32_000
    min_threads: Annotated[int, Field(ge=2, le=10)] = 2


class QueueSettings(Value):
    cap: Annotated[int, Field(ge=1, le=1000)] = 64
    not_before_hours: Hours = 24
    expires_hours: Hours = 168
    lease_minutes: Annotated[int, Field(ge=1, le=1440)] = 30
    max_attempts: Annotated[int, Field(ge=1, le=10)] = 3


class LadderSettings(Value):
    """Confidence in points, 0 to 98."""

    start_advice: Annotated[int, Field(ge=1, le=98)] = 20
    start_pattern: Annotated[int, Field(ge=1, le=98)] = 30
    up: Annotated[int, Field(ge=1, le=98)] = 10
    down: Annotated[int, Field(ge=1, le=98)] = 5
    validated: Annotated[int, Field(ge=1, le=98)] = 50
    applied: Annotated[int, Field(ge=1, le=98)] = 70
    refuted: Annotated[int, Field(ge=0, le=98)] = 10


class DreamSettings(Value):
    enabled: bool = True
    schedule: Literal["off", "idle", "window"] = "off"
    window: Annotated[str, Field(pattern=r"^\d\d:\d\d-\d\d:\d\d$")] = "02:00-05:00"
    time_zone: str = "local"
    check_interval_seconds: Annotated[int, Field(ge=0, le=86_400)] = 3600
    min_hours: Hours = 4
    min_changed_threads: Annotated[int, Field(ge=0, le=1000)] = 3
    idle_minutes: Annotated[int, Field(ge=0, le=10_080)] = 30
    starvation_hours: Hours = 24
    urgency_open: Share = 0.8
    urgency_open_uncertain: Share = 0.6
    lock_wait_seconds: Annotated[float, Field(ge=0, le=3600)] = 10
    overdue_after_seconds: Annotated[int, Field(ge=1, le=86_400)] = 3600
    cycle_deadline_seconds: Annotated[int, Field(ge=1, le=86_400)] = 1800
    mode: Literal["auto", "deterministic", "model_required"] = "auto"
    pack: PackSettings = PackSettings()
    queue: QueueSettings = QueueSettings()
    ladder: LadderSettings = LadderSettings()
    drafts_per_job: Annotated[int, Field(ge=1, le=10)] = 3
    review_after_days: Annotated[int, Field(ge=1, le=365)] = 14
    expires_after_days: Annotated[int, Field(ge=1, le=3650)] = 45
    retention_min: Share = 0.45
    keep_best: Annotated[int, Field(ge=0, le=64)] = 3
    activation_budget_min: Share = 0.35
    invitation_days: Annotated[int, Field(ge=1, le=90)] = 14
    parked_days: Annotated[int, Field(ge=1, le=365)] = 45
