"""How results look in a terminal: JSON, aligned rows, wrapped text, plain signs."""

import json
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any
from unicodedata import east_asian_width

WIDEST = 110


def width() -> int:
    """Columns to use."""
    return min(shutil.get_terminal_size((100, 24)).columns, WIDEST)


def as_json(value: Any) -> None:  # noqa: ANN401 - a Value or a tuple of Values
    """Print a value as JSON with stable keys."""
    print(json.dumps(plain(value), ensure_ascii=False, indent=2, sort_keys=True))


def plain(value: Any) -> Any:  # noqa: ANN401 - JSON
    """A value as what JSON knows."""
    if hasattr(value, "model_dump"):
        return value.model_dump(mode="json", by_alias=True)
    if isinstance(value, tuple | list):
        return [plain(each) for each in value]
    return value


def columns(text: str) -> int:
    """Terminal columns of a text; wide signs count two."""
    return sum(2 if east_asian_width(sign) in "WF" else 1 for sign in text)


def cut(text: str, room: int) -> str:
    """One line of a text that fits."""
    line = " ".join(text.split())
    if columns(line) <= room:
        return line
    kept = ""
    for sign in line:
        if columns(kept) + columns(sign) > room - 1:
            break
        kept += sign
    return kept.rstrip() + mark("\u2026", "~")


def tail(text: str, room: int) -> str:
    """The end of a text that fits: of a path, the end says more."""
    if columns(text) <= room:
        return text
    kept = ""
    for sign in reversed(text):
        if columns(kept) + columns(sign) > room - 1:
            break
        kept = sign + kept
    return mark("\u2026", "~") + kept


def mark(sign: str, ascii_sign: str) -> str:
    """A sign, or its plain form where the terminal cannot show it."""
    try:
        sign.encode(sys.stdout.encoding or "ascii")
    except UnicodeEncodeError:
        return ascii_sign
    return sign


def whole(text: str, room: int) -> str:
    """A text as it is, whatever the room: ids and ranges are of no use when cut."""
    del room
    return text


def rows(
    header: Sequence[str],
    found: Iterable[Sequence[Any]],
    last: Callable[[str, int], str] = cut,
) -> None:
    """Aligned columns; the last one is fitted by ``last`` into what room is left."""
    table = [[str(cell) if cell is not None else "-" for cell in row] for row in found]
    if not table:
        return
    sizes = [max(columns(row[at]) for row in [list(header), *table]) for at in range(len(header))]
    sizes = [min(size, 40) for size in sizes[:-1]]
    for row in [list(header), *table]:
        cells = [fit(cell, size) for cell, size in zip(row, sizes, strict=False)]
        room = max(20, width() - sum(sizes) - 2 * len(sizes))
        print("  ".join([*cells, last(row[-1], room)]).rstrip())


def fit(cell: str, size: int) -> str:
    """A cell of exactly that many columns."""
    short = cut(cell, size)
    return short + " " * (size - columns(short))


def paragraph(text: str, indent: str = "    ", *, first: str = "") -> None:
    """A text, wrapped; ``first`` stands at the start of the first line, in the indent."""
    start = first + indent[len(first) :]
    for line in wrapped(text, width() - len(indent)):
        print((start + line).rstrip())
        start = indent


def wrapped(text: str, room: int) -> Iterator[str]:
    """Lines of at most that many columns; a reference or a path is never broken."""
    line = ""
    for word in pieces(text, room):
        if line and columns(line) + 1 + columns(word) > room:
            yield line
            line = word
        else:
            line = f"{line} {word}" if line else word
    yield line


def pieces(text: str, room: int) -> Iterator[str]:
    """Words; those of a script without spaces in pieces that fit."""
    for word in text.split():
        if columns(word) <= room or word.isascii():
            yield word
            continue
        piece = ""
        for sign in word:
            if columns(piece) + columns(sign) > room:
                yield piece
                piece = ""
            piece += sign
        yield piece


def refs(names: Iterable[str], first: str = "", indent: str = "    ") -> None:
    """References, as many on a line as fit, each whole so that it can be copied."""
    paragraph(" ".join(names), indent, first=first)


def block(text: str, indent: str = "    ") -> None:
    """A text with its own lines kept."""
    for line in text.split("\n"):
        print((indent + line).rstrip())


def day(moment: Any) -> str:  # noqa: ANN401 - an instant or None
    """A date, or a dash."""
    return moment.date().isoformat() if moment else "-"


def plural(count: int, noun: str) -> str:
    """``1 thread``, ``3 threads``."""
    if count == 1:
        return f"1 {noun}"
    if noun.endswith("sis"):
        return f"{count:,} {noun[:-2]}es"
    return f"{count:,} {noun}s"
