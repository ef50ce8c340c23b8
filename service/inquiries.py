"""What the owner does with Journeys: each act is one record; no waypoint is touched."""

from datetime import datetime
from typing import Final

from graphstore.courses import FRONTIER_CHARACTERS
from graphstore.errors import NotFound
from graphstore.model.answers import JourneyRow
from graphstore.model.knowledge import Journey, JourneyStatus
from graphstore.model.record import JourneyRecord
from graphstore.queries.journeys import journey as one_journey
from graphstore.queries.journeys import status_now
from graphstore.store import Store
from ingest.secrets import mask
from service.moments import WrongValue
from service.reviewing import NotPossible, only

MOVING: Final = frozenset({JourneyStatus.TRAVELING, JourneyStatus.CAMPED})
FROM: Final[dict[str, frozenset[JourneyStatus]]] = {
    "confirm": MOVING,
    "correct": MOVING | {JourneyStatus.ARRIVED},
    "merge": frozenset(JourneyStatus),
    "abandon": MOVING | {JourneyStatus.ARRIVED},
    "revive": frozenset(JourneyStatus) - {JourneyStatus.TRAVELING},
    "arrive": MOVING,
}
"""Acts, each with the statuses in which it is possible."""
BECOMES: Final = {
    "confirm": JourneyStatus.TRAVELING,
    "merge": JourneyStatus.ABANDONED,
    "abandon": JourneyStatus.ABANDONED,
    "revive": JourneyStatus.TRAVELING,
    "arrive": JourneyStatus.ARRIVED,
}
_MOVES: Final = frozenset({"confirm", "correct", "revive"})
"""Acts after which it has moved: time is counted from them."""


def steer(store: Store, act: str, name: str, other: str, now: datetime, salt: bytes) -> JourneyRow:
    """Carry out an act on a Journey; ``other`` is the target of a merge, the words of a correction.

    Raises NotFound for a Journey that is not there, WrongValue for a missing word or target,
    NotPossible where the act does not fit its status.
    """
    found = _journey(store, name)
    status = status_now(found, now)
    if found.merged_into is not None:
        raise NotPossible(act, found.journey_id, f"it goes on in {found.merged_into}")
    if status not in FROM[act]:
        raise NotPossible(act, found.journey_id, f"it is {status.value}")
    words = into = None
    if act == "merge":
        into = _target(store, found, other)
    if act == "correct":
        words = mask(" ".join(other.split()), salt)[0][:FRONTIER_CHARACTERS]
        if not words:
            raise WrongValue("correct", "nothing", "words for the frontier")
    record = JourneyRecord(
        journey_id=found.journey_id,
        path_label=found.path_label,
        core_inquiry=found.core_inquiry,
        status=BECOMES.get(act, found.status),
        last_activity_at=now if act in _MOVES else None,
        merged_into=into,
        frontier=words,
        reason=act,
    )
    store.commit(record, now)
    return one_journey(store, found.journey_id, now)


def _journey(store: Store, name: str) -> Journey:
    """A Journey by id or by an unambiguous beginning of it; raises NotFound."""
    found = only(store.nodes(Journey), name, lambda one: one.journey_id)
    if found is None:
        kind = "Journey"
        raise NotFound(kind, name)
    return found


def _target(store: Store, source: Journey, name: str) -> str:
    """Id of the Journey that another one goes on in: not itself, and no merged one."""
    if not name:
        raise WrongValue("merge", "nothing", "the Journey that it goes on in")
    target = _journey(store, name)
    if target.journey_id == source.journey_id:
        raise NotPossible("merge", source.journey_id, "it is the same Journey")
    if target.merged_into is not None:
        raise NotPossible("merge", source.journey_id, f"that one goes on in {target.merged_into}")
    return target.journey_id
