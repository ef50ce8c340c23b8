"""The only file that imports a graph engine: opening, transactions, checkpoints, their errors."""

import importlib.util
import os
import re
import shutil
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from threading import Lock
from types import ModuleType
from typing import Any, Final, TypeAlias

from graphstore import seal
from graphstore.arrow import BATCH, Table, arrow_table
from graphstore.errors import (
    DiskFull,
    EngineConflict,
    EngineUnavailable,
    Error,
    QueryRefused,
    StoreDamaged,
    StoreError,
)
from graphstore.faults import Hook, no_fault
from graphstore.graphfiles import guarded, present
from graphstore.schema import Column

ENGINES: Final = {"kuzu": "pip install kuzu", "ladybug": "pip install 'clew[ladybug]'"}
MAX_DB_SIZE: Final = 2**36
FOLD_AT: Final = 16 * 2**20
"""Bytes of log that are folded into the file when a graph is closed."""
SPARE: Final = 256 * 2**20
"""Bytes that must stay free beside twice the write-ahead log."""

Parameter: TypeAlias = str | int | float | bool | list[str] | None


class TransactionFailed(StoreError):
    """A statement followed a failed one in a transaction on {path}."""

    def __init__(self, path: str) -> None:
        Error.__init__(self, path)
        self.path = path


class RowsLost(StoreError):
    """The graph has no place for {count} rows: an end of an edge is missing."""

    hint = "make the graph again: clew rebuild"

    def __init__(self, count: int) -> None:
        Error.__init__(self, count)
        self.count = count


class AlreadyOpen(StoreError):
    """The graph at {path} is already open in this process."""

    hint = "use the store that is open"

    def __init__(self, path: str) -> None:
        Error.__init__(self, path)
        self.path = path


_open_paths: set[Path] = set()
_registry = Lock()


def load(name: str) -> ModuleType:
    """Import an engine, never beside the other one.

    Raises EngineConflict, EngineUnavailable.
    """
    if name not in ENGINES:
        raise EngineUnavailable(name, "unknown engine")
    for other in ENGINES:
        if other != name and other in sys.modules:
            raise EngineConflict(name, other)
    try:
        # written out, so that the import contract sees both
        if name == "kuzu":
            import kuzu

            return kuzu
        import ladybug
    except ImportError as cause:
        raise EngineUnavailable(name, ENGINES[name]) from cause
    loaded: ModuleType = ladybug
    return loaded


def choose(workspace: Path, wanted: str, *, anew: bool) -> str:
    """The engine to open a workspace with: that of its graph, unless it is to be made anew.

    ``auto`` wants the one it has, or the first of those that are installed.
    """
    found = present(workspace)
    if found is not None and (wanted == "auto" or not anew):
        return found
    if wanted != "auto":
        return wanted
    return next((name for name in ENGINES if importlib.util.find_spec(name) is not None), "kuzu")


_DAMAGE: Final = re.compile(
    r"wal|checksum|corrupt|not a valid|magic|storage version|deserializ|assertion|shadow"
    r"|duplicated primary key",
    re.IGNORECASE,
)
_SPACE: Final = re.compile(r"no space|disk full|cannot write|file too large", re.IGNORECASE)


def translate(error: Exception, path: Path) -> StoreError:
    """One mapping from the engine's prose to our errors; row contents stay in the cause."""
    words = str(error)
    kind = words.split(":", 1)[0][:60]
    if "Interrupted" in words:
        return QueryRefused("it ran out of time")
    if kind in ("Binder exception", "Parser exception", "Catalog exception"):
        return QueryRefused(words)
    if _SPACE.search(words):
        return DiskFull(str(path), SPARE, shutil.disk_usage(path.parent).free)
    if _DAMAGE.search(words):
        return StoreDamaged(str(path), kind)
    return StoreError(kind if kind != words[:60] else "the graph engine refused a statement")


def check_space(path: Path) -> None:
    """Refuse to begin what the disk cannot hold: a full disk at commit ends the process.

    Raises DiskFull.
    """
    log = path.with_name(path.name + ".wal")
    needed = SPARE + 2 * (log.stat().st_size if log.exists() else 0)
    free = shutil.disk_usage(path.parent).free
    if free < needed:
        raise DiskFull(str(path), needed, free)


