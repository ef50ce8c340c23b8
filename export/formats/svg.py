"""The map as a picture in SVG: the 1,500 most connected nodes, turns drawn as threads.

A null time plays no part and refs are left to the other formats. Dreamt edges are dashed, each with
a title that says "Hypothesis, not source" and its standing. Places come from the layout, or from a
plain spiral.
"""

from collections.abc import Iterator, Mapping, Sequence
from math import sqrt
from typing import BinaryIO, Final
from xml.sax.saxutils import escape

from export.drawing import Dot, Line, clip, drawing
from export.place import SPAN, places
from export.view import ExportView

NAME: Final = "svg"
SUFFIX: Final = ".svg"
PLACED: Final = True
"""It draws a map: hand it places."""

MOST: Final = 1500
NAMED: Final = 60
LONGEST: Final = 40
LETTER, ROW = 8, 18
"""Width of a letter and height of a line, in the units of the picture."""
SIDE: Final = 1600
MARGIN: Final = 60
COLOURS: Final = {
    "Thread": "#2f6db3",
    "Question": "#d9781a",
    "Concept": "#86a39c",
    "Journey": "#86326f",
    "Waypoint": "#b97fab",
}
STYLE: Final = (
    "line{stroke:#d0cabd}.dreamt{stroke:#c2304f;stroke-width:1.6;stroke-dasharray:7 5}"
    "text{font:13px system-ui,sans-serif;fill:#22252b;paint-order:stroke;stroke:#fbfaf7;"
    "stroke-width:4px}"
)


def _points(dots: Sequence[Dot], lines: Sequence[Line], view: ExportView) -> list[tuple[int, int]]:
    at = {dot.key: number for number, dot in enumerate(dots)}
    edges = [(at[line.src], at[line.dst]) for line in lines]
    scale = (SIDE - 2 * MARGIN) / SPAN
    found = places([dot.key for dot in dots], edges, view.places)
    return [(round(MARGIN + x * scale), round(SIDE - MARGIN - y * scale)) for x, y in found]


def _line(line: Line, at: Mapping[str, tuple[int, int]]) -> str:
    (x1, y1), (x2, y2) = at[line.src], at[line.dst]
    ends = f'x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}"'
    if not line.marked:
        return f"<line {ends}/>\n"
    return f'<line class="dreamt" {ends}><title>{escape(line.marked)}</title></line>\n'


def _dot(dot: Dot, place: tuple[int, int]) -> str:
    radius = min(3 + sqrt(dot.degree), 12)
    return (
        f'<circle cx="{place[0]}" cy="{place[1]}" r="{radius:.1f}" fill="{COLOURS[dot.table]}">'
        f"<title>{escape(dot.label)}</title></circle>\n"
    )


def _name(dot: Dot, place: tuple[int, int]) -> str:
    shown = escape(clip(dot.label, LONGEST))
    return f'<text x="{place[0] + 14}" y="{place[1] + 4}">{shown}</text>\n'


def _roomy(dots: Sequence[Dot], at: Mapping[str, tuple[int, int]]) -> Iterator[Dot]:
    """The best connected whose names do not run into one another."""
    taken: list[tuple[int, int, int]] = []
    for dot in sorted(dots, key=lambda dot: (-dot.degree, dot.key)):
        x, y = at[dot.key]
        wide = LETTER * min(len(dot.label), LONGEST) + 20
        clear = all(
            x + wide < left or right < x or abs(y - line) > ROW for left, right, line in taken
        )
        if clear and len(taken) < NAMED:
            taken.append((x, x + wide, y))
            yield dot


def _lines(view: ExportView) -> Iterator[str]:
    picture = drawing(view, MOST)
    points = _points(picture.dots, picture.lines, view)
    at = {dot.key: place for dot, place in zip(picture.dots, points, strict=True)}
    yield f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {SIDE} {SIDE}">\n'
    yield f'<style>{STYLE}</style><rect width="{SIDE}" height="{SIDE}" fill="#fbfaf7"/>\n'
    yield from (_line(line, at) for line in picture.lines)
    yield from (_dot(dot, at[dot.key]) for dot in picture.dots)
    yield from (_name(dot, at[dot.key]) for dot in _roomy(picture.dots, at))
    yield "</svg>\n"


def write(view: ExportView, out: BinaryIO) -> None:
    """Write one picture."""
    out.writelines(line.encode() for line in _lines(view))
