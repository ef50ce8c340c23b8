"""Rows of the graph by class and key, and the values that derivation reads of them."""

from collections.abc import Iterable, Mapping
from typing import TypeVar

from graphstore.codec import edge_key
from graphstore.derivation import Ground
from graphstore.model.knowledge import (
    Anchored,
    Answers,
    Asks,
    Concept,
    Edge,
    Journey,
    Links,
    Mentions,
    Node,
    Question,
    Relates,
    SourceRefNode,
    ThreadNode,
    Waypoint,
)
from graphstore.schema import EDGE_CLASSES, NODE_CLASSES, node_class

N = TypeVar("N", bound=Node)
E = TypeVar("E", bound=Edge)


class Rows:
    """Rows by class and key; one row per key."""

    def __init__(self) -> None:
        self.nodes: dict[type[Node], dict[str, Node]] = {cls: {} for cls in NODE_CLASSES}
        self.edges: dict[type[Edge], dict[tuple[str, ...], Edge]] = {
            cls: {} for cls in EDGE_CLASSES
        }

    def add(self, rows: Iterable[Node | Edge]) -> None:
        """Take rows in; the first of one key stays."""
        for row in rows:
            if isinstance(row, Node):
                self.nodes[type(row)].setdefault(row.key, row)
            else:
                self.edges[type(row)].setdefault(edge_key(row), row)

    def holds(self, table: str, key: str) -> bool:
        """Whether a node is among the rows."""
        return key in self.nodes[node_class(table)]

    def count(self, cls: type[Node] | type[Edge]) -> int:
        """Number of rows of a class."""
        return len(self.nodes[cls] if issubclass(cls, Node) else self.edges[cls])

    def sorted_nodes(self, cls: type[N]) -> tuple[N, ...]:
        """Nodes of a class by key."""
        found = self.nodes[cls]
        return tuple(found[key] for key in sorted(found))  # type: ignore[misc]

    def sorted_edges(self, cls: type[E]) -> tuple[E, ...]:
        """Edges of a class by ends and keys."""
        found = self.edges[cls]
        return tuple(found[key] for key in sorted(found))  # type: ignore[misc]

    def ground(self, whole: frozenset[str] | None = None) -> Ground:
        """The extracted rows as derivation reads them."""
        return Ground(
            whole=whole,
            threads=self.sorted_nodes(ThreadNode),
            turns=self.sorted_nodes(SourceRefNode),
            questions=self.sorted_nodes(Question),
            concepts=self.sorted_nodes(Concept),
            asks=self.sorted_edges(Asks),
            answers=self.sorted_edges(Answers),
            mentions=self.sorted_edges(Mentions),
            links=self.sorted_edges(Links),
            relates=self.sorted_edges(Relates),
            journeys=self.sorted_nodes(Journey),
            waypoints=self.sorted_nodes(Waypoint),
            anchored=self.sorted_edges(Anchored),
        )


def joined(edges: Iterable[Edge], holds: Mapping[str, set[str]]) -> tuple[Edge, ...]:
    """The edges both of whose ends exist; ``holds`` lists the keys that do, by table."""
    return tuple(
        edge
        for edge in edges
        if edge.src in holds.get(edge.src_table, set())
        and edge.dst in holds.get(edge.dst_table, set())
    )
