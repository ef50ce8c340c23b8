"""Static token vectors: texts as idf-weighted sums of word-piece vectors, and an exact scan.

The token vectors are those of the ``wordllama`` wheel (256 dimensions, MIT), read from its two
files without importing it. What they measure is shared and related wording, so their basis is
called ``lexical_static``. Without the wheel every vector has width 0 and every cosine is 0.
"""

import importlib.util
import json
import os
import re
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Final, Protocol

import numpy as np
from numpy.typing import NDArray

from graphstore.ids import digest

if TYPE_CHECKING:
    from tokenizers import Tokenizer

BASIS: Final = "lexical_static"
NO_BASIS: Final = "none"
ROUND: Final = 5
"""Decimals of a cosine: matrix products differ in the last bits from machine to machine."""
_WORD: Final = re.compile(r"[^\W_]{1,64}")
_CACHED_WORDS: Final = 200_000
_FEW: Final = 2_000
"""Tokens below which their vectors are weighted one by one."""
_PART: Final = 4096
"""Texts embedded before their vectors are written."""
BLANK: Final = 0
"""Key of a row that was given up; no document has the number 0."""
_KEY_BITS: Final = 32

Floats = NDArray[np.float32]
Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Tokens:
    """Distinct token ids of several texts, one text after another."""

    ids: Ints
    starts: Ints
    """Where each text begins in ``ids``, and one end more."""

    def __len__(self) -> int:
        return len(self.starts) - 1

    def of(self, text: int) -> Ints:
        """Token ids of one text."""
        return self.ids[self.starts[text] : self.starts[text + 1]]


class _Pieces:
    """The word pieces and their vectors; words are split once and remembered."""

    def __init__(self, tokenizer: "Tokenizer", table: NDArray[np.float16]) -> None:
        self.table = table
        self._tokenizer = tokenizer
        self._known: dict[str, tuple[int, ...]] = {}

    def of(self, text: str) -> tuple[int, ...]:
        """Distinct token ids in order of first use."""
        words = dict.fromkeys(_WORD.findall(text.casefold()))
        return tuple(dict.fromkeys(chain.from_iterable(map(self._word, words))))

    def _word(self, word: str) -> tuple[int, ...]:
        found = self._known.get(word)
        if found is None:
            if len(self._known) >= _CACHED_WORDS:
                self._known.clear()
            # one by one: the batch call starts threads, which a later fork would complain about
            found = tuple(self._tokenizer.encode(word, add_special_tokens=False).ids)
            self._known[word] = found
        return found


@cache
def _pieces() -> _Pieces | None:
    """The installed token vectors; None where the wheel does not exist for the platform."""
    spec = importlib.util.find_spec("wordllama")
    if spec is None or spec.origin is None:
        return None
    home = Path(spec.origin).parent
    weights = sorted(home.glob("weights/*_256.safetensors"))
    configs = sorted(home.glob("tokenizers/*.json"))
    if not weights or not configs:
        return None
    from tokenizers import Tokenizer

    return _Pieces(Tokenizer.from_file(str(configs[0])), read_table(weights[0]))


def read_table(path: Path) -> NDArray[np.float16]:
    """Memory-map the first float16 matrix of a safetensors file (header length, JSON, bytes)."""
    with path.open("rb") as file:
        size = int.from_bytes(file.read(8), "little")
        header = json.loads(file.read(size))
    entry = next(value for name, value in sorted(header.items()) if name != "__metadata__")
    start, _ = entry["data_offsets"]
    table: NDArray[np.float16] = np.memmap(
        path, dtype="<f2", mode="r", offset=8 + size + start, shape=tuple(entry["shape"])
    )
    return table


def available() -> bool:
    """Whether token vectors are installed."""
    return _pieces() is not None


def size() -> int:
    """Number of distinct token ids; 0 without token vectors."""
    pieces = _pieces()
    return 0 if pieces is None else len(pieces.table)


def tokenise(texts: Iterable[str]) -> Tokens:
    """Distinct token ids of each text, case folded; marks and emoji give none."""
    pieces = _pieces()
    rows = [() if pieces is None else pieces.of(text) for text in texts]
    starts = np.zeros(len(rows) + 1, np.int64)
    np.cumsum([len(row) for row in rows], out=starts[1:])
    return Tokens(np.fromiter(chain.from_iterable(rows), np.int64, int(starts[-1])), starts)


def token_df(
    grouped: Iterable[tuple[str, str]], whole: Callable[[str], bool] = lambda _: False
) -> tuple[tuple[int, int], ...]:
    """Document frequency of tokens over groups, from pairs (group, text) in any order.

    Texts of a group for which ``whole`` holds come one after another, so that it need not be
    kept. Gives (token id, number of groups), sorted; tokens of one group only are left out.
    """
    pieces = _pieces()
    if pieces is None:
        return ()
    held: dict[str, set[int]] = {}
    counts = np.zeros(len(pieces.table), np.int64)

    def count(tokens: set[int]) -> None:
        counts[np.fromiter(tokens, np.int64, len(tokens))] += 1

    before = ""
    for group, text in grouped:
        if group != before and before in held and whole(before):
            count(held.pop(before))
        held.setdefault(group, set()).update(pieces.of(text))
        before = group
    for tokens in held.values():
        count(tokens)
    return tuple((int(token), int(counts[token])) for token in np.flatnonzero(counts > 1))


