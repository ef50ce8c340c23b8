"""A gate that tells which shapes of secrets a text may hold: most texts hold none."""

import re
from typing import Final, TypeAlias

from ingest.secret_shapes import CARD_DIGITS, LONG, Need, Shape

# Seldom characters first: a text without the seldom one cannot hold the literal.
_SELDOM: Final = "_/:.-0123456789ZQXJVKGUPWYBHFNDMLORCETISAzqxjkvwpygbfmucdhlrinoaste "

_RUN: Final = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_-"
_IN_RUN: Final = bytes(b"x"[0] if one in _RUN else b" "[0] for one in range(256))
_IN_WORD: Final = bytes(b"x"[0] if one in _RUN + b"./:=+%" else b" "[0] for one in range(256))
"""Characters that tokens of the table are made of."""
_LONG: Final = b"x" * LONG
_ANY_DIGIT: Final = bytes.maketrans(b"123456789", b"000000000")
_LONG_NUMBER: Final = b"0" * CARD_DIGITS
_ASSIGNMENT: Final = re.compile(r"""[:=]>?[ \t]*\\{0,2}["'`]?[^\s"'`\\]{12}""")
"""What the pattern of assigned secrets has after the name."""
_KELVIN: Final = "\u212a"
"""The only sign beyond ASCII whose lower case is a letter of ASCII."""

_Groups: TypeAlias = tuple[tuple[str, tuple[tuple[str, tuple[int, ...]], ...]], ...]


class Gate:
    """Tells in one go which shapes are to be tried on a text."""

    def __init__(self, shapes: tuple[Shape, ...]) -> None:
        self._shapes = shapes
        self._exact = _by_character(shapes, "text", folded=False)
        self._folded = _by_character(shapes, "text", folded=True)
        self._words = _by_character(shapes, "word", folded=False)
        self._beside_words = _by_character(shapes, "word", folded=True)
        self._runs = _by_character(shapes, "run", folded=False)
        self._assigned = _by_character(shapes, "assignment", folded=True)
        self._numbers = [n for n, shape in enumerate(shapes) if shape.spots.need == "number"]
        self._always = [
            n
            for n, shape in enumerate(shapes)
            if shape.spots.need == "text" and not shape.spots.literals
        ]

    def open(self, text: str) -> list[tuple[int, Shape]]:
        """Shapes to be tried, with their place in the table; places in the order of it."""
        plain = text if text.isascii() else _plain(text)
        raw, lowered = plain.encode(), plain.lower()
        places = self._always + _announced(self._exact, plain) + _announced(self._folded, lowered)
        if _ASSIGNMENT.search(plain) is not None:
            places += _announced(self._assigned, lowered)
        if words := _stretches(raw, _IN_WORD):
            places += _announced(self._beside_words, lowered)
            places += self._shown(self._words, words)
            places += self._shown(self._runs, _stretches(words, _IN_RUN))
        if raw.translate(_ANY_DIGIT, b" -").find(_LONG_NUMBER) >= 0:
            places += self._numbers
        return [(n, self._shapes[n]) for n in sorted(set(places))] if places else []

    def _shown(self, groups: _Groups, words: bytes) -> list[int]:
        """Shapes that words announce, and whose simpler pattern is in them."""
        text = words.decode()
        return [
            n
            for n in _announced(groups, text)
            if (rarer := self._shapes[n].spots.rarer) is None or rarer.search(text)
        ]


def _by_character(shapes: tuple[Shape, ...], need: Need, *, folded: bool) -> _Groups:
    """Literals and the shapes they announce, by the most seldom character in them."""
    groups: dict[str, dict[str, list[int]]] = {}
    for n, shape in enumerate(shapes):
        if shape.spots.need == need and shape.spots.folded == folded:
            for literal in shape.spots.gate or shape.spots.literals:
                seldom = min(literal, key=_SELDOM.find)
                groups.setdefault(seldom, {}).setdefault(literal, []).append(n)
    return tuple(
        (character, tuple((literal, tuple(told)) for literal, told in literals.items()))
        for character, literals in groups.items()
    )


def _announced(groups: _Groups, text: str) -> list[int]:
    return [
        n
        for character, literals in groups
        if character in text
        for literal, told in literals
        if literal in text
        for n in told
    ]


def _plain(text: str) -> str:
    """A text with a mark in place of every sign beyond ASCII: no literal and no token has one."""
    return text.replace(_KELVIN, "k").encode("ascii", "replace").decode()


def _stretches(raw: bytes, table: bytes) -> bytes:
    """Long stretches of the characters of a table, with blanks between them."""
    marks = raw.translate(table)
    found: list[bytes] = []
    at = marks.find(_LONG)
    while at >= 0:
        end = marks.find(b" ", at)
        end = len(raw) if end < 0 else end
        found.append(raw[at:end])
        at = marks.find(_LONG, end)
    return b" ".join(found)
