"""Journeys as they stand now."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, Literal

from graphstore.errors import NotFound
from graphstore.model.answers import JourneyRow, StopRow
from graphstore.model.knowledge import Anchored, Journey, JourneyStatus, Waypoint
from graphstore.model.record import JourneyRecord
from graphstore.queries.threads import LONG_AGO
from graphstore.store import Store

CAMP: Final = timedelta(days=45)
"""So long without movement, and a Journey camps."""
FOREGROUND: Final = 0.70
VISIBLE: Final = 0.35


@dataclass(frozen=True, slots=True)
class Bearing:
    """Where a Journey lies on a map: what it ranks, how sure that is, how far it shows."""

    rank: float = 0.0
    confidence: float = 0.0
    visibility: float = 0.0

    def __add__(self, other: "Bearing") -> "Bearing":
        return Bearing(
            _within(self.rank + other.rank),
            _within(self.confidence + other.confidence),
            _within(self.visibility + other.visibility),
        )

    @property
    def layer(self) -> Literal["foreground", "visible", "collapsed"]:
        """How it is drawn."""
        if self.visibility >= FOREGROUND:
            return "foreground"
        return "visible" if self.visibility >= VISIBLE else "collapsed"


def _within(figure: float) -> float:
    return round(min(1.0, max(0.0, figure)), 4)


BASE: Final = {
    JourneyStatus.TRAVELING: Bearing(1.0, 0.72, 0.75),
    JourneyStatus.CAMPED: Bearing(0.72, 0.64, 0.48),
    JourneyStatus.ARRIVED: Bearing(0.42, 0.70, 0.32),
    JourneyStatus.ABANDONED: Bearing(0.12, 0.46, 0.08),
}
FEEDBACK: Final = {
    "merge": Bearing(visibility=-0.55),
    "merged": Bearing(rank=0.20),
    "abandon": Bearing(rank=-0.50, visibility=-0.90),
    "revive": Bearing(rank=0.35, visibility=0.65),
    "correct": Bearing(confidence=-0.18),
}
"""What an act of the owner adds; "merged" is told of the Journey that another goes on in."""


def bearing(status: JourneyStatus, acts: Iterable[str]) -> Bearing:
    """The place of a Journey of this status after the owner's acts, each sum kept within 0 to 1."""
    found = BASE[status]
    for act in acts:
        found += FEEDBACK.get(act, Bearing())
    return found


def acts_on(records: Iterable[JourneyRecord]) -> dict[str, list[str]]:
    """Acts of the owner by Journey, in order."""
    found: dict[str, list[str]] = defaultdict(list)
    for record in records:
        found[record.journey_id].append(record.reason)
        if record.reason == "merge" and record.merged_into is not None:
            found[record.merged_into].append("merged")
    return found


def status_now(journey: Journey, now: datetime) -> JourneyStatus:
    """Its status with time taken into account; comparisons are inclusive."""
    if journey.status is not JourneyStatus.TRAVELING:
        return journey.status
    if journey.expires_at is not None and journey.expires_at <= now:
        return JourneyStatus.ABANDONED
    moved = [at for at in (journey.last_seen, journey.last_activity_at) if at is not None]
    return JourneyStatus.CAMPED if moved and now - max(moved) >= CAMP else journey.status


def journeys(store: Store, now: datetime, *, status: str | None = None) -> tuple[JourneyRow, ...]:
    """Journeys, those that moved last first, ties by id."""
    count: dict[str, int] = defaultdict(int)
    for waypoint in store.nodes(Waypoint):
        count[waypoint.journey_id] += 1
    acts = acts_on(store.journey_records())
    rows = [
        _row(found, now, count[found.journey_id], (), acts[found.journey_id])
        for found in store.nodes(Journey)
    ]
    rows = [row for row in rows if status in (None, row.status)]
    rows.sort(key=lambda row: row.last_seen or LONG_AGO, reverse=True)
    return tuple(rows)


def journey(store: Store, journey_id: str, now: datetime) -> JourneyRow:
    """One Journey with its waypoints; raises NotFound."""
    found = next((row for row in store.nodes(Journey) if row.journey_id == journey_id), None)
    if found is None:
        kind = "Journey"
        raise NotFound(kind, journey_id)
    refs: defaultdict[str, list[str]] = defaultdict(list)
    for edge in store.edges(Anchored):
        if edge.src_table == "Waypoint":
            refs[edge.src].append(edge.dst)
    stops = [row for row in store.nodes(Waypoint) if row.journey_id == journey_id]
    stops.sort(key=lambda row: row.seq)
    shown = tuple(_stop(row, refs[row.key]) for row in stops)
    return _row(found, now, len(stops), shown, acts_on(store.journey_records())[journey_id])


def _stop(waypoint: Waypoint, refs: list[str]) -> StopRow:
    return StopRow(
        seq=waypoint.seq,
        moment=waypoint.moment,
        at=waypoint.at,
        labels=waypoint.labels,
        frontier_hint=waypoint.frontier_hint,
        refs=tuple(sorted(refs)),
    )


def _row(
    found: Journey,
    now: datetime,
    waypoints: int,
    stops: tuple[StopRow, ...],
    acts: Sequence[str],
) -> JourneyRow:
    status = status_now(found, now)
    place = bearing(status, acts)
    return JourneyRow(
        journey_id=found.journey_id,
        path_label=found.path_label,
        core_inquiry=found.core_inquiry,
        status=status.value,
        frontier=found.frontier,
        frontier_refs=found.frontier_refs,
        first_seen=found.first_seen,
        last_seen=found.last_seen,
        expires_at=found.expires_at,
        merged_into=found.merged_into,
        waypoints=waypoints,
        rank=place.rank,
        confidence=place.confidence,
        visibility=place.visibility,
        layer=place.layer,
        stops=stops,
    )
