"""Where a session of Codex may be read on from, and what its reader must know there."""

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

    line: int
    offset: int
    answered: int
    turn_ids: int
    """Turns with an id before it."""
    events: int
    """Events before it."""
    turn_id: str | None
    """Of the turn that was at hand."""
    scope: str | None
    """Of the turn that the message is of."""


class Begun(NamedTuple):
    """What was found before a place."""

    native_id: str
    started_at: datetime | None
    project: str | None
    models: tuple[str, ...]
    events: tuple[Event, ...]
    turn_id: str | None
    scope: str | None


def cuts_of(spots: Iterable[Spot], turn_ids: Iterable[str], begun: Begun) -> Cuts:
    """Places with their states; ``begun`` is what was found in all."""
    found = [
        Cut(
            line=spot.line,
            offset=spot.offset,
            answered=spot.answered,
            records=spot.turn_ids,
            retold=True,
            state=_told(
                begun._replace(
                    events=begun.events[: spot.events], turn_id=spot.turn_id, scope=spot.scope
                )
            ),
        )
        for spot in spots
    ]
    return Cuts(tuple(found), array("I", map(hash_of, turn_ids)))


def _told(begun: Begun) -> str:
    events = [(event.kind, _written(event.at)) for event in begun.events]
    plain = begun._replace(events=(), started_at=None)._asdict()
    return json.dumps({**plain, "started_at": _written(begun.started_at), "events": events})


def _written(at: datetime | None) -> str | None:
    return None if at is None else at.isoformat()


def begun_at(state: str) -> Begun:
    """What a state tells."""
    told = json.loads(state)
    started = told.pop("started_at")
    return Begun(
        **{
            **told,
            "models": tuple(told["models"]),
            "events": tuple(_events(told["events"])),
            "started_at": None if started is None else datetime.fromisoformat(started),
        }
    )


def _events(told: Sequence[tuple[str, str | None]]) -> Iterable[Event]:
    for kind, at in told:
        yield Event(kind=kind, at=None if at is None else datetime.fromisoformat(at))
