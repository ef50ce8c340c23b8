"""The search for counter-evidence: for every pair, always all six kinds."""

from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from typing import Final, TypeAlias

from dream.company import nested
from dream.gathering import Gathering
from dream.index import Index
from dream.pairs import Candidate
from dream.wording import closing, day, plural, quote
from graphstore.model.hypothesis import CounterEvidence
from graphstore.model.knowledge import JourneyStatus

MOST: Final = 4
SENSE_JACCARD: Final = 0.10
BASE_LINEAGES: Final = 5
REFS: Final = 2

Found: TypeAlias = Iterator[tuple[str, tuple[str, ...], str]]
"""Statement, refs, and the words to clip around."""


def search(
    pairs: Iterable[tuple[Candidate, tuple[str, ...]]], index: Index, gathering: Gathering
) -> tuple[tuple[CounterEvidence, ...], ...]:
    """What speaks against each pair, given with its shared concepts; at most four statements.

    Kind by kind over all pairs, so that the few counter turns of a pack go to the stronger kinds
    first. A statement whose turns do not fit is none.
    """
    asked = list(pairs)
    found: list[list[CounterEvidence]] = [[] for _ in asked]
    for kind, finder in KINDS.items():
        for (pair, shared), against in zip(asked, found, strict=True):
            evidence = first(kind, finder(pair, shared, index, gathering), gathering)
            if evidence is not None and len(against) < MOST:
                against.append(evidence)
    return tuple(tuple(against) for against in found)


def first(kind: str, statements: Found, gathering: Gathering) -> CounterEvidence | None:
    """The first statement with a turn that fits."""
    for statement, refs, around in statements:
        aliases = gathering.counter(refs[:REFS], around)
        if aliases:
            return CounterEvidence(kind=kind, statement=statement, refs=aliases)
    return None


def already_linked(
    pair: Candidate, shared: tuple[str, ...], index: Index, gathering: Gathering
) -> Found:
    """An extracted path of length two or less that avoids the claimed middle."""
    del gathering
    low, high = sorted((pair.src, pair.dst))
    if (link := index.link_pairs.get((low, high))) is not None:
        yield "Already connected by an extracted link.", link.source_refs, ""
    for middle in index.common(pair.src, pair.dst):
        table = index.table(middle)
        if table is not None and not is_claimed(middle, table, shared, index):
            label = index.label(table, middle)
            statement = f'Already connected through "{quote(label, 60)}".'
            yield statement, index.refs_of(table, middle), label


def is_claimed(middle: str, table: str, shared: tuple[str, ...], index: Index) -> bool:
    """Whether a middle is what the pair is said to share, under a longer or a shorter label."""
    return table == "Concept" and any(nested(index, middle, each) for each in shared)


def contradicted(
    pair: Candidate, shared: tuple[str, ...], index: Index, gathering: Gathering
) -> Found:
    """A later human turn on either side rejects or corrects something about a shared concept."""
    del gathering
    if pair.dst_table == "Thread":
        return  # two threads are paired by their corrections: these are the claim
    refs = both_sides(pair, index)
    threads = {index.turns[ref].thread_id for ref in refs}
    wanted = {pair.dst} if pair.dst_table == "Concept" else set(shared)
    since = min((index.when(ref)[0] for ref in refs), default=0.0)
    for kind in ("correction", "decision"):
        for ref, signal in reversed(index.signal_refs.get(kind, ())):
            about = signal.concepts or index.turn_concepts.get(ref, ())
            speaks = kind == "correction" or signal.type == "rejected"
            turn = index.turns[ref]
            later = turn.role == "human" and index.when(ref)[0] > since
            if speaks and later and turn.thread_id in threads and wanted.intersection(about):
                statement = f"A later turn speaks against it: {closing(signal.clip)}"
                yield statement, (ref,), signal.clip


def settled(pair: Candidate, shared: tuple[str, ...], index: Index, gathering: Gathering) -> Found:
    """An endpoint question was resolved, or its Journey arrived, after it was last asked."""
    del shared, gathering
    for table, node in ends(pair):
        if table == "Question":
            asked = [index.when(ref)[0] for ref in index.cluster_refs(node)]
            for ref in sorted(index.cluster_answers(node), key=index.when, reverse=True):
                if index.when(ref)[0] >= max(asked, default=0.0):
                    yield settlement(index.label(table, node), index.turns[ref].at), (ref,), ""
        elif table == "Journey" and index.journeys[node].status is JourneyStatus.ARRIVED:
            journey = index.journeys[node]
            refs = index.refs_of(table, node)[-1:]
            yield settlement(journey.core_inquiry, journey.last_seen), refs, ""


