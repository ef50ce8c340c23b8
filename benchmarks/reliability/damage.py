"""Files damaged at random: the right step of the ladder each time, said, and nothing lost.

``python -m benchmarks.reliability.damage --trials 100``. Damage of the graph must cost nothing.
Damage of the ledger must be said, and salvage must leave a sound store.
"""

import argparse
import hashlib
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.reliability import trial
from benchmarks.reliability.trial import Outcome

FIRST = 6
"""Records that the workspace has before it is damaged."""
HOWS = ("flip", "cut", "zero", "noise", "longer", "gone", "twice")
SALVAGE = """
import sys
from pathlib import Path
from graphstore.salvage import salvage
from tests.fake_derive import NOW
print(salvage(Path(sys.argv[1]), NOW).kept)
"""


def draw(number: int, what: str, below: int) -> int:
    """A number below a bound that belongs to a trial."""
    digest = hashlib.blake2b(f"{number} {what}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") % max(below, 1)


def harm(file: Path, how: str, number: int) -> None:
    """Damage a file in one way, at a place that belongs to the trial."""
    content = bytearray(file.read_bytes())
    at = draw(number, "place", len(content))
    match how:
        case "flip":
            content[at : at + 4] = bytes(byte ^ 0xA5 for byte in content[at : at + 4])
        case "cut":
            del content[at:]
        case "zero":
            content[at : at + 4096] = bytes(len(content[at : at + 4096]))
        case "noise":
            content[at : at + 512] = hashlib.blake2b(str(number).encode()).digest() * 8
        case "longer":
            content += content[:4096]
        case "twice":
            content[at : at + 4096] = content[:4096]
    if how == "gone":
        file.unlink()
    else:
        file.write_bytes(content)


def one(outcome: Outcome, folder: Path, how: str) -> None:
    """Damage one file of a copy, open it, and save what holds where that is needed."""
    files = sorted(path for path in folder.iterdir() if path.name.startswith(("graph", "ledger")))
    file = files[draw(outcome.number, "file", len(files))]
    outcome.action = file.name
    harm(file, how, outcome.number)
    outcome.said = 0 if file.name.startswith("ledger") else outcome.said
    attempt = Outcome(outcome.number, outcome.engine, outcome.action, how, said=outcome.said)
    trial.checked(attempt, folder)
    if attempt.failures and file.name.startswith("ledger"):
        outcome.end += ", salvaged"
        command = [sys.executable, "-c", SALVAGE, str(folder)]
        done = subprocess.run(command, cwd=trial.ROOT, capture_output=True, check=False)
        if done.returncode:
            outcome.failures.append(f"no salvage: {done.stderr[-200:]!r}")
        trial.checked(outcome, folder)
    elif attempt.failures and "(-" in attempt.failures[0]:
        outcome.end += ", ended the program once"
        trial.checked(outcome, folder)
    else:
        outcome.failures, outcome.notices = attempt.failures, attempt.notices
        outcome.found, outcome.opened = attempt.found, attempt.opened


def main() -> int:
    """Make one workspace, then damage copies of it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=20)
    parser.add_argument("--engine", default="kuzu", choices=["kuzu", "ladybug"])
    parser.add_argument("-o", dest="out", type=Path, help="results, one line a trial")
    asked = parser.parse_args()
    outcomes = []
    with tempfile.TemporaryDirectory(prefix="clew-damage-") as made:
        whole = Path(made) / "whole"
        first = Outcome(-1, asked.engine, "checkpoint", "")
        while first.found < FIRST:
            trial.killed(first, whole, after=5)
        for number in range(asked.trials):
            folder = Path(made) / "ws"
            shutil.copytree(whole, folder)
            how = HOWS[number % len(HOWS)]
            outcome = Outcome(number, asked.engine, "", how, said=first.found)
            one(outcome, folder, how)
            trial.keep(outcome, asked.out)
            outcomes.append(outcome)
            shutil.rmtree(folder)
    return trial.total(outcomes)


if __name__ == "__main__":
    sys.exit(main())
