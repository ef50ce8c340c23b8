"""A workspace of any size from an invented language: what commits, rebuilds and files cost.

Run: python -m benchmarks.scale TURNS FOLDER [--keep] [--rebuild] [--forget]; prints one JSON
object. With --rebuild the graph is made again at the end, with --forget ten threads are forgotten
and a backup is written. Each figure is written to FOLDER/laps.json when it is seen, those of the
two options to FOLDER/again.json: a run that was stopped is taken up at the stage that it was in.
"""

import json
import resource
import shutil
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np

from graphstore import open_store
from graphstore.backup import back_up
from graphstore.forgetting import SALT
from graphstore.ids import fingerprint, thread_id
from graphstore.model.conversation import Role, Taint, Turn
from graphstore.model.record import ThreadRecord
from graphstore.store import Store
from ingest.derive import Derivation

SEED = 20_261
WORDS, TOPICS, OF_TOPIC = 60_000, 4_000, 40
PER_THREAD, PER_COMMIT = 40, 20
"""Turns of a thread that is there from the start, and of one that is committed alone."""
NOW = datetime(2026, 1, 1, tzinfo=UTC)
LITTLE = (
    "the",
    "a",
    "of",
    "in",
    "on",
    "with",
    "for",
    "that",
    "is",
    "was",
    "and",
    "to",
    "from",
    "it",
)
ASK = ("why does the {}?", "how do we {} the {}?", "what is the {} of a {}?", "where does {} go?")


class Language:
    """Words with Zipf frequencies, topics that prefer some of them, threads of turns."""

    def __init__(self) -> None:
        dice = np.random.default_rng(SEED)
        heads = ["b", "d", "f", "g", "k", "l", "m", "n", "p", "r", "s", "t", "v", "z", "br", "st"]
        tails = ["a", "e", "i", "o", "u", "an", "el", "ir", "om", "ut"]
        parts = np.array([head + tail for head in heads for tail in tails])
        picked = parts[dice.integers(0, len(parts), (2 * WORDS, 3))]
        lengths = dice.integers(2, 4, len(picked))
        spelled = ("".join(row[:n]) for row, n in zip(picked, lengths, strict=True))
        self.words = np.array(list(dict.fromkeys(spelled))[:WORDS])
        weights = 1.0 / np.arange(1, len(self.words) + 1)
        self._ladder = np.cumsum(weights / weights.sum())
        self._topics = dice.integers(200, len(self.words), (TOPICS, OF_TOPIC))

    def _pick(self, dice: np.random.Generator, topic: int, count: int) -> list[str]:
        common = np.searchsorted(self._ladder, dice.random(count))
        own = self._topics[topic][(OF_TOPIC * dice.random(count) ** 2).astype(int)]
        return list(self.words[np.where(dice.random(count) < 0.4, own, common)])

    def _sentence(self, dice: np.random.Generator, topic: int) -> str:
        content = self._pick(dice, topic, 6)
        little = dice.integers(0, len(LITTLE), 6)
        pairs = (f"{word} {LITTLE[n]}" for word, n in zip(content, little, strict=True))
        return " ".join(pairs).capitalize() + " " + content[0] + "."

    def _text(self, dice: np.random.Generator, topic: int, number: int) -> str:
        said = " ".join(self._sentence(dice, topic) for _ in range(3))
        if number % 2 and dice.random() < 0.15:
            shape = ASK[int(dice.integers(len(ASK)))]
            words = iter(self._pick(dice, topic, 4))
            asked = shape.replace("{}", "%s") % tuple(
                f"{next(words)} {next(words)}" for _ in range(shape.count("{}"))
            )
            return f"{asked.capitalize()} {said}"
        return said

    def thread(self, number: int, length: int = PER_THREAD) -> ThreadRecord:
        """The n-th thread; the same in every run."""
        dice = np.random.default_rng([SEED, number])
        topic = int(dice.integers(TOPICS))
        name = f"t{number:07}"
        begun = NOW + timedelta(minutes=number)
        turns = []
        for place in range(1, length + 1):
            role = Role.HUMAN if place % 2 else Role.ASSISTANT
            text = self._text(dice, topic, place)
            turns.append(
                Turn(
                    number=place,
                    role=role,
                    taint=Taint(role.value),
                    text=text,
                    fingerprint=fingerprint(role.value, text),
                    native_key=f"{name}-{place}",
                    at=begun + timedelta(seconds=place),
                )
            )
        return ThreadRecord(
            thread_id=thread_id("scale", name),
            source="scale",
            native_id=name,
            title=f"Thread {number}",
            project=f"/w/p{topic % 97}",
            participants=("mira",),
            started_at=begun,
            turns=tuple(turns),
            path=tuple(range(1, length + 1)),
        )


