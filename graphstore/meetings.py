"""Which concepts meet, and which of its meetings each keeps: postings and pairs by the ledger.

Each pair stands twice, once for each of its concepts, which rank it among their own; what is
known of it stands with the first id.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from sys import intern
from typing import Final

import orjson

from graphstore.company import (
    LEAST,
    LOCAL,
    PER_CONCEPT,
    Bounds,
    Meeting,
    Posting,
    Postings,
    counts,
    keeps,
    meeting,
    pairs,
    relation,
)
from graphstore.ledger import Connection, Ledger, Reading, listed
from graphstore.model.knowledge import Relates
from graphstore.model.record import EpochRecord

_RANKED: Final = "CREATE INDEX IF NOT EXISTS pair_rank ON pair(concept, local, weakness, other)"
TABLES: Final = (
    """CREATE TABLE IF NOT EXISTS posting(
      concept TEXT NOT NULL, thread_id TEXT NOT NULL, df INTEGER NOT NULL, turns TEXT NOT NULL,
      PRIMARY KEY(concept, thread_id)) WITHOUT ROWID""",
    """CREATE TABLE IF NOT EXISTS pair(
      concept TEXT NOT NULL, other TEXT NOT NULL, local INTEGER NOT NULL, weakness REAL NOT NULL,
      body TEXT NOT NULL, kept INTEGER NOT NULL DEFAULT 0,
      PRIMARY KEY(concept, other)) WITHOUT ROWID""",
    _RANKED,
)
_MIRROR: Final = (
    "INSERT INTO pair(concept, other, local, weakness, body)"
    " SELECT other, concept, local, weakness, '' FROM pair ORDER BY 1, 2"
)
_KEEP: Final = (
    "UPDATE pair SET kept = 1 FROM (SELECT concept AS one, other AS two FROM"  # noqa: S608 - two numbers
    " (SELECT concept, other, local, row_number() OVER"
    " (PARTITION BY concept ORDER BY local, weakness, other) AS place FROM pair)"
    f" WHERE place <= iif(local, {LOCAL}, {PER_CONCEPT}))"
    " WHERE concept = one AND other = two"
)
"""As ``keeps`` says it of one concept: pairs of one thread come last, so their place tells."""


class Relations:
    """Pairs that a concept keeps, as relations. Only reading."""

    def __init__(self, reading: Reading) -> None:
        self._reading = reading

    def relations(self, keys: Iterable[str]) -> Iterator[Relates]:
        """Relations of these pairs of concepts, where one of the two keeps the pair."""
        for key in keys:
            first, second = key.split(" ")
            rows = self._reading.select(
                "SELECT body, kept OR (SELECT kept FROM pair WHERE concept = ?2 AND other = ?1)"
                " FROM pair WHERE concept = ?1 AND other = ?2",
                (first, second),
            )
            if rows and rows[0][1]:
                yield relation(_meeting(first, second, rows[0][0]))

    def every(self) -> Iterator[Relates]:
        """Every relation by mere company, by ends."""
        for first, second, body in self._reading.each(
            "SELECT a.concept, a.other, a.body FROM pair a JOIN pair b"
            " ON b.concept = a.other AND b.other = a.concept"
            " WHERE a.concept < a.other AND (a.kept OR b.kept) ORDER BY 1, 2"
        ):
            yield relation(_meeting(first, second, body))


class Meetings(Relations):
    """Postings of concepts by thread, and the pairs that they make."""

    def __init__(self, ledger: Ledger) -> None:
        super().__init__(ledger)
        self._ledger = ledger
        with ledger.transaction() as connection:
            for statement in TABLES:
                connection.execute(statement)

    # one change

    def update(
        self, connection: Connection, concepts: Sequence[str], changed: set[str], bounds: Bounds
    ) -> set[str]:
        """Look again at the pairs of these concepts that have a changed one, and at their ranks.

        Returns the pairs whose relation may be another one now.
        """
        if not changed:
            return set()
        had = self._held(concepts, changed)
        found = pairs(self._postings(concepts), bounds, changed)
        now = {(met.first, met.second): met for met in found if counts(met, bounds)}
        other = {key for key in had.keys() | now.keys() if had.get(key) != _body(now.get(key))}
        for key in sorted(other):
            _write(connection, key, now.get(key))
        moved = {" ".join(key) for key in other}
        for concept in sorted({concept for key in other for concept in key}):
            moved |= self._rank(connection, concept)
        return moved

    def _postings(self, concepts: Iterable[str]) -> dict[str, Postings]:
        """Postings in the threads that name at least two of these concepts."""
        raw = {
            concept: self._ledger.select(
                "SELECT thread_id, df, turns FROM posting WHERE concept = ?", (concept,)
            )
            for concept in concepts
        }
        named = Counter(row[0] for rows in raw.values() for row in rows)
        return {
            concept: {
                thread: Posting(df, _numbers(turns))
                for thread, df, turns in rows
                if named[thread] > 1
            }
            for concept, rows in raw.items()
        }

    def _held(self, concepts: Sequence[str], changed: set[str]) -> dict[tuple[str, str], str]:
        held = {}
        among = listed(concepts)
        for concept in concepts:
            for other, body in self._ledger.select(
                "SELECT other, body FROM pair WHERE concept = ?1 AND other > ?1"
                " AND other IN (SELECT value FROM json_each(?2))",
                (concept, among),
            ):
                if concept in changed or other in changed:
                    held[concept, other] = body
        return held

    def _rank(self, connection: Connection, concept: str) -> set[str]:
        """Mark which pairs a concept keeps; returns those for which that changed."""
        ranked = self._ledger.select(
            "SELECT other, local FROM pair WHERE concept = ?"
            " ORDER BY local, weakness, other LIMIT ?",
            (concept, PER_CONCEPT),
        )
        kept = {other for other, _ in ranked[: keeps([bool(local) for _, local in ranked])]}
        had = {
            row[0]
            for row in self._ledger.select(
                "SELECT other FROM pair WHERE concept = ? AND kept", (concept,)
            )
        }
        for other in kept ^ had:
            connection.execute(
                "UPDATE pair SET kept = ? WHERE concept = ? AND other = ?",
                (int(other in kept), concept, other),
            )
        return {" ".join(sorted((concept, other))) for other in kept ^ had}

    # all at once

    def fill(self, connection: Connection, bounds: Bounds) -> None:
        """Find every pair that the postings make; call it when there are none.

        Written in the order of the table, and indexed at the end.
        """
        connection.execute("DROP INDEX IF EXISTS pair_rank")
        connection.executemany(
            "INSERT INTO pair(concept, other, local, weakness, body) VALUES (?, ?, ?, ?, ?)",
            ((met.first, met.second, *_cells(met)) for met in self._all(bounds)),
        )
        connection.execute(_MIRROR)
        connection.execute(_RANKED)
        connection.execute(_KEEP)

    def _all(self, bounds: Bounds) -> Iterator[Meeting]:
        """Every surprising pair, one concept with its company after another."""
        raw: dict[str, dict[str, tuple[int, str]]] = {}
        company: dict[str, list[str]] = {}
        for named, thread_id, df, turns in self._ledger.each(
            "SELECT concept, thread_id, df, turns FROM posting ORDER BY concept, thread_id"
        ):
            concept, thread = intern(named), intern(thread_id)  # each many times over
            raw.setdefault(concept, {})[thread] = (df, turns)
            company.setdefault(thread, []).append(concept)
        for concept, mine in raw.items():
            shared = Counter(
                other for thread in mine for other in company[thread] if other > concept
            )
            postings = {
                thread: Posting(df, _numbers(turns)) for thread, (df, turns) in mine.items()
            }
            for other in sorted(shared):
                theirs = {
                    thread: Posting(raw[other][thread][0], _numbers(raw[other][thread][1]))
                    for thread in min(mine, raw[other], key=len)
                    if thread in mine and thread in raw[other]
                }
                if shared[other] < LEAST and not _twice(postings, theirs):
                    continue
                met = meeting(concept, other, postings, theirs, bounds)
                if met is not None and counts(met, bounds):
                    yield met


def bounds_of(epoch: EpochRecord) -> Bounds:
    """What an epoch says of surprise."""
    return Bounds(epoch.lineages, epoch.turns, epoch.pmi_floor)


def _twice(mine: Postings, theirs: Postings) -> bool:
    """Whether two concepts meet in two turns of one thread."""
    return any(len(mine[thread].turns & one.turns) >= LEAST for thread, one in theirs.items())


def _numbers(turns: str) -> frozenset[int]:
    return frozenset(map(int, turns.split(",")))


def _body(met: Meeting | None) -> str | None:
    if met is None:
        return None
    return orjson.dumps([met.turns, met.threads, met.information, met.refs]).decode()


def _meeting(first: str, second: str, body: str) -> Meeting:
    turns, threads, information, refs = orjson.loads(body)
    return Meeting(first, second, turns, threads, information, tuple(refs))


def _cells(met: Meeting) -> tuple[int, float, str | None]:
    return (int(met.local), -met.strength, _body(met))


def _write(connection: Connection, key: tuple[str, str], met: Meeting | None) -> None:
    if met is None:
        ways = (key, key[::-1])
        connection.executemany("DELETE FROM pair WHERE concept = ? AND other = ?", ways)
        return
    local, weakness, body = _cells(met)
    connection.executemany(
        "INSERT INTO pair(concept, other, local, weakness, body) VALUES (?, ?, ?, ?, ?)"
        " ON CONFLICT DO UPDATE SET local = excluded.local, weakness = excluded.weakness,"
        " body = excluded.body",
        [(*key, local, weakness, body), (*key[::-1], local, weakness, "")],
    )
