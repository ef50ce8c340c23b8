"""Components, forests, bridges and 2-edge cuts on arrays.

All functions take ``n`` nodes and a collapsed simple graph as two arrays of ends, sorted by
(u, v) with u < v. Parallel pairs would make "tree edge" ambiguous, so they must not occur.
"""

from collections.abc import Callable
from dataclasses import dataclass
from operator import add, xor
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from scipy.sparse import csr_array

Ints: TypeAlias = NDArray[np.int32]
Longs: TypeAlias = NDArray[np.int64]
Hashes: TypeAlias = NDArray[np.uint64]
Mask: TypeAlias = NDArray[np.bool_]

SHALLOW: Final = 5000
"""Deeper forests are walked node by node: a numpy call per level would cost more."""
NARROW: Final = 200
"""Steps after which a search goes on node by node, for the same reason."""
_PLAIN: Final[dict[np.ufunc, Callable[[Any, Any], Any]]] = {
    np.add: add,
    np.bitwise_xor: xor,
    np.minimum: min,
    np.maximum: max,
}
"""What the functions on arrays do to two numbers."""
_KEY: Final = 0x9E3779B97F4A7C15


def adjacency(n: int, u: Ints, v: Ints) -> "csr_array[Any, tuple[int, int]]":
    """Symmetric adjacency with sorted rows; the value at (a, b) is the edge position + 1."""
    from scipy.sparse import coo_array

    edge = np.arange(1, len(u) + 1, dtype=np.float64)
    rows, columns = np.concatenate((v, u)), np.concatenate((u, v))  # so each row comes sorted
    return coo_array((np.concatenate((edge, edge)), (rows, columns)), shape=(n, n)).tocsr()


def halves(n: int, u: Ints, v: Ints) -> "csr_array[Any, tuple[int, int]]":
    """Each edge in one direction only: all that components need."""
    from scipy.sparse import coo_array

    return coo_array((np.ones(len(u)), (u, v)), shape=(n, n)).tocsr()


def components(graph: "csr_array[Any, tuple[int, int]]") -> Ints:
    """Component number of each node, whatever the direction of its edges.

    Components are numbered by their smallest position.
    """
    from scipy.sparse.csgraph import connected_components

    if graph.shape[0] == 0:
        return np.empty(0, np.int32)
    labels = connected_components(graph, directed=False)[1]
    return labels.astype(np.int32, copy=False)


def strong_components(n: int, tail: Ints, head: Ints) -> Ints:
    """Strongly connected component of each node, numbered by smallest position."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    if n == 0:
        return np.empty(0, np.int32)
    graph = coo_array((np.ones(len(tail)), (tail, head)), shape=(n, n)).tocsr()
    labels = connected_components(graph, directed=True, connection="strong")[1]
    return numbered_by_first(labels.astype(np.int32, copy=False))


def numbered_by_first(labels: Ints) -> Ints:
    """The same groups, numbered by their smallest position."""
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    number = np.empty(len(first), np.int32)
    number[np.argsort(first)] = np.arange(len(first), dtype=np.int32)
    return number[inverse]


@dataclass(frozen=True, slots=True)
class Forest:
    """One breadth-first tree per component, rooted at its smallest position."""

    component: Ints
    total: Ints
    """Nodes of the component of each node."""
    order: Ints
    """Nodes level by level."""
    levels: Longs
    """Bounds of the levels in ``order``."""
    parent_place: Ints
    """Place in ``order`` of the parent of the node at each place, -1 at roots."""
    parent: Ints
    depth: Ints
    size: Ints
    """Nodes in the subtree of each node."""
    enter: Ints
    """Preorder number: x lies below c iff enter[c] <= enter[x] < enter[c] + size[c]."""

    def sums(self, weights: Longs) -> Longs:
        """Sum of the weights of each subtree."""
        total: Longs = accumulate(self, weights, np.add)
        return total

    def below(self, child: int) -> Mask:
        """The subtree of a node as a mask."""
        return self.lie_below(np.arange(len(self.enter)), np.array(child))

    def lie_below(self, nodes: Ints | Longs, upper: Ints | Longs) -> Mask:
        """Whether each node lies in the subtree of its ``upper``: one for each, or one for all."""
        start, at = self.enter[upper], self.enter[nodes]
        below: Mask = (at >= start) & (at < start + self.size[upper])
        below &= self.component[nodes] == self.component[upper]
        return below


def forest(graph: "csr_array[Any, tuple[int, int]]", component: Ints | None = None) -> Forest:
    """Breadth-first forest, subtree sizes and preorder intervals in O(n + m).

    ``component`` is that of each node, where it is known.
    """
    n = graph.shape[0]
    labels = components(graph) if component is None else component
    counts = np.bincount(labels, minlength=0).astype(np.int32)
    order, parent = _search(graph, labels)
    place = np.empty(n, np.int32)
    place[order] = np.arange(n, dtype=np.int32)
    parent_place = np.where(parent[order] < 0, -1, place[parent[order]]).astype(np.int32)
    levels = _levels(parent_place)
    depth = np.empty(n, np.int32)
    depth[order] = np.repeat(np.arange(len(levels) - 1, dtype=np.int32), np.diff(levels))
    empty = np.zeros(n, np.int32)
    bare = Forest(labels, counts[labels], order, levels, parent_place, parent, depth, empty, empty)
    size = bare.sums(np.ones(n, np.int64)).astype(np.int32)
    enter = np.empty(n, np.int32)
    enter[order] = _enter(bare, size[order].astype(np.int64))
    return Forest(labels, counts[labels], order, levels, parent_place, parent, depth, size, enter)


def _search(graph: "csr_array[Any, tuple[int, int]]", labels: Ints) -> tuple[Ints, Ints]:
    """Breadth-first order and parents of all components at once, through a virtual root."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import breadth_first_order

    n = graph.shape[0]
    roots = np.empty(int(labels.max(initial=-1)) + 1, np.int32)
    roots[labels[::-1]] = np.arange(n - 1, -1, -1, dtype=np.int32)  # the last write is the smallest
    indices = np.concatenate((graph.indices, roots))
    indptr = np.append(graph.indptr, len(indices))
    joined = csr_array((np.ones(len(indices)), indices, indptr), shape=(n + 1, n + 1))
    order, parent = breadth_first_order(joined, n, directed=True)
    parent = parent[:n].astype(np.int32)
    parent[parent == n] = -1
    return order[1:].astype(np.int32), parent


