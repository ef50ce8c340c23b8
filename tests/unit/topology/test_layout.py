"""Positions of the map: stable, packed, and the same every time."""

import random

import numpy as np
import pytest

from topology.layout import layout


def ring(n, first=0):
    return [(first + at, first + (at + 1) % n) for at in range(n)]


def spread(points):
    return float(np.abs(points - points.mean(axis=0)).max())


def test_no_node_has_no_position():
    assert layout(0, np.empty((0, 2), np.int64)).shape == (0, 2)


def test_single_nodes_and_small_groups_get_places_of_their_own():
    placed = layout(7, np.array([(0, 1), (1, 2), (3, 4)]))
    assert np.isfinite(placed).all()
    assert len(np.unique(placed.round(6), axis=0)) == 7


def test_many_single_nodes_fill_ring_after_ring():
    placed = layout(300, np.empty((0, 2), np.int64))
    apart = np.linalg.norm(placed[:, None] - placed[None], axis=2) + np.eye(300) * 9
    assert apart.min() > 1
    assert np.abs(placed).max() < 60


def test_the_same_graph_gives_the_same_map_and_leaves_random_alone():
    edges = np.array(ring(30))
    random.seed(1)
    expected = random.random()  # noqa: S311 - the generator itself is under test
    random.seed(1)
    first = layout(30, edges)
    assert random.random() == expected  # noqa: S311 - the generator itself is under test
    assert np.array_equal(first, layout(30, edges))


def test_loops_parallels_and_direction_do_not_matter():
    edges = ring(12)
    noisy = [*edges, (3, 3), *((b, a) for a, b in edges)]
    assert np.array_equal(layout(12, np.array(edges)), layout(12, np.array(noisy)))


def test_components_do_not_overlap():
    sizes = (40, 20, 9, 6, 3, 1)
    edges: list[tuple[int, int]] = []
    first, spans = 0, []
    for size in sizes:
        edges += ring(size, first) if size > 2 else []
        spans.append(range(first, first + size))
        first += size
    placed = layout(first, np.array(edges))
    centres = [(placed[list(span)].mean(axis=0), spread(placed[list(span)])) for span in spans]
    for at, (one, radius) in enumerate(centres):
        for other, more in centres[at + 1 :]:
            assert np.linalg.norm(one - other) > max(radius, more)


def test_a_known_map_keeps_its_shape_better_than_a_fresh_start():
    edges = np.array(ring(60) + [(at, at + 30) for at in range(0, 30, 7)])
    before = layout(60, edges)
    grown = np.vstack((edges, [(59, 60)]))
    previous = np.vstack((before, [(np.nan, np.nan)]))
    after = layout(61, grown, previous)
    fresh = layout(61, grown)
    assert np.isfinite(after).all()
    assert np.abs(after[:60] - before).mean() < np.abs(fresh[:60] - before).mean() + 1e-9


def test_a_previous_map_without_this_component_is_no_help_and_no_harm():
    unknown = np.full((12, 2), np.nan)
    edges = np.array(ring(12))
    assert np.array_equal(layout(12, edges, unknown), layout(12, edges))


@pytest.mark.slow
def test_fifty_thousand_nodes_are_placed():
    rng = np.random.default_rng(7)
    placed = layout(50_000, rng.integers(0, 50_000, (90_000, 2)))
    assert np.isfinite(placed).all()
