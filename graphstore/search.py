"""Full-text index of turns in ledger.db: FTS5 over words and CJK bigrams; rank fusion."""

import re
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Final, NamedTuple

import orjson

from graphstore.ledger import Connection, Ledger, listed
from graphstore.model.conversation import Turn

RRF_K: Final = 60
"""The constant of reciprocal rank fusion (Cormack, Clarke, Buettcher, SIGIR 2009)."""

# marks belong to words: without them Devanagari and Thai fall apart at each vowel sign
_TOKENIZE: Final = "tokenize=\"porter unicode61 remove_diacritics 2 categories 'L* N* Co Mn Mc'\""
_TABLES: Final = (
    # own document numbers: the implicit row ids of `turn` may change when the file is compacted
    """CREATE TABLE IF NOT EXISTS turn_doc(
      doc INTEGER PRIMARY KEY, ref TEXT NOT NULL UNIQUE, words INTEGER NOT NULL, speaker TEXT)""",
    # no copy of the text: `turn` has it
    f"""CREATE VIRTUAL TABLE IF NOT EXISTS turn_fts
      USING fts5(words, bigrams, content='', {_TOKENIZE})""",
    "CREATE VIRTUAL TABLE IF NOT EXISTS turn_term USING fts5vocab(turn_fts, instance)",
    "CREATE VIRTUAL TABLE IF NOT EXISTS turn_df USING fts5vocab(turn_fts, row)",
)
_CUE_TABLES: Final = (
    f"CREATE VIRTUAL TABLE cue USING fts5(words, bigrams, {_TOKENIZE})",
    "CREATE VIRTUAL TABLE cue_term USING fts5vocab(cue, instance)",
)
_CJK: Final = re.compile(
    "[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff]+"
)
_HUMP: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_HUMPED: Final = re.compile(r"\b[A-Za-z0-9]*[a-z0-9][A-Z][A-Za-z0-9]*\b")


@dataclass(frozen=True, slots=True)
class Found:
    """One row of plain full-text search."""

    ref: str
    bm25: float
    """Larger is better."""


@dataclass(frozen=True, slots=True)
class Head:
    """What a hit shows of its thread."""

    title: str | None
    project: str | None
    source: str


class Doc(NamedTuple):
    """What ranking needs to know of one indexed turn."""

    doc: int
    ref: str
    thread_id: str
    number: int
    role: str
    at: str | None
    position: int | None
    alternative: bool
    words: int
    speaker: str | None


class Version(NamedTuple):
    """The state of an index."""

    seq: int
    """Newest record."""
    doc: int
    """Highest document number."""
    rebuilt: int
    """How often all document numbers were given anew."""


def columns_of(text: str) -> tuple[str, str]:
    """What is indexed of a text: its words, humps of identifiers apart, and its CJK bigrams."""
    humps = (_HUMP.sub(" ", name) for name in _HUMPED.findall(text))
    words = " ".join([_CJK.sub(" ", text), *humps])
    return words.replace("\0", " "), " ".join(_bigrams(text))


def _bigrams(text: str) -> Iterator[str]:
    for run in _CJK.findall(text):
        if len(run) == 1:
            yield run
        yield from (run[at : at + 2] for at in range(len(run) - 1))


def match_any(cue: str) -> str:
    """An FTS5 query for any word of a cue; every cue, whatever its marks, gives a valid one."""
    chunks = (chunk for column in columns_of(cue) for chunk in column.split())
    return " OR ".join('"' + chunk.replace('"', '""') + '"' for chunk in dict.fromkeys(chunks))


