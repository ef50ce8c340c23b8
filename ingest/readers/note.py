"""Notes: Markdown without the marks of a chat, as Obsidian and other note tools keep it.

Only a file that was named, a file of a vault (a folder with ``.obsidian`` in it or above it), or
any Markdown file if the owner asks for notes. A note is words of the owner: one turn if it is
short, else one for each section under a heading of level 1 or 2. Front matter may give ``id`` or
``uid``, ``title``, ``aliases`` and dates. Without an id the place of the file stands for it, by
its hash. Links to other notes stay in the words.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Final

from graphstore.ids import digest
from graphstore.model.conversation import Role
from ingest.frontmatter import FrontMatter, front_matter
from ingest.model import RawThread, RawTurn, ReadFailure, Score, Source, Tally, TitleCandidate
from ingest.readers._fields import timed
from ingest.rows import Row, fenced, rows
from ingest.shape import look

NAME: Final = "note"
VERSION: Final = 1
APPENDABLE: Final = False
TIER: Final = "unproven"

WHOLE: Final = 4000
"""Characters up to which a note is one turn."""
_ENDINGS: Final = (".md", ".markdown", ".mdown")
_HEADING: Final = re.compile(r" {0,3}(?P<marks>#{1,2})[ \t]+(?P<text>.*?)[ \t]*(?:[ \t]#+[ \t]*)?")
_MARKED: Final = re.compile(r"(?:---[ \t]*\n|#{1,6}[ \t]+\S)|.*\n#{1,6}[ \t]+\S", re.DOTALL)
_IDS: Final = ("id", "uid")
_ALIASES: Final = ("aliases", "alias")
_BEGINS: Final = ("created", "created_at", "date", "date created")
_ENDS: Final = ("updated", "updated_at", "modified", "date modified")
_NAMES: Final = 50
"""Names of one note."""


def sniff(head: bytes, src: Source) -> Score | None:
    """Markdown where notes are wanted; any reader of chats comes first."""
    del head
    if not (src.as_note or src.explicit):
        return None
    shape = look(src)
    if shape.kind != "text" or "\0" in shape.text:
        return None
    name = src.parts[-1].lower() if src.parts else ""
    marked = name in {"", "-"} and _MARKED.match(shape.text) is not None
    return Score.by(8, 0.0, "z") if name.endswith(_ENDINGS) or marked else None


def read(src: Source, tally: Tally) -> Iterator[RawThread | ReadFailure]:
    """Read a note; every section is a record."""
    with src.open() as stream:
        found = list(rows(stream, tally, limit=src.record_limit))
    matter = front_matter([row.text for row in found])
    for odd in matter.odd:
        tally.note("front_matter", found[odd].number)
    body = found[matter.lines :]
    thread = _head(src, matter, tally)
    thread.turns = [
        _turn(key, section)
        for key, section in _sections(body)
        if any(row.text.strip() for row in section)
    ]
    tally.read(len(thread.turns))
    heading = next((text for level, text in _headings(body) if level == 1 and text), None)
    thread.titles = tuple(_titles(matter, heading, _stem(src)))
    yield thread


def _head(src: Source, matter: FrontMatter, tally: Tally) -> RawThread:
    given = matter.first(*_IDS)
    native = given or digest(NAME, _place(src))
    aliases = [name for key in _ALIASES for name in matter.values.get(key, ())]
    names = dict.fromkeys([native, _stem(src), *aliases][:_NAMES])
    return RawThread(
        source=NAME,
        native_id=native,
        placed=given is None,
        rank=1,
        native_ids=tuple(name for name in names if name),
        started_at=_time(matter.first(*_BEGINS), tally),
        ended_at=_time(matter.first(*_ENDS), tally),
        where=src.name,
    )


def _place(src: Source) -> str:
    """Path below the folder that was given, written alike on every system."""
    path, root = (one.replace("\\", "/") for one in (src.path, src.root))
    inside = path.removeprefix(root).lstrip("/!") if root and path.startswith(root) else src.name
    return unicodedata.normalize("NFC", inside)


def _stem(src: Source) -> str:
    name = src.parts[-1] if src.parts else ""
    ending = next((one for one in _ENDINGS if name.lower().endswith(one)), "")
    return unicodedata.normalize("NFC", name[: len(name) - len(ending)])


def _titles(matter: FrontMatter, heading: str | None, stem: str) -> Iterator[TitleCandidate]:
    given = matter.first("title")
    if given:
        yield TitleCandidate("user", given)
    if heading:
        yield TitleCandidate("heading", heading)
    if stem and stem != "-":
        yield TitleCandidate("stem", stem)


def _time(value: str | None, tally: Tally) -> datetime | None:
    return timed(value, tally)


def _headings(body: Sequence[Row]) -> Iterator[tuple[int, str]]:
    """Level (0: none) and text of the heading on each line; a line in a fence is none."""
    inside = fenced([row.text for row in body])
    for row, is_fenced in zip(body, inside, strict=True):
        found = None if is_fenced else _HEADING.fullmatch(row.text)
        yield (len(found["marks"]), found["text"]) if found else (0, "")


def _sections(body: Sequence[Row]) -> Iterator[tuple[str, list[Row]]]:
    """Parts of a note that are turns, each with a key that stays when its words change."""
    if sum(len(row.text) + 1 for row in body) <= WHOLE:
        yield NAME, list(body)
        return
    key, section = "", []  # type: tuple[str, list[Row]]
    met: dict[str, int] = {}
    for row, (level, text) in zip(body, _headings(body), strict=True):
        if level:
            yield key, section
            met[text] = met.get(text, 0) + 1
            key, section = f"# {text}" + (f" ({met[text]})" if met[text] > 1 else ""), []
        section.append(row)
    yield key, section


def _turn(key: str, section: Sequence[Row]) -> RawTurn:
    first, last = section[0], section[-1]
    return RawTurn(
        role=Role.HUMAN,
        blocks=("\n".join(row.text for row in section),),
        key=key or "#",
        line=first.number,
        offset=first.offset,
        length=last.end - first.offset,
    )
