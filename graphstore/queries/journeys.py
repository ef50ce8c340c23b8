"""Journeys as they stand now."""

from collections import defaultdict
from datetime import datetime, timedelta
from typing import Final

from graphstore.errors import NotFound
from graphstore.model.answers import JourneyRow, StopRow
from graphstore.model.knowledge import Anchored, Journey, JourneyStatus, Waypoint
from graphstore.queries.threads import LONG_AGO
from graphstore.store import Store

CAMP: Final = timedelta(days=45)
"""So long without movement, and a Journey camps."""


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
    rows = [_row(found, now, count[found.journey_id], ()) for found in store.nodes(Journey)]
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
    return _row(found, now, len(stops), tuple(_stop(row, refs[row.key]) for row in stops))


def _stop(waypoint: Waypoint, refs: list[str]) -> StopRow:
    return StopRow(
        seq=waypoint.seq,
        moment=waypoint.moment,
        at=waypoint.at,
        labels=waypoint.labels,
        frontier_hint=waypoint.frontier_hint,
        refs=tuple(sorted(refs)),
    )


def _row(found: Journey, now: datetime, waypoints: int, stops: tuple[StopRow, ...]) -> JourneyRow:
    return JourneyRow(
        journey_id=found.journey_id,
        path_label=found.path_label,
        core_inquiry=found.core_inquiry,
        status=status_now(found, now).value,
        frontier=found.frontier,
        frontier_refs=found.frontier_refs,
        first_seen=found.first_seen,
        last_seen=found.last_seen,
        expires_at=found.expires_at,
        merged_into=found.merged_into,
        waypoints=waypoints,
        stops=stops,
    )
