"""Where two communities meet: edges between them, who carries these, what chance would give."""

from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from graphstore.ids import Json
from graphstore.model.view import CONCEPT, MENTION, THREAD
from topology.cuts import Ints, Longs
from topology.evidence import listed
from topology.level import Level
from topology.model import Role
from topology.structure import Structure
from topology.themes import Themes

Floats: TypeAlias = NDArray[np.float64]

MOST: Final = 1000
"""Communities that are paired, those with the most links first."""
NAMED: Final = 3
MEETS: Final = 0.5
"""Share of the links that their size would give from which two communities meet."""
OCCASIONS: Final = 2
"""Lineages that hold both of two communities from which a link between them could be expected."""
HELD: Final = 2
"""Nodes of a community from which a lineage outside of it holds it."""


@dataclass(frozen=True, slots=True)
class Pairs:
    """Pairs of communities a < b with edges between them, in order."""

    a: Ints
    b: Ints
    edges: Longs
    weight: Longs
    carriers_a: Longs
    """Nodes of a that an edge to b touches."""
    carriers_b: Longs


def pairs(level: Level, themes: Themes) -> Pairs:
    """Every pair of communities that may be spoken of and that some edge joins."""
    crossing, key, width = _crossing(level, themes)
    keys, group = np.unique(key, return_inverse=True)
    a, b = np.divmod(keys, width)
    swapped = themes.of[level.u[crossing]] > themes.of[level.v[crossing]]
    ends = (
        np.where(swapped, level.v[crossing], level.u[crossing]),
        np.where(swapped, level.u[crossing], level.v[crossing]),
    )
    touched = [
        np.bincount(np.unique(group * np.int64(level.n) + end) // level.n, minlength=len(keys))
        for end in ends
    ]
    weight = np.bincount(group, level.weight[crossing], len(keys)).astype(np.int64)
    return Pairs(
        *(a.astype(np.int32), b.astype(np.int32), np.bincount(group, minlength=len(keys))),
        *(weight, *touched),
    )


def _crossing(level: Level, themes: Themes) -> tuple[Longs, Longs, int]:
    """Edges between two communities that may be spoken of, the pair of each as one number."""
    crossing = np.flatnonzero(themes.part(level.u, level.v))
    one = themes.of[level.u[crossing]].astype(np.int64)
    other = themes.of[level.v[crossing]].astype(np.int64)
    width = len(themes.size)
    return crossing, np.minimum(one, other) * width + np.maximum(one, other), width


def edges_between(level: Level, themes: Themes, a: int, b: int) -> Longs:
    """Edges that join two communities."""
    crossing, key, width = _crossing(level, themes)
    found: Longs = crossing[key == a * width + b]
    return found


@dataclass(frozen=True, slots=True)
class Gap:
    """Two communities with far fewer links than their size would give, and what lies between."""

    a: int
    b: int
    expected: float
    observed: int
    lineages: int
    """Lineages that hold both."""
    middles: tuple[int, ...]
    """Communities that meet both, by number."""


def gaps(level: Level, themes: Themes, least: float, share: float) -> tuple[list[Gap], int]:
    """Pairs with at least ``least`` links expected and at most ``share`` of them there.

    Expected in the configuration model of modularity (Newman 2006): W_A W_B / 2 W, with W_X the
    weighted degrees of a community. Any two communities have fewer links than that, so a pair
    counts only where a link could have been made: two lineages hold both, or a third community
    meets both. Returns the pairs and how many communities were left out.
    """
    strength = np.bincount(
        themes.of[themes.of >= 0], level.degree[themes.of >= 0], len(themes.size)
    )
    candidates = np.flatnonzero(themes.borne)
    ranked = candidates[np.lexsort((candidates, -strength[candidates]))]
    kept = np.sort(ranked[:MOST])
    expected = np.outer(strength[kept], strength[kept]) / max(2 * int(level.weight.sum()), 1)
    seen = _seen(level, themes, kept)
    meets = (seen > 0) & (seen >= MEETS * expected)
    lineages = _held_by_one(level, themes, kept)
    occasion = (lineages >= OCCASIONS) | (meets.astype(np.float64) @ meets > 0)
    wide = np.triu(expected >= least, 1) & (seen <= share * expected) & occasion
    found = [
        Gap(
            *(int(kept[i]), int(kept[j]), round(float(expected[i, j]), 6), int(seen[i, j])),
            int(lineages[i, j]),
            tuple(kept[meets[i] & meets[j]].tolist()),
        )
        for i, j in np.argwhere(wide).tolist()
    ]
    return found, len(ranked) - len(kept)


def _seen(level: Level, themes: Themes, kept: Longs) -> Floats:
    """Links between each two of the communities, symmetric, nothing on the diagonal."""
    known = pairs(level, themes)
    place = np.full(len(themes.size), -1, np.int64)
    place[kept] = np.arange(len(kept))
    row, column = place[known.a], place[known.b]
    inside = (row >= 0) & (column >= 0)
    seen = np.zeros((len(kept), len(kept)))
    seen[row[inside], column[inside]] = known.weight[inside]
    return seen + seen.T


def _held_by_one(level: Level, themes: Themes, kept: Longs) -> Floats:
    """How many lineages hold each two of the communities.

    A lineage holds the community that it lies in, and each of which it knows two nodes.
    """
    from scipy.sparse import coo_array

    ends = np.concatenate((level.u, level.v)), np.concatenate((level.v, level.u))
    lineage = level.kind[ends[0]] == THREAD
    own = np.flatnonzero((level.kind == THREAD) & (themes.of >= 0))
    row = np.concatenate((ends[0][lineage], own, own))  # its own one counts as HELD nodes
    community = themes.of[np.concatenate((ends[1][lineage], own, own))]
    shape = level.n, len(themes.size)
    known = coo_array((np.ones(len(row)), (row, community)), shape=shape).tocsr()[:, kept]
    known.data = (known.data >= HELD).astype(np.float64)
    both: Floats = (known.T @ known).toarray()
    return both


def heads(level: Level, themes: Themes, community: int) -> list[int]:
    """The three concepts that most lineages of the community mention; else its heaviest node."""
    nodes = themes.members(community)
    inside = themes.of == community
    said = ((level.roles & MENTION) > 0) & inside[level.u] & inside[level.v]
    ends = (
        np.concatenate((level.u[said], level.v[said])),
        np.concatenate((level.v[said], level.u[said])),
    )
    from_lineage = level.lineage[ends[1]] >= 0
    df = np.bincount(ends[0][from_lineage], minlength=level.n)
    concepts = nodes[level.kind[nodes] == CONCEPT]
    if len(concepts) == 0:
        return [int(nodes[np.lexsort((nodes, -level.degree[nodes]))[0]])]
    order = np.lexsort((concepts, level.df[concepts], -df[concepts]))
    named: list[int] = concepts[order][:NAMED].tolist()
    return named


def name(role: Role, count: int) -> str:
    """Placeholders for the first listed members of a side: what the community is called."""
    own = (placeholder(role, at) for at in range(1, count + 1))
    return f"the theme {', '.join(own)}"


def placeholder(role: Role, at: int) -> str:
    """What stands in a sentence for the member of a role that is listed at a place, from 1."""
    return f"{{{role}}}" if at == 1 else f"{{{role}_{at}}}"


@dataclass(frozen=True, slots=True)
class Sides:
    """Two communities as the sides of a Seed."""

    members: tuple[tuple[Role, str], ...]
    sizes: dict[str, int]
    names: tuple[str, str]
    """What each is called, as placeholders of a sentence."""
    identity: tuple[Json, ...]
    """Ids of all members, by side."""
    evidence: dict[str, Longs]


def sides(graph: Structure, themes: Themes, communities: tuple[int, int]) -> Sides:
    """Write two communities out as side_a and side_b, named by their concepts."""
    level = graph.level(1)
    roles: tuple[Role, Role] = ("side_a", "side_b")
    groups = [themes.members(community) for community in communities]
    first = [heads(level, themes, community) for community in communities]
    every = (sorted(graph.node_ids(level, nodes.tolist())) for nodes in groups)
    return Sides(
        members=tuple(
            (role, node)
            for role, nodes, own in zip(roles, groups, first, strict=True)
            for node in listed(graph, level, nodes, own)
        ),
        sizes={role: len(nodes) for role, nodes in zip(roles, groups, strict=True)},
        names=(name("side_a", len(first[0])), name("side_b", len(first[1]))),
        identity=tuple(sorted(every)),
        evidence={
            role: graph.evidence(level, nodes) for role, nodes in zip(roles, groups, strict=True)
        },
    )
