"""Cuts of random graphs against networkx and against plain removal."""
# ruff: noqa: S311 - seeded graphs, not secrets

import random
from itertools import combinations

import networkx as nx
import numpy as np
import pytest

from graphstore.model.view import THREAD
from topology import cuts, engine
from topology.blocks import of_edges
from topology.level import Level
from topology.shapes import cut_point

ROUNDS = [0, *(pytest.param(number, marks=pytest.mark.slow) for number in range(1, 6))]
PER_ROUND = 200


def a_graph(rng, most_nodes=18, most_edges=30):
    n = rng.randint(0, most_nodes)
    pairs = list(combinations(range(n), 2))
    chosen = sorted(rng.sample(pairs, min(len(pairs), rng.randint(0, most_edges))))
    if rng.random() < 0.4 and n > 2:  # sparse ones have the interesting cuts
        tree = {(rng.randrange(at), at) for at in range(1, n)}
        extra = rng.sample(pairs, rng.randint(0, 5)) if len(pairs) > 5 else []
        chosen = sorted(tree | set(extra))
    return n, chosen


def graphs(round_number, **most):
    rng = random.Random(round_number)
    return [a_graph(rng, **most) for _ in range(PER_ROUND)]


def arrays(pairs):
    ends = np.array(pairs, np.int32).reshape(-1, 2)
    return ends[:, 0].copy(), ends[:, 1].copy()


def as_networkx(n, pairs):
    graph: nx.Graph[int] = nx.Graph()
    graph.add_nodes_from(range(n))
    graph.add_edges_from(pairs)
    return graph


def partition(labels):
    groups: dict[int, set[int]] = {}
    for node, label in enumerate(labels):
        groups.setdefault(int(label), set()).add(node)
    return sorted(map(sorted, groups.values()))


@pytest.mark.parametrize("round_number", ROUNDS)
def test_components_bridges_blocks_and_cores_are_those_of_networkx(round_number):
    for n, pairs in graphs(round_number, most_nodes=40, most_edges=90):
        u, v = arrays(pairs)
        matrix, oracle = cuts.adjacency(n, u, v), as_networkx(n, pairs)
        assert partition(cuts.components(matrix)) == sorted(
            map(sorted, nx.connected_components(oracle))
        )
        tree = cuts.forest(matrix)
        found = cuts.bridges(cuts.cover(tree, u, v))
        assert {pairs[at] for at in found} == {tuple(sorted(edge)) for edge in nx.bridges(oracle)}
        graph = engine.Graph(n, u, v)
        assert graph.cut_nodes().tolist() == sorted(nx.articulation_points(oracle))
        blocks = of_edges(n, u, v)
        assert blocks.cut_nodes.tolist() == sorted(nx.articulation_points(oracle))
        members = [blocks.members(at).tolist() for at in range(len(blocks.start) - 1)]
        assert members == sorted(map(sorted, nx.biconnected_components(oracle)))
        assert graph.coreness().tolist() == [nx.core_number(oracle)[node] for node in range(n)]


@pytest.mark.parametrize("round_number", ROUNDS)
def test_strong_components_are_those_of_networkx(round_number):
    rng = random.Random(round_number)
    for _ in range(PER_ROUND):
        n = rng.randint(0, 20)
        arcs = (
            [(rng.randrange(n), rng.randrange(n)) for _ in range(rng.randint(0, 40))] if n else []
        )
        oracle: nx.DiGraph[int] = nx.DiGraph()
        oracle.add_nodes_from(range(n))
        oracle.add_edges_from(arcs)
        found = cuts.strong_components(n, *arrays(arcs))
        assert partition(found) == sorted(map(sorted, nx.strongly_connected_components(oracle)))
        firsts = [int(np.flatnonzero(found == label)[0]) for label in range(len(set(found)))]
        assert firsts == sorted(firsts)


