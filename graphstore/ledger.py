"""ledger.db: the append-only record table with its checksum chain, replay, verify, export."""

import os
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import astuple, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from threading import RLock
from typing import Any, Final
from urllib.parse import quote

from graphstore.errors import DiskFull, LedgerDamaged, LedgerUnreadable, Unwritable
from graphstore.ids import canonical, checksum
from graphstore.model.base import adapter
from graphstore.model.record import Record

Connection = sqlite3.Connection
SqlError = sqlite3.Error

RECORDS: Final = adapter(Record)
GENESIS: Final = b""

_TABLE: Final = """
CREATE TABLE IF NOT EXISTS record(
  seq INTEGER PRIMARY KEY, at TEXT NOT NULL, kind TEXT NOT NULL, subject TEXT NOT NULL,
  body TEXT NOT NULL, checksum BLOB NOT NULL)
"""
_CACHE: Final = 2**17
"""KiB of pages that may be kept: a bulk load writes its tables in many orders at once."""
_PART: Final = 2_000
"""Rows that are read at once of very many."""
_BROKEN: Final = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_IOERR)
_TYPES: Final = (int, str, str, str, str, bytes)
_FULL: Final = (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR_WRITE, sqlite3.SQLITE_IOERR_SHMSIZE)
_BARRED: Final = (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM)
_INDEX: Final = "CREATE INDEX IF NOT EXISTS record_subject ON record(kind, subject, seq)"


@dataclass(frozen=True, slots=True)
class Entry:
    """One row of the record table."""

    seq: int
    at: str
    kind: str
    subject: str
    body: str
    checksum: bytes

    def record(self) -> Record:
        """The record itself; raises LedgerDamaged when the body is not one."""
        try:
            record: Record = RECORDS.validate_json(self.body, strict=True)
        except ValueError as cause:
            raise LedgerDamaged(self.seq, "the body is no record of a known kind") from cause
        return record

    def expected(self, previous: bytes) -> bytes:
        """The checksum it must carry after ``previous``."""
        return checksum(previous, str(self.seq), self.at, self.kind, self.subject, self.body)


@dataclass(frozen=True, slots=True)
class Break:
    """A place where the chain does not hold."""

    seq: int
    reason: str


def stamp(moment: datetime) -> str:
    """UTC text of a record's time."""
    return moment.astimezone(UTC).isoformat().replace("+00:00", "Z")


def copy_file(source: Path, target: Path) -> None:
    """Copy a ledger file as it stands at one moment, while others read and write it.

    Raises LedgerUnreadable when it cannot.
    """
    target.touch(mode=0o600)
    # only a ledger without a log can be read where nothing may be written
    quiet = "" if source.with_name(source.name + "-wal").exists() else "&immutable=1"
    mode = "ro" if os.access(source.parent, os.W_OK) else f"ro{quiet}"
    address = f"file:{quote(str(source.absolute()))}?mode={mode}"
    with (
        told(source),
        closing(sqlite3.connect(address, uri=True, timeout=10)) as reading,
        closing(sqlite3.connect(target)) as writing,
    ):
        reading.backup(writing)  # all pages in one step: one moment


def readable(file: Path) -> Iterator[Entry]:
    """Every record that can still be read of a damaged file, by sequence.

    Which there are is asked from both ends and of the index; then each is read by itself.
    """
    asked = (
        "SELECT seq FROM record ORDER BY seq",
        "SELECT seq FROM record ORDER BY seq DESC",
        "SELECT seq FROM record INDEXED BY record_subject",
    )
    most = file.stat().st_size  # no record takes less than a byte: larger numbers are damage
    numbers: set[int] = set()
    with closing(sqlite3.connect(file)) as connection:
        for question in asked:
            with suppress(sqlite3.DatabaseError):
                numbers.update(row[0] for row in connection.execute(question) if row[0] <= most)
        for seq in range(min(numbers, default=1), max(numbers, default=0) + 1):
            with suppress(sqlite3.DatabaseError):
                found = connection.execute("SELECT * FROM record WHERE seq = ?", (seq,)).fetchone()
                if found is not None and all(map(isinstance, found, _TYPES)):
                    yield Entry(*found)


