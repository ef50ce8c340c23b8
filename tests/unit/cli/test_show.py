"""Each kind of answer, as a person reads it."""

import json
from functools import partial

import pytest

from cli import show
from cli.show import dreaming, files, keep, look, take
from dream.cycle import Fenced, Landed, NothingDue
from dream.gate import Closed
from graphstore.model.answers import MissingRef, Recalled
from graphstore.model.hypothesis import Claim, CounterEvidence, Valid
from graphstore.model.query import Fault, QueryTable
from graphstore.model.record import Count, GateLine
from ingest.model import IngestReport
from service.answers import HypothesisRow, LinkRow, Status, UpReport, Verified
from service.dreaming import Dreamt
from service.stages import next_action, outcome
from tests.dreamt import a_cycle, a_hypothesis

REF = "thread:test:a#turn:1"


@pytest.fixture(autouse=True)
def eighty(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")


@pytest.fixture
def said(capsys):
    """What a renderer prints for a value."""

    def run(render, found, **how):
        render(found, as_json=False, **how)
        return capsys.readouterr().out

    return run


def a_row(**changes):
    base = HypothesisRow(
        hypothesis=a_hypothesis(),
        standing=Valid(),
        use="quiet",
        src_label="A",
        dst_label="B",
        claims=(Claim(text="It comes back.", side="a", refs=(REF,)),),
        counter=(CounterEvidence(kind="base_rate", statement="It is common.", refs=(REF,)),),
    )
    return base.replace(**changes)


def an_up(**changes):
    base = UpReport(
        ingest=IngestReport(),
        threads=2,
        turns=4,
        questions=1,
        concepts=3,
        links=0,
        journeys=0,
        dream="none_due",
        page="/o/clew.html",
        report="/o/report.html",
    )
    return base.replace(**changes)


def a_status(**changes):
    figures = dict.fromkeys(
        ("threads", "lineages", "turns", "questions", "concepts", "journeys", "seeds"), 1
    )
    more = dict.fromkeys(("hypotheses", "parked", "records", "carriers", "unmasked", "queued"), 0)
    base = Status(
        workspace="/w",
        engine="kuzu",
        **figures,
        **more,
        losses=(),
        last_dream=None,
        last_dream_outcome="never",
        notices=(),
        next_action="clew up",
    )
    return base.replace(**changes)


def test_json_replaces_everything_else(capsys):
    take.status(a_status(), as_json=True)
    assert json.loads(capsys.readouterr().out)["engine"] == "kuzu"


def test_every_hypothesis_is_marked(said):
    rows = (a_row(), a_row(hypothesis=a_hypothesis(hypothesis_id="h:2")))
    assert said(dreaming.hypotheses, rows).count(show.MARK) == 2
    landed = Dreamt(result=Landed(record=a_cycle(hypotheses=(a_hypothesis(),))))
    assert said(dreaming.dreamt, landed).count(show.MARK) == 1


def test_a_hypothesis_shows_what_speaks_for_and_against_it(said):
    out = said(dreaming.hypotheses, (a_row(failed=("below_retention",)),))
    assert f"    for      {REF}" in out
    assert "    against  It is common." in out
    assert "    parked   below retention" in out
    assert "review   " in out


class TestUp:
    def test_says_where_page_and_report_are(self, said):
        out = said(take.up, an_up(), verbose=False)
        assert "page        /o/clew.html" in out
        assert "report      /o/report.html" in out
        assert "hypotheses  none (none_due); 0 parked" in out

    def test_says_why_there_is_no_page(self, said):
        up = an_up(page=None, page_missing="this installation holds none")
        assert "page        none: this installation holds none" in said(take.up, up, verbose=False)

    def test_counts_by_name(self, said):
        up = an_up(seeds=(Count(name="cut_point", count=2), Count(name="cycle", count=1)))
        assert "seeds       2 cut point, 1 cycle" in said(take.up, up, verbose=False)


class TestStatus:
    def test_what_was_noted_is_said_in_words(self, said):
        out = said(take.status, a_status(losses=(Count(name="bad_json", count=3),), unmasked=2))
        assert "3 bad_json: a line that is not valid JSON" in out
        assert "2 threads taken in without masking" in out
        assert "last dream  never" in out

    def test_the_next_command_follows_from_what_is_there(self):
        assert next_action((), dreamt=False) == "clew up PATH, or clew up --example"
        assert next_action((1,), dreamt=False) == "clew up"
        assert next_action((1,), dreamt=True) == "clew hypotheses"


@pytest.mark.parametrize(
    ("reason", "words"),
    [
        ("empty_store", "holds no turn"),
        ("below_floor", "near enough"),
        ("no_match", "a word of it"),
    ],
)
def test_nothing_found_says_why(said, reason, words):
    found = Recalled(cue="x", basis="none", not_found_reason=reason)
    assert words in said(look.recalled, found)


@pytest.mark.parametrize("reason", ["malformed", "no_thread", "no_turn", "ambiguous"])
def test_a_missing_turn_says_why(said, reason):
    missing = MissingRef(ref=REF, reason=reason)
    for render, found in ((look.fetched, (missing,)), (look.opened, missing)):
        assert said(render, found) == f"{REF}: {look.MISSING[reason]}\n"


class TestDreamt:
    CASES = (
        (Landed(record=a_cycle(), why_nothing="no_draft"), "anything new to say", "no_draft"),
        (
            Landed(record=a_cycle(), why_nothing="below_retention (0.05 short)"),
            "worth keeping",
            "below_retention (0.05 short)",
        ),
        (Landed(record=a_cycle(), why_nothing="rejected:well_formed"), "well formed", None),
        (Landed(record=a_cycle()), "landed: ", "landed"),
        (
            NothingDue(reason="no_queue", next_action="clew ingest PATH", notes=()),
            "next: clew ingest PATH",
            "no_queue",
        ),
        (Fenced(generation=2), "nothing was written", "fenced"),
        (
            Closed(
                condition="lock",
                lines=(
                    GateLine(
                        name="lock",
                        result="closed",
                        value="process 7",
                        required="free",
                        distance="wait for it",
                    ),
                ),
            ),
            "closed: lock is process 7, needs free\nnext: wait for it",
            "gate:lock",
        ),
    )

    @pytest.mark.parametrize(("result", "words", "short"), CASES)
    def test_every_end_is_said(self, said, result, words, short):
        assert words in said(dreaming.dreamt, Dreamt(result=result))
        if short is not None:
            assert outcome(Dreamt(result=result)) == short

    def test_a_dry_run_would_land(self, said):
        landed = Dreamt(result=Landed(record=a_cycle()))
        assert said(dreaming.dreamt, landed, dry_run=True).startswith("would land: ")


class TestLists:
    @pytest.mark.parametrize(
        ("render", "words"),
        [
            (look.threads, "no such thread"),
            (look.questions, "no such question"),
            (partial(look.borderline, answer="questions same"), "no pair waits"),
            (look.journeys, "no Journey"),
            (dreaming.hypotheses, "no such hypothesis"),
        ],
    )
    def test_an_empty_one_says_so(self, said, render, words):
        assert words in said(render, ())

    def test_a_pair_that_waits_shows_both_with_their_ids(self, said):
        row = LinkRow(one_id="q:1", one="How?", other_id="q:2", other="Why?", score=0.7)
        told = said(partial(look.borderline, answer="questions same|different"), (row,))
        assert told.splitlines() == [
            "0.70  How? (q:1)",
            "      Why? (q:2)",
            "your word: clew questions same|different ONE OTHER",
        ]

    def test_a_table_without_rows_and_one_cut_off(self, said):
        assert said(files.table, QueryTable(columns=("a",), rows=(), truncated=False)) == "no row\n"
        cut = QueryTable(columns=("a",), rows=((1,),), truncated=True)
        assert said(files.table, cut).splitlines() == [
            "a",
            "1",
            "there are more rows: raise --limit",
        ]


class TestVerified:
    def test_all_is_well(self, said):
        out = said(keep.verified, Verified(records=1, turns=2, faults=()))
        assert out == "checked 1 record, 2 turns\neverything holds\n"

    def test_many_faults_are_counted_not_listed(self, said):
        faults = tuple(Fault(kind="graph", subject=f"c:{at}", detail="gone") for at in range(30))
        out = said(keep.verified, Verified(records=1, turns=2, faults=faults))
        assert out.count("gone") == keep.FAULTS
        assert "and 10 more" in out
        assert "30 faults" in out


class TestOpening:
    def test_a_page_is_opened_on_a_desktop_only(self, monkeypatch, tmp_path):
        opened: list[str] = []
        monkeypatch.setattr("webbrowser.open", opened.append)
        monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
        monkeypatch.setattr("shutil.which", lambda _: None)
        monkeypatch.setattr("sys.platform", "linux")
        take.open_page(str(tmp_path / "a.html"))
        assert opened == []
        monkeypatch.setattr("shutil.which", lambda name: "/usr/bin/" + name)
        take.open_page(str(tmp_path / "a.html"))
        assert opened == [(tmp_path / "a.html").as_uri()]
