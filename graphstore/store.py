"""Store: the one way in, and the doors to what is there."""

import os
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import replace
from datetime import datetime
from functools import partial
from pathlib import Path
from threading import RLock
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, Literal, Self, TypeVar

from graphstore import asking, bulk, graphfiles, projection, stored, verification
from graphstore import engine as engines
from graphstore.claims import Claims
from graphstore.derivation import Derive, Ground
from graphstore.engine import RowsLost
from graphstore.errors import DiskFull, Error, LedgerUnreadable, StoreDamaged, StoreError
from graphstore.events import Events
from graphstore.faults import Hook, no_fault
from graphstore.files import Files
from graphstore.folder import private
from graphstore.forgetting import SALT, Forgetting, Going, Tombstones
from graphstore.graph import Graph
from graphstore.jobs import Jobs
from graphstore.ledger import Entry, Ledger
from graphstore.lock import held
from graphstore.migrations import migrate
from graphstore.model.conversation import Committed, Thread, Unchanged
from graphstore.model.knowledge import Edge, Marks, Node, SeedRow
from graphstore.model.query import Fault, Notice, QueryTable, RebuildReport, Resolved, Scalar
from graphstore.model.record import (
    CycleRecord,
    DreamRecord,
    EpochRecord,
    ForgetRecord,
    GoneRecord,
    JourneyRecord,
    OutcomeRecord,
    Record,
    ReviewRecord,
    ThreadRecord,
)
from graphstore.model.refs import RefUnresolved
from graphstore.parts import Parts
from graphstore.resolution import resolve
from graphstore.said import Said
from graphstore.search import SearchIndex
from graphstore.source import DREAMS, Source
from graphstore.surroundings import Surroundings
from graphstore.threads import Threads

if TYPE_CHECKING:
    from graphstore.model.view import GraphView
    from graphstore.view import Scope

N = TypeVar("N", bound=Node)
E = TypeVar("E", bound=Edge)

BULK_THREADS: Final = 2_000
BULK_SHARE: Final = 3
"""More pending threads than one in three: make the graph anew."""


_UNREADABLE: Final = "it holds no readable description"
_FOREIGN: Final = "it does not belong to this ledger"
_UNFIT: Final = "the newest records do not fit into it"
_CUT: Final = "its log was cut short"
_STRANGE: Final = (_UNREADABLE, _FOREIGN)


class StopRewritten(StoreError):
    """A recorded stop of the journey {journey_id} was to be rewritten."""

    hint = "stops are only ever added"

    def __init__(self, journey_id: str) -> None:
        Error.__init__(self, journey_id)
        self.journey_id = journey_id


