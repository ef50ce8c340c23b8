"""How text fits a terminal."""

import io
import json
import sys
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cli import paint
from service.answers import StageTime

REF = "thread:claude-code:4fefbbc8-3fa7-419d-864c-5d1f14cf8b8e#turn:15"


@pytest.fixture
def narrow(monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")


def ascii_only(monkeypatch):
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(io.BytesIO(), encoding="ascii"))


def test_wide_signs_take_two_columns():
    assert paint.columns("日本go") == 6


@pytest.mark.parametrize(
    ("text", "room", "cut"),
    [
        ("short", 5, "short"),
        ("longer text", 7, "longer…"),
        ("日本語です", 7, "日本語…"),
        ("a\nb", 3, "a b"),
    ],
)
def test_a_line_is_cut_where_it_must_be(text, room, cut):
    assert paint.cut(text, room) == cut


def test_the_end_of_a_path_is_kept():
    assert paint.tail("a/long/path/file.json:7", 12) == "…file.json:7"
    assert paint.tail("short", 12) == "short"
    assert paint.tail("日本語.md", 6) == "…語.md"


def test_an_ascii_terminal_gets_plain_signs(monkeypatch):
    ascii_only(monkeypatch)
    assert paint.mark("…", "~") == "~"
    assert paint.cut("longer text", 7) == "longer~"


@given(st.text(max_size=200), st.integers(8, 60))
def test_wrapped_lines_fit_and_lose_no_sign(text, room):
    lines = list(paint.wrapped(text, room))
    assert "".join("".join(lines).split()) == "".join(text.split())
    for line in lines:
        assert paint.columns(line) <= room or (" " not in line and line.isascii())


@pytest.mark.usefixtures("narrow")
def test_a_reference_is_never_broken(capsys):
    paint.refs(("see", REF, "and", REF), first="  ")
    assert capsys.readouterr().out.splitlines() == [
        "    see",
        f"    {REF}",
        "    and",
        f"    {REF}",
    ]


@pytest.mark.usefixtures("narrow")
def test_a_paragraph_hangs_below_its_label(capsys):
    paint.paragraph("one two three four five six seven eight", " " * 8, first="label")
    assert capsys.readouterr().out.splitlines() == [
        "label   one two three four five six",
        "        seven eight",
    ]


@pytest.mark.usefixtures("narrow")
def test_rows_are_aligned_and_the_last_takes_what_is_left(capsys):
    paint.rows(("n", "name", "what"), [(1, "日本", "x" * 60), (20, None, "short")])
    assert capsys.readouterr().out.splitlines() == [
        "n   name  what",
        "1   日本  " + "x" * 29 + "…",
        "20  -     short",
    ]


@pytest.mark.usefixtures("narrow")
def test_ids_in_the_last_column_can_be_kept_whole(capsys):
    paint.rows(("n", "ref"), [(1, REF)], paint.whole)
    assert REF in capsys.readouterr().out


def test_no_rows_no_header(capsys):
    paint.rows(("a", "b"), [])
    assert capsys.readouterr().out == ""


def test_a_block_keeps_its_lines(capsys):
    paint.block("one\n\n  two")
    assert capsys.readouterr().out == "    one\n\n      two\n"


def test_json_has_stable_keys_and_keeps_letters(capsys):
    paint.as_json((StageTime(stage="été", cpu_s=1.0, peak_mb=2.0), {"b": 1}))
    out = capsys.readouterr().out
    assert json.loads(out) == [{"cpu_s": 1.0, "peak_mb": 2.0, "stage": "été"}, {"b": 1}]
    assert out.index("cpu_s") < out.index("stage")
    assert "été" in out


@pytest.mark.parametrize(
    ("count", "noun", "said"),
    [
        (1, "thread", "1 thread"),
        (0, "thread", "0 threads"),
        (1967, "edge", "1,967 edges"),
        (2, "hypothesis", "2 hypotheses"),
        (2, "Journey", "2 Journeys"),
    ],
)
def test_counts_agree_with_their_nouns(count, noun, said):
    assert paint.plural(count, noun) == said


def test_an_unknown_day_is_a_dash():
    assert paint.day(None) == "-"
    assert paint.day(datetime(2026, 1, 2, tzinfo=UTC)) == "2026-01-02"
