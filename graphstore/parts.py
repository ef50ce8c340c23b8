"""What each thread adds to nodes that threads share, kept ready beside the ledger. Derived."""

from collections.abc import Iterable, Sequence
from typing import Final

from graphstore.fold import Part, Shard
from graphstore.ledger import Connection, Ledger

TABLES: Final = (
    """CREATE TABLE IF NOT EXISTS part(
      thread_id TEXT NOT NULL, node TEXT NOT NULL, kind TEXT NOT NULL, body TEXT NOT NULL,
      PRIMARY KEY(thread_id, node, kind)) WITHOUT ROWID""",
    "CREATE INDEX IF NOT EXISTS part_node ON part(node)",
    "CREATE TABLE IF NOT EXISTS dirty(node TEXT PRIMARY KEY) WITHOUT ROWID",
    "CREATE TABLE IF NOT EXISTS settled(applied INTEGER NOT NULL)",
)
_PAGE: Final = 500


class Parts:
    """Contributions by (thread, node, kind), and the nodes whose sum is not in the graph yet.

    A node is marked dirty in the transaction that changes a part of it, and clean only after
    the graph has its new sum: a crash in between computes it once more.
    """

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        with ledger.transaction() as connection:
            for statement in TABLES:
                connection.execute(statement)

    def put(self, shards: Iterable[Shard]) -> None:
        """Replace the parts of some threads and mark every node they touch, or touched."""
        with self._ledger.transaction() as connection:
            for shard in shards:
                connection.execute(
                    "INSERT OR IGNORE INTO dirty SELECT node FROM part WHERE thread_id = ?",
                    (shard.thread_id,),
                )
                connection.execute("DELETE FROM part WHERE thread_id = ?", (shard.thread_id,))
                _insert(connection, shard.parts)
                connection.executemany(
                    "INSERT OR IGNORE INTO dirty VALUES (?)",
                    sorted({(part.node,) for part in shard.parts}),
                )

    def replace_all(self, parts: Iterable[Part]) -> None:
        """Start again from the parts of every thread; nothing is dirty then."""
        with self._ledger.transaction() as connection:
            connection.execute("DELETE FROM part")
            connection.execute("DELETE FROM dirty")
            _insert(connection, parts)

    def dirty(self) -> tuple[str, ...]:
        """Nodes whose sum the graph may not have yet, sorted."""
        return tuple(row[0] for row in self._ledger.select("SELECT node FROM dirty ORDER BY node"))

    def of(self, nodes: Sequence[str]) -> tuple[Part, ...]:
        """Every part of these nodes, by node, kind and thread."""
        found = []
        for start in range(0, len(nodes), _PAGE):
            page = nodes[start : start + _PAGE]
            marks = ",".join("?" * len(page))
            found += self._ledger.select(
                "SELECT node, thread_id, kind, body FROM part"  # noqa: S608 - question marks only
                f" WHERE node IN ({marks}) ORDER BY node, kind, thread_id",
                tuple(page),
            )
        return tuple(Part(*row) for row in found)

    def all(self) -> tuple[Part, ...]:
        """Every part, by thread, node and kind."""
        rows = self._ledger.select(
            "SELECT node, thread_id, kind, body FROM part ORDER BY thread_id, node, kind"
        )
        return tuple(Part(*row) for row in rows)

    def settle(self, applied: int) -> None:
        """The graph has every sum, and every record up to ``applied``."""
        with self._ledger.transaction() as connection:
            connection.execute("DELETE FROM dirty")
            connection.execute("DELETE FROM settled")
            connection.execute("INSERT INTO settled VALUES (?)", (applied,))

    def settled(self) -> int:
        """The record that the graph once had; one that has less now has lost something."""
        rows = self._ledger.select("SELECT max(applied) FROM settled")
        return int(rows[0][0] or 0)


def _insert(connection: Connection, parts: Iterable[Part]) -> None:
    connection.executemany(
        "INSERT INTO part VALUES (?, ?, ?, ?)",
        ((part.thread_id, part.node, part.kind, part.body) for part in parts),
    )
