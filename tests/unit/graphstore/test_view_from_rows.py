"""A view from rows: canonical positions, collapsed pairs, df, and a hash of all of it."""
# ruff: noqa: S311 - seeded graphs, not secrets

import random
from dataclasses import fields, replace

import numpy as np
import pytest

from graphstore.model.view import (
    CONCEPT,
    CONCEPT_LINEAGE,
    CONTAINMENT,
    EVOLVING,
    LINK,
    MENTION,
    NO_DAY,
    QUESTION,
    SHARED_LINEAGE,
    THREAD,
    VOICED,
    EdgeRow,
    NodeRow,
    Route,
    from_edges,
    view_hash,
)

NODES = [
    NodeRow("s:1", THREAD, "s:1", (("s:1", 1),), 10),
    NodeRow("s:2", THREAD, "s:2", (("s:2", 1),), 11),
    NodeRow("s:3", THREAD, "s:1", (("s:3", 1),)),
    NodeRow("q:a", QUESTION, "s:1", (("s:1", 3), ("s:1", 1)), 10),
    NodeRow("q:both", QUESTION, None, (("s:2", 5),), 12),
    NodeRow("c:x", CONCEPT, None, (("s:1", 3),)),
    NodeRow("c:y", CONCEPT),
]
EDGES = [
    EdgeRow("s:1", "q:a", CONTAINMENT, (("s:1", 3),)),
    EdgeRow("q:a", "c:x", MENTION, (("s:1", 3),)),
    EdgeRow("c:x", "q:a", MENTION, (("s:1", 3), ("s:1", 7))),
    EdgeRow("s:1", "q:both", LINK, (("s:1", 9),)),
    EdgeRow("s:2", "q:both", LINK, (("s:2", 5),)),
    EdgeRow("q:both", "c:x", MENTION, (("s:2", 5),)),
    EdgeRow("s:3", "c:y", MENTION),
    EdgeRow("c:x", "c:x", LINK),
    EdgeRow("q:a", "q:both", LINK, weight=2, arc=EVOLVING),
]


def edge(view, a, b):
    ends = sorted((view.ids.index(a), view.ids.index(b)))
    (at,) = np.flatnonzero((view.u == ends[0]) & (view.v == ends[1]))
    return int(at)


def test_nodes_are_sorted_by_kind_then_bytes_and_edges_by_ends():
    view = from_edges(NODES, EDGES)
    assert view.ids == ("s:1", "s:2", "s:3", "q:a", "q:both", "c:x", "c:y")
    pairs = list(zip(view.u.tolist(), view.v.tolist(), strict=True))
    assert pairs == sorted(pairs)
    assert all(a < b for a, b in pairs)


def test_rows_of_one_pair_become_one_edge_that_counts_distinct_turns():
    view = from_edges(NODES, EDGES)
    at = edge(view, "q:a", "c:x")
    assert int(view.weight[at]) == 2
    assert (int(view.edge_ref_thread[at]), int(view.edge_ref_turn[at])) == (0, 3)
    assert view.collapsed_rows == 1
    assert view.self_loops == 1


def test_a_pair_without_turns_keeps_the_weights_given():
    view = from_edges(NODES, EDGES)
    at = edge(view, "q:a", "q:both")
    assert (int(view.weight[at]), int(view.edge_ref_thread[at])) == (2, -1)
    assert view.arcs.tolist() == [[view.ids.index("q:a"), view.ids.index("q:both"), EVOLVING]]


def test_roles_of_all_rows_are_united():
    view = from_edges(NODES, [*EDGES, EdgeRow("q:a", "s:1", LINK)])
    assert int(view.roles[edge(view, "s:1", "q:a")]) == CONTAINMENT | LINK | VOICED
    quiet = from_edges(NODES, [replace(row, voiced=False) for row in EDGES])
    assert int(quiet.roles[edge(quiet, "s:1", "q:a")]) == CONTAINMENT


def test_lineages_are_numbered_by_root_and_unknown_ones_are_marked():
    view = from_edges(NODES, EDGES)
    assert view.lineages == ("s:1", "s:2")
    assert view.lineage.tolist() == [0, 1, 0, 0, SHARED_LINEAGE, CONCEPT_LINEAGE, CONCEPT_LINEAGE]


def test_df_counts_lineages_and_a_shared_question_stands_for_its_threads():
    view = from_edges(NODES, EDGES)
    assert int(view.df[view.ids.index("c:x")]) == 2
    assert int(view.df[view.ids.index("c:y")]) == 1


def test_df_given_by_the_caller_wins():
    rows = [replace(row, df=9) if row.id == "c:y" else row for row in NODES]
    assert int(from_edges(rows, EDGES).df[-1]) == 9


def test_smallest_turn_speaks_for_a_node_and_unknown_time_stays_unknown():
    view = from_edges(NODES, EDGES)
    at = view.ids.index("q:a")
    assert (int(view.ref_thread[at]), int(view.ref_turn[at])) == (0, 1)
    assert int(view.day[view.ids.index("s:3")]) == NO_DAY
    assert view.undated == 3


def test_order_of_rows_changes_nothing():
    first = view_hash(from_edges(NODES, EDGES))
    for seed in range(10):
        rng = random.Random(seed)
        nodes, edges = NODES[:], EDGES[:]
        rng.shuffle(nodes)
        rng.shuffle(edges)
        assert view_hash(from_edges(nodes, edges)) == first


def test_an_end_that_is_no_node_is_an_error():
    with pytest.raises(KeyError):
        from_edges(NODES, [EdgeRow("q:a", "c:none")])


def test_an_empty_view_has_a_hash():
    view = from_edges([], [])
    assert view.ids == ()
    assert view_hash(view).startswith("b2:")


ARRAYS = [
    field.name
    for field in fields(from_edges([], []))
    if field.name
    not in {
        *("ids", "labels", "threads", "lineages", "journeys"),
        *("collapsed_rows", "self_loops", "undated", "dreamt_rows", "has_refs"),
    }
]


@pytest.mark.parametrize("name", ARRAYS)
def test_hash_depends_on_every_array(name):
    view = from_edges(NODES, EDGES)
    changed = getattr(view, name).copy()
    changed.flat[0] += 1
    assert view_hash(replace(view, **{name: changed})) != view_hash(view)


def test_hash_depends_on_names_and_journeys():
    view = from_edges(NODES, EDGES)
    route = Route("j:1", (3,), ("thread:s:1#turn:3",))
    changed = [
        replace(view, threads=("x", *view.threads[1:])),
        replace(view, lineages=("x", *view.lineages[1:])),
        replace(view, labels=("x", *view.labels[1:])),
        replace(view, ids=("x", *view.ids[1:])),
        replace(view, journeys=(route,)),
        replace(view, has_refs=False),
    ]
    assert len({view_hash(one) for one in (view, *changed)}) == 7


def test_hash_does_not_depend_on_the_byte_order_of_the_machine():
    view = from_edges(NODES, EDGES)
    swapped = view.u.astype(view.u.dtype.newbyteorder(">"))
    assert view_hash(replace(view, u=swapped)) == view_hash(view)
