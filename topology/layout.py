"""Positions for a map: forces within each component, components packed by size."""

from collections.abc import Iterator
from math import cos, pi, sin, sqrt
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from topology import cuts, engine

Points: TypeAlias = NDArray[np.float64]

CIRCLE_UP_TO: Final = 5
"""Components of so few nodes are drawn as circles: forces would only wobble."""
EDGE_ROUNDS: Final = 24_000_000
"""Rounds times (nodes + edges) of forces, over all components."""
ROUNDS: Final = (30, 300)
CLIPPED: Final = (0.5, 99.5)
"""Percentiles beyond which a node is pulled in, so that one stray does not shrink the rest."""
GAP: Final = 1.25
GOLDEN: Final = pi * (3 - sqrt(5))


def layout(n: int, edges: NDArray[np.integer], previous: Points | None = None) -> Points:
    """Positions of ``n`` nodes, n x 2, the same for the same input.

    ``edges`` is m x 2; loops and parallel pairs are ignored. ``previous`` (n x 2, NaN where
    unknown) lets a grown map keep its shape. Needs igraph.
    """
    u, v = _simple(edges)
    label = cuts.components(cuts.adjacency(n, u, v))
    parts, links = _grouped(label, label), _grouped(label[u], label)
    sizes = [(-len(nodes), number) for number, nodes in enumerate(parts)]
    rounds = int(np.clip(EDGE_ROUNDS // max(n + len(u), 1), *ROUNDS))
    placed = np.zeros((n, 2))
    at = np.zeros(n, np.int64)
    sizes.sort()
    for (_, number), centre in zip(sizes, _packed([-size for size, _ in sizes]), strict=True):
        nodes, inner = parts[number], links[number]
        at[nodes] = np.arange(len(nodes))
        pairs = np.column_stack((at[u[inner]], at[v[inner]]))
        start = None if previous is None else previous[nodes]
        placed[nodes] = _component(len(nodes), pairs, start, rounds) + centre
    return placed


def _grouped(label: cuts.Ints, every: cuts.Ints) -> list[cuts.Longs]:
    """Positions of each label, for all labels that there are."""
    counts = np.bincount(label, minlength=int(every.max(initial=-1)) + 1)
    return np.split(np.argsort(label, kind="stable"), np.cumsum(counts))[:-1]


def _simple(edges: NDArray[np.integer]) -> tuple[cuts.Ints, cuts.Ints]:
    pairs = np.unique(np.sort(edges.reshape(-1, 2), axis=1), axis=0).astype(np.int32)
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    return pairs[:, 0].copy(), pairs[:, 1].copy()


def _component(size: int, pairs: NDArray[np.int64], start: Points | None, rounds: int) -> Points:
    """One component, scaled to a disc whose area goes with its nodes."""
    if size <= CIRCLE_UP_TO:
        return _circle(size)
    known = None if start is None else _complete(start)
    raw = engine.forces(size, pairs, known, rounds)
    raw = raw if known is None else _turned(raw, known)
    low, high = np.percentile(raw, CLIPPED, axis=0)
    raw = np.clip(raw, low, high)
    centred = raw - (low + high) / 2
    extent = float(np.abs(centred).max(initial=0)) or 1.0
    scaled: Points = centred / extent * sqrt(size)
    return scaled


def _circle(size: int) -> Points:
    if size == 1:
        return np.zeros((1, 2))
    turns = [2 * pi * at / size for at in range(size)]
    return np.array([(cos(turn), sin(turn)) for turn in turns]) * sqrt(size) / 2


def _complete(start: Points) -> Points | None:
    """Known positions; new nodes begin on a small spiral round their middle."""
    known = ~np.isnan(start).any(axis=1)
    if not known.any():
        return None
    filled = start.copy()
    middle = start[known].mean(axis=0)
    for count, node in enumerate(np.flatnonzero(~known).tolist(), start=1):
        radius = sqrt(count) / 2
        filled[node] = middle + np.array((cos(count * GOLDEN), sin(count * GOLDEN))) * radius
    return filled


def _turned(raw: Points, like: Points) -> Points:
    """Turn or mirror a layout to lie as another one does; forces know no up or left."""
    raw, like = raw - raw.mean(axis=0), like - like.mean(axis=0)
    left, _, right = np.linalg.svd(raw.T @ like)
    turned: Points = raw @ (left @ right)
    return turned


def _packed(sizes: list[int]) -> Iterator[tuple[float, float]]:
    """Centres of discs: the largest in the middle, the others in rings round it, by size."""
    ring, turn = 0.0, 0.0
    outer = 0.0
    for at, size in enumerate(sizes):
        radius = sqrt(size) * GAP
        if at == 0:
            outer = radius
            yield 0.0, 0.0
            continue
        if turn == 0.0:
            ring = outer + radius
            outer = ring + radius
        yield ring * cos(turn), ring * sin(turn)
        turn += 2 * radius / ring
        if turn + 2 * radius / ring > 2 * pi:
            turn = 0.0
