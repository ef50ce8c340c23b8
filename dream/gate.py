"""The gate: nine conditions, cheapest first, each with its value and the distance to open.

A scheduled look stops at the first closed condition, so that a closed gate reads as little as it
can. A run by hand skips the conditions that only pace schedules. An owner who never rests, or
seldom comes, is not starved: after a day the conditions that wait for quiet are waived.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, time, timedelta
from math import ceil, exp
from typing import Final, Literal, Protocol, TypeAlias
from zoneinfo import ZoneInfo

from dream.lock import Held
from dream.settings import DreamSettings
from graphstore.model.base import Value
from graphstore.model.job import Stamps
from graphstore.model.record import GateLine

Trigger: TypeAlias = Literal["manual", "hook", "timer"]
BACKOFF: Final = timedelta(minutes=15)
BACKOFF_MOST: Final = timedelta(hours=6)
EMPTY_REST: Final = timedelta(hours=1)
"""Rest after a look that found nothing due."""
NONE: Final = timedelta(0)


class Caller(Value):
    """Who asks for a dream cycle."""

    trigger: Trigger = "manual"
    is_sub_agent: bool = False
    thread_id: str = ""
    """Its own conversation, which a scheduled look does not count."""


class Pressure(Value):
    """What makes dreaming urgent, and what stands against it."""

    due_jobs: int = 0
    new_corrections: int = 0
    """Since the position that the last success leased."""
    salience: float = 0.0
    """Mean salience of the questions of changed threads, 0 to 1."""
    validation_rate: float | None = None
    """Of the hypotheses judged last; null when none was."""
    clean_turns: int = 0
    budget_left: float = 1.0
    """Share of the day's model budget; 1 without a model."""
    is_importing: bool = False


class Budget(Value):
    """What is left of the day for a model."""

    model: str | None = None
    """Its name; null where rules dream alone."""
    calls_left: int = 0
    tokens_left: int = 0


class Facts(Protocol):
    """What the gate may look at. Each is read when a condition asks for it, not before."""

    def stamps(self) -> Stamps:
        """Attempts and failures."""

    def last_success(self) -> datetime | None:
        """End of the newest dream cycle that came to something."""

    def first_thread(self) -> datetime | None:
        """When the first thread was taken in."""

    def changed_threads(self) -> int:
        """Threads with clean turns since the last success leased, but for the caller's own."""

    def last_activity(self) -> datetime | None:
        """Newest turn outside the caller's own thread, or newest recall."""

    def pressure(self) -> Pressure:
        """What urgency is made of."""

    def held(self) -> Held | None:
        """Who else has the dream lock; takes it for the caller if nobody has."""

    def budget(self) -> Budget:
        """What a model may still cost today."""


class Open(Value):
    outcome: Literal["open"] = "open"
    lines: tuple[GateLine, ...]


class Closed(Value):
    """The first closed condition; a scheduled look ended there."""

    outcome: Literal["closed"] = "closed"
    condition: str
    lines: tuple[GateLine, ...]


@dataclass(frozen=True, slots=True)
class Look:
    """One look at the gate."""

    facts: Facts
    caller: Caller
    settings: DreamSettings
    now: datetime


Condition: TypeAlias = Callable[[Look], GateLine]


def gate(look: Look, *, every: bool = False) -> Open | Closed:
    """Evaluate the conditions in order, up to the first closed one, or all of them."""
    lines: list[GateLine] = []
    for condition in CONDITIONS:
        lines.append(judged(condition, look))
        if lines[-1].result == "closed" and not every:
            break
    closed = next((each.name for each in lines if each.result == "closed"), None)
    if closed is None:
        return Open(lines=tuple(lines))
    return Closed(condition=closed, lines=tuple(lines))


def judged(condition: Condition, look: Look) -> GateLine:
    """One condition for this caller: skipped by hand, waived where waiting would starve."""
    name = condition.__name__
    if look.caller.trigger == "manual" and condition in PACING:
        return GateLine(name=name, result="skipped", value="", required="", distance="")
    found = condition(look)
    if found.result == "closed" and condition in WAIVED_BY_STARVATION and starved(look):
        return found.replace(result="waived")
    return found


