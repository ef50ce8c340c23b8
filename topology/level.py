"""One level of the graph as arrays, and the primitives computed on it once."""

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from graphstore.columns import unique
from graphstore.model.view import CONCEPT, NO_DAY, PLAIN, THREAD, VOICED, GraphView
from topology import cuts, engine
from topology.blocks import Blocks, blocks
from topology.cuts import Ints, Longs, Mask
from topology.model import LevelNumber, Limits

if TYPE_CHECKING:
    from scipy.sparse import csr_array

NO_REF: Final = np.iinfo(np.int64).max
"""Key of a turn that is not there; it sorts behind every turn."""
TURNS_TOLD: Final = 2
"""Turns of an assistant that tell of a thing as one of a human does."""
_TURN_BITS: Final = 32


def ref_keys(thread: Ints, turn: Ints) -> Longs:
    """(thread position, turn) as one sortable number; ``NO_REF`` where the thread is -1."""
    key = (thread.astype(np.int64) << _TURN_BITS) | turn.astype(np.int64)
    return np.where(thread < 0, NO_REF, key)


def ref_parts(key: int) -> tuple[int, int]:
    """Thread position and turn of one key."""
    return key >> _TURN_BITS, key & ((1 << _TURN_BITS) - 1)


@dataclass(frozen=True)
class Level:
    """Nodes 0..n-1 in canonical order, collapsed edges sorted by (u, v)."""

    number: LevelNumber
    base: Ints
    """View position of each node; -1 for a lineage contracted to one node."""
    kind: Ints
    lineage: Ints
    day: Ints
    flags: Ints
    df: Ints
    """Lineages of a concept; number of neighbours that are concepts for a lineage."""
    ref: Longs
    u: Ints
    v: Ints
    weight: Ints
    roles: Ints
    edge_ref: Longs

    @property
    def n(self) -> int:
        """Number of nodes."""
        return len(self.base)

    @cached_property
    def matrix(self) -> "csr_array[Any, tuple[int, int]]":
        """Adjacency; the value is the edge position + 1."""
        return cuts.adjacency(self.n, self.u, self.v)

    @cached_property
    def degree(self) -> Longs:
        """Sum of the weights of the edges of each node."""
        both = np.concatenate((self.u, self.v))
        total = np.bincount(both, np.concatenate((self.weight, self.weight)), self.n)
        return total.astype(np.int64)

    @cached_property
    def forest(self) -> cuts.Forest:
        """Breadth-first forest."""
        return cuts.forest(self.matrix, self.components)

    @cached_property
    def components(self) -> Ints:
        """Component number of each node."""
        return cuts.components(cuts.halves(self.n, self.u, self.v))

    @cached_property
    def heads(self) -> Mask:
        """One thread of each lineage: their sum is a number of lineages."""
        threads = np.flatnonzero(self.kind == THREAD)
        _, first = np.unique(self.lineage[threads], return_index=True)
        found = np.zeros(self.n, np.bool_)
        found[threads[first]] = True
        return found

    @cached_property
    def told(self) -> Mask:
        """Edges that may carry a Seed: a human turn states them, or two turns do.

        What an assistant names once in passing is not what a thread is about.
        """
        found: Mask = ((self.roles & VOICED) > 0) | (self.weight >= TURNS_TOLD)
        return found

    @cached_property
    def plain(self) -> Mask:
        """Concepts that are a common word alone: they mean one thing here and another there."""
        found: Mask = (self.kind == CONCEPT) & ((self.flags & PLAIN) > 0)
        return found

    @cached_property
    def holds(self) -> Mask:
        """Edges that a cut may rest on: of a common word a human says them, of a name anybody."""
        plain = self.plain[self.u] | self.plain[self.v]
        named = (self.kind[self.u] == CONCEPT) | (self.kind[self.v] == CONCEPT)
        voiced = (self.roles & VOICED) > 0
        found: Mask = np.where(plain, voiced, self.told | named)
        return found

    def are_enough(self, lineages: Longs, limits: Limits) -> Mask:
        """Whether so many lineages make a side or an island; any do in a graph without threads.

        What one thread alone says hangs together by its nature: to part it tells nothing.
        """
        enough: Mask = lineages >= (limits.side_threads if self.heads.any() else 0)
        return enough

    @cached_property
    def cover(self) -> cuts.Cover:
        """Cover hash of each edge."""
        return cuts.cover(self.forest, self.u, self.v)

    @cached_property
    def bridges(self) -> Longs:
        """Positions of the bridges."""
        return cuts.bridges(self.cover)

    @cached_property
    def two_cuts(self) -> cuts.Rings:
        """2-edge-cut classes in ring order."""
        return cuts.rings(self.forest, self.cover)

    @cached_property
    def graph(self) -> engine.Graph:
        """The level in igraph."""
        return engine.Graph(self.n, self.u, self.v)

    @cached_property
    def blocks(self) -> Blocks:
        """Biconnected components."""
        return blocks(self.forest, self.u, self.v)

    @cached_property
    def coreness(self) -> Ints:
        """Coreness of each node."""
        return self.graph.coreness()

    def neighbours(self, node: int) -> Ints:
        """Neighbours of a node, ascending."""
        return self.matrix.indices[self.matrix.indptr[node] : self.matrix.indptr[node + 1]]

    @cached_property
    def spoken(self) -> tuple[Longs, Ints, Ints]:
        """Keys of the turns of all edges and of all nodes but concepts, sorted, with both ends.

        The ends of what a node says are the node itself.
        """
        own = np.flatnonzero(self.kind != CONCEPT).astype(np.int32)
        keys = np.concatenate((self.edge_ref, self.ref[own]))
        order = np.argsort(keys)
        one, other = (np.concatenate((end, own))[order] for end in (self.u, self.v))
        return keys[order], one, other

    def edges_within(self, nodes: Ints) -> Longs:
        """Positions of the edges between some nodes."""
        inside = np.zeros(self.n, np.bool_)
        inside[nodes] = True
        places = cuts.row_places(self.matrix, nodes)
        edges = self.matrix.data[places[inside[self.matrix.indices[places]]]]
        return unique(edges.astype(np.int64)) - 1

    def edges_at(self, node: int) -> Longs:
        """Positions of the edges of a node."""
        row = slice(self.matrix.indptr[node], self.matrix.indptr[node + 1])
        return self.matrix.data[row].astype(np.int64) - 1

    def edge_between(self, a: int, b: int) -> int:
        """Position of the edge of two nodes, -1 when there is none."""
        row = self.neighbours(a)
        at = int(np.searchsorted(row, b))
        if at == len(row) or row[at] != b:
            return -1
        return int(self.matrix.data[self.matrix.indptr[a] + at]) - 1

    def part(self, edges: Longs) -> "Level":
        """The same nodes with some of the edges."""
        return Level(
            *(self.number, self.base, self.kind, self.lineage, self.day, self.flags, self.df),
            *(self.ref, self.u[edges], self.v[edges], self.weight[edges], self.roles[edges]),
            self.edge_ref[edges],
        )


