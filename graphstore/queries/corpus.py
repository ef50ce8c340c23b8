"""The indexed turns as columns, and their wording scored against a cue."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final, Self
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from graphstore.ids import ref as ref_of
from graphstore.model.conversation import Role
from graphstore.search import Doc, SearchIndex

K1: Final = 0.9
B: Final = 0.4
NEIGHBOURS: Final = (0.5, 0.25)
"""What a turn takes over of the turns one and two places away in its thread."""
POSTINGS: Final = 15_000
"""Occurrences read for one cue, at least; the most common words are passed over beyond it."""
TERMS: Final = 32
CACHED: Final = 4_000_000
"""Occurrences kept in memory for words that were asked for before."""
ROLES: Final = tuple(role.value for role in Role)
NOBODY: Final = -1

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Lexical:
    """BM25 of every turn for one cue."""

    scores: Floats
    share: Floats
    """How much of the cue's weight stands in the turn or its neighbours, 0 to 1."""
    held: tuple[tuple[str, Ints], ...]
    """Per term, rarest first: the rows, ascending, that hold it or whose neighbours do."""

    def terms_at(self, row: int) -> list[str]:
        """The terms that stand in a turn or beside it."""
        found = []
        for term, rows in self.held:
            at = int(np.searchsorted(rows, row))
            if at < len(rows) and rows[at] == row:
                found.append(term)
        return found


@dataclass(frozen=True, slots=True)
class Columns:
    """One entry per turn; turns of one thread stand together, in reading order."""

    threads: tuple[str, ...]
    speakers: tuple[str, ...]
    thread: Ints
    """Position in ``threads``."""
    number: Ints
    doc: Ints
    key: Ints
    """Document number and a checksum of the reference: names a turn in files beside the index."""
    role: Ints
    """Position in ``ROLES``."""
    speaker: Ints
    """Position in ``speakers``, or NOBODY."""
    main_line: Bools
    at: Floats
    """Seconds since 1970; not a number where unknown."""
    words: Floats

    @classmethod
    def of(cls, docs: Sequence[Doc], speakers: tuple[str, ...] = ()) -> Self:
        """From rows of the index that come thread by thread."""
        threads = tuple(dict.fromkeys(doc.thread_id for doc in docs))
        known = tuple(dict.fromkeys((*speakers, *(doc.speaker for doc in docs if doc.speaker))))
        number = {name: at for at, name in enumerate(threads)}
        voice = {name: at for at, name in enumerate(known)}
        return cls(
            threads,
            known,
            np.array([number[doc.thread_id] for doc in docs], np.int64),
            np.array([doc.number for doc in docs], np.int64),
            np.array([doc.doc for doc in docs], np.int64),
            np.array([doc.doc << 32 | crc32(doc.ref.encode()) for doc in docs], np.int64),
            np.array([ROLES.index(doc.role) for doc in docs], np.int64),
            np.array([voice.get(doc.speaker or "", NOBODY) for doc in docs], np.int64),
            np.array([not doc.alternative for doc in docs], np.bool_),
            np.array([_seconds(doc.at) for doc in docs], np.float64),
            np.array([doc.words for doc in docs], np.float64),
        )

    def with_threads(self, names: Iterable[str], docs: Sequence[Doc]) -> Self:
        """The same with some threads read again, which now stand last."""
        changed = set(names)
        news = type(self).of(docs, self.speakers)
        kept = np.array([name not in changed for name in self.threads], np.bool_)
        place = np.cumsum(kept) - 1
        stay = kept[self.thread]

        def joined(name: str) -> NDArray[Any]:
            both: NDArray[Any] = np.concatenate([getattr(self, name)[stay], getattr(news, name)])
            return both

        threads = tuple(name for name in self.threads if name not in changed)
        thread = [place[self.thread[stay]], news.thread + len(threads)]
        columns = ("number", "doc", "key", "role", "speaker", "main_line", "at", "words")
        return type(self)(
            (*threads, *news.threads),
            news.speakers,
            np.concatenate(thread),
            *(joined(name) for name in columns),
        )


