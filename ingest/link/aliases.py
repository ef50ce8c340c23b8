"""Labels that may name one thing: proposed to the owner, never merged by themselves."""

from collections.abc import Iterable
from typing import Final

LIKE: Final = 90.0
"""Likeness (0 to 100) from which two labels are proposed; "review" and "preview" reach it too."""
_LEAST: Final = 4
"""Characters below which likeness says nothing."""


def proposals(labels: Iterable[str]) -> tuple[tuple[str, str, float], ...]:
    """(first, second, likeness) of labels that look alike, best first, ties by label.

    Only labels with the same first or the same last two letters are compared.
    """
    from rapidfuzz.fuzz import ratio

    buckets: dict[str, list[str]] = {}
    for label in sorted(set(labels)):
        low = label.casefold()
        if len(low) >= _LEAST:
            buckets.setdefault("<" + low[0], []).append(label)
            buckets.setdefault(">" + low[-2:], []).append(label)
    found: dict[tuple[str, str], float] = {}
    for bucket in buckets.values():
        for place, first in enumerate(bucket):
            for second in bucket[place + 1 :]:
                if abs(len(first) - len(second)) <= len(first) // _LEAST:
                    likeness = ratio(first.casefold(), second.casefold(), score_cutoff=LIKE)
                    if likeness:
                        found[first, second] = round(likeness, 1)
    ranked = sorted(found.items(), key=lambda row: (-row[1], row[0]))
    return tuple((*pair, likeness) for pair, likeness in ranked)
