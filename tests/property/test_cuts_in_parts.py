"""Cuts of a graph in parts are those of the whole, whatever the parts."""
# ruff: noqa: S311 - seeded graphs, not secrets

import random
from typing import Any

import networkx as nx
import numpy as np
import pytest

from benchmarks.topology.kg import Kg
from benchmarks.topology.parts import by_theme
from topology import engine
from topology.partition import Summary, finish, merge, partition_summary, shared_vertices
from topology.pool import cuts_by_processes
from topology.spark import _summarise_contracted, _summarise_whole

ROUNDS = [*range(4), *(pytest.param(at, marks=pytest.mark.soak) for at in range(4, 20))]
PER_ROUND = 75


def a_graph(rng, *, parallel):
    """Pairs with names far apart, some of them loops; often sparse, so that there are bridges."""
    n = rng.randint(1, 24)
    names = sorted(rng.sample(range(10**12), n))
    pairs = {
        tuple(sorted((rng.choice(names), rng.choice(names)))) for _ in range(rng.randint(1, 2 * n))
    }
    if rng.random() < 0.5:
        pairs |= {(names[rng.randrange(at)], names[at]) for at in range(1, n)}
    rows = sorted(pairs)
    if parallel:
        rows += rng.choices(rows, k=rng.randint(0, n))
    rng.shuffle(rows)
    return rows


def columns(rows):
    ends = np.array(rows, np.int64).reshape(-1, 2)
    return ends[:, 0].copy(), ends[:, 1].copy()


def expected(rows):
    """Components, bridges with their sides, cut points, by removal."""
    graph: nx.MultiGraph[int] = nx.MultiGraph((a, b) for a, b in rows if a != b)
    parts = sorted([min(part), len(part)] for part in nx.connected_components(graph))
    simple = nx.Graph(graph)
    bridges = []
    found: Any = nx.bridges(simple)
    for a, b in sorted(map(sorted, found)):
        if graph.number_of_edges(a, b) == 1:
            left = simple.copy()
            left.remove_edge(a, b)
            sizes = [len(nx.node_connected_component(left, end)) for end in (a, b)]
            bridges.append([a, b, *sizes])
    return parts, sorted(bridges), sorted(nx.articulation_points(simple))


def merged(rng, summaries, *, contracted):
    """Merge some at a time until one is left."""
    while len(summaries) > 1:
        rng.shuffle(summaries)
        taken = rng.randint(2, len(summaries))
        summaries = [merge(summaries[:taken], contracted=contracted), *summaries[taken:]]
    return summaries[0]


