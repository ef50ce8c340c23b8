"""What counts as an event, what it does to points, dates and state, and which acts are possible."""

from datetime import timedelta
from typing import ClassVar, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dream.lifecycle import (
    Act,
    Evidence,
    Ignored,
    NotAllowed,
    Tally,
    acted,
    bucket,
    moved,
    weigh,
)
from dream.settings import DreamSettings
from graphstore.model.hypothesis import LIVE, HypothesisState
from tests.dreamt import NOW, a_hypothesis

SETTINGS = DreamSettings()
HOUR, DAY = timedelta(hours=1), timedelta(days=1)
S = HypothesisState
YOUNG = a_hypothesis(created_at=NOW, refs=("thread:test:a#turn:1",), ref_fingerprints=("b2:a",))


def a_word(number=1, verdict="confirmed", **changes):
    """Evidence from a thread of its own, a day after the hypothesis."""
    base = Evidence(
        event_id=f"e:{number}{verdict}",
        verdict=verdict,
        ref=f"thread:test:later{number}#turn:3",
        lineage=f"test:later{number}",
        at=NOW + DAY,
        by="graph",
    )
    return base.replace(**changes)


def after(hypothesis, *evidence):
    for each in evidence:
        hypothesis = moved(hypothesis, each, SETTINGS)
    return hypothesis


class TestWhatCounts:
    def weighed(self, evidence, *earlier, hypothesis=YOUNG, now=NOW + 9 * DAY):
        found = weigh(hypothesis, evidence, earlier, now)
        return found.reason if isinstance(found, Ignored) else "counted"

    @pytest.mark.parametrize(
        ("changes", "said"),
        [
            ({}, "counted"),
            ({"at": None}, "undated"),
            ({"at": NOW}, "before"),
            ({"at": NOW + timedelta(seconds=1)}, "counted"),
            ({"at": NOW + 9 * DAY}, "counted"),
            ({"at": NOW + 9 * DAY + timedelta(seconds=1)}, "after_now"),
            ({"ref": "thread:test:a#turn:1"}, "premise"),
        ],
    )
    def test_only_a_later_turn_that_is_no_premise(self, changes, said):
        assert self.weighed(a_word(**changes)) == said

    def test_the_first_of_its_kind_from_a_thread(self):
        again = a_word(2, lineage="test:later1")
        assert self.weighed(again, a_word(1)) == "same_thread"
        assert self.weighed(a_word(2), a_word(1)) == "counted"
        against = a_word(2, "contradicted", lineage="test:later1")
        assert self.weighed(against, a_word(1)) == "counted"

    def test_the_owners_bare_word_counts_once_a_day(self):
        word = a_word(1, ref=None, lineage=None, by="owner")
        later = word.replace(event_id="e:2", at=NOW + DAY + HOUR)
        assert self.weighed(later, word) == "same_thread"
        assert self.weighed(later.replace(at=NOW + 2 * DAY), word) == "counted"
        assert self.weighed(later, a_word(1)) == "counted"

    def test_an_event_is_known_by_its_id(self):
        assert self.weighed(a_word(), hypothesis=after(YOUNG, a_word())) == "known"

    @pytest.mark.parametrize("state", sorted(set(S) - LIVE))
    def test_what_is_closed_hears_nothing(self, state):
        assert self.weighed(a_word(), hypothesis=YOUNG.replace(state=state)) == "closed"


