"""One type per column: what typed formats declare before the first row."""

from collections.abc import Iterable, Mapping
from typing import Literal, TypeAlias

import orjson

from export.view import Cell

ColumnType: TypeAlias = Literal["boolean", "long", "double", "string"]

RANK: dict[ColumnType, int] = {"boolean": 0, "long": 1, "double": 2, "string": 3}


def _type(value: Cell) -> ColumnType:
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int):
        return "long"
    return "double" if isinstance(value, float) else "string"


def _wider(one: ColumnType, other: ColumnType) -> ColumnType:
    if one == other:
        return one
    if {one, other} == {"long", "double"}:
        return "double"
    return "string"


def column_types(rows: Iterable[Mapping[str, Cell]]) -> dict[str, ColumnType]:
    """Type of every column, in the order of first sight; a column of nulls is a string."""
    found: dict[str, ColumnType | None] = {}
    for row in rows:
        for name, value in row.items():
            known = found.setdefault(name, None)
            if value is not None and known != "string":
                found[name] = _type(value) if known is None else _wider(known, _type(value))
    return {name: known or "string" for name, known in found.items()}


def text(value: Cell) -> str:
    """A cell as text: ``true``, ``1.5``, nested values as JSON; null is the empty string."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, tuple):
        return orjson.dumps(value).decode()
    return repr(value) if isinstance(value, float) else str(value)
