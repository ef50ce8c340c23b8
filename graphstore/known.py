"""What a workspace knows: its threads and records, by the ledger's tables, and its graph. Read."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from graphstore import asking, stored, verification
from graphstore.derivation import Ground
from graphstore.model.conversation import Thread
from graphstore.model.knowledge import Edge, Node
from graphstore.model.query import Fault, QueryTable, Resolved, Scalar
from graphstore.model.record import CycleRecord, DreamRecord, EpochRecord, JourneyRecord
from graphstore.model.refs import RefUnresolved
from graphstore.resolution import resolve
from graphstore.said import Said
from graphstore.surroundings import Surroundings
from graphstore.workspace import Workspace

if TYPE_CHECKING:
    from graphstore.model.view import GraphView
    from graphstore.view import Scope

N = TypeVar("N", bound=Node)
E = TypeVar("E", bound=Edge)


class Known:
    """Reading of an opened workspace; many may read while one writes."""

    def __init__(self, space: Workspace) -> None:
        self._space = space
        self.path = space.path
        self.ledger = space.ledger
        self.search = space.search

    # reading the ledger's tables

    def thread(self, thread_id: str) -> Thread | None:
        """A thread with its own turns."""
        return self._space.threads.get(thread_id)

    def threads(self) -> Iterator[Thread]:
        """Every thread, by id."""
        for thread_id in self._space.threads.ids():
            thread = self._space.threads.get(thread_id)
            if thread is not None:
                yield thread

    def holding(self, source: str, keys: Iterable[str]) -> tuple[str, ...]:
        """Ids of the threads of a source that store a turn with one of these native keys."""
        return self._space.threads.holding(source, keys)

    def descendants(self, thread_id: str) -> tuple[str, ...]:
        """Ids of the threads whose lineage names this one as parent."""
        return self._space.threads.children(thread_id)

    def roots(self) -> dict[str, str]:
        """Lineage root of every thread."""
        return self._space.source.roots()

    def resolve(self, ref: str) -> Resolved | RefUnresolved:
        """The turn a reference or an alias of one points at; prefixes are the parent's."""
        return resolve(self._space.threads, ref)

    def fingerprints(self, refs: Iterable[str]) -> dict[str, str | None]:
        """Fingerprint of each turn now; None when it is gone or left the main line."""
        found: dict[str, str | None] = {}
        for ref in refs:
            match self.resolve(ref):
                case Resolved(thread=thread, turn=turn) if turn.number in thread.path:
                    found[ref] = turn.fingerprint
                case _:
                    found[ref] = None
        return found

    def epoch(self) -> EpochRecord | None:
        """The last epoch."""
        entry = self.ledger.newest("epoch", "epoch")
        return None if entry is None else self._space.source.epoch()

    def alike(self, question: str) -> dict[str, float]:
        """Questions worded most alike, by id, with the cosine of the two."""
        return self._space.source.parts.near.of(question)

    def said(self) -> Said:
        """What the owner said of pairs of questions and of concepts."""
        return self._space.source.said()

    def journey_records(self) -> tuple[JourneyRecord, ...]:
        """Every journey record, in ledger order."""
        return self._space.source.journeys()

    def dreams(self) -> tuple[DreamRecord, ...]:
        """Every record that hypothesis edges are made from, in ledger order."""
        return self._space.source.dreams()

    def cycles(self) -> tuple[CycleRecord, ...]:
        """Every cycle record, in ledger order."""
        return self._space.source.cycles()

    # reading the graph

    def nodes(self, cls: type[N]) -> tuple[N, ...]:
        """Every node of a class, by key."""
        with self._space.graph.reader() as statement:
            return stored.read_nodes(statement, cls)

    def edges(self, cls: type[E]) -> tuple[E, ...]:
        """Every edge of a class, by ends and keys."""
        with self._space.graph.reader() as statement:
            return stored.read_edges(statement, cls)

    def ends(
        self,
        cls: type[Edge],
        pair: tuple[str, str],
        name: str,
        keys: Sequence[str],
        end: Literal["a", "b"] = "a",
    ) -> list[tuple[str, str, Any]]:
        """Source, target and one column of the edges that start (a) or end (b) at some keys."""
        if not keys:
            return []
        with self._space.graph.reader() as statement:
            return stored.found_ends(statement, cls, pair, name, keys, end)

    def ground(self) -> Ground:
        """Every extracted row."""
        with self._space.graph.reader() as statement:
            ground = stored.read_ground(statement)
        return replace(ground, said=self._space.source.said().pairs)

    def around(
        self, threads: Iterable[str], least: int
    ) -> tuple[Ground, tuple[JourneyRecord, ...]]:
        """What a search for Journeys around some threads needs, with the records of those there.

        ``least``: lineages that a Journey begins with.
        """
        with self._space.graph.reader() as statement:
            found = Surroundings(statement, self._space.source.parts, sorted(threads), least)
        records = (one for name in found.journeys for one in self._space.source.journeys(name))
        return replace(found.ground(), said=self._space.source.said().pairs), tuple(records)

    def meta(self) -> dict[str, str]:
        """What the graph says about itself."""
        with self._space.graph.reader() as statement:
            return stored.read_meta(statement)

    def view(self, scope: "Scope | None" = None) -> "GraphView":
        """The graph as arrays, for the scout."""
        from graphstore.view import Scope, view

        with self._space.graph.reader() as statement:
            return view(statement, Scope() if scope is None else scope)

    def query(
        self,
        cypher: str,
        params: Mapping[str, Scalar],
        *,
        limit: int = 1000,
        timeout_s: float = 10.0,
    ) -> QueryTable:
        """Run one reading statement; raises QueryRefused for any other."""
        with self._space.graph.reader(timeout_s) as statement:
            return asking.ask(statement, cypher, params, limit)

    def verify(self) -> tuple[Fault, ...]:
        """Everything that does not hold; empty when all is well.

        Raises LedgerUnreadable when the file of the ledger is damaged, be it in an index only.
        """
        self._space.ledger.check_pages()
        self.search.check()
        with self._space.graph.reader() as statement:
            return verification.verify(self._space.source, statement)
