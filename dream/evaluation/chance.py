"""What chance would do: draws of pairs of the same kind and degrees, and the lift over them."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Final

from dream.evaluation.sides import Ends

DRAWS: Final = 1000
LOW, HIGH = 0.025, 0.975
"""Ends of a 95 % interval."""
SPAN: Final = 2**32

Bucket = tuple[int, int]


def bucket(one: int, other: int, *, directed: bool) -> Bucket:
    """Pairs are alike whose degrees have equally many binary digits at both ends."""
    near, far = one.bit_length(), other.bit_length()
    return (near, far) if directed or near <= far else (far, near)


@dataclass(frozen=True, slots=True)
class Odds:
    """Share of pairs that were joined later, by bucket."""

    shares: dict[Bucket, float]

    @classmethod
    def of(cls, buckets: Sequence[Bucket], pairs: Sequence[Ends], hits: frozenset[Ends]) -> "Odds":
        """Count the pairs of a pool."""
        all_, joined = defaultdict[Bucket, int](int), defaultdict[Bucket, int](int)
        for where, pair in zip(buckets, pairs, strict=True):
            all_[where] += 1
            joined[where] += pair in hits
        return cls({where: joined[where] / all_[where] for where in sorted(all_)})


def drawn(seed: str, chances: Sequence[float]) -> tuple[int, ...]:
    """For each of 1,000 draws, how many of so many random pairs were joined later.

    A random pair of a bucket is a hit with the share of that bucket. Draws are hashes: the same
    seed draws the same.
    """
    sums = [0] * DRAWS
    for place, chance in enumerate(chances):
        if chance > 0:
            limit = chance * SPAN
            for draw in range(DRAWS):
                sums[draw] += number(seed, place, draw) < limit
    return tuple(sums)


def number(seed: str, place: int, draw: int) -> int:
    """A whole number below 2^32 that a hash decides."""
    return int.from_bytes(blake2b(f"{seed} {place} {draw}".encode(), digest_size=4).digest())


def interval(sums: Sequence[int]) -> tuple[int, int]:
    """Ends of the 95 % interval of some draws."""
    order = sorted(sums)
    last = len(order) - 1
    return order[round(LOW * last)], order[round(HIGH * last)]
