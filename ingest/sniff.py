"""Which reader a source is for: by content, never by its name alone."""

from functools import cache
from typing import Final, cast

from graphstore.errors import UnknownReader
from graphstore.plugins import load, names
from ingest.model import READ_ERRORS, Reader, ReadFailure, Source
from ingest.shape import Shape, look

PACKAGE: Final = "ingest.readers"
GROUP: Final = "reader"
_REQUIRED: Final = ("NAME", "VERSION", "APPENDABLE", "TIER", "sniff", "read")
_SIDE_KEY: Final = "conversations_memory"


@cache
def readers() -> tuple[Reader, ...]:
    """Every reader there is, by name."""
    loaded = (load(PACKAGE, name, GROUP, _REQUIRED) for name in names(PACKAGE))
    return tuple(cast("Reader", one) for one in loaded if one is not None)


def reader_named(name: str) -> Reader:
    """The reader of that name. Raises ``UnknownReader``."""
    for reader in readers():
        if name == reader.NAME:
            return reader
    raise UnknownReader(name, ", ".join(names(PACKAGE)))


def choose(src: Source, forced: str | None = None) -> Reader | ReadFailure | None:
    """The reader whose rule matches best; None for a side file, known by its shape.

    ``forced`` names the reader; it may still refuse. A failure says why there is no reader.
    """
    shape = look(src)
    if shape.kind == "unreadable":
        return ReadFailure(src.name, "unreadable_file")
    if shape.kind == "empty":
        return ReadFailure(src.name, "empty_file")
    if _is_side(shape):
        return None
    try:
        return _best(src, shape, (reader_named(forced),) if forced else readers())
    except READ_ERRORS as cause:
        return ReadFailure(src.name, "unreadable_file", type(cause).__name__)


def _best(src: Source, shape: Shape, asked: tuple[Reader, ...]) -> Reader | ReadFailure:
    head = src.peek()
    scored = [(score, one) for one in asked if (score := one.sniff(head, src)) is not None]
    if not scored:
        return ReadFailure(src.name, _why_not(shape))
    best = max(score for score, _ in scored)
    first, *equals = [one for score, one in scored if score == best]
    if equals:
        both = ", ".join(one.NAME for one in (first, *equals))
        return ReadFailure(src.name, "ambiguous_format", both)
    return first


def _why_not(shape: Shape) -> str:
    """A JSON document holds no conversation; anything else is a format nobody knows."""
    return "no_conversation" if shape.kind in {"list", "dict"} else "unknown_format"


def _is_side(shape: Shape) -> bool:
    return shape.kind == "list" and any(_SIDE_KEY in one for one in shape.objects)