class TestLadder:
    @pytest.mark.parametrize(("start", "ups", "downs"), [(20, 5, 3), (30, 4, 5)])
    def test_steps_to_the_top_and_to_the_end(self, start, ups, downs):
        fresh = YOUNG.replace(points=start, start_points=start)
        risen = after(fresh, *(a_word(n) for n in range(ups)))
        assert risen.points >= 70
        assert after(fresh, *(a_word(n) for n in range(ups - 1))).points < 70
        fallen = after(fresh, *(a_word(n, "contradicted") for n in range(downs)))
        assert (fallen.state, fallen.closed_reason) == (S.REFUTED, "contradicted")
        assert after(fresh, *(a_word(n, "contradicted") for n in range(downs - 1))).state in LIVE

    def test_states_follow_points(self):
        fresh = YOUNG.replace(points=30)
        assert after(fresh, a_word(1)).state is S.PARTIALLY_VALIDATED
        assert after(fresh, a_word(1), a_word(2)).state is S.VALIDATED
        assert after(fresh, a_word(1, "contradicted")).state is S.ACCEPTED

    def test_points_alone_validate_nothing(self):
        assert after(YOUNG.replace(points=90), a_word(1, "contradicted")).state is S.ACCEPTED

    def test_what_is_validated_is_not_taken_back_by_one_word(self):
        held = YOUNG.replace(points=50, state=S.VALIDATED, confirmations=2)
        assert after(held, a_word(1, "contradicted")).state is S.VALIDATED

    def test_a_confirmation_moves_the_dates_ever_further(self):
        gone = [14 * 2**k for k in (1, 2, 3, 3)]
        held = YOUNG
        for number, days in enumerate(gone):
            word = a_word(number, at=NOW + (number + 1) * DAY)
            held = after(held, word)
            assert held.validated_at == word.at
            assert held.review_after == word.at + days * DAY
            assert held.expires_at == held.review_after + 31 * DAY
            assert held.validated_by == "graph"

    def test_a_contradiction_moves_no_date(self):
        against = after(YOUNG, a_word(1, "contradicted"))
        assert (against.review_after, against.expires_at) == (YOUNG.review_after, YOUNG.expires_at)
        assert against.validated_at is None

    @given(st.lists(st.sampled_from(["confirmed", "contradicted"]), max_size=40))
    def test_any_order_of_events_stays_on_the_ladder(self, verdicts):
        held = YOUNG
        for number, verdict in enumerate(verdicts):
            word = a_word(number, verdict)
            if isinstance(weigh(held, word, (), NOW + 9 * DAY), Ignored):
                assert held.state is S.REFUTED
                continue
            held = after(held, word)
            assert 0 <= held.points <= 98
            assert held.state in LIVE | {S.REFUTED}
            assert len(held.validation_ids) == held.confirmations + held.contradictions
            assert (held.state is S.REFUTED) == (held.points < 10)


class TestEvents:
    """What one word for it, or one against it, makes of every state that hears it."""

    @pytest.mark.parametrize(
        ("state", "points", "verdict", "after"),
        [
            (S.ACCEPTED, 30, "confirmed", S.PARTIALLY_VALIDATED),
            (S.ACCEPTED, 39, "confirmed", S.PARTIALLY_VALIDATED),
            (S.ACCEPTED, 40, "confirmed", S.VALIDATED),
            (S.ACCEPTED, 15, "contradicted", S.ACCEPTED),
            (S.ACCEPTED, 14, "contradicted", S.REFUTED),
            (S.PARTIALLY_VALIDATED, 39, "confirmed", S.PARTIALLY_VALIDATED),
            (S.PARTIALLY_VALIDATED, 40, "confirmed", S.VALIDATED),
            (S.PARTIALLY_VALIDATED, 15, "contradicted", S.PARTIALLY_VALIDATED),
            (S.PARTIALLY_VALIDATED, 14, "contradicted", S.REFUTED),
            (S.VALIDATED, 50, "confirmed", S.VALIDATED),
            (S.VALIDATED, 15, "contradicted", S.VALIDATED),
            (S.VALIDATED, 14, "contradicted", S.REFUTED),
            (S.APPLIED, 70, "confirmed", S.APPLIED),
            (S.APPLIED, 14, "contradicted", S.REFUTED),
        ],
    )
    def test_one_event(self, state, points, verdict, after):
        tried = state is not S.ACCEPTED
        held = YOUNG.replace(state=state, points=points, confirmations=int(tried))
        assert moved(held, a_word(1, verdict), SETTINGS).state is after


