"""What a pack may be about: the foci that a store offers, each with its trigger family."""

from collections import defaultdict
from collections.abc import Iterator
from itertools import combinations
from typing import Final

from dream.company import nested
from dream.index import Index
from dream.model import Focus
from dream.pairs import apart
from graphstore.model.knowledge import SeedRow

SEEDS_PER_SHAPE: Final = 8
CLUSTERS, THEMES, EDGES, FRONTIERS = 16, 12, 16, 12
THEME_LINEAGES: Final = 3
CORRECTED_LINEAGES: Final = 2
OPEN_QUESTIONS: Final = 2
TRACKABLE: Final = 0.35
"""Least salience of a question that is worth a pack of its own."""
CROWD: Final = 12
"""A concept of more questions makes no edge: what so many ask about joins nothing."""
SHAPELESS: Final = "shadow_route"


def foci(index: Index, seeds: tuple[SeedRow, ...]) -> Iterator[Focus]:
    """Every focus, the most urgent family first; the order is part of the result."""
    yield from corrections(index)
    yield from recall_misses(index)
    yield from journeys(index)
    yield from scouted(seeds)
    yield from clusters(index)
    yield from edges(index)
    yield from frontiers(index)
    yield from themes(index)


def corrections(index: Index) -> Iterator[Focus]:
    """The same correction given in at least two lineages: one target, one specific concept."""
    groups: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
    for ref, signal in index.signal_refs.get("correction", ()):
        for concept in index.rarest(signal.concepts):
            groups[signal.type, concept].add(ref)
    taken: set[frozenset[str]] = set()
    for (target, concept), refs in sorted(groups.items()):
        if len(index.lineages_of(refs)) >= CORRECTED_LINEAGES and frozenset(refs) not in taken:
            taken.add(frozenset(refs))
            yield Focus(kind="correction", id=f"{target}/{concept}", family="correction")


def recall_misses(index: Index) -> Iterator[Focus]:
    """Questions for which a recall missed a turn that it needed."""
    for question in index.misses:
        yield Focus(kind="recall_miss", id=question, family="recall_miss")


def journeys(index: Index) -> Iterator[Focus]:
    """Journeys that have a frontier."""
    for journey in index.journeys.values():
        if journey.frontier and journey.merged_into is None:
            yield Focus(kind="journey", id=journey.journey_id, family="journey_frontier")


def scouted(seeds: tuple[SeedRow, ...]) -> Iterator[Focus]:
    """The best seeds of each shape, computed before annotated."""
    shapes: defaultdict[str, list[SeedRow]] = defaultdict(list)
    order = sorted(
        seeds,
        key=lambda row: (row.provenance != "computed", lacks_middle(row), -row.score, row.seed_id),
    )
    for row in order:
        if row.resolved_run is None and row.shape != SHAPELESS:
            shapes[row.shape].append(row)
    for rank in range(SEEDS_PER_SHAPE):
        for shape in sorted(shapes):
            if rank < len(shapes[shape]):
                yield seed_focus(shapes[shape][rank])


def lacks_middle(row: SeedRow) -> bool:
    """A missing middle between whole themes: nobody can say what joins them."""
    between = any(member.startswith("via=") for member in row.members)
    return row.shape == "missing_middle" and not between


def seed_focus(row: SeedRow) -> Focus:
    """A seed as a focus; members are ``role=node``."""
    members = tuple(
        (role, node) for role, _, node in (member.partition("=") for member in row.members)
    )
    return Focus(
        kind="seed",
        id=row.seed_id,
        family="ready_pack",
        shape=row.shape,
        provenance=row.provenance,
        members=members,
    )


def clusters(index: Index) -> Iterator[Focus]:
    """Questions asked again: the clusters of most lineages, then of most askings."""
    found = []
    for cluster, members in index.members.items():
        askings = index.times_asked(cluster)
        salience = max(index.questions[each].salience for each in members)
        if len(askings) > 1 and salience >= TRACKABLE:
            found.append((-len(index.lineages_of(askings)), -len(askings), cluster))
    for _, _, cluster in sorted(found)[:CLUSTERS]:
        yield Focus(kind="question_link", id=cluster, family="ready_pack")


def edges(index: Index) -> Iterator[Focus]:
    """Two specific concepts that questions of different lineages name together, unlinked.

    One edge for each pair of questions: the one of the rarest concepts.
    """
    naming: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
    for question in index.askings:
        if index.questions[question].salience >= TRACKABLE:
            held = [each for each in index.specific(question) if not is_crowded(each, index)]
            for one, other in combinations(sorted(held), 2):
                if not nested(index, one, other):
                    naming[one, other].append(question)
    scored = sorted(
        (-round(index.idf(one) + index.idf(other), 6), one, other) for one, other in naming
    )
    seen: set[tuple[str, str]] = set()
    count = 0
    for _, one, other in scored:
        fresh = {
            each
            for each in combinations(naming[one, other], 2)
            if each not in seen and apart(*each, index)
        }
        if fresh and count < EDGES:
            seen |= fresh
            count += 1
            yield Focus(kind="concept_edge", id=f"{one} {other}", family="ready_pack")


def is_crowded(concept: str, index: Index) -> bool:
    """Whether too many questions name a concept."""
    return len(index.asked_about.get(concept, ())) > CROWD


def frontiers(index: Index) -> Iterator[Focus]:
    """Threads that stopped somewhere or left two questions open, the newest first."""
    newest = {index.turns[ref].thread_id: index.when(ref) for ref in sorted(index.last_stops)}
    for thread, questions in index.asked_in.items():
        left = [
            each
            for each in questions
            if index.questions[each].salience >= TRACKABLE and not index.cluster_answers(each)
        ]
        if len(left) >= OPEN_QUESTIONS:
            newest.setdefault(thread, index.when(index.thread_turns[thread][-1]))
    order = sorted(newest, key=lambda thread: (-newest[thread][0], thread))
    for thread in order[:FRONTIERS]:
        yield Focus(kind="frontier", id=thread, family="ready_pack")


def themes(index: Index) -> Iterator[Focus]:
    """Specific concepts that meet in at least three lineages and carry questions."""
    found = [
        (-index.idf(concept) * len(index.lineages_of(refs)), concept)
        for concept, refs in index.concept_refs.items()
        if index.is_specific(concept)
        and index.asked_about.get(concept)
        and len(index.lineages_of(refs)) >= THEME_LINEAGES
    ]
    for _, concept in sorted(found)[:THEMES]:
        yield Focus(kind="theme", id=concept, family="ready_pack")
