"""Sheets for judging what extraction found, and what two judges made of them.

``python -m benchmarks.extract.sample draw FOLDER -o SHEET [--turns N] [--text]`` ingests a folder
and draws human turns by the hashes of their refs: the same ones in every run. One line a turn:
its ref, the ids of its questions with intent and status, and empty places for a judge. ``--text``
adds the words, for reading on one's own machine: such a sheet is never kept.

``python -m benchmarks.extract.sample score SHEET [SECOND]`` counts precision and recall of one
filled sheet, and how far two judges agree. ``benchmarks/judged/README.md`` says how to judge.
"""

import argparse
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.extract.store import ingested
from graphstore.ids import digest
from graphstore.model.knowledge import Asks, Question
from graphstore.store import Store

Row = dict[str, Any]
TURNS = 200


def rows(store: Store, turns: int, *, text: bool) -> Iterator[Row]:
    """Turns in the order of their hashes."""
    questions = {one.question_id: one for one in store.nodes(Question)}
    asked: dict[str, list[str]] = {}
    for edge in store.edges(Asks):
        asked.setdefault(edge.src, []).append(edge.dst)
    human = [
        (thread.ref(turn.number), turn.text)
        for thread in store.threads()
        for turn in thread.clean()
        if turn.role.value == "human"
    ]
    human.sort(key=lambda pair: digest(pair[0]))
    for ref, words in human[:turns]:
        row: Row = {
            "ref": ref,
            "found": [
                {
                    "question": name,
                    "intent": questions[name].intent,
                    "status": questions[name].status.value,
                    "right": None,
                }
                for name in sorted(asked.get(ref, ()))
            ],
            "missed": None,
        }
        if text:
            row["text"] = words
            for one in row["found"]:
                one["text"] = questions[one["question"]].text
        yield row


def read(sheet: Path) -> list[Row]:
    """The judged rows of a sheet."""
    found = [json.loads(line) for line in sheet.read_text("utf-8").splitlines()]
    return [row for row in found if row["missed"] is not None]


def figures(judged: list[Row]) -> str:
    """Precision and recall of questions."""
    right = sum(one["right"] is True for row in judged for one in row["found"])
    wrong = sum(one["right"] is False for row in judged for one in row["found"])
    missed = sum(row["missed"] for row in judged)
    return (
        f"{len(judged)} turns: {right} right, {wrong} wrong, {missed} missed;"
        f" precision {right / max(1, right + wrong):.3f},"
        f" recall {right / max(1, right + missed):.3f}"
    )


def agreement(first: list[Row], second: list[Row]) -> str:
    """Share of questions that two judges see alike, and Cohen's kappa."""
    mine, other = (
        {
            (row["ref"], one["question"]): one["right"]
            for row in sheet
            for one in row["found"]
            if one["right"] is not None
        }
        for sheet in (first, second)
    )
    both = sorted(mine.keys() & other.keys())
    if not both:
        return "no question was judged twice"
    seen = sum(mine[key] == other[key] for key in both) / len(both)
    yes = [sum(sheet[key] for key in both) / len(both) for sheet in (mine, other)]
    chance = yes[0] * yes[1] + (1 - yes[0]) * (1 - yes[1])
    kappa = (seen - chance) / (1 - chance) if chance < 1 else 1.0
    return f"{len(both)} questions judged twice: {seen:.3f} alike, kappa {kappa:.2f}"


def main() -> None:
    """Draw a sheet, or score filled ones."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("act", choices=("draw", "score"))
    parser.add_argument("paths", nargs="+", type=Path)
    parser.add_argument("-o", "--out", type=Path)
    parser.add_argument("--turns", type=int, default=TURNS)
    parser.add_argument("--text", action="store_true")
    given = parser.parse_args()
    if given.act == "draw":
        with ingested(tuple(map(str, given.paths))) as store:
            lines = [
                json.dumps(row, ensure_ascii=False)
                for row in rows(store, given.turns, text=given.text)
            ]
        text = "\n".join(lines) + "\n"
        given.out.write_text(text, "utf-8") if given.out else print(text)
        return
    sheets = [read(path) for path in given.paths]
    for path, sheet in zip(given.paths, sheets, strict=True):
        print(path.name, figures(sheet))
    if len(sheets) > 1:
        print(agreement(sheets[0], sheets[1]))


if __name__ == "__main__":
    main()
