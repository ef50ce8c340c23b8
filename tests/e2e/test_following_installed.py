"""``clew ingest --follow`` as a user runs it: files grow, others come, Ctrl-C ends it."""

import json
import signal
import sqlite3
import time

import pytest

from tests.claude_talk import Talk
from tests.installed import Installed

pytestmark = pytest.mark.slow

ONE, TWO = (f"{letter * 8}-0000-4000-8000-000000000001" for letter in "ab")
PATIENCE = 120


def turns(clew):
    """Turns of every thread in the ledger, as any other program would read them."""
    try:
        reading = sqlite3.connect(f"file:{clew.workspace / 'ledger.db'}?mode=ro", uri=True)
    except sqlite3.Error:
        return {}
    try:
        found = reading.execute("SELECT thread_id, count(*) FROM turn GROUP BY thread_id")
        return dict(found.fetchall())
    except sqlite3.Error:
        return {}
    finally:
        reading.close()


def wait_until(clew, process, wanted):
    until = time.monotonic() + PATIENCE
    while turns(clew) != wanted:
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < until, turns(clew)
        time.sleep(0.05)


def test_what_is_written_meanwhile_is_taken_in_until_ctrl_c(tmp_path):
    clew = Installed(tmp_path)
    folder = tmp_path / "in"
    talk = Talk(ONE).play(["ask", "answer"])
    file = talk.write(folder)
    written = len(talk.encoded())
    process = clew.start("ingest", "in", "--follow", "--json", env={"CLEW_INGEST__FOLLOW_S": "0.1"})
    wait_until(clew, process, {f"claude-code:{ONE}": 2})
    with file.open("ab") as out:
        out.write(b"".join(talk.play(["ask", "answer"]).encoded()[written:]))
    Talk(TWO, "-two-").play(["ask", "answer"]).write(folder)
    wait_until(clew, process, {f"claude-code:{ONE}": 4, f"claude-code:{TWO}": 2})
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130, err
    told = json.loads(out)
    assert (told["new"], told["human"], told["assistant"]) == (2, 3, 3)
    assert told["interrupted"]
    again = clew.json("ingest", "in")
    assert (again["new"], again["grown"], again["human"]) == (0, 0, 0)
    assert clew.run("verify").returncode == 0
