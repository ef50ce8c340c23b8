"""A process that dies while its dream cycle lands leaves nothing of it, or all of it."""

import os

import pytest

from benchmarks.dreaming.killed import prepared, trial

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(os.name != "posix", reason="needs SIGKILL"),
]


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A workspace that nobody changes, and what an undisturbed dream cycle lands in a copy."""
    folder = tmp_path_factory.mktemp("landing") / "workspace"
    return folder, prepared(folder)


@pytest.mark.parametrize(
    ("boundary", "landed"), [("ledger_written", False), ("ledger_committed", True)]
)
def test_nothing_or_all_and_the_next_cycle_makes_it_whole(whole, boundary, landed):
    folder, expected = whole
    found = trial(folder, expected, boundary)
    assert found.landed is landed
    assert found.edges == (len(expected) if landed else 0)
    assert found.running > 0, "its jobs wait until the lease runs out"
    assert found.whole
    assert found.sound
