"""What a run did, in figures: stage times, the summary of ``up``, the state of a workspace."""

import sys
import time
from collections import Counter
from typing import Final

from dream.cycle import live_of
from dream.journal import last_success
from graphstore.model.job import JobState
from graphstore.model.knowledge import SeedRow
from graphstore.model.record import Count
from graphstore.store import Store
from ingest.model import IngestReport
from service.answers import StageTime, Status, UpReport, WrittenFiles
from service.dreaming import Dreamt, waiting
from service.session import Session

EVENTS: Final = 5
"""Newest events that are shown."""


class Clock:
    """CPU seconds and peak memory, stage by stage."""

    def __init__(self) -> None:
        self.laps: list[StageTime] = []
        self._last = 0.0

    def lap(self, stage: str) -> None:
        """End a stage."""
        now = time.process_time()
        self.laps.append(
            StageTime(stage=stage, cpu_s=round(now - self._last, 2), peak_mb=round(peak_mb(), 1))
        )
        self._last = now


def peak_mb() -> float:
    """Peak memory of this process in MB; 0 where the system does not tell."""
    try:
        import resource
    except ImportError:  # pragma: no cover - Windows
        return 0.0
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (1024 * 1024 if sys.platform == "darwin" else 1024)


def counted(names: Counter[str]) -> tuple[Count, ...]:
    """Figures by name."""
    return tuple(Count(name=name, count=names[name]) for name in sorted(names))


def summary(
    session: Session,
    store: Store,
    report: IngestReport,
    dreamt: Dreamt,
    files: WrittenFiles,
    clock: Clock,
) -> UpReport:
    """Everything that ``up`` tells."""
    ground = store.ground()
    seeds = [row for row in store.nodes(SeedRow) if row.resolved_run is None]
    live = live_of(store)
    return UpReport(
        ingest=report,
        threads=len(ground.threads),
        turns=sum(not turn.alternative and turn.role != "other" for turn in ground.turns),
        questions=len(ground.questions),
        concepts=len(ground.concepts),
        links=len(ground.links),
        journeys=len(ground.journeys),
        seeds=counted(Counter(row.shape for row in seeds)),
        hypotheses=counted(Counter(edge.rule for edge in live)),
        parked=len(waiting(session, store)),
        dream=outcome(dreamt),
        page=files.page,
        page_missing=files.page_missing,
        report=files.report,
        stages=tuple(clock.laps),
    )


def nothing(report: IngestReport, clock: Clock) -> UpReport:
    """What ``up`` tells when there is no thread to work on."""
    return UpReport(
        ingest=report,
        threads=0,
        turns=0,
        questions=0,
        concepts=0,
        links=0,
        journeys=0,
        dream="no_queue",
        page_missing="there is no conversation yet",
        stages=tuple(clock.laps),
    )


def outcome(dreamt: Dreamt) -> str:
    """How a dream cycle ended, in a few words."""
    match dreamt.result.outcome:
        case "landed":
            return dreamt.result.why_nothing or "landed"
        case "nothing_due":
            return dreamt.result.reason
        case "closed":
            return f"gate:{dreamt.result.condition}"
        case "fenced" | "unchanged":
            return dreamt.result.outcome


def status(session: Session, store: Store) -> Status:
    """The state of a workspace."""
    ground, cycles = store.ground(), store.cycles()
    carriers = store.files.all()
    losses: Counter[str] = Counter()
    for row in carriers:
        losses.update({code.name: code.count for code in row.codes})
    queued = store.jobs.all(JobState.QUEUED)
    hypotheses = live_of(store)
    return Status(
        workspace=str(store.path),
        engine=store.engine_name,
        threads=len(ground.threads),
        lineages=len({thread.lineage_root for thread in ground.threads}),
        turns=sum(not turn.alternative and turn.role != "other" for turn in ground.turns),
        questions=len(ground.questions),
        concepts=len(ground.concepts),
        journeys=len(ground.journeys),
        seeds=sum(row.resolved_run is None for row in store.nodes(SeedRow)),
        hypotheses=len(hypotheses),
        parked=len(waiting(session, store)),
        records=store.ledger.last_seq(),
        carriers=len(carriers),
        unmasked=sum("unmasked" in thread.flags for thread in ground.threads),
        losses=counted(losses),
        last_dream=last_success(cycles),
        last_dream_outcome=cycles[-1].outcome if cycles else "never",
        queued=len(queued),
        notices=store.recent(EVENTS),
        next_action=next_action(ground.threads, bool(cycles)),
    )


def next_action(threads: tuple[object, ...], dreamt: bool) -> str:  # noqa: FBT001 - a fact
    """The most useful next command."""
    if not threads:
        return "clew up PATH, or clew up --example"
    return "clew hypotheses" if dreamt else "clew up"
