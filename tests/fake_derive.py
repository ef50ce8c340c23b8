"""A small deterministic derivation, and thread records, for tests of the store."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TypeVar

from graphstore.derivation import Asked, Ground
from graphstore.ids import (
    concept_id,
    fingerprint,
    hypothesis_id,
    journey_id,
    question_id,
    ref,
    thread_id,
)
from graphstore.model.base import Value
from graphstore.model.conversation import LineageKind, LineageLink, Role, Taint, Thread, Turn
from graphstore.model.hypothesis import AnyHypothesis, Hypothesis, HypothesisState
from graphstore.model.knowledge import (
    Answers,
    Asking,
    Asks,
    Company,
    Concept,
    ConceptKind,
    Facts,
    JourneyStatus,
    Links,
    LinkType,
    Mentions,
    Question,
    QuestionStatus,
    Signal,
)
from graphstore.model.record import (
    Count,
    CycleRecord,
    EpochRecord,
    JourneyRecord,
    Stop,
    ThreadRecord,
)
from graphstore.schema import EDGE_CLASSES, NODE_CLASSES
from graphstore.store import Store

Dreamt = TypeVar("Dreamt", bound=Hypothesis)

START = datetime(2026, 1, 1, tzinfo=UTC)
NOW = datetime(2026, 1, 15, 12, tzinfo=UTC)


def a_turn(number: int, text: str, role: Role = Role.HUMAN, **changes: object) -> Turn:
    return Turn(
        number=number,
        role=role,
        taint=Taint(role.value),
        text=text,
        fingerprint=fingerprint(role.value, text),
        native_key=f"m{number}",
        at=START + timedelta(minutes=number),
    ).replace(**changes)


def a_thread_record(native: str, *texts: str, **changes: object) -> ThreadRecord:
    """Human and assistant in turn, numbered from 1."""
    roles = (Role.HUMAN, Role.ASSISTANT)
    turns = tuple(a_turn(n, text, roles[(n + 1) % 2]) for n, text in enumerate(texts, start=1))
    base = ThreadRecord(
        thread_id=thread_id("test", native),
        source="test",
        native_id=native,
        title=f"Thread {native}",
        turns=turns,
        path=tuple(turn.number for turn in turns),
    )
    return base.replace(**changes)


def child_of(parent: str, split: int, kind: str = "forked_from") -> tuple[LineageLink, ...]:
    return (
        LineageLink(kind=LineageKind(kind), parent=thread_id("test", parent), split_turn=split),
    )


def _concept(word: str, count: int) -> Concept:
    return Concept(
        concept_id=concept_id(word),
        label=word,
        aliases=(),
        df=1,
        cf=count,
        generic=word == "same",
        kind=ConceptKind.TERM,
    )


@dataclass(frozen=True)
class FakeDerive:
    """Words of four letters and more are concepts; a human turn with ``?`` asks."""

    version: str = "fake/1"

    def epoch(self, threads: Iterable[Thread], roots: Mapping[str, str]) -> EpochRecord:
        words: dict[str, set[str]] = {}
        for thread in threads:
            for turn in thread.clean():
                for word in _words(turn.text):
                    words.setdefault(word, set()).add(roots[thread.thread_id])
        return EpochRecord(
            extractor=self.version,
            lineages=len(set(roots.values())),
            concept_df=tuple(
                Count(name=word, count=len(found))
                for word, found in sorted(words.items())
                if len(found) > 1
            ),
        )

    def facts(self, thread: Thread, epoch: EpochRecord) -> Facts:
        common = {count.name for count in epoch.concept_df if count.count > 3}
        tf: dict[str, int] = {}
        mentions, asks, answers, signals = [], [], [], []
        questions: dict[str, Question] = {}
        open_question: str | None = None
        for turn in thread.clean():
            own = thread.ref(turn.number)
            words = [word for word in _words(turn.text) if word not in common]
            for word in sorted(set(words)):
                tf[word] = tf.get(word, 0) + words.count(word)
                mentions.append(_mention("SourceRef", own, word, own))
            if turn.role is Role.HUMAN and "?" in turn.text:
                asked = question_id(turn.text)
                questions[asked] = _question(turn, asked, questions.get(asked), thread.project)
                asks.append(_edge(Asks, own, asked))
                mentions += [_mention("Question", asked, word, own) for word in sorted(set(words))]
                open_question = asked
                signals.append(
                    (turn.number, (Signal(kind="frontier", type="next", clip=turn.text[:20]),))
                )
            elif turn.role is Role.HUMAN and "thanks" in turn.text and open_question is not None:
                answers.append(_edge(Answers, own, open_question, kind="resolved"))
                questions[open_question] = questions[open_question].replace(
                    status=QuestionStatus.ANSWERED
                )
        return Facts(
            thread_id=thread.thread_id,
            signals=tuple(signals),
            questions=tuple(questions[key] for key in sorted(questions)),
            concepts=tuple(_concept(word, count) for word, count in sorted(tf.items())),
            asks=tuple({edge.src + edge.dst: edge for edge in asks}.values()),
            answers=tuple(answers),
            mentions=tuple({edge.src + edge.dst: edge for edge in mentions}.values()),
            company=_company(mentions, epoch),
            askings=tuple(_asking(asks, question) for _, question in sorted(questions.items())),
        )

    def link(self, left: Asked, right: Asked, cosine: float) -> Links | None:
        if not left.keys & right.keys:
            return None
        return Links(
            src_table="Question",
            src=left.question.question_id,
            dst_table="Question",
            dst=right.question.question_id,
            source_refs=tuple(sorted({*left.refs, *right.refs})),
            link_type=LinkType.RELATED,
            score=max(0.5, cosine),
            evidence="{}",
        )

    def journeys(
        self,
        ground: Ground,  # noqa: ARG002
        known: tuple[JourneyRecord, ...],  # noqa: ARG002
        epoch: EpochRecord,  # noqa: ARG002
    ) -> tuple[JourneyRecord, ...]:
        return ()


def _words(text: str) -> list[str]:
    return re.findall(r"[a-z]{4,}", text.casefold())


def _company(mentions: list[Mentions], epoch: EpochRecord) -> tuple[Company, ...]:
    df = {concept_id(count.name): count.count for count in epoch.concept_df}
    turns: dict[str, set[int]] = {}
    for edge in mentions:
        if edge.src_table == "SourceRef":
            turns.setdefault(edge.dst, set()).add(int(edge.src.rpartition(":")[2]))
    return tuple(
        Company(concept_id=name, df=df.get(name, 1), turns=tuple(sorted(found)))
        for name, found in sorted(turns.items())
    )


def _asking(asks: list[Asks], question: Question) -> Asking:
    return Asking(
        question_id=question.question_id,
        keys=tuple(sorted(set(_words(question.text)))),
        refs=tuple(edge.src for edge in asks if edge.dst == question.question_id),
    )


def _question(turn: Turn, asked: str, known: Question | None, where: str | None) -> Question:
    if known is not None:
        return known.replace(last_seen=turn.at, ref_count=known.ref_count + 1)
    return Question(
        question_id=asked,
        text=turn.text,
        status=QuestionStatus.OPEN,
        salience=0.5,
        intent="explain",
        phase="start",
        where=where,
        first_seen=turn.at,
        last_seen=turn.at,
        ref_count=1,
    )


def _edge(cls: type, src: str, dst: str, **more: object):
    return cls(
        src_table="SourceRef", src=src, dst_table="Question", dst=dst, source_refs=(src,), **more
    )


def _mention(table: str, src: str, word: str, own: str) -> Mentions:
    return Mentions(
        src_table=table,
        src=src,
        dst_table="Concept",
        dst=concept_id(word),
        source_refs=(own,),
        salience=0.3,
        extractor="fake/1",
    )


def refs_of(native: str, *numbers: int) -> tuple[str, ...]:
    return tuple(ref(thread_id("test", native), number) for number in numbers)


def a_journey_record(*stops: Stop, created_at: str = "a", **changes: object) -> JourneyRecord:
    inquiry = "why do locks fail under load"
    base = JourneyRecord(
        journey_id=journey_id(inquiry, refs_of(created_at, 1)[0]),
        path_label="locks / load",
        core_inquiry=inquiry,
        status=JourneyStatus.TRAVELING,
        stops=stops,
        reason="created",
    )
    return base.replace(**changes)


def a_stop(seq: int, native: str, number: int, **changes: object) -> Stop:
    return Stop(
        seq=seq,
        moment=f"moment {seq}",
        refs=refs_of(native, number),
        at=START + timedelta(days=seq),
    ).replace(**changes)


def a_hypothesis(
    cls: type[Dreamt],
    src: str,
    dst: str,
    refs: tuple[str, ...] = (*refs_of("a", 1), *refs_of("b", 1)),
    **changes: object,
) -> Dreamt:
    """Between two questions, resting on the first turn of threads a and b."""
    base = cls(
        src_table="Question",
        src=src,
        dst_table="Question",
        dst=dst,
        hypothesis_id=hypothesis_id("amplification", "shared_question", src, dst, refs),
        function="amplification",
        rule="shared_question",
        mode="replay",
        method="deterministic",
        model=None,
        title="They rhyme",
        summary="",
        why_not_fact="",
        claims="[]",
        refs=refs,
        ref_fingerprints=tuple(f"b2:{n}" for n in range(len(refs))),
        counter_evidence="[]",
        counter_refs=(),
        source_fingerprint="b2:0",
        cues=(),
        voices=(),
        seed_id=None,
        shape=None,
        provenance="computed",
        pack_id="p",
        job_id="job:1",
        cycle_id="dc:1",
        state=HypothesisState.ACCEPTED,
        start_points=40,
        points=40,
        confirmations=0,
        contradictions=0,
        validation_ids=(),
        retention=0.5,
        quality=0.5,
        declared_confidence=None,
        divergence=0.1,
        coefficients="1",
        sensitivity="none",
        next_check="",
        extras="{}",
        created_at=NOW,
        validated_at=None,
        review_after=NOW + timedelta(days=14),
        expires_at=NOW + timedelta(days=30),
        validated_by="dream_adjudication",
        invalidation_triggers=("source_gone",),
        supersedes=None,
        superseded_by=None,
        closed_at=None,
        closed_reason=None,
    )
    return base.replace(**changes)


def a_cycle_record(*hypotheses: AnyHypothesis, **changes: object) -> CycleRecord:
    base = CycleRecord(
        cycle_id="dc:1",
        generation=1,
        trigger="manual",
        gate=(),
        leased_seq=1,
        started_at=NOW,
        ended_at=NOW,
        outcome="landed",
        hypotheses=hypotheses,
    )
    return base.replace(**changes)


def everything(store: Store) -> dict[str, tuple[Value, ...]]:
    """Every row of every table, by class name."""
    nodes = {cls.__name__: store.nodes(cls) for cls in NODE_CLASSES}
    edges = {cls.__name__: store.edges(cls) for cls in EDGE_CLASSES}
    return {**nodes, **edges}
