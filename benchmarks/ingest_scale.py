"""Ingest at sizes that no corpus has: peak memory, bytes a second, files left closed.

``python -m benchmarks.ingest_scale [-o FILE] [--scale F]`` makes, in a temporary folder,
(a) a Claude Code session of progress lines, (b) a ChatGPT export, (c) a folder of small
sessions, and takes each in by a process of its own. Peak memory is told above that of the
process before its run, everything imported.
"""

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from time import perf_counter, process_time

from benchmarks.ingest import NOW, Nothing
from graphstore.model.carrier import FileState
from graphstore.model.record import ThreadRecord
from ingest.options import Options
from ingest.run import run
from ingest.sniff import readers

MB = 1_000_000
PROGRESS_MB = 300
EXPORT_MB = 200
FILES = 1000
_WORDS = """
tide gauge ebb float salt hull winch quay beacon fog lamp buoy sluice pier rope keel drift mast
channel silt dredge pump valve chart lens signal horn anchor berth crane ballast hatch rudder
"""
VOCABULARY = _WORDS.split()
SESSION = "5e551000-0000-4000-8000-{:012}"


def words(seed: int, count: int) -> str:
    """Words of a made-up harbour, the same for the same seed."""
    return " ".join(
        VOCABULARY[(seed * 7 + n * n + n * seed) % len(VOCABULARY)] for n in range(count)
    )


def progress(file: Path, size: int) -> None:
    """A session that says little and reports its progress with all that was said, again."""
    head = {"parentUuid": None, "isSidechain": False, "sessionId": SESSION.format(1)}
    said = [
        {**head, "type": "user", "uuid": "u1", "message": {
            "role": "user", "content": words(1, 30),
        }},
        {**head, "type": "assistant", "uuid": "u2", "parentUuid": "u1", "message": {
            "id": "m1", "role": "assistant", "content": [{"type": "text", "text": words(2, 60)}],
        }},
    ]  # fmt: skip
    history = [{"type": "user", "message": {"content": words(n, 400)}} for n in range(400)]
    with file.open("wb") as out:
        for one in said:
            out.write(json.dumps(one).encode() + b"\n")
        number = 0
        while out.tell() < size:
            number += 1
            told = {**head, "type": "progress", "uuid": f"p{number}", "normalizedMessages": history}
            out.write(json.dumps(told).encode() + b"\n")


def conversation(number: int) -> dict[str, object]:
    """One conversation of an export: some twenty messages, some of them long."""
    mapping: dict[str, object] = {}
    above = None
    for place in range(20):
        key = f"aaaaaaaa-0000-4000-8000-{number:06}{place:06}"
        role = "assistant" if place % 2 else "user"
        text = words(number + place, 300 if place % 2 else 25)
        mapping[key] = {"id": key, "parent": above, "children": [], "message": {
            "id": key, "author": {"role": role}, "create_time": 1.7e9 + number * 100 + place,
            "content": {"content_type": "text", "parts": [text]}, "metadata": {},
        }}  # fmt: skip
        above = key
    return {
        "title": words(number, 4), "create_time": 1.7e9 + number, "mapping": mapping,
        "current_node": above, "conversation_id": f"bbbbbbbb-0000-4000-8000-{number:012}",
    }  # fmt: skip


def export(file: Path, size: int) -> None:
    """One JSON list of conversations."""
    with file.open("wb") as out:
        number = 0
        while out.tell() < size:
            out.write(b"[" if not number else b",")
            out.write(json.dumps(conversation(number)).encode())
            number += 1
        out.write(b"]")


def sessions(folder: Path, count: int) -> None:
    """Small sessions, one a file."""
    for number in range(count):
        head = {"sessionId": SESSION.format(number), "isSidechain": False, "cwd": "/w/harbour"}
        with (folder / f"{head['sessionId']}.jsonl").open("w") as out:
            for place in range(6):
                role = "assistant" if place % 2 else "user"
                above = f"{number}-{place - 1}" if place else None
                message = {"role": role, "id": f"{number}-{place}", "content": words(number, 40)}
                line = {**head, "type": role, "uuid": f"{number}-{place}", "parentUuid": above}
                out.write(json.dumps({**line, "message": message}) + "\n")


