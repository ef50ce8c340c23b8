"""One huge JSON document, element by element: a window slides over it, never the whole."""

import codecs
import json
import re
from collections.abc import Iterator
from typing import BinaryIO, Final, NamedTuple

from ingest.jsonio import DEPTH_LIMIT, nests_too_deep
from ingest.lines import CHUNK, RECORD_LIMIT, UTF16
from ingest.model import Tally
from ingest.text import decode

_BLANK: Final = re.compile(r"[ \t\r\n\0]*")
_BLANK_OR_COMMENT: Final = re.compile(r"(?:[ \t\r\n\0\ufeff]+|//[^\n]*\n?)*")
_MARK: Final = re.compile(r'[\[\]{}",]')
_STRING_REST: Final = re.compile(r'[^"\\]*(?:\\.[^"\\]*)*(?P<close>"?)', re.DOTALL)
_KEYS: Final = ("conversations",)
_SCALAR_END: Final = 8
"""Characters of the longest token that a window can cut: ``\\ud83d``, ``false``."""
_ESCAPED_BYTES: Final = re.compile("[\udc80-\udcff]")
_decoder: Final = json.JSONDecoder(strict=False)


class Element(NamedTuple):
    """One element of the document and the bytes it came from."""

    offset: int
    length: int
    value: object


def elements(
    stream: BinaryIO,
    tally: Tally,
    *keys: str,
    limit: int = RECORD_LIMIT,
    beside: dict[str, object] | None = None,
) -> Iterator[Element]:
    """Give the elements of ``[...]``, or of ``{key: [...]}``, or one object without such a key.

    ``keys`` are ``conversations`` if none is given; ``beside`` takes the other members of the
    object as they are met. Several such documents one after the other are read too. An element
    that does not parse, nests too deep or is over ``limit`` bytes is counted as a lost record,
    and reading goes on behind it; the elements given are not counted. Comments before a
    document are skipped.
    """
    window = _Window(stream, tally, limit)
    while (mark := window.peek(_BLANK_OR_COMMENT)) != "":
        if mark == "[":
            yield from _array(window)
        elif mark == "{":
            members = {} if beside is None else beside
            yield from _object(window, keys or _KEYS, members)
        else:
            window.lose("bad_json", window.byte)
            return


def _array(window: "_Window") -> Iterator[Element]:
    window.advance(window.at + 1)
    while (mark := window.peek(_BLANK)) != "]":
        if mark == "":
            window.lose("bad_json", window.byte)
            return
        if mark == ",":
            window.advance(window.at + 1)
            continue
        start = window.byte
        found = window.value()
        if found is None:
            window.resume(start, 0)
            if window.peek(_BLANK) == "":
                return
        else:
            yield Element(start, window.byte - start, found[0])
    window.advance(window.at + 1)


def _object(
    window: "_Window", keys: tuple[str, ...], members: dict[str, object]
) -> Iterator[Element]:
    """Members one by one; they are the element if none of them holds elements."""
    start = window.byte
    is_container = False
    window.advance(window.at + 1)
    while (mark := window.peek(_BLANK)) != "}":
        if mark == ",":
            window.advance(window.at + 1)
            continue
        name = window.name()
        if name is None:
            window.resume(start, 1)
            return
        if name in keys and window.peek(_BLANK) == "[":
            is_container = True
            yield from _array(window)
            continue
        found = window.value()
        if found is None:
            window.resume(start, 1)
            return
        members[name] = found[0]
    window.advance(window.at + 1)
    if not is_container:
        yield Element(start, window.byte - start, members)


