"""kill -9 aimed at every write boundary, each in the work that passes it.

``python -m benchmarks.reliability.boundaries --engine kuzu``
"""

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.reliability import trial
from benchmarks.reliability.trial import Outcome

COMMIT = ("ledger_written", "ledger_committed", "graph_written", "graph_committed")
SWAP = ("bulk_written", "old_graph_removed", "new_graph_in_place")
FOLD = ("checkpoint_marked", "checkpoint_done")
FORGET = (
    "forget_recorded",
    "forget_rewritten",
    "forget_graph_removed",
    "forget_files_removed",
    "forget_compacted",
)
AIMS = (
    *(("ingest", f"{name}:{times}") for name in COMMIT for times in (1, 2, 3)),
    *(("land", f"{name}:2") for name in COMMIT),
    *(("bulk", f"{name}:1") for name in (*COMMIT[:2], *SWAP, *FOLD)),
    *(("rebuild", f"{name}:{times}") for name in (*SWAP, *FOLD) for times in (1, 2)),
    *(("checkpoint", f"{name}:{times}") for name in FOLD for times in (2, 3)),
    *(("forget", f"{name}:{times}") for name in (*FORGET, *COMMIT, *SWAP) for times in (1, 2)),
)


def main() -> int:
    """Aim at each boundary once, on one workspace that lives through all of it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--engine", default="kuzu", choices=["kuzu", "ladybug"])
    parser.add_argument("-o", dest="out", type=Path, help="results, one line a trial")
    asked = parser.parse_args()
    outcomes = []
    with tempfile.TemporaryDirectory(prefix="clew-aim-") as made:
        folder = Path(made) / "ws"
        subprocess.run(trial.worker("check", str(folder), asked.engine), cwd=trial.ROOT, check=True)
        for number, (action, boundary) in enumerate(AIMS):
            outcome = Outcome(number, asked.engine, action, boundary)
            trial.killed(outcome, folder, after=120, boundary=boundary)
            trial.keep(outcome, asked.out)
            outcomes.append(outcome)
    return trial.total(outcomes)


if __name__ == "__main__":
    sys.exit(main())
