"""Time-sliced replay: dream at T over what was said by then, and see what came of it."""

import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final

from dream import cycle
from dream.cycle import Ask, Landed, NothingDue
from dream.evaluation.report import Cut, Evaluation, evaluation
from dream.evaluation.rivals import Likeness, Rivals
from dream.evaluation.sides import Sides
from dream.index import Index
from graphstore import vectors
from graphstore.derivation import Ground
from graphstore.folder import private
from graphstore.model.conversation import Thread, Turn
from graphstore.model.hypothesis import Hypothesis
from graphstore.model.record import EpochRecord, ThreadRecord
from graphstore.store import Store, open_store
from ingest.derive import Derivation
from service import scouting, taking
from service.session import Session
from service.stages import counted
from topology.model import Limits

CUTS: Final = 6
DAYS: Final = 90


def moments(
    turns: Sequence[datetime], at: tuple[datetime, ...], cuts: int, horizon: timedelta
) -> tuple[datetime, ...]:
    """The T of each cut: those given, else evenly over the time that leaves room for a horizon."""
    if at:
        return tuple(sorted(set(at)))
    first, last = min(turns), max(turns) - horizon
    step = (last - first) / cuts
    return tuple(first + step * place for place in range(1, cuts + 1)) if step > timedelta() else ()


def said_by(thread: Thread, moment: datetime) -> ThreadRecord | None:
    """A thread as it was at a moment: its dated turns up to then; None before its first."""
    turns = tuple(turn for turn in thread.turns if is_by(turn, moment))
    held = {turn.number for turn in turns}
    if not turns:
        return None
    names = set(ThreadRecord.model_fields) & set(Thread.model_fields)
    shared = thread.lineage[0].split_turn if thread.lineage else None
    return ThreadRecord(
        **{name: getattr(thread, name) for name in sorted(names - {"turns", "path"})},
        turns=turns,
        path=tuple(each for each in thread.path if each in held or each <= (shared or 0)),
    )


def is_by(turn: Turn, moment: datetime) -> bool:
    """Whether a turn was said by a moment; nobody knows of an undated one."""
    return turn.at is not None and turn.at <= moment


class Replay:
    """A store of its own that grows from moment to moment."""

    def __init__(self, store: Store, threads: tuple[Thread, ...], session: Session) -> None:
        self._store = store
        self._threads = threads
        self._session = session
        self._derive = Derivation()

    def grow(self, moment: datetime) -> tuple[Ground, EpochRecord]:
        """Take in what was said by a moment."""
        store = self._store
        with store.deferred():
            for thread in self._threads:
                if (record := said_by(thread, moment)) is not None:
                    store.commit(record, moment)
            taking.renew(store, self._derive, moment)
        taking.walk(store, self._derive, moment)
        epoch = store.epoch()
        if epoch is None:
            raise ValueError(moment)
        return store.ground(), epoch

    def dream(self, moment: datetime, limits: Limits) -> Landed | NothingDue:
        """One dream cycle of rules, of which nothing is kept."""
        settings = self._session.settings.dream
        seeds = scouting.refresh(self._store, limits)
        leased = cycle.begin(self._store, seeds, Ask(mode="dry_run"), (), settings, moment)
        if isinstance(leased, NothingDue):
            return leased
        worked = cycle.work(leased, settings, moment, lambda: False)
        landed = cycle.land(worked, self._store, settings, moment)
        if not isinstance(landed, Landed):
            raise TypeError(type(landed).__name__)
        return landed


def evaluated(
    session: Session, at: tuple[datetime, ...], cuts: int, horizon_days: int, limits: Limits
) -> Evaluation:
    """Replay the workspace at each T; the workspace itself is only read."""
    with session.store("dream: eval") as store:
        threads = tuple(
            sorted(store.threads(), key=lambda each: (bool(each.lineage), each.thread_id))
        )
    turns = [turn for thread in threads for turn in thread.clean()]
    dated = [turn.at for turn in turns if turn.at is not None]
    horizon = timedelta(days=horizon_days)
    chosen = moments(dated, at, cuts, horizon) if dated else ()
    private(session.workspace)
    with tempfile.TemporaryDirectory(dir=session.workspace, prefix="eval-") as folder:
        failed: Counter[str] = Counter()
        measured = list(replayed(session, Path(folder), threads, chosen, horizon, limits, failed))
    return evaluation(measured, horizon_days, len(turns) - len(dated), counted(failed))


def replayed(
    session: Session,
    folder: Path,
    threads: tuple[Thread, ...],
    chosen: tuple[datetime, ...],
    horizon: timedelta,
    limits: Limits,
    failed: Counter[str],
) -> Iterator[Cut]:
    """One cut for each T at which something was known."""
    first = min((t.at for each in threads for t in each.turns if t.at is not None), default=None)
    wanted = sorted({each for at in chosen for each in (at, at + horizon)})
    grounds: dict[datetime, tuple[Ground, EpochRecord]] = {}
    dreamt: dict[datetime, tuple[Hypothesis, ...]] = {}
    store = open_store(folder, Derivation(), engine=session.settings.store.engine)
    with store:
        replay = Replay(store, threads, session)
        for moment in wanted:
            if first is None or moment < first:
                continue
            session.progress(f"replaying: {moment:%Y-%m-%d}")
            grounds[moment] = replay.grow(moment)
            if moment in chosen:
                landed = replay.dream(moment, limits)
                dreamt[moment] = ranked(landed, failed)
    for at in chosen:
        if at in dreamt:
            ground, epoch = grounds[at]
            sides = Sides(Index(ground), Index(grounds[at + horizon][0]), at)
            yield Cut(sides, Rivals(sides, likeness(epoch)), dreamt[at], at + horizon)


def ranked(landed: Landed | NothingDue, failed: Counter[str]) -> tuple[Hypothesis, ...]:
    """What a dream cycle would land, as it is listed; what it parked is counted by check."""
    if isinstance(landed, NothingDue):
        return ()
    failed.update(name for each in landed.record.parked for name in each.failed)
    order = sorted(
        landed.record.hypotheses, key=lambda one: (-one.points, -one.retention, one.hypothesis_id)
    )
    return tuple(order)


def likeness(epoch: EpochRecord) -> Likeness:
    """Cosines of static vectors, by the figures of an epoch."""
    static = vectors.Static(epoch.lineages, [(int(row.name), row.count) for row in epoch.token_df])

    def alike(near: Sequence[str], far: Sequence[str]) -> list[list[float]]:
        found: list[list[float]] = vectors.cosines(static.embed(near), static.embed(far)).tolist()
        return found

    return alike
