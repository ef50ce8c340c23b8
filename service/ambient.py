"""Recalls that an agent makes unasked: at most eight turns, kept for hours, without its words."""

from contextlib import suppress
from datetime import datetime
from typing import Final

from graphstore.errors import DiskFull, Unwritable
from graphstore.given import Given
from graphstore.ids import Json, canonical, keyed_digest
from graphstore.model.answers import Recalled
from graphstore.store import Store

HITS: Final = 8


class Ambient:
    """What one session of an agent was given for one cue."""

    def __init__(self, store: Store, salt: bytes, session: str, asked: tuple[Json, ...]) -> None:
        """``asked``: the cue first, then what narrows it."""
        cue, *rest = asked
        folded = " ".join(str(cue).casefold().split())
        self._cue = str(cue)
        self._given = Given(store.ledger)
        self._key = keyed_digest(salt, b"recall:" + canonical([session, folded, *rest]))

    def kept(self, now: datetime) -> Recalled | None:
        """What it was given lately, if nothing was recorded since."""
        body = self._given.get(self._key, now)
        return None if body is None else Recalled.from_json(body).replace(cue=self._cue)

    def keep(self, found: Recalled, now: datetime) -> Recalled:
        """Keep an answer; one is never lost for want of room to keep it."""
        with suppress(DiskFull, Unwritable):
            self._given.put(self._key, found.replace(cue="").model_dump_json(), now)
        return found
