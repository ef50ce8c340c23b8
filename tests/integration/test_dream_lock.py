"""The dream lock: one process dreams, the others are told who; the dead hold nothing."""

import os
import signal
import subprocess
import sys
import textwrap
from datetime import timedelta
from pathlib import Path

import pytest

from dream import lock
from tests.planted import NOW

LATER = NOW + timedelta(hours=1)
ROOT = Path(__file__).parent.parent.parent

HOLD = """
    import sys, time
    sys.path.insert(0, sys.argv[2])
    from pathlib import Path
    from dream.lock import hold
    from tests.planted import NOW
    with hold(Path(sys.argv[1]), 5, NOW) as held:
        print("held" if held is None else "refused", flush=True)
        sys.stdin.read()
"""


@pytest.fixture
def folder(tmp_path):
    return tmp_path


@pytest.fixture
def other(folder):
    """Another process that holds the dream lock until it is told to end."""
    script = [sys.executable, "-c", textwrap.dedent(HOLD), str(folder), str(ROOT)]
    with subprocess.Popen(
        script, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        yield process
        process.kill()


def test_a_second_process_is_told_who_dreams(folder, other):
    with lock.hold(folder, 0, NOW) as held:
        assert held is not None
        assert held.holder is not None
        assert (held.holder.pid, held.holder.since) == (other.pid, NOW)
    other.communicate("")
    with lock.hold(folder, 5, NOW) as held:
        assert held is None


@pytest.mark.skipif(os.name != "posix", reason="needs SIGKILL")
def test_a_killed_holder_holds_nothing(folder, other):
    other.send_signal(signal.SIGKILL)
    other.wait()
    assert lock.holder(folder) is not None
    with lock.hold(folder, 5, LATER) as held:
        assert held is None
        mine = lock.holder(folder)
        assert mine is not None
        assert mine.pid == os.getpid()
    assert lock.holder(folder) is None


@pytest.mark.parametrize("content", [b"", b"not json", b"{}"])
def test_a_corrupt_holder_file_decides_nothing(folder, other, content):
    lock.sidecar(folder).write_bytes(content)
    with lock.hold(folder, 0, NOW) as held:
        assert held == lock.Held(holder=None)
    other.communicate("")
    with lock.hold(folder, 5, NOW) as held:
        assert held is None
