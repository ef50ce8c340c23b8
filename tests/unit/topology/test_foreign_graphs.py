"""Graphs of other programs: what enters, and that public ones give what networkx finds in them."""

import csv
import json
from math import log2

import networkx as nx
import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

import topology
from graphstore.errors import GraphUnreadable
from graphstore.model.hubs import read_stop_list
from graphstore.model.view import QUESTION, SUCCESSION
from topology import foreign
from topology.model import Limits
from topology.report import report

PUBLIC = {
    "karate": nx.karate_club_graph,
    "miserables": nx.les_miserables_graph,
    "davis": nx.davis_southern_women_graph,
    "florentine": nx.florentine_families_graph,
}
LIMITS = Limits(top=200, k_min=2)


def rows_of(graph):
    return [(a, b, int(w)) for a, b, w in graph.edges(data="weight", default=1)]


def as_csv(graph, path):
    with path.open("w", encoding="utf-8", newline="") as file:
        out = csv.writer(file)
        out.writerow(("source", "target", "weight"))
        out.writerows(rows_of(graph))


def as_parquet(graph, path):
    source, target, weight = zip(*rows_of(graph), strict=True)
    table = {"source": map(str, source), "target": map(str, target), "weight": weight}
    parquet.write_table(pa.table({name: list(column) for name, column in table.items()}), path)


def as_node_link(graph, path):
    path.write_text(json.dumps(nx.node_link_data(graph, edges="links")))


WRITERS = {
    "csv": as_csv,
    "graphml": lambda graph, path: nx.write_graphml(bare(graph), path),
    "json": as_node_link,
    "parquet": as_parquet,
}


def bare(graph):
    made = graph.__class__()
    made.add_nodes_from(graph)
    made.add_weighted_edges_from(rows_of(graph))
    return made


def view_of(graph, path, kind="csv"):
    file = path / f"graph.{kind}"
    WRITERS[kind](graph, file)
    return foreign.read(file)


def seeds(found, shape, limits=LIMITS):
    scouted = topology.scout(found.view, [shape], limits)
    return [seed.replace(members=named(seed, found)) for seed in scouted.seeds]


def named(seed, found):
    return tuple(m.replace(node_id=found.labels[m.node_id]) for m in seed.members)


def by_role(seed, *roles):
    return [member.node_id for member in seed.members if member.role in roles]


@pytest.fixture(params=PUBLIC)
def public(request):
    return nx.relabel_nodes(PUBLIC[request.param](), str)


@pytest.mark.parametrize("name", PUBLIC)
def test_every_format_gives_the_same_view(name, tmp_path):
    graph = nx.relabel_nodes(PUBLIC[name](), str)
    views = [view_of(graph, tmp_path, kind) for kind in WRITERS]
    hashes = {topology.scout(found.view, [], LIMITS).view_hash for found in views}
    assert len(hashes) == 1
    assert len(views[0].view.u) == graph.number_of_edges()
    assert int(views[0].view.weight.sum()) == sum(w for _, _, w in rows_of(graph))


def test_bridges_are_those_of_networkx(public, tmp_path):
    expected = {}
    for a, b in nx.bridges(public):
        rest = public.copy()
        rest.remove_edge(a, b)
        sides = [len(nx.node_connected_component(rest, end)) for end in (a, b)]
        if min(sides) >= 2:
            expected[frozenset((a, b))] = sorted(sides)
    found = seeds(view_of(public, tmp_path), "weak_bridge", LIMITS.replace(themes=False))
    bridges = {
        frozenset(by_role(seed, "cut")): sorted(size.value for size in seed.sizes)
        for seed in found
        if seed.kind == "order_1"
    }
    assert bridges == expected
    assert all(seed.also_at == (0,) for seed in found)


def test_pairs_are_two_edge_cuts(public, tmp_path):
    found = seeds(view_of(public, tmp_path), "weak_bridge", LIMITS.replace(themes=False))
    for seed in found:
        if seed.kind == "order_2":
            ends = by_role(seed, "cut")
            rest = public.copy()
            rest.remove_edges_from([ends[:2], ends[2:]])
            sizes = sorted(len(part) for part in nx.connected_components(rest))
            assert sizes == sorted(size.value for size in seed.sizes)


