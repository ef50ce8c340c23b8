"""After every single insert, the live answers are those of a full recompute."""
# ruff: noqa: S311 - seeded graphs, not secrets

import random

import networkx as nx
import numpy as np
import pytest

from graphstore.model.view import CONCEPT, EdgeRow, NodeRow, from_edges
from topology.level import node_level
from topology.live import Live
from topology.model import LinkEffect


def bridges_of(graph):
    return {tuple(sorted(edge)) for edge in nx.bridges(graph)}


def check_insert(live, graph, a, b):
    sizes = sorted(len(nx.node_connected_component(graph, node)) for node in (a, b))
    apart = not nx.has_path(graph, a, b)
    before = bridges_of(graph)
    if a != b:
        graph.add_edge(a, b)
    after = bridges_of(graph)
    effect = live.insert(a, b)
    assert effect.joined == effect.new_bridge == apart
    assert effect.sizes_before == (tuple(sizes) if apart else None)
    assert effect.closed == tuple(sorted(before - after))
    assert live.bridges() == sorted(after)


def sequence(rng, n):
    """Random pairs, repeats, loops, and now and then a long chain that is closed later."""
    for _ in range(rng.randint(2, 2 * n)):
        yield rng.randrange(n), rng.randrange(n)
    for at in range(n - 1):
        if rng.random() < 0.5:
            yield at, at + 1
    yield 0, n - 1


@pytest.mark.parametrize("number", range(60))
def test_every_prefix_of_random_inserts(number):
    rng = random.Random(number)
    n = rng.randint(2, 24)
    graph: nx.Graph[int] = nx.Graph()
    graph.add_nodes_from(range(n))
    live = Live(n)
    for a, b in sequence(rng, n):
        check_insert(live, graph, a, b)


@pytest.mark.parametrize("number", range(60))
def test_a_state_made_from_a_level_goes_on_as_one_that_saw_every_edge(number):
    rng = random.Random(number)
    n = rng.randint(2, 24)
    pairs = {(min(p), max(p)) for p in sequence(rng, n) if p[0] != p[1] and rng.random() < 0.6}
    nodes = [NodeRow(f"c:{at:02d}", CONCEPT, df=2) for at in range(n)]
    view = from_edges(nodes, [EdgeRow(f"c:{a:02d}", f"c:{b:02d}") for a, b in pairs])
    live = Live.of(node_level(view, np.ones(n, np.bool_)))
    graph: nx.Graph[int] = nx.Graph()
    graph.add_nodes_from(range(n))
    graph.add_edges_from(pairs)
    assert live.bridges() == sorted(bridges_of(graph))
    for _ in range(6):
        new = live.add_node()
        graph.add_node(new)
        for _ in range(rng.randint(1, 4)):
            check_insert(live, graph, rng.randrange(live.nodes), rng.choice((new, 0)))


def test_said_twice_is_said_once():
    live = Live(3)
    assert live.insert(0, 1) == LinkEffect(joined=True, sizes_before=(1, 1), new_bridge=True)
    assert live.insert(1, 0) == LinkEffect()
    assert live.insert(2, 2) == LinkEffect()
    assert live.insert(1, 2).sizes_before == (1, 2)
    assert live.insert(2, 0) == LinkEffect(closed=((0, 1), (1, 2)))
