"""What the owner does with dreams, through the commands, on a store made from the example."""

import json
import shutil
from datetime import UTC, datetime, timedelta

import pytest
from typer.testing import CliRunner

from cli.main import app
from dream.corrections import ROUTES
from graphstore.errors import NotFound
from graphstore.ids import question_id
from graphstore.model.hypothesis import HypothesisState
from graphstore.model.record import ReviewRecord
from graphstore.store import open_store
from ingest.derive import Derivation
from service import operations, settings
from service.reviewing import NotPossible
from service.session import Session

pytestmark = pytest.mark.slow
THEN = datetime(2025, 10, 20, 12, tzinfo=UTC)
DAY = timedelta(days=1)


def session_at(folder, now=THEN):
    loaded = settings.load({"store.home": str(folder)}, folder)
    return Session(loaded=loaded, folder=folder, now=lambda: now)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("owner")
    operations.up(session_at(folder), example=True)
    return folder


@pytest.fixture
def home(made, tmp_path):
    """A copy of its own, so that acts of one test are not seen by another."""
    shutil.copytree(made, tmp_path / "own")
    return tmp_path / "own"


@pytest.fixture
def session(home):
    return session_at(home)


def first(session, state=""):
    return operations.hypotheses(session, state=state)[0].hypothesis


def again(session, name):
    """The hypothesis as it stands now, whatever its state."""
    row = operations.explain(session, name).row
    assert row is not None
    return row.hypothesis


def test_yes_validates_what_stands(session):
    one = first(session)
    done = operations.approve(session, one.hypothesis_id, reason="seen it")
    assert done.hypotheses[0].hypothesis.state is HypothesisState.VALIDATED
    assert again(session, one.hypothesis_id).state is HypothesisState.VALIDATED
    history = operations.explain(session, one.hypothesis_id).history
    assert [(each.what, each.by, each.why) for each in history] == [("approve", "owner", "seen it")]
    with pytest.raises(NotPossible, match="it is validated"):
        operations.approve(session, one.hypothesis_id)


def test_no_takes_it_out_of_the_list_and_keeps_it_for_audit(session):
    one = first(session)
    operations.refute(session, one.hypothesis_id, reason="no", ref=one.refs[0])
    assert one.hypothesis_id not in {
        row.hypothesis.hypothesis_id for row in operations.hypotheses(session)
    }
    refuted = operations.hypotheses(session, state="refuted")
    assert [row.hypothesis.hypothesis_id for row in refuted] == [one.hypothesis_id]
    with pytest.raises(NotPossible):
        operations.confirm(session, one.hypothesis_id)


def test_a_bare_word_counts_once_a_day(home):
    one = first(session_at(home))
    tomorrow = session_at(home, THEN + DAY)
    operations.confirm(tomorrow, one.hypothesis_id)
    heard = again(tomorrow, one.hypothesis_id)
    assert (heard.points, heard.state) == (
        one.points + 10,
        HypothesisState.PARTIALLY_VALIDATED,
    )
    with pytest.raises(NotPossible, match="counted already"):
        operations.confirm(session_at(home, THEN + DAY + timedelta(hours=1)), one.hypothesis_id)
    operations.confirm(session_at(home, THEN + 2 * DAY), one.hypothesis_id)
    assert again(session_at(home), one.hypothesis_id).confirmations == 2


@pytest.mark.parametrize("which", ["premise", "nowhere"])
def test_no_premise_and_no_missing_turn_confirms(session, which):
    one = first(session)
    ref = one.refs[0] if which == "premise" else "thread:test:none#turn:1"
    with pytest.raises(NotPossible if which == "premise" else NotFound):
        operations.confirm(session, one.hypothesis_id, ref=ref)


def test_own_words_replace_and_are_masked(session):
    one = first(session)
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" + "k1L2m3N4o5P6q7R8"
    operations.modify(session, one.hypothesis_id, title=f"Mine,\n {token}")
    worded = again(session, one.hypothesis_id)
    assert worded.title == "Mine, [masked:github_token]"
    assert (worded.summary, worded.validated_by) == (one.summary, "owner")


def test_renewing_moves_the_dates(home):
    one = first(session_at(home))
    operations.approve(session_at(home), one.hypothesis_id)
    operations.renew(session_at(home, THEN + 9 * DAY), one.hypothesis_id)
    assert again(session_at(home), one.hypothesis_id).expires_at == THEN + 54 * DAY


def test_a_parked_draft_can_be_let_stand_or_put_away(home):
    session = session_at(home)
    operations.rollback(session, "last")
    assert operations.dream(session, stage=True).result.outcome == "landed"
    parked = [row.hypothesis for row in operations.hypotheses(session, state="parked")]
    assert len(parked) >= 2
    operations.approve(session, parked[0].hypothesis_id)
    operations.reject(session, parked[1].hypothesis_id, reason="obvious")
    assert again(session, parked[0].hypothesis_id).state is HypothesisState.ACCEPTED
    left = {row.hypothesis.hypothesis_id for row in operations.hypotheses(session, state="parked")}
    assert left == {each.hypothesis_id for each in parked[2:]}
    assert left


def test_a_parked_draft_waits_45_days(home):
    operations.rollback(session_at(home), "last")
    operations.dream(session_at(home), stage=True)
    name = first(session_at(home), "parked").hypothesis_id
    second = timedelta(seconds=1)
    late = session_at(home, THEN + 45 * DAY)
    assert first(session_at(home, THEN + 45 * DAY - second), "parked")
    assert operations.hypotheses(late, state="parked") == ()
    with pytest.raises(NotFound):
        operations.approve(late, name)


