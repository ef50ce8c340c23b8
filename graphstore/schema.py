"""Tables and statements derived from the values: the one place with table and column names."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from types import NoneType
from typing import Final, Literal, get_args, get_origin

from pydantic.fields import FieldInfo

from graphstore.model.hypothesis import HYPOTHESES
from graphstore.model.knowledge import (
    EDGES,
    NODES,
    Asks,
    ConceptKind,
    Edge,
    HasTurn,
    Mentions,
    Node,
    SourceRefNode,
)

SCHEMA_VERSION: Final = 1

NODE_CLASSES: Final[tuple[type[Node], ...]] = NODES
EDGE_CLASSES: Final[tuple[type[Edge], ...]] = (*EDGES, *HYPOTHESES)

_CELL: Final = re.compile(r"`(c_\w+)`")
_PARAMETER: Final = r"$\1"
ENDS: Final = ("src_table", "src", "dst_table", "dst")
_KINDS: Final[dict[object, str]] = {
    str: "STRING",
    int: "INT64",
    float: "DOUBLE",
    bool: "BOOL",
    tuple[str, ...]: "STRING[]",
}


@dataclass(frozen=True, slots=True)
class Column:
    """One stored field: its name, and one of STRING, INT64, DOUBLE, BOOL, TIMESTAMP, STRING[]."""

    name: str
    kind: str


KEY_COLUMN: Final = Column("key", "STRING")
END_COLUMNS: Final = (Column("src", "STRING"), Column("dst", "STRING"))


def _kind(annotation: object) -> str | None:
    """Column type of an annotation; None for a Literal tag, which is no column."""
    if get_origin(annotation) is Literal:
        return None
    if annotation in _KINDS:
        return _KINDS[annotation]
    members = [part for part in get_args(annotation) if part is not NoneType]
    if NoneType in get_args(annotation) and len(members) == 1:
        return _kind(members[0])
    if isinstance(annotation, type) and issubclass(annotation, StrEnum):
        return "STRING"
    return "TIMESTAMP"  # what is left is Instant; the schema test lists every column


def _column(name: str, field: FieldInfo) -> Column | None:
    kind = _kind(field.annotation)
    return None if kind is None else Column(name, kind)


@cache
def columns(cls: type[Node] | type[Edge]) -> tuple[Column, ...]:
    """Stored properties of a class, in field order; an edge's ends are no properties."""
    found = (
        _column(name, field)
        for name, field in cls.model_fields.items()
        if not (issubclass(cls, Edge) and name in ENDS)
    )
    return tuple(column for column in found if column is not None)


@cache
def node_class(table: str) -> type[Node]:
    """The class of a node table."""
    return next(cls for cls in NODE_CLASSES if table == cls.TABLE)


def key_of(table: str) -> str:
    """Primary key column of a node table."""
    return node_class(table).KEY


def _properties(cls: type[Node] | type[Edge]) -> str:
    return ", ".join(f"`{column.name}` {column.kind}" for column in columns(cls))


@cache
def create(cls: type[Node] | type[Edge]) -> str:
    """DDL of one table."""
    if issubclass(cls, Node):
        return f"CREATE NODE TABLE `{cls.TABLE}`({_properties(cls)}, PRIMARY KEY(`{cls.KEY}`))"
    pairs = ", ".join(f"FROM `{src}` TO `{dst}`" for src, dst in cls.PAIRS)
    return f"CREATE REL TABLE `{cls.TABLE}`({pairs}, {_properties(cls)})"


def ddl() -> tuple[str, ...]:
    """Every table, nodes before the relations that join them."""
    return tuple(create(cls) for cls in (*NODE_CLASSES, *EDGE_CLASSES))


def _set(variable: str, names: Iterable[str]) -> str:
    parts = ", ".join(f"{variable}.`{name}` = `c_{name}`" for name in names)
    return f" SET {parts}" if parts else ""


def _cells(cls: type[Node] | type[Edge], prefix: str = "c_") -> str:
    """Properties that take the cells of a row."""
    cells = ", ".join(f"`{column.name}`: `{prefix}{column.name}`" for column in columns(cls))
    return f"{{{cells}}}"


