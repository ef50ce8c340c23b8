"""What a pack says about its focus: questions, frontiers, concepts, Journeys, threads, gaps."""

from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Final

from dream import lexicon
from dream.company import SPOKEN, about, companies, is_unsaid
from dream.emergence import growing, revival, unspoken
from dream.findings import (
    Alike,
    Growth,
    Middle,
    Missed,
    OneSided,
    Resumed,
    Revival,
    Route,
    Unspoken,
    Walked,
)
from dream.gathering import Gathering
from dream.index import Index
from dream.model import (
    Absent,
    Contribution,
    Focus,
    PackConcept,
    PackCorrection,
    PackFrontier,
    PackJourney,
    PackQuestion,
    PackThread,
    Pair,
    Part,
)
from dream.onesided import Leaning
from dream.pairs import Candidate, side
from dream.routes import alike, resumed, route_of
from dream.walk import Walk
from dream.wording import quote
from graphstore.model.knowledge import JourneyStatus

CAMPED_DAYS: Final = 45
FORTNIGHT: Final = 14
STALE: Final = timedelta(days=14)
COMMON: Final = 2
"""Specific concepts that make two lineages work on the same."""
NAMED: Final = 3
TEXTURES: Final = 12
REJECTED: Final = ("decision", "rejected")
TASKS: Final = ("task", "problem")


def ends_in(found: Iterable[Candidate], table: str) -> list[str]:
    """Nodes of one table at the ends of candidates, sorted."""
    return sorted(
        {
            node
            for pair in found
            for kind, node in ((pair.src_table, pair.src), (pair.dst_table, pair.dst))
            if kind == table
        }
    )


def questions(
    found: Iterable[Candidate], index: Index, gathering: Gathering, now: datetime
) -> Iterator[PackQuestion]:
    """Questions at the ends of the pairs that clean turns ask, those asked most first."""
    ends = ends_in(found, "Question")
    for question in sorted(ends, key=lambda each: (-len(index.cluster_refs(each)), each)):
        if refs := index.cluster_refs(question):
            yield question_of(question, refs, index, gathering, now)


def take_answers(found: Iterable[Candidate], index: Index, gathering: Gathering) -> None:
    """Turns that resolve a question which is paired with another, the newest of each."""
    pairs = (pair for pair in found if pair.src_table == pair.dst_table == "Question")
    for question in sorted({end for pair in pairs for end in (pair.src, pair.dst)}):
        gathering.take(newest_answers(question, index)[:1], "none", index.questions[question].text)


def newest_answers(question: str, index: Index) -> list[str]:
    """Turns that resolve a question, the newest first."""
    return sorted(index.cluster_answers(question), key=index.when, reverse=True)


def question_of(
    question: str, refs: tuple[str, ...], index: Index, gathering: Gathering, now: datetime
) -> PackQuestion:
    """One question with all its askings counted."""
    moments = [at for ref in refs if (at := index.turns[ref].at) is not None]
    node = index.questions[question]
    answers = newest_answers(question, index)
    reopens, ended = rounds(question, index)
    return PackQuestion(
        question_id=question,
        text=quote(node.text, 220),
        status=node.status.value,
        cluster=index.clusters[question],
        aliases=gathering.aliases(refs),
        askings=len(index.times_asked(question)),
        lineages=len(index.lineages_of(refs)),
        first_seen=min(moments, default=None),
        last_seen=max(moments, default=None),
        days_open=days_since(min(moments, default=None), now),
        resolved=bool(index.cluster_answers(question)),
        is_core=index.clusters[question] in index.core_clusters,
        concepts=index.specific(question),
        asked_in=tuple(sorted(index.lineages_of(refs))),
        is_task=node.intent in TASKS,
        answers=gathering.aliases(answers[:1]),
        settled_at=index.turns[answers[0]].at if answers else None,
        reopens=reopens,
        ended=ended,
        last_thread_id=index.turns[refs[-1]].thread_id,
    )


def rounds(question: str, index: Index) -> tuple[int, str]:
    """How often a question was asked again though stale, rejected or blocked; the last of these."""
    refs = index.times_asked(question)
    ends = [how for one, other in pairwise(refs) if (how := stalled(one, other, index))]
    return len(ends), ends[-1] if ends else ""


def stalled(one: str, other: str, index: Index) -> str:
    """How a question stood between two askings; empty when it was simply still open."""
    refs = index.thread_turns[index.turns[one].thread_id]
    since = refs[refs.index(one) :]
    upto = since[: since.index(other)] if other in since else since
    said = {(each.kind, each.type) for ref in upto for each in index.turn_signals.get(ref, ())}
    if ("frontier", "blocked") in said:
        return "blocked"
    if ("decision", "rejected") in said or ("texture", "rejected_route") in said:
        return "rejected"
    gap = index.when(other)[0] - index.when(one)[0]
    dated = index.turns[one].at is not None
    return "stale" if dated and gap >= STALE.total_seconds() else ""


