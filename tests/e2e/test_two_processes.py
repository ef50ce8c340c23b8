"""Several processes at one store: readers outside, writers that meet, a process that is killed."""

import json
import signal
import sqlite3
import time

import pytest

from tests.installed import Installed

pytestmark = pytest.mark.slow


@pytest.fixture
def clew(tmp_path):
    return Installed(tmp_path)


def chats(folder, name, count, turns=4):
    """Some conversations about a subject."""
    folder.mkdir(exist_ok=True)
    for number in range(count):
        said = [
            {"role": role, "content": f"Why does {name} {number} crack at step {step}?"}
            for step in range(turns)
            for role in ("user", "assistant")
        ]
        (folder / f"{name}{number}.json").write_text(json.dumps({"messages": said}), "utf-8")


def records(ledger):
    """Records of a ledger, read as any other program would read it."""
    try:
        reading = sqlite3.connect(f"file:{ledger}?mode=ro", uri=True)
    except sqlite3.Error:
        return 0
    try:
        return reading.execute("SELECT count(*) FROM record").fetchone()[0]
    except sqlite3.Error:
        return 0
    finally:
        reading.close()


def wait_for(clew, count):
    """Until the ledger holds more than some records."""
    until = time.monotonic() + 60
    while records(clew.workspace / "ledger.db") <= count:
        assert time.monotonic() < until
        time.sleep(0.02)


def test_a_reader_of_the_ledger_does_not_disturb_its_writer(clew):
    chats(clew.folder / "in", "kiln", 40)
    process = clew.start("ingest", "in")
    while process.poll() is None:  # opening and closing again and again is what used to hurt
        records(clew.workspace / "ledger.db")
        time.sleep(0.02)
    assert process.returncode == 0, process.communicate()[1]
    process.communicate()
    assert clew.json("status")["threads"] == 40


def test_two_writers_take_turns_and_both_land(clew):
    chats(clew.folder / "kilns", "kiln", 12)
    chats(clew.folder / "pumps", "pump", 12)
    both = [clew.start("ingest", name) for name in ("kilns", "pumps")]
    for process in both:
        _, err = process.communicate(timeout=120)
        assert process.returncode == 0, err
    assert clew.json("status")["threads"] == 24


def test_who_has_the_store_is_named(clew):
    chats(clew.folder / "in", "kiln", 150)
    process = clew.start("ingest", "in")
    wait_for(clew, 3)
    done = clew.run("status", CLEW_STORE__WAIT_S="0")
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    assert done.returncode == 4
    assert f"process {process.pid} (ingest)".encode() in done.stderr


def test_a_killed_run_is_finished_by_the_next_one(clew, tmp_path):
    chats(clew.folder / "in", "kiln", 60)
    process = clew.start("ingest", "in")
    wait_for(clew, 3)
    process.kill()
    process.communicate()
    assert 0 < records(clew.workspace / "ledger.db") < 60
    assert clew.run("ingest", "in").returncode == 0
    assert clew.json("verify")["faults"] == []
    whole = Installed(tmp_path / "whole")
    whole.folder.mkdir()
    (clew.folder / "in").rename(whole.folder / "in")
    assert whole.run("ingest", "in").returncode == 0
    export = ("export", "jsonl", "--with-text")
    assert clew.run(*export).stdout == whole.run(*export).stdout
