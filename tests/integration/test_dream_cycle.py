"""A dream cycle over a real store: begin, work, land; nothing twice, nothing half."""

import os
import shutil
import signal
import subprocess
import sys
import textwrap
from datetime import timedelta
from pathlib import Path

import pytest

from dream import functions, lock
from dream.cycle import (
    Ask,
    Fenced,
    Landed,
    Leased,
    NothingDue,
    begin,
    known_of,
    land,
    live_of,
    offers,
    work,
)
from dream.gate import Caller
from dream.journal import last_success
from dream.permitted import ForbiddenChange
from graphstore.errors import UnknownFunction
from graphstore.ids import question_id
from graphstore.model.conversation import Unchanged
from graphstore.model.hypothesis import HYPOTHESES, HypothesisState, Valid, standing
from graphstore.model.job import JobState
from graphstore.model.record import ReviewRecord
from graphstore.store import open_store
from tests.dreamt import SETTINGS, a_pack
from tests.planted import NOW, Planted, Plot, a_seed

OIL = "Is it the oil after all?"
LINE = "Why is the float line off the drum?"
GROOVE = "Should I cut a groove for the float line?"
LATER = NOW + timedelta(hours=1)
ROOT = Path(__file__).parent.parent.parent


def plant():
    """A question that comes back, a rhyme, a correction given twice."""
    plot = Plot()
    for n, thread in enumerate("abc"):
        plot.say(thread, OIL, "oil", "pallet", asks=True, days=30 - n)
        plot.say(
            thread, "Clean the pallet of the oil.", "oil", "pallet", role="assistant", days=30 - n
        )
    plot.say("d", LINE, "float line", "drum", asks=True, days=20)
    plot.say(
        "d", "The float line leaves the drum.", "float line", "drum", role="assistant", days=20
    )
    plot.say("e", GROOVE, "float line", "drum", asks=True, days=12)
    plot.say("e", "The drum keeps the float line.", "float line", "drum", role="assistant", days=12)
    for thread, days in (("f", 9), ("g", 7)):
        clip = "No, heights are above chart datum, not sea level."
        plot.say(thread, "Heights above sea level.", "sea level", role="assistant", days=days)
        signals = plot.correct(clip, "chart datum", "sea level")
        plot.say(thread, clip, "chart datum", "sea level", signals=signals, days=days)
    return plot


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "workspace"


def opened(folder, plot, engine="kuzu", **more):
    return open_store(folder, Planted(plot), engine=engine, **more)


def filled(store, plot):
    with store.deferred():
        for record in plot.records():
            store.commit(record, NOW)
        store.commit(Planted(plot).epoch((), store.roots()), NOW)
    return store


@pytest.fixture(scope="module")
def prepared(tmp_path_factory, request):
    """A workspace filled once; every test works on a copy of its own."""
    folder = tmp_path_factory.mktemp("prepared") / "workspace"
    plot = plant()
    with opened(folder, plot, request.config.getoption("--engine")) as store:
        filled(store, plot)
    return folder


@pytest.fixture
def store(folder, engine, prepared):
    shutil.copytree(prepared, folder)
    with opened(folder, plant(), engine) as store:
        yield store


def leased(store, now=NOW, seeds=(), settings=SETTINGS, **ask):
    found = begin(store, seeds, Ask(**ask), (), settings, now)
    assert isinstance(found, Leased)
    return found


def worked(found, now=NOW):
    return work(found, SETTINGS, now, lambda: False)


def landing(done, store, settings, now):
    landed = land(done, store, settings, now)
    assert isinstance(landed, Landed)
    return landed


def dreamt(store, now=NOW, **ask):
    return landing(worked(leased(store, now, **ask), now), store, SETTINGS, now)


def test_what_was_planted_comes_out_as_edges(store):
    landed = dreamt(store)
    edges = {edge.rule: edge for edge in live_of(store)}
    assert set(edges) == {"recurring_question", "cross_thread_resonance", "repeated_correction"}
    assert landed.why_nothing == ""
    assert landed.record.outcome == "landed"
    assert edges["recurring_question"].dst == question_id(OIL)
    rhyme = edges["cross_thread_resonance"]
    assert (rhyme.src, rhyme.dst) == tuple(sorted((question_id(LINE), question_id(GROOVE))))
    assert (edges["repeated_correction"].src, edges["repeated_correction"].dst) == (
        "test:g",
        "test:f",
    )
    current = store.fingerprints(ref for edge in edges.values() for ref in edge.refs)
    assert {type(standing(edge, NOW, current)) for edge in edges.values()} == {Valid}


