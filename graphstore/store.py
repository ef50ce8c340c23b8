"""Store: the one way in, and the doors to what is there."""

import os
from collections.abc import Iterable
from contextlib import AbstractContextManager, ExitStack
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Self

from graphstore import engine as engines
from graphstore import projection
from graphstore.derivation import Derive
from graphstore.erasing import Erasing
from graphstore.events import Events
from graphstore.faults import Hook, no_fault
from graphstore.files import Files
from graphstore.folder import private
from graphstore.forgetting import Going, Tombstones
from graphstore.known import Known
from graphstore.lock import held
from graphstore.model.conversation import Committed, Unchanged
from graphstore.model.knowledge import Marks, SeedRow
from graphstore.model.query import Notice, RebuildReport
from graphstore.model.record import Record
from graphstore.recovery import recover
from graphstore.workspace import Workspace, opened
from graphstore.writing import Writer


class Store(Known):
    """An opened workspace. Make one with ``open_store``; close it, or use it in ``with``."""

    def __init__(self, space: Workspace, closing: ExitStack, since: datetime | None = None) -> None:
        """``closing`` is taken over when the graph is as the ledger says."""
        super().__init__(space)
        self.notices: tuple[Notice, ...] = ()
        self._since = since
        self.jobs = space.jobs
        self.files = Files(space.ledger)
        self.events = Events(space.ledger)
        self._writer = Writer(space)
        self._erasing = Erasing(space, self._writer)
        self._made = recover(space, self._writer, self._erasing, self._note)
        self._closing = closing.pop_all()

    # opening and closing

    @property
    def engine_name(self) -> str:
        """Name of the engine that keeps the graph."""
        return self._space.graph.engine_name

    def _note(self, kind: str, detail: str) -> None:
        notice = Notice(kind=kind, detail=detail, at=self._since)
        self.notices = (*self.notices, notice)
        if kind != "behind":
            self.events.put(notice, self._since)

    def recent(self, count: int) -> tuple[Notice, ...]:
        """What was put right lately, and what could not be while opening; the newest last."""
        passing = tuple(notice for notice in self.notices if notice.kind == "behind")
        return (*self.events.recent(count), *passing)

    def close(self) -> None:
        """Close both databases and let the lock go."""
        self._closing.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    # writing

    def commit(self, record: Record, at: datetime) -> Committed | Unchanged:
        """Append a record, durably, then project it; ``Unchanged`` when it says nothing new."""
        return self._writer.commit(record, at)

    def deferred(self) -> AbstractContextManager[None]:
        """Commits inside go to the ledger only; the graph catches up once, at the end.

        Until then the graph, and what is read from it, is as it was before. After an
        interruption it stays so until the next commit or opening.
        """
        return self._writer.deferred()

    def put_seeds(
        self, run_id: str, rows: tuple[SeedRow, ...], marks: tuple[Marks, ...]
    ) -> Committed | Unchanged:
        """Write seeds and their marks, without a record; marks of these seeds are replaced."""
        with self._writer.turn:
            return projection.put_seeds(self._space.graph.opened(), run_id, rows, marks)

    def rebuild(self, at: datetime) -> RebuildReport:
        """Make the graph again from the ledger."""
        with self._writer.turn:
            made, self._made = self._made, None  # by the opening, if the engine is a new one
            if made is None or made.applied != self.ledger.last_seq():
                made = self._writer.bulk()
            return made.replace(at=at)

    @property
    def log_size(self) -> int:
        """Bytes of the graph's log; a service checkpoints when it has grown large."""
        return self._space.graph.opened().log_size

    def checkpoint(self) -> None:
        """Fold the graph's log into its file."""
        with self._writer.turn:
            self._space.graph.checkpoint()

    # forgetting

    def tombstones(self, salt: bytes) -> Tombstones:
        """What was forgotten and must not come back."""
        return self._erasing.tombstones(salt)

    def going(self, thread_ids: Iterable[str], salt: bytes) -> Going:
        """What would go with some threads."""
        return self._erasing.going(thread_ids, salt)

    def forget(self, thread_ids: Iterable[str], at: datetime, salt: bytes) -> None:
        """Remove threads for good; ``salt`` is the key that lies in the workspace.

        The request is recorded first: what is cut short is completed at the next opening.
        """
        self._erasing.forget(thread_ids, at, salt)


def open_store(
    path: Path,
    derive: Derive,
    *,
    engine: str = "auto",
    anew: bool = False,
    wait_s: float = 10.0,
    buffer_pool_mb: int = 512,
    purpose: str = "clew",
    since: datetime | None = None,
    url: str | None = None,
    fault: Hook = no_fault,
) -> Store:
    """Open a workspace, making its folder when missing, and bring its graph up to the ledger.

    A graph that is there keeps its engine; ``engine`` is for a new one, or with ``anew`` for
    this one too, which is then made again.

    Raises StoreLocked when another process keeps it longer than ``wait_s`` seconds,
    LedgerDamaged when the newest record does not hold, EngineConflict, EngineUnavailable.
    """
    private(path)
    if os.name == "posix":
        path.chmod(0o700)
    with ExitStack() as opening:
        opening.enter_context(held(path, wait_s=wait_s, purpose=purpose, since=since, url=url))
        space = opened(
            path,
            derive,
            engine=engines.choose(path, engine, anew=anew),
            buffer_pool_mb=buffer_pool_mb,
            closing=opening,
            fault=fault,
        )
        return Store(space, opening, since)
