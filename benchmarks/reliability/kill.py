"""kill -9 at random moments of ingest, landing, checkpoint, rebuild, forget and backup.

``python -m benchmarks.reliability.kill --trials 200 --engine kuzu -o FILE`` goes on where an
earlier run with the same file ended. The moments are drawn from the number of the trial.
"""

import argparse
import hashlib
import shutil
import sys
import tempfile
from pathlib import Path

from benchmarks.reliability import trial
from benchmarks.reliability.trial import Outcome
from benchmarks.reliability.worker import ACTIONS

FRESH = 15
"""Trials on one workspace before a new one is begun."""

OPENING = 5
"""Every fifth kill may come while the store is being opened."""


def fraction(number: int, engine: str) -> float:
    """A number of [0, 1) that belongs to a trial."""
    digest = hashlib.blake2b(f"{engine} {number}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") / 2**64


def main() -> int:
    """Run the trials that are not in the file yet."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=20)
    parser.add_argument("--engine", default="kuzu", choices=["kuzu", "ladybug"])
    parser.add_argument("--longest", type=float, default=3.0, help="seconds until a kill")
    parser.add_argument("-o", dest="out", type=Path, help="results, one line a trial")
    asked = parser.parse_args()
    outcomes = [each for each in trial.known(asked.out) if each.engine == asked.engine]
    with tempfile.TemporaryDirectory(prefix="clew-kill-") as made:
        for number in range(len(outcomes), asked.trials):
            folder = Path(made) / "ws"
            if number % FRESH == 0:
                shutil.rmtree(made)
                Path(made).mkdir(mode=0o700)
            after = 0.05 + fraction(number, asked.engine) * asked.longest
            action = ACTIONS[number % len(ACTIONS)]
            outcome = Outcome(number, asked.engine, action, f"{after:.3f} s")
            trial.killed(outcome, folder, after=after, while_opening=number % OPENING == 0)
            trial.keep(outcome, asked.out)
            outcomes.append(outcome)
    return trial.total(outcomes)


if __name__ == "__main__":
    sys.exit(main())
