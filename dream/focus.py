"""What a pack may be about: the foci that a store offers, each with its trigger family."""

from collections import defaultdict
from collections.abc import Iterator

from dream.index import Index
from dream.model import Focus
from graphstore.model.knowledge import SeedRow

SEEDS_PER_SHAPE = 8
CLUSTERS, THEMES, FRONTIERS = 16, 12, 12
THEME_LINEAGES = 3
SHAPELESS = "shadow_route"


def foci(index: Index, seeds: tuple[SeedRow, ...]) -> Iterator[Focus]:
    """Every focus, the most urgent family first; the order is part of the result."""
    yield from corrections(index)
    yield from journeys(index)
    yield from scouted(seeds)
    yield from clusters(index)
    yield from frontiers(index)
    yield from themes(index)


def corrections(index: Index) -> Iterator[Focus]:
    """The same correction given in at least two lineages: one target, one specific concept."""
    groups: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
    for ref, signal in index.signal_refs.get("correction", ()):
        for concept in index.rarest(signal.concepts or index.turn_concepts.get(ref, ())):
            groups[signal.type, concept].add(ref)
    taken: set[frozenset[str]] = set()
    for (target, concept), refs in sorted(groups.items()):
        if len(index.lineages_of(refs)) >= 2 and frozenset(refs) not in taken:  # noqa: PLR2004
            taken.add(frozenset(refs))
            yield Focus(kind="correction", id=f"{target}/{concept}", family="correction")


def journeys(index: Index) -> Iterator[Focus]:
    """Journeys that have a frontier."""
    for journey in index.journeys.values():
        if journey.frontier and journey.merged_into is None:
            yield Focus(kind="journey", id=journey.journey_id, family="journey_frontier")


def scouted(seeds: tuple[SeedRow, ...]) -> Iterator[Focus]:
    """The best seeds of each shape, computed before annotated."""
    shapes: defaultdict[str, list[SeedRow]] = defaultdict(list)
    order = sorted(seeds, key=lambda row: (row.provenance != "computed", -row.score, row.seed_id))
    for row in order:
        if row.resolved_run is None and row.shape != SHAPELESS:
            shapes[row.shape].append(row)
    for rank in range(SEEDS_PER_SHAPE):
        for shape in sorted(shapes):
            if rank < len(shapes[shape]):
                yield seed_focus(shapes[shape][rank])


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
    """Questions asked again: the clusters with most askings."""
    found = []
    for cluster, members in index.members.items():
        askings = index.cluster_refs(cluster)
        if len(members) > 1 or len(askings) > 1:
            found.append((-len(index.lineages_of(askings)), -len(askings), cluster))
    for _, _, cluster in sorted(found)[:CLUSTERS]:
        yield Focus(kind="question_link", id=cluster, family="ready_pack")


def frontiers(index: Index) -> Iterator[Focus]:
    """Threads that stopped somewhere, the newest first."""
    newest: dict[str, tuple[float, str]] = {}
    for ref, _ in index.signal_refs.get("frontier", ()):
        newest[index.turns[ref].thread_id] = index.when(ref)
    order = sorted(newest, key=lambda thread: (-newest[thread][0], thread))
    for thread in order[:FRONTIERS]:
        yield Focus(kind="frontier", id=thread, family="ready_pack")


def themes(index: Index) -> Iterator[Focus]:
    """Specific concepts that meet in at least three lineages and carry questions."""
    found = [
        (-index.idf(concept) * len(index.lineages_of(refs)), concept)
        for concept, refs in index.concept_refs.items()
        if index.is_specific(concept)
        and index.concept_questions.get(concept)
        and len(index.lineages_of(refs)) >= THEME_LINEAGES
    ]
    for _, concept in sorted(found)[:THEMES]:
        yield Focus(kind="theme", id=concept, family="ready_pack")
