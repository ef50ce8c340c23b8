"""What every shape that is found must do, without being listed here."""
# ruff: noqa: S311 - seeded graphs, not secrets

import random
from pathlib import Path
from string import Formatter

import numpy as np
import pytest

from graphstore import plugins
from graphstore.model.view import (
    CONCEPT,
    CONTAINMENT,
    EVOLVING,
    LINK,
    MENTION,
    OPEN,
    QUESTION,
    STOP,
    THREAD,
    EdgeRow,
    GraphView,
    NodeRow,
    from_edges,
)
from topology.model import Limits
from topology.scout import GROUP, PACKAGE, scout, shape_names
from topology.structure import Structure

shapes = pytest.mark.parametrize("name", shape_names())


def load(name):
    return plugins.load(PACKAGE, name, GROUP, ("NAME", "find"))


def concepts(n, pairs, **more):
    """A graph of concepts alone, each known from a turn of a thread of its own."""
    nodes = [NodeRow(f"c:{at:06d}", CONCEPT, None, ((f"s:{at}", 1),), df=2) for at in range(n)]
    edges = [
        EdgeRow(f"c:{a:06d}", f"c:{b:06d}", LINK, ((f"s:{a}", 1),), arc=EVOLVING) for a, b in pairs
    ]
    return from_edges(nodes, edges, **more)


def record(rng, threads=14, words=24, hubs=0):
    """A random record: rows of nodes and of edges."""
    nodes, edges = [], []
    seen: dict[str, tuple[str, int]] = {}
    for at in range(threads):
        name = f"s:{at:03d}"
        nodes.append(NodeRow(name, THREAD, name, ((name, 1),), rng.randrange(900)))
        for number in range(rng.randint(0, 4)):
            turn, question = (name, 2 * number + 3), f"q:{at:03d}-{number}"
            flags = OPEN if rng.random() < 0.5 else 0
            nodes.append(NodeRow(question, QUESTION, name, (turn,), rng.randrange(900), flags))
            edges.append(EdgeRow(name, question, CONTAINMENT, (turn,)))
            for _ in range(rng.randint(1, 3)):
                word = f"c:{rng.randrange(words):03d}"
                seen.setdefault(word, turn)
                edges.append(EdgeRow(question, word, MENTION, (turn,)))
    questions = [row for row in nodes if row.kind == QUESTION]
    for _ in range(rng.randint(0, 12)):
        a, b = rng.choice(questions), rng.choice(questions)
        arc = EVOLVING if rng.random() < 0.6 else None
        edges.append(EdgeRow(a.id, b.id, LINK, b.turns, arc=arc))
    nodes += [NodeRow(word, CONCEPT, None, (turn,)) for word, turn in seen.items()]
    for at in range(hubs):
        nodes.append(NodeRow(f"c:hub-{at}", CONCEPT, None, (), flags=STOP))
        edges += [
            EdgeRow(f"s:{t:03d}", f"c:hub-{at}", MENTION, ((f"s:{t:03d}", 1),))
            for t in range(threads)
        ]
    return nodes, edges


def clique_chain(cliques, size=5):
    pairs = []
    for at in range(cliques):
        nodes = range(at * size, (at + 1) * size)
        pairs += [(a, b) for a in nodes for b in nodes if a < b]
        if at:
            pairs.append((at * size - 1, at * size))
    return concepts(cliques * size, pairs)


EXTREME = {
    "empty": lambda: concepts(0, []),
    "one node": lambda: concepts(1, []),
    "one edge": lambda: concepts(2, [(0, 1)]),
    "complete": lambda: concepts(12, [(a, b) for b in range(12) for a in range(b)]),
    "star": lambda: concepts(30, [(0, at) for at in range(1, 30)]),
    "path": lambda: concepts(20_000, [(at, at + 1) for at in range(19_999)]),
    "two components": lambda: concepts(8, [(0, 1), (1, 2), (2, 0), (4, 5), (5, 6), (6, 7)]),
    "ring": lambda: concepts(9, [(at, (at + 1) % 9) for at in range(9)]),
    "only hubs": lambda: from_edges(
        [NodeRow(f"c:{at}", CONCEPT, flags=STOP) for at in range(5)], [EdgeRow("c:0", "c:1")]
    ),
}


@shapes
@pytest.mark.parametrize("graph", EXTREME)
@pytest.mark.parametrize("has_refs", [True, False])
def test_extreme_graphs_do_not_fail(name, graph, has_refs):
    view = EXTREME[graph]()
    view = view if has_refs else without_refs(view)
    for seed in scout(view, [name], Limits(top=3)).seeds:
        assert seed.shape == name


def without_refs(view):
    fields = {field: getattr(view, field) for field in view.__slots__}
    return type(view)(**{**fields, "has_refs": False})


@shapes
def test_seeds_are_the_same_on_shuffled_input(name):
    for number in range(40):
        rng = random.Random(number)
        nodes, edges = record(rng, hubs=number % 3)
        first = scout(from_edges(nodes, edges), [name], Limits(k_min=2))
        rng.shuffle(nodes)
        rng.shuffle(edges)
        assert scout(from_edges(nodes, edges), [name], Limits(k_min=2)) == first


@shapes
def test_renaming_in_the_same_order_only_renames(name):
    for number in range(20):
        nodes, edges = record(random.Random(number))
        view = from_edges(nodes, edges)
        other = from_edges(*renamed(nodes, edges))
        names = dict(zip(view.ids, other.ids, strict=True))
        found, again = (scout(one, [name], Limits(k_min=2)).seeds for one in (view, other))
        assert [(s.score, s.kind, s.level, s.numbers, s.sentence) for s in found] == [
            (s.score, s.kind, s.level, s.numbers, s.sentence) for s in again
        ]
        assert [[names[m.node_id] for m in s.members] for s in found] == [
            [m.node_id for m in s.members] for s in again
        ]


