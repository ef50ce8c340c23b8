"""Communities of level 1 by two algorithms that do not optimise the same, and what they bear."""

from dataclasses import dataclass
from typing import Final

import numpy as np

from topology.cuts import Ints, Longs, Mask
from topology.engine import Method
from topology.level import Level
from topology.model import Communities

AGREED: Final = 0.60
"""Least adjusted Rand index of the two partitions for any claim."""
OVERLAP: Final = 0.50
"""Least Jaccard overlap with a community of the second partition."""
FIRST: Final[Method] = "leiden"
FLOW_UP_TO: Final = 10_000
"""Edges up to which the second partition is that of Infomap."""


@dataclass(frozen=True)
class Themes:
    """The first partition, and which of its communities a second one confirms."""

    of: Ints
    """Community of each level 1 node; -1 for nodes without edges."""
    size: Longs
    stable: Mask
    borne: Mask
    """Communities of which something may be claimed."""
    account: Communities

    def members(self, community: int) -> Ints:
        """Nodes of a community."""
        return np.flatnonzero(self.of == community).astype(np.int32)

    def part(self, a: Ints, b: Ints) -> Mask:
        """Whether two nodes lie in different communities of which that may be claimed."""
        bears = np.append(self.borne, False)
        one, other = self.of[a], self.of[b]
        apart: Mask = (one != other) & bears[one] & bears[other]
        return apart


def themes(level: Level, s_min: int) -> Themes:
    """Partition level 1 twice and compare; nodes without edges belong nowhere."""
    linked = np.zeros(level.n, np.bool_)
    linked[level.u] = linked[level.v] = True
    second: Method = "infomap" if len(level.u) <= FLOW_UP_TO else "label_propagation"
    one, other = (level.graph.communities(level.weight, method) for method in (FIRST, second))
    one, other = one[linked], other[linked]
    counts = contingency(one, other)
    of = np.full(level.n, -1, np.int32)
    # a node without edges is a community of its own: numbers of the others close up
    numbers, of[linked] = np.unique(one, return_inverse=True)
    size = np.bincount(of[linked], minlength=len(numbers)).astype(np.int64)
    stable = overlaps(counts) >= OVERLAP
    ari, nmi = rand_index(counts), mutual_information(counts)
    agreed = ari >= AGREED
    borne = stable & (size >= s_min) & agreed
    account = Communities(
        first=FIRST,
        second=second,
        first_count=len(numbers),
        second_count=len(np.unique(other)),
        ari=ari,
        nmi=nmi,
        stable=int(stable.sum()),
        verdict="communities_agree" if agreed else "communities_disagree",
    )
    return Themes(of, size, stable, borne, account)


@dataclass(frozen=True, slots=True)
class Contingency:
    """How often each pair of communities shares a node: rows with at least one."""

    row: Longs
    column: Longs
    shared: Longs
    of_row: Longs
    """Size of each community of the first partition."""
    of_column: Longs


def contingency(one: Ints, other: Ints) -> Contingency:
    """Compare two partitions of the same nodes."""
    _, row = np.unique(one, return_inverse=True)
    _, column = np.unique(other, return_inverse=True)
    width = np.int64(column.max(initial=0) + 1)
    keys, shared = np.unique(row * width + column, return_counts=True)
    return Contingency(
        *np.divmod(keys, width),
        shared.astype(np.int64),
        np.bincount(row).astype(np.int64),
        np.bincount(column).astype(np.int64),
    )


def overlaps(counts: Contingency) -> "np.ndarray[tuple[int], np.dtype[np.float64]]":
    """Best Jaccard overlap of each community of the first partition with one of the second."""
    union = counts.of_row[counts.row] + counts.of_column[counts.column] - counts.shared
    best = np.zeros(len(counts.of_row))
    np.maximum.at(best, counts.row, counts.shared / union)
    return best


def rand_index(counts: Contingency) -> float:
    """Adjusted Rand index (Hubert, Arabie 1985), rounded to 6 decimals; 1 for equal partitions."""
    both = _pairs(counts.shared)
    rows, columns = _pairs(counts.of_row), _pairs(counts.of_column)
    nodes = int(counts.of_row.sum())
    every = nodes * (nodes - 1) // 2
    # times 2 * every, so that all is whole until the one division
    above = 2 * (both * every - rows * columns)
    below = (rows + columns) * every - 2 * rows * columns
    return round(above / below, 6) if below else 1.0


def _pairs(sizes: Longs) -> int:
    return int((sizes * (sizes - 1) // 2).sum())


def mutual_information(counts: Contingency) -> float:
    """Mutual information over the mean of both entropies, rounded to 6 decimals."""
    nodes = max(int(counts.of_row.sum()), 1)
    entropies = [-float((sizes / nodes * np.log(sizes / nodes)).sum()) for sizes in _sizes(counts)]
    if not any(entropies):
        return 1.0
    expected = counts.of_row[counts.row] * counts.of_column[counts.column] / nodes
    shared = float((counts.shared / nodes * np.log(counts.shared / expected)).sum())
    return round(2 * shared / sum(entropies), 6)


def _sizes(counts: Contingency) -> tuple[Longs, Longs]:
    return counts.of_row, counts.of_column
