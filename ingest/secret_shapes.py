"""Shapes of secrets: what each looks like, and where it is tried in a text."""

import re
from collections.abc import Callable, Iterator
from functools import cache
from typing import Final, Literal, NamedTuple, TypeAlias

LONG: Final = 20
"""Characters of the shortest word and of the shortest run that tell of a token."""
CARD_DIGITS: Final = 13
"""Digits of the shortest card number."""

# A token does not begin inside a word; an escape (\n, \u0022, %3D) before it is no word.
LEFT: Final = r"(?:(?<![A-Za-z0-9])|(?<=\\[bfnrt])|(?<=\\u[0-9A-Fa-f]{4})|(?<=%[0-9A-Fa-f]{2}))"
RIGHT: Final = r"(?![A-Za-z0-9])"


Check: TypeAlias = Callable[[re.Match[str]], bool]
Need: TypeAlias = Literal["text", "word", "run", "assignment", "number"]
"""What a text must have for a shape to be in it, beside its literals.

``word``: ``LONG`` characters in a row that tokens are made of, the literals among them unless
they are folded; ``run``: ``LONG`` letters, digits, dashes and underscores in a row, the literals
among them; ``assignment``: a mark of one and a value after it; ``number``: ``CARD_DIGITS``
digits with nothing but blanks and dashes among them; ``text``: nothing more.
"""


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
    need: Need = "text"
    gate: tuple[str, ...] = ()
    """Fewer literals that say the same: one of them stands in each of the others."""

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


def at(*literals: str, need: Need = "word") -> Spots:
    """Where one of the literals stands."""
    return Spots(literals, need=need)


def in_any_case(*literals: str, gate: tuple[str, ...] = (), need: Need = "text") -> Spots:
    """Where one of the literals stands, in upper or lower case."""
    return Spots(literals, folded=True, gate=gate, need=need)


def before(literal: str, rarer: str, most: int, allowed: str, need: Need = "word") -> Spots:
    """Where the run of allowed characters begins that a rarer pattern follows."""
    return Spots(
        (literal,),
        rarer=re.compile(rarer),
        before=re.compile(allowed),
        most=most,
        need=need,
    )


def matching(pattern: str, *literals: str, need: Need = "text") -> Spots:
    """Where a simpler pattern matches."""
    return Spots(literals, rarer=re.compile(pattern), need=need)


def shape(kind: str, pattern: str, spots: Spots, check: Check | None = None) -> Shape:
    return Shape(kind, re.compile(pattern), spots, check)


def token(
    kind: str, pattern: str, *literals: str, check: Check | None = None, need: Need = "run"
) -> Shape:
    """A shape that begins with a literal and stands alone, not inside a longer run."""
    return shape(kind, f"{LEFT}(?:{pattern}){RIGHT}", at(*literals, need=need), check)