@cache
def create_node(cls: type[Node]) -> str:
    """Insert nodes that are not there from a table of ``c_<column>``; no other node is read."""
    return f"LOAD FROM $rows CREATE (n:`{cls.TABLE}` {_cells(cls)}) RETURN count(*) AS rows"


@cache
def merge_node(cls: type[Node]) -> str:
    """Insert or replace nodes from a table of ``c_<column>``."""
    names = [column.name for column in columns(cls) if column.name != cls.KEY]
    return (
        f"LOAD FROM $rows MERGE (n:`{cls.TABLE}` {{`{cls.KEY}`: `c_{cls.KEY}`}})"
        f"{_set('n', names)} RETURN count(*) AS rows"
    )


def _ends(src: str, dst: str) -> str:
    # two MATCH clauses: with a comma the engine builds the cross product
    return (
        f"LOAD FROM $rows MATCH (a:`{src}` {{`{key_of(src)}`: `c_src`}}) "
        f"MATCH (b:`{dst}` {{`{key_of(dst)}`: `c_dst`}})"
    )


def _keys(cls: type[Edge]) -> str:
    if not cls.KEYS:
        return ""
    return " {" + ", ".join(f"`{key}`: `c_{key}`" for key in cls.KEYS) + "}"


def _between(cls: type[Edge], src: str, dst: str) -> str:
    return (
        f"LOAD FROM $rows MATCH (a:`{src}` {{`{key_of(src)}`: `c_src`}})"
        f"-[r:`{cls.TABLE}`{_keys(cls)}]->(b:`{dst}` {{`{key_of(dst)}`: `c_dst`}})"
    )


@cache
def for_one(cypher: str) -> str:
    """A statement that writes what a table lists, as one for a single row: cells are parameters.

    It finds nodes by their keys, and edges from there. Given a table, the engine (kuzu 0.11.3)
    reads every key of the node tables, and every edge of the relation.
    """
    bare = cypher.removeprefix("LOAD FROM $rows ").removesuffix(" RETURN count(*) AS rows")
    return f"{_CELL.sub(_PARAMETER, bare)} RETURN 1 AS rows"


@cache
def create_edge(cls: type[Edge], src: str, dst: str) -> str:
    """Insert edges of one pair from a table of ``c_src``, ``c_dst``, ``c_<column>``.

    Not MERGE: beside edges that the same transaction wrote, the engine finds wrong matches.
    """
    made = f"CREATE (a)-[r:`{cls.TABLE}` {_cells(cls)}]->(b)"
    return f"{_ends(src, dst)} {made} RETURN count(*) AS rows"


@cache
def create_turns() -> str:
    """Insert turns that are not there with their edges from the thread whose key is ``thread``.

    Columns of turns are ``c_<column>``, those of the edges ``e_<column>``. No node is looked
    for but the one.
    """
    turn, edge = _cells(SourceRefNode), _cells(HasTurn, "e_")
    return (
        "MATCH (t:`Thread` {`thread_id`: $thread}) LOAD FROM $rows "
        f"CREATE (t)-[h:`HAS_TURN` {edge}]->(n:`SourceRef` {turn}) RETURN count(*) AS rows"
    )


def turn_columns() -> tuple[Column, ...]:
    """Columns of a table for ``create_turns``, with their prefixes."""
    of_turn = (Column(f"c_{one.name}", one.kind) for one in columns(SourceRefNode))
    return (*of_turn, *(Column(f"e_{one.name}", one.kind) for one in columns(HasTurn)))


@cache
def set_edge(cls: type[Edge], src: str, dst: str) -> str:
    """Replace the properties of edges of one pair, found by their ends and keys."""
    names = [column.name for column in columns(cls) if column.name not in cls.KEYS]
    return f"{_between(cls, src, dst)}{_set('r', names)} RETURN count(*) AS rows"


@cache
def delete_edge(cls: type[Edge], src: str, dst: str) -> str:
    """Delete edges of one pair by their ends and keys."""
    return f"{_between(cls, src, dst)} DELETE r"


