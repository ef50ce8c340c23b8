"""The indexed turns as arrays, and two ways to score all of them against a cue."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from threading import Lock
from typing import Final, Protocol
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from graphstore.model.record import EpochRecord
from graphstore.search import Doc, SearchIndex
from graphstore.vectors import Static, VectorFile, Vectors, token_df

K1: Final = 0.9
B: Final = 0.4
NEIGHBOURS: Final = (0.5, 0.25)
"""What a turn takes over of the turns one and two places away in its thread."""
VECTOR_NEIGHBOURS: Final = (0.3, 0.15)
POSTINGS: Final = 15_000
"""Occurrences read for one cue, at least; the most common words are passed over beyond it."""
TERMS: Final = 32
FEW_LINEAGES: Final = 8
"""Below this number document frequencies say nothing; turns are counted instead."""

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


class Archive(Protocol):
    """What finding needs of a store."""

    @property
    def path(self) -> Path: ...

    @property
    def search(self) -> SearchIndex: ...

    def epoch(self) -> EpochRecord | None: ...


@dataclass(frozen=True, slots=True)
class Lexical:
    """BM25 of every turn for one cue."""

    scores: Floats
    share: Floats
    """How much of the cue's weight stands in the turn or its neighbours, 0 to 1."""
    held: tuple[tuple[str, Bools], ...]
    """Per term, rarest first: which turns or neighbours hold it."""


