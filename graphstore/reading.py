"""The extracted tables of a store, narrowed to a scope, turn by turn.

Dreamt tables are never read here: dreams must not feed the scout that feeds dreams. What is read is
counted all the same, so that a mistake would show.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Final

import numpy as np
from numpy.typing import NDArray

from graphstore.columns import (
    Bools,
    Ints,
    Nodes,
    Rows,
    Scan,
    Statement,
    chosen,
    joined,
    marked,
    matches,
    placed,
    runs,
    there,
)
from graphstore.model.base import Instant, Value
from graphstore.model.hubs import fold, stop_list
from graphstore.model.hypothesis import HYPOTHESES
from graphstore.model.knowledge import ConceptKind
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

HUMAN: Final = "human"
PREMISES: Final = (HUMAN, "assistant")
TABLES: Final = ("Thread", "Question", "Concept", "Waypoint")
LINKED: Final = (
    ("LINKS", QUESTION, "link_type"),
    ("RELATES", CONCEPT, "edge_type"),
    ("PASSES", WAYPOINT, ""),
    ("CITES", THREAD, ""),
)
"""Relations between nodes of one kind, and the property that says which."""
ASKED_ONCE: Final = "coalesce(a.`ref_count`, 0) = 1"
"""Condition on a question."""
_DREAMT: Final = frozenset(cls.TABLE for cls in HYPOTHESES)
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

    def _scan(self, cypher: str, by: str = "") -> Scan:
        return Scan(self._statement, cypher, by)

    def _read_threads(self) -> None:
        scan = self._scan(
            "MATCH (n:`Thread`) RETURN offset(id(n)) AS `o`, n.`thread_id` AS `k`,"
            " n.`lineage_root` AS `root`, n.`scope_labels` AS `labels`, n.`source` AS `source`,"
            " n.`project` AS `project`, n.`participants` AS `people`, n.`models` AS `models`",
            by="k",
        )
        self.threads = Nodes.of(scan)
        self.headings = [scan.cells(name) for name in ("source", "project", "people", "models")]
        self.roots: list[str] = scan.cells("root")
        asked, wanted = set(self._scope.threads), set(self._scope.labels)
        inside = np.ones(len(self.roots), np.bool_)
        if asked:
            inside &= [name in asked for name in self.threads.ids]
        if wanted:
            inside &= [not wanted.isdisjoint(labels or ()) for labels in scan.cells("labels")]
        self.thread_in = inside

    def _read_turns(self) -> None:
        """Turns in scope, ranked by thread and number: relations are read as ranks."""
        scan = self._scan(
            "MATCH (n:`SourceRef`) RETURN offset(id(n)) AS `o`, n.`ref` AS `ref`,"
            " n.`turn` AS `turn`, n.`taint` AS `taint`, n.`alternative` AS `off`, n.`at` AS `at`"
        )
        row = placed(scan.ints("o"))
        held = self._pair("HAS_TURN", "Thread", "SourceRef")
        thread, turn = self.threads.at(held[0]), there(row, held[1])
        day, good, human = self._days_and_premises(scan)
        inside = np.flatnonzero(good[turn] & self.thread_in[thread])
        thread, turn = thread[inside], turn[inside]
        number = scan.ints("turn")[turn]
        order = np.lexsort((number, thread))
        turn = turn[order]
        self.turn_thread, self.turn_number = thread[order], number[order]
        self.turn_day = day[turn]
        self.is_human = human[turn]
        self.undated = int((self.turn_day == NO_DAY).sum())
        rank = np.full(len(day), len(turn), np.int64)
        rank[turn] = np.arange(len(turn))
        self._rank_of_row, self._row_of_turn = rank, row
        self._turn_names = scan

    def _days_and_premises(self, scan: Scan) -> tuple[Ints, Bools, Bools]:
        """Day of each turn, whether it may be a premise within the asked time, and is a human's."""
        at, known = scan.microseconds("at")
        taint = scan.coded("taint")
        inside = chosen(taint, PREMISES) & ~scan.flags("off")
        inside &= ~known | _inside(at, self._scope)
        return np.where(known, at // _DAY_US, NO_DAY), inside, chosen(taint, (HUMAN,))

    def _turns(self, offsets: Ints) -> Ints:
        """Ranks of turns; one past the last for a turn that is out of scope."""
        found: Ints = self._rank_of_row[there(self._row_of_turn, offsets)]
        return found

    def _read_shared(self) -> None:
        questions = self._scan(
            "MATCH (n:`Question`) RETURN offset(id(n)) AS `o`, n.`question_id` AS `k`,"
            " n.`status` AS `status`, n.`first_seen` AS `first`",
            by="k",
        )
        self.questions = Nodes.of(questions)
        self.open = questions.among("status", ("open",))
        first, known = questions.microseconds("first")
        self.first_seen = np.where(known, first, np.iinfo(np.int64).max)
        concepts = self._scan(
            "MATCH (n:`Concept`) RETURN offset(id(n)) AS `o`, n.`concept_id` AS `k`,"
            " n.`label` AS `label`, n.`generic` AS `generic`, n.`kind` AS `kind`",
            by="k",
        )
        self.concepts = Nodes.of(concepts)
        self.generic = concepts.flags("generic")
        self.labels: list[str] = concepts.cells("label")
        single = np.array([label.isalpha() for label in self.labels], np.bool_)
        self.plain = concepts.among("kind", (ConceptKind.TERM,)) & single
        stops = stop_list().union(self._scope.stops)
        self.stopped = np.array([fold(label) in stops for label in self.labels], np.bool_)
        waypoints = self._scan(
            "MATCH (n:`Waypoint`) RETURN offset(id(n)) AS `o`, n.`waypoint_id` AS `k`,"
            " n.`journey_id` AS `journey`, n.`seq` AS `seq`, n.`labels` AS `labels`,"
            " n.`frontier_hint` AS `hinted`",
            by="k",
        )
        self.waypoints = Nodes.of(waypoints)
        columns = [waypoints.cells(name) for name in ("journey", "seq", "labels", "hinted")]
        self.stops = list(zip(*columns, strict=True))

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

    def _in_scope(self, rows: Rows) -> Rows:
        inside = rows.turn < len(self.turn_thread)
        return rows if inside.all() else rows.keep(inside)

    def _said(self, table: str, dst: str, nodes: Nodes, where: str = "") -> Rows:
        """Rows from a turn to a node: a = thread, b = node."""
        turn, node = self._pair(table, "SourceRef", dst, where)
        return self._of_threads(nodes.at(node), self._turns(turn))

    def _of_threads(self, node: Ints, turn: Ints) -> Rows:
        """Rows from the thread of each turn to a node."""
        rows = self._in_scope(Rows(node, node, turn, np.arange(len(turn))))
        return Rows(self.turn_thread[rows.turn], rows.b, rows.turn, rows.row)

    def _listed(
        self,
        table: str,
        src: str,
        dst: str,
        ends: tuple[Nodes, Nodes],
        extra: str = "",
        where: str = "",
    ) -> tuple[Rows, tuple[list[str | None], Ints]]:
        """Rows without a turn at an end: their list of references says the turns.

        Returns them with the values of one property, and which of them each relation has.
        """
        more = f", r.`{extra}` AS `extra`" if extra else ""
        scan = self._scan(
            f"MATCH (a:`{src}`)-[r:`{table}`]->(b:`{dst}`){where} RETURN offset(id(a)) AS"
            f" `a`, offset(id(b)) AS `b`, r.`source_refs` AS `refs`{more}"
        )
        self._count_dreams(table, len(scan.ints("a")))
        row, said = scan.listed("refs", self._turn_names, "ref")
        turn = np.append(self._rank_of_row, len(self.turn_thread))[said]
        a, b = ends[0].at(scan.ints("a")), ends[1].at(scan.ints("b"))
        if len(row) == len(a) == runs(row):
            rows = Rows(a, b, turn, row)
        else:
            rows = Rows(a[row], b[row], turn, row)
        types: tuple[list[str | None], Ints] = scan.coded("extra") if extra else ([], row[:0])
        return self._in_scope(rows), types

    def _read_relations(self) -> None:
        self.asks = self._said("ASKS", "Question", self.questions)
        resolved = self._said("ANSWERS", "Question", self.questions, " WHERE r.`kind` = 'resolved'")
        self.resolved = marked(resolved.b, len(self.questions.ids))
        self.settled = np.full(len(self.questions.ids), NO_DAY, np.int64)
        np.maximum.at(self.settled, resolved.b, self.turn_day[resolved.turn])
        self.said = self._said("MENTIONS", "Concept", self.concepts)
        self.asked = self._asked()
        waypoint, turn = self._pair("ANCHORED", "Waypoint", "SourceRef")
        self.anchored = self._of_threads(self.waypoints.at(waypoint), self._turns(turn))
        at, other = matches(self.anchored.turn, self.said.turn)
        self.met = Rows(
            self.anchored.b[at], self.said.b[other], self.anchored.turn[at], np.arange(len(at))
        )

    def _asked(self) -> Rows:
        """Mentions of questions that a turn in scope asks.

        What was asked in one turn says its concepts there: lists of references are read for the
        other questions only.
        """
        known = marked(self.asks.b, len(self.questions.ids))
        turn = np.full(len(self.questions.ids), len(self.turn_thread), np.int64)
        turn[self.asks.b] = self.asks.turn
        once, said = self._pair("MENTIONS", "Question", "Concept", f" WHERE {ASKED_ONCE}")
        question = self.questions.at(once)
        single = Rows(question, self.concepts.at(said), turn[question], np.arange(len(once)))
        ends, where = (self.questions, self.concepts), f" WHERE NOT {ASKED_ONCE}"
        rows, _ = self._listed("MENTIONS", "Question", "Concept", ends, where=where)
        rows = rows if known.all() else rows.keep(known[rows.a])
        return joined(self._in_scope(single), rows)

    def _links(self) -> tuple[list[Part], list[NDArray[np.int64]]]:
        """Relations between nodes of one kind, and the arcs among them (kind, tail, head, code)."""
        parts, arcs = [], []
        kinds = (self.threads, self.questions, self.concepts, self.waypoints)
        for table, kind, extra in LINKED:
            name, nodes = TABLES[kind], kinds[kind]
            rows, (types, coded) = self._listed(table, name, name, (nodes, nodes), extra)
            of = coded[rows.row] if types else np.full(len(rows.row), -1, np.int64)
            role = LINK + CONTRADICTION * chosen((types, of), ("contradicts",))
            parts.append(Part(rows, kind, kind, role.astype(np.uint8)))
            plain = SUCCESSION if table == "PASSES" else -1
            codes = np.array([*(_ARCS.get(value or "", -1) for value in types), plain], np.int64)
            arcs.append(self._arcs_of(table, kind, rows, codes[of]))
        return parts, arcs

    def _arcs_of(self, table: str, kind: int, rows: Rows, coded: Ints) -> NDArray[np.int64]:
        """Directed rows as (kind, tail, head, code); a link between questions runs with time."""
        directed = (coded >= 0) & (rows.a != rows.b)
        tail, head = rows.a[directed], rows.b[directed]
        if table == "LINKS":
            newer = self.first_seen[tail] > self.first_seen[head]
            tail, head = np.where(newer, head, tail), np.where(newer, tail, head)
        return np.stack((np.full(len(tail), kind), tail, head, coded[directed]), axis=1)


def _inside(at: Ints, scope: Scope) -> Bools:
    inside = np.ones(len(at), np.bool_)
    if scope.since is not None:
        inside &= at >= _microseconds(scope.since)
    if scope.until is not None:
        inside &= at < _microseconds(scope.until)
    return inside


def _microseconds(moment: datetime) -> int:
    return round(moment.timestamp() * 1_000_000)
