"""Texts of old systems whose lines end in a carriage return alone."""

import io
from typing import BinaryIO, Final

from ingest.lines import UTF16
from ingest.model import Source
from ingest.shape import look

_MARKS: Final = tuple(UTF16)


class _Turned(io.RawIOBase):
    """A stream whose carriage returns are newlines; every byte keeps its place."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return self._stream.seekable()

    def seek(self, offset: int, whence: int = io.SEEK_SET, /) -> int:
        return self._stream.seek(offset, whence)

    def readinto(self, buffer: memoryview, /) -> int:  # type: ignore[override]
        piece = self._stream.read(len(buffer)).replace(b"\r", b"\n")
        buffer[: len(piece)] = piece
        return len(piece)

    def close(self) -> None:
        self._stream.close()
        super().close()


def mend(src: Source) -> None:
    """Have a text read line by line if its beginning has carriage returns and no newline."""
    if look(src).kind != "text":
        return
    head = src.peek()
    if b"\r" not in head.rstrip(b"\r") or b"\n" in head or head.startswith(_MARKS):
        return
    opener = src.opener
    src.opener = lambda: io.BufferedReader(_Turned(opener()))
    src.head = src.seen = None
