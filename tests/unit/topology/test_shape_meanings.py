"""What each shape finds, on graphs small enough to see it."""

import sys
from dataclasses import replace

import numpy as np
import pytest

from graphstore.model.view import (
    CONTAINMENT,
    CONTRADICTION,
    DEPENDS_ON,
    EVOLVING,
    LINK,
    OPEN,
    PLAIN,
    RESOLVED,
    STOP,
    SUCCESSION,
    VISITED,
)
from topology.model import Limits
from topology.report import sentence
from topology.scout import scout
from topology.shapes import missing_middle


def find(made, shape, **limits):
    return scout(made.view(), [shape], Limits(**limits))


def by_role(seed, role):
    return [member.node_id for member in seed.members if member.role == role]


def figures(amounts):
    return {amount.name: amount.value for amount in amounts}


class TestWeakBridge:
    def test_the_only_link_of_two_groups(self, two_groups):
        seed = find(two_groups, "weak_bridge", k_min=4).seeds[0]
        assert (seed.kind, seed.level, seed.also_at) == ("order_1", 1, (0,))
        assert by_role(seed, "cut") == ["s:a0", "c:b-0"]
        assert figures(seed.sizes) == {"side_a": 6, "side_b": 6}
        assert seed.score == round(np.log2(6) + 1 / 2, 6)
        assert sentence(seed, {}) == ("s:a0 to c:b-0 is the only link between 6 nodes and 6 nodes.")
        assert set(by_role(seed, "side_a")) >= {"s:a0", "s:a1", "s:a2", "c:a-0"}

    def test_refs_speak_for_both_sides_from_different_threads(self, two_groups):
        seed = find(two_groups, "weak_bridge", k_min=4).seeds[0]
        sides = {ref.side: ref.ref for ref in seed.refs}
        assert sides["side_a"].startswith("thread:s:a")
        assert sides["side_b"].startswith("thread:s:b")
        assert sides["cut"] == "thread:s:a0#turn:3"

    def test_a_second_link_makes_a_pair_of_order_two(self, two_groups):
        two_groups.mention("q:a-1", "c:b-1", ("s:a1", 3))
        seed = find(two_groups, "weak_bridge", k_min=5).seeds[0]
        assert seed.kind == "order_2"
        assert by_role(seed, "cut") == ["s:a0", "c:b-0", "s:a1", "c:b-1"]
        assert seed.score == round(round(np.log2(6) + 1 / 3, 6) / 2, 6)
        assert {ref.side for ref in seed.refs} == {"side_a", "side_b", "edge_1", "edge_2"}

    def test_a_third_link_leaves_none(self, two_groups):
        two_groups.mention("q:a-1", "c:b-1", ("s:a1", 3))
        two_groups.mention("q:a-2", "c:b-2", ("s:a2", 3))
        for seed in find(two_groups, "weak_bridge").seeds:
            assert min(figures(seed.sizes).values()) < 6

    def test_a_thread_and_its_own_question_are_no_bridge(self, sketch):
        for at in range(4):
            sketch.ask("s:1", f"q:{at}", f"c:{at}", "c:all")
        sketch.ask("s:2", "q:x", "c:all")
        for seed in find(sketch, "weak_bridge", k_min=2).seeds:
            assert not {"s:1", "s:2"} & set(by_role(seed, "cut")) or seed.level == 1

    def test_one_thread_on_both_sides_is_no_evidence(self, sketch):
        for side in "ab":
            for at in range(3):
                sketch.ask("s:1", f"q:{side}-{at}", f"c:{side}-{at}", f"c:{side}-{(at + 1) % 3}")
        sketch.edges = [row for row in sketch.edges if row.a != "s:1"]
        sketch.mention("q:a-0", "c:b-0", ("s:1", 3))
        assert find(sketch, "weak_bridge", k_min=3, side_threads=1).seeds == ()
        del sketch.nodes["s:1"]  # a graph that has turns, but no threads
        scouted = find(sketch, "weak_bridge", k_min=3)
        assert scouted.seeds == ()
        assert scouted.rejected[0].reasons == ("weak_bridge_needs_both_sides",)

    def test_a_stop_word_over_both_sides_makes_it_soft(self, two_groups):
        for side in "ab":
            two_groups.mention(f"q:{side}-2", "c:thing", (f"s:{side}2", 3), STOP)
        seed = find(two_groups, "weak_bridge", k_min=4).seeds[0]
        assert seed.soft
        assert seed.hubs == ("c:thing",)
        assert sentence(seed, {}).endswith("(1 generic concept set aside)")


