"""The prospective walk: where chance leads from a Journey's frontier along extracted links.

A random walk with restart (Tong, Faloutsos and Pan 2006) whose draws are hashes of the Journey and
its surroundings, so that the same ground is always walked in the same way.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import cached_property
from hashlib import blake2b
from itertools import accumulate, pairwise
from math import sqrt
from typing import Final

from dream.company import is_topic, nested
from dream.findings import Walked
from dream.index import Index
from graphstore import ids
from graphstore.model.knowledge import QuestionStatus

WALKS, STEPS, RESTART = 64, 8, 0.15
HOPS, NODES, EDGES = 2, 400, 1600
VISITS: Final = 0.02
"""Least share of all visits that a target needs."""
WAYS: Final = 3
"""Different walks that must come to a target."""
MOST: Final = 6
WORTH: Final = 0.35
"""Least salience of a question that a walk may end at."""
NAMED: Final = 2
SPAN: Final = 2**64


class Walk:
    """All walks from the frontier of one Journey."""

    def __init__(self, journey: str, index: Index) -> None:
        self.journey = journey
        self.index = index

    @cached_property
    def own(self) -> frozenset[str]:
        """Questions and concepts of the Journey, and of the turns it passed."""
        index, turns = self.index, self.index.journey_refs.get(self.journey, ())
        asked = index.journey_questions.get(self.journey, ())
        cluster = {one for each in asked for one in index.members[index.clusters[each]]}
        named = {each for ref in turns for each in index.turn_concepts.get(ref, ())}
        return frozenset(cluster | named | set(index.journey_concepts(self.journey)))

    @cached_property
    def starts(self) -> tuple[str, ...]:
        """Where it stands: what its frontier turns ask and name, else its own questions."""
        index = self.index
        standing = set(index.journeys[self.journey].frontier_refs)
        asked = {each for each, refs in index.askings.items() if standing.intersection(refs)}
        named = {each for ref in standing for each in index.turn_concepts.get(ref, ())}
        here = asked | {each for each in named if index.is_specific(each)}
        own = index.journey_questions.get(self.journey, ())
        for found in (here, own):
            if starts := sorted(each for each in found if each in index.neighbours):
                return tuple(starts)
        return ()

    @cached_property
    def ground(self) -> dict[str, tuple[str, ...]]:
        """Neighbours within two hops of the frontier, at most 400 nodes and 1,600 edges."""
        kept = dict.fromkeys(self.starts)
        edge: list[str] = list(kept)
        for _ in range(HOPS):
            found = {each for node in edge for each in self.index.neighbours[node]}
            edge = sorted(found - kept.keys())[: NODES - len(kept)]
            kept.update(dict.fromkeys(edge))
        pairs = [
            (one, other)
            for one in kept
            for other in sorted(self.index.neighbours[one])
            if one < other and other in kept
        ]
        near: defaultdict[str, list[str]] = defaultdict(list)
        for one, other in pairs[:EDGES]:
            near[one].append(other)
            near[other].append(one)
        return {node: tuple(sorted(near[node])) for node in sorted(near)}

    @cached_property
    def odds(self) -> dict[str, tuple[float, ...]]:
        """By node, running sums over its neighbours of weight by root of degree."""
        return {
            node: tuple(
                accumulate(
                    self.index.bond(node, each)[0] / sqrt(self.index.degree(each)) for each in near
                )
            )
            for node, near in self.ground.items()
        }

    @cached_property
    def paths(self) -> tuple[tuple[str, ...], ...]:
        """The nodes of each walk, its start first."""
        starts = [each for each in self.starts if each in self.ground]
        if not starts:
            return ()
        seed = ids.digest(self.journey, tuple(self.ground))
        return tuple(tuple(self._steps(seed, walk, starts)) for walk in range(WALKS))

    def _steps(self, seed: str, walk: int, starts: list[str]) -> Iterator[str]:
        node = starts[walk % len(starts)]
        yield node
        for step in range(STEPS):
            if draw(seed, walk, step, "restart") < RESTART:
                node = starts[walk % len(starts)]
            else:
                node = self._next(node, draw(seed, walk, step, "way"))
            yield node

    def _next(self, node: str, chance: float) -> str:
        odds = self.odds[node]
        at = next(at for at, upto in enumerate(odds) if chance * odds[-1] < upto)
        return self.ground[node][at]

    def targets(self) -> tuple[Walked, ...]:
        """Where walks come to often enough, by visits; no part of the Journey, nor next to it."""
        visits = Counter(node for path in self.paths for node in path[1:])
        ways = Counter(node for path in self.paths for node in set(path[1:]))
        kept = sorted(
            (node for node in visits if self._counts(node, visits, ways)),
            key=lambda node: (-visits[node], node),
        )[:MOST]
        return tuple(self._target(node, visits[kept[0]], visits, ways) for node in kept)

    def _counts(self, node: str, visits: Counter[str], ways: Counter[str]) -> bool:
        enough = visits[node] >= VISITS * visits.total() and ways[node] >= WAYS
        return enough and node not in self.own and self._is_far(node) and self._is_worth(node)

    def _is_far(self, node: str) -> bool:
        near = self.index.neighbours[node]
        elsewhere = self.index.lineages_of(self.index.refs_of(self._table(node), node))
        home = self.index.lineages_of(self.index.journey_refs.get(self.journey, ()))
        apart = node not in self.starts and not near.intersection(self.starts)
        return apart and bool(elsewhere - home)

    def _is_worth(self, node: str) -> bool:
        """A concept that is a topic and no other name of an own one, or a question of weight."""
        question = self.index.questions.get(node)
        if question is None:
            own = (each for each in self.own if each in self.index.concepts)
            return is_topic(self.index, node) and not any(
                nested(self.index, node, each) for each in own
            )
        return question.salience >= WORTH and question.status is not QuestionStatus.DROPPED

    def _table(self, node: str) -> str:
        return "Question" if node in self.index.questions else "Concept"

    def _target(self, node: str, most: int, visits: Counter[str], ways: Counter[str]) -> Walked:
        before = Counter(
            one for path in self.paths for one, other in pairwise(path) if other == node != one
        )
        order = sorted(before, key=lambda each: (-before[each], each))
        table = self._table(node)
        return Walked(
            src=self.journey,
            dst=node,
            dst_table="Question" if table == "Question" else "Concept",
            label=self.index.label(table, node),
            walks=ways[node],
            visits=visits[node],
            share=round(visits[node] / most, 6),
            through=tuple(
                self.index.label("Concept", each) for each in order if each in self.index.concepts
            )[:NAMED],
        )


def draw(*seed: object) -> float:
    """A number from 0 to below 1 that a hash of the seed decides."""
    drawn = blake2b(" ".join(map(str, seed)).encode(), digest_size=8).digest()
    return int.from_bytes(drawn) / SPAN
