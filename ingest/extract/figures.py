"""Store-wide figures of an epoch, indexed for reading; and which candidates a thread keeps."""

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from graphstore.ids import concept_id
from graphstore.model.hubs import fold as fold_stop
from graphstore.model.hubs import hub_limit, stop_list
from graphstore.model.knowledge import ConceptKind
from graphstore.model.record import EpochRecord
from ingest.extract.concepts import NESTED, TYPED, Candidate, Candidates, fold, parts

FLOOR: Final = 12
PER_THOUSAND_WORDS: Final = 4
CEILING: Final = 60
_TWICE: Final = 2
GENERIC_SHARE: Final = 0.25
"""A generic concept takes a place only when little else is there."""


@dataclass(frozen=True, slots=True)
class Figures:
    """An epoch with its figures by key."""

    lineages: int
    frequencies: dict[str, int]
    """Lineages by folded label."""
    spellings: dict[str, str]
    """The label of a folded one."""
    templates: frozenset[str]
    pmi_floor: float
    turns: int = 0
    hub_limit: int = 0
    """Largest df of a concept that tells anything."""

    def df(self, key: str) -> int:
        """Lineages that name the key; 1 for what the epoch does not list."""
        return self.frequencies.get(key, 1)

    def idf(self, key: str) -> float:
        """Inverse document frequency, smoothed so that it is never 0."""
        return math.log((self.lineages + 1) / (min(self.df(key), self.lineages) + 1)) + 0.1

    def label(self, key: str, candidate: Candidate) -> str:
        """Canonical label: that of the epoch, else the thread's own spelling."""
        return self.spellings.get(key) or candidate.label()


def figures(epoch: EpochRecord) -> Figures:
    """Index an epoch."""
    rows = [(fold(row.name), row) for row in epoch.concept_df]
    return Figures(
        epoch.lineages,
        {key: row.count for key, row in rows},
        {key: row.name for key, row in rows},
        frozenset(epoch.templates),
        epoch.pmi_floor,
        epoch.turns,
        hub_limit(((row.count, is_stop(row.name)) for row in epoch.concept_df), epoch.lineages),
    )


@dataclass(frozen=True, slots=True)
class Kept:
    """A candidate that the thread keeps as a concept."""

    concept_id: str
    key: str
    label: str
    kind: ConceptKind
    generic: bool
    salience: float
    """0 to 1, relative to the thread's most salient concept."""
    candidate: Candidate

    @property
    def aliases(self) -> tuple[str, ...]:
        """Other spellings seen."""
        return tuple(sorted(form for form in self.candidate.forms if form != self.label))


def keep(
    candidates: Candidates,
    words: int,
    epoch: Figures,
    asked_about: frozenset[str] = frozenset(),
) -> tuple[Kept, ...]:
    """The thread's most salient candidates, best first, ties by label.

    What its questions name is kept beyond the usual number, up to the ceiling: a question
    without its concepts would hang in the air.
    """
    most = min(CEILING, FLOOR + PER_THOUSAND_WORDS * words // 1000)
    scored = []
    for key, one in candidates.items():
        if one.count and (one.count >= _TWICE or one.kind in TYPED or epoch.df(key) >= _TWICE):
            label = epoch.label(key, one)
            generic = is_stop(label)
            share = GENERIC_SHARE if generic else 1.0
            scored.append((one.count * epoch.idf(key) * one.weight * share, label, key, generic))
    nested = _nested(candidates, [key for _, _, key, _ in scored], epoch)
    scored = [row for row in scored if row[2] not in nested]
    scored.sort(key=lambda row: (-row[0], row[1]))
    top = scored[0][0] if scored else 1.0
    named = [row for row in scored[most:] if row[2] in asked_about]
    kept: dict[str, Kept] = {}
    for score, label, key, generic in (scored[:most] + named)[:CEILING]:
        made = Kept(
            concept_id(label),
            key,
            label,
            candidates[key].kind,
            generic,
            round(score / top, 4),
            candidates[key],
        )
        # two keys may meet in one label; the more salient one stands for both
        kept.setdefault(made.concept_id, made)
    return tuple(kept.values())


def _nested(candidates: Candidates, passing: list[str], epoch: Figures) -> set[str]:
    """Parts that hardly occur outside one longer term, in this thread and in the store."""
    found: set[str] = set()
    for key in passing:
        longer = candidates[key]
        if longer.kind in TYPED:
            continue
        for part in parts(key):
            shorter = candidates.get(part)
            if (
                shorter is not None
                and shorter.kind not in TYPED
                and longer.count > NESTED * shorter.count
                and epoch.df(key) > NESTED * epoch.df(part)
            ):
                found.add(part)
    return found


@lru_cache(maxsize=200_000)
def is_stop(label: str) -> bool:
    """Whether the stop list holds the label."""
    return fold_stop(label) in stop_list()
