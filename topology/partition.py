"""Components, bridges and their sides of a graph in parts: each part sends a summary to a root.

Plain functions on arrays, for any engine that can run one function per part. Vertices are whole
numbers, the same ones in every part, and each pair of them lies in one part only. A graph that fits
into one memory has no use for this: it costs more work, not less.

With a ``boundary`` (the vertices of more than one part) a part contracts what is 2-edge-connected,
finishes every bridge that has no boundary vertex on one side, and sends the forest that is left.
Without one it sends a certificate of at most two forests: breadth-first search is a scan-first
search, and a union of two such forests keeps 2-connectivity (Cheriyan, Kao, Thurimella 1993);
certificates compose (Eppstein, Galil, Italiano, Nissenzweig 1997).
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from io import BytesIO

import numpy as np
from numpy.typing import NDArray

from topology import cuts, engine
from topology.cuts import Ints, Longs, Mask


@dataclass(frozen=True, slots=True)
class Summary:
    """What a part tells the root. Vertices are named by their numbers in the whole graph."""

    node: Longs
    """Contracted nodes, each named by one of its vertices, by a boundary vertex if it has any."""
    shared: Mask
    """Whether the name of a node is a boundary vertex."""
    weight: Longs
    """Vertices of a node that are in no other part, those of finished sides that hang on it too."""
    least: Longs
    """Smallest vertex that the weight counts, or the name."""
    edge: Longs
    """Edges that are left, k x 4: both ends, and the node of each end."""
    union: Longs
    """k x 2: a boundary vertex and the node that it lies in."""
    finished: Longs
    """Bridges for good, k x 5: inner end, outer end, inner size, a node on the outer side (-1 when
    no node is left), size of the component (0 when the root must say)."""
    closed: Longs
    """Components that are in no other part, k x 2: smallest vertex, size."""

    def to_bytes(self) -> bytes:
        """The arrays as one file, to be sent."""
        out = BytesIO()
        np.savez(
            out, allow_pickle=False, **{one.name: getattr(self, one.name) for one in fields(self)}
        )
        return out.getvalue()

    @staticmethod
    def from_bytes(sent: bytes) -> "Summary":
        """What ``to_bytes`` made."""
        with np.load(BytesIO(sent), allow_pickle=False) as found:
            return Summary(*(found[one.name] for one in fields(Summary)))


@dataclass(frozen=True, slots=True)
class Cuts:
    """The answer of the root. Vertices without edges are in no part and not counted."""

    components: Longs
    """k x 2, sorted: smallest vertex, size."""
    bridges: Longs
    """k x 4, sorted: ends u < v, vertices on the side of u, on the side of v."""
    cut_points: Longs | None
    """Articulation points; None when parts were contracted, or without the engine."""


def shared_vertices(u: Longs, v: Longs, shard: Longs) -> Longs:
    """Vertices that edges of more than one shard touch, ascending."""
    vertex, number = np.concatenate((u, v)), np.concatenate((shard, shard))
    order = np.lexsort((number, vertex))
    vertex, number = vertex[order], number[order]
    two = (vertex[1:] == vertex[:-1]) & (number[1:] != number[:-1])
    return np.unique(vertex[1:][two])


def partition_summary(u: Longs, v: Longs, boundary: Longs | None) -> Summary:
    """Summarise one part: edges u-v in any order; loops are left out, parallels are one edge.

    Without a ``boundary``, parallels count: a pair that comes twice is no bridge.
    """
    if boundary is None:
        return _certificate(np.column_stack((u, v)))
    pairs = _distinct_pairs(np.column_stack((u, v)))[0]
    names, ends = _local(pairs)
    outer = np.isin(names, boundary)
    solid, order, bridge = _contracted(len(names), ends, outer)
    return _pruned(names, outer, solid, order, pairs[bridge], ends[bridge])


def _contracted(n: int, ends: Ints, outer: Mask) -> tuple[Ints, Mask, Longs]:
    """2-edge-connected node of each vertex, whether it holds a boundary vertex, and the bridges.

    Nodes with a boundary vertex come first, so that every tree that has one is rooted at one.
    """
    u, v = ends[:, 0].copy(), ends[:, 1].copy()
    bridge = cuts.bridges(cuts.cover(cuts.forest(cuts.adjacency(n, u, v)), u, v))
    rest = np.ones(len(u), np.bool_)
    rest[bridge] = False
    solid = cuts.components(cuts.adjacency(n, u[rest], v[rest]))
    terminal = np.bincount(solid, outer).astype(np.bool_)
    order = np.argsort(~terminal, kind="stable")
    number = np.empty(len(order), np.int32)
    number[order] = np.arange(len(order), dtype=np.int32)
    return number[solid], terminal[order], bridge


def _pruned(
    names: Longs, outer: Mask, solid: Ints, terminal: Mask, pairs: Longs, ends: Ints
) -> Summary:
    """Cut off what no boundary vertex lies behind; the rest is sent."""
    low, high = np.sort(solid[ends], axis=1).T
    tree = cuts.forest(cuts.adjacency(len(terminal), low.copy(), high.copy()))
    child = np.where(tree.parent[low] == high, low, high)
    weight = np.bincount(solid, ~outer).astype(np.int64)
    behind, inner = tree.sums(terminal.astype(np.int64)), tree.sums(weight)
    root = _roots(tree)
    kept = behind > 0
    home = np.where(kept, np.arange(len(kept)), tree.parent)
    home = np.where(home < 0, np.arange(len(home)), home)
    while not np.array_equal(home, home[home]):
        home = home[home]
    name, least = _named(names, outer, solid, terminal, home)
    alone = np.flatnonzero(~terminal & (tree.parent < 0))
    done = ~kept[child]
    swap = solid[ends[done, 0]] != child[done]
    inside = np.where(swap, pairs[done, 1], pairs[done, 0])
    outside = np.where(swap, pairs[done, 0], pairs[done, 1])
    top = root[child[done]]
    open_ = terminal[top]
    finished = (inside, outside, inner[child[done]], np.where(open_, name[top], -1))
    left = ~done
    lies = solid[outer]
    stands = names[outer]
    joined = stands != name[lies]
    gathered = np.bincount(home, weight, len(home)).astype(np.int64)
    return Summary(
        node=name[kept],
        shared=terminal[kept],
        weight=gathered[kept],
        least=least[kept],
        edge=np.column_stack((pairs[left], name[solid[ends[left]]])),
        union=np.column_stack((stands[joined], name[lies[joined]])),
        finished=np.column_stack((*finished, np.where(open_, 0, inner[top]))),
        closed=np.column_stack((least[alone], inner[alone])),
    )


def _roots(tree: cuts.Forest) -> Ints:
    """Root of the tree of each node."""
    first = np.flatnonzero(tree.parent < 0).astype(np.int32)
    at = np.empty(len(first), np.int32)
    at[tree.component[first]] = first
    return at[tree.component]


def _named(
    names: Longs, outer: Mask, solid: Ints, terminal: Mask, home: Longs
) -> tuple[Longs, Longs]:
    """Name of each contracted node, and the smallest vertex of all that it gathers."""
    most = np.iinfo(np.int64).max
    name, least = np.full(len(terminal), most), np.full(len(terminal), most)
    speaks = outer | ~terminal[solid]
    np.minimum.at(name, solid[speaks], names[speaks])
    np.minimum.at(least, home[solid], names)
    return name, least


def _distinct_pairs(pairs: Longs) -> tuple[Longs, Longs]:
    """Pairs of two vertices u < v, each once and sorted, and how often each comes."""
    pairs = np.sort(pairs[pairs[:, 0] != pairs[:, 1]], axis=1)
    order = np.lexsort((pairs[:, 1], pairs[:, 0]))
    pairs = pairs[order]
    fresh = np.ones(len(pairs), np.bool_)
    fresh[1:] = (pairs[1:] != pairs[:-1]).any(axis=1)
    first = np.flatnonzero(fresh)
    return pairs[first], np.diff(np.append(first, len(pairs)))


def _local(pairs: Longs) -> tuple[Longs, Ints]:
    """Vertices of a part, ascending, and the ends of its edges as places among them."""
    names, ends = np.unique(pairs, return_inverse=True)
    places: Ints = np.asarray(ends.reshape(-1, 2), np.int32)
    return names, places


def _certificate(edges: Longs) -> Summary:
    """Two breadth-first forests, and a copy of each pair of the first that comes twice."""
    pairs, count = _distinct_pairs(edges)
    names, ends = _local(pairs)
    first = _in_forest(len(names), ends)
    rest = np.flatnonzero(~first)
    second = rest[_in_forest(len(names), ends[rest])]
    copies = np.flatnonzero(first & (count > 1))
    kept = pairs[np.sort(np.concatenate((np.flatnonzero(first), second, copies)))]
    nothing = np.empty((0, 2), np.int64)
    return Summary(
        node=names,
        shared=np.ones(len(names), np.bool_),
        weight=np.zeros(len(names), np.int64),
        least=names,
        edge=np.column_stack((kept, kept)),
        union=nothing,
        finished=np.empty((0, 5), np.int64),
        closed=nothing,
    )


def _in_forest(n: int, ends: Ints) -> Mask:
    """Which edges a breadth-first forest takes."""
    u, v = ends[:, 0].copy(), ends[:, 1].copy()
    parent = cuts.forest(cuts.adjacency(n, u, v)).parent
    taken: Mask = (parent[u] == v) | (parent[v] == u)
    return taken


def merge(summaries: Sequence[Summary], *, contracted: bool) -> Summary:
    """Several summaries as one: concatenated, or the certificate of certificates."""
    whole = Summary(
        *(
            np.concatenate([getattr(one, part.name) for one in summaries])
            for part in fields(Summary)
        )
    )
    return whole if contracted else _certificate(whole.edge[:, :2])


def finish(summary: Summary, *, contracted: bool) -> Cuts:
    """Components, bridges with the sizes of both sides, and cut points of the whole graph.

    Nodes of different parts that share a vertex are one. Parallel edges of the result are second
    connections: in a collapsed graph they come from contraction alone.
    """
    names = np.unique(np.concatenate((summary.node, summary.union.ravel())))
    joined = np.searchsorted(names, summary.union).astype(np.int32)
    group = cuts.components(cuts.adjacency(len(names), joined[:, 0], joined[:, 1]))
    weight, least = _weighed(summary, names, group)
    at = group[np.searchsorted(names, summary.edge[:, 2:])].astype(np.int64).reshape(-1, 2)
    pairs, count = _distinct_pairs(at)
    u, v = pairs.astype(np.int32).T
    u, v = u.copy(), v.copy()
    matrix = cuts.adjacency(len(weight), u, v)
    tree = cuts.forest(matrix)
    below = tree.sums(weight)
    total = below[_roots(tree)]
    cover = cuts.cover(tree, u, v)
    single = cuts.bridges(cover)
    single = single[count[single] == 1]
    bridges = _sides(summary, at, pairs[single], cover.child[single], below, total)
    anchor = summary.finished[:, 3]
    open_ = anchor >= 0
    whole = summary.finished[:, 4].copy()
    whole[open_] = total[group[np.searchsorted(names, anchor[open_])]]
    inner = summary.finished[:, 2]
    done = np.column_stack((summary.finished[:, :2], inner, whole - inner))
    smallest = np.full(int(tree.component.max(initial=-1)) + 1, np.iinfo(np.int64).max)
    np.minimum.at(smallest, tree.component, least)
    size = np.bincount(tree.component, weight, len(smallest)).astype(np.int64)
    points = None
    if not contracted and engine.is_available():
        points = names[engine.Graph(len(weight), u, v).cut_nodes()]
    return Cuts(
        _rows(np.concatenate((np.column_stack((smallest, size)), summary.closed))),
        _rows(_upward(np.concatenate((bridges, done)))),
        points,
    )


def _weighed(summary: Summary, names: Longs, group: Ints) -> tuple[Longs, Longs]:
    """Vertices and smallest vertex of each group: boundary vertices count once."""
    boundary = np.unique(np.concatenate((summary.node[summary.shared], summary.union[:, 0])))
    own = group[np.searchsorted(names, summary.node)]
    shared = group[np.searchsorted(names, boundary)]
    groups = int(group.max(initial=-1)) + 1
    weight = np.bincount(own, summary.weight, groups) + np.bincount(shared, minlength=groups)
    least = np.full(groups, np.iinfo(np.int64).max)
    np.minimum.at(least, own, summary.least)
    np.minimum.at(least, shared, boundary)
    return weight.astype(np.int64), least


def _sides(
    summary: Summary, at: Longs, pairs: Longs, child: Ints, below: Longs, total: Longs
) -> Longs:
    """Original edges of the bridges of the root, with the vertices on either side."""
    low, high = np.sort(at, axis=1).T
    stride = np.int64(len(below) + 1)
    key, wanted = low * stride + high, pairs[:, 0] * stride + pairs[:, 1]
    order = np.argsort(key, kind="stable")
    edge = order[np.searchsorted(key[order], wanted)]
    ends = summary.edge[edge, :2]
    inside, whole = below[child], total[child]
    first = at[edge, 0] == child
    return np.column_stack(
        (ends, np.where(first, inside, whole - inside), np.where(first, whole - inside, inside))
    )


def _upward(bridges: Longs) -> Longs:
    """The smaller end first, and its side with it."""
    turned = bridges[:, 0] > bridges[:, 1]
    return np.where(turned[:, None], bridges[:, [1, 0, 3, 2]], bridges)


def _rows(table: NDArray[np.int64]) -> Longs:
    ordered: Longs = table[np.lexsort(table.T[::-1])].astype(np.int64)
    return ordered
