"""Rows of an activity page of a Takeout: one cell of HTML after the other, never the whole."""

import codecs
import io
import re
from collections.abc import Iterator
from typing import BinaryIO, Final, NamedTuple

from ingest.lines import CHUNK
from ingest.readers._hypertext import Attributes, Words

OPENING: Final = re.compile(rb"<div\b[^>]{0,200}?\bclass\s*=\s*[\"'][^\"'>]{0,200}?\bouter-cell\b")
CELL: Final = 16 * 1024 * 1024
"""Bytes of one cell."""
_OVERLAP: Final = 512
"""Bytes that a mark of a beginning may be cut in."""
_UTF16: Final = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


class Cell(NamedTuple):
    """One row of the page as it is written; None if it is over the bound."""

    offset: int
    length: int
    html: bytes | None


def cells(stream: BinaryIO) -> Iterator[Cell]:
    """The rows of a page, in its order."""
    start: int | None = None
    held = b""
    ahead = lost = skip = 0
    for chunk in _chunks(stream):
        held += chunk
        while (mark := OPENING.search(held, skip)) is not None:
            at = mark.start()
            if start is not None:
                yield _cell(start, held[:at], lost)
            start, lost, skip = ahead + at, 0, mark.end() - at
            ahead, held = start, held[at:]
        # What was searched is not searched again, but for its end, where a mark may be cut.
        spare = len(held) - _OVERLAP
        if spare > 0 and (start is None or len(held) > CELL):
            ahead, held, lost, skip = ahead + spare, held[spare:], lost + spare, 0
        else:
            skip = max(skip, spare)
    if start is not None:
        yield _cell(start, held, lost)


def _cell(start: int, held: bytes, lost: int) -> Cell:
    size = lost + len(held)
    return Cell(start, size, held if size <= CELL else None)


def _chunks(stream: BinaryIO) -> Iterator[bytes]:
    first = stream.read(CHUNK)
    if first.startswith(_UTF16):
        whole = first + stream.read()
        stream = io.BytesIO(whole.decode("utf-16", "replace").encode())
        first = stream.read(CHUNK)
    yield first
    while chunk := stream.read(CHUNK):
        yield chunk


class Row(NamedTuple):
    """What a row shows: the product, and the text of its cells of content."""

    header: str
    contents: tuple[str, ...]
    links: tuple[str, ...]


def row(html: str) -> Row:
    """Take a row apart; small print and previews are left out."""
    reader = _Page()
    reader.feed(html)
    reader.close()
    reader.end()
    return Row(" ".join(reader.header), tuple(reader.contents), tuple(reader.links))


class _Page(Words):
    """Gathers the words of each cell by the class of its block."""

    def __init__(self) -> None:
        super().__init__()
        self.header: list[str] = []
        self.contents: list[str] = []
        self.links: list[str] = []
        self._kind = ""
        self._depth = 0
        """Blocks open inside the cell at hand, itself included."""

    def handle_starttag(self, tag: str, attrs: Attributes) -> None:
        if self._depth:
            self._depth += tag == "div"
            if tag == "a":
                self.links += [value for name, value in attrs if name == "href" and value]
        elif tag == "div" and (kind := _kind(attrs)):
            self._kind, self._depth = kind, 1
            return
        if self._depth:
            super().handle_starttag(tag, attrs)

    def handle_endtag(self, tag: str) -> None:
        if not self._depth:
            return
        self._depth -= tag == "div"
        if self._depth:
            super().handle_endtag(tag)
        else:
            self.end()

    def handle_data(self, data: str) -> None:
        if self._depth:
            super().handle_data(data)

    def end(self) -> None:
        """The cell at hand is complete."""
        text = self.text()
        if self._kind == "header":
            self.header.append(text)
        elif self._kind == "content" and text:
            self.contents.append(text)
        self._kind, self._depth = "", 0
        self.restart()


def _kind(attrs: Attributes) -> str:
    """Which cell a block is, if it is one."""
    named = next((value or "" for name, value in attrs if name == "class"), "")
    classes = named.split()
    if "header-cell" in classes:
        return "header"
    if "content-cell" not in classes:
        return ""
    small = any(one.endswith(("caption", "text-right")) for one in classes)
    return "small" if small else "content"
