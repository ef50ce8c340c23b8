"""What reading comes to, in counts: threads, turns, and what became of every record.

``python -m benchmarks.ingest_corpora FOLDER... [-o FILE]`` reads each folder into nothing and
prints one block for it: threads and turns by role, the records by disposition with their sum
beside the records read, and every code with its class. No text, no title, no path is printed:
folders are named by their last part. The exit code is 1 if a sum does not add up.
"""

import argparse
import sys
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from benchmarks.ingest import Nothing
from graphstore.model.conversation import Role
from graphstore.model.record import ThreadRecord
from ingest.model import NOTICE, PART, REPAIR, WHOLE, IngestReport
from ingest.options import Options
from ingest.run import run

NOW = datetime(2100, 1, 1, tzinfo=UTC)
CLASSES = (("lost whole", WHOLE), ("lost in part", PART), ("repaired", REPAIR), ("notice", NOTICE))
DISPOSITIONS = (
    "turn", "interim", "thinking", "tool", "injected", "command", "meta", "duplicate", "empty",
    "lost",
)  # fmt: skip


class Taken(NamedTuple):
    """One folder, read."""

    name: str
    threads: tuple[ThreadRecord, ...]
    report: IngestReport


def taken(folder: Path) -> Taken:
    """Read a folder with the default settings; nothing is kept but the records."""
    given = list(run([str(folder)], Nothing(), Options(salt=b"bench"), NOW))
    threads = tuple(one for one in given if isinstance(one, ThreadRecord))
    report = next(one for one in given if isinstance(one, IngestReport))
    return Taken(folder.name, threads, report)


def adds_up(one: Taken) -> bool:
    """Whether every record of every carrier has exactly one disposition."""
    return all(
        row.records == sum(kind.count for kind in row.dispositions) for row in one.report.carriers
    )


def lines(one: Taken) -> Iterator[str]:
    """The block of a folder."""
    full = [thread for thread in one.threads if thread.turns]
    turns = [turn for thread in full for turn in thread.turns]
    roles = Counter(turn.role for turn in turns)
    on_path = sum(turn.number in set(thread.path) for thread in full for turn in thread.turns)
    links = Counter(link.kind.value for thread in full for link in thread.lineage)
    yield f"{one.name}: {len(one.report.carriers)} files, {len(full)} threads, {len(turns)} turns"
    yield (
        f"  turns         human {roles[Role.HUMAN]}, assistant {roles[Role.ASSISTANT]}"
        f" (interim kept {sum(turn.interim for turn in turns)}), side {roles[Role.OTHER]};"
        f" off the main line {len(turns) - on_path}"
    )
    if links:
        yield "  lineage       " + ", ".join(f"{kind} {links[kind]}" for kind in sorted(links))
    counts = {kind.name: kind.count for kind in one.report.dispositions}
    shown = ", ".join(f"{kind} {counts[kind]}" for kind in DISPOSITIONS if counts.get(kind))
    total = sum(counts.values())
    mark = "=" if total == one.report.records and adds_up(one) else "IS NOT"
    yield f"  records       {one.report.records} {mark} {shown or 0}"
    codes = {code.code: code.count for code in one.report.codes}
    for label, members in CLASSES:
        found = ", ".join(f"{code} {codes[code]}" for code in sorted(codes) if code in members)
        if found:
            yield f"  {label:<13} {found}"
    ignored = ", ".join(f"{kind.name} {kind.count}" for kind in one.report.ignored)
    if ignored or one.report.side_files:
        yield f"  not read      {ignored or 'nothing'}; side files {one.report.side_files}"
    yield f"  exit code     {one.report.exit_code}"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("-o", "--output", type=Path)
    given = parser.parse_args()
    found = [taken(folder) for folder in given.folders]
    text = "\n".join(f"{line}" for one in found for line in (*lines(one), "")).rstrip() + "\n"
    print(text, end="")
    if given.output:
        given.output.write_text(text, "utf-8")
    sys.exit(not all(map(adds_up, found)))


if __name__ == "__main__":
    main()
