"""Two Journeys that rest on common turns and were never joined.

Overlap: at least one turn on which both rest. Residue: at least one of the common turns is an
attempt that failed on one of them, while the other does not say so. Journeys that were merged, or
of which one goes on where the other stands, are one route. Common words are never enough: they
give a control, not a Seed. What such a pair means is not known before the turns are read again.
"""

from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from graphstore.model.view import CONCEPT, NO_DAY, SUCCESSION, Route
from topology.evidence import Finding, seed, seed_id
from topology.model import Control, Demand, Limits, Seed, Truncation
from topology.structure import Structure

NAME = "shadow_route"
VERSION = 1
ORACLE = "test_shadow_routes_are_the_pairs_of_journeys_with_a_common_turn"

VOCABULARY = "shared_vocabulary_without_source_or_residue"
_SENTENCES = {
    "overlap": "{member} and {member_2} rest on {n} common turns and are never linked.",
    "residue": (
        "{member} and {member_2} rest on {n} common turns and are never linked; "
        "{residue} failed attempts of one are no failure in the other."
    ),
}


@dataclass(frozen=True, slots=True)
class _Pair:
    one: Route
    other: Route
    common: tuple[str, ...]
    failed: tuple[str, ...]
    """Common turns that are a failed attempt of exactly one."""
    day: int

    @property
    def kind(self) -> str:
        return "residue" if self.failed else "overlap"

    def order(self) -> tuple[int, int, str, str]:
        score = len(self.common) + len(self.failed)
        return (-score, -self.day, self.one.journey_id, self.other.journey_id)


def find(graph: Structure, limits: Limits) -> Iterator[Seed]:
    """Yield pairs of Journeys with common turns, those with the most first."""
    routes = graph.view.journeys
    joined = _joined(graph)
    near = _pairs(graph, ((route.refs, at) for at, route in enumerate(routes)), limits)
    found = [_pair(graph, pair) for pair in sorted(near - joined)]
    graph.tally.found[NAME] = len(found)
    graph.tally.controls += _controls(graph, limits, near | joined)
    for pair in sorted(found, key=_Pair.order):
        yield _seed(graph, pair)


def _joined(graph: Structure) -> set[tuple[int, int]]:
    """Pairs of Journeys that are one route: merged, or one goes on from the other."""
    routes = graph.view.journeys
    into = {route.journey_id: route.merged_into for route in routes}
    same: dict[str, list[int]] = {}
    for at, route in enumerate(routes):
        same.setdefault(_end(into, route.journey_id), []).append(at)
    of = {node: at for at, route in enumerate(routes) for node in route.waypoints}
    steps = graph.view.arcs[graph.view.arcs[:, 2] == SUCCESSION, :2].tolist()
    found = {(min(of[a], of[b]), max(of[a], of[b])) for a, b in steps if a in of and b in of}
    return found.union(*(combinations(group, 2) for group in same.values()))


def _end(into: Mapping[str, str | None], name: str) -> str:
    """The Journey into which one was merged in the end."""
    seen = {name}
    while (following := into.get(name)) is not None and following not in seen:
        seen.add(following)
        name = following
    return name


def _pairs(
    graph: Structure, held: Iterable[tuple[Iterable[Hashable], int]], limits: Limits
) -> set[tuple[int, int]]:
    """Pairs of Journeys that hold something in common, what few hold first, up to the cap."""
    holders: dict[Hashable, list[int]] = {}
    for things, journey in held:
        for thing in things:
            holders.setdefault(thing, []).append(journey)
    groups = sorted(
        {tuple(group) for group in holders.values()}, key=lambda group: (len(group), group)
    )
    pairs: set[tuple[int, int]] = set()
    work = 0
    for done, group in enumerate(groups):
        work += len(group) ** 2
        if work > limits.wedges:
            cut = Truncation(shape=NAME, what="common holders", done=done, of=len(groups))
            graph.tally.truncated.append(cut)
            break
        pairs.update(combinations(group, 2))
    return pairs


def _pair(graph: Structure, pair: tuple[int, int]) -> _Pair:
    one, other = (graph.view.journeys[at] for at in pair)
    common = sorted(set(one.refs).intersection(other.refs))
    failed = set(one.failed_refs).symmetric_difference(other.failed_refs)
    day = int(graph.view.day[[*one.waypoints, *other.waypoints]].max(initial=NO_DAY))
    return _Pair(one, other, tuple(common), tuple(r for r in common if r in failed), day)


def _controls(graph: Structure, limits: Limits, known: set[tuple[int, int]]) -> Iterator[Control]:
    """Journeys whose waypoints mention one concept, and that share nothing else."""
    level, routes = graph.level(0), graph.view.journeys
    at = np.full(len(graph.view.ids), -1, np.int64)
    at[level.base] = np.arange(level.n)

    def words(route: Route) -> set[Hashable]:
        near = [level.neighbours(int(at[node])) for node in route.waypoints]
        return {node for nodes in near for node in nodes[level.kind[nodes] == CONCEPT].tolist()}

    alike = _pairs(graph, ((words(route), n) for n, route in enumerate(routes)), limits)
    for one, other in sorted(alike - known)[: limits.pairs]:
        names = [routes[one].journey_id, routes[other].journey_id]
        subject = seed_id(NAME, "overlap", None, names)
        yield Control(reason=VOCABULARY, shape=NAME, subject=subject)


def _seed(graph: Structure, pair: _Pair) -> Seed:
    names = (pair.one.journey_id, pair.other.journey_id)
    keys = {"common": pair.common, "residue": pair.failed}
    return seed(
        graph,
        Finding(
            shape=NAME,
            kind=pair.kind,
            level=None,
            score=float(len(pair.common) + len(pair.failed)),
            sentence=_SENTENCES[pair.kind],
            identity=names,
            members=tuple(("member", name) for name in names),
            numbers={"n": len(pair.common), "residue": len(pair.failed)},
            sizes={"member": len(names)},
            weight=len(pair.common),
            demands=(Demand(side="common"),),
            evidence={
                side: np.array([graph.key(ref) for ref in refs], np.int64)
                for side, refs in keys.items()
            },
            claim="none_before_reopen",
        ),
    )
