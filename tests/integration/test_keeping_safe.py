"""Backup, restore, salvage, doctor and the search for secrets, as commands on a small store."""

import json
import shutil
import sqlite3
import stat
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest
from typer.testing import CliRunner

from cli import call
from cli.main import app, failed
from graphstore.errors import Error
from graphstore.ledger import Ledger
from service import operations, settings
from service.health import ROOM
from service.session import Session

RUNNER = CliRunner()
THEN = datetime(2026, 1, 15, 12, tzinfo=UTC)
KEY = "AKIA" + "Q3EG5HLM7TZRW2KP"  # in two parts: no scanner of sources should stop at it


def chat(folder, name, *texts):
    turns = [{"role": role, "content": text} for text in texts for role in ("user", "assistant")]
    (folder / name).write_text(json.dumps({"messages": turns}), "utf-8")


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("made")
    chat(folder, "one.json", "How do I keep the tomatoes from splitting?")
    chat(folder, "two.json", f"Why does the key {KEY} not work?", "And with water?")
    session = Session(
        loaded=settings.load({"store.home": str(folder / "home")}, folder),
        folder=folder,
        now=lambda: THEN,
    )
    operations.ingest(session, (str(folder / "one.json"),))
    operations.ingest(session, (str(folder / "two.json"),), mask=False)
    return folder


@pytest.fixture
def home(made, tmp_path):
    return Path(shutil.copytree(made / "home", tmp_path / "workspaces"))


@pytest.fixture
def clew(home, monkeypatch):
    """Run a command; its exit code is that of the installed one."""
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.chdir(home.parent)

    def run(*words, code=0):
        token = call.OPTIONS.set(call.Options())
        try:
            done = RUNNER.invoke(app, ["--home", str(home), *words])
        finally:
            call.OPTIONS.reset(token)
        ended = done.exit_code
        if isinstance(done.exception, Error):
            ended = failed(done.exception)
        elif done.exception is not None and not isinstance(done.exception, SystemExit):
            raise done.exception
        assert ended == code, done.output
        return done.stdout

    return run


def damage(home):
    ledger = Ledger(home / "default" / "ledger.db")
    with ledger.transaction() as connection:
        newest = "SELECT max(seq) FROM record"
        connection.execute(f"UPDATE record SET at = 'x' WHERE seq = ({newest})")  # noqa: S608
    ledger.close()


# backup and restore


def test_a_workspace_comes_back_under_another_name(clew):
    said = clew("backup", "kept/one.clew")
    assert "2 threads" in said
    assert "everything holds" in clew("--workspace", "two", "restore", "kept/one.clew")
    first, second = (
        json.loads(clew(*words, "threads", "--json")) for words in ((), ("--workspace", "two"))
    )
    assert first == second


def test_refusals_of_backup_and_restore_have_a_hint(clew, capsys):
    clew("backup", "one.clew")
    clew("backup", "one.clew", code=1)
    clew("backup", "one.clew", "--force")
    clew("restore", "one.clew", code=1)
    clew("restore", "none.clew", code=1)
    clew("--workspace", "none", "backup", "two.clew", code=3)
    Path("broken.clew").write_bytes(b"no archive")
    clew("--workspace", "two", "restore", "broken.clew", code=1)
    lines = capsys.readouterr().err.splitlines()
    assert [line.startswith("clew: ") for line in lines] == [True, False] * 5


# salvage


def test_a_damaged_ledger_is_said_saved_and_shown(clew, home, capsys):
    damage(home)
    clew("threads", code=5)
    assert "clew ledger salvage" in capsys.readouterr().err
    before = (home / "default" / "ledger.db").read_bytes()
    assert "1 are lost" in clew("ledger", "salvage", "--dry-run")
    clew("ledger", "salvage", code=2)  # nobody agreed
    assert (home / "default" / "ledger.db").read_bytes() == before
    assert "the old ledger is in" in " ".join(clew("ledger", "salvage", "--yes").split())
    assert "everything holds" in clew("verify")
    assert "salvaged: " in clew("status")


def test_the_ledger_is_written_out_for_its_owner_alone(clew):
    clew("ledger", "export", "-o", "all.jsonl")
    lines = Path("all.jsonl").read_bytes().splitlines()
    assert [json.loads(line)["seq"] for line in lines] == list(range(1, len(lines) + 1))
    assert stat.S_IMODE(Path("all.jsonl").stat().st_mode) == 0o600
    clew("ledger", "export", "-o", "all.jsonl", code=1)
    clew("ledger", "export", "-o", "all.jsonl", "--force")
    assert json.loads(clew("ledger", "export", "-o", "all.jsonl", "--force", "--json"))["records"]
    clew("ledger", "burn", code=2)


