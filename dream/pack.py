"""Packing: from a focus to everything that a dream function may see about it."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Final

from dream import counter, portrait
from dream.company import distinct
from dream.functions import wanting
from dream.gathering import Gathering
from dream.index import Index
from dream.model import (
    Contribution,
    CounterSearch,
    Focus,
    Neighbour,
    Pack,
    Packed,
    Pair,
    TooThin,
)
from dream.pairs import (
    Candidate,
    adamic_adar,
    candidates,
    correction_refs,
    resource_allocation,
    side,
)
from dream.settings import DreamSettings
from dream.voices import voices
from graphstore import ids
from graphstore.model.hypothesis import CounterEvidence, Hypothesis

VERSION: Final = 1
QUESTIONS, FRONTIERS, CONCEPTS, JOURNEYS, CORRECTIONS, NEIGHBOURS = 16, 12, 18, 8, 8, 8
REFS_PER_SIDE: Final = 4
ANCHORS: Final = 8
SINGLE_THREAD_REFS: Final = 2
PROBE_REFS: Final = 3
SINGLE_THREAD: Final = ("compensatory",)
"""Functions that one thread can serve."""


def pack(
    focus: Focus, index: Index, live: Sequence[Hypothesis], settings: DreamSettings, now: datetime
) -> Packed:
    """Pack a focus, or say why it is too thin. Pure: the store was read into the index."""
    gathering = Gathering(index, settings.pack)
    found = candidates(focus, index)
    anchors(focus, index, gathering)
    sides = [take_sides(pair, index, gathering) for pair in found]
    refs, lineages = len(gathering.turns), {turn.lineage for turn in gathering.turns.values()}
    if not refs:
        return TooThin(status="no_clean_refs", refs=0, lineages=0)
    if not found:
        return TooThin(status="nothing_to_ask", refs=refs, lineages=len(lineages))
    journeys = tuple(portrait.journeys(found, index, gathering, now))[:JOURNEYS]
    absent = tuple(portrait.absent(focus, found, index, gathering))
    unspoken = tuple(portrait.themes(focus, index, gathering))
    revivals = tuple(portrait.revived(focus, index, gathering))
    resumed = tuple(portrait.resumptions(found, index, gathering))
    middles = tuple(portrait.middles(focus, found, index, gathering))
    one_sided = portrait.leaning(focus, index, gathering)
    portrait.take_answers(found, index, gathering)
    speaking = voices(focus, one_sided, absent, index, gathering)
    pairs = paired(found, sides, index, gathering)
    questions = tuple(portrait.questions(found, index, gathering, now))[:QUESTIONS]
    frontiers = tuple(portrait.frontiers(index, gathering, now))[:FRONTIERS]
    textures = portrait.textures(index, gathering)
    refs, lineages = len(gathering.turns), {turn.lineage for turn in gathering.turns.values()}
    is_ready = len(lineages) >= settings.pack.min_threads
    if not (is_ready or (refs >= SINGLE_THREAD_REFS and (questions or frontiers))):
        return TooThin(status="single_thread", refs=refs, lineages=len(lineages))
    return Pack(
        pack_id=pack_id(focus, gathering, pairs),
        focus=focus,
        readiness="ready" if is_ready else "single_thread",
        lineages=len(lineages),
        turns=tuple(gathering.turns.values()),
        counter_turns=tuple(gathering.counters.values()),
        questions=questions,
        frontiers=frontiers,
        concepts=tuple(portrait.concepts(index, gathering))[:CONCEPTS],
        journeys=journeys,
        corrections=tuple(portrait.corrections(focus, index, gathering))[:CORRECTIONS],
        parts=tuple(portrait.parts(focus, pairs)),
        thread=portrait.thread(focus, pairs, index),
        absent=absent,
        walked=portrait.walked(focus, index),
        growing=portrait.grown(focus, index),
        unspoken=unspoken,
        revivals=revivals,
        routes=portrait.routes(found, index),
        alike=portrait.resonant(found, index),
        resumed=resumed,
        one_sided=one_sided,
        middles=middles,
        voices=speaking,
        missed=tuple(portrait.missed(focus, index, gathering)),
        textures=textures,
        invitation_days=settings.invitation_days,
        confidence=(settings.model.confidence_floor, settings.model.confidence_cap),
        pairs=pairs,
        neighbours=tuple(neighbours(pairs, live))[:NEIGHBOURS],
        contributions=contributions(focus, found, index, gathering),
        counter_search=searched(pairs),
        eligible=eligible(focus, textures, refs, is_ready=is_ready),
        left_out=len(gathering.left_out),
        store_lineages=index.lineages,
    )


def anchors(focus: Focus, index: Index, gathering: Gathering) -> None:
    """Turns that the focus itself rests on; they come first, beside its pairs."""
    match focus.kind:
        case "correction":
            gathering.take(spread(correction_refs(focus, index), index), "none")
        case "question_link":
            gathering.take(spread(index.cluster_refs(focus.id), index), "none")
        case "recall_miss":
            gathering.take(index.misses[focus.id][:ANCHORS], "b")
        case "journey":
            gathering.take(index.journeys[focus.id].frontier_refs, "none")
        case "frontier":
            signals = index.signal_refs.get("frontier", ())
            refs = [ref for ref, _ in signals if index.turns[ref].thread_id == focus.id]
            gathering.take(refs[-ANCHORS:], "none")
        case _:
            for node in side(focus, "cut", "via"):
                if (table := index.table(node)) is not None:
                    naming = index.refs_of(table, node)[:2]
                    gathering.take(naming, "middle", index.label(table, node))


def spread(refs: Sequence[str], index: Index) -> list[str]:
    """At most eight of some turns: the first of each lineage before a second one."""
    seen: dict[str, int] = {}
    places = []
    for place, ref in enumerate(refs):
        lineage = index.lineage(ref)
        places.append((seen.get(lineage, 0), place, ref))
        seen[lineage] = seen.get(lineage, 0) + 1
    return [ref for _, _, ref in sorted(places)][:ANCHORS]


def take_sides(
    pair: Candidate, index: Index, gathering: Gathering
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Refs of both sides, taken in turn so that neither side fills the pack alone."""
    near = side_refs(pair.src_table, pair.src, pair, index)
    far = side_refs(pair.dst_table, pair.dst, pair, index)
    for step in range(REFS_PER_SIDE):
        gathering.take(near[step : step + 1], "a", index.label(pair.src_table, pair.src))
        gathering.take(far[step : step + 1], "b", index.label(pair.dst_table, pair.dst))
    return near, far


