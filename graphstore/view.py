"""The graph as arrays: canonical order, collapse, weights that count distinct turns."""

from itertools import chain
from typing import Final

import numpy as np
from numpy.typing import NDArray

from graphstore.carried import carriers
from graphstore.columns import (
    Bools,
    Ints,
    Nodes,
    Rows,
    Statement,
    distinct,
    marked,
    matches,
    member,
    runs,
    unique,
    united,
)
from graphstore.ids import ref as ref_of
from graphstore.model.view import (
    CONCEPT,
    CONCEPT_LINEAGE,
    CONTAINMENT,
    GENERIC,
    LINK,
    MENTION,
    NO_DAY,
    OPEN,
    PLAIN,
    QUESTION,
    RESOLVED,
    SHARED_LINEAGE,
    STOP,
    THREAD,
    VISITED,
    VOICED,
    WAYPOINT,
    GraphView,
    Route,
)
from graphstore.reading import Part, Reading, Scope

__all__ = ["Scope", "view"]

FAILED: Final = frozenset({"rejected_route", "abandoned_direction", "rejected"})
"""Waypoint labels of an attempt that did not work."""
_FAR: Final = np.iinfo(np.int64).max


def view(statement: Statement, scope: Scope) -> GraphView:
    """Read the graph of a store, narrowed to a scope, in canonical order.

    Weights are distinct source turns. Raises StoreError when an edge has no end.
    """
    return _Composed(statement, scope).view()


