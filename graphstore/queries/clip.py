"""Cutting a text to the part that matters."""

from collections.abc import Iterable
from typing import Final

HIT_LENGTH: Final = 280
"""Characters, about 60 tokens."""
SIDE_LENGTH: Final = 140
_MARK: Final = "\u2026"


def start_of(text: str, length: int) -> str:
    """The beginning of a text, white space folded, at most ``length`` characters."""
    return _cut(" ".join(text.split()), 0, length)


def around(text: str, terms: Iterable[str], length: int = HIT_LENGTH) -> str:
    """The stretch of a text in which most of the terms stand, earliest first.

    ``terms`` are stems, so what counts is where words begin with them.
    """
    folded = " ".join(text.split())
    if len(folded) <= length:
        return folded
    places = sorted(
        (at, term) for term in dict.fromkeys(terms) for at in _places(folded.casefold(), term)
    )
    best, begin = 0, 0
    for at, _ in places:
        inside = len({term for place, term in places if at <= place < at + length * 3 // 4})
        if inside > best:
            best, begin = inside, at
    return _cut(folded, max(0, begin - length // 6), length)


def _places(text: str, term: str) -> Iterable[int]:
    stem = term[:-1] if term.endswith("i") and len(term) > 3 else term  # noqa: PLR2004 - porter's y
    at = text.find(stem)
    found = 0
    while at >= 0 and found < 16:  # noqa: PLR2004 - enough to find where they meet
        if at == 0 or not text[at - 1].isalnum() or not stem.isascii():
            found += 1
            yield at
        at = text.find(stem, at + 1)


def _cut(text: str, begin: int, length: int) -> str:
    begin = min(begin, max(0, len(text) - length))
    end = min(len(text), begin + length)
    if begin:
        begin = text.find(" ", begin, begin + 20) + 1 or begin
    if end < len(text):
        space = text.rfind(" ", end - 20, end)
        end = end if space < 0 else space
    return (_MARK if begin else "") + text[begin:end] + (_MARK if end < len(text) else "")
