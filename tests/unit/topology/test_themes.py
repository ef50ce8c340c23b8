"""Communities: two algorithms, how far they agree, and what is said of places where they meet."""
# ruff: noqa: S311 - seeded graphs, not secrets

import random
from dataclasses import replace
from itertools import combinations

import igraph
import numpy as np
import pytest

import topology
from graphstore.model.view import (
    CONCEPT,
    CONTAINMENT,
    LINK,
    MENTION,
    PLAIN,
    QUESTION,
    THREAD,
    EdgeRow,
    NodeRow,
    from_edges,
)
from topology import engine, meetings, themes
from topology.cuts import numbered_by_first
from topology.model import Limits
from topology.report import report, to_json, to_table
from topology.structure import Structure

SMALL = Limits(s_min=5)


class Topics:
    """Topics of threads that share a vocabulary; bridges are mentions across topics."""

    def __init__(self, topics=2, threads=5, words=6):
        self.nodes: dict[str, NodeRow] = {}
        self.edges: list[EdgeRow] = []
        for topic in range(topics):
            for at in range(threads):
                here = [f"c:{topic}-{word}" for word in range(words) if word % threads != at]
                self.ask(f"s:{topic}-{at}", here)

    def ask(self, thread, concepts):
        count = sum(row.id.startswith(f"q:{thread[2:]}-") for row in self.nodes.values())
        turn, question = (thread, count + 2), f"q:{thread[2:]}-{count}"
        self.nodes.setdefault(thread, NodeRow(thread, THREAD, thread, ((thread, 1),), 10))
        self.nodes[question] = NodeRow(question, QUESTION, thread, (turn,), 10)
        self.edges.append(EdgeRow(thread, question, CONTAINMENT, (turn,)))
        for concept in concepts:
            self.nodes.setdefault(concept, NodeRow(concept, CONCEPT, None, (turn,)))
            self.edges.append(EdgeRow(question, concept, MENTION, (turn,)))

    def view(self):
        return from_edges(self.nodes.values(), self.edges)

    def scout(self, shape, limits=SMALL):
        found = topology.scout(self.view(), [shape], limits)
        return [seed for seed in found.seeds if seed.level == 2], found


def random_partitions(count):
    for number in range(count):
        rng = random.Random(number)
        n = rng.randint(2, 30)
        yield [
            np.array([rng.randrange(rng.randint(1, 6)) for _ in range(n)], np.int32)
            for _ in range(2)
        ]


def test_agreement_is_that_of_another_implementation():
    compared = 0
    for one, other in random_partitions(200):
        counts = themes.contingency(one, other)
        names = [numbered_by_first(labels).tolist() for labels in (one, other)]
        ari = igraph.compare_communities(*names, method="adjusted_rand")
        if np.isnan(ari):  # one community each, or all alone: left open there
            continue
        compared += 1
        nmi = igraph.compare_communities(*names, method="nmi")
        assert themes.rand_index(counts) == pytest.approx(ari, abs=2e-6)
        assert themes.mutual_information(counts) == pytest.approx(nmi, abs=2e-6)
    assert compared > 150


def test_overlap_is_the_best_jaccard():
    for one, other in random_partitions(100):
        found = themes.overlaps(themes.contingency(one, other)).tolist()
        groups = [[set(np.flatnonzero(p == at)) for at in np.unique(p)] for p in (one, other)]
        assert found == pytest.approx(
            [max(len(a & b) / len(a | b) for b in groups[1]) for a in groups[0]]
        )


@pytest.mark.parametrize("labels", [[0, 0, 0], [0], [], [0, 1, 2]])
def test_equal_partitions_agree_wholly(labels):
    counts = themes.contingency(*[np.array(labels, np.int32)] * 2)
    assert (themes.rand_index(counts), themes.mutual_information(counts)) == (1.0, 1.0)


def cliques(sizes):
    u, v, start = [], [], 0
    for size in sizes:
        pairs = list(combinations(range(start, start + size), 2))
        u += [a for a, _ in pairs]
        v += [b for _, b in pairs]
        start += size
    return start, np.array(u, np.int32), np.array(v, np.int32)


@pytest.mark.parametrize("method", ["leiden", "infomap", "label_propagation"])
def test_every_method_finds_cliques_and_always_the_same(method):
    n, u, v = cliques([5, 4, 6])
    weight = np.ones(len(u), np.int32)
    runs: list[list[int]] = []
    for _ in range(3):
        random.seed(len(runs))
        runs.append(engine.Graph(n, u, v).communities(weight, method).tolist())
    assert runs == [[0] * 5 + [1] * 4 + [2] * 6] * 3


def test_a_fixed_generator_leaves_the_ordinary_one_alone():
    n, u, v = cliques([5, 4])
    random.seed(3)
    expected = random.Random(3).random()
    engine.Graph(n, u, v).communities(np.ones(len(u), np.int32), "leiden")
    assert random.random() == expected