@cache
def delete_node(cls: type[Node]) -> tuple[str, ...]:
    """Delete nodes by ``c_key``: relations forward, then backward, then the nodes.

    ``DETACH DELETE`` would leave phantom relations behind.
    """
    node = f"LOAD FROM $rows MATCH (n:`{cls.TABLE}` {{`{cls.KEY}`: `c_key`}})"
    forward = [
        f"{node}-[r:`{edge.TABLE}`]->(m:`{dst}`) DELETE r"
        for edge in EDGE_CLASSES
        for src, dst in edge.PAIRS
        if src == cls.TABLE
    ]
    backward = [
        f"{node}<-[r:`{edge.TABLE}`]-(m:`{src}`) DELETE r"
        for edge in EDGE_CLASSES
        for src, dst in edge.PAIRS
        if dst == cls.TABLE
    ]
    return (*forward, *backward, f"{node} DELETE n")


def _returns(variable: str, cls: type[Node] | type[Edge]) -> str:
    return ", ".join(f"{variable}.`{column.name}` AS `{column.name}`" for column in columns(cls))


@cache
def scan_nodes(cls: type[Node]) -> str:
    """Every node of a table, columns in field order."""
    return f"MATCH (n:`{cls.TABLE}`) RETURN {_returns('n', cls)}"


@cache
def find_nodes(cls: type[Node]) -> str:
    """The nodes whose keys are listed in ``c_key``."""
    return (
        f"LOAD FROM $rows MATCH (n:`{cls.TABLE}` {{`{cls.KEY}`: `c_key`}}) "
        f"RETURN {_returns('n', cls)}"
    )


@cache
def find_keys(table: str) -> str:
    """Which of the keys listed in ``c_key`` exist."""
    key = key_of(table)
    return f"LOAD FROM $rows MATCH (n:`{table}` {{`{key}`: `c_key`}}) RETURN n.`{key}` AS key"


def _edge_returns(cls: type[Edge], src: str, dst: str) -> str:
    return f"RETURN a.`{key_of(src)}` AS src, b.`{key_of(dst)}` AS dst, {_returns('r', cls)}"


@cache
def scan_edges(cls: type[Edge], src: str, dst: str) -> str:
    """Every edge of one pair: ``src``, ``dst``, then columns in field order."""
    return f"MATCH (a:`{src}`)-[r:`{cls.TABLE}`]->(b:`{dst}`) {_edge_returns(cls, src, dst)}"


def _keyed(cls: type[Edge], src: str, dst: str, end: Literal["a", "b"]) -> str:
    """Edges of one pair whose source (a) or target (b) key is listed in ``c_key``."""
    key = key_of(src if end == "a" else dst)
    table = src if end == "a" else dst
    arrow = f"-[r:`{cls.TABLE}`]->(b:`{dst}`)" if end == "a" else f"<-[r:`{cls.TABLE}`]-(a:`{src}`)"
    return f"LOAD FROM $rows MATCH ({end}:`{table}` {{`{key}`: `c_key`}}){arrow}"


def _listed(cls: type[Edge], src: str, dst: str, end: Literal["a", "b"]) -> str:
    """As ``_keyed``, with the keys in the list ``keys``.

    Given a table, the engine (kuzu 0.11.3) joins it with the whole relation.
    """
    key = key_of(src if end == "a" else dst)
    return f"MATCH (a:`{src}`)-[r:`{cls.TABLE}`]->(b:`{dst}`) WHERE {end}.`{key}` IN $keys"


@cache
def find_edges(cls: type[Edge], src: str, dst: str, *, end: Literal["a", "b"]) -> str:
    """Edges of one pair whose source (a) or target (b) key is listed in ``c_key``."""
    return f"{_keyed(cls, src, dst, end)} {_edge_returns(cls, src, dst)}"


@cache
def find_few_edges(cls: type[Edge], src: str, dst: str, *, end: Literal["a", "b"]) -> str:
    """As ``find_edges``, with the keys in the list ``keys``."""
    return f"{_listed(cls, src, dst, end)} {_edge_returns(cls, src, dst)}"