class Corpus:
    """Turns in reading order; row i is one turn."""

    def __init__(self, columns: Columns) -> None:
        self.columns = columns
        self.threads = columns.threads
        self.thread = columns.thread
        self.main_line = columns.main_line
        self.at = columns.at
        self.words = columns.words
        self._row_of_doc = np.zeros(int(columns.doc.max(initial=0)) + 1, np.int64)
        self._row_of_doc[columns.doc] = np.arange(len(columns.doc))
        self._near = [self._apart(step) for step in range(1, len(NEIGHBOURS) + 1)]
        lengths = self.spread(self.words, NEIGHBOURS)
        mean = float(lengths.mean()) if len(lengths) else 1.0
        self._norm = K1 * (1 - B + B * lengths / max(mean, 1e-9))
        self._spans = _spans(columns)
        self._df: dict[str, int] = {}
        self._rows: dict[str, Ints] = {}
        self._held = 0

    def __len__(self) -> int:
        return len(self.thread)

    def thread_id(self, row: int) -> str:
        """The thread of a row."""
        return self.threads[int(self.thread[row])]

    def ref(self, row: int) -> str:
        """The reference of a row."""
        return ref_of(self.thread_id(row), int(self.columns.number[row]))

    def refs(self, rows: Iterable[int]) -> list[str]:
        """References of rows, in their order."""
        return [self.ref(row) for row in rows]

    def rows(self, refs: Iterable[str]) -> dict[str, int]:
        """Rows of references, those that are here."""
        found: dict[str, int] = {}
        for ref in refs:
            thread, _, number = ref.removeprefix("thread:").partition("#turn:")
            span = self._spans.get(thread)
            if span is not None:
                at = np.flatnonzero(self.columns.number[span] == int(number)).tolist()
                if at:
                    found[ref] = span.start + at[0]
        return found

    def by_thread(self, rows: Iterable[int]) -> list[int]:
        """Rows by thread id, then as they stand: the same however the corpus grew."""
        return sorted(rows, key=lambda row: (self.thread_id(row), row))

    def role(self, row: int) -> Role:
        """The role of a row."""
        return Role(ROLES[self.columns.role[row]])

    def said_by(self, role: str) -> Bools:
        """Rows of a role."""
        found: Bools = self.columns.role == ROLES.index(role)
        return found

    def spoken_by(self, name: str) -> Bools:
        """Rows of a speaker."""
        found: Bools = self.columns.speaker == self.columns.speakers.index(name)
        return found

    def years(self) -> range:
        """Calendar years in which turns were said."""
        known = self.at[~np.isnan(self.at)]
        if not known.size:
            return range(0)
        first, last = (
            datetime.fromtimestamp(float(t), UTC).year for t in (known.min(), known.max())
        )
        return range(first, last + 1)

    def rows_of(self, index: SearchIndex, term: str) -> Ints:
        """Rows that hold a term, once for each time it stands there."""
        found = self._rows.get(term)
        if found is None:
            docs = np.array(index.postings(term), np.int64)
            # an index may have gone on since this was read
            found = self._row_of_doc[docs[docs < len(self._row_of_doc)]]
            if self._held + len(found) > CACHED:
                self._rows.clear()
                self._held = 0
            self._rows[term] = found
            self._held += len(found)
        return found

    def frequencies(self, index: SearchIndex, terms: Iterable[str]) -> dict[str, int]:
        """In how many turns each term stands; 0 for unknown ones."""
        asked = list(terms)
        unknown = [term for term in asked if term not in self._df]
        if unknown:
            if len(self._df) > CACHED // 100:
                self._df.clear()
                unknown = asked
            self._df.update(index.frequencies(unknown))
        return {term: self._df[term] for term in asked}

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

    def spread_at(self, values: Floats, rows: Ints, weights: Sequence[float]) -> Floats:
        """The same for some rows only."""
        wide = values[rows]
        for step, weight in enumerate(weights, start=1):
            near = self._near[step - 1] * weight
            after, before = rows < len(near), rows >= step
            wide[after] += near[rows[after]] * values[rows[after] + step]
            wide[before] += near[rows[before] - step] * values[rows[before] - step]
        return wide

    def around(self, rows: Ints, steps: int) -> Ints:
        """Rows with their neighbours on one main line, ascending, each once."""
        found = [rows]
        for step in range(1, steps + 1):
            near = self._near[step - 1]
            after = rows[rows < len(near)]
            before = rows[rows >= step] - step
            found += [after[near[after] > 0] + step, before[near[before] > 0]]
        return np.unique(np.concatenate(found))

    def _windowed(self, rows: Ints) -> Floats:
        """Per row: how often it is named, its neighbours counting in part."""
        wide = np.zeros(len(self))
        np.add.at(wide, rows, 1.0)
        for step, weight in enumerate(NEIGHBOURS, start=1):
            near = self._near[step - 1]
            after = rows[rows < len(near)]
            before = rows[rows >= step] - step
            np.add.at(wide, after + step, weight * near[after])
            np.add.at(wide, before, weight * near[before])
        return wide

    def lexical(self, index: SearchIndex, terms: Iterable[str]) -> Lexical:
        """BM25 with a window: term counts of neighbours count in part, before saturation.

        Robertson and Zaragoza, The Probabilistic Relevance Framework: BM25 and Beyond (2009),
        with neighbours in the place of fields.
        """
        df = self.frequencies(index, terms)
        idf = {term: float(np.log1p((len(self) - n + 0.5) / (n + 0.5))) for term, n in df.items()}
        total = sum(idf.values())
        scores, share = np.zeros(len(self)), np.zeros(len(self))
        held = []
        for term in _affordable(df, max(POSTINGS, len(self) // 20)):
            wide = self._windowed(self.rows_of(index, term))
            rows = np.flatnonzero(wide)
            counts = wide[rows]
            scores[rows] += idf[term] * counts * (K1 + 1) / (counts + self._norm[rows])
            share[rows] += idf[term] / total
            held.append((term, rows))
        return Lexical(scores, share, tuple(held))


def _spans(columns: Columns) -> dict[str, slice]:
    """The rows of each thread."""
    starts = np.flatnonzero(np.diff(columns.thread, prepend=-1))
    ends = np.append(starts[1:], len(columns.thread))
    names = (columns.threads[number] for number in columns.thread[starts].tolist())
    bounds = zip(starts.tolist(), ends.tolist(), strict=False)
    return {name: slice(*pair) for name, pair in zip(names, bounds, strict=False)}


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
