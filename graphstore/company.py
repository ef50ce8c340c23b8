"""Which concepts are met together more than chance explains: pure figures over postings."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from graphstore.ids import ref as ref_of
from graphstore.model.knowledge import Relates

VERSION: Final = "company/1"
LEAST: Final = 2
"""Turns, or threads, in which a pair must be met."""
PER_CONCEPT: Final = 10
"""Relations by mere company that one concept keeps, the strongest first."""
LOCAL: Final = 3
"""Those of them that stand in one thread only: they tell little."""
QUANTILE: Final = 0.75
_REFS: Final = 8


@dataclass(frozen=True, slots=True)
class Bounds:
    """Figures of the epoch that say what is surprising."""

    lineages: int = 0
    turns: int = 0
    floor: float = 0.0
    """Information that a pair must exceed."""


@dataclass(frozen=True, slots=True)
class Posting:
    """A concept in one thread."""

    df: int
    """Lineages that name the concept, of the epoch."""
    turns: frozenset[int]


Postings = Mapping[str, Posting]
"""Postings of one concept by thread id."""


@dataclass(frozen=True, slots=True)
class Meeting:
    """Two concepts, first id before second, with what they share."""

    first: str
    second: str
    turns: int
    threads: int
    information: float
    """Pointwise mutual information, natural logarithm."""
    refs: tuple[str, ...]

    @property
    def local(self) -> bool:
        """Whether one thread alone holds it."""
        return self.threads < LEAST

    @property
    def strength(self) -> float:
        """What ranks the pairs of a concept; greater is stronger."""
        return self.information * max(self.turns, self.threads)


def crowded(df: int, bounds: Bounds) -> bool:
    """Whether a concept is so common that meeting it never surprises."""
    return bounds.lineages > 0 and math.log(bounds.lineages / df) <= bounds.floor


def meeting(first: str, second: str, a: Postings, b: Postings, bounds: Bounds) -> Meeting | None:
    """What two concepts share; None when it is too little to count.

    The information of a pair is log(n n_ab / (n_a n_b)) (Church and Hanks, 1990). Over threads,
    n and the n of one concept are those of the epoch. A pair of one thread is counted in turns:
    a concept stands in those of the thread, and in at least one of each other lineage.
    """
    threads = a.keys() & b.keys()
    if not threads:
        return None
    both = {thread: a[thread].turns & b[thread].turns for thread in threads}
    turns = sum(map(len, both.values()))
    if len(threads) < LEAST and turns < LEAST:
        return None
    information = _information(a, b, threads, turns, bounds)
    refs = _refs(a, b, both)
    return Meeting(first, second, turns, len(threads), information, refs)


def _information(
    a: Postings, b: Postings, threads: Iterable[str], turns: int, bounds: Bounds
) -> float:
    shared = sorted(threads)
    one, other = a[shared[0]], b[shared[0]]
    if len(shared) >= LEAST:
        met, total, sizes = len(shared), max(bounds.lineages, 1), (one.df, other.df)
    else:
        met, total = turns, max(bounds.turns, bounds.lineages, 1)
        sizes = (len(one.turns) + one.df - 1, len(other.turns) + other.df - 1)
    # rounded: a pair at the quantile must not stand above it by its last bit
    return round(math.log(total * met / (sizes[0] * sizes[1])), 6)


def _refs(a: Postings, b: Postings, both: Mapping[str, frozenset[int]]) -> tuple[str, ...]:
    """Turns that name both; else, thread by thread, a turn for each."""
    shared = sorted(ref_of(thread, turn) for thread, turns in both.items() for turn in turns)
    if shared:
        return tuple(shared[:_REFS])
    found = {
        ref_of(thread, min(side[thread].turns))
        for thread in sorted(both)[: _REFS // 2]
        for side in (a, b)
    }
    return tuple(sorted(found))


def counts(met: Meeting, bounds: Bounds) -> bool:
    """Whether a pair is surprising enough to be a relation of one of its concepts."""
    return met.information > max(0.0, bounds.floor)


def keeps(ranked: Sequence[bool]) -> int:
    """How many of a concept's pairs it keeps; given, best first, whether each is local.

    Pairs of several threads come before those of one.
    """
    several = ranked[:PER_CONCEPT].count(False)
    return max(several, min(LOCAL, len(ranked)))


def relation(met: Meeting) -> Relates:
    """The row of a pair."""
    return Relates(
        src_table="Concept",
        src=met.first,
        dst_table="Concept",
        dst=met.second,
        source_refs=met.refs,
        weight=float(max(met.turns, met.threads)),
        extractor=VERSION,
        edge_type="co_occurs",
        why=f"together in {met.turns} turns and {met.threads} threads",
    )


def pairs(
    postings: Mapping[str, Postings], bounds: Bounds, among: set[str] | None = None
) -> list[Meeting]:
    """Pairs of these concepts that share enough, in id order; with one of ``among`` if given."""
    by_thread: dict[str, list[str]] = {}
    for concept in sorted(postings):
        for thread in postings[concept]:
            by_thread.setdefault(thread, []).append(concept)
    asked = {
        (first, second)
        for group in by_thread.values()
        for place, first in enumerate(group)
        for second in group[place + 1 :]
        if among is None or first in among or second in among
    }
    found = (meeting(*pair, postings[pair[0]], postings[pair[1]], bounds) for pair in sorted(asked))
    return [met for met in found if met is not None]


def floor(found: Iterable[Meeting]) -> float:
    """The 0.75 quantile (method "lower") of the information of pairs; 0 without any.

    Pairs of several threads set it where there are some: within one thread every pair of its
    own concepts is as surprising as can be.
    """
    held = list(found)
    several = [met for met in held if not met.local]
    values = sorted(met.information for met in several or held)
    return values[int(QUANTILE * (len(values) - 1))] if values else 0.0
