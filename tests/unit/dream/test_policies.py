"""Retention says how much attention a draft deserves; the figures are fixed."""

import pytest

from dream.policies import Counts, jaccard, novelty, recency, retention

VECTORS = [
    ((2, 2, 2, 1, 1, 1, "amplification", 1, 1), 0.4930),
    ((4, 2, 4, 1, 1, 1, "amplification", 1, 0), 0.5191),
    ((4, 1, 2, 1, 1, 1, "compensatory", 1, 0.5), 0.5022),
    ((1, 1, 1, 1, 1, 0, "amplification", 0.5, 0.2), 0.2034),
    ((3, 1, 2, 1, 1, 1, "active_imagination", 0.75, 0.5), 0.4299),
    ((4, 3, 4, 3, 3, 2, "amplification", 1, 1), 0.8469),
]


@pytest.mark.parametrize(("counts", "expected"), VECTORS)
def test_retention_of_known_drafts(counts, expected):
    assert abs(retention(Counts(*counts)) - expected) < 0.00005 + 1e-9


def test_recency_falls_to_nothing_in_45_days():
    assert [recency(days) for days in (-3, 0, 22.5, 45, 400)] == [1, 1, 0.5, 0, 0]


def test_undated_premises_are_neither_new_nor_old():
    assert recency(None) == 0.4


def test_novelty_is_what_no_live_hypothesis_says():
    cues = frozenset({"a", "b"})
    assert novelty(cues, ()) == 1
    assert novelty(cues, (frozenset({"c"}), frozenset({"a", "b", "c"}))) == round(1 - 2 / 3, 6)


def test_two_empty_sets_have_nothing_in_common():
    assert jaccard(frozenset(), frozenset()) == 0
