"""Gemini in a Google Takeout: the activity page (HTML) or list (JSON) of Gemini Apps.

Seen: pages and lists from 2024 to 2026. Every prompt is a row of its own with its answer, newest
first, and without the id of a conversation: each is a thread, unless the owner names a gap up to
which prompts belong together. What was typed follows the word "Prompted"; in other languages a
label that ends in a colon and a hard space. On a page the line with the time stands between
prompt and answer; its month and zone are English words.
"""

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any, Final, NamedTuple, TypeAlias

from graphstore.model.conversation import Attachment, Role
from ingest.document import elements
from ingest.instants import instant
from ingest.model import RawThread, RawTurn, ReadFailure, Score, Source, Tally
from ingest.readers._hypertext import words
from ingest.readers._takeout_page import OPENING, cells, row
from ingest.readers._takeout_time import Moment, moment
from ingest.shape import decode, look
from ingest.text import decode as text_of

NAME: Final = "takeout"
VERSION: Final = 1
APPENDABLE: Final = False
TIER: Final = "unproven"

Json: TypeAlias = dict[str, Any]

PEEK: Final = 1024 * 1024
"""Bytes of a page looked at: its first row stands behind a long style sheet."""
_HTML: Final = re.compile(r"\s*<(?:!doctype|[a-z])", re.IGNORECASE)
"""How a page begins: nothing else is worth a long look."""
_PRODUCT: Final = re.compile(r"Gemini|\bBard\b")
_HEADER: Final = re.compile(r"\bheader-cell\b[^>]{0,200}>\s*(?:<[^>]{0,200}>\s*){0,3}[^<]{0,80}")
_PROMPT: Final = re.compile(
    r"(?:Prompted(?: with:)?[ \xa0\n]+|[^\n:]{2,40}:\xa0)(?P<words>.*)", re.DOTALL
)
_ATTACHED: Final = re.compile(r"Attached \d+ files?\.?")
_FILE: Final = re.compile(r"-[ \xa0]*(?P<name>\S.*)")
_IN_TITLE: Final = re.compile(r"\s*Attached \d+ files?\.?\s*\Z")
_HEADS: Final = ("header", "title", "time")
_UNTOLD: Final = Moment(None, "bad_timestamp")


def sniff(head: bytes, src: Source) -> Score | None:
    """Known by rows of Gemini: by their heads in JSON, by their cells in HTML."""
    del head
    shape = look(src)
    if shape.kind == "list":
        return Score.by(4, 1.0, "e") if any(map(_is_ours, shape.objects)) else None
    if shape.kind != "text" or _HTML.match(shape.text) is None:
        return None
    page = src.peek(PEEK)
    if OPENING.search(page) is None:
        return None
    shown = (found[0] for found in _HEADER.finditer(decode(page)))
    return Score.by(7) if any(_PRODUCT.search(one) for one in shown) else None


def _is_ours(one: Json) -> bool:
    header = one.get("header")
    named = isinstance(header, str) and _PRODUCT.search(header) is not None
    return named and all(key in one for key in _HEADS)


class _Asked(NamedTuple):
    """A prompt with its answer."""

    at: datetime | None
    turns: tuple[RawTurn, ...]
    place: int


def read(src: Source, tally: Tally) -> Iterator[RawThread | ReadFailure]:
    """Read the prompts of a page or list, each of them a record."""
    is_json = look(src).kind in {"list", "dict", "lines"}
    found = _listed(src, tally) if is_json else _shown(src, tally)
    if not src.group_gap:
        yield from (_thread([asked], src) for asked in found)
        return
    for group in _grouped(list(found), timedelta(minutes=src.group_gap)):
        yield _thread(group, src)


def _thread(group: list[_Asked], src: Source) -> RawThread:
    where = f"{src.name}: byte {group[0].place}"
    turns = [turn for asked in group for turn in asked.turns]
    return RawThread(NAME, None, turns, where=where)


def _grouped(found: list[_Asked], gap: timedelta) -> Iterator[list[_Asked]]:
    """Prompts in the order of time, cut where more than the gap lies between two."""
    timed = [one for one in reversed(found) if one.at is not None]
    group: list[_Asked] = []
    for one in sorted(timed, key=_when):
        if group and _when(one) - _when(group[-1]) > gap:
            yield group
            group = []
        group.append(one)
    if group:
        yield group
    yield from ([one] for one in found if one.at is None)


def _when(one: _Asked) -> datetime:
    at = one.at or datetime.max  # noqa: DTZ901 - a zone comes next
    return at if at.tzinfo is not None else at.replace(tzinfo=UTC)


