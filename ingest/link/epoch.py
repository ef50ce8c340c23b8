"""Store-wide figures: in how many lineages a token or a concept occurs, what is a template."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final

from graphstore import vectors
from graphstore.company import Bounds, Posting, floor, pairs
from graphstore.ids import digest
from graphstore.model.conversation import Thread
from graphstore.model.record import Count, EpochRecord
from ingest.extract.figures import figures, keep
from ingest.extract.reading import Reading
from ingest.extract.words import count_words
from ingest.link.pairs import PER_THREAD
from ingest.link.sightings import Sightings, hashed

TEMPLATE_LINEAGES: Final = 5
_LONG_PROMPT: Final = 25
"""Words of a question that stands alone and is still taken for a pasted prompt."""
_SAMPLE: Final = 500
"""Threads whose pairs of concepts are looked at for the quantile."""
_TRIM: Final = 50
"""Threads more than that, at which the last ones are let go."""


class Census:
    """Counts over lineages; threads come in any order and are not kept."""

    def __init__(self, roots: Mapping[str, str]) -> None:
        self._roots = roots
        sizes: dict[str, int] = {}
        for root in roots.values():
            sizes[root] = sizes.get(root, 0) + 1
        self.shared = {root for root, size in sizes.items() if size > 1}
        self._held: dict[str, set[str]] = {}
        self._lineages: set[str] = set()
        self.turns = 0
        self._once = Sightings()
        self._df: dict[str, int] = {}
        """Of labels that were seen more than once: most never are."""
        self._labels: dict[str, dict[str, int]] = {}
        self._repeats: dict[tuple[str, str, int], set[str]] = {}
        self._sample: dict[str, Reading] = {}
        self._last = ""
        """Place of the last thread that can be in the sample."""

    def root(self, thread_id: str) -> str:
        """Lineage of a thread."""
        return self._roots.get(thread_id, thread_id)

    def add(self, reading: Reading) -> None:
        """Count one thread."""
        root = self.root(reading.thread_id)
        self._lineages.add(root)
        seen = self._held.setdefault(root, set()) if root in self.shared else set()
        fresh = [
            (key, one) for key, one in reading.candidates.items() if one.count and key not in seen
        ]
        known = self._once.add([key for key, _ in fresh])
        for (key, one), before in zip(fresh, known, strict=True):
            if before:
                self._df[key] = self._df.get(key, 1) + 1
            self._spelling(key, one.label())
        if root in self.shared:
            seen.update(reading.candidates)
        self._repeated(reading, root)
        self._sampled(reading)

    def _spelling(self, key: str, label: str) -> None:
        if label != key or key in self._labels:
            counts = self._labels.setdefault(key, {key: self._df.get(key, 1) - 1})
            counts[label] = counts.get(label, 0) + 1

    def _repeated(self, reading: Reading, root: str) -> None:
        for one in reading.asked:
            before, after = one.neighbours
            marks = [("before", before)] * bool(before) + [("after", after)] * bool(after)
            # an order that is given again and again, and nothing with it, asks nothing
            bare = not one.explicit and not marks
            if bare or count_words(one.text) >= _LONG_PROMPT:
                marks.append(("alone", ""))
            for side, text in marks:
                self._repeats.setdefault((one.question_id, side, hashed(text)), set()).add(root)

    def _sampled(self, reading: Reading) -> None:
        """Keep the threads whose hashed ids come first: a sample that no order can change."""
        place = digest(reading.thread_id)
        if not self._last or place < self._last:
            self._sample[place] = reading
        if len(self._sample) >= _SAMPLE + _TRIM:
            self._trim()
            self._last = max(self._sample)

    def _trim(self) -> None:
        self._sample = dict(sorted(self._sample.items())[:_SAMPLE])

    def record(self, extractor: str, tokens: Iterable[tuple[int, int]]) -> EpochRecord:
        """The epoch of everything counted."""
        counted = EpochRecord(
            extractor=extractor,
            lineages=len(self._lineages),
            turns=self.turns,
            token_df=tuple(Count(name=str(token), count=df) for token, df in tokens),
            concept_df=self._frequencies(),
            templates=tuple(
                sorted(
                    {
                        key[0]
                        for key, roots in self._repeats.items()
                        if len(roots) >= TEMPLATE_LINEAGES
                    }
                )
            ),
        )
        return counted.replace(pmi_floor=self._floor(counted))

    def _frequencies(self) -> tuple[Count, ...]:
        rows = {self._label(key): df for key, df in self._df.items()}
        return tuple(Count(name=name, count=df) for name, df in sorted(rows.items()))

    def _label(self, key: str) -> str:
        spellings = self._labels.get(key, {key: 1})
        return min(spellings, key=lambda label: (-spellings[label], label))

    def _floor(self, epoch: EpochRecord) -> float:
        self._trim()
        known = figures(epoch)
        limits = Bounds(known.lineages, known.turns)
        postings: dict[str, dict[str, Posting]] = {}
        for _, reading in sorted(self._sample.items()):
            kept = keep(reading.candidates, reading.words, known, reading.asked_about)
            plain = [one for one in kept if not one.generic]
            plain.sort(key=lambda one: (known.df(one.key), one.concept_id))
            for one in plain[:PER_THREAD]:
                posting = Posting(known.df(one.key), frozenset(one.candidate.turns))
                postings.setdefault(one.concept_id, {})[reading.thread_id] = posting
        return floor(pairs(postings, limits))


def epoch(
    threads: Iterable[Thread],
    roots: Mapping[str, str],
    read: Callable[[Thread], Reading],
    extractor: str,
) -> EpochRecord:
    """Read every thread once and count."""
    census = Census(roots)

    def texts() -> Iterator[tuple[str, str]]:
        for thread in threads:
            clean = thread.clean()
            if clean:
                census.add(read(thread))
            census.turns += len(clean)
            for turn in clean:
                yield census.root(thread.thread_id), turn.text

    tokens = vectors.token_df(texts(), lambda root: root not in census.shared)
    return census.record(extractor, tokens)
