"""The vectors of every turn, scored against a cue: exactly, or among candidates in large stores."""

from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Final, Protocol
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from graphstore.model.conversation import Role
from graphstore.model.record import EpochRecord
from graphstore.queries.corpus import NEIGHBOURS, ROLES, Columns, Corpus, Floats, Ints
from graphstore.search import SearchIndex, Version
from graphstore.vectors import BASIS, NO_BASIS, Embedding, Static, VectorFile, token_df

VECTOR_NEIGHBOURS: Final = (0.3, 0.15)
FEW_LINEAGES: Final = 8
"""Below this number document frequencies say nothing; turns are counted instead."""
EXACT: Final = 200_000
"""Turns up to which every vector is compared with a cue."""
AXES: Final = 48
"""Width of the short vectors that choose candidates in larger stores."""
CANDIDATES: Final = 2_000
"""Turns that wording, and as many that the short vectors, bring to the full comparison."""
_SAMPLE: Final = 20_000
_PART: Final = 65_536

Rows32 = NDArray[np.float32]


class Archive(Protocol):
    """What finding needs of a store."""

    @property
    def path(self) -> Path: ...

    @property
    def search(self) -> SearchIndex: ...

    def epoch(self) -> EpochRecord | None: ...


class Meaning:
    """Vectors of every turn of a corpus."""

    def __init__(self, corpus: Corpus, embedding: Embedding, matrix: Rows32, place: Ints) -> None:
        """``place`` is the row of the matrix of each row of the corpus."""
        self.embedding = embedding
        self._corpus = corpus
        self._matrix = matrix
        self._place = place
        self._short = _Short(matrix, place) if len(corpus) > EXACT and matrix.size else None

    def cosines(self, text: str) -> Floats:
        """Cosine of every turn with a text, negative ones as 0."""
        if not self._matrix.size:
            return np.zeros(len(self._corpus))
        return self._told((self._matrix @ self.embedding.ask(text))[self._place])

    @property
    def by_letters(self) -> bool:
        """Whether the vectors know words by their letters only."""
        return self.embedding.basis in {BASIS, NO_BASIS}

    def _told(self, found: Rows32) -> Floats:
        """Products as cosines above what texts with nothing in common have."""
        # rounded: the last bits of a product differ from machine to machine
        plain = np.round(found, 5).astype(np.float64)
        base = self.embedding.base
        return np.maximum((plain - base) / (1 - base), 0) if base else np.maximum(plain, 0)

    def scored(self, text: str, lexical: Floats) -> tuple[Floats, Floats]:
        """Cosines, and what they come to with neighbours; in large stores of candidates only.

        Candidates: the turns that share most wording with the cue, and those nearest by vectors
        cut to their ``AXES`` main directions. Others have 0.
        """
        if self._short is None:
            cosines = self.cosines(text)
            return cosines, self._corpus.spread(cosines, VECTOR_NEIGHBOURS)
        query = self.embedding.ask(text)
        worded = _best(lexical, np.flatnonzero(lexical), CANDIDATES)
        chosen = np.union1d(worded, self._short.nearest(query, CANDIDATES))
        rows = self._corpus.around(chosen, len(NEIGHBOURS))
        near = self._told(self._matrix[self._place[rows]] @ query)
        cosines = np.zeros(len(self._corpus))
        cosines[rows] = near
        spread = np.zeros(len(self._corpus))
        spread[rows] = self._corpus.spread_at(cosines, rows, VECTOR_NEIGHBOURS)
        return cosines, spread


def _best(values: Floats, rows: Ints, count: int) -> Ints:
    """The rows with the largest values, about ``count``; all of the last value's."""
    if len(rows) <= count:
        return rows
    held = values[rows]
    best: Ints = rows[held >= np.partition(held, -count)[-count]]
    return best


