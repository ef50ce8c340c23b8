"""What the dream gate asks of a workspace, read no earlier than a condition asks."""

from contextlib import ExitStack, closing, suppress
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import Final

from dream import journal, lock
from dream.cycle import known_of
from dream.gate import Budget, Pressure
from dream.index import Index
from dream.lock import Held
from dream.settings import ModelSettings
from graphstore.errors import DiskFull, Error, Unwritable
from graphstore.jobs import Jobs
from graphstore.ledger import Ledger
from graphstore.model.job import JobState, Stamps
from graphstore.model.record import CycleRecord
from graphstore.queries import activity
from graphstore.store import Store
from service.calls import Calls
from service.session import Session

RECALLED: Final = "recalled"
"""Mark of the newest recall."""


def recalled(store: Store, now: datetime) -> None:
    """Leave word of a recall, which is no quiet; an answer never fails for want of room for it."""
    with suppress(DiskFull, Unwritable):
        store.jobs.reach(RECALLED, now.isoformat())


def woken(workspace: Path, since: int, at: datetime) -> bool:
    """Whether somebody wrote, decided or asked since a dream cycle was leased.

    The store is closed then and may be another process's: only its ledger is looked at, and what
    cannot be looked at wakes nobody.
    """
    with suppress(Error), closing(Ledger(workspace / "ledger.db")) as ledger:
        asked = activity.moment(Jobs(ledger).reached(RECALLED) or None)
        wrote = ledger.last_seq_of("thread", "review") > since
        return wrote or (asked is not None and asked > at)
    return False


class GateFacts:
    """Facts of one look at the gate.

    ``kept`` holds what a look opens: the store while facts are read, the dream lock for as long
    as the caller keeps the stack.
    """

    def __init__(self, session: Session, kept: ExitStack, *, wait_s: float, own: str = "") -> None:
        self._session = session
        self._kept = kept
        self._reading = ExitStack()
        self._wait_s = wait_s
        self._own = own

    def done(self) -> None:
        """Close the store again; a dream cycle opens it for itself."""
        self._reading.close()
        self.__dict__.pop("_store", None)

    @cached_property
    def _store(self) -> Store:
        return self._reading.enter_context(self._session.store("dream: gate"))

    @cached_property
    def _cycles(self) -> tuple[CycleRecord, ...]:
        return self._store.cycles()

    @cached_property
    def _since(self) -> int:
        """Ledger position that the last success leased; 0 without one."""
        landed = [cycle for cycle in self._cycles if journal.succeeded(cycle)]
        return landed[-1].leased_seq if landed else 0

    @cached_property
    def _changed(self) -> frozenset[str]:
        roots = self._store.roots()
        grown = activity.grown_since(self._store.ledger, self._since)
        return frozenset(roots.get(each, each) for each in grown) - {
            roots.get(self._own, self._own)
        }

    def stamps(self) -> Stamps:
        return self._store.jobs.stamps()

    def last_success(self) -> datetime | None:
        return journal.last_success(self._cycles)

    def first_thread(self) -> datetime | None:
        return activity.first_taken(self._store.ledger)

    def changed_threads(self) -> int:
        """Lineages, the caller's own left out."""
        return len(self._changed)

    def last_activity(self) -> datetime | None:
        asked = activity.moment(self._store.jobs.reached(RECALLED) or None)
        found = (asked, activity.newest_turn(self._store.ledger, self._own))
        return max((each for each in found if each is not None), default=None)

    @cached_property
    def _pressure(self) -> Pressure:
        store = self._store
        index = Index(store.ground())
        changed = [
            index.questions[question].salience
            for question, refs in index.askings.items()
            if self._changed.intersection(index.lineages_of(refs))
        ]
        fresh = {
            ref
            for ref, _ in index.signal_refs.get("correction", ())
            if index.lineage(ref) in self._changed
        }
        return Pressure(
            due_jobs=len(store.jobs.all(JobState.QUEUED)),
            new_corrections=len(fresh),
            salience=sum(changed) / len(changed) if changed else 0.0,
            validation_rate=journal.validation_rate(known_of(store), journal.RECENT),
            clean_turns=len(index.turns),
            budget_left=share_left(self.budget(), self._session.settings.dream.model),
        )

    def pressure(self) -> Pressure:
        return self._pressure

    def held(self) -> Held | None:
        """Takes the dream lock, and keeps it with the stack."""
        hold = lock.hold(self._session.workspace, self._wait_s, self._session.now())
        return self._kept.enter_context(hold)

    def budget(self) -> Budget:
        """What a model may still cost today; rules dream alone where none is set."""
        model = self._session.settings.llm.model
        if not model:
            return Budget()
        limits = self._session.settings.dream.model
        return Calls(self._session.workspace).budget(model, limits, self._session.now())


def share_left(left: Budget, limits: ModelSettings) -> float:
    """Share of the day's calls or tokens that is left, whichever is less; 1 without a model."""
    if left.model is None:
        return 1.0
    return min(
        left.calls_left / max(limits.calls_per_day, 1),
        left.tokens_left / max(limits.tokens_per_day, 1),
    )
