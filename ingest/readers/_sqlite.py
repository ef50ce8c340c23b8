"""SQLite carriers: opened read-only, never written, locked or unpacked beside the original.

A database without a write-ahead log is read in place, as immutable. With one, its newest rows
are in the log: both files are copied into a private folder, and the copy is read. A database in
an archive or from standing input is read in memory.
"""

import re
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Final, TypeAlias

from ingest.model import READ_ERRORS, RawThread, ReadFailure, Source, Tally
from ingest.shape import look
from ingest.text import decode

Cell: TypeAlias = str | int | float | bytes | None
Row: TypeAlias = dict[str, Cell]
Given: TypeAlias = RawThread | ReadFailure
Tables: TypeAlias = Mapping[str, frozenset[str]]
"""Columns by table."""

ERRORS: Final = (sqlite3.Error, UnicodeDecodeError, *READ_ERRORS)
"""What reading a database may raise; names and messages of a damaged one are any bytes."""
_LONGEST: Final = 2**31 - 1
"""Bytes of the longest value that SQLite can be asked to allow."""
MEMORY_LIMIT: Final = 512 * 2**20
"""Bytes of a database that is no file of its own."""
_TRIES: Final = 3
_BATCH: Final = 256
_VERSIONS: Final = slice(18, 20)
"""Bytes of the header that ask for a write-ahead log, which memory has none of."""
_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_WHOLE: Final = 2**63
_SCHEMA: Final = (
    "SELECT m.name, c.name FROM sqlite_master AS m JOIN pragma_table_info(m.name) AS c"
    " WHERE m.type = 'table'"
)
_INDEXED: Final = (
    "SELECT 1 FROM pragma_index_list(?) AS i JOIN pragma_index_info(i.name) AS c"
    " WHERE c.seqno = 0 AND c.name = ?"
)


class Changing(OSError):
    """The database changed each time it was copied."""


