"""A disk that runs full at some byte: a clear error, nothing lost, on again when there is space.

``python -m benchmarks.reliability.disk_full --trials 20`` mounts a small file system where it may
(as root); elsewhere the size of files is limited. The first half of the trials keeps the gate
that asks for free space before each batch; the second half opens it, so that the engines
themselves meet the full disk.
"""

import argparse
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks.reliability import trial
from benchmarks.reliability.trial import Outcome

SIZE_MB = 400
RUN = """
import resource, signal, sys
from pathlib import Path
from benchmarks.reliability import worker
from graphstore import engine, open_store
from graphstore.errors import DiskFull
from tests.fake_derive import FakeDerive
folder, name, action, limit, gate = sys.argv[1:]
if gate == "open":
    engine.SPARE = 0
if limit != "0":
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(limit), int(limit)))
try:
    with open_store(Path(folder), FakeDerive(), engine=name) as store:
        do = getattr(worker, action, lambda store, _: store.rebuild(worker.NOW))
        worker.repeat(store, do, 30)
except DiskFull as full:
    worker.say("full", seq=0, message=str(full))
    sys.exit(7)
"""


@contextmanager
def small_disk() -> Iterator[tuple[Path, bool]]:
    """A folder on a small file system, and whether it is one."""
    with tempfile.TemporaryDirectory(prefix="clew-full-") as made:
        command = ["mount", "-t", "tmpfs", "-o", f"size={SIZE_MB}m", "tmpfs", made]
        mounted = os.name == "posix" and os.geteuid() == 0
        mounted = mounted and subprocess.run(command, check=False).returncode == 0
        try:
            yield Path(made), mounted
        finally:
            if mounted:
                subprocess.run(["umount", made], check=True)  # noqa: S607 - wherever it is


def fill(folder: Path, left: int) -> Path:
    """A balloon that leaves ``left`` bytes."""
    balloon = folder / "balloon"
    usage = os.statvfs(folder)
    size = max(usage.f_bavail * usage.f_frsize - left, 0)
    with balloon.open("wb") as file:
        os.posix_fallocate(file.fileno(), 0, size or 1)
    return balloon


def one(outcome: Outcome, disk: Path, *, mounted: bool, left: int, gate: str) -> None:
    """Work on a full disk, give the space back, look, and work on."""
    folder = disk / "ws"
    limit = "0" if mounted else str(200_000 + left)
    balloon = fill(disk, left) if mounted else None
    command = [sys.executable, "-c", RUN, str(folder), outcome.engine, outcome.action, limit, gate]
    done = subprocess.run(command, cwd=trial.ROOT, capture_output=True, check=False, timeout=300)
    said = [line for line in trial.lines_of(done.stdout) if line["what"] != "full"]
    outcome.said = max((int(str(line["seq"])) for line in said), default=0)
    outcome.end += f" rc {done.returncode}"
    if done.returncode not in (0, 7) and gate == "kept":  # 0: it fitted after all
        outcome.failures.append(f"no clear error ({done.returncode}): {done.stderr[-200:]!r}")
    if balloon is not None:
        balloon.unlink()
    trial.checked(outcome, folder)


def main() -> int:
    """Run trials with less and less left."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=20)
    parser.add_argument("--engine", default="kuzu", choices=["kuzu", "ladybug"])
    parser.add_argument("-o", dest="out", type=Path, help="results, one line a trial")
    asked = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # unmount on the way out
    outcomes = []
    with small_disk() as (disk, mounted):
        print("a small file system" if mounted else "limited files")
        start = Outcome(-1, asked.engine, "ingest", "")
        trial.checked(start, disk / "ws")
        for number in range(asked.trials):
            gate = "kept" if number < asked.trials // 2 else "open"
            left = (257 * 2**20 if gate == "kept" and mounted else 0) + 2 ** (8 + number % 12) * 37
            action = ("ingest", "bulk", "checkpoint", "rebuild")[number % 4]
            outcome = Outcome(number, asked.engine, action, f"{left:,} left, gate {gate}")
            one(outcome, disk, mounted=mounted, left=left, gate=gate)
            trial.keep(outcome, asked.out)
            outcomes.append(outcome)
    return trial.total(outcomes)


if __name__ == "__main__":
    sys.exit(main())
