"""Threads in a ring: an inquiry that comes back, or three that meet two by two.

Directed: in a strongly connected component of the arcs between lineages, the shortest way back from
the head of each arc to its tail. Undirected: in level 1 with concepts of 2 <= df <= 8 only, the
shortest cycle through each non-tree edge of a breadth-first forest, over at least three lineages
of two days or more that do not all meet in one concept. What an assistant says once is no link, nor
is a common word alone that no human says, nor one thing under two names; over common words alone
nothing goes round. Shortest cycles through chosen edges, as in the bases of Horton (1987); never an
enumeration of simple cycles.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise

import numpy as np

from graphstore.model.view import CONCEPT, NO_DAY, VOICED
from topology.cuts import Longs
from topology.evidence import Finding, seed
from topology.level import Level
from topology.loops import Budget, canonical_rotation, shortest_cycle, shortest_path
from topology.model import Demand, Limits, Seed, Truncation
from topology.structure import Structure, distinct

NAME = "cycle"
VERSION = 3
ORACLE = "test_cycles_are_shortest_ones_of_three_threads"

LARGEST_DF = 8
LEAST_THREADS = 3
_SENTENCE = (
    "The inquiry comes back to {{member}} after {{t}} threads; "
    "leaving out {{member_{one}}} to {{member_{two}}} opens the loop."
)
_MEETS = (
    "{{t}} threads meet two by two, each time over something else: {over}; "
    "leaving out {{member_{one}}} to {{member_{two}}} opens the ring."
)
_BARE = "{{length}} nodes form a ring; leaving out {{member_{one}}} to {{member_{two}}} opens it."


@dataclass(frozen=True, slots=True)
class _Cycle:
    nodes: tuple[int, ...]
    edges: tuple[int, ...]
    directed: bool
    lineages: tuple[int, ...]
    spans: int
    day: int
    least: int
    """Turns that state the least stated edge."""

    @property
    def score(self) -> float:
        """Threads first, then weeks and how often the least link is told, then shortness."""
        told = min(self.spans, 9) / 10 + min(self.least, 9) / 10
        return round(len(self.lineages) + told - len(self.nodes) / 100, 6)

    def order(self) -> tuple[float, int, bool, tuple[int, ...]]:
        return (-self.score, -self.day, not self.directed, self.nodes)


def find(graph: Structure, limits: Limits) -> Iterator[Seed]:
    """Yield cycles of level 1, best first, one per set of lineages."""
    best: dict[tuple[int, ...], _Cycle] = {}
    for cycle in sorted((*_directed(graph, limits), *_undirected(graph, limits)), key=_Cycle.order):
        best.setdefault(cycle.lineages or cycle.nodes, cycle)
    graph.tally.found[NAME] = len(best)
    for cycle in best.values():
        yield _seed(graph, cycle)


def _directed(graph: Structure, limits: Limits) -> Iterator[_Cycle]:
    """Shortest way back along the arcs of each strongly connected component."""
    level, label = graph.level(1), graph.strong
    inside = label[graph.arcs[:, 0]] == label[graph.arcs[:, 1]]
    arcs = graph.arcs[inside].tolist()
    rows: list[list[int]] = [[] for _ in range(level.n)]
    for tail, head in arcs:
        rows[tail].append(head)
    budget, found = Budget(limits.cycle_work), _Kept(limits.cycles_per_part)
    for done, (tail, head) in enumerate(arcs):
        if budget.is_spent():
            graph.tally.truncated.append(_truncation("directed arcs", done, len(arcs)))
            break
        if found.is_full(int(label[tail])):
            continue
        path = shortest_path(rows, head, tail, limits.max_cycle - 1, budget)
        if path is not None:
            nodes = canonical_rotation(path, directed=True)
            if found.add(int(label[tail]), nodes):
                yield _cycle(graph, level, nodes, directed=True)


def _undirected(graph: Structure, limits: Limits) -> Iterator[_Cycle]:
    """Shortest cycle through the non-tree edges of the cycle view, rarest concepts first."""
    every = _cycle_view(graph.level(1))
    level = every.part(np.flatnonzero(every.told))
    closing = np.flatnonzero(level.cover.child < 0)
    total = level.df[level.u[closing]] + level.df[level.v[closing]]
    order = closing[np.lexsort((closing, total))]
    rows, meets = _rows(level), _rows(every)
    budget, found = Budget(limits.cycle_work), _Kept(limits.cycles_per_part)
    for done, (edge, part) in enumerate(zip(order, _parts(level, order), strict=True)):
        if budget.is_spent():
            graph.tally.truncated.append(_truncation("undirected edges", done, len(order)))
            return
        if found.is_full(part):
            continue
        ends = int(level.u[edge]), int(level.v[edge])
        cycle = shortest_cycle(rows, ends, limits.max_cycle, budget)
        if cycle is not None and _is_inquiry(graph, level, meets, cycle):
            nodes = canonical_rotation(cycle, directed=False)
            if found.add(part, nodes):
                yield _cycle(graph, graph.level(1), nodes, directed=False)


def _cycle_view(level: Level) -> Level:
    """Level 1 without the edges of concepts that more than eight lineages mention."""
    rare = (level.kind != CONCEPT) | (level.df <= LARGEST_DF)
    return level.part(np.flatnonzero(rare[level.u] & rare[level.v]))


def _rows(level: Level) -> list[list[int]]:
    flat = level.matrix.indices.tolist()
    return [flat[start:end] for start, end in pairwise(level.matrix.indptr.tolist())]


def _is_inquiry(
    graph: Structure, level: Level, rows: Sequence[Sequence[int]], cycle: tuple[int, ...]
) -> bool:
    """Whether at least three lineages of two days or more meet, each two over something else.

    No concept that all of them mention, none under two names, no common word alone that no human
    says in either thread; and not each two over a common word.
    """
    lineages = [node for node in cycle if level.lineage[node] >= 0]
    if len(lineages) < LEAST_THREADS:
        return False
    shared = set(rows[lineages[0]]).intersection(*(rows[node] for node in lineages[1:]))
    over = [int(level.base[node]) for node in cycle if level.kind[node] == CONCEPT]
    common = sum(bool(level.plain[node]) for node in cycle)
    return not (
        any(level.kind[node] == CONCEPT for node in shared)
        or any(graph.may_be_one(a, b) for a, b in combinations(over, 2))
        or len({day for day in level.day[lineages].tolist() if day != NO_DAY}) == 1
        or common == len(lineages)
        or any(_is_unvoiced(level, cycle, at) for at in range(len(cycle)))
    )


def _is_unvoiced(level: Level, cycle: tuple[int, ...], at: int) -> bool:
    """Whether the node of a cycle is a common word that a human says in neither neighbour."""
    node = cycle[at]
    near = (cycle[at - 1], cycle[(at + 1) % len(cycle)])
    edges = [level.edge_between(min(node, end), max(node, end)) for end in near]
    return bool(level.plain[node]) and not (level.roles[edges] & VOICED).any()


class _Kept:
    """Cycles kept per component, each once."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._seen: set[tuple[int, ...]] = set()
        self._count: dict[int, int] = {}

    def is_full(self, part: int) -> bool:
        return self._count.get(part, 0) >= self._most

    def add(self, part: int, nodes: tuple[int, ...]) -> bool:
        if nodes in self._seen:
            return False
        self._seen.add(nodes)
        self._count[part] = self._count.get(part, 0) + 1
        return True


