"""Themes: what several threads come back to, by links between questions or by shared concepts."""

from dataclasses import dataclass
from typing import Final

from graphstore.derivation import Ground
from graphstore.model.record import EpochRecord
from ingest.link.ground import Known, specific
from ingest.link.questions import Index, clusters

LEAST_LINEAGES: Final = 3


@dataclass(frozen=True, slots=True)
class Theme:
    """Questions that belong together, and why."""

    questions: tuple[str, ...]
    """Ids, sorted."""
    concepts: tuple[str, ...]
    """The pair of concepts that joins them; empty when links do."""


def question_clusters(ground: Ground, index: Index) -> tuple[Theme, ...]:
    """Clusters of linked questions, and single questions that are asked again and again."""
    grouped = clusters(index, ground.links)
    taken = {name for group in grouped for name in group}
    alone = [
        (one.question_id,)
        for one in index.questions
        if one.question_id not in taken and len(one.refs) > 1
    ]
    return tuple(Theme(group, ()) for group in sorted([*grouped, *alone]))


def concept_themes(ground: Ground, index: Index) -> tuple[Theme, ...]:
    """Pairs of neighbouring specific concepts that questions of three lineages both name."""
    telling = specific(ground)
    neighbours = {
        tuple(sorted((row.src, row.dst)))
        for row in ground.relates
        if row.src in telling and row.dst in telling
    }
    held: dict[tuple[str, ...], list[Known]] = {}
    for one in index.questions:
        named = sorted(one.concepts)
        for place, first in enumerate(named):
            for second in named[place + 1 :]:
                if (first, second) in neighbours:
                    held.setdefault((first, second), []).append(one)
    themes = [
        Theme(tuple(sorted(one.question_id for one in group)), pair)
        for pair, group in held.items()
        if len(frozenset().union(*(one.lineages for one in group))) >= LEAST_LINEAGES
    ]
    return tuple(sorted(themes, key=lambda theme: (theme.questions, theme.concepts)))


def themes(ground: Ground, epoch: EpochRecord, index: Index) -> tuple[Theme, ...]:
    """Clusters before concept pairs: words that recur tell more than company."""
    del epoch
    return (*question_clusters(ground, index), *concept_themes(ground, index))
