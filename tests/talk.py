"""Threads and grounds made from a few words, for tests of extraction."""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from datetime import UTC, datetime, timedelta

from graphstore import shards
from graphstore.derivation import Ground
from graphstore.ids import canonical, fingerprint, thread_id
from graphstore.ledger import Ledger
from graphstore.model.conversation import Role, Taint, Thread, ToolUse, Turn
from graphstore.model.knowledge import (
    Concept,
    Facts,
    Links,
    Mentions,
    Question,
    QuestionStatus,
    Relates,
    SourceRefNode,
    ThreadNode,
)
from graphstore.model.record import EpochRecord, ThreadRecord
from graphstore.parts import Parts
from graphstore.rows import Rows
from graphstore.said import Said
from ingest.derive import Derivation

START = datetime(2025, 3, 1, 9, tzinfo=UTC)
EMPTY = EpochRecord(extractor="none", lineages=1)


def a_thread(
    name: str,
    *turns: str,
    project: str | None = None,
    day: int = 0,
    dated: bool = True,
    touched: Mapping[int, Sequence[str]] | None = None,
) -> Thread:
    """Turns in order; those that begin with "> " are the assistant's."""
    made = []
    for number, words in enumerate(turns, 1):
        role = Role.ASSISTANT if words.startswith("> ") else Role.HUMAN
        text = words.removeprefix("> ")
        made.append(
            Turn(
                number=number,
                role=role,
                taint=Taint(role.value),
                text=text,
                fingerprint=fingerprint(role.value, text),
                at=START + timedelta(days=day, minutes=number) if dated else None,
                tools=ToolUse(touched=tuple(sorted((touched or {}).get(number, ())))),
            )
        )
    return Thread(
        thread_id=thread_id("test", name),
        source="test",
        native_id=name,
        project=project,
        participants=("mira",),
        turns=tuple(made),
        path=tuple(turn.number for turn in made),
    )


def record_of(thread: Thread) -> ThreadRecord:
    """What the ledger keeps of a thread."""
    names = ThreadRecord.model_fields
    return ThreadRecord(**{name: value for name, value in dict(thread).items() if name in names})


def facts_of(*turns: str, epoch: EpochRecord = EMPTY, project: str | None = None) -> Facts:
    """Facts of one thread."""
    return Derivation().facts(a_thread("one", *turns, project=project), epoch)


def signals_of(*turns: str, kind: str) -> list[tuple[int, str]]:
    """(turn, type) of the signals of one kind."""
    return [
        (turn, one.type)
        for turn, found in facts_of(*turns).signals
        for one in found
        if one.kind == kind
    ]


def own_roots(threads: Iterable[Thread]) -> dict[str, str]:
    """Every thread its own lineage."""
    return {thread.thread_id: thread.thread_id for thread in threads}


def grounded(threads: Sequence[Thread], facts: Sequence[Facts], roots: Mapping[str, str]) -> Ground:
    """The rows as a store would hold them, without links and relations."""
    nodes, turns = [], []
    questions: dict[str, Question] = {}
    concepts: dict[str, Concept] = {}
    lineages: dict[str, set[str]] = {}
    mentions: dict[tuple[str, str, str], Mentions] = {}
    # a store joins rows by key and not by arrival
    ordered = sorted(zip(threads, facts, strict=True), key=lambda pair: pair[0].thread_id)
    for thread, found in ordered:
        nodes.append(_thread_node(thread, found, roots[thread.thread_id]))
        turns.extend(_turn_nodes(thread, found))
        for question in found.questions:
            questions[question.question_id] = _joined(questions.get(question.question_id), question)
        for concept in found.concepts:
            concepts.setdefault(concept.concept_id, concept)
            lineages.setdefault(concept.concept_id, set()).add(roots[thread.thread_id])
        for row in found.mentions:
            key = (row.src_table, row.src, row.dst)
            refs = {*row.source_refs, *(mentions[key].source_refs if key in mentions else ())}
            mentions[key] = row.replace(source_refs=tuple(sorted(refs)))
    return Ground(
        threads=tuple(sorted(nodes, key=lambda row: row.key)),
        turns=tuple(sorted(turns, key=lambda row: row.key)),
        questions=tuple(questions[key] for key in sorted(questions)),
        concepts=tuple(concepts[key].replace(df=len(lineages[key])) for key in sorted(concepts)),
        asks=tuple(
            sorted((row for one in facts for row in one.asks), key=lambda row: (row.src, row.dst))
        ),
        answers=tuple(
            sorted(
                (row for one in facts for row in one.answers), key=lambda row: (row.src, row.dst)
            )
        ),
        mentions=tuple(mentions[key] for key in sorted(mentions)),
    )


def _joined(before: Question | None, question: Question) -> Question:
    if before is None:
        return question
    first, second = sorted(
        (before, question), key=lambda one: (one.first_seen is None, str(one.first_seen), one.text)
    )
    ended = before.status if before.status is not QuestionStatus.OPEN else question.status
    return first.replace(
        ref_count=before.ref_count + question.ref_count,
        last_seen=second.last_seen,
        status=ended,
        salience=max(before.salience, question.salience),
    )


def _thread_node(thread: Thread, found: Facts, root: str) -> ThreadNode:
    return ThreadNode(
        thread_id=thread.thread_id,
        title=None,
        source=thread.source,
        project=thread.project,
        participants=thread.participants,
        started_at=None,
        ended_at=None,
        turn_count=len(thread.turns),
        models=(),
        native_ids=(),
        scope_labels=found.scope_labels,
        flags=(),
        lineage_root=root,
        touched=(),
        events="[]",
        state="closed",
    )


def _turn_nodes(thread: Thread, found: Facts) -> list[SourceRefNode]:
    signals = dict(found.signals)
    return [
        SourceRefNode(
            ref=thread.ref(turn.number),
            thread_id=thread.thread_id,
            turn=turn.number,
            position=place,
            role=turn.role.value,
            speaker=None,
            text=turn.text,
            at=turn.at,
            fingerprint=turn.fingerprint,
            taint=turn.taint.value,
            interim=False,
            alternative=False,
            superseded_by=None,
            attachments="[]",
            links=(),
            tools="{}",
            signals=canonical(
                [one.model_dump(mode="json") for one in signals.get(turn.number, ())]
            ).decode(),
            masked="[]",
            source_gone=False,
            file=None,
            line=None,
            offset=None,
            length=None,
        )
        for place, turn in enumerate(thread.clean(), 1)
    ]


def derived(
    threads: Sequence[Thread], roots: Mapping[str, str] | None = None
) -> tuple[Ground, EpochRecord]:
    """Epoch, facts and relations of several threads, as a store would hold them."""
    lineage = roots or own_roots(threads)
    derive = Derivation()
    epoch = derive.epoch(threads, lineage)
    facts = [derive.facts(one, epoch) for one in threads]
    ground = grounded(threads, facts, lineage)
    rows = Rows()
    with closing(Ledger(None)) as ledger:
        parts = Parts(ledger)
        for thread, found in zip(threads, facts, strict=True):
            parts.add(shards.shard(thread, found, lineage[thread.thread_id]))
        parts.finish(epoch)
        rows.add(parts.every(derive, Said()))
    return (
        Ground(
            threads=ground.threads,
            turns=ground.turns,
            questions=ground.questions,
            concepts=ground.concepts,
            asks=ground.asks,
            answers=ground.answers,
            mentions=ground.mentions,
            links=rows.sorted_edges(Links),
            relates=rows.sorted_edges(Relates),
        ),
        epoch,
    )
