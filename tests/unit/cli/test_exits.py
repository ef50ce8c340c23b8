"""Which exit code says what."""

from types import SimpleNamespace

import pytest

from cli import exits
from graphstore.errors import (
    Error,
    LedgerDamaged,
    NotFound,
    QueryRefused,
    SettingsError,
    StoreDamaged,
    StoreError,
    StoreLocked,
    StoreNotFound,
    UnknownShape,
)
from graphstore.model.answers import MissingRef
from ingest.model import IngestReport
from service.answers import Verified
from service.moments import WrongValue
from service.taking import NothingNamed


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (Error(), 1),
        (StoreError("x"), 1),
        (NotFound("seed", "s:1"), 1),
        (ValueError("x"), 1),
        (OSError(), 1),
        (SettingsError("a", "b"), 2),
        (UnknownShape("a", "b"), 2),
        (WrongValue("a", "b", "c"), 2),
        (StoreNotFound("p"), 3),
        (NothingNamed(), 3),
        (StoreLocked("p", "h", 1.0), 4),
        (StoreDamaged("p", "r"), 5),
        (LedgerDamaged(1, "r"), 5),
        (QueryRefused("r"), 6),
    ],
)
def test_code_of_an_error_is_that_of_its_nearest_family(error, code):
    assert exits.code_of(error) == code


def test_what_ingest_found_decides():
    assert exits.of_ingest(IngestReport(exit_code=3)) == 3


def test_a_missing_reference_among_others_fails():
    turn = SimpleNamespace(outcome="turn")
    missing = MissingRef(ref="thread:x#turn:1", reason="no_thread")
    assert exits.of_fetch(turn, turn) == 0
    assert exits.of_fetch(turn, missing) == 1


def test_a_red_line_fails():
    assert exits.of_scout(SimpleNamespace(ok=True)) == 0
    assert exits.of_scout(SimpleNamespace(ok=False)) == 1


def test_a_fault_is_damage():
    from graphstore.model.query import Fault

    fault = Fault(kind="graph", subject="c:1", detail="gone")
    assert exits.of_verify(Verified(records=1, turns=1, faults=())) == 0
    assert exits.of_verify(Verified(records=1, turns=1, faults=(fault,))) == 5
