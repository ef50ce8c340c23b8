"""What happened to a store and was put right, kept for `clew status`."""

from datetime import datetime
from typing import Final

from graphstore.ledger import Ledger
from graphstore.model.query import Notice

_TABLE: Final = "CREATE TABLE IF NOT EXISTS event(number INTEGER PRIMARY KEY, body TEXT NOT NULL)"
KEPT: Final = 50


class Events:
    """Rows of ``event``, the newest fifty; no part of the truth."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        with ledger.transaction() as connection:
            connection.execute(_TABLE)

    def put(self, notice: Notice, at: datetime | None) -> None:
        """Keep what happened, and when if that is known."""
        with self._ledger.transaction() as connection:
            row = (notice.replace(at=at).model_dump_json(),)
            connection.execute("INSERT INTO event(body) VALUES (?)", row)
            connection.execute(
                "DELETE FROM event WHERE number <= (SELECT max(number) FROM event) - ?", (KEPT,)
            )

    def recent(self, count: int = KEPT) -> tuple[Notice, ...]:
        """The newest, oldest of them first."""
        rows = self._ledger.select("SELECT body FROM event ORDER BY number DESC LIMIT ?", (count,))
        return tuple(Notice.from_json(row[0]) for row in reversed(rows))
