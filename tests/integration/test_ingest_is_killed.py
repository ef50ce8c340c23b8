"""An ingest that is killed loses the thread in hand at most; the next run brings the rest."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from export import Switches
from graphstore import open_store
from service import taking, writing
from service.settings import IngestSettings
from tests.claude_talk import Talk
from tests.fake_derive import NOW, FakeDerive

ROOT = Path(__file__).parents[2]
KILLED = -9


def sessions(folder, count):
    """Files of all kinds: plain ones, forks of earlier ones, and lists of conversations."""
    talk = None
    for number in range(count):
        session = f"{number:08x}-0000-4000-8000-000000000001"
        if talk is not None and number % 7 == 0:
            talk = talk.copy(session)
        else:
            talk = Talk(session, f"-{number}-")
        talk.play(["ask", "call", "answer", "ask", "answer"])
        talk.write(folder)
        if number % 10 == 0:
            said = [{"role": "user", "content": f"What is {number}?"}]
            said.append({"role": "assistant", "content": f"It is {number}."})
            (folder / f"{number}.json").write_text(json.dumps([{"messages": said}]), "utf-8")


def killed(workspace, folder, moment):
    command = [sys.executable, "-m", "tests.integration.killed_ingest"]
    return subprocess.run(
        [*command, str(workspace), str(folder), str(moment)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )


def exported(store, out):
    writing.exported(store, "jsonl", str(out), Switches(with_text=True), NOW, force=True)
    assert store.verify() == ()
    return out.read_bytes()


def stored(store):
    return {thread.thread_id: thread for thread in store.threads()}


def again(store, folder):
    options = taking.options_of(IngestSettings(), b"salt")
    return taking.take(store, FakeDerive(), (str(folder),), options, NOW)


@pytest.mark.parametrize(
    ("files", "times"),
    [(12, 2), pytest.param(300, 20, marks=pytest.mark.soak)],
)
def test_a_killed_run_is_completed_by_the_next(tmp_path, files, times):
    folder = tmp_path / "in"
    folder.mkdir()
    sessions(folder, files)
    whole = killed(tmp_path / "whole", folder, 0)
    moments = int(whole.stdout)
    with open_store(tmp_path / "whole", FakeDerive()) as store:
        plain, everything = exported(store, tmp_path / "whole.jsonl"), stored(store)
    survivors = 0
    for time in range(times):
        workspace = tmp_path / str(time)
        # spread over the run, at other places in each part of it
        moment = 1 + (time * moments + (time * 7919) % moments) // times
        assert killed(workspace, folder, moment).returncode == KILLED
        with open_store(workspace, FakeDerive()) as store:
            found = stored(store)
            assert found.items() <= everything.items()
            survivors += len(found)
            assert again(store, folder).new == len(everything) - len(found)
            assert exported(store, tmp_path / "again.jsonl") == plain
    assert 0 < survivors < times * len(everything)
