"""The dream lock: one dream cycle at a time, freed by the system when its holder dies."""

import json
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

from filelock import FileLock, Timeout

from graphstore.model.base import Instant, Value


class Holder(Value):
    """Who dreams. For messages only: missing or wrong, it decides nothing."""

    pid: int
    host: str
    since: Instant


class Held(Value):
    """The lock is someone else's."""

    holder: Holder | None


@contextmanager
def hold(folder: Path, wait_s: float, now: datetime) -> Iterator[Held | None]:
    """Hold the dream lock of a workspace; yields ``Held`` when another process has it."""
    lock = FileLock(folder / "dream.lock")
    try:
        lock.acquire(timeout=wait_s)
    except Timeout:
        yield Held(holder=holder(folder))
        return
    try:
        sidecar(folder).write_text(
            json.dumps(
                {"pid": os.getpid(), "host": socket.gethostname(), "since": now.isoformat()}
            ),
            "utf-8",
        )
        yield None
    finally:
        sidecar(folder).unlink(missing_ok=True)
        lock.release()


def sidecar(folder: Path) -> Path:
    """The file that names the holder."""
    return folder / "dream.holder.json"


def holder(folder: Path) -> Holder | None:
    """The holder as the sidecar names it, None where it is missing or unreadable."""
    try:
        return Holder.from_json(sidecar(folder).read_bytes())
    except (OSError, ValueError):
        return None
