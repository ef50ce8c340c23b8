"""A dream cycle by hand: gate, lock, begin with the store open, work with it closed, land."""

import time
from collections import Counter
from collections.abc import Iterable
from contextlib import ExitStack
from datetime import datetime, timedelta
from typing import Final

from pydantic import TypeAdapter

from dream import cycle, journal
from dream.cycle import Ask, Fenced, Landed, NothingDue, known_of
from dream.gate import Closed, Look, gate
from dream.index import Index
from dream.landing import apart
from dream.model import Pack
from dream.settings import DreamSettings
from dream.use import Request, use
from graphstore.derivation import Ground
from graphstore.model.base import Value
from graphstore.model.conversation import Unchanged
from graphstore.model.hypothesis import (
    LIVE,
    AnyHypothesis,
    Claim,
    CounterEvidence,
    HypothesisState,
    Standing,
    standing,
)
from graphstore.model.record import GateLine, ParkedDraft
from graphstore.store import Store
from service import scouting
from service.answers import HypothesisRow
from service.calls import Calls
from service.pacing import GateFacts, woken
from service.session import Session
from topology.model import Limits

CLAIMS: Final = TypeAdapter(tuple[Claim, ...])
COUNTERS: Final = TypeAdapter(tuple[CounterEvidence, ...])


class Dreamt(Value):
    """How a dream cycle ended, with the gate as it was evaluated."""

    result: Landed | NothingDue | Fenced | Closed | Unchanged


IDLE: Final = Dreamt(
    result=NothingDue(
        reason="none_due",
        next_action="nothing new since the last dream cycle; clew dream runs one all the same",
        notes=(),
    )
)


def dreamt(session: Session, ask: Ask, limits: Limits) -> Dreamt:
    """Run one dream cycle; the store is closed while drafts are made and judged."""
    settings, now = session.settings.dream, session.now()
    wait = settings.lock_wait_seconds if ask.by_hand else 0
    with ExitStack() as kept:
        facts = GateFacts(session, kept, wait_s=wait, own=ask.caller.thread_id)
        try:
            opened = gate(Look(facts, ask.caller, settings, now))
        finally:
            facts.done()
        if isinstance(opened, Closed):
            return Dreamt(result=opened)
        return Dreamt(result=run(session, ask, limits, settings, opened.lines))


def nothing_new(store: Store) -> bool:
    """Whether nothing but dream cycles was recorded since the last one that landed."""
    cycles = store.cycles()
    landed = [cycle for cycle in cycles if cycle.outcome == "landed"]
    return bool(landed) and scouting.knowledge_seq(store) <= landed[-1].leased_seq


def run(
    session: Session, ask: Ask, limits: Limits, settings: DreamSettings, lines: tuple[GateLine, ...]
) -> Landed | NothingDue | Fenced | Unchanged:
    """Begin, work, land."""
    now = session.now()
    with session.store("dream: begin") as store:
        seeds = scouting.refresh(store, limits)
        leased = cycle.begin(store, seeds, ask, lines, settings, now)
    if isinstance(leased, NothingDue):
        return leased
    session.progress(f"dreaming: {len(leased.units)} packs")
    deadline = time.monotonic() + settings.cycle_deadline_seconds

    def stop() -> bool:
        """Its time is over; or somebody wrote or asked meanwhile, and nobody waits for it."""
        return time.monotonic() >= deadline or (
            not ask.by_hand and woken(session.workspace, leased.leased_seq, leased.started_at)
        )

    # a dry run sends nothing: it shows what rules would do
    aide = None if ask.is_dry else session.aide(leased.cycle_id)
    worked = cycle.work(leased, settings, now, stop, aide)
    with session.store("dream: land") as store:
        landed = cycle.land(worked, store, settings, session.now())
    Calls(session.workspace).tidy(timedelta(days=settings.model.calls_kept_days), session.now())
    return landed


def packs(session: Session, store: Store, limits: Limits) -> tuple[Pack, ...]:
    """What the next dream cycle could dream about, in its order; nothing is leased."""
    seeds = scouting.refresh(store, limits)
    index, ground = Index(store.ground(), cycle.acts_of(store)), cycle.ground_of(store, ())
    settings, now = session.settings.dream, session.now()
    live, _ = apart(ground, now)
    return tuple(cycle.packed(index, seeds, Ask(), live, settings, now, Counter()).values())


Judgeable = tuple[AnyHypothesis, tuple[str, ...]]
"""A hypothesis, and the checks it failed where it is a parked draft."""


def rows(session: Session, store: Store, *, state: str = "") -> tuple[HypothesisRow, ...]:
    """Hypotheses as they are shown, the most certain first; by default those that count.

    ``state`` parked lists drafts that wait, with the checks they failed.
    """
    now = session.now()
    if state == HypothesisState.PARKED:
        return rows_of(store, now, drafts(session, store))
    stands = (
        (edge, ())
        for edge in known_of(store)
        if (edge.state == state if state else edge.state in LIVE)
    )
    return rows_of(store, now, stands)


def drafts(session: Session, store: Store) -> tuple[Judgeable, ...]:
    """Drafts that wait, with the checks they failed."""
    return tuple((draft.hypothesis, draft.failed) for draft in waiting(session, store))


def rows_of(store: Store, now: datetime, judged: Iterable[Judgeable]) -> tuple[HypothesisRow, ...]:
    """Some hypotheses as they are shown, the most certain first."""
    edges = sorted(
        judged, key=lambda each: (-each[0].points, -each[0].retention, each[0].hypothesis_id)
    )
    names = Names(store.ground())
    current = store.fingerprints({ref for edge, _ in edges for ref in edge.refs})
    return tuple(row(edge, failed, names, standing(edge, now, current)) for edge, failed in edges)


def waiting(session: Session, store: Store) -> tuple[ParkedDraft, ...]:
    """Parked drafts that nobody decided on and whose time is not up, each once, as last parked."""
    records = store.dreams()
    decided = journal.rejected(records) | {edge.hypothesis_id for edge in known_of(store)}
    parked = {
        draft.hypothesis.hypothesis_id: draft
        for draft in journal.still_parked(records, session.settings.dream, session.now())
    }
    return tuple(draft for name, draft in parked.items() if name not in decided)


def row(
    edge: AnyHypothesis, failed: tuple[str, ...], names: "Names", judged: Standing
) -> HypothesisRow:
    """One hypothesis as it is shown."""
    return HypothesisRow(
        hypothesis=edge,
        standing=judged,
        use=use(edge, judged, Request(kind="explicit")).manner,
        src_label=names.of(edge.src),
        dst_label=names.of(edge.dst),
        claims=CLAIMS.validate_json(edge.claims),
        counter=COUNTERS.validate_json(edge.counter_evidence),
        failed=failed,
    )


class Names:
    """What nodes are called."""

    def __init__(self, ground: Ground) -> None:
        self._names: dict[str, str | None] = {
            **{each.thread_id: each.title for each in ground.threads},
            **{each.question_id: each.text for each in ground.questions},
            **{each.concept_id: each.label for each in ground.concepts},
            **{each.journey_id: each.path_label for each in ground.journeys},
        }

    def of(self, node: str) -> str:
        """Name of a node, its id where it has none."""
        return self._names.get(node) or node
