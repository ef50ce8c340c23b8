"""Every shape against its definition, worked out slowly from the rows of random records."""

# ruff: noqa: S311 - seeded records, not secrets

import random
from collections import Counter
from dataclasses import replace
from itertools import combinations
from math import log2

import networkx as nx
import pytest

from graphstore.model.view import (
    CONCEPT,
    CONTAINMENT,
    EVOLVING,
    LINK,
    MENTION,
    PLAIN,
    QUESTION,
    THREAD,
    WAYPOINT,
    EdgeRow,
    NodeRow,
    Route,
    from_edges,
)
from topology.model import Limits
from topology.shapes import (
    cut_point,
    cycle,
    island,
    knot,
    missing_middle,
    shadow_route,
    weak_bridge,
)
from topology.structure import Structure

K_MIN = 2
LIMITS = Limits(k_min=K_MIN, side_threads=1, hub_df=100)
TWO = LIMITS.replace(side_threads=2)
SLOW = [pytest.param(seed, marks=pytest.mark.slow) for seed in range(40, 200)]
rounds = pytest.mark.parametrize("seed", [*range(40), *SLOW])
sides = pytest.mark.parametrize("limits", [LIMITS, TWO], ids=["one thread", "two threads"])


def told(said):
    """Whether a human turn or two turns state an edge."""
    return said["voiced"] or len(said["turns"]) > 1


class Rows:
    """A random record, and both of its levels as networkx graphs made by the definitions."""

    def __init__(self, seed, threads=8, questions=14):
        rng = random.Random(seed)
        self.nodes: dict[str, NodeRow] = {}
        self.edges: list[EdgeRow] = []
        threads = [f"s:{at:02d}" for at in range(rng.randint(1, threads))]
        for name in threads:
            root = rng.choice(threads[: threads.index(name) + 1]) if rng.random() < 0.2 else name
            root = self.nodes[root].lineage if root != name else name
            self.nodes[name] = NodeRow(name, THREAD, root, ((name, 1),))
        for at in range(rng.randint(1, questions)):
            self.ask(rng, f"q:{at:02d}", rng.choice(threads), threads)
        questions = [name for name in self.nodes if name[0] == "q"]
        for _ in range(rng.randint(0, 5)):
            a, b = rng.choice(questions), rng.choice(questions)
            if a != b:
                turn = self.nodes[b].turns
                self.edges.append(EdgeRow(a, b, LINK, turn, arc=rng.choice((None, EVOLVING))))
        self.edges = [replace(row, voiced=rng.random() < 0.8) for row in self.edges]
        for name in [name for name in self.nodes if name[0] == "c" and rng.random() < 0.3]:
            self.nodes[name] = replace(self.nodes[name], flags=PLAIN)
        self.graph = Structure(from_edges(self.nodes.values(), self.edges), LIMITS)

    def ask(self, rng, question, thread, threads):
        turn = (thread, rng.randrange(1, 40))
        shared = rng.random() < 0.15
        lineage = None if shared else self.nodes[thread].lineage
        self.nodes[question] = NodeRow(question, QUESTION, lineage, (turn,))
        for holder in rng.sample(threads, min(2, len(threads))) if shared else [thread]:
            self.edges.append(EdgeRow(holder, question, LINK if shared else CONTAINMENT, (turn,)))
        for _ in range(rng.randint(0, 3)):
            word = f"c:{rng.randrange(10)}"
            self.nodes.setdefault(word, NodeRow(word, CONCEPT, None, (turn,)))
            self.edges.append(EdgeRow(question, word, MENTION, (turn,)))

    def lineages(self, concept):
        """Lineages that mention a concept; a shared question speaks for its threads."""
        found: set[str] = set()
        for row in self.edges:
            if row.role == MENTION and row.b == concept:
                own = self.nodes[row.a].lineage
                found |= {own} if own else self.asked_in(row.a)
        return found

    def asked_in(self, question):
        holders = {row.a for row in self.edges if row.b == question and row.a[0] == "s"}
        return {self.nodes[thread].lineage for thread in holders}

    def level0(self):
        graph: nx.Graph[str] = nx.Graph()
        graph.add_nodes_from(self.nodes)
        for row in self.edges:
            before = graph.edges.get((row.a, row.b), {})
            inside = before.get("inside", False) or row.role == CONTAINMENT
            turns = before.get("turns", frozenset()) | frozenset(row.turns)
            voiced = before.get("voiced", False) or row.voiced
            graph.add_edge(row.a, row.b, inside=inside, turns=turns, voiced=voiced)
        return graph

    def level1(self):
        name = {}
        for node in self.nodes.values():
            if node.lineage:
                name[node.id] = node.lineage
            elif node.kind != CONCEPT or len(self.lineages(node.id)) > 1:
                name[node.id] = node.id
        graph: nx.Graph[str] = nx.Graph()
        graph.add_nodes_from(name.values())
        for row in self.edges:
            a, b = name.get(row.a), name.get(row.b)
            if a and b and a != b:
                before = graph.edges.get((a, b), {})
                turns = before.get("turns", frozenset()) | frozenset(row.turns)
                voiced = before.get("voiced", False) or row.voiced
                graph.add_edge(a, b, inside=False, turns=turns, voiced=voiced)
        return graph

    def is_plain(self, node):
        return bool(self.nodes[node].flags & PLAIN)

    def holds(self, graph, a, b):
        """Whether a cut may rest on an edge."""
        said = graph.edges[a, b]
        if self.is_plain(a) or self.is_plain(b):
            return said["voiced"]
        return told(said) or "c" in {a[0], b[0]}

    def levels(self):
        return {0: self.level0(), 1: self.level1()}

    def heads(self, piece):
        """Lineages of a piece: each counts where its first thread is."""
        first: dict[str, str] = {}
        for node in sorted(self.nodes.values(), key=lambda node: node.id):
            if node.kind == THREAD and node.lineage:
                first.setdefault(node.lineage, node.id)
        return len(piece & set(first.values())) if first else 0

    def names(self, level):
        return self.graph.node_ids(self.graph.level(level), range(self.graph.level(level).n))