def _levels(parent_place: Ints) -> Longs:
    """Bounds of the levels: the children of a level are contiguous and follow it."""
    bounds = [0]
    end = int(np.searchsorted(parent_place, np.int32(0)))
    while end > bounds[-1]:
        bounds.append(end)
        end = int(np.searchsorted(parent_place, np.int32(end)))  # a plain int copies the array
    return np.array(bounds, np.int64)


def accumulate(tree: Forest, weights: Any, combine: "np.ufunc") -> Any:  # noqa: ANN401 - any integer type
    """Combine children into parents from the deepest level up."""
    held = weights[tree.order]
    if len(tree.levels) > SHALLOW:
        held = _accumulate_slowly(held, tree.parent_place.tolist(), combine)
    else:
        starts = _sibling_starts(tree.parent_place)
        cuts = np.searchsorted(starts, tree.levels)
        for level in range(len(tree.levels) - 2, 0, -1):
            first, last = tree.levels[level], tree.levels[level + 1]
            groups = starts[cuts[level] : cuts[level + 1]]
            parents = tree.parent_place[groups]
            joined = combine.reduceat(held[first:last], groups - first)
            held[parents] = combine(held[parents], joined)
    out = np.empty_like(held)
    out[tree.order] = held
    return out


def _accumulate_slowly(held: Any, parents: list[int], combine: "np.ufunc") -> Any:  # noqa: ANN401 - any integer type
    values = held.tolist()
    plain = _PLAIN[combine]
    for place in range(len(values) - 1, -1, -1):
        parent = parents[place]
        if parent >= 0:
            values[parent] = plain(values[parent], values[place])
    return np.array(values, held.dtype)


def _sibling_starts(parent_place: Ints) -> Longs:
    """First place of each run of siblings; roots are one run."""
    if len(parent_place) == 0:
        return np.empty(0, np.int64)
    return np.concatenate(([0], np.flatnonzero(np.diff(parent_place)) + 1))


def _enter(tree: Forest, size: Longs) -> Longs:
    """Preorder numbers by place, top-down; each tree starts at 0."""
    before = np.cumsum(size) - size
    starts = _sibling_starts(tree.parent_place)
    run = np.repeat(before[starts], np.diff(np.append(starts, len(size))))
    offset = np.where(tree.parent_place < 0, 0, 1 + before - run)
    if len(tree.levels) > SHALLOW:
        return _enter_slowly(offset.tolist(), tree.parent_place.tolist())
    enter = offset
    for level in range(1, len(tree.levels) - 1):
        span = slice(tree.levels[level], tree.levels[level + 1])
        enter[span] += enter[tree.parent_place[span]]
    return enter


