"""Dense groups: biconnected blocks of a k-core, split until none holds too much of the graph."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np

from topology import cuts
from topology.blocks import of_edges
from topology.cuts import Ints
from topology.level import Level

SMALLEST: Final = 4
LEAST_THREADS: Final = 3
LARGEST_SHARE: Final = 4
"""A group over one node in four of the level says nothing."""
LEAST_CORE: Final = 3


@dataclass(frozen=True, slots=True)
class Group:
    """Nodes of one block, and what holds them together."""

    nodes: tuple[int, ...]
    k: int
    """Least coreness."""
    links: int
    """Least number of links inside the group."""
    edges: int
    solid: int
    """Nodes of its largest part that no two edges cut off."""

    @property
    def density(self) -> float:
        """Share of the possible pairs that are linked."""
        size = len(self.nodes)
        return 2 * self.edges / (size * (size - 1))


@dataclass(frozen=True, slots=True)
class Dense:
    """All dense groups, and how many were too large to say anything."""

    groups: tuple[Group, ...]
    too_large: int


def dense_groups(level: Level, raises: int) -> Dense:
    """Blocks of the nodes with coreness >= k*, k* = max(3, median + 2 over nodes with edges).

    A block over a quarter of the level is split by raising k by one inside of it, at most
    ``raises`` times in all; k-cores after Seidman (1983).
    """
    core = level.coreness
    linked = np.sort(core[core > 0])
    if len(linked) == 0:
        return Dense((), 0)
    k = max(LEAST_CORE, int(linked[(len(linked) - 1) // 2]) + 2)
    small: list[tuple[Ints, int]] = []
    large = [(np.flatnonzero(core >= k).astype(np.int32), k)]
    too_large = 0
    while large:
        nodes, k = large.pop()
        for block in _blocks(level, nodes):
            if len(block) * LARGEST_SHARE <= level.n:
                small.append((block, k))
            elif raises > 0 and core[block].max() > k:
                raises -= 1
                large.append((block[core[block] > k], k + 1))
            else:
                too_large += 1
    groups = (group(level, block) for block, _ in small)
    return Dense(tuple(sorted(groups, key=lambda found: found.nodes)), too_large)


def _blocks(level: Level, nodes: Ints) -> Iterator[Ints]:
    """Blocks of the subgraph of some nodes, with four nodes and three lineages or more."""
    u, v = inner_edges(level, nodes)
    local = np.full(level.n, -1, np.int32)
    local[nodes] = np.arange(len(nodes), dtype=np.int32)
    found = of_edges(len(nodes), local[u], local[v])
    for block in np.flatnonzero(np.diff(found.start) >= SMALLEST).tolist():
        members = nodes[found.members(block)]
        lineages = level.lineage[members]
        if len(np.unique(lineages[lineages >= 0])) >= LEAST_THREADS:
            yield members


def inner_edges(level: Level, nodes: Ints) -> tuple[Ints, Ints]:
    """Ends of the edges that lie inside a set of nodes."""
    inside = np.zeros(level.n, np.bool_)
    inside[nodes] = True
    kept = inside[level.u] & inside[level.v]
    return level.u[kept], level.v[kept]


def group(level: Level, nodes: Ints) -> Group:
    """Measure one group of nodes."""
    u, v = inner_edges(level, nodes)
    degree = np.bincount(np.concatenate((u, v)), minlength=level.n)[nodes]
    return Group(
        nodes=tuple(nodes.tolist()),
        k=int(level.coreness[nodes].min()),
        links=int(degree.min()),
        edges=len(u),
        solid=_solid(_local(nodes, u), _local(nodes, v), len(nodes)),
    )


def _local(nodes: Ints, ends: Ints) -> Ints:
    return np.searchsorted(nodes, ends).astype(np.int32)


def _solid(u: Ints, v: Ints, n: int) -> int:
    """Largest component once every bridge and every edge of a 2-edge cut is gone."""
    tree = cuts.forest(cuts.adjacency(n, u, v))
    found = cuts.cover(tree, u, v)
    weak = np.union1d(cuts.bridges(found), cuts.rings(tree, found).edge)
    kept = np.setdiff1d(np.arange(len(u)), weak)
    return int(np.bincount(cuts.components(cuts.adjacency(n, u[kept], v[kept]))).max())
