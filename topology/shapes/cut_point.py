"""A node without which at least two pieces of k_min nodes and two lineages or more fall apart.

Articulation points of level 0 (question, concept, waypoint) and level 1 (lineage, concept). What
one thread alone says hangs together by its nature, so a piece of it does not count. To each piece
that is named a name leads, or a common word that a human says.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import log2

import numpy as np

from graphstore.model.view import CONCEPT, QUESTION, THREAD, WAYPOINT
from topology import cuts
from topology.cuts import Ints, Longs
from topology.evidence import Finding, listed, seed
from topology.level import Level
from topology.model import Demand, LevelNumber, Limits, Role, Seed
from topology.structure import Separation, Structure

NAME = "cut_point"
VERSION = 3
ORACLE = "test_cut_points_are_those_that_removal_shows"

PIECES_NAMED = 20
"""Pieces that must each bring a ref; more would not fit into the refs of a Seed."""
_SENTENCE = "Without {cut}, {a} nodes and {b} nodes are no longer connected."
_KINDS = {0: (CONCEPT, QUESTION, WAYPOINT), 1: (CONCEPT, THREAD)}
_KIND_ORDER = {CONCEPT: 0, QUESTION: 1, WAYPOINT: 2, THREAD: 3}


@dataclass(frozen=True, slots=True)
class Pieces:
    """All pieces of all articulation points; pieces of one stand together, largest first."""

    node: Longs
    size: Longs
    start: Longs
    """A node of the piece."""
    lineages: Longs
    """Lineages that have a thread in the piece."""


@dataclass(frozen=True, slots=True)
class _Cut:
    level: LevelNumber
    node: int
    pieces: tuple[tuple[int, int], ...]
    """(start, size) of the counted pieces, largest first."""
    score: float
    kind: int
    also_at: tuple[int, ...] = ()

    def order(self) -> tuple[float, int, int, int, int]:
        return (-self.score, -len(self.pieces), _KIND_ORDER[self.kind], -self.level, self.node)


def pieces(level: Level) -> Pieces:
    """Sizes of what is left when an articulation point goes, from the block-cut forest."""
    blocks, n = level.blocks, level.n
    count = len(blocks.cut_nodes)
    at = np.full(n, -1, np.int64)
    at[blocks.cut_nodes] = np.arange(count)
    entry = np.flatnonzero(at[blocks.nodes] >= 0)
    cut, block = at[blocks.nodes[entry]], blocks.block[entry]
    order = np.lexsort((block, cut))
    cut, block = cut[order], block[order]
    total = count + len(blocks.start) - 1
    tree = cuts.forest(
        cuts.adjacency(total, cut.astype(np.int32), (block + count).astype(np.int32))
    )
    one = np.ones(n, np.int64)
    size = _piece_sums(level, tree, at, (cut, block), one)
    lineages = _piece_sums(level, tree, at, (cut, block), level.heads.astype(np.int64))
    node = blocks.cut_nodes[cut].astype(np.int64)
    first = blocks.nodes[blocks.start[block]]
    start = np.where(first == node, blocks.nodes[blocks.start[block] + 1], first)
    order = np.lexsort((start, -size, node))
    return Pieces(node[order], size[order], start[order].astype(np.int64), lineages[order])


def _piece_sums(
    level: Level, tree: cuts.Forest, at: Longs, pairs: tuple[Longs, Longs], weight: Longs
) -> Longs:
    """Weight of the piece behind each (articulation point, block) pair."""
    blocks = level.blocks
    count = len(blocks.cut_nodes)
    inner = np.where(at[blocks.nodes] < 0, weight[blocks.nodes], 0)
    held = np.bincount(blocks.block, inner, len(blocks.start) - 1)
    weights = np.concatenate((weight[blocks.cut_nodes], held)).astype(np.int64)
    sums = tree.sums(weights)
    whole = np.bincount(tree.component, weights).astype(np.int64)[tree.component]
    cut, block = pairs[0], pairs[1] + count
    return np.where(tree.parent[block] == cut, sums[block], whole[cut] - sums[cut])


def find(graph: Structure, limits: Limits) -> Iterator[Seed]:
    """Yield cut points of levels 1 and 0, best first."""
    known = {number: pieces(graph.level(number)) for number in (0, 1)}
    upper, lower = (
        {_name(graph, cut): cut for cut in _cuts(graph.level(number), known[number], limits)}
        for number in (1, 0)
    )
    both = [replace(cut, also_at=(0,)) if name in lower else cut for name, cut in upper.items()]
    single = [cut for name, cut in lower.items() if name not in upper]
    found = sorted([*both, *single], key=_Cut.order)
    graph.tally.found[NAME] = len(found)
    graph.tally.raw[NAME] = len(graph.level(0).blocks.cut_nodes)
    for cut in found:
        level = graph.level(cut.level)
        parts = _parts(level, cut, known[cut.level])
        ties = [_ties(level, cut.node, part) for part in parts]
        if all(level.holds[edges].any() for edges in ties):
            yield _seed(graph, cut, parts, ties)


def _name(graph: Structure, cut: _Cut) -> str:
    return graph.node_id(graph.level(cut.level), cut.node)


def _cuts(level: Level, found: Pieces, limits: Limits) -> Iterator[_Cut]:
    counted = (found.size >= limits.k_min) & level.are_enough(found.lineages, limits)
    counted &= np.isin(level.kind[found.node], _KINDS[level.number])
    node, size, start = found.node[counted], found.size[counted], found.start[counted]
    names, first, many = np.unique(node, return_index=True, return_counts=True)
    for name, at, count in zip(names.tolist(), first.tolist(), many.tolist(), strict=True):
        if count > 1:
            span = slice(at, at + count)
            held = tuple(zip(start[span].tolist(), size[span].tolist(), strict=True))
            score = round(log2(held[1][1]), 6)
            yield _Cut(level.number, name, held, score, int(level.kind[name]))


def _parts(level: Level, cut: _Cut, known: Pieces) -> list[Ints]:
    """Nodes of the named pieces; the largest is what the other ones leave."""
    first, last = np.searchsorted(known.node, (cut.node, cut.node + 1))
    starts = known.start[first:last]
    starts = starts[starts != cut.pieces[0][0]]
    rest = level.components == level.components[cut.node]
    rest[cuts.reach(level.matrix, starts, node=cut.node)] = False
    rest[cut.node] = False
    smaller = (start for start, _ in cut.pieces[1:PIECES_NAMED])
    return [
        np.flatnonzero(rest).astype(np.int32),
        *(cuts.reach(level.matrix, start, node=cut.node) for start in smaller),
    ]


def _ties(level: Level, node: int, part: Ints) -> Longs:
    """Edges that tie a piece to what would be lost: they say more than its first turns."""
    edges = level.edges_at(node)
    far = np.where(level.u[edges] == node, level.v[edges], level.u[edges])
    found: Longs = edges[np.isin(far, part)]
    return found


def _seed(graph: Structure, cut: _Cut, parts: list[Ints], ties: list[Longs]) -> Seed:
    level = graph.level(cut.level)
    named = cut.pieces[:PIECES_NAMED]
    sides = ["side_a", "side_b", *(f"piece_{number}" for number in range(3, len(named) + 1))]
    evidence = {
        side: graph.evidence(level, part, graph.turns(level, edges.tolist()).tolist())
        for side, part, edges in zip(sides, parts, ties, strict=True)
    }
    roles: tuple[Role, Role] = ("side_a", "side_b")
    members = [
        (role, node)
        for role, part in zip(roles, parts[:2], strict=True)
        for node in listed(graph, level, part)
    ]
    name = _name(graph, cut)
    return seed(
        graph,
        Finding(
            shape=NAME,
            kind="node",
            level=cut.level,
            also_at=cut.also_at,
            score=cut.score,
            sentence=_SENTENCE,
            identity=(name,),
            members=(("cut", name), *members),
            numbers={"a": named[0][1], "b": named[1][1], "pieces": len(cut.pieces)},
            sizes={side: size for side, (_, size) in zip(sides, named, strict=True)},
            weight=int(level.degree[cut.node]),
            demands=(
                Demand(side="cut"),
                *(Demand(side=side, reason="piece_without_ref") for side in sides),
                Demand(side="", threads=2, refs=2, reason="needs_more_threads"),
            ),
            evidence={"cut": graph.around(level, cut.node), **evidence},
            separation=Separation(cut.level, node=cut.node, pieces=named[1:], outside=named[0][0]),
        ),
    )
