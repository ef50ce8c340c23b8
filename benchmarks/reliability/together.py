"""Eight processes with mixed operations on one workspace; the end equals that of one process.

``python -m benchmarks.reliability.together --processes 8 --operations 200``
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path

ROOT = Path(__file__).parents[2]
THEN = datetime(2026, 1, 15, 12, tzinfo=UTC)
KINDS = ("ingest", "recall", "threads", "query", "questions", "status", "ingest", "scout")


def chat(folder: Path, process: int, step: int) -> Path:
    """A conversation that belongs to one step of one process."""
    file = folder / f"chat-{process}-{step}.json"
    texts = (f"Why does lock {process} fail under load {step}?", "Which lock is fair?")
    turns = [{"role": role, "content": text} for text in texts for role in ("user", "assistant")]
    file.write_text(json.dumps({"messages": turns}), "utf-8")
    return file


def run(folder: Path, process: int, operations: int) -> None:
    """Do the operations of one process, each with a store that is opened and closed."""
    from service import operations as do
    from service import settings
    from service.session import Session

    flags = {"store.home": str(folder / "home"), "store.wait_s": 600}
    loaded = settings.load(flags, folder)
    session = Session(loaded=loaded, folder=folder, now=lambda: THEN)
    for step in range(operations):
        match KINDS[(process + step) % len(KINDS)]:
            case "ingest":
                do.ingest(session, (str(chat(folder, process, step)),))
            case "recall":
                do.recall(session, "fair locks")
            case "threads":
                do.threads(session)
            case "query":
                do.query(session, "MATCH (t:Thread) RETURN count(*)")
            case "questions":
                do.questions(session)
            case "status":
                do.status(session)
            case "scout":
                do.scout(session)


def exported(folder: Path) -> bytes:
    """The canonical export; paths of the two homes differ, so they are left out."""
    command = [sys.executable, "-m", "cli", "--home", str(folder / "home")]
    words = ["export", "jsonl", "--with-text", "-o", str(folder / "all.jsonl")]
    subprocess.run([*command, *words], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    return (folder / "all.jsonl").read_bytes()


def worker(folder: Path, process: int, operations: int) -> list[str]:
    """Command of one process."""
    words = ["--worker", str(process), "--operations", str(operations), "--folder", str(folder)]
    return [sys.executable, "-m", "benchmarks.reliability.together", *words]


def main() -> int:
    """Run all at once, then all in turn, and compare."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--processes", type=int, default=8)
    parser.add_argument("--operations", type=int, default=200)
    parser.add_argument("--worker", type=int, default=-1, help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.worker >= 0:
        run(asked.folder, asked.worker, asked.operations)
        return 0
    failed = 0
    with tempfile.TemporaryDirectory(prefix="clew-together-") as made:
        once, turns = Path(made) / "together", Path(made) / "in turn"
        for folder in (once, turns):
            folder.mkdir()
            run(folder, 8 * 12, 1)  # there is a store before anyone asks it something
        env = {**os.environ, "PYTHONHASHSEED": "0"}
        running = [
            subprocess.Popen(
                worker(once, process, asked.operations), cwd=ROOT, env=env, stderr=subprocess.PIPE
            )
            for process in range(asked.processes)
        ]
        for number, process in enumerate(running):
            _, err = process.communicate()
            if process.returncode:
                failed += 1
                print(f"process {number} failed: {err[-300:]!r}")
        for process in range(asked.processes):
            run(turns, process, asked.operations)
        same = exported(once) == exported(turns)
    print(f"{asked.processes} processes x {asked.operations} operations: {failed} failed")
    print("the end is that of one process" if same else "THE END DIFFERS")
    return int(bool(failed) or not same)


if __name__ == "__main__":
    sys.exit(main())
