"""Byte lines of a stream: split on newlines only, bounded, with their places."""

import codecs
import re
from collections.abc import Iterable, Iterator
from typing import BinaryIO, Final, Literal, NamedTuple

CHUNK: Final = 1024 * 1024
RECORD_LIMIT: Final = 256 * 1024 * 1024
"""Bytes of one record."""
SKIP_HEAD: Final = 4096
"""Bytes of a line that say whether it is skipped."""
SKIP_TAIL: Final = 1024
"""Bytes kept of the beginning and of the end of a skipped line."""

State = Literal["whole", "tail", "too_big", "skipped"]

_RETURN: Final = ord("\r")
_LINE: Final = tuple.__new__
"""Makes a ``Line`` at half the cost of calling the class: there is one for every record."""

UTF16: Final = {codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}


class Skip(NamedTuple):
    """What a line that is not wanted looks like in its first bytes."""

    hint: bytes
    """Bytes that are in every such line: looked for first, because it costs little."""
    pattern: re.Pattern[bytes]
    """Matches from the start of the line."""

    def fits(self, chunk: bytes, at: int, stop: int) -> bool:
        """Whether a line looks like that which lies in a chunk from one place to another."""
        return self.pattern.match(chunk, at, min(stop, at + SKIP_HEAD)) is not None


class Line(NamedTuple):
    """One line: ``raw`` has no line end and no BOM.

    It is empty if the line is too big, and only the end of a line that is skipped.
    """

    number: int
    """1-based."""
    offset: int
    """Bytes from the start of the carrier."""
    raw: bytes
    state: State = "whole"
    end: int = 0
    """Byte offset after the line end."""
    head: bytes = b""
    """The beginning of a line that is skipped."""


def lines(
    stream: BinaryIO,
    *,
    limit: int = RECORD_LIMIT,
    skip: Skip | None = None,
) -> Iterator[Line]:
    r"""Split a stream on ``\n`` only; one chunk and one line are in memory at once.

    A line over ``limit`` bytes is ``too_big``, a line whose first bytes match ``skip`` is
    ``skipped`` at any size: it is not kept, the next one starts after its newline. A last
    line without newline is the ``tail``. UTF-16 with BOM comes as UTF-8 with offsets of the
    carrier.
    """
    first = stream.read(CHUNK)
    encoding = UTF16.get(first[:2])
    if encoding is not None:
        return _utf16_lines(first[2:], stream, encoding, limit, skip)
    bom = len(codecs.BOM_UTF8) if first.startswith(codecs.BOM_UTF8) else 0
    return _split(_chunks(first[bom:], stream), bom, limit, skip)


def _chunks(first: bytes, stream: BinaryIO) -> Iterator[bytes]:
    chunk = first
    while chunk:
        yield chunk
        chunk = stream.read(CHUNK)


def _utf16_lines(
    first: bytes,
    stream: BinaryIO,
    encoding: str,
    limit: int,
    skip: Skip | None,
) -> Iterator[Line]:
    """Lines of UTF-16: every character but those beyond U+FFFF has two bytes there."""
    offset = 2
    for line in _split(_recoded(_chunks(first, stream), encoding), 0, limit, skip):
        text = line.raw.decode("utf-8", "replace")
        ends = 2 * (line.end - line.offset - len(line.raw))  # \r and \n
        end = offset + 2 * len(text) + 2 * sum(one > "\uffff" for one in text) + ends
        yield Line(line.number, offset, line.raw, line.state, end)
        offset = end


def _recoded(chunks: Iterable[bytes], encoding: str) -> Iterator[bytes]:
    decoder = codecs.getincrementaldecoder(encoding)("replace")
    for chunk in chunks:
        if text := decoder.decode(chunk):
            yield text.encode()
    if text := decoder.decode(b"", final=True):
        yield text.encode()


class _Open:
    """A line that goes on over chunks."""

    def __init__(self, limit: int, skip: Skip | None) -> None:
        self.limit = limit
        self.skip = skip
        self._reset()

    def _reset(self) -> None:
        self.pieces: list[bytes] = []
        self.size = 0
        self.state: State = "whole"
        self.head_seen = self.skip is None
        self.head = b""

    def add(self, piece: bytes) -> None:
        """Keep a piece, unless the line is already known not to be wanted."""
        self.size += len(piece)
        if self.state == "skipped":
            self.pieces = [b"".join((*self.pieces, piece[-SKIP_TAIL:]))[-SKIP_TAIL:]]
        if self.state != "whole":
            return
        self.pieces.append(piece)
        if not self.head_seen and self.size >= SKIP_HEAD:
            self.head_seen = True
            if self._unwanted(b"".join(self.pieces)):
                self._give_up("skipped")
        if self.size > self.limit:
            self._give_up("too_big")

    def close(self, number: int, offset: int, newline: int) -> Line:
        """Return the line and start an empty one."""
        raw = self.pieces[0] if len(self.pieces) == 1 else b"".join(self.pieces)
        state = self.state
        if state == "whole" and not self.head_seen and self._unwanted(raw):
            self.head = raw[:SKIP_TAIL]
            raw, state = raw[-SKIP_TAIL:], "skipped"
        elif state == "whole" and not newline:
            state = "tail"
        end, head = offset + self.size + newline, self.head
        self._reset()
        return Line(number, offset, raw.removesuffix(b"\r"), state, end, head)

    def _unwanted(self, raw: bytes) -> bool:
        if self.skip is None or raw.find(self.skip.hint, 0, SKIP_HEAD) < 0:
            return False
        return self.skip.fits(raw, 0, len(raw))

    def _give_up(self, state: State) -> None:
        if self.state == "whole":
            self.state = state
        seen = b"".join(self.pieces) if self.state == "skipped" else b""
        self.head = seen[:SKIP_TAIL]
        self.pieces = [seen[-SKIP_TAIL:]] if seen else []


def _split(chunks: Iterable[bytes], offset: int, limit: int, skip: Skip | None) -> Iterator[Line]:
    number = 1
    held = _Open(limit, skip)
    for chunk in chunks:
        at, hinted = 0, -1 if skip is None else chunk.find(skip.hint)
        while (stop := chunk.find(b"\n", at)) >= 0:
            end = offset + held.size + stop - at + 1
            if skip is not None and 0 <= hinted < at:
                hinted = chunk.find(skip.hint, at)
            if held.size or stop - at > limit:
                held.add(chunk[at:stop])
                yield held.close(number, offset, 1)
            elif skip is not None and at <= hinted < stop and skip.fits(chunk, at, stop):
                head = chunk[at : min(stop, at + SKIP_TAIL)]
                tail = chunk[max(at, stop - SKIP_TAIL) : stop].removesuffix(b"\r")
                yield Line(number, offset, tail, "skipped", end, head)
            else:  # nearly always a line lies in one chunk
                raw = chunk[at : stop - 1 if at < stop and chunk[stop - 1] == _RETURN else stop]
                yield _LINE(Line, (number, offset, raw, "whole", end, b""))
            number, offset, at = number + 1, end, stop + 1
        if at < len(chunk):
            held.add(chunk[at:])
    if held.size:
        yield held.close(number, offset, 0)
