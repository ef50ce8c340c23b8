"""Biconnected components and articulation points on arrays, from a breadth-first forest."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from graphstore.columns import unique
from topology import cuts
from topology.cuts import Forest, Ints, Longs, Mask


@dataclass(frozen=True)
class Blocks:
    """Biconnected components: nodes of block i are ``nodes[start[i]:start[i + 1]]``, sorted."""

    start: Longs
    nodes: Ints
    cut_nodes: Ints
    """Articulation points, sorted."""

    @cached_property
    def block(self) -> Longs:
        """Block of each entry of ``nodes``."""
        return np.repeat(np.arange(len(self.start) - 1), np.diff(self.start))

    def members(self, block: int) -> Ints:
        """Nodes of one block."""
        return self.nodes[self.start[block] : self.start[block + 1]]


def of_edges(n: int, u: Ints, v: Ints) -> Blocks:
    """Blocks of a collapsed simple graph."""
    return blocks(cuts.forest(cuts.adjacency(n, u, v)), u, v)


def blocks(tree: Forest, u: Ints, v: Ints) -> Blocks:
    """Blocks in the order of their two smallest nodes: no two of them share both. O(n + m).

    Tarjan and Vishkin (1985): name each tree edge by its lower end. Two of them lie in one block
    when an edge outside the tree joins their lower ends, or when one is the parent of the other
    and an edge outside the tree leaves the parent's subtree from the child's. In a breadth-first
    forest no edge outside the tree joins a node to one above it.
    """
    n = len(tree.parent)
    free = (tree.parent[v] != u) & (tree.parent[u] != v)
    one, other = u[free], v[free]
    kin = np.flatnonzero(_leaves_parent(tree, one, other)).astype(np.int32)
    ends = np.concatenate((one, kin)), np.concatenate((other, tree.parent[kin]))
    label = cuts.components(cuts.halves(n, *ends))
    below = np.flatnonzero(tree.parent >= 0).astype(np.int32)
    label = label[below].astype(np.int64)
    # the parents of the tree edges of a block are its nodes too; all but one are there already
    held = unique(np.concatenate((label * n + below, label * n + tree.parent[below])))
    number, node = np.divmod(held, max(n, 1))
    first = np.flatnonzero(np.diff(number, prepend=-1))
    lengths = np.diff(np.append(first, len(node)))
    ranked = np.lexsort((node[first + 1], node[first]))
    start = np.concatenate(([0], np.cumsum(lengths[ranked]))).astype(np.int64)
    at = np.repeat(first[ranked] - start[:-1], lengths[ranked]) + np.arange(len(node))
    cut_nodes = np.flatnonzero(np.bincount(node, minlength=n) > 1).astype(np.int32)
    return Blocks(start, node[at].astype(np.int32), cut_nodes)


def _leaves_parent(tree: Forest, one: Ints, other: Ints) -> Mask:
    """Whether an edge outside the tree joins a node's subtree to what lies outside its parent's."""
    lowest, highest = tree.enter.copy(), tree.enter.copy()
    for here, there in ((one, other), (other, one)):
        np.minimum.at(lowest, here, tree.enter[there])
        np.maximum.at(highest, here, tree.enter[there])
    parent = np.maximum(tree.parent, 0)
    lowest = cuts.accumulate(tree, lowest, np.minimum)
    highest = cuts.accumulate(tree, highest, np.maximum)
    after = tree.enter[parent] + tree.size[parent]
    leaves: Mask = (tree.parent >= 0) & ((lowest < tree.enter[parent]) | (highest >= after))
    return leaves
