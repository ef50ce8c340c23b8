"""DOT, for Graphviz: the picture's nodes and edges with their tables, turns drawn as threads.

Times are not part of it, so a null time needs no code. Refs are left to the other formats. A dreamt
edge is dashed and its label says "Hypothesis, not source" with the standing.
"""

from collections.abc import Iterator
from typing import BinaryIO, Final

from export.drawing import Dot, Line, clip, drawing
from export.view import ExportView

NAME: Final = "dot"
SUFFIX: Final = ".dot"

LONGEST: Final = 80
SHAPES: Final = {
    "Thread": "box",
    "Question": "ellipse",
    "Concept": "plaintext",
    "Journey": "hexagon",
    "Waypoint": "point",
}


def quoted(text: str) -> str:
    """A DOT string; a backslash would start an escape, a newline would end the line."""
    flat = " ".join(text.split()).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{flat}"'


def _dot(dot: Dot) -> str:
    shown = quoted(clip(dot.label, LONGEST))
    return f"  {quoted(dot.key)} [label={shown}, shape={SHAPES[dot.table]}, class={dot.table}];\n"


def _line(line: Line) -> str:
    dashed = f", style=dashed, label={quoted(line.marked)}" if line.marked else ""
    return f"  {quoted(line.src)} -> {quoted(line.dst)} [class={line.table}{dashed}];\n"


def _lines(view: ExportView) -> Iterator[str]:
    picture = drawing(view)
    yield "digraph clew {\n  graph [overlap=false];\n"
    yield from map(_dot, picture.dots)
    yield from map(_line, picture.lines)
    yield "}\n"


def write(view: ExportView, out: BinaryIO) -> None:
    """Write one digraph."""
    out.writelines(line.encode() for line in _lines(view))
