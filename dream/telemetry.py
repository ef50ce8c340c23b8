"""What became of what retention kept and dropped: counted on this machine, shown, tuning nothing.

Events carry no word and no id of the store: a hash, names of rules, and buckets of components.
"""

from collections import Counter
from collections.abc import Iterable
from typing import Final, Literal, TypeAlias, get_args

from dream import policies
from graphstore import ids
from graphstore.model.base import Value
from graphstore.model.hypothesis import LIVE, Hypothesis, HypothesisState
from graphstore.model.record import Count, CycleRecord

Outcome: TypeAlias = Literal[
    "matched",
    "delivered",
    "used_quietly",
    "source_reopened",
    "ignored",
    "corrected",
    "later_supported",
    "later_refuted",
    "expired_unused",
]
Decision: TypeAlias = Literal["retained", "dropped"]
DROPPED: Final = "below_retention"
BUCKETS: Final = ((0.15, "very_low"), (0.4, "low"), (0.7, "medium"), (0.9, "high"))
"""Upper ends, not included; what is above all of them is very high."""


class Event(Value):
    """One hypothesis or dropped draft, and what became of it."""

    key: str
    """Hash of its id."""
    function: str
    rule: str
    outcome: Outcome
    decision: Decision
    coefficients: str
    components: tuple[tuple[str, str], ...]
    """(component, bucket), sorted."""


def events(cycles: Iterable[CycleRecord], known: Iterable[Hypothesis]) -> tuple[Event, ...]:
    """An event for every hypothesis, and for every draft that retention dropped, by key."""
    dropped = {
        draft.hypothesis.hypothesis_id: draft.hypothesis
        for cycle in cycles
        for draft in cycle.parked
        if DROPPED in draft.failed
    }
    now = {one.hypothesis_id: one for one in known}
    every: dict[str, Hypothesis] = {**dropped, **now}
    found = (
        event(one, "dropped" if name in dropped else "retained") for name, one in every.items()
    )
    return tuple(sorted(found, key=lambda each: each.key))


def event(one: Hypothesis, decision: Decision) -> Event:
    """What became of one."""
    parts = policies.recorded(one.extras)
    return Event(
        key=ids.digest("telemetry", one.hypothesis_id),
        function=one.function,
        rule=one.rule,
        outcome=known_outcome(outcome(one)),
        decision=decision,
        coefficients=one.coefficients,
        components=tuple(sorted((name, bucket(part)) for name, part in parts.items())),
    )


def outcome(one: Hypothesis) -> str:
    """The last thing that happened to it, by its state and what was heard."""
    if one.state is HypothesisState.REFUTED:
        return "corrected" if one.closed_reason == "owner" else "later_refuted"
    if one.confirmations:
        return "later_supported"
    if one.state is HypothesisState.EXPIRED:
        return "expired_unused"
    return "delivered" if one.state in LIVE else one.state.value


def known_outcome(name: str) -> Outcome:
    """A name of the list; any other counts as ignored."""
    return next((each for each in get_args(Outcome) if each == name), "ignored")


def bucket(part: float) -> str:
    """How high a component is, in five steps."""
    return next((name for upto, name in BUCKETS if part < upto), "very_high")


def signals(found: Iterable[Event]) -> tuple[Count, ...]:
    """Where retention seems to have kept or dropped the wrong things; nothing acts on them."""
    counts: Counter[str] = Counter()
    for each in found:
        kept = each.decision == "retained"
        counts["retained_unused"] += kept and each.outcome in ("delivered", "ignored")
        counts["dropped_later_useful"] += not kept and each.outcome == "later_supported"
        counts["retained_later_refuted"] += kept and each.outcome in ("later_refuted", "corrected")
        counts["expired_unused"] += each.outcome == "expired_unused"
    return tuple(Count(name=name, count=counts[name]) for name in sorted(counts))
