"""A history of 20,000 threads in four formats: what ingest costs as it grows, alone.

``python -m benchmarks.history [--threads N] [--batch N] [-o FILE]`` makes the history in a
temporary folder, from an invented vocabulary, the same on every run. It is taken in (a) at
once, at a quarter, half and all of its size, each by a process of its own; (b) batch by batch
against a store in memory, which knows what earlier batches gave. CPU for 1,000 threads must
stay flat.
"""

import argparse
import json
import platform
import subprocess
import sys
import tempfile
from collections.abc import Collection, Iterator
from pathlib import Path
from time import process_time
from typing import Any

from benchmarks.ingest import NOW
from benchmarks.ingest_scale import MB, peak, resident
from graphstore.model.carrier import FileState, PendingTitle
from graphstore.model.conversation import Thread
from graphstore.model.record import ThreadRecord
from ingest.options import Options
from ingest.run import run
from ingest.sniff import readers

THREADS = 20_000
BATCH = 1_000
TOLERANCE = 0.2
"""Part by which the cost of 1,000 threads may differ from the first one's."""
_HEADS, _TAILS = "b d f g k l m n p r s t v z br st", "a e i o u"
SYLLABLES = tuple(head + tail for head in _HEADS.split() for tail in _TAILS.split())
PER_EXPORT = 50
"""Conversations of one ChatGPT export."""


class Dice:
    """Numbers that look thrown: a linear congruence, the same on every machine."""

    def __init__(self, seed: int) -> None:
        self.state = seed * 2_654_435_761 + 97

    def below(self, limit: int) -> int:
        """A number from 0 to under a limit."""
        self.state = (self.state * 6_364_136_223_846_793_005 + 1_442_695_040_888_963_407) % 2**64
        return (self.state >> 33) % limit

    def text(self, low: int, high: int) -> str:
        """Words, the few first ones of the vocabulary more often than the rest."""
        return " ".join(self.word() for _ in range(low + self.below(high - low)))

    def word(self) -> str:
        """A word of two or three syllables."""
        rank = min(self.below(len(SYLLABLES)) for _ in range(2))
        return (
            SYLLABLES[rank]
            + SYLLABLES[self.below(len(SYLLABLES) - rank)]
            + ("" if self.below(3) else "n")
        )


def uuid(kind: int, number: int, place: int = 0) -> str:
    """An id like those that tools give."""
    return f"{kind:08x}-{place:04x}-4000-8000-{number:012x}"


def talk(number: int) -> list[tuple[str, str]]:
    """Messages of one thread, question and answer in turn: two to eight exchanges."""
    dice = Dice(number)
    said = []
    for _ in range(1 + dice.below(7)):
        said.append(("user", dice.text(5, 60)))
        said.append(("assistant", dice.text(20, 220)))
    return said


def claude(number: int) -> str:
    """A session of Claude Code, with a call and its result before each answer."""
    head = {"sessionId": uuid(1, number), "cwd": f"/w/project {number % 40}", "version": "2.1.0"}
    lines: list[dict[str, Any]] = []

    def add(kind: str, content: object, **message: object) -> None:
        above = lines[-1]["uuid"] if lines else None
        at = f"2026-01-{1 + number % 28:02}T10:{len(lines) % 60:02}:00.000Z"
        lines.append({
            **head, "type": kind, "uuid": uuid(2, number, len(lines)), "parentUuid": above,
            "timestamp": at, "isSidechain": False,
            "message": {"role": kind, "content": content, **message},
        })  # fmt: skip

    for place, (role, text) in enumerate(talk(number)):
        if role == "user":
            add("user", text)
            continue
        path = {"file_path": f"/w/project {number % 40}/{text.split()[0]}.py"}
        call = {"type": "tool_use", "id": f"t{place}", "name": "Read", "input": path}
        add("assistant", [call], id=f"m{number}-{place}")
        add("user", [{"type": "tool_result", "tool_use_id": f"t{place}", "content": text * 3}])
        add("assistant", [{"type": "text", "text": text}], id=f"n{number}-{place}")
    return "".join(json.dumps(line) + "\n" for line in lines)


