"""What draws together in a store: concepts joined more and more, themes nobody named, revivals."""

from collections.abc import Iterable
from datetime import timedelta
from itertools import combinations
from typing import Final

from dream.company import about, is_topic, is_unsaid, nested
from dream.findings import Growth, Revival, Unspoken
from dream.index import Index
from graphstore.model.knowledge import JourneyStatus

ACTIVE_DAYS, RECENT_DAYS = 30, 60
MONTH: Final = timedelta(days=ACTIVE_DAYS).total_seconds()
LINEAGES: Final = 3
JOINED: Final = 2
MOST, THEMES = 2, 1
NAMED: Final = 3
OWN: Final = 6
TOUCHED: Final = 2
REFS: Final = 4


def growing(thread: str, index: Index) -> tuple[Growth, ...]:
    """Pairs of a concept of this thread and one that it comes nearer to, the strongest first."""
    lineage = index.threads[thread].lineage_root
    found = [
        grown
        for own in about(index, lineage)[:OWN]
        if is_active(own, index)
        for other in second(own, index)
        if (grown := growth(own, other, index)) is not None
    ]
    found.sort(key=lambda each: (-each.support, each.src, each.dst))
    return tuple(found[:MOST])


def second(node: str, index: Index) -> tuple[str, ...]:
    """Concepts two steps from a node, sorted."""
    near = index.neighbours.get(node, frozenset())
    far = {each for one in near for each in index.neighbours[one]}
    return tuple(sorted(each for each in far - near - {node} if each in index.concepts))


def is_active(concept: str, index: Index) -> bool:
    """A topic of at least three lineages, named in the last month of the store's own time."""
    refs = index.concept_refs.get(concept, ())
    if not (index.is_specific(concept) and is_topic(index, concept)):
        return False
    common = len(index.concept_lineages.get(concept, ())) >= LINEAGES
    return common and last_said(refs, index) > month_ago(index)


def month_ago(index: Index) -> float:
    """A month before the store's newest turn."""
    return index.newest - MONTH


def last_said(refs: Iterable[str], index: Index) -> float:
    """When the newest of some turns was said."""
    return max((index.when(ref)[0] for ref in refs), default=0.0)


def growth(one: str, other: str, index: Index) -> Growth | None:
    """How two unlinked concepts grow together; None when they do not, or met in a thread."""
    between = index.common(one, other)
    if len(between) < JOINED or not is_active(other, index) or nested(index, one, other):
        return None
    if index.concept_lineages[one] & index.concept_lineages[other]:
        return None
    since = {node: joined_at(one, node, other, index) for node in between}
    before = sum(moment <= month_ago(index) for moment in since.values())
    if before == len(between):
        return None
    order = sorted(between, key=lambda node: (-since[node], node))
    labels = (index.label(str(index.table(node)), node) for node in order)
    older = min(last_said(index.concept_refs[each], index) for each in (one, other))
    allocation = sum(1 / index.degree(node) for node in between)
    return Growth(
        src=one,
        dst=other,
        between=tuple(labels)[:NAMED],
        before=before,
        now=len(between),
        support=round(allocation * (1 - (index.newest - older) / MONTH), 6),
    )


def joined_at(one: str, middle: str, other: str, index: Index) -> float:
    """When a middle came to join two nodes; undated counts as long ago."""
    moment = max(index.bond(one, middle)[1], index.bond(middle, other)[1])
    return moment if moment <= index.newest else 0.0


def unspoken(thread: str, index: Index) -> tuple[Unspoken, ...]:
    """Triples round the newest question of a thread that met in pairs only, the rarest first."""
    lineage = index.threads[thread].lineage_root
    question = newest_question(thread, index)
    if question is None or last_said(index.thread_turns[thread], index) <= two_months_ago(index):
        return ()
    held = index.lineage_concepts.get(lineage, frozenset())
    recent = recent_lineages(index)
    found = {
        far: triple
        for near, mid in combinations(index.specific(question)[:OWN], 2)
        if not nested(index, near, mid)
        for far in sorted(partners(near, recent, index) & partners(mid, recent, index))
        if far not in held and is_topic(index, far) and is_unsaid(index, far, (lineage,))
        if (triple := theme(question, near, mid, far, recent, index)) is not None
    }
    order = sorted(found.values(), key=lambda each: (-each.weight, each.concept_id))
    return tuple(order[:THEMES])


