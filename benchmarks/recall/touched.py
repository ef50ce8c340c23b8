"""Given one coding session, find the others that touched a common rare file, paths hidden.

The sessions go through the real pipeline into a real store. Between reader and commit every
token with a slash or backslash and every file name with an extension becomes a space, and lists
of touched paths are emptied; so neither concepts nor index nor vectors can hold a path: the run
counts the names of gold files that are left. Rare files were touched by 2 to 10 threads; lineage
mates are never candidates. The same is measured with paths left in, and the weight of nearness in
time is chosen on one half of the sessions and reported on the other. Intervals: 2,000 bootstrap
resamples of the sessions, 95 in a hundred.

    python -m benchmarks.recall.touched SESSIONS_FOLDER GOLD.json
"""

import argparse
import hashlib
import json
import math
import re
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Self

import numpy as np
from numpy.typing import NDArray

from graphstore import ids
from graphstore.model.conversation import Thread, ToolUse, Turn
from graphstore.model.record import ThreadRecord
from graphstore.queries.evidence import known
from graphstore.queries.meaning import load
from graphstore.queries.resonance import NEARNESS, resonance
from graphstore.store import Store, open_store
from ingest.derive import Derivation
from ingest.options import Options
from ingest.run import run
from service.taking import Nothing, renew, walk

NOW = datetime(2026, 3, 1, tzinfo=UTC)
_PATH = re.compile(r"\S*[/\\]\S*|\b[\w.-]*\w\.[A-Za-z]\w{0,5}\b")
_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
RARE = range(2, 11)

TRIED = (0.0, 0.5, 1.0, 1.5, 2.0)

Ranking = Callable[[str], list[str]]
Table = NDArray[np.float64]


def hide(record: ThreadRecord) -> ThreadRecord:
    """The same thread without any path."""
    return record.replace(
        title=None if record.title is None else _PATH.sub(" ", record.title),
        turns=tuple(_hidden(turn) for turn in record.turns),
        citations=(),
    )


def _hidden(turn: Turn) -> Turn:
    text = _PATH.sub(" ", turn.text)
    return turn.replace(
        text=text,
        fingerprint=ids.fingerprint(turn.role.value, text),
        tools=ToolUse(counts=turn.tools.counts),
        links=(),
        masked=(),
    )


def fill(store: Store, folder: Path, *, hidden: bool) -> None:
    """Ingest the sessions, their paths hidden or not."""
    derive = Derivation()
    with store.deferred():
        for product in run((str(folder),), Nothing(), Options(), NOW):
            if isinstance(product, ThreadRecord):
                store.commit(hide(product) if hidden else product, NOW)
        renew(store, derive, NOW)
    walk(store, derive, NOW)


def gold_of(path: Path, threads: Sequence[Thread]) -> dict[str, set[str]]:
    """Rare files by thread; rows of one thread are united, rows without a thread left out."""
    by_uuid: defaultdict[str, set[str]] = defaultdict(set)
    for row in json.loads(path.read_text("utf-8")):
        found = _UUID.search(row["session_id"])
        if found is not None:
            by_uuid[found[0]].update(row["files_touched"] or ())
    touched: defaultdict[str, set[str]] = defaultdict(set)
    for thread in threads:
        for native in (thread.native_id, *thread.native_ids):
            found = _UUID.search(native)
            if found is not None and thread.source == "claude-code":
                touched[thread.thread_id] |= by_uuid.get(found[0], set())
    count = Counter(file for files in touched.values() for file in files)
    return {
        name: {file for file in files if count[file] in RARE} for name, files in touched.items()
    }


def measure(ranked: Sequence[str], relevant: set[str]) -> dict[str, float]:
    """Precision at 5, recall and NDCG at 10."""
    gains = [name in relevant for name in ranked[:10]]
    ideal = sum(1 / math.log2(n + 2) for n in range(min(10, len(relevant))))
    return {
        "P@5": sum(gains[:5]) / 5,
        "R@10": sum(gains) / len(relevant),
        "NDCG@10": sum(g / math.log2(n + 2) for n, g in enumerate(gains)) / ideal,
    }