@pytest.mark.parametrize("round_number", ROUNDS)
def test_forest_sizes_and_intervals_describe_the_subtrees(round_number):
    for n, pairs in graphs(round_number):
        tree = cuts.forest(cuts.adjacency(n, *arrays(pairs)))
        children: nx.DiGraph[int] = nx.DiGraph()
        children.add_nodes_from(range(n))
        children.add_edges_from((int(up), node) for node, up in enumerate(tree.parent) if up >= 0)
        for node in range(n):
            below = {node, *nx.descendants(children, node)}
            assert int(tree.size[node]) == len(below)
            assert set(np.flatnonzero(tree.below(node)).tolist()) == below


def test_a_deep_forest_is_the_same_walked_node_by_node(monkeypatch):
    quick = [
        (cuts.forest(matrix), cuts.cover(cuts.forest(matrix), u, v), of_edges(n, u, v))
        for n, pairs in graphs(1)
        for u, v in (arrays(pairs),)
        for matrix in (cuts.adjacency(n, u, v),)
    ]
    monkeypatch.setattr(cuts, "SHALLOW", 0)
    for (n, pairs), (tree, cover, held) in zip(graphs(1), quick, strict=True):
        u, v = arrays(pairs)
        slow = cuts.forest(cuts.adjacency(n, u, v))
        assert slow.size.tolist() == tree.size.tolist()
        assert slow.enter.tolist() == tree.enter.tolist()
        assert cuts.cover(slow, u, v).hash.tolist() == cover.hash.tolist()
        again = of_edges(n, u, v)
        assert again.nodes.tolist() == held.nodes.tolist()
        assert again.start.tolist() == held.start.tolist()


def test_what_is_reached_from_several_nodes_is_the_same_step_by_step_and_all_at_once(monkeypatch):
    rng = random.Random(8)
    asked = [
        (cuts.adjacency(n, *arrays(pairs)), starts, chosen, node)
        for n, pairs in graphs(8)
        if n > 3
        for node, *rest in (rng.sample(range(n), 4),)
        for starts in (np.array(rest[: rng.randint(1, 3)]),)
        for chosen in (tuple(rng.sample(pairs, min(len(pairs), rng.randint(0, 2)))),)
    ]
    found = [cuts.reach(*one[:3], node=one[3]).tolist() for one in asked]
    some = [set(cuts.reach(*one[:3], node=one[3], enough=3).tolist()) for one in asked]
    monkeypatch.setattr(cuts, "NARROW", 0)
    for one, whole, part in zip(asked, found, some, strict=True):
        assert cuts.reach(*one[:3], node=one[3]).tolist() == whole
        assert cuts.reach(*one[:3]).tolist() == _reached(*one[:3])
        assert part <= set(whole)
        assert len(part) >= min(3, len(whole))


def _reached(matrix, starts, gone):
    graph = nx.from_scipy_sparse_array(matrix)
    graph.remove_edges_from(gone)
    parts = (nx.node_connected_component(graph, int(start)) for start in starts)
    return sorted(set().union(*parts))


@pytest.mark.parametrize("round_number", ROUNDS)
def test_two_edge_cuts_are_exactly_the_pairs_whose_removal_parts(round_number):
    for n, pairs in graphs(round_number):
        u, v = arrays(pairs)
        tree = cuts.forest(cuts.adjacency(n, u, v))
        cover = cuts.cover(tree, u, v)
        rings = cuts.rings(tree, cover)
        bridges = {pairs[at] for at in cuts.bridges(cover)}
        claimed = set()
        for at in range(len(rings.around)):
            span = slice(rings.start[at], rings.start[at + 1])
            claimed |= set(combinations(sorted(rings.edge[span].tolist()), 2))
        before = nx.number_connected_components(as_networkx(n, pairs))
        for one, two in combinations(range(len(pairs)), 2):
            if bridges & {pairs[one], pairs[two]}:
                continue
            without = [pair for at, pair in enumerate(pairs) if at not in {one, two}]
            parted = nx.number_connected_components(as_networkx(n, without)) > before
            assert parted == ((one, two) in claimed)