class TestCutPoint:
    def test_a_concept_that_alone_joins_three_groups(self, sketch):
        for side in "abc":
            for at in range(3):
                words = [f"c:{side}-{at}", f"c:{side}-{(at + 1) % 3}"]
                more = ["c:x"] if at < 2 else []
                sketch.ask(f"s:{side}{at}", f"q:{side}-{at}", *words, *more)
        seed = find(sketch, "cut_point", hub_df=9).seeds[0]
        assert by_role(seed, "cut") == ["c:x"]
        assert (seed.level, seed.also_at) == (1, (0,))
        assert figures(seed.numbers) == {"a": 6, "b": 6, "pieces": 3}
        assert {ref.side for ref in seed.refs} == {"cut", "side_a", "side_b", "piece_3"}
        assert sentence(seed, {"c:x": "the  word"}) == (
            'Without "the word", 6 nodes and 6 nodes are no longer connected.'
        )

    def test_pieces_without_a_thread_do_not_count_at_level_one(self, sketch):
        sketch.ask("s:1", "q:1", "c:a")
        sketch.ask("s:2", "q:2", "c:a")
        for at, word in enumerate(("c:b", "c:c", "c:d", "c:e")):
            sketch.node(word, df=2)
            sketch.link("c:a" if at == 0 else "c:b", word, turn=("s:1", 9))
        assert [s.level for s in find(sketch, "cut_point", k_min=2, level=1).seeds] == []

    @pytest.fixture
    def three_groups(self, sketch):
        """Two groups hang together at c:x by two threads each, a third one by one mention of it."""
        for side in "abc":
            for at in range(3):
                words = [f"c:{side}-{at}", f"c:{side}-{(at + 1) % 3}"]
                sketch.ask(f"s:{side}{at}", f"q:{side}-{at}", *words)
        for group, member in ("a0", "a1", "b0", "b1", "c0"):
            sketch.mention(f"q:{group}-{member}", "c:x", (f"s:{group}{member}", 3))
        return sketch

    def test_bridge_and_cut_point_that_share_an_end_name_each_other(self, three_groups):
        scouted = scout(three_groups.view(), ["cut_point", "weak_bridge"], Limits(hub_df=9))
        bridge = next(seed for seed in scouted.seeds if seed.shape == "weak_bridge")
        related = [seed for seed in scouted.seeds if seed.seed_id in bridge.related]
        assert [by_role(seed, "cut") for seed in related] == [["c:x"]]
        assert all(bridge.seed_id in seed.related for seed in related)

    def test_a_place_that_a_bridge_parts_is_told_as_bridge_alone(self, two_groups):
        alone = find(two_groups, "cut_point", k_min=4)
        both = scout(two_groups.view(), ["cut_point", "weak_bridge"], Limits(k_min=4))
        assert {seed.shape for seed in alone.seeds} == {"cut_point"}
        assert {seed.shape for seed in both.seeds} == {"weak_bridge"}
        assert {row.reasons for row in both.rejected} == {("same_place",)}

    def test_two_edges_that_meet_in_a_node_are_no_bridge(self, three_groups):
        three_groups.mention("q:c-1", "c:x", ("s:c1", 3))
        assert find(three_groups, "weak_bridge", hub_df=9).seeds == ()
        three_groups.mention("q:c-2", "c:a-0", ("s:c2", 3))
        three_groups.edges.pop(-2)
        (seed,) = find(three_groups, "weak_bridge", hub_df=9, k_min=6).seeds
        assert (seed.kind, len(set(by_role(seed, "cut")))) == ("order_2", 4)

    def test_a_common_word_ties_a_piece_only_where_a_human_says_it(self, three_groups):
        def cut_at_x():
            found = find(three_groups, "cut_point", hub_df=9).seeds
            return [seed for seed in found if by_role(seed, "cut") == ["c:x"]]

        three_groups.change("c:x", flags=PLAIN)
        assert len(cut_at_x()) == 1
        three_groups.edges = [
            replace(row, voiced=row.b != "c:x" or row.a[2] != "a") for row in three_groups.edges
        ]
        assert cut_at_x() == []
        three_groups.change("c:x", flags=0)  # a name means one thing, whoever says it
        assert len(cut_at_x()) == 1


