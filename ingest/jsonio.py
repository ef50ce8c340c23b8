"""Records out of bytes: JSON Lines with its broken lines."""

import json
import re
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO, Final, NamedTuple, TypeAlias

import orjson

from ingest.lines import RECORD_LIMIT, Line, Skip, lines
from ingest.model import Disposition, Tally
from ingest.text import Repairs, decode

__all__ = [
    "JsonObject",
    "Line",
    "Record",
    "Skip",
    "loads",
    "nests_too_deep",
    "records",
]

DEPTH_LIMIT: Final = 512
"""JSON nesting."""
_SHALLOW: Final = 2 * DEPTH_LIMIT
"""Bytes that cannot hold more levels: each takes a bracket at both ends."""
_LONG: Final = 4096
"""Bytes from which a walk over a value costs less than counting: texts are long, not many."""
_OBJECT_BYTES: Final = 5
"""An object inside another one takes as many at least: a key, a colon, braces."""
JOIN_LINES: Final = 20
"""Lines tried after one that ends inside a string."""
JOIN_LIMIT: Final = 16 * 1024 * 1024
"""Bytes of lines joined."""

JsonObject: TypeAlias = dict[str, Any]

_RECORD: Final = tuple.__new__
"""Makes a ``Record`` at half the cost of calling the class."""
_BLANK: Final = re.compile(r"[ \t\r\n]*")
_NESTING: Final = (dict, list)
_loose: Final = json.JSONDecoder(strict=False)
_strict: Final = json.JSONDecoder()


class Record(NamedTuple):
    """One JSON object and the bytes it came from."""

    line: int
    offset: int
    length: int
    value: JsonObject

    @property
    def at(self) -> object:
        """When it was written, as it says itself under the commonest name."""
        return self.value.get("timestamp")


def loads(raw: bytes) -> tuple[object, Repairs]:
    """Parse one JSON value: fast if it is sound, tolerant of what JSON readers disagree on.

    Lone surrogates, huge numbers, NaN and bad UTF-8 are read. Raises ``ValueError`` if it is
    no JSON or nested deeper than ``DEPTH_LIMIT``.
    """
    try:
        value: object = orjson.loads(raw)
    except orjson.JSONDecodeError:
        return _loads_slowly(raw)
    if _too_deep(raw, value):
        raise ValueError
    return value, ()


def _loads_slowly(raw: bytes) -> tuple[object, Repairs]:
    text, repairs = decode(raw)
    value = _parse(_strict, text)
    if _too_deep(raw, value):
        raise ValueError
    return value, repairs


def _parse(decoder: json.JSONDecoder, text: str) -> object:
    """Parse a whole text. Raises ``ValueError``, also where it nests too deep to parse."""
    try:
        return decoder.decode(text)
    except RecursionError:
        raise ValueError from None


def _too_deep(raw: bytes, value: object) -> bool:
    """Whether a parsed value nests too deep; counting brackets spares short ones the walk."""
    size = len(raw)
    if size <= _SHALLOW:
        return False
    if size > _LONG:
        return nests_too_deep(value)
    lists = raw.count(b"[")
    if lists + size // _OBJECT_BYTES < DEPTH_LIMIT:
        return False
    return lists + raw.count(b"{") > DEPTH_LIMIT and nests_too_deep(value)


def nests_too_deep(value: object) -> bool:
    """Whether a parsed value has more than ``DEPTH_LIMIT`` levels of lists and objects."""
    level = [value]
    for _ in range(DEPTH_LIMIT):
        level = [
            inner
            for one in level
            if type(one) in _NESTING
            for inner in (one.values() if isinstance(one, dict) else one)  # type: ignore[attr-defined]
            if type(inner) in _NESTING
        ]
        if not level:
            return False
    return True


def records(
    stream: BinaryIO,
    tally: Tally,
    known: frozenset[str],
    *,
    limit: int = RECORD_LIMIT,
    skip: Skip | None = None,
    skipped: Disposition = "tool",
    on_skip: Callable[[Line], None] | None = None,
    parsed: dict[int, tuple[bytes, object]] | None = None,
) -> Iterator[Record]:
    """Read JSON Lines record by record; broken lines are repaired or counted, never raised.

    Everything met is counted with ``tally.read``; what is not given (comments, lines matching
    ``skip``, broken lines, values that are no object) is disposed of here. The caller
    disposes of the records it gets. ``known``: keys of which a record made of several lines
    must have one. ``on_skip`` sees each skipped line (its end only). ``parsed``: bytes
    and values of lines that are known already, by offset, taken out as they are met. The tally
    also gets the pending tail and the end of the last record.
    """
    source = lines(stream, limit=limit, skip=skip)
    return _Ladder(source, tally, known, skipped, on_skip).run({} if parsed is None else parsed)


