"""Shapes of secrets: where each is tried in a text, and a gate that spares most texts the trial."""

import re
from collections.abc import Callable, Iterator
from functools import cache
from typing import Final, NamedTuple, TypeAlias

LONG_WORD: Final = 20
"""Characters without white space that every token has."""
CARD_DIGITS: Final = 13
"""Digits of the shortest card number."""

# A token does not begin inside a word; an escape (\n, \u0022, %3D) before it is no word.
LEFT: Final = r"(?:(?<![A-Za-z0-9])|(?<=\\[bfnrt])|(?<=\\u[0-9A-Fa-f]{4})|(?<=%[0-9A-Fa-f]{2}))"
RIGHT: Final = r"(?![A-Za-z0-9])"


Check: TypeAlias = Callable[[re.Match[str]], bool]


class Spots(NamedTuple):
    """Where a pattern is tried: looking for literals is fast, scanning with patterns is not."""

    literals: tuple[str, ...] = ()
    """One of them stands in every match; none: there is no way but to look."""
    folded: bool = False
    """The literals are lower case, the text may be in any case."""
    rarer: re.Pattern[str] | None = None
    """A simpler pattern; without one, the pattern begins with a literal."""
    before: re.Pattern[str] | None = None
    """Characters before the simpler pattern that belong to the match."""
    most: int = 0
    """How many of them at most."""
    is_word: bool = False
    """Every match has ``LONG_WORD`` characters or more and no white space."""
    gate: tuple[str, ...] = ()
    """Fewer literals that say the same: one of them stands in each of the others."""
    digits: int = 0
    """Every match has this many digits, with nothing but blanks and dashes among them."""

    def find(self, text: str, lowered: str) -> Iterator[int]:
        """Places where a match may begin, in their order, from a text and its lower-cased form."""
        if self.rarer is not None:
            for match in self.rarer.finditer(text):
                yield from range(self._back(text, match.start()), match.start() + 1)
            return
        where = lowered if self.folded else text
        yield from sorted(
            at - offset
            for marker, family in _families(self)
            for at in _places(where, marker)
            for literal, offset in family
            if at >= offset and where.startswith(literal, at - offset)
        )

    def _back(self, text: str, at: int) -> int:
        if self.before is None:
            return at
        nearest = max(at - self.most, 0)
        while at > nearest and self.before.match(text, at - 1):
            at -= 1
        return at


@cache
def _families(spots: Spots) -> tuple[tuple[str, tuple[tuple[str, int], ...]], ...]:
    """Literals by the gate that stands in them, and where in them: few gates tell many."""
    families: dict[str, list[tuple[str, int]]] = {}
    for literal in spots.literals:
        marker = next((one for one in spots.gate if one in literal), literal)
        families.setdefault(marker, []).append((literal, literal.index(marker)))
    return tuple((marker, tuple(family)) for marker, family in families.items())


def _places(text: str, literal: str) -> Iterator[int]:
    """Every place of a literal."""
    at = text.find(literal)
    while at >= 0:
        yield at
        at = text.find(literal, at + 1)


class Shape(NamedTuple):
    """One shape of a kind of secret."""

    kind: str
    pattern: re.Pattern[str]
    spots: Spots
    check: Check | None = None

    def find(self, text: str, lowered: str) -> Iterator[tuple[int, int]]:
        """Spans of the secrets: group ``s`` of the pattern if it has one, else the match."""
        group = "s" if "s" in self.pattern.groupindex else 0
        end = 0
        for start in self.spots.find(text, lowered):
            if start < end:
                continue
            match = self.pattern.match(text, start)
            if match is not None and (self.check is None or self.check(match)):
                end = match.end()
                yield match.span(group)


def lower(text: str) -> str:
    """Lower-case a text; places in it stay places in the text."""
    lowered = text.lower()
    if len(lowered) == len(text):
        return lowered
    return "".join(c.lower() if len(c.lower()) == 1 else c for c in text)


def at(*literals: str, is_word: bool = True) -> Spots:
    """Where one of the literals stands."""
    return Spots(literals, is_word=is_word)


def at_word(*literals: str, gate: tuple[str, ...] = ()) -> Spots:
    """Where one of the literals stands, in upper or lower case."""
    return Spots(literals, folded=True, gate=gate)


def before(literal: str, rarer: str, most: int, allowed: str) -> Spots:
    """Where the run of allowed characters begins that a rarer pattern follows."""
    return Spots(
        (literal,),
        rarer=re.compile(rarer),
        before=re.compile(allowed),
        most=most,
        is_word=literal != "@",
    )


def matching(pattern: str, *literals: str) -> Spots:
    """Where a simpler pattern matches."""
    return Spots(literals, rarer=re.compile(pattern), is_word=bool(literals))


def shape(kind: str, pattern: str, spots: Spots, check: Check | None = None) -> Shape:
    return Shape(kind, re.compile(pattern), spots, check)


def token(kind: str, pattern: str, *literals: str, check: Check | None = None) -> Shape:
    """A shape that begins with a literal and stands alone, not inside a longer run."""
    return shape(kind, f"{LEFT}(?:{pattern}){RIGHT}", at(*literals), check)


# Seldom characters first: a text without the seldom one cannot hold the literal.
_SELDOM: Final = "_/:.-0123456789ZQXJVKGUPWYBHFNDMLORCETISAzqxjkvwpygbfmucdhlrinoaste "


class Gate:
    """Tells in one go which shapes a text may hold: most texts hold none."""

    def __init__(self, shapes: tuple[Shape, ...]) -> None:
        self._shapes = shapes
        self._words = _by_character(shapes, lambda spots: spots.is_word)
        self._exact = _by_character(shapes, lambda spots: not (spots.is_word or spots.folded))
        self._folded = _by_character(shapes, lambda spots: spots.folded)
        self._digits = [n for n, shape in enumerate(shapes) if shape.spots.digits]
        self._always = [
            n for n, shape in enumerate(shapes) if not (shape.spots.literals or shape.spots.digits)
        ]

    def open(self, text: str, lowered: str) -> list[tuple[int, Shape]]:
        """Shapes to be tried, with their place in the table."""
        places = self._always + _announced(self._exact, text)
        places += _announced(self._folded, lowered)
        if words := _long_words(text):
            places += [n for n in _announced(self._words, words) if self._shows(n, words)]
        if _has_long_number(text):
            places += self._digits
        return [(n, self._shapes[n]) for n in sorted(set(places))]

    def _shows(self, place: int, words: str) -> bool:
        rarer = self._shapes[place].spots.rarer
        return rarer is None or rarer.search(words) is not None


_Groups: TypeAlias = tuple[tuple[str, tuple[tuple[str, tuple[int, ...]], ...]], ...]


def _by_character(shapes: tuple[Shape, ...], chosen: Callable[[Spots], bool]) -> _Groups:
    """Literals and the shapes they announce, by the most seldom character in them."""
    groups: dict[str, dict[str, list[int]]] = {}
    for n, shape in enumerate(shapes):
        if chosen(shape.spots):
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


def _long_words(text: str) -> str:
    """Words that are long enough to hold a token: prose has few of them."""
    return " ".join([word for word in text.split() if len(word) >= LONG_WORD])


_ANY_DIGIT: Final = bytes.maketrans(b"123456789", b"000000000")
_LONG_NUMBER: Final = b"0" * CARD_DIGITS


def _has_long_number(text: str) -> bool:
    """Whether digits enough for a card follow each other; tables of bytes tell it fastest."""
    return _LONG_NUMBER in text.encode("utf-8", "surrogatepass").translate(_ANY_DIGIT, b" -")
