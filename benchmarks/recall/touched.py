"""Given one coding session, find the others that touched a common rare file, paths hidden.

The sessions go through the real pipeline into a real store. Between reader and commit every
token with a slash or backslash and every file name with an extension becomes a space, and lists
of touched paths are emptied; so neither concepts nor index nor vectors can hold a path. Rare
files were touched by 2 to 10 threads; lineage mates are never candidates.

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
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from graphstore import ids
from graphstore.model.conversation import Thread, ToolUse, Turn
from graphstore.model.record import ThreadRecord
from graphstore.queries.corpus import load
from graphstore.queries.resonance import resonance
from graphstore.store import Store, open_store
from ingest.derive import Derivation
from ingest.options import Options
from ingest.run import run
from service.taking import Nothing, renew, walk

NOW = datetime(2026, 3, 1, tzinfo=UTC)
_PATH = re.compile(r"\S*[/\\]\S*|\b[\w.-]*\w\.[A-Za-z]\w{0,5}\b")
_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
RARE = range(2, 11)

Ranking = Callable[[str], list[str]]


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


def fill(store: Store, folder: Path) -> None:
    """Ingest the sessions with their paths hidden."""
    derive = Derivation()
    with store.deferred():
        for product in run((str(folder),), Nothing(), Options(), NOW):
            if isinstance(product, ThreadRecord):
                store.commit(hide(product), NOW)
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


def by_resonance(store: Store, roots: dict[str, str]) -> Ranking:
    """Resonance as users get it; a lineage stands for all of its threads."""
    members = defaultdict(list)
    for thread, root in sorted(roots.items()):
        members[root].append(thread)

    def rank(thread: str) -> list[str]:
        found = resonance(store, thread, 60, now=NOW).found
        return [name for answer in found for name in members[roots[answer.thread_id]]]

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
    rows = meaning.static.embed(_whole(store, name) for name in names)

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


def main() -> None:
    """Fill a store, rank with every method, print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("gold", type=Path)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as home, open_store(Path(home), Derivation()) as store:
        begun = time.perf_counter()
        fill(store, args.folder)
        threads = tuple(store.threads())
        touched = gold_of(args.gold, threads)
        roots = store.roots()
        names = sorted(name for name in touched if touched[name])
        print(f"{len(threads)} threads, {len(set(roots.values()))} lineages, {len(names)} with")
        print(f"rare files; filled in {time.perf_counter() - begun:.1f} s")
        every = sorted(touched)
        methods = {
            "random": by_chance(every),
            "BM25 whole threads": by_bm25(store, every),
            "static vectors": by_vectors(store, every),
            "clew resonance": by_resonance(store, roots),
        }
        _table(methods, touched, roots, names)


def _table(
    methods: dict[str, Ranking],
    touched: dict[str, set[str]],
    roots: dict[str, str],
    names: Sequence[str],
) -> None:
    relevant = {
        name: {
            other
            for other in names
            if roots[other] != roots[name] and touched[other] & touched[name]
        }
        for name in names
    }
    asked = [name for name in names if relevant[name]]
    print(
        f"{len(asked)} sessions asked, {sum(map(len, relevant.values())) / len(asked):.1f} relevant"
    )
    print(f"{'':24}P@5    R@10   NDCG@10")
    for label, rank in methods.items():
        sums: defaultdict[str, float] = defaultdict(float)
        begun = time.perf_counter()
        for name in asked:
            ranked = [o for o in rank(name) if o in touched and roots[o] != roots[name]]
            for measured, value in measure(ranked, relevant[name]).items():
                sums[measured] += value / len(asked)
        spent = (time.perf_counter() - begun) / len(asked) * 1000
        print(f"{label:24}" + "  ".join(f"{v:.3f}" for v in sums.values()) + f"  {spent:.0f} ms")


if __name__ == "__main__":
    main()
