"""Lines of a text file as text, with their places, and the code fences among them."""

import re
from collections.abc import Iterator, Sequence
from typing import BinaryIO, Final, NamedTuple

from ingest.lines import lines
from ingest.model import Tally
from ingest.text import decode

_FENCE: Final = re.compile(r" {0,3}(?P<marks>`{3,}|~{3,})(?P<info>[^\n]*)")


class Row(NamedTuple):
    """One line, without its line end."""

    text: str
    number: int
    """1-based."""
    offset: int
    """Bytes from the start of the carrier."""
    end: int
    """Byte offset after the line end."""


def rows(stream: BinaryIO, tally: Tally) -> Iterator[Row]:
    """Give the lines of a text; bad bytes are replaced and counted, NUL bytes taken out.

    A line over the bound of a record is counted as a lost record.
    """
    for line in lines(stream):
        if line.state == "too_big":
            tally.read()
            tally.drop("lost")
            tally.note("too_big", line.number)
            continue
        raw = line.raw
        if b"\0" in raw:
            tally.note("nul_bytes", line.number)
            raw = raw.replace(b"\0", b"")
        try:
            text = raw.decode()
        except UnicodeDecodeError:
            text, repairs = decode(raw)
            for code, count in repairs:
                tally.note(code, line.number, count)
        yield Row(text, line.number, line.offset, line.end)


class Fence:
    """Whether a line of Markdown stands inside a code fence."""

    def __init__(self) -> None:
        self.marks = ""

    @property
    def is_open(self) -> bool:
        return bool(self.marks)

    def pass_over(self, text: str) -> None:
        """Take a line into account: it may open a fence, or close the open one."""
        found = _FENCE.fullmatch(text)
        if found is None:
            return
        marks, info = found["marks"], found["info"]
        if not self.marks:
            if marks[0] == "~" or "`" not in info:
                self.marks = marks
        elif marks.startswith(self.marks) and not info.strip():
            self.marks = ""

    def close(self) -> None:
        """Forget a fence that was left open."""
        self.marks = ""


def fenced(texts: Sequence[str]) -> list[bool]:
    """Tell of each line whether it stands in a code fence that is closed further down.

    A fence that nothing closes hides nothing: its line is taken as text.
    """
    found = [_FENCE.fullmatch(text) for text in texts]
    longest: dict[str, int] = {}
    closable: list[dict[str, int]] = [{}] * len(texts)
    for place in range(len(texts) - 1, -1, -1):
        closable[place] = longest
        mark = found[place]
        if mark is not None and not mark["info"].strip():
            sign, length = mark["marks"][0], len(mark["marks"])
            longest = {**longest, sign: max(length, longest.get(sign, 0))}
    fence = Fence()
    inside: list[bool] = []
    for place, text in enumerate(texts):
        was_open = fence.is_open
        fence.pass_over(text)
        if fence.is_open and not was_open:
            marks = fence.marks
            if closable[place].get(marks[0], 0) < len(marks):
                fence.close()
        inside.append(was_open or fence.is_open)
    return inside
