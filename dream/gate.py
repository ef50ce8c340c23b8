"""The gate: nine conditions, cheapest first, each with its value and the distance to open.

A manual run skips what only paces schedules; scheduled triggers are judged by the same table.
"""

from datetime import datetime, timedelta
from typing import Literal, TypeAlias

from dream.lock import Held
from dream.settings import DreamSettings
from graphstore.model.base import Instant, Value
from graphstore.model.job import Stamps
from graphstore.model.record import GateLine

Trigger: TypeAlias = Literal["manual", "hook", "timer"]
SKIPPED_BY_HAND = ("backoff", "window", "min_hours", "changed_threads", "idle")


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
    outcome: Literal["closed"] = "closed"
    condition: str
    lines: tuple[GateLine, ...]


def gate(state: GateState, settings: DreamSettings, now: datetime) -> Open | Closed:
    """Evaluate the conditions that need no lock, in order, up to the first closed one."""
    lines: list[GateLine] = []
    for check in (enabled, sub_agent):
        lines.append(check(state, settings))
        if lines[-1].result == "closed":
            return Closed(condition=lines[-1].name, lines=tuple(lines))
    lines += [skipped(name) for name in SKIPPED_BY_HAND] if state.trigger == "manual" else []
    if state.trigger != "manual":
        lines.append(scheduled(state, settings, now))
        if lines[-1].result == "closed":
            return Closed(condition=lines[-1].name, lines=tuple(lines))
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


def skipped(name: str) -> GateLine:
    """A condition that does not apply to this trigger."""
    return GateLine(name=name, result="skipped", value="", required="", distance="")


def enabled(state: GateState, settings: DreamSettings) -> GateLine:
    """Dreaming is on; the timer needs a schedule too."""
    scheduled_on = state.trigger != "timer" or settings.schedule != "off"
    return line(
        "enabled",
        is_open=settings.enabled and scheduled_on,
        value=str(settings.enabled).lower(),
        required="true",
        distance="set dream.enabled = true" if scheduled_on else "set dream.schedule = idle",
    )


def sub_agent(state: GateState, settings: DreamSettings) -> GateLine:
    """A sub-agent never dreams."""
    del settings
    return line(
        "sub_agent",
        is_open=not state.is_sub_agent,
        value=str(state.is_sub_agent).lower(),
        required="false",
        distance="never for this caller",
    )


def scheduled(state: GateState, settings: DreamSettings, now: datetime) -> GateLine:
    """At least ``min_hours`` since the last success; exactly that long is open."""
    wait = timedelta(hours=settings.min_hours)
    due = state.last_success is None or now - state.last_success >= wait
    left = "" if due or state.last_success is None else str(state.last_success + wait - now)
    return line(
        "min_hours",
        is_open=due,
        value=state.last_success.isoformat() if state.last_success else "never",
        required=f"{settings.min_hours:g} h ago",
        distance=left,
    )


def locked(held: Held | None) -> GateLine:
    """The dream lock is free."""
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