def days_since(moment: datetime | None, now: datetime) -> int | None:
    """Whole days from a moment to now, never negative."""
    return None if moment is None else max(0, (now - moment).days)


def frontiers(index: Index, gathering: Gathering, now: datetime) -> Iterator[PackFrontier]:
    """Where work stopped and did not go on: the last markers of the lineages in the pack."""
    for ref, signal in reversed(index.signal_refs.get("frontier", ())):
        alias = gathering.aliases((ref,))
        if alias and index.is_last_stop(ref):
            turn = index.turns[ref]
            yield PackFrontier(
                alias=alias[0],
                thread_id=turn.thread_id,
                type=signal.type,
                clip=quote(signal.clip, 260),
                question_id=signal.question_id,
                days_open=days_since(turn.at, now),
            )


def concepts(index: Index, gathering: Gathering) -> Iterator[PackConcept]:
    """Specific concepts of the turns taken, those of most turns first, then the rarest."""
    turns: dict[str, list[str]] = {}
    for turn in gathering.turns.values():
        for concept in turn.concepts:
            turns.setdefault(concept, []).append(turn.alias)
    for concept in sorted(
        turns, key=lambda each: (-len(turns[each]), index.concepts[each].df, each)
    ):
        node = index.concepts[concept]
        yield PackConcept(
            concept_id=concept,
            label=node.label,
            df=node.df,
            idf=round(index.idf(concept), 6),
            aliases=tuple(turns[concept]),
        )


def journeys(
    found: Iterable[Candidate], index: Index, gathering: Gathering, now: datetime
) -> Iterator[PackJourney]:
    """Journeys at the ends of the pairs."""
    for journey_id in ends_in(found, "Journey"):
        journey = index.journeys[journey_id]
        frontier = gathering.take(journey.frontier_refs[:2], "none", journey.frontier)
        types = {
            signal.type
            for ref, signal in index.signal_refs.get("frontier", ())
            if ref in journey.frontier_refs
        }
        moved = [at for at in (journey.last_seen, journey.last_activity_at) if at is not None]
        idle = days_since(max(moved, default=None), now)
        travels = journey.status is JourneyStatus.TRAVELING
        yield PackJourney(
            journey_id=journey_id,
            label=journey.path_label,
            status=journey.status.value,
            core_inquiry=journey.core_inquiry,
            frontier=journey.frontier,
            frontier_aliases=frontier,
            concepts=index.journey_concepts(journey_id),
            waypoints=len(index.waypoints.get(journey_id, ())),
            is_blocked=travels and "blocked" in types,
            is_camped=travels and idle is not None and idle >= CAMPED_DAYS,
            is_abandoned=journey.status is JourneyStatus.ABANDONED,
            is_slowing=is_slowing(journey_id, index, now),
        )


def is_slowing(journey_id: str, index: Index, now: datetime) -> bool:
    """Whether a Journey has fewer stops in the last fortnight than in the one before."""
    days = [days_since(index.turns[ref].at, now) for _, ref in index.stops.get(journey_id, ())]
    recent = sum(day is not None and day < FORTNIGHT for day in days)
    before = sum(day is not None and FORTNIGHT <= day < 2 * FORTNIGHT for day in days)
    return recent < before


def corrections(focus: Focus, index: Index, gathering: Gathering) -> Iterator[PackCorrection]:
    """The turns of a repeated correction, oldest first."""
    if focus.kind != "correction":
        return
    target, _, concept = focus.id.partition("/")
    for ref, signal in index.signal_refs.get("correction", ()):
        alias = gathering.aliases((ref,))
        if alias and signal.type == target and concept in signal.concepts:
            yield PackCorrection(
                alias=alias[0],
                thread_id=index.turns[ref].thread_id,
                lineage=index.lineage(ref),
                target=target,
                clip=quote(signal.clip, 220),
                concepts=index.rarest((concept, *signal.concepts)),
            )


def parts(focus: Focus, pairs: tuple[Pair, ...]) -> Iterator[Part]:
    """Far parts of a cut-point, with how many nodes each lists."""
    if focus.shape == "cut_point":
        for role, pair in zip(("side_a", "side_b"), pairs, strict=False):
            yield Part(
                node=pair.dst, label=pair.dst_label, nodes=len(side(focus, role)), aliases=pair.b
            )


