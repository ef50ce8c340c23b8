"""The hub rule: which concepts are too common to tell anything."""

from collections.abc import Iterable
from functools import cache
from importlib.resources import files
from typing import Final
from unicodedata import normalize

from graphstore import ids
from graphstore.model.knowledge import Concept

FLOOR: Final = 5
"""No concept of fewer lineages is ever a hub."""
SHARE: Final = 4
"""One lineage in four."""
CEILING: Final = 50
SAMPLE: Final = 1000
"""So many ordinary concepts make the quantile meaningful."""
PER_MILLE: Final = 995


def hub_limit(frequencies: Iterable[tuple[int, bool]], lineages: int) -> int:
    """Largest df that a concept may have without being generic.

    ``frequencies`` holds (df, listed) of every concept, where listed means in the stop list or
    marked generic; ``lineages`` is their number in the store or the view. Concepts above a
    quarter of the lineages stay out of the sample, so hubs cannot move the limit that finds them.
    """
    quarter = max(FLOOR, -(-lineages // SHARE))
    sample = sorted(df for df, listed in frequencies if not listed and 1 <= df <= quarter)
    if len(sample) < SAMPLE:
        return min(quarter, CEILING)
    quantile = sample[PER_MILLE * (len(sample) - 1) // 1000]
    return min(quarter, max(CEILING, quantile))


def is_generic(df: int, limit: int, *, listed: bool) -> bool:
    """Whether a concept is hidden: listed, or mentioned by more lineages than the limit."""
    return listed or df > limit


def read_stop_list(text: str) -> frozenset[str]:
    """Labels of a stop list: one a line, ``#`` opens a comment, folded as labels are compared."""
    lines = (line.split("#", 1)[0].strip() for line in text.splitlines())
    return frozenset(fold(line) for line in lines if line)


def generic_ids(concepts: tuple[Concept, ...], lineages: int) -> frozenset[str]:
    """Ids of concepts that are too common to tell anything, over the whole store."""
    stops = stop_list()
    listed = {
        concept.concept_id: concept.generic or fold(concept.label) in stops for concept in concepts
    }
    limit = hub_limit(((c.df, listed[c.concept_id]) for c in concepts), lineages)
    return frozenset(
        c.concept_id for c in concepts if is_generic(c.df, limit, listed=listed[c.concept_id])
    )


def fold(label: str) -> str:
    """The form in which labels and stop words are compared."""
    low = label.casefold()
    return low if low.isascii() else normalize("NFC", low)


@cache
def stop_list() -> frozenset[str]:
    """The shipped stop list."""
    return read_stop_list(files("graphstore.model").joinpath("stop.txt").read_text("utf-8"))


def stop_fingerprint(labels: Iterable[str]) -> str:
    """Content hash of a stop list, part of the identity of every run that used it."""
    return "b2:" + ids.digest([*sorted(labels)])