class _Window:
    """The characters at hand, and how many bytes came before them."""

    def __init__(self, stream: BinaryIO, tally: Tally, limit: int) -> None:
        self.stream = stream
        self.tally = tally
        self.limit = limit
        first = stream.read(CHUNK)
        self.encoding = UTF16.get(first[:2], "utf-8")
        self.errors = "surrogateescape" if self.encoding == "utf-8" else "replace"
        bom = self._bom(first)
        self.decoder = codecs.getincrementaldecoder(self.encoding)(self.errors)
        self.text = self.decoder.decode(first[bom:], final=not first)
        self.at = 0
        self.byte = bom
        self.ended = not first
        self.is_dirty = _has_surrogates(self.text)

    def _bom(self, first: bytes) -> int:
        if self.encoding != "utf-8":
            return 2
        return len(codecs.BOM_UTF8) if first.startswith(codecs.BOM_UTF8) else 0

    def more(self) -> bool:
        """Read on, at least as much as is held, so that a long element is not parsed often."""
        if self.ended:
            return False
        chunk = self.stream.read(max(CHUNK, len(self.text) - self.at))
        self.ended = not chunk
        added = self.decoder.decode(chunk, final=self.ended)
        self.is_dirty = self.is_dirty or _has_surrogates(added)
        self.text = self.text[self.at :] + added
        self.at = 0
        return True

    def bytes_of(self, text: str) -> int:
        """Bytes that the characters had in the carrier."""
        if self.encoding == "utf-8" and text.isascii():
            return len(text)
        return len(text.encode(self.encoding, self.errors))

    def advance(self, to: int) -> None:
        """Leave the characters before an index behind."""
        self.byte += self.bytes_of(self.text[self.at : to])
        self.at = to

    def peek(self, blank: re.Pattern[str]) -> str:
        """Return the next character that is not blank; empty at the end."""
        while True:
            found = blank.match(self.text, self.at)
            end = found.end() if found else self.at
            if end < len(self.text):
                self.advance(end)
                return self.text[end]
            if not self.more():
                self.advance(end)
                return ""

    def name(self) -> str | None:
        """Read the name of a member and its colon."""
        found = self.value()
        if found is None or not isinstance(found[0], str) or self.peek(_BLANK) != ":":
            return None
        self.advance(self.at + 1)
        self.peek(_BLANK)
        return found[0]

    def value(self) -> tuple[object] | None:
        """Read the value at hand; None, and no step made, if there is none that is sound."""
        while True:
            try:
                value, end = _decoder.raw_decode(self.text, self.at)
            except json.JSONDecodeError as error:
                if len(self.text) - self.at <= self.limit and self._is_cut(error) and self.more():
                    continue
                return None
            except (ValueError, RecursionError):
                return None
            if not self._may_go_on(end) or not self.more():
                break
        if end - self.at > self.limit:
            return None
        if self._brackets(end) > DEPTH_LIMIT and nests_too_deep(value):
            return None
        if self.is_dirty:
            value = self._repaired(self.text[self.at : end], value)
        self.advance(end)
        return (value,)

    def _may_go_on(self, end: int) -> bool:
        """Whether the value is a number or word that the end of the window may cut."""
        if self.text[end - 1] in '"]}':
            return False
        return not self.text[end : end + _SCALAR_END].strip(".eE+-")

    def _brackets(self, end: int) -> int:
        return self.text.count("[", self.at, end) + self.text.count("{", self.at, end)

    def _is_cut(self, error: json.JSONDecodeError) -> bool:
        """Whether the error may only mean that the window ends here."""
        if error.msg.startswith("Unterminated string"):
            return True
        return not self.text[error.pos + _SCALAR_END :].strip(" \t\r\n")

    def _repaired(self, text: str, value: object) -> object:
        if not _ESCAPED_BYTES.search(text):
            return value
        clean, repairs = decode(text.encode("utf-8", "surrogateescape"))
        for code, count in repairs:
            self.tally.note(code, self._place(self.byte), count)
        return _decoder.decode(clean)

    def lose(self, code: str, start: int) -> None:
        """Count one lost record."""
        self.tally.read()
        self.tally.drop("lost")
        self.tally.note(code, self._place(start))

    def _place(self, byte: int) -> str:
        return f"{self.tally.name}: byte {byte}"

    def resume(self, start: int, depth: int) -> None:
        """Skip the broken value at hand, or the rest of the object around it, and count it."""
        skipping = _Skipping(depth)
        while not skipping.done and (self.at < len(self.text) or self.more()):
            before = self.at
            self.advance(skipping.over(self.text, self.at, ended=self.ended))
            if self.at == before and not skipping.done and not self.more():
                self.advance(len(self.text))
        size = self.byte - start
        self.lose("too_big" if size > self.limit else "bad_json", start)


class _Skipping:
    """Goes over a value that does not parse, by its brackets and strings, piece by piece."""

    def __init__(self, depth: int) -> None:
        self.depth = depth
        self.is_inside_string = False
        self.done = False

    def over(self, text: str, at: int, *, ended: bool) -> int:
        """Index up to which the text was gone over; ``done`` at the end of the value."""
        while at < len(text) and not self.done:
            if self.is_inside_string:
                end = _STRING_REST.match(text, at)
                if end is None or end.end() == at:
                    return at if not ended else len(text)
                at = end.end()
                self.is_inside_string = not end["close"]
                continue
            mark = _MARK.search(text, at)
            if mark is None:
                return len(text)
            at = self._step(mark)
        return at

    def _step(self, mark: re.Match[str]) -> int:
        """Index behind a mark, or at it where it does not belong to the value."""
        one = mark[0]
        if one == '"':
            self.is_inside_string = True
        elif one in "[{":
            self.depth += 1
        elif self.depth == 0:
            self.done = True
            return mark.end() if one == "}" else mark.start()
        elif one != ",":
            self.depth -= 1
            self.done = self.depth == 0
        return mark.end()


def _has_surrogates(text: str) -> bool:
    """Whether decoding met bytes that are no UTF-8; encoding tells it faster than a search."""
    try:
        return not text.isascii() and not text.encode()
    except UnicodeEncodeError:
        return True
