"""Nine conditions, in order; the first closed one ends the look."""

from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest

from dream.gate import (
    CONDITIONS,
    Budget,
    Caller,
    Closed,
    Look,
    Open,
    Pressure,
    gate,
    urgency,
)
from dream.lock import Held, Holder
from dream.settings import DreamSettings
from graphstore.model.job import Stamps
from tests.dreamt import NOW

SECOND = timedelta(seconds=1)
NAMES = [condition.__name__ for condition in CONDITIONS]


@dataclass
class Seen:
    """Facts as they are given, and which of them were asked for."""

    failed: Stamps = field(default_factory=Stamps)
    success: datetime | None = None
    first: datetime | None = None
    changed: int = 3
    active: datetime | None = None
    pressed: Pressure = field(default_factory=Pressure)
    holder: Held | None = None
    left: Budget = field(default_factory=Budget)
    asked: list[str] = field(default_factory=list)

    def told(self, name, value):
        self.asked.append(name)
        return value

    def stamps(self):
        return self.told("stamps", self.failed)

    def last_success(self):
        return self.told("last_success", self.success)

    def first_thread(self):
        return self.told("first_thread", self.first)

    def changed_threads(self):
        return self.told("changed_threads", self.changed)

    def last_activity(self):
        return self.told("last_activity", self.active)

    def pressure(self):
        return self.told("pressure", self.pressed)

    def held(self):
        return self.told("held", self.holder)

    def budget(self):
        return self.told("budget", self.left)


def look(facts=None, *, trigger="hook", is_sub_agent=False, settings=None, now=NOW):
    caller = Caller(trigger=trigger, is_sub_agent=is_sub_agent)
    return Look(facts or Seen(), caller, settings or DreamSettings(), now)


def results(answer):
    return {line.name: line.result for line in answer.lines}


def line_of(answer, name):
    return next(line for line in answer.lines if line.name == name)


class TestOrder:
    def test_every_condition_has_its_place(self):
        assert NAMES == [
            "enabled",
            "sub_agent",
            "backoff",
            "window",
            "min_hours",
            "changed_threads",
            "idle",
            "lock",
            "budget",
        ]

    def test_with_nothing_against_it_all_are_open(self):
        answer = gate(look())
        assert isinstance(answer, Open)
        assert results(answer) == dict.fromkeys(NAMES, "open")

    def test_by_hand_only_what_is_not_pacing_counts(self):
        facts = Seen(failed=Stamps(failures=9, last_attempt=NOW), success=NOW, changed=0)
        answer = gate(look(facts, trigger="manual"))
        assert isinstance(answer, Open)
        skipped = {name for name, result in results(answer).items() if result == "skipped"}
        assert skipped == {"backoff", "window", "min_hours", "changed_threads", "idle"}
        assert facts.asked == ["held", "budget"]

    def test_the_first_closed_one_ends_the_look(self):
        facts = Seen(success=NOW, changed=0, holder=Held(holder=None))
        answer = gate(look(facts))
        assert isinstance(answer, Closed)
        assert answer.condition == "min_hours"
        assert answer.lines[-1].name == "min_hours"
        assert "held" not in facts.asked

    def test_an_explanation_evaluates_all_nine(self):
        facts = Seen(success=NOW, changed=0, holder=Held(holder=None))
        answer = gate(look(facts), every=True)
        assert isinstance(answer, Closed)
        assert answer.condition == "min_hours"
        assert [line.name for line in answer.lines] == NAMES
        assert results(answer)["lock"] == "closed"