def test_a_rolled_back_cycle_leaves_no_trace_in_use_and_can_be_dreamt_again(home):
    session = session_at(home)
    before = {row.hypothesis.hypothesis_id for row in operations.hypotheses(session)}
    cycle = operations.diff(session)
    assert {each.hypothesis_id for each in cycle.changes} == before
    done = operations.rollback(session, cycle.cycle_id)
    assert {row.hypothesis.state for row in done.hypotheses} == {HypothesisState.SUPERSEDED}
    assert operations.hypotheses(session) == ()
    assert operations.diff(session, cycle.cycle_id).is_rolled_back
    assert operations.dream(session_at(home, THEN + DAY)).result.outcome == "landed"
    again = {row.hypothesis.hypothesis_id for row in operations.hypotheses(session)}
    assert again == before
    with open_store(home / "default", Derivation()) as store:
        assert store.verify() == ()


def test_an_explanation_adds_up(session):
    one = first(session)
    found = operations.explain(session, one.hypothesis_id[:12])
    total = sum(each.value * each.weight for each in found.retention)
    assert total == pytest.approx(one.retention, abs=1e-5)
    assert found.failed == ()
    assert {each.to for each in found.distances} >= {"validated", "applied"}
    assert [each.ref for each in found.premises] == list(one.refs)
    assert all(each.text for each in found.premises)


def test_the_gate_is_explained_whole(session):
    lines = operations.explain(session).gate
    assert [line.name for line in lines][-2:] == ["lock", "budget"]
    assert len(lines) == 9
    assert {line.name: line.result for line in lines}["min_hours"] == "closed"


def test_queue_and_totals(session):
    assert operations.queue(session) == ()
    found = operations.dream_totals(session)
    assert found.hypotheses == len(operations.hypotheses(session, limit=1000))
    assert found.validation_rate is None


def test_what_was_corrected_is_listed_and_what_of_it_holds_for_a_thread(session):
    known = operations.corrections(session)
    assert known
    assert all(one.route == ROUTES[one.status] for one in known)
    held = next(one for one in known if one.route == "anchor")
    threads = [row.thread_id for row in operations.threads(session)]
    own = next(each for each in threads if held.ref.startswith(f"thread:{each}#"))
    told = {each: operations.corrections(session, thread=each) for each in threads}
    assert held not in told[own]
    assert max(map(len, told.values())) <= 3
    with pytest.raises(NotFound):
        operations.corrections(session, thread="nobody")


@pytest.mark.parametrize("name", ["", "h:", "h:none", "nothing"])
def test_what_is_not_there_is_said(session, name):
    with pytest.raises(NotFound):
        operations.approve(session, name)
    with pytest.raises(NotFound):
        operations.rollback(session, name)


def test_every_command_prints_what_it_did(home):
    """One word of each is enough: what it says is tested above."""
    one = first(session_at(home))
    for words, said in (
        (("status",), "dream cycles"),
        (("status",), "retained unused"),
        (("queue",), "no job waits"),
        (("corrections",), "reaches"),
        (("atlas",), "are about it"),
        (("atlas", "--json"), "cross_pack_bridge"),
        (("eval", "--at", "2025-06-01"), "cannot claim"),
        (("explain",), "min_hours"),
        (("explain", one.hypothesis_id), "Hypothesis, not source"),
        (("explain", one.hypothesis_id), "unasked"),
        (("explain", "last"), "new -> accepted"),
        (("diff",), "new -> accepted"),
        (("approve", one.hypothesis_id), "validated"),
        (("modify", one.hypothesis_id, "--title", "Mine"), "Mine"),
        (("renew", one.hypothesis_id), "recorded: renew"),
        (("refute", one.hypothesis_id, "--reason", "no"), "refuted"),
        (("explain", one.hypothesis_id), "refute by owner: no"),
        (("rollback", "last"), "superseded"),
    ):
        done = CliRunner().invoke(app, ["--home", str(home), "dream", *words])
        assert done.exit_code == 0, done.output
        assert said in done.stdout, words


def test_acts_print_json(home, capsys):
    from cli.show import judging

    one = first(session_at(home))
    judging.reviewed(operations.approve(session_at(home), one.hypothesis_id), as_json=True)
    told = json.loads(capsys.readouterr().out)
    assert told["hypotheses"][0]["hypothesis"]["state"] == "validated"


def test_a_missed_turn_is_dreamt_about_and_leaves_with_its_thread(session, home):
    question = "Is it the oil after all?"
    needed = "thread:chatgpt:09bcaf06-1b50-4820-839a-fcdd7961e4ae#turn:2"
    assert operations.missed(session, question, needed, reason="too late").hypotheses == ()
    with pytest.raises(NotFound, match="question"):
        operations.missed(session, "Is it the moon?", needed)
    with pytest.raises(NotFound, match="turn"):
        operations.missed(session, question, "thread:chatgpt:nowhere#turn:1")
    run = CliRunner().invoke(app, ["--home", str(home), "dream", "missed", question, needed])
    assert run.exit_code == 0, run.output
    assert "recorded: recall_miss" in run.output
    operations.dream(session)
    with session.store("test") as store:
        (told,) = (
            edge
            for cycle in store.cycles()
            for edge in cycle.hypotheses
            if edge.rule == "missed_source"
        )
    assert told.src == question_id(question)
    operations.forget(session, "thread", told.dst)
    with session.store("test") as store:
        acts = [each for each in store.dreams() if isinstance(each, ReviewRecord)]
    assert {each.other for each in acts if each.act == "recall_miss"} == {None}
