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
    shut = ("gate:", "no_queue", "none")
    landed = [seen.at for seen in life.looks if not seen.how.startswith(shut)]
    gaps = [after - before for before, after in pairwise(landed)]
    assert landed[0] - START < 2 * DAILY
    assert max(gaps) < DAILY
    assert 3 <= sum(seen.landed for seen in life.looks) <= 5 * DAYS


def test_who_seldom_comes_is_not_forgotten_and_nothing_is_empty_without_a_word(tmp_path):
    life = lived(OWNERS[1], 6 * DAYS, tmp_path)
    assert sum(seen.landed for seen in life.looks) > 0
    empty = [seen for seen in life.looks if not seen.landed]
    assert empty
    assert all(seen.how and seen.why for seen in empty)
    lines = list(told(OWNERS[1], life, 6 * DAYS))
    assert len(lines) > len(life.weeks)
    assert lines[2].split()[0] == "1"