class _Ladder:
    """The steps for broken lines, with the lines looked at ahead."""

    def __init__(
        self,
        source: Iterator[Line],
        tally: Tally,
        known: frozenset[str],
        skipped: Disposition,
        on_skip: Callable[[Line], None] | None,
    ) -> None:
        self.source = source
        self.ahead: deque[Line] = deque()
        self.tally = tally
        self.known = known
        self.skipped: Disposition = skipped
        self.on_skip = on_skip

    def run(self, parsed: dict[int, tuple[bytes, object]]) -> Iterator[Record]:
        tally = self.tally
        for line in self.source:
            number, offset, raw, state, end, _ = line
            known = parsed.pop(offset, None) if parsed else None
            if state == "skipped":  # also where its value is known
                self._skip(line)
                continue
            if known is not None and known[0] == raw:
                value = known[1]
            else:
                try:
                    value = orjson.loads(raw)
                except orjson.JSONDecodeError:
                    yield from self._broken(line)
                    if self.ahead:
                        yield from self._looked_at()
                    continue
            size = len(raw)
            if type(value) is dict and (size <= _SHALLOW or not _too_deep(raw, value)):
                tally.end_offset = end  # nearly always; the rest is for the odd line
                tally.records += 1
                yield _RECORD(Record, (number, offset, size, value))
            else:
                yield from self._odd(line, value)

    def _looked_at(self) -> Iterator[Record]:
        """Records of lines that were looked at ahead, and belong to no line before them."""
        while self.ahead:
            line = self.ahead.popleft()
            if line.state == "skipped":
                self._skip(line)
                continue
            try:
                value = orjson.loads(line.raw)
            except orjson.JSONDecodeError:
                yield from self._broken(line)
            else:
                yield from self._odd(line, value)

    def _odd(self, line: Line, value: object) -> Iterator[Record]:
        if _too_deep(line.raw, value):
            self._lose(line, "bad_json")
        else:
            yield from self._accept(line, value)

    def _skip(self, line: Line) -> None:
        self._set_aside(line, self.skipped)
        if self.on_skip is not None:
            self.on_skip(line)

    def _next(self) -> Line | None:
        return self.ahead.popleft() if self.ahead else next(self.source, None)

    def _accept(self, line: Line, value: object) -> Iterator[Record]:
        self.tally.end_offset = line.end
        yield from self._record(line, line.offset, len(line.raw), value)

    def _record(self, line: Line, offset: int, length: int, value: object) -> Iterator[Record]:
        self.tally.read()
        if isinstance(value, dict):
            yield Record(line.number, offset, length, value)
        else:
            self.tally.drop("lost")
            self.tally.note("not_an_object", line.number)

    def _lose(self, line: Line, code: str) -> None:
        self.tally.end_offset = line.end
        self.tally.read()
        self.tally.drop("lost")
        self.tally.note(code, line.number)

    def _set_aside(self, line: Line, disposition: Disposition) -> None:
        self.tally.end_offset = line.end
        self.tally.read()
        self.tally.drop(disposition)

    def _broken(self, line: Line) -> Iterator[Record]:
        """Go through the steps for a line that does not parse at once."""
        if line.state == "too_big":
            self._lose(line, "too_big")
            return
        raw = line.raw.replace(b"\0", b"").strip(b" \t\r")
        repairs: Repairs = (("nul_bytes", 1),) if b"\0" in line.raw else ()
        if not raw:
            self._note(line, repairs)
            self.tally.end_offset = line.end
        elif raw.startswith(b"//"):
            self._set_aside(line, "meta")
        else:
            yield from self._repaired(line, raw, repairs)

    def _note(self, line: Line, repairs: Repairs) -> None:
        for code, count in repairs:
            self.tally.note(code, line.number, count)

    def _repaired(self, line: Line, raw: bytes, repairs: Repairs) -> Iterator[Record]:
        try:
            value, more = loads(raw) if raw != line.raw else _loads_slowly(raw)
        except ValueError as error:
            yield from self._unglued(line, raw, repairs, error)
            return
        self._note(line, repairs + more)
        yield from self._accept(line, value)

    def _unglued(
        self, line: Line, raw: bytes, repairs: Repairs, error: ValueError
    ) -> Iterator[Record]:
        """Several objects on one line; what follows the last sound one is lost."""
        text, bad = decode(raw)
        values = list(_values(text)) if _has_more(error) else []
        at = values[-1][1] if values else 0
        rest = text[at:].strip()
        if not values or (rest and line.state == "tail"):
            yield from self._joined(line, text, repairs + bad, error)
            return
        self._note(line, (*repairs, *bad, ("glued_records", 1)))
        self.tally.end_offset = line.end
        start, at = line.offset, 0
        for begin, end, value in values:
            start += len(text[at:begin].encode())
            length = len(text[begin:end].encode())
            yield from self._record(line, start, length, value)
            start, at = start + length, end
        if rest:
            self._lose(line, "bad_json")

    def _joined(
        self, line: Line, text: str, repairs: Repairs, error: ValueError
    ) -> Iterator[Record]:
        """A string broken by raw line ends or control characters, put together again."""
        found = self._join(line, text, error) if _inside_string(error) else None
        if found is not None:
            end, value = found
            self._note(line, (*repairs, ("joined_lines", 1)))
            self.tally.end_offset = end
            yield from self._record(line, line.offset, end - line.offset, value)
        elif line.state == "tail":
            self.tally.note("pending_tail", line.number)
            self.tally.pending_offset = line.offset
        else:
            self._lose(line, "bad_json")

    def _join(self, line: Line, text: str, error: ValueError) -> tuple[int, object] | None:
        """End and value of the record, or None with the lines looked at put back.

        ``error`` is what was wrong with the line by itself: where its string never ended, to
        parse it again would tell nothing new.
        """
        used: list[Line] = []
        size = len(text)
        end = line.end
        value, is_open = (None, True) if _never_ends(error) else _loosely(text)
        while not self._is_known(value):
            follower = self._follower(len(used), size) if is_open else None
            if follower is None:
                self.ahead.extendleft(reversed(used))
                return None
            used.append(follower)
            text += "\n" + decode(follower.raw.replace(b"\0", b""))[0]
            size += len(follower.raw)
            end = follower.end
            value, is_open = _loosely(text)
        return end, value

    def _follower(self, used: int, size: int) -> Line | None:
        """Return the next line if it may belong to the open string."""
        if used == JOIN_LINES or size > JOIN_LIMIT:
            return None
        line = self._next()
        if line is None:
            return None
        if line.state in ("whole", "tail") and not _is_record(line.raw):
            return line
        self.ahead.appendleft(line)
        return None

    def _is_known(self, value: object) -> bool:
        return (
            isinstance(value, dict)
            and not self.known.isdisjoint(value)
            and not nests_too_deep(value)
        )


