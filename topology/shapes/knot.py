"""A group so tightly linked that no single node holds it together.

Dense: biconnected blocks of the k-core of level 1, and blocks inside a strongly connected component
of its arcs, of at least four nodes and three lineages. Obligation: a block, or a strongly connected
component, of links between questions and of dependencies and contradictions between concepts, with
at least three open ends, none of which was resolved since the first of them.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import log2

import numpy as np

from graphstore.model.view import (
    CONTAINMENT,
    CONTRADICTION,
    DEPENDS_ON,
    EVOLVING,
    LINK,
    MENTION,
    NO_DAY,
    OPEN,
    QUESTION,
    RESOLVED,
)
from topology import cuts
from topology.blocks import of_edges
from topology.cuts import Ints, Longs
from topology.dense import SMALLEST, Group, group
from topology.evidence import Finding, listed, seed
from topology.level import Level
from topology.model import Demand, LevelNumber, Limits, Seed, Truncation
from topology.structure import Structure

NAME = "knot"
VERSION = 2
NEEDS = ("engine",)
ORACLE = "test_dense_knots_are_blocks_of_cores"

LEAST_OBLIGATIONS = 3
FAR = np.iinfo(np.int32).max
OBLIGATIONS_NAMED = 20
"""Obligations that must each bring a ref; more would not fit into the refs of a Seed."""
_DENSE = (
    "Each of {n} nodes in {t} threads has at least {links} links inside the group; "
    "no single node holds it together."
)
_BARE = (
    "Each of {n} nodes has at least {links} links inside the group; "
    "no single node holds it together."
)
_OBLIGATION = "{o} open obligations depend on each other and none has a resolving move."


@dataclass(frozen=True, slots=True)
class _Knot:
    level: LevelNumber
    group: Group
    score: float
    obligations: tuple[Longs, ...] = ()
    """Keys of the turns of each open obligation."""

    def order(self) -> tuple[float, float, tuple[int, ...]]:
        return (-self.score, -round(self.group.density, 6), self.group.nodes)


def find(graph: Structure, limits: Limits) -> Iterator[Seed]:
    """Yield knots, best first."""
    found = {knot.group.nodes: knot for knot in (*_loops(graph), *_dense(graph, limits))}
    ranked = sorted((*found.values(), *_obligations(graph)), key=_Knot.order)
    graph.tally.found[NAME] = len(ranked)
    for knot in ranked:
        yield _obligation_seed(graph, knot) if knot.obligations else _dense_seed(graph, knot)


def _dense(graph: Structure, limits: Limits) -> Iterator[_Knot]:
    level = graph.level(1)
    found = graph.dense
    if found.too_large:
        graph.tally.truncated.append(
            Truncation(
                shape=NAME,
                what="knot_too_large",
                done=limits.raises,
                of=limits.raises + found.too_large,
            )
        )
    for members in found.groups:
        yield _scored(level, members)


def _scored(level: Level, members: Group) -> _Knot:
    return _Knot(level.number, members, round(members.k * log2(len(members.nodes)), 6))


def _loops(graph: Structure) -> Iterator[_Knot]:
    """Blocks inside the strongly connected components of four nodes or more."""
    level, label = graph.level(1), graph.strong
    big = np.bincount(label, minlength=1) >= SMALLEST
    arcs = graph.arcs[(label[graph.arcs[:, 0]] == label[graph.arcs[:, 1]])]
    arcs = np.unique(np.sort(arcs[big[label[arcs[:, 0]]]], axis=1), axis=0)
    for nodes in _big_blocks(level.n, arcs[:, 0], arcs[:, 1], SMALLEST):
        yield _scored(level, group(level, nodes))


def _big_blocks(n: int, u: Ints, v: Ints, least: int) -> Iterator[Ints]:
    blocks = of_edges(n, u, v)
    for block in np.flatnonzero(np.diff(blocks.start) >= least).tolist():
        yield blocks.members(block)


def _obligations(graph: Structure) -> Iterator[_Knot]:
    """Groups of links between questions, and of dependencies and contradictions of concepts."""
    if not graph.view.has_refs:
        return
    level = graph.level(0)
    needs = _dependencies(graph, level)
    asks = (level.roles & (LINK | CONTAINMENT | MENTION)) == LINK
    asks &= (level.kind[level.u] == QUESTION) & (level.kind[level.v] == QUESTION)
    against = (level.roles & CONTRADICTION) > 0
    members = level.part(np.union1d(np.flatnonzero(asks | against), needs))
    for nodes in _tied(graph, members):
        open_nodes = nodes[(level.flags[nodes] & OPEN) > 0]
        inside = needs[np.isin(level.u[needs], nodes) & np.isin(level.v[needs], nodes)]
        turns = [
            *(graph.around(level, node) for node in open_nodes.tolist()),
            *(graph.turns(level, [edge]) for edge in inside.tolist()),
        ]
        owing = np.concatenate((open_nodes, level.u[inside], level.v[inside]))
        if len(turns) >= LEAST_OBLIGATIONS and not _is_resolved(graph, level, nodes, owing):
            score = round(len(turns) * log2(len(nodes)), 6)
            yield _Knot(0, group(members, nodes), score, tuple(turns))


def _tied(graph: Structure, members: Level) -> list[Ints]:
    """Blocks, and strongly connected components of what follows and depends, each once."""
    local = np.full(len(graph.view.ids), -1, np.int32)
    local[members.base] = np.arange(members.n, dtype=np.int32)
    coded = np.isin(graph.view.arcs[:, 2], (EVOLVING, DEPENDS_ON))
    ends = local[graph.view.arcs[coded, :2]]
    ends = ends[(ends >= 0).all(axis=1)]
    label = cuts.strong_components(members.n, ends[:, 0], ends[:, 1])
    big = np.flatnonzero(np.bincount(label, minlength=1) >= LEAST_OBLIGATIONS).tolist()
    loops = [np.flatnonzero(label == number).astype(np.int32) for number in big]
    blocks = _big_blocks(members.n, members.u, members.v, LEAST_OBLIGATIONS)
    found = {tuple(nodes.tolist()): nodes for nodes in (*blocks, *loops)}
    return [found[name] for name in sorted(found)]


def _is_resolved(graph: Structure, level: Level, nodes: Ints, owing: Ints) -> bool:
    """Whether a question was resolved since its first obligation, or at an unknown time."""
    base = level.base
    answered = graph.view.settled[base[nodes[(level.flags[nodes] & RESOLVED) > 0]]]
    began = graph.view.began[base[owing]]
    first = int(began[began != NO_DAY].min(initial=FAR))
    return bool(((answered == NO_DAY) | (answered >= first) | (first == FAR)).any())


def _dependencies(graph: Structure, level: Level) -> Longs:
    """Edges of level 0 that carry a dependency."""
    arcs = graph.view.arcs[graph.view.arcs[:, 2] == DEPENDS_ON, :2]
    local = np.full(len(graph.view.ids), -1, np.int64)
    local[level.base] = np.arange(level.n)
    ends = np.sort(local[arcs], axis=1)
    ends = np.unique(ends[ends[:, 0] >= 0], axis=0)
    keys = level.u.astype(np.int64) * level.n + level.v
    return np.flatnonzero(np.isin(keys, ends[:, 0] * level.n + ends[:, 1]))


def _dense_seed(graph: Structure, knot: _Knot) -> Seed:
    level, members = graph.level(knot.level), knot.group
    nodes = np.array(members.nodes, np.int32)
    lineages = level.lineage[nodes]
    return _seed(
        graph,
        knot,
        sentence=_DENSE,
        numbers={
            "t": len(np.unique(lineages[lineages >= 0])),
            "k": members.k,
            "links": members.links,
        },
        demands=(Demand(side="", refs=3, threads=3, reason="needs_more_threads"),),
        evidence={"member": graph.evidence(level, nodes)},
    )


def _obligation_seed(graph: Structure, knot: _Knot) -> Seed:
    named = knot.obligations[:OBLIGATIONS_NAMED]
    sides = [f"obligation_{at}" for at in range(1, len(named) + 1)]
    return _seed(
        graph,
        knot,
        sentence=_OBLIGATION,
        numbers={"o": len(knot.obligations)},
        demands=tuple(Demand(side=side, reason="obligation_without_ref") for side in sides),
        evidence=dict(zip(sides, named, strict=True)),
    )


def _seed(
    graph: Structure,
    knot: _Knot,
    *,
    sentence: str,
    numbers: Mapping[str, int],
    demands: tuple[Demand, ...],
    evidence: Mapping[str, Longs],
) -> Seed:
    level, members = graph.level(knot.level), knot.group
    nodes = np.array(members.nodes, np.int32)
    own = {"n": len(nodes), "edges": members.edges, "solid": members.solid}
    return seed(
        graph,
        Finding(
            shape=NAME,
            kind="obligation" if knot.obligations else "dense",
            level=knot.level,
            score=knot.score,
            sentence=sentence,
            bare=_BARE,
            identity=tuple(sorted(graph.node_ids(level, members.nodes))),
            members=tuple(("member", node) for node in listed(graph, level, nodes)),
            numbers={**own, "density": members.density, **numbers},
            sizes={"member": len(nodes)},
            weight=members.edges,
            demands=demands,
            evidence=evidence,
        ),
    )