def codex(number: int) -> str:
    """A session of Codex: every message as item and as event."""
    records: list[tuple[str, dict[str, Any]]] = [
        ("session_meta", {"id": uuid(3, number), "cwd": f"/w/project {number % 40}"})
    ]
    for place, (role, text) in enumerate(talk(number)):
        if role == "user":
            records.append(("turn_context", {"turn_id": f"{number}-{place}", "model": "m-1"}))
        kind = "input_text" if role == "user" else "output_text"
        content = [{"type": kind, "text": text}]
        records.append(("response_item", {"type": "message", "role": role, "content": content}))
        told = "user_message" if role == "user" else "agent_message"
        records.append(("event_msg", {"type": told, "message": text}))
    return "".join(
        json.dumps({"timestamp": f"2026-02-{1 + number % 28:02}T09:00:00Z", "type": kind,
                    "payload": payload}) + "\n"
        for kind, payload in records
    )  # fmt: skip


def chatgpt(number: int) -> dict[str, Any]:
    """One conversation of an export."""
    mapping = {}
    above = None
    for place, (role, text) in enumerate(talk(number)):
        key = uuid(4, number, place)
        content = {"content_type": "text", "parts": [text]}
        message = {"id": key, "author": {"role": role}, "content": content,
                   "create_time": 1.767e9 + number * 60 + place}  # fmt: skip
        mapping[key] = {"id": key, "parent": above, "children": [], "message": message}
        above = key
    title = " ".join(talk(number)[0][1].split()[:5])
    return {"conversation_id": uuid(5, number), "title": title, "create_time": 1.767e9,
            "mapping": mapping, "current_node": above}  # fmt: skip


def generic(number: int) -> str:
    """One line of a file of conversations."""
    messages = [{"role": role, "content": text} for role, text in talk(number)]
    return json.dumps({"id": uuid(6, number), "messages": messages}) + "\n"


def make(folder: Path, first: int, count: int) -> None:
    """Threads of some numbers: four of ten are Claude Code, two each of the others."""
    folder.mkdir(parents=True)
    exported: list[dict[str, Any]] = []
    lines: list[str] = []
    for number in range(first, first + count):
        match number % 10:
            case 0 | 1 | 2 | 3:
                (folder / f"{uuid(1, number)}.jsonl").write_text(claude(number))
            case 4 | 5:
                (folder / f"rollout-{uuid(3, number)}.jsonl").write_text(codex(number))
            case 6 | 7:
                exported.append(chatgpt(number))
            case _:
                lines.append(generic(number))
    for start in range(0, len(exported), PER_EXPORT):
        part = json.dumps(exported[start : start + PER_EXPORT])
        (folder / f"conversations-{start:05}.json").write_text(part)
    (folder / "talks.jsonl").write_text("".join(lines))


class Kept:
    """A store in memory: what earlier batches gave."""

    def __init__(self) -> None:
        self.threads: dict[str, Thread] = {}
        self.owners: dict[tuple[str, str], list[str]] = {}
        self.states: dict[str, FileState] = {}

    def thread(self, thread_id: str) -> Thread | None:
        """A thread with its turns."""
        return self.threads.get(thread_id)

    def holding(self, source: str, keys: tuple[str, ...]) -> tuple[str, ...]:
        """Threads that hold one of the keys."""
        found = (one for key in keys for one in self.owners.get((source, key), ()))
        return tuple(sorted(set(found)))

    def descendants(self, thread_id: str) -> tuple[str, ...]:
        """None: the history has no lineage."""
        del thread_id
        return ()

    def forgotten(self, thread_id: str, fingerprints: Collection[str]) -> bool:
        """Nothing is."""
        del thread_id, fingerprints
        return False

    def file(self, path: str) -> FileState | None:
        """State of a file."""
        return self.states.get(path)

    def titles(self) -> tuple[PendingTitle, ...]:
        """No title waits."""
        return ()

    def take(self, folder: Path) -> tuple[int, int]:
        """Take a folder in and keep it: threads and turns that are new."""
        threads = turns = 0
        for one in run([str(folder)], self, Options(salt=b"bench"), NOW):
            if isinstance(one, FileState):
                self.states[one.path] = one
            elif isinstance(one, ThreadRecord):
                threads, turns = threads + 1, turns + len(one.turns)
                head = {name: getattr(one, name) for name in Thread.model_fields}
                self.threads[one.thread_id] = Thread(**head)
                for turn in one.turns:
                    if turn.native_key is not None:
                        owned = self.owners.setdefault((one.source, turn.native_key), [])
                        owned.append(one.thread_id)
        return threads, turns