class Embedding(Protocol):
    """Texts as unit vectors."""

    @property
    def basis(self) -> str:
        """What the vectors measure."""
        ...

    @property
    def stamp(self) -> str:
        """Two with one stamp give the same vectors."""
        ...

    @property
    def width(self) -> int:
        """Dimensions."""
        ...

    @property
    def base(self) -> float:
        """Cosine from which two texts have something in common."""
        ...

    @property
    def part(self) -> int:
        """Texts embedded before their vectors are written."""
        ...

    def embed(self, texts: Iterable[str]) -> Floats:
        """One row per text."""
        ...

    def ask(self, text: str) -> Floats:
        """The vector of a cue."""
        ...


class Static:
    """Texts as unit vectors under one set of document frequencies."""

    base = 0.0
    part = _PART

    def __init__(self, groups: int, df: Iterable[tuple[int, int]] | Mapping[int, int] = ()) -> None:
        """Take the number of groups and, per token, how many hold it; 1 for a token not given."""
        pairs = sorted(df.items() if isinstance(df, Mapping) else df)
        counts = np.ones(size(), np.float64)
        for token, count in pairs:
            if token < len(counts):
                counts[token] = count
        idf = np.maximum(np.log((groups + 1) / (counts + 1)), 0.0) + 0.1
        self.idf: Floats = idf.astype(np.float32)
        self._weighted: Floats | None = None
        self.basis: str = BASIS if available() else NO_BASIS
        self.stamp: str = digest(self.basis, groups, [list(pair) for pair in pairs])
        """Two with one stamp give the same vectors."""

    @property
    def width(self) -> int:
        """Dimensions of the token vectors."""
        return _width()

    def ask(self, text: str) -> Floats:
        """The vector of a cue: that of any text."""
        row: Floats = self.embed([text])[0]
        return row

    def embed(self, texts: Iterable[str]) -> Floats:
        """One row per text: the normalised sum of idf x token vector over its distinct tokens.

        A text without a known token is a row of zeros.
        """
        pieces = _pieces()
        tokens = tokenise(texts)
        if pieces is None:
            return np.zeros((len(tokens), 0), np.float32)
        table = self._table(pieces) if len(tokens.ids) > _FEW else None
        sums = np.zeros((len(tokens), pieces.table.shape[1]), np.float32)
        # a loop: small sums stay in the cache, and take a fifth of the time of one reduceat
        for row in range(len(tokens)):
            ids = tokens.of(row)
            if table is None:
                weighted = pieces.table[ids].astype(np.float32) * self.idf[ids, None]
                weighted.sum(axis=0, out=sums[row])
            else:
                table[ids].sum(axis=0, out=sums[row])
        norms = np.linalg.norm(sums, axis=1, keepdims=True)
        np.divide(sums, norms, out=sums, where=norms > 0)
        return sums

    def _table(self, pieces: _Pieces) -> Floats:
        """Token vectors times idf as float32 (33 MB): converting at each use takes far longer."""
        if self._weighted is None:
            self._weighted = pieces.table.astype(np.float32) * self.idf[:, None]
        return self._weighted


def cosines(left: Floats, right: Floats) -> Floats:
    """Cosine of every left row with every right row, rounded so that ties are ties everywhere."""
    product: Floats = np.round(left @ right.T, ROUND)
    return product


