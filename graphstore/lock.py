"""The store lock, and who holds it."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

import orjson

from graphstore.errors import StoreLocked
from graphstore.model.base import Instant, Value


class Owner(Value):
    """Who holds a store; for messages and for finding the service, never for deciding."""

    pid: int
    purpose: str
    since: Instant | None = None
    url: str | None = None
    """Address of the service, if the holder is one."""

    def __str__(self) -> str:
        since = "" if self.since is None else f" since {self.since.isoformat()}"
        return f"process {self.pid} ({self.purpose}){since}"


def owner(workspace: Path) -> Owner | None:
    """What the last holder wrote; None if there is nothing readable."""
    try:
        return Owner.from_json((workspace / "owner.json").read_bytes())
    except (OSError, ValueError):
        return None


def _write_owner(workspace: Path, holder: Owner) -> None:
    target = workspace / "owner.json"
    partial = workspace / "owner.json.new"
    descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "wb") as out:
        out.write(orjson.dumps(holder.model_dump(mode="json"), option=orjson.OPT_SORT_KEYS))
    partial.replace(target)


@contextmanager
def held(
    workspace: Path,
    *,
    wait_s: float,
    purpose: str,
    since: datetime | None = None,
    url: str | None = None,
) -> Iterator[Owner]:
    """Hold the lock of a workspace; the operating system frees it if the process dies.

    Raises StoreLocked, naming the holder, after ``wait_s`` seconds.
    """
    from filelock import FileLock, Timeout

    lock = FileLock(workspace / ".lock", timeout=wait_s, mode=0o600)
    try:
        lock.acquire(poll_interval=0.05)
    except Timeout:
        holder = owner(workspace)
        named = "another process" if holder is None else str(holder)
        raise StoreLocked(str(workspace), named, wait_s) from None
    try:
        mine = Owner(pid=os.getpid(), purpose=purpose, since=since, url=url)
        _write_owner(workspace, mine)
        yield mine
    finally:
        (workspace / "owner.json").unlink(missing_ok=True)
        lock.release()


def alive(pid: int) -> bool:
    """Whether a process of this id exists."""
    if sys.platform == "win32":
        return True  # a signal 0 would end the process there; the answer of the service decides
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
