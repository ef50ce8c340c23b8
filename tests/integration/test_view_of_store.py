"""The view of a store equals a slow reading of its rows, whatever was committed."""

import tempfile
from collections import defaultdict
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from graphstore.ids import journey_id
from graphstore.model.conversation import Role, Taint
from graphstore.model.hubs import fold, stop_list
from graphstore.model.hypothesis import Resonates
from graphstore.model.knowledge import (
    Anchored,
    Answers,
    Asks,
    Cites,
    Concept,
    HasTurn,
    Journey,
    JourneyStatus,
    Links,
    LinkType,
    Mentions,
    Passes,
    Question,
    Relates,
    SourceRefNode,
    ThreadNode,
    Waypoint,
)
from graphstore.model.record import JourneyRecord, Stop
from graphstore.model.refs import SourceRefId, parse_ref
from graphstore.model.view import (
    CAUSES,
    CONCEPT,
    CONTAINMENT,
    CONTRADICTION,
    DEPENDS_ON,
    EVOLVING,
    GENERIC,
    LINK,
    MENTION,
    OPEN,
    PLAIN,
    QUESTION,
    RESOLVED,
    STOP,
    SUCCESSION,
    THREAD,
    VISITED,
    WAYPOINT,
    EdgeRow,
    NodeRow,
    Route,
    from_edges,
    view_hash,
)
from graphstore.store import open_store
from graphstore.view import Scope, view
from tests.fake_derive import (
    NOW,
    START,
    FakeDerive,
    a_cycle_record,
    a_hypothesis,
    a_thread_record,
    a_turn,
    child_of,
    refs_of,
)

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
LINK_TYPES = (LinkType.RELATED, LinkType.EVOLVING, LinkType.RECURRING)
EDGE_TYPES = ("co_occurs", "causes", "depends_on", "contradicts")


@dataclass(frozen=True)
class LinkingDerive(FakeDerive):
    """As the small derivation, but links say from which turns, and have every type."""

    version: str = "linking/1"

    def link(self, left, right, cosine):
        found = super().link(left, right, cosine)
        kind = LINK_TYPES[sum(map(ord, left.question.question_id)) % 3]
        return found and found.replace(link_type=kind)

    def facts(self, thread, epoch):
        found = super().facts(thread, epoch)
        pairs: dict[tuple[tuple[str, ...], str], list[str]] = {}
        for turn in thread.clean():
            ref = thread.ref(turn.number)
            named = sorted(edge.dst for edge in found.mentions if edge.src == ref)
            for n, pair in enumerate(combinations(named, 2)):
                pairs.setdefault((pair, EDGE_TYPES[n % 4]), []).append(ref)
        return found.replace(
            company=(),
            told=tuple(
                Relates(
                    src_table="Concept",
                    src=pair[0],
                    dst_table="Concept",
                    dst=pair[1],
                    source_refs=tuple(sorted(refs)),
                    weight=float(len(refs)),
                    edge_type=kind,
                    why="",
                )
                for (pair, kind), refs in sorted(pairs.items())
                if len(refs) > 1
            ),
        )


WORDS = ("lamp", "wick", "reef", "tide", "fog", "same")
SENTENCES = st.lists(st.sampled_from(WORDS), min_size=1, max_size=3).map(" ".join)


@st.composite
def threads(draw, native):
    turns, path = [], []
    for number in range(1, draw(st.integers(1, 5)) + 1):
        role = draw(st.sampled_from((Role.HUMAN, Role.HUMAN, Role.ASSISTANT, Role.OTHER)))
        taint = Taint(role.value)
        if role is Role.ASSISTANT and draw(st.integers(0, 4)) == 0:
            taint = Taint.WEB
        text = draw(SENTENCES) + draw(st.sampled_from(("", "?", "?", " thanks")))
        at = draw(st.sampled_from((None, START, START + timedelta(days=3))))
        turns.append(a_turn(number, text, role, taint=taint, at=at))
        if draw(st.integers(0, 5)):
            path.append(number)
    links: tuple[Any, ...] = ()
    if native == "c" and draw(st.booleans()):
        links = child_of("a", 1, draw(st.sampled_from(("forked_from", "subagent_of"))))
    targets = tuple(f"test:{name}" for name in draw(st.sets(st.sampled_from("abc"))))
    return a_thread_record(native).replace(
        turns=tuple(turns), path=tuple(path), lineage=links, citations=tuple(sorted(targets))
    )


