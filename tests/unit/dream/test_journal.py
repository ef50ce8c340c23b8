"""Totals and rates are computed from records; nothing is divided by nothing."""

from datetime import timedelta

from dream.journal import last_success, parked, totals, validation_rate
from graphstore.model.hypothesis import HypothesisState
from graphstore.model.record import Count, ModelCall, ParkedDraft
from tests.dreamt import NOW, a_cycle, a_hypothesis, an_end

WAITING = ParkedDraft(
    hypothesis=a_hypothesis(state=HypothesisState.PARKED), failed=("below_retention",)
)
LATER = NOW + timedelta(hours=1)


def in_state(*states):
    return tuple(
        a_hypothesis(
            hypothesis_id=f"h:{n}",
            state=HypothesisState(state),
            validated_at=NOW + timedelta(days=n),
        )
        for n, state in enumerate(states)
    )


def test_an_empty_journal_has_no_rates():
    empty = totals((), ())
    assert (empty.validation_rate, empty.false_alarm_rate, empty.last_success) == (None, None, None)
    assert empty.functions == ()


def test_the_newest_cycle_with_a_finished_job_is_the_last_success():
    cycles = (
        a_cycle(),
        a_cycle(ended_at=LATER, outcome="interrupted", jobs=(an_end(state="parked"),)),
        a_cycle(ended_at=LATER + timedelta(1), outcome="failed", jobs=(an_end(state="failed"),)),
        a_cycle(ended_at=LATER + timedelta(2), outcome="interrupted", jobs=()),
    )
    assert last_success(cycles) == LATER


def test_parked_drafts_keep_the_time_of_their_landing():
    assert parked((a_cycle(parked=(WAITING,)),)) == ((NOW, WAITING),)


def test_only_judged_hypotheses_count_for_the_validation_rate():
    found = in_state("validated", "applied", "refuted", "accepted", "expired")
    assert validation_rate(found) == 0.666667


def test_the_rate_of_the_newest_leaves_the_older_out():
    found = in_state("refuted", "validated", "validated")
    assert validation_rate(found, 2) == 1.0


def test_what_was_never_validated_is_judged_when_it_was_closed_or_made():
    early = a_hypothesis(
        hypothesis_id="h:x", state=HypothesisState.REFUTED, created_at=NOW - timedelta(days=1)
    )
    closed = early.replace(closed_at=NOW + timedelta(days=9), hypothesis_id="h:y")
    assert validation_rate((*in_state("validated"), early), 1) == 1.0
    assert validation_rate((*in_state("validated"), closed), 1) == 0.0


def test_totals_by_function():
    ends = (
        an_end(accepted=2, parked=1),
        an_end(rejected_drafts=1, rejected=(Count(name="known_rule", count=1),)),
        an_end(function="amplification", state="failed", reason="worker_error:KeyError"),
    )
    found = totals((a_cycle(jobs=ends, parked=(WAITING,)),), in_state("validated", "refuted"))
    comp = next(each for each in found.functions if each.function == "compensatory")
    other = next(each for each in found.functions if each.function == "amplification")
    assert (comp.accepted, comp.parked, comp.rejected, comp.acceptance_rate) == (2, 1, 1, 0.5)
    assert (other.acceptance_rate, other.validation_rate, other.states) == (None, None, ())
    assert found.failed_checks == (
        Count(name="below_retention", count=1),
        Count(name="known_rule", count=1),
    )
    assert found.jobs == (Count(name="done", count=2), Count(name="failed", count=1))
    assert (found.validation_rate, found.false_alarm_rate, found.hypotheses) == (0.5, 0.5, 2)


def test_totals_by_mode_what_models_cost_and_what_retention_missed():
    held, refuted = in_state("validated", "refuted")
    call = ModelCall(
        job_id="job:1",
        function="compensatory",
        host="localhost",
        model="m",
        prompt_version="1",
        outcome="reply",
        prompt_tokens=100,
        completion_tokens=50,
    )
    unknown = call.replace(prompt_tokens=None, completion_tokens=None)
    other = refuted.replace(mode="creative")
    found = totals((a_cycle(calls=(call, call, unknown)),), (held, other))
    assert [(each.mode, each.hypotheses, each.validation_rate) for each in found.modes] == [
        ("creative", 1, 0.0),
        ("replay", 1, 1.0),
    ]
    assert (found.tokens, found.tokens_per_validated) == (300, 300.0)
    assert {each.name: each.count for each in found.signals}["retained_later_refuted"] == 1
    assert totals((), ()).tokens_per_validated is None