def _parts(level: Level, edges: Longs) -> list[int]:
    """Block of each edge: that of the tree edge above its deeper end, which is on its loop."""
    blocks, tree = level.blocks, level.forest
    many = len(blocks.start)
    held = blocks.nodes.astype(np.int64) * many + blocks.block
    above = tree.parent[blocks.nodes].astype(np.int64)
    hangs = (above >= 0) & np.isin(above * many + blocks.block, held)
    block = np.full(level.n, -1, np.int64)
    block[blocks.nodes[hangs]] = blocks.block[hangs]
    u, v = level.u[edges], level.v[edges]
    found: list[int] = block[np.where(tree.depth[u] >= tree.depth[v], u, v)].tolist()
    return found


def _truncation(what: str, done: int, of: int) -> Truncation:
    return Truncation(shape=NAME, what=what, done=done, of=of)


def _cycle(graph: Structure, level: Level, nodes: tuple[int, ...], *, directed: bool) -> _Cycle:
    ends = zip(nodes, (*nodes[1:], nodes[0]), strict=True)
    edges = tuple(level.edge_between(a, b) for a, b in ends)
    own = {int(level.lineage[node]) for node in nodes if level.lineage[node] >= 0}
    if directed:
        own.update(graph.lineages_of(graph.turns(level, edges)).tolist())
    days = [day for day in level.day[list(nodes)].tolist() if day != NO_DAY]
    weeks = {(day + 3) // 7 for day in days}  # day 0 was a Thursday; ISO weeks start on Monday
    return _Cycle(
        *(nodes, edges, directed, tuple(sorted(own)), len(weeks), max(days, default=NO_DAY)),
        least=int(level.weight[list(edges)].min()),
    )


def _seed(graph: Structure, cycle: _Cycle) -> Seed:
    level = graph.level(1)
    names = graph.node_ids(level, cycle.nodes)
    lightest = min(cycle.edges, key=lambda edge: (level.weight[edge], edge))
    pair = {int(level.u[lightest]), int(level.v[lightest])}
    one, two = (at + 1 for at, node in enumerate(cycle.nodes) if node in pair)
    return seed(
        graph,
        Finding(
            shape=NAME,
            kind="directed" if cycle.directed else "undirected",
            level=1,
            score=cycle.score,
            sentence=_sentence(level, cycle, one, two),
            bare=_BARE.format(one=one, two=two),
            identity=names,
            members=tuple(("member", name) for name in names),
            numbers={"t": len(cycle.lineages), "weeks": cycle.spans, "length": len(names)},
            sizes={"member": len(names)},
            weight=int(level.weight[list(cycle.edges)].sum()),
            demands=_demands(level, cycle),
            evidence=_evidence(graph, level, cycle),
        ),
    )


def _sentence(level: Level, cycle: _Cycle, one: int, two: int) -> str:
    """Over what threads meet, where each two meet over a concept; else that an inquiry returns."""
    over = [
        f"{{member_{at}}}" for at, node in enumerate(cycle.nodes, 1) if level.kind[node] == CONCEPT
    ]
    meets = not cycle.directed and len(over) == len(cycle.lineages)
    return (_MEETS if meets else _SENTENCE).format(one=one, two=two, over=", ".join(over))


def _sides(level: Level, cycle: _Cycle) -> dict[str, int]:
    """Each lineage on the cycle under the name that its refs carry."""
    return {
        f"member_{at + 1}": node for at, node in enumerate(cycle.nodes) if level.lineage[node] >= 0
    }


def _demands(level: Level, cycle: _Cycle) -> tuple[Demand, ...]:
    if cycle.directed:
        return (Demand(side="", refs=2, threads=2, reason="needs_more_threads"),)
    return (
        *(Demand(side=side) for side in _sides(level, cycle)),
        Demand(side="", refs=3, threads=3, reason="needs_more_threads"),
    )


def _evidence(graph: Structure, level: Level, cycle: _Cycle) -> dict[str, Longs]:
    """Turns that state the links of the cycle; for each lineage its own, then its first turn."""
    stated = graph.turns(level, cycle.edges)
    if cycle.directed:
        return {"member": stated}
    lineages = graph.lineages_of(stated)
    return {
        side: distinct(np.concatenate((stated[lineages == level.lineage[node]], level.ref[[node]])))
        for side, node in _sides(level, cycle).items()
    }
