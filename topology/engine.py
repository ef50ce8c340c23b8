"""The only igraph import: blocks, cut nodes, coreness, communities, forces of a layout."""

import random  # noqa: TID251 - igraph draws from a generator of ours, with a fixed seed
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import version
from importlib.util import find_spec
from itertools import chain
from math import sqrt
from pathlib import Path
from threading import Lock
from typing import Any, Final, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from topology.cuts import Ints, Longs, numbered_by_first

Method: TypeAlias = Literal["leiden", "infomap", "label_propagation"]

_GENERATOR: Final = Lock()
"""igraph has one generator for the process."""
_SEED: Final = 7
_GRID_FROM: Final = 1000
"""Nodes from which forces are computed cell by cell."""
_FRESH: Final = 10
_SETTLED: Final = 500
"""Share of the map that a node may cross in the first round: less when it has a place."""


def is_available() -> bool:
    """Whether igraph can be imported, without importing it."""
    return find_spec("igraph") is not None


def engine_version() -> str:
    """Version of igraph; empty without it."""
    return version("igraph") if is_available() else ""


@dataclass(frozen=True)
class Blocks:
    """Biconnected components: nodes of block i are ``nodes[start[i]:start[i + 1]]``, sorted."""

    start: Longs
    nodes: Ints
    cut_nodes: Ints
    """Articulation points, sorted."""

    @cached_property
    def block(self) -> Longs:
        """Block of each entry of ``nodes``."""
        return np.repeat(np.arange(len(self.start) - 1), np.diff(self.start))

    def members(self, block: int) -> Ints:
        """Nodes of one block."""
        return self.nodes[self.start[block] : self.start[block + 1]]


class Graph:
    """An igraph graph of ``n`` nodes, built once for several questions."""

    def __init__(self, n: int, u: Ints, v: Ints) -> None:
        from igraph import Graph as Native

        pairs: Any = np.column_stack((u, v)).astype(np.int64)
        self._native: Any = Native(n=n, edges=memoryview(pairs) if len(pairs) else [])
        self._u, self._v = u, v

    def blocks(self) -> Blocks:
        """Blocks in the order of their sorted nodes, and articulation points."""
        from igraph import GraphBase

        # the method of the subclass would make a list of all edges and a set for each block
        trees, cut_nodes = GraphBase.biconnected_components(
            self._native, return_articulation_points=True
        )
        lengths = np.fromiter(map(len, trees), np.int64, len(trees))
        edge = np.fromiter(chain.from_iterable(trees), np.int64, int(lengths.sum()))
        block = np.repeat(np.arange(len(trees)), lengths)
        start, nodes = _in_order(block, self._u[edge], self._v[edge])
        return Blocks(start, nodes, np.sort(np.array(cut_nodes, np.int32)))

    def coreness(self) -> Ints:
        """Largest k such that the node is in the k-core, for each node."""
        return np.array(self._native.coreness(), np.int32)

    def communities(self, weight: Ints, method: Method) -> Ints:
        """Community of each node, numbered by smallest position; always the same ones.

        Leiden maximises modularity (Traag, Waltman, van Eck 2019), Infomap shortens the
        description of a random walk (Rosvall, Bergstrom 2008), label propagation takes the most
        common label around (Raghavan, Albert, Kumara 2007).
        """
        weights = weight.tolist()
        with _fixed_generator():
            if method == "leiden":
                found = self._native.community_leiden("modularity", weights, n_iterations=2)
            elif method == "infomap":
                found = self._native.community_infomap(edge_weights=weights, trials=1)
            else:
                found = self._native.community_label_propagation(weights=weights)
        return numbered_by_first(np.array(found.membership, np.int32))


def _in_order(block: Longs, u: Ints, v: Ints) -> tuple[Longs, Ints]:
    """Sorted nodes of each block, blocks by their two smallest: no two of them share both."""
    number, node = np.concatenate((block, block)), np.concatenate((u, v))
    order = np.lexsort((node, number))
    number, node = number[order], node[order]
    fresh = np.ones(len(node), np.bool_)
    fresh[1:] = (np.diff(number) != 0) | (np.diff(node) != 0)
    number, node = number[fresh], node[fresh]
    first = np.flatnonzero(np.diff(number, prepend=-1))
    lengths = np.diff(np.append(first, len(node)))
    ranked = np.lexsort((node[first + 1], node[first]))
    rank = np.empty(len(first), np.int64)
    rank[ranked] = np.arange(len(first))
    again = np.argsort(rank[number], kind="stable")
    start = np.concatenate(([0], np.cumsum(lengths[ranked]))).astype(np.int64)
    return start, node[again]


def graphml(
    path: Path,
) -> tuple[list[dict[str, object]], list[tuple[int, int, dict[str, object]]], bool]:
    """Attributes of the nodes of a GraphML file, edges by node number, and whether it is directed.

    Raises FileNotFoundError, and what igraph raises for a file that is no GraphML.
    """
    from igraph import Graph as Native

    found: Any = Native.Read_GraphML(str(path.resolve(strict=True)))
    nodes = [node.attributes() for node in found.vs]
    edges = [(edge.source, edge.target, edge.attributes()) for edge in found.es]
    return nodes, edges, found.is_directed()


def forces(
    n: int, edges: NDArray[np.int64], start: NDArray[np.float64] | None, rounds: int
) -> NDArray[np.float64]:
    """Fruchterman-Reingold positions of a connected graph, n x 2; always the same ones."""
    from igraph import Graph as Native

    with _fixed_generator():
        pairs: Any = np.ascontiguousarray(edges, np.int64)
        graph = Native(n=n, edges=memoryview(pairs))
        seed = None if start is None else start.tolist()
        placed = graph.layout_fruchterman_reingold(
            niter=rounds,
            seed=seed,
            start_temp=sqrt(n) / (_FRESH if start is None else _SETTLED),
            grid=n > _GRID_FROM,
        )
        return np.array(placed.coords, np.float64)


@contextmanager
def _fixed_generator() -> Iterator[None]:
    """Give igraph its own seeded generator, and the ordinary one back."""
    from igraph import set_random_number_generator

    with _GENERATOR:
        set_random_number_generator(random.Random(_SEED))  # noqa: S311 - a map, not a secret
        try:
            yield
        finally:
            set_random_number_generator(random)
