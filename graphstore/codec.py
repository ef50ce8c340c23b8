"""Value to row and back; the only place where times lose and regain their zone."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any, TypeVar

from graphstore.model.knowledge import Edge, Node
from graphstore.schema import Column, columns

N = TypeVar("N", bound=Node)
E = TypeVar("E", bound=Edge)

Cell = str | int | float | bool | datetime | list[str] | None
Row = tuple[Cell, ...]


def clean(cell: str | float | bool | None) -> str | int | float | bool | None:  # noqa: FBT001
    """A parameter as the engine takes it: lone surrogates, which it refuses, become U+FFFD."""
    if isinstance(cell, str):
        return cell.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return cell


def _out(content: object) -> Cell:
    match content:
        case StrEnum():
            return content.value
        case datetime():
            return content.astimezone(UTC).replace(tzinfo=None)
        case tuple():
            return [str(part) for part in content]
        case str() | int() | float() | None:
            return content
    raise TypeError(type(content).__name__)


def encode_node(node: Node) -> Row:
    """Columns of a node, in field order."""
    return tuple(_out(getattr(node, column.name)) for column in columns(type(node)))


def encode_edge(edge: Edge) -> Row:
    """Source key, target key, then columns in field order."""
    cells = (_out(getattr(edge, column.name)) for column in columns(type(edge)))
    return (edge.src, edge.dst, *cells)


def encode_edge_key(edge: Edge) -> Row:
    """Source key, target key, then the fields that tell edges of one pair apart."""
    return (edge.src, edge.dst, *(_out(getattr(edge, key)) for key in edge.KEYS))


def edge_key(edge: Edge) -> tuple[str, ...]:
    """What makes an edge the same edge: ends and keys; also its sort order."""
    extra = (str(_out(getattr(edge, key))) for key in edge.KEYS)
    return (edge.src_table, edge.src, edge.dst_table, edge.dst, *extra)


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
