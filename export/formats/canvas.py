"""JSON Canvas 1.0, for Obsidian and other canvases: the 400 most connected nodes as cards.

A null time plays no part and refs are left to the other formats. Turns are drawn as their threads.
A dreamt edge has its own colour and a label that says "Hypothesis, not source" and its standing.
"""

from collections.abc import Mapping
from typing import BinaryIO, Final

from export.drawing import Dot, Line, clip, drawing
from export.place import places
from export.report import escape_markdown
from export.view import ExportView
from graphstore.ids import Json, canonical

NAME: Final = "canvas"
SUFFIX: Final = ".canvas"
PLACED: Final = True
"""It draws a map: hand it places."""

MOST: Final = 400
LONGEST: Final = 160
WIDE, HIGH, SPREAD = 260, 90, 1.2
COLOURS: Final = {
    "Thread": "#2f6db3",
    "Question": "#d9781a",
    "Concept": "#86a39c",
    "Journey": "#86326f",
    "Waypoint": "#b97fab",
}
DREAMT: Final = "#c2304f"


def _card(dot: Dot, ident: str, place: tuple[int, int]) -> dict[str, Json]:
    return {
        "id": ident,
        "type": "text",
        "text": f"**{dot.table}**\n{escape_markdown(clip(dot.label, LONGEST))}",
        "x": round(place[0] * SPREAD),
        "y": round(-place[1] * SPREAD),
        "width": WIDE,
        "height": HIGH,
        "color": COLOURS[dot.table],
    }


def _edge(line: Line, number: int, ids: Mapping[str, str]) -> dict[str, Json]:
    made: dict[str, Json] = {
        "id": f"e{number}",
        "fromNode": ids[line.src],
        "toNode": ids[line.dst],
        "toEnd": "none",
    }
    return made | {"color": DREAMT, "label": line.marked} if line.marked else made


def write(view: ExportView, out: BinaryIO) -> None:
    """Write one canvas."""
    picture = drawing(view, MOST)
    ids = {dot.key: f"n{number}" for number, dot in enumerate(picture.dots)}
    at = {dot.key: number for number, dot in enumerate(picture.dots)}
    ends = [(at[line.src], at[line.dst]) for line in picture.lines]
    found = places([dot.key for dot in picture.dots], ends, view.places)
    cards: list[Json] = [
        _card(dot, ids[dot.key], place) for dot, place in zip(picture.dots, found, strict=True)
    ]
    lines: list[Json] = [_edge(line, number, ids) for number, line in enumerate(picture.lines)]
    out.write(canonical({"nodes": cards, "edges": lines}) + b"\n")
