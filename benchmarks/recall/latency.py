"""Time of recall over made-up stores, warm, one core: FTS5 alone beside it.

Words follow a Zipf law over 50,000 made-up stems; threads have 20 turns of 30 words. Threads,
turns and text index are written as the ledger file holds them, without records and graph: recall
asks for nothing else, and a million turns would take the graph an hour. Each size also tells
where the time goes, what one more thread costs, and above ``EXACT`` turns how many of the ten
best turns of the full comparison of vectors are kept.

    OPENBLAS_NUM_THREADS=1 python -m benchmarks.recall.latency 10000 100000 1000000
"""

import argparse
import resource
import tempfile
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import orjson

from benchmarks.recall.workspace import Said, Workspace
from graphstore import vectors
from graphstore.model.record import EpochRecord
from graphstore.queries import meaning
from graphstore.queries.cue import content_words
from graphstore.queries.meaning import load
from graphstore.queries.recall import rank, recall

NOW = datetime(2026, 1, 15, 12, tzinfo=UTC)
TURNS = 20
WORDS = 30
CUES = 200
_BODY = {"taint": "human", "fingerprint": "b2:" + "0" * 32}


def vocabulary(size: int) -> list[str]:
    """Pronounceable stems, all different."""
    heads, middles, tails = "bdfgklmnprstv", "aeiou", ("n", "r", "st", "lm", "k", "nd")
    stems = [
        a + b + c + d + e
        for a in heads
        for b in middles
        for c in heads
        for d in middles
        for e in tails
    ]
    return [
        stems[n % len(stems)] + ("" if n < len(stems) else str(n // len(stems)))
        for n in range(size)
    ]


class Language:
    """Made-up words by their chance."""

    def __init__(self) -> None:
        self.words = vocabulary(50_000)
        chance = np.cumsum(1 / np.arange(1, len(self.words) + 1))
        self._chance = chance / chance[-1]
        self._rng = np.random.default_rng(7)

    def turns(self) -> list[str]:
        """Texts of one thread."""
        drawn = np.searchsorted(self._chance, self._rng.random((TURNS, WORDS)))
        return [" ".join(self.words[word] for word in row) for row in drawn]

    def cue(self) -> str:
        """As people ask: five words, from common to rare."""
        places = np.exp(self._rng.uniform(np.log(20), np.log(20_000), 5))
        return " ".join(self.words[int(place)] for place in places)


def fill(workspace: Workspace, turns: int, language: Language) -> None:
    """Rows of threads, turns and index, and the figures of an epoch."""
    connection = workspace.ledger.connection
    some = []
    with workspace.ledger.transaction():
        for thread in range(turns // TURNS):
            name = f"made:t{thread}"
            at = (NOW - timedelta(hours=thread % 9000)).isoformat().replace("+00:00", "Z")
            texts = language.turns()
            some += [(name, text) for text in texts] if thread < 1000 else []
            rows = [_row(name, number, text, at) for number, text in enumerate(texts, start=1)]
            doc = thread * TURNS + 1
            connection.execute("INSERT INTO thread VALUES (?, ?, NULL, ?, ?, '[]')", _head(thread))
            connection.executemany("INSERT INTO turn VALUES (?, ?, ?, ?, ?, ?, ?, 0, ?)", rows)
            connection.executemany(
                "INSERT INTO turn_doc(doc, ref, words) VALUES (?, ?, ?)",
                [(doc + n, row[0], WORDS) for n, row in enumerate(rows)],
            )
            connection.executemany(
                "INSERT INTO turn_fts(rowid, words, bigrams) VALUES (?, ?, '')",
                [(doc + n, text) for n, text in enumerate(texts)],
            )
    tokens = vectors.token_df(some)
    workspace.figures = EpochRecord(
        extractor="made",
        lineages=min(1000, turns // TURNS),
        vector_df=tokens,
    )


def _head(thread: int) -> tuple[str, int, str, str]:
    body = {"source": "made", "project": None}
    return f"made:t{thread}", thread, f"t{thread}", orjson.dumps(body).decode()


def _row(thread: str, number: int, text: str, at: str) -> tuple[object, ...]:
    role = "human" if number % 2 else "assistant"
    body = {**_BODY, "number": number, "role": role, "text": text, "at": at}
    ref = f"thread:{thread}#turn:{number}"
    return ref, thread, number, role, text, at, number, orjson.dumps(body).decode()


def timed(cues: Sequence[str], ask: Callable[[str], object]) -> str:
    """Quantiles of wall and CPU time of one call, warm."""
    for cue in cues:
        ask(cue)
    wall, cpu = [], []
    for cue in cues:
        begun, worked = time.perf_counter(), time.process_time()
        ask(cue)
        cpu.append((time.process_time() - worked) * 1000)
        wall.append((time.perf_counter() - begun) * 1000)
    middle, high = np.quantile(wall, [0.5, 0.95])
    c_middle, c_high = np.quantile(cpu, [0.5, 0.95])
    return f"p50 {middle:.1f} ms, p95 {high:.1f} ms; CPU p50 {c_middle:.1f} ms, p95 {c_high:.1f} ms"


def parts(workspace: Workspace, cues: Sequence[str]) -> None:
    """Where the time of one recall goes."""
    corpus, held = load(workspace)
    every = corpus.main_line

    def words(cue: str) -> None:
        corpus.lexical(workspace.search, workspace.search.terms(content_words(cue)))

    def vectors_of(cue: str) -> None:
        lexical = corpus.lexical(workspace.search, workspace.search.terms(content_words(cue)))
        held.scored(content_words(cue), lexical.scores)

    def ranked(cue: str) -> None:
        found = rank(workspace, corpus, held, cue, every, NOW)
        assert found is not None
        found.top(80)

    for name, ask in (
        ("  wording", words),
        ("  + vectors", vectors_of),
        ("  + ranking", ranked),
    ):
        print(f"  {name:14}{timed(cues, ask)}")


def kept(workspace: Workspace, cues: Sequence[str]) -> None:
    """How many of the ten best of the full comparison the candidates keep."""
    corpus, held = load(workspace)
    if len(corpus) <= meaning.EXACT:
        return
    same = first = 0
    for cue in cues[:50]:
        near = rank(workspace, corpus, held, cue, corpus.main_line, NOW)
        short, held._short = held._short, None  # noqa: SLF001 - the comparison is the point
        full = rank(workspace, corpus, held, cue, corpus.main_line, NOW)
        held._short = short  # noqa: SLF001
        assert near is not None
        assert full is not None
        a, b = near.top(10), full.top(10)
        same += len(set(a) & set(b))
        first += a[:1] == b[:1]
    print(f"  of the ten best of the full comparison {same / 500:.3f} are kept, ", end="")
    print(f"the first in {first / 50:.2f}")


def one_more(workspace: Workspace, language: Language) -> None:
    """CPU of one more thread: text index, then corpus and vectors."""
    load(workspace)
    index, refresh = [], []
    for number in range(5):
        said = [Said(str(n), text) for n, text in enumerate(language.turns())]
        begun = time.process_time()
        workspace.add("made", f"more{number}", said, started_at=NOW)
        index.append((time.process_time() - begun) * 1000)
        begun = time.process_time()
        load(workspace)
        refresh.append((time.process_time() - begun) * 1000)
    print(f"  one more thread of {TURNS} turns, CPU: record and text index ", end="")
    print(f"{np.median(index):.0f} ms, corpus and vectors {np.median(refresh):.0f} ms")


def measure(turns: int) -> None:
    """Fill a store and time both ways of asking."""
    language = Language()
    with tempfile.TemporaryDirectory() as folder, Workspace(Path(folder)) as workspace:
        begun = time.perf_counter()
        fill(workspace, turns, language)
        filled = time.perf_counter() - begun
        begun = time.perf_counter()
        load(workspace)
        opened = time.perf_counter() - begun
        cues = [language.cue() for _ in range(CUES)]
        print(f"{turns} turns: filled in {filled:.1f} s, first use {opened:.2f} s", end="; ")
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(f"peak {peak:.0f} MB", flush=True)
        print(f"  {'FTS5 alone':14}{timed(cues, lambda cue: workspace.search.find(cue, 10))}")
        print(f"  {'recall':14}{timed(cues, lambda cue: recall(workspace, cue, 10, now=NOW))}")
        parts(workspace, cues)
        kept(workspace, cues)
        one_more(workspace, language)


def main() -> None:
    """Measure each size asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("turns", type=int, nargs="+")
    for turns in parser.parse_args().turns:
        measure(turns)


if __name__ == "__main__":
    main()
