"""What several threads make together: lineage, citations, sums over all their parts."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Final, TypeVar

import orjson

from graphstore.cited import is_reference
from graphstore.codec import edge_key
from graphstore.derivation import Asked
from graphstore.ids import canonical
from graphstore.ids import ref as ref_of
from graphstore.model.conversation import Thread, Turn
from graphstore.model.knowledge import (
    Cites,
    Edge,
    Extracted,
    Lineage,
    Links,
    LinkType,
    Mentions,
    Node,
    Question,
    QuestionStatus,
    Relates,
)
from graphstore.shards import Part
from graphstore.threads import Link

T = TypeVar("T", Relates, Links)

LINEAGE: Final = "lineage/1"
CITES: Final = "cites/1"
TOLD_REFS: Final = 8
OWNER: Final = "owner/1"
LINK_REFS: Final = 4
"""Turns of each of two questions that a link between them rests on."""


# lineage and citations


def roots(threads: Iterable[str], links: Iterable[Link]) -> dict[str, str]:
    """Lineage root of every thread.

    Threads joined by lineage are one lineage, also through a parent that is not here. Its root
    is the member without a parent here, the smallest if there are several.
    """
    present = set(threads)
    group: dict[str, str] = {thread: thread for thread in present}

    def find(member: str) -> str:
        while group.setdefault(member, member) != member:
            group[member] = group[group[member]]
            member = group[member]
        return member

    has_parent = set()
    for link in links:
        low, high = sorted((find(link.child), find(link.parent)))
        group[high] = low
        if link.parent in present and link.parent != link.child:
            has_parent.add(link.child)
    best: dict[str, tuple[bool, str]] = {}
    for thread in present:
        rank = (thread in has_parent, thread)
        joined = find(thread)
        best[joined] = min(best.get(joined, rank), rank)
    return {thread: best[find(thread)][1] for thread in sorted(present)}


def lineage_edges(links: Iterable[Link], present: set[str]) -> tuple[Lineage, ...]:
    """LINEAGE rows; a link whose parent is missing stays pending."""
    return tuple(
        Lineage(
            src_table="Thread",
            src=link.child,
            dst_table="Thread",
            dst=link.parent,
            source_refs=() if link.split is None else (ref_of(link.parent, link.split),),
            extractor=LINEAGE,
            kind=link.kind.value,
            split_turn=link.split,
        )
        for link in links
        if link.parent in present and link.child in present and link.parent != link.child
    )


def cites(
    thread_id: str, target: str, named: str, turns: Iterable[Turn], head: Thread
) -> Extracted | None:
    """A CITES row from the own turns that hold the target as written; None without one."""
    in_text = not is_reference(target)  # else #1 would stand in #12
    refs = tuple(
        sorted(
            head.ref(turn.number)
            for turn in turns
            if target in turn.links or (in_text and target in turn.text)
        )
    )
    if not refs or named == thread_id:
        return None
    return Cites(
        src_table="Thread",
        src=thread_id,
        dst_table="Thread",
        dst=named,
        source_refs=refs,
        extractor=CITES,
        target=target,
    )


# sums


def _first_key(part: tuple[str, Question]) -> tuple[bool, float, str]:
    thread_id, question = part
    moment = question.first_seen
    return (moment is None, 0.0 if moment is None else moment.timestamp(), thread_id)


def _last_key(part: tuple[str, Question]) -> tuple[bool, float, str]:
    thread_id, question = part
    moment = question.last_seen
    return (moment is not None, 0.0 if moment is None else moment.timestamp(), thread_id)


def _status(parts: Sequence[tuple[str, Question]]) -> QuestionStatus:
    """Answered if any thread answers it; otherwise as it was left where it was asked last."""
    if any(question.status is QuestionStatus.ANSWERED for _, question in parts):
        return QuestionStatus.ANSWERED
    return max(parts, key=_last_key)[1].status


def question(parts: Sequence[tuple[str, Question]]) -> Question:
    """One question as all its threads (thread id, question) know it."""
    first = min(parts, key=_first_key)[1]
    seen = [moment for _, part in parts for moment in (part.first_seen, part.last_seen) if moment]
    summed = {
        "status": _status(parts),
        "salience": max(part.salience for _, part in parts),
        "first_seen": min(seen, default=None),
        "last_seen": max(seen, default=None),
        "ref_count": sum(part.ref_count for _, part in parts),
    }
    # most questions have one part, which needs no second look
    same = all(getattr(first, name) == value for name, value in summed.items())
    return first if same else first.replace(**summed)


def mentions(parts: Iterable[tuple[str, Sequence[Mentions]]]) -> tuple[Mentions, ...]:
    """Question to concept edges, joined over the threads (thread id, edges) that read them."""
    by_pair: dict[tuple[str, ...], list[Mentions]] = defaultdict(list)
    for _, edges in sorted(parts, key=lambda part: part[0]):
        for edge in edges:
            by_pair[edge_key(edge)].append(edge)
    return tuple(
        edges[0].replace(
            source_refs=tuple(sorted({ref for edge in edges for ref in edge.source_refs})),
            weight=sum(edge.weight for edge in edges),
            salience=max(edge.salience for edge in edges),
        )
        for _, edges in sorted(by_pair.items())
    )


def asked(parts: Iterable[Part]) -> Asked | None:
    """A question with what surrounds it, from all its parts; None when no thread asks it."""
    known: list[tuple[str, Question]] = []
    keys: set[str] = set()
    concepts: set[str] = set()
    paths: set[str] = set()
    people: set[str] = set()
    refs: set[tuple[str, int, str]] = set()
    for part in parts:
        if part.kind == "question":
            known.append((part.thread_id, Question.from_json(part.body)))
        elif part.kind == "asked":
            body = orjson.loads(part.body)
            keys.update(body["keys"])
            concepts.update(body["concepts"])
            paths.update(body["paths"])
            people.update(body["participants"])
            refs.update((part.thread_id, int(ref.rpartition(":")[2]), ref) for ref in body["refs"])
    if not refs:
        return None
    return Asked(
        question(known),
        frozenset(keys),
        frozenset(concepts),
        frozenset(paths),
        frozenset(people),
        tuple(ref for *_, ref in sorted(refs)),
    )


def told_same(left: Asked, right: Asked) -> Links:
    """The link between two questions of which the owner said that they ask the same."""
    refs = {*left.refs[:LINK_REFS], *right.refs[:LINK_REFS]}
    return Links(
        src_table="Question",
        src=left.question.question_id,
        dst_table="Question",
        dst=right.question.question_id,
        source_refs=tuple(sorted(refs)),
        weight=1.0,
        extractor=OWNER,
        link_type=LinkType.RECURRING,
        score=1.0,
        evidence=canonical({"how": "owner"}).decode(),
    )


def told(rows: Sequence[tuple[str, T]]) -> T:
    """One stated relation as all its threads (thread id, relation) state it."""
    first = min(rows, key=lambda row: (row[1].source_refs, row[0]))[1]
    if len(rows) == 1:
        return first
    refs = {ref for _, row in rows for ref in row.source_refs}
    return first.replace(
        source_refs=tuple(sorted(refs)[:TOLD_REFS]), weight=sum(row.weight for _, row in rows)
    )


def shared(parts: Iterable[Part]) -> tuple[Node | Edge, ...]:
    """Questions, their mentions of concepts, and stated relations, from all parts of them."""
    questions: dict[str, list[tuple[str, Question]]] = defaultdict(list)
    mentioned: dict[str, list[tuple[str, list[Mentions]]]] = defaultdict(list)
    related: dict[str, list[tuple[str, Relates]]] = defaultdict(list)
    linked: dict[str, list[tuple[str, Links]]] = defaultdict(list)
    for part in parts:
        match part.kind:
            case "question":
                questions[part.node].append((part.thread_id, Question.from_json(part.body)))
            case "mention":
                edges = [Mentions.model_validate(edge) for edge in orjson.loads(part.body)]
                mentioned[part.node].append((part.thread_id, edges))
            case "relates":
                related[part.node].append((part.thread_id, Relates.from_json(part.body)))
            case "links":
                linked[part.node].append((part.thread_id, Links.from_json(part.body)))
            case _:
                continue  # what surrounds a question is no row
    return (
        *(question(found) for _, found in sorted(questions.items())),
        *(edge for _, found in sorted(mentioned.items()) for edge in mentions(found)),
        *(told(found) for _, found in sorted(related.items())),
        *(told(found) for _, found in sorted(linked.items())),
    )
