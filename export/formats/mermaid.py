"""Mermaid flowchart for Markdown pages: the 200 most connected nodes, turns drawn as threads.

A null time has no place in it and refs are left to the other formats. A dreamt edge is dotted and
says "Hypothesis, not source" with its standing. A comment tells how many nodes were left out.
"""

from collections.abc import Iterator, Mapping
from typing import BinaryIO, Final

from export.drawing import Dot, Line, clip, drawing
from export.view import ExportView

NAME: Final = "mermaid"
SUFFIX: Final = ".mmd"

MOST: Final = 200
LONGEST: Final = 60
BOXES: Final = {
    "Thread": ("[", "]"),
    "Question": ("(", ")"),
    "Concept": ("([", "])"),
    "Journey": ("{{", "}}"),
    "Waypoint": ("((", "))"),
}
ENTITIES: Final = str.maketrans(
    {"#": "#35;", '"': "#quot;", "<": "#lt;", ">": "#gt;", "&": "#amp;", "`": "#96;", "\\": "#92;"}
)


def escape(text: str) -> str:
    """Words inside quotes: Mermaid reads entities there, and Markdown between backticks."""
    return " ".join(text.split()).translate(ENTITIES)


def _dot(dot: Dot, ids: Mapping[str, str]) -> str:
    left, right = BOXES[dot.table]
    return f'  {ids[dot.key]}{left}"{escape(clip(dot.label, LONGEST))}"{right}\n'


def _line(line: Line, ids: Mapping[str, str]) -> str:
    arrow = f'-. "{escape(line.marked)}" .->' if line.marked else "---"
    return f"  {ids[line.src]} {arrow} {ids[line.dst]}\n"


def _lines(view: ExportView) -> Iterator[str]:
    picture = drawing(view, MOST)
    ids = {dot.key: f"n{number}" for number, dot in enumerate(picture.dots)}
    yield "flowchart LR\n"
    if picture.left_out:
        yield f"  %% {picture.left_out} less connected nodes are left out\n"
    yield from (_dot(dot, ids) for dot in picture.dots)
    yield from (_line(line, ids) for line in picture.lines)


def write(view: ExportView, out: BinaryIO) -> None:
    """Write one flowchart."""
    out.writelines(line.encode() for line in _lines(view))
