"""Order of Seeds within a shape and across shapes, and which of them speak of one place."""

from collections.abc import Container, Iterable, Sequence
from typing import Final

from topology.model import Amount, Seed

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
NODE, BRIDGE, _ = CUTS = ("node", "order_1", "order_2")
"""Kinds of Seeds that part the graph: their smaller side is what they are about."""
BOTH: Final = 2
"""Pieces that a bridge parts, and its ends."""
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


def place_of(seed: Seed, threads: Container[str]) -> frozenset[str]:
    """Nodes that a Seed is about: what it passes through, its members, or the smaller side."""
    if seed.kind in CUTS:
        sizes = _values(seed.sizes)
        return sides_of(seed, threads)[sizes["side_b"] <= sizes["side_a"]]
    return _of_role(seed, ABOUT.get(seed.kind)) or frozenset((seed.seed_id,))


def sides_of(seed: Seed, threads: Container[str]) -> tuple[frozenset[str], frozenset[str]]:
    """Threads of both sides of a cut, which are the same on all levels; nodes without threads."""
    sides = (_of_role(seed, "side_a"), _of_role(seed, "side_b"))
    one, other = (frozenset(node for node in side if node in threads) or side for side in sides)
    return one, other


def _values(amounts: Iterable[Amount]) -> dict[str, int | float]:
    return {amount.name: amount.value for amount in amounts}


def _of_role(seed: Seed, role: str | None) -> frozenset[str]:
    return frozenset(member.node_id for member in seed.members if member.role == role)


def is_one_place(one: frozenset[str], other: frozenset[str]) -> bool:
    """Whether two places share half of what either holds."""
    return 2 * len(one & other) >= len(one | other)


def told_better(seeds: Sequence[Seed], threads: Container[str]) -> frozenset[str]:
    """Ids of the nodes that part the same two pieces as a bridge, which tells them more exactly."""
    bridged = [side for seed in seeds if seed.kind == BRIDGE for side in sides_of(seed, threads)]
    return frozenset(
        seed.seed_id
        for seed in seeds
        if seed.kind == NODE
        and _values(seed.numbers)["pieces"] == BOTH
        and any(is_one_place(place_of(seed, threads), side) for side in bridged)
    )


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
    if len(cut) != BOTH:
        return ""
    sizes = _values(seed.sizes)
    return cut[0] if sizes["side_a"] > sizes["side_b"] else cut[1]
