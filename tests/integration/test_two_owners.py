"""Owners who never rest, or seldom come: both get dreams, and neither is flooded."""

from datetime import timedelta
from itertools import pairwise

import pytest

from benchmarks.dreaming.owners import OWNERS, START, lived, told

pytestmark = pytest.mark.slow
DAYS = 5
DAILY = timedelta(hours=36)
"""A day of waiting, and the time until the next conversation ends."""


def test_who_never_rests_dreams_every_day_and_is_not_flooded(tmp_path):
    life = lived(OWNERS[0], DAYS, tmp_path)
    assert all(how for _, how, _ in life.looks)
    landed = [at for at, how, _ in life.looks if not how.startswith(("gate:", "no_queue", "none"))]
    gaps = [after - before for before, after in pairwise(landed)]
    assert landed[0] - START < 2 * DAILY
    assert max(gaps) < DAILY
    new = sum(count for _, _, count in life.looks)
    assert 3 <= new <= 5 * DAYS


def test_who_seldom_comes_is_not_forgotten(tmp_path):
    life = lived(OWNERS[1], 6 * DAYS, tmp_path)
    assert sum(count for _, _, count in life.looks) > 0
    assert all(how for _, how, _ in life.looks)
    lines = list(told(OWNERS[1], life, 6 * DAYS))
    assert len(life.weeks) + 4 == len(lines)
