"""Which nodes Journeys and dreams rest on: a commit that touches none leaves them alone."""

from collections.abc import Iterable
from typing import Final

import orjson

from graphstore.ledger import Ledger
from graphstore.model.knowledge import Edge, Node
from graphstore.model.refs import SourceRefId, parse_ref

_TABLE: Final = "CREATE TABLE IF NOT EXISTS claim(key TEXT PRIMARY KEY) WITHOUT ROWID"


class Claims:
    """Keys of nodes, and ids of the threads whose turns are named."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        with ledger.transaction() as connection:
            connection.execute(_TABLE)

    def replace(self, rows: Iterable[Node | Edge], refs: Iterable[str]) -> None:
        """Start again from all rows of Journeys and dreams, and the refs of their stops."""
        keys = {end for row in rows if isinstance(row, Edge) for end in (row.src, row.dst)}
        for parsed in map(parse_ref, refs):
            if isinstance(parsed, SourceRefId):
                keys.add(parsed.thread_id)
        with self._ledger.transaction() as connection:
            connection.execute("DELETE FROM claim")
            connection.executemany("INSERT INTO claim VALUES (?)", [(key,) for key in sorted(keys)])

    def any(self, keys: Iterable[str]) -> bool:
        """Whether something rests on one of them."""
        listed = orjson.dumps(sorted(keys)).decode()
        sql = "SELECT 1 FROM claim WHERE key IN (SELECT value FROM json_each(?)) LIMIT 1"
        return bool(self._ledger.select(sql, (listed,)))