def test_a_second_partition_that_finds_nothing_takes_every_claim_away(monkeypatch):
    record = Topics()
    record.ask("s:0-0", ["c:1-0"])
    assert record.scout("weak_bridge")[0]
    real = engine.Graph.communities

    def collapsed(self, weight, method):
        if method == "leiden":
            return real(self, weight, method)
        return np.zeros(len(real(self, weight, method)), np.int32)

    monkeypatch.setattr(engine.Graph, "communities", collapsed)
    found, scouted = record.scout("weak_bridge")
    assert found == []
    shown = report(scouted, {})
    assert shown.communities.verdict == "communities_disagree"
    assert (shown.communities.ari, shown.communities.second_count) == (0.0, 1)
    assert "themes" in shown.cannot_claim
    assert "disagree, so no theme is claimed" in to_table(shown)


def test_many_edges_are_propagated_not_walked(monkeypatch):
    monkeypatch.setattr(themes, "FLOW_UP_TO", 3)
    record = Topics()
    found = themes.themes(Structure(record.view(), SMALL).level(1), 5)
    assert found.account.second == "label_propagation"
    assert found.account.verdict == "communities_agree"


def test_a_node_without_edges_belongs_nowhere():
    record = Topics()
    record.nodes["s:alone"] = NodeRow("s:alone", THREAD, "s:alone", (("s:alone", 1),))
    graph = Structure(record.view(), SMALL)
    assert graph.themes is not None
    alone = graph.level(1).base.tolist().index(-1) + record.view().lineages.index("s:alone")
    assert graph.themes.of[alone] == -1
    assert graph.themes.account.first_count == 2


def test_two_themes_that_meet_in_one_thread_are_a_weak_bridge():
    record = Topics()
    for at in (0, 1):
        record.ask("s:0-0", [f"c:1-{at}"])
    (seed,), scouted = record.scout("weak_bridge")
    assert (seed.kind, seed.level) == ("theme", 2)
    assert [m.node_id for m in seed.members if m.role == "via"] == ["s:0-0", "c:1-0"]
    numbers = {amount.name: amount.value for amount in seed.numbers}
    assert numbers == {"carriers": 1, "edges": 2}
    assert seed.score == round(11**0.5 / 2, 6)
    sides = [{m.node_id for m in seed.members if m.role == role} for role in ("side_a", "side_b")]
    assert {name[2] for name in sides[0]} == {"0"}
    assert {name[2] for name in sides[1]} == {"1"}
    assert {ref.side for ref in seed.refs} == {"side_a", "side_b", "via_1"}
    shown = next(s for s in report(scouted, {}).seeds if s.level == 2)
    assert shown.sentence.startswith("The theme c:0-0, c:0-1, c:0-2 and the theme c:1-2,")
    assert shown.sentence.endswith(" meet only through s:0-0, where it speaks of c:1-0.")


def test_two_themes_that_meet_in_two_concepts_are_called_after_these():
    record = Topics()
    for at in range(4):
        record.ask(f"s:0-{at}", [f"c:1-{at % 2}"])
    (seed,), scouted = record.scout("weak_bridge", SMALL.replace(hub_df=20))
    assert [m.node_id for m in seed.members if m.role == "via"] == ["c:1-0", "c:1-1"]
    shown = next(s for s in report(scouted, {}).seeds if s.level == 2)
    assert shown.sentence.endswith(" meet only through c:1-0 and c:1-1.")


def test_a_common_word_carries_nothing_between_themes():
    record = Topics()
    record.ask("s:0-0", ["c:1-0"])
    assert len(record.scout("weak_bridge")[0]) == 1
    record.nodes["c:1-0"] = replace(record.nodes["c:1-0"], flags=PLAIN)
    assert record.scout("weak_bridge")[0] == []


def test_what_an_assistant_names_once_carries_nothing_between_themes():
    record = Topics()
    record.ask("s:0-0", ["c:1-0"])
    record.edges[-1] = replace(record.edges[-1], voiced=False)
    assert record.scout("weak_bridge")[0] == []


def test_the_best_three_meetings_of_themes_are_told_and_the_others_counted():
    record = Topics(topics=4)
    for one, other in combinations(range(4), 2):
        record.ask(f"s:{one}-{other}", [f"c:{other}-{one}"])
    seeds, scouted = record.scout("weak_bridge")
    assert len(seeds) == 3
    assert [(cut.what, cut.done, cut.of) for cut in scouted.truncated] == [
        ("meetings of themes", 3, 6)
    ]


def test_four_carriers_are_no_weak_bridge():
    record = Topics()
    for at in range(4):
        record.ask(f"s:0-{at}", [f"c:1-{at}"])
    assert record.scout("weak_bridge")[0] == []


def test_themes_under_the_least_size_are_not_spoken_of():
    record = Topics()
    record.ask("s:0-0", ["c:1-0"])
    assert record.scout("weak_bridge", Limits(s_min=12))[0] == []


