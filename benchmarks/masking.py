"""What masking costs and finds: megabytes of clean text a second of CPU, hits by kind.

``python -m benchmarks.masking PATH... [-o FILE] [--show]`` takes in each path with an empty
store, keeps every text that was masked on the way, and masks these once more against the clock.
Counts only are kept; ``--show`` prints the places of hits, to be judged by eye.
"""

import argparse
import platform
import sys
from collections import Counter
from pathlib import Path
from statistics import median
from time import process_time

from benchmarks.ingest import NOW, Nothing
from graphstore.model.conversation import Masked
from graphstore.model.record import ThreadRecord
from ingest import reading
from ingest.options import Options
from ingest.run import run
from ingest.secrets import mask

ROUNDS = 5
GOAL = 10.0
"""Megabytes of clean text a second of CPU."""
OPTIONS = Options(salt=b"bench", notes=True)


class Texts(dict[str, tuple[Masked, ...]]):
    """Every text that a run masks, and what was found in it."""

    def mask(self, text: str, *args: object, **more: object) -> tuple[str, tuple[Masked, ...]]:
        """Stand in for masking, and remember."""
        masked, hits = mask(text, *args, **more)  # type: ignore[arg-type]
        self[text] = hits
        return masked, hits


def taken(path: Path) -> tuple[Texts, int]:
    """Texts of one run, and its turns."""
    texts = Texts()
    reading.mask, kept = texts.mask, reading.mask  # type: ignore[assignment]
    try:
        given = list(run([str(path)], Nothing(), OPTIONS, NOW))
    finally:
        reading.mask = kept
    return texts, sum(len(one.turns) for one in given if isinstance(one, ThreadRecord))


def seconds(texts: Texts) -> float:
    """CPU of masking all texts once, the median of some rounds."""

    def once() -> float:
        start = process_time()
        for text in texts:
            mask(text, b"bench")
        return process_time() - start

    return median(once() for _ in range(ROUNDS))


def row(path: Path, *, show: bool) -> str:
    """One row of the table."""
    texts, turns = taken(path)
    size = sum(len(text.encode()) for text in texts) / 1e6
    kinds = Counter(hit.kind for hits in texts.values() for hit in hits)
    if show:
        for text, hits in texts.items():
            for hit in hits:
                print(f"{path.name} {hit.kind} {mask(text)[0][max(0, hit.offset - 60) :][:120]!r}")
    took = seconds(texts)
    found = ", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items())) or "none"
    return (
        f"{path.name}: {turns} turns, {len(texts)} different texts, {size:.2f} MB, "
        f"{size / took:.1f} MB/s of CPU (goal >= {GOAL:.0f}); masked: {found}"
    )


def main() -> None:
    """Measure each path by itself."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("paths", nargs="+", type=Path)
    parser.add_argument("-o", "--output", type=Path)
    parser.add_argument("--show", action="store_true")
    asked = parser.parse_args()
    rows = [row(path, show=asked.show) for path in asked.paths]
    text = f"Python {platform.python_version()} on {platform.machine()}\n" + "\n".join(rows) + "\n"
    sys.stdout.write(text)
    if asked.output is not None:
        asked.output.write_text(text)


if __name__ == "__main__":
    main()
