"""Where lineages meet: who asks what, who speaks of what, read once from the view."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
from numpy.typing import NDArray

from graphstore.ids import ref as ref_of
from graphstore.ids import thread_of
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
Floats = NDArray[np.float64]
_TURN_BITS: Final = 32


@dataclass(frozen=True, slots=True)
class Said:
    """Turns that speak of nodes of one kind: parallel arrays by lineage, node, turn."""

    lineage: Ints
    node: Ints
    turn: Ints
    """Thread position and turn number as one."""

    def within(self, lineage: int) -> slice:
        """The rows of one lineage."""
        start, end = np.searchsorted(self.lineage, (lineage, lineage + 1)).tolist()
        return slice(start, end)

    def first_turn(self, lineage: int, node: int) -> int:
        """The first turn of a lineage that speaks of a node; there must be one."""
        rows = self.within(lineage)
        return int(self.turn[rows.start + int(np.searchsorted(self.node[rows], node))])


class Meeting:
    """Lineages, their questions and their specific concepts."""

    def __init__(self, view: GraphView) -> None:
        self.view = view
        self.turns = (view.turn_thread.astype(np.int64) << _TURN_BITS) | view.turn_number
        self.lineage_of_turn = view.lineage[view.turn_thread].astype(np.int64)
        self._threads = {name: at for at, name in enumerate(view.threads)}

    def lineage_of(self, thread: str) -> int | None:
        """Number of the lineage of a thread, None when it says nothing here."""
        at = self._threads.get(thread)
        return None if at is None else int(self.view.lineage[at])

    def _said(self, rows: NDArray[np.bool_], node: NDArray[np.int32]) -> Said:
        at = np.flatnonzero(rows[self.view.turn_edge])
        edge = self.view.turn_edge[at]
        found = self.lineage_of_turn[at], node[edge].astype(np.int64), self.turns[at]
        order = np.lexsort(found[::-1])
        return Said(*(column[order] for column in found))

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

    def adamic_adar(self, mine: int) -> Floats:
        """Per lineage: sum over shared specific concepts of 1 / log2(1 + df).

        Adamic and Adar, Friends and neighbors on the Web (2003), with lineages for persons,
        over the root of each side's own sum, so that long threads do not meet everything.
        """
        lineage, concept, worth, whole = self._worths
        held = np.zeros(len(self.view.ids), np.bool_)
        held[self.spoken.node[self.spoken.within(mine)]] = True
        own = held[concept]
        shared = np.bincount(lineage[own], worth[own], len(whole))
        shared[mine] = 0
        scale: Floats = np.sqrt(np.maximum(whole, 1e-9))
        return np.where(whole > 0, shared / scale, 0.0)

    @cached_property
    def _worths(self) -> tuple[Ints, Ints, Floats, Floats]:
        """Each lineage with each of its concepts, what that is worth, and the sum by lineage."""
        pairs = np.unique(np.stack((self.spoken.lineage, self.spoken.node), axis=1), axis=0)
        lineage, concept = pairs[:, 0].copy(), pairs[:, 1].copy()
        worth: Floats = 1 / np.log2(1 + np.maximum(self.view.df[concept], 1).astype(np.float64))
        whole: Floats = np.bincount(lineage, worth, len(self.view.lineages)).astype(np.float64)
        return lineage, concept, worth, whole

    @cached_property
    def _asked_by_node(self) -> tuple[Ints, Ints]:
        pairs = np.unique(np.stack((self.asked.node, self.asked.lineage), axis=1), axis=0)
        return pairs[:, 0].copy(), pairs[:, 1].copy()

    def askers(self, question: int) -> Ints:
        """Lineages that ask a question, ascending."""
        nodes, lineages = self._asked_by_node
        start, end = np.searchsorted(nodes, (question, question + 1)).tolist()
        return lineages[start:end]

    def questions_of(self, lineage: int) -> Ints:
        """Question nodes asked in a lineage."""
        return np.unique(self.asked.node[self.asked.within(lineage)])

    def ref(self, turn: int) -> str:
        """Reference of a turn given as one number."""
        return ref_of(self.view.threads[turn >> _TURN_BITS], turn & ((1 << _TURN_BITS) - 1))

    def shared_concepts(self, mine: int, theirs: int) -> list[int]:
        """Specific concepts of both, the rarest first, ties by position."""
        spoken = self.spoken
        both = np.intersect1d(spoken.node[spoken.within(mine)], spoken.node[spoken.within(theirs)])
        return sorted(both.tolist(), key=lambda node: (int(self.view.df[node]), node))

    @cached_property
    def journeys(self) -> dict[str, frozenset[int]]:
        """Lineages that each Journey passes through."""
        found: dict[str, frozenset[int]] = {}
        for route in self.view.journeys:
            found[route.journey_id] = frozenset(
                int(self.view.lineage[self._threads[thread_of(ref)]]) for ref in route.refs
            )
        return found


def ranking(scores: Floats, names: Iterable[str]) -> list[str]:
    """Names with a score above 0, best first, ties by name."""
    rounded = np.round(scores, 6).tolist()
    held = [(score, name) for score, name in zip(rounded, names, strict=True) if score > 0]
    return [name for _, name in sorted(held, key=lambda pair: (-pair[0], pair[1]))]
