"""Hypotheses against what later turns of real records say, each record by itself and all pooled.

    python -m benchmarks.dreaming.history NAME=PATH:DAYS... [--cuts 5] [-o FILE]

DAYS is the horizon; ``end`` looks to the end of the record, from dates after 3 to 8 tenths of its
turns. Below the figures of ours stand those of the baselines over all pairs there were, whether
ours chose from them or not: what the record could have told. A file of LoCoMo conversations
(Maharana et al. 2024) becomes one record for each conversation, its first speaker the person;
anything else is read as ``clew ingest`` reads it.
"""

import argparse
import json
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import redirect_stdout
from datetime import UTC, datetime, timedelta
from io import StringIO
from pathlib import Path

from cli.show import evaluating as show
from cli.show import spaced
from dream.evaluation import recalled
from dream.evaluation.report import Cut, Drawn
from dream.evaluation.rivals import NAMES
from dream.evaluation.sides import Pool
from service import evaluating, operations, settings
from service.evaluating import Measured
from service.session import Session

LONG = 3650
"""Days that outlast every record."""


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


def dates(session: Session, cuts: int) -> tuple[datetime, ...]:
    """Equally many turns apart, from 3 to 8 tenths of a record."""
    with session.store("dates") as store:
        said = [turn.at for thread in store.threads() for turn in thread.clean()]
    order = sorted(at for at in said if at is not None)
    share = [0.3 + 0.5 * place / max(cuts - 1, 1) for place in range(cuts)]
    return tuple(sorted({order[int(len(order) * each)] for each in share})) if order else ()


POOLS = (
    Pool("meet", "Question", "Question", apart=True),
    Pool("meet", "Concept", "Concept", apart=True),
    Pool("meet", "Thread", "Concept"),
    Pool("settle", "Thread", "Question"),
)


def possible(cuts: Sequence[Cut]) -> Iterator[str]:
    """By pool and reading: pairs, possible hits, and hits of the first 20 of every baseline."""
    heads = "".join(f"{spaced(name):>24}" for name in NAMES)
    yield f"\n{'first 20 pairs of each date':<52}{'pairs':>8}{'possible':>9}{heads}{'chance':>9}"
    for pool in POOLS:
        for reading, each in (("joined", cuts), ("met", [cut.widened() for cut in cuts])):
            drawn = [Drawn(pool, cut.sides, cut.rivals, cut.met) for cut in each]
            size, hits = sum(len(one.pairs) for one in drawn), sum(one.possible for one in drawn)
            best = [sum(one.best(name, 20) for one in drawn) for name in NAMES]
            chance = sum(
                min(20, len(one.pairs)) * one.possible / len(one.pairs)
                for one in drawn
                if one.pairs
            )
            told = "".join(f"{found:>24.2f}" for found in best)
            yield f"{pool.name:<44}{reading:<8}{size:>8}{hits:>9}{told}{chance:>9.2f}"


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
                to_end = days == "end"
                alone, horizon = Measured(), timedelta(days=LONG if to_end else int(days))
                usual = operations.limits(session)
                at = dates(session, chosen.cuts) if to_end else ()
                evaluating.measure(session, alone, at, chosen.cuts, horizon, usual)
                pooled.cuts += alone.cuts
                pooled.failed += alone.failed
                pooled.undated += alone.undated
                pooled.tally = recalled.added(pooled.tally, alone.tally)
                with redirect_stdout(out):
                    print(f"\n== {own}")
                    show.evaluation(alone.evaluation(horizon.days), as_json=False)
                    print("\n".join(possible(alone.cuts)))
                print(out.getvalue().rpartition("\n== ")[2], flush=True)
    with redirect_stdout(out):
        print("\n== all records pooled")
        show.evaluation(pooled.evaluation(LONG), as_json=False)
        print("\n".join(possible(pooled.cuts)))
    print(out.getvalue().rpartition("\n== ")[2])
    if chosen.out:
        chosen.out.write_text("clew dream eval; benchmarks.dreaming.history\n" + out.getvalue())


if __name__ == "__main__":
    main()
