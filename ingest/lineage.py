"""Descent of threads: shared prefixes, parents, forks, copies; never a cycle."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, NamedTuple

from graphstore.ids import thread_id
from graphstore.model.conversation import LineageKind, LineageLink, Thread, Turn
from ingest.identity import FAR
from ingest.model import Sharing

PREFIX_KINDS: Final = frozenset({
    LineageKind.CONTINUES,
    LineageKind.FORKED_FROM,
    LineageKind.DUPLICATE_OF,
})  # fmt: skip
"""Kinds of descent under which a prefix is shared."""


class Bead(NamedTuple):
    """What of one turn matters for descent."""

    key: str | None
    fingerprint: str
    at: datetime | None = None


def bead_of(turn: Turn) -> Bead:
    """The bead of a stored turn."""
    return Bead(turn.native_key, turn.fingerprint, turn.at)


@dataclass(slots=True)
class Strand:
    """One thread as lineage sees it: its turns by number, from the first one on."""

    thread_id: str
    source: str
    native_id: str
    beads: tuple[Bead, ...]
    """Turn ``n`` at index ``n - 1``; a gap in the numbers ends it."""
    count: int
    """Turns stored under it, beads of a shared prefix included."""
    sharing: Sharing = "keys"
    forks: tuple[str, ...] = ()
    """Native ids that it says it was forked from."""
    spawners: tuple[str, ...] = ()
    """Native ids of the threads that spawned it: it may begin with a copy of one of them."""
    background: bool = False
    above: str | None = None
    """Thread id of the parent that holds its prefix in the store."""
    names: frozenset[str] = frozenset()
    """Native ids that its records carry: a copy may still name the thread it was made of."""


class Descent(NamedTuple):
    """The parent of a thread and how much they share."""

    parent: str
    kind: LineageKind
    shared: int
    """Leading turns that are the parent's."""

    @property
    def link(self) -> LineageLink:
        return LineageLink(kind=self.kind, parent=self.parent, split_turn=self.shared or None)


def shared_prefix(one: Strand, other: Strand, *, by_words: bool = False) -> int:
    """Leading turns that are the same record in both; by words only where a pointer says so.

    By words, turns of different native keys are different ones all the same.
    """
    count = 0
    for mine, theirs in zip(one.beads, other.beads, strict=False):
        same = mine.fingerprint == theirs.fingerprint
        keyed = mine.key is not None and mine.key == theirs.key
        told = by_words and (mine.key is None or theirs.key is None)
        if not same or not (keyed or told):
            break
        count += 1
    return count


def descents(strands: Sequence[Strand]) -> dict[str, Descent]:
    """Parent of each thread that has one among the others; acyclic.

    A thread that holds the prefix of another in the store never comes to descend from it.
    """
    stored = {one.thread_id: one.above for one in strands if one.above is not None}
    ordered = sorted(strands, key=lambda one: (_first_at(one, 0), one.native_id))
    by_words = {one.source for one in strands if one.sharing == "words"}
    found: dict[str, Descent] = {}
    for strand in ordered:
        for descent in _candidates(strand, ordered, by_words=strand.source in by_words):
            if not _closes_cycle(strand.thread_id, descent.parent, found, stored):
                found[strand.thread_id] = descent
                break
    return found


def _candidates(strand: Strand, others: Iterable[Strand], *, by_words: bool) -> list[Descent]:
    """Possible parents, the best first; ``by_words``: only a pointer makes one."""
    ranked: list[tuple[tuple[bool, int, bool, bool, datetime, int, str], Descent]] = []
    for other in others:
        if other is strand or other.source != strand.source:
            continue
        pointed = other.native_id in strand.forks
        copied = other.native_id in strand.spawners
        told = pointed or copied
        shared = _shared(strand, other, by_words=by_words) if told or not by_words else 0
        if pointed or (shared and (copied or _is_above(other, strand, shared))):
            rank = (
                not pointed,
                -shared,
                shared != other.count,
                other.native_id not in strand.names,
                _first_at(other, shared),
                other.count - shared,
                other.native_id,
            )
            ranked.append((rank, Descent(other.thread_id, _kind(strand, other, shared), shared)))
    return [descent for _, descent in sorted(ranked, key=lambda one: one[0])]


def _shared(strand: Strand, other: Strand, *, by_words: bool) -> int:
    if strand.sharing == "none" or other.sharing == "none":
        return 0
    return shared_prefix(strand, other, by_words=by_words)


def _is_above(other: Strand, strand: Strand, shared: int) -> bool:
    """Whether the other one is the parent, of two that share a prefix."""
    if strand.native_id in (*other.forks, *other.spawners):
        return False
    if other.background != strand.background:
        return strand.background
    whole_other, whole_strand = shared == other.count, shared == strand.count
    if whole_other != whole_strand:
        return whole_other
    if whole_other:
        return other.native_id < strand.native_id
    named, names = other.native_id in strand.names, strand.native_id in other.names
    if named != names:
        return named
    return _seniority(other, shared) < _seniority(strand, shared)


def _seniority(strand: Strand, shared: int) -> tuple[datetime, int, str]:
    return _first_at(strand, shared), strand.count - shared, strand.native_id


def _first_at(strand: Strand, start: int) -> datetime:
    times = [bead.at for bead in strand.beads[start:] if bead.at is not None]
    return min(times, default=FAR)


def _kind(strand: Strand, other: Strand, shared: int) -> LineageKind:
    if other.native_id in (*strand.forks, *strand.spawners):
        return LineageKind.FORKED_FROM
    if strand.background and not other.background:
        return LineageKind.FORKED_FROM
    if shared != other.count:
        return LineageKind.FORKED_FROM
    return LineageKind.DUPLICATE_OF if shared == strand.count else LineageKind.CONTINUES


def _closes_cycle(
    child: str, parent: str, found: Mapping[str, Descent], stored: Mapping[str, str]
) -> bool:
    waiting = [parent]
    seen: set[str] = set()
    while waiting:
        at = waiting.pop()
        if at == child:
            return True
        if at not in seen:
            seen.add(at)
            waiting += [found[at].parent] if at in found else []
            waiting += [stored[at]] if at in stored else []
    return False


def holder(links: Iterable[LineageLink]) -> str | None:
    """Parent of stored links that holds the prefix."""
    held = (one for one in links if one.kind in PREFIX_KINDS and one.split_turn is not None)
    return next((one.parent for one in held), None)


def pending_links(strand: Strand, known: Iterable[str]) -> tuple[LineageLink, ...]:
    """Links to parents that are told of but not at hand."""
    at_hand = set(known)
    parents = (thread_id(strand.source, native) for native in strand.forks)
    return tuple(
        LineageLink(kind=LineageKind.FORKED_FROM, parent=parent)
        for parent in parents
        if parent not in at_hand
    )


def of_known(thread: Thread, turns: Sequence[Turn]) -> Strand:
    """Strand of a stored thread; ``turns`` are all its turns, a shared prefix included."""
    beads: list[Bead] = []
    for number, turn in enumerate(turns, start=1):
        if turn.number != number:
            break
        beads.append(bead_of(turn))
    forks = tuple(
        link.parent.partition(":")[2]
        for link in thread.lineage
        if link.kind is LineageKind.FORKED_FROM and link.split_turn is None
    )
    return Strand(
        thread_id=thread.thread_id,
        source=thread.source,
        native_id=thread.native_id,
        beads=tuple(beads),
        count=len(turns),
        forks=forks,
        above=holder(thread.lineage),
        names=frozenset(thread.native_ids),
    )