class TestEnabled:
    @pytest.mark.parametrize("trigger", ["manual", "hook", "timer"])
    def test_a_disabled_gate_looks_at_nothing(self, trigger):
        facts = Seen()
        settings = DreamSettings(enabled=False, schedule="idle")
        answer = gate(look(facts, trigger=trigger, settings=settings))
        assert isinstance(answer, Closed)
        assert (answer.condition, len(answer.lines)) == ("enabled", 1)
        assert answer.lines[0].distance == "set dream.enabled to true"
        assert facts.asked == []

    def test_the_timer_needs_a_schedule(self):
        answer = gate(look(trigger="timer"))
        assert isinstance(answer, Closed)
        assert answer.lines[0].distance == "set dream.schedule"
        idle = DreamSettings(schedule="idle")
        assert isinstance(gate(look(trigger="timer", settings=idle)), Open)
        assert isinstance(gate(look(trigger="hook")), Open)

    @pytest.mark.parametrize("trigger", ["manual", "hook", "timer"])
    def test_a_sub_agent_never_dreams(self, trigger):
        facts = Seen()
        idle = DreamSettings(schedule="idle")
        answer = gate(look(facts, trigger=trigger, is_sub_agent=True, settings=idle))
        assert isinstance(answer, Closed)
        assert answer.condition == "sub_agent"
        assert facts.asked == []


class TestBackoff:
    @pytest.mark.parametrize(
        ("failures", "minutes"), [(1, 30), (2, 60), (4, 240), (5, 360), (50, 360)]
    )
    @pytest.mark.parametrize(("off", "opens"), [(-1, False), (0, True), (1, True)])
    def test_failures_keep_a_schedule_away(self, failures, minutes, off, opens):
        tried = NOW - timedelta(minutes=minutes, seconds=off)
        facts = Seen(failed=Stamps(failures=failures, last_attempt=tried))
        assert isinstance(gate(look(facts)), Open) is opens

    def test_without_failure_the_last_attempt_does_not_matter(self):
        assert isinstance(gate(look(Seen(failed=Stamps(last_attempt=NOW)))), Open)
        assert isinstance(gate(look(Seen(failed=Stamps(failures=3)))), Open)

    @pytest.mark.parametrize(("seconds", "opens"), [(3599, False), (3600, True), (3601, True)])
    def test_an_hour_of_rest_where_nothing_was_due(self, seconds, opens):
        facts = Seen(failed=Stamps(nothing_due_at=NOW - timedelta(seconds=seconds)))
        assert isinstance(gate(look(facts)), Open) is opens


class TestWindow:
    @pytest.mark.parametrize(
        ("window", "clock", "opens"),
        [
            ("02:00-05:00", "01:59:59", False),
            ("02:00-05:00", "02:00:00", True),
            ("02:00-05:00", "04:59:59", True),
            ("02:00-05:00", "05:00:00", False),
            ("23:00-01:00", "23:00:00", True),
            ("23:00-01:00", "00:59:59", True),
            ("23:00-01:00", "01:00:00", False),
            ("23:00-01:00", "22:59:59", False),
        ],
    )
    def test_its_hours_to_the_second(self, window, clock, opens):
        settings = DreamSettings(schedule="window", window=window, time_zone="UTC")
        now = datetime.fromisoformat(f"2026-05-04T{clock}+00:00")
        answer = gate(look(trigger="timer", settings=settings, now=now))
        assert isinstance(answer, Open) is opens

    def test_the_hours_are_those_of_its_zone(self):
        settings = DreamSettings(schedule="window", time_zone="Asia/Tokyo")
        now = datetime(2026, 5, 4, 18, 0, tzinfo=UTC)
        assert isinstance(gate(look(trigger="timer", settings=settings, now=now)), Open)

    def test_the_distance_is_the_time_to_its_start(self):
        settings = DreamSettings(schedule="window", time_zone="UTC")
        for hour, left in ((1, "1:00:00"), (6, "20:00:00")):
            now = datetime(2026, 5, 4, hour, 0, tzinfo=UTC)
            answer = gate(look(trigger="timer", settings=settings, now=now))
            assert line_of(answer, "window").distance == left

    def test_a_schedule_of_quiet_keeps_no_hours(self):
        settings = DreamSettings(schedule="idle", time_zone="local")
        answer = gate(look(trigger="timer", settings=settings))
        assert line_of(answer, "window").required == "any hour"


