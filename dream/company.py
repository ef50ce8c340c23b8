"""What a concept keeps company with elsewhere: the ground of every "missing here"."""

from collections.abc import Iterable
from dataclasses import dataclass

from dream.index import Index
from graphstore.model.knowledge import ConceptKind

LEAST, MOST = 3, 4
"""Concepts and lineages that a company needs; so many absent concepts are offered."""
SPOKEN = (ConceptKind.TERM, ConceptKind.ENTITY)
"""Kinds that an inquiry can be said never to have looked at; a file or a symbol is no topic."""


@dataclass(frozen=True, slots=True)
class Company:
    """Turns outside that name a concept together with some of the own ones."""

    own: tuple[str, ...]
    """Own concepts it comes with, rarest first."""
    refs: tuple[str, ...]
    lineages: int
    support: float
    """Sum of idf of the own concepts."""


def companies(
    index: Index, own: Iterable[str], inside: frozenset[str], only: str | None = None
) -> dict[str, Company]:
    """By concept: the turns outside some lineages in which it meets own concepts."""
    mine = set(own)
    met: dict[str, set[str]] = {}
    where: dict[str, set[str]] = {}
    for concept in sorted(mine):
        for ref in index.concept_refs.get(concept, ()):
            if index.lineage(ref) not in inside:
                for other in index.turn_concepts[ref]:
                    if other not in mine and only in (None, other) and index.is_specific(other):
                        met.setdefault(other, set()).add(concept)
                        where.setdefault(other, set()).add(ref)
    return {
        each: Company(
            own=index.rarest(met[each]),
            refs=tuple(sorted(where[each], key=index.when)),
            lineages=len(index.lineages_of(where[each])),
            support=round(sum(index.idf(one) for one in sorted(met[each])), 6),
        )
        for each in sorted(met)
    }


def absent(index: Index, own: Iterable[str], inside: frozenset[str]) -> tuple[str, ...]:
    """Concepts that come with >= 3 own ones in >= 3 other lineages and are not written inside."""
    found = companies(index, own, inside)
    order = sorted(found, key=lambda each: (-found[each].support, each))
    kept = (
        each
        for each in order
        if len(found[each].own) >= LEAST
        and found[each].lineages >= LEAST
        and index.concepts[each].kind in SPOKEN
        and is_unsaid(index, each, inside)
    )
    return tuple(each for each, _ in zip(kept, range(MOST), strict=False))


def is_unsaid(index: Index, concept: str, inside: Iterable[str]) -> bool:
    """Whether no lineage writes a concept's label, even where it is not kept as a concept."""
    label = index.concepts[concept].label
    return not any(index.says(lineage, label) for lineage in sorted(inside))
