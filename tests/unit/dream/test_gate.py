"""Nine conditions, in order; the first closed one ends the look."""

from datetime import timedelta

import pytest

from dream.gate import CONDITIONS, Closed, GateState, Open, gate, locked
from dream.lock import Held, Holder
from dream.settings import DreamSettings
from graphstore.model.job import Stamps
from tests.dreamt import NOW

MANUAL = GateState(trigger="manual")
HOOK = GateState(trigger="hook")
TIMER = GateState(trigger="timer")
SETTINGS = DreamSettings()
IDLE = DreamSettings(schedule="idle")


def results(answer):
    return {line.name: line.result for line in answer.lines}


def test_by_hand_only_what_is_not_pacing_counts():
    state = MANUAL.replace(stamps=Stamps(failures=9, last_attempt=NOW), last_success=NOW)
    answer = gate(state, SETTINGS, NOW)
    assert isinstance(answer, Open)
    assert results(answer) == {
        "enabled": "open",
        "sub_agent": "open",
        "backoff": "skipped",
        "window": "skipped",
        "min_hours": "skipped",
        "changed_threads": "skipped",
        "idle": "skipped",
        "budget": "open",
    }


def test_conditions_that_are_not_evaluated_say_so():
    answer = gate(HOOK, SETTINGS, NOW)
    named = [name for name, result in results(answer).items() if result == "not_evaluated"]
    assert named == ["window", "changed_threads", "idle"]


@pytest.mark.parametrize("state", [MANUAL, HOOK, TIMER])
def test_a_disabled_gate_looks_at_nothing_else(state):
    answer = gate(state, DreamSettings(enabled=False, schedule="idle"), NOW)
    assert isinstance(answer, Closed)
    assert (answer.condition, len(answer.lines)) == ("enabled", 1)
    assert answer.lines[0].distance == "set dream.enabled to true"


def test_the_timer_needs_a_schedule():
    answer = gate(TIMER, SETTINGS, NOW)
    assert isinstance(answer, Closed)
    assert answer.lines[0].distance == "set dream.schedule"
    assert isinstance(gate(TIMER, IDLE, NOW), Open)
    assert isinstance(gate(HOOK, SETTINGS, NOW), Open)


@pytest.mark.parametrize("state", [MANUAL, HOOK, TIMER])
def test_a_sub_agent_never_dreams(state):
    answer = gate(state.replace(is_sub_agent=True), IDLE, NOW)
    assert isinstance(answer, Closed)
    assert answer.condition == "sub_agent"


@pytest.mark.parametrize(
    ("seconds", "opens"), [(4 * 3600 - 1, False), (4 * 3600, True), (4 * 3600 + 1, True)]
)
def test_four_hours_after_a_success(seconds, opens):
    state = HOOK.replace(last_success=NOW - timedelta(seconds=seconds))
    answer = gate(state, SETTINGS, NOW)
    assert isinstance(answer, Open) is opens
    if isinstance(answer, Closed):
        assert answer.condition == "min_hours"
        assert answer.lines[-1].distance == "0:00:01"


@pytest.mark.parametrize(("failures", "minutes"), [(1, 30), (2, 60), (4, 240), (5, 360), (50, 360)])
@pytest.mark.parametrize(("off", "opens"), [(-1, False), (0, True), (1, True)])
def test_failures_keep_a_schedule_away(failures, minutes, off, opens):
    tried = NOW - timedelta(minutes=minutes, seconds=off)
    state = HOOK.replace(stamps=Stamps(failures=failures, last_attempt=tried))
    assert isinstance(gate(state, SETTINGS, NOW), Open) is opens


def test_without_failure_the_last_attempt_does_not_matter():
    assert isinstance(gate(HOOK.replace(stamps=Stamps(last_attempt=NOW)), SETTINGS, NOW), Open)
    assert isinstance(gate(HOOK.replace(stamps=Stamps(failures=3)), SETTINGS, NOW), Open)


def test_a_model_that_is_required_and_absent_closes():
    answer = gate(MANUAL, DreamSettings(mode="model_required"), NOW)
    assert isinstance(answer, Closed)
    assert (answer.condition, answer.lines[-1].distance) == ("budget", "set dream.mode to auto")


def test_a_held_lock_names_its_holder():
    line = locked(Held(holder=Holder(pid=7, host="boathouse", since=NOW)))
    assert line.result == "closed"
    assert line.distance == f"pid 7 on boathouse since {NOW.isoformat()}"


def test_a_holder_without_a_name_is_still_another_process():
    assert locked(Held(holder=None)).value == "another process"


def test_a_free_lock_is_open():
    line = locked(None)
    assert (line.result, line.value, line.distance) == ("open", "free", "")


def test_every_condition_has_its_place():
    assert [name for name, _ in CONDITIONS] == [
        "enabled",
        "sub_agent",
        "backoff",
        "window",
        "min_hours",
        "changed_threads",
        "idle",
        "budget",
    ]
