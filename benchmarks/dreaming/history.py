"""Hypotheses against what later turns of real records say, each record by itself and all pooled.

    python -m benchmarks.dreaming.history NAME=PATH:DAYS... [--cuts 5] [-o FILE]

DAYS is the horizon. A file of LoCoMo conversations (Maharana et al. 2024) becomes one record for
each conversation, its first speaker the person; anything else is read as ``clew ingest`` reads it.
"""

import argparse
import json
import tempfile
from collections.abc import Iterator
from contextlib import redirect_stdout
from datetime import UTC, datetime, timedelta
from io import StringIO
from pathlib import Path

from cli.show import evaluating as show
from dream.evaluation import recalled
from service import evaluating, operations, settings
from service.evaluating import Measured
from service.session import Session


def records(name: str, path: Path, folder: Path) -> Iterator[tuple[str, Path]]:
    """(name, what to read) of each record."""
    if path.suffix != ".json":
        yield name, path
        return
    for sample in json.loads(path.read_text("utf-8")):
        told = folder / f"{sample['sample_id']}.jsonl"
        rows = dialogues(sample["sample_id"], sample["conversation"])
        told.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
        yield str(sample["sample_id"]), told


def dialogues(name: str, said: dict[str, object]) -> Iterator[dict[str, object]]:
    """One conversation for each session of a LoCoMo record."""
    number = 1
    while isinstance(turns := said.get(f"session_{number}"), list):
        day = str(said[f"session_{number}_date_time"])
        at = datetime.strptime(day, "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC)
        yield {
            "id": f"{name}-{number}",
            "messages": [
                {
                    "role": "user" if turn["speaker"] == said["speaker_a"] else "assistant",
                    "content": turn["text"],
                    "created_at": (at + timedelta(minutes=place)).isoformat(),
                }
                for place, turn in enumerate(turns)
            ],
        }
        number += 1


def main() -> None:
    """Measure and tell."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("records", nargs="+", metavar="NAME=PATH:DAYS")
    parser.add_argument("--cuts", type=int, default=5)
    parser.add_argument("-o", "--out", type=Path)
    chosen = parser.parse_args()
    out, pooled = StringIO(), Measured()
    with tempfile.TemporaryDirectory() as made:
        for word in chosen.records:
            name, _, rest = word.partition("=")
            path, _, days = rest.rpartition(":")
            for own, source in records(name, Path(path), Path(made)):
                loaded = settings.load({"store.home": f"{made}/{own}"}, Path(made))
                session = Session(loaded=loaded, folder=Path(made))
                operations.ingest(session, (str(source),))
                alone, horizon = Measured(), timedelta(days=int(days))
                usual = operations.limits(session)
                evaluating.measure(session, alone, (), chosen.cuts, horizon, usual)
                pooled.cuts += alone.cuts
                pooled.failed += alone.failed
                pooled.undated += alone.undated
                pooled.tally = recalled.added(pooled.tally, alone.tally)
                with redirect_stdout(out):
                    print(f"\n== {own}")
                    show.evaluation(alone.evaluation(int(days)), as_json=False)
                print(out.getvalue().rpartition("\n== ")[2], flush=True)
    with redirect_stdout(out):
        print("\n== all records pooled")
        longest = max(int(word.rpartition(":")[2]) for word in chosen.records)
        show.evaluation(pooled.evaluation(longest), as_json=False)
    print(out.getvalue().rpartition("\n== ")[2])
    if chosen.out:
        chosen.out.write_text("clew dream eval; benchmarks.dreaming.history\n" + out.getvalue())


if __name__ == "__main__":
    main()
