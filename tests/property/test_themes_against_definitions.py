"""Level 2 against a slow definition on random records: carriers, gaps, and what may be claimed."""
# ruff: noqa: S311 - seeded graphs, not secrets

import random
from itertools import combinations, product
from math import log2, sqrt

import networkx as nx
import pytest

import topology
from graphstore.model.view import (
    CONCEPT,
    LINK,
    MENTION,
    THREAD,
    EdgeRow,
    NodeRow,
    from_edges,
)
from topology.model import Limits
from topology.structure import Structure

LIMITS = Limits(s_min=4, top=200, level=2)


def record(number):
    """Groups of concepts, dense inside, with few links across; several rows for some pairs.

    Some groups meet more than others, and some threads speak of two.
    """
    rng = random.Random(number)
    group = {f"c:{at:03d}": rng.randrange(5) for at in range(rng.randint(20, 60))}
    across = {pair: rng.choice((0.0, 0.02, 0.2)) for pair in product(range(5), repeat=2)}
    pairs = [
        (a, b)
        for a, b in combinations(group, 2)
        if rng.random() < (0.8 if group[a] == group[b] else across[group[a], group[b]])
    ]
    rows = [(a, b, at) for a, b in pairs for at in range(rng.choice((1, 1, 1, 3)))]
    nodes = [NodeRow(name, CONCEPT, None, ((f"s:{name}", 1),), df=2) for name in group]
    edges = [EdgeRow(a, b, LINK, ((f"s:{a}", 2 + at),)) for a, b, at in rows]
    for at in range(rng.randint(0, 8)):
        thread = f"s:speaks-{at}"
        nodes.append(NodeRow(thread, THREAD, thread, ((thread, 1),)))
        spoken = rng.sample(range(5), 2)
        said = [
            rng.choice([name for name in group if group[name] == g] or [*group]) for g in spoken * 3
        ]
        edges += [EdgeRow(thread, name, MENTION, ((thread, 1),)) for name in sorted(set(said))]
    return from_edges(nodes, edges)


def occasions(view, of, strength, total, between):
    """For each pair of communities: lineages that hold both, and communities that meet both."""
    holds: dict[str, set[int]] = {}
    for thread in (name for name in view.ids if name.startswith("s:")):
        ends = [(view.ids[u], view.ids[v]) for u, v in zip(view.u, view.v, strict=True)]
        near = [of[b if a == thread else a] for a, b in ends if thread in (a, b)]
        holds[thread] = {at for at in near if near.count(at) > 1} | {of[thread]}
    meet = set()
    for (a, b), edges in between.items():
        there = sum(edge[2] for edge in edges)
        if there and there >= 0.5 * strength[a] * strength[b] / (2 * total):
            meet |= {(a, b), (b, a)}
    return {
        (a, b): (
            sum({a, b} <= held for held in holds.values()),
            sum((a, c) in meet and (c, b) in meet for c in strength),
        )
        for a, b in between
    }


def quotient(view, graph):
    """Communities that may be spoken of, and for each pair of them the edges between."""
    level = graph.level(1)
    of = dict(zip(graph.node_ids(level, range(level.n)), graph.themes.of.tolist(), strict=True))
    bears = {at for at, bears in enumerate(graph.themes.borne.tolist()) if bears}
    between: dict[tuple[int, int], list[tuple[str, str, int]]] = {
        pair: [] for pair in combinations(sorted(bears), 2)
    }
    for u, v, weight in zip(view.u.tolist(), view.v.tolist(), view.weight.tolist(), strict=True):
        ends = sorted((of[view.ids[at]], view.ids[at]) for at in (u, v))
        pair = (ends[0][0], ends[1][0])
        if pair in between:
            between[pair].append((ends[0][1], ends[1][1], weight))
    return of, between


@pytest.mark.parametrize("number", range(30))
def test_level_two_is_what_the_definitions_say(number):
    view = record(number)
    graph = Structure(view, LIMITS)
    of, between = quotient(view, graph)
    size = {at: sum(one == at for one in of.values()) for at in set(of.values())}
    bridges, gaps = {}, {}
    degree: nx.Graph[str] = nx.Graph()
    degree.add_weighted_edges_from(
        (view.ids[u], view.ids[v], int(w))
        for u, v, w in zip(view.u.tolist(), view.v.tolist(), view.weight.tolist(), strict=True)
    )
    total = degree.size(weight="weight")
    strength = {
        at: sum(d for name, d in degree.degree(weight="weight") if of[name] == at) for at in size
    }
    known = occasions(view, of, strength, total, between)
    for (a, b), edges in between.items():
        carriers = min(len({e[0] for e in edges}), len({e[1] for e in edges}))
        if 1 <= carriers <= 3:
            bridges[a, b] = round(sqrt(min(size[a], size[b])) / (1 + carriers), 6)
        due, there = strength[a] * strength[b] / (2 * total), sum(e[2] for e in edges)
        lineages, middles = known[a, b]
        if due >= 5 and there / due <= 0.2 and (lineages >= 2 or middles):
            score = (1 - there / due) * log2(1 + lineages + middles) + log2(due) / 100
            gaps[a, b] = round(score, 6)
    met = sorted(bridges, key=lambda pair: (-bridges[pair], len(between[pair]), pair))[:3]
    bridges = {pair: bridges[pair] for pair in met}
    best = sorted(gaps, key=lambda pair: (-gaps[pair], pair))[:3]
    gaps = {pair: gaps[pair] for pair in best}
    for shape, expected in (("weak_bridge", bridges), ("missing_middle", gaps)):
        seeds = [s for s in topology.scout(view, [shape], LIMITS).seeds if s.level == 2]
        found = {}
        for seed in seeds:
            sides = [
                {of[m.node_id] for m in seed.members if m.role == r} for r in ("side_a", "side_b")
            ]
            assert [len(side) for side in sides] == [1, 1]
            found[tuple(sorted(side.pop() for side in sides))] = seed.score
        assert found == expected


def test_the_records_do_have_both():
    kinds = [
        seed.kind
        for number in range(30)
        for seed in topology.scout(record(number), None, LIMITS).seeds
        if seed.level == 2
    ]
    assert kinds.count("theme") > 10
    assert kinds.count("gap") > 5
