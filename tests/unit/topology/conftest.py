"""Small views for the scout, written as a person would say them."""

from dataclasses import replace

import pytest

from graphstore.model.view import (
    CONCEPT,
    CONTAINMENT,
    LINK,
    MENTION,
    QUESTION,
    THREAD,
    WAYPOINT,
    EdgeRow,
    NodeRow,
    from_edges,
)

KINDS = {"s": THREAD, "q": QUESTION, "c": CONCEPT, "w": WAYPOINT}


class Sketch:
    """Rows of a view. ``s:`` threads, ``q:`` questions, ``c:`` concepts, ``w:`` waypoints."""

    def __init__(self):
        self.nodes, self.edges, self.turns = {}, [], {}

    def node(self, name, lineage=None, day=None, flags=0, turns=(), df=None, **more):
        kind = KINDS[name[0]]
        self.nodes[name] = NodeRow(name, kind, lineage, tuple(turns), day, flags, df, **more)
        return name

    def change(self, name, **fields):
        self.nodes[name] = replace(self.nodes[name], **fields)

    def thread(self, name, day=None, lineage=None, flags=0):
        return self.node(name, lineage or name, day, flags, [(name, 1)])

    def ask(self, thread, question, *concepts, day=None, flags=0):
        """A question of one thread, and the concepts that it mentions."""
        if thread not in self.nodes:
            self.thread(thread, day)
        turn = self.next_turn(thread)
        lineage = self.nodes[thread].lineage
        self.node(question, lineage, day, flags, [turn])
        self.edges.append(EdgeRow(thread, question, CONTAINMENT, (turn,)))
        for concept in concepts:
            self.mention(question, concept, turn)
        return question

    def next_turn(self, thread):
        self.turns[thread] = self.turns.get(thread, 1) + 2
        return thread, self.turns[thread]

    def mention(self, holder, concept, turn=None, flags=0):
        if concept not in self.nodes:
            self.node(concept, flags=flags, turns=[turn] if turn else ())
        self.edges.append(EdgeRow(holder, concept, MENTION, (turn,) if turn else ()))

    def link(self, a, b, arc=None, turn=None, role=LINK):
        found = turn or next(iter(self.nodes[b].turns), None)
        self.edges.append(EdgeRow(a, b, role, (found,) if found else (), arc=arc))

    def view(self, *, has_refs=True):
        return from_edges(self.nodes.values(), self.edges, has_refs=has_refs)


@pytest.fixture
def sketch():
    return Sketch()


@pytest.fixture
def two_groups():
    """Two groups of three threads each, joined by one mention: q:a-0 says c:b-0."""
    made = Sketch()
    for side in "ab":
        for at in range(3):
            words = [f"c:{side}-{at}", f"c:{side}-{(at + 1) % 3}"]
            made.ask(f"s:{side}{at}", f"q:{side}-{at}", *words, day=100 + at)
    made.mention("q:a-0", "c:b-0", ("s:a0", 3))
    return made