def _inside_string(error: ValueError) -> bool:
    return isinstance(error, json.JSONDecodeError) and error.msg.startswith(
        ("Unterminated string", "Invalid control character")
    )


def _loosely(text: str) -> tuple[object, bool]:
    """Value of a text with control characters in its strings; whether it ends inside of one."""
    try:
        return _parse(_loose, text), False
    except ValueError as error:
        return None, _inside_string(error)


def _never_ends(error: ValueError) -> bool:
    """Whether the text ended inside a string."""
    return isinstance(error, json.JSONDecodeError) and error.msg.startswith("Unterminated string")


def _has_more(error: ValueError) -> bool:
    """Whether a value was read, and something follows it."""
    return isinstance(error, json.JSONDecodeError) and error.msg.startswith("Extra data")


def _is_record(raw: bytes) -> bool:
    try:
        return isinstance(loads(raw)[0], dict | list)
    except ValueError:
        return False


def _values(text: str) -> Iterator[tuple[int, int, object]]:
    """Objects that stand one after the other at the start of a text: (begin, end, value)."""
    at = _blank_end(text, 0)
    while at < len(text) and text[at] == "{":
        try:
            value, end = _strict.raw_decode(text, at)
        except (ValueError, RecursionError):
            return
        if nests_too_deep(value):
            return
        yield at, end, value
        at = _blank_end(text, end)


def _blank_end(text: str, at: int) -> int:
    found = _BLANK.match(text, at)
    return found.end() if found else at
