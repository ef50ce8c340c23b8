"""What ingest costs beside plain parsing: CPU of a whole run against one pass of ``json.loads``.

``python -m benchmarks.ingest PATH... [-o FILE] [--profile N]`` measures, in one process and in
turns, (a) one ``json.loads`` over every line of the JSON Lines files below the paths and (b) one
``ingest.run.run`` over the same paths with an empty store: find, sniff, read, clean, mask,
number, fingerprint, records built. Medians over five rounds, CPU seconds of the process.
"""

import argparse
import cProfile
import gc
import json
import platform
import pstats
import sys
from collections.abc import Callable, Collection
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from statistics import median
from time import process_time

from graphstore.model.carrier import FileState, PendingTitle
from graphstore.model.conversation import Thread
from graphstore.model.record import ThreadRecord
from ingest.options import Options
from ingest.run import run

NOW = datetime(2100, 1, 1, tzinfo=UTC)
ROUNDS = 5
MEMORY = type(lru_cache(len))
GOAL = 2.5
"""CPU of ingest over CPU of plain parsing."""


class Nothing:
    """A store that knows nothing."""

    def thread(self, thread_id: str) -> Thread | None:
        del thread_id

    def holding(self, source: str, keys: tuple[str, ...]) -> tuple[str, ...]:
        del source, keys
        return ()

    def descendants(self, thread_id: str) -> tuple[str, ...]:
        del thread_id
        return ()

    def forgotten(self, thread_id: str, fingerprints: Collection[str]) -> bool:
        del thread_id, fingerprints
        return False

    def file(self, path: str) -> FileState | None:
        del path

    def titles(self) -> tuple[PendingTitle, ...]:
        return ()


def plain(files: list[Path]) -> int:
    """Parse every line and keep nothing; lines that do not parse count as read."""
    count = 0
    for file in files:
        with file.open("rb") as stream:
            for line in stream:
                try:
                    json.loads(line)
                except ValueError:
                    continue
                count += 1
    return count


def ingested(paths: list[Path]) -> tuple[int, int]:
    """Threads and turns of a run that keeps nothing."""
    records = [
        one
        for one in run([str(path) for path in paths], Nothing(), Options(salt=b"bench"), NOW)
        if isinstance(one, ThreadRecord)
    ]
    return len(records), sum(len(one.turns) for one in records)


def forget() -> None:
    """Empty what the packages remember of strings: a run must not profit from the one before."""
    for name, module in sorted(sys.modules.items()):
        if name.partition(".")[0] in {"ingest", "graphstore"}:
            for held in vars(module).values():
                if isinstance(held, MEMORY) and held.cache_info().maxsize is not None:
                    held.cache_clear()


def seconds(work: Callable[[], object]) -> float:
    """CPU seconds of one call, with the heap clean before it and nothing remembered."""
    forget()
    gc.collect()
    start = process_time()
    work()
    return process_time() - start


def lines_below(path: Path) -> list[Path]:
    """JSON Lines files at or below a path."""
    return sorted(path.rglob("*.jsonl")) if path.is_dir() else [path]


def measure(paths: list[Path]) -> str:
    """One row of the table."""
    files = [file for path in paths for file in lines_below(path)]
    megabytes = sum(file.stat().st_size for file in files) / 1e6
    lines, (threads, turns) = plain(files), ingested(paths)  # warm
    rounds = [
        (seconds(lambda: plain(files)), seconds(lambda: ingested(paths))) for _ in range(ROUNDS)
    ]
    parsing, taking = (median(one) for one in zip(*rounds, strict=True))
    ratio = median(taken / parsed for parsed, taken in rounds)
    raw = " ".join(f"{parsed:.3f}/{taken:.3f}" for parsed, taken in rounds)
    return (
        f"{'+'.join(path.name for path in paths)}: {len(files)} files, {megabytes:.1f} MB, "
        f"{lines} lines, {threads} threads, {turns} turns\n"
        f"  json.loads {parsing:.3f} s CPU, ingest {taking:.3f} s CPU, "
        f"ratio {ratio:.2f} (goal <= {GOAL}), {megabytes / taking:.1f} MB/s\n"
        f"  rounds (json.loads/ingest): {raw}\n"
    )


def profile(paths: list[Path], count: int) -> None:
    """Print where the time of one run goes."""
    ingested(paths)
    profiler = cProfile.Profile()
    profiler.runcall(ingested, paths)
    pstats.Stats(profiler).sort_stats("tottime").print_stats(count)


def main() -> None:
    """Measure each path by itself."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("paths", nargs="+", type=Path)
    parser.add_argument("-o", "--output", type=Path)
    parser.add_argument("--profile", type=int, default=0, metavar="N")
    asked = parser.parse_args()
    if asked.profile:
        profile(asked.paths, asked.profile)
        return
    head = f"Python {platform.python_version()} on {platform.machine()}, median of {ROUNDS}\n\n"
    text = head + "\n".join(measure([path]) for path in asked.paths)
    sys.stdout.write(text)
    if asked.output is not None:
        asked.output.write_text(text)


if __name__ == "__main__":
    main()
