"""Records into the ledger, and from there into the graph: what is pending, or all of it anew."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from functools import partial
from threading import RLock
from typing import Final

from graphstore import bulk, projection, stored
from graphstore.engine import check_space
from graphstore.model.conversation import Committed, Unchanged
from graphstore.model.query import RebuildReport
from graphstore.model.record import Record
from graphstore.source import DREAMS
from graphstore.taking import Taking
from graphstore.workspace import Workspace

BULK_THREADS: Final = 2_000
BULK_SHARE: Final = 3
"""More pending threads than one in three: make the graph anew."""


class Writer:
    """The one way in. Whoever writes to a workspace otherwise holds ``turn`` meanwhile."""

    def __init__(self, space: Workspace) -> None:
        self._space = space
        self._taking = Taking(space)
        self._deferred = 0
        self.turn = RLock()

    def commit(self, record: Record, at: datetime) -> Committed | Unchanged:
        """Append a record, durably, then project it; ``Unchanged`` when it says nothing new."""
        space = self._space
        with self.turn:
            check_space(space.graph.file)
            with space.ledger.transaction():
                if not self._taking.take(record):
                    return Unchanged()
                seq = space.ledger.append(record, at)
                space.fault("ledger_written")
            space.fault("ledger_committed")
            if not self._deferred:
                self.catch_up()
            return Committed(seq=seq)

    @contextmanager
    def deferred(self) -> Iterator[None]:
        """Commits inside go to the ledger only; the graph catches up once, at the end."""
        with self.turn:
            self._deferred += 1
            try:
                yield
            finally:
                self._deferred -= 1
            if not self._deferred:
                self.catch_up()

    def catch_up(self) -> None:
        """Project every record that the graph has not got yet."""
        ledger, source = self._space.ledger, self._space.source
        applied, last = self._applied(), ledger.last_seq()
        if applied == last:
            return
        rows = ledger.select("SELECT kind, subject FROM record WHERE seq > ?", (applied,))
        kinds = {kind for kind, _ in rows}
        changed = frozenset(subject for kind, subject in rows if kind == "thread")
        if "review" in kinds:
            changed |= source.stirred(applied)
        if "epoch" in kinds or self._many(len(changed)):
            self.bulk()
        else:
            journeys = frozenset(subject for kind, subject in rows if kind == "journey")
            pending = projection.Pending(changed, journeys, not kinds.isdisjoint(DREAMS))
            projection.incremental(source, self._space.graph.opened(), pending, last)

    def _applied(self) -> int:
        with self._space.graph.reader() as statement:
            return int(stored.read_meta(statement)["applied"])

    def _many(self, changed: int) -> bool:
        known = int(self._space.ledger.select("SELECT count(*) FROM thread")[0][0])
        return changed > BULK_THREADS or changed * BULK_SHARE > max(known, BULK_SHARE)

    def bulk(self) -> RebuildReport:
        """Write a new graph beside the old one, then put it in its place."""
        ledger, source, graph = self._space.ledger, self._space.source, self._space.graph
        last = ledger.last()
        applied = 0 if last is None else last.seq
        folder = self._space.path / "rebuild"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(mode=0o700)
        fresh = folder / graph.file.name
        with ledger.transaction():
            nodes, edges = bulk.bulk(
                fresh,
                bulk.every_row(source, applied),
                engine=graph.engine_name,
                buffer_pool_mb=graph.buffer_pool_mb,
                fault=self._space.fault,
            )
        source.parts.near.tidy()
        self._space.fault("bulk_written")
        graph.swap(fresh, settle=partial(source.parts.settle, applied))
        at = datetime.fromisoformat("1970-01-01T00:00:00+00:00" if last is None else last.at)
        return RebuildReport(at=at, applied=applied, nodes=nodes, edges=edges)
