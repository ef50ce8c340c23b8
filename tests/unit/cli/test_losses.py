"""The account of a run of ingest, as it is told in a terminal."""

import pytest

from cli import losses
from graphstore.model.record import Count
from ingest.model import CarrierRow, CodeCount, IngestReport, MaskedCount

SUMS = (
    "1 thread new, 0 grown, 1 unchanged; "
    "2 human turns, 2 assistant turns, 0 side turns from 5 records"
)


@pytest.fixture(autouse=True)
def wide(monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")


def a_row(file, **changes):
    return CarrierRow(file=file, format="chatgpt", new=1, human=2, assistant=2).replace(**changes)


def told(capsys, report, **how):
    losses.show(report, **{"verbose": False, **how})
    return capsys.readouterr().out.splitlines()


def test_a_row_a_file_then_the_sums(capsys):
    report = IngestReport(
        carriers=(a_row("in/a.json"), a_row("in/b.json", new=0, same=1, human=0, assistant=0)),
        new=1,
        same=1,
        human=2,
        assistant=2,
        records=5,
    )
    assert told(capsys, report) == [
        "threads  new  human  assistant  format   file",
        "1        1    2      2          chatgpt  in/a.json",
        "1        0    0      0          chatgpt  in/b.json",
        SUMS,
    ]


def test_columns_that_hold_something_rare_are_shown(capsys):
    row = a_row("in/a.json", grown=1, other=3, dispositions=(Count(name="lost", count=4),))
    lines = told(capsys, IngestReport(carriers=(row,)))
    assert lines[0].split() == list(losses.HEADER)
    assert lines[1].split()[:7] == ["2", "1", "1", "2", "2", "3", "4"]


def test_many_files_are_told_by_folder(capsys):
    rows = tuple(a_row(f"in/{number % 2}/{number}.json") for number in range(4))
    lines = told(capsys, IngestReport(carriers=rows), most=3)
    assert [line.split("  ")[-1] for line in lines[1:3]] == ["in/0 (2 files)", "in/1 (2 files)"]
    assert lines[1].split()[:4] == ["2", "2", "4", "4"]
    assert len(told(capsys, IngestReport(carriers=rows), most=3, verbose=True)) == 6


def test_a_file_without_folder_belongs_to_this_one(capsys):
    lines = told(capsys, IngestReport(carriers=(a_row("a.json"),)), most=0)
    assert lines[1].endswith("  . (1 file)")


def test_files_left_closed_are_counted(capsys):
    rows = (a_row("a.json", skipped=True), a_row("b.json", skipped=True))
    lines = told(capsys, IngestReport(carriers=rows))
    assert lines[0] == "2 files unchanged"


def test_codes_are_said_in_words_with_their_first_places(capsys):
    code = CodeCount(code="bad_json", count=5, places=tuple(f"a.jsonl:{at}" for at in range(5)))
    assert told(capsys, IngestReport(codes=(code,)))[1:] == [
        "  5 bad_json: a line that is not valid JSON",
        "      a.jsonl:0",
        "      a.jsonl:1",
        "      a.jsonl:2",
        "      and 2 places more",
    ]


def test_a_dry_run_speaks_of_what_would_be(capsys):
    assert "2 threads would be new" in told(capsys, IngestReport(new=2, dry_run=True))[0]


def test_masks_and_files_left_alone_and_reasons_are_told(capsys):
    report = IngestReport(
        masked=(MaskedCount(kind="aws_access_key", count=2, distinct=1),),
        ignored=(Count(name="unknown_format", count=3), Count(name="hidden", count=1)),
        reasons=("3 unknown_format",),
    )
    assert told(capsys, report)[1:] == [
        "secrets masked: 2 aws_access_key",
        "files left alone: 3 (no reader knows this file), 1 (hidden)",
        "nothing found: 3 unknown_format",
    ]
