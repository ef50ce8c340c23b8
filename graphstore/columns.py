"""Columns of a store as arrays: one scan, nodes by offset, rows turn by turn."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from graphstore.errors import StoreError

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
_Array = TypeVar("_Array", NDArray[np.int32], NDArray[np.int64])

GAP: Final = "an edge ends at a node that is not there"


class Statement(Protocol):
    """One read transaction."""

    def arrow(self, cypher: str, **parameters: Any) -> Any: ...  # noqa: ANN401 - the engine's table


class Scan:
    """Columns of one result as arrays; the table is dropped at once.

    ``by`` is a column of strings whose UTF-8 bytes order the rows; else they come as they may.
    """

    def __init__(self, statement: Statement, cypher: str, by: str = "") -> None:
        table = statement.arrow(cypher)
        if by:
            table = table.sort_by(by)
        self._columns = {name: table.column(name) for name in table.column_names}

    def column(self, name: str) -> Any:  # noqa: ANN401 - an arrow array
        """A column in one piece."""
        column = self._columns[name]
        # to combine a single piece would copy it
        return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()

    def ints(self, name: str) -> Ints:
        """A column of integers without nulls."""
        return np.asarray(self._columns[name].to_numpy(), np.int64)

    def flags(self, name: str) -> Bools:
        """A column of booleans; null is false."""
        return np.asarray(self._columns[name].fill_null(fill_value=False).to_numpy(), np.bool_)

    def microseconds(self, name: str) -> tuple[Ints, Bools]:
        """A column of times since 1970, and which of them are known."""
        column = self._columns[name]
        known = np.asarray(column.is_valid().to_numpy(), np.bool_)
        stamps = np.asarray(column.to_numpy(), "datetime64[us]").astype(np.int64)
        return np.where(known, stamps, 0), known

    def cells(self, name: str) -> list[Any]:
        """A column as Python objects: for node tables only."""
        found: list[Any] = self._columns[name].to_pylist()
        return found

    def coded(self, name: str) -> tuple[list[str | None], Ints]:
        """A column of strings as distinct values, and which one each row has; -1 for null."""
        coded = self.column(name).dictionary_encode()
        codes = coded.indices.fill_null(-1).to_numpy()
        return coded.dictionary.to_pylist(), np.asarray(codes, np.int64)

    def among(self, name: str, wanted: Sequence[str]) -> Bools:
        """Which rows of a column of strings have one of a few values."""
        return chosen(self.coded(name), wanted)

    def listed(self, name: str, among: "Scan", key: str) -> tuple[Ints, Ints]:
        """A column of string lists: row of each member, and where another column holds it.

        The second is -1 for a member that stands nowhere in the other column.
        """
        import pyarrow.compute as pc

        lists = self.column(name)
        ends: Ints = np.asarray(lists.offsets.to_numpy(), np.int64)
        lengths: Ints = ends[1:] - ends[:-1]
        members = lists.flatten()
        if not len(members):
            return np.zeros(0, np.int64), np.zeros(0, np.int64)
        coded = members.dictionary_encode()
        there = pc.index_in(coded.dictionary, value_set=among.column(key)).fill_null(-1)
        places: Ints = np.append(np.asarray(there.to_numpy(), np.int64), -1)
        return np.repeat(np.arange(len(lengths)), lengths), places[coded.indices.to_numpy()]


def chosen(coded: tuple[Sequence[str | None], Ints], wanted: Sequence[str]) -> Bools:
    """Which rows of a column of distinct values and their numbers have one of a few values."""
    values, codes = coded
    held = np.array([*(value in wanted for value in values), False], np.bool_)
    return held[codes]


@dataclass(slots=True)
class Nodes:
    """One node table: keys in canonical order, and their ranks by offset, -1 for a gap."""

    ids: tuple[str, ...]
    rank: Ints

    @classmethod
    def of(cls, scan: Scan) -> "Nodes":
        """Nodes from their offsets ``o`` and keys ``k``, rows ordered by key."""
        return cls(tuple(scan.cells("k")), placed(scan.ints("o")))

    def at(self, offsets: Ints) -> Ints:
        """Ranks of offsets; raises StoreError for an edge that ends in a gap."""
        return there(self.rank, offsets)


def placed(offsets: Ints) -> Ints:
    """Row of each offset, -1 for a gap."""
    rows = np.full(int(offsets.max(initial=-1)) + 1, -1, np.int64)
    rows[offsets] = np.arange(len(offsets))
    return rows


def there(values: Ints, offsets: Ints) -> Ints:
    """What stands at each offset; raises StoreError where nothing does."""
    if offsets.max(initial=-1) >= len(values):
        raise StoreError(GAP)
    found: Ints = values[offsets]
    if found.min(initial=0) < 0:
        raise StoreError(GAP)
    return found


@dataclass(slots=True)
class Rows:
    """Relation rows turn by turn: node a, node b, rank of the turn, row it came from.

    What came from one row stands together.
    """

    a: Ints
    b: Ints
    turn: Ints
    row: Ints

    def keep(self, mask: Bools) -> "Rows":
        return Rows(self.a[mask], self.b[mask], self.turn[mask], self.row[mask])


def joined(one: Rows, other: Rows) -> Rows:
    """Rows of two readings; what came from one row still stands together."""
    if not len(other.a):
        return one
    after = int(one.row.max(initial=-1)) + 1
    row = np.concatenate((one.row, other.row + after))
    columns = ((one.a, other.a), (one.b, other.b), (one.turn, other.turn))
    a, b, turn = (np.concatenate(pair) for pair in columns)
    return Rows(a, b, turn, row)


def marked(ranks: Ints, size: int) -> Bools:
    marked = np.zeros(size, np.bool_)
    marked[ranks] = True
    return marked


def united(lists: Iterable[list[str]]) -> tuple[str, ...]:
    return tuple(sorted({ref for found in lists for ref in found}))


def unique(values: _Array) -> _Array:
    """Distinct values in order, by sorting: several times faster than hashing them."""
    ordered = np.sort(values)
    fresh = np.ones(len(ordered), np.bool_)
    fresh[1:] = ordered[1:] != ordered[:-1]
    return ordered[fresh]


def runs(values: Ints) -> int:
    """How many different values there are, where equal ones stand together."""
    return int(np.count_nonzero(values[1:] != values[:-1])) + bool(values.size)


def member(values: Ints, among: Ints) -> Bools:
    """Which values are among others, none of which is the largest number there is."""
    ordered = np.append(np.sort(among), np.iinfo(np.int64).max)
    found: Bools = ordered[np.searchsorted(ordered, values)] == values
    return found


def distinct(a: Ints, b: NDArray[np.int32] | Ints) -> tuple[Ints, Ints]:
    """Distinct pairs of two columns."""
    width = int(b.max(initial=0)) + 1
    first, second = np.divmod(unique(a * width + b), width)
    return first, second


def matches(left: Ints, right: Ints) -> tuple[Ints, Ints]:
    """All pairs of positions with equal values."""
    order = np.argsort(right, kind="stable")
    values = right[order]
    first = np.searchsorted(values, left, side="left")
    count = np.searchsorted(values, left, side="right") - first
    at = np.repeat(np.arange(len(left)), count)
    step = np.arange(len(at)) - np.repeat(np.cumsum(count) - count, count)
    return at, order[np.repeat(first, count) + step]
