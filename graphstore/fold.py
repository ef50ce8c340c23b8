"""From threads, facts and records to the rows of the graph. Pure: equal input, equal rows."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final, TypeVar

import orjson

from graphstore.cited import is_reference
from graphstore.codec import edge_key
from graphstore.derivation import Asked, Ground
from graphstore.ids import canonical, waypoint_id
from graphstore.ids import ref as ref_of
from graphstore.model.base import Value
from graphstore.model.conversation import Thread, Turn
from graphstore.model.hypothesis import Hypothesis
from graphstore.model.knowledge import (
    Anchored,
    Answers,
    Asks,
    Cites,
    Company,
    Concept,
    Edge,
    Extracted,
    Facts,
    HasTurn,
    Journey,
    Lineage,
    Links,
    Mentions,
    Node,
    Passes,
    Question,
    QuestionStatus,
    Relates,
    Signal,
    SourceRefNode,
    ThreadNode,
    Waypoint,
)
from graphstore.model.record import (
    CycleRecord,
    DreamRecord,
    JourneyRecord,
    OutcomeRecord,
    ReviewRecord,
    Stop,
)
from graphstore.schema import EDGE_CLASSES, NODE_CLASSES, node_class
from graphstore.threads import Link, positions

N = TypeVar("N", bound=Node)
E = TypeVar("E", bound=Edge)
T = TypeVar("T", Relates, Links)

TURNS: Final = "turns/1"
LINEAGE: Final = "lineage/1"
JOURNEY: Final = "journey/1"
CITES: Final = "cites/1"
TOLD_REFS: Final = 8


class Rows:
    """Rows by class and key; one row per key."""

    def __init__(self) -> None:
        self.nodes: dict[type[Node], dict[str, Node]] = {cls: {} for cls in NODE_CLASSES}
        self.edges: dict[type[Edge], dict[tuple[str, ...], Edge]] = {
            cls: {} for cls in EDGE_CLASSES
        }

    def add(self, rows: Iterable[Node | Edge]) -> None:
        """Take rows in; the first of one key stays."""
        for row in rows:
            if isinstance(row, Node):
                self.nodes[type(row)].setdefault(row.key, row)
            else:
                self.edges[type(row)].setdefault(edge_key(row), row)

    def holds(self, table: str, key: str) -> bool:
        """Whether a node is among the rows."""
        return key in self.nodes[node_class(table)]

    def count(self, cls: type[Node] | type[Edge]) -> int:
        """Number of rows of a class."""
        return len(self.nodes[cls] if issubclass(cls, Node) else self.edges[cls])

    def sorted_nodes(self, cls: type[N]) -> tuple[N, ...]:
        """Nodes of a class by key."""
        found = self.nodes[cls]
        return tuple(found[key] for key in sorted(found))  # type: ignore[misc]

    def sorted_edges(self, cls: type[E]) -> tuple[E, ...]:
        """Edges of a class by ends and keys."""
        found = self.edges[cls]
        return tuple(found[key] for key in sorted(found))  # type: ignore[misc]

    def ground(self, whole: frozenset[str] | None = None) -> Ground:
        """The extracted rows as derivation reads them."""
        return Ground(
            whole=whole,
            threads=self.sorted_nodes(ThreadNode),
            turns=self.sorted_nodes(SourceRefNode),
            questions=self.sorted_nodes(Question),
            concepts=self.sorted_nodes(Concept),
            asks=self.sorted_edges(Asks),
            answers=self.sorted_edges(Answers),
            mentions=self.sorted_edges(Mentions),
            links=self.sorted_edges(Links),
            relates=self.sorted_edges(Relates),
            journeys=self.sorted_nodes(Journey),
            waypoints=self.sorted_nodes(Waypoint),
            anchored=self.sorted_edges(Anchored),
        )


# lineage


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


# one thread


def _json_list(values: Iterable[Value]) -> str:
    return canonical([value.model_dump(mode="json") for value in values]).decode()


def _signals(signals: Iterable[Signal]) -> str:
    return _json_list(signals)


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
    signals = {number: _signals(found) for number, found in facts.signals}
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


# shared nodes


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
    return first.replace(
        status=_status(parts),
        salience=max(part.salience for _, part in parts),
        first_seen=min(seen, default=None),
        last_seen=max(seen, default=None),
        ref_count=sum(part.ref_count for _, part in parts),
    )


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


# journeys

FRONTIER_CHARACTERS: Final = 360
FRONTIER_REFS: Final = 8
FRONTIER_WAYPOINTS: Final = 3


@dataclass
class _Course:
    """A Journey while its records are read."""

    latest: JourneyRecord
    stops: dict[int, Stop] = field(default_factory=dict)
    questions: set[str] = field(default_factory=set)
    concepts: set[str] = field(default_factory=set)
    activity: list[datetime] = field(default_factory=list)
    merged_into: str | None = None

    def take(self, record: JourneyRecord) -> None:
        self.latest = record
        for stop in record.stops:
            self.stops.setdefault(stop.seq, stop)
        self.questions.update(record.questions)
        self.concepts.update(record.concepts)
        if record.last_activity_at is not None:
            self.activity.append(record.last_activity_at)
        self.merged_into = record.merged_into or self.merged_into

    def in_order(self) -> tuple[Stop, ...]:
        return tuple(self.stops[seq] for seq in sorted(self.stops))


def expiry(last: datetime | None, waypoints: int) -> datetime | None:
    """When a Journey without movement counts as abandoned."""
    if last is None:
        return None
    return last + timedelta(days=90 + min(14 * waypoints, 180))


def frontier(stops: Sequence[Stop]) -> tuple[str, tuple[str, ...]]:
    """Where a Journey stands: the newest hint of its last three waypoints, else their moments."""
    last = stops[-FRONTIER_WAYPOINTS:]
    hinted = [stop for stop in last if stop.frontier_hint]
    words = hinted[-1].frontier_hint or "" if hinted else " / ".join(stop.moment for stop in last)
    refs = hinted[-1].refs if hinted else tuple(ref for stop in last for ref in stop.refs)
    return words[:FRONTIER_CHARACTERS], tuple(dict.fromkeys(refs))[:FRONTIER_REFS]


def _journey_node(journey_id: str, course: _Course) -> Journey:
    stops = course.in_order()
    moments = [stop.at for stop in stops if stop.at is not None]
    activity = max(course.activity, default=None)
    last_seen = max(moments, default=None)
    words, refs = frontier(stops)
    moved = [moment for moment in (last_seen, activity) if moment is not None]
    return Journey(
        journey_id=journey_id,
        path_label=course.latest.path_label,
        core_inquiry=course.latest.core_inquiry,
        status=course.latest.status,
        frontier=words,
        frontier_refs=refs,
        first_seen=min(moments, default=None),
        last_seen=last_seen,
        last_activity_at=activity,
        expires_at=expiry(max(moved, default=None), len(stops)),
        merged_into=course.merged_into,
    )


def _waypoint_node(journey_id: str, stop: Stop) -> Waypoint:
    return Waypoint(
        waypoint_id=waypoint_id(journey_id, stop.seq),
        journey_id=journey_id,
        seq=stop.seq,
        moment=stop.moment,
        arc=stop.arc,
        arc_provenance=stop.arc_provenance,
        upper=None,
        lower=None,
        at=stop.at,
        frontier_hint=stop.frontier_hint,
        labels=stop.labels,
    )


def _passes(journey_id: str, stops: Sequence[Stop]) -> tuple[Passes, ...]:
    starts = [
        ("Journey", journey_id),
        *(("Waypoint", waypoint_id(journey_id, s.seq)) for s in stops),
    ]
    pairs = [(starts[0], stop) for stop in stops] + list(zip(starts[1:], stops[1:], strict=False))
    return tuple(
        Passes(
            src_table=table,
            src=key,
            dst_table="Waypoint",
            dst=waypoint_id(journey_id, stop.seq),
            source_refs=tuple(sorted(set(stop.refs))),
            extractor=JOURNEY,
            seq=stop.seq,
        )
        for (table, key), stop in pairs
    )


def _anchored(ends: tuple[str, str, str, str], refs: Iterable[str]) -> Anchored:
    src_table, src, dst_table, dst = ends
    return Anchored(
        src_table=src_table,
        src=src,
        dst_table=dst_table,
        dst=dst,
        source_refs=tuple(sorted(set(refs))),
        extractor=JOURNEY,
    )


def _anchors(journey_id: str, course: _Course, kept_at: Mapping[str, str]) -> tuple[Anchored, ...]:
    stops = course.in_order()
    every = [ref for stop in stops for ref in stop.refs]
    return (
        *(
            _anchored(
                ("Waypoint", waypoint_id(journey_id, stop.seq), "SourceRef", kept_at.get(ref, ref)),
                (ref,),
            )
            for stop in stops
            for ref in stop.refs
        ),
        *(
            _anchored(("Journey", journey_id, "Question", q), every)
            for q in sorted(course.questions)
        ),
        *(_anchored(("Journey", journey_id, "Concept", c), every) for c in sorted(course.concepts)),
    )


def journeys(
    records: Iterable[JourneyRecord], kept_at: Mapping[str, str]
) -> tuple[Node | Edge, ...]:
    """Journeys, waypoints and their edges; ``kept_at`` maps refs into shared prefixes to theirs."""
    courses: dict[str, _Course] = {}
    for record in records:
        courses.setdefault(record.journey_id, _Course(record)).take(record)
    rows: list[Node | Edge] = []
    for journey_id, course in sorted(courses.items()):
        stops = course.in_order()
        rows.append(_journey_node(journey_id, course))
        rows.extend(_waypoint_node(journey_id, stop) for stop in stops)
        rows.extend(_passes(journey_id, stops))
        rows.extend(_anchors(journey_id, course, kept_at))
    return tuple(rows)


def hypotheses(records: Iterable[DreamRecord]) -> tuple[Hypothesis, ...]:
    """Hypothesis edges as the newest record that carries them states them."""
    newest = {edge.hypothesis_id: edge for record in records for edge in carried(record)}
    return tuple(newest[key] for key in sorted(newest))


def carried(record: DreamRecord) -> tuple[Hypothesis, ...]:
    """Hypothesis edges that a record states."""
    match record:
        case CycleRecord():
            return (*record.hypotheses, *record.changes)
        case ReviewRecord():
            return record.after
        case OutcomeRecord():
            return (record.after,)


def complete(edges: Iterable[Edge], holds: Mapping[str, set[str]]) -> tuple[Edge, ...]:
    """The edges both of whose ends exist; ``holds`` lists the keys that do, by table."""
    return tuple(
        edge
        for edge in edges
        if edge.src in holds.get(edge.src_table, set())
        and edge.dst in holds.get(edge.dst_table, set())
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
