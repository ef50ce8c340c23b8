"""What each thread adds to what threads share, kept ready beside the ledger. Derived.

Questions, concepts and the mentions between them, stated relations, pairs of concepts that
meet, questions that look alike. A thread that changes marks what it touches; only that is
summed again.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import orjson

from graphstore.ledger import Connection, Ledger, listed
from graphstore.meetings import Meetings, bounds_of
from graphstore.model.record import EpochRecord
from graphstore.near import Near, Pair, Worded
from graphstore.shards import Shard
from graphstore.sums import KINDS, SECTION, Sums
from graphstore.vectors import Static

TABLES: Final = (
    "DROP TABLE IF EXISTS dirty",
    "CREATE TABLE IF NOT EXISTS root(thread_id TEXT PRIMARY KEY, root TEXT NOT NULL) WITHOUT ROWID",
    """CREATE TABLE IF NOT EXISTS part(
      thread_id TEXT NOT NULL, node TEXT NOT NULL, kind TEXT NOT NULL, body TEXT NOT NULL,
      PRIMARY KEY(thread_id, node, kind)) WITHOUT ROWID""",
    """CREATE TABLE IF NOT EXISTS named(
      concept TEXT NOT NULL, thread_id TEXT NOT NULL, label TEXT NOT NULL, cf INTEGER NOT NULL,
      generic INTEGER NOT NULL, kind INTEGER NOT NULL, aliases TEXT NOT NULL,
      PRIMARY KEY(concept, thread_id)) WITHOUT ROWID""",
    "CREATE TABLE IF NOT EXISTS settled(applied INTEGER NOT NULL)",
    # what: node, pair, link (all of a question) or near (of two)
    """CREATE TABLE IF NOT EXISTS due(
      what TEXT NOT NULL, node TEXT NOT NULL, PRIMARY KEY(what, node)) WITHOUT ROWID""",
)
_INDEXES: Final = {
    "root_members": "CREATE INDEX IF NOT EXISTS root_members ON root(root)",
    "part_node": "CREATE INDEX IF NOT EXISTS part_node ON part(node)",
    "named_thread": "CREATE INDEX IF NOT EXISTS named_thread ON named(thread_id)",
    "posting_thread": "CREATE INDEX IF NOT EXISTS posting_thread ON posting(thread_id)",
}
"""Made at the end when everything is put in again."""
NAMES: Final = ("root", "part", "named", "posting", "pair")
_FIRST: Final = {
    "root": ("thread_id",),
    "part": ("thread_id", "node", "kind"),
    "named": ("concept", "thread_id"),
    "posting": ("concept", "thread_id"),
}
"""Key columns of the tables that a thread has rows in; they stand first."""
_OF_QUESTIONS: Final = frozenset({"question", "asked"})


class Parts(Sums):
    """Contributions by (node, thread), and what is summed from them but not in the graph yet.

    Something is marked dirty in the transaction that changes a part of it, and clean only after
    the graph has its new sum: a crash in between computes it once more.
    """

    meetings: Meetings
    near: Near

    def __init__(self, ledger: Ledger, folder: Path | None = None) -> None:
        super().__init__(ledger)
        self._ledger = ledger
        with ledger.transaction() as connection:
            self.meetings = Meetings(ledger)
            for statement in (*TABLES, *_INDEXES.values()):
                connection.execute(statement)
        self.near = Near(ledger, folder)
        self._static: tuple[EpochRecord, Static] | None = None

    # figures of the epoch

    def _vectors(self, epoch: EpochRecord) -> Static:
        if self._static is None or self._static[0] is not epoch:
            tokens = [(int(row.name), row.count) for row in epoch.token_df]
            self._static = (epoch, Static(epoch.lineages, tokens))
        return self._static[1]

    # one change

    @contextmanager
    def earlier(self) -> Iterator[Sums | None]:
        """The sums that the graph has, whatever is put meanwhile; None when some are due."""
        if self._ledger.select("SELECT 1 FROM due LIMIT 1"):
            yield None
            return
        with self._ledger.earlier() as reading:
            yield None if reading is None else Sums(reading)

    def put(self, shards: Sequence[Shard], epoch: EpochRecord) -> None:
        """Replace the parts of some threads, and mark all that this changes."""
        with self._ledger.transaction() as connection:
            asked: set[str] = set()
            met: list[tuple[set[str], set[str]]] = []
            for shard in shards:
                nodes, questions, paired = self._exchange(connection, shard)
                _mark(connection, "node", nodes)
                asked |= questions
                met.append(({row.concept_id for row in shard.company} | paired, paired))
            for company, paired in met:
                moved = self.meetings.update(connection, sorted(company), paired, bounds_of(epoch))
                _mark(connection, "pair", moved)
            near = self._compare(asked, epoch)
            _mark(connection, "link", asked)
            _mark(connection, "near", {" ".join(pair) for pair in near})

    def stir(self, pairs: Iterable[Pair]) -> None:
        """Mark pairs of questions that are to be linked again, or no longer."""
        with self._ledger.transaction() as connection:
            _mark(connection, "near", {" ".join(pair) for pair in pairs})

    def _exchange(
        self, connection: Connection, shard: Shard
    ) -> tuple[set[str], set[str], set[str]]:
        """Write what differs; returns changed nodes, changed questions, concepts met otherwise."""
        changed: dict[str, set[tuple[Any, ...]]] = {}
        for table, rows in _tables(shard).items():
            had = set(
                self._ledger.select(
                    f"SELECT * FROM {table} WHERE thread_id = ?",  # noqa: S608 - names of our own
                    (shard.thread_id,),
                )
            )
            wanted = set(rows)
            _delete(connection, table, had - wanted)
            _insert(connection, table, sorted(wanted - had))
            changed[table] = had ^ wanted
        nodes = {row[1] for row in changed["part"]} | {row[0] for row in changed["named"]}
        if changed["root"]:  # a concept counts the lineages that name it
            nodes |= {row.concept_id for row in shard.concepts}
        asked = {row[1] for row in changed["part"] if row[2] in _OF_QUESTIONS}
        return nodes, asked, {row[0] for row in changed["posting"]}

    # questions that look alike

    def _compare(self, asked: set[str], epoch: EpochRecord) -> set[Pair]:
        static = self._vectors(epoch)
        if not self.near.sound():
            had = {pair[:2] for pair in self.near.pairs()}
            self._compare_all(static)
            return had | {pair[:2] for pair in self.near.pairs()}
        known = {
            row[0]
            for row in self._ledger.select(
                "SELECT question FROM asked WHERE question IN (SELECT value FROM json_each(?))",
                (listed(sorted(asked)),),
            )
        }
        wanted = {one.question: one for one in self._worded(sorted(asked))}
        gone = sorted(known - wanted.keys())
        fresh = [wanted[name] for name in sorted(wanted.keys() - known)]
        return self.near.update(gone, fresh, static)

    def _compare_all(self, static: Static) -> None:
        self.near.clear()
        names = [
            row[0]
            for row in self._ledger.select(
                "SELECT DISTINCT node FROM part WHERE kind = 'asked' ORDER BY node"
            )
        ]
        sections = (names[at : at + SECTION] for at in range(0, len(names), SECTION))
        self.near.fill((list(self._worded(section)) for section in sections), static)

    def _worded(self, names: Sequence[str]) -> Iterator[Worded]:
        """Text and words of those questions that some thread asks."""
        for name in names:
            rows = self._ledger.select(
                "SELECT q.body, a.body FROM part a JOIN part q"
                " ON q.thread_id = a.thread_id AND q.node = a.node AND q.kind = 'question'"
                " WHERE a.node = ? AND a.kind = 'asked' ORDER BY a.thread_id LIMIT 1",
                (name,),
            )
            if rows:
                keys = orjson.loads(rows[0][1])["keys"]
                yield Worded(name, orjson.loads(rows[0][0])["text"], frozenset(keys))

    # all at once

    def clear(self) -> None:
        """Empty everything; nothing is dirty then."""
        with self._ledger.transaction() as connection:
            for name in (*NAMES, "due"):
                connection.execute(f"DELETE FROM {name}")  # noqa: S608 - names of our own
            for name in _INDEXES:
                connection.execute(f"DROP INDEX IF EXISTS {name}")
        self.near.clear()

    def add(self, shard: Shard) -> None:
        """Take the parts of one thread in, when starting again; ``finish`` sums them."""
        with self._ledger.transaction() as connection:
            for table, rows in _tables(shard).items():
                _insert(connection, table, rows)

    def finish(self, epoch: EpochRecord) -> None:
        """Find every pair that meets and every question that is alike."""
        with self._ledger.transaction() as connection:
            for statement in _INDEXES.values():
                connection.execute(statement)
            self.meetings.fill(connection, bounds_of(epoch))
            self._compare_all(self._vectors(epoch))

    # what is not in the graph yet

    def dirty(self, what: str) -> tuple[str, ...]:
        """What the graph may not have yet, sorted; of one kind."""
        rows = self._ledger.select("SELECT node FROM due WHERE what = ? ORDER BY node", (what,))
        return tuple(row[0] for row in rows)

    def all(self) -> tuple[tuple[Any, ...], ...]:
        """Every row, for comparing."""
        tables = (
            (name, self._ledger.select(f"SELECT * FROM {name} ORDER BY 1, 2, 3"))  # noqa: S608 - names of our own
            if name != "root"
            else (name, self._ledger.select("SELECT * FROM root ORDER BY 1"))
            for name in NAMES
        )
        return (
            *((name, *row) for name, rows in tables for row in rows),
            *(("near", *pair) for pair in self.near.pairs()),
        )

    def settle(self, applied: int) -> None:
        """The graph has every sum, and every record up to ``applied``."""
        with self._ledger.transaction() as connection:
            connection.execute("DELETE FROM due")
            connection.execute("DELETE FROM settled")
            connection.execute("INSERT INTO settled VALUES (?)", (applied,))

    def settled(self) -> int:
        """The record that the graph once had; one that has less now has lost something."""
        rows = self._ledger.select("SELECT max(applied) FROM settled")
        return int(rows[0][0] or 0)


def _mark(connection: Connection, what: str, names: Iterable[str]) -> None:
    connection.executemany(
        "INSERT OR IGNORE INTO due VALUES (?, ?)", [(what, name) for name in sorted(names)]
    )


def _tables(shard: Shard) -> dict[str, list[tuple[Any, ...]]]:
    """What one thread adds, as rows by table."""
    thread = shard.thread_id
    return {
        "root": [(thread, shard.root)],
        "part": [(thread, part.node, part.kind, part.body) for part in shard.parts],
        "named": [
            (
                row.concept_id,
                thread,
                row.label,
                row.cf,
                int(row.generic),
                KINDS.index(row.kind),
                orjson.dumps(row.aliases).decode(),
            )
            for row in shard.concepts
        ],
        "posting": [
            (row.concept_id, thread, row.df, ",".join(map(str, row.turns))) for row in shard.company
        ],
    }


def _insert(connection: Connection, table: str, rows: Sequence[tuple[Any, ...]]) -> None:
    if rows:
        marks = ", ".join("?" * len(rows[0]))
        connection.executemany(f"INSERT INTO {table} VALUES ({marks})", rows)  # noqa: S608 - names of our own


def _delete(connection: Connection, table: str, rows: set[tuple[Any, ...]]) -> None:
    """Delete rows by their keys."""
    names = _FIRST[table]
    found = " AND ".join(f"{name} = ?" for name in names)
    connection.executemany(
        f"DELETE FROM {table} WHERE {found}",  # noqa: S608 - names of our own
        [row[: len(names)] for row in rows],
    )
