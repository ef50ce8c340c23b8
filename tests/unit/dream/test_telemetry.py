"""Events without words or ids, signals that tune nothing."""

from pathlib import Path

import pytest

from dream import telemetry
from dream.telemetry import bucket, event, events, known_outcome, signals
from graphstore.model.hypothesis import HypothesisState
from graphstore.model.record import ParkedDraft
from tests.dreamt import a_cycle, a_hypothesis

PARTS = '{"retention":{"anchor":0.5,"novelty":1.0,"recency":0.0}}'


@pytest.mark.parametrize(
    ("part", "name"),
    [
        (0.0, "very_low"),
        (0.149999, "very_low"),
        (0.15, "low"),
        (0.4, "medium"),
        (0.7, "high"),
        (0.9, "very_high"),
        (1.0, "very_high"),
    ],
)
def test_components_are_told_in_five_steps(part, name):
    assert bucket(part) == name


@pytest.mark.parametrize(
    ("changes", "outcome"),
    [
        ({}, "delivered"),
        ({"confirmations": 1}, "later_supported"),
        ({"state": HypothesisState.REFUTED, "closed_reason": "contradicted"}, "later_refuted"),
        ({"state": HypothesisState.REFUTED, "closed_reason": "owner"}, "corrected"),
        ({"state": HypothesisState.EXPIRED}, "expired_unused"),
        ({"state": HypothesisState.EXPIRED, "confirmations": 1}, "later_supported"),
        ({"state": HypothesisState.SUPERSEDED}, "ignored"),
        ({"state": HypothesisState.PARKED}, "ignored"),
    ],
)
def test_what_became_of_it_is_told_in_nine_words(changes, outcome):
    assert event(a_hypothesis(**changes), "retained").outcome == outcome


def test_an_unknown_outcome_counts_as_ignored():
    assert known_outcome("loved") == "ignored"
    assert known_outcome("matched") == "matched"


def test_an_event_holds_no_word_and_no_id():
    secret = a_hypothesis(
        hypothesis_id="h:private", title="A private matter", summary="Private.", extras=PARTS
    )
    told = event(secret, "retained")
    assert told.components == (
        ("anchor", "medium"),
        ("novelty", "very_high"),
        ("recency", "very_low"),
    )
    shown = told.model_dump_json()
    held = [
        secret.title,
        secret.summary,
        secret.hypothesis_id,
        secret.src,
        secret.dst,
        *secret.refs,
    ]
    assert not [word for word in held if word in shown]


def test_what_retention_dropped_is_told_beside_what_it_kept():
    faint = a_hypothesis(hypothesis_id="h:faint", state=HypothesisState.PARKED)
    other = a_hypothesis(hypothesis_id="h:other", state=HypothesisState.PARKED)
    cycle = a_cycle(
        parked=(
            ParkedDraft(hypothesis=faint, failed=("below_retention",)),
            ParkedDraft(hypothesis=other, failed=("has_cues",)),
        )
    )
    let_stand = faint.replace(state=HypothesisState.PARTIALLY_VALIDATED, confirmations=1)
    kept = [
        a_hypothesis(hypothesis_id="h:1"),
        a_hypothesis(hypothesis_id="h:2", state=HypothesisState.REFUTED),
        a_hypothesis(hypothesis_id="h:3", state=HypothesisState.EXPIRED),
    ]
    found = events([cycle], [let_stand, *kept])
    assert [each.key for each in found] == sorted(each.key for each in found)
    assert {each.name: each.count for each in signals(found)} == {
        "dropped_later_useful": 1,
        "expired_unused": 1,
        "retained_later_refuted": 1,
        "retained_unused": 1,
    }
    assert len(events([cycle], [])) == 1


def test_nothing_reads_it_but_the_journal():
    sources = Path(telemetry.__file__).parents[1]
    readers = {
        path.name
        for package in ("dream", "service", "cli")
        for path in (sources / package).rglob("*.py")
        if "telemetry" in path.read_text("utf-8")
    }
    assert readers == {"telemetry.py", "journal.py"}
