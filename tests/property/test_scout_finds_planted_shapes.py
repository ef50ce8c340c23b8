"""Planted shapes must come out near the top, also under stop words that every thread uses."""
# ruff: noqa: S311 - seeded graphs, not secrets

import random
from bisect import bisect
from collections import Counter
from itertools import accumulate, combinations, pairwise
from math import sqrt

import pytest

from graphstore.model.view import (
    CONCEPT,
    CONTAINMENT,
    EVOLVING,
    LINK,
    MENTION,
    QUESTION,
    STOP,
    THREAD,
    EdgeRow,
    NodeRow,
    from_edges,
)
from topology.model import Limits
from topology.scout import scout

TODAY = 20_000
TOP = {"weak_bridge": 3, "cut_point": 5, "island": 5, "cycle": 5, "knot": 5, "missing_middle": 5}


class Record:
    """Threads that ask questions that mention concepts, written row by row."""

    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.nodes, self.edges = {}, []
        self.turns: Counter[str] = Counter()
        self.questions: Counter[str] = Counter()
        self.days = {}

    def thread(self, name, day=None):
        self.days[name] = TODAY - self.rng.randrange(700) if day is None else day
        self.nodes[name] = NodeRow(name, THREAD, name, ((name, 1),), self.days[name])
        return name

    def ask(self, thread, *concepts):
        self.turns[thread] += 2
        turn = (thread, self.turns[thread])
        self.questions[thread] += 1
        question = f"q:{thread[2:]}-{self.questions[thread]:03d}"
        self.nodes[question] = NodeRow(question, QUESTION, thread, (turn,), self.days[thread])
        self.edges.append(EdgeRow(thread, question, CONTAINMENT, (turn,)))
        for concept in concepts:
            self.mention(question, concept, turn)
        return question

    def mention(self, holder, concept, turn, flags=0):
        self.nodes.setdefault(concept, NodeRow(concept, CONCEPT, None, (turn,), flags=flags))
        self.edges.append(EdgeRow(holder, concept, MENTION, (turn,)))

    def link(self, older, newer, arc=None):
        turn = self.nodes[newer].turns[0]
        self.edges.append(EdgeRow(older, newer, LINK, (turn,), arc=arc))

    def view(self):
        return from_edges(self.nodes.values(), self.edges)


def background(record, edges):
    """Topics with their own Zipf vocabulary, a shared one, true islands, and cross links."""
    rng = record.rng
    threads, concepts = int(edges / 5.6 / 7), int(edges / 9)
    topics = max(8, int(sqrt(threads)))
    own = concepts // topics
    zipf = list(accumulate(1 / rank for rank in range(1, own + 1)))
    names = [record.thread(f"s:{at:05d}") for at in range(threads)]
    topic = {name: rng.randrange(topics) for name in names}
    alone = {name for name in names if rng.random() < 0.02}
    asked = []
    for _ in range(int(edges / 5.6)):
        thread = rng.choice(names)
        rank = [bisect(zipf, rng.random() * zipf[-1]) for _ in range(many(rng))]
        words = [f"c:{thread[2:]}-{at % 5}" for at in rank]
        if thread not in alone:
            home = [topic[thread] if rng.random() < 0.8 else rng.randrange(topics) for _ in rank]
            words = [f"c:{place:03d}-{at:04d}" for place, at in zip(home, rank, strict=True)]
        before = record.questions[thread]
        question = record.ask(thread, *words)
        if before and rng.random() < 0.5:
            record.link(f"q:{thread[2:]}-{before:03d}", question)
        if thread not in alone:
            asked.append(question)
            if rng.random() < 0.05:
                other = rng.choice(asked)
                record.link(min(other, question), max(other, question))
    return [name for name in names if name not in alone and record.questions[name]]


def many(rng):
    return min(20, 1 + int(rng.expovariate(1 / 3.4)))


def group(record, name, threads, words, day=None):
    """Threads that share a vocabulary of their own, densely."""
    made = [record.thread(f"s:{name}-{at:02d}", day) for at in range(threads)]
    vocabulary = [f"c:{name}-{at:02d}" for at in range(words)]
    for at, thread in enumerate(made):
        for step in range(3):
            chosen = [vocabulary[(at + step * 2 + more) % words] for more in range(3)]
            record.ask(thread, *chosen)
    return made


