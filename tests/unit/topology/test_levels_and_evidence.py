"""Levels, the turns that speak for them, and the second proof."""

import numpy as np
import pytest

from graphstore.model.view import LINK, NO_DAY, OPEN, STOP, EdgeRow
from topology import loops, separation
from topology import structure as structures
from topology.evidence import Finding, listed, seed
from topology.level import NO_REF, ref_keys, ref_parts
from topology.model import REF_LIMIT, Demand, Limits
from topology.structure import Separation, Structure, distinct


def structure(made, **limits):
    return Structure(made.view(), Limits(**limits))


def names(graph, level):
    return graph.node_ids(level, range(level.n))


class TestLevels:
    @pytest.fixture
    def record(self, sketch):
        sketch.thread("s:2", day=5, lineage="s:1")
        sketch.ask("s:1", "q:1", "c:x", "c:once", day=7, flags=OPEN)
        sketch.ask("s:2", "q:2", "c:x", day=9)
        sketch.ask("s:3", "q:3", "c:x")
        sketch.mention("q:3", "c:code", ("s:3", 3), STOP)
        sketch.mention("q:1", "c:code", ("s:1", 3), STOP)
        return sketch

    def test_generic_concepts_leave_level_zero(self, record):
        graph = structure(record)
        assert "c:code" not in names(graph, graph.level(0))
        assert "c:code" in names(graph, graph.whole(0))

    def test_a_lineage_becomes_one_node_with_its_newest_day_and_flags(self, record):
        graph = structure(record)
        level = graph.level(1)
        assert names(graph, level) == ("s:1", "s:3", "c:x")
        assert level.day.tolist()[:2] == [9, NO_DAY]
        assert level.flags.tolist() == [OPEN, 0, 0]
        assert level.df.tolist() == [1, 1, 2]
        assert names(graph, graph.whole(1)) == ("s:1", "s:3", "c:code", "c:x")

    def test_weights_of_level_one_count_distinct_turns_of_the_union(self, record):
        record.mention("q:1", "c:x", ("s:1", 3))
        record.mention("q:1", "c:x", ("s:1", 9))
        graph = structure(record)
        level = graph.level(1)
        edge = level.edge_between(0, 2)
        assert int(level.weight[edge]) == 3
        assert graph.ref(int(level.edge_ref[edge])) == "thread:s:1#turn:3"

    def test_weights_without_turns_are_added(self, sketch):
        sketch.node("c:x", df=2)
        for at in range(2):
            sketch.node(f"q:{at}", "s:1")
            sketch.edges.append(EdgeRow(f"q:{at}", "c:x", LINK, weight=2))
        level = structure(sketch).level(1)
        assert level.weight.tolist() == [4]

    def test_neighbours_and_edges_of_a_node(self, record):
        level = structure(record).level(1)
        assert level.neighbours(2).tolist() == [0, 1]
        assert level.edges_at(2).tolist() == [0, 1]
        assert level.edge_between(0, 1) == -1
        assert level.edge_between(1, 2) == 1

    def test_a_thread_outside_the_view_is_a_lineage_of_its_own(self, record):
        record.node("c:x", turns=[("s:gone", 1)])
        graph = structure(record)
        assert graph.lineage_of_ref("thread:s:gone#turn:1") < 0
        assert graph.lineage_of_ref("thread:s:2#turn:3") == 0

    def test_recency_is_relative_to_the_newest_day(self, record):
        graph = structure(record)
        assert graph.recency(9) == 1
        assert graph.recency(9 - 90) == 0.5
        assert graph.recency(NO_DAY) == 0.5


