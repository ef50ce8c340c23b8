"""Damaged conversations of every format, by the thousand: ``python -m fuzz``, or ``make fuzz``.

Execution ``n`` of a format depends on the seed, the format and ``n`` only, so a failure is
seen again with ``--seed S --only FORMAT --at N``; its input is written to a temporary file.
Slices of real conversations join the samples where they lie beside this project.
"""

import argparse
import platform
import random
import resource
import sys
import tempfile
import traceback
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic

from fuzz.check import Seen, execute
from fuzz.mutate import Files, damaged, zipped
from fuzz.samples import Sample, samples

PER_FORMAT = 10_000
SECONDS = 3600
FAILURES = 20
"""Failures told before the run ends."""
TOLD = 20_000
"""Executions between two lines of progress."""


@dataclass
class Sum:
    """What the executions of one format came to."""

    executions: int = 0
    threads: int = 0
    turns: int = 0
    records: int = 0
    seconds: float = 0.0
    slowest: float = 0.0
    failures: list[str] = field(default_factory=list)

    def add(self, seen: Seen) -> None:
        self.threads += seen.threads
        self.turns += seen.turns
        self.records += seen.records
        self.seconds += seen.seconds
        self.slowest = max(self.slowest, seen.seconds)

    def row(self) -> tuple[str, ...]:
        """Its cells in the table, times in milliseconds."""
        counts = (self.executions, self.records, self.threads, self.turns)
        mean = 1000 * self.seconds / max(1, self.executions)
        rest = f"{mean:.2f}", f"{1000 * self.slowest:.0f}", str(len(self.failures))
        return (*map(str, counts), *rest)


def once(
    seed: int,
    name: str,
    number: int,
    held: tuple[Sample, ...],
    others: tuple[bytes, ...],
    folder: Path,
) -> tuple[Seen, Files, str]:
    """One execution; what it saw, or the trace of what went wrong, and its input."""
    rng = random.Random(f"{seed}/{name}/{number}")
    files = damaged(rng, rng.choice(held).files, others)
    try:
        return execute(rng, name, files, folder), files, ""
    except Exception:  # noqa: BLE001 - every exception is what is looked for
        return Seen(0, 0, 0, 0.0), files, traceback.format_exc(limit=-6)


def written(files: Files, name: str, seed: int, number: int) -> Path:
    """Where the input of a failure is kept."""
    single = len(files) == 1
    ending = Path(files[0][0]).suffix if single else ".zip"
    place = Path(tempfile.gettempdir(), f"fuzz-{name}-{seed}-{number}{ending}")
    place.write_bytes(files[0][1] if single else zipped(files))
    return place


def fuzz(asked: argparse.Namespace) -> tuple[dict[str, Sum], int]:
    """Executions format by format in turn, until there are enough or the time is over.

    With them the most memory in kB that the process had after one of them.
    """
    held = samples()
    others = tuple(
        content for one in held.values() for sample in one for _, content in sample.files
    )
    names = [name for name in held if not asked.only or name in asked.only]
    sums = {name: Sum() for name in names}
    numbers = range(asked.at, asked.at + 1) if asked.at is not None else range(asked.per_format)
    end, peak = monotonic() + asked.seconds, 0
    with tempfile.TemporaryDirectory() as folder:
        for number in numbers:
            for name in names:
                seen, files, wrong = once(
                    asked.seed, name, number, held[name], others, Path(folder)
                )
                one = sums[name]
                peak = max(peak, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
                one.executions += 1
                one.add(seen)
                if wrong:
                    kept = written(files, name, asked.seed, number)
                    one.failures.append(wrong)
                    print(
                        f"--seed {asked.seed} --only {name} --at {number}: {kept}\n{wrong}",
                        file=sys.stderr,
                    )
            done = sum(one.executions for one in sums.values())
            if done % TOLD < len(names):
                print(f"{done} executions", file=sys.stderr)
            if (
                monotonic() > end
                or sum(len(one.failures) for one in sums.values()) >= asked.failures
            ):
                break
    return sums, peak


def told(sums: dict[str, Sum], peak: int, seed: int, lasted: float) -> str:
    """The table of a run."""
    total = sum(one.executions for one in sums.values())
    wrong = sum(len(one.failures) for one in sums.values())
    columns = (
        "format",
        "executions",
        "records",
        "threads",
        "turns",
        "mean ms",
        "most ms",
        "failed",
    )
    rows = [columns, *((name, *one.row()) for name, one in sums.items())]
    table = [f"{first:14}" + "".join(f"{cell:>11}" for cell in rest) for first, *rest in rows]
    end = f"{total} executions over {len(sums)} formats in {lasted:.0f} s, {wrong} failed"
    head = f"seed {seed}, Python {platform.python_version()} on {platform.machine()}"
    return "\n".join([head, *table, f"{end}, peak {peak / 1024:.0f} MB", ""])


def main() -> int:
    """Run, tell, and end with 1 if anything failed."""
    parser = argparse.ArgumentParser(prog="python -m fuzz", description=__doc__)
    parser.add_argument("--per-format", type=int, default=PER_FORMAT, metavar="N")
    parser.add_argument("--seconds", type=float, default=SECONDS, help="end after so long")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--failures", type=int, default=FAILURES, help="end after so many")
    parser.add_argument("--only", action="append", default=[], metavar="FORMAT")
    parser.add_argument("--at", type=int, default=None, metavar="N", help="this execution only")
    parser.add_argument("-o", "--output", type=Path)
    asked = parser.parse_args()
    start = monotonic()
    sums, peak = fuzz(asked)
    text = told(sums, peak, asked.seed, monotonic() - start)
    print(text)
    if asked.output is not None:
        asked.output.write_text(text)
    return int(any(one.failures for one in sums.values()))


if __name__ == "__main__":
    sys.exit(main())