# doctor


def levels(clew, code=0):
    return {check["name"]: check for check in json.loads(clew("doctor", "--json", code=code))}


def test_a_sound_workspace_is_said_to_be_so(clew):
    checks = levels(clew)
    assert {check["level"] for check in checks.values()} == {"good"}
    assert all(check["hint"] == "" for check in checks.values())


def test_each_finding_has_a_hint(clew, home, monkeypatch):
    workspace = home / "default"
    (workspace / "out").mkdir(mode=0o755)
    (workspace / "mask.salt").unlink()
    (workspace / "quarantine" / "then").mkdir(parents=True)
    (home / ".default.abc").mkdir()
    (workspace / "owner.json").write_text('{"pid": 999999999, "purpose": "x"}')
    (workspace / "graph.kuzu").write_bytes(b"none")
    usage = type("Usage", (), {"free": ROOM - 1})
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage)
    checks = levels(clew, code=1)
    found = {name for name, check in checks.items() if check["level"] != "good"}
    assert found == {"space", "privacy", "salt", "quarantine", "leftovers", "owner", "repair"}
    assert all(checks[name]["hint"] for name in found)


def test_a_damaged_store_is_found(clew, home):
    damage(home)
    checks = levels(clew, code=5)
    assert checks["store"]["level"] == "damaged"
    assert "salvage" in checks["store"]["hint"]


def test_damaged_pages_are_found(clew, home):
    file = home / "default" / "ledger.db"
    content = bytearray(file.read_bytes())
    size = int.from_bytes(content[16:18], "big")
    at = next(at for at in range(size, len(content), size) if content[at] == 13)  # a table's leaf
    content[at : at + size] = b"\xff" * size
    file.write_bytes(content)
    checks = levels(clew, code=5)
    assert "salvage" in checks["store"]["hint"]


def root_of(file, name):
    with closing(sqlite3.connect(file)) as connection:
        asked = "SELECT rootpage FROM sqlite_master WHERE name = ?"
        [(page,)] = connection.execute(asked, (name,)).fetchall()
        return page, connection.execute("PRAGMA page_size").fetchone()[0]


@pytest.mark.parametrize("name", ["turn_native", "record_subject", "turn_fts_data", "source_file"])
def test_damage_beside_the_records_is_found_and_mended(clew, home, capsys, name):
    file = home / "default" / "ledger.db"
    page, size = root_of(file, name)
    content = bytearray(file.read_bytes())
    content[(page - 1) * size : page * size] = b"\xa5" * size
    file.write_bytes(content)
    clew("verify", code=5)
    assert "clew ledger salvage" in capsys.readouterr().err
    assert "0 are lost" in clew("ledger", "salvage", "--yes")
    assert "everything holds" in clew("verify")


def test_a_table_beside_the_records_that_is_not_theirs_is_mended_as_is_said(clew, home):
    with closing(Ledger(home / "default" / "ledger.db")) as ledger:
        ledger.connection.execute("DELETE FROM turn")
    assert "next: clew ledger salvage" in clew("verify", code=5)
    assert "salvage" in levels(clew, code=5)["store"]["hint"]
    assert "0 are lost" in clew("ledger", "salvage", "--yes")
    assert "everything holds" in clew("verify")


def test_without_a_workspace_doctor_looks_at_the_rest(clew):
    checks = {
        check["name"]: check["level"]
        for check in json.loads(clew("--workspace", "none", "doctor", "--json"))
    }
    assert checks == {"engine": "good", "space": "good", "home": "good", "workspace": "note"}


# secrets


def test_secrets_are_found_by_kind_and_place_and_never_shown(clew, home):
    (home / "default" / "PLAYBOOK.md").write_text(f"use {KEY}")
    said = clew("scan-secrets", code=1)
    assert KEY not in said
    found = json.loads(clew("scan-secrets", "--json", code=1))
    places = {place["place"] for place in found["places"]}
    assert {place for place in places if "#turn:" in place}
    assert "PLAYBOOK.md" in places
    assert KEY not in json.dumps(found)


def test_masked_texts_and_hashes_are_no_secrets(clew):
    places = json.loads(clew("scan-secrets", "--json", code=1))["places"]
    threads = json.loads(clew("threads", "--json"))
    masked = next(row["thread_id"] for row in threads if "tomatoes" in json.dumps(row))
    assert not [place for place in places if masked in place["place"]]
