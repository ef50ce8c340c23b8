"""The graph as arrays: scans, canonical order, collapse. Reads extracted tables only.

Dreamt tables are never read here: dreams must not feed the scout that feeds dreams.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, Protocol

import numpy as np
from numpy.typing import NDArray

from graphstore.errors import StoreError
from graphstore.model.base import Instant, Value
from graphstore.model.hubs import fold, stop_list
from graphstore.model.refs import RefUnresolved, parse_ref
from graphstore.model.view import (
    CAUSES,
    CONCEPT,
    CONCEPT_LINEAGE,
    CONTAINMENT,
    DEPENDS_ON,
    EVOLVING,
    GENERIC,
    LINK,
    MENTION,
    NO_DAY,
    OPEN,
    QUESTION,
    RESOLVED,
    SHARED_LINEAGE,
    STOP,
    SUCCESSION,
    THREAD,
    VISITED,
    WAYPOINT,
    GraphView,
    Route,
)

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

PREMISES: Final = ("human", "assistant")
TABLES: Final = ("Thread", "Question", "Concept", "Waypoint")
KEYS: Final = ("thread_id", "question_id", "concept_id", "waypoint_id")
FAILED: Final = frozenset({"rejected_route", "abandoned_direction", "rejected"})
"""Waypoint labels of an attempt that did not work."""
_GAP: Final = "an edge ends at a node that is not there"
_TURN_BITS: Final = 32
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


class Statement(Protocol):
    """One read transaction."""

    def arrow(self, cypher: str, **parameters: Any) -> Any: ...  # noqa: ANN401 - the engine's table


class _Scan:
    """Columns of one result as arrays; the table is dropped at once."""

    def __init__(self, statement: Statement, cypher: str) -> None:
        table = statement.arrow(cypher)
        self._columns = {name: table.column(name) for name in table.column_names}

    def ints(self, name: str) -> Ints:
        """A column of integers without nulls."""
        return np.asarray(self._columns[name].to_numpy(), np.int64)

    def flags(self, name: str) -> Bools:
        """A column of booleans; null is false."""
        return np.asarray(self._columns[name].fill_null(fill_value=False).to_numpy(), np.bool_)

    def microseconds(self, name: str) -> tuple[Ints, Bools]:
        """A column of times since 1970, and which of them are known."""
        column = self._columns[name]
        known = np.asarray(column.is_valid().to_numpy(), np.bool_)
        stamps = np.asarray(column.to_numpy(), "datetime64[us]").astype(np.int64)
        return np.where(known, stamps, 0), known

    def cells(self, name: str) -> list[Any]:
        """A column as Python objects: for node tables only."""
        found: list[Any] = self._columns[name].to_pylist()
        return found

    def coded(self, name: str) -> tuple[list[str], Ints]:
        """A column of strings as distinct values, and which one each row has."""
        return _coded(self._columns[name].combine_chunks())

    def lists(self, name: str) -> tuple[list[str], Ints, Ints]:
        """A column of string lists: distinct strings, code of each member, row of each member."""
        lists = self._columns[name].combine_chunks()
        ends: Ints = np.asarray(lists.offsets.to_numpy(), np.int64)
        lengths: Ints = ends[1:] - ends[:-1]
        values, codes = _coded(lists.flatten())
        return values, codes, np.repeat(np.arange(len(lengths)), lengths)


def _coded(column: Any) -> tuple[list[str], Ints]:  # noqa: ANN401 - an arrow array
    coded = column.dictionary_encode()
    return coded.dictionary.to_pylist(), np.asarray(coded.indices.to_numpy(), np.int64)


@dataclass(slots=True)
class _Nodes:
    """One node table by offset: canonical rank among its kind, -1 for a gap."""

    ids: tuple[str, ...]
    rank: Ints
    order: Ints
    """Row of the scan for each rank."""

    def of(self, offsets: Ints) -> Ints:
        """Ranks of offsets; raises StoreError for an edge that ends in a gap."""
        if offsets.size and (offsets.max() >= len(self.rank) or (self.rank[offsets] < 0).any()):
            raise StoreError(_GAP)
        return self.rank[offsets]


def _nodes(offsets: Ints, names: Sequence[str]) -> _Nodes:
    order = np.array(sorted(range(len(names)), key=lambda row: names[row].encode()), np.int64)
    rank = np.full(int(offsets.max(initial=-1)) + 1, -1, np.int64)
    rank[offsets[order]] = np.arange(len(names))
    return _Nodes(tuple(names[row] for row in order.tolist()), rank, order)


@dataclass(slots=True)
class _Rows:
    """Relation rows turn by turn: node a, node b, key of the turn, row it came from."""

    a: Ints
    b: Ints
    turn: Ints
    row: Ints

    def keep(self, mask: Bools) -> "_Rows":
        return _Rows(self.a[mask], self.b[mask], self.turn[mask], self.row[mask])


@dataclass(slots=True)
class _Part:
    """Relation rows that enter the view, with their ends as node keys."""

    rows: _Rows
    kind_a: int
    kind_b: int
    role: int | NDArray[np.uint8]


def view(statement: Statement, scope: Scope) -> GraphView:
    """Read the graph of a store, narrowed to a scope, in canonical order.

    Weights are distinct source turns. Raises StoreError when an edge has no end.
    """
    return _Reading(statement, scope).view()


class _Reading:
    """One reading of the graph; every table is scanned once."""

    def __init__(self, statement: Statement, scope: Scope) -> None:
        self._statement = statement
        self._scope = scope
        self._read_threads()
        self._read_turns()
        self._read_shared()
        self._read_relations()

    # nodes

    def _scan(self, cypher: str) -> _Scan:
        return _Scan(self._statement, cypher)

    def _read_threads(self) -> None:
        scan = self._scan(
            "MATCH (n:`Thread`) RETURN offset(id(n)) AS `o`, n.`thread_id` AS `k`,"
            " n.`lineage_root` AS `root`, n.`scope_labels` AS `labels`"
        )
        self.threads = _nodes(scan.ints("o"), scan.cells("k"))
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
        self._turn_key[turn] = thread << _TURN_BITS | number[turn]
        order = np.argsort(self._turn_key[turn], kind="stable")
        self.turn_keys = self._turn_key[turn][order]
        """Keys of the turns in scope, sorted: thread rank and turn number."""
        self.turn_days = self._turn_day[turn][order]
        self.undated = int((self.turn_days == NO_DAY).sum())

    def _turns(self, offsets: Ints) -> Ints:
        if offsets.size and (offsets.max() >= len(self._exists) or not self._exists[offsets].all()):
            raise StoreError(_GAP)
        return offsets

    def _read_shared(self) -> None:
        questions = self._scan(
            "MATCH (n:`Question`) RETURN offset(id(n)) AS `o`, n.`question_id` AS `k`,"
            " n.`status` AS `status`, n.`first_seen` AS `first`"
        )
        self.questions = _nodes(questions.ints("o"), questions.cells("k"))
        status = np.array(questions.cells("status"), np.str_)
        first, known = questions.microseconds("first")
        self.open = (status == "open")[self.questions.order]
        self.first_seen = np.where(known, first, np.iinfo(np.int64).max)[self.questions.order]
        concepts = self._scan(
            "MATCH (n:`Concept`) RETURN offset(id(n)) AS `o`, n.`concept_id` AS `k`,"
            " n.`label` AS `label`, n.`generic` AS `generic`"
        )
        self.concepts = _nodes(concepts.ints("o"), concepts.cells("k"))
        self.generic = concepts.flags("generic")[self.concepts.order]
        stops = stop_list()
        stopped = np.array([fold(label) in stops for label in concepts.cells("label")], np.bool_)
        self.stopped = stopped[self.concepts.order]
        waypoints = self._scan(
            "MATCH (n:`Waypoint`) RETURN offset(id(n)) AS `o`, n.`waypoint_id` AS `k`,"
            " n.`journey_id` AS `journey`, n.`seq` AS `seq`, n.`labels` AS `labels`,"
            " n.`frontier_hint` AS `hinted`"
        )
        self.waypoints = _nodes(waypoints.ints("o"), waypoints.cells("k"))
        order = self.waypoints.order.tolist()
        columns = [waypoints.cells(name) for name in ("journey", "seq", "labels", "hinted")]
        self.stops = [tuple(column[row] for column in columns) for row in order]

    # relations

    def _pair(self, table: str, src: str, dst: str, where: str = "") -> tuple[Ints, Ints]:
        scan = self._scan(
            f"MATCH (a:`{src}`)-[r:`{table}`]->(b:`{dst}`){where}"
            " RETURN offset(id(a)) AS `a`, offset(id(b)) AS `b`"
        )
        return scan.ints("a"), scan.ints("b")

    def _said(self, table: str, dst: str, nodes: _Nodes, where: str = "") -> _Rows:
        """Rows from a turn to a node: a = thread, b = node."""
        turn, node = self._pair(table, "SourceRef", dst, where)
        key, ranks = self._turn_key[self._turns(turn)], nodes.of(node)
        rows = _Rows(key >> _TURN_BITS, ranks, key, np.arange(len(key)))
        return rows.keep(key >= 0)

    def _listed(
        self, table: str, src: str, dst: str, ends: tuple[_Nodes, _Nodes], extra: str = ""
    ) -> tuple[_Rows, list[Any]]:
        """Rows without a turn at an end: their list of references says the turns."""
        more = f", r.`{extra}` AS `extra`" if extra else ""
        scan = self._scan(
            f"MATCH (a:`{src}`)-[r:`{table}`]->(b:`{dst}`) RETURN offset(id(a)) AS `a`,"
            f" offset(id(b)) AS `b`, r.`source_refs` AS `refs`{more}"
        )
        values, codes, row = scan.lists("refs")
        keys = np.array([self._key_of(value) for value in values] or [-1], np.int64)
        a, b = ends[0].of(scan.ints("a")), ends[1].of(scan.ints("b"))
        turn = keys[codes] if codes.size else np.zeros(0, np.int64)
        rows = _Rows(a[row], b[row], turn, row)
        return rows.keep(turn >= 0), scan.cells("extra") if extra else []

    def _key_of(self, ref: str) -> int:
        """Key of a reference, -1 when its turn is not in the view."""
        parsed = parse_ref(ref)
        if isinstance(parsed, RefUnresolved):
            return -1
        thread = self._thread_rank.get(parsed.thread_id)
        if thread is None:
            return -1
        key = thread << _TURN_BITS | parsed.turn
        at = int(np.searchsorted(self.turn_keys, key))
        return key if at < len(self.turn_keys) and self.turn_keys[at] == key else -1

    def _read_relations(self) -> None:
        self._thread_rank = {name: rank for rank, name in enumerate(self.threads.ids)}
        self.asks = self._said("ASKS", "Question", self.questions)
        resolved = self._said("ANSWERS", "Question", self.questions, " WHERE r.`kind` = 'resolved'")
        self.resolved = _marked(resolved.b, len(self.questions.ids))
        self.said = self._said("MENTIONS", "Concept", self.concepts)
        asked, _ = self._listed("MENTIONS", "Question", "Concept", (self.questions, self.concepts))
        self.asked = asked.keep(_marked(self.asks.b, len(self.questions.ids))[asked.a])
        waypoint, turn = self._pair("ANCHORED", "Waypoint", "SourceRef")
        key = self._turn_key[self._turns(turn)]
        anchored = _Rows(key >> _TURN_BITS, self.waypoints.of(waypoint), key, np.arange(len(key)))
        self.anchored = anchored.keep(key >= 0)
        at, other = _matches(self.anchored.turn, self.said.turn)
        self.met = _Rows(
            self.anchored.b[at], self.said.b[other], self.anchored.turn[at], np.arange(len(at))
        )

    def _links(self) -> tuple[list[_Part], list[NDArray[np.int64]]]:
        """Relations between nodes of one kind, and the arcs among them (kind, tail, head, code)."""
        parts, arcs = [], []
        q, c, w, t = self.questions, self.concepts, self.waypoints, self.threads
        for table, kind, nodes, extra in (
            ("LINKS", QUESTION, q, "link_type"),
            ("RELATES", CONCEPT, c, "edge_type"),
            ("PASSES", WAYPOINT, w, ""),
            ("CITES", THREAD, t, ""),
        ):
            name = TABLES[kind]
            rows, types = self._listed(table, name, name, (nodes, nodes), extra)
            parts.append(_Part(rows, kind, kind, LINK))
            code = np.array([_ARCS.get(value, -1) for value in types] or [-1], np.int64)
            coded = np.full(len(rows.row), SUCCESSION if table == "PASSES" else -1, np.int64)
            if types:
                coded = code[rows.row]
            tail, head = rows.a, rows.b
            if table == "LINKS":
                newer = self.first_seen[tail] > self.first_seen[head]
                tail, head = np.where(newer, head, tail), np.where(newer, tail, head)
            found = np.stack((np.full(len(tail), kind), tail, head, coded), axis=1)
            arcs.append(found[(coded >= 0) & (tail != head)])
        return parts, arcs

    # putting together

    def view(self) -> GraphView:
        """Nodes, edges and arcs in canonical positions."""
        self._choose_nodes()
        self._number_lineages()
        links, arcs = self._links()
        covers = self._covers()
        held, hidden = self._own_mentions(covers[0])
        _, asked_here = self._lineages_of(self.asks.b, self.asks.turn, len(self.questions.ids))
        shared = asked_here[self.asks.b] > 1
        parts = [
            _Part(self.asks.keep(~shared), THREAD, QUESTION, CONTAINMENT),
            _Part(self.asks.keep(shared), THREAD, QUESTION, LINK),
            _Part(self.anchored, THREAD, WAYPOINT, CONTAINMENT),
            _Part(self.asked, QUESTION, CONCEPT, MENTION),
            _Part(self.met, WAYPOINT, CONCEPT, MENTION),
            _Part(held, THREAD, CONCEPT, MENTION),
            *links,
        ]
        return self._assemble(parts, arcs, hidden, covers)

    def _choose_nodes(self) -> None:
        """A node is in when a turn of the view speaks of it; isolated ones stay."""
        sizes = [len(nodes.ids) for nodes in self._kinds()]
        turn_thread = self.turn_keys >> _TURN_BITS
        days = [np.full(size, NO_DAY, np.int64) for size in sizes]
        least = [np.full(size, np.iinfo(np.int64).max, np.int64) for size in sizes]
        for kind, node, turn in (
            (THREAD, turn_thread, self.turn_keys),
            (QUESTION, self.asks.b, self.asks.turn),
            (CONCEPT, self.said.b, self.said.turn),
            (CONCEPT, self.asked.b, self.asked.turn),
            (WAYPOINT, self.anchored.b, self.anchored.turn),
        ):
            np.maximum.at(days[kind], node, self.turn_days[np.searchsorted(self.turn_keys, turn)])
            np.minimum.at(least[kind], node, turn)
        self.first_turn, self.day = np.concatenate(least), np.concatenate(days)
        self.node_in = self.first_turn < np.iinfo(np.int64).max
        self.base = np.concatenate(([0], np.cumsum(sizes)))[:4]
        self.place = np.where(self.node_in, np.cumsum(self.node_in) - 1, -1)

    def _kinds(self) -> tuple[_Nodes, _Nodes, _Nodes, _Nodes]:
        return self.threads, self.questions, self.concepts, self.waypoints

    def _covers(self) -> tuple[Ints, Ints]:
        """Thread and concept as one number, and the question or waypoint that has both."""
        width = max(len(self.concepts.ids), 1)
        keys, holders = [], []
        for own, mentions, kind in (
            (self.asks, self.asked, QUESTION),
            (self.anchored, self.met, WAYPOINT),
        ):
            thread, node = _distinct(own.a, own.b)
            holder, concept = _distinct(mentions.a, mentions.b)
            at, other = _matches(node, holder)
            keys.append(thread[at] * width + concept[other])
            holders.append(self.base[kind] + node[at])
        return np.concatenate(keys), np.concatenate(holders)

    def _own_mentions(self, covered: Ints) -> tuple[_Rows, _Rows]:
        """Mentions of a thread, and those hidden because a question or waypoint of it has them."""
        width = max(len(self.concepts.ids), 1)
        hidden = np.isin(self.said.a * width + self.said.b, covered)
        return self.said.keep(~hidden), self.said.keep(hidden)

    def _lineages_of(self, nodes: Ints, turns: Ints, size: int) -> tuple[Ints, Ints]:
        """Per node: the smallest lineage that speaks of it, and how many do."""
        node, lineage = _distinct(nodes, self.lineage_of_thread[turns >> _TURN_BITS])
        count = np.bincount(node, minlength=size)
        least = np.full(size, np.iinfo(np.int64).max, np.int64)
        np.minimum.at(least, node, lineage)
        return least, count

    def _number_lineages(self) -> None:
        inside = self.node_in[: len(self.roots)]
        names = {root for root, kept in zip(self.roots, inside, strict=True) if kept}
        self.lineages = tuple(sorted(names, key=str.encode))
        number = {root: at for at, root in enumerate(self.lineages)}
        self.lineage_of_thread = np.array([number.get(root, -1) for root in self.roots], np.int64)

    def _lineage(self) -> Ints:
        threads = self.lineage_of_thread
        found = []
        for rows, nodes in ((self.asks, self.questions), (self.anchored, self.waypoints)):
            least, count = self._lineages_of(rows.b, rows.turn, len(nodes.ids))
            found.append(np.where(count > 1, SHARED_LINEAGE, least))
        questions, waypoints = found
        concepts = np.full(len(self.concepts.ids), CONCEPT_LINEAGE, np.int64)
        return np.concatenate((threads, questions, concepts, waypoints))

    def _frequencies(self) -> Ints:
        node = np.concatenate((self.said.b, self.asked.b))
        turn = np.concatenate((self.said.turn, self.asked.turn))
        _, count = self._lineages_of(node, turn, len(self.concepts.ids))
        zeros = [np.zeros(len(nodes.ids), np.int64) for nodes in self._kinds()]
        zeros[CONCEPT] = count
        return np.concatenate(zeros)

    def _flags(self) -> Ints:
        visited, routes = self._routes()
        self.routes = routes
        hints = np.array([stop[3] is not None for stop in self.stops], np.bool_)
        flags = np.concatenate(
            (
                np.zeros(len(self.threads.ids), np.int64),
                OPEN * self.open + RESOLVED * self.resolved,
                GENERIC * self.generic + STOP * self.stopped,
                OPEN * hints,
            )
        )
        marked: Ints = flags + VISITED * visited
        return marked

    def _routes(self) -> tuple[Bools, tuple[Route, ...]]:
        """What Journeys touch, and the Journeys with a waypoint in the view, by id."""
        scan = self._scan(
            "MATCH (n:`Journey`) RETURN n.`journey_id` AS `k`, n.`merged_into` AS `merged`"
        )
        merged = dict(zip(scan.cells("k"), scan.cells("merged"), strict=True))
        visited = np.zeros(len(self.node_in), np.bool_)
        for table, kind, nodes in (
            ("Question", QUESTION, self.questions),
            ("Concept", CONCEPT, self.concepts),
        ):
            _, node = self._pair("ANCHORED", "Journey", table)
            visited[self.base[kind] + nodes.of(node)] = True
        visited[self.anchored.a] = True
        visited[self.base[WAYPOINT] + self.anchored.b] = True
        of_waypoint: dict[int, list[str]] = {}
        for rank, turn in zip(self.anchored.b.tolist(), self.anchored.turn.tolist(), strict=True):
            of_waypoint.setdefault(rank, []).append(self._ref(turn))
        by_journey: dict[str, list[int]] = {}
        for rank in sorted(of_waypoint, key=lambda rank: (self.stops[rank][1], rank)):
            by_journey.setdefault(self.stops[rank][0], []).append(rank)
        return visited, tuple(
            self._route(name, by_journey[name], of_waypoint, merged.get(name))
            for name in sorted(by_journey)
        )

    def _route(
        self, name: str, ranks: list[int], refs: dict[int, list[str]], merged: str | None
    ) -> Route:
        failed = (rank for rank in ranks if not FAILED.isdisjoint(self.stops[rank][2] or ()))
        return Route(
            journey_id=name,
            waypoints=tuple(int(self.place[self.base[WAYPOINT] + rank]) for rank in ranks),
            refs=_united(refs[rank] for rank in ranks),
            failed_refs=_united(refs[rank] for rank in failed),
            merged_into=merged,
        )

    def _ref(self, turn: int) -> str:
        thread = self.threads.ids[turn >> _TURN_BITS]
        return f"thread:{thread}#turn:{turn & ((1 << _TURN_BITS) - 1)}"

    def _assemble(
        self,
        parts: list[_Part],
        arcs: list[NDArray[np.int64]],
        hidden: _Rows,
        covers: tuple[Ints, Ints],
    ) -> GraphView:
        pair, roles, turn, loops, rows = self._pairs(parts)
        pairs, edge = np.unique(pair, return_inverse=True)
        n = int(self.node_in.sum())
        u, v = np.divmod(pairs, max(n, 1))
        bits = np.zeros(len(pairs), np.uint8)
        np.bitwise_or.at(bits, edge, roles)
        thread_of, number_of = self._turn_columns()
        code = np.searchsorted(self.turn_keys, turn)
        width = max(len(self.turn_keys), 1)
        own = np.unique(edge * width + code)
        own_edge, own_code = np.divmod(own, width)
        first = np.searchsorted(own_edge, np.arange(len(pairs)))
        aside = self._set_aside(hidden, covers, pairs) * width
        said = np.union1d(own, aside + np.searchsorted(self.turn_keys, hidden.turn))
        said_edge, said_code = np.divmod(said, width)
        kept = np.flatnonzero(self.node_in)
        least = self.first_turn[kept]
        flags, lineage, df = self._flags(), self._lineage(), self._frequencies()
        ids = [name for nodes in self._kinds() for name in nodes.ids]
        kinds = np.repeat(np.arange(4), [len(nodes.ids) for nodes in self._kinds()])
        return GraphView(
            ids=tuple(ids[at] for at in kept.tolist()),
            kind=kinds[kept].astype(np.int8),
            lineage=lineage[kept].astype(np.int32),
            ref_thread=self.place[least >> _TURN_BITS].astype(np.int32),
            ref_turn=_number(least),
            day=self.day[kept].astype(np.int32),
            flags=flags[kept].astype(np.uint8),
            u=u.astype(np.int32),
            v=v.astype(np.int32),
            weight=np.bincount(own_edge, minlength=len(pairs)).astype(np.int32),
            roles=bits,
            edge_ref_thread=thread_of[own_code[first]],
            edge_ref_turn=number_of[own_code[first]],
            arcs=self._arcs(arcs),
            threads=tuple(ids[at] for at in kept.tolist() if at < len(self.threads.ids)),
            lineages=self.lineages,
            df=df[kept].astype(np.int32),
            journeys=self.routes,
            turn_thread=thread_of[said_code],
            turn_number=number_of[said_code],
            turn_edge=said_edge.astype(np.int32),
            collapsed_rows=rows - loops - len(pairs),
            self_loops=loops,
            undated=self.undated,
        )

    def _turn_columns(self) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Thread position and number of each turn in scope."""
        return self.place[self.turn_keys >> _TURN_BITS].astype(np.int32), _number(self.turn_keys)

    def _pairs(self, parts: list[_Part]) -> tuple[Ints, NDArray[np.uint8], Ints, int, int]:
        """All rows turn by turn as pair, role, turn; self-loops and relation rows counted."""
        n = int(self.node_in.sum())
        pairs, roles, turns = [], [], []
        loops = count = 0
        for part in parts:
            a = self.place[self.base[part.kind_a] + part.rows.a]
            b = self.place[self.base[part.kind_b] + part.rows.b]
            inside = (a >= 0) & (b >= 0)
            count += len(np.unique(part.rows.row[inside]))
            loops += len(np.unique(part.rows.row[inside & (a == b)]))
            kept = inside & (a != b)
            pairs.append((np.minimum(a, b) * n + np.maximum(a, b))[kept])
            roles.append(np.full(int(kept.sum()), part.role, np.uint8))
            turns.append(part.rows.turn[kept])
        return np.concatenate(pairs), np.concatenate(roles), np.concatenate(turns), loops, count

    def _set_aside(self, hidden: _Rows, covers: tuple[Ints, Ints], pairs: Ints) -> Ints:
        """The edge that stands for each hidden mention: the first of its thread and concept.

        Hidden mentions are no edges, but their turns count once threads are drawn together.
        """
        width = max(len(self.concepts.ids), 1)
        key, holder = covers
        a, b = self.place[holder], self.place[self.base[CONCEPT] + key % width]
        n = int(self.node_in.sum())
        edge = np.searchsorted(pairs, np.minimum(a, b) * n + np.maximum(a, b))
        order = np.lexsort((edge, key))
        at = np.searchsorted(key[order], hidden.a * width + hidden.b)
        found: Ints = edge[order][at]
        return found

    def _arcs(self, arcs: list[NDArray[np.int64]]) -> NDArray[np.int32]:
        found = np.concatenate(arcs)
        tail = self.place[self.base[found[:, 0]] + found[:, 1]]
        head = self.place[self.base[found[:, 0]] + found[:, 2]]
        inside = (tail >= 0) & (head >= 0)
        columns = np.stack((tail, head, found[:, 3]), axis=1)[inside]
        unique: NDArray[np.int32] = np.unique(columns, axis=0).astype(np.int32).reshape(-1, 3)
        return unique


