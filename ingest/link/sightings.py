"""Which of very many labels have been seen before: eight bytes a label, not the label."""

from collections.abc import Sequence
from hashlib import blake2b
from typing import Final

import numpy as np
from numpy.typing import NDArray

_PENDING: Final = 50_000
"""Hashes that wait to be sorted in."""

Hashes = NDArray[np.uint64]


def hashed(text: str) -> int:
    """64 bits of a text, the same in every process.

    Of ten million labels two share one with a probability of three in a million.
    """
    return int.from_bytes(blake2b(text.encode("utf-8", "replace"), digest_size=8).digest(), "big")


class Sightings:
    """A set of labels that only grows, kept as sorted runs of hashes, each twice the next."""

    def __init__(self) -> None:
        self._runs: list[Hashes] = []
        self._pending: set[int] = set()

    def add(self, labels: Sequence[str]) -> list[bool]:
        """Take distinct labels in; says of each whether it was there before."""
        hashes = [hashed(label) for label in labels]
        asked = np.array(hashes, np.uint64)
        sorted_in = np.zeros(len(hashes), np.bool_)
        for run in self._runs:
            places = np.minimum(np.searchsorted(run, asked), len(run) - 1)
            sorted_in |= run[places] == asked
        before = [
            found or one in self._pending
            for one, found in zip(hashes, sorted_in.tolist(), strict=True)
        ]
        self._pending.update(one for one, known in zip(hashes, before, strict=True) if not known)
        if len(self._pending) >= _PENDING:
            self._sort_in()
        return before

    def _sort_in(self) -> None:
        run: Hashes = np.sort(np.fromiter(self._pending, np.uint64, len(self._pending)))
        self._pending.clear()
        while self._runs and len(self._runs[-1]) < 2 * len(run):
            run = np.sort(np.concatenate([self._runs.pop(), run]), kind="stable")
        self._runs.append(run)
