"""Shares and agreement of what judges said of seeds or hypotheses, independently of one another.

``python -m benchmarks.judgements benchmarks/judged/seeds.jsonl``: a line holds ``group`` (the shape
or rule) and ``verdicts``, one word a judge. Agreement is Fleiss' kappa (1971).
"""

import json
import sys
from collections import Counter
from pathlib import Path


def kappa(rows: list[list[str]]) -> float:
    """Agreement beyond chance of two judges or more on each row; 1.0 where all agree."""
    judges = len(rows[0])
    totals = Counter(word for row in rows for word in row)
    chance = sum((count / (judges * len(rows))) ** 2 for count in totals.values())
    pairs = judges * (judges - 1)
    agreed = sum(
        sum(count * (count - 1) for count in Counter(row).values()) / pairs for row in rows
    )
    return 1.0 if chance == 1 else (agreed / len(rows) - chance) / (1 - chance)


def table(rows: list[dict[str, list[str] | str]], good: str) -> list[str]:
    """A line per group: how many, share of ``good`` by each judge, by most, by all."""
    groups: dict[str, list[list[str]]] = {}
    for row in rows:
        for name in (str(row["group"]), "all"):
            groups.setdefault(name, []).append(list(row["verdicts"]))
    lines = [f"{'':<24}{'n':>4}  each judge            most   all"]
    for name, said in sorted(groups.items(), key=lambda pair: (pair[0] == "all", pair[0])):
        judges = len(said[0])
        each = " ".join(
            f"{sum(row[at] == good for row in said) / len(said):.2f}" for at in range(judges)
        )
        most = sum(2 * row.count(good) > judges for row in said) / len(said)
        every = sum(row.count(good) == judges for row in said) / len(said)
        lines.append(f"{name:<24}{len(said):>4}  {each:<20}  {most:.2f}   {every:.2f}")
    return lines


def main() -> None:
    """Print the table of one file."""
    rows = [json.loads(line) for line in Path(sys.argv[1]).read_text("utf-8").splitlines()]
    said = [row["verdicts"] for row in rows]
    good = sys.argv[2] if len(sys.argv) > 2 else "worth"
    print(f"share of {good!r}")
    print("\n".join(table(rows, good)))
    print(f"kappa {kappa(said):.2f}" if len(said[0]) > 1 else "one judge")


if __name__ == "__main__":
    main()