def test_cut_points_are_those_of_networkx(public, tmp_path):
    expected = {}
    for node in nx.articulation_points(public):
        rest = public.copy()
        rest.remove_node(node)
        sizes = sorted((len(part) for part in nx.connected_components(rest)), reverse=True)
        if sizes[1] >= 2:
            expected[node] = sizes[:2]
    found = seeds(view_of(public, tmp_path), "cut_point")
    assert {
        by_role(seed, "cut")[0]: [s.value for s in seed.sizes if s.name.startswith("side_")]
        for seed in found
    } == expected


def test_islands_are_the_other_components(tmp_path):
    graph = nx.disjoint_union_all([nx.path_graph(9), nx.cycle_graph(4), nx.path_graph(2)])
    found = seeds(view_of(nx.relabel_nodes(graph, str), tmp_path), "island", Limits())
    assert [set(by_role(seed, "member")) for seed in found] == [{"9", "10", "11", "12"}]
    assert found[0].sentence == "Nothing links these {n} nodes to the rest."


def test_missing_middles_are_scored_by_neighbours(public, tmp_path):
    for seed in seeds(view_of(public, tmp_path), "missing_middle", LIMITS.replace(themes=False)):
        a, c = by_role(seed, "side_a", "side_b")
        common = set(nx.common_neighbors(public, a, c))
        assert not public.has_edge(a, c)
        assert set(by_role(seed, "via")) == common
        score = sum(1 / log2(1 + public.degree(b)) for b in common)
        assert seed.score == pytest.approx(score, abs=2e-6)


def test_knots_are_blocks_of_a_core(public, tmp_path):
    core = nx.core_number(public)
    for seed in seeds(view_of(public, tmp_path), "knot"):
        inside = public.subgraph(by_role(seed, "member"))
        numbers = {amount.name: amount.value for amount in seed.numbers}
        assert nx.is_biconnected(inside)
        assert numbers["k"] == min(core[node] for node in inside)
        assert numbers["edges"] == inside.number_of_edges()


def test_cycles_are_rings_of_the_graph(public, tmp_path):
    found = seeds(view_of(public, tmp_path), "cycle")
    assert found or nx.is_forest(public)
    for seed in found:
        ring = by_role(seed, "member")
        assert 3 <= len(ring) <= 6
        assert all(public.has_edge(a, b) for a, b in zip(ring, [*ring[1:], ring[0]], strict=True))


def test_nothing_of_threads_is_claimed(public, tmp_path):
    found = view_of(public, tmp_path)
    scouted = topology.scout(found.view, None, Limits())
    shown = report(scouted, found.labels)
    assert shown.ok
    assert "source_backed" in shown.cannot_claim
    assert not any("thread" in seed.sentence for seed in shown.seeds)
    assert all(seed.refs == () and seed.demands == () for seed in shown.seeds)


def test_a_directed_multigraph_is_collapsed_and_keeps_its_arcs(tmp_path):
    graph: nx.MultiDiGraph[str] = nx.MultiDiGraph(
        [("a", "b"), ("a", "b"), ("b", "a"), ("b", "c"), ("c", "a"), ("c", "c")]
    )
    for kind in ("graphml", "json"):
        view = view_of(graph, tmp_path, kind).view
        assert (len(view.u), view.weight.tolist()) == (3, [3, 1, 1])
        assert (view.collapsed_rows, view.self_loops) == (2, 1)
        assert view.arcs.tolist() == [
            [0, 1, SUCCESSION], [1, 0, SUCCESSION], [1, 2, SUCCESSION], [2, 0, SUCCESSION]
        ]  # fmt: skip
    found = seeds(view_of(graph, tmp_path, "json"), "cycle")
    assert [(s.kind, by_role(s, "member")) for s in found] == [
        ("directed", ["a", "b", "c"]),
        ("directed", ["a", "b"]),
    ]


def test_parallel_rows_are_no_second_connection(tmp_path):
    graph: nx.MultiGraph[str] = nx.MultiGraph(
        [("a", "b"), ("b", "c"), ("c", "a"), ("x", "y"), ("y", "z"), ("z", "x")]
    )
    for _ in range(5):
        graph.add_edge("a", "x")
    graph.add_edge("x", "a")
    (seed,) = seeds(view_of(graph, tmp_path, "json"), "weak_bridge", Limits(themes=False))
    assert (seed.kind, seed.weight, sorted(by_role(seed, "cut"))) == ("order_1", 6, ["a", "x"])


