"""kill -9 while a dream cycle lands: nothing of it or all of it, and the next one makes it whole.

    python -m benchmarks.dreaming.killed [--trials 40] [-o FILE]

Each trial has a workspace of its own in which questions, rhymes and a correction are planted. A
process leases, works, and is killed at a boundary of landing, or at some instant of it.
"""

import argparse
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from benchmarks.reliability.worker import aimed
from dream.cycle import Ask, Leased, begin, known_of, land, work
from dream.journal import last_success
from graphstore.ids import digest
from graphstore.model.job import JobState
from tests.dreamt import SETTINGS
from tests.integration.test_dream_cycle import NOW, filled, opened, plant

ROOT = Path(__file__).parent.parent.parent
BOUNDARIES = ("ledger_written", "ledger_committed", "graph_written", "graph_committed")
AGAIN = NOW + timedelta(minutes=SETTINGS.queue.lease_minutes)
"""When the lease of the dead has run out."""


@dataclass(frozen=True, slots=True)
class Found:
    """What a killed landing left, and what the next dream cycle made of it."""

    landed: bool
    edges: int
    running: int
    whole: bool
    """Whether everything that an undisturbed cycle lands is there in the end, once."""
    sound: bool


def child(folder: Path, boundary: str) -> None:
    """Lease, work, land; says when it begins to land."""
    with opened(folder, plant()) as store:
        leased = begin(store, (), Ask(), (), SETTINGS, NOW)
    assert isinstance(leased, Leased)
    done = work(leased, SETTINGS, NOW, lambda: False)
    with opened(folder, plant(), fault=aimed(boundary)) as store:
        print("landing", flush=True)
        land(done, store, SETTINGS, NOW)


def prepared(folder: Path) -> frozenset[str]:
    """Fill a workspace; what an undisturbed dream cycle lands in a copy of it."""
    with opened(folder, plant()) as store:
        filled(store, plant())
    shutil.copytree(folder, folder.parent / "undisturbed")
    child(folder.parent / "undisturbed", "")
    with opened(folder.parent / "undisturbed", plant()) as store:
        return frozenset(one.hypothesis_id for one in known_of(store))


@contextmanager
def copied(whole: Path) -> Iterator[Path]:
    """A copy of a workspace, for one trial alone."""
    with tempfile.TemporaryDirectory(prefix="clew-landing-") as made:
        yield Path(shutil.copytree(whole, Path(made) / "workspace"))


@contextmanager
def landing(folder: Path, boundary: str) -> Iterator[subprocess.Popen[str]]:
    """A child that has begun to land; at the end it is waited for."""
    command = [sys.executable, "-m", __spec__.name, "--child", str(folder), boundary]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "landing\n"
        yield process


def killed(folder: Path, boundary: str, delay: float | None = None) -> None:
    """Run a child that dies at a boundary, or is killed some time after it began to land."""
    with landing(folder, boundary) as process:
        if delay is not None:
            time.sleep(delay)
            process.kill()


def landing_takes(whole: Path) -> float:
    """Seconds from the beginning of a landing to the end of its process."""
    with copied(whole) as folder, landing(folder, "") as process:
        start = time.monotonic()
        process.wait()
        return time.monotonic() - start


def looked_at(folder: Path, expected: frozenset[str]) -> Found:
    """Open again, dream again when the lease has run out."""
    with opened(folder, plant()) as store:
        landed = last_success(store.cycles()) is not None
        edges = len(known_of(store))
        running = len(store.jobs.all(JobState.RUNNING))
        sound = store.verify() == () and edges in ((len(expected),) if landed else (0,))
        found = begin(store, (), Ask(), (), SETTINGS, AGAIN)
    if isinstance(found, Leased):
        done = work(found, SETTINGS, AGAIN, lambda: False)
        with opened(folder, plant()) as store:
            land(done, store, SETTINGS, AGAIN)
    with opened(folder, plant()) as store:
        ids = [one.hypothesis_id for one in known_of(store)]
        free = not store.jobs.all(JobState.RUNNING)
        sound = sound and free and store.verify() == ()
    return Found(landed, edges, running, sorted(ids) == sorted(expected), sound)


def trial(whole: Path, expected: frozenset[str], name: str, delay: float | None = None) -> Found:
    """One copy, one death, one look."""
    boundary = name if delay is None else ""
    with copied(whole) as folder:
        killed(folder, boundary, delay)
        return looked_at(folder, expected)


def main() -> int:
    """Boundaries once each, then instants; exit code 1 when anything was lost or half there."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--trials", type=int, default=40)
    parser.add_argument("-o", "--out", type=Path)
    parser.add_argument("--child", nargs=2, metavar=("FOLDER", "BOUNDARY"))
    asked = parser.parse_args()
    if asked.child:
        child(Path(asked.child[0]), asked.child[1])
        return 0
    lines, ends, broken = [], Counter[str](), 0
    with tempfile.TemporaryDirectory(prefix="clew-landing-") as made:
        whole = Path(made) / "workspace"
        expected = prepared(whole)
        span = landing_takes(whole)
        lines.append(f"undisturbed, a landing takes {span:.2f} s")
        instants = [int(digest("at", n)[:6], 16) / 0xFFFFFF * span for n in range(asked.trials)]
        for name, delay in (
            *((name, None) for name in BOUNDARIES),
            *((f"after {instant:.3f} s", instant) for instant in instants),
        ):
            found = trial(whole, expected, name, delay)
            good = found.whole and found.sound
            broken += not good
            ends["landed" if found.landed else "nothing of it"] += 1
            lines.append(
                f"{name:<18} {'landed' if found.landed else 'not landed':<11} {found.edges} edges  "
                f"{found.running} jobs running  {'whole afterwards' if good else 'BROKEN'}"
            )
            print(lines[-1], flush=True)
    lines.append(f"{sum(ends.values())} trials: {dict(sorted(ends.items()))}, {broken} broken")
    print(lines[-1])
    if asked.out:
        asked.out.write_text("python -m benchmarks.dreaming.killed\n" + "\n".join(lines) + "\n")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
