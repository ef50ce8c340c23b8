"""What a picture shows of a view: few nodes, turns drawn as their threads, one label each."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from export.view import EdgeRow, ExportView, NodeRow
from graphstore.model.hypothesis import HYPOTHESIS_WORDS

LABELS: Final[Mapping[str, str]] = {
    "Thread": "title",
    "Question": "text",
    "Concept": "label",
    "Journey": "path_label",
    "Waypoint": "moment",
}


@dataclass(frozen=True, slots=True)
class Dot:
    """A node of a picture."""

    key: str
    table: str
    label: str
    degree: int


@dataclass(frozen=True, slots=True)
class Line:
    """An edge of a picture; ``marked`` says that it was dreamt, and how it stands."""

    src: str
    dst: str
    table: str
    marked: str = ""


@dataclass(frozen=True, slots=True)
class Drawing:
    """The most connected nodes and the edges between them."""

    dots: tuple[Dot, ...]
    lines: tuple[Line, ...]
    left_out: int
    """Nodes for which there was no room."""


def label(row: NodeRow) -> str:
    """The words a node is known by, its key where they were left out; on one line."""
    words = row.columns.get(LABELS.get(row.table, ""))
    return " ".join(words.split()) if isinstance(words, str) and words.strip() else row.key


def clip(text: str, limit: int) -> str:
    """At most ``limit`` characters."""
    return text if len(text) <= limit else f"{text[: limit - 1].rstrip()}\u2026"


def _threads(view: ExportView) -> dict[str, str]:
    turns = (row for row in view.nodes if row.table == "SourceRef")
    return {row.key: str(row.columns["thread_id"]) for row in turns}


def _ends(view: ExportView) -> Iterator[tuple[str, str, EdgeRow]]:
    thread = _threads(view)
    for row in (*view.edges, *view.hypotheses):
        src, dst = thread.get(row.src, row.src), thread.get(row.dst, row.dst)
        if src != dst:
            yield src, dst, row


def _lines(view: ExportView, known: frozenset[str]) -> tuple[Line, ...]:
    found: dict[Line, None] = {}
    for src, dst, row in _ends(view):
        if src in known and dst in known:
            mark = "" if row.marked is None else f"{HYPOTHESIS_WORDS} ({row.standing})"
            found[Line(src, dst, row.table, mark)] = None
    return tuple(found)


def drawing(view: ExportView, limit: int | None = None) -> Drawing:
    """Threads, questions, concepts, Journeys and waypoints, the most connected ``limit`` of them.

    Order is that of the view; equal edges between two nodes are drawn once.
    """
    rows = [row for row in view.nodes if row.table in LABELS]
    lines = _lines(view, frozenset(row.key for row in rows))
    degree = Counter(end for line in lines for end in (line.src, line.dst))
    best = sorted(rows, key=lambda row: (-degree[row.key], row.key))[:limit]
    kept = frozenset(row.key for row in best)
    return Drawing(
        dots=tuple(
            Dot(row.key, row.table, label(row), degree[row.key]) for row in rows if row.key in kept
        ),
        lines=tuple(line for line in lines if line.src in kept and line.dst in kept),
        left_out=len(rows) - len(kept),
    )
