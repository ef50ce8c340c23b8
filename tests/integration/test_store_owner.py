"""One owner at a time, over processes and inside one."""

import subprocess
import sys
import time
from pathlib import Path

import pytest

from graphstore import open_store
from graphstore.engine import AlreadyOpen, Engine
from graphstore.errors import StoreLocked
from graphstore.graphfiles import graph_file
from tests.fake_derive import FakeDerive

ROOT = Path(__file__).parents[2]
HOLD = """
import os, sys, pathlib
from graphstore import open_store
from tests.fake_derive import FakeDerive
engine = os.environ.get("CLEW_STORE__ENGINE", "auto")
with open_store(pathlib.Path(sys.argv[1]), FakeDerive(), engine=engine, purpose="clew up"):
    print("open", flush=True)
    sys.stdin.readline()
"""


@pytest.fixture
def holder(tmp_path):
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, str(tmp_path)],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "open\n"
        yield process
        process.kill()


def test_a_second_process_waits_and_is_told_who_has_it(tmp_path, holder):
    start = time.perf_counter()
    with pytest.raises(StoreLocked) as caught:
        open_store(tmp_path, FakeDerive(), wait_s=0.5)
    assert time.perf_counter() - start >= 0.5
    assert f"process {holder.pid} (clew up)" in str(caught.value)


def test_a_second_process_gets_it_when_the_first_is_done(tmp_path, holder):
    holder.stdin.write("\n")
    holder.stdin.flush()
    with open_store(tmp_path, FakeDerive(), wait_s=20) as store:
        assert store.verify() == ()


def test_a_killed_holder_leaves_the_store_free(tmp_path, holder):
    holder.kill()
    holder.wait()
    with open_store(tmp_path, FakeDerive(), wait_s=5) as store:
        assert store.verify() == ()


def test_one_process_does_not_open_a_store_twice(tmp_path):
    with open_store(tmp_path, FakeDerive()) as store:
        with pytest.raises(StoreLocked):
            open_store(tmp_path, FakeDerive(), wait_s=0.1)
        with pytest.raises(AlreadyOpen):
            Engine(graph_file(store.path, store.engine_name))
        assert store.verify() == ()