@st.composite
def stores(draw):
    records = [draw(threads(native)) for native in "abcd"[: draw(st.integers(1, 4))]]
    held = [ref for r in records for ref in refs_of(r.native_id, *(t.number for t in r.turns))]
    cut = [ref for ref in held if not (ref.startswith("thread:test:c#turn:1"))]
    stops = [
        Stop(
            seq=n,
            moment="there",
            refs=(draw(st.sampled_from(cut)),),
            labels=draw(st.sampled_from(((), ("rejected_route",)))),
            frontier_hint=draw(st.sampled_from((None, "next"))),
        )
        for n in range(1, draw(st.integers(0, 3)) + 1)
        if cut
    ]
    journey = JourneyRecord(
        journey_id=journey_id("why does the lamp go out", held[0]),
        path_label="lamp",
        core_inquiry="why does the lamp go out",
        status=JourneyStatus.TRAVELING,
        stops=tuple(stops),
        reason="created",
    )
    return (*records, *((journey,) if stops else ()))


@st.composite
def scopes(draw):
    moments = st.sampled_from((None, START, START + timedelta(days=1)))
    names = draw(st.sampled_from(((), (), ("test:a", "test:b"))))
    return Scope(since=draw(moments), until=draw(moments), threads=names)


def key(ref):
    parsed = parse_ref(ref)
    assert isinstance(parsed, SourceRefId)
    return parsed.thread_id, parsed.turn


