"""Jobs in the queue: put once, taken in order, tried again, given up, expired."""

from datetime import timedelta

import pytest

from dream import queue
from dream.model import Neighbour, PackJourney
from dream.queue import allowance, due, job_id, order, retried, swept
from dream.settings import QueueSettings
from graphstore.jobs import Jobs
from graphstore.ledger import Ledger
from graphstore.model.job import Duplicate, JobState
from tests.dreamt import NOW, a_job, a_pack, a_turn

LIMITS = QueueSettings()
HOUR = timedelta(hours=1)


@pytest.fixture
def jobs(tmp_path):
    ledger = Ledger(tmp_path / "ledger.db")
    yield Jobs(ledger)
    ledger.close()


def put(*arguments):
    """Whatever becomes of a pack that is offered."""
    return queue.put(*arguments)


def on(focus, **changes):
    pack = a_pack()
    return pack.replace(
        focus=pack.focus.replace(id=focus, **changes), turns=(a_turn("sr0"), a_turn(focus))
    )


def test_the_same_ground_is_the_same_job(jobs):
    first = put(a_pack(), "amplification", jobs, LIMITS, NOW)
    assert first.job_id == job_id(a_pack(pack_id="pack:other"), "amplification")
    assert put(a_pack(), "amplification", jobs, LIMITS, NOW) == Duplicate(reason="existing_job")
    assert put(a_pack(), "compensatory", jobs, LIMITS, NOW).priority == 40


@pytest.mark.parametrize("state", [JobState.DONE, JobState.PARKED])
def test_finished_work_rests_until_its_date(jobs, state):
    job = put(a_pack(), "amplification", jobs, LIMITS, NOW)
    jobs.put((job.replace(state=state),))
    late = job.expires_at - timedelta(seconds=1)
    assert isinstance(put(a_pack(), "amplification", jobs, LIMITS, late), Duplicate)
    assert put(a_pack(), "amplification", jobs, LIMITS, job.expires_at).state is JobState.QUEUED


@pytest.mark.parametrize(("hours", "attempts"), [(23, 3), (24, 0)])
def test_a_failed_job_comes_again_and_its_attempts_count_for_a_day(jobs, hours, attempts):
    job = put(a_pack(), "amplification", jobs, LIMITS, NOW)
    jobs.put((job.replace(state=JobState.FAILED, attempts=3),))
    again = put(a_pack(), "amplification", jobs, LIMITS, NOW + hours * HOUR)
    assert (again.state, again.attempts) == (JobState.QUEUED, attempts)


def test_an_expired_job_comes_again_afresh(jobs):
    job = put(a_pack(), "amplification", jobs, LIMITS, NOW)
    jobs.put((job.replace(state=JobState.EXPIRED, attempts=2),))
    assert put(a_pack(), "amplification", jobs, LIMITS, NOW).attempts == 0


def test_what_stands_is_not_dreamt_again(jobs):
    live = Neighbour(
        hypothesis_id="h:1", function="amplification", rule="x", src="q:a", dst="q:b", cues=()
    )
    pack = a_pack(neighbours=(live,))
    assert put(pack, "amplification", jobs, LIMITS, NOW).reason == "existing_hypothesis"
    assert put(pack, "compensatory", jobs, LIMITS, NOW).state is JobState.QUEUED


def test_a_parked_draft_on_the_same_pack_waits(jobs):
    waiting = {("pack:1", "amplification")}
    answer = put(a_pack(), "amplification", jobs, LIMITS, NOW, waiting)
    assert answer == Duplicate(reason="existing_parked")
    assert put(a_pack(), "compensatory", jobs, LIMITS, NOW, waiting).state is JobState.QUEUED


def test_a_focus_that_grows_every_day_keeps_its_date(jobs):
    first = put(on("c:a"), "amplification", jobs, LIMITS, NOW)
    late = NOW + 20 * HOUR
    grown = on("c:a").replace(turns=(*on("c:a").turns, a_turn("sr9")))
    again = put(grown, "amplification", jobs, LIMITS, late)
    assert again.job_id != first.job_id
    assert (again.not_before, again.expires_at) == (first.not_before, late + 168 * HOUR)
    assert jobs.all(JobState.QUEUED) == (again,)
    assert jobs.get(first.job_id).last_reason == "evidence changed"
    other = put(grown, "compensatory", jobs, LIMITS, late)
    assert other.not_before == late + 24 * HOUR


def test_a_focus_that_grows_is_no_reason_to_refuse_it_in_a_full_queue(jobs):
    full = QueueSettings(cap=1)
    put(on("c:a"), "amplification", jobs, full, NOW)
    grown = on("c:a").replace(turns=(a_turn("sr9"),))
    assert put(grown, "amplification", jobs, full, NOW).state is JobState.QUEUED