def test_attributes_say_kind_lineage_and_label(tmp_path):
    file = tmp_path / "graph.json"
    nodes = [
        {"id": 1, "kind": "question", "lineage": "L", "label": "Why?"},
        {"id": "2", "lineage": "L"},
        {"id": "é/ü", "kind": "other", "label": ""},
    ]
    edges = [{"source": 1, "target": "é/ü", "relation": "causes"}, {"source": 1, "target": "new"}]
    file.write_text(json.dumps({"nodes": nodes, "edges": edges}))
    found = foreign.read(file)
    assert found.view.ids == ("n:1", "n:%C3%A9%2F%C3%BC", "n:2", "n:new")
    kinds = dict(zip(found.view.ids, found.view.kind.tolist(), strict=True))
    lineage = dict(zip(found.view.ids, found.view.lineage.tolist(), strict=True))
    assert kinds["n:1"] == QUESTION
    assert lineage["n:1"] == lineage["n:2"] != lineage["n:new"]
    assert found.labels["n:%C3%A9%2F%C3%BC"] == "é/ü"
    assert found.labels["n:1"] == "Why?"
    assert len(found.view.arcs) == 1


def test_hubs_are_hidden_when_that_is_asked_for(tmp_path):
    graph = nx.disjoint_union(nx.cycle_graph(6), nx.cycle_graph(5))
    graph.add_edges_from(("hub", node) for node in list(graph))
    found = view_of(nx.relabel_nodes(graph, str), tmp_path)
    assert seeds(found, "island") == []
    (seed,) = seeds(found, "island", Limits(hub_df=8))
    assert (seed.soft, seed.hubs) == (True, ("n:hub",))
    stopped = foreign.read(tmp_path / "graph.csv", read_stop_list("HUB"))
    scouted = topology.scout(stopped.view, None, Limits())
    assert [hub.rule for hub in scouted.hidden_hubs] == ["stop_list"]


def test_a_soft_bridge_names_the_hub_that_would_join(tmp_path):
    graph = nx.disjoint_union(nx.cycle_graph(6), nx.cycle_graph(5))
    graph.add_edge(0, 6)
    graph.add_edges_from(("hub", node) for node in (1, 2, 3, 7, 8, 9))
    found = view_of(nx.relabel_nodes(graph, str), tmp_path)
    bridges = seeds(found, "weak_bridge", Limits(hub_df=5, themes=False))
    assert [(s.kind, s.soft, s.hubs) for s in bridges if s.kind == "order_1"] == [
        ("order_1", True, ("n:hub",))
    ]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("graph.csv", "a,b\n1,2\n"),
        ("graph.csv", "source,target,weight\n1,2,-3\n"),
        ("graph.csv", "source,target,weight\n1,2,heavy\n"),
        ("graph.csv", b"source,target\n\xff,2\n"),
        ("graph.json", "{"),
        ("graph.json", "[]"),
        ("graph.graphml", "not xml"),
        ("graph.parquet", "not parquet"),
        ("graph.txt", "1 2"),
        ("missing.csv", None),
        ("missing.graphml", None),
    ],
)
def test_what_cannot_be_read_is_told_without_a_line_of_it(tmp_path, name, text):
    file = tmp_path / name
    if text is not None:
        file.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(GraphUnreadable) as caught:
        foreign.read(file)
    assert caught.value.name == name
    assert "heavy" not in str(caught.value)
    assert str(tmp_path) not in str(caught.value)


def test_an_empty_list_is_an_empty_graph(tmp_path):
    (tmp_path / "graph.csv").write_text("source,target\n")
    view = foreign.read(tmp_path / "graph.csv").view
    assert (view.ids, len(view.u), view.arcs.shape) == ((), 0, (0, 3))
    assert topology.scout(view, None, Limits()).seeds == ()


def test_weights_are_whole_and_at_least_one(tmp_path):
    text = "source,target,weight\na,b,0.2\nb,c,2.5\nc,d,\nd,e,1e9\nd,e,2e9\n"
    (tmp_path / "graph.csv").write_text(text)
    weight = foreign.read(tmp_path / "graph.csv").view.weight.tolist()
    assert weight == [1, 2, 1, np.iinfo(np.int32).max]
