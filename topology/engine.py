"""The only igraph import: coreness, communities, forces of a layout."""

import random  # noqa: TID251 - igraph draws from a generator of ours, with a fixed seed
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from importlib.util import find_spec
from math import sqrt
from pathlib import Path
from threading import Lock
from typing import Any, Final, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from topology.cuts import Ints, numbered_by_first

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


class Graph:
    """An igraph graph of ``n`` nodes, built once for several questions."""

    def __init__(self, n: int, u: Ints, v: Ints) -> None:
        from igraph import Graph as Native

        pairs: Any = np.column_stack((u, v)).astype(np.int64)
        self._native: Any = Native(n=n, edges=memoryview(pairs) if len(pairs) else [])

    def cut_nodes(self) -> Ints:
        """Articulation points, sorted."""
        return np.sort(np.array(self._native.articulation_points(), np.int32))

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
