"""What can be saved of a damaged ledger: every record that still proves itself."""

import shutil
from collections.abc import Iterable, Iterator
from contextlib import closing
from datetime import datetime
from pathlib import Path
from typing import Final

from graphstore.errors import LedgerDamaged
from graphstore.events import Events
from graphstore.folder import sync
from graphstore.ids import fingerprint
from graphstore.ledger import GENESIS, Entry, Ledger, fold, readable
from graphstore.model.query import LostRecord, Notice, Salvaged
from graphstore.model.record import Record, ThreadRecord
from graphstore.search import SearchIndex
from graphstore.threads import Threads

LEDGER: Final = "ledger.db"
STAGE: Final = "salvage"


def salvage(workspace: Path, at: datetime, *, dry_run: bool = False) -> Salvaged:
    """Make a new ledger of what holds; the old one goes into ``quarantine/`` as it is.

    Kept is every record whose checksum follows from that of the one before, be it the stored
    one or the one it should have. Behind a gap there is none: there a thread is kept if all its
    turns have their fingerprints. What is made from records is made again. The caller holds
    the lock of the workspace; a crash leaves the old ledger or the new one. With ``dry_run``
    nothing is changed.
    """
    stage = workspace / STAGE
    shutil.rmtree(stage, ignore_errors=True)
    stage.mkdir(mode=0o700)
    try:
        for part in sorted(workspace.glob(LEDGER + "*")):
            shutil.copyfile(part, stage / part.name)
        done = _sift(stage)
        if dry_run:
            return done
        folder = _set_aside(workspace, at)
        done = done.replace(quarantine=str(folder))
        _remember(stage / "new.db", done, at)
        for part in workspace.glob("graph.*"):
            part.unlink()  # made again from the new ledger
        fold(workspace / LEDGER)  # else its log would be replayed into the new file
        (stage / "new.db").replace(workspace / LEDGER)
        sync(workspace)
        return done
    finally:
        shutil.rmtree(stage, ignore_errors=True)


def _sift(stage: Path) -> Salvaged:
    """Write what holds into a new ledger."""
    kept, lost, known = 0, [], 0
    with closing(Ledger(stage / "new.db")) as ledger, ledger.transaction():
        threads, search = Threads(ledger), SearchIndex(ledger)
        for entry, holds in _judged(readable(stage / LEDGER)):
            lost += [LostRecord(seq=seq) for seq in range(known + 1, entry.seq)]
            known = entry.seq
            record = _record_of(entry) if holds else None
            if record is None:
                lost.append(LostRecord(seq=entry.seq, kind=entry.kind, subject=entry.subject))
                continue
            kept += 1
            seq = ledger.adopt(entry)
            if isinstance(record, ThreadRecord):
                _take(threads, search, record, seq)
    return Salvaged(kept=kept, lost=tuple(lost), quarantine="")


def _judged(entries: Iterable[Entry]) -> Iterator[tuple[Entry, bool]]:
    """Each entry with whether it holds; one is judged when the next one is known."""
    waiting: tuple[Entry, bytes] | None = None
    before, number = GENESIS, 0
    for entry in entries:
        if entry.seq != number + 1:
            if waiting is not None:
                yield waiting[0], False
                waiting = None
            yield entry, _proves_itself(entry)
            before, number = entry.checksum, entry.seq
            continue
        if waiting is not None:
            # only its checksum was changed if the next one follows from what it should be
            only_sum = entry.expected(waiting[1]) == entry.checksum
            yield waiting[0], only_sum
            before, waiting = (waiting[1] if only_sum else before), None
        should = entry.expected(before)
        if should == entry.checksum:
            yield entry, True
        else:
            waiting = (entry, should)
        before, number = entry.checksum, entry.seq
    if waiting is not None:
        yield waiting[0], False


def _record_of(entry: Entry) -> Record | None:
    """The record of an entry, if it is one and the one it says."""
    try:
        record = entry.record()
    except LedgerDamaged:
        return None
    return record if (record.kind, record.subject) == (entry.kind, entry.subject) else None


def _proves_itself(entry: Entry) -> bool:
    record = _record_of(entry)
    return isinstance(record, ThreadRecord) and all(
        fingerprint(turn.role.value, turn.text) == turn.fingerprint for turn in record.turns
    )


def _take(threads: Threads, search: SearchIndex, record: ThreadRecord, seq: int) -> None:
    grown = threads.grow(record, seq)
    if grown is not None:
        search.remove(grown.gone)
        threads.drop(grown.gone)
        search.index(grown.fresh)


def _set_aside(workspace: Path, at: datetime) -> Path:
    """Copies of the old ledger; the original leaves only when the new one takes its place."""
    stamp = at.strftime("%Y%m%dT%H%M%SZ")
    folder = workspace / "quarantine" / f"ledger-{stamp}"
    number = 0
    while folder.exists():
        number += 1
        folder = workspace / "quarantine" / f"ledger-{stamp}-{number}"
    folder.mkdir(parents=True, mode=0o700)
    for part in sorted(workspace.glob(LEDGER + "*")):
        shutil.copyfile(part, folder / part.name)
        (folder / part.name).chmod(0o600)
        sync(folder / part.name)
    return folder


def _remember(file: Path, done: Salvaged, at: datetime) -> None:
    detail = f"{done.kept} records kept, {len(done.lost)} lost; the old ledger: {done.quarantine}"
    with closing(Ledger(file)) as ledger:
        Events(ledger).put(Notice(kind="salvaged", detail=detail), at)
    sync(file)
