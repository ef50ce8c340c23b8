"""What became of corrections: a correction is a reason to look again, never the truth.

Activation is a human turn that corrects. What followed it in its lineage is its outcome, the
outcome gives a status, and the status says where it may be used.
"""

from collections.abc import Collection, Iterable
from typing import Final, Literal, TypeAlias

from dream.index import Index
from graphstore.model.base import Instant, Value
from graphstore.model.knowledge import Signal

Outcome: TypeAlias = Literal["adopted", "ignored", "contradicted", "unclear"]
Status: TypeAlias = Literal[
    "superseded", "valid_adopted", "local_only", "valid_ignored", "refuted", "uncertain"
]
Importance: TypeAlias = Literal["local", "active_task", "project", "unknown"]
Route: TypeAlias = Literal["anchor", "until_the_task_ends", "note", "suppressed", "confirm"]
ROUTES: Final[dict[Status, Route]] = {
    "valid_adopted": "anchor",
    "valid_ignored": "anchor",
    "local_only": "until_the_task_ends",
    "refuted": "note",
    "superseded": "suppressed",
    "uncertain": "confirm",
}
ANCHORS: Final = 3
"""Corrections that are held before somebody at once."""
REJECTED: Final = ("decision", "rejected")


class Correction(Value):
    """One correction, what followed it, and where it may be used."""

    ref: str
    target: str
    clip: str
    at: Instant | None
    concepts: tuple[str, ...]
    """Ids of the concepts that it names."""
    importance: Importance
    outcome: Outcome
    verification: tuple[str, ...]
    """Turns that show the outcome."""
    status: Status
    route: Route


def corrections(index: Index) -> tuple[Correction, ...]:
    """Every correction by a person, the newest first."""
    newest = max(index.turns, key=index.when, default="")
    later: set[tuple[str, str]] = set()
    found = []
    for ref, signal in reversed(index.signal_refs.get("correction", ())):
        if index.turns[ref].role == "human":
            specific = index.rarest(signal.concepts)
            again = any((signal.type, each) in later for each in specific)
            found.append(correction(ref, signal, index, newest, is_superseded=again))
            later.update((signal.type, each) for each in signal.concepts)
    return tuple(found)


def correction(
    ref: str, signal: Signal, index: Index, newest: str, *, is_superseded: bool
) -> Correction:
    """One of them; ``is_superseded`` where a later one has its target and a specific concept."""
    outcome, shown = followed(ref, signal, index)
    importance = weight(ref, signal, index, newest)
    status = status_of(outcome, importance, is_superseded=is_superseded)
    return Correction(
        ref=ref,
        target=signal.type,
        clip=signal.clip,
        at=index.turns[ref].at,
        concepts=signal.concepts,
        importance=importance,
        outcome=outcome,
        verification=shown,
        status=status,
        route=ROUTES[status],
    )


def followed(ref: str, signal: Signal, index: Index) -> tuple[Outcome, tuple[str, ...]]:
    """What the later turns of its lineage did with a correction, and those that show it."""
    about = set(signal.concepts)
    later = [
        each
        for each in index.lineage_turns[index.lineage(ref)]
        if index.when(each) > index.when(ref)
    ]
    naming = [each for each in later if about.intersection(index.turn_concepts.get(each, ()))]
    against = [each for each in naming if is_rejecting(each, index)]
    taken = [each for each in naming if index.turns[each].role == "assistant"]
    answered = [each for each in later if index.turns[each].role == "assistant"]
    if against:
        return "contradicted", tuple(against)
    if taken:
        return "adopted", tuple(taken)
    return ("ignored", tuple(answered[:1])) if about and answered else ("unclear", ())


def is_rejecting(ref: str, index: Index) -> bool:
    """Whether a person rejects something in a turn."""
    held = index.turn_signals.get(ref, ())
    return index.turns[ref].role == "human" and any((s.kind, s.type) == REJECTED for s in held)


def weight(ref: str, signal: Signal, index: Index, newest: str) -> Importance:
    """How far a correction reaches: what it names is of several lineages, of one, of nothing.

    ``newest`` is the newest turn of the store: its lineage is what is worked on.
    """
    if not signal.concepts:
        return "unknown"
    if index.rarest(signal.concepts):
        return "project"
    return "active_task" if index.lineage(newest) == index.lineage(ref) else "local"


def status_of(outcome: Outcome, importance: Importance, *, is_superseded: bool) -> Status:
    """First match: said again later, adopted, ignored, contradicted, else nobody knows."""
    if is_superseded:
        return "superseded"
    if outcome == "adopted":
        return "local_only" if importance == "local" else "valid_adopted"
    if outcome == "ignored":
        return "valid_ignored"
    return "refuted" if outcome == "contradicted" else "uncertain"


def anchors(
    known: Iterable[Correction], about: Collection[str], visible: Collection[str]
) -> tuple[Correction, ...]:
    """At most three that hold for some concepts and whose turn is no longer in view.

    ``visible`` holds refs that are in view, or were shown already.
    """
    held = (
        one
        for one in known
        if one.route == "anchor" and one.ref not in visible and set(one.concepts) & set(about)
    )
    return tuple(one for one, _ in zip(held, range(ANCHORS), strict=False))