def renamed(nodes, edges):
    def name(text):
        return text.replace(":", ":x-")

    def turns(found):
        return tuple((name(thread), turn) for thread, turn in found)

    return (
        [
            NodeRow(
                name(r.id), r.kind, r.lineage and name(r.lineage), turns(r.turns), r.day, r.flags
            )
            for r in nodes
        ],
        [EdgeRow(name(r.a), name(r.b), r.role, turns(r.turns), r.weight, r.arc) for r in edges],
    )


@shapes
def test_scores_fall_members_exist_and_sentences_can_be_filled(name):
    for number in range(40):
        view = from_edges(*record(random.Random(number), hubs=number % 2))
        graph = Structure(view, Limits(k_min=2))
        seeds = list(load(name).find(graph, Limits(k_min=2)))
        scores = [seed.score for seed in seeds]
        assert scores == sorted(scores, reverse=True)
        assert len({seed.seed_id for seed in seeds}) == len(seeds)
        for seed in seeds:
            assert {member.node_id for member in seed.members} <= {*view.ids, *view.lineages}
            assert placeholders(seed.sentence) <= words(seed)
            assert seed.refs


def placeholders(sentence):
    return {field for _, field, _, _ in Formatter().parse(sentence) if field}


def words(seed):
    found = {amount.name for amount in seed.numbers} | {"hub_list"}
    for role in ("cut", "side_a", "side_b", "via", "member"):
        count = sum(member.role == role for member in seed.members)
        found |= {role, *(f"{role}_{at}" for at in range(1, count + 1))} if count else set()
    return found


@shapes
def test_caps_hold_on_fifty_thousand_edges_of_chained_cliques(name):
    view = chained()
    limits = Limits(top=5, cycle_work=20_000, wedges=20_000)
    scouted = scout(view, [name], limits)
    assert len(scouted.seeds) <= limits.top
    assert scouted.metrics[0].tried <= 5 * limits.top
    assert all(len(seed.refs) <= 24 for seed in scouted.seeds)
    assert all(len(seed.members) <= 104 for seed in scouted.seeds)


_CHAIN: list[GraphView] = []


def chained():
    if not _CHAIN:
        _CHAIN.append(clique_chain(4600))
        assert len(_CHAIN[0].u) > 50_000
    return _CHAIN[0]


@shapes
def test_adding_a_concept_to_every_thread_keeps_the_seed_ids(name):
    for number in range(20):
        nodes, edges = record(random.Random(number), threads=24)
        plain = scout(from_edges(nodes, edges), [name], Limits(k_min=2))
        nodes.append(NodeRow("c:everywhere", CONCEPT, None, (("s:000", 1),)))
        edges += [
            EdgeRow(f"s:{at:03d}", "c:everywhere", MENTION, ((f"s:{at:03d}", 1),))
            for at in range(24)
        ]
        joined = scout(from_edges(nodes, edges), [name], Limits(k_min=2))
        assert {s.seed_id for s in joined.seeds} == {s.seed_id for s in plain.seeds}
        hubs = [hub.concept_id for hub in joined.hidden_hubs if hub.rule == "df"]
        assert hubs[:1] == ["c:everywhere"]


@shapes
def test_each_names_the_test_that_compares_it_with_another_implementation(name):
    here = Path(__file__).parents[2]
    texts = [path.read_text("utf-8") for path in (here / "property").glob("test_*.py")]
    (found,) = [text for text in texts if f"\ndef {load(name).ORACLE}(" in text]
    assert "import networkx" in found or "combinations(" in found


def test_every_reported_cut_parts_its_graph_when_taken_out():
    for number in range(60):
        view = from_edges(*record(random.Random(number)))
        graph = Structure(view, Limits())
        for seed in scout(view, ["cut_point", "weak_bridge"], Limits(k_min=2, top=5)).seeds:
            level = graph.level(seed.level or 0)
            cut = [member.node_id for member in seed.members if member.role == "cut"]
            assert parts(graph, level, cut) > parts(graph, level, [])


def parts(graph, level, cut):
    """Components of a level without the cut node or the cut edges, the node not counted."""
    names = [graph.node_id(level, node) for node in range(level.n)]
    pairs = {frozenset((names[a], names[b])) for a, b in zip(level.u, level.v, strict=True)}
    taken = {frozenset(cut[at : at + 2]) for at in range(0, len(cut), 2)} if len(cut) > 1 else set()
    gone = set(cut) if len(cut) == 1 else set()
    near: dict[str, set[str]] = {name: set() for name in names if name not in gone}
    for pair in pairs - taken:
        a, b = sorted(pair)
        if not pair & gone:
            near[a].add(b)
            near[b].add(a)
    count, unseen = 0, set(near)
    while unseen:
        count, todo = count + 1, [unseen.pop()]
        while todo:
            fresh = near[todo.pop()] & unseen
            unseen -= fresh
            todo += fresh
    return count


def test_an_array_of_a_view_is_never_changed_by_scouting():
    view = from_edges(*record(random.Random(3), hubs=2))
    before = {name: np.copy(getattr(view, name)) for name in ("u", "v", "weight", "df", "day")}
    scout(view, None, Limits(k_min=2))
    assert all(np.array_equal(getattr(view, name), value) for name, value in before.items())
