"""GraphML 1.0, for Gephi, yEd, Cytoscape, igraph and networkx.

A null (an unknown time, too) is a missing ``data`` element. Every node carries ``table``; every
edge carries ``table`` and, where it was dreamt, ``marked`` and ``standing``. Refs and other lists
are JSON arrays in a string column; times are ISO 8601 in UTC. Node ids are the keys of the store.
"""

from collections.abc import Iterator, Mapping
from typing import BinaryIO, Final
from xml.sax.saxutils import escape

from export.columns import ColumnType, column_types, text
from export.view import Cell, EdgeRow, ExportView, NodeRow

NAME: Final = "graphml"
SUFFIX: Final = ".graphml"

HEAD: Final = (
    '<?xml version="1.0" encoding="UTF-8"?>\n'
    '<graphml xmlns="http://graphml.graphdrawing.org/xmlns"'
    ' xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"'
    ' xsi:schemaLocation="http://graphml.graphdrawing.org/xmlns'
    ' http://graphml.graphdrawing.org/xmlns/1.0/graphml.xsd">\n'
)
# a parser folds bare line ends and, inside attributes, tabs
BREAKS: Final = {"\r": "&#13;"}
QUOTED: Final = {"\r": "&#13;", "\n": "&#10;", "\t": "&#9;", '"': "&quot;"}


def _node(row: NodeRow) -> dict[str, Cell]:
    return {"table": row.table, **row.columns}


def _edge(row: EdgeRow) -> dict[str, Cell]:
    return {
        "table": row.table,
        **row.columns,
        "marked": row.marked,
        "standing": row.standing,
    }


def _keys(types: Mapping[str, ColumnType], side: str) -> Iterator[str]:
    for number, (name, kind) in enumerate(types.items()):
        yield (
            f'<key id="{side[0]}{number}" for="{side}" attr.name="{escape(name, QUOTED)}"'
            f' attr.type="{kind}"/>\n'
        )


def _data(row: Mapping[str, Cell], ids: Mapping[str, str]) -> str:
    return "".join(
        f'<data key="{ids[name]}">{escape(text(value), BREAKS)}</data>'
        for name, value in row.items()
        if value is not None
    )


def _ids(types: Mapping[str, ColumnType], side: str) -> dict[str, str]:
    return {name: f"{side[0]}{number}" for number, name in enumerate(types)}


def _lines(view: ExportView) -> Iterator[str]:
    nodes, edges = view.every_node(), view.every_edge()
    node_types = column_types(map(_node, nodes))
    edge_types = column_types(map(_edge, edges))
    yield HEAD
    yield from _keys(node_types, "node")
    yield from _keys(edge_types, "edge")
    yield '<graph id="clew" edgedefault="directed">\n'
    ids = _ids(node_types, "node")
    for row in nodes:
        yield f'<node id="{escape(row.key, QUOTED)}">{_data(_node(row), ids)}</node>\n'
    ids = _ids(edge_types, "edge")
    for number, edge in enumerate(edges):
        ends = f'source="{escape(edge.src, QUOTED)}" target="{escape(edge.dst, QUOTED)}"'
        yield f'<edge id="e{number}" {ends}>{_data(_edge(edge), ids)}</edge>\n'
    yield "</graph>\n</graphml>\n"


def write(view: ExportView, out: BinaryIO) -> None:
    """Write the view as one directed multigraph."""
    out.writelines(line.encode() for line in _lines(view))
