"""What recall gave to sessions of agents lately: beside the ledger, for hours, without cues."""

from datetime import datetime, timedelta
from typing import Final

from graphstore.ledger import Ledger

TABLE: Final = """CREATE TABLE IF NOT EXISTS recall_cache(
  key TEXT PRIMARY KEY, at REAL NOT NULL, seq INTEGER NOT NULL, body TEXT NOT NULL)"""
MOST: Final = 128
"""Answers that are kept."""
KEPT: Final = timedelta(hours=6)


class Given:
    """Answers by key; one holds as long as nothing was recorded since, and no longer than KEPT."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        with ledger.transaction() as connection:
            connection.execute(TABLE)

    def get(self, key: str, now: datetime) -> str | None:
        """The answer under a key, if it still holds."""
        rows = self._ledger.select(
            "SELECT body FROM recall_cache WHERE key = ? AND at > ? AND seq = ?",
            (key, (now - KEPT).timestamp(), self._ledger.last_seq()),
        )
        return rows[0][0] if rows else None

    def put(self, key: str, body: str, now: datetime) -> None:
        """Keep an answer, and the newest of the others."""
        with self._ledger.transaction() as connection:
            connection.execute(
                "INSERT OR REPLACE INTO recall_cache VALUES (?, ?, ?, ?)",
                (key, now.timestamp(), self._ledger.last_seq(), body),
            )
            connection.execute(
                "DELETE FROM recall_cache WHERE at <= ?1 OR key NOT IN"
                " (SELECT key FROM recall_cache ORDER BY at DESC, key LIMIT ?2)",
                ((now - KEPT).timestamp(), MOST),
            )

    def clear(self) -> None:
        """Drop every answer: they hold words of turns."""
        with self._ledger.transaction() as connection:
            connection.execute("DELETE FROM recall_cache")