def test_the_record_holds_what_the_edges_hold(store):
    landed = dreamt(store)
    (record,) = store.cycles()
    assert record == landed.record
    assert known_of(store) == record.hypotheses
    assert last_success(store.cycles()) == NOW
    assert {job.state for job in record.jobs} <= {"done", "parked"}


def test_the_next_cycle_hears_what_was_said_since(folder, engine, prepared):
    shutil.copytree(prepared, folder)
    plot = plant()
    with opened(folder, plot, engine) as store:
        dreamt(store)
        before = {edge.rule: edge for edge in live_of(store)}["recurring_question"]
        plot.say("a", "It was the oil, fixed.", "oil", resolves=OIL, days=-2)
        store.commit(plot.record("test:a"), NOW + timedelta(days=2))
        later = NOW + timedelta(days=3)
        begin(store, (), Ask(mode="dry_run"), (), SETTINGS, later)
        assert known_of(store) == store.cycles()[-1].hypotheses
        begin(store, (), Ask(), (), SETTINGS, later)
        (heard,) = [edge for edge in live_of(store) if edge.hypothesis_id == before.hypothesis_id]
        assert (heard.points, heard.confirmations) == (before.points + 10, 1)
        assert heard.state is HypothesisState.PARTIALLY_VALIDATED
        begin(store, (), Ask(), (), SETTINGS, later + timedelta(hours=1))
        assert heard in live_of(store)


def test_a_cycle_closes_what_is_past_its_date(store):
    dreamt(store)
    long_after = NOW + timedelta(days=45)
    landed = dreamt(store, long_after)
    closed = {edge.hypothesis_id: edge for edge in landed.record.changes}
    assert {(edge.state, edge.closed_reason) for edge in closed.values()} == {
        (HypothesisState.EXPIRED, "untested")
    }
    held = {edge.hypothesis_id: edge for edge in known_of(store)}
    assert all(held[name] == edge for name, edge in closed.items())


def test_a_second_run_by_hand_finds_nothing_due(store):
    dreamt(store)
    again = begin(store, (), Ask(), (), SETTINGS, LATER)
    assert isinstance(again, NothingDue)
    assert again.reason == "none_due"
    assert {note.name for note in again.notes} >= {"existing_job", "packs"}
    assert len(store.cycles()) == 1


def test_landing_the_same_cycle_twice_changes_nothing(store):
    done = worked(leased(store))
    assert isinstance(land(done, store, SETTINGS, NOW), Landed)
    seq, jobs = store.ledger.last_seq(), store.jobs.all()
    assert land(done, store, SETTINGS, LATER) == Unchanged()
    assert (store.ledger.last_seq(), store.jobs.all()) == (seq, jobs)


def test_an_older_lease_is_fenced(store):
    old = worked(leased(store))
    store.jobs.lease((), LATER)
    assert land(old, store, SETTINGS, LATER) == Fenced(generation=2)
    assert store.cycles() == ()
    assert live_of(store) == ()


def test_a_dry_run_shows_all_and_writes_nothing(store):
    seq, jobs, stamps = store.ledger.last_seq(), store.jobs.all(), store.jobs.stamps()
    landed = dreamt(store, mode="dry_run")
    assert len(landed.record.hypotheses) == 3
    assert (store.ledger.last_seq(), store.jobs.all(), store.jobs.stamps()) == (seq, jobs, stamps)
    assert live_of(store) == ()


def test_a_dry_run_says_what_a_real_one_would_leave_out(store):
    dreamt(store)
    again = begin(store, (), Ask(mode="dry_run"), (), SETTINGS, LATER)
    assert isinstance(again, NothingDue)
    assert "existing_job" in {note.name for note in again.notes}


def test_a_dry_run_takes_what_is_queued_already(store):
    done = work(leased(store), SETTINGS, NOW, lambda: True)
    land(done, store, SETTINGS, NOW)
    assert store.jobs.all(JobState.QUEUED) != ()
    assert len(leased(store, LATER, mode="dry_run").units) == len(done.leased.units)


def test_a_staged_cycle_parks_every_draft(store):
    landed = dreamt(store, mode="stage")
    assert landed.record.hypotheses == ()
    assert {name for draft in landed.record.parked for name in draft.failed} == {"staged_only"}
    assert landed.why_nothing == "parked:staged_only"
    assert live_of(store) == ()


def test_parked_drafts_are_not_dreamt_again_while_they_wait(store):
    dreamt(store, mode="stage")
    week = NOW + timedelta(days=8)
    again = begin(store, (), Ask(), (), SETTINGS, week)
    names = {note.name: note.count for note in again.notes}
    assert names["existing_parked"] == 3
    month = NOW + timedelta(days=46)
    assert "existing_parked" not in {note.name for note in leased(store, month).notes}