def thread(focus: Focus, pairs: tuple[Pair, ...], index: Index) -> PackThread | None:
    """What the focus thread, or the thread of the first pair, did and did not do."""
    ends = [pair.src for pair in pairs if pair.src_table == "Thread"]
    thread_id = focus.id if focus.kind == "frontier" else next(iter(ends), None)
    if thread_id is None:
        return None
    lineage = index.threads[thread_id].lineage_root
    refs = index.lineage_turns[lineage]
    words = "\n".join(index.turns[ref].text for ref in refs)
    own = index.weighty(refs)
    threads = sorted({index.turns[ref].thread_id for ref in refs})
    asked = {each for one in threads for each in index.asked_in.get(one, ())}
    stops = {ref for ref, _ in index.signal_refs.get("frontier", ()) if index.is_last_stop(ref)}
    return PackThread(
        thread_id=thread_id,
        lineage=lineage,
        title=quote(index.label("Thread", thread_id), 90),
        turns=len(refs),
        technique=lexicon.has("technique", words),
        verification=lexicon.has("verification", words),
        open_questions=sum(not index.cluster_answers(each) for each in asked),
        frontiers=len(stops.intersection(refs)),
        concepts=own,
        verified_elsewhere=verified_elsewhere(lineage, own, index),
    )


def verified_elsewhere(home: str, own: tuple[str, ...], index: Index) -> int:
    """Other lineages on common specific concepts that use words of verification."""
    return sum(
        root != home and root in index.verifying and len(held.intersection(own)) >= COMMON
        for root, held in index.lineage_concepts.items()
    )


def absent(
    focus: Focus, found: Iterable[Candidate], index: Index, gathering: Gathering
) -> Iterator[Absent]:
    """Concepts at the far ends that the near end never names, with the company they keep."""
    for pair in found:
        if pair.dst_table != "Concept" or pair.src_table not in ("Thread", "Journey"):
            continue
        own, inside = inner(focus, pair, index)
        met = companies(index, own, inside, only=pair.dst).get(pair.dst)
        if met is None or not met.by_person or not is_unsaid(index, pair.dst, inside):
            continue
        label = index.label("Concept", pair.dst)
        aliases = gathering.take(spanning(met.refs, index), "b", label)
        yield Absent(
            src=pair.src,
            concept_id=pair.dst,
            label=label,
            with_concepts=tuple(index.label("Concept", each) for each in met.own[:NAMED]),
            company=len(met.own),
            lineages=met.lineages,
            support=met.support,
            aliases=aliases,
        )


def inner(focus: Focus, pair: Candidate, index: Index) -> tuple[set[str], frozenset[str]]:
    """What the near end is about, and its lineages; for a seed, the middles it holds."""
    if pair.src_table == "Journey":
        inside = index.lineages_of(index.journey_refs.get(pair.src, ()))
        return set(index.journey_concepts(pair.src)), inside
    root = index.threads[pair.src].lineage_root
    if focus.shape == "missing_middle":
        return set(side(focus, "via")) & index.lineage_concepts.get(root, frozenset()), frozenset(
            (root,)
        )
    return set(about(index, root)), frozenset((root,))


def spanning(refs: tuple[str, ...], index: Index) -> list[str]:
    """The newest turn of each lineage, a person's where there is one, at most four."""
    newest: dict[str, str] = {}
    order = sorted(refs, key=index.when, reverse=True)
    for ref in sorted(order, key=lambda each: index.turns[each].role != "human"):
        newest.setdefault(index.lineage(ref), ref)
    return list(newest.values())[:4]


def walked(focus: Focus, index: Index) -> tuple[Walked, ...]:
    """Where the walk from a Journey's frontier leads."""
    return Walk(focus.id, index).targets() if focus.kind == "journey" else ()


def grown(focus: Focus, index: Index) -> tuple[Growth, ...]:
    """Concepts that draw near to those of a thread."""
    return growing(focus.id, index) if focus.kind == "frontier" else ()


def themes(focus: Focus, index: Index, gathering: Gathering) -> Iterator[Unspoken]:
    """Themes that the thread of a focus belongs to and nobody named, with their turns."""
    if focus.kind == "frontier":
        for theme in unspoken(focus.id, index):
            taken = gathering.take(theme.aliases[:4], "b", theme.label)
            yield theme.replace(aliases=taken)


def revived(focus: Focus, index: Index, gathering: Gathering) -> Iterator[Revival]:
    """What later threads touch of the Journey of a focus, with their turns."""
    found = revival(focus.id, index) if focus.kind == "journey" else None
    if found is not None:
        yield found.replace(aliases=gathering.take(found.aliases, "b"))