def settlement(label: str, at: datetime | None) -> str:
    """That something was settled, and when."""
    return f'"{quote(label, 90)}" was settled on {day(at)}.'


def different_sense(
    pair: Candidate, shared: tuple[str, ...], index: Index, gathering: Gathering
) -> Found:
    """A shared concept whose company on the two sides has nearly nothing in common."""
    del gathering
    for concept in shared:
        near = company(concept, index.refs_of(pair.src_table, pair.src), index)
        refs = index.refs_of(pair.dst_table, pair.dst)
        far = company(concept, refs, index)
        if near and far and len(near & far) / len(near | far) < SENSE_JACCARD:
            label = index.label("Concept", concept)
            naming = tuple(ref for ref in refs if concept in index.turn_concepts.get(ref, ()))
            yield f'"{quote(label, 60)}" keeps different company on each side.', naming, label


def tried_elsewhere(
    pair: Candidate, shared: tuple[str, ...], index: Index, gathering: Gathering
) -> Found:
    """The thing claimed to be missing occurs in another thread of the same Journey."""
    del shared, gathering
    if pair.dst_table != "Concept":
        return
    home = {index.turns[ref].thread_id for ref in index.refs_of(pair.src_table, pair.src)}
    for refs in index.journey_refs.values():
        inside = {index.turns[ref].thread_id for ref in refs if ref in index.turns}
        if home & inside:
            naming = tuple(
                ref
                for ref in index.concept_refs.get(pair.dst, ())
                if index.turns[ref].thread_id in inside - home
            )
            label = index.label("Concept", pair.dst)
            yield f'"{quote(label, 60)}" was looked at in another thread.', naming, label


def base_rate(
    pair: Candidate, shared: tuple[str, ...], index: Index, gathering: Gathering
) -> Found:
    """What joins the pair also occurs where nothing of the kind followed; the two newest turns."""
    if index.lineages < BASE_LINEAGES:
        return
    inside = {turn.lineage for turn in gathering.turns.values()}
    for table, node in ends(pair):
        if table == "Concept":
            # its company is the claim: only where it comes alone did nothing follow
            inside |= {root for root, held in index.lineage_concepts.items() if held & set(shared)}
        else:
            inside |= index.lineages_of(index.refs_of(table, node))
    for concept in (pair.dst,) if pair.dst_table == "Concept" else shared:
        refs = [
            ref for ref in index.concept_refs.get(concept, ()) if index.lineage(ref) not in inside
        ]
        if refs:
            label = index.label("Concept", concept)
            threads = plural(len(index.lineages_of(refs)), "thread")
            statement = f'"{quote(label, 60)}" also occurs in {threads} where nothing followed.'
            yield statement, tuple(sorted(refs, key=index.when, reverse=True)), label


def ends(pair: Candidate) -> tuple[tuple[str, str], tuple[str, str]]:
    """(table, node) of both ends."""
    return (pair.src_table, pair.src), (pair.dst_table, pair.dst)


def both_sides(pair: Candidate, index: Index) -> tuple[str, ...]:
    """Clean turns of both ends."""
    return tuple(ref for table, node in ends(pair) for ref in index.refs_of(table, node))


def company(concept: str, refs: tuple[str, ...], index: Index) -> set[str]:
    """Other specific concepts in the turns of one side that mention a concept."""
    mentioned = [index.turn_concepts[ref] for ref in refs if ref in index.turn_concepts]
    found = {each for concepts in mentioned if concept in concepts for each in concepts}
    return {each for each in found if each != concept and index.is_specific(each)}


KINDS: Final[dict[str, Callable[[Candidate, tuple[str, ...], Index, Gathering], Found]]] = {
    "contradicted": contradicted,
    "settled": settled,
    "already_linked": already_linked,
    "tried_elsewhere": tried_elsewhere,
    "different_sense": different_sense,
    "base_rate": base_rate,
}
"""The strongest first."""
