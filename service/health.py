"""Deep checks of a workspace and of what it runs on, each with what to do about it."""

import os
import shutil
import stat
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from graphstore.engine import ENGINES, SPARE, choose
from graphstore.errors import Error
from graphstore.lock import alive, owner
from service.answers import Check
from service.session import Session

ROOM = 4 * SPARE
"""Bytes; less is worth a word before it hurts."""


def examine(session: Session) -> tuple[Check, ...]:
    """What it runs on first, then the files, then the store from the ledger up."""
    return (*_surroundings(session), *_files(session), *_store(session))


def _good(name: str, found: str) -> Check:
    return Check(name=name, level="good", found=found, hint="")


def _surroundings(session: Session) -> Iterator[Check]:
    engine = choose(session.workspace, session.settings.store.engine, anew=False)
    try:
        yield _good("engine", f"{engine} {version(engine)}")
    except PackageNotFoundError:
        found, hint = f"{engine} is not installed", f"install it: {ENGINES[engine]}"
        yield Check(name="engine", level="bad", found=found, hint=hint)
    home = session.workspace.parent
    there = next(path for path in (home, *home.parents) if path.exists())
    free = shutil.disk_usage(there).free
    if free > ROOM:
        yield _good("space", f"{free / 1e9:.0f} GB free")
    else:
        hint = "free some space: below 256 MB nothing is written any more"
        yield Check(name="space", level="bad", found=f"{free / 1e6:.0f} MB free", hint=hint)
    if os.access(there, os.W_OK):
        yield _good("home", str(home))
    else:
        hint = "choose another folder with --home, or ask its owner for the right to write"
        yield Check(name="home", level="bad", found=f"{home} is read-only", hint=hint)


def _files(session: Session) -> Iterator[Check]:
    workspace = session.workspace
    if not session.exists:
        hint = "make one with: clew up PATH"
        yield Check(name="workspace", level="note", found="there is none yet", hint=hint)
        return
    open_to_others = [
        path.name
        for path in sorted((workspace, *workspace.iterdir()))
        if os.name == "posix" and stat.S_IMODE(path.stat().st_mode) & 0o077
    ]
    if open_to_others:
        found = f"others can read {', '.join(open_to_others[:5])}"
        hint = f"take that right away: chmod -R go= {workspace}"
        yield Check(name="privacy", level="bad", found=found, hint=hint)
    else:
        yield _good("privacy", "for the owner alone")
    if not (workspace / "mask.salt").exists():
        hint = "restore it from a backup; a new one is made, and old masks no longer meet new ones"
        yield Check(name="salt", level="note", found="mask.salt is gone", hint=hint)
    yield from _leftovers(workspace)
    holder = owner(workspace)
    if holder is not None and not alive(holder.pid):
        hint = "nothing to do: the lock went with the process"
        yield Check(name="owner", level="note", found=f"{holder} ended early", hint=hint)


def _leftovers(workspace: Path) -> Iterator[Check]:
    quarantine = workspace / "quarantine"
    if quarantine.is_dir():
        size = sum(path.stat().st_size for path in quarantine.rglob("*") if path.is_file())
        found = f"{len(list(quarantine.iterdir()))} set aside, {size / 1e6:.1f} MB"
        hint = f"look at clew status; when all is well, remove {quarantine}"
        yield Check(name="quarantine", level="note", found=found, hint=hint)
    unfinished = sorted(workspace.parent.glob(f".{workspace.name}.*"))
    if unfinished:
        found = f"{len(unfinished)} folders of a backup or restore that was cut short"
        hint = f"remove them: {', '.join(str(path) for path in unfinished[:3])}"
        yield Check(name="leftovers", level="note", found=found, hint=hint)


def _store(session: Session) -> Iterator[Check]:
    """The ledger page by page, then the chain, then the graph against it."""
    if not session.exists:
        return
    try:
        with session.store("doctor") as store:
            faults = store.verify()
            events = store.notices
            records = store.ledger.last_seq()
    except Error as error:
        yield Check(name="store", level="damaged", found=error.message, hint=error.hint)
        return
    for event in events:
        found = f"{event.kind}: {event.detail}"
        yield Check(name="repair", level="note", found=found, hint="nothing to do: it is done")
    if faults:
        salvage = any(fault.of_ledger for fault in faults)
        hint = (
            "save what holds: clew ledger salvage" if salvage else "clew rebuild, then clew verify"
        )
        found = f"{len(faults)} faults, the first in {faults[0].kind} {faults[0].subject}"
        yield Check(name="store", level="damaged", found=found, hint=hint)
    else:
        yield _good("store", f"{records} records, everything holds")