def test_one_function_can_be_asked_for(store):
    found = leased(store, function="amplification")
    assert {unit.job.function for unit in found.units} == {"amplification"}
    with pytest.raises(UnknownFunction):
        begin(store, (), Ask(function="prophecy"), (), SETTINGS, NOW)


def test_one_focus_can_be_asked_for(store):
    found = leased(store, seed=question_id(OIL))
    assert {unit.pack.focus.id for unit in found.units} == {question_id(OIL)}
    nothing = begin(store, (), Ask(seed="s:none"), (), SETTINGS, NOW)
    assert isinstance(nothing, NothingDue)
    assert nothing.reason == "no_queue"


def test_seeds_are_packed_too(store):
    members = (("side_a", "test:d"), ("side_b", "test:e"))
    seeds = (a_seed("weak_bridge", *members), a_seed("knot", ("member", "q:none")))
    found = leased(store, seeds=seeds)
    assert "seed" in {unit.pack.focus.kind for unit in found.units}
    assert "too_thin:no_clean_refs" in {note.name for note in found.notes}


def test_a_recall_that_missed_a_turn_is_dreamt_about_first(store):
    needed = next(turn for turn in store.ground().turns if "keeps the float" in turn.text)
    for other in (needed.ref, "thread:test:nowhere#turn:1"):
        miss = ReviewRecord(act="recall_miss", target=question_id(LINE), other=other, at=NOW)
        store.commit(miss, NOW)
    found = leased(store)
    kinds = [unit.job.focus_kind for unit in found.units]
    assert kinds.index("recall_miss") < kinds.index("question_link")
    assert "recall_miss_without_source" in {each.name for each in found.notes}
    record = landing(worked(found), store, SETTINGS, NOW).record
    told = [edge for edge in record.hypotheses if edge.rule == "missed_source"]
    assert [(edge.src, edge.dst) for edge in told] == [(question_id(LINE), needed.thread_id)]


def test_an_empty_store_has_no_queue(folder):
    with opened(folder, Plot()) as store:
        found = begin(store, (), Ask(), (), SETTINGS, NOW)
        assert isinstance(found, NothingDue)
        assert found.reason == "no_queue"


def test_an_interrupted_cycle_lands_what_is_done_and_requeues_the_rest(store):
    found = leased(store)
    asked = iter((False, True))
    done = work(found, SETTINGS, NOW, lambda: next(asked))
    landed = landing(done, store, SETTINGS, NOW)
    assert (landed.record.outcome, len(landed.record.jobs)) == ("interrupted", 1)
    rest = {unit.job.job_id for unit in found.units[1:]}
    queued = store.jobs.all(JobState.QUEUED)
    assert {job.job_id for job in queued} == rest
    assert {job.last_reason for job in queued} == {"interrupted"}
    assert {unit.job.job_id for unit in leased(store, LATER).units} == rest


@pytest.fixture
def broken(monkeypatch):
    """A function that fails on every pack, found like any other."""

    class Broken:
        NAME = "amplification"
        RULES = ()
        WANTS = functions.load("amplification").WANTS

        @staticmethod
        def draft(pack):
            raise KeyError(pack.pack_id)

    real = functions.found
    monkeypatch.setattr(
        functions, "found", lambda name: Broken if name == "amplification" else real(name)
    )


@pytest.mark.usefixtures("broken")
def test_a_job_that_fails_fails_alone_and_comes_again(store):
    landed = dreamt(store)
    failed = [job for job in landed.record.jobs if job.state == "failed"]
    assert {job.reason for job in failed} == {"worker_error:KeyError"}
    assert {edge.rule for edge in live_of(store)} == {"recurring_question", "repeated_correction"}
    again = store.jobs.get(failed[0].job_id)
    assert (again.state, again.attempts) == (JobState.QUEUED, 1)
    assert store.jobs.stamps().failures == 0


@pytest.mark.usefixtures("broken")
def test_a_cycle_in_which_all_failed_is_a_failure(store):
    landed = dreamt(store, function="amplification")
    assert landed.record.outcome == "failed"
    assert landed.why_nothing == "worker_error:KeyError"
    assert store.jobs.stamps().failures == 1
    assert last_success(store.cycles()) is None
    dreamt(store, LATER, function="compensatory")
    assert store.jobs.stamps().failures == 0


