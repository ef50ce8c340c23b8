"""Threads of agents, and the message of a person at which each was spawned."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Final, TypeAlias

from graphstore.ids import fingerprint, thread_id
from graphstore.model.conversation import (
    Event,
    LineageKind,
    LineageLink,
    Role,
    Taint,
    Thread,
    Turn,
)
from graphstore.model.record import ThreadRecord
from ingest.heads import relinked
from ingest.identity import Whole
from ingest.known import Known
from ingest.lineage import Bead, Strand

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

    def links(self, whole: Whole, shared: int) -> tuple[LineageLink, ...]:
        """Links of an agent's thread to its spawners; ``shared`` turns at its head are theirs."""
        parents = [thread_id(whole.source, native) for native in spawners_of(whole)]
        return tuple(self._link(whole, parent, shared) for parent in parents)

    def _link(self, whole: Whole, parent: str, shared: int) -> LineageLink:
        split = self._spawned.get(whole.thread_id)
        stored = self._known.thread(parent) if split is None else None
        if split is None and stored is not None:
            split = _told(stored, whole.thread_id)
        if split is None:
            asked = self._asked.get(parent) or (_asked(stored) if stored is not None else [])
            split = _asked_before(asked, [turn.at for turn in whole.turns[shared:]])
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


def spawners_of(whole: Whole) -> tuple[str, ...]:
    """Native ids of the threads that a thread of an agent names as its spawners."""
    told = (
        one.native_id
        for head in whole.heads
        for one in head.pointers
        if one.kind is LineageKind.SUBAGENT_OF
    )
    return tuple(dict.fromkeys(told))


def owned_by_spawner(whole: Whole, spawner: Sequence[Bead]) -> None:
    """Give the messages at an agent's head that are copies of its spawner's their roles there.

    To an agent nobody is a person; but what stands in the copy was said to its spawner.
    """
    said = [(turn.raw.role, turn.text, turn.fingerprint, turn.at) for turn in whole.turns]
    for place in range(_copied(said, spawner)):
        turn = whole.turns[place]
        if turn.fingerprint != spawner[place].fingerprint:
            raw = replace(turn.raw, role=Role.HUMAN, taint=Taint.HUMAN)
            whole.turns[place] = replace(turn, raw=raw, fingerprint=spawner[place].fingerprint)


def beads_of_agent(strand: Strand, turns: Sequence[Turn], spawner: Sequence[Bead]) -> None:
    """Let the beads of a stored agent be its spawner's where its turns are copies of them."""
    said = [(turn.role, turn.text, turn.fingerprint, turn.at) for turn in turns]
    count = _copied(said[: len(strand.beads)], spawner)
    told = zip(strand.beads[:count], spawner, strict=False)
    own = (mine._replace(fingerprint=theirs.fingerprint) for mine, theirs in told)
    strand.beads = (*own, *strand.beads[count:])


_Said: TypeAlias = tuple[Role, str, str, datetime | None]
"""Role, text, fingerprint and time of a message."""


def _copied(said: Sequence[_Said], spawner: Sequence[Bead]) -> int:
    """How many messages at the head of an agent's thread are copies of its spawner's.

    The words must be the same, one after the other. Words alone could be an order that the
    spawner passed on; so an answer must be among them, which nobody else gives in those words,
    or all times must be the same.
    """
    count = 0
    timed, answered = True, False
    for (role, text, own, at), bead in zip(said, spawner, strict=False):
        if bead.fingerprint not in (own, fingerprint(Role.HUMAN, text)):
            break
        count += 1
        answered = answered or role is Role.ASSISTANT
        timed = timed and at is not None and at == bead.at
    return count if answered or timed else 0


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


def _asked_before(
    asked: Sequence[tuple[int, datetime]], times: Iterable[datetime | None]
) -> int | None:
    """The last message of a person in the spawner that is not later than the agent's start."""
    starts = [at for at in times if at is not None]
    if not starts:
        return None
    first = min(starts)
    return max((number for number, at in asked if at <= first), default=None)
