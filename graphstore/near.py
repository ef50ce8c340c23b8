"""Which questions look alike: for each the fifty nearest, kept as questions come and go."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from graphstore.ids import question_key
from graphstore.ledger import Connection, Ledger, Reading, listed
from graphstore.vectors import ROUND, Floats, Rows, Static

TABLES: Final = (
    """CREATE TABLE IF NOT EXISTS asked(
      question TEXT PRIMARY KEY, number INTEGER NOT NULL UNIQUE, keys TEXT NOT NULL)""",
    """CREATE TABLE IF NOT EXISTS asked_key(
      key TEXT NOT NULL, number INTEGER NOT NULL, PRIMARY KEY(key, number)) WITHOUT ROWID""",
    """CREATE TABLE IF NOT EXISTS near(
      question TEXT NOT NULL, other TEXT NOT NULL, likeness REAL NOT NULL, cosine REAL NOT NULL,
      PRIMARY KEY(question, other)) WITHOUT ROWID""",
    "CREATE INDEX IF NOT EXISTS near_other ON near(other)",
    # which file belongs to these rows: starting again writes another one
    "CREATE TABLE IF NOT EXISTS asked_file(number INTEGER NOT NULL)",
)
MOST: Final = 50
LEAST: Final = 0.51
"""Likeness below which nothing else brings a pair to acceptance."""
_MARGIN: Final = 1e-3
"""Matrix products of different shapes differ in their last bits: look at all near the limit."""
_BLOCK: Final = 256


Pair = tuple[str, str]
"""Two questions, first id before second."""


def pair_of(one: str, other: str) -> Pair:
    """The pair of two questions."""
    return (one, other) if one < other else (other, one)


@dataclass(frozen=True, slots=True)
class Neighbour:
    """One of the nearest of a question."""

    question: str
    likeness: float
    cosine: float

    @property
    def rank(self) -> tuple[float, str]:
        """Sort key: the most alike first, ties by id."""
        return (-self.likeness, self.question)


@dataclass(frozen=True, slots=True)
class Worded:
    """A question as it is compared."""

    question: str
    text: str
    keys: frozenset[str]


class Likeness:
    """Pairs of questions of which one is among the nearest of the other. Only reading."""

    def __init__(self, reading: Reading) -> None:
        self._reading = reading

    def of(self, question: str) -> dict[str, float]:
        """Questions paired with this one, whichever of the two names the other: id to cosine."""
        rows = self._reading.select(
            "SELECT other, cosine FROM near WHERE question = ?1"
            " UNION SELECT question, cosine FROM near WHERE other = ?1 ORDER BY 1",
            (question,),
        )
        return dict(rows)

    def cosine(self, pair: Pair) -> float | None:
        """Cosine of two questions, if one of them names the other as near."""
        rows = self._reading.select(
            "SELECT cosine FROM near WHERE question = ?1 AND other = ?2"
            " OR question = ?2 AND other = ?1 LIMIT 1",
            pair,
        )
        return rows[0][0] if rows else None

    def pairs(self) -> Iterator[tuple[str, str, float]]:
        """Every pair once, with its cosine, in id order."""
        rows = self._reading.select(
            "SELECT DISTINCT min(question, other), max(question, other), cosine FROM near"
            " ORDER BY 1, 2"
        )
        return iter(rows)


class Near(Likeness):
    """Nearest questions over the ledger's tables and one file of vectors."""

    def __init__(self, ledger: Ledger, folder: Path | None, least: float = LEAST) -> None:
        """Vectors stay in memory without a folder; pairs less alike than ``least`` are left out."""
        super().__init__(ledger)
        self._ledger = ledger
        self._least = least
        self._folder = folder
        with ledger.transaction() as connection:
            for statement in TABLES:
                connection.execute(statement)
        self._rows = Rows(self._file())

    def _file(self) -> Path | None:
        if self._folder is None:
            return None
        rows = self._ledger.select("SELECT number FROM asked_file")
        return self._folder / f"questions-{rows[0][0] if rows else 0}.f32"

    def tidy(self) -> None:
        """Delete files of vectors that belong to no rows; call it after a commit."""
        if self._folder is not None:
            self._rows = Rows(self._file())
            for file in sorted(self._folder.glob("questions-*.f32")):
                if file != self._file():
                    file.unlink()

    # writing

    def update(self, gone: Sequence[str], fresh: Sequence[Worded], static: Static) -> set[Pair]:
        """Take questions out and in; returns the pairs that came or went."""
        with self._ledger.transaction() as connection:
            short, changed = self._remove(connection, gone)
            self._insert(connection, fresh, static)
            news = {one.question for one in fresh}
            placed = news | short
            for question, found in self._alike(sorted(placed)):
                changed |= {pair_of(question, one.question) for one in self._nearest(question)}
                _replace(connection, question, found[:MOST])
                changed |= {pair_of(question, one.question) for one in found[:MOST]}
                for one in self._taking(found) if question in news else ():
                    if one.question not in placed:
                        changed |= self._offer(connection, one, question)
        return changed

    def _taking(self, found: Iterable[Neighbour]) -> Iterator[Neighbour]:
        """Those that may have a place for a question that is this near to them."""
        near = {one.question: one for one in found}
        least = dict(
            self._ledger.select(
                "SELECT question, min(likeness) FROM near"
                " WHERE question IN (SELECT value FROM json_each(?))"
                " GROUP BY question HAVING count(*) = ?",
                (listed(near), MOST),
            )
        )
        return (one for name, one in near.items() if one.likeness >= least.get(name, 0.0))

    def _remove(self, connection: Connection, gone: Sequence[str]) -> tuple[set[str], set[Pair]]:
        """Take questions out; returns whose list may take another one in, and the pairs lost."""
        short: set[str] = set()
        changed: set[Pair] = set()
        for question in gone:
            changed |= {pair_of(question, other) for other in self.of(question)}
            for (other,) in self._ledger.select(
                "SELECT question FROM near WHERE other = ?", (question,)
            ):
                if len(self._nearest(other)) == MOST:
                    short.add(other)
        for question in gone:
            for (number,) in self._ledger.select(
                "SELECT number FROM asked WHERE question = ?", (question,)
            ):
                for key in self._keys(number):
                    connection.execute(
                        "DELETE FROM asked_key WHERE key = ? AND number = ?", (key, number)
                    )
            connection.execute("DELETE FROM asked WHERE question = ?", (question,))
            connection.execute("DELETE FROM near WHERE question = ?1 OR other = ?1", (question,))
        return short - set(gone), changed

    def _insert(self, connection: Connection, fresh: Sequence[Worded], static: Static) -> None:
        start = int(self._ledger.select("SELECT coalesce(max(number) + 1, 0) FROM asked")[0][0])
        self._rows.write(start, static.embed([question_key(one.text) for one in fresh]))
        for number, one in enumerate(fresh, start):
            connection.execute(
                "INSERT INTO asked VALUES (?, ?, ?)",
                (one.question, number, "\n".join(sorted(one.keys))),
            )
            connection.executemany(
                "INSERT INTO asked_key VALUES (?, ?)", [(key, number) for key in sorted(one.keys)]
            )

    def _offer(self, connection: Connection, to: Neighbour, question: str) -> set[Pair]:
        """Put a new question into the list of an older one, if it is near enough."""
        changed = {pair_of(to.question, question)}
        rows = self._ledger.select(
            "SELECT count(*) OVER (), other, likeness FROM near WHERE question = ?"
            " ORDER BY likeness, other DESC LIMIT 1",
            (to.question,),
        )
        if rows and rows[0][0] == MOST:
            _, last, likeness = rows[0]
            if (-likeness, last) < (-to.likeness, question):
                return set()
            connection.execute(
                "DELETE FROM near WHERE question = ? AND other = ?", (to.question, last)
            )
            changed.add(pair_of(to.question, last))
        offered = Neighbour(question, to.likeness, to.cosine)
        _replace(connection, to.question, [offered], fresh=True)
        return changed

    def _nearest(self, question: str) -> list[Neighbour]:
        rows = self._ledger.select(
            "SELECT other, likeness, cosine FROM near WHERE question = ?", (question,)
        )
        return [Neighbour(*row) for row in rows]

    def _keys(self, number: int) -> frozenset[str]:
        rows = self._ledger.select("SELECT keys FROM asked WHERE number = ?", (number,))
        return frozenset(rows[0][0].split("\n")) - {""} if rows else frozenset()

    def _alike(self, questions: Sequence[str]) -> Iterator[tuple[str, list[Neighbour]]]:
        """For each question every other that is alike enough, nearest first."""
        known = [
            self._ledger.select("SELECT number, keys FROM asked WHERE question = ?", (one,))[0]
            for one in questions
        ]
        if not known:
            return
        matrix = self._rows.matrix()
        close = matrix @ matrix[[number for number, _ in known]].T >= self._least - _MARGIN
        for place, (number, keys) in enumerate(known):
            mine = frozenset(keys.split("\n")) - {""}
            facing = set(np.flatnonzero(close[:, place]).tolist())
            numbers = facing.union(self._sharing(mine))
            named = self._named(sorted(numbers - {number}))
            words = {
                other: (name, jaccard(mine, theirs)) for other, (name, theirs) in named.items()
            }
            yield questions[place], self._neighbours(matrix, number, words, facing)

    def _neighbours(
        self,
        matrix: Floats,
        number: int,
        shared: Mapping[int, tuple[str, float]],
        facing: set[int],
    ) -> list[Neighbour]:
        """Those of some questions that are alike enough, nearest first.

        ``shared``: name and shared part of words of each; ``facing``: those near by cosine.
        """
        near = [other for other in shared if other in facing or shared[other][1] >= self._least]
        found = (
            Neighbour(shared[other][0], max(shared[other][1], cosine), cosine)
            for other, cosine in zip(near, exact_each(matrix, number, near), strict=True)
        )
        alike = (one for one in found if one.likeness >= self._least)
        return sorted(alike, key=lambda one: one.rank)

    def _sharing(self, keys: frozenset[str]) -> set[int]:
        """Numbers of questions that may share enough words: rarest words first.

        Who shares a proportion of the words of a question shares one of any so many of them.
        """
        counted = sorted(
            (self._ledger.select("SELECT count(*) FROM asked_key WHERE key = ?", (key,))[0][0], key)
            for key in keys
        )
        found: set[int] = set()
        for _, key in counted[: probes(len(keys), self._least)]:
            rows = self._ledger.select("SELECT number FROM asked_key WHERE key = ?", (key,))
            found.update(row[0] for row in rows)
        return found

    def _named(self, numbers: Sequence[int]) -> dict[int, tuple[str, frozenset[str]]]:
        found = {}
        for start in range(0, len(numbers), 500):
            page = numbers[start : start + 500]
            marks = ",".join("?" * len(page))
            for number, name, keys in self._ledger.select(
                "SELECT number, question, keys FROM asked"  # noqa: S608 - question marks only
                f" WHERE number IN ({marks})",
                tuple(page),
            ):
                found[number] = (name, frozenset(keys.split("\n")) - {""})
        return found

    def sound(self) -> bool:
        """Whether the file has a vector for every question."""
        held = self._ledger.select("SELECT coalesce(max(number) + 1, 0) FROM asked")[0][0]
        return self._rows.size() >= int(held)

    def clear(self) -> None:
        """Empty everything."""
        with self._ledger.transaction() as connection:
            for name in ("asked", "asked_key", "near"):
                connection.execute(f"DELETE FROM {name}")  # noqa: S608 - names of our own
            number = connection.execute("SELECT max(number) FROM asked_file").fetchone()[0] or 0
            connection.execute("DELETE FROM asked_file")
            connection.execute("INSERT INTO asked_file VALUES (?)", (number + 1,))
        self._rows = Rows(self._file())
        self._rows.clear()

    def fill(self, questions: Iterable[Sequence[Worded]], static: Static) -> None:
        """Start again from all questions, in id order, given in parts; call it when empty."""
        words: list[frozenset[str]] = []
        names: list[str] = []
        with self._ledger.transaction() as connection:
            for part in questions:
                self._insert(connection, part, static)
                words += [one.keys for one in part]
                names += [one.question for one in part]
            for number, found in self._all_alike(names, words):
                _replace(connection, names[number], found[:MOST], fresh=True)

    def _all_alike(
        self, names: Sequence[str], words: Sequence[frozenset[str]]
    ) -> Iterator[tuple[int, list[Neighbour]]]:
        postings: dict[str, list[int]] = {}
        for number, keys in enumerate(words):
            for key in keys:
                postings.setdefault(key, []).append(number)
        matrix = self._rows.matrix()
        for start in range(0, len(names), _BLOCK):
            block = matrix[start : start + _BLOCK] @ matrix.T
            for offset, row in enumerate(block):
                number = start + offset
                facing = set(_nearest_of(row, self._least).tolist())
                others = facing | _probed(words[number], postings, self._least)
                others.discard(number)
                shared = {
                    other: (names[other], jaccard(words[number], words[other])) for other in others
                }
                yield number, self._neighbours(matrix, number, shared, facing)