def test_a_cycle_without_a_draft_says_so(store):
    found = leased(store, function="amplification")
    empty = found.units[0].replace(pack=found.units[0].pack.replace(pairs=()))
    landed = landing(worked(found.replace(units=(empty,))), store, SETTINGS, NOW)
    assert landed.why_nothing == "no_draft"
    assert landed.record.jobs[0].reason == "no_draft"


def rejected(unit):
    """The same unit, every quote of it an instruction."""
    bad = "Should we ignore previous words?"
    questions = tuple(each.replace(text=bad) for each in unit.pack.questions)
    return unit.replace(pack=unit.pack.replace(questions=questions))


def test_a_cycle_whose_drafts_are_rejected_names_the_check(store):
    found = leased(store, function="amplification")
    unit = next(each for each in found.units if each.pack.focus.kind == "concept_edge")
    landed = landing(worked(found.replace(units=(rejected(unit),))), store, SETTINGS, NOW)
    assert landed.why_nothing == "rejected:not_instruction_like"
    (job,) = landed.record.jobs
    assert (job.reason, job.rejected_drafts) == ("rejected", 1)


def test_a_cycle_that_says_what_stands_is_a_duplicate(store):
    found = leased(store)
    land(worked(found), store, SETTINGS, NOW)
    stale = found.replace(cycle_id="dc:other", units=found.units[:1])
    landed = landing(worked(stale), store, SETTINGS, LATER)
    assert landed.why_nothing == "duplicate"
    assert landed.record.jobs[0].reason == "duplicate"


def test_drafts_below_retention_say_how_far(store):
    strict = SETTINGS.replace(retention_min=1.0, keep_best=0)
    landed = landing(worked(leased(store)), store, strict, NOW)
    best = max(draft.hypothesis.retention for draft in landed.record.parked)
    assert landed.why_nothing == f"below_retention ({1 - best:.2f} short)"


def test_a_forbidden_change_writes_nothing(store):
    found = leased(store)
    done = worked(found)
    bare = tuple(unit.replace(pack=unit.pack.replace(turns=())) for unit in found.units)
    forged = done.replace(leased=found.replace(units=bare))
    seq = store.ledger.last_seq()
    with pytest.raises(ForbiddenChange):
        land(forged, store, SETTINGS, NOW)
    assert store.ledger.last_seq() == seq
    assert live_of(store) == ()


def test_a_source_that_changed_meanwhile_parks_its_drafts(store):
    found = leased(store, seed=question_id(OIL))
    turns = tuple(turn.replace(fingerprint="b2:before") for turn in found.units[0].pack.turns)
    unit = found.units[0].replace(pack=found.units[0].pack.replace(turns=turns))
    landed = landing(worked(found.replace(units=(unit,))), store, SETTINGS, NOW)
    assert landed.why_nothing == "parked:source_current"


def test_a_schedule_waits_for_its_time_and_takes_ten(store):
    now = begin(store, (), Ask(caller=Caller(trigger="timer")), (), SETTINGS, NOW)
    assert isinstance(now, NothingDue)
    tomorrow = leased(store, NOW + timedelta(hours=24), caller=Caller(trigger="timer"))
    assert 0 < len(tomorrow.units) <= 10


def test_jobs_that_gave_way_are_counted(store):
    tight = SETTINGS.replace(queue=SETTINGS.queue.replace(cap=1))
    found = leased(store, settings=tight)
    notes = {note.name: note.count for note in found.notes}
    assert len(found.units) == 1
    assert found.units[0].job.family == "correction"
    assert notes["queue_full"] >= 3


def test_every_pack_is_offered_to_its_most_eager_function_first():
    two = a_pack(eligible=("compensatory", "amplification"))
    one, none = a_pack(pack_id="pack:2"), a_pack(pack_id="pack:3", eligible=())
    assert [(each.pack_id, name) for each, name in offers((two, one, none))] == [
        ("pack:1", "compensatory"),
        ("pack:2", "amplification"),
        ("pack:1", "amplification"),
    ]


# laws


def test_dreaming_touches_no_source(store):
    before = store.ground(), tuple(store.threads())
    rows = store.ledger.select("SELECT seq, checksum FROM record ORDER BY seq")
    for hour in range(3):
        begun = begin(store, (), Ask(), (), SETTINGS, NOW + timedelta(days=8 * hour))
        if isinstance(begun, Leased):
            land(worked(begun), store, SETTINGS, NOW + timedelta(days=8 * hour))
    assert (store.ground(), tuple(store.threads())) == before
    kept = store.ledger.select("SELECT seq, checksum FROM record ORDER BY seq")
    assert kept[: len(rows)] == rows


