"""Folders for their owner alone, and what is in them on the disk for good."""

import os
from pathlib import Path

from graphstore.errors import Unwritable


def private(path: Path) -> None:
    """Make a folder and those above it that are missing, each for its owner alone.

    Raises Unwritable when the system refuses, or when nothing may be written there.
    """
    try:
        _make(path)
    except OSError as cause:
        raise Unwritable(str(path), cause.strerror or "the system refused it") from cause
    if not os.access(path, os.W_OK):
        raise Unwritable(str(path), "it is read-only")


def _make(path: Path) -> None:
    if not path.is_dir():
        _make(path.parent)
        path.mkdir(mode=0o700, exist_ok=True)


def sync(path: Path) -> None:
    """Force a file, or the names in a folder, to the disk.

    Never the open ledger: closing a second descriptor of it would free the locks of SQLite.
    """
    if path.is_dir() and os.name != "posix":
        return  # folders cannot be opened there
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
