"""Proof that words are nowhere: every file of a folder, byte by byte, against what was removed."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

LEAST: Final = 20
"""Characters of a piece that is looked for; shorter ones stand anywhere by chance."""
LONGEST: Final = 60
_PLAIN: Final = re.compile(r"[^\"\\<>&'\x00-\x1f\x7f]{20,}")
"""Runs that JSON and HTML write as they are."""
_CHUNK: Final = 2**22
_WIDE: Final = 16
_SIDES: Final = (np.uint64(0x9E3779B97F4A7C15), np.uint64(0xC2B2AE3D27D4EB4F))


@dataclass(frozen=True, slots=True)
class Hit:
    """A file that holds a removed piece; the piece itself is not told."""

    file: str
    pieces: int


def pieces(text: str) -> Iterator[bytes]:
    """What of a text is looked for: the beginning of each line and of each sentence."""
    for run in _PLAIN.findall(text):
        starts = [0, *(match.end() for match in re.finditer(r"[.!?:;,]\s+", run))]
        for start in starts:
            piece = run[start : start + LONGEST].rstrip()
            if len(piece) >= LEAST:
                yield piece.encode()


class Search:
    """Many pieces, looked for together."""

    def __init__(self, wanted: Iterable[bytes]) -> None:
        """Pieces are of 16 bytes and more."""
        self.wanted = frozenset(wanted)
        by_key: dict[int, list[bytes]] = {}
        for piece in sorted(self.wanted):
            by_key.setdefault(int(_keys(piece[:_WIDE])[0]), []).append(piece)
        self._by_key = by_key
        self._keys = np.array(sorted(by_key), np.uint64)

    def within(self, chunk: bytes) -> set[bytes]:
        """Which pieces stand in some bytes."""
        found: set[bytes] = set()
        if not len(self._keys):
            return found
        for shift in range(8):
            keys = _keys(chunk[shift:])
            places = np.searchsorted(self._keys, keys)
            places[places == len(self._keys)] = 0
            for at in np.flatnonzero(self._keys[places] == keys).tolist():
                start = shift + 8 * at
                for piece in self._by_key[int(keys[at])]:
                    if chunk.startswith(piece, start):
                        found.add(piece)
        return found

    def in_file(self, file: Path) -> set[bytes]:
        """Which pieces stand in a file."""
        found: set[bytes] = set()
        rest = b""
        with file.open("rb") as source:
            while chunk := source.read(_CHUNK):
                held = rest + chunk
                found |= self.within(held)
                rest = held[-4 * LONGEST :]
        return found

    def in_texts(self, texts: Iterable[str]) -> set[bytes]:
        """Which pieces stand in some texts."""
        found: set[bytes] = set()
        held = bytearray()
        for text in texts:
            held += text.encode("utf-8", "replace") + b"\0"
            if len(held) > _CHUNK:
                found |= self.within(bytes(held))
                held.clear()
        return found | self.within(bytes(held))


def _keys(chunk: bytes) -> NDArray[np.uint64]:
    """One key for each 16 bytes that begin at a multiple of 8."""
    words = np.frombuffer(chunk[: len(chunk) // 8 * 8], "<u8")
    if len(words) < 2:  # noqa: PLR2004 - a pair
        return np.zeros(0, np.uint64)
    return words[:-1] * _SIDES[0] ^ words[1:] * _SIDES[1]


def scan(folder: Path, search: Search) -> tuple[Hit, ...]:
    """Every file below a folder that holds one of the pieces, by name."""
    found = []
    for file in sorted(folder.rglob("*")):
        if file.is_file() and not file.is_symlink():
            held = search.in_file(file)
            if held:
                found.append(Hit(file.relative_to(folder).as_posix(), len(held)))
    return tuple(found)
