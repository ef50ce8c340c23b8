"""Where lineages meet: who asks what, who speaks of what, read once from the view."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
from numpy.typing import NDArray

from graphstore.model.hubs import hub_limit, is_generic
from graphstore.model.view import (
    CONCEPT,
    GENERIC,
    QUESTION,
    STOP,
    THREAD,
    GraphView,
)

Ints = NDArray[np.int64]
_TURN_BITS: Final = 32


@dataclass(frozen=True, slots=True)
class Said:
    """Turns that speak of nodes of one kind: parallel arrays."""

    lineage: Ints
    node: Ints
    turn: Ints
    """Thread position and turn number as one."""


class Meeting:
    """Lineages, their questions and their specific concepts."""

    def __init__(self, view: GraphView) -> None:
        self.view = view
        self.turns = (view.turn_thread.astype(np.int64) << _TURN_BITS) | view.turn_number
        self.lineage_of_turn = view.lineage[view.turn_thread].astype(np.int64)

    def lineage_of(self, thread: str) -> int | None:
        """Number of the lineage of a thread, None when it says nothing here."""
        try:
            return int(self.view.lineage[self.view.threads.index(thread)])
        except ValueError:
            return None

    def _said(self, rows: NDArray[np.bool_], node: NDArray[np.int32]) -> Said:
        at = np.flatnonzero(rows[self.view.turn_edge])
        edge = self.view.turn_edge[at]
        return Said(self.lineage_of_turn[at], node[edge].astype(np.int64), self.turns[at])

    @cached_property
    def asked(self) -> Said:
        """Turns that ask a question."""
        kind_u, kind_v = self.view.kind[self.view.u], self.view.kind[self.view.v]
        return self._said((kind_u == THREAD) & (kind_v == QUESTION), self.view.v)

    @cached_property
    def spoken(self) -> Said:
        """Turns that speak of a specific concept, through whichever node holds it."""
        kind_u, kind_v = self.view.kind[self.view.u], self.view.kind[self.view.v]
        concept = np.where(kind_u == CONCEPT, self.view.u, self.view.v).astype(np.int32)
        rows = (kind_u == CONCEPT) != (kind_v == CONCEPT)
        return self._said(rows & self.specific[concept], concept)

    @cached_property
    def specific(self) -> NDArray[np.bool_]:
        """Concepts of two lineages or more that are not generic."""
        view = self.view
        concepts = view.kind == CONCEPT
        listed = (view.flags & (GENERIC | STOP)) > 0
        pairs = zip(view.df[concepts].tolist(), listed[concepts].tolist(), strict=True)
        limit = hub_limit(pairs, len(view.lineages))
        told = [
            not is_generic(df, limit, listed=on_list)
            for df, on_list in zip(view.df.tolist(), listed.tolist(), strict=True)
        ]
        specific: NDArray[np.bool_] = concepts & (view.df > 1) & np.array(told, np.bool_)
        return specific

    def adamic_adar(self, mine: int) -> NDArray[np.float64]:
        """Per lineage: sum over shared specific concepts of 1 / log2(1 + df).

        Adamic and Adar, Friends and neighbors on the Web (2003), with lineages for persons,
        over the root of each side's own sum, so that long threads do not meet everything.
        """
        width = len(self.view.ids)
        pairs = np.unique(self.spoken.lineage * width + self.spoken.node)
        lineage, concept = np.divmod(pairs, max(width, 1))
        worth = 1 / np.log2(1 + np.maximum(self.view.df[concept], 1))
        count = len(self.view.lineages)
        whole = np.bincount(lineage, worth, count)
        own = np.isin(concept, concept[lineage == mine])
        shared = np.bincount(lineage[own], worth[own], count)
        shared[mine] = 0
        scale: NDArray[np.float64] = np.sqrt(np.maximum(whole, 1e-9))
        return np.where(whole > 0, shared / scale, 0.0)

    def questions_of(self, lineage: int) -> Ints:
        """Question nodes asked in a lineage."""
        return np.unique(self.asked.node[self.asked.lineage == lineage])

    def first_turn(self, said: Said, lineage: int, node: int) -> str:
        """Reference of the first turn of a lineage that speaks of a node; there must be one."""
        return self.ref(int(said.turn[(said.lineage == lineage) & (said.node == node)].min()))

    def ref(self, turn: int) -> str:
        """Reference of a turn given as one number."""
        thread = self.view.threads[turn >> _TURN_BITS]
        return f"thread:{thread}#turn:{turn & ((1 << _TURN_BITS) - 1)}"

    def shared_concepts(self, mine: int, theirs: int) -> list[int]:
        """Specific concepts of both, the rarest first, ties by position."""
        spoken = self.spoken
        both = np.intersect1d(
            spoken.node[spoken.lineage == mine], spoken.node[spoken.lineage == theirs]
        )
        return sorted(both.tolist(), key=lambda node: (int(self.view.df[node]), node))

    def journeys_of(self) -> dict[str, set[int]]:
        """Lineages that each Journey passes through."""
        threads = {name: at for at, name in enumerate(self.view.threads)}
        found: dict[str, set[int]] = {}
        for route in self.view.journeys:
            places = (ref.removeprefix("thread:").partition("#")[0] for ref in route.refs)
            found[route.journey_id] = {int(self.view.lineage[threads[name]]) for name in places}
        return found


def ranking(scores: NDArray[np.float64], names: Iterable[str]) -> list[str]:
    """Names with a score above 0, best first, ties by name."""
    rounded = np.round(scores, 6).tolist()
    held = [(score, name) for score, name in zip(rounded, names, strict=True) if score > 0]
    return [name for _, name in sorted(held, key=lambda pair: (-pair[0], pair[1]))]
