"""Themes: what several threads come back to, by links between questions or by shared concepts."""

from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Final

from graphstore.derivation import Ground
from graphstore.ids import thread_of
from graphstore.model.knowledge import Concept
from ingest.extract.concepts import fold
from ingest.extract.figures import Figures
from ingest.link.ground import Known, roots, specific
from ingest.link.questions import Index, clusters

LEAST_LINEAGES: Final = 3
NARROW: Final = 10
"""A concept is narrow when at most one lineage in so many names it."""
LEAST_NARROW: Final = 5
"""Lineages from which it can be too wide."""


@dataclass(frozen=True, slots=True)
class Theme:
    """Questions that belong together, and why."""

    questions: tuple[str, ...]
    """Ids, sorted."""
    concepts: tuple[str, ...]
    """The pair of concepts that joins them, or the narrow one; empty when links do."""


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
    """What three lineages share and ask about, the largest first.

    Either two neighbouring concepts: one question names both, the others at least one, in
    threads that speak of both. Or one narrow concept that is asked about in threads which it
    shares with a neighbour: pairs come first, since they say more.
    """
    telling = specific(ground, epoch)
    naming = _naming(index, telling)
    threads = _mentioning(ground, telling)
    lineages = {concept: {root for _, root in found} for concept, found in threads.items()}
    pairs: list[Theme] = []
    around: dict[str, set[str]] = {}
    for pair in _neighbours(ground, telling):
        met = lineages.get(pair[0], set()) & lineages.get(pair[1], set())
        if len(met) < LEAST_LINEAGES:
            continue
        shared = {thread for name in pair for thread, root in threads[name] if root in met}
        first, second = (naming.get(concept, ()) for concept in pair)
        if any(pair[1] in one.concepts for one in first):
            pairs.extend(_theme((*first, *second), shared, pair))
        for concept in pair:
            around.setdefault(concept, set()).update(shared)
    narrow = max(LEAST_NARROW, epoch.lineages // NARROW)
    single = [
        theme
        for concept, shared in around.items()
        if epoch.df(fold(telling[concept].label)) <= narrow
        for theme in _theme(naming.get(concept, ()), shared, (concept,))
    ]
    return (*sorted(pairs, key=_size), *sorted(single, key=_size))


def _size(theme: Theme) -> tuple[int, tuple[str, ...]]:
    return (-len(theme.questions), theme.concepts)


def _neighbours(ground: Ground, telling: Mapping[str, Concept]) -> list[tuple[str, str]]:
    """Pairs of specific concepts that are related and no two names of one thing."""
    found = {
        (min(row.src, row.dst), max(row.src, row.dst))
        for row in ground.relates
        if row.src in telling and row.dst in telling
    }
    return [pair for pair in sorted(found) if not nested(telling[pair[0]], telling[pair[1]])]


def nested(one: Concept, other: Concept) -> bool:
    """Whether one label is part of the other."""
    low, high = one.label.casefold(), other.label.casefold()
    return low in high or high in low


def _theme(
    asked: Iterable[Known], shared: AbstractSet[str], concepts: tuple[str, ...]
) -> Iterator[Theme]:
    """The theme of these questions, if three lineages ask them in the threads that share it."""
    group = {one.question_id: one for one in asked if one.threads <= shared and one.trackable}
    lineages = frozenset().union(*(one.lineages for one in group.values()))
    if len(lineages) >= LEAST_LINEAGES:
        yield Theme(tuple(sorted(group)), concepts)


def _naming(index: Index, telling: Mapping[str, Concept]) -> dict[str, tuple[Known, ...]]:
    named: dict[str, list[Known]] = {}
    for one in index.questions:
        for concept in one.concepts & telling.keys():
            named.setdefault(concept, []).append(one)
    return {concept: tuple(group) for concept, group in named.items()}


def _mentioning(ground: Ground, telling: Mapping[str, Concept]) -> dict[str, set[tuple[str, str]]]:
    """Threads that mention each concept, with their lineages."""
    lineage = roots(ground)
    threads: dict[str, set[tuple[str, str]]] = {}
    for row in ground.mentions:
        if row.src_table == "SourceRef" and row.dst in telling:
            thread = thread_of(row.src)
            threads.setdefault(row.dst, set()).add((thread, lineage.get(thread, thread)))
    return threads