def between(topics, count, record):
    """Threads of a third topic that speak of two concepts of each of the given ones."""
    for at in range(count):
        record.ask(f"s:2-{at}", [f"c:{topic}-{word}" for topic in topics for word in (0, 1)])


def test_themes_that_hardly_meet_although_two_threads_hold_both_are_a_gap():
    record = Topics(topics=8)
    record.ask("s:0-0", ["c:1-0"])
    between((0, 1), 2, record)
    (seed,), scouted = record.scout("missing_middle")
    numbers = {amount.name: amount.value for amount in seed.numbers}
    assert (seed.kind, seed.level) == ("gap", 2)
    assert {name: numbers[name] for name in ("links", "lineages")} == {"links": 1, "lineages": 2}
    shown = next(s for s in report(scouted, {}).seeds if s.level == 2)
    assert " share 1 link where their size would give " in shown.sentence
    assert shown.sentence.endswith("; 2 threads hold both.")
    assert not scouted.truncated


def test_themes_far_from_each_other_are_no_gap():
    record = Topics(topics=8)  # 28 pairs, each with 6 links due and none there
    record.ask("s:0-0", ["c:1-0"])
    between((0, 1), 1, record)
    assert record.scout("missing_middle")[0] == []


def test_themes_that_both_meet_a_third_one_are_a_gap():
    record = Topics(topics=8)
    for topic in (0, 1):
        for at in range(5):
            record.ask(f"s:{topic}-{at}", [f"c:2-{topic}"])
    (seed,), scouted = record.scout("missing_middle")
    assert {m.node_id[2] for m in seed.members if m.role == "via"} == {"2"}
    numbers = {amount.name: amount.value for amount in seed.numbers}
    assert (numbers["lineages"], numbers["middles"]) == (0, 1)
    shown = next(s for s in report(scouted, {}).seeds if s.level == 2)
    assert "; both meet the theme c:2-" in shown.sentence


def test_three_gaps_are_told_and_the_others_counted():
    record = Topics(topics=8)
    between((0, 1, 3, 4), 3, record)
    found, scouted = record.scout("missing_middle")
    assert len(found) == 3
    assert [(cut.what, cut.done) for cut in scouted.truncated] == [("gaps", 3)]


def test_gaps_are_asked_of_the_largest_communities(monkeypatch):
    monkeypatch.setattr(meetings, "MOST", 1)
    record = Topics()
    record.ask("s:0-0", ["c:1-0"])
    found, scouted = record.scout("missing_middle")
    assert found == []
    assert [(cut.what, cut.done, cut.of) for cut in scouted.truncated] == [("communities", 1, 2)]


def test_a_theme_without_concepts_is_called_after_its_heaviest_thread():
    nodes = [NodeRow(f"s:{at}", THREAD, f"s:{at}", ((f"s:{at}", 1),)) for at in range(5)]
    edges = [
        EdgeRow(f"s:{a}", f"s:{b}", LINK, ((f"s:{a}", 1),)) for a, b in combinations(range(5), 2)
    ]
    edges.append(EdgeRow("s:3", "s:2", LINK, (("s:3", 9),)))
    graph = Structure(from_edges(nodes, edges), SMALL)
    assert graph.themes is not None
    assert meetings.heads(graph.level(1), graph.themes, 0) == [2]


def test_ends_in_different_themes_raise_a_bridge():
    record = Topics()
    record.ask("s:0-0", ["c:1-0"])
    found = topology.scout(record.view(), ["weak_bridge"], SMALL).seeds
    plain = topology.scout(record.view(), ["weak_bridge"], Limits(themes=False)).seeds
    one, other = (next(s for s in seeds if s.kind == "order_1") for seeds in (found, plain))
    assert one.score == other.score + 1
    assert one.seed_id == other.seed_id


def test_a_pair_of_concepts_in_different_themes_is_raised():
    record = Topics()
    for at in range(2):
        for _ in range(2):
            record.ask(f"s:0-{at}", ["c:0-0", f"c:mid-{at}"])
            record.ask(f"s:1-{at}", ["c:1-0", f"c:mid-{at}"])
    scores = {}
    for asked in (True, False):
        limits = Limits(s_min=5, themes=asked)
        seeds = topology.scout(record.view(), ["missing_middle"], limits).seeds
        for seed in seeds:
            names = {m.node_id for m in seed.members if m.role != "via"}
            if names == {"c:0-0", "c:1-0"}:
                scores[asked] = seed.score
    assert scores[True] == pytest.approx(scores[False] + 1)


def test_nothing_is_computed_that_no_shape_asks_for():
    record = Topics()
    scouted = topology.scout(record.view(), ["island"], SMALL)
    assert scouted.communities.verdict == "not_computed"
    assert b"not_computed" in to_json(report(scouted, {}))