class Slow:
    """The same view, row by row."""

    def __init__(self, store, scope):
        families: tuple[Any, ...] = (HasTurn, Asks, Answers, Mentions, Links)
        more: tuple[Any, ...] = (Relates, Passes, Anchored, Cites)
        self.edges: dict[Any, Any] = {cls: store.edges(cls) for cls in (*families, *more)}
        self.nodes = {
            cls: {row.key: row for row in store.nodes(cls)}
            for cls in (ThreadNode, SourceRefNode, Question, Concept, Waypoint, Journey)
        }
        self.turns = {
            key(ref): turn
            for ref, turn in self.nodes[SourceRefNode].items()
            if self.allowed(turn, scope)
        }
        self.node_turns = defaultdict(set)
        self.rows = []
        self.read()

    def allowed(self, turn, scope):
        inside = turn.at is None or (
            (scope.since is None or turn.at >= scope.since)
            and (scope.until is None or turn.at < scope.until)
        )
        named = not scope.threads or turn.thread_id in scope.threads
        return turn.taint in ("human", "assistant") and not turn.alternative and inside and named

    def root(self, thread):
        return self.nodes[ThreadNode][thread].lineage_root

    def kept(self, edge):
        return tuple(key(ref) for ref in edge.source_refs if key(ref) in self.turns)

    def lineages(self, node):
        return {self.root(thread) for thread, _ in self.node_turns[node]}

    def read(self):
        for turn in self.turns:
            self.node_turns[turn[0]].add(turn)
        asks = [(key(e.src), e.dst) for e in self.edges[Asks] if key(e.src) in self.turns]
        for turn, question in asks:
            self.node_turns[question].add(turn)
        said, asked = [], []
        for edge in self.edges[Mentions]:
            if edge.src_table == "SourceRef" and key(edge.src) in self.turns:
                said.append((key(edge.src), edge.dst))
            elif edge.src_table == "Question" and self.node_turns[edge.src]:
                asked += [(edge.src, edge.dst, turn) for turn in self.kept(edge)]
        for turn, concept in said:
            self.node_turns[concept].add(turn)
        for _, concept, turn in asked:
            self.node_turns[concept].add(turn)
        anchored = [
            (e.src, key(e.dst))
            for e in self.edges[Anchored]
            if e.src_table == "Waypoint" and key(e.dst) in self.turns
        ]
        for waypoint, turn in anchored:
            self.node_turns[waypoint].add(turn)
        met = [(w, c, turn) for w, turn in anchored for other, c in said if other == turn]
        self.said, self.anchored = said, anchored
        self.asks(asks)
        self.rows += [EdgeRow(turn[0], w, CONTAINMENT, (turn,)) for w, turn in anchored]
        by_pair = defaultdict(set)
        for question, concept, turn in asked:
            by_pair[question, concept].add(turn)
        self.rows += [EdgeRow(q, c, MENTION, tuple(found)) for (q, c), found in by_pair.items()]
        self.rows += [EdgeRow(w, c, MENTION, (turn,)) for w, c, turn in met]
        holders = {(turn[0], c) for turn, q in asks for q2, c, _ in asked if q == q2}
        holders |= {(turn[0], c) for w, turn in anchored for w2, c, _ in met if w == w2}
        self.rows += [
            EdgeRow(turn[0], c, MENTION, (turn,)) for turn, c in said if (turn[0], c) not in holders
        ]
        self.links()

    def asks(self, asks):
        for turn, question in asks:
            role = LINK if len(self.lineages(question)) > 1 else CONTAINMENT
            self.rows.append(EdgeRow(turn[0], question, role, (turn,)))

    def links(self):
        arcs = {"causes": CAUSES, "depends_on": DEPENDS_ON}
        far = datetime(9999, 1, 1, tzinfo=UTC)
        for edge in (
            *self.edges[Links],
            *self.edges[Relates],
            *self.edges[Passes],
            *self.edges[Cites],
        ):
            a, b, turns = edge.src, edge.dst, self.kept(edge)
            if not turns or edge.src_table == "Journey":
                continue
            arc = SUCCESSION if isinstance(edge, Passes) else None
            if isinstance(edge, Relates):
                arc = arcs.get(edge.edge_type)
            if isinstance(edge, Links) and edge.link_type is LinkType.EVOLVING:
                arc = EVOLVING
                seen = [self.nodes[Question][name].first_seen or far for name in (a, b)]
                a, b = (b, a) if seen[0] > seen[1] else (a, b)
            if self.node_turns[a] and self.node_turns[b]:
                against = isinstance(edge, Relates) and edge.edge_type == "contradicts"
                role = LINK | CONTRADICTION if against else LINK
                self.rows.append(EdgeRow(a, b, role, turns, arc=arc))

    def flag(self, name, kind):
        flags = 0
        touched = {e.dst for e in self.edges[Anchored] if e.src_table == "Journey"}
        touched |= {w for w, _ in self.anchored} | {turn[0] for _, turn in self.anchored}
        if name in touched:
            flags |= VISITED
        if kind == QUESTION:
            answers = [e for e in self.edges[Answers] if e.dst == name and key(e.src) in self.turns]
            flags |= OPEN * (self.nodes[Question][name].status == "open")
            flags |= RESOLVED * any(e.kind == "resolved" for e in answers)
        if kind == CONCEPT:
            concept = self.nodes[Concept][name]
            flags |= GENERIC * concept.generic | STOP * (fold(concept.label) in stop_list())
            flags |= PLAIN * (concept.kind == "term" and concept.label.isalpha())
        if kind == WAYPOINT:
            flags |= OPEN * (self.nodes[Waypoint][name].frontier_hint is not None)
        return flags

    def view(self):
        rows = []
        for kind, cls in (
            (THREAD, ThreadNode),
            (QUESTION, Question),
            (CONCEPT, Concept),
            (WAYPOINT, Waypoint),
        ):
            for name in self.nodes[cls]:
                turns = self.node_turns[name]
                if turns:
                    rows.append(self.node(name, kind, turns))
        edges = [replace(row, voiced=any(map(self.is_human, row.turns))) for row in self.rows]
        return from_edges(rows, edges, self.routes(rows))

    def is_human(self, turn):
        return self.turns[turn].taint == "human"

    def node(self, name, kind, turns):
        roots = self.lineages(name)
        days = [(self.turns[t].at - EPOCH).days for t in turns if self.turns[t].at is not None]
        return NodeRow(
            name,
            kind,
            min(roots) if len(roots) == 1 and kind != CONCEPT else None,
            tuple(turns),
            max(days, default=None),
            self.flag(name, kind),
            len(roots) if kind == CONCEPT else None,
            min(days, default=None),
            self.settled(name) if kind == QUESTION else None,
            label=self.nodes[Concept][name].label if kind == CONCEPT else "",
        )

    def settled(self, name):
        found = [
            self.turns[key(e.src)].at
            for e in self.edges[Answers]
            if e.dst == name and e.kind == "resolved" and key(e.src) in self.turns
        ]
        return max(((at - EPOCH).days for at in found if at is not None), default=None)

    def routes(self, rows):
        order = sorted(rows, key=lambda row: (row.kind, row.id.encode()))
        place = {row.id: at for at, row in enumerate(order)}
        found = []
        for name, journey in sorted(self.nodes[Journey].items()):
            stops = [w for w in self.nodes[Waypoint].values() if w.journey_id == name]
            stops = sorted((w for w in stops if w.key in place), key=lambda w: w.seq)
            refs = {w: f"thread:{t}#turn:{n}" for w, (t, n) in self.anchored}
            failed = [w for w in stops if "rejected_route" in w.labels]
            if stops:
                found.append(
                    Route(
                        name,
                        tuple(place[w.key] for w in stops),
                        tuple(sorted({refs[w.key] for w in stops})),
                        tuple(sorted({refs[w.key] for w in failed})),
                        journey.merged_into,
                    )
                )
        return tuple(found)


