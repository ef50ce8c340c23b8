"""What one new exchange costs at the end of a large session that is known already.

``python -m benchmarks.ingest_append [-o FILE] [--megabytes N] [--text N]`` makes up a Claude Code
session (most of it results of tools, as in real ones), takes it in, and then adds a question and
an answer five times. Measured in CPU seconds of the process, beside one ``json.loads`` pass over
the file: (a) ingest alone, reading on; (b) ingest alone, reading the whole; both with the commit
to the ledger and without the graph; (c) the whole operation, graph and Journeys included.
"""

import argparse
import json
import platform
import random
import shutil
import sys
import tempfile
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import median
from time import process_time
from typing import Any

from graphstore import open_store
from graphstore.store import Store
from ingest.derive import Derivation
from ingest.options import Options
from ingest.pace import Stopped
from ingest.run import run
from service import taking

NOW = datetime(2100, 1, 1, tzinfo=UTC)
START = datetime(2026, 2, 1, tzinfo=UTC)
SESSION = "dddddddd-0000-4000-8000-000000000004"
ROUNDS = 5
CALLS = 8
"""Calls of tools in an exchange."""
GOAL_READING_ON = 0.2
"""CPU seconds of (a)."""
GOAL_WHOLE = 2.5
"""CPU of (b) over that of one pass of ``json.loads``."""
NEVER = 2**60
WORDS = ("graph", "salt", "film", "vent", "hall", "sensor", "lock", "thread", "index", "page")


class Session:
    """A session that is written exchange by exchange."""

    def __init__(self, file: Path, result_words: int) -> None:
        self.file = file
        self.result_words = result_words
        self.random = random.Random(7)  # noqa: S311 - the same session every time
        self.parent: str | None = None
        self.lines = 0
        self.exchanges = 0

    def words(self, count: int) -> str:
        return " ".join(self.random.choices(WORDS, k=count))

    def line(self, kind: str, message: dict[str, Any]) -> str:
        self.lines += 1
        uuid = f"{self.random.getrandbits(32):08x}-0000-4000-8000-{self.lines:012x}"
        at = (START + timedelta(seconds=self.lines)).isoformat().replace("+00:00", "Z")
        head = {"parentUuid": self.parent, "isSidechain": False, "cwd": "/home/u/w/graph"}
        told = {"sessionId": SESSION, "type": kind, "message": message}
        self.parent = uuid
        return json.dumps({**head, **told, "uuid": uuid, "timestamp": at}) + "\n"

    def said(self, ident: str, block: dict[str, Any], stop: str | None) -> str:
        message = {"id": ident, "role": "assistant", "model": "m", "content": [block]}
        return self.line("assistant", {**message, "stop_reason": stop})

    def exchange(self, calls: int = CALLS) -> str:
        self.exchanges += 1
        number = self.exchanges
        question = f"Why does {self.words(12)} {number}?"
        lines = [self.line("user", {"role": "user", "content": question})]
        for call in range(calls):
            use = {"type": "tool_use", "id": f"t{call}", "name": "Read", "input": {}}
            lines.append(self.said(f"m{number}-{call}", use, None))
            result = {"type": "tool_result", "tool_use_id": f"t{call}"}
            result["content"] = self.words(self.result_words)
            lines.append(self.line("user", {"role": "user", "content": [result]}))
        answer = {"type": "text", "text": f"Because {self.words(60)}."}
        lines.append(self.said(f"m{number}", answer, "end_turn"))
        return "".join(lines)

    def write(self, megabytes: float) -> None:
        with self.file.open("w") as out:
            while out.tell() < megabytes * 1e6:
                out.write(self.exchange())

    def append(self) -> None:
        with self.file.open("a") as out:
            out.write(self.exchange(calls=0))


def seconds(work: Callable[[], object]) -> float:
    """CPU seconds of one call."""
    start = process_time()
    work()
    return process_time() - start


def parse(file: Path) -> None:
    """One pass of plain parsing."""
    with file.open("rb") as stream:
        for line in stream:
            json.loads(line)


def ingest(store: Store, folder: Path, resume_bytes: int) -> int:
    """Take in what is new, to the ledger only; new turns."""
    options = Options(salt=b"bench", resume_bytes=resume_bytes)
    known = taking.KnownStore(store, options.salt)
    report = taking.keep(store, run((str(folder),), known, options, NOW), NOW)
    return report.human + report.assistant


def rounds(session: Session, work: Callable[[], object]) -> list[float]:
    """CPU seconds after each of some appended exchanges."""
    found = []
    for _ in range(ROUNDS):
        session.append()
        found.append(seconds(work))
    return found


def told(name: str, found: list[float], parsing: float) -> str:
    raw = " ".join(f"{one:.3f}" for one in found)
    middle = median(found)
    return f"{name:<34} {middle:.3f} s CPU, {middle / parsing:.2f}x json.loads  ({raw})\n"


def measure(folder: Path, megabytes: float, result_words: int) -> str:
    """The table."""
    (folder / "in").mkdir()
    session = Session(folder / "in" / f"{SESSION}.jsonl", result_words)
    session.write(megabytes)
    derive = Derivation()
    with open_store(folder / "store", derive) as store:
        whole = Options(salt=b"bench")
        first = seconds(lambda: taking.take(store, derive, (str(folder / "in"),), whole, NOW))
        with suppress(Stopped), store.deferred():
            ingest(store, folder / "in", 0)
            on = rounds(session, lambda: ingest(store, folder / "in", 0))
            full = rounds(session, lambda: ingest(store, folder / "in", NEVER))
            raise Stopped
        taking.take(store, derive, (str(folder / "in"),), whole, NOW)
        operation = rounds(
            session, lambda: taking.take(store, derive, (str(folder / "in"),), whole, NOW)
        )
    parsing = median(seconds(lambda: parse(session.file)) for _ in range(ROUNDS))
    size = session.file.stat().st_size / 1e6
    return (
        f"{size:.1f} MB, {session.lines} lines, {2 * session.exchanges} turns\n"
        f"first time {first:.1f} s CPU; json.loads over the file {parsing:.3f} s CPU\n"
        + told(f"(a) reading on, goal {GOAL_READING_ON} s", on, parsing)
        + told(f"(b) reading whole, goal {GOAL_WHOLE}x", full, parsing)
        + told("(c) the whole operation", operation, parsing)
    )


def main() -> None:
    """Measure once, in a folder of its own."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-o", "--output", type=Path)
    parser.add_argument("--megabytes", type=float, default=50)
    parser.add_argument("--words", type=int, default=2200, help="in a result of a tool")
    asked = parser.parse_args()
    folder = Path(tempfile.mkdtemp())
    try:
        table = measure(folder, asked.megabytes, asked.words)
    finally:
        shutil.rmtree(folder)
    command = f"$ python -m benchmarks.ingest_append --megabytes {asked.megabytes:g}"
    command += f" --words {asked.words}\n"
    text = f"{command}Python {platform.python_version()} on {platform.machine()}\n\n{table}"
    sys.stdout.write(text)
    if asked.output is not None:
        asked.output.write_text(text)


if __name__ == "__main__":
    main()
