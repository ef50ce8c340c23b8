"""A Seed from its parts: identity, listed members, and the turns that its gate asks for."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from graphstore import ids
from topology.cuts import Ints, Longs
from topology.level import Level
from topology.model import (
    LISTED_LIMIT,
    REF_LIMIT,
    Amount,
    Demand,
    LevelNumber,
    Member,
    Provenance,
    Role,
    Seed,
    SeedRef,
)
from topology.structure import Separation, Structure

ANY = ""


@dataclass(frozen=True, slots=True)
class Finding:
    """What a shape knows about one candidate, before ids and refs are written out."""

    shape: str
    kind: str
    level: LevelNumber | None
    score: float
    sentence: str
    identity: tuple[ids.Json, ...]
    members: tuple[tuple[Role, str], ...]
    numbers: Mapping[str, int | float]
    demands: tuple[Demand, ...]
    evidence: Mapping[str, Longs]
    """Keys of turns for each side, best first."""
    sizes: Mapping[str, int] = field(default_factory=dict)
    weight: int = 0
    soft: bool = False
    hubs: tuple[str, ...] = ()
    also_at: tuple[int, ...] = ()
    separation: Separation | None = None
    claim: Literal["", "none_before_reopen"] = ""
    bare: str = ""
    """Sentence for a graph without threads and turns, where it must be another one."""


def seed_id(
    shape: str,
    kind: str,
    level: int | None,
    identity: Sequence[ids.Json],
    provenance: Provenance = "computed",
) -> str:
    """``s:`` and a hash of what makes a Seed the same one: no score, weight or view."""
    return "s:" + ids.digest(shape, kind, level, provenance, identity)


def seed(graph: Structure, found: Finding) -> Seed:
    """Write a finding out as a Seed, with at most 24 refs: those that its gate demands first."""
    made = Seed(
        seed_id=seed_id(found.shape, found.kind, found.level, list(found.identity)),
        shape=found.shape,
        kind=found.kind,
        level=found.level,
        also_at=found.also_at,
        members=tuple(Member(role=role, node_id=node) for role, node in found.members),
        score=found.score,
        sizes=_amounts(found.sizes),
        weight=found.weight,
        numbers=_amounts(found.numbers),
        refs=_refs(graph, found.demands, found.evidence),
        demands=found.demands if graph.view.has_refs else (),
        sentence=found.sentence if graph.view.has_refs else found.bare or found.sentence,
        hubs=found.hubs,
        soft=found.soft,
        claim=found.claim,
    )
    if found.separation is not None:
        graph.tally.separations[made.seed_id] = found.separation
    return made


def _amounts(figures: Mapping[str, int | float]) -> tuple[Amount, ...]:
    return tuple(
        Amount(name=name, value=value if isinstance(value, int) else round(value, 6))
        for name, value in sorted(figures.items())
    )


def listed(
    graph: Structure, level: Level, nodes: Ints, first: Sequence[int] = ()
) -> tuple[str, ...]:
    """Ids of at most 50 nodes: those given first, then by weighted degree, then id."""
    degree, most = level.degree[nodes], LISTED_LIMIT + len(first)
    if len(nodes) > most:
        high = degree >= np.partition(degree, len(nodes) - most)[len(nodes) - most]
        nodes, degree = nodes[high], degree[high]
    ranked = nodes[np.lexsort((nodes, -degree))].tolist()
    rest = [node for node in ranked if node not in first]
    return graph.node_ids(level, [*first, *rest[: LISTED_LIMIT - len(first)]])


def _refs(
    graph: Structure, demands: Sequence[Demand], evidence: Mapping[str, Longs]
) -> tuple[SeedRef, ...]:
    pools = {side: _Pool.of(graph, keys) for side, keys in evidence.items()}
    chosen = _Chosen()
    for demand in sorted(demands, key=lambda demand: demand.side == ANY):
        chosen.satisfy(demand, pools)
    chosen.fill(pools)
    refs = [SeedRef(ref=graph.ref(key), side=side) for side, key in chosen.taken]
    return tuple(refs)


@dataclass(frozen=True, slots=True)
class _Pool:
    """A short list of (key, lineage): the first of each lineage, then the others."""

    keys: tuple[tuple[int, int], ...]

    @classmethod
    def of(cls, graph: Structure, keys: Longs) -> "_Pool":
        lineages = graph.lineages_of(keys)
        _, first = np.unique(lineages, return_index=True)
        heads = np.sort(first)[:REF_LIMIT]
        others = np.setdiff1d(np.arange(min(len(keys), 2 * REF_LIMIT)), heads)
        kept = np.concatenate((heads, others))[: 2 * REF_LIMIT].astype(np.int64)
        return cls(tuple(zip(keys[kept].tolist(), lineages[kept].tolist(), strict=True)))


@dataclass(slots=True)
class _Chosen:
    """Refs taken so far, in order, with the lineages they bring."""

    taken: list[tuple[str, int]] = field(default_factory=list)
    lineages: dict[str, set[int]] = field(default_factory=dict)

    def satisfy(self, demand: Demand, pools: Mapping[str, _Pool]) -> None:
        """Take what the demand lacks: new lineages first."""
        sides = list(pools) if demand.side == ANY else [demand.side]
        for new_only in (True, False):
            for side in sides:
                for key, lineage in pools[side].keys:
                    if self._met(demand):
                        return
                    if not new_only or lineage not in self.lineages.get(ANY, set()):
                        self.take(side, key, lineage)

    def _met(self, demand: Demand) -> bool:
        refs = {key for side, key in self.taken if demand.side in {ANY, side}}
        seen = self.lineages.get(demand.side, set())
        return len(refs) >= demand.refs and len(seen) >= demand.threads

    def fill(self, pools: Mapping[str, _Pool]) -> None:
        """Add what else there is, side by side, up to the limit."""
        longest = max((len(pool.keys) for pool in pools.values()), default=0)
        for at in range(longest):
            for side, pool in pools.items():
                if at < len(pool.keys):
                    self.take(side, *pool.keys[at])

    def take(self, side: str, key: int, lineage: int) -> None:
        """Take one ref for one side, unless it is there or the list is full."""
        if len(self.taken) >= REF_LIMIT or (side, key) in self.taken:
            return
        self.taken.append((side, key))
        for name in (ANY, side):
            self.lineages.setdefault(name, set()).add(lineage)
