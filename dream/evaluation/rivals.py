"""Baselines of link prediction, over the same pairs that a rule could have chosen from.

Common neighbours, Adamic-Adar (Adamic and Adar 2003), resource allocation (Zhou, Lü and Zhang
2009), preferential attachment (Barabasi and Albert 1999), and likeness of wording.
"""

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import log
from typing import Final, TypeAlias

from dream.evaluation.sides import Ends, Pool, Sides

NAMES: Final = (
    "common_neighbours",
    "adamic_adar",
    "resource_allocation",
    "preferential_attachment",
    "static_vectors",
)
WEIGHTS: Final[dict[str, Callable[[int], float]]] = {
    "common_neighbours": lambda _: 1.0,
    "adamic_adar": lambda degree: 1 / log(degree),
    "resource_allocation": lambda degree: 1 / degree,
}
"""What a common neighbour of so many nodes, at least two, is worth."""
WORDS: Final = 4000
"""Characters of a lineage that its vector is made of."""


Likeness: TypeAlias = Callable[[Sequence[str], Sequence[str]], Sequence[Sequence[float]]]
"""Cosines of texts, one row for each of the first ones."""


@dataclass(frozen=True)
class Rivals:
    """Scores of the pairs of one cut; pairs without any are 0."""

    sides: Sides
    likeness: Likeness

    @cached_property
    def around(self) -> dict[str, frozenset[str]]:
        """Extracted neighbours of every node that may be an end, and of those between them."""
        index, found = self.sides.then, defaultdict[str, set[str]](set)
        for node, near in index.neighbours.items():
            found[index.clusters.get(node, node)].update(
                index.clusters.get(each, each) for each in near
            )
        for table in ("Thread", "Journey"):
            for node in self.sides.nodes(table):
                named = self.sides.named_by(index, table, node)
                asked = self.sides.asked_by(index, table, node)
                own = {each for each in named if index.is_specific(each)}
                own |= {index.clusters[each] for each in asked if each in index.clusters}
                found[node] |= own
        return {node: frozenset(found[node] - {node}) for node in sorted(found)}

    def degree(self, node: str) -> int:
        """Extracted neighbours of a node."""
        return len(self.around.get(node, ()))

    def scores(self, name: str, pairs: Sequence[Ends], pool: Pool) -> list[float]:
        """Score of each pair by one baseline."""
        if name == "preferential_attachment":
            return [float(self.degree(one) * self.degree(other)) for one, other in pairs]
        if name == "static_vectors":
            return self._alike(pairs, pool)
        weigh, empty = WEIGHTS[name], frozenset[str]()
        return [
            round(
                sum(
                    weigh(self._between[each])
                    for each in sorted(self.around.get(one, empty) & self.around.get(other, empty))
                ),
                9,
            )
            for one, other in pairs
        ]

    @cached_property
    def _between(self) -> dict[str, int]:
        """How many nodes hold each neighbour."""
        held: defaultdict[str, int] = defaultdict(int)
        for near in self.around.values():
            for each in near:
                held[each] += 1
        return dict(held)

    def _alike(self, pairs: Sequence[Ends], pool: Pool) -> list[float]:
        near = sorted({one for one, _ in pairs})
        far = sorted({other for _, other in pairs})
        if not pairs:
            return []
        rows = self.likeness(
            [self._words(pool.src, each) for each in near],
            [self._words(pool.dst, each) for each in far],
        )
        at = {node: place for place, node in enumerate(near)}
        to = {node: place for place, node in enumerate(far)}
        return [rows[at[one]][to[other]] for one, other in pairs]

    def _words(self, table: str, node: str) -> str:
        index = self.sides.then
        if table != "Thread":
            return index.label(table, node)
        return "\n".join(index.turns[ref].text for ref in index.lineage_turns[node])[:WORDS]