def _enter_slowly(enter: list[int], parents: list[int]) -> Longs:
    for place, parent in enumerate(parents):
        if parent >= 0:
            enter[place] += enter[parent]
    return np.array(enter, np.int64)


@dataclass(frozen=True, slots=True)
class Cover:
    """Which edges hold what together. Edges of one non-zero hash part their component in pairs."""

    child: Ints
    """Lower end of each tree edge, -1 for other edges."""
    hash: Hashes
    """Zero at bridges."""


def cover(tree: Forest, u: Ints, v: Ints) -> Cover:
    """Cover hash of every edge: the XOR of the non-tree edges that span it.

    Two tree edges spanned by the same non-tree edges, or a tree edge and its only one, are a
    2-edge cut. Random hashing of the cycle space after Pritchard and Thurimella (2011); here the
    values are fixed by the edge position, and every reported cut is proved again.
    """
    downward, upward = tree.parent[v] == u, tree.parent[u] == v
    child = np.where(downward, v, np.where(upward, u, -1)).astype(np.int32)
    free = np.flatnonzero(child < 0)
    value = _splitmix(free.astype(np.uint64))
    ends = np.zeros(len(tree.parent), np.uint64)
    np.bitwise_xor.at(ends, u[free], value)
    np.bitwise_xor.at(ends, v[free], value)
    below: Hashes = accumulate(tree, ends, np.bitwise_xor)
    hashes = np.empty(len(u), np.uint64)
    hashes[free] = value
    kept = child >= 0
    hashes[kept] = below[child[kept]]
    return Cover(child, hashes)


def _splitmix(position: Hashes) -> Hashes:
    """SplitMix64 (Steele, Lea, Flood 2014) of each position; zero is mapped to one."""
    z = (position + np.uint64(1)) * np.uint64(_KEY)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z ^= z >> np.uint64(31)
    return np.where(z == 0, np.uint64(1), z)


def bridges(found: Cover) -> Longs:
    """Edges whose removal parts their component, by position."""
    return np.flatnonzero((found.child >= 0) & (found.hash == 0))


@dataclass(frozen=True, slots=True)
class Rings:
    """All 2-edge-cut classes of two edges or more, edges of a class in ring order.

    Removing all edges of a class leaves pieces in a ring. Each edge has a place on that ring,
    counted in nodes; between two edges lies an arc, and removing the two parts it from the rest.
    """

    start: Longs
    """Bounds of the classes, one more than there are classes."""
    edge: Longs
    place: Longs
    around: Longs
    """Nodes of the component, per class."""


def rings(tree: Forest, found: Cover) -> Rings:
    """Order every 2-edge-cut class around its ring.

    All classes at once: with A the tree edges above the deepest one and B the others (a tree path
    bends once), an edge of A lies at size(child), an edge of B at component - size(child), and
    the one non-tree edge that a class may have at 0.
    """
    edges = np.flatnonzero(found.hash != 0)
    edges = edges[np.argsort(found.hash[edges])]
    starts = np.flatnonzero(np.diff(found.hash[edges], prepend=np.uint64(0)))
    lengths = np.diff(np.append(starts, len(edges)))
    edges = edges[np.repeat(lengths > 1, lengths)]
    lengths = lengths[lengths > 1]
    number = np.repeat(np.arange(len(lengths)), lengths)
    place, around = _places(tree, found.child[edges], number, len(lengths))
    order = np.lexsort((edges, place, number))
    bounds = np.concatenate(([0], np.cumsum(lengths)))
    return Rings(bounds, edges[order], place[order], around)


def _places(tree: Forest, child: Ints, number: Longs, classes: int) -> tuple[Longs, Longs]:
    """Ring place of each edge and component size of each class."""
    treeish = np.flatnonzero(child >= 0)
    low = treeish[np.lexsort((child[treeish], -tree.depth[child[treeish]], number[treeish]))]
    deepest = np.empty(classes, np.int64)
    deepest[number[low[::-1]]] = child[low[::-1]]  # the last write is the deepest
    around = tree.total[deepest].astype(np.int64)
    size = np.where(child >= 0, tree.size[child], 0).astype(np.int64)
    above = tree.lie_below(deepest[number], child)
    place = np.where(child < 0, 0, np.where(above, size, around[number] - size))
    return place, around


