"""A scheduled look at a real store: what it counts, what it waits for, what it leaves alone."""

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from uuid import NAMESPACE_URL, uuid5

import pytest

from dream import cycle
from dream.cycle import Landed
from dream.gate import Closed
from graphstore.errors import StoreLocked, Unwritable
from graphstore.model.job import JobState
from service import operations, settings
from service.pacing import RECALLED, recalled, woken
from service.session import Session
from service.timer import Timer

START = datetime(2026, 3, 2, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)


class Home:
    """A workspace and a clock that a test sets."""

    def __init__(self, folder):
        self.folder = folder
        self.now = START
        self.flags = {"store.home": str(folder / "home"), "ingest.settle_s": "0"}

    def session(self):
        loaded = settings.load(self.flags, self.folder)
        return Session(loaded=loaded, folder=self.folder, now=lambda: self.now)

    def talk(self, name, question):
        """Take in a conversation that is held now; returns its thread id."""
        session, at = str(uuid5(NAMESPACE_URL, name)), self.now.isoformat()
        words = [("user", question), ("assistant", [{"type": "text", "text": "The seal."}])]
        lines = [
            {
                "parentUuid": f"{name}{place - 1}" if place else None,
                "sessionId": session,
                "uuid": f"{name}{place}",
                "timestamp": at,
                "cwd": "/boat",
                "type": role,
                "message": {"id": f"m{name}{place}", "role": role, "content": content},
            }
            for place, (role, content) in enumerate(words)
        ]
        path = self.folder / f"{session}.jsonl"
        path.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
        operations.ingest(self.session(), (str(path),))
        return f"claude-code:{session}"

    def look(self, **chosen):
        """One scheduled look: the name of the closed condition, or how it ended."""
        found = operations.dream(self.session(), if_due=True, **chosen).result
        return found.condition if isinstance(found, Closed) else found.outcome

    def dream(self):
        """A dream cycle by hand."""
        assert operations.dream(self.session()).result.outcome == "landed"


@pytest.fixture
def home(tmp_path):
    return Home(tmp_path)


def three(home, salt=""):
    for place in "abc":
        home.talk(place + salt, f"Why does the bilge pump{salt} leak at its seal, {place}?")


def test_three_threads_and_half_an_hour_of_quiet(home):
    home.talk("a", "Why does the bilge pump leak at its seal?")
    home.talk("b", "Why does the bilge pump leak at its seal in winter?")
    home.now += HOUR
    assert home.look() == "changed_threads"
    home.talk("c", "Does the bilge pump leak at its seal in winter too?")
    assert home.look() == "idle"
    home.now += HOUR / 2
    assert home.look() == "nothing_due"  # its jobs ripen for a day
    home.now += 24 * HOUR
    assert home.look() == "landed"


def test_a_recall_is_no_quiet(home):
    three(home)
    home.now += HOUR
    operations.recall(home.session(), "the bilge pump")
    assert home.look() == "idle"


def test_the_callers_own_thread_is_not_counted(home):
    three(home)
    home.now += HOUR
    own = home.talk("own", "What else leaks at the bilge pump?")
    assert home.look() == "idle"
    assert home.look(thread=own) == "nothing_due"


def test_after_a_success_it_rests_and_counts_anew(home):
    three(home)
    home.dream()
    home.now += 3 * HOUR
    three(home, " again")
    home.now += HOUR - timedelta(seconds=1)
    assert home.look() == "min_hours"
    home.now += timedelta(seconds=1)
    assert home.look() == "nothing_due"
    home.dream()
    home.now += 5 * HOUR
    assert home.look() == "changed_threads"


def test_a_sub_agent_opens_nothing(home):
    assert home.look(sub_agent=True) == "sub_agent"
    assert not (home.folder / "home" / "default").exists()


def test_a_look_that_finds_nothing_due_rests_for_an_hour(home):
    for place in "abc":
        home.talk(place, f"Hello, {place}.")
    home.now += HOUR
    assert home.look() == "nothing_due"
    home.now += HOUR - timedelta(seconds=1)
    assert home.look() == "backoff"