class SearchIndex:
    """The index beside the turns it was made from; writes join the ledger's transaction."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._cue: Connection | None = None
        self._cue_lock = Lock()
        self._rebuilt = 0
        with ledger.transaction() as connection:
            for statement in _TABLES:
                connection.execute(statement)

    # writing

    def index(self, refs: Iterable[str]) -> None:
        """Index turns that are in ``turn``; those already indexed are left alone."""
        with self._ledger.transaction() as connection:
            for ref in refs:
                known = connection.execute(
                    "SELECT 1 FROM turn_doc WHERE ref = ?", (ref,)
                ).fetchone()
                row = connection.execute(
                    "SELECT text, body FROM turn WHERE ref = ?", (ref,)
                ).fetchone()
                if row is not None and known is None:
                    self._add(connection, ref, *row)

    @staticmethod
    def _add(connection: Connection, ref: str, text: str, body: str) -> None:
        words, bigrams = columns_of(text)
        length = len(words.split()) + len(bigrams.split())
        cursor = connection.execute(
            "INSERT INTO turn_doc(ref, words, speaker) VALUES (?, ?, ?)",
            (ref, length, orjson.loads(body).get("speaker")),
        )
        connection.execute(
            "INSERT INTO turn_fts(rowid, words, bigrams) VALUES (?, ?, ?)",
            (cursor.lastrowid, words, bigrams),
        )

    def remove(self, refs: Iterable[str]) -> None:
        """Take turns out; call it while ``turn`` still has them."""
        with self._ledger.transaction() as connection:
            for ref in refs:
                row = connection.execute(
                    "SELECT d.doc, t.text FROM turn_doc d JOIN turn t USING (ref) WHERE ref = ?",
                    (ref,),
                ).fetchone()
                if row is not None:
                    self._drop(connection, *row)

    @staticmethod
    def _drop(connection: Connection, doc: int, text: str) -> None:
        connection.execute(
            "INSERT INTO turn_fts(turn_fts, rowid, words, bigrams) VALUES ('delete', ?, ?, ?)",
            (doc, *columns_of(text)),
        )
        connection.execute("DELETE FROM turn_doc WHERE doc = ?", (doc,))

    def rebuild(self) -> None:
        """Index every turn into new tables: deleted words would stay in the old ones."""
        self._rebuilt += 1
        with self._ledger.transaction() as connection:
            for name in ("turn_df", "turn_term", "turn_fts", "turn_doc"):
                connection.execute(f"DROP TABLE {name}")
            for statement in _TABLES:
                connection.execute(statement)
            self.index([row[0] for row in self._ledger.select("SELECT ref FROM turn ORDER BY ref")])

    def check(self) -> None:
        """Let SQLite look through the index of words. Raises LedgerUnreadable."""
        with self._ledger.transaction() as connection:
            connection.execute("INSERT INTO turn_fts(turn_fts) VALUES ('integrity-check')")

    # reading

    def find(
        self, cue: str, limit: int = 10, *, threads: Sequence[str] = (), role: str | None = None
    ) -> tuple[Found, ...]:
        """Turns of the main line that hold any word of the cue, by FTS5's BM25, ties by reference.

        Any cue is valid. ``threads`` and ``role`` narrow the search where given.
        """
        query = match_any(cue)
        if not query or limit < 1:
            return ()
        rows = self._ledger.select(
            "SELECT t.ref, -bm25(turn_fts) FROM turn_fts JOIN turn_doc d ON d.doc = turn_fts.rowid"
            " JOIN turn t ON t.ref = d.ref"
            " WHERE turn_fts MATCH ?1 AND NOT t.alternative AND t.role = coalesce(?2, t.role)"
            " AND (?3 = '[]' OR t.thread_id IN (SELECT value FROM json_each(?3)))"
            " ORDER BY 2 DESC, 1 LIMIT ?4",
            (query, role, listed(threads), limit),
        )
        return tuple(Found(*row) for row in rows)

    def terms(self, text: str) -> tuple[str, ...]:
        """The index terms of a text, stemmed as the index stems, in order of first use."""
        with self._cue_lock:
            if self._cue is None:
                self._cue = sqlite3.connect(
                    ":memory:", check_same_thread=False, isolation_level=None
                )
                for statement in _CUE_TABLES:
                    self._cue.execute(statement)
            self._cue.execute(
                "INSERT INTO cue(rowid, words, bigrams) VALUES (1, ?, ?)", columns_of(text)
            )
            rows = self._cue.execute(
                'SELECT term FROM cue_term ORDER BY col DESC, "offset"'
            ).fetchall()
            self._cue.execute("DELETE FROM cue")
        return tuple(dict.fromkeys(row[0] for row in rows))

    def frequencies(self, terms: Iterable[str]) -> dict[str, int]:
        """In how many turns each term stands; 0 for unknown ones."""
        asked = list(terms)
        rows = self._ledger.select(
            "SELECT t.value, d.doc FROM json_each(?) t JOIN turn_df d ON d.term = t.value",
            (listed(asked),),
        )
        return dict.fromkeys(asked, 0) | {term: int(count) for term, count in rows}

    def postings(self, term: str) -> list[int]:
        """Document numbers that hold a term, once for each time it stands there, ascending."""
        # one text and not a row for each: a common word has tens of thousands
        found = self._ledger.select(
            "SELECT group_concat(doc) FROM turn_term WHERE term = ?", (term,)
        )
        return [int(doc) for doc in found[0][0].split(",")] if found[0][0] else []

    def docs(self, threads: Sequence[str] | None = None) -> list[Doc]:
        """Indexed turns, of some threads where given; thread by thread, off-path turns last."""
        some = "" if threads is None else " WHERE t.thread_id IN (SELECT value FROM json_each(?))"
        rows = self._ledger.select(
            "SELECT d.doc, t.ref, t.thread_id, t.number, t.role, t.at, t.position, t.alternative,"  # noqa: S608 - no word of a user
            f" d.words, d.speaker FROM turn t JOIN turn_doc d ON d.ref = t.ref{some}"
            " ORDER BY t.thread_id, t.position IS NULL, t.position, t.number",
            () if threads is None else (listed(threads),),
        )
        return [Doc._make(row) for row in rows]

    def changed(self, since: int) -> tuple[tuple[str, str], ...]:
        """Kind and subject of what was recorded after a sequence, each once, sorted."""
        rows = self._ledger.select(
            "SELECT DISTINCT kind, subject FROM record WHERE seq > ? ORDER BY kind, subject",
            (since,),
        )
        return tuple((kind, subject) for kind, subject in rows)

    def size(self) -> int:
        """Number of indexed turns."""
        return int(self._ledger.select("SELECT count(*) FROM turn_doc")[0][0])

    def heads(self, threads: Sequence[str]) -> dict[str, Head]:
        """Title, project and source of threads, by id."""
        rows = self._ledger.select(
            "SELECT thread_id, title, json_extract(body, '$.project'),"
            " json_extract(body, '$.source') FROM thread"
            " WHERE thread_id IN (SELECT value FROM json_each(?))",
            (listed(threads),),
        )
        return {row[0]: Head(*row[1:]) for row in rows}

    def turns(self, refs: Sequence[str]) -> dict[str, Turn]:
        """Stored turns by reference, those that are there."""
        rows = self._ledger.select(
            "SELECT ref, body FROM turn WHERE ref IN (SELECT value FROM json_each(?))",
            (listed(refs),),
        )
        return {ref: Turn.from_json(body) for ref, body in rows}

    def texts(self, refs: Sequence[str]) -> list[str]:
        """Texts of turns, in the order asked; a reference that is gone gives an empty text."""
        rows = self._ledger.select(
            "SELECT ref, text FROM turn WHERE ref IN (SELECT value FROM json_each(?))",
            (listed(refs),),
        )
        known = dict(rows)
        return [known.get(ref, "") for ref in refs]

    def version(self) -> Version:
        """Changes whenever the indexed turns may have changed."""
        seq, doc = self._ledger.select(
            "SELECT (SELECT max(seq) FROM record), (SELECT max(doc) FROM turn_doc)"
        )[0]
        return Version(seq or 0, doc or 0, self._rebuilt)


def fuse(
    rankings: Sequence[Sequence[str]], weights: Sequence[float] | None = None, k: int = RRF_K
) -> dict[str, float]:
    """Reciprocal rank fusion: sum over rankings of weight / (k + rank), rank from 1."""
    scores: dict[str, float] = {}
    for ranking, weight in zip(rankings, weights or [1.0] * len(rankings), strict=True):
        for rank, name in enumerate(ranking, start=1):
            scores[name] = scores.get(name, 0.0) + weight / (k + rank)
    return scores


def by_score(scores: Mapping[str, float]) -> tuple[str, ...]:
    """Names, best first, ties by name."""
    return tuple(sorted(scores, key=lambda name: (-scores[name], name)))