class VectorFile:
    """Vectors beside the ledger: a float32 array, and the key of each row. Derived."""

    def __init__(self, folder: Path, name: str = "") -> None:
        """``name`` tells the files of one model from those of another."""
        self._array = folder / f"vectors{name}.f32"
        self._keys = folder / f"vectors{name}.ids"

    def sync(
        self, embedding: Embedding, wanted: Ints, texts: Callable[[Ints], Iterable[str]]
    ) -> tuple[Floats, Ints]:
        """The array, and for each wanted key the row of its vector.

        A key has a number above 2**32 that no two share, and stands for one text for good.
        ``texts`` gives the texts at positions in ``wanted``; it is asked for what is missing. Rows
        that are no longer wanted are blanked. Everything is made again when the stamp changed,
        the files do not fit each other, or most rows are blank.
        """
        if embedding.basis == NO_BASIS:
            return np.zeros((0, 0), np.float32), np.zeros(len(wanted), np.int64)
        width = embedding.width  # a model that fails does so before a file is touched
        held = self._held(embedding.stamp, width)
        place = _places(held, wanted)
        blank = np.ones(len(held), np.bool_)
        blank[place[place >= 0]] = False
        if 2 * int(blank.sum()) > len(held):
            held, place, blank = held[:0], np.full(len(wanted), -1), blank[:0]
        if not len(held):
            self._start(embedding.stamp)
        self._blank(held, blank, width)
        missing = np.flatnonzero(place < 0)
        self._append(embedding, wanted, missing, texts)
        place[missing] = len(held) + np.arange(len(missing))
        return self._read(len(held) + len(missing), width), place

    def remove(self) -> None:
        """Delete both files."""
        self._keys.unlink(missing_ok=True)
        self._array.unlink(missing_ok=True)

    def _held(self, stamp: str, width: int) -> Ints:
        """Keys in the file; none when it is absent, torn or of another stamp."""
        none = np.zeros(0, np.int64)
        if not self._keys.exists() or not self._array.exists():
            return none
        first, _, rest = self._keys.read_bytes().partition(b"\n")
        fits = self._array.stat().st_size * 8 == len(rest) * width * 4
        if first != stamp.encode() or len(rest) % 8 or not fits:
            return none
        return np.frombuffer(rest, "<i8").astype(np.int64)

    def _start(self, stamp: str) -> None:
        self.remove()
        with _private(self._keys) as keys, _private(self._array):
            keys.write(stamp.encode() + b"\n")

    def _blank(self, held: Ints, rows: NDArray[np.bool_], width: int) -> None:
        """Overwrite vectors and keys that nothing wants: a vector gives away words."""
        gone = np.flatnonzero(rows & (held != BLANK))
        if not gone.size:
            return
        offset = self._keys.stat().st_size - 8 * len(held)
        with self._keys.open("r+b") as keys, self._array.open("r+b") as array:
            for row in gone.tolist():
                array.seek(row * 4 * width)
                array.write(bytes(4 * width))
                keys.seek(offset + 8 * row)
                keys.write(BLANK.to_bytes(8, "little"))

    def _append(
        self,
        embedding: Embedding,
        wanted: Ints,
        rows: Ints,
        texts: Callable[[Ints], Iterable[str]],
    ) -> None:
        if not rows.size:
            return
        with _private(self._array) as array, _private(self._keys) as keys:
            for start in range(0, len(rows), embedding.part):
                part = rows[start : start + embedding.part]
                array.write(np.ascontiguousarray(embedding.embed(texts(part)), "<f4").tobytes())
                keys.write(np.ascontiguousarray(wanted[part], "<i8").tobytes())

    def _read(self, count: int, width: int) -> Floats:
        if not count:
            return np.zeros((0, width), np.float32)
        matrix: Floats = np.memmap(self._array, "<f4", mode="r", shape=(count, width))
        return matrix


def _places(held: Ints, wanted: Ints) -> Ints:
    """Where each wanted key stands among the held ones; -1 for none."""
    if not len(held) or not len(wanted):
        return np.full(len(wanted), -1)
    numbers = wanted >> _KEY_BITS
    table = np.full(max(int(numbers.max()), int((held >> _KEY_BITS).max())) + 1, -1)
    table[held >> _KEY_BITS] = np.arange(len(held))
    found = table[numbers]
    return np.where((found >= 0) & (held[found] == wanted), found, -1)


class Rows:
    """Vectors by number: in one file that grows, or in memory without a path. Derived."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._held: Floats = np.zeros((0, _width()), np.float32)

    def size(self) -> int:
        """Rows that are there."""
        if self._path is None:
            return len(self._held)
        if not self._path.exists():
            return 0
        width = _width()
        return self._path.stat().st_size // (4 * width) if width else sys.maxsize

    def write(self, start: int, rows: Floats) -> None:
        """Put rows from a number on; what stood there, or after them, is replaced."""
        if self._path is None:
            self._held = np.concatenate([self._held[:start], rows])
            return
        with _private(self._path) as file:
            file.truncate(start * 4 * _width())
            file.write(np.ascontiguousarray(rows, "<f4").tobytes())
            file.flush()
            os.fsync(file.fileno())

    def matrix(self) -> Floats:
        """Every row."""
        if self._path is None:
            return self._held
        width = _width()
        shape = (self.size() if width else 0, width)
        if not shape[0]:
            return np.zeros(shape, np.float32)
        rows: Floats = np.memmap(self._path, "<f4", mode="r", shape=shape)
        return rows

    def clear(self) -> None:
        """Drop every row."""
        self._held = self._held[:0]
        if self._path is not None:
            self._path.unlink(missing_ok=True)


def _width() -> int:
    pieces = _pieces()
    return 0 if pieces is None else int(pieces.table.shape[1])


def _private(path: Path) -> BinaryIO:
    """Open for appending, readable by the owner only: vectors give away words."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0)
    return os.fdopen(os.open(path, flags, 0o600), "ab")
