"""What a search for Journeys around some threads needs: those rows of the graph, found by keys."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, Literal, TypeVar

from graphstore.derivation import Ground
from graphstore.engine import Transaction
from graphstore.ids import thread_of
from graphstore.model.knowledge import (
    Anchored,
    Answers,
    Asks,
    Concept,
    Edge,
    Journey,
    Links,
    LinkType,
    Mentions,
    Question,
    SourceRefNode,
    ThreadNode,
)
from graphstore.parts import Parts
from graphstore.rows import Rows
from graphstore.stored import (
    found_asked,
    found_edges,
    found_ends,
    found_nodes,
    found_paths,
    found_signals,
)

E = TypeVar("E", bound=Edge)


_ENDS: Final[tuple[Literal["a"], Literal["b"]]] = ("a", "b")
_QUESTIONS: Final = ("Question", "Question")


class Surroundings:
    """The rows around threads: clusters of their questions, pairs of their concepts.

    Clusters and pairs of too few lineages to begin a Journey are left out, unless one of their
    questions belongs to a Journey already.
    """

    def __init__(
        self, statement: Transaction, parts: Parts, threads: Sequence[str], least: int
    ) -> None:
        """``least``: lineages that a Journey begins with."""
        self._statement = statement
        self._parts = parts
        self._least = least
        self._rows = Rows()
        self._whole = self._clusters(parts.asked_in(threads))
        names = self._whole | self._pairs(parts.named_in(threads))
        if names:
            self._questions(names)
            self._threads()
        self.journeys = self._standing()

    def ground(self) -> Ground:
        """The rows; of the questions that are whole every link is among them."""
        return self._rows.ground(frozenset(self._whole))

    def _edges(
        self, cls: type[E], pair: tuple[str, str], keys: Iterable[str], end: Literal["a", "b"] = "a"
    ) -> tuple[E, ...]:
        """Edges that start (a) or end (b) at the keys; they are taken in."""
        found = found_edges(self._statement, cls, pair, sorted(keys), end)
        self._rows.add(found)
        return found

    def _clusters(self, asked: set[str]) -> set[str]:
        """These questions and all that recurring links join to them, where it may matter."""
        joined: dict[str, set[str]] = {name: set() for name in asked}
        fresh = set(asked)
        while fresh:
            found = self._recurring(fresh)
            fresh = {end for pair in found for end in pair} - joined.keys()
            for one, other in found:
                joined.setdefault(one, set()).add(other)
                joined.setdefault(other, set()).add(one)
        names = sorted(joined)
        asks = found_ends(self._statement, Asks, ("SourceRef", "Question"), "weight", names, "b")
        threads: dict[str, set[str]] = {}
        for ref, name, _ in asks:
            threads.setdefault(name, set()).add(thread_of(ref))
        between = ("Journey", "Question")
        held = found_ends(self._statement, Anchored, between, "weight", names, "b")
        owned = {name for _, name, _ in held}
        kept: set[str] = set()
        for group in _groups(joined):
            of_group = {thread for name in group for thread in threads.get(name, ())}
            if group & owned or len(self._parts.lineages(of_group)) >= self._least:
                kept |= group
        for end in _ENDS:
            self._edges(Links, _QUESTIONS, kept, end)
        return kept

    def _recurring(self, names: set[str]) -> list[tuple[str, str]]:
        return [
            (one, other)
            for end in _ENDS
            for one, other, kind in found_ends(
                self._statement, Links, _QUESTIONS, "link_type", sorted(names), end
            )
            if kind == LinkType.RECURRING
        ]

    def _pairs(self, named: set[str]) -> set[str]:
        """Questions that name one of these concepts, where enough lineages name it."""
        telling = found_nodes(self._statement, Concept, sorted(named))
        shared = {
            one.concept_id
            for one in telling
            if not one.generic and len(self._parts.naming(one.concept_id)) >= self._least
        }
        asked = self._edges(Mentions, ("Question", "Concept"), shared, "b")
        self._edges(Mentions, ("SourceRef", "Concept"), {row.dst for row in asked}, "b")
        return {row.src for row in asked}

    def _questions(self, names: set[str]) -> None:
        self._rows.add(found_nodes(self._statement, Question, sorted(names)))
        self._edges(Mentions, ("Question", "Concept"), names)
        self._edges(Asks, ("SourceRef", "Question"), names, "b")
        self._edges(Answers, ("SourceRef", "Question"), names, "b")

    def _threads(self) -> None:
        """Threads that ask one of the questions, with those of their turns that tell something.

        Those are turns that ask, answer or have signals. And heads of threads that mention.
        """
        asking = _threads_of(self._rows.edges[Asks].values())
        self._rows.add(found_asked(self._statement, sorted(asking)))
        self._rows.add(found_signals(self._statement, sorted(asking)))
        asked = {edge.src for edge in self._rows.edges[Asks].values()}
        telling = asked.union(edge.src for edge in self._rows.edges[Answers].values())
        others = sorted(telling - self._rows.nodes[SourceRefNode].keys())
        self._rows.add(found_nodes(self._statement, SourceRefNode, others))
        self._rows.add(found_paths(self._statement, sorted(asked | _next(asked))))
        heads = asking | _threads_of(self._rows.edges[Mentions].values())
        self._rows.add(found_nodes(self._statement, ThreadNode, sorted(heads)))
        concepts = sorted({edge.dst for edge in self._rows.edges[Mentions].values()})
        self._rows.add(found_nodes(self._statement, Concept, concepts))

    def _standing(self) -> tuple[str, ...]:
        """Ids of the Journeys that rest on one of the questions or concepts, or took one in."""
        found: set[str] = set()
        for table, cls in (("Question", Question), ("Concept", Concept)):
            ends = sorted(self._rows.nodes[cls])
            anchored = found_edges(self._statement, Anchored, ("Journey", table), ends, "b")
            found |= {edge.src for edge in anchored}
        fresh = found
        while fresh:
            nodes = found_nodes(self._statement, Journey, sorted(fresh))
            fresh = {node.merged_into for node in nodes if node.merged_into} - found
            found |= fresh
        return tuple(sorted(found))


def _groups(joined: Mapping[str, set[str]]) -> Iterator[set[str]]:
    """Names that are joined, directly or by others."""
    left = set(joined)
    for name in sorted(joined):
        if name in left:
            group, fresh = set(), {name}
            while fresh:
                group |= fresh
                fresh = {other for one in fresh for other in joined[one]} - group
            left -= group
            yield group


def _threads_of(edges: Iterable[Edge]) -> set[str]:
    return {thread_of(edge.src) for edge in edges if edge.src_table == "SourceRef"}


def _next(refs: Iterable[str]) -> set[str]:
    """The turns after these: they answer."""
    cut = (ref.rpartition(":") for ref in refs)
    return {f"{before}:{int(number) + 1}" for before, _, number in cut}