class Database:
    """An open database: rows by table, columns that are not there are null."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self.tables: Tables = _tables(connection)
        self._indexed: dict[tuple[str, str], bool] = {}
        self._places: dict[tuple[str, str], dict[Cell, list[int]]] = {}

    def rows(self, table: str, columns: tuple[str, ...], where: str = "") -> Iterator[Row]:
        """Rows of a table, a batch at a time. Table, columns and condition are fixed words."""
        return self._select(table, columns, where, ())

    def row(self, table: str, columns: tuple[str, ...], key: str, value: Cell) -> Row | None:
        """The first row with that key."""
        return next(self.children(table, columns, key, value), None)

    def children(
        self, table: str, columns: tuple[str, ...], key: str, value: Cell
    ) -> Iterator[Row]:
        """Rows with that key: by its index, else by a list of places made once."""
        if key not in self.tables.get(table, ()) or not _can_stand(value):
            return
        if self._is_indexed(table, key):
            yield from self._select(table, columns, f"WHERE {key} = ?", (value,))
            return
        for place in self._by_key(table, key).get(value, ()):
            yield from self._select(table, columns, "WHERE rowid = ?", (place,))

    def _is_indexed(self, table: str, key: str) -> bool:
        if (table, key) not in self._indexed:
            found = self._connection.execute(_INDEXED, (table, key)).fetchone()
            self._indexed[table, key] = found is not None
        return self._indexed[table, key]

    def _by_key(self, table: str, key: str) -> dict[Cell, list[int]]:
        found = self._places.get((table, key))
        if found is None:
            found = self._places[table, key] = {}
            text = f"SELECT rowid, {key} FROM {table}"  # noqa: S608 - fixed words
            for place, value in self._connection.execute(text):
                found.setdefault(value, []).append(place)
        return found

    def _select(
        self, table: str, columns: tuple[str, ...], where: str, values: tuple[Cell, ...]
    ) -> Iterator[Row]:
        here = self.tables.get(table)
        if not here:
            return
        listed = ", ".join(one if one in here else f"NULL AS {one}" for one in columns)
        text = f"SELECT {listed} FROM {table} {where}"  # noqa: S608 - fixed words
        cursor = self._connection.execute(text, values)
        while batch := cursor.fetchmany(_BATCH):
            for row in batch:
                yield dict(zip(columns, row, strict=True))


def _can_stand(value: Cell) -> bool:
    """Whether a table can hold a value: sound text, a whole number of 64 bits."""
    if isinstance(value, str):
        return value.isascii() or not _SURROGATE.search(value)
    return not isinstance(value, int) or abs(value) < _WHOLE


def tables(src: Source) -> Tables:
    """Tables of a source and their columns; empty if it is no database that can be read."""
    if look(src).kind != "sqlite":
        return {}
    try:
        found = _seen_in_place(src)
        if found or not _has_log(src):
            return found
        with opened(src, Tally()) as database:
            return database.tables
    except ERRORS:
        return {}


def _seen_in_place(src: Source) -> Tables:
    """Tables without those that only the log has: enough to know the format by, and cheap."""
    if src.file is None:
        with opened(src, Tally()) as database:
            return database.tables
    try:
        with closing(_in_place(src.file)) as connection:
            return _tables(connection)
    except ERRORS:
        if not _has_log(src):
            raise
        return {}


@contextmanager
def opened(src: Source, tally: Tally) -> Iterator[Database]:
    """Open a database for reading; bad UTF-8 in it is counted. Raises ``ERRORS``.

    Reading a value over the size of a record raises ``sqlite3.DataError``, which is one of them.
    """
    with _connected(src) as connection:
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, min(src.record_limit, _LONGEST))
        connection.text_factory = lambda raw: _text(raw, tally)
        yield Database(connection)


def guarded(threads: Iterator[Given], src: Source, tally: Tally) -> Iterator[Given]:
    """Give threads as they come; where the database breaks off, what was in hand is lost."""
    while True:
        before = tally.records - sum(tally.dispositions.values())
        try:
            one = next(threads, None)
        except ERRORS as cause:
            in_hand = tally.records - sum(tally.dispositions.values()) - before
            tally.drop("lost", in_hand)
            yield ReadFailure(src.name, "unreadable_file", type(cause).__name__)
            return
        if one is None:
            return
        yield one


@contextmanager
def _connected(src: Source) -> Iterator[sqlite3.Connection]:
    if src.file is None:
        with closing(_in_memory(src)) as connection:
            yield connection
    elif not _has_log(src):
        with closing(_in_place(src.file)) as connection:
            yield connection
    else:
        with tempfile.TemporaryDirectory(prefix="clew-") as folder:
            copy = _copied(src.file, Path(folder))
            with closing(sqlite3.connect(copy)) as connection:
                yield connection


def _in_place(file: Path) -> sqlite3.Connection:
    return sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro&immutable=1", uri=True)


def _in_memory(src: Source) -> sqlite3.Connection:
    if src.size > MEMORY_LIMIT:
        raise OSError
    with src.open() as stream:
        content = bytearray(stream.read(MEMORY_LIMIT + 1))
    if len(content) > MEMORY_LIMIT:
        raise OSError
    content[_VERSIONS] = b"\1\1"
    connection = sqlite3.connect(":memory:")
    connection.deserialize(bytes(content))
    return connection


def log_of(file: Path) -> Path:
    """Where the write-ahead log of a database lies."""
    return file.with_name(f"{file.name}-wal")


def _has_log(src: Source) -> bool:
    try:
        return src.file is not None and log_of(src.file).stat().st_size > 0
    except OSError:
        return False


def _copied(file: Path, folder: Path) -> Path:
    """A copy with its log, taken while neither changed. Raises ``Changing``."""
    copy = folder / "copy.db"
    for _ in range(_TRIES):
        before = _state(file)
        shutil.copyfile(file, copy)
        log_of(copy).unlink(missing_ok=True)
        if log_of(file).exists():
            shutil.copyfile(log_of(file), log_of(copy))
        if _state(file) == before:
            return copy
    raise Changing


def _state(file: Path) -> tuple[tuple[int, int] | None, ...]:
    return tuple(_size_and_time(one) for one in (file, log_of(file)))


def _size_and_time(file: Path) -> tuple[int, int] | None:
    try:
        stat = file.stat()
    except FileNotFoundError:
        return None
    return stat.st_size, stat.st_mtime_ns


def _tables(connection: sqlite3.Connection) -> Tables:
    found: dict[str, set[str]] = {}
    for table, column in connection.execute(_SCHEMA):
        found.setdefault(str(table), set()).add(str(column))
    return {table: frozenset(columns) for table, columns in found.items()}


def _text(raw: bytes, tally: Tally) -> str:
    try:
        return raw.decode()
    except UnicodeDecodeError:
        text, repairs = decode(raw)
        for code, count in repairs:
            tally.note(code, None, count)
        return text


def words(value: Cell) -> str:
    """A cell as text; empty if it holds none."""
    return value if isinstance(value, str) else ""
