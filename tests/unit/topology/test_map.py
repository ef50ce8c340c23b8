"""Positions by node id."""

from topology import engine
from topology.map import positions

NODES = ("a", "b", "c", "d", "e", "f", "g")
EDGES = [("a", "b"), ("b", "c"), ("c", "a"), ("c", "d"), ("d", "e"), ("e", "f"), ("f", "stranger")]


def test_every_node_has_a_place_of_its_own():
    found = positions(NODES, EDGES)
    assert set(found) == set(NODES)
    assert len(set(found.values())) == len(NODES)


def test_the_same_input_gives_the_same_places():
    assert positions(NODES, EDGES) == positions(NODES, list(reversed(EDGES)))


def test_a_grown_map_starts_from_the_places_it_had():
    before = positions(NODES, EDGES)
    after = positions((*NODES, "h"), [*EDGES, ("f", "h")], {**before, "gone": (1.0, 1.0)})
    assert set(after) == {*NODES, "h"}


def test_without_the_engine_there_are_no_places(monkeypatch):
    monkeypatch.setattr(engine, "is_available", lambda: False)
    assert positions(NODES, EDGES) == {}
