"""Recall of evidence turns in long dialogues (LoCoMo, Maharana et al. 2024; CC BY-NC 4.0).

One workspace per conversation, one thread per session. The gold of a question is the set of
evidence ids that exist; questions without one are left out. All methods read the same text.

s- measures rank sessions. s-NDCG@5 is over gains of 1 for each gold session, discount
1 / log2(rank + 1), against the best order of as many of the gold sessions as fit (Jaervelin and
Kekaelaeinen 2002). Published figures often mean something else by it, so two more are shown:
s-N2 does not discount the second rank (Burges' and LongMemEval's DCG), s-Nr compares with the
best order of what was found, so that a gold session not found costs nothing.

Intervals: 2,000 bootstrap resamples of the questions, 95 in a hundred. ``--ablate`` takes one
part of recall away at a time.

    python -m benchmarks.recall.locomo PATH/locomo.json [--ablate]
"""

import argparse
import json
import math
import re
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from benchmarks.recall.ablation import ablations
from benchmarks.recall.baselines import METHODS, MODELS
from benchmarks.recall.workspace import Said, Workspace

CATEGORIES = {1: "several hops", 2: "time", 3: "world knowledge", 4: "one hop", 5: "false premise"}
FALSE_PREMISE = 5
_EVIDENCE = re.compile(r"D\d+:\d+")


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


Measures = dict[str, float]


def interval(values: Sequence[float]) -> tuple[float, float]:
    """Bootstrap interval of a mean."""
    rng = np.random.default_rng(7)
    held = np.array(values)
    means = held[rng.integers(0, len(held), (2000, len(held)))].mean(axis=1)
    low, high = np.quantile(means, [0.025, 0.975]).tolist()
    return low, high


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


def measure(ranked: Sequence[str], threads: Sequence[str], gold: Sequence[str]) -> Measures:
    """Turn and session measures of one ranked list."""
    hits = [ref in gold for ref in ranked[:10]]
    wanted = {_thread(ref) for ref in gold}
    gains = [thread in wanted for thread in threads[:5]]
    best = [True] * min(5, len(wanted))
    return {
        "any@5": float(any(hits[:5])),
        "any@10": float(any(hits)),
        "frac@10": sum(hits) / len(gold),
        "MRR@10": 1 / (hits.index(True) + 1) if any(hits) else 0.0,
        "s-any@5": float(any(gains)),
        "s-NDCG@5": _dcg(gains) / _dcg(best),
        "s-N2@5": _dcg(gains, 0) / _dcg(best, 0),
        "s-Nr@5": _dcg(gains) / max(_dcg(sorted(gains, reverse=True)), 1e-9),
    }


def _dcg(gains: Sequence[bool], shift: int = 1) -> float:
    """Discounted cumulative gain; ``shift`` 0 leaves the second rank undiscounted."""
    return sum(
        1.0 if rank == 1 else 1 / math.log2(rank + shift)
        for rank, gain in enumerate(gains, start=1)
        if gain
    )


def _thread(ref: str) -> str:
    return ref.partition("#")[0]


Method = Callable[[Workspace], Callable[[str], tuple[list[str], list[str]]]]
"""Prepares a workspace, then ranks turns and sessions for one question."""


Group = str | int
Results = dict[tuple[str, Group], list[Measures]]


def run(path: Path, methods: dict[str, Method], groups: Sequence[Group]) -> None:
    """Measure every method on every conversation and print the table."""
    results: Results = defaultdict(list)
    times: dict[str, list[float]] = {name: [] for name in methods}
    counts = {"conversations": 0, "turns": 0, "questions": 0, "left out": 0}
    with tempfile.TemporaryDirectory() as folder:
        for conversation in conversations(path, Path(folder)):
            counts["conversations"] += 1
            counts["turns"] += conversation.turns
            counts["questions"] += len(conversation.asked)
            counts["left out"] += conversation.left_out
            for name, method in methods.items():
                _ask(conversation, name, method, results, times[name])
    print(", ".join(f"{value} {name}" for name, value in counts.items()))
    for group in groups:
        _table(group, methods, results)
    print()
    for name, spent in times.items():
        p50, p95 = np.quantile(spent, [0.5, 0.95]) * 1000
        print(f"{name:24}p50 {p50:.1f} ms, p95 {p95:.1f} ms CPU")


def _ask(
    conversation: Conversation, name: str, method: Method, results: Results, times: list[float]
) -> None:
    answer = method(conversation.workspace)
    for asked in conversation.asked:
        begun = time.process_time()
        ranked, threads = answer(asked.text)
        times.append(time.process_time() - begun)
        measured = measure(ranked, threads, asked.gold)
        groups: list[Group] = ["all five", asked.category]
        if asked.category != FALSE_PREMISE:
            groups.append("1 to 4")
        for group in groups:
            results[name, group].append(measured)


def _table(group: Group, methods: Iterable[str], results: Results) -> None:
    label = f"category {group} ({CATEGORIES[group]})" if isinstance(group, int) else group
    names = list(methods)
    measures = list(results[names[0], group][0])
    print(f"\n{label}, {len(results[names[0], group])} questions")
    print(f"{'':24}" + " ".join(f"{name:>8}" for name in measures))
    for name in names:
        rows = results[name, group]
        values = {m: [row[m] for row in rows] for m in measures}
        print(f"{name:24}" + " ".join(f"{np.mean(found):8.3f}" for found in values.values()))
    # of the last: what users get
    bounds = [interval(found) for found in values.values()]
    print(f"{'  from':24}" + " ".join(f"{low:8.3f}" for low, _ in bounds))
    print(f"{'  to':24}" + " ".join(f"{high:8.3f}" for _, high in bounds))


def main() -> None:
    """Read the arguments and run."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("path", type=Path)
    parser.add_argument("--only", nargs="*")
    parser.add_argument("--ablate", action="store_true")
    args = parser.parse_args()
    if args.ablate:
        run(args.path, ablations(), ("all five",))
        return
    chosen = {n: m for n, m in METHODS.items() if not args.only or n in args.only}
    chosen |= {n: m for n, m in MODELS.items() if n in (args.only or ())}
    run(args.path, chosen, ("all five", "1 to 4", *CATEGORIES))


if __name__ == "__main__":
    main()
