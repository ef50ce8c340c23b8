"""Places at which a growing carrier may be read on from later, and which records stand before."""

import base64
import sys
import zlib
from array import array
from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass


class Unsure(Exception):
    """What follows may change what stands before: only a full reading can tell."""


@dataclass(frozen=True, slots=True)
class Cut:
    """One place: the first record of an exchange after which nothing changes what was before."""

    line: int
    """1-based."""
    offset: int
    """Bytes from the start of the carrier, or of the part of it that was read."""
    answered: int
    """Offset of the answer that the exchange before it ends with."""
    records: int
    """Records with a native id that were read before it."""
    state: str
    """What the reader must know there, as JSON."""
    retold: bool = False
    """Of several records that tell the message, a later one may be the one that is kept."""


@dataclass(frozen=True, slots=True)
class Cuts:
    """Places of one carrier, the latest last."""

    found: tuple[Cut, ...]
    keys: "array[int]"
    """Hashes of the native ids of its records, in their order."""


class Older:
    """The records before a place, by hashes of their native ids.

    It never misses one; one in some hundred thousand others is taken for one of them, which
    costs a full reading and nothing else.
    """

    def __init__(self, hashes: Iterable[int]) -> None:
        self._hashes = array("I", sorted(hashes))

    @classmethod
    def of_text(cls, text: str) -> "Older":
        """What ``text()`` gave. Raises ``ValueError`` for anything else."""
        hashes = array("I")
        hashes.frombytes(base64.b64decode(text, validate=True))
        if sys.byteorder == "big":
            hashes.byteswap()
        older = cls(())
        older._hashes = hashes
        return older

    def text(self) -> str:
        """Sorted, four bytes each, the lowest first, in base 64."""
        hashes = array("I", self._hashes)
        if sys.byteorder == "big":
            hashes.byteswap()
        return base64.b64encode(hashes.tobytes()).decode("ascii")

    def has(self, key: str) -> bool:
        """Whether a record of this native id stands before, or one whose hash is the same."""
        wanted = hash_of(key)
        at = bisect_left(self._hashes, wanted)
        return at < len(self._hashes) and self._hashes[at] == wanted

    def and_more(self, hashes: Iterable[int]) -> "Older":
        """These records and some after them."""
        return Older((*self._hashes, *hashes))


def hash_of(key: str) -> int:
    """Four bytes of a native id."""
    return zlib.crc32(key.encode("utf-8", "surrogatepass"))
