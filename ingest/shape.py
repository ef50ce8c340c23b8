"""What the first bytes of a source look like, found once and shared by all sniffers."""

import codecs
import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, Literal

import orjson

from ingest.model import HEAD, READ_ERRORS, Source

VOTERS: Final = 256
"""Records looked at in JSON Lines."""
PEEK_LIMIT: Final = 8 * 1024 * 1024
"""Bytes asked for at most before a first element that does not end is judged by its keys."""
OPEN_DEPTH: Final = 4
"""Levels of objects looked into that the head cuts off."""
_BLANK: Final = " \t\r\n"
_decoder: Final = json.JSONDecoder(strict=False)

Kind = Literal[
    "empty", "zip", "sqlite", "list", "dict", "lines", "text", "folder", "unreadable"
]  # fmt: skip


@dataclass(frozen=True)
class Shape:
    """Kind of a source and a sample of it.

    ``list``: one JSON document that is a list, ``sample`` holds its first elements;
    ``dict``: one JSON document that is an object, ``sample`` holds it; ``lines``: JSON Lines,
    ``sample`` holds the records that parse. An object that is longer than the head is
    given with the keys and values seen so far. ``text`` is the decoded head otherwise.
    """

    kind: Kind
    sample: tuple[Any, ...] = ()
    text: str = ""
    whole: bool = True
    """The sample was not cut inside an element."""

    @cached_property
    def objects(self) -> tuple[dict[str, Any], ...]:
        """The elements of the sample that are JSON objects."""
        return tuple(one for one in self.sample if isinstance(one, dict))

    @cached_property
    def keys(self) -> frozenset[str]:
        """Every key that one of the objects has: what none has need not be looked for."""
        return frozenset().union(*self.objects)

    @cached_property
    def types(self) -> frozenset[str]:
        """Every type that one of the objects is of."""
        return frozenset(kind for one in self.objects if isinstance(kind := one.get("type"), str))

    def most(self, key: str) -> float:
        """Part of JSON Lines whose record has a key, or is a list of what has it; 0 up to half."""
        if key not in self.keys and len(self.objects) == len(self.sample):
            return 0.0
        listed = (one if isinstance(one, list) else [one] for one in self.sample)
        having = (any(isinstance(one, dict) and key in one for one in some) for some in listed)
        share = self.share(sum(having))
        return share if share > 1 / 2 else 0.0

    def share(self, matching: int) -> float:
        """Part of the sample that matches, 0 to 1."""
        return matching / len(self.sample) if self.sample else 0.0


def look(src: Source) -> Shape:
    """Shape of a source, kept with it. Never raises: ``unreadable`` says that it could not."""
    if not isinstance(src.seen, Shape):
        try:
            src.seen = _look(src)
        except READ_ERRORS:
            src.seen = Shape("unreadable")
    found: Shape = src.seen
    return found


def _look(src: Source) -> Shape:
    if src.inside is not None or (src.file is not None and src.file.is_dir()):
        return Shape("folder")
    head = src.peek()
    if head.startswith(b"PK\x03\x04"):
        return Shape("zip")
    if head.startswith(b"SQLite format 3\0"):
        return Shape("sqlite")
    return _plain_lines(src, head) or _by_text(src, head)


def _plain_lines(src: Source, head: bytes) -> Shape | None:
    """JSON Lines that begin with a sound object, as nearly all do; parsed once for all stages."""
    at = len(codecs.BOM_UTF8) if head.startswith(codecs.BOM_UTF8) else 0
    while (stop := head.find(b"\n", at)) >= 0 and head.startswith(b"//", at):
        at = stop + 1
    first = _parsed(head[at:stop]) if stop >= 0 else None
    if not isinstance(first, dict) or stop + 1 == len(head):
        return None
    if len(head) >= src.size:
        if not head[stop:].strip(b" \t\r\n\0"):
            return None
        head += b"\n"  # the last line has an end, too
    records: list[Any] = []
    while stop >= 0 and len(records) < VOTERS:
        line = head[at:stop]
        value = _parsed(line) if records else first
        if isinstance(value, dict):
            records.append(value)
            src.parsed[at] = line.removesuffix(b"\r"), value
        elif value is None:
            records.extend(_on_line(line.decode("utf-8", "replace")))
        elif isinstance(value, list):
            records.append(value)
        at, stop = stop + 1, head.find(b"\n", stop + 1)
    return Shape("lines", sample=tuple(records[:VOTERS]))