def line(name: str, *, is_open: bool, value: str, required: str, distance: str = "") -> GateLine:
    """One evaluated condition."""
    return GateLine(
        name=name,
        result="open" if is_open else "closed",
        value=value,
        required=required,
        distance="" if is_open else distance,
    )


def enabled(look: Look) -> GateLine:
    """Dreaming is on; the timer needs a schedule too."""
    settings, timer = look.settings, look.caller.trigger == "timer"
    return line(
        "enabled",
        is_open=settings.enabled and not (timer and settings.schedule == "off"),
        value=f"enabled {str(settings.enabled).lower()}, schedule {settings.schedule}",
        required="enabled true, a schedule" if timer else "enabled true",
        distance="set dream.schedule" if settings.enabled else "set dream.enabled to true",
    )


def sub_agent(look: Look) -> GateLine:
    """A sub-agent never dreams."""
    return line(
        "sub_agent",
        is_open=not look.caller.is_sub_agent,
        value=str(look.caller.is_sub_agent).lower(),
        required="false",
        distance="never for this caller",
    )


def backoff(look: Look) -> GateLine:
    """After n failures 15 minutes x 2^n, at most six hours; an hour after nothing was due."""
    stamps = look.facts.stamps()
    wait = min(BACKOFF * 2 ** min(stamps.failures, 10), BACKOFF_MOST)
    failed = stamps.last_attempt if stamps.failures else None
    left = max(
        left_of(failed, wait, look.now), left_of(stamps.nothing_due_at, EMPTY_REST, look.now)
    )
    return line(
        "backoff",
        is_open=left <= NONE,
        value=f"{stamps.failures} failures",
        required="no failure or empty look lately",
        distance=told(left),
    )


def left_of(since: datetime | None, wait: timedelta, now: datetime) -> timedelta:
    """What is left of a wait; none without a beginning."""
    return NONE if since is None else since + wait - now


def told(left: timedelta) -> str:
    """A wait in whole seconds, the last one begun counted whole."""
    return str(timedelta(seconds=ceil(left.total_seconds())))


def window(look: Look) -> GateLine:
    """A schedule of hours keeps to them, by the clock of its zone."""
    settings, clock = look.settings, local(look)
    start, end = (time.fromisoformat(part) for part in settings.window.split("-"))
    at = clock.time().replace(tzinfo=None)
    inside = start <= at < end if start <= end else at >= start or at < end
    return line(
        "window",
        is_open=settings.schedule != "window" or inside,
        value=f"{at:%H:%M}",
        required=settings.window if settings.schedule == "window" else "any hour",
        distance=told(until(start, clock)),
    )


def local(look: Look) -> datetime:
    """Now in the zone of the window."""
    zone = look.settings.time_zone
    return look.now.astimezone(None if zone == "local" else ZoneInfo(zone))


def until(start: time, clock: datetime) -> timedelta:
    """From a clock to the next time of day, by the hands alone."""
    here = clock.replace(tzinfo=None)
    today = datetime.combine(here.date(), start)
    return today - here if today >= here else today + timedelta(days=1) - here


def min_hours(look: Look) -> GateLine:
    """So long since the last success, to the second; urgency waives it after an hour."""
    last = look.facts.last_success()
    left = left_of(last, timedelta(hours=look.settings.min_hours), look.now)
    found = line(
        "min_hours",
        is_open=left <= NONE,
        value="never" if last is None else last.isoformat(timespec="seconds"),
        required=f"{look.settings.min_hours:g} h ago",
        distance=told(left),
    )
    rested = last is not None and look.now - last >= EMPTY_REST
    if found.result == "closed" and rested and urgent(look):
        return found.replace(result="waived")
    return found


