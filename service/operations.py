"""Every user-visible operation, one plain function each; faces parse, call one, and show."""

import json
from datetime import datetime
from pathlib import Path

from dream.cycle import Ask
from graphstore.errors import NotFound, SettingsError
from graphstore.model.knowledge import SeedRow
from graphstore.model.query import QueryTable, RebuildReport, Scalar
from graphstore.view import Scope
from ingest.derive import Derivation
from ingest.model import IngestReport
from service import dreaming, scouting, settings, stages, taking, writing
from service.answers import (
    FormatRow,
    SeedView,
    SettingRows,
    ShapeRow,
    Status,
    UpReport,
    Verified,
    WrittenFiles,
)
from service.dreaming import Dreamt
from service.moments import moment
from service.session import Session
from topology.model import Limits
from topology.report import ScoutReport

EXAMPLE_WORKSPACE = "example"


def up(
    session: Session,
    paths: tuple[str, ...] = (),
    *,
    example: bool = False,
    out: str = "",
    with_text: bool = True,
    notes: bool = False,
    mask: bool = True,
    strict: bool = False,
) -> UpReport:
    """Ingest, scout, dream, then write the explorer page and the report."""
    if example:
        paths = (*paths, str(taking.example()))
    clock = stages.Clock()
    report = ingest(session, paths, notes=notes, mask=mask, strict=strict)
    clock.lap("ingest")
    session.progress("scouting")
    with session.store("scout") as store:
        scouting.scouted(store, limits(session))
    clock.lap("scout")
    session.progress("dreaming")
    dreamt = dreaming.dreamt(session, Ask(), limits(session))
    clock.lap("dream")
    session.progress("writing page and report")
    folder = Path(out) if out else session.workspace / "out"
    with session.store("write") as store:
        files = writing.pictures(store, report, folder, session.now(), with_text=with_text)
        clock.lap("write")
        return stages.summary(store, report, dreamt, files, clock)


def ingest(
    session: Session,
    paths: tuple[str, ...] = (),
    *,
    dry_run: bool = False,
    reader: str = "",
    notes: bool = False,
    mask: bool = True,
    strict: bool = False,
) -> IngestReport:
    """Read transcripts into threads of clean turns."""
    if not paths:
        raise taking.NothingNamed
    options = taking.options_of(
        session.settings.ingest,
        session.salt(),
        format=reader or None,
        notes=notes or session.settings.ingest.notes,
        mask=mask and session.settings.ingest.mask,
        strict=strict,
        dry_run=dry_run,
    )
    session.progress("reading")
    with session.store("ingest", make=True) as store:
        if dry_run:
            return taking.preview(paths, store, options, session.now())
        return taking.take(store, Derivation(), paths, options, session.now())


def status(session: Session) -> Status:
    """Show what the store holds and what went wrong."""
    with session.store("status") as store:
        return stages.status(store, session.settings)


def limits(session: Session, *, level: int = -1, top: int = 0, stop: str = "") -> Limits:
    """Limits of the scout: the settings, and what was asked for this time."""
    chosen = session.settings.scout
    return Limits(
        top=top or chosen.top,
        k_min=chosen.k_min,
        max_cycle=chosen.max_cycle,
        hub_df=chosen.hub_df or None,
        level=(None, 0, 1)[level + 1],
        stop=stop,
    )


def scout(
    session: Session,
    shapes: tuple[str, ...] = (),
    *,
    level: int = -1,
    top: int = 0,
    since: str = "",
    until: str = "",
    public: bool = False,
) -> ScoutReport:
    """Find the places of the graph that are worth a second look."""
    scope = Scope(since=moment(since), until=moment(until))
    with session.store("scout") as store:
        return scouting.scouted(
            store,
            limits(session, level=level, top=top),
            shapes=shapes,
            scope=None if scope == Scope() else scope,
            public=public,
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


def dream(
    session: Session,
    *,
    dry_run: bool = False,
    stage: bool = False,
    function: str = "",
    seed: str = "",
) -> Dreamt:
    """Run one dream cycle: hypotheses from seeds, links and Journeys."""
    mode = "dry_run" if dry_run else "stage" if stage else "normal"
    ask = Ask(mode=mode, function=function or None, seed=seed or None)
    return dreaming.dreamt(session, ask, limits(session))


def query(
    session: Session, cypher: str, params: tuple[tuple[str, str], ...] = (), limit: int = 1000
) -> QueryTable:
    """Run read-only Cypher on the graph."""
    values: dict[str, Scalar] = {name: scalar(text) for name, text in params}
    with session.store("query") as store:
        return store.query(cypher, values, limit=limit)


def scalar(text: str) -> Scalar:
    """A parameter: JSON where it is a number, a truth value or null, else text."""
    try:
        found = json.loads(text)
    except ValueError:
        return text
    return found if isinstance(found, int | float | bool | None) else text


def report(session: Session, *, out: str = "", with_text: bool = True) -> WrittenFiles:
    """Write the explorer page and the report again."""
    folder = Path(out) if out else session.workspace / "out"
    with session.store("report") as store:
        return writing.pictures(store, None, folder, session.now(), with_text=with_text)


def verify(session: Session) -> Verified:
    """Check every id, fingerprint and reference against the ledger."""
    with session.store("verify") as store:
        return Verified(
            records=store.ledger.last_seq(),
            turns=sum(len(thread.turns) for thread in store.threads()),
            faults=store.verify(),
        )


def rebuild(session: Session) -> RebuildReport:
    """Make the graph again from the ledger."""
    with session.store("rebuild") as store:
        return store.rebuild(session.now())


def config(session: Session, act: str = "list", key: str = "", value: str = "") -> SettingRows:
    """Show settings and where each comes from, or set one."""
    match act:
        case "list":
            return SettingRows(rows=session.loaded.rows)
        case "get":
            return SettingRows(rows=(settings.row(session.loaded, key),))
        case "set":
            return SettingRows(
                rows=(settings.write(session.loaded, key, value, session.folder),),
                written=str(settings.user_file()),
            )
        case _:
            raise SettingsError(act, "list, get or set")


def formats(session: Session) -> tuple[FormatRow, ...]:
    """List what can be read and what can be written."""
    del session
    return writing.format_rows()
