"""Rows of the graph, read back: all of a class, or those with given keys."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, Literal, TypeVar

from graphstore import schema
from graphstore.codec import decode_edges, decode_nodes, edge_key
from graphstore.derivation import Ground
from graphstore.engine import Transaction
from graphstore.model.knowledge import (
    Anchored,
    Answers,
    Asks,
    Concept,
    Edge,
    Journey,
    Links,
    Mentions,
    Meta,
    Node,
    Question,
    Relates,
    SourceRefNode,
    ThreadNode,
    Waypoint,
)
from graphstore.schema import KEY_COLUMN

_FEW: Final = 100
"""Keys that are looked for one by one."""
N = TypeVar("N", bound=Node)
E = TypeVar("E", bound=Edge)

Present = Callable[[str, set[str]], set[str]]
"""Which of some keys exist in a node table."""


def read_nodes(statement: Transaction, cls: type[N]) -> tuple[N, ...]:
    """Every node of a class, by key."""
    found = decode_nodes(cls, statement.columns(schema.scan_nodes(cls)))
    return tuple(sorted(found, key=lambda node: node.key))


def read_edges(statement: Transaction, cls: type[E]) -> tuple[E, ...]:
    """Every edge of a class, by ends and keys."""
    found: list[E] = []
    for src, dst in cls.PAIRS:
        table = statement.columns(schema.scan_edges(cls, src, dst))
        found.extend(decode_edges(cls, src, dst, table))
    return tuple(sorted(found, key=edge_key))


def read_rows(
    statement: Transaction, cls: type[Node] | type[Edge]
) -> tuple[Node, ...] | tuple[Edge, ...]:
    """Every row of a class, sorted."""
    return read_nodes(statement, cls) if issubclass(cls, Node) else read_edges(statement, cls)


def read_ground(statement: Transaction) -> Ground:
    """The extracted rows of the graph."""
    return Ground(
        threads=read_nodes(statement, ThreadNode),
        turns=read_nodes(statement, SourceRefNode),
        questions=read_nodes(statement, Question),
        concepts=read_nodes(statement, Concept),
        asks=read_edges(statement, Asks),
        answers=read_edges(statement, Answers),
        mentions=read_edges(statement, Mentions),
        links=read_edges(statement, Links),
        relates=read_edges(statement, Relates),
        journeys=read_nodes(statement, Journey),
        waypoints=read_nodes(statement, Waypoint),
        anchored=read_edges(statement, Anchored),
    )


def found_nodes(statement: Transaction, cls: type[N], keys: Sequence[str]) -> tuple[N, ...]:
    """Nodes of a class with these keys."""
    tables = _by_keys(statement, schema.find_nodes(cls), keys)
    return tuple(node for table in tables for node in decode_nodes(cls, table))


def found_edges(
    statement: Transaction,
    cls: type[E],
    pair: tuple[str, str],
    keys: Sequence[str],
    end: Literal["a", "b"] = "a",
) -> tuple[E, ...]:
    """Edges of one pair that start (a) or end (b) at the given keys."""
    many = schema.find_edges(cls, *pair, end=end)
    few = schema.find_few_edges(cls, *pair, end=end)
    tables = _at_keys(statement, many, few, keys)
    return tuple(edge for table in tables for edge in decode_edges(cls, *pair, table))


def found_turns(statement: Transaction, thread_id: str) -> tuple[SourceRefNode, ...]:
    """The turns of one thread."""
    return decode_nodes(SourceRefNode, statement.columns(schema.find_turns(), thread=thread_id))


def found_turn_edges(
    statement: Transaction, cls: type[E], dst: str, thread_id: str
) -> tuple[E, ...]:
    """Edges from the turns of one thread to nodes of a table.

    They are found from the thread on: by a list of turns, the engine (kuzu 0.11.3) reads every
    turn there is.
    """
    table = statement.columns(schema.find_turn_edges(cls, dst), thread=thread_id)
    return decode_edges(cls, "SourceRef", dst, table)


def found_signals(statement: Transaction, threads: Sequence[str]) -> tuple[SourceRefNode, ...]:
    """The turns of threads that have signals."""
    tables = _by_keys(statement, schema.find_signals(), threads)
    return tuple(node for table in tables for node in decode_nodes(SourceRefNode, table))


def found_asked(statement: Transaction, threads: Sequence[str]) -> tuple[Asks, ...]:
    """What the turns of threads ask."""
    tables = _by_keys(statement, schema.find_asked(), threads)
    return tuple(
        edge for table in tables for edge in decode_edges(Asks, "SourceRef", "Question", table)
    )


def found_paths(statement: Transaction, refs: Sequence[str]) -> tuple[Mentions, ...]:
    """The paths that turns mention."""
    tables = _by_keys(statement, schema.find_paths(), refs)
    return tuple(
        edge for table in tables for edge in decode_edges(Mentions, "SourceRef", "Concept", table)
    )


def found_ends(
    statement: Transaction,
    cls: type[Edge],
    pair: tuple[str, str],
    name: str,
    keys: Sequence[str],
    end: Literal["a", "b"] = "a",
) -> list[tuple[str, str, Any]]:
    """Source, target and one column of the edges that start or end at the given keys."""
    many = schema.find_ends(cls, *pair, name, end=end)
    few = schema.find_few_ends(cls, *pair, name, end=end)
    return [
        row
        for table in _at_keys(statement, many, few, keys)
        for row in zip(table["src"], table["dst"], table["value"], strict=True)
    ]


def _by_keys(
    statement: Transaction, cypher: str, keys: Sequence[str]
) -> Iterator[dict[str, list[Any]]]:
    """What a statement gives for a table of keys, a batch at a time."""
    return statement.each_batch(cypher, (KEY_COLUMN,), [(key,) for key in keys])


def _at_keys(
    statement: Transaction, many: str, few: str, keys: Sequence[str]
) -> Iterator[dict[str, list[Any]]]:
    """What a statement gives for a table of keys, or where they are few, another for their list."""
    if len(keys) > _FEW:
        yield from _by_keys(statement, many, keys)
    elif keys:
        yield statement.columns(few, keys=list(keys))


def present_in(statement: Transaction) -> Present:
    """A check of keys against the graph as this transaction sees it."""

    def present(table: str, keys: set[str]) -> set[str]:
        found = _by_keys(statement, schema.find_keys(table), sorted(keys))
        return {key for batch in found for key in batch["key"]}

    return present


def read_meta(statement: Transaction) -> dict[str, str]:
    """Meta values by name."""
    return {row.name: row.value for row in read_nodes(statement, Meta)}
