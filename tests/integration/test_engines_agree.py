"""Either engine gives the same export, is known by its first bytes, and never meets the other."""

import json
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from graphstore import open_store
from graphstore.engine import choose
from graphstore.graphfiles import graph_file, present
from graphstore.ids import digest_bytes
from tests.fake_derive import NOW, FakeDerive, everything
from tests.integration.crashing_store import record

pytestmark = [
    pytest.mark.slow,
    # looked for and not imported: the engines do not meet in one process
    pytest.mark.skipif(find_spec("ladybug") is None, reason="the second engine is not installed"),
]

ROOT = Path(__file__).parents[2]
DIGEST = """
import sys
from pathlib import Path
from graphstore import open_store
from graphstore.ids import digest_bytes
from tests.fake_derive import FakeDerive, everything
with open_store(Path(sys.argv[1]), FakeDerive(), engine=sys.argv[2], anew=True) as store:
    assert store.verify() == ()
    rows = {name: rows for name, rows in everything(store).items() if name != "Meta"}
    print(store.engine_name, digest_bytes(repr(rows).encode()))
"""
BOTH = """
import sys
from pathlib import Path
from graphstore.engine import load
from graphstore.errors import EngineConflict
load(sys.argv[1])
try:
    load(sys.argv[2])
except EngineConflict as conflict:
    print(conflict.message)
"""


def run(script, *words):
    done = subprocess.run(
        [sys.executable, "-c", script, *map(str, words)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def clew(home, *words):
    done = subprocess.run(
        [sys.executable, "-m", "cli", "--home", str(home), *words],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def export(home):
    return clew(home, "export", "jsonl", "--with-text", "--with-paths", "--with-hypotheses")


def test_the_example_is_exported_alike_from_either_engine(tmp_path):
    """Made by kuzu and grown; made again by ladybug, grown there, and made again by kuzu."""
    clew(tmp_path, "up", "--example", "--no-open")
    workspace = tmp_path / "default"
    by_kuzu = export(tmp_path)
    clew(tmp_path, "rebuild", "--engine", "ladybug")
    assert (present(workspace), graph_file(workspace, "kuzu").exists()) == ("ladybug", False)
    assert export(tmp_path) == by_kuzu
    turns = [{"role": role, "content": "Why not both?"} for role in ("user", "assistant")]
    (tmp_path / "chat.json").write_text(json.dumps({"messages": turns}))
    clew(tmp_path, "ingest", str(tmp_path / "chat.json"))
    assert "(ladybug)" in clew(tmp_path, "status")
    grown = export(tmp_path)
    assert grown != by_kuzu
    clew(tmp_path, "rebuild", "--engine", "kuzu")
    assert (present(workspace), graph_file(workspace, "ladybug").exists()) == ("kuzu", False)
    assert export(tmp_path) == grown


def test_a_ledger_gives_the_same_rows_on_either_engine(tmp_path, engine):
    with open_store(tmp_path, FakeDerive(), engine=engine) as store:
        for number in range(3):
            store.commit(record(number), NOW)
        rows = {name: rows for name, rows in everything(store).items() if name != "Meta"}
    for name in ("ladybug", "kuzu"):
        assert run(DIGEST, tmp_path, name) == f"{name} {digest_bytes(repr(rows).encode())}"


@pytest.mark.parametrize("pair", [("kuzu", "ladybug"), ("ladybug", "kuzu")])
def test_two_engines_in_one_process_are_refused_with_a_clear_error(pair):
    assert run(BOTH, *pair) == (
        f"The engine {pair[1]} cannot be loaded beside {pair[0]} in one process."
    )


def test_a_graph_is_known_by_its_first_bytes(tmp_path):
    assert present(tmp_path) is None
    assert choose(tmp_path, "ladybug", anew=False) == "ladybug"
    assert choose(tmp_path, "auto", anew=False) == "kuzu"
    graph_file(tmp_path, "ladybug").write_bytes(b"LBUG1 and more")
    assert present(tmp_path) == "ladybug"
    assert choose(tmp_path, "kuzu", anew=False) == "ladybug"
    assert choose(tmp_path, "auto", anew=True) == "ladybug"
    assert choose(tmp_path, "kuzu", anew=True) == "kuzu"
    graph_file(tmp_path, "ladybug").write_bytes(b"KUZU in a false file")
    assert present(tmp_path) is None
