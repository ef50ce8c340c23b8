"""A workspace is checked, saved, cleaned and set."""

from importlib.metadata import version
from pathlib import Path

from graphstore.backup import back_up
from graphstore.backup import restore as unpack
from graphstore.engine import ENGINES
from graphstore.errors import StoreNotFound
from graphstore.model.query import RebuildReport
from ingest.walk import SourceNotFound
from service import forgetting, keeping, settings
from service.answers import (
    BackedUp,
    Check,
    Forgotten,
    LedgerDone,
    Restored,
    SecretScan,
    SettingRows,
    Verified,
)
from service.health import examine
from service.moments import WrongValue, one_of
from service.scanning import scan
from service.session import Session


def verify(session: Session) -> Verified:
    """Check every id, fingerprint and reference against the ledger."""
    with session.store("verify") as store:
        return Verified(
            records=store.ledger.last_seq(),
            turns=sum(len(thread.turns) for thread in store.threads()),
            faults=store.verify(),
        )


def backup(session: Session, file: str, *, force: bool = False) -> BackedUp:
    """Copy the workspace into one file, while others may use it."""
    if not session.exists:
        raise StoreNotFound(str(session.workspace))
    target = session.folder / Path(file).expanduser()
    made = back_up(session.workspace, target, session.now(), version("clew"), force=force)
    return BackedUp(path=str(target), size=target.stat().st_size, manifest=made)


def restore(session: Session, file: str) -> Restored:
    """Make a new workspace from a backup, after checking it."""
    source = session.folder / Path(file).expanduser()
    if not source.is_file():
        raise SourceNotFound(str(source))
    manifest = unpack(source, session.workspace)
    with session.store("restore") as store:
        return Restored(workspace=str(session.workspace), manifest=manifest, faults=store.verify())


def doctor(session: Session) -> tuple[Check, ...]:
    """Check workspace and surroundings, with a fix for each finding."""
    return examine(session)


def scan_secrets(session: Session) -> SecretScan:
    """Look for secrets that are not masked: kinds and places, never the words."""
    with session.store("scan-secrets") as store:
        return scan(store.path, store.ledger, pii=session.settings.ingest.mask_pii)


def ledger(
    session: Session, act: str, *, out: str = "-", force: bool = False, dry_run: bool = False
) -> LedgerDone:
    """Write the ledger as JSON Lines, or save what holds of a damaged one."""
    if not session.exists:
        raise StoreNotFound(str(session.workspace))
    match act:
        case "export":
            return keeping.written_out(session, out, force=force)
        case "salvage":
            return keeping.saved(session, dry_run=dry_run)
        case _:
            raise WrongValue("ledger", act, "export or salvage")


def rebuild(session: Session, *, engine: str = "") -> RebuildReport:
    """Make the graph again from the ledger."""
    one_of("engine", engine, ENGINES)
    with session.store("rebuild", engine=engine, anew=True) as store:
        return store.rebuild(session.now())


def forget(
    session: Session,
    what: str,
    value: str,
    *,
    lineage: bool = False,
    also_notes: bool = False,
    dry_run: bool = False,
) -> Forgotten:
    """Remove conversations and everything made from them, for good."""
    with session.store("forget") as store:
        threads = forgetting.chosen(store, what, value, lineage=lineage)
        if dry_run:
            return forgetting.planned(store, threads, session.salt())
        session.progress("forgetting")
        return forgetting.forgotten(
            store, threads, session.salt(), session.now(), also_notes=also_notes
        )


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
            raise WrongValue("config", act, "list, get or set")
