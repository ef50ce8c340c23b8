"""Planted conversations for tests of dreaming: what is said, and what extraction would see."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from pydantic import TypeAdapter

from graphstore.derivation import Asked, Ground
from graphstore.ids import concept_id, fingerprint, question_id, ref, thread_id
from graphstore.model.conversation import LineageKind, LineageLink, Role, Taint, Thread, Turn
from graphstore.model.knowledge import (
    Anchored,
    Answers,
    Asks,
    Concept,
    ConceptKind,
    Facts,
    Journey,
    JourneyStatus,
    Links,
    LinkType,
    Mentions,
    Question,
    QuestionStatus,
    Relates,
    SeedRow,
    Signal,
    SourceRefNode,
    ThreadNode,
    Waypoint,
)
from graphstore.model.record import EpochRecord, JourneyRecord, ThreadRecord

NOW = datetime(2026, 1, 15, 12, tzinfo=UTC)
_SIGNALS = TypeAdapter(tuple[Signal, ...])


def days_ago(days: float) -> datetime:
    return NOW - timedelta(days=days)


def a_seed(shape: str, *members: tuple[str, str], **changes: object) -> SeedRow:
    """A computed seed; members are (role, node id)."""
    row = SeedRow(
        seed_id="s:" + "-".join(node for _, node in members)[:60] + shape,
        shape=shape,
        kind="planted",
        level=0,
        score=1.0,
        provenance="computed",
        sentence="",
        members=tuple(f"{role}={node}" for role, node in members),
        source_refs=(),
        detail="{}",
        view_hash="b2:0",
        run_id="r:0",
        first_run="r:0",
        last_run="r:0",
        resolved_run=None,
    )
    return row.replace(**changes)


@dataclass
class Line:
    """One turn as planted."""

    thread: str
    number: int
    role: str
    text: str
    at: datetime | None
    concepts: tuple[str, ...]
    asks: str | None
    resolves: str | None
    signals: tuple[Signal, ...]
    changes: dict[str, object]

    @property
    def ref(self) -> str:
        return ref(self.thread, self.number)

    def node(self, position: int | None) -> SourceRefNode:
        return SourceRefNode(
            ref=self.ref,
            thread_id=self.thread,
            turn=self.number,
            position=position,
            role=self.role,
            speaker=None,
            text=self.text,
            at=self.at,
            fingerprint=fingerprint(self.role, self.text),
            taint=self.role,
            interim=False,
            alternative=False,
            superseded_by=None,
            attachments="[]",
            links=(),
            tools="{}",
            signals=_SIGNALS.dump_json(self.signals).decode(),
            masked="[]",
            source_gone=False,
            file=None,
            line=None,
            offset=None,
            length=None,
        ).replace(**self.changes)


def said(line: Line) -> dict[str, Any]:
    """The near end of an edge that a turn says."""
    return {"src_table": "SourceRef", "src": line.ref, "source_refs": (line.ref,)}


def named(line: Line, table: str, key: str, label: str) -> Mentions:
    """That a turn, or the question it asks, names a concept."""
    return Mentions(
        src_table=table,
        src=key,
        dst_table="Concept",
        dst=concept_id(label),
        source_refs=(line.ref,),
        salience=0.5,
    )


@dataclass
class Plot:
    """What was said, and everything a Ground needs of it. Threads are named, days count back."""

    lines: dict[str, list[Line]] = field(default_factory=dict)
    roots: dict[str, str] = field(default_factory=dict)
    titles: dict[str, str] = field(default_factory=dict)
    links: list[tuple[str, str, LinkType]] = field(default_factory=list)
    relates: list[tuple[str, ...]] = field(default_factory=list)
    """Two labels, and the turns in which they meet."""
    arcs: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Annotated arcs by Journey, one for each waypoint."""
    generic: set[str] = field(default_factory=set)
    journeys: list[tuple[Journey, tuple[str, ...], tuple[str, ...], tuple[str, ...]]] = field(
        default_factory=list
    )
    salience: dict[str, float] = field(default_factory=dict)
    kinds: dict[str, ConceptKind] = field(default_factory=dict)
    intents: dict[str, str] = field(default_factory=dict)

    def thread(self, name: str, *, title: str = "", root: str | None = None) -> str:
        key = thread_id("test", name)
        self.lines.setdefault(key, [])
        self.roots[key] = key if root is None else thread_id("test", root)
        self.titles[key] = title or f"Thread {name}"
        return key

    def say(
        self,
        name: str,
        text: str,
        *concepts: str,
        days: float | None = 10,
        role: str = "human",
        asks: str | bool | None = None,
        resolves: str | None = None,
        signals: tuple[Signal, ...] = (),
        **changes: object,
    ) -> str:
        """Add a turn to a thread; ``asks`` True: its text is the question."""
        key = thread_id("test", name)
        if key not in self.lines:
            self.thread(name)
        number = len(self.lines[key]) + 1
        at = None if days is None else days_ago(days) + timedelta(minutes=number)
        asked = text if asks is True else (asks or None)
        line = Line(key, number, role, text, at, concepts, asked, resolves, signals, changes)
        self.lines[key].append(line)
        return line.ref

    def stop(self, type_: str, clip: str, asks: str | None = None) -> tuple[Signal, ...]:
        """A frontier signal."""
        question = None if asks is None else question_id(asks)
        return (Signal(kind="frontier", type=type_, clip=clip, question_id=question),)

    def correct(self, clip: str, *concepts: str, target: str = "claim") -> tuple[Signal, ...]:
        """A correction signal."""
        named = tuple(concept_id(each) for each in concepts)
        return (Signal(kind="correction", type=target, clip=clip, concepts=named),)

    def link(self, one: str, other: str, kind: LinkType = LinkType.RELATED) -> None:
        self.links.append((one, other, kind))

    def journey(
        self,
        core: str,
        refs: tuple[str, ...],
        *,
        concepts: tuple[str, ...] = (),
        questions: tuple[str, ...] = (),
        **changes: object,
    ) -> str:
        key = "j:" + question_id(core)[2:]
        journey = Journey(
            journey_id=key,
            path_label=f"Path of {core}",
            core_inquiry=core,
            status=JourneyStatus.TRAVELING,
            frontier=f"stands at {core}",
            frontier_refs=refs[-1:],
            first_seen=days_ago(100),
            last_seen=days_ago(60),
            last_activity_at=None,
            expires_at=None,
            merged_into=None,
        ).replace(**changes)
        self.journeys.append((journey, refs, questions or (core,), concepts))
        return key

    # what extraction makes of it

    def every(self) -> list[Line]:
        return [line for lines in self.lines.values() for line in lines]

    def concepts_of(self, lines: Iterable[Line]) -> tuple[Concept, ...]:
        df: dict[str, set[str]] = {}
        cf: dict[str, int] = {}
        for line in lines:
            for label in line.concepts:
                df.setdefault(label, set()).add(self.roots[line.thread])
                cf[label] = cf.get(label, 0) + 1
        rows = [
            Concept(
                concept_id=concept_id(label),
                label=label,
                aliases=(),
                df=len(df[label]),
                cf=cf[label],
                generic=label in self.generic,
                kind=self.kinds.get(label, ConceptKind.TERM),
            )
            for label in df
        ]
        return tuple(sorted(rows, key=lambda row: row.concept_id))

    def questions_of(self, lines: Iterable[Line]) -> tuple[Question, ...]:
        asked: dict[str, list[Line]] = {}
        for line in lines:
            if line.asks:
                asked.setdefault(question_id(line.asks), []).append(line)
        solved = {question_id(line.resolves) for line in self.every() if line.resolves}
        rows = []
        for key, found in asked.items():
            moments = [line.at for line in found if line.at]
            rows.append(
                Question(
                    question_id=key,
                    text=found[0].asks or "",
                    status=QuestionStatus.ANSWERED if key in solved else QuestionStatus.OPEN,
                    salience=self.salience.get(found[0].asks or "", 0.5),
                    intent=self.intents.get(found[0].asks or "", "explain"),
                    phase="start",
                    where=None,
                    first_seen=min(moments, default=None),
                    last_seen=max(moments, default=None),
                    ref_count=len(found),
                )
            )
        return tuple(sorted(rows, key=lambda row: row.question_id))

    def edges_of(self, lines: list[Line]) -> tuple[list[Asks], list[Answers], list[Mentions]]:
        asks, answers, mentions = [], [], []
        for line in lines:
            if line.asks:
                asks.append(Asks(**said(line), dst_table="Question", dst=question_id(line.asks)))
            if line.resolves:
                target = question_id(line.resolves)
                answers.append(
                    Answers(**said(line), dst_table="Question", dst=target, kind="resolved")
                )
            for label in line.concepts:
                near = [("SourceRef", line.ref)]
                near += [("Question", question_id(line.asks))] if line.asks else []
                mentions += [named(line, table, key, label) for table, key in near]
        unique = {(edge.src, edge.dst): edge for edge in mentions}
        return asks, answers, [unique[key] for key in sorted(unique)]

    def linked(self) -> tuple[Links, ...]:
        found = {}
        for one, other, kind in self.links:
            low, high = sorted((question_id(one), question_id(other)))
            refs = sorted(line.ref for line in self.every() if line.asks in (one, other))
            found[low, high] = Links(
                src_table="Question",
                src=low,
                dst_table="Question",
                dst=high,
                source_refs=tuple(refs),
                link_type=kind,
                score=0.9,
                evidence="{}",
            )
        return tuple(found[key] for key in sorted(found))

    def related(self) -> tuple[Relates, ...]:
        found = {
            tuple(sorted((concept_id(one), concept_id(other)))): tuple(sorted(refs))
            for one, other, *refs in self.relates
        }
        return tuple(
            Relates(
                src_table="Concept",
                src=low,
                dst_table="Concept",
                dst=high,
                source_refs=found[low, high],
                edge_type="co_occurs",
                why="",
            )
            for low, high in sorted(found)
        )

    def thread_node(self, key: str) -> ThreadNode:
        moments = [line.at for line in self.lines[key] if line.at]
        return ThreadNode(
            thread_id=key,
            title=self.titles[key],
            source="test",
            project=None,
            participants=(),
            started_at=min(moments, default=None),
            ended_at=max(moments, default=None),
            turn_count=len(self.lines[key]),
            models=(),
            native_ids=(),
            scope_labels=(),
            flags=(),
            lineage_root=self.roots[key],
            touched=(),
            events="[]",
            state="closed",
        )

    def walked(self) -> tuple[tuple[Waypoint, ...], tuple[Anchored, ...]]:
        stops, anchored = [], []
        for journey, refs, questions, concepts in self.journeys:
            key = journey.journey_id
            arcs = self.arcs.get(key, ())
            for seq, own in enumerate(refs, start=1):
                stops.append(
                    Waypoint(
                        waypoint_id=f"{key}/{seq}",
                        journey_id=key,
                        seq=seq,
                        moment="moved",
                        arc=arcs[seq - 1] if arcs else "unmapped",
                        arc_provenance="annotated" if arcs else "none",
                        upper=None,
                        lower=None,
                        at=None,
                        frontier_hint=None,
                        labels=(),
                    )
                )
                anchored.append(("Waypoint", f"{key}/{seq}", "SourceRef", own))
            anchored += [("Journey", key, "Question", question_id(each)) for each in questions]
            anchored += [("Journey", key, "Concept", concept_id(each)) for each in concepts]
        edges = tuple(
            Anchored(src_table=a, src=b, dst_table=c, dst=d, source_refs=())
            for a, b, c, d in sorted(anchored)
        )
        return tuple(sorted(stops, key=lambda stop: stop.waypoint_id)), edges

    def ground(self) -> Ground:
        asks, answers, mentions = self.edges_of(self.every())
        waypoints, anchored = self.walked()
        turns = [
            line.node(place) for lines in self.lines.values() for place, line in enumerate(lines, 1)
        ]
        return Ground(
            threads=tuple(self.thread_node(key) for key in sorted(self.lines)),
            turns=tuple(sorted(turns, key=lambda turn: turn.ref)),
            questions=self.questions_of(self.every()),
            concepts=self.concepts_of(self.every()),
            asks=tuple(asks),
            answers=tuple(answers),
            mentions=tuple(mentions),
            links=self.linked(),
            relates=self.related(),
            journeys=tuple(
                sorted((each for each, *_ in self.journeys), key=lambda each: each.journey_id)
            ),
            waypoints=waypoints,
            anchored=anchored,
        )

    # the same, for a store

    def records(self) -> list[ThreadRecord]:
        return [
            self.record(key) for key in sorted(self.lines, key=lambda k: (self.roots[k] != k, k))
        ]

    def record(self, key: str) -> ThreadRecord:
        turns = tuple(
            Turn(
                number=line.number,
                role=Role(line.role),
                taint=Taint(line.role),
                text=line.text,
                fingerprint=fingerprint(line.role, line.text),
                native_key=f"{key}-{line.number}",
                at=line.at,
            )
            for line in self.lines[key]
        )
        parent = self.roots[key]
        return ThreadRecord(
            thread_id=key,
            source="test",
            native_id=key.removeprefix("test:"),
            title=self.titles[key],
            turns=turns,
            path=tuple(turn.number for turn in turns),
            lineage=()
            if parent == key
            else (LineageLink(kind=LineageKind.SUBAGENT_OF, parent=parent, split_turn=1),),
        )