def side_refs(table: str, node: str, pair: Candidate, index: Index) -> tuple[str, ...]:
    """Best turns of a node: those that ask it, most overlap with what the pair shares, newest."""
    shared = shared_concepts(pair, index)
    asking = asked_by(table, node, index)
    refs = set(index.refs_of(table, node))
    if table == "Question" and pair.src_table in ("Question", "Concept"):
        # beside its asking, what was said in the same thread about what the pair shares
        shared |= {pair.src} & set(index.concepts)
        threads = {index.turns[ref].thread_id for ref in asking}
        refs.update(each for thread in threads for each in index.thread_turns[thread])
        refs = {ref for ref in refs if ref in asking or named(ref, shared, index)}
    if table == "Concept":
        refs = {ref for ref in refs if named(ref, shared - {node}, index)} or refs

    def order(ref: str) -> tuple[bool, float, float, str]:
        weight = round(sum(index.idf(each) for each in named(ref, shared, index)), 6)
        return (ref not in asking, -weight, -index.when(ref)[0], ref)

    return tuple(sorted(refs, key=order))[:REFS_PER_SIDE]


def named(ref: str, concepts: set[str], index: Index) -> list[str]:
    """Those of some concepts that a turn mentions."""
    return sorted(concepts.intersection(index.turn_concepts.get(ref, ())))


def asked_by(table: str, node: str, index: Index) -> frozenset[str]:
    """Clean turns that ask a question, or in which a thread asks."""
    asked: tuple[str, ...] = (node,) if table == "Question" else ()
    if table == "Thread":
        asked = index.asked_in.get(node, ())
    return frozenset(
        ref
        for question in asked
        for ref in index.askings.get(question, ())
        if table == "Question" or index.turns[ref].thread_id == node
    )


def shared_concepts(pair: Candidate, index: Index) -> set[str]:
    """Specific concepts that both ends hold."""
    return set(concepts_at(pair.src_table, pair.src, index)) & set(
        concepts_at(pair.dst_table, pair.dst, index)
    )


def concepts_at(table: str, node: str, index: Index) -> tuple[str, ...]:
    """Specific concepts of a node; of a concept, itself and those that turns name beside it."""
    match table:
        case "Question":
            return index.specific(node)
        case "Concept":
            refs = index.concept_refs.get(node, ())
            return index.rarest(
                (node, *(each for ref in refs for each in index.turn_concepts[ref]))
            )
        case "Journey":
            return index.journey_concepts(node)
        case _:
            return index.thread_concepts(node)


