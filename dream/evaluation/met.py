"""The wide reading of a hit: one later turn of a person takes up both ends of a pair.

Two questions that were both asked by T are linked at T or never: what asks the same later is a
question of its own, and records hold few. Whoever comes to two things in one breath joins them too,
whether extraction makes a link of it or not. Counted by what turns ask and name, never by likeness.
"""

from collections import defaultdict
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, product
from typing import Final

from dream.evaluation.sides import Ends, Pool, Sides, ordered
from dream.lexicon import has

NAMED: Final = 2
"""Specific concepts of a question that a turn names to take it up without asking it."""


@dataclass(frozen=True)
class Met:
    """What later human turns of one cut take up."""

    sides: Sides

    def hits(self, pool: Pool) -> frozenset[Ends]:
        """Pairs that a later human turn takes up, or settles, whatever they were at T."""
        if pool.relation == "settle":
            return frozenset(pair for pair in self.sides.pairs(pool) if pair[1] in self.verified)
        if pool.relation == "correct":
            return frozenset()
        return frozenset(self._together(pool))

    def _together(self, pool: Pool) -> Iterator[Ends]:
        for ref in self.turns:
            near, far = self.taken(ref, pool.src), self.taken(ref, pool.dst)
            if pool.src == pool.dst:
                yield from (ordered(*pair) for pair in combinations(sorted(near), 2))
            else:
                yield from product(sorted(near), sorted(far))

    @cached_property
    def turns(self) -> tuple[str, ...]:
        """Later turns of persons, in order."""
        later = self.sides.later
        return tuple(
            ref
            for ref in sorted(later.turns)
            if later.turns[ref].role == "human" and self.sides.is_late((ref,))
        )

    def taken(self, ref: str, table: str) -> Collection[str]:
        """Nodes at T of one table that a later turn takes up."""
        if table == "Concept":
            return self._concepts.intersection(self.sides.later.turn_concepts.get(ref, ()))
        if table == "Question":
            return self.asked[ref]
        held = {node for question in self.asked[ref] for node in self._where[table, question]}
        return held | {node for node in self._own[ref] if node in self._nodes[table]}

    @cached_property
    def _concepts(self) -> frozenset[str]:
        return frozenset(self.sides.nodes("Concept"))

    @cached_property
    def _nodes(self) -> dict[str, frozenset[str]]:
        return {table: frozenset(self.sides.nodes(table)) for table in ("Thread", "Journey")}

    @cached_property
    def asked(self) -> dict[str, frozenset[str]]:
        """By later turn: questions that it asks, or of which it names two specific concepts."""
        about: defaultdict[str, set[str]] = defaultdict(set)
        for question in self.sides.nodes("Question"):
            for member in self.sides.then.members[question]:
                for concept in self.sides.then.specific(member):
                    about[concept].add(question)
        return {ref: frozenset(self._asked(ref, about)) for ref in self.turns}

    def _asked(self, ref: str, about: dict[str, set[str]]) -> Iterator[str]:
        later, counted = self.sides.later, defaultdict[str, int](int)
        for question in later.turn_questions.get(ref, ()):
            yield from self.sides.stands_for(question)
        for concept in later.turn_concepts.get(ref, ()):
            for question in about.get(concept, ()):
                counted[question] += 1
        yield from (question for question, named in counted.items() if named >= NAMED)

    @cached_property
    def _where(self) -> dict[tuple[str, str], set[str]]:
        """Lineages and Journeys at T by the questions that they ask."""
        found: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
        then = self.sides.then
        for table, nodes in self._nodes.items():
            for node in nodes:
                for each in self.sides.asked_by(then, table, node):
                    found[table, then.clusters.get(each, each)].add(node)
        return found

    @cached_property
    def _own(self) -> dict[str, set[str]]:
        """Lineages and Journeys at T that a later turn goes on with."""
        found: defaultdict[str, set[str]] = defaultdict(set)
        for table, nodes in self._nodes.items():
            for node in nodes:
                for ref in self.sides.late_turns(table, node):
                    found[ref].add(node)
        return found

    @cached_property
    def verified(self) -> frozenset[str]:
        """Questions that a later human turn takes up with words of a test or a measurement."""
        turns = self.sides.later.turns
        tested = (ref for ref in self.turns if has("verification", turns[ref].text))
        return frozenset(question for ref in tested for question in self.asked[ref])
