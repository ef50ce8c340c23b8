"""CSV for ``neo4j-admin database import full --multiline-fields=true``, in one zip file.

``nodes/<Table>.csv`` and ``relationships/<TABLE>-<From>-<To>.csv``; headers carry the types. A null
(an unknown time, too) is an empty cell. Refs and other lists are JSON arrays in a string column.
A text cell that a spreadsheet would run as a formula, and one that starts with an apostrophe,
gets an apostrophe in front: take it away to have the text. Dreamt relationships carry ``marked``
and ``standing``. The zip has no dates and no owners, so equal views give equal bytes.
"""

import csv
import io
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from typing import BinaryIO, Final

from export.archive import pack_files
from export.columns import ColumnType, column_types, text
from export.view import Cell, EdgeRow, ExportView, NodeRow

NAME: Final = "csv"
SUFFIX: Final = ".csv.zip"

RISKY: Final = ("=", "+", "-", "@", "\t", "\r", "\n", "'")


def guard(cell: str) -> str:
    """Keep a spreadsheet from running a cell; reversible, since apostrophes are doubled."""
    return f"'{cell}" if cell.startswith(RISKY) else cell


def _cell(value: Cell) -> str:
    shown = text(value)
    return guard(shown) if isinstance(value, str | tuple) else shown


def _table(header: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    lines = io.StringIO(newline="")
    # the writer quotes only line ends that it writes itself, so both must be in here
    writer = csv.writer(lines, lineterminator="\r\n")
    writer.writerow(header)
    writer.writerows(rows)
    return lines.getvalue()


def _headers(types: Mapping[str, ColumnType]) -> list[str]:
    return [f"{name}:{kind}" for name, kind in types.items()]


def _nodes(table: str, rows: list[NodeRow]) -> str:
    types = column_types(row.columns for row in rows)
    return _table(
        [f"key:ID({table})", *_headers(types), ":LABEL"],
        (
            [guard(row.key), *(_cell(row.columns.get(name)) for name in types), table]
            for row in rows
        ),
    )


def _dreamt(row: EdgeRow) -> dict[str, Cell]:
    if row.marked is None:
        return dict(row.columns)
    return {**row.columns, "marked": row.marked, "standing": row.standing}


def _edges(key: tuple[str, str, str], rows: list[EdgeRow]) -> str:
    table, src, dst = key
    columns = [_dreamt(row) for row in rows]
    types = column_types(columns)
    return _table(
        [f":START_ID({src})", f":END_ID({dst})", *_headers(types), ":TYPE"],
        (
            [guard(row.src), guard(row.dst), *(_cell(own.get(name)) for name in types), table]
            for row, own in zip(rows, columns, strict=True)
        ),
    )


def _pair(row: EdgeRow) -> tuple[str, str, str]:
    return row.table, row.src_table, row.dst_table


def _files(view: ExportView) -> Iterator[tuple[str, str]]:
    for table, nodes in groupby(view.every_node(), key=lambda row: row.table):
        yield f"nodes/{table}.csv", _nodes(table, list(nodes))
    for key, edges in groupby(sorted(view.every_edge(), key=_pair), key=_pair):
        yield f"relationships/{'-'.join(key)}.csv", _edges(key, list(edges))


def write(view: ExportView, out: BinaryIO) -> None:
    """Write the zip file."""
    pack_files(_files(view), out)