class TestIsland:
    @pytest.fixture
    def record(self, sketch):
        for at in range(4):
            sketch.ask("s:main", f"q:main-{at}", "c:main", day=100)
        sketch.ask("s:far", "q:far-1", "c:far", day=10)
        sketch.ask("s:farther", "q:far-2", "c:far", day=10)
        return sketch

    def test_a_group_that_nothing_links(self, record):
        (seed,) = find(record, "island").seeds
        assert set(by_role(seed, "member")) == {
            *("s:far", "s:farther", "q:far-1", "q:far-2", "c:far")
        }
        assert seed.score == round(np.log2(3) / 2 * 1.25, 6)
        assert sentence(seed, {}).startswith("Nothing links these 2 questions in 2 threads")

    def test_a_visited_one_counts_less(self, record):
        record.thread("s:far", day=10, flags=VISITED)
        (seed,) = find(record, "island").seeds
        assert seed.score == round(np.log2(3) / 2, 6)

    def test_unknown_time_counts_half(self, record):
        record.nodes = {
            name: type(row)(row.id, row.kind, row.lineage, row.turns, None)
            for name, row in record.nodes.items()
        }
        (seed,) = find(record, "island").seeds
        assert seed.score == round(np.log2(3) * 0.5 * 1.25, 6)

    def test_one_kept_apart_by_a_stop_word_is_soft(self, record):
        record.mention("q:far-1", "c:code", ("s:far", 3), STOP)
        record.mention("q:main-1", "c:code", ("s:main", 3), STOP)
        (seed,) = find(record, "island").seeds
        assert (seed.soft, seed.hubs) == (True, ("c:code",))
        assert sentence(seed, {"c:code": "code"}).startswith('Only "code", too common to count,')
        assert seed.score == round(np.log2(3) / 2 * 1.25 / 2, 6)

    def test_one_thread_alone_is_none(self, sketch):
        for thread in ("s:main", "s:main", "s:else", "s:else"):
            sketch.ask(thread, f"q:{len(sketch.nodes)}", "c:main")
        sketch.ask("s:far", "q:far", "c:far", "c:farther")
        assert find(sketch, "island").seeds == ()
        assert len(find(sketch, "island", side_threads=1).seeds) == 1

    def test_a_shared_concept_joins_it(self, record):
        record.mention("q:far-1", "c:main", ("s:far", 3))
        assert find(record, "island").seeds == ()

    def test_two_nodes_or_no_question_are_none(self, record):
        record.thread("s:lone")
        record.mention("s:lone", "c:lone", ("s:lone", 1))
        record.thread("s:more")
        for word in ("c:m1", "c:m2"):
            record.mention("s:more", word, ("s:more", 1))
        assert len(find(record, "island").seeds) == 1


