"""Which concepts occur together, how often, and how surprising that is."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

_PER_TURN: Final = 24
_PER_THREAD: Final = 24
"""Concepts of one turn or thread that are paired; the rarest come first."""
LEAST: Final = 2
QUANTILE: Final = 0.75


@dataclass(frozen=True, slots=True)
class Pair:
    """Two concepts, first id before second, with what they share."""

    first: str
    second: str
    turns: int
    threads: int
    pmi: float
    """Pointwise mutual information (natural logarithm), over threads if they share two of them,
    else over turns."""


def thread_of(ref: str) -> str:
    """Thread id of a SourceRef string."""
    return ref.removeprefix("thread:").rpartition("#turn:")[0]


def together(mentions: Iterable[tuple[str, str]]) -> list[Pair]:
    """Pairs sharing at least two turns or two threads, from (concept id, ref); in id order.

    The information of a pair is log(n n_ab / (n_a n_b)) (Church and Hanks, 1990), where n counts
    the turns, or threads, that mention anything.
    """
    turns: dict[str, set[str]] = {}
    threads: dict[str, set[str]] = {}
    for concept, ref in mentions:
        turns.setdefault(ref, set()).add(concept)
        threads.setdefault(thread_of(ref), set()).add(concept)
    in_turns, in_threads = _frequencies(turns.values()), _frequencies(threads.values())
    by_turn = _counted(turns.values(), in_turns, _PER_TURN, 1)
    by_thread = _counted(threads.values(), in_threads, _PER_THREAD, LEAST)
    pairs = []
    for key in sorted(by_turn.keys() | by_thread.keys()):
        shared, met = by_turn.get(key, 0), by_thread.get(key, 0)
        if met >= LEAST:
            pmi = _pmi(met, key, in_threads, len(threads))
        elif shared >= LEAST:
            pmi = _pmi(shared, key, in_turns, len(turns))
        else:
            continue
        pairs.append(Pair(*key, shared, max(met, int(shared > 0)), pmi))
    return pairs


def floor(pairs: Iterable[Pair]) -> float:
    """The 0.75 quantile (method "lower") of the information of pairs; 0 without any.

    Pairs of several threads set it where there are some: within one thread every pair of its
    own concepts is as surprising as can be.
    """
    held = list(pairs)
    several = [pair for pair in held if pair.threads >= LEAST]
    values = sorted(pair.pmi for pair in several or held)
    return values[int(QUANTILE * (len(values) - 1))] if values else 0.0


def _frequencies(groups: Iterable[set[str]]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for group in groups:
        for concept in group:
            counts[concept] = counts.get(concept, 0) + 1
    return counts


def _counted(
    groups: Iterable[set[str]], frequencies: Mapping[str, int], most: int, least: int
) -> dict[tuple[str, str], int]:
    counts: dict[tuple[str, str], int] = {}
    for group in groups:
        rare = [concept for concept in group if frequencies[concept] >= least]
        if len(rare) > most:
            rare = sorted(rare, key=lambda concept: (frequencies[concept], concept))[:most]
        rare.sort()
        for place, first in enumerate(rare):
            for second in rare[place + 1 :]:
                key = (first, second)
                counts[key] = counts.get(key, 0) + 1
    return counts


def _pmi(shared: int, key: tuple[str, str], frequencies: Mapping[str, int], total: int) -> float:
    # rounded: a pair at the quantile must not stand above it by its last bit
    return round(math.log(total * shared / (frequencies[key[0]] * frequencies[key[1]])), 6)