def parts_of(rng, rows):
    """Shards at random, or by the component of a vertex cut in pieces, so that few are shared."""
    count = rng.randint(1, 5)
    if rng.random() < 0.5:
        return np.array([rng.randrange(count) for _ in rows], np.int64)
    order = sorted({vertex for row in rows for vertex in row})
    return np.array([order.index(min(row)) * count // len(order) for row in rows], np.int64)


@pytest.mark.parametrize("number", ROUNDS)
@pytest.mark.parametrize("contracted", [True, False])
def test_parts_merged_in_any_order_give_what_removal_gives(number, contracted):
    rng = random.Random(number)
    for _ in range(PER_ROUND):
        rows = a_graph(rng, parallel=not contracted)
        (u, v), shard = columns(rows), parts_of(rng, rows)
        boundary = shared_vertices(u, v, shard) if contracted else None
        sent = [
            partition_summary(u[shard == at], v[shard == at], boundary)
            for at in np.unique(shard).tolist()
        ]
        summary = merged(rng, sent, contracted=contracted)
        found = finish(summary, contracted=contracted)
        parts, bridges, points = expected(rows)
        assert found.components.tolist() == parts
        assert found.bridges.tolist() == bridges
        assert (found.cut_points is None) == contracted
        if found.cut_points is not None:
            assert found.cut_points.tolist() == points


def test_a_part_without_a_shared_vertex_sends_nothing_but_what_it_finished():
    u, v = columns([(1, 2), (2, 3), (3, 1), (3, 4), (4, 5)])
    sent = partition_summary(u, v, np.empty(0, np.int64))
    assert (len(sent.node), len(sent.edge), len(sent.union)) == (0, 0, 0)
    assert sent.closed.tolist() == [[1, 5]]
    assert finish(sent, contracted=True).bridges.tolist() == [[3, 4, 3, 2], [4, 5, 4, 1]]


def test_a_side_behind_a_bridge_without_a_shared_vertex_stays_in_its_part():
    u, v = columns([(1, 2), (2, 3), (3, 4)])
    sent = partition_summary(u, v, np.array([1], np.int64))
    assert len(sent.edge) == 0
    assert sent.weight.tolist() == [3]
    assert sent.finished[:, :3].tolist() == [[2, 1, 3], [3, 2, 2], [4, 3, 1]]


def test_parallels_that_come_from_contraction_are_no_bridges():
    first, second = [(1, 2), (2, 3), (1, 3), (3, 4)], [(4, 5), (5, 1)]
    boundary = np.array([1, 4], np.int64)
    parts = [columns(rows) for rows in (first, second)]
    sent = [partition_summary(u, v, boundary) for u, v in parts]
    found = finish(merge(sent, contracted=True), contracted=True)
    assert found.bridges.tolist() == []
    assert found.components.tolist() == [[1, 5]]


def test_without_the_engine_there_are_no_cut_points(monkeypatch):
    monkeypatch.setattr(engine, "is_available", lambda: False)
    u, v = columns([(1, 2), (2, 3)])
    sent = partition_summary(u, v, None)
    assert finish(sent, contracted=False).cut_points is None


def test_a_summary_is_the_same_after_it_was_sent():
    u, v = columns(a_graph(random.Random(1), parallel=False))
    sent = partition_summary(u, v, None)
    again = Summary.from_bytes(sent.to_bytes())
    assert finish(again, contracted=False).components.tolist() == (
        finish(sent, contracted=False).components.tolist()
    )


def sparse(edges, shards):
    """A large record of separate regions with a few edges between them, and the region of each."""
    rng = np.random.default_rng(3)
    nodes = edges // 2
    u = rng.integers(0, nodes, edges)
    near = (u // 50) * 50 + rng.integers(0, 50, edges)
    v = np.where(rng.random(edges) < 0.98, near, rng.integers(0, nodes, edges))
    pairs = np.unique(np.sort(np.column_stack((u, v))[u != v], axis=1), axis=0)
    return pairs[:, 0].copy(), pairs[:, 1].copy(), pairs[:, 0] * shards // nodes


def same(one, other):
    assert np.array_equal(one.components, other.components)
    assert np.array_equal(one.bridges, other.bridges)


@pytest.mark.parametrize("contracted", [True, False])
def test_two_processes_give_what_one_gives(contracted):
    u, v, shard = sparse(100_000, 4)
    whole = finish(partition_summary(u, v, None), contracted=False)
    found = cuts_by_processes(u, v, shard, 2, contracted=contracted)
    same(found, whole)
    assert len(whole.bridges) > 1000
    if not contracted:
        assert found.cut_points is not None
        assert whole.cut_points is not None
        assert np.array_equal(found.cut_points, whole.cut_points)


@pytest.mark.parametrize("task", [_summarise_contracted, _summarise_whole])
def test_a_task_of_spark_reads_its_batches_whatever_their_number(task):
    import pyarrow as pa

    rows = [(1, 2, False, False), (2, 3, False, True), (3, 1, True, False), (3, 4, True, False)]
    names = ["u", "v", "u_shared", "v_shared"]
    batches = [pa.record_batch([pa.array([value]) for value in row], names=names) for row in rows]
    (made,) = task(iter(batches))
    contracted = task is _summarise_contracted
    found = finish(Summary.from_bytes(made["summary"][0].as_py()), contracted=contracted)
    assert found.bridges.tolist() == [[3, 4, 3, 1]]
    (nothing,) = task(iter([]))
    assert len(Summary.from_bytes(nothing["summary"][0].as_py()).edge) == 0


def test_of_a_record_in_parts_by_theme_the_root_gets_little():
    pairs, shard = by_theme(Kg(92_000), 4)
    u, v = pairs[:, 0].copy(), pairs[:, 1].copy()
    boundary = shared_vertices(u, v, shard)
    parts = [partition_summary(u[shard == at], v[shard == at], boundary) for at in range(4)]
    root = merge(parts, contracted=True)
    same(finish(root, contracted=True), finish(partition_summary(u, v, None), contracted=False))
    assert 0 < len(root.edge) <= 0.15 * len(u)
    assert len(root.edge) + len(root.union) <= 0.30 * len(u)