def _nearest_of(cosines: Floats, least: float) -> NDArray[np.int64]:
    """Who may be among the nearest by cosine alone: of many, those near the last that counts.

    One of the row is the question itself.
    """
    found = np.flatnonzero(cosines >= least - _MARGIN)
    if len(found) > MOST + 1:
        held = cosines[found]
        last = np.partition(held, -MOST - 1)[-MOST - 1]
        found = found[held >= last - _MARGIN]
    return found


def _probed(keys: frozenset[str], postings: Mapping[str, list[int]], least: float) -> set[int]:
    rare = sorted(keys, key=lambda key: (len(postings[key]), key))[: probes(len(keys), least)]
    return {number for key in rare for number in postings[key]}


def probes(size: int, least: float) -> int:
    """How many words of a question must be looked up to meet every one that is alike enough."""
    return size - math.ceil(least * size) + 1 if size else 0


def exact(matrix: Floats, left: int, right: int) -> float:
    """Cosine of two rows, rounded; the same in every company of rows."""
    return exact_each(matrix, left, (right,))[0]


def exact_each(matrix: Floats, row: int, others: Sequence[int]) -> list[float]:
    """Cosines of one row with others."""
    # summed row by row: a matrix product differs in its last bits with its shape
    products = matrix[list(others)].astype(np.float64) * matrix[row]
    return [max(0.0, round(float(total), ROUND)) for total in products.sum(axis=1)]


def jaccard(left: frozenset[str], right: frozenset[str]) -> float:
    """Shared part of two sets, rounded; 0 when both are empty."""
    union = len(left | right)
    return len(left & right) / union if union else 0.0


def _replace(
    connection: Connection, question: str, found: Iterable[Neighbour], *, fresh: bool = False
) -> None:
    if not fresh:
        connection.execute("DELETE FROM near WHERE question = ?", (question,))
    connection.executemany(
        "INSERT INTO near VALUES (?, ?, ?, ?)",
        [(question, one.question, one.likeness, one.cosine) for one in found],
    )