class TestEvidence:
    def test_keys_sort_by_thread_then_turn_and_missing_ones_come_last(self):
        keys = ref_keys(np.array([1, 0, -1], np.int32), np.array([2, 9, -1], np.int32))
        assert ref_parts(int(keys[0])) == (1, 2)
        assert np.argsort(keys).tolist() == [1, 0, 2]
        assert distinct(np.array([5, NO_REF, 3, 5])).tolist() == [5, 3]

    def test_a_concept_does_not_speak_for_its_side_by_a_turn_of_the_other(self, two_groups):
        two_groups.node("c:b-0", turns=[("s:a0", 3)])
        graph = structure(two_groups)
        level = graph.level(1)
        side = [at for at, name in enumerate(names(graph, level)) if ":b" in name]
        refs = [graph.ref(key) for key in graph.evidence(level, np.array(side, np.int32)).tolist()]
        assert all(ref.startswith("thread:s:b") for ref in refs)

    @pytest.mark.parametrize("threads", [3, 30, 60])
    def test_of_many_turns_the_first_are_told_as_many_as_a_seed_can_take(
        self, sketch, monkeypatch, threads
    ):
        for at in range(threads):
            for more in range(3):
                sketch.ask(f"s:{at:02d}", f"q:{at:02d}-{more}", "c:x", "c:y")
        graph = structure(sketch, hub_df=99)
        level = graph.level(0)
        nodes = np.flatnonzero(np.arange(level.n) % 7 > 0).astype(np.int32)
        monkeypatch.setattr(structures, "FEW", 10**6)
        monkeypatch.setattr(structures, "STEP", 1)
        some = graph.evidence(level, nodes).tolist()
        monkeypatch.setattr(structures, "STEP", 10**6)
        every = graph.evidence(level, nodes).tolist()
        monkeypatch.setattr(structures, "STEP", 1)
        monkeypatch.setattr(structures, "FEW", 0)
        assert graph.evidence(level, nodes).tolist() == every == sorted(set(every))
        assert some == every[: len(some)]
        assert len(some) == len(every) or len({key >> 32 for key in some}) >= REF_LIMIT
        assert len(some) < len(every) or threads < 60

    def test_listed_members_are_capped_and_those_given_come_first(self, sketch):
        for at in range(80):
            sketch.ask("s:1", f"q:{at:02d}", "c:x")
        graph = structure(sketch)
        level = graph.level(0)
        nodes = np.arange(level.n, dtype=np.int32)
        found = listed(graph, level, nodes, [5])
        assert len(found) == 50
        assert found[:2] == (graph.node_id(level, 5), "s:1")

    def a_seed(self, graph, demands, evidence):
        finding = Finding(
            shape="x",
            kind="y",
            level=0,
            score=1.0,
            sentence="",
            identity=("a",),
            members=(),
            numbers={"share": 1 / 3},
            demands=demands,
            evidence={side: np.array(keys, np.int64) for side, keys in evidence.items()},
        )
        return seed(graph, finding)

    @pytest.fixture
    def keyed(self, sketch):
        """Ten threads; ``key(t, n)`` is turn n of thread t."""
        for at in range(10):
            sketch.ask(f"s:{at}", f"q:{at}", "c:x")
        graph = structure(sketch)

        def key(thread, turn):
            return int(ref_keys(np.array([thread]), np.array([turn]))[0])

        return graph, key

    def test_demanded_sides_come_first_and_new_threads_before_known(self, keyed):
        graph, key = keyed
        made = self.a_seed(
            graph,
            (Demand(side=""), Demand(side="b"), Demand(side="a", refs=2, threads=2)),
            {"a": [key(1, 1), key(1, 3), key(2, 1)], "b": [key(1, 1), key(3, 1)], "c": [key(4, 1)]},
        )
        assert [(ref.side, ref.ref) for ref in made.refs[:3]] == [
            ("b", "thread:s:1#turn:1"),
            ("a", "thread:s:2#turn:1"),
            ("a", "thread:s:1#turn:1"),
        ]
        assert len(made.refs) == 6

    def test_refs_are_capped_at_twenty_four(self, keyed):
        graph, key = keyed
        keys = [key(thread, turn) for turn in range(1, 20) for thread in range(10)]
        made = self.a_seed(graph, (), {"a": keys})
        assert len(made.refs) == 24
        assert len({ref.ref.rpartition("#")[0] for ref in made.refs}) == 10

    def test_a_side_without_turns_stays_empty(self, keyed):
        made = self.a_seed(keyed[0], (Demand(side="a"),), {"a": []})
        assert made.refs == ()
        assert made.numbers[0].value == 0.333333

    def test_identity_ignores_score_and_numbers(self, keyed):
        graph, key = keyed
        one = self.a_seed(graph, (), {"a": [key(1, 1)]})
        other = self.a_seed(graph, (Demand(side="a"),), {"a": [key(2, 1)]})
        assert one.seed_id == other.seed_id