def has_second_statement(cypher: str) -> bool:
    """Whether a semicolon stands outside of literals: several statements can crash the engine."""
    bare = re.sub(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|`[^`]*`", "", cypher)
    return ";" in bare.strip().rstrip(";")


_asked_once: set[str] = set()


@contextmanager
def _remembered_modules() -> Iterator[None]:
    """Let the engine ask once which modules there are.

    For a statement with a table it calls ``find_spec`` ten times, two thirds of what a small one
    costs, and keeps the function that it finds at the first: here one that remembers.
    """
    if "find_spec" in _asked_once:
        yield
        return
    with _registry:
        plain = importlib.util.find_spec
        importlib.util.find_spec = cache(plain)
        try:
            yield
        finally:
            importlib.util.find_spec = plain
            _asked_once.add("find_spec")


class Transaction:
    """Statements of one transaction; after the first error it accepts no further one."""

    def __init__(self, module: ModuleType, connection: Any, path: Path) -> None:  # noqa: ANN401 - the engine's
        self._module = module
        self._connection = connection
        self._path = path
        self.failed = False

    @contextmanager
    def _told(self, cypher: str) -> Iterator[None]:
        """Accept a statement, and tell its failure as one of our errors."""
        if self.failed:
            raise TransactionFailed(str(self._path))
        if has_second_statement(cypher):
            reason = "one statement at a time"
            raise QueryRefused(reason)
        try:
            yield
        except (RuntimeError, OverflowError, ValueError, TypeError) as error:
            self.failed = True
            raise translate(error, self._path) from error

    def _execute(self, cypher: str, parameters: dict[str, Any]) -> Any:  # noqa: ANN401 - the engine's
        with self._told(cypher):
            if "rows" in parameters:
                with _remembered_modules():
                    return self._connection.execute(cypher, parameters)
            return self._connection.execute(cypher, parameters)

    def run(self, cypher: str, **parameters: Parameter | Table) -> None:
        """Execute a statement and drop its result."""
        self._execute(cypher, parameters).close()

    def arrow(self, cypher: str, **parameters: Parameter | Table) -> Table:
        """Execute a statement; its rows as a pyarrow table in arrival order, which varies."""
        result = self._execute(cypher, parameters)
        try:
            return result.get_as_arrow()
        finally:
            result.close()

    def columns(self, cypher: str, **parameters: Parameter | Table) -> dict[str, list[Any]]:
        """Execute a statement; its rows as lists by column name."""
        table = self.arrow(cypher, **parameters)
        return {name: table.column(name).to_pylist() for name in table.column_names}

    def rows(
        self, cypher: str, parameters: dict[str, Parameter], limit: int
    ) -> tuple[tuple[str, ...], list[list[Any]]]:
        """Column names and at most ``limit`` rows."""
        result = self._execute(cypher, parameters)
        try:
            names = tuple(result.get_column_names())
            return names, result.get_n(limit) if result.has_next() else []
        finally:
            result.close()

    def each_batch(
        self, cypher: str, columns: Sequence[Column], rows: Sequence[Sequence[Any]]
    ) -> Iterator[dict[str, list[Any]]]:
        """Run a ``LOAD FROM $rows`` statement over rows, 5,000 at a time."""
        for start in range(0, len(rows), BATCH):
            yield self.columns(cypher, rows=arrow_table(columns, rows[start : start + BATCH]))

    def put(self, cypher: str, columns: Sequence[Column], rows: Sequence[Sequence[Any]]) -> None:
        """Write rows and check that every one of them found its place.

        Raises RowsLost when an edge lacks an end: it would vanish without a word.
        """
        self._all(sum(found["rows"][0] for found in self.each_batch(cypher, columns, rows)), rows)

    def put_below(
        self, cypher: str, columns: Sequence[Column], rows: Sequence[Sequence[Any]], thread: str
    ) -> None:
        """Write rows below one thread; columns have their prefixes. Raises RowsLost."""
        table = arrow_table(columns, rows, prefix="")
        self._all(self.columns(cypher, rows=table, thread=thread)["rows"][0], rows)

    def put_each(
        self, cypher: str, columns: Sequence[Column], rows: Sequence[Sequence[Any]]
    ) -> None:
        """As ``put``, by a statement for one row. Raises RowsLost."""
        self._all(self.each(cypher, columns, rows), rows)

    def _all(self, done: int, rows: Sequence[Sequence[Any]]) -> None:
        if done != len(rows):
            self.failed = True
            raise RowsLost(len(rows) - done)

    def discard(
        self, cypher: str, columns: Sequence[Column], rows: Sequence[Sequence[Any]]
    ) -> None:
        """Delete what rows name."""
        for start in range(0, len(rows), BATCH):
            self.run(cypher, rows=arrow_table(columns, rows[start : start + BATCH]))

    def each(self, cypher: str, columns: Sequence[Column], rows: Sequence[Sequence[Any]]) -> int:
        """Run a statement for one row after another, cells as ``$c_<column>``.

        Returns how many rows it gave. It is prepared once, in half the time of once for each.
        """
        names = [f"c_{column.name}" for column in columns]
        lists = [place for place, column in enumerate(columns) if column.kind == "STRING[]"]
        found = 0
        with self._told(cypher):
            prepared = None
            for row in rows:
                cells = list(row)
                for place in lists:
                    cells[place] = list(cells[place])
                given = dict(zip(names, cells, strict=True))
                prepared = prepared or self._module.PreparedStatement(
                    self._connection, cypher, given
                )
                result = self._connection.execute(prepared, given)
                found += result.get_num_tuples()
                result.close()
        return found

    def copy(self, cypher: str, columns: Sequence[Column], rows: Sequence[Sequence[Any]]) -> None:
        """Bulk load into a fresh file; column names as they are."""
        if rows:
            self.run(cypher, rows=arrow_table(columns, rows, prefix=""))


@contextmanager
def _private() -> Iterator[None]:
    """The engine makes files that others can read, where the caller has set no mask."""
    before = os.umask(0o077)
    try:
        yield
    finally:
        os.umask(before)


class Engine:
    """One opened graph database; owned by one process, one object per path."""

    def __init__(
        self,
        path: Path,
        *,
        name: str = "kuzu",
        buffer_pool_mb: int = 512,
        fault: Hook = no_fault,
    ) -> None:
        """Open or create; raises StoreDamaged when the file cannot be opened."""
        self.path = path
        self.name = name
        self._fault = fault
        self._module = load(name)
        with _registry:
            if path in _open_paths:
                raise AlreadyOpen(str(path))
            _open_paths.add(path)
        reason = _ended_while_opening(path) or seal.broken(path)
        if reason:
            self._forget_path()
            raise StoreDamaged(str(path), reason)
        options = {} if name == "kuzu" else {"throw_on_wal_replay_failure": False}
        try:
            marker(path).touch(mode=0o600)
            with _private():
                self._database = self._module.Database(
                    str(path),
                    buffer_pool_size=buffer_pool_mb * 2**20,
                    max_db_size=MAX_DB_SIZE,
                    auto_checkpoint=False,
                    **options,
                )
        except (RuntimeError, LookupError, ValueError, MemoryError) as error:
            # what a damaged file raises depends on where the reading of it ends
            self._forget_path()
            raise StoreDamaged(str(path), str(error).split(":", 1)[0]) from error
        finally:
            marker(path).unlink(missing_ok=True)

    def _forget_path(self) -> None:
        with _registry:
            _open_paths.discard(self.path)

    @property
    def log_size(self) -> int:
        """Bytes in the write-ahead log."""
        log = self.path.with_name(self.path.name + ".wal")
        return log.stat().st_size if log.exists() else 0

    @contextmanager
    def _connection(self, timeout_ms: int = 0, threads: int = 0) -> Iterator[Any]:
        connection = self._module.Connection(self._database, num_threads=threads)
        if timeout_ms:
            connection.set_query_timeout(timeout_ms)
        try:
            yield connection
        finally:
            connection.close()

    @contextmanager
    def _writing(self, threads: int = 0) -> Iterator[Any]:
        with _private(), self._connection(threads=threads) as connection:
            yield connection

    @contextmanager
    def autocommit(self) -> Iterator[Transaction]:
        """Statements that each stand alone: DDL and COPY into a fresh file."""
        with self._writing() as connection:
            yield Transaction(self._module, connection, self.path)

    @contextmanager
    def read(self, timeout_s: float = 0, threads: int = 0) -> Iterator[Transaction]:
        """One read-only transaction; of few rows by one thread: to wake more takes longer."""
        with self._connection(int(timeout_s * 1000), threads) as connection:
            transaction = Transaction(self._module, connection, self.path)
            transaction.run("BEGIN TRANSACTION READ ONLY")
            yield transaction
            if not transaction.failed:
                transaction.run("COMMIT")

    @contextmanager
    def write(self) -> Iterator[Transaction]:
        """One transaction: all of it, or after any error nothing."""
        check_space(self.path)
        with self._writing(threads=1) as connection:
            transaction = Transaction(self._module, connection, self.path)
            transaction.run("BEGIN TRANSACTION")
            try:
                yield transaction
            except BaseException:
                # the connection is dropped: after an error the engine would commit piecemeal
                if not transaction.failed:
                    transaction.run("ROLLBACK")
                raise
            if transaction.failed:
                raise TransactionFailed(str(self.path))
            self._fault("graph_written")
            transaction.run("COMMIT")
            self._fault("graph_committed")

    def checkpoint(self) -> None:
        """Move the log into the database file, guarded against a kill half-way."""
        if self.log_size:
            with guarded(self.path, self._fault), self.autocommit() as statement:
                statement.run("CHECKPOINT")
                seal.put(self.path)

    def close(self, *, fold: bool = False) -> None:
        """Close; a log that is large, or any log with ``fold``, goes into the file first.

        A checkpoint costs seconds on a large graph however little changed, so a short log stays
        and is replayed by the next opening.
        """
        if fold or self.log_size > FOLD_AT:
            self.checkpoint()
        try:
            with self.autocommit() as statement:
                statement.run("CALL force_checkpoint_on_close=false")
        finally:
            self._database.close()
            seal.renew(self.path)
            self._forget_path()


def marker(path: Path) -> Path:
    """Lies beside a database while the engine opens it; goes where its files go."""
    return path.with_name(path.name + ".opening")


def _ended_while_opening(path: Path) -> str | None:
    """Some damage ends the process inside the engine; a second try would end it again."""
    if not marker(path).exists():
        return None
    marker(path).unlink()
    return "the last attempt to open it ended the program"
