"""Themes: what several threads come back to, by links between questions or by shared concepts."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Final

from graphstore.derivation import Ground
from graphstore.ids import thread_of
from graphstore.model.knowledge import Concept
from ingest.extract.concepts import fold
from ingest.extract.figures import Figures
from ingest.link.ground import Known, roots, specific
from ingest.link.questions import Index, clusters

LEAST_LINEAGES: Final = 3
_PAIR: Final = 2
NARROW: Final = 10
"""A concept is narrow when at most one lineage in so many names it."""
LEAST_NARROW: Final = 5
"""Lineages up to which it is never too wide."""
MOST_NARROW: Final = 12
"""Lineages beyond which it always is."""


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

    Either two concepts that go together: one question names both, the others at least one, in
    threads that speak of both. Or one narrow concept that one project asks about again and
    again. Pairs come first, since they say more.
    """
    telling = specific(ground, epoch)
    naming = _naming(index, telling)
    threads = _mentioning(ground, telling)
    pairs = {
        (first, second)
        for one in index.questions
        for first, second in combinations(sorted(one.concepts & telling.keys()), _PAIR)
        if not nested(telling[first], telling[second])
    }
    found: list[Theme] = []
    for pair in sorted(pairs):
        met = _met(pair, threads)
        if len(met) >= LEAST_LINEAGES and len(met) >= _by_chance(pair, telling, epoch):
            shared = {thread for name in pair for thread, root in threads[name] if root in met}
            asked = (*naming.get(pair[0], ()), *naming.get(pair[1], ()))
            found.extend(_theme([one for one in asked if one.threads <= shared], pair))
    narrow = min(MOST_NARROW, max(LEAST_NARROW, epoch.lineages // NARROW))
    single = [
        theme
        for concept, named in naming.items()
        if epoch.df(fold(telling[concept].label)) <= narrow
        for asked in _by_project(named)
        for theme in _theme(asked, (concept,))
    ]
    return (*sorted(found, key=_size), *sorted(single, key=_size))


def _met(pair: tuple[str, str], threads: Mapping[str, set[tuple[str, str]]]) -> set[str]:
    """Lineages that mention both."""
    first, second = ({root for _, root in threads.get(name, ())} for name in pair)
    return first & second


def _by_chance(pair: tuple[str, str], telling: Mapping[str, Concept], epoch: Figures) -> float:
    """Twice as many lineages as chance would let mention both.

    Pointwise information is no measure here: that of two concepts which three of many lineages
    share is always smaller than that of two which only two lineages know.
    """
    first, second = (epoch.df(fold(telling[name].label)) for name in pair)
    return 2 * first * second / max(1, epoch.lineages)


def _by_project(asked: Iterable[Known]) -> list[list[Known]]:
    """The questions of each project: one word in two places of work may be two things."""
    found: dict[str, list[Known]] = {}
    for one in asked:
        found.setdefault(one.project or "", []).append(one)
    return [found[project] for project in sorted(found)]


def _size(theme: Theme) -> tuple[int, tuple[str, ...]]:
    return (-len(theme.questions), theme.concepts)


def nested(one: Concept, other: Concept) -> bool:
    """Whether one label is part of the other."""
    low, high = one.label.casefold(), other.label.casefold()
    return low in high or high in low


def _theme(asked: Iterable[Known], concepts: tuple[str, ...]) -> Iterator[Theme]:
    """The theme of these questions, if three lineages ask them."""
    group = {one.question_id: one for one in asked if one.trackable}
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
