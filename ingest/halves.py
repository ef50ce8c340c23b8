"""One session in several files: put end to end they are read again as the one they were."""

import codecs
import io
from collections.abc import Sequence
from itertools import accumulate
from typing import BinaryIO, Final, cast

from ingest.clean import CleanThread
from ingest.model import Source

_CHUNK: Final = 2**20


class _Joined(io.BufferedIOBase):
    """Several carriers as one stream."""

    def __init__(self, parts: Sequence[Source]) -> None:
        self._waiting = list(parts)
        self._open: BinaryIO | None = None
        self._begun = False

    def read(self, size: int | None = -1, /) -> bytes:
        if size is None or size < 0:
            return b"".join(iter(lambda: self.read(_CHUNK), b""))
        while True:
            if self._open is None:
                if not self._waiting:
                    return b""
                self._open = self._waiting.pop(0).open()
            piece = self._open.read(size)
            if piece:
                return piece
            self._open.close()
            self._open = None

    def readable(self) -> bool:
        return True

    def close(self) -> None:
        if self._open is not None:
            self._open.close()
            self._open = None
        super().close()


def joined(parts: Sequence[Source]) -> Source:
    """One source of several carriers, in their order."""
    first = parts[0]
    return Source(
        path=first.path,
        name=first.name,
        size=sum(part.size for part in parts),
        mtime_ns=max(part.mtime_ns for part in parts),
        opener=lambda: cast("BinaryIO", _Joined(parts)),
        root=first.root,
        explicit=first.explicit,
        keep_context=first.keep_context,
        record_limit=first.record_limit,
    )


def can_join(parts: Sequence[Source]) -> bool:
    """Whether carriers can be put end to end: all can be read again, none starts with a mark."""
    if any(part.path == "-" for part in parts):
        return False
    marks = (codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
    return not any(part.peek().startswith(marks) for part in parts[1:])


def placed(thread: CleanThread, parts: Sequence[Source], carriers: Sequence[int]) -> None:
    """Tell the turns of a joined thread where they stand: in which carrier, at which line."""
    starts = [0, *accumulate(part.size for part in parts)]
    lines = [0, *accumulate(_newlines(part) for part in parts)]
    for turn in thread.turns:
        offset = turn.raw.offset or 0
        which = max(place for place in range(len(parts)) if starts[place] <= offset)
        turn.carrier = carriers[which]
        turn.raw.offset = offset - starts[which]
        if turn.raw.line is not None:
            turn.raw.line -= lines[which]


def _newlines(src: Source) -> int:
    with src.open() as stream:
        return sum(chunk.count(b"\n") for chunk in iter(lambda: stream.read(_CHUNK), b""))