@pytest.mark.parametrize("round_number", ROUNDS)
def test_rings_and_best_arcs_are_what_removal_gives(round_number):
    rng = random.Random(round_number + 100)
    for n, pairs in graphs(round_number):
        u, v = arrays(pairs)
        tree = cuts.forest(cuts.adjacency(n, u, v))
        rings = cuts.rings(tree, cuts.cover(tree, u, v))
        usable = np.array([rng.random() < 0.8 for _ in pairs], np.bool_)
        best = {row[0]: row[1:] for row in zip(*cuts.best_arcs(rings, usable), strict=True)}
        for at, around in enumerate(rings.around.tolist()):
            span = slice(rings.start[at], rings.start[at + 1])
            edges, places = rings.edge[span].tolist(), rings.place[span].tolist()
            claimed = sorted(np.diff([*places, places[0] + around]).tolist())
            assert claimed == removed_pieces(n, pairs, edges)
            held = [edge for edge in edges if usable[edge]]
            arcs = {
                pair: min(removed_pieces(n, pairs, pair)) for pair in combinations(sorted(held), 2)
            }
            if arcs:
                pair, arc = min(arcs.items(), key=lambda item: (-item[1], item[0]))
                assert tuple(int(value) for value in best[at]) == (*pair, arc)
            else:
                assert at not in best


def removed_pieces(n, pairs, taken):
    """Sizes of the pieces of the component of the taken edges, once they are gone."""
    whole = nx.node_connected_component(as_networkx(n, pairs), pairs[taken[0]][0])
    left = as_networkx(n, [pair for at, pair in enumerate(pairs) if at not in set(taken)])
    return sorted(len(piece) for piece in nx.connected_components(left) if piece <= whole)


@pytest.mark.parametrize("round_number", ROUNDS)
def test_bridge_sides_and_reach_are_what_removal_gives(round_number):
    for n, pairs in graphs(round_number):
        u, v = arrays(pairs)
        matrix = cuts.adjacency(n, u, v)
        tree = cuts.forest(matrix)
        cover = cuts.cover(tree, u, v)
        for edge in cuts.bridges(cover).tolist():
            child = int(cover.child[edge])
            claimed = sorted((int(tree.size[child]), int(tree.total[child] - tree.size[child])))
            assert claimed == removed_pieces(n, pairs, [edge])
            ends = pairs[edge]
            grown = [len(cuts.reach(matrix, end, (ends,))) for end in ends]
            assert sorted(grown) == claimed


def a_level(n, pairs, kinds):
    """Level 1 of a graph whose nodes are threads (0) and concepts (2)."""
    u, v = arrays(pairs)
    none, ones = np.zeros(n, np.int32), np.ones(len(u), np.int32)
    kind, refs = np.array(kinds, np.int32), np.zeros(n, np.int64)
    edge_refs = np.zeros(len(u), np.int64)
    own = np.arange(n, dtype=np.int32)
    return Level(1, none, kind, own, none, none, none, refs, u, v, ones, ones, edge_refs)


@pytest.mark.parametrize("round_number", ROUNDS)
def test_pieces_of_articulation_points_are_what_removal_gives(round_number):
    rng = random.Random(round_number)
    for n, pairs in graphs(round_number):
        kinds = [rng.choice((0, 2)) for _ in range(n)]
        found = cut_point.pieces(a_level(n, pairs, kinds))
        whole = as_networkx(n, pairs)
        matrix = cuts.adjacency(n, *arrays(pairs))
        for node in set(nx.articulation_points(whole)):
            left = whole.subgraph(set(whole) - {node})
            pieces = [
                piece
                for piece in nx.connected_components(left)
                if piece & set(whole.neighbors(node))
            ]
            here = found.node == node
            assert found.size[here].tolist() == sorted(map(len, pieces), reverse=True)
            for start, lineages in zip(found.start[here], found.lineages[here], strict=True):
                piece = next(piece for piece in pieces if int(start) in piece)
                assert lineages == sum(kinds[other] == THREAD for other in piece)
                assert set(cuts.reach(matrix, int(start), node=node).tolist()) == piece
