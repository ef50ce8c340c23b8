"""Packing: from a focus to everything that a dream function may see about it."""

from collections.abc import Iterable, Sequence
from datetime import datetime

from dream import counter, lexicon
from dream.gathering import Gathering, quote
from dream.index import Index
from dream.model import (
    Absent,
    Contribution,
    CounterSearch,
    Focus,
    Neighbour,
    Pack,
    PackConcept,
    PackCorrection,
    Packed,
    PackFrontier,
    PackJourney,
    PackQuestion,
    PackThread,
    Pair,
    Part,
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
from graphstore import ids
from graphstore.model.hypothesis import CounterEvidence, Hypothesis

VERSION = 1
QUESTIONS, FRONTIERS, CONCEPTS, JOURNEYS, CORRECTIONS, NEIGHBOURS = 16, 12, 18, 8, 8, 8
REFS_PER_SIDE = 4
CAMPED_DAYS = 45
SINGLE_THREAD_REFS = 2
WANTED = {
    "cycle": "compensatory",
    "cut_point": "compensatory",
    "missing_middle": "compensatory",
    "weak_bridge": "amplification",
}


def pack(
    focus: Focus, index: Index, live: Sequence[Hypothesis], settings: DreamSettings, now: datetime
) -> Packed:
    """Pack a focus, or say why it is too thin. Pure: the store was read into the index."""
    gathering = Gathering(index, settings.pack)
    found = candidates(focus, index)
    sides = [take_sides(pair, index, gathering) for pair in found]
    anchors(focus, index, gathering)
    lineages = {turn.lineage for turn in gathering.turns.values()}
    if not gathering.turns:
        return TooThin(status="no_clean_refs", refs=0, lineages=0)
    if not found:
        return TooThin(status="nothing_to_ask", refs=len(gathering.turns), lineages=len(lineages))
    pairs = tuple(
        pair_of(pair, a, b, index, gathering) for pair, (a, b) in zip(found, sides, strict=True)
    )
    questions = tuple(questions_of(found, focus, index, gathering, now))[:QUESTIONS]
    frontiers = tuple(frontiers_of(index, gathering, now))[:FRONTIERS]
    readiness = ready(lineages, gathering, questions, frontiers, settings)
    if isinstance(readiness, TooThin):
        return readiness
    return Pack(
        pack_id=pack_id(focus, gathering, pairs),
        focus=focus,
        readiness="ready" if readiness else "single_thread",
        lineages=len(lineages),
        turns=tuple(gathering.turns.values()),
        counter_turns=tuple(gathering.counters.values()),
        questions=questions,
        frontiers=frontiers,
        concepts=tuple(concepts_of(index, gathering))[:CONCEPTS],
        journeys=tuple(journeys_of(found, index, gathering, now))[:JOURNEYS],
        corrections=tuple(corrections_of(focus, index, gathering))[:CORRECTIONS],
        parts=tuple(parts_of(focus, pairs)),
        thread=thread_of(focus, pairs, index, gathering),
        pairs=pairs,
        neighbours=tuple(neighbours_of(pairs, live))[:NEIGHBOURS],
        contributions=contributions(focus, found, gathering),
        counter_search=searched(pairs),
        eligible=eligible(focus, ready=readiness),
        left_out=len(gathering.left_out),
        store_lineages=index.lineages,
    )


def ready(
    lineages: set[str],
    gathering: Gathering,
    questions: tuple[PackQuestion, ...],
    frontiers: tuple[PackFrontier, ...],
    settings: DreamSettings,
) -> bool | TooThin:
    """True with enough threads; False for one thread that still serves compensation."""
    if len(lineages) >= settings.pack.min_threads:
        return True
    if len(gathering.turns) >= SINGLE_THREAD_REFS and (questions or frontiers):
        return False
    return TooThin(status="single_thread", refs=len(gathering.turns), lineages=len(lineages))


def take_sides(
    pair: Candidate, index: Index, gathering: Gathering
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Refs of both sides, taken in turn so that neither side fills the pack alone."""
    near, far = (
        side_refs(pair.src_table, pair.src, pair, index),
        side_refs(pair.dst_table, pair.dst, pair, index),
    )
    for step in range(REFS_PER_SIDE):
        gathering.take(near[step : step + 1], "a", index.label(pair.src_table, pair.src))
        gathering.take(far[step : step + 1], "b", index.label(pair.dst_table, pair.dst))
    return near[:REFS_PER_SIDE], far[:REFS_PER_SIDE]


def side_refs(table: str, node: str, pair: Candidate, index: Index) -> tuple[str, ...]:
    """Turns of a node: most overlap with what the pair shares first, then the newest."""
    shared = set(index.rarest(shared_concepts(pair, index)))
    refs = index.refs_of(table, node)
    if table == "Thread":
        asked = {
            ref for question in index.asked_in.get(node, ()) for ref in index.askings[question]
        }
        refs = tuple(ref for ref in refs if ref in asked) or refs
    weights = {
        ref: round(
            sum(index.idf(each) for each in shared.intersection(index.turn_concepts.get(ref, ()))),
            6,
        )
        for ref in refs
    }
    return tuple(sorted(refs, key=lambda ref: (-weights[ref], -index.when(ref)[0], ref)))


def shared_concepts(pair: Candidate, index: Index) -> set[str]:
    """Concepts that both ends hold."""
    return set(concepts_at(pair.src_table, pair.src, index)) & set(
        concepts_at(pair.dst_table, pair.dst, index)
    )


def concepts_at(table: str, node: str, index: Index) -> tuple[str, ...]:
    """Specific concepts of a node; a concept stands for itself."""
    match table:
        case "Question":
            return index.specific(node)
        case "Concept":
            return (node, *index.common(node, node))
        case "Journey":
            return index.journey_concepts(node)
        case _:
            return index.thread_concepts(node)


def anchors(focus: Focus, index: Index, gathering: Gathering) -> None:
    """Turns that the focus rests on beside its pairs."""
    match focus.kind:
        case "correction":
            gathering.take(correction_refs(focus, index), "none")
        case "question_link":
            gathering.take(index.cluster_refs(focus.id), "none")
        case "journey":
            gathering.take(index.journeys[focus.id].frontier_refs, "none")
        case "frontier":
            signals = index.signal_refs.get("frontier", ())
            refs = [ref for ref, _ in signals if index.turns[ref].thread_id == focus.id]
            gathering.take(refs, "none")
        case _:
            for node in side(focus, "cut", "via"):
                table = index.table(node)
                if table is not None:
                    gathering.take(
                        index.refs_of(table, node)[:2], "middle", index.label(table, node)
                    )


def pair_of(
    pair: Candidate, a: tuple[str, ...], b: tuple[str, ...], index: Index, gathering: Gathering
) -> Pair:
    """A candidate with its figures and its counter-evidence."""
    shared = index.rarest(shared_concepts(pair, index))
    lineages = index.lineages_of(a), index.lineages_of(b)
    moments = [index.turns[ref].at for ref in (*a, *b)]
    return Pair(
        pair_id=ids.digest(pair.src, pair.dst, pair.new_concept)[:12],
        src_table=pair.src_table,
        src=pair.src,
        src_label=index.label(pair.src_table, pair.src),
        dst_table=pair.dst_table,
        dst=pair.dst,
        dst_label=index.label(pair.dst_table, pair.dst),
        a=gathering.aliases(a),
        b=gathering.aliases(b),
        shared=shared,
        common_neighbours=len(index.common(pair.src, pair.dst)),
        adamic_adar=adamic_adar(index, pair.src, pair.dst),
        resource_allocation=resource_allocation(index, pair.src, pair.dst),
        distance=index.distance(pair.src, pair.dst),
        is_linked=pair.dst in index.neighbours.get(pair.src, ()),
        same_lineage=bool(lineages[0] & lineages[1]),
        newest=max((each for each in moments if each), default=None),
        new_concept=pair.new_concept,
        counter=counter.search(pair, shared, index, gathering),
    )


def questions_of(
    found: Iterable[Candidate], focus: Focus, index: Index, gathering: Gathering, now: datetime
) -> Iterable[PackQuestion]:
    """Questions at the ends of the pairs."""
    ends = {
        node
        for pair in found
        for table, node in ((pair.src_table, pair.src), (pair.dst_table, pair.dst))
        if table == "Question"
    }
    core = {index.journeys[focus.id].core_inquiry} if focus.kind == "journey" else set()
    for question in sorted(ends, key=lambda each: (-len(index.cluster_refs(each)), each)):
        refs = index.cluster_refs(question)
        if refs:
            yield question_of(question, refs, core, index, gathering, now)


def question_of(
    question: str,
    refs: tuple[str, ...],
    core: set[str],
    index: Index,
    gathering: Gathering,
    now: datetime,
) -> PackQuestion:
    """One question with all its askings counted."""
    moments = [index.turns[ref].at for ref in refs if index.turns[ref].at]
    found = index.questions[question]
    return PackQuestion(
        question_id=question,
        text=quote(found.text, 220),
        status=found.status.value,
        cluster=index.clusters[question],
        aliases=gathering.aliases(refs),
        askings=len(refs),
        lineages=len(index.lineages_of(refs)),
        first_seen=min(moments, default=None),  # type: ignore[type-var]
        last_seen=max(moments, default=None),  # type: ignore[type-var]
        days_open=days_since(min(moments, default=None), now),  # type: ignore[type-var]
        resolved=bool(index.cluster_answers(question)),
        is_core=found.text in core,
        concepts=index.specific(question),
        thread_id=index.turns[refs[0]].thread_id,
    )


def days_since(moment: datetime | None, now: datetime) -> int | None:
    """Whole days from a moment to now, never negative."""
    return None if moment is None else max(0, (now - moment).days)


def frontiers_of(index: Index, gathering: Gathering, now: datetime) -> Iterable[PackFrontier]:
    """Frontier signals of the turns taken, newest first."""
    for ref, signal in reversed(index.signal_refs.get("frontier", ())):
        alias = gathering.aliases((ref,))
        if alias:
            turn = index.turns[ref]
            yield PackFrontier(
                alias=alias[0],
                thread_id=turn.thread_id,
                type=signal.type,
                clip=quote(signal.clip, 260),
                question_id=signal.question_id,
                days_open=days_since(turn.at, now),
            )


def concepts_of(index: Index, gathering: Gathering) -> Iterable[PackConcept]:
    """Specific concepts of the turns taken, those of most turns first, then the rarest."""
    turns: dict[str, list[str]] = {}
    for turn in gathering.turns.values():
        for concept in turn.concepts:
            turns.setdefault(concept, []).append(turn.alias)
    for concept in sorted(
        turns, key=lambda each: (-len(turns[each]), index.concepts[each].df, each)
    ):
        found = index.concepts[concept]
        yield PackConcept(
            concept_id=concept,
            label=found.label,
            df=found.df,
            idf=round(index.idf(concept), 6),
            aliases=tuple(turns[concept]),
        )


def journeys_of(
    found: Iterable[Candidate], index: Index, gathering: Gathering, now: datetime
) -> Iterable[PackJourney]:
    """Journeys at the ends of the pairs."""
    ends = {
        node
        for pair in found
        for table, node in ((pair.src_table, pair.src), (pair.dst_table, pair.dst))
        if table == "Journey"
    }
    for journey_id in sorted(ends):
        journey = index.journeys[journey_id]
        frontier_refs = gathering.take(journey.frontier_refs[:2], "none", journey.frontier)
        blocked = {
            signal.type
            for ref, signal in index.signal_refs.get("frontier", ())
            if ref in journey.frontier_refs
        }
        idle = days_since(latest(journey.last_seen, journey.last_activity_at), now)
        yield PackJourney(
            journey_id=journey_id,
            label=journey.path_label,
            status=journey.status.value,
            core_inquiry=journey.core_inquiry,
            frontier=journey.frontier,
            frontier_aliases=frontier_refs,
            concepts=index.journey_concepts(journey_id),
            waypoints=len(index.waypoints.get(journey_id, ())),
            is_blocked="blocked" in blocked,
            is_camped=idle is not None and idle >= CAMPED_DAYS,
        )


def latest(*moments: datetime | None) -> datetime | None:
    """The newest of some moments."""
    return max((each for each in moments if each), default=None)


def corrections_of(focus: Focus, index: Index, gathering: Gathering) -> Iterable[PackCorrection]:
    """The turns of a repeated correction."""
    if focus.kind != "correction":
        return
    target, _, concept = focus.id.partition("/")
    wanted = set(correction_refs(focus, index))
    for ref, signal in index.signal_refs.get("correction", ()):
        alias = gathering.aliases((ref,))
        if ref in wanted and signal.type == target and alias:
            turn = index.turns[ref]
            yield PackCorrection(
                alias=alias[0],
                thread_id=turn.thread_id,
                lineage=index.lineage(ref),
                target=target,
                clip=quote(signal.clip, 220),
                concepts=index.rarest((concept, *index.turn_concepts.get(ref, ()))),
            )


def parts_of(focus: Focus, pairs: tuple[Pair, ...]) -> Iterable[Part]:
    """Far parts of a cut-point, with how many nodes each lists."""
    if focus.shape == "cut_point":
        for role, pair in zip(("side_a", "side_b"), pairs, strict=False):
            yield Part(
                node=pair.dst, label=pair.dst_label, nodes=len(side(focus, role)), aliases=pair.b
            )


def thread_of(
    focus: Focus, pairs: tuple[Pair, ...], index: Index, gathering: Gathering
) -> PackThread | None:
    """What the focus thread, or the thread of the first pair, did and did not do."""
    ends = [pair.src for pair in pairs if pair.src_table == "Thread"]
    thread = focus.id if focus.kind == "frontier" else (ends[0] if ends else None)
    if thread is None:
        return None
    words = " ".join(index.turns[ref].text for ref in index.thread_turns[thread])
    own = index.thread_concepts(thread)
    frontiers = {
        ref
        for ref, _ in index.signal_refs.get("frontier", ())
        if index.turns[ref].thread_id == thread
    }
    return PackThread(
        thread_id=thread,
        lineage=index.threads[thread].lineage_root,
        title=quote(index.label("Thread", thread), 90),
        turns=len(index.thread_turns[thread]),
        technique=lexicon.has("technique", words),
        verification=lexicon.has("verification", words),
        open_questions=sum(
            not index.cluster_answers(each) for each in index.asked_in.get(thread, ())
        ),
        frontiers=len(frontiers),
        concepts=own,
        verified_elsewhere=verified_elsewhere(thread, own, index),
        absent=tuple(absences(thread, own, pairs, index, gathering)),
    )


def verified_elsewhere(thread: str, own: tuple[str, ...], index: Index) -> int:
    """Other lineages on a common specific concept that use words of verification."""
    home = index.threads[thread].lineage_root
    return sum(
        root != home and bool(concepts.intersection(own)) and root in index.verifying
        for root, concepts in index.lineage_concepts.items()
    )


def absences(
    thread: str, own: tuple[str, ...], pairs: tuple[Pair, ...], index: Index, gathering: Gathering
) -> Iterable[Absent]:
    """Concepts at the far ends that the thread does not hold, with the company they keep."""
    home = index.threads[thread].lineage_root
    for pair in pairs:
        if pair.dst_table == "Concept" and pair.src == thread and pair.dst not in own:
            lineages, company = set(), set()
            for root, concepts in index.lineage_concepts.items():
                if root != home and pair.dst in concepts and concepts.intersection(own):
                    lineages.add(root)
                    company.update(concepts.intersection(own))
            refs = [
                ref
                for ref in index.concept_refs.get(pair.dst, ())
                if company.intersection(index.turn_concepts.get(ref, ()))
            ]
            yield Absent(
                concept_id=pair.dst,
                label=pair.dst_label,
                with_concepts=tuple(
                    index.label("Concept", each) for each in index.rarest(company)[:3]
                ),
                lineages=len(lineages),
                support=round(sum(index.idf(each) for each in company), 6),
                aliases=gathering.take(refs[:3], "b", pair.dst_label),
            )


def neighbours_of(pairs: tuple[Pair, ...], live: Sequence[Hypothesis]) -> Iterable[Neighbour]:
    """Live hypotheses that touch an end of a pair."""
    ends = {node for pair in pairs for node in (pair.src, pair.dst)}
    for each in sorted(live, key=lambda one: one.hypothesis_id):
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
    focus: Focus, found: tuple[Candidate, ...], gathering: Gathering
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
    return tuple(rows)


def searched(pairs: tuple[Pair, ...]) -> CounterSearch:
    """Which kinds of counter-evidence were looked for, and which were found."""
    found: set[str] = {each.kind for pair in pairs for each in evidence(pair)}
    return CounterSearch(searched=tuple(counter.KINDS), found=tuple(sorted(found)))


def evidence(pair: Pair) -> tuple[CounterEvidence, ...]:
    """Counter-evidence of a pair."""
    return pair.counter


def eligible(focus: Focus, *, ready: bool) -> tuple[str, ...]:
    """Functions that may read the pack, the one that wants its shape first."""
    if not ready:
        return ("compensatory",)
    wanted = WANTED.get(focus.shape or "", "compensatory")
    return tuple(sorted(("compensatory", "amplification"), key=lambda name: name != wanted))


def pack_id(focus: Focus, gathering: Gathering, pairs: tuple[Pair, ...]) -> str:
    """Id from content alone: no objective, time or provider."""
    turns = sorted((turn.ref, turn.fingerprint) for turn in gathering.turns.values())
    return "pack:" + ids.digest(
        VERSION,
        focus.kind,
        focus.id,
        [list(each) for each in turns],
        sorted(pair.pair_id for pair in pairs),
    )
