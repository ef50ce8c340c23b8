"""Dream cycles in any order of functions and foci take nothing out of a store and edit nothing."""

from datetime import timedelta
from hashlib import blake2b

import pytest

from dream.cycle import Ask, Landed, Leased, begin, land, work
from dream.functions import names
from graphstore.ids import digest
from graphstore.model.knowledge import EDGES, NODES, Meta
from graphstore.store import open_store
from tests.dreamt import SETTINGS
from tests.integration.test_dream_functions_repeat import SEEDS, plant
from tests.planted import NOW, Planted

CYCLES = 8
"""By default; the soak goes through fifty."""


@pytest.fixture
def store(tmp_path):
    plot = plant()
    plot.relates = []
    with open_store(tmp_path / "workspace", Planted(plot)) as opened:
        with opened.deferred():
            for record in plot.records():
                opened.commit(record, NOW)
            opened.commit(Planted(plot).epoch((), opened.roots()), NOW)
        yield opened


def extracted(store):
    """Every row that was read from turns, as text."""
    read = (table for table in NODES if table is not Meta)
    rows = [repr(row) for table in read for row in store.nodes(table)]
    return sorted(rows + [repr(row) for table in EDGES for row in store.edges(table)])


def written(store):
    """Ledger entries so far, hashed in order."""
    return [blake2b(repr(entry).encode()).hexdigest() for entry in store.ledger.entries()]


@pytest.mark.parametrize(
    "cycles",
    [pytest.param(CYCLES, marks=pytest.mark.slow), pytest.param(50, marks=pytest.mark.soak)],
)
def test_cycles_only_add(store, cycles):
    rows, prefix = extracted(store), written(store)
    landed = 0
    for number in range(cycles):
        now = NOW + timedelta(days=9 * number)
        drawn = int(digest("cycle", number)[:4], 16)
        stage = number == 2 or drawn % 7 == 0
        ask = Ask(function=(*names(), None)[drawn % 5], mode="stage" if stage else "normal")
        found = begin(store, SEEDS, ask, (), SETTINGS, now)
        if isinstance(found, Leased):
            done = land(work(found, SETTINGS, now, lambda: False), store, SETTINGS, now)
            landed += isinstance(done, Landed)
        entries = written(store)
        assert entries[: len(prefix)] == prefix
        prefix = entries
    assert landed > 2
    assert extracted(store) == rows
