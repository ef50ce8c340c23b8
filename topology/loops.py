"""Bounded search for cycles: shortest ones through given edges, never all simple cycles."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(slots=True)
class Budget:
    """Edge visits that are left."""

    left: int

    def is_spent(self) -> bool:
        """Whether the cap is reached."""
        return self.left <= 0


@dataclass(slots=True)
class _Front:
    """One side of a two-sided breadth-first search."""

    parent: dict[int, int]
    nodes: list[int]
    depth: int = 0


def shortest_path(
    rows: Sequence[Sequence[int]], start: int, goal: int, longest: int, budget: Budget
) -> tuple[int, ...] | None:
    """Shortest directed path of at most ``longest`` edges, first in the order of the rows.

    Breadth-first from the start; rows must be sorted for the answer to be canonical.
    """
    parent = {start: start}
    level = [start]
    for _ in range(longest):
        following = []
        for node in level:
            budget.left -= len(rows[node])
            for other in rows[node]:
                if other in parent:
                    continue
                parent[other] = node
                if other == goal:
                    return _walk(parent, start, goal)
                following.append(other)
        if not following or budget.is_spent():
            return None
        level = following
    return None


def _walk(parent: dict[int, int], start: int, goal: int) -> tuple[int, ...]:
    path = [goal]
    while path[-1] != start:
        path.append(parent[path[-1]])
    return tuple(reversed(path))


def shortest_cycle(
    rows: Sequence[Sequence[int]], edge: tuple[int, int], longest: int, budget: Budget
) -> tuple[int, ...] | None:
    """Shortest cycle through an undirected edge with at most ``longest`` edges, as its nodes.

    Two-sided search without the edge: from both ends in turns, the smaller front first. The first
    meeting of least length wins, ties by position of the meeting pair.
    """
    a, b = edge
    fronts = (_Front({a: a}, [a]), _Front({b: b}, [b]))
    while fronts[0].depth + fronts[1].depth < longest - 1:
        one, other = fronts if len(fronts[0].nodes) <= len(fronts[1].nodes) else fronts[::-1]
        met = _grow(rows, one, other, edge, budget)
        if met is not None:
            near, far = met
            left, right = (near, far) if one is fronts[0] else (far, near)
            back = _walk(fronts[0].parent, a, left)
            return (*back, *reversed(_walk(fronts[1].parent, b, right)))
        if not one.nodes or budget.is_spent():
            return None
    return None


def _grow(
    rows: Sequence[Sequence[int]],
    front: _Front,
    other: _Front,
    edge: tuple[int, int],
    budget: Budget,
) -> tuple[int, int] | None:
    """Grow a front by one level; the smallest edge by which it meets the other, if any."""
    following: list[int] = []
    meetings: list[tuple[int, int]] = []
    for node in front.nodes:
        budget.left -= len(rows[node])
        for near in rows[node]:
            if {node, near} == set(edge):
                continue
            if near in other.parent:
                meetings.append((node, near))
            elif near not in front.parent:
                front.parent[near] = node
                following.append(near)
    front.nodes, front.depth = following, front.depth + 1
    return min(meetings, default=None)


def canonical_rotation(nodes: Sequence[int], *, directed: bool) -> tuple[int, ...]:
    """The same cycle from its smallest node; an undirected one toward the smaller neighbour."""
    at = min(range(len(nodes)), key=nodes.__getitem__)
    turned = (*nodes[at:], *nodes[:at])
    backward = (turned[0], *reversed(turned[1:]))
    return turned if directed else min(turned, backward)
