"""What commands that keep a workspace safe tell."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from cli import paint
from cli.call import clear_progress
from cli.paint import day, plural
from cli.show import emit, named

if TYPE_CHECKING:
    from graphstore.model.backup import Manifest
    from graphstore.model.query import RebuildReport
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

TURNS: Final = 8
FAULTS: Final = 20


def verified(checked: Verified, *, as_json: bool) -> None:
    """What does not hold."""
    if emit(checked, as_json=as_json):
        return
    print(f"checked {plural(checked.records, 'record')}, {plural(checked.turns, 'turn')}")
    for fault in checked.faults[:FAULTS]:
        paint.paragraph(f"{fault.kind}: {fault.subject}: {fault.detail}", "  ")
    if len(checked.faults) > FAULTS:
        print(f"  and {len(checked.faults) - FAULTS} more; --json shows everything")
    print(plural(len(checked.faults), "fault") if checked.faults else "everything holds")
    if checked.faults:
        salvage = any(fault.of_ledger for fault in checked.faults)
        print(f"next: clew {'ledger salvage' if salvage else 'rebuild'}, then clew verify")


def rebuilt(done: RebuildReport, *, as_json: bool) -> None:
    """What the new graph holds."""
    if not emit(done, as_json=as_json):
        print(
            f"graph made again from {plural(done.applied, 'record')}: "
            f"{plural(done.nodes, 'node')}, {plural(done.edges, 'edge')}"
        )


def backed_up(done: BackedUp, *, as_json: bool) -> None:
    """Where a backup is and what it holds."""
    if emit(done, as_json=as_json):
        return
    print(f"{done.path}  {done.size / 1e6:.1f} MB")
    print(f"holds       {held(done.manifest)}")
    print("restore     clew --workspace NAME restore FILE")


def restored(done: Restored, *, as_json: bool) -> None:
    """What a new workspace holds."""
    if emit(done, as_json=as_json):
        return
    print(f"workspace   {done.workspace}")
    print(f"holds       {held(done.manifest)}, as of {day(done.manifest.at)}")
    print(plural(len(done.faults), "fault") if done.faults else "everything holds")


def held(manifest: Manifest) -> str:
    """The figures of a backup."""
    records = plural(sum(each.count for each in manifest.records), "record")
    return f"{plural(manifest.threads, 'thread')}, {records}, {plural(len(manifest.files), 'file')}"


def examined(checks: tuple[Check, ...], *, as_json: bool) -> None:
    """Each check in a line, and what to do about it."""
    if emit(checks, as_json=as_json):
        return
    for check in checks:
        sign = "ok" if check.level == "good" else check.level
        paint.paragraph(f"{check.name}: {check.found}", "         ", first=sign)
        if check.hint:
            paint.paragraph(check.hint, "         ")


def scanned(found: SecretScan, *, as_json: bool) -> None:
    """Kinds and places of what looks like a secret."""
    if emit(found, as_json=as_json):
        return
    for place in found.places[:FAULTS]:
        print(f"{place.count} {place.kind}  {place.place}")
    if len(found.places) > FAULTS:
        print(f"and {plural(len(found.places) - FAULTS, 'place')} more; --json shows everything")
    print(f"looked at {plural(found.records, 'record')}: {named(found.kinds)}")
    if found.places:
        print("next: clew forget takes threads out; then ingest them again, with masking on")


def ledger(done: LedgerDone, *, as_json: bool) -> None:
    """Where the ledger went, or what was saved of it."""
    saved = done.salvaged
    if saved is None:
        clear_progress()
        if done.path != "-" and not emit(done, as_json=as_json):
            print(f"{done.path}  {plural(done.records, 'record')}")
        return
    if emit(done, as_json=as_json):
        return
    for lost in saved.lost[:FAULTS]:
        print(f"lost  record {lost.seq}: {lost.kind or 'unreadable'} {lost.subject or ''}".rstrip())
    if len(saved.lost) > FAULTS:
        print(f"  and {len(saved.lost) - FAULTS} more; --json shows everything")
    print(f"{plural(saved.kept, 'record')} hold, {len(saved.lost)} are lost")
    if saved.quarantine:
        print(f"the old ledger is in {saved.quarantine}")
        print("next: clew verify")


def settings(found: SettingRows, *, as_json: bool) -> None:
    """Settings and where each comes from."""
    if emit(found, as_json=as_json):
        return
    rows = [(row.key, row.value, row.origin, row.allowed) for row in found.rows]
    paint.rows(("key", "value", "from", "allowed"), rows, paint.whole)
    if found.written:
        print(f"written to {found.written}")


def forgotten(done: Forgotten, *, as_json: bool) -> None:
    """What goes, or went, and what a look through every file found."""
    if emit(done, as_json=as_json):
        return
    print("gone for good:" if done.done else "would go for good:")
    for thread in done.threads[:TURNS]:
        print(f"  {thread.thread_id}  {thread.title or ''}  ({plural(thread.turns, 'turn')})")
    if len(done.threads) > TURNS:
        print(f"  and {plural(len(done.threads) - TURNS, 'thread')} more")
    print("  with " + ", ".join(f"{row.count} {row.name}" for row in done.counts))
    for row in done.adopted:
        print(f"  stays: {plural(row.count, 'turn')} that {row.name} shares")
    for file in done.files:
        print(f"  removed with it: {file}")
    for file in done.listed:
        print(f"  yours, not touched, quotes it: {file}")
    for file in done.left:
        print(f"  STILL THERE: {file}")
    if done.done:
        print(f"looked for {plural(done.pieces, 'piece')} of text in every file of the workspace")
