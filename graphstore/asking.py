"""A question of the owner, in Cypher: one reading statement, its rows as plain cells."""

from collections.abc import Mapping
from datetime import UTC, datetime
from math import isfinite
from typing import Any

from graphstore import guard
from graphstore.codec import clean
from graphstore.engine import Parameter, Transaction
from graphstore.errors import QueryRefused, StoreError
from graphstore.ids import canonical
from graphstore.model.query import QueryTable, Scalar


def ask(
    statement: Transaction, cypher: str, params: Mapping[str, Scalar], limit: int
) -> QueryTable:
    """Run one reading statement; raises QueryRefused for any other."""
    checked = guard.check(cypher, params)
    given: dict[str, Parameter] = {name: clean(cell) for name, cell in params.items()}
    try:
        names, rows = statement.rows(checked, given, limit + 1)
    except QueryRefused:
        raise
    except StoreError as error:
        # the engine's words may hold text of a turn; they stay in the cause
        reason = f"it failed ({error})"
        raise QueryRefused(reason) from error
    kept = tuple(tuple(_scalar(cell) for cell in row) for row in rows[:limit])
    return QueryTable(columns=names, rows=kept, truncated=len(rows) > limit)


def _scalar(cell: Any) -> Scalar:  # noqa: ANN401 - whatever the engine returns
    plain = _plain(cell)
    if plain is None or isinstance(plain, str | int | float | bool):
        return plain
    return canonical(plain).decode()


def _plain(cell: Any) -> Any:  # noqa: ANN401 - whatever the engine returns
    match cell:
        case dict():
            return {str(key): _plain(part) for key, part in cell.items()}
        case list() | tuple():
            return [_plain(part) for part in cell]
        case datetime():
            return cell.replace(tzinfo=UTC).isoformat().replace("+00:00", "Z")
        case float() if not isfinite(cell):
            return str(cell)
        case str() | int() | float() | None:
            return cell
        case _:
            return str(cell)
