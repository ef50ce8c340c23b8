"""Run what needs no data beyond the bundled example; name the rest.

``python -m benchmarks`` is ``make bench``. Raw results are kept under ``benchmarks/results/``.
"""

import subprocess
import sys

OTHERS = (
    ("benchmarks.ingest_append", "one more exchange at the end of a 50 MB session"),
    ("benchmarks.up PATH... -o FILE", "the main job on your own conversations, twice, mirrored"),
    ("benchmarks.ingest_corpora FOLDER...", "what became of every record of your own folders"),
    ("benchmarks.ingest PATH...", "CPU of ingest beside plain json.loads over the same lines"),
    ("benchmarks.ingest_scale", "peak memory and speed on huge files, unchanged files left closed"),
    ("benchmarks.history", "a history of 20,000 threads, at once and batch by batch"),
    ("benchmarks.model", "a real small model before real packs; see make model-test"),
    ("benchmarks.masking PATH...", "megabytes masked a second, hits by kind"),
    ("benchmarks.recall.locomo FILE", "turn and session recall beside FTS5, BM25, static vectors"),
    ("benchmarks.recall.touched FOLDER GOLD", "threads that touched a common rare file"),
    ("benchmarks.topology.scout EDGES...", "the scout beside networkx and igraph, from the file"),
    ("benchmarks.recall.latency TURNS...", "recall and one more thread, up to a million turns"),
    ("benchmarks.reliability.kill --trials N", "kill -9 at random moments; also .boundaries,"),
    ("benchmarks.reliability.disk_full", "a full disk; also .damage and .together"),
)


def main() -> None:
    """Measure the example, then say what else there is."""
    subprocess.run([sys.executable, "-m", "benchmarks.up", "service/example"], check=True)
    print("\nmore, each with --help:")
    for command, about in OTHERS:
        print(f"  python -m {command:<42} {about}")


if __name__ == "__main__":
    main()
