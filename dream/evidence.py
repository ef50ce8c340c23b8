"""What later turns say of a hypothesis: links that were extracted since, never likeness.

Evidence is a link between the two endpoints that rests on a later turn, a later human turn that
resolves what was asked, or the same correction once more. Similar words are none.
"""

from collections.abc import Iterable, Iterator
from typing import Final

from dream.index import Index
from dream.lexicon import has
from dream.lifecycle import Counted, Evidence, moved, weigh
from dream.settings import DreamSettings
from graphstore import ids
from graphstore.model.base import Instant
from graphstore.model.hypothesis import LIVE, AnyHypothesis, Compensates, Hypothesis
from graphstore.model.record import DreamRecord, OutcomeRecord

SILENT: Final = frozenset({"single_point"})
"""Rules that no later turn can confirm by itself."""
GRAPH: Final = "graph"


def outcomes(
    known: Iterable[AnyHypothesis],
    records: Iterable[DreamRecord],
    index: Index,
    settings: DreamSettings,
    now: Instant,
) -> Iterator[OutcomeRecord]:
    """One record for each turn that counts, oldest first, each on what the one before left."""
    earlier = heard(records)
    for hypothesis in known:
        held = hypothesis
        for evidence in evidence_of(hypothesis, index):
            if isinstance(weigh(held, evidence, earlier.get(held.hypothesis_id, ()), now), Counted):
                held = moved(held, evidence, settings)
                earlier.setdefault(held.hypothesis_id, []).append(evidence)
                yield record_of(evidence, held)


def heard(records: Iterable[DreamRecord]) -> dict[str, list[Evidence]]:
    """Evidence that was counted before, by hypothesis."""
    found: dict[str, list[Evidence]] = {}
    for record in records:
        if isinstance(record, OutcomeRecord):
            found.setdefault(record.hypothesis_id, []).append(
                Evidence(
                    event_id=record.event_id,
                    verdict=record.verdict,
                    ref=record.ref,
                    lineage=record.lineage,
                    at=record.at,
                    by=record.by,
                )
            )
    return found


def record_of(evidence: Evidence, after: AnyHypothesis) -> OutcomeRecord:
    """The record of counted evidence, with the hypothesis as it stands then."""
    if evidence.at is None:
        raise ValueError("evidence without a time is never counted")
    return OutcomeRecord(
        event_id=evidence.event_id,
        hypothesis_id=after.hypothesis_id,
        verdict=evidence.verdict,
        ref=evidence.ref,
        lineage=evidence.lineage,
        by=evidence.by,
        at=evidence.at,
        after=after,
    )


def evidence_of(hypothesis: Hypothesis, index: Index) -> tuple[Evidence, ...]:
    """What the graph says for a live hypothesis, oldest turn first."""
    if hypothesis.state not in LIVE or hypothesis.rule in SILENT:
        return ()
    refs = {ref for ref in speaking(hypothesis, index) if ref in index.turns}
    return tuple(
        Evidence(
            event_id=event_id(hypothesis.hypothesis_id, "confirmed", ref),
            verdict="confirmed",
            ref=ref,
            lineage=index.lineage(ref),
            at=index.turns[ref].at,
            by=GRAPH,
        )
        for ref in sorted(refs, key=index.when)
    )


def event_id(hypothesis_id: str, verdict: str, said: str) -> str:
    """Id of an event; ``said`` is a ref, or the day of a bare word."""
    return "e:" + ids.digest(hypothesis_id, verdict, said)


def speaking(hypothesis: Hypothesis, index: Index) -> Iterator[str]:
    """Turns that link the endpoints; which of them are late enough is weighed later."""
    yield from linking(hypothesis, index)
    if hypothesis.src_table == "Thread" and hypothesis.dst_table == "Concept":
        yield from own_mentions(hypothesis, index)
    if isinstance(hypothesis, Compensates) and hypothesis.dst_table == "Question":
        yield from settling(hypothesis, index)
    if hypothesis.rule == "repeated_correction":
        yield from corrected_again(hypothesis, index)


def linking(hypothesis: Hypothesis, index: Index) -> Iterator[str]:
    """Turns of extracted links between the two nodes, whichever way they run."""
    ends = {hypothesis.src, hypothesis.dst}
    ground = index.ground
    for edge in (*ground.links, *ground.relates, *ground.mentions, *ground.anchored):
        if {edge.src, edge.dst} == ends:
            yield from edge.source_refs


def own_mentions(hypothesis: Hypothesis, index: Index) -> Iterator[str]:
    """Turns of the thread's own lineage that mention the concept."""
    thread = index.threads.get(hypothesis.src)
    root = "" if thread is None else thread.lineage_root
    mentions = index.concept_refs.get(hypothesis.dst, ())
    yield from (ref for ref in mentions if index.lineage(ref) == root)


def settling(hypothesis: Hypothesis, index: Index) -> Iterator[str]:
    """Human turns that resolve the question; for an untested edge also those that test it."""
    yield from index.cluster_answers(hypothesis.dst)
    thread = index.threads.get(hypothesis.src)
    if hypothesis.rule == "approach_bias" and thread is not None:
        about = set(index.specific(hypothesis.dst))
        for ref in index.lineage_turns.get(thread.lineage_root, ()):
            turn = index.turns[ref]
            named = about.intersection(index.turn_concepts.get(ref, ()))
            if turn.role == "human" and named and has("verification", turn.text):
                yield ref


def corrected_again(hypothesis: Hypothesis, index: Index) -> Iterator[str]:
    """Corrections of the same target on a concept that all its premises share."""
    given = index.signal_refs.get("correction", ())
    premises = [signal for ref, signal in given if ref in hypothesis.refs]
    targets = {signal.type for signal in premises}
    shared = set.intersection(*(set(signal.concepts) for signal in premises)) if premises else set()
    for ref, signal in given:
        if signal.type in targets and shared.intersection(signal.concepts):
            yield ref