class Files(Nothing):
    """A store that knows the states of files."""

    def __init__(self) -> None:
        self.states: dict[str, FileState] = {}

    def file(self, path: str) -> FileState | None:
        return self.states.get(path)


def resident() -> float:
    """Megabytes of this process now."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / MB


def peak() -> float:
    """Megabytes of this process at the most; what its parent had before does not count."""
    told = Path("/proc/self/status").read_text()
    return int(told.split("VmHWM:")[1].split()[0]) * 1024 / MB


def taken(path: str, known: Nothing) -> Iterator[FileState]:
    """Take a path in, keep only the states of files."""
    for one in run([path], known, Options(salt=b"bench"), NOW):
        if isinstance(one, FileState):
            yield one


def child(path: str, *, again: bool) -> None:
    """Take one path in and print what it cost: CPU, wall, memory; then once more if asked."""
    readers()
    known = Files()
    before, start, wall = resident(), process_time(), perf_counter()
    threads = turns = 0
    for one in run([path], known, Options(salt=b"bench"), NOW):
        if isinstance(one, ThreadRecord):
            threads, turns = threads + 1, turns + len(one.turns)
        elif isinstance(one, FileState):
            known.states[one.path] = one
    cost = {"cpu": process_time() - start, "wall": perf_counter() - wall}
    cost |= {"memory": peak() - before, "threads": threads, "turns": turns}
    if again:
        start = process_time()
        cost["changed"] = len(list(taken(path, known)))
        cost["again"] = process_time() - start
    print(json.dumps(cost))


def measured(path: Path, *, again: bool = False) -> dict[str, float]:
    """What taking a path in costs a fresh process."""
    command = [sys.executable, "-m", "benchmarks.ingest_scale", "--child", str(path)]
    if again:
        command.append("--again")
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    cost: dict[str, float] = json.loads(done.stdout)
    return cost


def table(scale: float) -> str:
    """Make everything, measure it, tell it."""
    rows = []
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        file = folder / f"{SESSION.format(1)}.jsonl"
        progress(file, int(PROGRESS_MB * MB * scale))
        size = file.stat().st_size / MB
        cost = measured(file)
        rows.append(
            f"progress lines, {size:.0f} MB: {size / cost['cpu']:.0f} MB/s of CPU (goal >= 300), "
            f"{size / cost['wall']:.0f} MB/s of wall time, {cost['memory']:.0f} MB of memory above "
            f"the imported process (goal < 100), {cost['turns']} turns"
        )
        file.unlink()
        file = folder / "conversations.json"
        export(file, int(EXPORT_MB * MB * scale))
        size = file.stat().st_size / MB
        start = process_time()
        json.loads(file.read_bytes())
        plain = process_time() - start
        cost = measured(file)
        rows.append(
            f"ChatGPT export, {size:.0f} MB, {cost['threads']} threads, {cost['turns']} turns: "
            f"{cost['memory']:.0f} MB of memory above the imported process (goal < 100), "
            f"{cost['cpu']:.1f} s of CPU ({cost['cpu'] / plain:.2f} times json.loads of it at once)"
        )
        file.unlink()
        sessions(folder, int(FILES * scale))
        cost = measured(folder, again=True)
        rows.append(
            f"{int(FILES * scale)} small sessions: {cost['cpu']:.2f} s of CPU at first; unchanged "
            f"{cost['again']:.3f} s (goal <= 1 s for 1,000), {cost['changed']} of them opened"
        )
    return "\n".join((f"Python {platform.python_version()} on {platform.machine()}", *rows, ""))


def main() -> None:
    """Measure everything, or, as a child, one path."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-o", "--output", type=Path)
    parser.add_argument("--scale", type=float, default=1.0, help="size of what is made")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    parser.add_argument("--again", action="store_true", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.child:
        child(asked.child, again=asked.again)
        return
    text = table(asked.scale)
    sys.stdout.write(text)
    if asked.output is not None:
        asked.output.write_text(text)


if __name__ == "__main__":
    main()