def changed_threads(look: Look) -> GateLine:
    """Enough threads got words since the last success."""
    found, least = look.facts.changed_threads(), look.settings.min_changed_threads
    return line(
        "changed_threads",
        is_open=found >= least,
        value=str(found),
        required=str(least),
        distance=f"{least - found} more",
    )


def idle(look: Look) -> GateLine:
    """Nobody wrote or asked for a while."""
    last = look.facts.last_activity()
    left = left_of(last, timedelta(minutes=look.settings.idle_minutes), look.now)
    return line(
        "idle",
        is_open=left <= NONE,
        value="never" if last is None else last.isoformat(timespec="seconds"),
        required=f"{look.settings.idle_minutes} min of quiet",
        distance=told(left),
    )


def lock(look: Look) -> GateLine:
    """The dream lock is free, or whose it is."""
    held = look.facts.held()
    named = "free" if held is None else holder_named(held, look)
    return line("lock", is_open=held is None, value=named, required="free", distance=named)


def holder_named(held: Held, look: Look) -> str:
    """Who has the lock, and whether for too long."""
    who = held.holder
    if who is None:
        return "another process"
    overdue = (look.now - who.since).total_seconds() > look.settings.overdue_after_seconds
    since = f"pid {who.pid} on {who.host} since {who.since.isoformat(timespec='seconds')}"
    return f"{since}, overdue" if overdue else since


def budget(look: Look) -> GateLine:
    """Something is left for a model, or rules may dream alone."""
    left, mode = look.facts.budget(), look.settings.mode
    spent = left.calls_left <= 0 or left.tokens_left <= 0
    by_rules = mode == "deterministic" or left.model is None or spent
    if mode == "deterministic" or left.model is None:
        value = "rules only"
    else:
        value = "used up, rules only" if spent else f"{left.calls_left} calls left today"
    return line(
        "budget",
        is_open=mode != "model_required" or not by_rules,
        value=value,
        required="a model" if mode == "model_required" else "none",
        distance="set llm.model" if left.model is None else "until tomorrow",
    )


def starved(look: Look) -> bool:
    """A day without success while at least one thread changed."""
    since = look.facts.last_success() or look.facts.first_thread()
    if since is None or look.now - since < timedelta(hours=look.settings.starvation_hours):
        return False
    return look.facts.changed_threads() >= 1


def urgent(look: Look) -> bool:
    """Whether urgency opens early; sooner where few hypotheses held."""
    pressure, settings = look.facts.pressure(), look.settings
    rate = pressure.validation_rate
    unsure = rate is not None and rate < UNSURE
    return urgency(look) >= (settings.urgency_open_uncertain if unsure else settings.urgency_open)


UNSURE: Final = 0.5
TURNS: Final = 50
BUDGET: Final = 0.15
"""Clean turns and share of the model budget below which dreaming is less urgent."""


def urgency(look: Look) -> float:
    """How much there is to dream about, 0 to 1, rounded to 6 decimals."""
    at, last = look.facts.pressure(), look.facts.last_success()
    hours = 0.0 if last is None else (look.now - last).total_seconds() / 3600
    unmet = (at.clean_turns < TURNS) + (at.budget_left < BUDGET) + at.is_importing
    total = (
        0.25 * min(look.facts.changed_threads() / 10, 1)
        + 0.20 * min(at.due_jobs / 20, 1)
        + 0.20 * min(at.new_corrections / 5, 1)
        + 0.15 * at.salience
        + 0.10 * (1 - (UNSURE if at.validation_rate is None else at.validation_rate))
        + 0.10 / (1 + exp(-(hours - 24) / 12))
        - 0.1 * unmet
    )
    return round(min(max(total, 0.0), 1.0), 6)


CONDITIONS: Final[tuple[Condition, ...]] = (
    enabled,
    sub_agent,
    backoff,
    window,
    min_hours,
    changed_threads,
    idle,
    lock,
    budget,
)
PACING: Final = frozenset({backoff, window, min_hours, changed_threads, idle})
"""They pace schedules; a manual run skips them."""
WAIVED_BY_STARVATION: Final = frozenset({window, changed_threads, idle})