def _asked(
    prompt: str, answer: str, at: datetime | None, place: tuple[int, int], names: list[str]
) -> _Asked:
    """Turns of one row; the row is counted with the first of them."""
    offset, length = place
    asked = RawTurn(Role.HUMAN, (prompt,), at=at, offset=offset, length=length)
    asked.attachments = tuple(Attachment(name=name) for name in dict.fromkeys(names))
    turns = [asked]
    if answer.strip():
        told = RawTurn(Role.ASSISTANT, (answer,), at=at, offset=offset, length=length, records=0)
        told.stopped = True
        turns.append(told)
    return _Asked(at, tuple(turns), offset)


# --- pages


def _shown(src: Source, tally: Tally) -> Iterator[_Asked]:
    """Prompts of a page."""
    with src.open() as stream:
        for cell in cells(stream):
            tally.read()
            where = f"{src.name}: byte {cell.offset}"
            if cell.html is None:
                tally.drop("lost")
                tally.note("too_big", where)
                continue
            html, repairs = text_of(cell.html)
            for code, count in repairs:
                tally.note(code, where, count)
            asked = _of_row(html, (cell.offset, cell.length), tally, where)
            if asked is None:
                tally.drop("meta")
            else:
                yield asked


def _of_row(html: str, place: tuple[int, int], tally: Tally, where: str) -> _Asked | None:
    shown = row(html)
    first = shown.contents[0] if shown.contents else ""
    label = _PROMPT.match(first)
    if _PRODUCT.search(shown.header) is None or label is None:
        return None
    lines = label["words"].split("\n")
    told = ((place, one) for place, line in enumerate(lines) if (one := moment(line)) is not None)
    border, (at, problem) = next(told, (len(lines), _UNTOLD))
    if problem == "bad_timestamp":
        tally.note(problem, where)
    prompt, names = _without_files(lines[:border])
    answer = "\n".join(lines[border + 1 :]).strip("\n")
    return _asked(prompt, answer or "\n\n".join(shown.contents[1:]), at, place, names)


def _without_files(lines: list[str]) -> tuple[str, list[str]]:
    """Words of a prompt, and the names of its files, which are listed behind them."""
    for number in range(len(lines) - 1, -1, -1):
        if _ATTACHED.fullmatch(lines[number].strip()):
            found = (_FILE.fullmatch(line.strip()) for line in lines[number + 1 :])
            return "\n".join(lines[:number]), [one["name"] for one in found if one]
    return "\n".join(lines), []


# --- lists


def _listed(src: Source, tally: Tally) -> Iterator[_Asked]:
    """Prompts of a list."""
    with src.open() as stream:
        for element in elements(stream, tally, limit=src.record_limit):
            tally.read()
            where = f"{src.name}: byte {element.offset}"
            value = element.value
            if not isinstance(value, dict):
                tally.drop("lost")
                tally.note("not_an_object", where)
                continue
            label = _prompt_of(value)
            if label is None:
                tally.drop("meta")
                continue
            at = _time(value.get("time"), tally, where)
            names = list(_files(value))
            place = (element.offset, element.length)
            yield _asked(_IN_TITLE.sub("", label), _answer(value), at, place, names)


def _prompt_of(value: Json) -> str | None:
    """What was typed, if a row is a prompt."""
    title = value.get("title")
    found = _PROMPT.match(title) if isinstance(title, str) else None
    return found["words"] if found is not None and _is_ours(value) else None


def _time(value: object, tally: Tally, where: str) -> datetime | None:
    at, problem = instant(value)
    if problem == "bad_timestamp" and isinstance(value, str) and (told := moment(value)):
        at, problem = told
    if problem == "bad_timestamp":
        tally.note(problem, where)
    return at


def _answer(value: Json) -> str:
    held = value.get("safeHtmlItem")
    parts = [
        words(html)
        for one in (held if isinstance(held, list) else [held])
        if isinstance(one, dict) and isinstance(html := one.get("html"), str)
    ]
    return "\n\n".join(part for part in parts if part)


def _files(value: Json) -> Iterator[str]:
    """Names of the files that went with a prompt: listed under it, or by themselves."""
    listed = value.get("subtitles")
    for one in listed if isinstance(listed, list) else ():
        name = one.get("name") if isinstance(one, dict) else None
        found = _FILE.fullmatch(name.strip()) if isinstance(name, str) else None
        if found:
            yield found["name"].strip()
    if not isinstance(listed, list):
        for key in ("attachedFiles", "imageFile"):
            held = value.get(key)
            for name in held if isinstance(held, list) else [held]:
                if isinstance(name, str) and name.strip():
                    yield name.strip()
