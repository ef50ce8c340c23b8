"""The search for counter-evidence: for every pair, always all six kinds."""

from collections.abc import Callable, Iterator
from typing import TypeAlias

from dream.gathering import Gathering, quote
from dream.index import Index
from dream.pairs import Candidate
from graphstore.model.hypothesis import CounterEvidence

MOST = 4
SENSE_JACCARD = 0.10
BASE_LINEAGES = 5


Found: TypeAlias = Iterator[tuple[str, tuple[str, ...], str]]
"""Statement, refs, and the words to clip around."""


def search(
    pair: Candidate, shared: tuple[str, ...], index: Index, gathering: Gathering
) -> tuple[CounterEvidence, ...]:
    """What speaks against a pair; a statement whose turn does not fit is none."""
    found: list[CounterEvidence] = []
    for kind, finder in KINDS.items():
        for statement, refs, around in finder(pair, shared, index):
            aliases = gathering.counter(refs[:2], around)
            if aliases and len(found) < MOST:
                found.append(CounterEvidence(kind=kind, statement=statement, refs=aliases))
            break
    return tuple(found)


def already_linked(pair: Candidate, shared: tuple[str, ...], index: Index) -> Found:
    """An extracted path of length two that avoids the claimed middle."""
    if (link := index.link_pairs.get(tuple(sorted((pair.src, pair.dst))))) is not None:  # type: ignore[arg-type]
        yield "Already connected by an extracted link.", link.source_refs, ""
    for middle in index.common(pair.src, pair.dst):
        if middle not in shared:
            table = index.table(middle) or "Concept"
            label = quote(index.label(table, middle), 60)
            yield f'Already connected through "{label}".', index.refs_of(table, middle), label


def contradicted(pair: Candidate, shared: tuple[str, ...], index: Index) -> Found:
    """A human turn on either side rejects or corrects something about a shared concept."""
    threads = threads_of(pair, index)
    for kind in ("correction", "decision"):
        for ref, signal in reversed(index.signal_refs.get(kind, ())):
            about = signal.concepts or index.turn_concepts.get(ref, ())
            speaks = kind == "correction" or signal.type == "rejected"
            if speaks and index.turns[ref].thread_id in threads and set(shared).intersection(about):
                clip = quote(signal.clip)
                yield f'A later turn speaks against it: "{clip}".', (ref,), signal.clip


def settled(pair: Candidate, shared: tuple[str, ...], index: Index) -> Found:
    """An endpoint question was resolved after the newest premise, or its Journey arrived."""
    del shared
    for table, node in ((pair.src_table, pair.src), (pair.dst_table, pair.dst)):
        if table == "Question":
            for ref in sorted(index.cluster_answers(node), key=index.when_any, reverse=True):
                at = index.turns[ref].at if ref in index.turns else None
                day = at.date().isoformat() if at else "an unknown day"
                label = quote(index.label(table, node), 90)
                yield f'"{label}" was settled on {day}.', (ref,), ""


def different_sense(pair: Candidate, shared: tuple[str, ...], index: Index) -> Found:
    """A shared concept whose company on the two sides has nearly nothing in common."""
    for concept in shared:
        near = company(concept, index.refs_of(pair.src_table, pair.src), index)
        far = company(concept, index.refs_of(pair.dst_table, pair.dst), index)
        both = near | far
        if both and len(near & far) / len(both) < SENSE_JACCARD:
            label = index.label("Concept", concept)
            refs = [
                ref
                for ref in index.refs_of(pair.dst_table, pair.dst)
                if concept in index.turn_concepts.get(ref, ())
            ]
            yield f'"{label}" keeps different company on each side.', tuple(refs), label


def tried_elsewhere(pair: Candidate, shared: tuple[str, ...], index: Index) -> Found:
    """The thing claimed to be missing occurs in another thread of the same Journey."""
    del shared
    if pair.dst_table == "Concept":
        threads = threads_of(pair, index)
        for journey in index.journeys:
            inside = index.journey_refs.get(journey, ())
            if any(index.turns[ref].thread_id in threads for ref in inside if ref in index.turns):
                here = {
                    index.turns[ref].thread_id for ref in inside if ref in index.turns
                } - threads
                refs = tuple(
                    ref
                    for ref in index.concept_refs.get(pair.dst, ())
                    if index.turns[ref].thread_id in here
                )
                if refs:
                    label = index.label("Concept", pair.dst)
                    yield f'"{label}" was looked at in another thread.', refs, label


def base_rate(pair: Candidate, shared: tuple[str, ...], index: Index) -> Found:
    """A shared concept also occurs where nothing of the kind followed."""
    if index.lineages < BASE_LINEAGES:
        return
    inside = index.lineages_of(
        (*index.refs_of(pair.src_table, pair.src), *index.refs_of(pair.dst_table, pair.dst))
    )
    wanted = shared or ((pair.dst,) if pair.dst_table == "Concept" else ())
    for concept in wanted:
        refs = [
            ref for ref in index.concept_refs.get(concept, ()) if index.lineage(ref) not in inside
        ]
        elsewhere = index.lineages_of(refs)
        if elsewhere:
            label = index.label("Concept", concept)
            newest = tuple(sorted(refs, key=index.when, reverse=True)[:2])
            threads = f"{len(elsewhere)} thread" + ("s" if len(elsewhere) > 1 else "")
            yield f'"{label}" also occurs in {threads} where nothing followed.', newest, label


def threads_of(pair: Candidate, index: Index) -> set[str]:
    """Threads of both sides."""
    refs = (*index.refs_of(pair.src_table, pair.src), *index.refs_of(pair.dst_table, pair.dst))
    return {index.turns[ref].thread_id for ref in refs}


def company(concept: str, refs: tuple[str, ...], index: Index) -> set[str]:
    """Other specific concepts in the turns of one side that mention a concept."""
    found = {
        each
        for ref in refs
        if concept in index.turn_concepts.get(ref, ())
        for each in index.turn_concepts.get(ref, ())
    }
    return {each for each in found if each != concept and index.is_specific(each)}


KINDS: dict[str, Callable[[Candidate, tuple[str, ...], Index], Found]] = {
    "already_linked": already_linked,
    "contradicted": contradicted,
    "settled": settled,
    "different_sense": different_sense,
    "tried_elsewhere": tried_elsewhere,
    "base_rate": base_rate,
}
