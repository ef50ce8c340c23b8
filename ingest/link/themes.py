"""Themes: what several threads come back to, by links between questions or by shared concepts."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from graphstore.derivation import Ground
from graphstore.ids import thread_of
from graphstore.model.knowledge import Concept
from ingest.extract.figures import Figures
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
    whole = ground.whole
    return tuple(
        Theme(group, ())
        for group in sorted([*grouped, *alone])
        if whole is None or whole.issuperset(group)
    )


def concept_themes(ground: Ground, index: Index, epoch: Figures) -> tuple[Theme, ...]:
    """Pairs of neighbouring specific concepts that three lineages share and ask about.

    One question names both, the others at least one, in threads that speak of both.
    """
    telling = specific(ground, epoch)
    neighbours = {
        (min(row.src, row.dst), max(row.src, row.dst))
        for row in ground.relates
        if row.src in telling and row.dst in telling
    }
    naming = _naming(index, telling)
    threads = _mentioning(ground, telling)
    found = []
    for pair in sorted(neighbours):
        first, second = (naming.get(concept, ()) for concept in pair)
        shared = threads.get(pair[0], set()) & threads.get(pair[1], set())
        if not any(pair[1] in one.concepts for one in first) or len(shared) < LEAST_LINEAGES:
            continue
        group = {
            one.question_id: one
            for one in (*first, *second)
            if one.threads <= shared and one.trackable
        }
        lineages = frozenset().union(*(one.lineages for one in group.values()))
        if len(lineages) >= LEAST_LINEAGES:
            found.append(Theme(tuple(sorted(group)), pair))
    return tuple(sorted(found, key=lambda theme: (-len(theme.questions), theme.concepts)))


def _naming(index: Index, telling: Mapping[str, Concept]) -> dict[str, tuple[Known, ...]]:
    named: dict[str, list[Known]] = {}
    for one in index.questions:
        for concept in one.concepts & telling.keys():
            named.setdefault(concept, []).append(one)
    return {concept: tuple(group) for concept, group in named.items()}


def _mentioning(ground: Ground, telling: Mapping[str, Concept]) -> dict[str, set[str]]:
    threads: dict[str, set[str]] = {}
    for row in ground.mentions:
        if row.src_table == "SourceRef" and row.dst in telling:
            threads.setdefault(row.dst, set()).add(thread_of(row.src))
    return threads
