"""One edge, or a pair, is all that joins two sides of at least k_min nodes and two lineages.

Order 1: a bridge (an edge in no cycle). Order 2: the best pair of a 2-edge-cut class, where either
edge alone still holds, unless they meet in a node. A common word counts where a human says it. A
containment edge (a thread and its own question) is never a weak bridge. Theme: two communities of
level 1 that meet through one to three carriers, the fewer of the edges between them and of the
nodes that bear these on either side. Each tells of a name; the best three meetings are told.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import log2

import numpy as np

from graphstore.ids import Json, canonical
from graphstore.model.view import CONCEPT, CONTAINMENT
from topology import cuts, meetings
from topology.cuts import Ints, Longs, Mask
from topology.evidence import Finding, listed, seed
from topology.level import Level
from topology.model import Demand, LevelNumber, Limits, Seed
from topology.structure import Separation, Structure
from topology.themes import Themes

NAME = "weak_bridge"
VERSION = 4
ORACLE = "test_weak_bridges_are_those_that_removal_shows"

MOST_CARRIERS = 3
MOST_MEETINGS = 3
"""Meetings of themes in one run: each asks for a look at two whole themes."""
_BOTH_SIDES = "weak_bridge_needs_both_sides"
_SIDES = (
    Demand(side="side_a", reason=_BOTH_SIDES),
    Demand(side="side_b", reason=_BOTH_SIDES),
    Demand(side="", refs=2, threads=2, reason=_BOTH_SIDES),
)
_EDGES = tuple(Demand(side=side, reason="missing_source_ref") for side in ("edge_1", "edge_2"))
_SENTENCES = (
    "{cut} to {cut_2} is the only link between {a} nodes and {b} nodes.",
    (
        "Lose both {cut} to {cut_2} and {cut_3} to {cut_4}, and {a} nodes part from {b}; "
        "either one still holds them."
    ),
)


@dataclass(frozen=True, slots=True)
class _Cut:
    level: LevelNumber
    edges: tuple[int, ...]
    smaller: int
    score: float
    tie: int
    """Weight of a bridge; number of edges in the class of a pair."""
    also_at: tuple[int, ...] = ()

    def order(self) -> tuple[float, int, int, int, tuple[int, ...]]:
        return (-self.score, len(self.edges), self.tie, -self.level, self.edges)


@dataclass(frozen=True, slots=True)
class _Meeting:
    """Two communities and the few edges or nodes through which they meet."""

    communities: tuple[int, int]
    carriers: int
    edges: int
    score: float

    def order(self) -> tuple[float, int, int, int, tuple[int, ...]]:
        return (-self.score, 3, self.edges, -2, self.communities)


def find(graph: Structure, limits: Limits) -> Iterator[Seed]:
    """Yield weak bridges of all levels, best first."""
    found: list[_Cut | _Meeting] = [*_once(graph, limits), *_best_meetings(graph)]
    found.sort(key=lambda cut: cut.order())
    graph.tally.found[NAME] = len(found)
    graph.tally.raw[NAME] = len(graph.bridges(graph.level(0))[0])
    for cut in found:
        yield _theme_seed(graph, cut) if isinstance(cut, _Meeting) else _seed(graph, cut)


def _once(graph: Structure, limits: Limits) -> list[_Cut]:
    """Cuts of both levels; one that exists at both is kept at level 1."""
    upper = {cut.edges: cut for cut in _cuts(graph, graph.level(1), limits)}
    lower = []
    for cut in _cuts(graph, graph.level(0), limits):
        above = _contracted(graph, cut.edges)
        if above in upper:
            upper[above] = replace(upper[above], also_at=(0,))
        else:
            lower.append(cut)
    return [*upper.values(), *lower]


def _contracted(graph: Structure, edges: tuple[int, ...]) -> tuple[int, ...]:
    """The same edges at level 1, -1 for those that vanish there."""
    nodes, threads = graph.level(0), graph.level(1)
    ends = [
        (int(graph.place[nodes.base[nodes.u[edge]]]), int(graph.place[nodes.base[nodes.v[edge]]]))
        for edge in edges
    ]
    found = (threads.edge_between(a, b) if min(a, b) >= 0 else -1 for a, b in ends)
    return tuple(sorted(found))


def _cuts(graph: Structure, level: Level, limits: Limits) -> list[_Cut]:
    return [*_bridges(graph, level, limits), *_pairs(graph, level, limits)]


def _lineages_on_both(
    level: Level, limits: Limits, first: Ints, second: Ints | None = None
) -> Mask:
    """Whether enough lineages lie on both sides of what cutting above these nodes parts.

    ``-1`` for an end that is no tree edge.
    """
    forest = level.forest
    below = np.append(forest.sums(level.heads.astype(np.int64)), 0)
    inside = below[first]
    if second is not None:
        nested = forest.lie_below(first, second) | forest.lie_below(second, first)
        nested &= (first >= 0) & (second >= 0)
        inside = np.where(nested, np.abs(inside - below[second]), inside + below[second])
    whole = np.bincount(forest.component, level.heads).astype(np.int64)
    place = first if second is None else np.maximum(first, second)
    outside = whole[forest.component[place]] - inside
    return level.are_enough(np.minimum(inside, outside), limits)


def _usable(level: Level) -> Mask:
    """Edges that may be a weak bridge: what holds, and no containment."""
    found: Mask = ((level.roles & CONTAINMENT) == 0) & level.holds
    return found


def _bridges(graph: Structure, level: Level, limits: Limits) -> Iterator[_Cut]:
    edges, smaller = graph.bridges(level)
    kept = _usable(level)[edges] & (smaller >= limits.k_min)
    kept &= _lineages_on_both(level, limits, level.cover.child[edges])
    edges, smaller = edges[kept], smaller[kept]
    apart = graph.in_two_themes(level, level.u[edges], level.v[edges])
    rows = (column.tolist() for column in (edges, smaller, apart))
    for edge, side, themes in zip(*rows, strict=True):
        weight = int(level.weight[edge])
        yield _Cut(level.number, (edge,), side, _score(side, weight, themes), weight)


def _meet(level: Level, first: Longs, second: Longs) -> Mask:
    """Whether two edges have an end in common: then that node parts the sides, not the edges."""
    one, other = (level.u[first], level.v[first]), (level.u[second], level.v[second])
    found: Mask = np.logical_or.reduce([a == b for a in one for b in other])
    return found


def _pairs(graph: Structure, level: Level, limits: Limits) -> Iterator[_Cut]:
    group, first, second, arc = cuts.best_arcs(level.two_cuts, _usable(level))
    length = np.diff(level.two_cuts.start)[group]
    children = (level.cover.child[first], level.cover.child[second])
    kept = (arc >= limits.k_min) & _lineages_on_both(level, limits, *children)
    kept &= ~_meet(level, first, second)
    first, second = first[kept], second[kept]
    apart = graph.in_two_themes(level, level.u[first], level.v[first])
    apart &= graph.in_two_themes(level, level.u[second], level.v[second])
    rows = (column.tolist() for column in (first, second, arc[kept], length[kept], apart))
    for one, two, side, edges, themes in zip(*rows, strict=True):
        weight = int(level.weight[one] + level.weight[two])
        score = round(_score(side, weight, themes) / 2, 6)
        yield _Cut(level.number, (one, two), side, score, edges)


def _score(smaller: int, weight: int, themes: bool) -> float:  # noqa: FBT001 - a term of a sum
    """Size of the smaller side, then lightness; ends in different communities add 1."""
    return round(log2(smaller) + 1 / (1 + weight) + themes, 6)


def _seed(graph: Structure, cut: _Cut) -> Seed:
    level = graph.level(cut.level)
    ends = tuple((int(level.u[edge]), int(level.v[edge])) for edge in cut.edges)
    start, inside, outside = _sides(level, cut, ends)
    swapped = len(ends) == 1 and start == ends[0][1]
    sides = (outside, inside) if swapped else (inside, outside)
    far = ends[0][0] if start == ends[0][1] else ends[0][1]
    cut_ids = graph.node_ids(level, [node for pair in ends for node in pair])
    pairs: list[list[Json]] = [[*sorted(graph.node_ids(level, pair))] for pair in ends]
    heads = (ends[0][:1], ends[0][1:]) if len(ends) == 1 else ((), ())
    numbers = {"a": len(sides[0]), "b": len(sides[1]), "smaller": cut.smaller, "tie": cut.tie}
    return seed(
        graph,
        Finding(
            shape=NAME,
            kind=f"order_{len(ends)}",
            level=cut.level,
            also_at=cut.also_at,
            score=cut.score,
            sentence=_SENTENCES[len(ends) - 1],
            identity=tuple(pairs[0]) if len(pairs) == 1 else tuple(sorted(pairs, key=canonical)),
            members=(
                *(("cut", node) for node in cut_ids),
                *(("side_a", node) for node in listed(graph, level, sides[0], heads[0])),
                *(("side_b", node) for node in listed(graph, level, sides[1], heads[1])),
            ),
            numbers=numbers,
            sizes={"side_a": len(sides[0]), "side_b": len(sides[1])},
            weight=int(level.weight[list(cut.edges)].sum()),
            demands=_SIDES if len(ends) == 1 else (*_SIDES, *_EDGES),
            evidence=_evidence(graph, level, cut.edges, sides),
            separation=Separation(
                cut.level, edges=ends, pieces=((start, cut.smaller),), outside=far
            ),
        ),
    )


def _sides(level: Level, cut: _Cut, ends: tuple[tuple[int, int], ...]) -> tuple[int, Ints, Ints]:
    """End inside the smaller side, nodes of that side, and of the other.

    A side is what lies below one lower end of the cut's tree edges, but not below the other.
    """
    inside = np.zeros(level.n, np.bool_)
    for child in level.cover.child[list(cut.edges)].tolist():
        if child >= 0:
            inside ^= level.forest.below(child)
    a, b = ends[0]
    rest = level.components == level.components[a]
    rest &= ~inside
    first, second = (np.flatnonzero(side).astype(np.int32) for side in (inside, rest))
    if not inside[a]:
        first, second = second, first
    return (a, first, second) if len(first) == cut.smaller else (b, second, first)


def _evidence(
    graph: Structure, level: Level, edges: tuple[int, ...], sides: tuple[Ints, Ints]
) -> dict[str, Longs]:
    keys = {
        side: graph.evidence(level, nodes, _own(level, edges, nodes))
        for side, nodes in zip(("side_a", "side_b"), sides, strict=True)
    }
    names = ("cut",) if len(edges) == 1 else ("edge_1", "edge_2")
    for name, edge in zip(names, edges, strict=True):
        keys[name] = graph.turns(level, [edge])
    return keys


def _own(level: Level, edges: tuple[int, ...], nodes: Ints) -> list[int]:
    """Turns of the cut's ends on one side come first: they are nearest to the link.

    A concept has no turn of its own: those of its relations inside of the side stand for it.
    """
    ends = np.unique((level.u[list(edges)], level.v[list(edges)]))
    near = ends[np.isin(ends, nodes)]
    said = near[level.kind[near] != CONCEPT]
    around = [level.edges_at(end) for end in near[level.kind[near] == CONCEPT].tolist()]
    tied = np.concatenate([np.zeros(0, np.int64), *around])
    tied = tied[np.isin(level.u[tied], nodes) & np.isin(level.v[tied], nodes)]
    found: list[int] = [*level.ref[said].tolist(), *np.sort(level.edge_ref[tied]).tolist()]
    return found


def _best_meetings(graph: Structure) -> list[_Meeting]:
    """The best few meetings of communities."""
    ranked = sorted(_meetings(graph), key=_Meeting.order)
    return graph.tally.best(ranked, MOST_MEETINGS, NAME, "meetings of themes")


def _meetings(graph: Structure) -> Iterator[_Meeting]:
    """Pairs of communities with few carriers, each of which tells of a name."""
    themes, level = graph.themes, graph.level(1)
    if themes is None:
        return
    found = meetings.pairs(level, themes)
    named = meetings.pairs(level.part(np.flatnonzero(_tell_of_names(level))), themes)
    width = np.int64(len(themes.size))
    at = np.searchsorted(found.a * width + found.b, named.a * width + named.b)
    first = found.carriers_a[at] <= found.carriers_b[at]
    carriers = np.where(first, found.carriers_a[at], found.carriers_b[at])
    speak = np.where(first, named.carriers_a, named.carriers_b)
    smaller = np.minimum(themes.size[named.a], themes.size[named.b])
    scores = np.round(np.sqrt(smaller) / (1 + carriers), 6)
    kept = (carriers <= MOST_CARRIERS) & (speak == carriers)
    columns = (named.a, named.b, carriers, found.edges[at], scores)
    rows = (column[kept].tolist() for column in columns)
    for a, b, count, edges, score in zip(*rows, strict=True):
        yield _Meeting((a, b), count, edges, score)


def _tell_of_names(level: Level) -> Mask:
    """Edges that tell of a name.

    A common word alone is said here and there in another sense: it carries nothing.
    """
    found: Mask = level.told & ~level.plain[level.u] & ~level.plain[level.v]
    return found


def _theme_seed(graph: Structure, met: _Meeting) -> Seed:
    level, themes = graph.level(1), graph.themes
    assert themes is not None  # noqa: S101 - a meeting was found among them
    edges = meetings.edges_between(level, themes, *met.communities)
    carriers = _carriers(level, themes, edges, met)
    sides = meetings.sides(graph, themes, met.communities)
    named = edges[_tell_of_names(level)[edges]]
    ties = {node: _at(level, named, node) for node in carriers}
    vias = [f"via_{at}" for at in range(1, len(carriers) + 1)]
    over = [node for node in carriers if level.lineage[node] >= 0]
    reached = [_reached(level, ties[node], node) for node in over]
    names = " and ".join(_name(carriers, over, node) for node in carriers)
    return seed(
        graph,
        Finding(
            shape=NAME,
            kind="theme",
            level=2,
            score=met.score,
            sentence=f"T{sides.names[0][1:]} and {sides.names[1]} meet only through {names}.",
            identity=sides.identity,
            members=(
                *sides.members,
                *(("via", node) for node in graph.node_ids(level, [*carriers, *reached])),
            ),
            numbers={"carriers": met.carriers, "edges": met.edges},
            sizes={**sides.sizes, "via": met.carriers},
            weight=int(level.weight[edges].sum()),
            demands=(*_SIDES, *(Demand(side=via) for via in vias)),
            evidence={
                **sides.evidence,
                **{
                    via: graph.turns(level, ties[node])
                    for via, node in zip(vias, carriers, strict=True)
                },
            },
        ),
    )


def _reached(level: Level, edges: Sequence[int], node: int) -> int:
    """What a thread that carries reaches: the end of its heaviest edge."""
    edge = min(edges, key=lambda edge: (-int(level.weight[edge]), edge))
    return int(level.u[edge] + level.v[edge] - node)


def _name(carriers: Sequence[int], over: Sequence[int], node: int) -> str:
    """A carrier as placeholder; of a thread also what it speaks of, listed behind the carriers."""
    at = carriers.index(node)
    own = meetings.placeholder("via", at + 1)
    if node not in over:
        return own
    reached = meetings.placeholder("via", len(carriers) + over.index(node) + 1)
    return f"{own}, where it speaks of {reached}"


def _carriers(level: Level, themes: Themes, edges: Longs, met: _Meeting) -> list[int]:
    """End nodes on the side that has fewer of them, of the first community if both are equal."""
    ends = np.unique(np.concatenate((level.u[edges], level.v[edges])))
    sides = [ends[themes.of[ends] == community].tolist() for community in met.communities]
    found: list[int] = min(sides, key=len)
    return found


def _at(level: Level, edges: Longs, node: int) -> list[int]:
    found: list[int] = edges[(level.u[edges] == node) | (level.v[edges] == node)].tolist()
    return found
