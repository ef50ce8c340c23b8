import math

import pytest

from graphstore.company import (
    Bounds,
    Meeting,
    Posting,
    counts,
    crowded,
    floor,
    keeps,
    meeting,
    pairs,
    relation,
)

BOUNDS = Bounds(lineages=9, turns=40)


def named(df: int, **threads: set[int]) -> dict[str, Posting]:
    return {thread: Posting(df, frozenset(turns)) for thread, turns in threads.items()}


def shared(a: dict[str, Posting], b: dict[str, Posting]) -> Meeting:
    found = meeting("a", "b", a, b, BOUNDS)
    assert found is not None
    return found


def met(threads: int, turns: int, information: float) -> Meeting:
    return Meeting("a", "b", turns, threads, information, ())


def test_a_pair_of_two_threads_by_hand():
    found = shared(named(3, x={1}, y={1}, z={1}), named(2, x={2}, y={1}))
    assert (found.turns, found.threads) == (1, 2)
    assert found.information == pytest.approx(math.log(9 * 2 / (3 * 2)), abs=1e-6)
    assert not found.local


def test_a_pair_of_one_thread_is_counted_in_turns():
    found = shared(named(3, x={1, 2, 3}), named(1, x={1, 2}))
    assert (found.turns, found.threads, found.local) == (2, 1, True)
    assert found.information == pytest.approx(math.log(40 * 2 / (5 * 2)), abs=1e-6)


def test_one_shared_turn_is_no_pair():
    assert meeting("a", "b", named(1, x={1}), named(1, x={1}), BOUNDS) is None
    assert meeting("a", "b", named(1, x={1}), named(1, y={1}), BOUNDS) is None


def test_a_pair_tells_the_turns_that_name_both_or_one_for_each():
    both = shared(named(2, x={1, 4}, y={2}), named(2, x={1, 4}, y={3}))
    assert both.refs == ("thread:x#turn:1", "thread:x#turn:4")
    apart = shared(named(2, x={5, 4}, y={2}), named(2, x={1}, y={3}))
    assert apart.refs == (
        "thread:x#turn:1",
        "thread:x#turn:4",
        "thread:y#turn:2",
        "thread:y#turn:3",
    )


def test_every_pair_of_some_concepts_comes_once_in_id_order():
    postings = {
        "c": named(2, x={1, 2}, y={1}),
        "a": named(2, x={1, 2}, y={1}),
        "b": named(1, x={9}),
    }
    assert [(one.first, one.second) for one in pairs(postings, BOUNDS)] == [("a", "c")]


def test_the_floor_is_the_lower_quantile_of_pairs_of_several_threads():
    several = [met(2, 0, float(n)) for n in range(1, 6)]
    assert floor([*several, met(1, 2, 99.0)]) == 4.0
    assert floor([met(1, 2, 3.0)]) == 3.0
    assert floor([]) == 0


def test_a_pair_counts_above_the_floor_and_above_chance():
    assert counts(met(2, 0, 0.1), Bounds())
    assert not counts(met(2, 0, 0.0), Bounds(floor=-1.0))
    assert not counts(met(2, 0, 2.0), Bounds(floor=2.0))


def test_a_concept_of_most_lineages_never_surprises():
    assert crowded(9, BOUNDS)
    assert not crowded(8, BOUNDS)
    assert crowded(3, Bounds(lineages=9, floor=1.5))
    assert not crowded(1, Bounds())


@pytest.mark.parametrize(
    ("several", "local", "kept"),
    [(0, 0, 0), (0, 2, 2), (0, 9, 3), (2, 9, 3), (3, 9, 3), (5, 9, 5), (12, 0, 10), (9, 4, 9)],
)
def test_a_concept_keeps_ten_pairs_of_several_threads_and_three_of_one(several, local, kept):
    ranked = ([False] * several + [True] * local)[:10]
    assert keeps(ranked) == kept


def test_a_relation_says_how_often_its_concepts_meet():
    row = relation(Meeting("a", "b", 1, 3, 0.7, ("thread:x#turn:1",)))
    assert (row.src, row.dst, row.weight) == ("a", "b", 3.0)
    assert row.why == "together in 1 turns and 3 threads"
