"""Recall of evidence turns in long dialogues (LoCoMo, Maharana et al. 2024; CC BY-NC 4.0).

One workspace per conversation, one thread per session. The gold of a question is the set of
evidence ids that exist; questions without one are left out. All methods read the same text.

    python -m benchmarks.recall.locomo PATH/locomo.json [--ablate]
"""

import argparse
import json
import math
import re
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from benchmarks.recall.baselines import METHODS
from benchmarks.recall.workspace import Said, Workspace

CATEGORIES = {1: "several hops", 2: "time", 3: "world knowledge", 4: "one hop", 5: "false premise"}
_EVIDENCE = re.compile(r"D\d+:\d+")
DEPTH = 60


@dataclass(frozen=True, slots=True)
class Asked:
    """One question and the references of its evidence."""

    text: str
    gold: tuple[str, ...]
    category: int


@dataclass(slots=True)
class Conversation:
    """One filled workspace and its questions."""

    workspace: Workspace
    asked: list[Asked]
    turns: int
    left_out: int


@dataclass(slots=True)
class Sums:
    """Sums of the measures over questions."""

    n: int = 0
    values: dict[str, float] = field(default_factory=dict)

    def add(self, measured: dict[str, float]) -> None:
        self.n += 1
        for name, value in measured.items():
            self.values[name] = self.values.get(name, 0.0) + value

    def line(self) -> str:
        return "  ".join(f"{value / max(self.n, 1):.3f}" for value in self.values.values())


def conversations(path: Path, folder: Path) -> Iterator[Conversation]:
    """Fill one workspace after the other."""
    for sample in json.loads(path.read_text("utf-8")):
        home = folder / sample["sample_id"]
        home.mkdir()
        with Workspace(home) as workspace:
            refs: dict[str, str] = {}
            for number, turns, at in _sessions(sample["conversation"]):
                native = f"{sample['sample_id']}:s{number}"
                refs |= workspace.add("locomo", native, turns, started_at=at)
            asked = [
                Asked(qa["question"], gold, qa["category"])
                for qa in sample["qa"]
                if (gold := _gold(qa.get("evidence", []), refs))
            ]
            yield Conversation(workspace, asked, len(refs), len(sample["qa"]) - len(asked))


def _sessions(conversation: dict[str, object]) -> Iterator[tuple[int, list[Said], datetime]]:
    numbers = sorted(
        int(found[1]) for key in conversation if (found := re.fullmatch(r"session_(\d+)", key))
    )
    for number in numbers:
        entries = conversation[f"session_{number}"]
        at = datetime.strptime(
            str(conversation[f"session_{number}_date_time"]), "%I:%M %p on %d %B, %Y"
        ).replace(tzinfo=UTC)
        assert isinstance(entries, list)
        yield number, [_said(entry) for entry in entries], at


def _said(entry: dict[str, str]) -> Said:
    caption = f" [{entry['blip_caption']}]" if entry.get("blip_caption") else ""
    return Said(entry["dia_id"], entry["text"] + caption, speaker=entry["speaker"])


def _gold(evidence: Sequence[str], refs: dict[str, str]) -> tuple[str, ...]:
    keys = {key for text in evidence for key in _EVIDENCE.findall(str(text))}
    return tuple(sorted(refs[key] for key in keys if key in refs))


def measure(ranked: Sequence[str], threads: Sequence[str], gold: Sequence[str]) -> dict[str, float]:
    """Turn and session measures of one ranked list."""
    hits = [ref in gold for ref in ranked[:10]]
    wanted = {_thread(ref) for ref in gold}
    gains = [thread in wanted for thread in threads[:5]]
    ideal = sum(1 / math.log2(n + 2) for n in range(min(5, len(wanted))))
    return {
        "any@5": float(any(hits[:5])),
        "any@10": float(any(hits)),
        "frac@10": sum(hits) / len(gold),
        "MRR@10": 1 / (hits.index(True) + 1) if any(hits) else 0.0,
        "s-any@5": float(any(gains)),
        "s-NDCG@5": sum(g / math.log2(n + 2) for n, g in enumerate(gains)) / ideal,
    }


def _thread(ref: str) -> str:
    return ref.partition("#")[0]


def sessions_of(ranked: Sequence[str]) -> list[str]:
    """Sessions in the order of their best turn."""
    return list(dict.fromkeys(_thread(ref) for ref in ranked))


Method = Callable[[Workspace], Callable[[str], tuple[list[str], list[str]]]]
"""Prepares a workspace, then ranks turns and sessions for one question."""


def run(path: Path, methods: dict[str, Method]) -> None:
    """Measure every method on every conversation and print the table."""
    sums: dict[tuple[str, object], Sums] = {}
    times: dict[str, list[float]] = {name: [] for name in methods}
    counts = {"conversations": 0, "turns": 0, "questions": 0, "left out": 0}
    with tempfile.TemporaryDirectory() as folder:
        for conversation in conversations(path, Path(folder)):
            counts["conversations"] += 1
            counts["turns"] += conversation.turns
            counts["questions"] += len(conversation.asked)
            counts["left out"] += conversation.left_out
            for name, method in methods.items():
                _ask(conversation, name, method, sums, times[name])
    _show(counts, methods, sums, times)


def _ask(
    conversation: Conversation,
    name: str,
    method: Method,
    sums: dict[tuple[str, object], Sums],
    times: list[float],
) -> None:
    answer = method(conversation.workspace)
    for asked in conversation.asked:
        begun = time.perf_counter()
        ranked, threads = answer(asked.text)
        times.append(time.perf_counter() - begun)
        measured = measure(ranked, threads, asked.gold)
        groups: list[object] = ["all five", asked.category]
        if asked.category != 5:
            groups.append("1 to 4")
        for group in groups:
            sums.setdefault((name, group), Sums()).add(measured)


def _show(
    counts: dict[str, int],
    methods: dict[str, Method],
    sums: dict[tuple[str, object], Sums],
    times: dict[str, list[float]],
) -> None:
    print(", ".join(f"{value} {name}" for name, value in counts.items()))
    for group in ("all five", "1 to 4", *CATEGORIES):
        some = next(iter(methods))
        label = f"category {group} ({CATEGORIES[group]})" if isinstance(group, int) else group
        print(f"\n{label}, {sums[some, group].n} questions")
        print(f"{'':24}" + "  ".join(f"{name:>5}" for name in sums[some, group].values))
        for name in methods:
            print(f"{name:24}" + sums[name, group].line())
    print()
    for name, spent in times.items():
        p50, p95 = np.quantile(spent, [0.5, 0.95]) * 1000
        print(f"{name:24}p50 {p50:.1f} ms, p95 {p95:.1f} ms")


def main() -> None:
    """Read the arguments and run."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("path", type=Path)
    parser.add_argument("--only", nargs="*")
    args = parser.parse_args()
    chosen = {n: m for n, m in METHODS.items() if not args.only or n in args.only}
    run(args.path, chosen)


if __name__ == "__main__":
    main()