def two_months_ago(index: Index) -> float:
    """Two months before the store's newest turn."""
    return index.newest - timedelta(days=RECENT_DAYS).total_seconds()


def newest_question(thread: str, index: Index) -> str | None:
    """The open question that a thread asked last."""
    own = [each for each in index.asked_in.get(thread, ()) if not index.cluster_answers(each)]
    return max(own, key=lambda each: (last_said(index.askings[each], index), each), default=None)


def recent_lineages(index: Index) -> dict[str, frozenset[str]]:
    """Specific concepts by lineage, of the lineages of the last two months."""
    since = two_months_ago(index)
    return {
        root: held
        for root, held in index.lineage_concepts.items()
        if last_said(index.lineage_turns[root], index) > since
    }


def partners(concept: str, recent: dict[str, frozenset[str]], index: Index) -> set[str]:
    """Concepts that a person named beside this one in a recent lineage.

    An answer that lists things joins them for nobody.
    """
    return {
        each
        for ref in index.concept_refs.get(concept, ())
        if index.lineage(ref) in recent and index.turns[ref].role == "human"
        for each in index.rarest(index.turn_concepts[ref])
        if each != concept
    }


def theme(
    question: str, near: str, mid: str, far: str, recent: dict[str, frozenset[str]], index: Index
) -> Unspoken | None:
    """The triple as a theme: three lineages, none of which holds all three."""
    triple = {near, mid, far}
    meeting = {root for root, held in recent.items() if len(triple & held) >= JOINED}
    whole = any(triple <= held for held in index.lineage_concepts.values())
    alike = any(nested(index, far, each) for each in (near, mid))
    if whole or alike or len(meeting) < LINEAGES:
        return None
    return Unspoken(
        question=question,
        concept_id=far,
        label=index.label("Concept", far),
        with_concepts=(index.label("Concept", near), index.label("Concept", mid)),
        lineages=len(meeting),
        weight=round(sum(index.idf(each) for each in sorted(triple)) / len(triple), 6),
        aliases=meetings(triple, index),
    )


def meetings(triple: set[str], index: Index) -> tuple[str, ...]:
    """Refs in which two of three concepts meet, the newest of each lineage, newest first."""
    refs = {ref for each in triple for ref in index.concept_refs[each]}
    met = [ref for ref in refs if len(triple.intersection(index.turn_concepts[ref])) >= JOINED]
    newest = {index.lineage(ref): ref for ref in sorted(met, key=index.when)}
    return tuple(sorted(newest.values(), key=index.when, reverse=True))


def revival(journey_id: str, index: Index) -> Revival | None:
    """Later threads that touch two concepts of a Journey; None below two of them."""
    journey = index.journeys[journey_id]
    moved = [at for at in (journey.last_seen, journey.last_activity_at) if at is not None]
    if journey.status is JourneyStatus.ARRIVED or not moved:
        return None
    since = max(moved).timestamp()
    home = index.lineages_of(index.journey_refs.get(journey_id, ()))
    own = index.journey_concepts(journey_id)
    touched: dict[str, set[str]] = {}
    for concept in own:
        for ref in index.concept_refs.get(concept, ()):
            if index.when(ref)[0] > since and index.lineage(ref) not in home:
                touched.setdefault(index.lineage(ref), set()).add(concept)
    touching = sorted(root for root, held in touched.items() if len(held) >= TOUCHED)
    if len(touching) < TOUCHED:
        return None
    common = {each for root in touching for each in touched[root]}
    return Revival(
        journey_id=journey_id,
        concepts=tuple(index.label("Concept", each) for each in own if each in common)[:NAMED],
        lineages=len(touching),
        aliases=tuple(best_turn(root, common, since, index) for root in touching)[-REFS:],
    )


def best_turn(root: str, concepts: set[str], since: float, index: Index) -> str:
    """The later turn of a lineage that names most of some concepts, the newest of several."""
    later = [ref for ref in index.lineage_turns[root] if index.when(ref)[0] > since]
    return max(
        later,
        key=lambda ref: (
            len(concepts.intersection(index.turn_concepts.get(ref, ()))),
            index.when(ref),
        ),
    )