def _parsed(line: bytes) -> object:
    """Value of a line that is sound JSON; None if it is not, or is ``null``."""
    try:
        return orjson.loads(line)
    except orjson.JSONDecodeError:
        return None


def _by_text(src: Source, head: bytes) -> Shape:
    text = decode(head)
    start = _begin(text)
    if start == len(text):
        return Shape("empty") if len(head) >= src.size else Shape("text", text=text)
    if text[start] in "{[":
        return _json_shape(src, text, start)
    return Shape("text", text=text)


def decode(head: bytes) -> str:
    """Text of first bytes: UTF-16 by its mark, else UTF-8; a BOM is dropped."""
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return head[: len(head) & ~1].decode("utf-16", "replace")
    return head.removeprefix(codecs.BOM_UTF8).decode("utf-8", "replace")


def _begin(text: str) -> int:
    """Index of the first character that is neither blank nor in a ``//`` line."""
    at = 0
    while at < len(text):
        if text[at] in _BLANK or text[at] == "\0":
            at += 1
        elif text.startswith("//", at):
            end = text.find("\n", at)
            at = len(text) if end < 0 else end + 1
        else:
            return at
    return at


def _json_shape(src: Source, text: str, start: int) -> Shape:
    size = HEAD
    while True:
        document = _document(text, start, cut=size < src.size)
        if document is not None:
            return document
        records, more = _records(text, start, cut=size < src.size)
        if records or not more or size >= min(PEEK_LIMIT, src.size):
            break
        size *= 4
        text = decode(src.peek(size))
        start = _begin(text)
    if documents := _documents(text, start, cut=size < src.size):
        return Shape("list", sample=documents)
    if records:
        return Shape("lines", sample=tuple(records))
    if text[start] == "{" and (keys := partial(text, start)):
        return Shape("dict", sample=(keys,), text=text[:HEAD], whole=False)
    return Shape("text", text=text[:HEAD])


def _document(text: str, start: int, *, cut: bool) -> Shape | None:
    """One JSON document, or None if the head does not show one."""
    if text[start] == "[":
        return _list(text, start, cut=cut)
    value, end = _value(text, start)
    if end < 0:
        return _cut_object(text, start) if cut else None
    rest = text[end:].strip(_BLANK + "\0")
    if rest or cut:
        return None
    return Shape("dict", sample=(value,), text=text[:HEAD])


def _cut_object(text: str, start: int) -> Shape | None:
    """An object that goes on over more than one line of the head is one document."""
    line_end = text.find("\n", start)
    if line_end < 0 or not text[start + 1 : line_end].strip(_BLANK):
        keys = partial(text, start)
        if keys and line_end >= 0:
            return Shape("dict", sample=(keys,), text=text[:HEAD], whole=False)
    return None


def _list(text: str, start: int, *, cut: bool) -> Shape | None:
    found: list[Any] = []
    at = start + 1
    while len(found) < VOTERS:
        at = _skip(text, at)
        if at >= len(text):
            break
        if text[at] == "]":
            return _closed_list(text, at, found)
        value, end = _value(text, at)
        if end < 0:
            break
        found.append(value)
        at = _skip(text, end)
        if at < len(text) and text[at] == ",":
            at += 1
    if found:
        return Shape("list", sample=tuple(found)) if cut or len(found) == VOTERS else None
    if cut and (at := _skip(text, start + 1)) < len(text) and text[at] == "{":
        keys = partial(text, at)
        if keys:
            return Shape("list", sample=(keys,), whole=False)
    return None


