"""JSON Lines, the canonical export: two stores are the same when these bytes are.

One canonical JSON object (sorted keys, UTF-8, no blanks) per line: ``{"node": table, "key",
"columns"}`` or ``{"edge": table, "src": [table, key], "dst": [table, key], "columns"}``, sorted
by table, then keys. Seeds, their marks and Meta are left out: they are computed again. A null (an
unknown time, too) is ``null``; refs are arrays. A dreamt edge carries ``"marked"``; its standing
is left out, because it depends on the day of the export while its dates do not.
"""

from collections.abc import Iterator
from heapq import merge
from typing import BinaryIO, Final, TypeAlias

from export.view import EdgeRow, ExportView, NodeRow
from graphstore.ids import Json, canonical

NAME: Final = "jsonl"
SUFFIX: Final = ".jsonl"

Line: TypeAlias = tuple[str, int, bytes]


def _node(row: NodeRow) -> bytes:
    return canonical({"node": row.table, "key": row.key, "columns": dict(row.columns)})


def _edge(row: EdgeRow) -> bytes:
    line: dict[str, Json] = {
        "edge": row.table,
        "src": (row.src_table, row.src),
        "dst": (row.dst_table, row.dst),
        "columns": dict(row.columns),
    }
    if row.marked is not None:
        line["marked"] = row.marked
    return canonical(line)


def _lines(view: ExportView) -> Iterator[Line]:
    # each family is sorted by (table, keys) already; the running number keeps its order
    nodes = ((row.table, number, _node(row)) for number, row in enumerate(view.nodes))
    edges = ((row.table, number, _edge(row)) for number, row in enumerate(view.edges))
    dreamt = ((row.table, number, _edge(row)) for number, row in enumerate(view.hypotheses))
    yield from merge(nodes, edges, dreamt)


def write(view: ExportView, out: BinaryIO) -> None:
    """Write one line per node or edge."""
    out.writelines(line + b"\n" for _, _, line in _lines(view))
