"""The ledger by itself: written out as text, or saved when it is damaged."""

import os
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import BinaryIO, Final

from graphstore.backup import BackupTaken
from graphstore.ledger import Ledger
from graphstore.lock import held
from graphstore.salvage import salvage
from service.answers import LedgerDone
from service.session import Session

FILE: Final = "ledger.db"


def written_out(session: Session, out: str, *, force: bool) -> LedgerDone:
    """Write every record as one line of JSON, to a file for the owner alone or to a pipe.

    Raises BackupTaken when something is there, LedgerUnreadable.
    """
    with closing(Ledger(session.workspace / FILE)) as ledger, _target(out, force=force) as target:
        records = 0
        for line in ledger.export():
            target.write(line)
            records += 1
    return LedgerDone(act="export", path=out, records=records)


@contextmanager
def _target(out: str, *, force: bool) -> Iterator[BinaryIO]:
    if out == "-":
        yield sys.stdout.buffer
        return
    path = Path(out).expanduser()
    if path.exists() and not force:
        raise BackupTaken(str(path))
    partial = path.with_name(path.name + ".new")
    partial.touch(mode=0o600)
    with partial.open("wb") as target:
        yield target
        target.flush()
        os.fsync(target.fileno())
    partial.replace(path)


def saved(session: Session, *, dry_run: bool) -> LedgerDone:
    """Save what holds of a damaged ledger. Raises StoreLocked, DiskFull."""
    with held(
        session.workspace,
        wait_s=session.settings.store.wait_s,
        purpose="salvage",
        since=session.now(),
    ):
        done = salvage(session.workspace, session.now(), dry_run=dry_run)
    return LedgerDone(act="salvage", records=done.kept, salvaged=done)
