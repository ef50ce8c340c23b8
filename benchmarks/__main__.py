"""Run what needs no data beyond the bundled example; name the rest.

``python -m benchmarks`` is ``make bench``. Raw results are kept under ``benchmarks/results/``.
"""

import subprocess
import sys

OTHERS = (
    ("benchmarks.up PATH... -o FILE", "the main job on your own conversations, twice, mirrored"),
    ("benchmarks.ingest_corpora FOLDER...", "what became of every record of your own folders"),
    ("benchmarks.recall.locomo FILE", "turn and session recall beside FTS5, BM25, static vectors"),
    ("benchmarks.recall.touched FOLDER GOLD", "threads that touched a common rare file"),
    ("benchmarks.recall.latency", "recall at 10,000 and 100,000 turns"),
)


def main() -> None:
    """Measure the example, then say what else there is."""
    subprocess.run([sys.executable, "-m", "benchmarks.up", "service/example"], check=True)
    print("\nmore, each with --help:")
    for command, about in OTHERS:
        print(f"  python -m {command:<42} {about}")


if __name__ == "__main__":
    main()
