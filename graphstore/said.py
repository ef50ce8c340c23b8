"""What the owner said of pairs of questions and of concepts: read from review records, in order."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from graphstore.model.record import ReviewRecord
from graphstore.near import Pair, pair_of

SAME: Final = "same"
DIFFERENT: Final = "different"
UNSAID: Final = "unsay"
OF_QUESTIONS: Final = frozenset({SAME, DIFFERENT, UNSAID})
MERGED: Final = "merge_concept"
APART: Final = "unmerge_concept"
OF_CONCEPTS: Final = frozenset({MERGED, APART})


@dataclass(frozen=True, slots=True)
class Said:
    """The owner's words that hold now: of several about one thing the last."""

    pairs: Mapping[Pair, bool] = field(default_factory=dict)
    """Whether two questions ask the same."""
    merged: Mapping[str, str] = field(default_factory=dict)
    """Concepts that stand for another one each, as they were told."""

    def concept(self, name: str) -> str:
        """The concept that stands for this one in the end: itself where it was not merged."""
        while name in self.merged:
            name = self.merged[name]
        return name

    def concepts(self, names: Iterable[str]) -> tuple[str, ...]:
        """The concepts that stand for these, each once, in the order of the first."""
        return tuple(dict.fromkeys(map(self.concept, names)))

    @property
    def same(self) -> Iterator[Pair]:
        """Pairs that ask the same, sorted."""
        return (pair for pair in sorted(self.pairs) if self.pairs[pair])

    def other_pairs(self, before: "Said") -> set[Pair]:
        """Pairs of which something else was said ``before``."""
        both = self.pairs.keys() | before.pairs.keys()
        return {pair for pair in both if self.pairs.get(pair) is not before.pairs.get(pair)}

    def other_concepts(self, before: "Said") -> set[str]:
        """Concepts that ``before`` stood for those that stand for something else now."""
        both = self.merged.keys() | before.merged.keys()
        return {before.concept(name) for name in both if self.concept(name) != before.concept(name)}


def said(records: Iterable[ReviewRecord]) -> Said:
    """Every word in the order of the ledger; a merge that would lead back to itself is none."""
    pairs: dict[Pair, bool] = {}
    merged: dict[str, str] = {}
    for record in records:
        if record.act in OF_QUESTIONS and record.other is not None:
            pair = pair_of(record.target, record.other)
            pairs.pop(pair, None)
            if record.act != UNSAID:
                pairs[pair] = record.act == SAME
        elif record.act in OF_CONCEPTS:
            merged.pop(record.target, None)
            into = record.other if record.act == MERGED else None
            if into is not None and Said(merged=merged).concept(into) != record.target:
                merged[record.target] = into
    return Said(pairs, merged)