class TestMinHours:
    @pytest.mark.parametrize(
        ("seconds", "opens"), [(4 * 3600 - 1, False), (4 * 3600, True), (4 * 3600 + 1, True)]
    )
    def test_four_hours_after_a_success(self, seconds, opens):
        answer = gate(look(Seen(success=NOW - timedelta(seconds=seconds))))
        assert isinstance(answer, Open) is opens
        if isinstance(answer, Closed):
            assert answer.condition == "min_hours"
            assert answer.lines[-1].distance == "0:00:01"

    @pytest.mark.parametrize(
        ("seconds", "rate", "result"),
        [
            (3599, 0.4, "closed"),  # the first hour waits in any case
            (3600, 0.4, "waived"),  # .6 is enough where few held
            (3600, 0.5, "closed"),
            (3600, None, "closed"),
        ],
    )
    def test_urgency_waives_it_after_an_hour(self, seconds, rate, result):
        pressed = Pressure(
            due_jobs=20, new_corrections=2, salience=0.5, validation_rate=rate, clean_turns=50
        )
        facts = Seen(success=NOW - timedelta(seconds=seconds), changed=10, pressed=pressed)
        assert line_of(gate(look(facts)), "min_hours").result == result

    def test_the_most_urgent_opens_whatever_held(self):
        pressed = Pressure(
            due_jobs=20, new_corrections=5, salience=1, validation_rate=0.9, clean_turns=50
        )
        facts = Seen(success=NOW - timedelta(hours=2), changed=10, pressed=pressed)
        assert line_of(gate(look(facts)), "min_hours").result == "waived"


class TestUrgency:
    def test_the_sum_by_hand(self):
        pressed = Pressure(
            due_jobs=10, new_corrections=1, salience=0.4, validation_rate=0.7, clean_turns=50
        )
        facts = Seen(success=NOW - timedelta(hours=24), changed=5, pressed=pressed)
        expected = 0.125 + 0.1 + 0.04 + 0.06 + 0.03 + 0.05
        assert urgency(look(facts)) == pytest.approx(expected)

    def test_each_unmet_condition_takes_a_tenth(self):
        facts = Seen(changed=10, success=NOW - timedelta(hours=24), pressed=Pressure(due_jobs=20))
        few = urgency(look(facts))
        met = Seen(
            changed=10,
            success=NOW - timedelta(hours=24),
            pressed=Pressure(due_jobs=20, clean_turns=50),
        )
        assert urgency(look(met)) - few == pytest.approx(0.1)
        for more in ({"budget_left": 0.14}, {"is_importing": True}):
            worse = replace(met, pressed=met.pressed.replace(**more))
            assert urgency(look(met)) - urgency(look(worse)) == pytest.approx(0.1)

    def test_it_stays_between_nothing_and_all(self):
        assert urgency(look(Seen(changed=0, pressed=Pressure(is_importing=True)))) == 0.0
        full = Pressure(
            due_jobs=99, new_corrections=99, salience=1, validation_rate=0, clean_turns=99
        )
        long_ago = NOW - timedelta(days=99)
        assert urgency(look(Seen(changed=99, success=long_ago, pressed=full))) == 1.0


class TestChangedAndIdle:
    @pytest.mark.parametrize(("changed", "opens"), [(2, False), (3, True), (4, True)])
    def test_three_threads_must_have_changed(self, changed, opens):
        answer = gate(look(Seen(changed=changed)))
        assert isinstance(answer, Open) is opens
        if isinstance(answer, Closed):
            assert (answer.condition, answer.lines[-1].distance) == ("changed_threads", "1 more")

    @pytest.mark.parametrize(("seconds", "opens"), [(1799, False), (1800, True), (1801, True)])
    def test_half_an_hour_of_quiet(self, seconds, opens):
        answer = gate(look(Seen(active=NOW - timedelta(seconds=seconds))))
        assert isinstance(answer, Open) is opens
        if isinstance(answer, Closed):
            assert (answer.condition, answer.lines[-1].distance) == ("idle", "0:00:01")


