"""What the owner chooses on the command line, or in the settings, reaches the readers."""

import json
import os
from datetime import UTC, datetime

import pytest
from typer.testing import CliRunner

from cli.main import app
from service import operations, settings
from service.moments import WrongValue
from service.session import Session


def discord(folder, name="room.json"):
    def said(key, who):
        author = {"id": f"4{key}", "name": who}
        return {
            "id": key,
            "timestamp": f"2026-01-01T10:0{key}:00Z",
            "content": who,
            "author": author,
        }

    value = {"guild": {"id": "1"}, "channel": {"id": "2"}}
    file = folder / name
    file.write_text(json.dumps({**value, "messages": [said("1", "ana"), said("2", "bo")]}), "utf-8")
    return file


def takeout(folder):
    rows = [
        {"header": "Gemini Apps", "title": f"Prompted {n}", "time": f"2026-01-01T10:0{n}:00Z"}
        for n in range(3)
    ]
    file = folder / "MyActivity.json"
    file.write_text(json.dumps(rows), "utf-8")
    return file


def aged(file, year):
    moment = datetime(year, 6, 1, tzinfo=UTC).timestamp()
    os.utime(file, (moment, moment))
    return file


@pytest.fixture
def preview(tmp_path, now):
    def run(file, flags=None, **options):
        loaded = settings.load({"store.home": str(tmp_path / "home"), **(flags or {})}, tmp_path)
        session = Session(loaded=loaded, folder=tmp_path, now=lambda: now)
        return operations.ingest(session, (str(file),), dry_run=True, **options)

    return run


def turns(report):
    return report.human, report.other


def test_me_is_taken_from_the_settings_and_then_from_the_run(preview, tmp_path):
    file = discord(tmp_path)
    assert turns(preview(file)) == (2, 0)
    assert turns(preview(file, {"ingest.me": ["ana"]})) == (1, 1)
    assert turns(preview(file, {"ingest.me": ["ana"]}, me=("ana", "bo"))) == (2, 0)
    assert turns(preview(file, me=("nobody",))) == (0, 2)


def test_a_gap_puts_prompts_together(preview, tmp_path):
    file = takeout(tmp_path)
    assert [preview(file, group_gap=gap).new for gap in (0, 1)] == [3, 1]


def test_context_is_kept_by_a_setting(preview, tmp_path):
    file = tmp_path / "a.json"
    said = [{"role": "user", "content": "q"}, {"role": "tool", "content": "out"}]
    file.write_text(json.dumps({"messages": said}), "utf-8")
    assert turns(preview(file)) == (1, 0)
    assert turns(preview(file, {"ingest.keep_context": True})) == (1, 1)


def test_older_files_are_left_out(preview, tmp_path):
    folder = tmp_path / "in"
    folder.mkdir()
    aged(discord(folder, "old.json"), 2024)
    aged(takeout(folder), 2025)
    report = preview(folder, since="2025-01-01")
    assert report.new == 3
    assert [(one.name, one.count) for one in report.ignored] == [("older", 1)]


def test_a_date_that_is_none_is_refused(preview, tmp_path):
    with pytest.raises(WrongValue):
        preview(discord(tmp_path), since="soon")


def test_the_command_line_takes_them(tmp_path, monkeypatch):
    monkeypatch.setenv("CLEW_HOME", str(tmp_path / "home"))
    discord(tmp_path)
    aged(takeout(tmp_path), 2024)
    flags = ["--me", "ana", "--me", "x", "--group-gap", "5", "--since", "2025-01-01"]
    done = CliRunner().invoke(app, ["ingest", str(tmp_path), "--dry-run", "--json", *flags])
    told = json.loads(done.stdout)
    assert (told["human"], told["other"], told["new"]) == (1, 1, 1)
    assert [one["name"] for one in told["ignored"]] == ["older"]