ARRAYS = (
    *("kind", "lineage", "ref_thread", "ref_turn", "day", "flags", "u", "v", "weight", "roles"),
    *("edge_ref_thread", "edge_ref_turn", "arcs", "df", "began", "settled", "carried"),
)
SAME = ("ids", "labels", "threads", "lineages", "journeys", "self_loops", "collapsed_rows")


def united(found):
    """Distinct turns of each lineage and concept, once threads are drawn together."""
    turns = defaultdict(set)
    for edge, thread, number in zip(
        found.turn_edge, found.turn_thread, found.turn_number, strict=True
    ):
        ends = (found.u[edge], found.v[edge])
        concepts = [at for at in ends if found.kind[at] == CONCEPT]
        if len(concepts) == 1:
            pair = int(found.lineage[thread]), found.ids[concepts[0]]
            turns[pair].add((int(thread), int(number)))
    return turns


@pytest.fixture(scope="module")
def engine_name(request):
    return request.config.getoption("--engine")


@pytest.mark.slow
@settings(
    max_examples=15,
    # each example opens a store: shrinking would take minutes
    phases=[Phase.explicit, Phase.reuse, Phase.generate],
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(records=stores(), scope=scopes())
def test_equals_a_slow_reading_of_the_rows(engine_name, records, scope):
    with (
        tempfile.TemporaryDirectory() as folder,
        open_store(Path(folder), LinkingDerive(), engine=engine_name) as store,
    ):
        with store.deferred():
            for record in records:
                store.commit(record, NOW)
            store.commit(LinkingDerive().epoch(store.threads(), store.roots()), NOW)
        slow = Slow(store, scope)
        expected, found = slow.view(), store.view(scope)
    for name in SAME:
        assert getattr(found, name) == getattr(expected, name), name
    for name in ARRAYS:
        assert np.array_equal(getattr(found, name), getattr(expected, name)), name
        assert getattr(found, name).dtype == getattr(expected, name).dtype, name
    assert found.undated == sum(turn.at is None for turn in slow.turns.values())
    wanted = defaultdict(set)
    place = {name: at for at, name in enumerate(found.threads)}
    number = {name: at for at, name in enumerate(found.lineages)}
    for turn, concept in slow.said:
        wanted[number[slow.root(turn[0])], concept].add((place[turn[0]], turn[1]))
    drawn = united(found)
    assert all(wanted[pair] <= drawn[pair] for pair in wanted)


def a_small_store(folder, engine_name):
    store = open_store(Path(folder), FakeDerive(), engine=engine_name)
    with store.deferred():
        store.commit(a_thread_record("a", "lamp wick?", "reef tide"), NOW)
        store.commit(a_thread_record("b", "lamp wick?", "reef fog thanks"), NOW)
    return store


def test_an_empty_store_gives_an_empty_view(tmp_path, engine_name):
    with open_store(tmp_path / "s", FakeDerive(), engine=engine_name) as store:
        found = store.view()
    assert (found.ids, len(found.u), found.threads) == ((), 0, ())
    assert view_hash(found).startswith("b2:")


def test_the_same_store_gives_the_same_hash_and_a_scope_another(tmp_path, engine_name):
    with a_small_store(tmp_path / "s", engine_name) as store:
        whole, again = view_hash(store.view()), view_hash(store.view())
        narrow = view_hash(store.view(Scope(threads=("test:a",))))
        store.rebuild(NOW)
        rebuilt = view_hash(store.view())
    assert whole == again == rebuilt != narrow


def test_a_label_narrows_to_threads_that_carry_it(tmp_path, engine_name):
    with a_small_store(tmp_path / "s", engine_name) as store:
        assert store.view(Scope(labels=("technical_work",))).ids == ()


def test_lineages_that_carry_a_name_are_counted_whether_or_not_they_say_it(tmp_path, engine_name):
    with open_store(tmp_path / "s", FakeDerive(), engine=engine_name) as store:
        with store.deferred():
            for name in "abcdef":
                said = "lamp wick?" if name == "a" else "reef tide?"
                store.commit(a_thread_record(name, said, project="~/works/lamp"), NOW)
        found = store.view()
    carried = zip(found.labels, found.carried.tolist(), strict=True)
    assert [(label, count) for label, count in carried if count] == [("lamp", 6)]


def test_an_edge_that_ends_nowhere_is_an_error(tmp_path, engine_name):
    from graphstore.errors import StoreError
    from graphstore.model.view import GraphView

    class Gappy:
        """Answers as the engine does, but one node has vanished."""

        def __init__(self, statement, table):
            self.statement, self.table = statement, table

        def arrow(self, cypher, **parameters):
            assert not parameters
            found = self.statement.arrow(cypher)
            return found.slice(0, found.num_rows - 1) if f"(n:`{self.table}`)" in cypher else found

    with (
        a_small_store(tmp_path / "s", engine_name) as store,
        store._space.graph.reader() as statement,  # noqa: SLF001 - the seam below the store
    ):
        assert isinstance(view(statement, Scope()), GraphView)
        for table in ("Question", "SourceRef"):
            with pytest.raises(StoreError):
                view(Gappy(statement, table), Scope())


def test_a_dreamt_relation_in_the_view_is_counted_and_stops_the_scout(
    tmp_path, engine_name, monkeypatch
):
    from graphstore import reading
    from topology.model import Limits
    from topology.report import report
    from topology.scout import scout

    with a_small_store(tmp_path / "s", engine_name) as store:
        store.commit(a_thread_record("c", "reef fog?", "tide"), NOW)
        one, other = sorted(question.question_id for question in store.nodes(Question))
        store.commit(a_cycle_record(a_hypothesis(Resonates, one, other)), NOW)
        assert len(store.edges(Resonates)) == 1
        assert store.view().dreamt_rows == 0
        honest = reading.Reading._read_relations  # noqa: SLF001 - the mistake is planted in it

        def mistaken(self):
            honest(self)
            self._pair("RESONATES", "Question", "Question")

        monkeypatch.setattr(reading.Reading, "_read_relations", mistaken)
        view_with_dreams = store.view()
    assert view_with_dreams.dreamt_rows == 1
    found = report(scout(view_with_dreams, None, Limits()), {})
    assert [line.name for line in found.red_lines if line.count] == ["dream_in_view"]
    assert (found.ok, found.seeds) == (False, ())
