"""Do questions that ask the same meet, and others not? Labelled families of questions, one store.

``python -m benchmarks.extract.links [-o FILE]`` puts every question of
``benchmarks/judged/questions.jsonl`` into a thread of its own, all in one store, and looks at the
links. A pair within ``same`` of a family should recur; every other pair of two questions should
not, whether it is of one family (near words, another meaning) or of two. Templates are each told
in six threads with other words after them: no link between them may arise. Families marked
``apart`` were written last and never looked at while rules and cue lists were made.
"""

import argparse
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path

from benchmarks.extract.store import made_of, spoken
from graphstore.ids import question_id
from graphstore.model.knowledge import Asks, Links, LinkType, Question
from graphstore.model.record import ThreadRecord
from graphstore.store import Store
from ingest.derive import Derivation

FILE = Path(__file__).parent.parent / "judged" / "questions.jsonl"
TEMPLATE = "template"
REPEATS = 6
GOAL = 0.85
"""F1 of recurring links at the strong threshold."""
PAIR = 2


@dataclass(frozen=True)
class Family:
    """Questions that ask the same, and others in like words."""

    name: str
    half: str
    language: str
    same: tuple[str, ...]
    other: tuple[str, ...]


@dataclass
class Tally:
    """Pairs by what was found and what is right."""

    hits: int = 0
    misses: int = 0
    wrong: int = 0
    pairs: int = 0
    missed: list[tuple[str, ...]] = field(default_factory=list)
    invented: list[tuple[str, ...]] = field(default_factory=list)

    def f1(self) -> tuple[float, float, float]:
        """Precision, recall, F1."""
        precision = self.hits / max(1, self.hits + self.wrong)
        recall = self.hits / max(1, self.hits + self.misses)
        return precision, recall, 2 * precision * recall / max(1e-9, precision + recall)


def families() -> tuple[Family, ...]:
    """Every family of the file."""
    return tuple(
        Family(row["family"], row["half"], row["language"], tuple(row["same"]), tuple(row["other"]))
        for row in map(json.loads, FILE.read_text("utf-8").splitlines())
    )


def threads(known: tuple[Family, ...]) -> Iterator[ThreadRecord]:
    """Each question in a thread of its own; each template in six."""
    for day, family in enumerate(known):
        if family.language == TEMPLATE:
            for n in range(REPEATS):
                said = (family.same[0], f"Noted, part {n}.", f"Part {n} is of no use to me.")
                yield spoken(f"{family.name}-{n}", said, day)
            continue
        for n, text in enumerate((*family.same, *family.other)):
            yield spoken(f"{family.name}-{n}", (text, "I see."), day)


def recurring(store: Store) -> set[frozenset[str]]:
    """Pairs of question ids that recur by a link."""
    rows = store.edges(Links)
    return {frozenset((row.src, row.dst)) for row in rows if row.link_type is LinkType.RECURRING}


def worded(known: list[Family]) -> dict[str, str]:
    """Texts of questions by their ids."""
    return {question_id(text): text for one in known for text in (*one.same, *one.other)}


def tally(known: list[Family], linked: set[frozenset[str]]) -> Tally:
    """Count pairs of questions, those within a family and those across."""
    found = Tally()
    ids = worded(known)
    same: set[frozenset[str]] = set()
    for family in known:
        names = [question_id(text) for text in family.same]
        same |= {frozenset(pair) for pair in combinations(names, PAIR)}
        within = len(family.same) + len(family.other)
        found.pairs += within * (within - 1) // 2
    mine = {pair for pair in linked if pair <= ids.keys()}
    found.hits = len(mine & same)
    found.misses = len(same - mine)
    found.wrong = len(mine - same)
    found.missed, found.invented = (
        sorted(tuple(sorted(ids[one] for one in pair)) for pair in pairs)
        for pairs in (same - mine, mine - same)
    )
    return found


def templates(store: Store, known: tuple[Family, ...]) -> tuple[int, int]:
    """Links at, and askings of, questions that stand in templates."""
    texts = " ".join(one.same[0] for one in known if one.language == TEMPLATE).casefold()
    inside = {one.question_id for one in store.nodes(Question) if one.text.casefold() in texts}
    links = sum(bool({row.src, row.dst} & inside) for row in store.edges(Links))
    return links, sum(row.dst in inside for row in store.edges(Asks))


def main() -> None:
    """Measure, print, and keep the table if asked to."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-o", "--out", type=Path)
    parser.add_argument("--show", action="store_true", help="print every pair that is wrong")
    given = parser.parse_args()
    known = families()
    with made_of(threads(known)) as store:
        linked = recurring(store)
        heard = {one.question_id for one in store.nodes(Question)}
        epoch = store.epoch()
        band = len(Derivation().borderline(store.ground(), epoch)) if epoch else 0
        fixed, asked = templates(store, known)
    plain = [one for one in known if one.language != TEMPLATE]
    unheard = [text for name, text in worded(plain).items() if name not in heard]
    if unheard:
        print("not heard as a question:", *sorted(unheard), sep="\n  ")
    halves = {
        "seen": [one for one in plain if one.half == "seen"],
        "apart": [one for one in plain if one.half == "apart"],
        "all": plain,
    }
    lines = ["half        families  pairs  same  precision  recall  F1"]
    for name, group in halves.items():
        found = tally(group, linked)
        precision, recall, f1 = found.f1()
        lines.append(
            f"{name:<11} {len(group):>8} {found.pairs:>6} {found.hits + found.misses:>5}"
            f" {precision:>10.3f} {recall:>7.3f}  {f1:.3f}"
        )
        if given.show and name == "seen":
            for title, pairs in (("missed", found.missed), ("invented", found.invented)):
                print(title, *(" | ".join(pair) for pair in pairs), sep="\n  ")
    for language in sorted({one.language for one in plain}):
        found = tally([one for one in plain if one.language == language], linked)
        lines.append(f"{language:<11} " + "  ".join(f"{figure:.3f}" for figure in found.f1()))
    lines.append(f"templates: {fixed} links, {asked} askings heard; borderline pairs: {band}")
    lines.append(f"goal: F1 of all >= {GOAL}, 0 links at templates")
    text = "\n".join(lines)
    print(text)
    if given.out:
        given.out.write_text(text + "\n", "utf-8")


if __name__ == "__main__":
    main()
