"""Rare words that threads share: who else uses the words of one lineage."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import log
from typing import Final

import numpy as np

from graphstore.queries.corpus import Corpus, Floats, Ints
from graphstore.queries.cue import content_words
from graphstore.search import SearchIndex

READ: Final = 600
"""Distinct terms of a lineage that are looked at, those of human turns first."""
KEPT: Final = 200
"""The rarest of them are compared."""
SHARE: Final = 3
"""A word in more than one lineage of three tells nothing."""


@dataclass(frozen=True, slots=True)
class Wording:
    """The rare words of one lineage, and where else they stand."""

    terms: tuple[str, ...]
    """Rarest first."""
    rows: tuple[Ints, ...]
    """Corpus rows that hold each."""
    scores: Floats
    """Per lineage: tf-idf product with mine over the root of its length."""

    def shared(
        self, corpus: Corpus, lineage_of_row: Ints, mine: int, theirs: int, limit: int
    ) -> tuple[tuple[str, ...], int, int] | None:
        """Shared words, rarest first, and the rows in which the rarest stands on each side."""
        found: list[tuple[str, int, int]] = []
        for term, rows in zip(self.terms, self.rows, strict=True):
            of = lineage_of_row[rows]
            own, other = rows[of == mine].tolist(), rows[of == theirs].tolist()
            if own and other:
                found.append((term, corpus.by_thread(own)[0], corpus.by_thread(other)[0]))
            if len(found) == limit:
                break
        if not found:
            return None
        return tuple(term for term, _, _ in found), found[0][1], found[0][2]


def wording(
    corpus: Corpus,
    index: SearchIndex,
    texts: Iterable[str],
    lineage_of_row: Ints,
    mine: int,
    *,
    lengths: Floats,
) -> Wording:
    """Compare the words of some texts with those of every lineage.

    ``lineage_of_row`` gives the lineage of each corpus row, -1 for rows that do not count;
    ``lengths`` the words of each lineage.
    """
    counts = lineage_of_row >= 0
    lineages = len(lengths)
    scores = np.zeros(lineages)
    kept: list[tuple[int, str, Ints]] = []
    for term in _rarest(corpus, index, texts):
        rows = corpus.rows_of(index, term)
        rows = rows[counts[rows]]
        held = np.bincount(lineage_of_row[rows], minlength=lineages)
        df = int((held > 0).sum())
        if 1 < df <= max(2, lineages // SHARE) and held[mine]:
            idf = log((lineages + 1) / df)
            weight = np.where(held > 0, 1 + np.log(np.maximum(held, 1)), 0)
            scores += idf * idf * weight * weight[mine]
            kept.append((df, term, np.unique(rows)))
    kept.sort(key=lambda found: found[:2])
    scores /= np.sqrt(np.maximum(lengths, 1))
    scores[mine] = 0
    return Wording(tuple(k[1] for k in kept), tuple(k[2] for k in kept), scores)


def _rarest(corpus: Corpus, index: SearchIndex, texts: Iterable[str]) -> Sequence[str]:
    """Terms that stand in two turns or more, rarest first."""
    terms = index.terms(content_words(" ".join(texts)))[:READ]
    df = corpus.frequencies(index, terms)
    return sorted((term for term in terms if df[term] > 1), key=lambda term: (df[term], term))[
        :KEPT
    ]
