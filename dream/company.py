"""What a concept keeps company with elsewhere: the ground of every "missing here"."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from dream.index import Index
from graphstore.model.knowledge import ConceptKind

LEAST, MOST = 3, 4
"""Concepts and lineages that a company needs; so many absent concepts are offered."""
TOGETHER = 2
"""Own topics that a concept meets in one lineage: fewer there are no company."""
WEIGHTY = 12
"""So many concepts of a thread stand for what it is about."""
HUMAN_TURNS = 3
"""A thread of fewer looked at nothing for long."""
BREAK = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
PART = re.compile(r"[^\W_]+")
SPOKEN = (ConceptKind.TERM, ConceptKind.ENTITY)
"""Kinds that an inquiry can be said never to have looked at; a file or a symbol is no topic."""
COMPOUND = re.compile(r"\w[\s-]\w|[^\W\d_]\d|\w[A-Z]|[\u3040-\u30ff\u3400-\u9fff]{3}")
"""A name of several words, or one written like a name: one plain word is no topic by itself."""


@dataclass(frozen=True, slots=True)
class Company:
    """Turns outside that name a concept together with some of the own ones."""

    own: tuple[str, ...]
    """Own topics it comes with, rarest first."""
    refs: tuple[str, ...]
    lineages: int
    """Those in which it comes with at least two of them."""
    support: float
    """Sum of idf of the own topics."""
    by_person: bool
    """Whether a person named it there; what only answers list is nobody's topic."""


def companies(
    index: Index, own: Iterable[str], inside: frozenset[str], only: str | None = None
) -> dict[str, Company]:
    """By concept: the turns outside some lineages in which it meets own topics."""
    mine = set(own)
    met: dict[str, dict[str, set[str]]] = {}
    where: dict[str, set[str]] = {}
    for concept in sorted(mine):
        # that a file comes with something says where work was done, not on what
        spoken = index.concepts[concept].kind in SPOKEN
        for ref in index.concept_refs.get(concept, ()) if spoken else ():
            if (root := index.lineage(ref)) not in inside:
                for other in index.turn_concepts[ref]:
                    if other not in mine and only in (None, other) and index.is_specific(other):
                        met.setdefault(other, {}).setdefault(root, set()).add(concept)
                        where.setdefault(other, set()).add(ref)
    return {each: company(index, each, met[each], where[each]) for each in sorted(met)}


def company(
    index: Index, concept: str, met: Mapping[str, set[str]], refs: Iterable[str]
) -> Company:
    """The company of one concept, labels inside one another counted once."""
    every = distinct(index, set().union(*met.values()))
    apart = {each for each in every if not nested(index, each, concept)}
    close = {root: own & apart for root, own in met.items() if len(own & apart) >= TOGETHER}
    own = index.rarest(set().union(*close.values()))
    kept = sorted((ref for ref in refs if index.lineage(ref) in close), key=index.when)
    return Company(
        own=own,
        refs=tuple(kept),
        lineages=len(close),
        support=round(sum(index.idf(each) for each in own), 6),
        by_person=any(index.turns[ref].role == "human" for ref in kept),
    )


def distinct(index: Index, concepts: Iterable[str]) -> tuple[str, ...]:
    """Specific concepts, of labels inside one another only the longest, rarest first."""
    kept: list[str] = []
    ranked = index.rarest(concepts)
    for each in sorted(ranked, key=lambda one: -len(words(index, one))):
        if not any(nested(index, each, other) for other in kept):
            kept.append(each)
    return index.rarest(kept)


def nested(index: Index, one: str, other: str) -> bool:
    """Whether one of two labels holds all words of the other."""
    mine, theirs = words(index, one), words(index, other)
    return mine <= theirs or theirs <= mine


def words(index: Index, concept: str) -> frozenset[str]:
    """Words of a label; of a symbol or a path, its parts."""
    parts = BREAK.sub(" ", index.concepts[concept].label)
    return frozenset(PART.findall(parts.casefold()))


def absent(index: Index, own: Iterable[str], inside: frozenset[str]) -> tuple[str, ...]:
    """Concepts that come with >= 3 own ones in >= 3 other lineages and are not written inside."""
    found = companies(index, own, inside)
    order = sorted(found, key=lambda each: (-found[each].support, each))
    kept = (
        each
        for each in order
        if len(found[each].own) >= LEAST
        and found[each].lineages >= LEAST
        and found[each].by_person
        and is_topic(index, each)
        and is_unsaid(index, each, inside)
    )
    return tuple(each for each, _ in zip(kept, range(MOST), strict=False))


def is_topic(index: Index, concept: str) -> bool:
    """Whether a concept is something an inquiry could have looked at."""
    node = index.concepts[concept]
    return node.kind in SPOKEN and COMPOUND.search(node.label) is not None


def about(index: Index, lineage: str) -> tuple[str, ...]:
    """The specific concepts that most weigh in a lineage; none for one of few human turns."""
    refs = index.lineage_turns.get(lineage, ())
    human = sum(index.turns[ref].role == "human" for ref in refs)
    return index.weighty(refs)[:WEIGHTY] if human >= HUMAN_TURNS else ()


def is_unsaid(index: Index, concept: str, inside: Iterable[str]) -> bool:
    """Whether no lineage writes a concept's label, even where it is not kept as a concept."""
    label = index.concepts[concept].label
    return not any(index.says(lineage, label) for lineage in sorted(inside))
