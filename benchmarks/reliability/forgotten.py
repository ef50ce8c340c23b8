"""Nothing of what was forgotten is in any file: real conversations, taken in and taken out.

``python -m benchmarks.reliability.forgotten FOLDER... [-o FILE]`` takes each folder into a new
workspace for each step, runs one dream cycle, and lets go of ten threads (those whose hashed ids
come first), of the largest project, or of everything before the median day. After each, every file
is searched for the pieces of the removed turns that no kept turn holds, ``verify`` must find
nothing, and another run over the same folder must not bring a forgotten thread back. Only counts
are printed. The exit code is 1 where something was left.
"""

import argparse
import json
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from benchmarks.reliability.same import dream
from graphstore import open_store
from graphstore.errors import NotFound
from graphstore.forgetting import SALT
from graphstore.ids import digest
from graphstore.store import Store
from ingest.derive import Derivation
from ingest.options import Options
from service.forgetting import chosen, forgotten
from service.taking import take

NOW = datetime(2100, 1, 1, tzinfo=UTC)
TEN = 10


def ten(store: Store) -> tuple[str, ...]:
    """Ten threads that no order decides."""
    return tuple(sorted(sorted(store.roots(), key=digest)[:TEN]))


def project(store: Store) -> tuple[str, ...]:
    """The threads of the project that has most of them; none without projects."""
    held = Counter(each.project for each in store.threads() if each.project)
    return chosen(store, "project", held.most_common(1)[0][0], lineage=False) if held else ()


def earlier(store: Store) -> tuple[str, ...]:
    """Threads that ended before the day on which the median one began; none without such."""
    days = sorted(each.started_at for each in store.threads() if each.started_at)
    with suppress(NotFound):
        return chosen(store, "before", days[len(days) // 2].date().isoformat(), lineage=False)
    return ()


Pick = Callable[[Store], tuple[str, ...]]
STEPS: tuple[tuple[str, Pick], ...] = (
    ("ten threads", ten),
    ("a project", project),
    ("before a day", earlier),
)


def step(folder: Path, workspace: Path, name: str, pick: Pick) -> dict[str, object]:
    """Let go of some threads; what is left of them, and what comes back."""
    salt = (workspace / SALT).read_bytes()
    derive = Derivation()
    with open_store(workspace, derive) as store:
        threads = pick(store)
        begun = time.process_time()
        done = forgotten(store, threads, salt, NOW, also_notes=False)
        spent = time.process_time() - begun
        faults = len(store.verify())
        take(store, derive, (str(folder),), Options(salt=salt), NOW)
        back = sum(store.thread(one) is not None for one in threads)
    counts = {row.name: row.count for row in done.counts}
    return {
        "folder": folder.name,
        "forgotten": name,
        "threads": len(threads),
        **{kind: counts[kind] for kind in ("turns", "questions", "concepts", "hypotheses")},
        "pieces": done.pieces,
        "left": len(done.left),
        "faults": faults,
        "came back": back,
        "cpu_s": round(spent, 1),
    }


def row(folder: Path, home: Path, name: str, pick: Pick) -> dict[str, object]:
    """One step on one folder, in a workspace of its own: what one takes is there for the other."""
    workspace = home / "default"
    workspace.mkdir(mode=0o700)
    (workspace / SALT).write_bytes(bytes(32))
    derive = Derivation()
    with open_store(workspace, derive) as store:
        take(store, derive, (str(folder),), Options(salt=bytes(32)), NOW)
    dream(home)
    return step(folder, workspace, name, pick)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("-o", "--output", type=Path)
    given = parser.parse_args()
    found = []
    for folder in given.folders:
        for name, pick in STEPS:
            with tempfile.TemporaryDirectory(prefix="clew-forgotten-") as home:
                found.append(row(folder.resolve(), Path(home), name, pick))
            print(json.dumps(found[-1]), flush=True)
        if given.output:
            given.output.write_text("".join(json.dumps(each) + "\n" for each in found), "utf-8")
    sys.exit(any(each["left"] or each["faults"] or each["came back"] for each in found))


if __name__ == "__main__":
    main()
