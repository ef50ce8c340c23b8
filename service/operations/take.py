"""Conversations are taken in; what a workspace holds."""

import sys
from pathlib import Path

from dream.cycle import Ask
from ingest.derive import Derivation
from ingest.discover import Discovered, discover, system_of
from ingest.model import IngestReport
from ingest.pace import Pace
from service import dreaming, following, scouting, settings, stages, taking, writing
from service.answers import Status, UpReport
from service.interrupts import interrupts
from service.meter import Meter
from service.moments import WrongValue, moment
from service.operations.think import limits
from service.session import Session
from service.timer import Timer


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
    me: tuple[str, ...] = (),
    group_gap: int = 0,
    since: str = "",
) -> UpReport:
    """Ingest, scout, dream, then write the explorer page and the report."""
    if example:
        paths = (*paths, str(taking.example()))
    clock = stages.Clock()
    report = ingest(
        session,
        paths,
        notes=notes,
        mask=mask,
        strict=strict,
        me=me,
        group_gap=group_gap,
        since=since,
    )
    clock.lap("ingest")
    if report.interrupted:
        return stages.nothing(report, clock)
    with session.store("scout") as store:
        if not store.roots():
            return stages.nothing(report, clock)
        session.progress("scouting")
        scouting.refresh(store, limits(session))
        idle = dreaming.nothing_new(store)
    clock.lap("scout")
    session.progress("dreaming")
    dreamt = dreaming.IDLE if idle else dreaming.dreamt(session, Ask(), limits(session))
    clock.lap("dream")
    session.progress("writing page and report")
    folder = Path(out) if out else session.workspace / "out"
    with session.store("write") as store:
        files = writing.pictures(store, report, folder, session.now(), with_text=with_text)
        clock.lap("write")
        return stages.summary(session, store, report, dreamt, files, clock)


def places(session: Session, *, only: tuple[str, ...] = ()) -> Discovered:
    """Look where tools keep their conversations; nothing is read."""
    return discover(
        system_of(sys.platform), Path.home(), session.folder, settings.environment(), only
    )


def ingest(
    session: Session,
    paths: tuple[str, ...] = (),
    *,
    dry_run: bool = False,
    reader: str = "",
    notes: bool = False,
    mask: bool = True,
    strict: bool = False,
    me: tuple[str, ...] = (),
    group_gap: int = 0,
    since: str = "",
    follow: bool = False,
) -> IngestReport:
    """Read transcripts into threads of clean turns."""
    if not paths:
        raise taking.NothingNamed
    if follow and (dry_run or "-" in paths):
        raise WrongValue("--follow", "here", "files or folders, and not --dry-run")
    opened = not dry_run or session.exists
    options = taking.options_of(
        session.settings.ingest,
        session.salt() if opened else b"nothing is kept",
        paths,
        format=reader or None,
        notes=notes or session.settings.ingest.notes,
        mask=mask and session.settings.ingest.mask,
        strict=strict,
        dry_run=dry_run,
        me=me or session.settings.ingest.me,
        group_gap=group_gap,
        since=moment(since, "since"),
    )
    session.progress("reading")
    if not opened:
        return taking.preview(paths, None, options, session.now())
    if follow:
        return following.follow(session, paths, options, Timer(session, limits(session)))
    with session.store("ingest", make=True) as store:
        if dry_run:
            return taking.preview(paths, store, options, session.now())
        with interrupts(session) as wishes:
            pace = Pace(Meter(session.progress, session.now).tell, wishes.read)
            return taking.take(store, Derivation(), paths, options, session.now(), pace, wishes)


def status(session: Session) -> Status:
    """Show what the store holds and what went wrong."""
    with session.store("status") as store:
        return stages.status(session, store)
