"""Evaluation on the owner's own history: dream at several T, and see what came of it."""

import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path

from pydantic import ValidationError

from dream.cycle import Landed, NothingDue
from dream.evaluation import recalled
from dream.evaluation.recalled import ManualReview, Tally
from dream.evaluation.report import Cut, Evaluation, evaluation
from dream.evaluation.rivals import Likeness, Rivals
from dream.evaluation.sides import Sides
from dream.index import Index
from graphstore import vectors
from graphstore.errors import Error
from graphstore.model.conversation import Thread
from graphstore.model.hypothesis import Hypothesis
from graphstore.model.record import EpochRecord
from graphstore.store import open_store
from ingest.derive import Derivation
from service.replaying import Replay, moments
from service.session import Session
from service.stages import counted
from topology.model import Limits


class ReviewUnreadable(Error):
    """The manual review {path} cannot be used: {reason}."""

    hint = "one JSON object with the counts reviewed, useful, annoying, unsupported"

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(path, reason)
        self.path = path
        self.reason = reason


def reviewed(path: str) -> ManualReview | None:
    """A manual review, none without a path.

    Raises ReviewUnreadable for a file that is missing or says something else: who asks for it
    gets no figures without it.
    """
    if not path:
        return None
    try:
        found = ManualReview.from_json(Path(path).read_bytes())
    except OSError as cause:
        raise ReviewUnreadable(path, "it cannot be read") from cause
    except ValidationError as cause:
        raise ReviewUnreadable(path, "it holds something else") from cause
    if not 0 <= max(found.useful, found.annoying, found.unsupported) <= found.reviewed:
        raise ReviewUnreadable(path, "its counts do not add up")
    return found


@dataclass(slots=True)
class Measured:
    """What the replay of one history, or of several, gave."""

    cuts: list[Cut] = field(default_factory=list)
    failed: Counter[str] = field(default_factory=Counter)
    tally: Tally = field(default_factory=Tally)
    undated: int = 0

    def evaluation(self, horizon_days: int, review: ManualReview | None = None) -> Evaluation:
        """All of it together."""
        return evaluation(
            self.cuts,
            horizon_days,
            self.undated,
            counted(self.failed),
            recalled.report(self.tally, review),
        )


def evaluated(
    session: Session,
    at: tuple[datetime, ...],
    cuts: int,
    horizon_days: int,
    limits: Limits,
    review: str = "",
) -> Evaluation:
    """Replay the workspace at each T; the workspace itself is only read.

    Raises ReviewUnreadable.
    """
    judged, measured = reviewed(review), Measured()
    measure(session, measured, at, cuts, timedelta(days=horizon_days), limits)
    return measured.evaluation(horizon_days, judged)


def measure(
    session: Session,
    measured: Measured,
    at: tuple[datetime, ...],
    cuts: int,
    horizon: timedelta,
    limits: Limits,
) -> None:
    """Add what the history of one workspace gives."""
    with session.store("dream: eval") as store:
        # a child shares its beginning with its parent, which must be there first
        threads = sorted(store.threads(), key=lambda each: (bool(each.lineage), each.thread_id))
        whole = Index(store.ground())
    said = [turn.at for thread in threads for turn in thread.clean() if turn.at is not None]
    measured.undated += sum(turn.at is None for thread in threads for turn in thread.clean())
    chosen = moments(said, at, cuts, horizon)
    with tempfile.TemporaryDirectory(dir=session.workspace, prefix="eval-") as folder:
        replay(session, Path(folder), tuple(threads), whole, chosen, horizon, limits, measured)


def replay(
    session: Session,
    folder: Path,
    threads: tuple[Thread, ...],
    whole: Index,
    chosen: tuple[datetime, ...],
    horizon: timedelta,
    limits: Limits,
    measured: Measured,
) -> None:
    """Grow, dream, and compare at every T and at the end of its horizon."""
    known: dict[datetime, tuple[Index, EpochRecord]] = {}
    dreamt: dict[datetime, tuple[Hypothesis, ...]] = {}
    derive = Derivation()
    with open_store(folder, derive, engine=session.settings.store.engine) as store:
        past = Replay(store, derive, threads, session.settings.dream)
        for moment in sorted({each for at in chosen for each in (at, at + horizon)}):
            session.progress(f"replaying up to {moment:%Y-%m-%d}")
            if (grown := past.grow(moment)) is None:
                continue
            then = Index(grown[0])
            known[moment] = (then, grown[1])
            if moment in chosen:
                dreamt[moment] = ranked(past.dream(moment, limits), measured.failed)
                recalled.compare(
                    measured.tally,
                    recalled.wanted(then, whole, moment, moment + horizon),
                    dreamt[moment],
                    lambda cue, limit, now=moment: past.recall(cue, limit, now),  # type: ignore[misc]
                    then,
                )
    for at, hypotheses in dreamt.items():
        (then, epoch), (later, _) = known[at], known[at + horizon]
        sides = Sides(then, later, at)
        recalled.judge(measured.tally, hypotheses, later, at + horizon)
        measured.cuts.append(
            Cut(sides, Rivals(sides, likeness(epoch)), hypotheses, until=at + horizon)
        )


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