class TestCycle:
    def ring(self, sketch, count, arc):
        for at in range(count):
            sketch.ask(f"s:{at}", f"q:{at}", f"c:{at}", day=at * 7)
        for at in range(count):
            sketch.link(f"q:{at}", f"q:{(at + 1) % count}", arc)
        return sketch

    def test_an_inquiry_that_returns_along_its_arcs(self, sketch):
        (seed,) = find(self.ring(sketch, 4, EVOLVING), "cycle").seeds
        assert seed.kind == "directed"
        assert by_role(seed, "member") == ["s:0", "s:1", "s:2", "s:3"]
        assert seed.score == round(4 + 0.4 + 0.1 - 0.04, 6)
        assert sentence(seed, {}) == (
            "The inquiry comes back to s:0 after 4 threads; leaving out s:0 to s:1 opens the loop."
        )

    def test_a_route_that_comes_back_to_an_earlier_thread(self, sketch):
        for at in range(3):
            sketch.ask(f"s:{at}", f"q:{at}", f"c:{at}", day=at * 7)
        for at, thread in enumerate((0, 1, 2, 0)):
            sketch.node(f"w:{at}", f"s:{thread}", at * 7, turns=[(f"s:{thread}", 3)])
            sketch.link(f"s:{thread}", f"w:{at}", turn=(f"s:{thread}", 3), role=CONTAINMENT)
        for at in range(3):
            sketch.link(f"w:{at}", f"w:{at + 1}", SUCCESSION)
        (seed,) = find(sketch, "cycle").seeds
        assert (seed.kind, by_role(seed, "member")) == ("directed", ["s:0", "s:1", "s:2"])

    def test_a_loop_of_links_without_direction(self, sketch):
        (seed,) = find(self.ring(sketch, 3, None), "cycle").seeds
        assert (seed.kind, seed.score) == ("undirected", round(3 + 0.3 + 0.1 - 0.03, 6))
        assert {ref.side for ref in seed.refs} == {"member_1", "member_2", "member_3"}

    def test_threads_that_meet_two_by_two_say_over_what(self, sketch):
        for at, day in enumerate((0, 7, 14)):
            sketch.ask(f"s:{at}", f"q:{at}", f"c:{at}", f"c:{(at + 1) % 3}", day=day)
        (seed,) = find(sketch, "cycle").seeds
        assert sentence(seed, {"c:0": "tide", "c:1": "salt", "c:2": "film"}).startswith(
            "3 threads meet two by two, each time over something else: "
        )
        assert all(word in sentence(seed, {"c:0": "tide"}) for word in ("tide", "c:1", "c:2"))

    @pytest.fixture
    def meeting(self, sketch):
        """Three threads that meet two by two."""
        for at, day in enumerate((0, 7, 14)):
            sketch.ask(f"s:{at}", f"q:{at}", f"c:{at}", f"c:{(at + 1) % 3}", day=day)
        return sketch

    def test_a_link_that_an_assistant_names_once_goes_round_nowhere(self, meeting):
        assert len(find(meeting, "cycle").seeds) == 1
        at = next(n for n, row in enumerate(meeting.edges) if (row.a, row.b) == ("q:0", "c:1"))
        meeting.edges[at] = replace(meeting.edges[at], voiced=False)
        assert find(meeting, "cycle").seeds == ()
        meeting.edges.append(replace(meeting.edges[at], turns=(("s:0", 99),)))
        assert len(find(meeting, "cycle").seeds) == 1  # what two turns tell is told

    def test_a_common_word_goes_round_only_where_a_human_says_it(self, meeting):
        meeting.change("c:1", flags=PLAIN)
        assert len(find(meeting, "cycle").seeds) == 1
        meeting.edges = [
            replace(row, voiced=row.b != "c:1", turns=(*row.turns, ("s:0", 99)))
            for row in meeting.edges
        ]
        assert find(meeting, "cycle").seeds == ()
        meeting.change("c:1", flags=0)
        assert len(find(meeting, "cycle").seeds) == 1

    def test_over_common_words_alone_nothing_goes_round(self, meeting):
        for at in (0, 1):
            meeting.change(f"c:{at}", flags=PLAIN)
        assert len(find(meeting, "cycle").seeds) == 1
        meeting.change("c:2", flags=PLAIN)
        assert find(meeting, "cycle").seeds == ()

    def test_what_was_done_within_one_day_comes_back_to_nothing(self, meeting):
        for at in range(3):
            for name in (f"s:{at}", f"q:{at}"):
                meeting.change(name, day=7)
        assert find(meeting, "cycle").seeds == ()
        for name in ("s:2", "q:2"):
            meeting.change(name, day=8)
        assert len(find(meeting, "cycle").seeds) == 1

    def test_one_thing_under_two_names_is_no_second_meeting(self, meeting):
        meeting.change("c:0", label="trailer")
        meeting.change("c:1", label="session trailers")
        assert find(meeting, "cycle").seeds == ()
        meeting.change("c:1", label="session")
        assert len(find(meeting, "cycle").seeds) == 1

    def test_where_two_threads_are_linked_not_every_meeting_is_over_a_concept(self, sketch):
        for at, words in enumerate((("c:0", "c:1"), ("c:1", "c:2"), ("c:2",))):
            sketch.ask(f"s:{at}", f"q:{at}", *words, day=at * 7)
        sketch.link("q:0", "q:2")
        sketch.ask("s:9", "q:9", "c:0")
        (seed,) = find(sketch, "cycle").seeds
        assert len(by_role(seed, "member")) == 5
        assert sentence(seed, {}).startswith("The inquiry comes back to ")

    def test_what_is_told_more_often_goes_round_first(self, sketch):
        for ring, times in (("a", 1), ("b", 3)):
            for at in range(3):
                asked = [f"c:{ring}{at}", f"c:{ring}{(at + 1) % 3}"]
                sketch.ask(f"s:{ring}{at}", f"q:{ring}{at}", *asked, day=at * 7)
                for turn in range(4, 3 + times):
                    for word in asked:
                        sketch.mention(f"q:{ring}{at}", word, (f"s:{ring}{at}", turn))
        first, second = find(sketch, "cycle").seeds
        assert "s:b0" in by_role(first, "member")
        assert first.score > second.score

    def test_longer_than_the_limit_is_not_searched(self, sketch):
        assert find(self.ring(sketch, 7, EVOLVING), "cycle").seeds == ()
        assert len(find(sketch, "cycle", max_cycle=7).seeds) == 1

    def test_one_concept_that_all_mention_is_no_inquiry(self, sketch):
        self.ring(sketch, 3, None)
        for at in range(3):
            sketch.mention(f"q:{at}", "c:same", (f"s:{at}", 3))
        assert find(sketch, "cycle").seeds == ()

    def test_two_lineages_are_no_undirected_cycle(self, sketch):
        for thread in ("s:1", "s:2"):
            sketch.ask(thread, f"q:{thread[2:]}", "c:a", "c:b")
        assert find(sketch, "cycle").seeds == ()

    def test_a_resumed_thread_is_no_second_one(self, sketch):
        for at in range(3):
            sketch.thread(f"s:{at}", lineage="s:0")
            sketch.ask(f"s:{at}", f"q:{at}", f"c:{at}")
        for at in range(3):
            sketch.link(f"q:{at}", f"q:{(at + 1) % 3}", EVOLVING)
        assert find(sketch, "cycle").seeds == ()

    def test_dependencies_between_concepts_can_go_round(self, sketch):
        words = [sketch.node(f"c:{at}", df=2) for at in range(3)]
        for at in range(3):
            sketch.ask(f"s:{at}", f"q:{at}", words[at])
            turn = sketch.next_turn(f"s:{at}")
            sketch.link(words[at], words[(at + 1) % 3], DEPENDS_ON, turn)
        (seed,) = find(sketch, "cycle").seeds
        assert by_role(seed, "member") == words
        assert figures(seed.numbers)["t"] == 3

    def test_spent_work_is_said(self, sketch):
        self.ring(sketch, 4, EVOLVING)
        scouted = find(sketch, "cycle", cycle_work=0)
        assert scouted.seeds == ()
        assert {cut.what for cut in scouted.truncated} == {"directed arcs", "undirected edges"}

    def test_few_are_kept_per_part(self, sketch):
        for a in range(6):
            sketch.ask(f"s:{a}", f"q:{a}", f"c:{a}")
        for a in range(6):
            for b in range(6):
                if a != b:
                    sketch.link(f"q:{a}", f"q:{b}", EVOLVING)
        kept = find(sketch, "cycle", cycles_per_part=2).metrics[0].found
        assert kept < find(sketch, "cycle").metrics[0].found
        assert kept <= 4


