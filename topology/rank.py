"""Order of Seeds within a shape and across shapes, and which of them speak of one place."""

from collections.abc import Iterable, Sequence
from typing import Final

from topology.model import Seed

SHAPE_ORDER: Final = (
    "cut_point",
    "weak_bridge",
    "missing_middle",
    "cycle",
    "knot",
    "island",
    "shadow_route",
)
"""Shapes of other distributions come behind, by name."""
CUTS: Final = ("node", "order_1", "order_2")
"""Kinds of Seeds that part the graph: their smaller side is what they are about."""
ABOUT: Final = {"pair": "via", "undirected": "member"}
"""Role of the members that other kinds are about; of all others each is a place of its own."""


def numbered(seeds: Iterable[Seed]) -> tuple[Seed, ...]:
    """Give the Seeds of one shape their ranks, counted from 1: computed before annotated."""
    ordered = sorted(seeds, key=lambda seed: seed.provenance == "annotated")
    return tuple(seed.replace(rank=rank) for rank, seed in enumerate(ordered, start=1))


def interleaved(seeds: Iterable[Seed]) -> tuple[Seed, ...]:
    """Round robin over shapes: scores of different shapes cannot be compared."""
    return tuple(sorted(seeds, key=_place))


def _place(seed: Seed) -> tuple[bool, int, int, str, str]:
    known = seed.shape in SHAPE_ORDER
    order = SHAPE_ORDER.index(seed.shape) if known else len(SHAPE_ORDER)
    return seed.provenance == "annotated", seed.rank, order, seed.shape, seed.seed_id


def place_of(seed: Seed) -> frozenset[str]:
    """Nodes that a Seed is about: what it passes through, the side that parts, or its members."""
    role = ABOUT.get(seed.kind)
    if seed.kind in CUTS:
        sizes = {size.name: size.value for size in seed.sizes}
        role = "side_b" if sizes["side_b"] <= sizes["side_a"] else "side_a"
    found = {member.node_id for member in seed.members if member.role == role}
    return frozenset(found or {seed.seed_id})


def related(seeds: Sequence[Seed]) -> tuple[Seed, ...]:
    """Let a cut node and a bridge name each other when the bridge's smaller side is its piece."""
    points: dict[tuple[int | None, str], list[str]] = {}
    for seed in seeds:
        cut = _cut(seed)
        if len(cut) == 1:
            points.setdefault((seed.level, cut[0]), []).append(seed.seed_id)
    links: dict[str, list[str]] = {}
    for seed in seeds:
        for point in points.get((seed.level, _inner_end(seed)), ()):
            links.setdefault(seed.seed_id, []).append(point)
            links.setdefault(point, []).append(seed.seed_id)
    return tuple(
        seed.replace(related=tuple(sorted({*seed.related, *links[seed.seed_id]})))
        if seed.seed_id in links
        else seed
        for seed in seeds
    )


def _cut(seed: Seed) -> list[str]:
    return [member.node_id for member in seed.members if member.role == "cut"]


def _inner_end(seed: Seed) -> str:
    """End of a bridge on its larger side: without it, the smaller side is a piece."""
    cut = _cut(seed)
    if len(cut) != 2:  # noqa: PLR2004 - a bridge has two ends
        return ""
    sizes = {size.name: size.value for size in seed.sizes}
    return cut[0] if sizes["side_a"] > sizes["side_b"] else cut[1]
