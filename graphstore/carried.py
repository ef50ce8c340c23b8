"""Names that threads carry in their headings: who names the tool or the project says nothing."""

import re
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from graphstore.columns import Ints, distinct
from graphstore.model.hubs import FLOOR
from graphstore.model.names import words


def carriers(
    labels: Sequence[str], headings: Sequence[list[Any]], said: tuple[Ints, Ints], lineage: Ints
) -> Ints:
    """How many lineages carry the name of each concept: every word of it stands in a heading.

    ``headings`` are columns of strings or lists of strings, a row per thread; the folders of the
    files that a thread names are read with them. ``said`` is thread and concept of each mention,
    ``lineage`` that of each thread, -1 for a thread that does not count. A word that at most five
    carry is not looked at.
    """
    found = np.zeros(len(labels), np.int64)
    carrying = {
        word: own
        for word, own in _by_word(labels, headings, said, lineage).items()
        if len(own) > FLOOR
    }
    if carrying:
        made_of = re.compile(
            rf"(?:[\W_]*(?:{'|'.join(map(re.escape, carrying))})s?)+[\W_]*", re.IGNORECASE
        )
        for at, label in enumerate(labels):
            own = [carrying.get(word) for word in words(label)] if made_of.fullmatch(label) else []
            if own and all(own):
                found[at] = len(set.intersection(*(each for each in own if each)))
    return found


def _by_word(
    labels: Sequence[str], headings: Sequence[list[Any]], said: tuple[Ints, Ints], lineage: Ints
) -> dict[str, set[int]]:
    """Lineages that carry each word."""
    known: dict[str, tuple[str, ...]] = {}
    found: dict[str, set[int]] = {}
    for name, own in (*_headed(headings, lineage), *_foldered(labels, said, lineage)):
        if name not in known:
            known[name] = words(name)
        for word in known[name]:
            found.setdefault(word, set()).add(own)
    return found


def _headed(headings: Sequence[list[Any]], lineage: Ints) -> Iterable[tuple[str, int]]:
    rows = lineage.tolist()
    pairs: set[tuple[str, int]] = set()
    for column in headings:
        for told, own in zip(column, rows, strict=True):
            if told and own >= 0:
                pairs.update((name, own) for name in ([told] if isinstance(told, str) else told))
    return pairs


def _foldered(
    labels: Sequence[str], said: tuple[Ints, Ints], lineage: Ints
) -> Iterable[tuple[str, int]]:
    """Folders of the files that a lineage names."""
    folders = {
        at: re.split(r"[/\\]", label)[:-1]
        for at, label in enumerate(labels)
        if "/" in label or "\\" in label
    }
    chosen = np.isin(said[1], np.fromiter(folders, np.int64, len(folders)))
    thread, concept = distinct(said[0][chosen], said[1][chosen])
    for own, at in zip(lineage[thread].tolist(), concept.tolist(), strict=True):
        if own >= 0:
            yield from ((name, own) for name in folders[at])
