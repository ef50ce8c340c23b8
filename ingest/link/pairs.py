"""Which concepts of a thread are paired with others."""

from collections.abc import Iterable
from typing import Final

from graphstore.company import Bounds, crowded
from graphstore.model.knowledge import Company, Concept, Mentions
from ingest.extract.concepts import fold
from ingest.extract.figures import Figures

PER_THREAD: Final = 36
"""Concepts of one thread that are paired; the rarest come first."""


def bounds(epoch: Figures) -> Bounds:
    """What the epoch says of surprise."""
    return Bounds(epoch.lineages, epoch.turns, epoch.pmi_floor)


def company(
    concepts: Iterable[Concept], mentions: Iterable[Mentions], epoch: Figures
) -> tuple[Company, ...]:
    """The concepts of a thread that may surprise in company, by id."""
    frequencies = {one.concept_id: epoch.df(fold(one.label)) for one in concepts if not one.generic}
    limits = bounds(epoch)
    turns: dict[str, set[int]] = {}
    for row in mentions:
        if row.src_table == "SourceRef" and row.dst in frequencies:
            turns.setdefault(row.dst, set()).add(int(row.src.rpartition(":")[2]))
    rare = sorted(
        (frequencies[name], name) for name in turns if not crowded(frequencies[name], limits)
    )
    return tuple(
        Company(concept_id=name, df=df, turns=tuple(sorted(turns[name])))
        for df, name in sorted(rare[:PER_THREAD], key=lambda row: row[1])
    )