def cut_of(seed):
    return tuple(sorted(member.node_id for member in seed.members if member.role == "cut"))


def sizes_without(graph, *, edges=(), node=None):
    """Nodes of each piece of the components that lose something."""
    left = graph.copy()
    left.remove_edges_from(edges)
    touched = set(graph.neighbors(node)) if node else {end for edge in edges for end in edge}
    if node:
        left.remove_node(node)
    return [piece for piece in nx.connected_components(left) if piece & touched]


@rounds
def test_levels_are_as_defined(seed):
    rows = Rows(seed)
    for number, expected in rows.levels().items():
        level, names = rows.graph.level(number), rows.names(number)
        assert sorted(names) == sorted(expected)
        found = {
            frozenset((names[a], names[b])): int(weight)
            for a, b, weight in zip(level.u, level.v, level.weight, strict=True)
        }
        assert found == {
            frozenset((a, b)): len(turns) for a, b, turns in expected.edges(data="turns")
        }


@rounds
@sides
def test_weak_bridges_are_those_that_removal_shows(seed, limits):
    rows = Rows(seed)
    expected = {}
    for number, graph in rows.levels().items():
        for a, b, inside in graph.edges(data="inside"):
            pieces = sizes_without(graph, edges=[(a, b)])
            if (
                len(pieces) == 2
                and min(map(len, pieces)) >= K_MIN
                and min(map(rows.heads, pieces)) >= limits.side_threads
                and not inside
                and rows.holds(graph, a, b)
            ):
                expected[number, tuple(sorted((a, b)))] = min(map(len, pieces))
    found = {}
    for one in weak_bridge.find(rows.graph, limits):
        if one.kind == "order_1":
            smaller = int(min(size.value for size in one.sizes))
            found[one.level, cut_of(one)] = smaller
            assert expected[one.level, cut_of(one)] == smaller
            assert one.score == round(log2(smaller) + 1 / (1 + one.weight), 6)
    for level, ends in expected.keys() - found.keys():
        assert level == 0  # told at level 1 instead
        above = tuple(sorted(rows.nodes[end].lineage or end for end in ends))
        assert (1, above) in found


@rounds
@sides
def test_pairs_of_order_two_part_together_and_hold_alone(seed, limits):
    rows = Rows(seed)
    levels = rows.levels()
    for one in weak_bridge.find(rows.graph, limits):
        if one.kind == "order_2":
            ends = [member.node_id for member in one.members if member.role == "cut"]
            edges, graph = [tuple(ends[:2]), tuple(ends[2:])], levels[one.level]
            pieces = sizes_without(graph, edges=edges)
            assert sorted(map(len, pieces)) == sorted(int(size.value) for size in one.sizes)
            assert min(map(rows.heads, pieces)) >= limits.side_threads
            assert all(len(sizes_without(graph, edges=[edge])) == 1 for edge in edges)
            assert all(rows.holds(graph, *edge) for edge in edges)
            assert len(set(ends)) == 4


