"""Which nodes Journeys and dreams rest on: a commit that touches none leaves them alone."""

from collections.abc import Iterable
from typing import Final

from graphstore.ledger import Ledger, listed
from graphstore.model.knowledge import Edge, Node
from graphstore.model.refs import SourceRefId, parse_ref

DREAMS: Final = "dreams"
"""Owner of what hypotheses rest on; that of a Journey is its id."""
_TABLES: Final = (
    "DROP TABLE IF EXISTS claim",
    """CREATE TABLE IF NOT EXISTS rests(
      owner TEXT NOT NULL, key TEXT NOT NULL, PRIMARY KEY(owner, key)) WITHOUT ROWID""",
    "CREATE INDEX IF NOT EXISTS rests_key ON rests(key)",
)


class Claims:
    """Keys of nodes, and ids of the threads whose turns are named, by who rests on them."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        with ledger.transaction() as connection:
            for statement in _TABLES:
                connection.execute(statement)

    def clear(self) -> None:
        """Nothing rests on anything."""
        with self._ledger.transaction() as connection:
            connection.execute("DELETE FROM rests")

    def put(self, owner: str, rows: Iterable[Node | Edge], refs: Iterable[str] = ()) -> None:
        """Say what one owner rests on: the ends of its rows, and the refs of its stops."""
        keys = {end for row in rows if isinstance(row, Edge) for end in (row.src, row.dst)}
        for parsed in map(parse_ref, refs):
            if isinstance(parsed, SourceRefId):
                keys.add(parsed.thread_id)
        with self._ledger.transaction() as connection:
            connection.execute("DELETE FROM rests WHERE owner = ?", (owner,))
            connection.executemany(
                "INSERT INTO rests VALUES (?, ?)", [(owner, key) for key in sorted(keys)]
            )

    def owners(self, keys: Iterable[str]) -> set[str]:
        """Who rests on one of these."""
        sql = "SELECT DISTINCT owner FROM rests WHERE key IN (SELECT value FROM json_each(?))"
        return {row[0] for row in self._ledger.select(sql, (listed(sorted(keys)),))}