@dataclass(frozen=True)
class Planted:
    """A derivation that reads what was planted."""

    plot: Plot
    version: str = "planted/1"

    def epoch(self, threads: Iterable[Thread], roots: Mapping[str, str]) -> EpochRecord:
        del threads
        return EpochRecord(extractor=self.version, lineages=len(set(roots.values())))

    def facts(self, thread: Thread, epoch: EpochRecord) -> Facts:
        del epoch
        held = {turn.number for turn in thread.clean()}
        lines = [line for line in self.plot.lines[thread.thread_id] if line.number in held]
        asks, answers, mentions = self.plot.edges_of(lines)
        return Facts(
            thread_id=thread.thread_id,
            signals=tuple((line.number, line.signals) for line in lines if line.signals),
            questions=self.plot.questions_of(lines),
            concepts=tuple(row.replace(df=1, cf=row.cf) for row in self.plot.concepts_of(lines)),
            asks=tuple(asks),
            answers=tuple(answers),
            mentions=tuple(mentions),
            told=tuple(self._told(thread.thread_id)),
        )

    def _told(self, thread_id: str) -> Iterator[Links | Relates]:
        """What was planted, by the thread of its first turn."""
        begins = f"thread:{thread_id}#"
        yield from (row for row in self.plot.linked() if min(row.source_refs).startswith(begins))
        yield from (row for row in self.plot.related() if min(row.source_refs).startswith(begins))

    def link(self, left: Asked, right: Asked, cosine: float) -> None:
        del left, right, cosine

    def journeys(
        self, ground: Ground, known: tuple[JourneyRecord, ...], epoch: EpochRecord
    ) -> tuple[JourneyRecord, ...]:
        del ground, known, epoch
        return ()