def routes(found: Iterable[Candidate], index: Index) -> tuple[Route, ...]:
    """Routes of the Journeys at the ends of the pairs."""
    return tuple(route_of(journey, index) for journey in ends_in(found, "Journey"))


def resonant(found: Iterable[Candidate], index: Index) -> tuple[Alike, ...]:
    """Pairs of Journeys whose routes resonate."""
    journeys = (pair for pair in found if pair.src_table == pair.dst_table == "Journey")
    likes = (alike(pair.src, pair.dst, index) for pair in journeys)
    return tuple(each for each in likes if each is not None)


def resumptions(
    found: Iterable[Candidate], index: Index, gathering: Gathering
) -> Iterator[Resumed]:
    """Journeys that were blocked and went on, with the human turn that they went on with."""
    for journey in ends_in(found, "Journey"):
        if (turn := resumed(journey, index)) is not None:
            for alias in gathering.take((turn[0],), "none"):
                yield Resumed(journey_id=journey, clip=quote(turn[1], 220), alias=alias)


def leaning(focus: Focus, index: Index, gathering: Gathering) -> OneSided | None:
    """Whether the Journey or thread of a focus keeps to one side."""
    if focus.kind not in ("journey", "frontier"):
        return None
    found = Leaning(focus, index).verdict()
    return found.replace(aliases=gathering.take(found.aliases[:4], "none", found.label))


def middles(
    focus: Focus, found: Iterable[Candidate], index: Index, gathering: Gathering
) -> Iterator[Middle]:
    """What joins two concepts that never meet, the one of fewest links first."""
    for pair in found:
        if focus.shape == "missing_middle" and pair.src_table == pair.dst_table == "Concept":
            between = set(index.common(pair.src, pair.dst)) & set(side(focus, "via"))
            topics = [each for each in between if is_spoken(each, index)]
            for middle in sorted(topics, key=lambda each: (index.degree(each), each))[:NAMED]:
                label = index.label("Concept", middle)
                near, far = (meeting(end, middle, index) for end in (pair.src, pair.dst))
                yield Middle(
                    src=pair.src,
                    dst=pair.dst,
                    concept_id=middle,
                    label=label,
                    weight=round(1 / index.degree(middle), 6),
                    a=gathering.take(near[:2], "a", label),
                    b=gathering.take(far[:2], "b", label),
                )


def is_spoken(concept: str, index: Index) -> bool:
    """A specific concept that is a word and no file, and so may join two others."""
    return index.is_specific(concept) and index.concepts[concept].kind in SPOKEN


def meeting(one: str, other: str, index: Index) -> list[str]:
    """Turns that name two concepts, the newest of each lineage first."""
    refs = set(index.concept_refs.get(one, ())).intersection(index.concept_refs.get(other, ()))
    return spanning(tuple(refs), index)


def missed(focus: Focus, index: Index, gathering: Gathering) -> Iterator[Missed]:
    """Turns that a recall for the question of a focus missed."""
    for ref in index.misses.get(focus.id, ()) if focus.kind == "recall_miss" else ():
        for alias in gathering.aliases((ref,)):
            turn = index.turns[ref]
            yield Missed(question_id=focus.id, thread_id=turn.thread_id, alias=alias, at=turn.at)


def textures(index: Index, gathering: Gathering) -> tuple[str, ...]:
    """Names of the textures of the turns taken, a rejected route among them."""
    return tuple(sorted({name for _, name in textured(index, gathering)}))


def textured(index: Index, gathering: Gathering) -> list[tuple[str, str]]:
    """(ref, texture) of the turns taken, at most twelve."""
    found = [
        (ref, "rejected_route" if signal.kind == "decision" else signal.type)
        for ref in sorted(gathering.turns)
        for signal in index.turn_signals.get(ref, ())
        if signal.kind == "texture" or (signal.kind, signal.type) == REJECTED
    ]
    return list(dict.fromkeys(found))[:TEXTURES]


def beside(focus: Focus, index: Index, gathering: Gathering) -> Iterator[Contribution]:
    """What else spoke for a pack: decisions, the owner's word on a Journey, textures."""
    for ref in sorted(gathering.turns):
        if any(signal.kind == "decision" for signal in index.turn_signals.get(ref, ())):
            yield Contribution(kind="decision", id=ref, role="clean_anchor")
    journey = index.journeys.get(focus.id)
    if journey is not None and journey.last_activity_at is not None:
        yield Contribution(kind="reflection", id=journey.journey_id, role="clean_anchor")
    for ref, name in textured(index, gathering):
        yield Contribution(kind="texture", id=f"{ref} {name}", role="texture")
