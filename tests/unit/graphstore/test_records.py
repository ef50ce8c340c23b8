import pytest
from pydantic import ValidationError

from graphstore.ledger import RECORDS, body_of
from graphstore.model.hypothesis import Resonates
from graphstore.model.record import EpochRecord, ReviewRecord
from tests.fake_derive import (
    NOW,
    a_cycle_record,
    a_hypothesis,
    a_journey_record,
    a_stop,
    a_thread_record,
    child_of,
)

EVERY = (
    a_thread_record("a", "Why?", "Because", lineage=child_of("b", 1)),
    a_journey_record(a_stop(1, "a", 1)),
    EpochRecord(extractor="x/1", lineages=2),
    a_cycle_record(a_hypothesis(Resonates, "q:1", "q:2")),
    ReviewRecord(act="approve", target="h:1", at=NOW),
)


@pytest.mark.parametrize("record", EVERY, ids=lambda record: record.kind)
def test_a_record_survives_its_canonical_json(record):
    assert RECORDS.validate_json(body_of(record), strict=True) == record


def test_each_kind_names_its_subject():
    assert [record.subject for record in EVERY] == [
        "test:a",
        EVERY[1].journey_id,
        "epoch",
        "dc:1",
        "h:1",
    ]


def test_an_unknown_kind_is_refused():
    with pytest.raises(ValidationError):
        RECORDS.validate_json('{"kind": "rumour"}', strict=True)
