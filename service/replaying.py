"""A workspace as it was: a store of its own that grows from moment to moment."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from dream import cycle
from dream.cycle import Ask, Landed, NothingDue
from dream.settings import DreamSettings
from graphstore.derivation import Derive, Ground
from graphstore.model.conversation import Thread, Turn
from graphstore.model.record import EpochRecord, ThreadRecord
from graphstore.queries.recall import recall
from graphstore.store import Store
from service import scouting, taking
from topology.model import Limits

HEAD = sorted(set(ThreadRecord.model_fields) & set(Thread.model_fields) - {"turns", "path"})


def moments(
    said: Sequence[datetime], at: tuple[datetime, ...], cuts: int, horizon: timedelta
) -> tuple[datetime, ...]:
    """The T of each cut: those given, else such that equally many turns lie between them.

    A last T leaves room for a horizon. None where nothing was said for that long.
    """
    if at or not said:
        return tuple(sorted(set(at)))
    order = sorted(said)
    early = [moment for moment in order if moment <= order[-1] - horizon]
    places = {len(early) * place // cuts for place in range(1, cuts + 1)} - {0}
    return tuple(sorted({early[place - 1] for place in places}))


def said_by(thread: Thread, moment: datetime) -> ThreadRecord | None:
    """A thread as it was at a moment: its dated turns up to then; None before its first."""
    turns = tuple(turn for turn in thread.turns if is_by(turn, moment))
    if not turns:
        return None
    later = {turn.number for turn in thread.turns} - {turn.number for turn in turns}
    return ThreadRecord(
        **{name: getattr(thread, name) for name in HEAD},
        turns=turns,
        path=tuple(each for each in thread.path if each not in later),
    )


def is_by(turn: Turn, moment: datetime) -> bool:
    """Whether a turn was said by a moment; of an undated one nobody knows."""
    return turn.at is not None and turn.at <= moment


class Replay:
    """A store that is brought from moment to moment; nothing that it dreams is kept."""

    def __init__(
        self, store: Store, derive: Derive, threads: tuple[Thread, ...], settings: DreamSettings
    ) -> None:
        self._store = store
        self._derive = derive
        self._threads = threads
        self._settings = settings

    def grow(self, moment: datetime) -> tuple[Ground, EpochRecord] | None:
        """Take in what was said by a moment; None where that was nothing."""
        store = self._store
        with store.deferred():
            for thread in self._threads:
                if (record := said_by(thread, moment)) is not None:
                    store.commit(record, moment)
            taking.renew(store, self._derive, moment)
        taking.walk(store, self._derive, moment)
        epoch = store.epoch()
        return None if epoch is None else (store.ground(), epoch)

    def dream(self, moment: datetime, limits: Limits) -> Landed | NothingDue:
        """One dream cycle of rules, with the clock at that moment."""
        seeds = scouting.refresh(self._store, limits)
        leased = cycle.begin(self._store, seeds, Ask(mode="dry_run"), (), self._settings, moment)
        if isinstance(leased, NothingDue):
            return leased
        worked = cycle.work(leased, self._settings, moment, lambda: False)
        landed = cycle.land(worked, self._store, self._settings, moment)
        if not isinstance(landed, Landed):
            raise TypeError(type(landed).__name__)
        return landed

    def recall(self, cue: str, limit: int, moment: datetime) -> tuple[str, ...]:
        """Refs of the turns that a cue recalls."""
        found = recall(self._store, cue, limit, now=moment)
        return tuple(hit.turn.ref for hit in found.hits)