@rounds
@sides
def test_cut_points_are_those_that_removal_shows(seed, limits):
    rows = Rows(seed)

    def is_counted(piece):
        return len(piece) >= K_MIN and rows.heads(piece) >= limits.side_threads

    expected, silent = {}, set()
    for number, graph in rows.levels().items():
        for node in graph:
            kind = rows.nodes[node].kind
            if kind not in ((QUESTION, CONCEPT) if number == 0 else (THREAD, CONCEPT)):
                continue
            pieces = [p for p in sizes_without(graph, node=node) if is_counted(p)]
            counted = sorted(map(len, pieces), reverse=True)
            if len(counted) > 1:
                expected[number, node] = counted
                tied = [
                    any(rows.holds(graph, node, near) for near in graph[node] if near in piece)
                    for piece in pieces
                ]
                if not all(tied):
                    silent.add((number, node))
    twice = {node for level, node in expected if (1 - level, node) in expected}
    expected = {key: value for key, value in expected.items() if key[0] or key[1] not in twice}
    found = {(one.level, *cut_of(one)): one for one in cut_point.find(rows.graph, limits)}
    assert found.keys() == expected.keys() - silent
    for key, one in found.items():
        assert sorted((int(size.value) for size in one.sizes), reverse=True) == expected[key]
        assert one.also_at == ((0,) if key[1] in twice else ())
        assert one.score == round(log2(expected[key][1]), 6)


@rounds
@sides
def test_islands_are_the_other_components_with_questions(seed, limits):
    rows = Rows(seed)
    order = {name: at for at, name in enumerate(rows.names(0))}
    pieces = sorted(
        nx.connected_components(rows.level0()),
        key=lambda piece: (-len(piece), min(order[name] for name in piece)),
    )
    expected = {
        frozenset(piece)
        for piece in pieces[1:]
        if len(piece) >= 3
        and any(name[0] == "q" for name in piece)
        and len({rows.nodes[name].lineage for name in piece} - {None}) >= limits.side_threads
    }
    found = {
        frozenset(member.node_id for member in one.members)
        for one in island.find(rows.graph, limits)
    }
    assert found == expected


@rounds
def test_missing_middles_are_the_open_pairs_of_adamic_and_adar(seed):
    rows = Rows(seed, threads=24, questions=90)
    said = {name: rows.lineages(name) for name in rows.nodes if name[0] == "c"}
    items = sorted(name for name, lineages in said.items() if len(lineages) > 1)
    near: nx.Graph[str] = nx.Graph()
    near.add_nodes_from(items)
    graph = rows.level0()
    together: Counter[tuple[str, str]] = Counter()
    for question in (name for name in rows.nodes if name[0] == "q"):
        words = {word for word in graph[question] if told(graph.edges[question, word])}
        together.update(combinations(sorted(words & set(items)), 2))
    near.add_edges_from(pair for pair, times in together.items() if times > 1)
    expected = {}
    for a, c in combinations(items, 2):
        between = set(near[a]) & set(near[c])
        if len(between) > 1 and not said[a] & said[c]:
            expected[a, c] = round(sum(1 / log2(1 + len(said[b])) for b in sorted(between)), 6)
    found = {}
    for one in missing_middle.find(rows.graph, LIMITS):
        ends = tuple(m.node_id for m in one.members if m.role in {"side_a", "side_b"})
        found[ends] = one.score
    assert found == pytest.approx(expected, abs=2e-6)


@rounds
def test_cycles_are_shortest_ones_of_three_threads(seed):
    rows = Rows(seed)
    level = rows.level1()
    arcs = {
        (rows.nodes[row.a].lineage or row.a, rows.nodes[row.b].lineage or row.b)
        for row in rows.edges
        if row.arc is not None
    }
    for one in cycle.find(rows.graph, LIMITS):
        nodes = [member.node_id for member in one.members]
        steps = list(zip(nodes, [*nodes[1:], nodes[0]], strict=True))
        if one.kind == "directed":
            assert set(steps) <= arcs
            continue
        assert all(told(level.edges[step]) for step in steps)
        for before, node, after in zip(
            [nodes[-1], *nodes], nodes, [*nodes[1:], nodes[0]], strict=False
        ):
            if rows.is_plain(node):
                assert any(level.edges[node, near]["voiced"] for near in (before, after))
        assert sum(map(rows.is_plain, nodes)) < sum(node[0] == "s" for node in nodes)
        assert sum(node[0] == "s" for node in nodes) >= 3
        assert 3 <= len(nodes) <= LIMITS.max_cycle
        assert len(set(nodes)) == len(nodes)


