"""A Cypher script that makes the graph in an empty Neo4j or Memgraph database.

One statement per node or edge, merged by ``key``. A null (an unknown time, too) is left out. Refs
and other lists are lists of strings; times are ISO 8601 strings. Dreamt relationships keep their
own types and carry ``marked`` and ``standing``. Every value is a quoted literal: nothing in it can
end its string.
"""

from collections.abc import Iterator, Mapping
from typing import BinaryIO, Final

from export.view import Cell, EdgeRow, ExportView, NodeRow

NAME: Final = "cypher"
SUFFIX: Final = ".cypher"

ESCAPES: Final = str.maketrans(
    {"\\": "\\\\", "'": "\\'", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\u2028": "\\u2028"}
)


def literal(value: Cell) -> str:
    """A Cypher literal."""
    if isinstance(value, str):
        return f"'{value.translate(ESCAPES)}'"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, tuple):
        return f"[{', '.join(map(literal, value))}]"
    return "null" if value is None else repr(value)


def _map(columns: Mapping[str, Cell]) -> str:
    kept = ((name, value) for name, value in columns.items() if value is not None)
    return "{" + ", ".join(f"`{name}`: {literal(value)}" for name, value in kept) + "}"


def _node(row: NodeRow) -> str:
    return f"MERGE (n:{row.table} {{key: {literal(row.key)}}}) SET n += {_map(row.columns)};\n"


def _edge(row: EdgeRow) -> str:
    marks: dict[str, Cell] = {"marked": row.marked, "standing": row.standing}
    return (
        f"MATCH (a:{row.src_table} {{key: {literal(row.src)}}}),"
        f" (b:{row.dst_table} {{key: {literal(row.dst)}}})"
        f" CREATE (a)-[:{row.table} {_map({**row.columns, **marks})}]->(b);\n"
    )


def _lines(view: ExportView) -> Iterator[str]:
    for table in dict.fromkeys(row.table for row in view.every_node()):
        name = f"clew_{table.lower()}"
        yield f"CREATE CONSTRAINT {name} IF NOT EXISTS FOR (n:{table}) REQUIRE n.key IS UNIQUE;\n"
    yield from map(_node, view.every_node())
    yield from map(_edge, view.every_edge())


def write(view: ExportView, out: BinaryIO) -> None:
    """Write the script."""
    out.writelines(line.encode() for line in _lines(view))
