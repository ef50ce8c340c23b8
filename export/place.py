"""Places on the map as small whole numbers; a plain spiral where no layout was handed in."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from math import cos, pi, sin, sqrt
from typing import Final, TypeAlias

Places: TypeAlias = list[tuple[int, int]]

SPAN: Final = 10_000
GOLDEN: Final = pi * (3 - sqrt(5))


def sunflower(rank: int, grain: float, middle: tuple[float, float]) -> tuple[float, float]:
    """Point of Vogel's sunflower: even, without rows or rings."""
    radius = grain * sqrt(rank)
    return middle[0] + radius * cos(rank * GOLDEN), middle[1] + radius * sin(rank * GOLDEN)


def _by_degree(count: int, edges: Sequence[tuple[int, int]]) -> list[int]:
    degree: dict[int, int] = defaultdict(int)
    for u, v in edges:
        degree[u] += 1
        degree[v] += 1
    return sorted(range(count), key=lambda node: (-degree[node], node))


def _scaled(points: Sequence[tuple[float, float]]) -> Places:
    left = min((x for x, _ in points), default=0.0)
    low = min((y for _, y in points), default=0.0)
    wide = max((x - left for x, _ in points), default=0.0)
    high = max((y - low for _, y in points), default=0.0)
    scale = SPAN / (max(wide, high) or 1.0)
    return [(round((x - left) * scale), round((y - low) * scale)) for x, y in points]


def places(
    keys: Sequence[str],
    edges: Sequence[tuple[int, int]],
    given: Mapping[str, tuple[float, float]],
) -> Places:
    """Place of every key, scaled to ``SPAN``; keys without one go to a spiral around the rest.

    ``edges`` are pairs of positions in ``keys``: the most connected stand in the middle.
    """
    known = [given[key] for key in keys if key in given]
    middle = (
        (sum(x for x, _ in known) / len(known), sum(y for _, y in known) / len(known))
        if known
        else (0.0, 0.0)
    )
    reach = max((max(abs(x - middle[0]), abs(y - middle[1])) for x, y in known), default=0.0)
    free = [node for node in _by_degree(len(keys), edges) if keys[node] not in given]
    grain = reach / (10 * sqrt(len(free) or 1)) if reach else 1.0
    points: list[tuple[float, float]] = [given.get(key, middle) for key in keys]
    # past the rim of what is placed, so that newcomers do not cover it
    skip = round((1.1 * reach / grain) ** 2) if reach else 0
    for rank, node in enumerate(free, start=skip):
        points[node] = sunflower(rank, grain, middle)
    return _scaled(points)