def node_level(view: GraphView, kept: Mask) -> Level:
    """Level 0: the nodes of the view that are kept, with the edges among them."""
    base = np.flatnonzero(kept).astype(np.int32)
    local = np.cumsum(kept, dtype=np.int32) - 1
    edge = np.flatnonzero(kept[view.u] & kept[view.v])
    return Level(
        number=0,
        base=base,
        kind=view.kind[base].astype(np.int32),
        lineage=view.lineage[base],
        day=view.day[base],
        flags=view.flags[base].astype(np.int32),
        df=view.df[base],
        ref=ref_keys(view.ref_thread[base], view.ref_turn[base]),
        u=local[view.u[edge]],
        v=local[view.v[edge]],
        weight=view.weight[edge],
        roles=view.roles[edge].astype(np.int32),
        edge_ref=ref_keys(view.edge_ref_thread[edge], view.edge_ref_turn[edge]),
    )


def quotient_map(view: GraphView, kept: Mask) -> tuple[Ints, Ints]:
    """Level 1 node of each view position (-1: not there), and view position of each such node.

    Lineages come first, by number; then shared questions and concepts of df >= 2, by position.
    """
    lineages = len(view.lineages)
    single = view.lineage < 0
    joins = (view.kind != CONCEPT) | (view.df > 1)
    own = np.flatnonzero(single & kept & joins).astype(np.int32)
    place = np.where(single | ~kept, -1, view.lineage).astype(np.int32)
    place[own] = np.arange(lineages, lineages + len(own), dtype=np.int32)
    return place, np.concatenate((np.full(lineages, -1, np.int32), own))


