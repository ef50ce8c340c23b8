"""The table of carriers that ingest has read."""

from collections.abc import Iterable

from graphstore.ledger import Ledger
from graphstore.model.carrier import FileState

_TABLE = "CREATE TABLE IF NOT EXISTS source_file(path TEXT PRIMARY KEY, body TEXT NOT NULL)"


class Files:
    """Rows of ``source_file``; losing them costs a full re-read and nothing else."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        with ledger.transaction() as connection:
            connection.execute(_TABLE)

    def get(self, path: str) -> FileState | None:
        """What is known of one carrier."""
        rows = self._ledger.select("SELECT body FROM source_file WHERE path = ?", (path,))
        return FileState.from_json(rows[0][0]) if rows else None

    def all(self) -> tuple[FileState, ...]:
        """Every carrier, by path."""
        rows = self._ledger.select("SELECT body FROM source_file ORDER BY path")
        return tuple(FileState.from_json(row[0]) for row in rows)

    def put(self, rows: Iterable[FileState]) -> None:
        """Insert or replace."""
        with self._ledger.transaction() as connection:
            connection.executemany(
                "INSERT OR REPLACE INTO source_file VALUES (?, ?)",
                [(row.path, row.model_dump_json()) for row in rows],
            )

    def remove(self, paths: Iterable[str]) -> None:
        """Forget carriers."""
        with self._ledger.transaction() as connection:
            connection.executemany(
                "DELETE FROM source_file WHERE path = ?", [(path,) for path in paths]
            )
