"""The recovery ladder: what an opening does before a graph is as its ledger says."""

import shutil
from collections.abc import Callable
from dataclasses import dataclass

from graphstore import graphfiles, stored
from graphstore.engine import RowsLost
from graphstore.erasing import Erasing
from graphstore.errors import DiskFull, LedgerUnreadable, StoreDamaged, StoreError
from graphstore.forgetting import SALT
from graphstore.model.query import RebuildReport
from graphstore.workspace import Workspace
from graphstore.writing import Writer

Note = Callable[[str, str], None]
"""Takes the kind and the detail of a notice."""


@dataclass(frozen=True, slots=True)
class _Unsound:
    """Why a graph must be made anew."""

    reason: str
    aside: str | None = None
    """Why its files are kept in quarantine, if they are."""


def _strange(reason: str) -> _Unsound:
    return _Unsound(reason, reason)


def recover(space: Workspace, writer: Writer, erasing: Erasing, note: Note) -> RebuildReport | None:
    """Bring the graph of an opened workspace up to its ledger; the report if it was made anew.

    In this order: a checkpoint that was cut short, what was asked to be forgotten, damaged
    files, another derivation, the records that the graph has not got yet.
    """
    shutil.rmtree(space.path / "rebuild", ignore_errors=True)
    undone = graphfiles.recover(space.graph.file)
    if erasing.asked():
        if (space.path / SALT).exists():
            erasing.finish()
            note("forgotten", "what was asked to be forgotten is gone")
            return None
        note("unforgotten", f"without {SALT} nobody can tell what was to be forgotten")
    if undone == "restored":
        note("restored", "a checkpoint was cut short; the graph from before it is back")
    if undone == "lost":
        _quarantine(space, "a checkpoint was cut short and no copy was kept", note)
    unsound = _unsound(space, writer, note)
    if unsound is None:
        return None
    if unsound.aside is not None:
        space.graph.close()
        _quarantine(space, unsound.aside, note)
    if unsound.reason not in ("new", "missing"):
        note("rebuilt", f"the graph was made again: {unsound.reason}")
    return writer.bulk()


def _quarantine(space: Workspace, reason: str, note: Note) -> None:
    """Move the files of the graph aside, as a set; named by the last record's time."""
    last = space.ledger.last()
    stamp = "empty" if last is None else last.at.replace(":", "").replace("-", "")
    note("quarantined", f"{space.graph.quarantine(stamp)}: {reason}")


def _unsound(space: Workspace, writer: Writer, note: Note) -> _Unsound | None:
    """Why the graph must be made anew; where it must not, it is brought up to the ledger."""
    if not space.graph.file.exists():
        return _Unsound("missing" if space.ledger.last_seq() else "new")
    try:
        space.graph.opened()
        return _stale(space) or _catch_up(writer, note)
    except LedgerUnreadable:
        raise
    except StoreDamaged as damage:
        return _Unsound("damaged", damage.reason)


def _stale(space: Workspace) -> _Unsound | None:
    """Whether it is a graph of this ledger and this derivation."""
    try:
        with space.graph.reader() as statement:
            meta = stored.read_meta(statement)
    except StoreDamaged:
        raise
    except StoreError:
        return _strange("it holds no readable description")
    source = space.source
    applied = int(meta.get("applied", "-1"))
    wanted = {row.name: row.value for row in source.meta(applied)}
    if applied < source.parts.settled():
        return _Unsound("its log was cut short")
    if applied < 0 or applied > space.ledger.last_seq() or meta.get("head") != wanted["head"]:
        # a strange file, or the log of one that was replayed into ours
        return _strange("it does not belong to this ledger")
    changed = sorted(name for name in wanted if meta.get(name) != wanted[name])
    return _Unsound(f"another {', '.join(changed)}") if changed else None


def _catch_up(writer: Writer, note: Note) -> _Unsound | None:
    """A full disk is no reason not to read: the graph is then as it was before."""
    try:
        writer.catch_up()
    except DiskFull as full:
        note("behind", f"the newest records are not in the graph yet: {full}")
    except RowsLost:
        return _strange("the newest records do not fit into it")
    return None