class TestStarvation:
    @pytest.mark.parametrize(
        ("seconds", "opens"), [(86_399, False), (86_400, True), (86_401, True)]
    )
    def test_after_a_day_quiet_is_not_waited_for(self, seconds, opens):
        facts = Seen(success=NOW - timedelta(seconds=seconds), changed=1, active=NOW)
        answer = gate(look(facts))
        assert isinstance(answer, Open) is opens
        if opens:
            waived = {name for name, result in results(answer).items() if result == "waived"}
            assert waived == {"changed_threads", "idle"}

    def test_one_thread_must_have_changed_all_the_same(self):
        facts = Seen(success=NOW - timedelta(days=9), changed=0, active=NOW)
        answer = gate(look(facts))
        assert isinstance(answer, Closed)
        assert answer.condition == "changed_threads"

    def test_without_a_success_the_day_begins_with_the_first_thread(self):
        young = Seen(first=NOW - timedelta(hours=24) + SECOND, changed=1)
        assert isinstance(gate(look(young)), Closed)
        assert isinstance(gate(look(replace(young, first=NOW - timedelta(hours=24)))), Open)
        assert isinstance(gate(look(replace(young, first=None))), Closed)

    def test_it_waives_the_hours_too(self):
        settings = DreamSettings(schedule="window", time_zone="UTC")
        noon = datetime(2026, 5, 4, 12, tzinfo=UTC)
        facts = Seen(success=noon - timedelta(days=2), changed=3)
        answer = gate(look(facts, trigger="timer", settings=settings, now=noon))
        assert line_of(answer, "window").result == "waived"

    def test_an_owner_who_never_rests_dreams_every_day(self):
        success, times = None, []
        start = NOW
        for quarter in range(7 * 96):
            now = start + timedelta(minutes=15 * quarter)
            facts = Seen(success=success, first=start, changed=2, active=now)
            if isinstance(gate(look(facts, now=now)), Open):
                success = now
                times.append(now)
        assert len(times) == 6
        assert all(later - now <= timedelta(days=1) for now, later in pairwise(times))


class TestLock:
    def test_a_held_lock_names_its_holder(self):
        held = Held(holder=Holder(pid=7, host="boathouse", since=NOW))
        line = line_of(gate(look(Seen(holder=held))), "lock")
        assert line.result == "closed"
        assert line.distance == f"pid 7 on boathouse since {NOW.isoformat()}"

    @pytest.mark.parametrize(("seconds", "overdue"), [(3600, False), (3601, True)])
    def test_after_an_hour_it_is_overdue(self, seconds, overdue):
        held = Held(holder=Holder(pid=7, host="boathouse", since=NOW - timedelta(seconds=seconds)))
        line = line_of(gate(look(Seen(holder=held))), "lock")
        assert line.distance.endswith("overdue") is overdue

    def test_a_holder_without_a_name_is_still_another_process(self):
        line = line_of(gate(look(Seen(holder=Held(holder=None)))), "lock")
        assert line.value == "another process"


class TestBudget:
    HAS = Budget(model="small", calls_left=2, tokens_left=9)

    @pytest.mark.parametrize(
        ("mode", "left", "opens", "value"),
        [
            ("auto", Budget(), True, "rules only"),
            ("auto", HAS, True, "2 calls left today"),
            ("auto", Budget(model="small", tokens_left=9), True, "used up, rules only"),
            ("deterministic", HAS, True, "rules only"),
            ("model_required", HAS, True, "2 calls left today"),
            ("model_required", Budget(), False, "rules only"),
            ("model_required", Budget(model="small", calls_left=2), False, "used up, rules only"),
        ],
    )
    def test_only_a_model_that_is_required_and_absent_closes(self, mode, left, opens, value):
        answer = gate(look(Seen(left=left), trigger="manual", settings=DreamSettings(mode=mode)))
        assert isinstance(answer, Open) is opens
        assert line_of(answer, "budget").value == value

    def test_it_says_what_would_open_it(self):
        required = DreamSettings(mode="model_required")
        none = gate(look(trigger="manual", settings=required))
        assert line_of(none, "budget").distance == "set llm.model"
        spent = Seen(left=Budget(model="small"))
        used = gate(look(spent, trigger="manual", settings=required))
        assert line_of(used, "budget").distance == "until tomorrow"
