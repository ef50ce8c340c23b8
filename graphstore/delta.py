"""What must change so that some rows become others, and the statements that change it."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, TypeVar

from graphstore import schema
from graphstore.codec import encode_edge, encode_edge_key, encode_node
from graphstore.engine import Transaction
from graphstore.model.knowledge import Edge, HasTurn, Node, SourceRefNode
from graphstore.rows import Rows
from graphstore.schema import END_COLUMNS, KEY_COLUMN, Column

N = TypeVar("N", bound=Node)
E = TypeVar("E", bound=Edge)
K = TypeVar("K", str, tuple[str, ...])
R = TypeVar("R", Node, Edge)

NODES_FOR_A_ROW: Final = 2_000
"""Nodes whose keys are read in the time that it takes to write one row by itself."""
EDGES_FOR_A_NODE: Final = 4
"""Edges are many more than nodes, and where some are looked for, all are read."""

THREADS: Final = 10
"""Threads up to which turns are written thread by thread."""


@dataclass(slots=True)
class Delta:
    """What must change so that old rows become new ones."""

    new_nodes: list[Node] = field(default_factory=list)
    set_nodes: list[Node] = field(default_factory=list)
    drop_nodes: list[Node] = field(default_factory=list)
    new_edges: list[Edge] = field(default_factory=list)
    set_edges: list[Edge] = field(default_factory=list)
    drop_edges: list[Edge] = field(default_factory=list)


def difference(old: Rows, new: Rows) -> Delta:
    """Compare by class and key."""
    delta = Delta()
    for cls, nodes in new.nodes.items():
        _compare(old.nodes[cls], nodes, delta.new_nodes, delta.set_nodes, delta.drop_nodes)
    for edge_cls, edges in new.edges.items():
        _compare(old.edges[edge_cls], edges, delta.new_edges, delta.set_edges, delta.drop_edges)
    return delta


def _compare(
    had: Mapping[K, R], wanted: Mapping[K, R], new: list[R], changed: list[R], gone: list[R]
) -> None:
    for key in sorted(wanted):
        if key not in had:
            new.append(wanted[key])
        elif had[key] is not wanted[key] and had[key] != wanted[key]:  # most are the very same
            changed.append(wanted[key])
    gone += [had[key] for key in sorted(had) if key not in wanted]


def _by_class(nodes: Iterable[N]) -> dict[type[N], list[N]]:
    grouped: dict[type[N], list[N]] = defaultdict(list)
    for node in nodes:
        grouped[type(node)].append(node)
    return grouped


def _by_pair(edges: Iterable[E]) -> dict[tuple[type[E], str, str], list[E]]:
    grouped: dict[tuple[type[E], str, str], list[E]] = defaultdict(list)
    for edge in edges:
        grouped[type(edge), edge.src_table, edge.dst_table].append(edge)
    return grouped


def _key_columns(cls: type[Edge]) -> tuple[Column, ...]:
    kept = tuple(column for column in schema.columns(cls) if column.name in cls.KEYS)
    return (*END_COLUMNS, *sorted(kept, key=lambda column: cls.KEYS.index(column.name)))


def write(statement: Transaction, delta: Delta, *, nodes_for_a_row: int = NODES_FOR_A_ROW) -> None:
    """Write a difference. New edges come last, and nothing reads relations after them.

    Beside edges that the same transaction wrote, the engine (kuzu 0.11.3) returns some edges
    twice and others not at all, and MERGE matches wrongly; what it reads before is right.
    """
    pen = _Pen(statement, nodes_for_a_row)
    for (edge_cls, src, dst), edges in _by_pair(delta.drop_edges).items():
        rows = [encode_edge_key(edge) for edge in edges]
        cypher = schema.delete_edge(edge_cls, src, dst)
        pen.drop(cypher, _key_columns(edge_cls), rows, (src, dst) * EDGES_FOR_A_NODE)
    _write_edges(pen, delta.set_edges, schema.set_edge, EDGES_FOR_A_NODE)
    for cls, nodes in _by_class(delta.drop_nodes).items():
        keys = [(node.key,) for node in nodes]
        for cypher in schema.delete_node(cls):
            pen.drop(cypher, (KEY_COLUMN,), keys, (cls.TABLE,))
    for cls, nodes in _by_class(delta.set_nodes).items():
        cells = [encode_node(node) for node in nodes]
        pen.put(schema.merge_node(cls), schema.columns(cls), cells, (cls.TABLE,))
    hung = _hung(delta)
    below = {turn.key for turns in hung.values() for turn, _ in turns}
    fresh = (node for node in delta.new_nodes if node.key not in below)
    for cls, nodes in _by_class(fresh).items():
        cells = [encode_node(node) for node in nodes]
        statement.put(schema.create_node(cls), schema.columns(cls), cells)
    for thread, turns in hung.items():
        cells = [
            (*encode_node(turn), *encode_edge(edge)[len(END_COLUMNS) :]) for turn, edge in turns
        ]
        statement.put_below(schema.create_turns(), schema.turn_columns(), cells, thread)
    others = [edge for edge in delta.new_edges if not (type(edge) is HasTurn and edge.dst in below)]
    _write_edges(pen, others, schema.create_edge)


def _hung(delta: Delta) -> dict[str, list[tuple[Node, Edge]]]:
    """New turns with their edges, by thread; none where these are many."""
    turns = {node.key: node for node in delta.new_nodes if type(node) is SourceRefNode}
    hung: dict[str, list[tuple[Node, Edge]]] = defaultdict(list)
    for edge in delta.new_edges:
        if type(edge) is HasTurn and edge.dst in turns:
            hung[edge.src].append((turns[edge.dst], edge))
    return hung if len(hung) <= THREADS else {}


def _write_edges(
    pen: "_Pen",
    edges: Iterable[Edge],
    cypher: Callable[[type[Edge], str, str], str],
    read: int = 1,
) -> None:
    for (cls, src, dst), found in _by_pair(edges).items():
        columns = (*END_COLUMNS, *schema.columns(cls))
        rows = [encode_edge(edge) for edge in found]
        pen.put(cypher(cls, src, dst), columns, rows, (src, dst) * read)


class _Pen:
    """Writes rows as one table, or, where they are few beside the nodes there are, one by one.

    To find the nodes of a table of rows, the engine (kuzu 0.11.3) reads the key of every node.
    """

    def __init__(self, statement: Transaction, nodes_for_a_row: int) -> None:
        self._statement = statement
        self._nodes_for_a_row = nodes_for_a_row
        self._sizes: dict[str, int] = {}

    def _few(self, rows: Sequence[object], tables: tuple[str, ...]) -> bool:
        for table in tables:
            if table not in self._sizes:
                counted = self._statement.columns(schema.count_nodes(table))
                self._sizes[table] = int(counted["rows"][0])
        return len(rows) * self._nodes_for_a_row < sum(self._sizes[table] for table in tables)

    def put(
        self,
        cypher: str,
        columns: Sequence[Column],
        rows: Sequence[Sequence[object]],
        tables: tuple[str, ...],
    ) -> None:
        """Write rows that are found by keys of these tables."""
        if self._few(rows, tables):
            self._statement.put_each(schema.for_one(cypher), columns, rows)
        else:
            self._statement.put(cypher, columns, rows)

    def drop(
        self,
        cypher: str,
        columns: Sequence[Column],
        rows: Sequence[Sequence[object]],
        tables: tuple[str, ...],
    ) -> None:
        """Delete what is found by keys of these tables."""
        if self._few(rows, tables):
            self._statement.each(schema.for_one(cypher), columns, rows)
        else:
            self._statement.discard(cypher, columns, rows)