class TestSecondProof:
    def test_a_true_cut_holds_and_a_false_one_does_not(self, two_groups):
        graph = structure(two_groups)
        level = graph.level(1)
        at = {name: node for node, name in enumerate(names(graph, level))}
        ends = (at["s:a0"], at["c:b-0"])
        true = Separation(1, edges=(ends,), pieces=((ends[0], 6),), outside=ends[1])
        assert separation.holds(graph, true)
        small = Separation(1, edges=(ends,), pieces=((ends[0], 5),), outside=ends[1])
        other = Separation(1, edges=(ends,), pieces=((ends[0], 6),), outside=at["s:a1"])
        whole = Separation(1, pieces=((ends[0], 6),), outside=ends[1])
        assert not any(separation.holds(graph, cut) for cut in (small, other, whole))

    def test_stop_words_that_join_are_named_widest_first(self, two_groups):
        for word, threads in {"c:two": "a1 b1", "c:three": "a1 b1 b2", "c:one": "a1 a2"}.items():
            for thread in threads.split():
                two_groups.mention(f"q:{thread[0]}-{thread[1]}", word, (f"s:{thread}", 3), STOP)
        graph = structure(two_groups)
        level = graph.level(1)
        at = {name: node for node, name in enumerate(names(graph, level))}
        ends = (at["s:a0"], at["c:b-0"])
        cut = Separation(1, edges=(ends,), pieces=((ends[0], 6),), outside=ends[1])
        assert separation.joining_hubs(graph, cut) == ("c:three", "c:two")

    def test_stop_words_that_meet_only_each_other_are_named_too(self, two_groups):
        two_groups.mention("q:a-1", "c:here", ("s:a1", 3), STOP)
        two_groups.mention("q:b-1", "c:there", ("s:b1", 3), STOP)
        two_groups.link("c:here", "c:there", turn=("s:a1", 3))
        graph = structure(two_groups)
        level = graph.level(0)
        at = {name: node for node, name in enumerate(names(graph, level))}
        ends = (at["q:a-0"], at["c:b-0"])
        cut = Separation(0, edges=(ends,), pieces=((ends[0], 9),), outside=ends[1])
        assert separation.joining_hubs(graph, cut) == ("c:here",)

    def test_stop_words_on_one_side_join_nothing(self, two_groups):
        two_groups.mention("q:a-1", "c:here", ("s:a1", 3), STOP)
        graph = structure(two_groups)
        cut = Separation(1, edges=((0, 6),), pieces=((0, 6),), outside=3)
        level = graph.level(1)
        at = {name: node for node, name in enumerate(names(graph, level))}
        ends = (at["s:a0"], at["c:b-0"])
        cut = Separation(1, edges=(ends,), pieces=((ends[0], 6),), outside=ends[1])
        assert separation.joining_hubs(graph, cut) is None


class TestLoops:
    RING = ((1, 5), (0, 2), (1, 3), (2, 4), (3, 5), (0, 4))

    def test_shortest_way_round(self):
        found = loops.shortest_cycle(self.RING, (0, 1), 6, loops.Budget(100))
        assert sorted(found or ()) == [0, 1, 2, 3, 4, 5]
        assert loops.shortest_cycle(self.RING, (0, 1), 5, loops.Budget(100)) is None

    def test_a_bridge_lies_on_no_cycle(self):
        rows = ((1,), (0, 2), (1,))
        assert loops.shortest_cycle(rows, (0, 1), 8, loops.Budget(100)) is None

    def test_directed_way_keeps_to_the_arcs(self):
        rows = ((1,), (2,), (0,), (0,))
        assert loops.shortest_path(rows, 1, 0, 5, loops.Budget(100)) == (1, 2, 0)
        assert loops.shortest_path(rows, 1, 3, 5, loops.Budget(100)) is None
        assert loops.shortest_path(rows, 1, 0, 1, loops.Budget(100)) is None

    def test_spent_budget_ends_the_search(self):
        assert loops.shortest_cycle(self.RING, (0, 1), 6, loops.Budget(2)) is None
        assert loops.shortest_path(self.RING, 0, 3, 6, loops.Budget(2)) is None

    @pytest.mark.parametrize("nodes", [(3, 1, 2), (1, 2, 3), (2, 3, 1)])
    def test_rotation_starts_at_the_smallest(self, nodes):
        assert loops.canonical_rotation(nodes, directed=True) == (1, 2, 3)
        assert loops.canonical_rotation(nodes[::-1], directed=False) == (1, 2, 3)
        assert loops.canonical_rotation(nodes[::-1], directed=True) == (1, 3, 2)
