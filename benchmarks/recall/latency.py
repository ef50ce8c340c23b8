"""Time of recall over made-up stores, warm, one core: FTS5 alone beside it.

Words follow a Zipf law over 50,000 made-up stems; threads have 20 turns of about 30 words.

    OPENBLAS_NUM_THREADS=1 python -m benchmarks.recall.latency 10000 100000
"""

import argparse
import resource
import tempfile
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np

from benchmarks.recall.workspace import Said, Workspace
from graphstore.queries.corpus import load
from graphstore.queries.recall import recall

NOW = datetime(2026, 1, 15, 12, tzinfo=UTC)
TURNS = 20
CUES = 200


def vocabulary(size: int) -> list[str]:
    """Pronounceable stems, all different."""
    heads, middles, tails = "bdfgklmnprstv", "aeiou", ("n", "r", "st", "lm", "k", "nd")
    stems = [
        a + b + c + d + e
        for a in heads
        for b in middles
        for c in heads
        for d in middles
        for e in tails
    ]
    return [
        stems[n % len(stems)] + ("" if n < len(stems) else str(n // len(stems)))
        for n in range(size)
    ]


def fill(workspace: Workspace, turns: int, words: list[str], rng: np.random.Generator) -> None:
    """Threads of twenty turns with Zipf-distributed words."""
    ranks = np.arange(1, len(words) + 1)
    chance = (1 / ranks) / (1 / ranks).sum()
    with workspace.ledger.transaction():
        for thread in range(turns // TURNS):
            drawn = rng.choice(len(words), size=(TURNS, 30), p=chance)
            said = [
                Said(
                    str(n), " ".join(words[w] for w in row), "human" if n % 2 == 0 else "assistant"
                )
                for n, row in enumerate(drawn)
            ]
            workspace.add(
                "made", f"t{thread}", said, started_at=NOW - timedelta(hours=thread % 9000)
            )


def measure(turns: int) -> None:
    """Fill a store and time both ways of asking."""
    rng = np.random.default_rng(7)
    words = vocabulary(50_000)
    with tempfile.TemporaryDirectory() as folder, Workspace(Path(folder)) as workspace:
        begun = time.perf_counter()
        fill(workspace, turns, words, rng)
        filled = time.perf_counter() - begun
        begun = time.perf_counter()
        corpus, _ = load(workspace)
        opened = time.perf_counter() - begun
        # as people ask: five words, from common to rare
        cues = [
            " ".join(words[int(w)] for w in np.exp(rng.uniform(np.log(20), np.log(20_000), 5)))
            for _ in range(CUES)
        ]
        print(f"{len(corpus)} turns: filled in {filled:.1f} s, first use {opened:.2f} s", end="; ")
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(f"peak {peak:.0f} MB")
        for name, ask in (
            ("FTS5 alone", lambda cue: workspace.search.find(cue, 10)),
            ("recall", lambda cue: recall(workspace, cue, 10, now=NOW)),
        ):
            ask(cues[0])
            spent = []
            for cue in cues:
                begun = time.perf_counter()
                ask(cue)
                spent.append((time.perf_counter() - begun) * 1000)
            p50, p95 = np.quantile(spent, [0.5, 0.95])
            print(f"  {name:12}p50 {p50:.1f} ms, p95 {p95:.1f} ms")


def main() -> None:
    """Measure each size asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("turns", type=int, nargs="+")
    for turns in parser.parse_args().turns:
        measure(turns)


if __name__ == "__main__":
    main()