def by_resonance(store: Store, roots: dict[str, str], nearness: float = NEARNESS) -> Ranking:
    """Resonance as users get it; a lineage stands for all of its threads."""
    members = defaultdict(list)
    for thread, root in sorted(roots.items()):
        members[root].append(thread)

    def rank(thread: str) -> list[str]:
        found = resonance(store, thread, 60, now=NOW, nearness=nearness).found
        return [name for answer in found for name in members[roots[answer.thread_id]]]

    return rank


def by_time(store: Store, names: Sequence[str]) -> Ranking:
    """The threads of one project by the time between them, and nothing else."""
    held = known(store)
    place = held.meeting.lineage_of

    def rank(thread: str) -> list[str]:
        mine = place(thread)
        if mine is None:
            return []
        gaps = held.spells.gaps(mine, len(held.meeting.view.lineages))
        found = {
            name: float(gaps[at])
            for name in names
            if name != thread and (at := place(name)) is not None and np.isfinite(gaps[at])
        }
        return sorted(found, key=lambda name: (found[name], name))

    return rank


def by_bm25(store: Store, names: Sequence[str]) -> Ranking:
    """bm25s over whole threads, the whole thread as question."""
    import bm25s
    import Stemmer

    texts = {name: _whole(store, name) for name in names}
    options = {
        "stopwords": "en",
        "stemmer": Stemmer.Stemmer("english"),
        "show_progress": False,
    }
    retriever = bm25s.BM25()
    retriever.index(bm25s.tokenize([texts[name] for name in names], **options), show_progress=False)

    def rank(thread: str) -> list[str]:
        tokens = bm25s.tokenize([texts[thread]], **options)
        found, _ = retriever.retrieve(tokens, k=len(names), show_progress=False)
        return [names[n] for n in found[0] if names[n] != thread]

    return rank


def by_vectors(store: Store, names: Sequence[str]) -> Ranking:
    """Cosine of the static vectors of whole threads."""
    _, meaning = load(store)
    rows = meaning.embedding.embed(_whole(store, name) for name in names)

    def rank(thread: str) -> list[str]:
        scores = rows @ rows[names.index(thread)]
        order = np.argsort(-scores, kind="stable").tolist()
        return [names[n] for n in order if names[n] != thread]

    return rank


def by_chance(names: Sequence[str]) -> Ranking:
    """A fixed order that knows nothing."""

    def rank(thread: str) -> list[str]:
        def lot(name: str) -> str:
            return hashlib.sha256(f"{thread}|{name}".encode()).hexdigest()

        return sorted((name for name in names if name != thread), key=lot)

    return rank


def _whole(store: Store, name: str) -> str:
    thread = store.thread(name)
    return "" if thread is None else "\n".join(turn.text for turn in thread.clean())


def left_over(store: Store, touched: dict[str, set[str]]) -> int:
    """Threads in which the name of one of their own gold files still stands."""
    count = 0
    for name, files in touched.items():
        text = _whole(store, name)
        count += any(file.rpartition("/")[2] in text for file in files)
    return count


@dataclass(frozen=True, slots=True)
class Task:
    """Whom to ask for, and what is right."""

    touched: dict[str, set[str]]
    roots: dict[str, str]
    relevant: dict[str, set[str]]

    @classmethod
    def of(cls, touched: dict[str, set[str]], roots: dict[str, str]) -> Self:
        relevant = {
            name: {
                other
                for other in touched
                if roots[other] != roots[name] and touched[other] & touched[name]
            }
            for name in sorted(touched)
        }
        return cls(touched, roots, {name: others for name, others in relevant.items() if others})

    def scores(self, rank: Ranking) -> Table:
        """One row per session asked: precision at 5, recall at 10, NDCG at 10."""
        rows = []
        for name, relevant in self.relevant.items():
            ranked = [
                o for o in rank(name) if o in self.touched and self.roots[o] != self.roots[name]
            ]
            rows.append(list(measure(ranked, relevant).values()))
        return np.array(rows)


