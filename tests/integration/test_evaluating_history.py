"""Evaluation of a whole workspace: cut at dates, dreamt over, and left as it was."""

import json
from collections import Counter
from datetime import UTC, datetime, timedelta

import pytest
from typer.testing import CliRunner

from cli import call
from cli.main import app
from dream.cycle import Landed, NothingDue
from dream.evaluation.recalled import ManualReview
from graphstore.model.conversation import Role, Taint, Thread, Turn
from graphstore.model.record import ParkedDraft
from graphstore.store import open_store
from ingest.derive import Derivation
from service import evaluating, operations, settings
from service.evaluating import ReviewUnreadable
from service.moments import WrongValue
from service.replaying import Replay, moments, said_by
from service.session import Session
from tests.dreamt import a_cycle, a_hypothesis
from tests.tales import NOW, START, written

DAY = timedelta(days=1)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Conversations of six days, and one that nobody dated."""
    made = tmp_path_factory.mktemp("history")
    file = written(made / "tales")
    undated = {"id": "undated", "messages": [{"role": "user", "content": "When was this said?"}]}
    file.write_text(file.read_text("utf-8") + json.dumps(undated) + "\n", "utf-8")
    operations.ingest(session_at(made), (str(file),))
    return made


def session_at(folder):
    loaded = settings.load({"store.home": str(folder / "home")}, folder)
    return Session(loaded=loaded, folder=folder, now=lambda: NOW)


@pytest.fixture
def session(folder):
    return session_at(folder)


def turn(number, at):
    return Turn(
        number=number,
        role=Role.HUMAN,
        taint=Taint.HUMAN,
        text=f"word {number}",
        fingerprint="b2:0",
        at=at,
    )


class TestMoments:
    SAID = tuple(START + DAY * day for day in (0, 1, 2, 3, 10, 11, 12, 13, 20))

    def test_equally_many_turns_lie_between_them_and_a_horizon_fits_behind(self):
        assert moments(self.SAID, (), 2, 8 * DAY) == (START + DAY * 2, START + DAY * 12)
        assert moments(self.SAID, (), 2, 9 * DAY) == (START + DAY * 2, START + DAY * 11)

    def test_there_are_none_where_nothing_is_older_than_a_horizon(self):
        assert moments(self.SAID, (), 3, 21 * DAY) == ()
        assert moments((), (), 3, DAY) == ()

    def test_dates_that_are_given_are_taken_in_order(self):
        given = (START + DAY * 5, START + DAY, START + DAY)
        assert moments(self.SAID, given, 3, DAY) == (START + DAY, START + DAY * 5)


class TestSaidBy:
    def a_thread(self, *times):
        turns = tuple(turn(number, at) for number, at in enumerate(times, 4))
        path = (1, 2, 3, *(each.number for each in turns))
        return Thread(thread_id="test:a", source="test", native_id="a", turns=turns, path=path)

    def test_later_and_undated_turns_are_left_out(self):
        thread = self.a_thread(START, None, START + DAY, START + 2 * DAY)
        record = said_by(thread, START + DAY)
        assert record is not None
        assert [each.number for each in record.turns] == [4, 6]

    def test_the_beginning_that_it_shares_stays(self):
        record = said_by(self.a_thread(START, START + DAY), START)
        assert record is not None
        assert record.path == (1, 2, 3, 4)

    def test_before_its_first_turn_there_is_no_thread(self):
        assert said_by(self.a_thread(START + DAY), START) is None


def test_a_history_is_evaluated_and_stays_as_it_was(session):
    def files():
        kept = session.workspace.rglob("*")
        return {path.name: path.read_bytes() for path in kept if path.suffix == ".db"}

    before = files()
    found = operations.evaluate(session, ("2025-09-05", "2025-09-06"), horizon=30)
    assert files() == before
    assert [cut.at for cut in found.cuts] == [
        datetime(2025, 9, 5, tzinfo=UTC),
        datetime(2025, 9, 6, tzinfo=UTC),
    ]
    assert [cut.turns for cut in found.cuts] == [16, 20]
    assert {cut.later_turns for cut in found.cuts} == {8, 4}
    assert found.undated == 1
    assert found.pooled[-1].name == "total"
    assert found.pooled[-1].candidates == sum(cut.rows[-1].candidates for cut in found.cuts) > 0
    assert found.recall.questions > 0
    assert not list(session.workspace.glob("eval-*"))


def test_dates_before_the_first_word_and_without_hypotheses_say_nothing(session):
    found = operations.evaluate(session, ("2020-01-01", "2025-09-01T12:00"), horizon=1)
    assert [(cut.turns, cut.rows[-1].candidates) for cut in found.cuts] == [(4, 0)]
    assert found.pooled[-1].note == "too little later evidence"


def test_what_a_dream_cycle_parked_is_counted_by_check():
    parked = ParkedDraft(hypothesis=a_hypothesis(), failed=("has_cues", "both_sides"))
    better = a_hypothesis(hypothesis_id="h:2", points=40)
    record = a_cycle(parked=(parked,), hypotheses=(a_hypothesis(), better))
    failed: Counter[str] = Counter()
    found = evaluating.ranked(Landed(record=record), failed)
    assert [one.hypothesis_id for one in found] == ["h:2", "h:1"]
    assert failed == {"has_cues": 1, "both_sides": 1}
    nothing = NothingDue(reason="no_queue", next_action="", notes=())
    assert evaluating.ranked(nothing, failed) == ()


def test_a_store_can_be_replayed_to_no_end_but_its_own(session, tmp_path):
    derive = Derivation()
    with open_store(tmp_path / "past", derive) as store:
        past = Replay(store, derive, (), session.settings.dream)
        assert past.grow(NOW) is None


class TestReview:
    def test_a_missing_review_gives_no_figures(self, session, tmp_path):
        with pytest.raises(ReviewUnreadable, match="cannot be read"):
            operations.evaluate(session, review=str(tmp_path / "none.json"))

    @pytest.mark.parametrize(
        "text",
        [
            "{",
            '{"reviewed": 1}',
            '{"reviewed": 1, "useful": 2}',
            '{"reviewed": -2, "useful": -3}',
            '{"reviewed": 1, "useful": 1, "who": "x"}',
        ],
    )
    def test_a_review_that_says_something_else_is_none(self, tmp_path, text):
        path = tmp_path / "review.json"
        path.write_text(text, "utf-8")
        with pytest.raises(ReviewUnreadable):
            evaluating.reviewed(str(path))

    def test_a_sound_review_is_read_and_none_is_no_fault(self, tmp_path):
        path = tmp_path / "review.json"
        path.write_text('{"reviewed": 4, "useful": 1}', "utf-8")
        assert evaluating.reviewed(str(path)) == ManualReview(reviewed=4, useful=1)
        assert evaluating.reviewed("") is None


def test_a_date_that_is_none_is_told(session):
    with pytest.raises(WrongValue, match="at cannot be yesterday"):
        operations.evaluate(session, ("yesterday",))


@pytest.mark.slow
def test_the_command_prints_figures_or_json(folder):
    def run(*words):
        token = call.OPTIONS.set(call.Options())
        try:
            return CliRunner().invoke(
                app, ["--home", str(folder / "home"), "dream", "eval", *words]
            )
        finally:
            call.OPTIONS.reset(token)

    dates = ("--at", "2025-09-05", "--horizon", "30")
    shown = run(*dates)
    assert shown.exit_code == 0
    assert "cannot claim" in shown.output
    assert "too little later evidence" in shown.output
    told = json.loads(run(*dates, "--json").output)
    assert [row["name"] for row in told["pooled"]][-1] == "total"
    assert json.loads(run(*dates, "--json").output) == told
