"""The gate: nine conditions, cheapest first, each with its value and the distance to open.

A manual run skips those that only pace schedules. Of these, window, changed_threads and idle are
not evaluated yet and keep their place in ``CONDITIONS``; so does waiving by starvation.
"""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Final, Literal, TypeAlias

from dream.lock import Held
from dream.settings import DreamSettings
from graphstore.model.base import Instant, Value
from graphstore.model.job import Stamps
from graphstore.model.record import GateLine

Trigger: TypeAlias = Literal["manual", "hook", "timer"]
BACKOFF_MINUTES: Final = 15
BACKOFF_MOST: Final = timedelta(hours=6)


class GateState(Value):
    """What the gate looks at; read cheaply, without the graph."""

    trigger: Trigger
    is_sub_agent: bool = False
    stamps: Stamps = Stamps()
    last_success: Instant | None = None


class Open(Value):
    outcome: Literal["open"] = "open"
    lines: tuple[GateLine, ...]


class Closed(Value):
    """The first closed condition, after which nothing was looked at."""

    outcome: Literal["closed"] = "closed"
    condition: str
    lines: tuple[GateLine, ...]


Condition: TypeAlias = Callable[[GateState, DreamSettings, datetime], GateLine]


def gate(state: GateState, settings: DreamSettings, now: datetime) -> Open | Closed:
    """Evaluate the conditions in order, up to the first closed one.

    The lock is tried by the caller, who adds its line (``locked``).
    """
    lines: list[GateLine] = []
    for name, condition in CONDITIONS:
        if state.trigger == "manual" and name in PACING:
            lines.append(unjudged(name, "skipped"))
        elif condition is None:
            lines.append(unjudged(name, "not_evaluated"))
        else:
            lines.append(condition(state, settings, now))
        if lines[-1].result == "closed":
            return Closed(condition=name, lines=tuple(lines))
    return Open(lines=tuple(lines))


def line(name: str, *, is_open: bool, value: str, required: str, distance: str = "") -> GateLine:
    """One evaluated condition."""
    return GateLine(
        name=name,
        result="open" if is_open else "closed",
        value=value,
        required=required,
        distance="" if is_open else distance,
    )


def unjudged(name: str, result: Literal["skipped", "not_evaluated"]) -> GateLine:
    """A condition that does not apply to this trigger, or is not looked at yet."""
    return GateLine(name=name, result=result, value="", required="", distance="")


def enabled(state: GateState, settings: DreamSettings, now: datetime) -> GateLine:
    """Dreaming is on; the timer needs a schedule too."""
    del now
    by_schedule = state.trigger != "timer" or settings.schedule != "off"
    return line(
        "enabled",
        is_open=settings.enabled and by_schedule,
        value=f"enabled {str(settings.enabled).lower()}, schedule {settings.schedule}",
        required="enabled true" if state.trigger != "timer" else "enabled true, a schedule",
        distance="set dream.schedule" if settings.enabled else "set dream.enabled to true",
    )


def sub_agent(state: GateState, settings: DreamSettings, now: datetime) -> GateLine:
    """A sub-agent never dreams."""
    del settings, now
    return line(
        "sub_agent",
        is_open=not state.is_sub_agent,
        value=str(state.is_sub_agent).lower(),
        required="false",
        distance="never for this caller",
    )


def backoff(state: GateState, settings: DreamSettings, now: datetime) -> GateLine:
    """After n failures in a row, 15 minutes x 2^n since the last attempt, at most six hours."""
    del settings
    failures, last = state.stamps.failures, state.stamps.last_attempt
    wait = min(timedelta(minutes=BACKOFF_MINUTES) * 2 ** min(failures, 10), BACKOFF_MOST)
    left = last + wait - now if failures and last is not None else timedelta(0)
    return line(
        "backoff",
        is_open=left <= timedelta(0),
        value=f"{failures} failures",
        required=f"{wait} since the last attempt" if failures else "no failure",
        distance=str(left),
    )


def min_hours(state: GateState, settings: DreamSettings, now: datetime) -> GateLine:
    """At least so long since the last success; exactly that long is open."""
    last = state.last_success
    left = timedelta(0) if last is None else last + timedelta(hours=settings.min_hours) - now
    return line(
        "min_hours",
        is_open=left <= timedelta(0),
        value="never" if last is None else last.isoformat(),
        required=f"{settings.min_hours:g} h ago",
        distance=str(left),
    )


def budget(state: GateState, settings: DreamSettings, now: datetime) -> GateLine:
    """Without a model, rules dream; closed only where a model is demanded."""
    del state, now
    return line(
        "budget",
        is_open=settings.mode != "model_required",
        value="no model, rules only",
        required="a model" if settings.mode == "model_required" else "none",
        distance="set dream.mode to auto",
    )


def locked(held: Held | None) -> GateLine:
    """The dream lock is free, or whose it is."""
    who = held.holder if held else None
    named = (
        f"pid {who.pid} on {who.host} since {who.since.isoformat()}" if who else "another process"
    )
    return line(
        "lock",
        is_open=held is None,
        value=named if held else "free",
        required="free",
        distance=named,
    )


CONDITIONS: Final[tuple[tuple[str, Condition | None], ...]] = (
    ("enabled", enabled),
    ("sub_agent", sub_agent),
    ("backoff", backoff),
    ("window", None),
    ("min_hours", min_hours),
    ("changed_threads", None),
    ("idle", None),
    ("budget", budget),
)
PACING: Final = frozenset({"backoff", "window", "min_hours", "changed_threads", "idle"})
"""They pace schedules; a manual run skips them."""
