"""Value to row and back; here times regain the zone that columns do not keep."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from functools import cache
from operator import attrgetter
from typing import Any, TypeVar

from graphstore.model.knowledge import Edge, Node
from graphstore.schema import ENDS, Column, columns

N = TypeVar("N", bound=Node)
E = TypeVar("E", bound=Edge)

Cell = str | int | float | bool | datetime | tuple[str, ...] | None
"""Times are aware here; an arrow table of timestamps keeps them as UTC without saying so."""
Row = tuple[Cell, ...]


def clean(cell: str | float | bool | None) -> str | int | float | bool | None:  # noqa: FBT001
    """A parameter as the engine takes it: lone surrogates, which it refuses, become U+FFFD."""
    if isinstance(cell, str):
        return cell.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return cell


_ends = attrgetter(*ENDS)


@cache
def _properties(cls: type[Node] | type[Edge]) -> Callable[[Node | Edge], Row]:
    names = [column.name for column in columns(cls)]
    get = attrgetter(*names)
    return get if len(names) > 1 else lambda row: (get(row),)


def encode_node(node: Node) -> Row:
    """Columns of a node, in field order, as an arrow table of their types takes them."""
    return _properties(type(node))(node)


def encode_edge(edge: Edge) -> Row:
    """Source key, target key, then columns in field order."""
    return (edge.src, edge.dst, *_properties(type(edge))(edge))


def encode_edge_key(edge: Edge) -> Row:
    """Source key, target key, then the fields that tell edges of one pair apart."""
    return (edge.src, edge.dst, *(getattr(edge, key) for key in edge.KEYS))


def edge_key(edge: Edge) -> tuple[str, ...]:
    """What makes an edge the same edge: ends and keys; also its sort order."""
    ends: tuple[str, ...] = _ends(edge)
    if not edge.KEYS:
        return ends
    return (*ends, *(str(getattr(edge, key)) for key in edge.KEYS))


def _aware(cells: Iterable[Any]) -> list[Any]:
    return [None if cell is None else cell.replace(tzinfo=UTC) for cell in cells]


def _fields(
    wanted: Sequence[Column], table: Mapping[str, Sequence[Any]]
) -> tuple[tuple[str, ...], list[Sequence[Any]]]:
    names = tuple(column.name for column in wanted)
    cells = [
        _aware(table[column.name]) if column.kind == "TIMESTAMP" else table[column.name]
        for column in wanted
    ]
    return names, cells


def decode_nodes(cls: type[N], table: Mapping[str, Sequence[Any]]) -> tuple[N, ...]:
    """Nodes from columns by name, in row order."""
    names, cells = _fields(columns(cls), table)
    validate = cls.model_validate
    return tuple(validate(dict(zip(names, row, strict=True))) for row in zip(*cells, strict=True))


def decode_edges(
    cls: type[E], src_table: str, dst_table: str, table: Mapping[str, Sequence[Any]]
) -> tuple[E, ...]:
    """Edges of one pair from columns by name, in row order."""
    names, cells = _fields(columns(cls), table)
    tables = {"src_table": src_table, "dst_table": dst_table}
    validate = cls.model_validate
    return tuple(
        validate({"src": src, "dst": dst, **tables, **dict(zip(names, row, strict=True))})
        for src, dst, *row in zip(table["src"], table["dst"], *cells, strict=True)
    )
