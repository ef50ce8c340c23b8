"""Where a session of Claude Code may be read on from, and what its reader must know there."""

import json
from array import array
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Final, NamedTuple

from graphstore.model.conversation import Event
from ingest.cuts import Cut, Cuts, hash_of

SPOTS: Final = 8
"""Places kept of a session, the latest ones."""


class Spot(NamedTuple):
    """A message that begins an exchange, seen when it is read."""

    place: int
    line: int
    offset: int
    answered: int
    records: int
    events: int
    """Events before it."""
    parent: str | None
    """Record of the exchange before it that it names as its parent."""


class Begun(NamedTuple):
    """What was found before a place."""

    session: str
    folders: tuple[str, ...]
    models: tuple[str, ...]
    events: tuple[Event, ...]
    parent: str | None


def cuts_of(
    spots: Sequence[Spot],
    keys: Iterable[str],
    *,
    session: str,
    folders: tuple[str, ...],
    models: tuple[str, ...],
    events: tuple[Event, ...],
) -> Cuts:
    """Places with their states. ``keys`` are the native ids of all records, in their order."""
    found = [
        Cut(
            line=spot.line,
            offset=spot.offset,
            answered=spot.answered,
            records=spot.records,
            state=_told(session, folders, models, events[: spot.events], spot.parent),
        )
        for spot in spots
    ]
    return Cuts(tuple(found), array("I", map(hash_of, keys)))


def _told(
    session: str,
    folders: tuple[str, ...],
    models: tuple[str, ...],
    events: tuple[Event, ...],
    parent: str | None,
) -> str:
    return json.dumps({
        "session": session,
        "folders": folders,
        "models": models,
        "events": [
            (event.kind, None if event.at is None else event.at.isoformat()) for event in events
        ],
        "parent": parent,
    })  # fmt: skip


def begun(state: str) -> Begun:
    """What a state tells."""
    told = json.loads(state)
    events = (
        Event(kind=kind, at=None if at is None else datetime.fromisoformat(at))
        for kind, at in told["events"]
    )
    return Begun(
        session=told["session"],
        folders=tuple(told["folders"]),
        models=tuple(told["models"]),
        events=tuple(events),
        parent=told["parent"],
    )
