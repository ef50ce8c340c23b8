"""Two grounds of one store, at T and after it: what is linked at T, what became linked since.

A link counts when it could not have been extracted at T: its turns are later, or one of the two
questions it joins was asked for the first time later. Likeness counts for nothing.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from itertools import combinations, product
from typing import Final, Literal, TypeAlias

from dream.focus import TRACKABLE
from dream.index import Index
from dream.lexicon import has
from graphstore.model.hypothesis import Compensates, Hypothesis

Relation: TypeAlias = Literal["meet", "settle", "correct"]
Ends: TypeAlias = tuple[str, str]
SILENT: Final = frozenset({"single_point", "missed_source"})
"""Rules of which no later turn can say that they hold: nothing a replay could count."""


@dataclass(frozen=True, slots=True, order=True)
class Pool:
    """Pairs of one kind that were not joined at T: what a rule could have chosen from."""

    relation: Relation
    src: str
    """Table of an end."""
    dst: str
    apart: bool = False
    """No lineage names both."""

    @property
    def name(self) -> str:
        """As it is shown."""
        return f"{self.relation} {self.src}-{self.dst}{' apart' if self.apart else ''}"


@dataclass(frozen=True)
class Sides:
    """One cut. Ends are nodes at T: a question stands for its cluster, a thread for its lineage."""

    then: Index
    later: Index
    at: datetime

    # what a hypothesis predicts

    def end(self, table: str, node: str) -> str:
        """The node that stands for an end."""
        match table:
            case "Question":
                return self.then.clusters.get(node, node)
            case "Thread":
                return self.then.threads[node].lineage_root
            case _:
                return node

    def predicted(self, one: Hypothesis) -> tuple[Pool, Ends] | None:
        """Pool and ends of a hypothesis; None where no later turn can say that it holds."""
        if one.rule in SILENT:
            return None
        src, dst = self.end(one.src_table, one.src), self.end(one.dst_table, one.dst)
        if one.rule == "repeated_correction":
            return Pool("correct", "Thread", "Thread"), ordered(src, dst)
        if isinstance(one, Compensates) and one.dst_table == "Question":
            return Pool("settle", one.src_table, "Question"), (src, dst)
        if one.src_table == one.dst_table:
            apart = not self.homes(one.src_table, src) & self.homes(one.dst_table, dst)
            return Pool("meet", one.src_table, one.dst_table, apart), ordered(src, dst)
        return Pool("meet", one.src_table, one.dst_table), (src, dst)

    def homes(self, table: str, node: str) -> frozenset[str]:
        """Lineages at T that hold a node."""
        if table == "Thread":
            return frozenset({node})
        if table == "Concept":
            return self.then.concept_lineages.get(node, frozenset())
        return self.then.lineages_of(self.then.refs_of(table, node))

    # what there was to choose from

    def nodes(self, table: str) -> tuple[str, ...]:
        """Nodes at T that a rule may join, sorted."""
        then = self.then
        match table:
            case "Question":
                asked = (
                    each for each in then.askings if then.questions[each].salience >= TRACKABLE
                )
                found = {then.clusters[each] for each in asked}
            case "Concept":
                found = {each for each in then.concept_refs if then.is_specific(each)}
            case "Thread":
                found = set(then.lineage_turns)
            case _:
                found = {key for key, each in then.journeys.items() if each.merged_into is None}
        return tuple(sorted(found))

    def pairs(self, pool: Pool) -> Iterator[Ends]:
        """Every pair of a pool, in order."""
        if pool.relation == "settle":
            yield from self.open_pairs(pool.src)
            return
        joined = self.joined(pool)
        near = self.nodes(pool.src)
        if pool.src != pool.dst:
            found: Iterable[Ends] = product(near, self.nodes(pool.dst))
        elif pool.relation == "correct":
            found = combinations(self.corrected, 2)
        else:
            homes = {each: self.homes(pool.src, each) for each in near}
            found = (
                (one, other)
                for one, other in combinations(near, 2)
                if homes[one].isdisjoint(homes[other]) == pool.apart
            )
        yield from (pair for pair in found if pair not in joined)

    def open_pairs(self, table: str) -> Iterator[Ends]:
        """Threads, or Journeys, with the open questions that they ask."""
        then, worth = self.then, set(self.nodes("Question"))
        for node in self.nodes(table):
            own = self.asked_by(then, table, node)
            for question in sorted({then.clusters[each] for each in own if each in then.clusters}):
                if question in worth and not then.cluster_answers(question):
                    yield node, question

    def asked_by(self, index: Index, table: str, node: str) -> tuple[str, ...]:
        """Questions that a lineage or a Journey asks."""
        if table == "Journey":
            return index.journey_questions.get(node, ())
        refs = index.lineage_turns.get(node, ())
        return tuple(each for ref in refs for each in index.turn_questions.get(ref, ()))

    @cached_property
    def corrected(self) -> tuple[str, ...]:
        """Lineages in which something was corrected."""
        given = self.then.signal_refs.get("correction", ())
        return tuple(sorted({self.then.lineage(ref) for ref, _ in given}))

    def joined(self, pool: Pool) -> frozenset[Ends]:
        """Pairs of the pool's kind that are joined at T."""
        then = self.then
        match pool.relation, pool.src, pool.dst:
            case "meet", "Concept", "Concept":
                return frozenset(ordered(edge.src, edge.dst) for edge in then.ground.relates)
            case "meet", "Question", "Question":
                return frozenset(
                    ordered(then.clusters[edge.src], then.clusters[edge.dst])
                    for edge in then.ground.links
                    if edge.src in then.clusters and edge.dst in then.clusters
                )
            case "meet", "Question", "Concept":
                held = then.question_concepts.items()
                return frozenset((then.clusters[q], each) for q, found in held for each in found)
            case "meet", "Thread" | "Journey", "Concept":
                return frozenset(
                    (node, each)
                    for node in self.nodes(pool.src)
                    for each in self.named_by(then, pool.src, node)
                )
            case "meet", "Thread" | "Journey", "Question":
                return frozenset(
                    (node, then.clusters[each])
                    for node in self.nodes(pool.src)
                    for each in self.asked_by(then, pool.src, node)
                )
        return frozenset()

    def named_by(self, index: Index, table: str, node: str) -> set[str]:
        """Concepts that a lineage or a Journey names."""
        turns = index.lineage_turns if table == "Thread" else index.journey_refs
        return {each for ref in turns.get(node, ()) for each in index.turn_concepts.get(ref, ())}

    # what came of it

    def hits(self, pool: Pool) -> frozenset[Ends]:
        """Pairs of nodes at T that later turns join, whether they were joined at T or not."""
        match pool.relation, pool.src, pool.dst:
            case "settle", table, _:
                pairs = self.open_pairs(table)
                return frozenset(pair for pair in pairs if self.is_settled(*pair, table))
            case "correct", _, _:
                return frozenset(self.corrected_again())
            case "meet", "Concept", "Concept":
                return frozenset(
                    ordered(edge.src, edge.dst)
                    for edge in self.later.ground.relates
                    if self.is_late(edge.source_refs)
                )
            case "meet", "Question", "Question":
                return frozenset(self.linked())
            case "meet", "Question", "Concept":
                return frozenset(
                    (cluster, each)
                    for question in self.new_questions
                    for cluster in self.stands_for(question)
                    for each in self.later.question_concepts.get(question, ())
                )
            case "meet", "Thread", "Thread":
                return frozenset(self.threads_linked())
            case "meet", "Journey", "Journey":
                return frozenset(self.journeys_met())
            case _, table, "Concept":
                return frozenset(
                    (node, each)
                    for node in self.nodes(table)
                    for ref in self.late_turns(table, node)
                    for each in self.later.turn_concepts.get(ref, ())
                )
        return frozenset(
            (node, cluster)
            for node in self.nodes(pool.src)
            for ref in self.late_turns(pool.src, node)
            for question in self.later.turn_questions.get(ref, ())
            for cluster in self.stands_for(question)
        )

    def is_late(self, refs: Iterable[str]) -> bool:
        """Whether all of some turns, at least one, were said after T."""
        at = [self.later.turns[ref].at for ref in refs if ref in self.later.turns]
        return bool(at) and all(each is not None and each > self.at for each in at)

    def late_turns(self, table: str, node: str) -> Iterator[str]:
        """Later turns of a lineage or of a Journey."""
        turns = self.later.lineage_turns if table == "Thread" else self.later.journey_refs
        yield from (ref for ref in turns.get(node, ()) if self.is_late((ref,)))

    @cached_property
    def new_questions(self) -> tuple[str, ...]:
        """Questions that were asked for the first time after T."""
        return tuple(each for each in self.later.askings if each not in self.then.askings)

    def stands_for(self, question: str) -> frozenset[str]:
        """Clusters at T that a question belongs to by what is known later."""
        members = self.later.members.get(self.later.clusters.get(question, ""), ())
        return frozenset(self.then.clusters[each] for each in members if each in self.then.askings)

    def linked(self) -> Iterator[Ends]:
        """Clusters that a question of later joins, by a link or by belonging to both."""
        fresh = set(self.new_questions)
        for question in self.new_questions:
            yield from combinations(sorted(self.stands_for(question)), 2)
        for edge in self.later.ground.links:
            if fresh.intersection((edge.src, edge.dst)):
                for one, other in product(self.stands_for(edge.src), self.stands_for(edge.dst)):
                    if one != other:
                        yield ordered(one, other)

    def threads_linked(self) -> Iterator[Ends]:
        """Lineages of T whose later questions are linked, or are one."""
        asked: defaultdict[str, set[str]] = defaultdict(set)
        for node in self.nodes("Thread"):
            for ref in self.late_turns("Thread", node):
                for question in self.later.turn_questions.get(ref, ()):
                    asked[self.later.clusters[question]].add(node)
        for nodes in asked.values():
            yield from combinations(sorted(nodes), 2)

    def journeys_met(self) -> Iterator[Ends]:
        """Journeys of T that pass the same lineage later."""
        where: defaultdict[str, set[str]] = defaultdict(set)
        for node in self.nodes("Journey"):
            for ref in self.late_turns("Journey", node):
                where[self.later.lineage(ref)].add(node)
        for nodes in where.values():
            yield from combinations(sorted(nodes), 2)

    def is_settled(self, node: str, question: str, table: str) -> bool:
        """Whether a later human turn resolves a question, or tests it where it was asked."""
        answers = self.later.cluster_answers(question)
        if any(self.is_late((ref,)) for ref in answers):
            return True
        about = set(self.then.specific(question))
        return any(
            self.later.turns[ref].role == "human"
            and about.intersection(self.later.turn_concepts.get(ref, ()))
            and has("verification", self.later.turns[ref].text)
            for ref in self.late_turns(table, node)
        )

    def corrected_again(self) -> Iterator[Ends]:
        """Lineages whose common correction is given once more."""
        given: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
        for ref, signal in self.then.signal_refs.get("correction", ()):
            for concept in signal.concepts:
                given[signal.type, concept].add(self.then.lineage(ref))
        for ref, signal in self.later.signal_refs.get("correction", ()):
            if self.is_late((ref,)):
                for concept in signal.concepts:
                    yield from combinations(sorted(given.get((signal.type, concept), ())), 2)


def ordered(one: str, other: str) -> Ends:
    """Two ends, the smaller first."""
    return (one, other) if one <= other else (other, one)
