"""Positions for a map by node id: the layout for callers that have no arrays."""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from topology import engine
from topology.layout import layout


def positions(
    nodes: Sequence[str],
    edges: Iterable[tuple[str, str]],
    previous: Mapping[str, tuple[float, float]] | None = None,
) -> dict[str, tuple[float, float]]:
    """Place of every node, rounded to 3 decimals; none without igraph.

    Edges whose ends are not among ``nodes`` are left out. ``previous`` keeps a grown map in shape.
    """
    if not engine.is_available():
        return {}
    at = {node: number for number, node in enumerate(nodes)}
    pairs = [(at[one], at[other]) for one, other in edges if one in at and other in at]
    before = np.full((len(nodes), 2), np.nan)
    for node, place in (previous or {}).items():
        if node in at:
            before[at[node]] = place
    known = before if previous else None
    placed = layout(len(nodes), np.array(pairs, np.int64).reshape(-1, 2), known)
    return {
        node: (round(float(x), 3), round(float(y), 3))
        for node, (x, y) in zip(nodes, placed, strict=True)
    }
