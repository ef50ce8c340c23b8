"""GEXF 1.2 with times, for Gephi: a node exists from its first to its last date.

A null (an unknown time, too) is a missing attribute; an unknown start or end is left open. Spans
are days, all other times ISO 8601 in UTC. Refs and other lists are JSON arrays in a string. Dreamt
edges carry ``marked`` and ``standing``. No date of the export is written.
"""

from collections.abc import Iterator, Mapping
from typing import BinaryIO, Final
from xml.sax.saxutils import escape

from export.columns import ColumnType, column_types, text
from export.drawing import clip, label
from export.view import Cell, EdgeRow, ExportView, NodeRow

NAME: Final = "gexf"
SUFFIX: Final = ".gexf"

QUOTED: Final = {"\r": "&#13;", "\n": "&#10;", "\t": "&#9;", '"': "&quot;"}
HEAD: Final = (
    '<?xml version="1.0" encoding="UTF-8"?>\n'
    '<gexf xmlns="http://www.gexf.net/1.2draft" version="1.2">\n'
    '<graph mode="dynamic" defaultedgetype="directed" timeformat="date">\n'
)
STARTS: Final = ("started_at", "first_seen", "at", "created_at")
ENDS: Final = ("ended_at", "last_seen", "at", "expires_at")
LONGEST: Final = 120
DAY: Final = len("2026-01-15")


def _quoted(value: str) -> str:
    return f'"{escape(value, QUOTED)}"'


def _first(columns: Mapping[str, Cell], names: tuple[str, ...]) -> str | None:
    return next((str(columns[name]) for name in names if columns.get(name) is not None), None)


def _times(columns: Mapping[str, Cell]) -> str:
    start, end = _first(columns, STARTS), _first(columns, ENDS)
    said = (f' start="{start[:DAY]}"' if start else "", f' end="{end[:DAY]}"' if end else "")
    return "".join(said)


def _node(row: NodeRow) -> dict[str, Cell]:
    return {"table": row.table, **row.columns}


def _edge(row: EdgeRow) -> dict[str, Cell]:
    return {"table": row.table, **row.columns, "marked": row.marked, "standing": row.standing}


def _declared(types: Mapping[str, ColumnType], side: str) -> Iterator[str]:
    yield f'<attributes class="{side}" mode="static">\n'
    for number, (name, kind) in enumerate(types.items()):
        yield f'<attribute id="{number}" title={_quoted(name)} type="{kind}"/>\n'
    yield "</attributes>\n"


def _values(row: Mapping[str, Cell], ids: Mapping[str, int]) -> str:
    kept = ((ids[name], value) for name, value in row.items() if value is not None)
    said = "".join(f'<attvalue for="{at}" value={_quoted(text(value))}/>' for at, value in kept)
    return f"<attvalues>{said}</attvalues>"


def _lines(view: ExportView) -> Iterator[str]:
    nodes, edges = view.every_node(), view.every_edge()
    node_types, edge_types = column_types(map(_node, nodes)), column_types(map(_edge, edges))
    yield HEAD
    yield from _declared(node_types, "node")
    yield from _declared(edge_types, "edge")
    yield "<nodes>\n"
    ids = {name: number for number, name in enumerate(node_types)}
    for row in nodes:
        said = f"id={_quoted(row.key)} label={_quoted(clip(label(row), LONGEST))}"
        yield f"<node {said}{_times(row.columns)}>{_values(_node(row), ids)}</node>\n"
    yield "</nodes>\n<edges>\n"
    ids = {name: number for number, name in enumerate(edge_types)}
    for number, edge in enumerate(edges):
        said = f'id="{number}" source={_quoted(edge.src)} target={_quoted(edge.dst)}'
        yield f"<edge {said}{_times(edge.columns)}>{_values(_edge(edge), ids)}</edge>\n"
    yield "</edges>\n</graph>\n</gexf>\n"


def write(view: ExportView, out: BinaryIO) -> None:
    """Write one dynamic graph."""
    out.writelines(line.encode() for line in _lines(view))