def best_arcs(found: Rings, usable: Mask) -> tuple[Longs, Longs, Longs, Longs]:
    """Per class, the two usable edges with the largest smaller arc.

    Returns four arrays: class, the two edges by position, nodes in the smaller arc. Classes with
    fewer than two usable edges are left out; ties go to the smallest positions.
    """
    number = np.repeat(np.arange(len(found.around)), np.diff(found.start))
    kept = usable[found.edge]
    number, edge, place = number[kept], found.edge[kept], found.place[kept]
    around = found.around[number]
    stride = np.int64(2) * (found.around.max(initial=0) + 1)  # keeps the search inside a class
    key = number * stride + place
    last = np.searchsorted(key, key + around // 2, side="right") - 1
    here = np.arange(len(key))
    tried = [(here, np.clip(other, 0, len(key) - 1)) for other in (last, last + 1)]
    one = np.concatenate([pair[0] for pair in tried])
    other = np.concatenate([pair[1] for pair in tried])
    real = (other > one) & (number[one] == number[other])
    one, other = one[real], other[real]
    arc = place[other] - place[one]
    arc = np.minimum(arc, around[one] - arc)
    first, second = np.minimum(edge[one], edge[other]), np.maximum(edge[one], edge[other])
    order = np.lexsort((second, first, -arc, number[one]))
    group, at = np.unique(number[one][order], return_index=True)
    chosen = order[at]
    return group, first[chosen], second[chosen], arc[chosen]


def reach(
    graph: "csr_array[Any, tuple[int, int]]",
    start: int | Ints | Longs,
    edges: tuple[tuple[int, int], ...] = (),
    node: int = -1,
    enough: int | None = None,
) -> Ints:
    """Nodes that are reached without the given edges and without the node, ascending.

    The independent second proof of a cut: it knows nothing of forests and hashes. Cost is the
    volume of what is reached. With ``enough``, it ends once so many nodes are known.
    """
    seen = np.zeros(graph.shape[0] + 1, np.bool_)
    seen[node] = True
    front = np.atleast_1d(np.asarray(start, np.int32))
    seen[front] = True
    found, total = [front], len(front)
    last = np.empty(graph.shape[0], np.int32)
    while len(front) and (enough is None or total < enough):
        if len(found) > NARROW:
            return _reach_deep(graph, found[0], edges, node)
        near = _beyond(graph, front, edges)
        near = near[~seen[near]]
        last[near] = np.arange(len(near), dtype=np.int32)
        front = near[last[near] == np.arange(len(near), dtype=np.int32)]
        seen[front] = True
        found.append(front)
        total += len(front)
    return np.sort(np.concatenate(found))


def _beyond(
    graph: "csr_array[Any, tuple[int, int]]", front: Ints, edges: tuple[tuple[int, int], ...]
) -> Ints:
    """Neighbours of some nodes, as often as they are met, without the given edges."""
    near: Ints = graph.indices[row_places(graph, front)]
    if edges:
        source = np.repeat(front, graph.indptr[front + 1] - graph.indptr[front])
        for a, b in edges:
            gone = ((source == a) & (near == b)) | ((source == b) & (near == a))
            source, near = source[~gone], near[~gone]
    return near


def row_places(graph: "csr_array[Any, tuple[int, int]]", nodes: Ints) -> Longs:
    """Places of the rows of some nodes in the arrays of the matrix, row after row."""
    first = graph.indptr[nodes].astype(np.int64)
    count = graph.indptr[nodes + 1] - first
    before = np.cumsum(count) - count
    places: Longs = np.repeat(first - before, count) + np.arange(int(count.sum()))
    return places


def _reach_deep(
    graph: "csr_array[Any, tuple[int, int]]",
    starts: Ints,
    edges: tuple[tuple[int, int], ...],
    node: int,
) -> Ints:
    """The same, all of it, at a cost of the whole graph."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import breadth_first_order

    indices = graph.indices.copy()
    for a, b in (*edges, *((b, a) for a, b in edges)):
        row = slice(graph.indptr[a], graph.indptr[a + 1])
        indices[row][indices[row] == b] = a
    if node >= 0:
        indices[graph.indptr[node] : graph.indptr[node + 1]] = node
    bare = csr_array((graph.data, indices, graph.indptr), shape=graph.shape)
    known = np.zeros(graph.shape[0], np.bool_)
    for start in starts.tolist():
        if not known[start]:
            known[breadth_first_order(bare, start, return_predecessors=False)] = True
    if node >= 0:
        known[node] = False
    return np.flatnonzero(known).astype(np.int32)