def test_a_rebuilt_graph_holds_the_same_hypotheses(store):
    dreamt(store)
    before = [store.edges(kind) for kind in HYPOTHESES]
    store.rebuild(LATER)
    assert [store.edges(kind) for kind in HYPOTHESES] == before


def test_no_hypothesis_joins_two_threads_of_one_lineage(folder):
    plot = plant()
    plot.roots["test:e"] = "test:d"
    plot.roots["test:g"] = "test:f"
    plot.say("h", "float line, drum, chart datum", "float line", "drum", "chart datum", "sea level")
    with opened(folder, plot) as store:
        dreamt(filled(store, plot))
        assert {edge.rule for edge in live_of(store)} == {"recurring_question"}


RUN = """
    import sys
    sys.path.insert(0, sys.argv[3])
    from pathlib import Path
    from dream.cycle import Ask, begin, land, work
    from tests.integration.test_dream_cycle import NOW, SETTINGS, filled, opened, plant
    plot = plant()
    if sys.argv[2] == "shuffled":
        plot.lines = dict(reversed(plot.lines.items()))
    with opened(Path(sys.argv[1]), plot) as store:
        found = begin(filled(store, plot), (), Ask(), (), SETTINGS, NOW)
    done = work(found, SETTINGS, NOW, lambda: False)
    with opened(Path(sys.argv[1]), plot) as store:
        print(land(done, store, SETTINGS, NOW).record.model_dump_json())
"""


def in_a_process(script, *arguments, **environment):
    command = [sys.executable, "-c", textwrap.dedent(script), *map(str, arguments), str(ROOT)]
    return subprocess.run(
        command, env={**os.environ, **environment}, capture_output=True, text=True, check=True
    ).stdout


@pytest.mark.slow
def test_two_hash_seeds_and_any_order_of_input_give_the_same_bytes(tmp_path):
    one = in_a_process(RUN, tmp_path / "one", "straight", PYTHONHASHSEED="1")
    other = in_a_process(RUN, tmp_path / "two", "shuffled", PYTHONHASHSEED="2")
    assert one == other
    assert '"outcome":"landed"' in one


IMPORTS = """
    import sys
    sys.path.insert(0, sys.argv[1])
    import dream.adjudicate, dream.functions.compensatory, dream.functions.amplification
    import dream.use, dream.policies
    doors = ("store", "engine", "ledger", "jobs", "projection", "search")
    print([name for name in sys.modules if name in {f"graphstore.{door}" for door in doors}])
    print([name for name in sys.modules if name in ("dream.index", "dream.pack", "dream.cycle")])
"""


def test_functions_and_checks_import_nothing_of_the_store():
    assert in_a_process(IMPORTS).split() == ["[]", "[]"]


KILLED = """
    import os, signal, sys
    sys.path.insert(0, sys.argv[2])
    from pathlib import Path
    from dream import lock
    from dream.cycle import Ask, begin, work
    from tests.integration.test_dream_cycle import NOW, SETTINGS, opened, plant
    folder = Path(sys.argv[1])
    with lock.hold(folder, 0, NOW):
        with opened(folder, plant()) as store:
            found = begin(store, (), Ask(), (), SETTINGS, NOW)
        print(len(found.units), flush=True)
        work(found, SETTINGS, NOW, lambda: os.kill(os.getpid(), signal.SIGKILL))
"""


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="needs SIGKILL")
def test_a_process_killed_at_work_leaves_its_jobs_to_the_next(folder, store):
    store.close()
    script = [sys.executable, "-c", textwrap.dedent(KILLED), str(folder), str(ROOT)]
    gone = subprocess.run(script, capture_output=True, text=True, check=False)
    assert gone.returncode == -signal.SIGKILL, gone.stderr
    with opened(folder, plant()) as again, lock.hold(folder, 0, NOW) as held:
        assert held is None
        assert last_success(again.cycles()) is None
        running = again.jobs.all(JobState.RUNNING)
        assert len(running) == int(gone.stdout)
        early = begin(again, (), Ask(), (), SETTINGS, NOW + timedelta(minutes=29))
        assert isinstance(early, NothingDue)
        found = leased(again, NOW + timedelta(minutes=30))
        assert {unit.job.job_id for unit in found.units} == {job.job_id for job in running}
        assert {unit.job.attempts for unit in found.units} == {1}
        assert landing(worked(found), again, SETTINGS, LATER).record.outcome == "landed"


def test_every_kind_of_focus_is_leased(store):
    kinds = {unit.pack.focus.kind for unit in leased(store).units}
    assert kinds == {"question_link", "concept_edge", "correction"}
