"""From one thread and its facts to its rows, and to its parts of those that threads share."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from graphstore.codec import edge_key
from graphstore.ids import canonical
from graphstore.model.base import Value
from graphstore.model.conversation import Thread, Turn
from graphstore.model.knowledge import (
    Company,
    Concept,
    Edge,
    Facts,
    HasTurn,
    Node,
    SourceRefNode,
    ThreadNode,
)
from graphstore.threads import positions

TURNS: Final = "turns/1"


def _json_list(values: Iterable[Value]) -> str:
    return canonical([value.model_dump(mode="json") for value in values]).decode()


def _turn_node(head: Thread, turn: Turn, place: int | None, signals: str) -> SourceRefNode:
    anchor = turn.anchor
    return SourceRefNode(
        ref=head.ref(turn.number),
        thread_id=head.thread_id,
        turn=turn.number,
        position=place,
        role=turn.role.value,
        speaker=turn.speaker,
        text=turn.text,
        at=turn.at,
        fingerprint=turn.fingerprint,
        taint=turn.taint.value,
        interim=turn.interim,
        alternative=place is None,
        superseded_by=turn.superseded_by,
        attachments=_json_list(turn.attachments),
        links=turn.links,
        tools=canonical(turn.tools.model_dump(mode="json")).decode(),
        signals=signals,
        masked=canonical(
            [{"kind": masked.kind, "offset": masked.offset} for masked in turn.masked]
        ).decode(),
        source_gone=turn.source_gone,
        file=None if anchor is None else anchor.file,
        line=None if anchor is None else anchor.line,
        offset=None if anchor is None else anchor.offset,
        length=None if anchor is None else anchor.length,
    )


def _thread_node(thread: Thread, facts: Facts, root: str) -> ThreadNode:
    return ThreadNode(
        thread_id=thread.thread_id,
        title=thread.title,
        source=thread.source,
        project=thread.project,
        participants=thread.participants,
        started_at=thread.started_at,
        ended_at=thread.ended_at,
        turn_count=len(thread.clean()),
        models=thread.models,
        native_ids=thread.native_ids,
        scope_labels=facts.scope_labels,
        flags=thread.flags,
        lineage_root=root,
        touched=tuple(sorted({path for turn in thread.turns for path in turn.tools.touched})),
        events=_json_list(thread.events),
        state=thread.state.value,
    )


@dataclass(frozen=True, slots=True)
class Part:
    """What one thread adds to a node that several threads may share."""

    node: str
    thread_id: str
    kind: str
    """question, asked, mention, relates or links."""
    body: str
    """JSON of the Question, of its Asking, of the list of its Mentions, or of a stated relation."""


@dataclass(frozen=True, slots=True)
class Shard:
    """The rows that only one thread has, and its parts of those that threads share."""

    thread_id: str
    root: str
    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]
    parts: tuple[Part, ...]
    concepts: tuple[Concept, ...]
    company: tuple[Company, ...]


@dataclass(frozen=True, slots=True)
class Drawn:
    """A thread with the rows that were made of it."""

    thread: Thread
    shard: Shard


def shard(thread: Thread, facts: Facts, root: str, before: Drawn | None = None) -> Shard:
    """Rows of one thread; edges that leave it, or its facts, are left out.

    Rows of turns that are as they were ``before`` are the same objects.
    """
    places = positions(thread)
    signals = {number: _json_list(found) for number, found in facts.signals}
    known = _known_turns(before)
    turns = []
    for turn in thread.turns:
        had, node = known.get(turn.number, (None, None))
        place, told = places.get(turn.number), signals.get(turn.number, "[]")
        if node is None or had != turn or node.position != place or node.signals != told:
            node = _turn_node(thread, turn, place, told)
        turns.append(node)
    joined = {edge.dst: edge for edge in before.shard.edges} if before else {}
    has_turn = tuple(
        had_edge if type(had_edge := joined.get(turn.ref)) is HasTurn else _has_turn(thread, turn)
        for turn in turns
    )
    ends = {
        "SourceRef": {turn.ref for turn in turns},
        "Question": {question.question_id for question in facts.questions},
        "Concept": {concept.concept_id for concept in facts.concepts},
    }
    read = [
        edge
        for edge in (*facts.asks, *facts.answers, *facts.mentions)
        if edge.src in ends[edge.src_table] and edge.dst in ends[edge.dst_table]
    ]
    own = tuple(edge for edge in read if edge.src_table == "SourceRef")
    shared = [edge for edge in read if edge.src_table != "SourceRef"]
    return Shard(
        thread_id=thread.thread_id,
        root=root,
        nodes=(_thread_node(thread, facts, root), *turns),
        edges=(*has_turn, *own),
        parts=_parts(thread.thread_id, facts, shared),
        concepts=facts.concepts,
        company=facts.company,
    )


def _known_turns(before: Drawn | None) -> dict[int, tuple[Turn, SourceRefNode]]:
    if before is None:
        return {}
    nodes = {node.turn: node for node in before.shard.nodes if isinstance(node, SourceRefNode)}
    return {turn.number: (turn, nodes[turn.number]) for turn in before.thread.turns}


def _has_turn(thread: Thread, turn: SourceRefNode) -> HasTurn:
    return HasTurn(
        src_table="Thread",
        src=thread.thread_id,
        dst_table="SourceRef",
        dst=turn.ref,
        source_refs=(turn.ref,),
        extractor=TURNS,
        turn=turn.turn,
    )


def _parts(thread_id: str, facts: Facts, shared: Sequence[Edge]) -> tuple[Part, ...]:
    by_question: dict[str, list[Edge]] = defaultdict(list)
    for edge in shared:
        by_question[edge.src].append(edge)
    return (
        *(
            Part(question.question_id, thread_id, "question", question.model_dump_json())
            for question in facts.questions
        ),
        *(
            Part(asking.question_id, thread_id, "asked", asking.model_dump_json())
            for asking in facts.askings
        ),
        *(
            Part(
                " ".join((told.src, told.dst, *edge_key(told)[4:])),
                thread_id,
                type(told).__name__.casefold(),
                told.model_dump_json(),
            )
            for told in facts.told
        ),
        *(
            Part(question_id, thread_id, "mention", _json_list(edges))
            for question_id, edges in sorted(by_question.items())
        ),
    )
