"""Arcs: the 64 states of six lines that a waypoint may carry, and all that follows from their bits.

Whoever annotates a waypoint names a state; the rest is computed here. Names are labels in the
traditional numbering: no meaning is read from them, and nothing is ranked by them alone.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from itertools import pairwise
from typing import Final, Literal, TypeAlias

TRIGRAMS: Final = {
    "111": "heaven",
    "110": "lake",
    "101": "fire",
    "100": "thunder",
    "011": "wind",
    "010": "water",
    "001": "mountain",
    "000": "earth",
}
"""Names of three lines, read from the bottom."""
_TABLE: Final = """
qian 111111 kun 000000 zhun 100010 meng 010001 xu 111010 song 010111 shi 010000 bi 000010
xiaoxu 111011 lü 110111 tai 111000 pi 000111 tongren 101111 dayou 111101 qian' 001000 yu 000100
sui 100110 gu 011001 lin 110000 guan 000011 shihe 100101 bi' 101001 bo 000001 fu 100000
wuwang 100111 daxu 111001 yi 100001 daguo 011110 kan 010010 li 101101 xian 001110 heng 011100
dun 001111 dazhuang 111100 jin 000101 mingyi 101000 jiaren 101011 kui 110101 jian 001010 xie 010100
sun 110001 yi' 100011 guai 111110 gou 011111 cui 000110 sheng 011000 kun' 010110 jing 011010
ge 101110 ding 011101 zhen 100100 gen 001001 jian' 001011 guimei 110100 feng 101100 lü' 001101
xun 011011 dui 110110 huan 010011 jie 110010 zhongfu 110011 xiaoguo 001100 jiji 101010 weiji 010101
"""
"""Name and lines of each state, by number."""
_STATES: Final = _TABLE.split()

Relation: TypeAlias = Literal["same", "same_orbit", "adjacent", "different"]


@dataclass(frozen=True, slots=True)
class Arc:
    """One state: its traditional number, its name, its six lines from the bottom."""

    number: int
    name: str
    bits: str

    @property
    def lower(self) -> str:
        """Name of the trigram of lines 1 to 3."""
        return TRIGRAMS[self.bits[:3]]

    @property
    def upper(self) -> str:
        """Name of the trigram of lines 4 to 6."""
        return TRIGRAMS[self.bits[3:]]

    @property
    def opposite(self) -> "Arc":
        """Every line flipped."""
        return of_bits(self.bits.translate(_FLIP))

    @property
    def reverse(self) -> "Arc":
        """Read from the top."""
        return of_bits(self.bits[::-1])

    @property
    def nuclear(self) -> "Arc":
        """Lines 2, 3, 4 below lines 3, 4, 5."""
        return of_bits(self.bits[1:4] + self.bits[2:5])

    def changed(self, line: int) -> "Arc":
        """One line flipped, counted from 1 at the bottom."""
        at = line - 1
        return of_bits(self.bits[:at] + self.bits[at].translate(_FLIP) + self.bits[line:])

    @property
    def orbit(self) -> frozenset[str]:
        """Names of all states that opposite and reverse lead to, its own among them."""
        turned = self.reverse
        return frozenset(each.name for each in (self, self.opposite, turned, turned.opposite))


_FLIP: Final = str.maketrans("01", "10")
ARCS: Final[tuple[Arc, ...]] = tuple(
    Arc(number, name, bits)
    for number, (name, bits) in enumerate(zip(_STATES[::2], _STATES[1::2], strict=True), 1)
)
"""All states, by number."""
_NAMED: Final = {arc.name: arc for arc in ARCS}
_OF_BITS: Final = {arc.bits: arc for arc in ARCS}


def named(name: str) -> Arc | None:
    """The state of a name; None for ``unmapped`` and for any other word."""
    return _NAMED.get(name)


def of_bits(bits: str) -> Arc:
    """The state of six lines, from the bottom. Raises ``KeyError`` for anything else."""
    return _OF_BITS[bits]


def of_lines(lines: Sequence[bool]) -> Arc:
    """The state of six yes-or-no facts, from the bottom. Raises ``KeyError`` unless six."""
    return of_bits("".join("1" if line else "0" for line in lines))


def distance(one: Arc, other: Arc) -> int:
    """Lines that differ, 0 to 6."""
    return sum(a != b for a, b in zip(one.bits, other.bits, strict=True))


def relation(one: Arc, other: Arc) -> Relation:
    """How two states stand to each other; the closest that holds."""
    if one == other:
        return "same"
    if other.name in one.orbit:
        return "same_orbit"
    return "adjacent" if distance(one, other) == 1 else "different"


FAR: Final = 3
"""Lines between the ends of a route, from which on its source must be read again."""
WANDERED: Final = 6
"""Lines changed along a route, step by step."""
MANY: Final = 4
"""Different states on a route."""


def needs_anchor(route: Sequence[Arc], *, is_reopened: bool) -> bool:
    """Whether a route went so far from where it began that its sources must be read again."""
    if is_reopened or not route:
        return False
    steps = sum(distance(a, b) for a, b in pairwise(route))
    return distance(route[0], route[-1]) >= FAR or steps >= WANDERED or len(set(route)) >= MANY


# --- path resonance

LEAST_ARCS: Final = 4
FIRES: Final = 0.70
SHUFFLES: Final = 200
_QUANTILE: Final = 0.95
_COMMON, _KINDS = 3, 2
"""Steps that some sequence must have in common, and different symbols among them."""


@dataclass(frozen=True, slots=True)
class Likeness:
    """How alike two routes are: shares of the shorter one, 0 to 1, and whether that means much."""

    upper: float
    lower: float
    change: float
    nuclear: float
    fires: bool

    @property
    def score(self) -> float:
        """Weighted mean of the four, 0 to 1."""
        return _score((self.upper, self.lower, self.change, self.nuclear))


def likeness(one: Sequence[Arc], other: Sequence[Arc], seed: str) -> Likeness | None:
    """Path resonance of two routes by longest common subsequences; None below four arcs each.

    It fires when the score reaches .70, some sequence has three steps of two kinds in common, and
    the score is above the 95th percentile of 200 shuffles of ``other`` drawn from ``seed``.
    """
    if min(len(one), len(other)) < LEAST_ARCS:
        return None
    mine = _readings(one)
    common = [_common(a, b) for a, b in zip(mine, _readings(other), strict=True)]
    shares = _shares([len(each) for each in common], one, other)
    telling = any(len(each) >= _COMMON and len(set(each)) >= _KINDS for each in common)
    fires = telling and _score(shares) >= FIRES and _score(shares) > _by_chance(one, other, seed)
    return Likeness(*shares, fires=fires)


def _score(shares: Sequence[float]) -> float:
    return round(sum(w * share for w, share in zip((0.3, 0.2, 0.3, 0.2), shares, strict=True)), 6)


def _readings(route: Sequence[Arc]) -> tuple[tuple[str, ...], ...]:
    """Four sequences of a route: upper, lower, lines that change, nuclear."""
    return (
        tuple(arc.upper for arc in route),
        tuple(arc.lower for arc in route),
        tuple(_mask(a, b) for a, b in pairwise(route)),
        tuple(arc.nuclear.name for arc in route),
    )


def _mask(one: Arc, other: Arc) -> str:
    return "".join("1" if a != b else "0" for a, b in zip(one.bits, other.bits, strict=True))


def _shares(
    common: Sequence[int], one: Sequence[Arc], other: Sequence[Arc]
) -> tuple[float, float, float, float]:
    shorter = min(len(one), len(other))
    upper, lower, change, nuclear = common
    return upper / shorter, lower / shorter, change / (shorter - 1), nuclear / shorter


def _by_chance(one: Sequence[Arc], other: Sequence[Arc], seed: str) -> float:
    """The 95th percentile of the scores of shuffled routes."""
    mine = _readings(one)
    scores = sorted(
        _score(
            _shares(
                [_length(a, b) for a, b in zip(mine, _readings(route), strict=True)], one, route
            )
        )
        for route in _shuffled(other, seed)
    )
    return scores[int(_QUANTILE * SHUFFLES) - 1]


def _shuffled(route: Sequence[Arc], seed: str) -> Iterator[list[Arc]]:
    """The route in orders that hashes of the seed decide."""
    for drawn in range(SHUFFLES):
        key = [
            blake2b(f"{seed} {drawn} {at}".encode(), digest_size=8).digest()
            for at in range(len(route))
        ]
        yield [route[at] for at in sorted(range(len(route)), key=key.__getitem__)]


def _common(one: Sequence[str], other: Sequence[str]) -> tuple[str, ...]:
    """A longest common subsequence; of several, the one that keeps to ``one`` longest."""
    best: list[list[tuple[str, ...]]] = [[()] * (len(other) + 1) for _ in range(len(one) + 1)]
    for i in range(len(one) - 1, -1, -1):
        for j in range(len(other) - 1, -1, -1):
            if one[i] == other[j]:
                best[i][j] = (one[i], *best[i + 1][j + 1])
            else:
                best[i][j] = max(best[i][j + 1], best[i + 1][j], key=len)
    return best[0][0]


def _length(one: Sequence[str], other: Sequence[str]) -> int:
    """Length of a longest common subsequence, a row of the table at a time as bits.

    Hyyrö 2004, "Bit-parallel LCS-length computation revisited".
    """
    places: dict[str, int] = {}
    for at, symbol in enumerate(one):
        places[symbol] = places.get(symbol, 0) | 1 << at
    full = (1 << len(one)) - 1
    row = full
    for symbol in other:
        match = row & places.get(symbol, 0)
        row = ((row + match) | (row - match)) & full
    return len(one) - row.bit_count()
