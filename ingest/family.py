"""Threads of a run between reading and assembly: spooled, and grouped with their relatives."""

import pickle
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from graphstore.ids import thread_id
from graphstore.model.conversation import LineageKind
from ingest.clean import CleanThread

MEMORY: Final = 32 * 2**20
"""Bytes of waiting threads kept in memory; what goes beyond waits in a temporary file."""
TURN: Final = 1000
"""Bytes of a turn beside its text."""
KEY: Final = 100
"""Bytes of a record's id."""

_AGENT_DEPTH: Final = 64
"""Levels of agents of agents; more must be a cycle."""


@dataclass(slots=True)
class Card:
    """What must be known of a waiting thread to find its relatives."""

    place: int
    source: str
    native_id: str
    first_key: str | None
    forks: tuple[str, ...]
    """Thread ids that it was forked from."""
    spawners: tuple[str, ...]
    """Thread ids that it is a subagent of."""
    carrier: int

    @property
    def thread_id(self) -> str:
        return thread_id(self.source, self.native_id)


def card_of(thread: CleanThread, native_id: str, place: int) -> Card:
    """Card of a thread that waits at a place of the spool."""
    raw = thread.raw
    keyed = raw.sharing == "keys" and bool(thread.turns)
    told = _told(thread)
    return Card(
        place=place,
        source=raw.source,
        native_id=native_id,
        first_key=thread.turns[0].raw.key if keyed else None,
        forks=tuple(told[LineageKind.FORKED_FROM] + told[LineageKind.CONTINUES]),
        spawners=tuple(told[LineageKind.SUBAGENT_OF]),
        carrier=thread.carrier,
    )


def _told(thread: CleanThread) -> dict[LineageKind, list[str]]:
    found: dict[LineageKind, list[str]] = {kind: [] for kind in LineageKind}
    for pointer in thread.raw.pointers:
        found[pointer.kind].append(thread_id(thread.raw.source, pointer.native_id))
    return found


class Spool:
    """Threads that wait, in memory up to a bound, then in a private temporary file."""

    def __init__(self, memory: int = MEMORY) -> None:
        self._memory = memory
        self._held: dict[int, CleanThread] = {}
        self._spilled: dict[int, int] = {}
        self._file = tempfile.TemporaryFile()  # noqa: SIM115 - closed by close()
        self._count = 0
        self._size = 0

    def put(self, thread: CleanThread) -> int:
        """Keep a thread; its place is returned."""
        place = self._count
        self._count += 1
        self._size += weight(thread)
        if self._size <= self._memory:
            self._held[place] = thread
        else:
            self._spilled[place] = self._file.seek(0, 2)
            pickle.dump(thread, self._file, pickle.HIGHEST_PROTOCOL)
        return place

    def take(self, place: int) -> CleanThread:
        """Give a thread back; it is kept no longer."""
        if place in self._held:
            return self._held.pop(place)
        self._file.seek(self._spilled.pop(place))
        thread: CleanThread = pickle.load(self._file)  # noqa: S301 - our own file, never linked
        return thread

    def close(self) -> None:
        """Forget everything."""
        self._held.clear()
        self._file.close()


def weight(thread: CleanThread) -> int:
    """Bytes that a waiting thread takes up, roughly: texts, turns, ids of records."""
    raw = thread.raw
    places = 0 if raw.cuts is None else len(raw.cuts.keys)
    texts = sum(len(turn.text) for turn in thread.turns)
    return texts + TURN * len(thread.turns) + KEY * len(raw.record_keys) + 4 * places


def families(cards: Sequence[Card]) -> Iterator[list[Card]]:
    """Cards that may share turns, together; the families of spawners before their agents'."""
    groups = _grouped(cards)
    depth = _depths(groups)
    order = sorted(range(len(groups)), key=lambda one: (depth[one], groups[one][0].place))
    for one in order:
        yield groups[one]


def _grouped(cards: Sequence[Card]) -> list[list[Card]]:
    root = list(range(len(cards)))

    def find(one: int) -> int:
        while root[one] != one:
            root[one] = root[root[one]]
            one = root[one]
        return one

    first: dict[tuple[str, str], int] = {}
    for place, card in enumerate(cards):
        for mark in _marks(card):
            known = first.setdefault(mark, place)
            low, high = sorted((find(known), find(place)))
            root[high] = low
    groups: dict[int, list[Card]] = {}
    for place, card in enumerate(cards):
        groups.setdefault(find(place), []).append(card)
    return list(groups.values())


def _marks(card: Card) -> Iterator[tuple[str, str]]:
    """What relatives have in common."""
    yield "thread", card.thread_id
    if card.first_key is not None:
        yield card.source, card.first_key
    for fork in card.forks:
        yield "thread", fork


def _depths(groups: Sequence[Sequence[Card]]) -> list[int]:
    """How many spawners stand above each family; a cycle ends the count."""
    home = {card.thread_id: place for place, group in enumerate(groups) for card in group}
    above = [
        sorted({home[one] for card in group for one in card.spawners if one in home} - {place})
        for place, group in enumerate(groups)
    ]
    depth = [0] * len(groups)
    for _ in range(min(len(groups), _AGENT_DEPTH)):
        changed = False
        for place, spawners in enumerate(above):
            wanted = max((depth[one] + 1 for one in spawners), default=0)
            if wanted > depth[place] and wanted <= _AGENT_DEPTH:
                depth[place] = wanted
                changed = True
        if not changed:
            break
    return depth