def _end_returns(src: str, dst: str, name: str) -> str:
    return f"RETURN a.`{key_of(src)}` AS src, b.`{key_of(dst)}` AS dst, r.`{name}` AS value"


@cache
def find_ends(cls: type[Edge], src: str, dst: str, name: str, *, end: Literal["a", "b"]) -> str:
    """As ``find_edges``, but of each edge only ``src``, ``dst`` and one column, as ``value``."""
    return f"{_keyed(cls, src, dst, end)} {_end_returns(src, dst, name)}"


@cache
def find_few_ends(cls: type[Edge], src: str, dst: str, name: str, *, end: Literal["a", "b"]) -> str:
    """As ``find_ends``, with the keys in the list ``keys``."""
    return f"{_listed(cls, src, dst, end)} {_end_returns(src, dst, name)}"


_OF_THREAD: Final = "MATCH (t:`Thread`)-[h:`HAS_TURN`]->"


@cache
def find_turns() -> str:
    """The turns of the thread whose key is ``thread``."""
    found = f"{_OF_THREAD}(n:`SourceRef`) WHERE t.`thread_id` = $thread"
    return f"{found} RETURN {_returns('n', SourceRefNode)}"


@cache
def find_turn_edges(cls: type[Edge], dst: str) -> str:
    """Edges that start at the turns of the thread whose key is ``thread``."""
    found = f"{_OF_THREAD}(a:`SourceRef`)-[r:`{cls.TABLE}`]->(b:`{dst}`)"
    return f"{found} WHERE t.`thread_id` = $thread {_edge_returns(cls, 'SourceRef', dst)}"


_OF_THREADS: Final = "LOAD FROM $rows MATCH (t:`Thread` {`thread_id`: `c_key`})-[h:`HAS_TURN`]->"


@cache
def find_signals() -> str:
    """Turns with signals, of the threads whose keys are listed in ``c_key``."""
    found = f"{_OF_THREADS}(n:`SourceRef`) WHERE n.`signals` <> '[]'"
    return f"{found} RETURN {_returns('n', SourceRefNode)}"


@cache
def find_asked() -> str:
    """What the turns of these threads ask."""
    found = f"{_OF_THREADS}(a:`SourceRef`)-[r:`ASKS`]->(b:`Question`)"
    return f"{found} {_edge_returns(Asks, 'SourceRef', 'Question')}"


@cache
def find_paths() -> str:
    """Mentions of paths by the turns whose keys are listed in ``c_key``."""
    found = "LOAD FROM $rows MATCH (a:`SourceRef` {`ref`: `c_key`})-[r:`MENTIONS`]->(b:`Concept`)"
    of_kind = f"WHERE b.`kind` = '{ConceptKind.PATH.value}'"
    return f"{found} {of_kind} {_edge_returns(Mentions, 'SourceRef', 'Concept')}"


@cache
def count_edges(cls: type[Edge], src: str, dst: str, *, backward: bool) -> str:
    """Number of edges of one pair, walked from its source or from its target."""
    walk = (
        f"(b:`{dst}`)<-[r:`{cls.TABLE}`]-(a:`{src}`)"
        if backward
        else f"(a:`{src}`)-[r:`{cls.TABLE}`]->(b:`{dst}`)"
    )
    return f"MATCH {walk} RETURN count(*) AS rows"


@cache
def count_nodes(table: str) -> str:
    """Number of nodes of a table."""
    return f"MATCH (n:`{table}`) RETURN count(*) AS rows"


@cache
def copy_nodes(cls: type[Node]) -> str:
    """Bulk load of a node table; only into a fresh file."""
    return f"COPY `{cls.TABLE}` FROM $rows"


@cache
def copy_edges(cls: type[Edge], src: str, dst: str) -> str:
    """Bulk load of one pair; only into a fresh file."""
    if len(cls.PAIRS) == 1:
        return f"COPY `{cls.TABLE}` FROM $rows"
    return f'COPY `{cls.TABLE}` FROM $rows (from="{src}", to="{dst}")'