class Laps:
    """CPU and wall seconds by name."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self.rows: dict[str, dict[str, float]] = (
            json.loads(file.read_text()) if file.exists() else {}
        )

    def run(self, name: str, begin: tuple[float, float]) -> None:
        cpu, wall = time.process_time() - begin[0], time.perf_counter() - begin[1]
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        self.rows[name] = {"cpu_s": round(cpu, 4), "wall_s": round(wall, 3), "peak_mb": round(peak)}
        self._file.write_text(json.dumps(self.rows, indent=1))
        print(name, self.rows[name], file=sys.stderr, flush=True)


def clock() -> tuple[float, float]:
    return time.process_time(), time.perf_counter()


def records(language: Language, first: int, count: int) -> Iterator[ThreadRecord]:
    return (language.thread(number) for number in range(first, first + count))


def fill(store: Store, derive: Derivation, language: Language, count: int, laps: Laps) -> None:
    """Ledger, epoch, one bulk projection."""
    held = len(store.roots())
    with store.deferred():
        begin = clock()
        for record in records(language, held, count - held):
            store.commit(record, NOW)
        laps.run("ledger" if not held else f"ledger_from_{held}", begin)
        begin = clock()
        store.commit(derive.epoch(store.threads(), store.roots()), NOW)
        laps.run("epoch", begin)
        begin = clock()
    laps.run("project_bulk", begin)


def measure(turns: int, folder: Path, *, grow: int) -> dict[str, object]:
    """Figures of one workspace, in the order in which they were taken."""
    laps, language = Laps(folder / "laps.json"), Language()
    count = turns // PER_THREAD
    path = folder / "workspace"
    if "project_bulk" not in laps.rows:
        derive = Derivation()
        begin = clock()
        store = open_store(path, derive)
        laps.run("open_empty", begin)
        fill(store, derive, language, count, laps)
        begin = clock()
        store.close()
        laps.run("close_after_bulk", begin)
    begin = clock()
    store = open_store(path, Derivation())
    laps.run("open", begin)
    held = len(store.ledger.select("SELECT thread_id FROM thread"))
    for place in range(1, grow + 1):
        record = language.thread(held + place, PER_COMMIT)
        begin = clock()
        store.commit(record, NOW)
        laps.run(f"commit_{place}", begin)
    begin = clock()
    with store.ledger.transaction() as connection:
        refs = [f"thread:{language.thread(0).thread_id}#turn:{n}" for n in range(1, PER_THREAD + 1)]
        store.search.remove(refs)
        store.search.index(refs)
        connection.execute("SELECT 1")
    laps.run("search_remove_and_index_one_thread", begin)
    begin = clock()
    store.close()
    laps.run("close", begin)
    sizes = {file.name: file.stat().st_size for file in sorted(path.iterdir()) if file.is_file()}
    return {"turns": turns, "threads": count, "laps": laps.rows, "bytes": sizes}


def rebuild(folder: Path, laps: Laps) -> None:
    begin = clock()
    store = open_store(folder / "workspace", Derivation())
    laps.run("open_again", begin)
    begin = clock()
    store.rebuild(NOW)
    laps.run("rebuild", begin)
    store.close()


def forget(folder: Path, laps: Laps) -> None:
    """Ten threads go, with every byte of them; then a backup of what is left."""
    workspace = folder / "workspace"
    salt = workspace / SALT
    salt.write_bytes(bytes(32))
    store = open_store(workspace, Derivation())
    gone = [thread_id("scale", f"t{number:07}") for number in range(0, 100, 10)]
    begin = clock()
    store.forget(gone, NOW, salt.read_bytes())
    laps.run("forget_ten_threads", begin)
    store.close()
    begin = clock()
    back_up(workspace, folder / "backup.zip", NOW, "benchmark", force=True)
    laps.run("backup", begin)


def main() -> None:
    turns, folder = int(sys.argv[1]), Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    found = measure(turns, folder, grow=8)
    laps = Laps(folder / "again.json")
    if "--rebuild" in sys.argv:
        rebuild(folder, laps)
    if "--forget" in sys.argv:
        forget(folder, laps)
    found["again"] = laps.rows
    print(json.dumps(found, indent=1))
    if "--keep" not in sys.argv:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