class TestKnot:
    def knot(self, sketch, count, more=0):
        for at in range(count):
            sketch.ask(f"s:k{at}", f"q:k{at}", *(f"c:k{word}" for word in range(count)))
        for at in range(more):
            sketch.ask(f"s:m{at}", f"q:m{at}", f"c:m{at}")
            sketch.link(f"q:m{at}", f"q:m{at - 1}" if at else "q:k0")
        return sketch

    def test_a_group_where_everything_meets(self, sketch):
        (seed,) = find(self.knot(sketch, 5, more=40), "knot").seeds
        numbers = figures(seed.numbers)
        assert (numbers["n"], numbers["t"], numbers["k"], numbers["links"]) == (10, 5, 5, 5)
        assert (numbers["edges"], numbers["solid"]) == (25, 10)
        assert seed.score == round(5 * np.log2(10), 6)
        assert sentence(seed, {}).startswith("Each of 10 nodes in 5 threads has at least 5 links")

    def test_one_that_is_most_of_the_record_is_counted_only(self, sketch):
        scouted = find(self.knot(sketch, 5, more=12), "knot")
        assert scouted.seeds == ()
        assert scouted.truncated[0].what == "knot_too_large"

    def test_a_large_one_is_split_at_a_higher_core(self, sketch):
        self.knot(sketch, 5, more=30)
        for at in range(8):
            sketch.ask(f"s:l{at}", f"q:l{at}", *(f"c:l{(at + step) % 8}" for step in range(3)))
        sketch.link("q:l0", "q:k0")
        sketch.link("q:l4", "q:k1")
        (seed,) = find(sketch, "knot").seeds
        assert figures(seed.numbers)["n"] == 10
        scouted = find(sketch, "knot", raises=0)
        assert (scouted.seeds, scouted.truncated[0].what) == ((), "knot_too_large")

    def test_two_threads_are_no_knot_however_dense(self, sketch):
        words = [f"c:k{at}" for at in range(6)]
        for at in range(2):
            sketch.ask(f"s:k{at}", f"q:k{at}", *words)
        for at, word in enumerate(words):
            for other in words[:at]:
                sketch.link(word, other, turn=("s:k0", 3))
        for at in range(40):
            sketch.ask(f"s:m{at}", f"q:m{at}")
            sketch.link(f"q:m{at}", f"q:m{at - 1}" if at else "q:k0")
        scouted = find(sketch, "knot")
        assert (scouted.seeds, scouted.truncated) == ((), ())

    def test_a_round_of_four_threads_is_a_knot_of_arcs(self, sketch):
        for at in range(4):
            sketch.ask(f"s:{at}", f"q:{at}", f"c:{at}")
        for at in range(4):
            sketch.link(f"q:{at}", f"q:{(at + 1) % 4}", EVOLVING)
        (seed,) = find(sketch, "knot").seeds
        assert figures(seed.numbers)["links"] == 2

    def test_open_questions_that_hang_on_each_other(self, sketch):
        for at in range(3):
            sketch.ask(f"s:{at}", f"q:{at}", flags=OPEN)
        for at in range(3):
            sketch.link(f"q:{at}", f"q:{(at + 1) % 3}")
        (seed,) = find(sketch, "knot").seeds
        assert (seed.kind, seed.score) == ("obligation", round(3 * np.log2(3), 6))
        assert sentence(seed, {}).startswith("3 open obligations")
        assert {ref.side for ref in seed.refs} == {f"obligation_{at}" for at in (1, 2, 3)}

    def test_a_resolved_one_unties_it(self, sketch):
        for at in range(3):
            sketch.ask(f"s:{at}", f"q:{at}", flags=OPEN | (RESOLVED if at == 0 else 0))
        for at in range(3):
            sketch.link(f"q:{at}", f"q:{(at + 1) % 3}")
        assert find(sketch, "knot").seeds == ()

    def test_dependencies_count_as_obligations(self, sketch):
        for at in range(3):
            sketch.ask(f"s:{at}", f"q:{at}", f"c:{at}")
        for at in range(3):
            turn = sketch.next_turn(f"s:{at}")
            sketch.link(f"c:{at}", f"c:{(at + 1) % 3}", DEPENDS_ON, turn)
        (seed,) = find(sketch, "knot").seeds
        assert (seed.kind, figures(seed.numbers)["o"]) == ("obligation", 3)

    def test_an_obligation_without_a_turn_is_rejected(self, sketch):
        for at in range(3):
            sketch.ask(f"s:{at}", f"q:{at}", f"c:{at}")
        for at in range(3):
            sketch.link(f"c:{at}", f"c:{(at + 1) % 3}", DEPENDS_ON)
        sketch.edges = [
            row if row.arc is None else type(row)(row.a, row.b, row.role, arc=row.arc)
            for row in sketch.edges
        ]
        assert find(sketch, "knot").rejected[0].reasons == ("obligation_without_ref",)

    def open_ring(self, sketch, **first):
        for at in range(3):
            sketch.ask(f"s:{at}", f"q:{at}", flags=OPEN)
            sketch.change(f"q:{at}", began=100 + at)
        for at in range(3):
            sketch.link(f"q:{at}", f"q:{(at + 1) % 3}")
        sketch.change("q:0", **first)
        return find(sketch, "knot").seeds

    @pytest.mark.parametrize(("settled", "knots"), [(99, 1), (100, 0), (120, 0), (None, 0)])
    def test_what_was_resolved_before_the_first_obligation_unties_nothing(
        self, sketch, settled, knots
    ):
        assert len(self.open_ring(sketch, flags=RESOLVED | OPEN, settled=settled)) == knots

    def test_with_obligations_of_unknown_age_any_answer_unties(self, sketch):
        for at in range(3):
            sketch.ask(f"s:{at}", f"q:{at}", flags=OPEN | RESOLVED)
            sketch.change(f"q:{at}", settled=1)
        for at in range(3):
            sketch.link(f"q:{at}", f"q:{(at + 1) % 3}")
        assert find(sketch, "knot").seeds == ()

    def test_contradictions_tie_but_are_no_obligations(self, sketch):
        for at in range(4):
            sketch.ask(f"s:{at}", f"q:{at}", f"c:{at}")
        for at in range(3):
            turn = sketch.next_turn(f"s:{at}")
            sketch.link(f"c:{at}", f"c:{at + 1}", DEPENDS_ON, turn)
        assert find(sketch, "knot").seeds == ()
        sketch.link("c:3", "c:0", turn=("s:3", 9), role=LINK | CONTRADICTION)
        (seed,) = find(sketch, "knot").seeds
        assert (seed.kind, figures(seed.numbers)["o"]) == ("obligation", 3)

    def test_two_rounds_that_meet_in_one_question_are_also_one_knot(self, sketch):
        for at in range(5):
            sketch.ask(f"s:{at}", f"q:{at}", flags=OPEN if at != 2 else 0)
        for a, b in ((0, 1), (1, 2), (2, 0), (2, 3), (3, 4), (4, 2)):
            sketch.link(f"q:{a}", f"q:{b}", EVOLVING)
        seeds = [s for s in find(sketch, "knot").seeds if s.kind == "obligation"]
        assert [figures(s.numbers)["o"] for s in seeds] == [4]
        assert len(by_role(seeds[0], "member")) == 5


