"""The graph that a shape is given: levels, hubs, time, arcs, and where refs come from."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeVar

import numpy as np

from graphstore import ids
from graphstore.columns import unique
from graphstore.model.hubs import hub_limit
from graphstore.model.names import may_be_one
from graphstore.model.view import (
    CONCEPT,
    GENERIC,
    NO_DAY,
    STOP,
    THREAD,
    GraphView,
)
from topology import cuts
from topology.cuts import Ints, Longs, Mask
from topology.dense import Dense, dense_groups
from topology.engine import is_available
from topology.level import (
    NO_REF,
    Level,
    node_level,
    quotient_map,
    ref_parts,
    thread_level,
)
from topology.model import (
    REF_LIMIT,
    Communities,
    Control,
    HiddenHub,
    HubRule,
    Limits,
    Truncation,
)
from topology.partition import Cuts
from topology.themes import Themes, themes

DECAY_DAYS = 90
UNKNOWN_RECENCY = 0.5
FEW = 64
"""One node in so many: the edges of a smaller set are looked up node by node."""
STEP = 4096
"""Turns that are looked at first for a larger one."""
_Found = TypeVar("_Found")


@dataclass(frozen=True, slots=True)
class Separation:
    """What a Seed says is apart, for the second proof: taken out, and what must then be reached."""

    level: int
    edges: tuple[tuple[int, int], ...] = ()
    node: int = -1
    pieces: tuple[tuple[int, int], ...] = ()
    """(start, claimed size) of each piece to grow."""
    outside: int = -1
    """A node that no piece may reach."""


@dataclass(slots=True)
class Tally:
    """What a shape counts while it searches."""

    found: dict[str, int] = field(default_factory=dict)
    raw: dict[str, int] = field(default_factory=dict)
    truncated: list[Truncation] = field(default_factory=list)
    controls: list[Control] = field(default_factory=list)
    separations: dict[str, Separation] = field(default_factory=dict)
    """By seed id."""

    def best(self, ranked: list[_Found], most: int, shape: str, what: str) -> list[_Found]:
        """The first few of what is ranked; that there are more is noted."""
        if len(ranked) > most:
            cut = Truncation(shape=shape, what=what, done=most, of=len(ranked))
            self.truncated.append(cut)
        return ranked[:most]


class Structure:
    """Levels and primitives of one view, each computed when first asked for."""

    def __init__(
        self, view: GraphView, limits: Limits, cuts_of: Callable[[Level], Cuts] | None = None
    ) -> None:
        """``cuts_of`` finds bridges and components of a level in parts; None: here."""
        self.view = view
        self.limits = limits
        self.tally = Tally()
        self._cuts_of = cuts_of
        self._parted: dict[int, Cuts] = {}

    # hubs

    @cached_property
    def hub_limit(self) -> int:
        """Largest df of a concept that is not generic."""
        if self.limits.hub_df is not None:
            return self.limits.hub_df
        if not self.view.has_refs:
            return int(self.view.df.max(initial=0))
        concepts = self.view.kind == CONCEPT
        listed = (self.view.flags[concepts] & (GENERIC | STOP)) > 0
        rows = zip(self.view.df[concepts].tolist(), listed.tolist(), strict=True)
        return hub_limit(rows, len(self.view.lineages))

    @cached_property
    def generic(self) -> Mask:
        """Concepts that are hidden from the structural view."""
        listed = (self.view.flags & (GENERIC | STOP)) > 0
        told = np.maximum(self.view.df, self.view.carried)
        hidden: Mask = (self.view.kind == CONCEPT) & (listed | (told > self.hub_limit))
        return hidden

    @cached_property
    def hidden_lineages(self) -> Mask:
        """Lineages of generic concepts alone: only where concepts are lineages of their own."""
        shown = self.view.lineage[~self.generic & (self.view.lineage >= 0)]
        hidden: Mask = np.bincount(shown, minlength=len(self.view.lineages)) == 0
        return hidden

    @cached_property
    def hubs(self) -> tuple[HiddenHub, ...]:
        """Hidden concepts by df, then id."""
        found = [self._hub(position) for position in np.flatnonzero(self.generic).tolist()]
        return tuple(sorted(found, key=lambda hub: (-hub.df, hub.concept_id.encode())))

    def _hub(self, position: int) -> HiddenHub:
        flags, df = int(self.view.flags[position]), int(self.view.df[position])
        listed: HubRule = "marked" if flags & GENERIC else "stop_list"
        counted: HubRule = "df" if df > self.hub_limit else "name"
        rule = listed if flags & (GENERIC | STOP) else counted
        return HiddenHub(concept_id=self.view.ids[position], df=df, rule=rule)

    # levels

    def level(self, number: int) -> Level:
        """Level 0 or 1 without generic concepts."""
        return self._nodes if number == 0 else self._threads

    def whole(self, number: int) -> Level:
        """The same level with generic concepts put back."""
        return self._whole_nodes if number == 0 else self._whole_threads

    @cached_property
    def _nodes(self) -> Level:
        return node_level(self.view, ~self.generic)

    @cached_property
    def _threads(self) -> Level:
        return thread_level(self.view, ~self.generic)

    @cached_property
    def _whole_nodes(self) -> Level:
        return node_level(self.view, np.ones(len(self.view.ids), np.bool_))

    @cached_property
    def _whole_threads(self) -> Level:
        return thread_level(self.view, np.ones(len(self.view.ids), np.bool_))

    # cuts

    def bridges(self, level: Level) -> tuple[Longs, Longs]:
        """Bridges of a level and the nodes on the smaller side of each."""
        if self._cuts_of is None:
            child, tree = level.cover.child[level.bridges], level.forest
            return level.bridges, np.minimum(tree.size[child], tree.total[child] - tree.size[child])
        u, v, *sides = self._in_parts(level).bridges.T
        edges = np.searchsorted(level.u.astype(np.int64) * level.n + level.v, u * level.n + v)
        return edges, np.minimum(*sides)

    def component_sizes(self, level: Level) -> Longs:
        """Nodes of each component, in no order."""
        if self._cuts_of is None:
            return np.bincount(level.components)
        sizes = self._in_parts(level).components[:, 1]
        return np.append(sizes, np.ones(level.n - int(sizes.sum()), np.int64))

    def _in_parts(self, level: Level) -> Cuts:
        assert self._cuts_of is not None  # noqa: S101 - asked for only then
        if level.number not in self._parted:
            self._parted[level.number] = self._cuts_of(level)
        return self._parted[level.number]

    # nodes

    def node_id(self, level: Level, node: int) -> str:
        """Id of a node of a level; the root thread of a contracted lineage."""
        position = int(level.base[node])
        if position < 0:
            return self.view.lineages[int(level.lineage[node])]
        return self.view.ids[position]

    def node_ids(self, level: Level, nodes: Sequence[int]) -> tuple[str, ...]:
        """Ids of several nodes, in the order given."""
        return tuple(self.node_id(level, int(node)) for node in nodes)

    def in_whole(self, level: Level, nodes: Ints) -> Ints:
        """Nodes of a level as nodes of the same level with generic concepts."""
        base = level.base[nodes]
        if level.number == 0:
            return base
        return np.where(base < 0, level.lineage[nodes], self._whole_place[base]).astype(np.int32)

    def hub_ends(self, number: int) -> tuple[Mask, Ints, Ints]:
        """Which nodes of a whole level are generic, and both ends of each of their edges.

        The generic end comes first; an edge between two of them comes twice.
        """
        return self._node_hubs if number == 0 else self._thread_hubs

    @cached_property
    def _node_hubs(self) -> tuple[Mask, Ints, Ints]:
        return self._hub_ends(self._whole_nodes)

    @cached_property
    def _thread_hubs(self) -> tuple[Mask, Ints, Ints]:
        return self._hub_ends(self._whole_threads)

    def _hub_ends(self, whole: Level) -> tuple[Mask, Ints, Ints]:
        own = whole.base >= 0
        hidden = np.zeros(whole.n, np.bool_)
        hidden[own] = self.generic[whole.base[own]]
        hidden[~own] = self.hidden_lineages[whole.lineage[~own]]
        ahead, back = hidden[whole.u], hidden[whole.v]
        hub = np.concatenate((whole.u[ahead], whole.v[back]))
        return hidden, hub, np.concatenate((whole.v[ahead], whole.u[back]))

    @cached_property
    def _whole_place(self) -> Ints:
        return quotient_map(self.view, np.ones(len(self.view.ids), np.bool_))[0]

    @cached_property
    def place(self) -> Ints:
        """Level 1 node of each view position, -1 where it has none."""
        return quotient_map(self.view, ~self.generic)[0]

    def may_be_one(self, a: int, b: int) -> bool:
        """Whether two view nodes may be one thing under two names."""
        return may_be_one(self.view.labels[a], self.view.labels[b])

    # arcs

    @cached_property
    def arcs(self) -> Ints:
        """Distinct directed pairs of level 1 nodes, k x 2, sorted."""
        tail, head = self.place[self.view.arcs[:, 0]], self.place[self.view.arcs[:, 1]]
        kept = (tail >= 0) & (head >= 0) & (tail != head)
        return np.unique(np.column_stack((tail[kept], head[kept])), axis=0)

    @cached_property
    def strong(self) -> Ints:
        """Strongly connected component of each level 1 node in the arc graph."""
        return cuts.strong_components(self.level(1).n, self.arcs[:, 0], self.arcs[:, 1])

    @cached_property
    def dense(self) -> Dense:
        """Dense groups of level 1."""
        return dense_groups(self.level(1), self.limits.raises)

    @cached_property
    def knots(self) -> tuple[frozenset[int], ...]:
        """Nodes of each dense group; none without the engine."""
        if not is_available():
            return ()
        return tuple(frozenset(group.nodes) for group in self.dense.groups)

    # themes

    @cached_property
    def themes(self) -> Themes | None:
        """Communities of level 1; None when they are not asked for, or without the engine."""
        if not self.limits.themes or not is_available():
            return None
        return themes(self.level(1), self.limits.s_min)

    @property
    def communities(self) -> Communities:
        """The account of the communities, if any shape asked for them."""
        found: Themes | None = vars(self).get("themes")
        return found.account if found else Communities()

    def in_two_themes(self, level: Level, a: Ints, b: Ints) -> Mask:
        """Whether pairs of nodes lie in different communities, where that may be claimed."""
        if self.themes is None:
            return np.zeros(len(a), np.bool_)
        if level.number == 1:
            return self.themes.part(a, b)
        one, other = self.place[level.base[a]], self.place[level.base[b]]
        apart: Mask = (one >= 0) & (other >= 0)
        apart[apart] = self.themes.part(one[apart], other[apart])
        return apart

    # time

    @cached_property
    def newest(self) -> int:
        """Newest day of the view; ``NO_DAY`` when nothing has a time."""
        return int(self.view.day.max(initial=NO_DAY))

    def recency(self, day: int) -> float:
        """1 on the newest day of the view, a half 90 days before; a half if unknown."""
        if day == NO_DAY:
            return UNKNOWN_RECENCY
        return 1 / (1 + (self.newest - day) / DECAY_DAYS)

    # refs

    @cached_property
    def thread_ids(self) -> frozenset[str]:
        """Ids of all threads of the view."""
        last = int(np.searchsorted(self.view.kind, THREAD, side="right"))
        return frozenset(self.view.ids[:last])

    @cached_property
    def thread_lineage(self) -> Longs:
        """Lineage of each thread that refs point into; threads outside the view stand alone."""
        threads = np.flatnonzero(self.view.kind == THREAD).tolist()
        lineage = {self.view.ids[at]: int(self.view.lineage[at]) for at in threads}
        found = (lineage.get(name, -1 - at) for at, name in enumerate(self.view.threads))
        return np.fromiter(found, np.int64, len(self.view.threads))

    @cached_property
    def _lineage_by_thread(self) -> dict[str, int]:
        return dict(zip(self.view.threads, self.thread_lineage.tolist(), strict=True))

    def lineage_of_ref(self, ref: str) -> int | str:
        """Lineage of the thread of a ref; a thread that is not in the view stands for itself."""
        thread = ids.thread_of(ref)
        return self._lineage_by_thread.get(thread, thread)

    def ref(self, key: int) -> str:
        """The ref string of a key."""
        thread, turn = ref_parts(key)
        return ids.ref(self.view.threads[thread], turn)

    def key(self, ref: str) -> int:
        """The key of a ref whose thread is in the view."""
        thread, _, turn = ref.removeprefix("thread:").rpartition("#turn:")
        return (self._thread_place[thread] << 32) | int(turn)

    @cached_property
    def _thread_place(self) -> dict[str, int]:
        return {name: at for at, name in enumerate(self.view.threads)}

    def lineages_of(self, keys: Longs) -> Longs:
        """Lineage of each key."""
        found: Longs = self.thread_lineage[keys >> 32]
        return found

    def evidence(self, level: Level, nodes: Ints, first: Sequence[int] = ()) -> Longs:
        """Keys of turns that speak for a set of nodes alone, those given first in front.

        A turn speaks for the set if it states a relation inside of it, or if it is a turn of one
        of its threads, questions or waypoints. A concept's own smallest turn may lie anywhere.
        Of a large set, only the first turns are told: as many as a Seed can take.
        """
        head = np.array(first, np.int64)
        if len(nodes) * FEW < level.n:
            own = level.ref[nodes[level.kind[nodes] != CONCEPT]]
            edges = level.edge_ref[level.edges_within(nodes)]
            return distinct(np.concatenate((head, np.sort(np.concatenate((own, edges))))))
        inside = np.zeros(level.n, np.bool_)
        inside[nodes] = True
        keys, one, other = level.spoken
        step = STEP
        found = keys[:step][inside[one[:step]] & inside[other[:step]]]
        while step < len(keys) and not self._suffices(found):
            step *= 8
            found = keys[:step][inside[one[:step]] & inside[other[:step]]]
        return distinct(np.concatenate((head, found)))

    def _suffices(self, keys: Longs) -> bool:
        """Whether sorted keys hold all that a Seed can take of them."""
        real = unique(keys[keys != NO_REF])
        return len(real) >= 2 * REF_LIMIT and len(unique(self.lineages_of(real))) >= REF_LIMIT

    def around(self, level: Level, node: int) -> Longs:
        """Keys of turns that speak for one node: its own, then those of its edges."""
        edges = np.sort(level.edge_ref[level.edges_at(node)])
        return distinct(np.concatenate((level.ref[node : node + 1], edges)))

    def turns(self, level: Level, edges: Sequence[int]) -> Longs:
        """Keys of the turns that state the given edges."""
        return distinct(np.sort(level.edge_ref[list(edges)]))


def distinct(keys: Longs) -> Longs:
    """The keys that are turns, each once, in the order of their first place."""
    real = keys[keys != NO_REF]
    _, first = np.unique(real, return_index=True)
    kept: Longs = real[np.sort(first)]
    return kept
