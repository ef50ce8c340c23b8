"""Two concepts that meet the same others, and that no thread ever held together.

Concepts A and B are near if two questions or two waypoints mention both, or a link joins them. A
pair A, C that no lineage holds under any name and no link joins, with at least two B near to both,
is a missing middle; two names of one thing are one.
Score: the sum over B of 1 / log2(1 + df(B)), the form of Adamic and Adar (2003), and 1 when the two
lie in different communities. Gap: two communities of level 1 with at most a fifth of the links that
their size would give, where at least five are due and a link was to be expected: two lineages hold
both, or a third community meets both. The best three are told.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from math import log2
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from graphstore.model.view import CONCEPT, MENTION, QUESTION, SHARED_LINEAGE, THREAD, WAYPOINT
from topology import meetings
from topology.cuts import Ints, Longs, Mask
from topology.evidence import Finding, seed
from topology.level import Level
from topology.model import LISTED_LIMIT, Demand, Limits, Seed, Truncation
from topology.structure import Structure

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    Sparse: TypeAlias = csr_array[Any, tuple[int, int]]

NAME = "missing_middle"
VERSION = 4
ORACLE = "test_missing_middles_are_the_open_pairs_of_adamic_and_adar"

LEAST_BETWEEN = 2
LEAST_TOLD = 2
"""Questions, or waypoints, that say both of two concepts: one alone is a coincidence."""
LEAST_DUE = 5.0
"""Links that two communities should have before their absence says anything."""
SHARE_THERE = 0.2
MOST_GAPS = 3
"""Gaps of one run: each asks for a look at two whole themes."""
ROWS_AT_ONCE = 512
ROUNDING = 1e-6
SINGLE = 1 / log2(3)
"""Most that one middle can give: a higher score has at least two of them."""
_SENTENCE = "{side_a} and {side_b} each meet {via} and {via_2}; no thread is about both."
_BARE = "{side_a} and {side_b} each meet {via} and {via_2}, and never each other."
_LEGS = tuple(
    Demand(side=side, reason="leg_without_ref")
    for side in ("leg_a_1", "leg_b_1", "leg_a_2", "leg_b_2")
)
_DEMANDS = (
    Demand(side="side_a"),
    Demand(side="side_b"),
    *_LEGS,
    Demand(side="", refs=2, threads=2, reason="needs_more_threads"),
)


@dataclass(frozen=True, slots=True)
class _Near:
    """Which concepts meet: what lineages mention, nearness, and what lineages hold together."""

    concepts: Ints
    """Level 0 nodes."""
    by_lineage: "Sparse"
    """Lineage x concept."""
    near: "Sparse"
    """Concepts that something tells of together."""
    together: "Sparse"
    """Concepts that any lineage holds together, told or not."""


@dataclass(frozen=True, slots=True)
class _Scored:
    """Pairs of concept numbers by score, then position."""

    row: Longs
    column: Longs
    score: NDArray[np.float64]

    def with_more(self, other: "_Scored", most: int) -> "_Scored":
        """The best of both."""
        row, column = np.append(self.row, other.row), np.append(self.column, other.column)
        score = np.append(self.score, other.score)
        order = np.lexsort((column, row, -score))[:most]
        return _Scored(row[order], column[order], score[order])


@dataclass(frozen=True, slots=True)
class _Pair:
    a: int
    c: int
    between: tuple[int, ...]
    """Level 0 nodes, those of the smallest df first."""
    score: float

    def order(self) -> tuple[float, int, int, int]:
        return (-self.score, -len(self.between), self.a, self.c)


@dataclass(frozen=True, slots=True)
class _Gap:
    gap: meetings.Gap
    score: float

    def order(self) -> tuple[float, int, int, int]:
        """Behind pairs of one score; the larger expectation first."""
        return (-self.score, 0, self.gap.a, self.gap.b)


def find(graph: Structure, limits: Limits) -> Iterator[Seed]:
    """Yield pairs of level 0 concepts, best first."""
    known = _near(graph)
    found = (pair for pair in _pairs(graph, known, limits) if not _in_one_knot(graph, pair))
    ranked: list[_Pair | _Gap] = [*found, *_gaps(graph)]
    ranked.sort(key=lambda one: one.order())
    graph.tally.found[NAME] = len(ranked)
    for one in ranked:
        if isinstance(one, _Gap):
            yield _gap_seed(graph, one)
        elif not _is_met_otherwise(graph, known, one):
            yield _seed(graph, one)


def _in_one_knot(graph: Structure, pair: _Pair) -> bool:
    """Both ends in one dense group: the knot says more than the pair."""
    base = graph.level(0).base
    a, c = int(graph.place[base[pair.a]]), int(graph.place[base[pair.c]])
    return any(a in nodes and c in nodes for nodes in graph.knots)


def _near(graph: Structure) -> _Near:
    level = graph.level(0)
    concepts = np.flatnonzero((level.kind == CONCEPT) & (level.df > 1)).astype(np.int32)
    at = np.full(level.n, -1, np.int32)
    at[concepts] = np.arange(len(concepts), dtype=np.int32)
    holder, concept, told = _mentions(level, at)
    size = level.n, len(concepts)
    chosen = (told & (level.kind[holder] == kind) for kind in (QUESTION, WAYPOINT))
    held = [_incidence(holder[own], concept[own], size) for own in chosen]
    linked = (at[level.u] >= 0) & (at[level.v] >= 0)
    links, stated = (_linked(at, level, linked & mask) for mask in (True, level.told))
    lineage, said = _by_lineage(level, holder, concept)
    by_lineage = _incidence(lineage, said, (int(lineage.max(initial=0)) + 1, len(concepts)))
    return _Near(
        concepts,
        by_lineage,
        _without_diagonal(_often(held[0]) + _often(held[1]) + stated),
        _met(by_lineage, links),
    )


def _linked(at: Ints, level: Level, chosen: Mask) -> "Sparse":
    """Concepts that a link joins, both ways."""
    ends, size = (at[level.u[chosen]], at[level.v[chosen]]), int(at.max(initial=-1)) + 1
    return _incidence(np.concatenate(ends), np.concatenate(ends[::-1]), (size, size))


def _mentions(level: Level, at: Ints) -> tuple[Ints, Longs, Mask]:
    """Holder (level 0 node) and concept (number) of every mention, and whether it is told."""
    said = (level.roles & MENTION) > 0
    forward, backward = said & (at[level.v] >= 0), said & (at[level.u] >= 0)
    holder = np.concatenate((level.u[forward], level.v[backward]))
    concept = np.concatenate((at[level.v[forward]], at[level.u[backward]]))
    told = np.concatenate((level.told[forward], level.told[backward]))
    return holder, concept.astype(np.int64), told


def _by_lineage(level: Level, holder: Ints, concept: Longs) -> tuple[Longs, Longs]:
    """Lineage and concept of every mention; a shared question speaks for all of its threads."""
    own = level.lineage[holder] >= 0
    shared = level.lineage == SHARED_LINEAGE
    threads = [
        (one[hit], level.lineage[other[hit]])
        for one, other in ((level.u, level.v), (level.v, level.u))
        for hit in (shared[one] & (level.kind[other] == THREAD),)
    ]
    question = np.concatenate([pair[0] for pair in threads])
    lineage = np.concatenate([pair[1] for pair in threads])
    asked = _incidence(lineage, question, (int(level.lineage.max(initial=0)) + 1, level.n))
    said = _incidence(holder[~own], concept[~own], (level.n, int(concept.max(initial=0)) + 1))
    both = (asked @ said).tocoo()
    return (
        np.concatenate((level.lineage[holder[own]], both.coords[0])).astype(np.int64),
        np.concatenate((concept[own], both.coords[1])).astype(np.int64),
    )


def _incidence(rows: Any, columns: Any, shape: tuple[int, int]) -> "Sparse":  # noqa: ANN401 - any integer arrays
    from scipy.sparse import coo_array

    made = coo_array((np.ones(len(rows)), (rows, columns)), shape=shape).tocsr()
    made.data[:] = 1.0
    return made


def _often(held: "Sparse") -> "Sparse":
    """Which concepts at least two of the holders hold together: one alone is a coincidence."""
    together = (held.T @ held).tocoo()
    row, column = (axis[together.data >= LEAST_TOLD] for axis in together.coords)
    return _incidence(row, column, together.shape)


def _met(held: "Sparse", links: "Sparse") -> "Sparse":
    """Which concepts something holds together, or a link joins."""
    together = (held.T @ held).tocsr()
    return (together + links).tocsr() if links.nnz else together


def _without_diagonal(matrix: "Sparse") -> "Sparse":
    found = matrix.tocoo()
    row, column = found.coords
    apart = row != column
    return _incidence(row[apart], column[apart], matrix.shape)


def _pairs(graph: Structure, known: _Near, limits: Limits) -> Iterator[_Pair]:
    """The best pairs, from paths over the middles that the wedge cap admits."""
    df = graph.level(0).df[known.concepts]
    middles = _middles(graph, known, limits)
    near = known.near[:, middles].tocsr()
    share = 1 / np.log2(1 + df[middles])
    best = _best(near, share, known.together, limits.pairs)
    ends = known.concepts[best.row], known.concepts[best.column]
    scores = np.round(best.score + graph.in_two_themes(graph.level(0), *ends), 6)
    rows = (best.row.tolist(), best.column.tolist(), scores.tolist())
    for a, c, score in zip(*rows, strict=True):
        one = near.indices[near.indptr[a] : near.indptr[a + 1]]
        other = near.indices[near.indptr[c] : near.indptr[c + 1]]
        both = middles[np.intersect1d(one, other)]
        ordered = known.concepts[both[np.lexsort((both, df[both]))]]
        pair = _Pair(int(known.concepts[a]), int(known.concepts[c]), tuple(ordered.tolist()), score)
        if not _is_one_thing(graph, pair):
            yield pair


def _is_one_thing(graph: Structure, pair: _Pair) -> bool:
    """One thing under two names is no gap, nor is a gap with fewer than two other middles."""
    base = graph.level(0).base
    names = [int(base[pair.a]), int(base[pair.c])]
    if graph.may_be_one(*names):
        return True
    for at in base[list(pair.between)].tolist():
        if not any(graph.may_be_one(at, other) for other in names):
            names.append(at)
        if len(names) == LEAST_BETWEEN + 2:
            return False
    return True


def _is_met_otherwise(graph: Structure, known: _Near, pair: _Pair) -> bool:
    """Whether a lineage that holds one end holds the other one under another name."""
    base = graph.level(0).base[known.concepts]
    ends = np.searchsorted(known.concepts, (pair.a, pair.c)).tolist()
    for one, other in (ends, ends[::-1]):
        lineages = known.by_lineage[:, [one]].nonzero()[0]
        held = np.unique(known.by_lineage[lineages].indices)
        names = (int(base[at]) for at in held.tolist() if at != one)
        if any(graph.may_be_one(name, int(base[other])) for name in names):
            return True
    return False


def _middles(graph: Structure, known: _Near, limits: Limits) -> Longs:
    """Concepts that may stand between, by rising degree until the wedges are used up."""
    degree = np.diff(known.near.indptr).astype(np.int64)
    order = np.lexsort((np.arange(len(degree)), degree))
    kept = int(np.searchsorted(np.cumsum(degree[order] ** 2), limits.wedges, side="right"))
    if kept < len(order):
        left_out = Truncation(shape=NAME, what="middles", done=kept, of=len(order))
        graph.tally.truncated.append(left_out)
    return np.sort(order[:kept])


def _best(near: "Sparse", share: NDArray[np.float64], together: "Sparse", most: int) -> _Scored:
    """The best pairs (row < column) with two middles that nothing holds together."""
    weighted = near.copy()
    weighted.data = share[near.indices]  # the pattern of near, so that counts line up with scores
    back = near.T.tocsr()
    together.sort_indices()
    best = _Scored(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0, np.float64))
    for first in range(0, near.shape[0], ROWS_AT_ONCE):
        rows = slice(first, first + ROWS_AT_ONCE)
        floor = float(best.score[-1]) if len(best.score) == most else 0.0
        paths = (weighted[rows] @ back).tocoo()
        row, column = (axis.astype(np.int64) for axis in paths.coords)
        good = (row + first < column) & (paths.data > floor - ROUNDING)
        if floor <= SINGLE:
            good &= (near[rows] @ back).tocoo().data >= LEAST_BETWEEN  # the same pattern, counted
        row, column, score = row[good] + first, column[good], np.round(paths.data[good], 6)
        apart = ~_is_in(together[rows], row - first, column)
        best = best.with_more(_Scored(row[apart], column[apart], score[apart]), most)
    return best


def _is_in(matrix: "Sparse", row: Longs, column: Longs) -> NDArray[np.bool_]:
    """Whether each place of a matrix with sorted rows holds something."""
    held = matrix.tocoo()
    width = np.int64(matrix.shape[1])
    keys = np.append(held.coords[0].astype(np.int64) * width + held.coords[1], -1)
    asked = row * width + column
    found: NDArray[np.bool_] = keys[np.searchsorted(keys[:-1], asked)] == asked
    return found


def _seed(graph: Structure, pair: _Pair) -> Seed:
    level = graph.level(0)
    sides = {"side_a": pair.a, "side_b": pair.c}
    evidence = {side: graph.around(level, node) for side, node in sides.items()}
    for number, middle in enumerate(pair.between[:LEAST_BETWEEN], start=1):
        evidence[f"leg_a_{number}"] = _leg(graph, level, pair.a, middle)
        evidence[f"leg_b_{number}"] = _leg(graph, level, pair.c, middle)
    ends = graph.node_ids(level, (pair.a, pair.c))
    return seed(
        graph,
        Finding(
            shape=NAME,
            kind="pair",
            level=0,
            score=pair.score,
            sentence=_SENTENCE,
            bare=_BARE,
            identity=tuple(sorted(ends)),
            members=(
                ("side_a", ends[0]),
                ("side_b", ends[1]),
                *(("via", node) for node in graph.node_ids(level, pair.between[:LISTED_LIMIT])),
            ),
            numbers={"middles": len(pair.between)},
            sizes={"side_a": 1, "side_b": 1, "via": len(pair.between)},
            demands=_DEMANDS,
            evidence=evidence,
        ),
    )


def _leg(graph: Structure, level: Level, one: int, other: int) -> Longs:
    """Turns by which two concepts are near: their link, or what asks about both."""
    holders = np.intersect1d(level.neighbours(one), level.neighbours(other))
    holders = holders[np.isin(level.kind[holders], (QUESTION, WAYPOINT))].tolist()
    edges = [level.edge_between(one, other)]
    edges += [level.edge_between(node, holder) for holder in holders for node in (one, other)]
    return graph.turns(level, [edge for edge in edges if edge >= 0])


def _gaps(graph: Structure) -> list[_Gap]:
    """Communities that hardly meet although they could: the best few."""
    if graph.themes is None or not graph.view.has_refs:
        return []
    found, left_out = meetings.gaps(graph.level(1), graph.themes, LEAST_DUE, SHARE_THERE)
    if left_out:
        of = meetings.MOST + left_out
        cut = Truncation(shape=NAME, what="communities", done=meetings.MOST, of=of)
        graph.tally.truncated.append(cut)
    ranked = sorted((_Gap(gap, _gap_score(gap)) for gap in found), key=_Gap.order)
    return graph.tally.best(ranked, MOST_GAPS, NAME, "gaps")


def _gap_score(gap: meetings.Gap) -> float:
    """What is missing times what lies between, then the larger expectation."""
    between = log2(1 + gap.lineages + len(gap.middles))
    missing = 1 - gap.observed / gap.expected
    return round(missing * between + log2(gap.expected) / 100, 6)


def _gap_seed(graph: Structure, found: _Gap) -> Seed:
    assert graph.themes is not None  # noqa: S101 - a gap was found among them
    gap = found.gap
    sides = meetings.sides(graph, graph.themes, (gap.a, gap.b))
    a, b = sides.names
    via = meetings.heads(graph.level(1), graph.themes, gap.middles[0]) if gap.middles else []
    if gap.lineages >= meetings.OCCASIONS:
        between = "{lineages} threads hold both"
    else:
        between = f"both meet {meetings.name('via', len(via))}"
    return seed(
        graph,
        Finding(
            shape=NAME,
            kind="gap",
            level=2,
            score=found.score,
            sentence=f"T{a[1:]} and {b} share {{links}} links where their size would give {{due}}; "
            f"{between}.",
            identity=sides.identity,
            members=(
                *sides.members,
                *(("via", node) for node in graph.node_ids(graph.level(1), via)),
            ),
            numbers={
                "links": gap.observed,
                "due": round(gap.expected, 1),
                "lineages": gap.lineages,
                "middles": len(gap.middles),
            },
            sizes=sides.sizes,
            weight=gap.observed,
            demands=(Demand(side="side_a"), Demand(side="side_b")),
            evidence=sides.evidence,
        ),
    )
