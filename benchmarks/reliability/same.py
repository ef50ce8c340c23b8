"""Rebuilt is grown, and one engine is the other: canonical exports of real conversations, compared.

``python -m benchmarks.reliability.same FOLDER... [-o FILE]`` takes the threads of each folder
into a new workspace: a third at once, with an epoch; then in parts up to five sixths, another
epoch, and the rest in single commits; Journeys are looked for after each. One dream cycle
follows. Then the graph is made again by the same engine, and by the other one, and the threads
are taken in anew by the other one. All four exports must be the same bytes, and ``verify`` must
find nothing. Only counts and digests are printed. The exit code is 1 where anything differs.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from export import Switches
from export import export as write_export
from graphstore import open_store
from graphstore.ids import digest_bytes
from graphstore.model.record import ThreadRecord
from graphstore.store import Store
from ingest.derive import Derivation
from ingest.options import Options
from ingest.run import run
from service.taking import Nothing, walk
from service.writing import view_of

ROOT = Path(__file__).parents[2]
NOW = datetime(2100, 1, 1, tzinfo=UTC)
ENGINES = ("kuzu", "ladybug")
PARTS, SINGLES = 6, 12


def digest_of(store: Store) -> dict[str, object]:
    """Digest and size of the canonical export, and what ``verify`` says."""
    switches = Switches(with_text=True, with_paths=True, with_hypotheses=True)
    target = store.path / "out.jsonl"
    write_export(view_of(store, switches, NOW), "jsonl", target, force=True)
    content = target.read_bytes()
    target.unlink()
    return {
        "digest": digest_bytes(content),
        "lines": content.count(b"\n"),
        "bytes": len(content),
        "faults": len(store.verify()),
    }


def take(store: Store, derive: Derivation, records: Sequence[ThreadRecord], parts: int) -> int:
    """Commit threads in so many parts; returns the number of parts that changed the graph."""
    size = max(1, -(-len(records) // parts))
    starts = range(0, len(records), size)
    for at in starts:
        with store.deferred():
            for record in records[at : at + size]:
                store.commit(record, NOW)
        walk(store, derive, NOW)
    return len(starts)


def count(store: Store, derive: Derivation) -> None:
    """A new epoch, which makes the graph again."""
    store.commit(derive.epoch(store.threads(), store.roots()), NOW)
    walk(store, derive, NOW)


def grow(folder: Path, workspace: Path, engine: str) -> dict[str, object]:
    """Take a folder in, little by little."""
    found = run([str(folder)], Nothing(), Options(salt=b"bench"), NOW)
    records = [one for one in found if isinstance(one, ThreadRecord)]
    third, most = len(records) // 3, 5 * len(records) // 6
    derive = Derivation()
    with open_store(workspace, derive, engine=engine, anew=True) as store:
        with store.deferred():
            for record in records[:third]:
                store.commit(record, NOW)
            count(store, derive)
        commits = take(store, derive, records[third:most], PARTS)
        count(store, derive)
        commits += take(store, derive, records[most:], SINGLES)
        turns = store.ledger.select("SELECT count(*) FROM turn")[0][0]
        return {"threads": len(records), "turns": turns, "commits": commits, **digest_of(store)}


def again(workspace: Path, engine: str) -> dict[str, object]:
    """Make the graph again from the ledger."""
    with open_store(workspace, Derivation(), engine=engine, anew=True) as store:
        before = digest_of(store)
        store.rebuild(NOW)
        after = digest_of(store)
        return {"before": before, "after": after}


def asked(*words: str) -> dict[str, object]:
    """A worker's answer: the two engines never meet in one process."""
    command = [sys.executable, "-m", "benchmarks.reliability.same", "--work", *words]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(done.stderr)
    answer: dict[str, object] = json.loads(done.stdout)
    return answer


def dream(home: Path) -> None:
    """One dream cycle on the workspace ``default`` of a home."""
    command = [sys.executable, "-m", "cli", "--home", str(home), "dream"]
    subprocess.run(command, cwd=ROOT, capture_output=True, check=True)


def compared(folder: Path, home: Path) -> dict[str, object]:
    """One row of the table: where a folder's exports differ."""
    begun = time.monotonic()
    first, second = ENGINES
    workspace, other = home / "default", home / "other"
    grown = asked("grow", str(folder), str(workspace), first)
    elsewhere = asked("grow", str(folder), str(other), second)
    dream(home)
    rebuilt = asked("again", str(workspace), first)
    moved = asked("again", str(workspace), second)
    dreamt = rebuilt["before"]
    answers = [grown, elsewhere, *rebuilt.values(), *moved.values()]
    same = {
        "grown by the other engine": elsewhere == grown,
        "rebuilt": rebuilt["after"] == dreamt,
        "made by the other engine": moved["after"] == dreamt and moved["before"] == dreamt,
        "sound": all(isinstance(one, dict) and not one["faults"] for one in answers),
    }
    return {
        "folder": folder.name,
        **{name: grown[name] for name in ("threads", "turns", "commits", "lines", "bytes")},
        "lines with dreams": dreamt["lines"] if isinstance(dreamt, dict) else 0,
        **same,
        "wall_s": round(time.monotonic() - begun),
    }


def main() -> None:
    if sys.argv[1:2] == ["--work"]:
        action, *words = sys.argv[2:]
        if action == "grow":
            answer = grow(Path(words[0]), Path(words[1]), words[2])
        else:
            answer = again(Path(words[0]), words[1])
        print(json.dumps(answer))
        return
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("-o", "--output", type=Path)
    given = parser.parse_args()
    rows = []
    for folder in given.folders:
        with tempfile.TemporaryDirectory(prefix="clew-same-") as home:
            rows.append(compared(folder.resolve(), Path(home)))
        print(json.dumps(rows[-1]), flush=True)
        if given.output:
            given.output.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    sys.exit(any(value is False for row in rows for value in row.values()))


if __name__ == "__main__":
    main()