def test_a_full_queue_refuses_the_lowest_priority(jobs):
    two = LIMITS.replace(cap=2)
    low = put(on("one"), "amplification", jobs, two, NOW)
    put(on("two"), "compensatory", jobs, two, NOW)
    refused = put(
        on("three").replace(focus=on("three", provenance="annotated").focus),
        "amplification",
        jobs,
        two,
        NOW,
    )
    assert refused == Duplicate(reason="queue_full")
    urgent = put(on("four", family="correction"), "compensatory", jobs, two, NOW)
    assert jobs.get(low.job_id).state is JobState.EXPIRED
    assert jobs.get(low.job_id).last_reason == "queue_full"
    assert due(jobs, NOW, by_hand=True)[0].job_id == urgent.job_id


def test_by_hand_all_queued_jobs_are_due_by_schedule_those_of_their_time(jobs):
    job = put(a_pack(), "amplification", jobs, LIMITS, NOW)
    assert due(jobs, NOW, by_hand=True) == (job,)
    assert due(jobs, job.not_before - timedelta(seconds=1), by_hand=False) == ()
    assert due(jobs, job.not_before, by_hand=False) == (job,)


@pytest.mark.parametrize(
    ("family", "function", "slowing", "priority"),
    [
        ("journey_frontier", "compensatory", True, 68),
        ("journey_frontier", "compensatory", False, 60),
        ("journey_frontier", "amplification", True, 59),
        ("correction", "compensatory", True, 70),
        ("recall_miss", "compensatory", True, 65),
        ("operator", "compensatory", True, 90),
    ],
)
def test_what_a_slowing_journey_misses_comes_sooner(jobs, family, function, slowing, priority):
    journey = PackJourney(
        journey_id="j:1",
        label="Path",
        status="traveling",
        core_inquiry="Why?",
        frontier="",
        frontier_aliases=(),
        concepts=(),
        waypoints=3,
        is_blocked=False,
        is_camped=False,
        is_slowing=slowing,
    )
    pack = on("j:1", kind="journey", family=family).replace(journeys=(journey,))
    assert put(pack, function, jobs, LIMITS, NOW).priority == priority
    other = on("j:2", kind="journey", family=family).replace(journeys=(journey,))
    assert put(other, function, jobs, LIMITS, NOW).priority <= priority


def test_jobs_are_taken_by_priority_then_computed_then_function_then_id():
    jobs = [
        a_job(9, priority=70),
        a_job(8, function="compensatory"),
        a_job(1),
        a_job(2),
        a_job(0, function="someone_elses"),
        a_job(0, provenance="annotated", function="compensatory"),
    ]
    shuffled = [jobs[place] for place in (3, 0, 5, 1, 4, 2)]
    assert sorted(shuffled, key=order) == jobs


def test_a_lease_that_ran_out_goes_back(jobs):
    running = a_job(1, state=JobState.RUNNING, lease_until=NOW)
    jobs.put((running, a_job(2, state=JobState.RUNNING, lease_until=NOW + HOUR)))
    (back,) = swept(jobs, LIMITS, NOW)
    assert (back.job_id, back.state, back.attempts) == ("job:1", JobState.QUEUED, 1)
    assert back.not_before == NOW + timedelta(minutes=30)
    assert jobs.get("job:1") == back


def test_a_job_past_its_date_expires(jobs):
    jobs.put((a_job(1, expires_at=NOW), a_job(2)))
    (gone,) = swept(jobs, LIMITS, NOW)
    assert (gone.job_id, gone.state) == ("job:1", JobState.EXPIRED)


def test_the_third_failure_buries_a_job():
    job = a_job(state=JobState.RUNNING, attempts=2)
    assert retried(job, LIMITS, "worker_error:KeyError", NOW).state is JobState.FAILED
    assert retried(job.replace(attempts=1), LIMITS, "x", NOW).state is JobState.QUEUED


@pytest.mark.parametrize(
    ("rate", "jobs_per_cycle"),
    [(None, 10), (0.0, 15), (0.49, 15), (0.5, 10), (0.69, 10), (0.7, 5), (1.0, 5)],
)
def test_a_schedule_takes_fewer_jobs_the_more_hypotheses_hold(rate, jobs_per_cycle):
    assert allowance(rate, by_hand=False) == jobs_per_cycle
    assert allowance(rate, by_hand=True) == 64


def test_leasing_advances_the_generation(jobs):
    before = jobs.stamps()
    after = jobs.lease([a_job(state=JobState.RUNNING)], NOW)
    assert (before.generation, after.generation, after.last_attempt) == (0, 1, NOW)
    assert jobs.stamps() == after
    jobs.stamp(after.replace(failures=2))
    assert jobs.stamps().failures == 2
    assert jobs.get("job:none") is None
