"""The extracted tables of a store, narrowed to a scope, turn by turn.

Dreamt tables are never read here: dreams must not feed the scout that feeds dreams. What is read is
counted all the same, so that a mistake would show.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from graphstore.columns import (
    GAP,
    TURN_BITS,
    Bools,
    Ints,
    Nodes,
    Rows,
    Scan,
    Statement,
    marked,
    matches,
    nodes_of,
)
from graphstore.errors import StoreError
from graphstore.model.base import Instant, Value
from graphstore.model.hubs import fold, stop_list
from graphstore.model.hypothesis import HYPOTHESES
from graphstore.model.view import (
    CAUSES,
    CONCEPT,
    CONTRADICTION,
    DEPENDS_ON,
    EVOLVING,
    LINK,
    NO_DAY,
    QUESTION,
    SUCCESSION,
    THREAD,
    WAYPOINT,
)

PREMISES: Final = ("human", "assistant")
TABLES: Final = ("Thread", "Question", "Concept", "Waypoint")
LINKED: Final = (
    ("LINKS", QUESTION, "link_type"),
    ("RELATES", CONCEPT, "edge_type"),
    ("PASSES", WAYPOINT, ""),
    ("CITES", THREAD, ""),
)
"""Relations between nodes of one kind, and the property that says which."""
_DREAMT: Final = frozenset(cls.TABLE for cls in HYPOTHESES)
_LONGEST_TURN: Final = 10
"""Digits from which a number is none of a turn."""
_DAY_US: Final = 86_400_000_000
_ARCS: Final = {"evolving": EVOLVING, "depends_on": DEPENDS_ON, "causes": CAUSES}


class Scope(Value):
    """What a view is narrowed to; empty fields narrow nothing."""

    since: Instant | None = None
    """Turns at or after; turns without a time are kept, and counted."""
    until: Instant | None = None
    """Turns before."""
    threads: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    """Scope labels; a thread with any of them is in."""
    stops: tuple[str, ...] = ()
    """Folded labels of concepts to set aside, besides the shipped list."""


@dataclass(slots=True)
class Part:
    """Relation rows that enter the view, with their ends as node keys."""

    rows: Rows
    kind_a: int
    kind_b: int
    role: int | NDArray[np.uint8]
    """One for all rows, or one each."""


class Reading:
    """One reading of the graph; every table is scanned once."""

    def __init__(self, statement: Statement, scope: Scope) -> None:
        self._statement = statement
        self._scope = scope
        self.dreamt = 0
        """Rows of dreamt relations that were read."""
        self._read_threads()
        self._read_turns()
        self._read_shared()
        self._read_relations()

    # nodes

    def _scan(self, cypher: str) -> Scan:
        return Scan(self._statement, cypher)

    def _read_threads(self) -> None:
        scan = self._scan(
            "MATCH (n:`Thread`) RETURN offset(id(n)) AS `o`, n.`thread_id` AS `k`,"
            " n.`lineage_root` AS `root`, n.`scope_labels` AS `labels`"
        )
        self.threads = nodes_of(scan.ints("o"), scan.cells("k"))
        roots, labels = scan.cells("root"), scan.cells("labels")
        order = self.threads.order.tolist()
        self.roots = [roots[row] for row in order]
        asked, wanted = set(self._scope.threads), set(self._scope.labels)
        self.thread_in = np.array(
            [
                (not asked or name in asked)
                and (not wanted or not wanted.isdisjoint(labels[row] or ()))
                for name, row in zip(self.threads.ids, order, strict=True)
            ],
            np.bool_,
        )

    def _read_turns(self) -> None:
        scan = self._scan(
            "MATCH (n:`SourceRef`) RETURN offset(id(n)) AS `o`, n.`turn` AS `turn`,"
            " n.`taint` AS `taint`, n.`alternative` AS `off`, n.`at` AS `at`"
        )
        offsets = scan.ints("o")
        size = int(offsets.max(initial=-1)) + 1
        values, codes = scan.coded("taint")
        premise = np.array([value in PREMISES for value in values] or [False], np.bool_)
        at, known = scan.microseconds("at")
        good = (premise[codes] if codes.size else np.zeros(0, np.bool_)) & ~scan.flags("off")
        good &= ~known | _inside(at, self._scope)
        self._turn_key = np.full(size, -1, np.int64)
        number = np.zeros(size, np.int64)
        number[offsets] = scan.ints("turn")
        clean = np.zeros(size, np.bool_)
        clean[offsets] = good
        self._turn_day = np.full(size, NO_DAY, np.int64)
        self._turn_day[offsets] = np.where(known, at // _DAY_US, NO_DAY)
        self._exists = np.zeros(size, np.bool_)
        self._exists[offsets] = True
        held = self._pair("HAS_TURN", "Thread", "SourceRef")
        thread, turn = self.threads.of(held[0]), self._turns(held[1])
        inside = clean[turn] & self.thread_in[thread]
        thread, turn = thread[inside], turn[inside]
        self._turn_key[turn] = thread << TURN_BITS | number[turn]
        order = np.argsort(self._turn_key[turn], kind="stable")
        self.turn_keys = self._turn_key[turn][order]
        """Keys of the turns in scope, sorted: thread rank and turn number."""
        self.turn_days = self._turn_day[turn][order]
        self.undated = int((self.turn_days == NO_DAY).sum())

    def days_of(self, turn: Ints) -> Ints:
        """Day of each turn, by key; NO_DAY if unknown."""
        found: Ints = self.turn_days[np.searchsorted(self.turn_keys, turn)]
        return found

    def _turns(self, offsets: Ints) -> Ints:
        if offsets.size and (offsets.max() >= len(self._exists) or not self._exists[offsets].all()):
            raise StoreError(GAP)
        return offsets

    def _read_shared(self) -> None:
        questions = self._scan(
            "MATCH (n:`Question`) RETURN offset(id(n)) AS `o`, n.`question_id` AS `k`,"
            " n.`status` AS `status`, n.`first_seen` AS `first`"
        )
        self.questions = nodes_of(questions.ints("o"), questions.cells("k"))
        status = np.array(questions.cells("status"), np.str_)
        first, known = questions.microseconds("first")
        self.open = (status == "open")[self.questions.order]
        self.first_seen = np.where(known, first, np.iinfo(np.int64).max)[self.questions.order]
        concepts = self._scan(
            "MATCH (n:`Concept`) RETURN offset(id(n)) AS `o`, n.`concept_id` AS `k`,"
            " n.`label` AS `label`, n.`generic` AS `generic`"
        )
        self.concepts = nodes_of(concepts.ints("o"), concepts.cells("k"))
        self.generic = concepts.flags("generic")[self.concepts.order]
        labels, stops = (
            [fold(label) for label in concepts.cells("label")],
            stop_list().union(self._scope.stops),
        )
        stopped = np.array([label in stops for label in labels], np.bool_)
        self.stopped = stopped[self.concepts.order]
        self.shorter = np.array(
            shorter_names([labels[row] for row in self.concepts.order.tolist()]), np.int64
        )
        waypoints = self._scan(
            "MATCH (n:`Waypoint`) RETURN offset(id(n)) AS `o`, n.`waypoint_id` AS `k`,"
            " n.`journey_id` AS `journey`, n.`seq` AS `seq`, n.`labels` AS `labels`,"
            " n.`frontier_hint` AS `hinted`"
        )
        self.waypoints = nodes_of(waypoints.ints("o"), waypoints.cells("k"))
        order = self.waypoints.order.tolist()
        columns = [waypoints.cells(name) for name in ("journey", "seq", "labels", "hinted")]
        self.stops = [tuple(column[row] for column in columns) for row in order]

    # relations

    def _pair(self, table: str, src: str, dst: str, where: str = "") -> tuple[Ints, Ints]:
        scan = self._scan(
            f"MATCH (a:`{src}`)-[r:`{table}`]->(b:`{dst}`){where}"
            " RETURN offset(id(a)) AS `a`, offset(id(b)) AS `b`"
        )
        self._count_dreams(table, len(scan.ints("a")))
        return scan.ints("a"), scan.ints("b")

    def _count_dreams(self, table: str, rows: int) -> None:
        if table in _DREAMT:
            self.dreamt += rows

    def _said(self, table: str, dst: str, nodes: Nodes, where: str = "") -> Rows:
        """Rows from a turn to a node: a = thread, b = node."""
        turn, node = self._pair(table, "SourceRef", dst, where)
        key, ranks = self._turn_key[self._turns(turn)], nodes.of(node)
        rows = Rows(key >> TURN_BITS, ranks, key, np.arange(len(key)))
        return rows.keep(key >= 0)

    def _listed(
        self, table: str, src: str, dst: str, ends: tuple[Nodes, Nodes], extra: str = ""
    ) -> tuple[Rows, list[Any]]:
        """Rows without a turn at an end: their list of references says the turns."""
        more = f", r.`{extra}` AS `extra`" if extra else ""
        scan = self._scan(
            f"MATCH (a:`{src}`)-[r:`{table}`]->(b:`{dst}`) RETURN offset(id(a)) AS `a`,"
            f" offset(id(b)) AS `b`, r.`source_refs` AS `refs`{more}"
        )
        self._count_dreams(table, len(scan.ints("a")))
        values, codes, row = scan.lists("refs")
        keys = self._keys_of(values)
        a, b = ends[0].of(scan.ints("a")), ends[1].of(scan.ints("b"))
        turn = keys[codes] if codes.size else np.zeros(0, np.int64)
        rows = Rows(a[row], b[row], turn, row)
        return rows.keep(turn >= 0), scan.cells("extra") if extra else []

    def _keys_of(self, refs: list[str]) -> Ints:
        """Key of each reference, -1 when its turn is not in the view."""
        keys = [-1]
        for ref in refs:
            thread, _, turn = ref.rpartition("#turn:")
            rank = self._thread_rank.get(thread)
            known = turn.isdecimal() and len(turn) < _LONGEST_TURN
            keys.append(rank << TURN_BITS | int(turn) if rank is not None and known else -1)
        found = np.array(keys, np.int64)
        at = np.searchsorted(self.turn_keys, found)
        there = np.append(self.turn_keys, -1)[at] == found
        return np.where(there, found, -1)[1:]

    def _read_relations(self) -> None:
        self._thread_rank = {f"thread:{name}": rank for rank, name in enumerate(self.threads.ids)}
        self.asks = self._said("ASKS", "Question", self.questions)
        resolved = self._said("ANSWERS", "Question", self.questions, " WHERE r.`kind` = 'resolved'")
        self.resolved = marked(resolved.b, len(self.questions.ids))
        self.settled = np.full(len(self.questions.ids), NO_DAY, np.int64)
        np.maximum.at(self.settled, resolved.b, self.days_of(resolved.turn))
        self.said = self._said("MENTIONS", "Concept", self.concepts)
        asked, _ = self._listed("MENTIONS", "Question", "Concept", (self.questions, self.concepts))
        self.asked = asked.keep(marked(self.asks.b, len(self.questions.ids))[asked.a])
        waypoint, turn = self._pair("ANCHORED", "Waypoint", "SourceRef")
        key = self._turn_key[self._turns(turn)]
        anchored = Rows(key >> TURN_BITS, self.waypoints.of(waypoint), key, np.arange(len(key)))
        self.anchored = anchored.keep(key >= 0)
        at, other = matches(self.anchored.turn, self.said.turn)
        self.met = Rows(
            self.anchored.b[at], self.said.b[other], self.anchored.turn[at], np.arange(len(at))
        )

    def _links(self) -> tuple[list[Part], list[NDArray[np.int64]]]:
        """Relations between nodes of one kind, and the arcs among them (kind, tail, head, code)."""
        parts, arcs = [], []
        kinds = (self.threads, self.questions, self.concepts, self.waypoints)
        for table, kind, extra in LINKED:
            name, nodes = TABLES[kind], kinds[kind]
            rows, types = self._listed(table, name, name, (nodes, nodes), extra)
            against = np.array([value == "contradicts" for value in types] or [False], np.bool_)
            role = LINK + CONTRADICTION * (against[rows.row] if types else np.zeros_like(rows.row))
            parts.append(Part(rows, kind, kind, role.astype(np.uint8)))
            arcs.append(self._arcs_of(table, kind, rows, types))
        return parts, arcs

    def _arcs_of(self, table: str, kind: int, rows: Rows, types: list[Any]) -> NDArray[np.int64]:
        """Directed rows as (kind, tail, head, code); a link between questions runs with time."""
        code = np.array([_ARCS.get(value, -1) for value in types] or [-1], np.int64)
        coded = np.full(len(rows.row), SUCCESSION if table == "PASSES" else -1, np.int64)
        if types:
            coded = code[rows.row]
        tail, head = rows.a, rows.b
        if table == "LINKS":
            newer = self.first_seen[tail] > self.first_seen[head]
            tail, head = np.where(newer, head, tail), np.where(newer, tail, head)
        found = np.stack((np.full(len(tail), kind), tail, head, coded), axis=1)
        kept: NDArray[np.int64] = found[(coded >= 0) & (tail != head)]
        return kept


def shorter_names(labels: Sequence[str]) -> list[int]:
    """For each name of a file, which other one says the same in fewer words; -1 for none.

    ``a/b/c.py`` is also ``b/c.py`` and ``c.py``: the longest of these that is there counts.
    """
    at = {label: number for number, label in enumerate(labels)}
    found = []
    for label in labels:
        parts = label.replace("\\", "/").split("/")
        ends = ("/".join(parts[first:]) for first in range(1, len(parts)))
        found.append(next((at[end] for end in ends if end in at), -1))
    return found


def _inside(at: Ints, scope: Scope) -> Bools:
    inside = np.ones(len(at), np.bool_)
    if scope.since is not None:
        inside &= at >= _microseconds(scope.since)
    if scope.until is not None:
        inside &= at < _microseconds(scope.until)
    return inside


def _microseconds(moment: datetime) -> int:
    return round(moment.timestamp() * 1_000_000)