def paired(
    found: tuple[Candidate, ...],
    sides: list[tuple[tuple[str, ...], tuple[str, ...]]],
    index: Index,
    gathering: Gathering,
) -> tuple[Pair, ...]:
    """Candidates with their figures and their counter-evidence."""
    shared = [distinct(index, shared_concepts(pair, index)) for pair in found]
    against = counter.search(zip(found, shared, strict=True), index, gathering)
    return tuple(
        pair_of(pair, near, far, common, evidence, index, gathering)
        for pair, (near, far), common, evidence in zip(found, sides, shared, against, strict=True)
    )


def pair_of(
    pair: Candidate,
    near: tuple[str, ...],
    far: tuple[str, ...],
    shared: tuple[str, ...],
    against: tuple[CounterEvidence, ...],
    index: Index,
    gathering: Gathering,
) -> Pair:
    """One candidate with its figures."""
    moments = [index.turns[ref].at for ref in (*near, *far)]
    homes = [index.lineages_of(index.refs_of(table, node)) for table, node in counter.ends(pair)]
    return Pair(
        pair_id=ids.digest(pair.src, pair.dst, pair.new_concept)[:12],
        src_table=pair.src_table,
        src=pair.src,
        src_label=index.label(pair.src_table, pair.src),
        dst_table=pair.dst_table,
        dst=pair.dst,
        dst_label=index.label(pair.dst_table, pair.dst),
        a=gathering.aliases(near),
        b=gathering.aliases(far),
        shared=shared,
        common_neighbours=len(index.common(pair.src, pair.dst)),
        adamic_adar=adamic_adar(index, pair.src, pair.dst),
        resource_allocation=resource_allocation(index, pair.src, pair.dst),
        distance=index.distance(pair.src, pair.dst),
        is_linked=pair.dst in index.neighbours.get(pair.src, ()),
        same_lineage=bool(homes[0] & homes[1]),
        newest=max((each for each in moments if each), default=None),
        new_concept=pair.new_concept,
        counter=against,
    )


def neighbours(pairs: tuple[Pair, ...], live: Sequence[Hypothesis]) -> Iterable[Neighbour]:
    """Live hypotheses that touch an end of a pair, those on a whole pair first."""
    ends = {node for pair in pairs for node in (pair.src, pair.dst)}
    whole = {(pair.src, pair.dst) for pair in pairs}
    order = sorted(live, key=lambda one: ((one.src, one.dst) not in whole, one.hypothesis_id))
    for each in order:
        if each.src in ends or each.dst in ends:
            yield Neighbour(
                hypothesis_id=each.hypothesis_id,
                function=each.function,
                rule=each.rule,
                src=each.src,
                dst=each.dst,
                cues=each.cues,
            )


def contributions(
    focus: Focus, found: tuple[Candidate, ...], index: Index, gathering: Gathering
) -> tuple[Contribution, ...]:
    """Every input and its role."""
    rows = [Contribution(kind=focus.kind, id=focus.id, role="focus")]
    rows += [
        Contribution(kind="pair", id=f"{pair.src} {pair.dst}", role="clean_anchor")
        for pair in found
    ]
    rows += [
        Contribution(kind="turn", id=ref, role="clean_anchor") for ref in sorted(gathering.turns)
    ]
    return (*rows, *portrait.beside(focus, index, gathering))


def searched(pairs: tuple[Pair, ...]) -> CounterSearch:
    """Which kinds of counter-evidence were looked for, and which were found."""
    found = {each.kind for pair in pairs for each in pair.counter}
    return CounterSearch(searched=tuple(sorted(counter.KINDS)), found=tuple(sorted(found)))


def eligible(
    focus: Focus, textures: tuple[str, ...], refs: int, *, is_ready: bool
) -> tuple[str, ...]:
    """Functions that want the focus or a texture of its turns, by their own word.

    One thread serves compensation alone; with three turns it may also be imagined about, and what
    comes of that is parked.
    """
    wanted = wanting(focus.shape, focus.kind, *textures)
    alone = SINGLE_THREAD if refs < PROBE_REFS else (*SINGLE_THREAD, "active_imagination")
    return wanted if is_ready else tuple(name for name in wanted if name in alone)


def pack_id(focus: Focus, gathering: Gathering, pairs: tuple[Pair, ...]) -> str:
    """Id from content alone: no objective, time or provider."""
    turns = sorted((turn.ref, turn.fingerprint) for turn in gathering.turns.values())
    return "pack:" + ids.digest(
        VERSION,
        focus.kind,
        focus.id,
        [list(each) for each in turns],
        tuple(sorted(pair.pair_id for pair in pairs)),
    )