def at_once(folders: list[str]) -> None:
    """Child: take folders in at once, keep nothing, print the cost."""
    readers()
    before, start = resident(), process_time()
    threads = turns = 0
    for one in run(folders, Kept(), Options(salt=b"bench"), NOW):
        if isinstance(one, ThreadRecord):
            threads, turns = threads + 1, turns + len(one.turns)
    cpu = process_time() - start
    print(json.dumps({"cpu": cpu, "memory": peak() - before, "threads": threads, "turns": turns}))


def wholes(folders: list[Path]) -> Iterator[str]:
    """Costs at once, by size."""
    first = None
    for part in (4, 2, 1):
        some = [str(one) for one in folders[: len(folders) // part]]
        command = [sys.executable, "-m", "benchmarks.history", "--at-once", *some]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        cost = json.loads(done.stdout)
        each = 1000 * cost["cpu"] / cost["threads"]
        first = first or each
        yield (
            f"at once, {cost['threads']} threads, {cost['turns']} turns: {cost['cpu']:.1f} s of "
            f"CPU, {each:.2f} s for 1,000 ({each / first:.2f} of the first), "
            f"{cost['memory']:.0f} MB above the imported process"
        )


def batches(folders: list[Path]) -> Iterator[str]:
    """Costs batch by batch; every batch looks only at what is new in it."""
    Kept().take(folders[0])  # warm
    store = Kept()
    costs = []
    for folder in folders:
        start = process_time()
        threads, _ = store.take(folder)
        costs.append(1000 * (process_time() - start) / threads)
    told = " ".join(f"{one:.2f}" for one in costs)
    half = len(costs) // 2
    early, late = sum(costs[:half]) / half, sum(costs[half:]) / (len(costs) - half)
    yield f"in {len(costs)} batches, s of CPU for 1,000 threads: {told}"
    verdict = "flat" if abs(late / early - 1) <= TOLERANCE else "not flat"
    yield f"second half beside first: {late / early:.2f} (goal within {TOLERANCE:.0%}: {verdict})"
    start = process_time()
    threads, _ = store.take(folders[0].parent)
    yield f"all of it again, unchanged: {process_time() - start:.2f} s of CPU, {threads} threads"


def main() -> None:
    """Make the history and measure it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--threads", type=int, default=THREADS)
    parser.add_argument("--batch", type=int, default=BATCH)
    parser.add_argument("-o", "--output", type=Path)
    parser.add_argument("--at-once", nargs="+", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.at_once:
        at_once(asked.at_once)
        return
    with tempfile.TemporaryDirectory() as made:
        folders = []
        for first in range(0, asked.threads, asked.batch):
            folders.append(Path(made, f"{first:06}"))
            make(folders[-1], first, asked.batch)
        files = [one for one in Path(made).rglob("*") if one.is_file()]
        size = sum(one.stat().st_size for one in files) / MB
        head = f"Python {platform.python_version()} on {platform.machine()}, "
        rows = [f"{head}{asked.threads} threads in {len(files)} files, {size:.0f} MB"]
        for row in (*batches(folders), *wholes(folders)):
            rows.append(row)
            print(row, file=sys.stderr)
    text = "\n".join((*rows, ""))
    sys.stdout.write(text)
    if asked.output is not None:
        asked.output.write_text(text)


if __name__ == "__main__":
    main()
