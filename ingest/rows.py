"""Lines of a text file as text, with their places, and the code fences among them."""

import re
from collections.abc import Iterator, Sequence
from typing import BinaryIO, Final, NamedTuple

from ingest.lines import RECORD_LIMIT, lines
from ingest.model import Tally
from ingest.text import decode

_FENCE: Final = re.compile(r" {0,3}(?P<marks>`{3,}|~{3,})(?P<info>[^\n]*)")


_MARKDOWN: Final = frozenset({"markdown", "md", "mdx"})


class Row(NamedTuple):
    """One line, without its line end."""

    text: str
    number: int
    """1-based."""
    offset: int
    """Bytes from the start of the carrier."""
    end: int
    """Byte offset after the line end."""


def rows(
    stream: BinaryIO, tally: Tally, *, limit: int = RECORD_LIMIT, live: bool = False
) -> Iterator[Row]:
    """Give the lines of a text; bad bytes are replaced and counted, NUL bytes taken out.

    A line over ``limit`` bytes is counted as a lost record. If the text is ``live``, a last
    line without an end is pending.
    """
    for line in lines(stream, limit=limit):
        if live and line.state == "tail":
            tally.pending_offset = line.offset
            tally.note("pending_tail", line.number)
            continue
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

    A fence that nothing closes hides nothing: its line is taken as text. A block of Markdown
    may hold blocks itself, which exporters write with the same marks.
    """
    found = [_FENCE.fullmatch(text) for text in texts]
    closable = _closable(found)
    fence = Fence()
    inside: list[bool] = []
    end = -1
    nests = True
    for place, text in enumerate(texts):
        if place <= end:
            inside.append(True)
            continue
        was_open = fence.is_open
        fence.pass_over(text)
        if fence.is_open and not was_open:
            marks, mark = fence.marks, found[place]
            if closable[place].get(marks[0], 0) < len(marks):
                fence.close()
            elif nests and mark is not None and mark["info"].strip().lower() in _MARKDOWN:
                end = _end_of_nest(found, place)
                nests = end > place  # it is not looked for in vain again
                fence.marks = "" if nests else marks
                inside.append(True)
                continue
        inside.append(was_open or fence.is_open)
    return inside


def _closable(found: Sequence[re.Match[str] | None]) -> list[dict[str, int]]:
    """For each line, by sign, the length of the longest marks below that can close a fence."""
    longest: dict[str, int] = {}
    closable: list[dict[str, int]] = [{}] * len(found)
    for place in range(len(found) - 1, -1, -1):
        closable[place] = longest
        mark = found[place]
        if mark is not None and not mark["info"].strip():
            sign, length = mark["marks"][0], len(mark["marks"])
            longest = {**longest, sign: max(length, longest.get(sign, 0))}
    return closable


def _end_of_nest(found: Sequence[re.Match[str] | None], start: int) -> int:
    """Index of the line that closes a fence and all that open inside it; -1 if none does."""
    opening = found[start]
    depth = 0
    for place in range(start, len(found)):
        mark = found[place]
        if opening is None or mark is None or not mark["marks"].startswith(opening["marks"]):
            continue
        depth += 1 if mark["info"].strip() else -1
        if not depth:
            return place
    return -1
