"""Threads of agents, and the message of a person at which each was spawned."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import Final

from graphstore.ids import thread_id
from graphstore.model.conversation import Event, LineageKind, LineageLink, Role, Thread, Turn
from graphstore.model.record import ThreadRecord
from ingest.heads import relinked
from ingest.identity import Whole
from ingest.known import Known

SPAWNED: Final = "subagent"
"""Kind of the event that names a spawned thread and the turn it was spawned at."""


class Agents:
    """Who spawned whom, as far as the families of a run have told so far."""

    def __init__(self, known: Known, spawners: frozenset[str]) -> None:
        """``spawners``: ids of the threads that agents of the run name as theirs."""
        self._known = known
        self._spawners = spawners
        self._spawned: dict[str, int] = {}
        """Thread id of an agent -> number of the turn that spawned it."""
        self._asked: dict[str, list[tuple[int, datetime]]] = {}
        """Thread id of a spawner -> (number, time) of a person's messages in it."""

    def hear(self, whole: Whole, numbers: Sequence[int]) -> None:
        """Take in what a thread tells of agents, and when a person spoke in it."""
        for number, turn in zip(numbers, whole.turns, strict=True):
            for native in turn.raw.spawned:
                self._spawned.setdefault(thread_id(whole.source, native), number)
        if whole.thread_id in self._spawners:
            before = _asked_in(whole.base.turns) if whole.base is not None else []
            self._asked[whole.thread_id] = before + [
                (number, turn.at)
                for number, turn in zip(numbers, whole.turns, strict=True)
                if turn.raw.role is Role.HUMAN and turn.at is not None
            ]

    def links(self, whole: Whole) -> tuple[LineageLink, ...]:
        """Links of an agent's thread to its spawners."""
        parents = [
            thread_id(whole.source, one.native_id)
            for head in whole.heads
            for one in head.pointers
            if one.kind is LineageKind.SUBAGENT_OF
        ]
        return tuple(self._link(whole, parent) for parent in dict.fromkeys(parents))

    def _link(self, whole: Whole, parent: str) -> LineageLink:
        split = self._spawned.get(whole.thread_id)
        stored = self._known.thread(parent) if split is None else None
        if split is None and stored is not None:
            split = _told(stored, whole.thread_id)
        if split is None:
            asked = self._asked.get(parent) or (_asked(stored) if stored is not None else [])
            split = _asked_before(asked, whole)
        return LineageLink(kind=LineageKind.SUBAGENT_OF, parent=parent, split_turn=split)

    def is_missing(self, link: LineageLink) -> bool:
        """Whether the spawner that a link names is neither in the run nor in the store."""
        return link.parent not in self._asked and self._known.thread(link.parent) is None

    def found(self, whole: Whole) -> Iterator[ThreadRecord]:
        """Stored agents whose spawner is this thread, where that was not known so far."""
        parent = whole.thread_id
        for identity in sorted(self._known.descendants(parent)):
            thread = self._known.thread(identity)
            split = self._spawned.get(identity)
            waiting = LineageLink(kind=LineageKind.SUBAGENT_OF, parent=parent)
            if thread is not None and split is not None and waiting in thread.lineage:
                told = waiting.replace(split_turn=split)
                links = tuple(told if link == waiting else link for link in thread.lineage)
                yield relinked(thread, links)


def spawn_events(whole: Whole, numbers: Sequence[int]) -> list[Event]:
    """Events that tell, in a spawner's record, which threads it spawned at which turn."""
    return [
        Event(kind=SPAWNED, at=turn.at, detail=f"{thread_id(whole.source, native)} {number}")
        for number, turn in zip(numbers, whole.turns, strict=True)
        for native in turn.raw.spawned
    ]


def _told(parent: Thread, child: str) -> int | None:
    for event in parent.events:
        named, _, number = (event.detail or "").rpartition(" ")
        if event.kind == SPAWNED and named == child and number.isdigit():
            return int(number)
    return None


def _asked(stored: Thread) -> list[tuple[int, datetime]]:
    return _asked_in(stored.turns)


def _asked_in(turns: Iterable[Turn]) -> list[tuple[int, datetime]]:
    return [
        (turn.number, turn.at) for turn in turns if turn.role is Role.HUMAN and turn.at is not None
    ]


def _asked_before(asked: Sequence[tuple[int, datetime]], whole: Whole) -> int | None:
    """The last message of a person in the spawner that is not later than the agent's start."""
    starts = [turn.at for turn in whole.turns if turn.at is not None]
    if not starts:
        return None
    first = min(starts)
    return max((number for number, at in asked if at <= first), default=None)