def interval(values: Table) -> tuple[float, float]:
    """Bootstrap interval of the mean over sessions."""
    rng = np.random.default_rng(7)
    means = values[rng.integers(0, len(values), (2000, len(values)))].mean(axis=1)
    low, high = np.quantile(means, [0.025, 0.975]).tolist()
    return low, high


def times_best(ours: Table, baselines: dict[str, Table]) -> str:
    """How many times the NDCG of the best baseline, with its interval."""
    best = max(baselines, key=lambda label: float(baselines[label].mean()))
    theirs = baselines[best]
    rng = np.random.default_rng(7)
    drawn = rng.integers(0, len(ours), (2000, len(ours)))
    low, high = np.quantile(ours[drawn].mean(axis=1) / theirs[drawn].mean(axis=1), [0.025, 0.975])
    return f"{ours.mean() / theirs.mean():.2f} ({low:.2f} to {high:.2f}) times {best}"


def crossed(task: Task, store: Store) -> None:
    """Choose the weight of nearness on one half of the sessions, report the other."""
    tried = {w: task.scores(by_resonance(store, task.roots, w))[:, 2] for w in TRIED}
    print("weight of nearness: " + ", ".join(f"{w}: {v.mean():.3f}" for w, v in tried.items()))
    names = list(task.relevant)
    half = np.array([hashlib.sha256(name.encode()).digest()[0] % 2 == 1 for name in names])
    for chosen_on, told in ((half, ~half), (~half, half)):
        best = max(tried, key=lambda w: float(tried[w][chosen_on].mean()))
        print(
            f"  chosen on {chosen_on.sum()} sessions: {best}; on the other {told.sum()}:"
            f" {tried[best][told].mean():.3f}, without nearness {tried[0.0][told].mean():.3f}"
        )


def shown(folder: Path, gold: Path, *, hidden: bool) -> None:
    """Fill a store, rank with every method, print the table."""
    with tempfile.TemporaryDirectory() as home, open_store(Path(home), Derivation()) as store:
        fill(store, folder, hidden=hidden)
        threads = tuple(store.threads())
        touched, roots = gold_of(gold, threads), store.roots()
        task = Task.of(touched, roots)
        print(f"paths {'hidden' if hidden else 'visible'}: {len(threads)} threads, ", end="")
        print(f"{len(set(roots.values()))} lineages, {len(task.relevant)} asked, ", end="")
        print(
            f"{sum(map(len, task.relevant.values())) / len(task.relevant):.1f} relevant each; ",
            end="",
        )
        print(f"names of own files left in {left_over(store, touched)} threads")
        every = sorted(touched)
        baselines = {
            "random": by_chance(every),
            "BM25 whole threads": by_bm25(store, every),
            "static vectors": by_vectors(store, every),
        }
        methods = baselines | {
            "nearness in time alone": by_time(store, every),
            "resonance, no nearness": by_resonance(store, roots, 0.0),
            "clew resonance": by_resonance(store, roots),
        }
        print(f"{'':24}P@5    R@10   NDCG@10")
        ndcg = {}
        for label, rank in methods.items():
            begun = time.process_time()
            scores = task.scores(rank)
            spent = (time.process_time() - begun) / len(scores) * 1000
            low, high = interval(scores[:, 2])
            ndcg[label] = scores[:, 2]
            means = "  ".join(f"{value:.3f}" for value in scores.mean(axis=0))
            print(f"{label:24}{means} ({low:.3f} to {high:.3f})  {spent:.0f} ms CPU")
        alone = {label: ndcg[label] for label in baselines}
        for label in ("resonance, no nearness", "clew resonance"):
            print(f"{label}: NDCG@10 is {times_best(ndcg[label], alone)}")
        if hidden:
            crossed(task, store)


def main() -> None:
    """Measure with paths hidden, then with paths left in."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("gold", type=Path)
    args = parser.parse_args()
    for hidden in (True, False):
        shown(args.folder, args.gold, hidden=hidden)


if __name__ == "__main__":
    main()