def _inside(at: Ints, scope: Scope) -> Bools:
    inside = np.ones(len(at), np.bool_)
    if scope.since is not None:
        inside &= at >= _microseconds(scope.since)
    if scope.until is not None:
        inside &= at < _microseconds(scope.until)
    return inside


def _microseconds(moment: datetime) -> int:
    return round(moment.timestamp() * 1_000_000)


def _marked(ranks: Ints, size: int) -> Bools:
    marked = np.zeros(size, np.bool_)
    marked[ranks] = True
    return marked


def _number(keys: Ints) -> NDArray[np.int32]:
    return (keys & ((1 << _TURN_BITS) - 1)).astype(np.int32)


def _united(lists: Iterable[list[str]]) -> tuple[str, ...]:
    return tuple(sorted({ref for found in lists for ref in found}))


def _distinct(a: Ints, b: Ints) -> tuple[Ints, Ints]:
    """Distinct pairs of two columns."""
    width = int(b.max(initial=0)) + 1
    first, second = np.divmod(np.unique(a * width + b), width)
    return first, second


def _matches(left: Ints, right: Ints) -> tuple[Ints, Ints]:
    """All pairs of positions with equal values."""
    order = np.argsort(right, kind="stable")
    values = right[order]
    first = np.searchsorted(values, left, side="left")
    count = np.searchsorted(values, left, side="right") - first
    at = np.repeat(np.arange(len(left)), count)
    step = np.arange(len(at)) - np.repeat(np.cumsum(count) - count, count)
    return at, order[np.repeat(first, count) + step]