@rounds
def test_every_lineage_that_returns_along_arcs_is_seen(seed):
    rows = Rows(seed)
    arcs = nx.DiGraph(
        (rows.nodes[row.a].lineage, rows.nodes[row.b].lineage)
        for row in rows.edges
        if row.arc is not None and rows.nodes[row.a].lineage and rows.nodes[row.b].lineage
    )
    short = [loop for loop in nx.simple_cycles(arcs, length_bound=2) if len(loop) == 2]
    found = [
        {member.node_id for member in one.members}
        for one in cycle.find(rows.graph, LIMITS)
        if one.kind == "directed"
    ]
    for loop in short:
        assert any(set(loop) <= members or set(loop) == members for members in found)


def blobs(seed):
    """Groups of threads with words of their own, nearly all said by all, and a long tail."""
    rng = random.Random(seed)
    nodes, edges, pairs = {}, [], set()
    for blob in range(rng.randint(1, 3)):
        threads, words = (rng.randint(3, 6) for _ in range(2))
        chance = rng.choice((0.6, 0.8, 1.0))
        pairs |= {
            (f"s:{blob}-{a}", f"c:{blob}-{b}")
            for a in range(threads)
            for b in range(words)
            if rng.random() < chance
        }
        pairs.add((f"s:{blob}-0", "c:0-0"))
    pairs |= {
        (f"s:t{at}", f"c:t{at + step}") for at in range(rng.randint(0, 25)) for step in (0, 1)
    }
    for number, (thread, word) in enumerate(sorted(pairs)):
        turn = (thread, number + 2)
        nodes[thread] = NodeRow(thread, THREAD, thread, ((thread, 1),))
        nodes.setdefault(word, NodeRow(word, CONCEPT, None, (turn,)))
        edges.append(EdgeRow(thread, word, MENTION, (turn,)))
    return from_edges(nodes.values(), edges)


@rounds
def test_dense_knots_are_blocks_of_cores(seed):
    graph = Structure(blobs(seed), LIMITS)
    level = graph.level(1)
    whole: nx.Graph[str] = nx.Graph()
    names = graph.node_ids(level, range(level.n))
    whole.add_nodes_from(names)
    whole.add_edges_from((names[a], names[b]) for a, b in zip(level.u, level.v, strict=True))
    core = nx.core_number(whole)
    linked = sorted(k for k in core.values() if k)
    todo: list[tuple[set[str], int]] = [({*whole}, max(3, linked[(len(linked) - 1) // 2] + 2))]
    expected: set[frozenset[str]] = set()
    for inside, k in todo:
        dense = whole.subgraph(name for name in inside if core[name] >= k)
        for found_block in nx.biconnected_components(dense):
            block = {str(name) for name in found_block}
            if len(block) < 4 or sum(name[0] == "s" for name in block) < 3:
                continue
            if 4 * len(block) <= len(whole):
                expected.add(frozenset(block))
            elif max(core[name] for name in block) > k:
                todo.append((block, k + 1))
    found = [one for one in knot.find(graph, LIMITS) if one.kind == "dense"]
    assert {frozenset(m.node_id for m in one.members) for one in found} == expected
    for one in found:
        least = min(core[member.node_id] for member in one.members)
        assert one.score == pytest.approx(least * log2(len(one.members)), abs=2e-6)


def test_the_blobs_do_hold_knots():
    found = [one for seed in range(40) for one in knot.find(Structure(blobs(seed), LIMITS), LIMITS)]
    assert len(found) > 10


@rounds
def test_shadow_routes_are_the_pairs_of_journeys_with_a_common_turn(seed):
    rng = random.Random(seed)
    threads = [NodeRow(f"s:{at}", THREAD, f"s:{at}", ((f"s:{at}", 1),)) for at in range(8)]
    stops = [NodeRow(f"w:{at}", WAYPOINT, f"s:{at}", ((f"s:{at}", 2),)) for at in range(8)]
    edges = [EdgeRow(f"s:{at}", f"w:{at}", CONTAINMENT, ((f"s:{at}", 2),)) for at in range(8)]
    view = from_edges([*threads, *stops], edges)
    routes = []
    for at in range(8):
        refs = sorted({f"thread:s:{rng.randrange(8)}#turn:2" for _ in range(rng.randint(1, 3))})
        failed = tuple(ref for ref in refs if rng.random() < 0.3)
        routes.append(Route(f"j:{at}", (view.ids.index(f"w:{at}"),), tuple(refs), failed, None))
    expected = {}
    for one, other in combinations(routes, 2):
        common = {*one.refs} & {*other.refs}
        residue = common & ({*one.failed_refs} ^ {*other.failed_refs})
        if common:
            expected[one.journey_id, other.journey_id] = (len(common) + len(residue), bool(residue))
    graph = Structure(replace(view, journeys=tuple(routes)), LIMITS)
    found = {
        tuple(m.node_id for m in one.members): (one.score, one.kind == "residue")
        for one in shadow_route.find(graph, LIMITS)
    }
    assert found == expected