class _Composed(Reading):
    """What was read, put together."""

    def view(self) -> GraphView:
        """Nodes, edges and arcs in canonical positions."""
        self._choose_nodes()
        self._number_lineages()
        links, arcs = self._links()
        held, hidden, covers = self._own_mentions()
        self.asked_in = self._lineages_of(self.asks.b, self.asks.turn, len(self.questions.ids))
        shared = self.asked_in[1][self.asks.b] > 1
        parts = [
            Part(self.asks.keep(~shared), THREAD, QUESTION, CONTAINMENT),
            Part(self.asks.keep(shared), THREAD, QUESTION, LINK),
            Part(self.anchored, THREAD, WAYPOINT, CONTAINMENT),
            Part(self.asked, QUESTION, CONCEPT, MENTION),
            Part(self.met, WAYPOINT, CONCEPT, MENTION),
            Part(held, THREAD, CONCEPT, MENTION),
            *links,
        ]
        return self._assemble(parts, arcs, hidden, covers)

    def _choose_nodes(self) -> None:
        """A node is in when a turn of the view speaks of it; isolated ones stay."""
        sizes = [len(nodes.ids) for nodes in self._kinds()]
        self.base = np.concatenate(([0], np.cumsum(sizes)))
        total = int(self.base[-1])
        self.day = np.full(total, NO_DAY, np.int64)
        began = np.full(total, _FAR, np.int64)
        self.first_turn = np.full(total, _FAR, np.int64)
        turns = np.arange(len(self.turn_thread))
        for kind, node, turn in (
            (THREAD, self.turn_thread, turns),
            (QUESTION, self.asks.b, self.asks.turn),
            (CONCEPT, self.said.b, self.said.turn),
            (CONCEPT, self.asked.b, self.asked.turn),
            (WAYPOINT, self.anchored.b, self.anchored.turn),
        ):
            at, day = self.base[kind] + node, self.turn_day[turn]
            np.maximum.at(self.day, at, day)
            np.minimum.at(began, at, np.where(day == NO_DAY, _FAR, day))
            np.minimum.at(self.first_turn, at, turn)
        self.began = np.where(began == _FAR, NO_DAY, began)
        self.node_in = self.first_turn < _FAR
        self.place = np.where(self.node_in, np.cumsum(self.node_in) - 1, -1)

    def _kinds(self) -> tuple[Nodes, Nodes, Nodes, Nodes]:
        return self.threads, self.questions, self.concepts, self.waypoints

    def _covers(self, said: Ints) -> tuple[Ints, Ints]:
        """Which of some numbers of thread and concept a question or waypoint has too, and which.

        A number comes once for each of these.
        """
        width = max(len(self.concepts.ids), 1)
        wanted, concepts = unique(said), marked(said % width, width)
        keys, holders = [], []
        for own, mentions, kind in (
            (self.asks, self.asked, QUESTION),
            (self.anchored, self.met, WAYPOINT),
        ):
            known = np.flatnonzero(concepts[mentions.b])
            thread, node = distinct(own.a, own.b)
            holder, concept = distinct(mentions.a[known], mentions.b[known])
            at, other = matches(node, holder)
            key = thread[at] * width + concept[other]
            found = member(key, wanted)
            keys.append(key[found])
            holders.append((self.base[kind] + node[at])[found])
        return np.concatenate(keys), np.concatenate(holders)

    def _own_mentions(self) -> tuple[Rows, Rows, tuple[Ints, Ints]]:
        """Mentions of a thread, and those hidden because a question or waypoint of it has them."""
        said = self.said.a * max(len(self.concepts.ids), 1) + self.said.b
        covers = self._covers(said)
        hidden = member(said, covers[0])
        return self.said.keep(~hidden), self.said.keep(hidden), covers

    def _lineages_of(self, nodes: Ints, turns: Ints, size: int) -> tuple[Ints, Ints]:
        """Per node: the smallest lineage that speaks of it, and how many do."""
        node, lineage = distinct(nodes, self.lineage_of_thread[self.turn_thread[turns]])
        count = np.bincount(node, minlength=size)
        least = np.full(size, _FAR, np.int64)
        np.minimum.at(least, node, lineage)
        return least, count

    def _number_lineages(self) -> None:
        inside = self.node_in[: len(self.roots)]
        names = {root for root, kept in zip(self.roots, inside, strict=True) if kept}
        self.lineages = tuple(sorted(names, key=str.encode))
        number = {root: at for at, root in enumerate(self.lineages)}
        self.lineage_of_thread = np.array([number.get(root, -1) for root in self.roots], np.int64)

    def _lineage(self) -> Ints:
        stops, size = self.anchored, len(self.waypoints.ids)
        questions, waypoints = (
            np.where(count > 1, SHARED_LINEAGE, least)
            for least, count in (self.asked_in, self._lineages_of(stops.b, stops.turn, size))
        )
        concepts = np.full(len(self.concepts.ids), CONCEPT_LINEAGE, np.int64)
        return np.concatenate((self.lineage_of_thread, questions, concepts, waypoints))

    def _frequencies(self) -> Ints:
        node = np.concatenate((self.said.b, self.asked.b))
        turn = np.concatenate((self.said.turn, self.asked.turn))
        _, count = self._lineages_of(node, turn, len(self.concepts.ids))
        return self._of_kind(CONCEPT, count, 0)

    def _of_kind(self, kind: int, values: Ints, other: int) -> Ints:
        """Values of the nodes of one kind, and one value for all other nodes."""
        parts = [np.full(len(nodes.ids), other, np.int64) for nodes in self._kinds()]
        parts[kind] = values
        return np.concatenate(parts)

    def _flags(self) -> Ints:
        visited, routes = self._routes()
        self.routes = routes
        hints = np.array([stop[3] is not None for stop in self.stops], np.bool_)
        flags = np.concatenate(
            (
                np.zeros(len(self.threads.ids), np.int64),
                OPEN * self.open + RESOLVED * self.resolved,
                GENERIC * self.generic + STOP * self.stopped + PLAIN * self.plain,
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
            visited[self.base[kind] + nodes.at(node)] = True
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
            refs=united(refs[rank] for rank in ranks),
            failed_refs=united(refs[rank] for rank in failed),
            merged_into=merged,
        )

    def _ref(self, turn: int) -> str:
        return ref_of(self.threads.ids[self.turn_thread[turn]], int(self.turn_number[turn]))

    def _assemble(
        self,
        parts: list[Part],
        arcs: list[NDArray[np.int64]],
        hidden: Rows,
        covers: tuple[Ints, Ints],
    ) -> GraphView:
        rows, loops, found = self._pairs(parts)
        pairs, bits, said, own = self._edges(*found)
        bits |= VOICED * marked(own[0][self.is_human[own[1]]], len(pairs)).astype(np.uint8)
        first = np.flatnonzero(np.diff(own[0], prepend=-1))
        turns = max(len(self.turn_thread), 1)
        if len(hidden.turn):
            aside = self._set_aside(hidden, covers, pairs) * turns + hidden.turn
            said = unique(np.concatenate((said, aside)))
        said_edge, said_turn = np.divmod(said, turns)
        u, v = np.divmod(pairs, max(int(self.node_in.sum()), 1))
        thread_of, number_of = self._turn_columns()
        kept = np.flatnonzero(self.node_in)
        least = self.first_turn[kept]
        flags, lineage, df = self._flags(), self._lineage(), self._frequencies()
        kinds = np.repeat(np.arange(4, dtype=np.int8), np.diff(self.base))
        return GraphView(
            ids=self._names(kept),
            kind=kinds[kept],
            lineage=lineage[kept].astype(np.int32),
            ref_thread=thread_of[least],
            ref_turn=number_of[least],
            day=self.day[kept].astype(np.int32),
            flags=flags[kept].astype(np.uint8),
            u=u.astype(np.int32),
            v=v.astype(np.int32),
            weight=np.bincount(own[0], minlength=len(pairs)).astype(np.int32),
            roles=bits,
            edge_ref_thread=thread_of[own[1][first]],
            edge_ref_turn=number_of[own[1][first]],
            arcs=self._arcs(arcs),
            threads=self._names(kept[kept < self.base[QUESTION]]),
            lineages=self.lineages,
            df=df[kept].astype(np.int32),
            began=self.began[kept].astype(np.int32),
            settled=self._of_kind(QUESTION, self.settled, NO_DAY)[kept].astype(np.int32),
            carried=self._of_kind(CONCEPT, self._carried(), 0)[kept].astype(np.int32),
            labels=self._labels(kept),
            journeys=self.routes,
            turn_thread=thread_of[said_turn],
            turn_number=number_of[said_turn],
            turn_edge=said_edge.astype(np.int32),
            collapsed_rows=rows - loops - len(pairs),
            self_loops=loops,
            undated=self.undated,
            dreamt_rows=self.dreamt,
        )

    def _names(self, nodes: Ints) -> tuple[str, ...]:
        """Keys of some nodes."""
        names = tuple(chain.from_iterable(kind.ids for kind in self._kinds()))
        return names if len(nodes) == len(names) else tuple(names[at] for at in nodes.tolist())

    def _carried(self) -> Ints:
        """Lineages that carry the name of each concept, whether or not they say it."""
        return carriers(
            self.labels, self.headings, (self.said.a, self.said.b), self.lineage_of_thread
        )

    def _labels(self, nodes: Ints) -> tuple[str, ...]:
        """What concepts among some nodes are called."""
        first, last = (int(np.searchsorted(nodes, self.base[kind])) for kind in (CONCEPT, WAYPOINT))
        told = (self.labels[at] for at in (nodes[first:last] - self.base[CONCEPT]).tolist())
        return ("",) * first + tuple(told) + ("",) * (len(nodes) - last)

    def _turn_columns(self) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Thread position and number of each turn in scope."""
        return self.place[self.turn_thread].astype(np.int32), self.turn_number.astype(np.int32)

    def _pairs(
        self, parts: list[Part]
    ) -> tuple[int, int, tuple[Ints, NDArray[np.uint8], NDArray[np.int32]]]:
        """Relation rows and self-loops counted; all rows turn by turn as pair, role, turn."""
        n = int(self.node_in.sum())
        pairs, roles, turns = [], [], []
        loops = count = 0
        for part in parts:
            a = self.place[self.base[part.kind_a] + part.rows.a]
            b = self.place[self.base[part.kind_b] + part.rows.b]
            kept = (a >= 0) & (b >= 0)
            count += runs(part.rows.row[kept])
            looped = kept & (a == b)
            loops += runs(part.rows.row[looped])
            kept &= ~looped
            pairs.append((np.minimum(a, b) * n + np.maximum(a, b))[kept])
            roles.append(np.broadcast_to(np.asarray(part.role, np.uint8), kept.shape)[kept])
            turns.append(part.rows.turn[kept].astype(np.int32))
        return count, loops, (np.concatenate(pairs), np.concatenate(roles), np.concatenate(turns))

    def _edges(
        self, pair: Ints, roles: NDArray[np.uint8], turns: NDArray[np.int32]
    ) -> tuple[Ints, NDArray[np.uint8], Ints, tuple[Ints, Ints]]:
        """Distinct pairs and their roles; distinct edge and turn as one number, and as two."""
        order = np.argsort(pair)
        pair = pair[order]
        first = np.flatnonzero(np.diff(pair, prepend=-1))
        bits: NDArray[np.uint8] = (
            np.bitwise_or.reduceat(roles[order], first) if len(first) else roles
        )
        edge = np.repeat(np.arange(len(first)), np.diff(np.append(first, len(pair))))
        said = unique(edge * max(len(self.turn_thread), 1) + turns[order])
        edges, kept = np.divmod(said, max(len(self.turn_thread), 1))
        return (
            pair[first].astype(np.int64, copy=False),
            bits,
            said.astype(np.int64, copy=False),
            (edges, kept),
        )

    def _set_aside(self, hidden: Rows, covers: tuple[Ints, Ints], pairs: Ints) -> Ints:
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
        found_once: NDArray[np.int32] = np.unique(columns, axis=0).astype(np.int32).reshape(-1, 3)
        return found_once
