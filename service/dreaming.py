"""A dream cycle by hand: gate, lock, begin with the store open, work with it closed, land."""

from dream import cycle, gate, lock
from dream.cycle import Ask, Fenced, Landed, NothingDue
from dream.gate import Closed, GateState
from dream.settings import DreamSettings
from graphstore.model.base import Value
from graphstore.model.knowledge import SeedRow
from graphstore.model.record import GateLine
from graphstore.store import Store
from service import scouting
from service.session import Session
from topology.model import Limits


class Dreamt(Value):
    """How a dream cycle ended, with the gate as it was evaluated."""

    result: Landed | NothingDue | Fenced | Closed


def dreamt(session: Session, ask: Ask, limits: Limits) -> Dreamt:
    """Run one dream cycle; the store is closed while drafts are made and judged."""
    settings, now = session.settings.dream, session.now()
    opened = gate.gate(GateState(trigger=ask.trigger), settings, now)
    if isinstance(opened, Closed):
        return Dreamt(result=opened)
    wait = settings.lock_wait_seconds if ask.trigger == "manual" else 0
    with lock.hold(session.workspace, wait, now) as held:
        line = gate.locked(held)
        if held is not None:
            return Dreamt(result=Closed(condition="lock", lines=(*opened.lines, line)))
        return Dreamt(result=run(session, ask, limits, settings, (*opened.lines, line)))


def run(
    session: Session, ask: Ask, limits: Limits, settings: DreamSettings, lines: tuple[GateLine, ...]
) -> Landed | NothingDue | Fenced:
    """Begin, work, land."""
    now = session.now()
    with session.store("dream: begin") as store:
        seeds = fresh_seeds(store, limits)
        leased = cycle.begin(store, seeds, ask, lines, settings, now)
    if isinstance(leased, NothingDue):
        return leased
    session.progress(f"dreaming: {len(leased.units)} packs")
    worked = cycle.work(leased, settings, now, lambda: False)
    with session.store("dream: land") as store:
        return cycle.land(worked, store, settings, session.now())


def fresh_seeds(store: Store, limits: Limits) -> tuple[SeedRow, ...]:
    """Seeds of the graph as it is: scouted again only when the graph changed."""
    rows = [row for row in store.nodes(SeedRow) if row.resolved_run is None]
    if rows and scouting.is_current(store, rows):
        return tuple(rows)
    scouting.scouted(store, limits)
    return tuple(row for row in store.nodes(SeedRow) if row.resolved_run is None)
