"""What one more edge changes, at once: islands that it joins, bridges that it closes.

Insert only. Whatever else happens to the graph, or to the set of generic concepts, drops the state;
it is made again from a level.
"""

import numpy as np

from topology import cuts
from topology.level import Level
from topology.model import LinkEffect

NOTHING = LinkEffect()


class Live:
    """Components, 2-edge-connected components, and the forest of bridges between the latter.

    Union-find for both; each 2-edge-connected component keeps the bridge above it in a rooted
    tree. Joining two trees turns the smaller one around, so a sequence of m inserts into n nodes
    costs O(m + n log n) steps in all (after Westbrook and Tarjan 1992).
    """

    def __init__(self, nodes: int = 0) -> None:
        self._part = list(range(nodes))
        """Union-find of components, with sizes at the roots."""
        self._size = [1] * nodes
        self._ring = list(range(nodes))
        """Union-find of 2-edge-connected components."""
        self._bridge: list[tuple[int, int] | None] = [None] * nodes
        """At the representative: (end inside, end above) of the bridge above, None at a root."""

    @classmethod
    def of(cls, level: Level) -> "Live":
        """The state after all edges of a level."""
        made = cls(level.n)
        bridges = level.bridges
        solid = np.ones(len(level.u), np.bool_)
        solid[bridges] = False
        rest = cuts.adjacency(level.n, level.u[solid], level.v[solid])
        made._part, size = _first_of_each(level.components)
        made._size = size
        made._ring, _ = _first_of_each(cuts.components(rest))
        child = level.cover.child[bridges]
        ends = zip(child.tolist(), level.forest.parent[child].tolist(), strict=True)
        for low, high in ends:
            made._bridge[made._ring[low]] = (low, high)
        return made

    @property
    def nodes(self) -> int:
        """Number of nodes."""
        return len(self._part)

    def add_node(self) -> int:
        """A new node without edges."""
        node = self.nodes
        self._part.append(node)
        self._size.append(1)
        self._ring.append(node)
        self._bridge.append(None)
        return node

    def insert(self, a: int, b: int) -> LinkEffect:
        """Add an edge; a pair that is joined already changes nothing, nor does a loop."""
        one, other = _find(self._part, a), _find(self._part, b)
        if one != other:
            return self._join((a, one), (b, other))
        closed = self._path(_find(self._ring, a), _find(self._ring, b))
        if not closed or (len(closed) == 1 and set(closed[0]) == {a, b}):
            return NOTHING
        top = _find(self._ring, closed[-1][1])
        for low, _ in closed:
            self._ring[_find(self._ring, low)] = top
        return LinkEffect(closed=tuple(sorted((min(edge), max(edge)) for edge in closed)))

    def bridges(self) -> list[tuple[int, int]]:
        """All bridges, as sorted pairs in order."""
        held = (
            edge
            for node, edge in enumerate(self._bridge)
            if edge is not None and self._ring[node] == node
        )
        return sorted((min(edge), max(edge)) for edge in held)

    def _join(self, one: tuple[int, int], other: tuple[int, int]) -> LinkEffect:
        """Hang the tree of the smaller component below the other one."""
        (small, low), (large, high) = sorted((one, other), key=lambda end: self._size[end[1]])
        sizes = self._size[low], self._size[high]
        self._turn(_find(self._ring, small))
        self._bridge[_find(self._ring, small)] = (small, large)
        self._part[low] = high
        self._size[high] += self._size[low]
        return LinkEffect(joined=True, sizes_before=sizes, new_bridge=True)

    def _turn(self, node: int) -> None:
        """Make a representative the root of its tree."""
        carried: tuple[int, int] | None = None
        while True:
            above, self._bridge[node] = self._bridge[node], carried
            if above is None:
                return
            carried = (above[1], above[0])
            node = _find(self._ring, above[1])

    def _path(self, one: int, other: int) -> list[tuple[int, int]]:
        """Bridges between two representatives, those of the walk that ends at the meeting last.

        Both ends walk up in turns until one steps where the other has been: the cost is that of
        the path, not of the tree.
        """
        walks: tuple[list[int], list[int]] = ([one], [other])
        seen = ({one: 0}, {other: 0})
        turn = 0
        while True:
            here = walks[turn][-1]
            if here in seen[1 - turn]:
                meeting = seen[1 - turn][here]
                mine = [self._above(node) for node in walks[turn][:-1]]
                theirs = [self._above(node) for node in walks[1 - turn][:meeting]]
                return [*theirs, *mine] if mine else theirs
            above = self._bridge[here]
            if above is not None:
                node = _find(self._ring, above[1])
                seen[turn][node] = len(walks[turn])
                walks[turn].append(node)
            turn = 1 - turn

    def _above(self, node: int) -> tuple[int, int]:
        edge = self._bridge[node]
        assert edge is not None  # noqa: S101 - the walk came from here
        return edge


def _find(parent: list[int], node: int) -> int:
    """Representative, halving the path on the way."""
    while parent[node] != node:
        parent[node] = parent[parent[node]]
        node = parent[node]
    return node


def _first_of_each(labels: cuts.Ints) -> tuple[list[int], list[int]]:
    """The smallest node with the label of each node, and at each node the size of its group."""
    _, first, inverse, count = np.unique(
        labels, return_index=True, return_inverse=True, return_counts=True
    )
    own: list[int] = first[inverse].tolist()
    sizes: list[int] = count[inverse].tolist()
    return own, sizes