def test_a_recall_does_not_fail_where_its_word_cannot_be_left(home):
    home.talk("a", "Why does the bilge pump leak at its seal?")
    with home.session().store("look") as store:
        store.ledger.connection.execute("PRAGMA query_only = ON")
        with pytest.raises(Unwritable):
            store.jobs.reach(RECALLED, home.now.isoformat())
        recalled(store, home.now)
        assert store.jobs.reached(RECALLED) == ""
        store.ledger.connection.execute("PRAGMA query_only = OFF")
        recalled(store, home.now)
        assert store.jobs.reached(RECALLED) == home.now.isoformat()


class TestWaking:
    def waiting(self, home):
        """A workspace with work that is due, and the ledger position of now."""
        three(home)
        home.now += HOUR
        assert home.look() == "nothing_due"
        home.now += 24 * HOUR
        with home.session().store("look") as store:
            return home.session().workspace, store.ledger.last_seq()

    def test_nothing_that_happened_wakes_nobody(self, home):
        workspace, seq = self.waiting(home)
        assert not woken(workspace, seq, home.now)

    def test_a_turn_or_a_recall_wakes(self, home):
        workspace, seq = self.waiting(home)
        home.now += timedelta(seconds=1)
        operations.recall(home.session(), "the bilge pump")
        assert woken(workspace, seq, home.now - timedelta(seconds=1))
        assert not woken(workspace, seq, home.now)
        home.talk("late", "And the bilge pump of the tender?")
        assert woken(workspace, seq, home.now)

    def test_a_ledger_that_cannot_be_read_wakes_nobody(self, tmp_path):
        (tmp_path / "ledger.db").write_bytes(b"no ledger at all, though long enough to be read")
        assert not woken(tmp_path, 0, START)

    @pytest.mark.parametrize(("by_hand", "outcome"), [(False, "interrupted"), (True, "landed")])
    def test_a_scheduled_cycle_stops_at_the_next_job_and_lands_what_is_done(
        self, home, monkeypatch, by_hand, outcome
    ):
        self.waiting(home)
        work = cycle.one

        def interrupted(unit, *rest):
            if not home.spoken:
                home.spoken = True
                home.talk("late", "And the bilge pump of the tender?")
            return work(unit, *rest)

        home.spoken = False
        monkeypatch.setattr(cycle, "one", interrupted)
        found = operations.dream(home.session(), if_due=not by_hand).result
        assert isinstance(found, Landed)
        assert found.record.outcome == outcome
        assert (len(found.record.jobs) == 1) == (outcome == "interrupted")


class TestTimer:
    """A process that stays, ``clew ingest --follow``, looks at the gate now and then."""

    @pytest.fixture
    def timer(self, home):
        home.flags["dream.schedule"] = "idle"
        three(home)
        self.told: list[str] = []
        session = home.session()
        limits = operations.limits(session)
        return Timer(replace(session, now=lambda: home.now, progress=self.told.append), limits)

    def found(self, home):
        """Jobs that a look queued, and dream cycles."""
        with home.session().store("test") as store:
            return bool(store.jobs.all(JobState.QUEUED)), len(store.cycles())

    def test_it_looks_no_oftener_than_it_is_told_to(self, home, timer):
        timer.look()
        assert self.found(home) == (False, 0), "somebody was writing just now"
        home.now += timedelta(minutes=59)
        timer.look()
        assert self.found(home) == (False, 0), "the hour is not over"
        home.now += timedelta(minutes=1)
        timer.look()
        assert self.found(home) == (True, 0), "jobs rest for a day"
        home.now += 24 * HOUR
        timer.look()
        assert self.found(home)[1] == 1
        assert any(line.startswith("dreamt: ") for line in self.told)

    @pytest.mark.parametrize(
        "flag", [("dream.schedule", "off"), ("dream.check_interval_seconds", 0)]
    )
    def test_without_a_schedule_or_an_interval_it_opens_nothing(self, home, flag):
        home.flags |= {"dream.schedule": "idle"} | dict([flag])
        session = home.session()
        Timer(session, operations.limits(session)).look()
        assert not session.exists

    def test_a_busy_store_waits_for_the_next_look(self, home):
        home.flags |= {"dream.schedule": "idle", "store.wait_s": 0}
        session = home.session()
        with session.store("other", make=True):
            Timer(session, operations.limits(session)).look()
            with pytest.raises(StoreLocked):
                operations.dream(session)
