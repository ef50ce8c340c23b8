"""A store of an earlier version opens and is right; one of a later version is refused."""

import json
import os
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from graphstore import open_store
from graphstore.engine import Engine
from graphstore.errors import SchemaTooNew
from graphstore.graphfiles import graph_file
from graphstore.ledger import Ledger
from graphstore.migrations import MIGRATIONS
from tests.fake_derive import NOW, FakeDerive
from tests.integration.crashing_store import record

ROOT = Path(__file__).parents[2]
EARLIER = "1e3955d0278cc5475b079b81ad8d51f3d228e410"
"""A commit before the graph was sealed and events were kept."""


@pytest.fixture(scope="module")
def earlier(tmp_path_factory):
    """The program as it was then."""
    git = shutil.which("git")
    folder = tmp_path_factory.mktemp("earlier")
    archive = folder.with_suffix(".tar")
    command = [git or "git", "archive", "-o", str(archive), EARLIER]
    if (
        git is None
        or subprocess.run(command, cwd=ROOT, capture_output=True, check=False).returncode
    ):
        pytest.skip("the history of the program is not here")
    with tarfile.open(archive) as packed:
        packed.extractall(folder, filter="data")
    return folder


def clew(program, home, *words):
    done = subprocess.run(
        [sys.executable, "-m", "cli", "--home", str(home), *words],
        cwd=program,
        env={**os.environ, "PYTHONPATH": str(program)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.slow
def test_a_store_of_an_earlier_version_opens_and_is_right(earlier, tmp_path):
    texts = ("Why do the locks fail under load?", "Which locks are fair?")
    turns = [{"role": role, "content": text} for text in texts for role in ("user", "assistant")]
    (tmp_path / "chat.json").write_text(json.dumps({"messages": turns}))
    home = tmp_path / "workspaces"
    clew(earlier, home, "ingest", str(tmp_path / "chat.json"))
    assert not (home / "default" / "graph.kuzu.seal").exists()
    assert "everything holds" in clew(ROOT, home, "verify")
    first = clew(ROOT, home, "export", "jsonl", "--with-text", "--with-paths")
    assert all(text in first for text in texts)
    clew(ROOT, home, "rebuild")
    assert clew(ROOT, home, "export", "jsonl", "--with-text", "--with-paths") == first


def test_a_store_of_a_later_version_is_refused_and_left_alone(tmp_path):
    with open_store(tmp_path / "ws", FakeDerive()) as store:
        store.commit(record(1), NOW)
    ledger = Ledger(tmp_path / "ws" / "ledger.db")
    number = len(MIGRATIONS) + 1
    with ledger.transaction() as connection:
        connection.execute("INSERT INTO migration VALUES (?, 'of_tomorrow')", (number,))
    ledger.close()
    before = (tmp_path / "ws" / "ledger.db").read_bytes()
    with pytest.raises(SchemaTooNew) as caught:
        open_store(tmp_path / "ws", FakeDerive())
    assert (caught.value.found, caught.value.known) == (number, len(MIGRATIONS))
    assert (tmp_path / "ws" / "ledger.db").read_bytes() == before


def test_a_graph_of_another_version_is_made_again(tmp_path, engine):
    with open_store(tmp_path, FakeDerive()) as store:
        store.commit(record(1), NOW)
    opened = Engine(graph_file(tmp_path, engine))
    with opened.write() as statement:
        statement.run("MATCH (m:Meta {name: 'schema'}) SET m.value = '999'")
    opened.close()
    with open_store(tmp_path, FakeDerive()) as store:
        assert [notice.kind for notice in store.notices] == ["rebuilt"]
        assert store.notices[0].detail.endswith("another schema")
        assert store.verify() == ()