def _closed_list(text: str, at: int, found: list[Any]) -> Shape | None:
    """A list is a document unless another value follows it."""
    after = text[at + 1 :].strip(_BLANK + "\0")
    return None if after else Shape("list", sample=tuple(found))


def _documents(text: str, start: int, *, cut: bool) -> tuple[Any, ...]:
    """Elements of documents that follow each other, where the first goes over many lines."""
    if text[start:].partition("\n")[0].strip(_BLANK + "[{"):
        return ()
    found: list[Any] = []
    at, count = start, 0
    while at < len(text) and text[at] in "{[" and len(found) < VOTERS:
        value, end = _value(text, at)
        if end < 0:
            break
        found.extend(value if isinstance(value, list) else [value])
        at, count = _skip(text, end), count + 1
    goes_on = cut and at < len(text) and text[at] in "{["
    sound = count > 1 or (count == 1 and goes_on)
    return tuple(found[:VOTERS]) if sound and any(isinstance(one, dict) for one in found) else ()


def _records(text: str, start: int, *, cut: bool) -> tuple[list[Any], bool]:
    """Records of the first lines that parse, and whether more bytes could show more."""
    records: list[Any] = []
    lines = text[start:].split("\n")
    if cut:
        lines.pop()
    for line in lines:
        records.extend(_on_line(line))
        if len(records) >= VOTERS:
            break
    return records[:VOTERS], cut and not lines


def _on_line(line: str) -> Iterator[Any]:
    """Values of one line, glued ones included; objects and lists only."""
    text = line.replace("\0", "").strip()
    if text[:1] in {"{", "["}:
        try:
            yield orjson.loads(text)
        except (orjson.JSONDecodeError, UnicodeEncodeError):
            pass
        else:
            return
    at = 0
    while at < len(text) and text[at] in "{[":
        value, at = _value(text, at)
        if at < 0:
            return
        yield value
        at = _skip(text, at)


def _skip(text: str, at: int) -> int:
    while at < len(text) and text[at] in _BLANK:
        at += 1
    return at


def _value(text: str, at: int) -> tuple[Any, int]:
    """Value at an index and the index after it, or -1 if none is complete there."""
    try:
        return _decoder.raw_decode(text, at)
    except (ValueError, RecursionError):
        return None, -1


def partial(text: str, at: int, depth: int = OPEN_DEPTH) -> dict[str, Any]:
    """Keys, and values where they are complete, of an object that may be cut off.

    Of a value that is cut off itself as much is given, ``depth`` levels down.
    """
    found: dict[str, Any] = {}
    at = _skip(text, at + 1)
    while at < len(text) and text[at] == '"':
        key, end = _value(text, at)
        colon = _skip(text, end) if end > 0 else len(text)
        if colon >= len(text) or text[colon] != ":":
            break
        begin = _skip(text, colon + 1)
        value, end = _value(text, begin)
        found[key] = value if end > 0 else _opened(text, begin, depth - 1)
        if end < 0:
            break
        at = _skip(text, end)
        if at < len(text) and text[at] == ",":
            at = _skip(text, at + 1)
    return found


def _opened(text: str, at: int, depth: int) -> Any:  # noqa: ANN401 - JSON
    """What is known of a value that is cut off: the first element of a list, first keys."""
    if at >= len(text):
        return None
    if text[at] == "[":
        first = _skip(text, at + 1)
        value, end = _value(text, first)
        if end > 0:
            return [value]
        is_object = depth > 0 and first < len(text) and text[first] == "{"
        return [partial(text, first, depth)] if is_object else []
    if text[at] == "{":
        return partial(text, at, depth) if depth > 0 else {}
    return None