class TestActs:
    def done(self, act, state, **changes):
        return acted(YOUNG.replace(state=state, **changes), act, NOW + DAY, SETTINGS, reason="why")

    AFTER: ClassVar = {
        ("approve", S.PARKED): S.ACCEPTED,
        ("approve", S.ACCEPTED): S.VALIDATED,
        ("approve", S.PARTIALLY_VALIDATED): S.VALIDATED,
        ("refute", S.ACCEPTED): S.REFUTED,
        ("refute", S.PARTIALLY_VALIDATED): S.REFUTED,
        ("refute", S.VALIDATED): S.REFUTED,
        ("refute", S.APPLIED): S.REFUTED,
        ("supersede", S.PARKED): S.SUPERSEDED,
        ("supersede", S.ACCEPTED): S.SUPERSEDED,
        ("supersede", S.PARTIALLY_VALIDATED): S.SUPERSEDED,
        ("supersede", S.VALIDATED): S.SUPERSEDED,
        ("supersede", S.APPLIED): S.SUPERSEDED,
        ("expire", S.ACCEPTED): S.EXPIRED,
        ("expire", S.PARTIALLY_VALIDATED): S.EXPIRED,
        ("renew", S.EXPIRED): S.ACCEPTED,
        ("renew", S.VALIDATED): S.VALIDATED,
        ("renew", S.APPLIED): S.APPLIED,
    }
    """The state that each act leaves; every other act on every other state is refused."""

    @pytest.mark.parametrize("act", get_args(Act))
    @pytest.mark.parametrize("state", sorted(S))
    def test_every_act_on_every_state(self, act, state):
        found = self.done(act, state)
        if (after := self.AFTER.get((act, state))) is None:
            assert found == NotAllowed(act=act, state=state)
        else:
            assert found.state is after

    def test_yes_to_a_parked_draft_accepts_it(self):
        held = self.done("approve", S.PARKED, points=20)
        assert (held.state, held.points) == (S.ACCEPTED, 20)
        assert held.review_after == NOW + 15 * DAY
        assert held.expires_at == NOW + 46 * DAY

    @pytest.mark.parametrize("state", [S.ACCEPTED, S.PARTIALLY_VALIDATED])
    def test_yes_to_what_stands_validates_it(self, state):
        held = self.done("approve", state, points=20)
        assert (held.state, held.points, held.validated_by) == (S.VALIDATED, 50, "owner")
        assert self.done("approve", state, points=60).points == 60

    def test_no_refutes(self):
        held = self.done("refute", S.VALIDATED)
        assert (held.state, held.closed_at, held.closed_reason) == (S.REFUTED, NOW + DAY, "why")

    @pytest.mark.parametrize(("confirmations", "reason"), [(0, "untested"), (1, "expired")])
    def test_expiry_says_whether_anything_was_heard(self, confirmations, reason):
        held = self.done("expire", S.ACCEPTED, confirmations=confirmations)
        assert (held.state, held.closed_reason) == (S.EXPIRED, reason)

    @pytest.mark.parametrize(
        ("confirmations", "state"), [(0, S.ACCEPTED), (2, S.PARTIALLY_VALIDATED)]
    )
    def test_renewing_brings_back_the_state_before(self, confirmations, state):
        expired = YOUNG.replace(
            state=S.EXPIRED, confirmations=confirmations, closed_at=NOW, closed_reason="untested"
        )
        held = acted(expired, "renew", NOW + DAY, SETTINGS)
        assert not isinstance(held, NotAllowed)
        assert (held.state, held.closed_at, held.closed_reason) == (state, None, None)
        assert held.expires_at == NOW + 46 * DAY

    def test_renewing_what_is_validated_keeps_its_state(self):
        assert self.done("renew", S.VALIDATED).state is S.VALIDATED


class TestLookingBack:
    DUE = NOW + 14 * DAY
    LATE = NOW + 45 * DAY

    @pytest.mark.parametrize(
        ("changes", "tally", "now", "expected"),
        [
            ({}, {}, DUE - timedelta(seconds=1), "pending"),
            ({"state": S.REFUTED}, {}, NOW, "refuted"),
            ({"state": S.VALIDATED}, {}, DUE, "adopted"),
            ({"state": S.APPLIED}, {}, DUE, "adopted"),
            ({}, {"ignored_shown": 1}, DUE, "ignored"),
            ({}, {}, LATE, "stale"),
            ({"confirmations": 1}, {"ignored_shown": 1}, LATE, "supported"),
            ({}, {"has_open_invitation": True}, DUE, "still_unknown"),
            ({"confirmations": 1, "contradictions": 1}, {}, DUE, "unknown"),
            ({}, {}, DUE, "unknown"),
        ],
    )
    def test_eight_places(self, changes, tally, now, expected):
        held = YOUNG.replace(review_after=self.DUE, expires_at=self.LATE, **changes)
        assert bucket(held, Tally(**tally), now) == expected
