"""The files of a graph: named, moved and removed as a set, kept aside during a checkpoint.

Engines come and go by name; nothing here opens a database.
"""

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from graphstore.faults import Hook, no_fault
from graphstore.folder import sync

FILES: Final = {"kuzu": "graph.kuzu", "ladybug": "graph.lbug"}
FIRST_BYTES: Final = {"kuzu": b"KUZU", "ladybug": b"LBUG"}
COPY_LIMIT: Final = 256 * 2**20
"""Bytes; a larger database is not copied before a checkpoint, the ledger is its copy."""


def present(workspace: Path) -> str | None:
    """The engine of the graph that a workspace holds, by the first bytes of its file."""
    for name, start in FIRST_BYTES.items():
        file = graph_file(workspace, name)
        if file.is_file():
            with file.open("rb") as opened:
                if opened.read(len(start)) == start:
                    return name
    return None


def remove_others(workspace: Path, engine: str) -> None:
    """Remove graphs of other engines: a workspace has one."""
    for name in FILES:
        if name != engine:
            remove_set(graph_file(workspace, name))


def graph_file(workspace: Path, engine: str) -> Path:
    """Where an engine keeps the graph of a workspace."""
    return workspace / FILES[engine]


def file_set(path: Path) -> tuple[Path, ...]:
    """The database file and everything the engine keeps beside it, sorted."""
    return tuple(sorted(path.parent.glob(path.name + "*")))


def remove_set(path: Path) -> None:
    """Remove a database and its companions; the log first, never left behind to be replayed."""
    for part in sorted(file_set(path), reverse=True):
        part.unlink()


def _aside(path: Path) -> Path:
    return path.parent / "checkpoint"


def _marker(path: Path) -> Path:
    return path.parent / "checkpoint.marker"


def sync_set(path: Path) -> None:
    """Force a database, what lies beside it, and its folder to the disk.

    Never another file of the folder: closing a second descriptor of the open ledger would free
    the locks that SQLite holds on it, and the next reader outside would remove the log under it.
    """
    for part in file_set(path):
        sync(part)
    sync(path.parent)


@contextmanager
def guarded(path: Path, fault: Hook = no_fault) -> Iterator[None]:
    """Keep a pair of database and log aside while the engine checkpoints.

    A kill in between leaves the marker; ``recover`` then restores the pair, or says that the
    graph must be made again.
    """
    aside = _aside(path)
    shutil.rmtree(aside, ignore_errors=True)
    copied = sum(part.stat().st_size for part in file_set(path)) <= COPY_LIMIT
    if copied:
        aside.mkdir(mode=0o700)
        for part in file_set(path):
            shutil.copyfile(part, aside / part.name)
        sync_set(aside / path.name)
    partial = _marker(path).with_suffix(".new")
    partial.write_text(json.dumps({"copied": copied}))
    sync(partial)
    partial.replace(_marker(path))
    fault("checkpoint_marked")
    yield
    fault("checkpoint_done")
    _marker(path).unlink()
    shutil.rmtree(aside, ignore_errors=True)


def recover(path: Path) -> str | None:
    """Undo a checkpoint that was cut short.

    Returns None when there was none, ``restored`` when the pair from before it is back,
    ``lost`` when no copy was kept: then the graph must be made again from the ledger.
    """
    marker = _marker(path)
    if not marker.exists():
        return None
    aside = _aside(path)
    copied = json.loads(marker.read_text())["copied"] and aside.is_dir()
    if copied:
        remove_set(path)
        for part in sorted(aside.iterdir()):
            shutil.copyfile(part, path.parent / part.name)
        sync_set(path)
    marker.unlink()
    shutil.rmtree(aside, ignore_errors=True)
    return "restored" if copied else "lost"