def thread_level(view: GraphView, kept: Mask) -> Level:
    """Level 1: every lineage contracted to one node; weights count distinct turns of the union."""
    place, base = quotient_map(view, kept)
    n, own = len(base), base[len(view.lineages) :]
    lineages = np.arange(len(view.lineages), dtype=np.int32)
    inside = np.flatnonzero(place >= 0)
    crossing, keys, group = _crossing(view, place, n)
    u, v = (keys // max(n, 1)).astype(np.int32), (keys % max(n, 1)).astype(np.int32)
    refs = ref_keys(view.edge_ref_thread[crossing], view.edge_ref_turn[crossing])
    kind = np.concatenate((np.full(len(lineages), THREAD), view.kind[own])).astype(np.int32)
    node_refs = ref_keys(view.ref_thread[inside], view.ref_turn[inside])
    return Level(
        number=1,
        base=base,
        kind=kind,
        lineage=np.concatenate((lineages, view.lineage[own])),
        day=_merged(np.maximum, place[inside], view.day[inside], np.full(n, NO_DAY, np.int32)),
        flags=_merged(
            np.bitwise_or, place[inside], view.flags[inside].astype(np.int32), np.zeros(n, np.int32)
        ),
        df=np.concatenate((_breadth(u, v, kind, len(lineages)), view.df[own])),
        ref=_merged(np.minimum, place[inside], node_refs, np.full(n, NO_REF)),
        u=u,
        v=v,
        weight=_union_weights(view, crossing, group, len(keys)),
        roles=_merged(
            np.bitwise_or,
            group,
            view.roles[crossing].astype(np.int32),
            np.zeros(len(keys), np.int32),
        ),
        edge_ref=_merged(np.minimum, group, refs, np.full(len(keys), NO_REF)),
    )


def _crossing(view: GraphView, place: Ints, n: int) -> tuple[Longs, Longs, Longs]:
    """View edges between two nodes of the level, keys of the pairs, and the pair of each edge."""
    a, b = place[view.u], place[view.v]
    crossing = np.flatnonzero((a >= 0) & (b >= 0) & (a != b))
    low, high = np.minimum(a, b)[crossing], np.maximum(a, b)[crossing]
    keys, group = np.unique(low.astype(np.int64) * n + high, return_inverse=True)
    return crossing, keys, group


def _merged(combine: np.ufunc, group: Any, values: Any, start: Any) -> Any:  # noqa: ANN401 - any integer arrays
    """Combine values into the group that each belongs to."""
    combine.at(start, group, values)
    return start


def _breadth(u: Ints, v: Ints, kind: Ints, lineages: int) -> Ints:
    """Distinct concepts of each lineage."""
    to_concept = np.concatenate((u[kind[v] == CONCEPT], v[kind[u] == CONCEPT]))
    return np.bincount(to_concept, minlength=lineages)[:lineages].astype(np.int32)


def _union_weights(view: GraphView, crossing: Longs, group: Longs, pairs: int) -> Ints:
    """Distinct turns of all view edges of a pair, at least those of its heaviest edge.

    A graph without turns has nothing to unite: its weights are added.
    """
    weights = view.weight[crossing]
    if len(view.turn_edge) == 0:
        return np.bincount(group, weights, pairs).astype(np.int32)
    pair_of = np.full(len(view.u), -1, np.int64)
    pair_of[crossing] = group
    turn = (view.turn_thread.astype(np.int64) << _TURN_BITS) | view.turn_number
    pair = pair_of[view.turn_edge]
    names, number = np.unique(turn[pair >= 0], return_inverse=True)
    counted = unique(pair[pair >= 0] * len(names) + number) // max(len(names), 1)
    united = np.bincount(counted, minlength=pairs).astype(np.int32)
    return np.asarray(_merged(np.maximum, group, weights, united), np.int32)
