"""A group of questions that nothing links to the rest of the record.

A connected component of level 0 with at least three nodes, a question and two lineages, other than
the largest: that one thread stands alone tells nothing.
Hard: it stays apart when generic concepts are put back. Soft: only hiding them parts it. In a graph
without turns, any component of at least k_min nodes, and nodes count as questions do.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from math import log2

import numpy as np

from graphstore.columns import distinct
from graphstore.model.view import NO_DAY, QUESTION, VISITED
from topology import cuts
from topology.cuts import Longs, Mask
from topology.evidence import Finding, listed, seed
from topology.level import Level
from topology.model import HUBS_NAMED, Demand, Limits, Seed
from topology.separation import touching_hubs
from topology.structure import Separation, Structure

NAME = "island"
VERSION = 2
ORACLE = "test_islands_are_the_other_components_with_questions"

LEAST_NODES = 3
SOFT_FACTOR = 0.5
UNVISITED_FACTOR = 1.25
_HARD = (
    "Nothing links these {q} questions in {t} threads to the rest of the record; "
    "one shared concept would."
)
_BARE = "Nothing links these {n} nodes to the rest."
_BARE_SOFT = "Only {hub_list}, too common to count, ties these {n} nodes to the rest."
_SOFT = "Only {hub_list}, too common to count, ties these {q} questions in {t} threads to the rest."


@dataclass(frozen=True, slots=True)
class _Island:
    component: int
    questions: int
    threads: int
    day: int
    unvisited: bool
    soft: bool
    score: float

    def order(self) -> tuple[float, int, int]:
        return (-self.score, -self.threads, self.component)


def find(graph: Structure, limits: Limits) -> Iterator[Seed]:
    """Yield islands of level 0, best first."""
    found = sorted(_islands(graph, limits), key=_Island.order)
    graph.tally.found[NAME] = len(found)
    for island in found:
        yield _seed(graph, island)


def _islands(graph: Structure, limits: Limits) -> Iterator[_Island]:
    level = graph.level(0)
    labels = level.components
    size = np.bincount(labels)
    if len(size) < 2:  # noqa: PLR2004 - one component has no rest to be apart from
        return
    questions = np.bincount(labels, level.kind == QUESTION).astype(np.int64)
    day = np.full(len(size), NO_DAY, np.int32)
    np.maximum.at(day, labels, level.day)
    visited = np.bincount(labels, (level.flags & VISITED) > 0) > 0
    threads, soft = _threads(level, len(size)), _soft(graph, level)
    wanted = (
        (size >= LEAST_NODES) & (questions > 0) if graph.view.has_refs else size >= limits.k_min
    )
    wanted &= level.are_enough(threads, limits)
    wanted[np.argmax(size)] = False
    counted = questions if graph.view.has_refs else size
    for at in np.flatnonzero(wanted).tolist():
        score = log2(1 + counted[at]) * graph.recency(int(day[at]))
        score *= SOFT_FACTOR if soft[at] else 1.0
        score *= 1.0 if visited[at] else UNVISITED_FACTOR
        yield _Island(
            *(at, int(questions[at]), int(threads[at]), int(day[at])),
            *(not visited[at], bool(soft[at]), round(score, 6)),
        )


def _threads(level: Level, components: int) -> Longs:
    """Distinct lineages of each component."""
    own = level.lineage >= 0
    component, _ = distinct(level.components[own].astype(np.int64), level.lineage[own])
    return np.bincount(component, minlength=components)


def _soft(graph: Structure, level: Level) -> Mask:
    """Components that meet another one when generic concepts are put back.

    Each component is one node, each generic concept another one.
    """
    count = int(level.components.max()) + 1
    generic, hub, other = graph.hub_ends(0)
    node = np.zeros(len(generic), np.int32)
    node[level.base] = level.components
    node[generic] = np.arange(count, count + int(generic.sum()), dtype=np.int32)
    one, two = (node[end].astype(np.int64) for end in (hub, other))
    low, high = distinct(np.minimum(one, two), np.maximum(one, two))
    joined = cuts.components(
        cuts.adjacency(count + int(generic.sum()), low.astype(np.int32), high.astype(np.int32))
    )[:count]
    return np.bincount(joined)[joined] > 1


def _seed(graph: Structure, island: _Island) -> Seed:
    level = graph.level(0)
    nodes = np.flatnonzero(level.components == island.component).astype(np.int32)
    hubs = touching_hubs(graph, 0, graph.in_whole(level, nodes), -1) if island.soft else ()
    largest = int(np.argmax(np.bincount(level.components)))
    return seed(
        graph,
        Finding(
            shape=NAME,
            kind="component",
            level=0,
            score=island.score,
            sentence=_SOFT if island.soft else _HARD,
            bare=_BARE_SOFT if island.soft else _BARE,
            identity=tuple(sorted(graph.node_ids(level, nodes.tolist()))),
            members=tuple(("member", node) for node in listed(graph, level, nodes)),
            numbers={
                "q": island.questions,
                "t": island.threads,
                "n": len(nodes),
                "hubs": len(hubs),
                "recency": graph.recency(island.day),
                "unvisited": int(island.unvisited),
            },
            sizes={"member": len(nodes)},
            weight=int(level.degree[nodes].sum()) // 2,
            demands=(Demand(side="member"),),
            evidence={"member": graph.evidence(level, nodes)},
            soft=island.soft,
            hubs=hubs[:HUBS_NAMED],
            separation=Separation(
                0,
                pieces=((int(nodes[0]), len(nodes)),),
                outside=int(np.flatnonzero(level.components == largest)[0]),
            ),
        ),
    )