def plant(record, known):
    """One shape of each kind; the ids by which each is known again."""
    rng = record.rng
    anchors = rng.sample(familiar(record, known), 3)
    bridge = group(record, "bridge", 8, 10)
    record.ask(bridge[0], "c:bridge-00", "c:bridge-01")
    record.mention("q:bridge-00-001", anchors[0], record.nodes["q:bridge-00-001"].turns[0])

    cut = group(record, "cut", 16, 18)
    for thread in (cut[0], cut[5], cut[9], *rng.sample(known, 3)):
        record.ask(thread, "c:the-cut")
    for thread in (cut[0], cut[5], cut[9]):
        record.ask(thread, "c:cut-00", "c:cut-03")

    island = group(record, "island", 3, 5, day=TODAY)

    loop = rng.sample(known, 5)
    turns = [record.ask(thread, anchors[1]) for thread in loop]
    for older, newer in pairwise([*turns, turns[0]]):
        record.link(older, newer, EVOLVING)

    knot = [record.thread(f"s:knot-{at}") for at in range(7)]
    words = [f"c:knot-{at}" for at in range(7)]
    asked = [record.ask(thread, *words) for thread in knot]
    for one, other in combinations(asked, 2):
        record.link(one, other)
    record.mention(asked[0], anchors[2], record.nodes[asked[0]].turns[0])

    left, right = (known[0:8:2], known[1:9:2])
    for at in range(24):
        for _ in range(2):
            record.ask(left[at % 4], "c:this", f"c:middle-{at:02d}")
            record.ask(right[at % 4], "c:that", f"c:middle-{at:02d}")
    return {
        "weak_bridge": {"s:bridge-00", anchors[0]},
        "cut_point": {"c:the-cut"},
        "island": set(island),
        "cycle": set(loop),
        "knot": set(knot),
        "missing_middle": {"c:this", "c:that"},
    }


def familiar(record, known):
    """Concepts that three to eight threads of the background mention."""
    names = set(known)
    users: dict[str, set[str]] = {}
    for row in record.edges:
        thread = record.nodes[row.a].lineage
        if row.role == MENTION and thread in names:
            users.setdefault(row.b, set()).add(thread)
    return sorted(concept for concept, threads in users.items() if 3 <= len(threads) <= 8)


def add_hubs(record, count):
    for at in range(count):
        for thread, turns in list(record.turns.items()):
            record.mention(thread, f"c:hub-{at:02d}", (thread, turns), STOP)


def is_it(shape, seed, wanted):
    roles = {"weak_bridge": ("cut",), "cut_point": ("cut",), "missing_middle": ("side_a", "side_b")}
    members = {m.node_id for m in seed.members if m.role in roles.get(shape, (m.role,))}
    exact = shape in {"weak_bridge", "cut_point", "missing_middle"}
    return members == wanted if exact else wanted <= members


def found_planted(seed, *, hubs, edges=2500):
    """Rank at which each planted shape is reported, 0 where it is not."""
    record = Record(seed)
    wanted = plant(record, background(record, edges))
    add_hubs(record, hubs)
    scouted = scout(record.view(), None, Limits())
    assert scouted.false_positives == 0
    return {
        shape: next(
            (s.rank for s in scouted.seeds if s.shape == shape and is_it(shape, s, members)), 0
        )
        for shape, members in wanted.items()
    }


def shares(ranks):
    return {
        shape: sum(1 <= rank[shape] <= top for rank in ranks) / len(ranks)
        for shape, top in TOP.items()
    }


@pytest.mark.parametrize("hubs", [0, 20])
def test_each_planted_shape_is_near_the_top(hubs):
    ranks = [found_planted(seed, hubs=hubs) for seed in range(4)]
    assert shares(ranks) == dict.fromkeys(TOP, 1.0)


@pytest.mark.slow
def test_planted_shapes_under_stop_words_in_two_hundred_records(capsys):
    found = shares([found_planted(seed, hubs=20) for seed in range(200)])
    with capsys.disabled():
        print({shape: f"{share:.1%}" for shape, share in found.items()})  # noqa: T201
    assert found["weak_bridge"] == 1.0
    assert min(found.values()) >= 0.95
