"""Cytoscape JSON, for cytoscape.js and Cytoscape desktop.

A null (an unknown time, too) is ``null``. Refs and other lists are arrays. Every element's data
carries ``table``; dreamt edges carry ``marked`` and ``standing`` and the class ``dreamt``. Places
of the map come along where they are known.
"""

from collections.abc import Iterator
from typing import BinaryIO, Final

from export.drawing import label
from export.view import EdgeRow, ExportView, NodeRow
from graphstore.ids import Json, canonical

NAME: Final = "cytoscape"
SUFFIX: Final = ".cyjs"
PLACED: Final = True
"""It draws a map: hand it places."""

OWN: Final = frozenset(
    {"id", "key", "name", "value", "source", "target", "table", "marked", "standing", "parent"}
)


def _columns(row: NodeRow | EdgeRow) -> dict[str, Json]:
    return {
        f"{row.table.lower()}_{name}" if name in OWN else name: value
        for name, value in row.columns.items()
    }


def _node(row: NodeRow, view: ExportView) -> dict[str, Json]:
    own: dict[str, Json] = {
        "id": row.key,
        "value": row.key,
        "name": label(row),
        "table": row.table,
    }
    made: dict[str, Json] = {"data": _columns(row) | own}
    place = view.places.get(row.key)
    return made if place is None else made | {"position": {"x": place[0], "y": place[1]}}


def _edge(row: EdgeRow, number: int) -> dict[str, Json]:
    own: dict[str, Json] = {
        "id": f"e{number}",
        "key": number,
        "source": row.src,
        "target": row.dst,
        "table": row.table,
    }
    if row.marked is None:
        return {"data": _columns(row) | own}
    return {
        "data": _columns(row) | own | {"marked": row.marked, "standing": row.standing},
        "classes": "dreamt",
    }


def _joined(rows: Iterator[dict[str, Json]]) -> Iterator[bytes]:
    for number, row in enumerate(rows):
        yield (b",\n" if number else b"\n") + canonical(row)


def write(view: ExportView, out: BinaryIO) -> None:
    """Write one JSON object, an element on each line."""
    out.write(b'{"data":{"name":"clew"},"directed":true,"multigraph":true,"elements":{"nodes":[')
    out.writelines(_joined(_node(row, view) for row in view.every_node()))
    out.write(b'\n],"edges":[')
    edges = enumerate(view.every_edge())
    out.writelines(_joined(_edge(row, number) for number, row in edges))
    out.write(b"\n]}}\n")