class Corpus:
    """Turns in reading order, thread after thread; row i is one turn."""

    def __init__(self, docs: Sequence[Doc]) -> None:
        self.docs = docs
        self.row_of_ref = {doc.ref: row for row, doc in enumerate(docs)}
        names = sorted({doc.thread_id for doc in docs})
        number = {name: at for at, name in enumerate(names)}
        self.threads = tuple(names)
        self.thread = np.array([number[doc.thread_id] for doc in docs], np.int64)
        self.main_line = np.array([not doc.alternative for doc in docs], np.bool_)
        self.at = np.array([_seconds(doc.at) for doc in docs], np.float64)
        self.role = np.array([doc.role for doc in docs], np.str_)
        self.speaker = np.array([doc.speaker or "" for doc in docs], np.str_)
        self.speakers = tuple(sorted({doc.speaker for doc in docs if doc.speaker}))
        self._row_of_doc = np.zeros(max((doc.doc for doc in docs), default=0) + 1, np.int64)
        self._row_of_doc[[doc.doc for doc in docs]] = np.arange(len(docs))
        self._near = [self._apart(step) for step in range(1, len(NEIGHBOURS) + 1)]
        self.words = np.array([doc.words for doc in docs], np.float64)
        lengths = self.spread(self.words, NEIGHBOURS)
        self._norm = (
            K1 * (1 - B + B * lengths / max(float(lengths.mean()), 1e-9)) if docs else lengths
        )

    def __len__(self) -> int:
        return len(self.docs)

    def years(self) -> range:
        """Calendar years in which turns were said."""
        known = self.at[~np.isnan(self.at)]
        if not known.size:
            return range(0)
        first, last = (
            datetime.fromtimestamp(float(t), UTC).year for t in (known.min(), known.max())
        )
        return range(first, last + 1)

    def rows_of(self, index: SearchIndex, term: str) -> NDArray[np.int64]:
        """Rows that hold a term, once for each time it stands there."""
        rows: NDArray[np.int64] = self._row_of_doc[index.postings(term)]
        return rows

    def _apart(self, step: int) -> Floats:
        """1 where row i and row i + step are neighbours on one main line, else 0."""
        same: Bools = self.thread[step:] == self.thread[:-step]
        on_line: Bools = self.main_line[step:] & self.main_line[:-step]
        return np.where(same & on_line, 1.0, 0.0)

    def spread(self, values: Floats, weights: Sequence[float]) -> Floats:
        """Each value with what it takes over of its neighbours'."""
        wide = values.copy()
        for step, weight in enumerate(weights, start=1):
            near = self._near[step - 1] * weight
            wide[step:] += near * values[:-step]
            wide[:-step] += near * values[step:]
        return wide

    def lexical(self, index: SearchIndex, terms: Iterable[str]) -> Lexical:
        """BM25 with a window: term counts of neighbours count in part, before saturation.

        Robertson and Zaragoza, The Probabilistic Relevance Framework: BM25 and Beyond (2009),
        with neighbours in the place of fields.
        """
        df = index.frequencies(terms)
        idf = {term: float(np.log1p((len(self) - n + 0.5) / (n + 0.5))) for term, n in df.items()}
        total = sum(idf.values())
        scores, share = np.zeros(len(self)), np.zeros(len(self))
        held = []
        for term in _affordable(df, max(POSTINGS, len(self) // 20)):
            rows = self._row_of_doc[index.postings(term)]
            wide = self.spread(
                np.bincount(rows, minlength=len(self)).astype(np.float64), NEIGHBOURS
            )
            scores += idf[term] * wide * (K1 + 1) / (wide + self._norm)
            share += (wide > 0) * (idf[term] / total)
            held.append((term, wide > 0))
        return Lexical(scores, share, tuple(held))


def _affordable(df: dict[str, int], budget: int) -> list[str]:
    """Known terms, rarest first, as long as their occurrences fit; always at least one."""
    kept: list[str] = []
    spent = 0
    for term in sorted((term for term in df if df[term]), key=lambda term: (df[term], term))[
        :TERMS
    ]:
        spent += df[term]
        if kept and spent > budget:
            break
        kept.append(term)
    return kept


def _seconds(at: str | None) -> float:
    return float("nan") if at is None else datetime.fromisoformat(at).timestamp()


class Meaning:
    """Static vectors of every turn of a corpus."""

    def __init__(self, corpus: Corpus, static: Static, vectors: Vectors) -> None:
        self.static = static
        self._corpus = corpus
        self._matrix = vectors.matrix
        self._rows = np.array([corpus.row_of_ref[ref] for ref in vectors.ids], np.int64)

    def cosines(self, text: str) -> Floats:
        """Cosine of every turn with a text, negative ones as 0."""
        found = np.zeros(len(self._corpus))
        if self._rows.size:
            query = self.static.embed([text])[0]
            # rounded: the last bits of a product differ from machine to machine
            found[self._rows] = np.maximum(np.round(self._matrix @ query, 5), 0)
        return found


@dataclass(frozen=True, slots=True)
class _Kept:
    version: tuple[object, ...]
    corpus: Corpus
    meaning: Meaning


_kept: WeakKeyDictionary[SearchIndex, _Kept] = WeakKeyDictionary()
_lock = Lock()


def load(archive: Archive) -> tuple[Corpus, Meaning]:
    """Corpus and vectors of a store; kept until its turns or its epoch change."""
    with _lock:
        version = archive.search.version()
        held = _kept.get(archive.search)
        if held is None or held.version != version:
            # let the old mapping go first: a mapped file cannot be replaced everywhere
            held = None
            _kept.pop(archive.search, None)
            corpus = Corpus(archive.search.docs())
            held = _Kept(version, corpus, _meaning(archive, corpus))
            _kept[archive.search] = held
        return held.corpus, held.meaning


def _meaning(archive: Archive, corpus: Corpus) -> Meaning:
    static = _static(archive, corpus)
    refs = [doc.ref for doc in corpus.docs]
    return Meaning(
        corpus, static, VectorFile(archive.path).sync(static, refs, archive.search.texts)
    )


def _static(archive: Archive, corpus: Corpus) -> Static:
    """Frequencies of the epoch; without a telling one, those of the turns at hand."""
    epoch = archive.epoch()
    if epoch is not None and epoch.lineages >= FEW_LINEAGES:
        return Static(epoch.lineages, epoch.vector_df)
    refs = [doc.ref for doc in corpus.docs]
    return Static(len(refs), token_df(zip(refs, archive.search.texts(refs), strict=True)))