class Store:
    """An opened workspace. Make one with ``open_store``; close it, or use it in ``with``."""

    def __init__(
        self,
        path: Path,
        derive: Derive,
        *,
        engine: str,
        buffer_pool_mb: int,
        closing: ExitStack,
        since: datetime | None = None,
        fault: Hook = no_fault,
    ) -> None:
        self.path = path
        self.notices: tuple[Notice, ...] = ()
        self._closing = closing
        self._made: RebuildReport | None = None
        self._deferred = 0
        self._fault = fault
        self._since = since
        self._writing = RLock()
        self._graph = Graph(path, engine, buffer_pool_mb, fault)
        self.ledger = Ledger(path / "ledger.db")
        closing.callback(self.ledger.close)
        self.ledger.check_last()
        migrate(self.ledger)
        self.jobs = Jobs(self.ledger)
        self.files = Files(self.ledger)
        self.events = Events(self.ledger)
        self._threads = Threads(self.ledger)
        self.search = SearchIndex(self.ledger)
        self._source = Source(
            self.ledger,
            self._threads,
            Parts(self.ledger, path),
            Claims(self.ledger),
            derive,
            engine,
        )
        closing.callback(self._graph.close)
        self._recover()

    # opening and closing

    @property
    def engine_name(self) -> str:
        """Name of the engine that keeps the graph."""
        return self._graph.engine_name

    def _reader(self, timeout_s: float = 0) -> AbstractContextManager[engines.Transaction]:
        return self._graph.reader(timeout_s)

    def _note(self, kind: str, detail: str) -> None:
        notice = Notice(kind=kind, detail=detail, at=self._since)
        self.notices = (*self.notices, notice)
        if kind != "behind":
            self.events.put(notice, self._since)

    def _recover(self) -> None:
        """The recovery ladder: marker, damaged files, another derivation, ledger tail."""
        shutil.rmtree(self.path / "rebuild", ignore_errors=True)
        undone = graphfiles.recover(self._graph.file)
        if self._asked_to_forget():
            if (self.path / SALT).exists():
                self._finish_forgetting()
                self._note("forgotten", "what was asked to be forgotten is gone")
                return
            self._note("unforgotten", f"without {SALT} nobody can tell what was to be forgotten")
        if undone == "restored":
            self._note("restored", "a checkpoint was cut short; the graph from before it is back")
        if undone == "lost":
            self._quarantine("a checkpoint was cut short and no copy was kept")
        if self._graph.file.exists():
            try:
                self._graph.opened()
                reason = self._stale()
                if reason in _STRANGE:
                    self._graph.close()
                    self._quarantine(reason)
            except StoreDamaged as damage:
                self._graph.close()
                self._quarantine(damage.reason)
                reason = "damaged"
        else:
            reason = "missing" if self.ledger.last_seq() else "new"
        if reason is None:
            reason = self._behind()
            if reason is None:
                return
            self._graph.close()
            self._quarantine(reason)
        if reason not in ("new", "missing"):
            self._note("rebuilt", f"the graph was made again: {reason}")
        self._made = self._bulk()

    def _behind(self) -> str | None:
        """Bring the graph up to the ledger; why it must be made again, if it cannot be.

        A full disk is no reason not to read: the graph is then as it was before.
        """
        try:
            self._catch_up()
        except DiskFull as full:
            self._note("behind", f"the newest records are not in the graph yet: {full}")
        except RowsLost:
            return _UNFIT
        except StoreDamaged as damage:
            if isinstance(damage, LedgerUnreadable):
                raise
            return _UNFIT
        return None

    def _quarantine(self, reason: str) -> None:
        """Move the files of the graph aside, as a set; named by the last record's time."""
        last = self.ledger.last()
        stamp = "empty" if last is None else last.at.replace(":", "").replace("-", "")
        name = self._graph.quarantine(stamp)
        self._note("quarantined", f"{name}: {reason}")

    def _stale(self) -> str | None:
        """Why the graph must be made again, if it must."""
        try:
            with self._reader() as statement:
                meta = stored.read_meta(statement)
        except StoreDamaged:
            raise
        except StoreError:
            return _UNREADABLE
        applied = int(meta.get("applied", "-1"))
        wanted = {row.name: row.value for row in self._source.meta(applied)}
        if applied < self._source.parts.settled():
            return _CUT
        if applied < 0 or applied > self.ledger.last_seq() or meta.get("head") != wanted["head"]:
            # a strange file, or the log of one that was replayed into ours
            return _FOREIGN
        changed = sorted(name for name in wanted if meta.get(name) != wanted[name])
        return f"another {', '.join(changed)}" if changed else None

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
        with self._writing:
            engines.check_space(self._graph.file)
            with self.ledger.transaction():
                if not self._take(record):
                    return Unchanged()
                seq = self.ledger.append(record, at)
                self._fault("ledger_written")
            self._fault("ledger_committed")
            if not self._deferred:
                self._catch_up()
            return Committed(seq=seq)

    def _take(self, record: Record) -> bool:
        match record:
            case ThreadRecord():
                return self._take_thread(record)
            case JourneyRecord():
                return self._says_news(record)
            case CycleRecord():
                landed = self.ledger.newest("cycle", record.cycle_id)
                return landed is None or '"outcome":"landed"' not in landed.body
            case ForgetRecord() | GoneRecord():
                return False  # forgetting writes them itself
            case EpochRecord() | ReviewRecord() | OutcomeRecord():
                newest = self.ledger.newest(record.kind, record.subject)
                return newest is None or newest.record() != record

    def _take_thread(self, record: ThreadRecord) -> bool:
        grown = self._threads.grow(record, self.ledger.last_seq() + 1)
        if grown is None:
            return False
        self.search.remove(grown.gone)
        self._threads.drop(grown.gone)
        self.search.index(grown.fresh)
        return True

    def _says_news(self, record: JourneyRecord) -> bool:
        known = self._source.journeys(record.journey_id)
        stops = {stop.seq: stop for earlier in known for stop in earlier.stops}
        if any(stops.get(stop.seq, stop) != stop for stop in record.stops):
            raise StopRewritten(record.journey_id)
        fresh = any(stop.seq not in stops for stop in record.stops)
        return fresh or not known or record.replace(stops=()) != known[-1].replace(stops=())

    @contextmanager
    def deferred(self) -> Iterator[None]:
        """Commits inside go to the ledger only; the graph catches up once, at the end.

        Until then the graph, and what is read from it, is as it was before. After an
        interruption it stays so until the next commit or opening.
        """
        with self._writing:
            self._deferred += 1
            try:
                yield
            finally:
                self._deferred -= 1
            if not self._deferred:
                self._catch_up()

    def _catch_up(self) -> None:
        """Project every record that the graph has not got yet."""
        applied, last = int(self.meta()["applied"]), self.ledger.last_seq()
        if applied == last:
            return
        rows = self.ledger.select("SELECT kind, subject FROM record WHERE seq > ?", (applied,))
        kinds = {kind for kind, _ in rows}
        changed = frozenset(subject for kind, subject in rows if kind == "thread")
        if "review" in kinds:
            changed |= self._source.stirred(applied)
        known = self._count_threads()
        many = len(changed) > BULK_THREADS or len(changed) * BULK_SHARE > max(known, BULK_SHARE)
        if "epoch" in kinds or many:
            self._bulk()
        else:
            journeys = frozenset(subject for kind, subject in rows if kind == "journey")
            dreams = not kinds.isdisjoint(DREAMS)
            pending = projection.Pending(changed, journeys, dreams)
            projection.incremental(self._source, self._graph.opened(), pending, last)

    def _count_threads(self) -> int:
        return int(self.ledger.select("SELECT count(*) FROM thread")[0][0])

    def _bulk(self) -> RebuildReport:
        """Write a new graph beside the old one, then put it in its place."""
        last = self.ledger.last()
        applied = 0 if last is None else last.seq
        folder = self.path / "rebuild"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(mode=0o700)
        fresh = folder / self._graph.file.name
        with self.ledger.transaction():
            nodes, edges = bulk.bulk(
                fresh,
                bulk.every_row(self._source, applied),
                engine=self._graph.engine_name,
                buffer_pool_mb=self._graph.buffer_pool_mb,
                fault=self._fault,
            )
        self._source.parts.near.tidy()
        self._fault("bulk_written")
        self._graph.swap(fresh, settle=partial(self._source.parts.settle, applied))
        at = datetime.fromisoformat("1970-01-01T00:00:00+00:00" if last is None else last.at)
        return RebuildReport(
            at=at,
            applied=applied,
            nodes=nodes,
            edges=edges,
        )

    # forgetting

    def _asked_to_forget(self) -> tuple[Entry, ...]:
        """Requests that were recorded and not carried out to the end."""
        done = int(self.jobs.reached("forgotten") or 0)
        return tuple(entry for entry in self.ledger.of_kind("forget") if entry.seq > done)

    def tombstones(self, salt: bytes) -> Tombstones:
        """What was forgotten and must not come back."""
        return Tombstones(self._forget_records(self.ledger.of_kind("forget")), salt)

    @staticmethod
    def _forget_records(entries: Iterable[Entry]) -> tuple[ForgetRecord, ...]:
        found = (entry.record() for entry in entries)
        return tuple(record for record in found if isinstance(record, ForgetRecord))

    def going(self, thread_ids: Iterable[str], salt: bytes) -> Going:
        """What would go with some threads."""
        return Forgetting(self._source, self.path, salt).plan(thread_ids)

    def forget(self, thread_ids: Iterable[str], at: datetime, salt: bytes) -> None:
        """Remove threads for good; ``salt`` is the key that lies in the workspace.

        The request is recorded first: what is cut short is completed at the next opening.
        """
        with self._writing:
            record = Forgetting(self._source, self.path, salt).request(thread_ids)
            self.ledger.append(record, at)
            self._fault("forget_recorded")
            self._finish_forgetting()

    def _finish_forgetting(self) -> None:
        asked = self._asked_to_forget()
        forgetting = Forgetting(self._source, self.path, (self.path / SALT).read_bytes())
        with self.ledger.transaction():
            here = forgetting.matching(self._forget_records(asked))
            if here:
                forgetting.carry_out(forgetting.plan(here), datetime.fromisoformat(asked[-1].at))
            self.search.rebuild()
        self._fault("forget_rewritten")
        self._graph.remove()
        self._fault("forget_graph_removed")
        forgetting.clear_files()
        self._fault("forget_files_removed")
        self._bulk()
        self.ledger.compact()
        self._fault("forget_compacted")
        self.jobs.reach("forgotten", str(asked[-1].seq))

    def put_seeds(
        self, run_id: str, rows: tuple[SeedRow, ...], marks: tuple[Marks, ...]
    ) -> Committed | Unchanged:
        """Write seeds and their marks, without a record; marks of these seeds are replaced."""
        with self._writing:
            return projection.put_seeds(self._graph.opened(), run_id, rows, marks)

    def rebuild(self, at: datetime) -> RebuildReport:
        """Make the graph again from the ledger."""
        with self._writing:
            made, self._made = self._made, None  # by the opening, if the engine is a new one
            if made is None or made.applied != self.ledger.last_seq():
                made = self._bulk()
            return made.replace(at=at)

    @property
    def log_size(self) -> int:
        """Bytes of the graph's log; a service checkpoints when it has grown large."""
        return self._graph.opened().log_size

    def checkpoint(self) -> None:
        """Fold the graph's log into its file."""
        with self._writing:
            self._graph.checkpoint()

    # reading the ledger's tables

    def thread(self, thread_id: str) -> Thread | None:
        """A thread with its own turns."""
        return self._threads.get(thread_id)

    def threads(self) -> Iterator[Thread]:
        """Every thread, by id."""
        for thread_id in self._threads.ids():
            thread = self._threads.get(thread_id)
            if thread is not None:
                yield thread

    def holding(self, source: str, keys: Iterable[str]) -> tuple[str, ...]:
        """Ids of the threads of a source that store a turn with one of these native keys."""
        return self._threads.holding(source, keys)

    def descendants(self, thread_id: str) -> tuple[str, ...]:
        """Ids of the threads whose lineage names this one as parent."""
        return self._threads.children(thread_id)

    def roots(self) -> dict[str, str]:
        """Lineage root of every thread."""
        return self._source.roots()

    def resolve(self, ref: str) -> Resolved | RefUnresolved:
        """The turn a reference or an alias of one points at; prefixes are the parent's."""
        return resolve(self._threads, ref)

    def fingerprints(self, refs: Iterable[str]) -> dict[str, str | None]:
        """Fingerprint of each turn now; None when it is gone or left the main line."""
        found: dict[str, str | None] = {}
        for ref in refs:
            match self.resolve(ref):
                case Resolved(thread=thread, turn=turn) if turn.number in thread.path:
                    found[ref] = turn.fingerprint
                case _:
                    found[ref] = None
        return found

    def epoch(self) -> EpochRecord | None:
        """The last epoch."""
        entry = self.ledger.newest("epoch", "epoch")
        return None if entry is None else self._source.epoch()

    def alike(self, question: str) -> dict[str, float]:
        """Questions worded most alike, by id, with the cosine of the two."""
        return self._source.parts.near.of(question)

    def said(self) -> Said:
        """What the owner said of pairs of questions and of concepts."""
        return self._source.said()

    def journey_records(self) -> tuple[JourneyRecord, ...]:
        """Every journey record, in ledger order."""
        return self._source.journeys()

    def dreams(self) -> tuple[DreamRecord, ...]:
        """Every record that hypothesis edges are made from, in ledger order."""
        return self._source.dreams()

    def cycles(self) -> tuple[CycleRecord, ...]:
        """Every cycle record, in ledger order."""
        return self._source.cycles()

    # reading the graph

    def nodes(self, cls: type[N]) -> tuple[N, ...]:
        """Every node of a class, by key."""
        with self._reader() as statement:
            return stored.read_nodes(statement, cls)

    def edges(self, cls: type[E]) -> tuple[E, ...]:
        """Every edge of a class, by ends and keys."""
        with self._reader() as statement:
            return stored.read_edges(statement, cls)

    def ends(
        self,
        cls: type[Edge],
        pair: tuple[str, str],
        name: str,
        keys: Sequence[str],
        end: Literal["a", "b"] = "a",
    ) -> list[tuple[str, str, Any]]:
        """Source, target and one column of the edges that start (a) or end (b) at some keys."""
        if not keys:
            return []
        with self._reader() as statement:
            return stored.found_ends(statement, cls, pair, name, keys, end)

    def ground(self) -> Ground:
        """Every extracted row."""
        with self._reader() as statement:
            ground = stored.read_ground(statement)
        return replace(ground, said=self._source.said().pairs)

    def around(
        self, threads: Iterable[str], least: int
    ) -> tuple[Ground, tuple[JourneyRecord, ...]]:
        """What a search for Journeys around some threads needs, with the records of those there.

        ``least``: lineages that a Journey begins with.
        """
        with self._reader() as statement:
            found = Surroundings(statement, self._source.parts, sorted(threads), least)
        records = (one for name in found.journeys for one in self._source.journeys(name))
        return replace(found.ground(), said=self._source.said().pairs), tuple(records)

    def meta(self) -> dict[str, str]:
        """What the graph says about itself."""
        with self._reader() as statement:
            return stored.read_meta(statement)

    def view(self, scope: "Scope | None" = None) -> "GraphView":
        """The graph as arrays, for the scout."""
        from graphstore.view import Scope, view

        with self._reader() as statement:
            return view(statement, Scope() if scope is None else scope)

    def query(
        self,
        cypher: str,
        params: Mapping[str, Scalar],
        *,
        limit: int = 1000,
        timeout_s: float = 10.0,
    ) -> QueryTable:
        """Run one reading statement; raises QueryRefused for any other."""
        with self._reader(timeout_s) as statement:
            return asking.ask(statement, cypher, params, limit)

    def verify(self) -> tuple[Fault, ...]:
        """Everything that does not hold; empty when all is well."""
        with self._reader() as statement:
            return verification.verify(self._source, statement)


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
        store = Store(
            path,
            derive,
            engine=engines.choose(path, engine, anew=anew),
            buffer_pool_mb=buffer_pool_mb,
            closing=opening,
            since=since,
            fault=fault,
        )
        store._closing = opening.pop_all()  # noqa: SLF001 - from here on the store closes itself
        return store
