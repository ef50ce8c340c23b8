"""An Obsidian vault in a zip: one note per thread, question, concept, Journey and waypoint.

Front matter holds the columns as JSON values, which are YAML too; a null (an unknown time, too) is
``null``. Refs are shown as code. Wikilinks join the notes; a dreamt link stands under a heading of
its own, with the words "Hypothesis, not source" and its standing. Turn texts are quoted in the note
of their thread where the view holds them.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import BinaryIO, Final

from export.archive import pack_files
from export.drawing import LABELS, Drawing, Line, clip, drawing, label
from export.view import ExportView, NodeRow
from graphstore.ids import canonical, digest_bytes

NAME: Final = "obsidian"
SUFFIX: Final = ".vault.zip"

# what file systems, wikilinks and tags cannot carry in a name
UNFIT: Final = re.compile(r"[\\/:*?\"<>|#^\[\]%{}\x00-\x1f\x7f\u2028\u2029]+")
LONGEST: Final = 70
SHORT: Final = 8


def note_name(row: NodeRow) -> str:
    """File name of a note: its words, and enough of a hash of its key to be unique."""
    words = " ".join(UNFIT.sub(" ", label(row)).split()).strip(". ")
    return f"{clip(words, LONGEST).rstrip('. ')} {digest_bytes(row.key.encode())[:SHORT]}".strip()


# YAML ends a line at these, JSON does not
BREAKS: Final = str.maketrans({"\u2028": "\\u2028", "\u2029": "\\u2029", "\x85": "\\u0085"})


def _front(row: NodeRow) -> Iterator[str]:
    yield "---\n"
    for name, value in (("key", row.key), ("table", row.table), *row.columns.items()):
        yield f"{name}: {canonical(value).decode().translate(BREAKS)}\n"
    yield "---\n"


def _quoted(text: str) -> str:
    return "\n".join(f"> {line}" for line in text.splitlines())


def _turns(rows: Iterable[NodeRow]) -> Iterator[str]:
    for row in rows:
        said = row.columns.get("text")
        if isinstance(said, str):
            speaker = f"{row.columns['role']}, {row.columns.get('at') or 'date unknown'}"
            yield f"\n`{row.key}` ({speaker})\n\n{_quoted(said)}\n"


def _links(lines: Iterable[Line], key: str, names: Mapping[str, str]) -> Iterator[str]:
    for line in lines:
        other = line.dst if line.src == key else line.src
        mark = f" \u2014 {line.marked}" if line.marked else ""
        yield f"- {line.table.lower().replace('_', ' ')}: [[{names[other]}]]{mark}\n"


def _note(
    row: NodeRow, lines: list[Line], names: Mapping[str, str], turns: Iterable[NodeRow]
) -> Iterator[str]:
    plain = [line for line in lines if not line.marked]
    dreamt = [line for line in lines if line.marked]
    yield from _front(row)
    yield f"# {' '.join(UNFIT.sub(' ', label(row)).split())}\n"
    if plain:
        yield "\n## Connected to\n\n"
        yield from _links(plain, row.key, names)
    if dreamt:
        yield "\n## Hypotheses, not sources\n\n"
        yield from _links(dreamt, row.key, names)
    said = "".join(_turns(turns))
    if said:
        yield f"\n## Turns\n{said}"


def _by_end(picture: Drawing) -> dict[str, list[Line]]:
    found: dict[str, list[Line]] = defaultdict(list)
    for line in picture.lines:
        found[line.src].append(line)
        found[line.dst].append(line)
    return found


def _files(view: ExportView) -> Iterator[tuple[str, str]]:
    rows = [row for row in view.nodes if row.table in LABELS]
    names = {row.key: note_name(row) for row in rows}
    lines = _by_end(drawing(view))
    turns: dict[str, list[NodeRow]] = defaultdict(list)
    for row in view.nodes:
        if row.table == "SourceRef":
            turns[str(row.columns["thread_id"])].append(row)
    for row in rows:
        said = sorted(turns.get(row.key, ()), key=lambda turn: (turn.columns["turn"], turn.key))
        parts = chain(_note(row, lines[row.key], names, said))
        yield f"{row.table}s/{names[row.key]}.md", "".join(parts)


def write(view: ExportView, out: BinaryIO) -> None:
    """Write the zip file."""
    pack_files(_files(view), out)