class TestMissingMiddle:
    @pytest.fixture
    def record(self, sketch):
        for at in range(2):
            self.meet(sketch, "l", at, "c:a")
            self.meet(sketch, "r", at, "c:z")
        return sketch

    def meet(self, sketch, side, at, end):
        """Two questions of one thread say an end and a middle."""
        for number in range(2):
            question = f"q:{side}{at}-{number}"
            sketch.ask(f"s:{side}{at}", question, end, f"c:m{at}")

    def seeds(self, made, **limits):
        scouted = find(made, "missing_middle", **limits)
        return {tuple(by_role(s, "side_a") + by_role(s, "side_b")): s for s in scouted.seeds}

    def test_two_concepts_that_meet_the_same_two(self, record):
        seed = self.seeds(record)["c:a", "c:z"]
        assert by_role(seed, "via") == ["c:m0", "c:m1"]
        assert seed.score == round(2 / np.log2(3), 6)
        assert sentence(seed, {}) == "c:a and c:z each meet c:m0 and c:m1; no thread is about both."
        legs = {ref.side for ref in seed.refs}
        assert legs >= {"leg_a_1", "leg_b_1", "leg_a_2", "leg_b_2"}

    def test_what_one_question_alone_says_of_both_is_a_coincidence(self, sketch):
        for at in range(2):
            sketch.ask(f"s:l{at}", f"q:l{at}", "c:a", f"c:m{at}")
            sketch.ask(f"s:r{at}", f"q:r{at}", "c:z", f"c:m{at}")
        assert self.seeds(sketch) == {}
        for at in range(2):
            for end, side in (("c:a", "l"), ("c:z", "r")):
                sketch.link(end, f"c:m{at}", turn=(f"s:{side}{at}", 3))
        assert ("c:a", "c:z") in self.seeds(sketch)

    def test_a_link_that_nobody_tells_makes_nothing_near(self, record):
        kept = record.edges
        record.edges = [replace(row, voiced=False) for row in kept]
        assert ("c:a", "c:z") not in self.seeds(record)

    def test_a_thing_under_two_names_is_no_gap(self, record):
        record.change("c:a", label="src/reef.py")
        record.change("c:z", label="reef")
        assert ("c:a", "c:z") not in self.seeds(record)
        record.change("c:z", label="tide")
        assert ("c:a", "c:z") in self.seeds(record)

    def test_middles_that_may_be_one_are_one(self, record):
        record.change("c:m0", label="drum")
        record.change("c:m1", label="winding drum")
        assert ("c:a", "c:z") not in self.seeds(record)
        self.meet(record, "l", 9, "c:a")
        self.meet(record, "r", 9, "c:z")
        assert ("c:a", "c:z") in self.seeds(record)

    def test_a_middle_that_names_an_end_is_none(self, record):
        record.change("c:a", label="drum")
        record.change("c:m1", label="winding drum")
        assert ("c:a", "c:z") not in self.seeds(record)

    def test_a_thread_that_holds_one_end_under_another_name_closes_it(self, record):
        record.ask("s:r0", "q:r0-9", "c:other")
        record.change("c:other", df=2, label="winding drums")
        record.change("c:a", label="drum")
        record.change("c:z", label="float line")
        assert ("c:a", "c:z") not in self.seeds(record)
        record.change("c:other", label="winding")
        assert ("c:a", "c:z") in self.seeds(record)

    def test_without_the_engine_no_knot_explains_a_pair(self, record, monkeypatch):
        monkeypatch.setitem(sys.modules, "igraph", None)
        assert ("c:a", "c:z") in self.seeds(record)

    def test_one_middle_is_not_enough(self, sketch):
        for number in range(2):
            sketch.ask("s:1", f"q:1-{number}", "c:a", "c:m")
            sketch.ask("s:2", f"q:2-{number}", "c:z", "c:m")
        sketch.ask("s:3", "q:3", "c:a")
        sketch.ask("s:4", "q:4", "c:z")
        assert self.seeds(sketch) == {}

    def test_a_thread_that_holds_both_closes_it(self, record):
        record.ask("s:l0", "q:other", "c:z")
        assert ("c:a", "c:z") not in self.seeds(record)

    def test_a_link_closes_it(self, record):
        record.link("c:a", "c:z", turn=("s:l0", 9))
        assert ("c:a", "c:z") not in self.seeds(record)

    def test_a_question_of_several_threads_speaks_for_each(self, record):
        record.node("q:shared", turns=[("s:l0", 21)])
        for thread in ("s:l0", "s:r1"):
            record.link(thread, "q:shared", turn=(thread, 21))
        record.mention("q:shared", "c:z", ("s:l0", 21))
        assert ("c:a", "c:z") not in self.seeds(record)

    def test_the_best_pairs_only_are_kept(self, record):
        for at in range(2, 6):
            self.meet(record, "l", at, "c:b")
            self.meet(record, "r", at, "c:y")
        assert list(self.seeds(record, pairs=1)) == [("c:b", "c:y")]

    def test_middles_beyond_the_cap_are_counted(self, record):
        scouted = find(record, "missing_middle", wedges=8)
        assert scouted.truncated[0].shape == "missing_middle"
        assert scouted.truncated[0].done < scouted.truncated[0].of

    def test_a_pair_inside_a_knot_is_left_to_the_knot(self, sketch):
        for at in range(6):
            words = [f"c:k{word}" for word in range(6) if (at + word) % 6 not in {0, 3}]
            sketch.ask(f"s:k{at}", f"q:k{at}", *words)
        for at in range(60):
            sketch.ask(f"s:x{at}", f"q:x{at}", f"c:x{at}")
            sketch.link(f"q:x{at}", f"q:x{at - 1}" if at else "q:k0")
        inside = self.seeds(sketch)
        knots = find(sketch, "knot").seeds
        assert knots
        members = set(by_role(knots[0], "member"))
        assert not [pair for pair in inside if set(pair) <= members]

    def test_pairs_found_in_small_steps_are_the_same(self, record, monkeypatch):
        for at in range(2, 6):
            self.meet(record, "l", at, "c:b")
            self.meet(record, "r", at, "c:y")
        at_once = self.seeds(record, pairs=1)
        monkeypatch.setattr(missing_middle, "ROWS_AT_ONCE", 1)
        assert self.seeds(record, pairs=1) == at_once
