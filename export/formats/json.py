"""Node-link JSON, as ``networkx.node_link_graph(data, edges="edges")`` and D3 read it.

A null (an unknown time, too) is ``null``. ``id``, ``source``, ``target`` and ``key`` are the
graph's own names: an edge column of that name carries its table in front (``cites_target``).
Refs and other lists are arrays; dreamt edges carry ``marked`` and ``standing``, others do not.
"""

from collections.abc import Iterable, Iterator
from itertools import count
from typing import BinaryIO, Final

from export.view import EdgeRow, ExportView, NodeRow
from graphstore.ids import Json, canonical
from graphstore.model.hypothesis import HYPOTHESIS_WORDS

NAME: Final = "json"
SUFFIX: Final = ".json"

OWN: Final = frozenset({"id", "source", "target", "key", "table", "marked", "standing"})


def _node(row: NodeRow) -> dict[str, Json]:
    return {**row.columns, "id": row.key, "table": row.table}


def _edge(row: EdgeRow, number: int) -> dict[str, Json]:
    columns: dict[str, Json] = {
        f"{row.table.lower()}_{name}" if name in OWN else name: value
        for name, value in row.columns.items()
    }
    ends: dict[str, Json] = {
        "source": row.src,
        "target": row.dst,
        "key": number,
        "table": row.table,
    }
    if row.marked is None:
        return columns | ends
    return columns | ends | {"marked": row.marked, "standing": row.standing}


def _joined(rows: Iterable[dict[str, Json]]) -> Iterator[bytes]:
    for number, row in enumerate(rows):
        yield (b",\n" if number else b"\n") + canonical(row)


def write(view: ExportView, out: BinaryIO) -> None:
    """Write one JSON object, a row on each line."""
    about: dict[str, Json] = {"schema": "clew.graph/1"}
    if view.hypotheses:
        about["marked_edges"] = HYPOTHESIS_WORDS
    out.write(b'{"directed":true,"multigraph":true,"graph":' + canonical(about))
    out.write(b',\n"nodes":[')
    out.writelines(_joined(map(_node, view.every_node())))
    out.write(b'\n],\n"edges":[')
    out.writelines(_joined(map(_edge, view.every_edge(), count())))
    out.write(b"\n]}\n")