def fold(file: Path) -> None:
    """Bring the log of a ledger file that nobody has open into it, as far as that goes."""
    with suppress(sqlite3.DatabaseError), closing(sqlite3.connect(file)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    for end in ("-wal", "-shm"):
        file.with_name(file.name + end).unlink(missing_ok=True)


def listed(names: Iterable[str]) -> str:
    """Names as one parameter of a statement, which reads them by ``json_each``."""
    return canonical(list(names)).decode()


def body_of(record: Record) -> str:
    """Canonical JSON of a record."""
    return canonical(record.model_dump(mode="json")).decode()


@contextmanager
def told(path: Path | None) -> Iterator[None]:
    """What SQLite says about a file, as one of our errors; the rest is a fault of ours.

    Raises DiskFull, LedgerUnreadable, Unwritable.
    """
    try:
        yield
    except sqlite3.DatabaseError as cause:
        code = getattr(cause, "sqlite_errorcode", 0)
        if path is None or not code:
            raise
        if code in _FULL:
            raise DiskFull.at(path.parent) from cause
        if code & 0xFF in _BROKEN:
            raise LedgerUnreadable(str(path), "it is no sound database") from cause
        if code & 0xFF in _BARRED:
            raise Unwritable(str(path.parent), str(cause)) from cause
        raise


class Reading:
    """Reading statements on one connection. Threads share it: every use takes its lock."""

    def __init__(self, path: Path | None, connection: Connection) -> None:
        self.path = path
        self.connection = connection
        self._lock = RLock()

    def select(self, sql: str, parameters: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
        """Rows of one reading statement."""
        with self._lock, told(self.path):
            return self.connection.execute(sql, parameters).fetchall()

    def each(self, sql: str) -> Iterator[tuple[Any, ...]]:
        """Rows of one reading statement, a part at a time; its tables must not change meanwhile."""
        with self._lock, told(self.path):
            cursor = self.connection.execute(sql)
        while rows := self._part(cursor):
            yield from rows

    def _part(self, cursor: sqlite3.Cursor) -> list[tuple[Any, ...]]:
        with self._lock, told(self.path):
            return cursor.fetchmany(_PART)


class Ledger(Reading):
    """The SQLite file of a workspace."""

    def __init__(self, path: Path | None) -> None:
        """Open or create, in memory without a path; raises LedgerUnreadable for a foreign file."""
        if path is not None and not path.exists():
            path.touch(mode=0o600)
        connection = sqlite3.connect(
            ":memory:" if path is None else path,
            isolation_level=None,
            check_same_thread=False,
            timeout=10,
        )
        super().__init__(path, connection)
        self._depth = 0
        try:
            with told(path):
                for pragma in (
                    "journal_mode=WAL",
                    "synchronous=FULL",
                    "secure_delete=ON",
                    "foreign_keys=ON",
                    f"cache_size=-{_CACHE}",
                ):
                    self.connection.execute(f"PRAGMA {pragma}")
            with self.transaction() as connection:
                connection.execute(_TABLE)
                connection.execute(_INDEX)
        except BaseException:
            self.connection.close()
            raise

    @contextmanager
    def transaction(self) -> Iterator[Connection]:
        """One durable change; nested uses join the outer one."""
        with self._lock, told(self.path):
            if self._depth == 0:
                self.connection.execute("BEGIN IMMEDIATE")
            self._depth += 1
            try:
                yield self.connection
                self._depth -= 1
                if self._depth == 0:
                    self.connection.execute("COMMIT")
            except BaseException:
                self._depth = max(self._depth - 1, 0)
                # a full disk or a damaged page has ended the transaction already
                if self._depth == 0 and self.connection.in_transaction:
                    self.connection.execute("ROLLBACK")
                raise

    @contextmanager
    def earlier(self) -> Iterator["Reading | None"]:
        """The file as it is now, whatever is written meanwhile; None for one in memory."""
        if self.path is None:
            yield None
            return
        address = f"file:{quote(str(self.path.absolute()))}?mode=ro"
        aside = sqlite3.connect(
            address, uri=True, isolation_level=None, check_same_thread=False, timeout=10
        )
        with closing(aside):
            reading = Reading(self.path, aside)
            reading.connection.execute("BEGIN")
            reading.select("SELECT max(seq) FROM record")  # from here on nothing changes
            yield reading

    def last(self) -> Entry | None:
        """The newest record."""
        rows = self.select("SELECT * FROM record ORDER BY seq DESC LIMIT 1")
        return Entry(*rows[0]) if rows else None

    def last_seq(self) -> int:
        """Sequence of the newest record; 0 when there is none."""
        entry = self.last()
        return 0 if entry is None else entry.seq

    def last_seq_of(self, *kinds: str) -> int:
        """Sequence of the newest record of these kinds; 0 when there is none."""
        marks = ", ".join("?" * len(kinds))
        rows = self.select(f"SELECT max(seq) FROM record WHERE kind IN ({marks})", kinds)  # noqa: S608 - only marks
        return int(rows[0][0] or 0)

    def append(self, record: Record, at: datetime) -> int:
        """Chain one record on and return its sequence; call it inside a transaction."""
        with self.transaction() as connection:
            newest = self.last()
            unsigned = Entry(
                seq=1 if newest is None else newest.seq + 1,
                at=stamp(at),
                kind=record.kind,
                subject=record.subject,
                body=body_of(record),
                checksum=b"",
            )
            signed = unsigned.expected(GENESIS if newest is None else newest.checksum)
            connection.execute(
                "INSERT INTO record VALUES (?, ?, ?, ?, ?, ?)",
                (
                    unsigned.seq,
                    unsigned.at,
                    unsigned.kind,
                    unsigned.subject,
                    unsigned.body,
                    signed,
                ),
            )
            return unsigned.seq

    def adopt(self, entry: Entry) -> int:
        """Chain a record of another ledger on, as it is written; return its sequence here."""
        with self.transaction() as connection:
            newest = self.last()
            before = GENESIS if newest is None else newest.checksum
            moved = replace(entry, seq=1 if newest is None else newest.seq + 1)
            signed = replace(moved, checksum=moved.expected(before))
            connection.execute("INSERT INTO record VALUES (?, ?, ?, ?, ?, ?)", astuple(signed))
            return signed.seq

    def rewrite(self, records: Mapping[int, Record]) -> None:
        """Put other records at some places, and chain anew from the first of them.

        For forgetting alone: a record is never changed otherwise.
        """
        if not records:
            return
        with self.transaction() as connection:
            for seq, record in sorted(records.items()):
                connection.execute(
                    "UPDATE record SET kind = ?, subject = ?, body = ? WHERE seq = ?",
                    (record.kind, record.subject, body_of(record), seq),
                )
            first = min(records)
            previous = self.checksum_at(first - 1)
            for entry in self.entries(first - 1):
                previous = entry.expected(previous)
                connection.execute(
                    "UPDATE record SET checksum = ? WHERE seq = ?", (previous, entry.seq)
                )

    def compact(self) -> None:
        """Leave no byte of what was deleted: write the file anew and empty its log."""
        self.connection.execute("VACUUM")
        self.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def entries(self, after: int = 0) -> Iterator[Entry]:
        """Records in order, read in pages so that writing between them is allowed."""
        while page := self.select(
            "SELECT * FROM record WHERE seq > ? ORDER BY seq LIMIT 500", (after,)
        ):
            for row in page:
                yield Entry(*row)
            after = page[-1][0]

    def of_kind(self, kind: str, subject: str | None = None) -> Iterator[Entry]:
        """Records of one kind, of one subject if given, in order."""
        rows = self.select(
            "SELECT * FROM record WHERE kind = ? AND subject = coalesce(?, subject) ORDER BY seq",
            (kind, subject),
        )
        return (Entry(*row) for row in rows)

    def newest(self, kind: str, subject: str) -> Entry | None:
        """The last record of a kind and subject."""
        rows = self.select(
            "SELECT * FROM record WHERE kind = ? AND subject = ? ORDER BY seq DESC LIMIT 1",
            (kind, subject),
        )
        return Entry(*rows[0]) if rows else None

    def checksum_at(self, seq: int) -> bytes:
        """Chain value after a record; that of the beginning when there is no such record."""
        rows = self.select("SELECT checksum FROM record WHERE seq = ?", (seq,))
        return bytes(rows[0][0]) if rows else GENESIS

    def kinds(self) -> frozenset[str]:
        """Kinds of the records there are."""
        return frozenset(row[0] for row in self.select("SELECT DISTINCT kind FROM record"))

    def check_last(self) -> None:
        """Check the newest link only: cheap enough for every opening.

        Raises LedgerDamaged.
        """
        rows = self.select("SELECT * FROM record ORDER BY seq DESC LIMIT 2")
        if not rows:
            return
        entry = Entry(*rows[0])
        previous = Entry(*rows[1]).checksum if len(rows) > 1 else GENESIS
        if entry.expected(previous) != entry.checksum:
            raise LedgerDamaged(entry.seq, "its checksum does not follow from the one before")

    def check_pages(self) -> None:
        """Let SQLite look at every page, table and index of the file.

        Raises LedgerUnreadable.
        """
        if self.select("PRAGMA integrity_check(1)") != [("ok",)]:
            raise LedgerUnreadable(str(self.path), "some of its pages are damaged")

    def verify(self) -> tuple[Break, ...]:
        """Every place where the chain does not hold, each named once, in order.

        After a broken link the chain is taken up again from the checksum that is stored.
        """
        found = []
        previous, number = GENESIS, 0
        for entry in self.entries():
            if entry.seq != number + 1:
                found.append(Break(entry.seq, f"records {number + 1} to {entry.seq - 1} are gone"))
            elif entry.expected(previous) != entry.checksum:
                found.append(Break(entry.seq, "the record or its checksum was changed"))
            previous, number = entry.checksum, entry.seq
        return tuple(found)

    def export(self) -> Iterator[bytes]:
        """Records as JSON Lines: columns by name, body as JSON, checksum in hexadecimal."""
        for entry in self.entries():
            head = canonical(
                {
                    "seq": entry.seq,
                    "at": entry.at,
                    "kind": entry.kind,
                    "subject": entry.subject,
                    "checksum": entry.checksum.hex(),
                }
            )
            # the body goes in as the bytes that were signed, not parsed and written again
            yield head[:-1] + b',"body":' + entry.body.encode() + b"}\n"

    def close(self) -> None:
        """Close the file; the write-ahead log is folded in."""
        self.connection.close()