class _Short:
    """Vectors cut to the directions in which they differ most (principal axes of a sample)."""

    def __init__(self, matrix: Rows32, place: Ints) -> None:
        step = max(1, len(matrix) // _SAMPLE)
        sample = np.asarray(matrix[::step])
        _, axes = np.linalg.eigh(sample.T @ sample)
        self._axes: Rows32 = np.ascontiguousarray(axes[:, -AXES:], np.float32)
        self._rows: Rows32 = np.empty((len(place), AXES), np.float32)
        for start in range(0, len(place), _PART):
            part = place[start : start + _PART]
            self._rows[start : start + _PART] = matrix[part] @ self._axes

    def nearest(self, query: Rows32, count: int) -> Ints:
        """About ``count`` rows with the largest products."""
        found = self._rows @ (query @ self._axes)
        # a sample tells well enough where the best begin; sorting all takes longer than the product
        step = max(1, len(found) // _SAMPLE)
        sample = found[::step]
        last = min(max(1, count // step), len(sample))
        return np.flatnonzero(found >= np.partition(sample, -last)[-last])


@dataclass(frozen=True, slots=True)
class _Kept:
    version: Version
    corpus: Corpus
    meaning: Meaning


_kept: WeakKeyDictionary[SearchIndex, dict[str, _Kept]] = WeakKeyDictionary()
"""By the stamp of a model; empty for the static vectors, whose stamp goes with the epoch."""
_lock = Lock()


def load(archive: Archive, model: Embedding | None = None) -> tuple[Corpus, Meaning]:
    """Corpus and vectors of a store; kept, and brought up to date by what was recorded since.

    ``model`` gives other vectors than the static ones; what it raises passes through.
    """
    name = "" if model is None else model.stamp
    with _lock:
        version = archive.search.version()
        kept = _kept.setdefault(archive.search, {})
        held = kept.get(name)
        if held is None or held.version != version:
            grown = None if held is None else _grown(archive, held, version, model)
            # let the old mapping go first: a mapped file cannot be replaced everywhere
            held = None
            kept.pop(name, None)
            held = kept[name] = grown or _read(archive, version, model)
        return held.corpus, held.meaning


def _grown(
    archive: Archive, held: _Kept, version: Version, model: Embedding | None
) -> _Kept | None:
    """What is held with the threads that changed since; None when more than threads did."""
    changed = archive.search.changed(held.version.seq)
    kinds = {kind for kind, _ in changed}
    if kinds & {"epoch", "forget"} or version.rebuilt != held.version.rebuilt:
        return None
    names = [subject for kind, subject in changed if kind == "thread"]
    if not names:
        return _Kept(version, held.corpus, held.meaning)
    epoch = archive.epoch()
    if model is None and (epoch is None or epoch.lineages < FEW_LINEAGES):
        return None  # frequencies are those of the turns at hand
    docs = archive.search.docs(names)
    corpus = Corpus(held.corpus.columns.with_threads(names, docs))
    if len(corpus) != archive.search.size():
        return None  # turns of other threads went
    return _Kept(version, corpus, _meaning(archive, corpus, held.meaning.embedding, model))


def _read(archive: Archive, version: Version, model: Embedding | None) -> _Kept:
    corpus = Corpus(Columns.of(archive.search.docs()))
    chosen = model or _static(archive, corpus)
    return _Kept(version, corpus, _meaning(archive, corpus, chosen, model))


def _meaning(
    archive: Archive, corpus: Corpus, chosen: Embedding, model: Embedding | None
) -> Meaning:
    def texts(rows: Ints) -> list[str]:
        found = archive.search.texts(corpus.refs(rows.tolist()))
        if model is None:
            return found
        # what tools and web pages gave is nobody's word: no model is shown it
        clean = (corpus.columns.role[rows] != ROLES.index(Role.OTHER.value)).tolist()
        return [text if said else "" for text, said in zip(found, clean, strict=True)]

    name = "" if model is None else f".{model.stamp[:8]}"
    matrix, place = VectorFile(archive.path, name).sync(chosen, corpus.columns.key, texts)
    return Meaning(corpus, chosen, matrix, place)


def _static(archive: Archive, corpus: Corpus) -> Static:
    """Frequencies of the epoch; without a telling one, those of the turns at hand."""
    epoch = archive.epoch()
    if epoch is not None and epoch.lineages >= FEW_LINEAGES:
        return Static(epoch.lineages, epoch.vector_df)
    refs = corpus.refs(range(len(corpus)))
    return Static(len(refs), token_df(zip(refs, archive.search.texts(refs), strict=True)))
