"""From records of Journeys and of dreams to their rows."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final

from graphstore.ids import waypoint_id
from graphstore.model.hypothesis import Hypothesis
from graphstore.model.knowledge import (
    Anchored,
    Edge,
    Journey,
    Node,
    Passes,
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

JOURNEY: Final = "journey/1"


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
    corrected: str | None = None
    """The owner's words for the frontier."""

    def take(self, record: JourneyRecord) -> None:
        self.latest = record
        if record.frontier is not None or record.stops:
            self.corrected = record.frontier
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
    words = words if course.corrected is None else course.corrected
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
