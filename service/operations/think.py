"""The scout looks at the structure."""

from pathlib import Path

from graphstore.errors import NotFound
from graphstore.model.knowledge import SeedRow
from graphstore.view import Scope
from service import scouting
from service.answers import SeedView, ShapeRow
from service.moments import moment
from service.session import Session
from topology.model import Limits
from topology.report import ScoutReport


def limits(session: Session, *, level: int = -1, top: int = 0) -> Limits:
    """Limits of the scout: the settings, and what was asked for this time."""
    chosen = session.settings.scout
    return Limits(
        top=top or chosen.top,
        k_min=chosen.k_min,
        side_threads=chosen.side_threads,
        max_cycle=chosen.max_cycle,
        hub_df=chosen.hub_df or None,
        level=(None, 0, 1, 2)[level + 1],
    )


def scout(
    session: Session,
    shapes: tuple[str, ...] = (),
    *,
    level: int = -1,
    top: int = 0,
    k_min: int = 0,
    s_min: int = 0,
    max_cycle: int = 0,
    hub_df: int = 0,
    themes: bool = True,
    since: str = "",
    until: str = "",
    threads: tuple[str, ...] = (),
    labels: tuple[str, ...] = (),
    stop: str = "",
    notes: str = "",
    graph: str = "",
    store: bool = True,
    public: bool = False,
    executor: str = "inline",
) -> ScoutReport:
    """Find the places of the graph that are worth a second look."""
    chosen = scouting.executor_named(executor)
    usual = limits(session)
    given = {"k_min": k_min, "s_min": s_min, "max_cycle": max_cycle, "hub_df": hub_df}
    asked = limits(session, level=level, top=top).replace(
        themes=themes, **{name: value for name, value in given.items() if value}
    )
    stops = scouting.stop_labels(stop)
    if graph:
        return scouting.foreign_graph(
            Path(graph), asked, shapes=shapes, stops=stops, public=public, executor=chosen
        )
    scope = Scope(
        since=moment(since, "since"),
        until=moment(until, "until"),
        threads=threads,
        labels=labels,
        stops=stops,
    )
    whole = store and not (shapes or notes) and scope == Scope() and asked == usual
    with session.store("scout") as opened:
        return scouting.scouted(
            opened,
            asked,
            shapes=shapes,
            scope=scope,
            notes=notes,
            public=public,
            keep=whole,
            executor=chosen,
        )


def seed(session: Session, seed_id: str) -> SeedView:
    """Show a seed: members, sides, turns, how it would vanish."""
    with session.store("seed") as store:
        row = next((row for row in store.nodes(SeedRow) if row.seed_id == seed_id), None)
        if row is None:
            raise NotFound("seed", seed_id)
        return scouting.shown(store, row)


def shapes(session: Session) -> tuple[ShapeRow, ...]:
    """List the shapes and the dream functions that want each."""
    del session
    return scouting.shape_rows()
