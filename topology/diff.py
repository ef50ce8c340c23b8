"""What changed between two runs with the same parameters."""

from collections.abc import Iterable, Sequence
from itertools import product
from typing import Final

from graphstore.model.base import Value
from topology.model import Member, Scouted, Seed

SAME: Final = 0.5
"""Least Jaccard overlap of members for a changed island, knot or pair of themes to be the same."""
_BY_MEMBERS: Final = frozenset({"component", "dense", "obligation", "theme", "gap"})
"""Kinds whose identity is all of their members: one more makes another id."""


class Baseline(Value):
    """The run that is compared with, and the Seeds that it left standing."""

    run_id: str
    seeds: tuple[Seed, ...]


class Persisting(Value):
    """A Seed that is still there."""

    seed_id: str
    was: str = ""
    """Its id then, where its members changed."""


class Diff(Value):
    """Seeds of two runs, each in one list only."""

    new: tuple[str, ...]
    persisting: tuple[Persisting, ...]
    resolved: tuple[str, ...]
    """No longer there."""
    not_checked: tuple[str, ...]
    """Not asked for this time, beyond a cap, or withheld: nothing is known of them."""


def diff(scouted: Scouted, shown: Sequence[Seed], before: Baseline) -> Diff:
    """Compare the Seeds that are shown with those of an earlier run."""
    known = {seed.seed_id for seed in before.seeds}
    now = {seed.seed_id for seed in shown}
    gone = [seed for seed in before.seeds if seed.seed_id not in now]
    fresh = [seed for seed in shown if seed.seed_id not in known]
    was = dict(_renamed(gone, fresh))
    unknown = {
        seed.seed_id for seed in gone if seed.seed_id not in was and _is_open(scouted, seed, now)
    }
    came_from = {new: old for old, new in was.items()}
    return Diff(
        new=_ids(seed for seed in fresh if seed.seed_id not in came_from),
        persisting=tuple(
            Persisting(seed_id=name, was=came_from.get(name, ""))
            for name in sorted(now & (known | came_from.keys()))
        ),
        resolved=_ids(s for s in gone if s.seed_id not in was and s.seed_id not in unknown),
        not_checked=tuple(sorted(unknown)),
    )


def _ids(seeds: Iterable[Seed]) -> tuple[str, ...]:
    return tuple(sorted(seed.seed_id for seed in seeds))


def _renamed(gone: Sequence[Seed], fresh: Sequence[Seed]) -> Iterable[tuple[str, str]]:
    """Old and new id of Seeds with most members in common: best first, each used once."""
    pairs = [
        (-overlap, old.seed_id, new.seed_id)
        for old, new in product(gone, fresh)
        if old.kind in _BY_MEMBERS and (old.shape, old.kind) == (new.shape, new.kind)
        for overlap in (_jaccard(old.members, new.members),)
        if overlap >= SAME
    ]
    used: set[str] = set()
    for _, old_id, new_id in sorted(pairs):
        if not used & {old_id, new_id}:
            used |= {old_id, new_id}
            yield old_id, new_id


def _jaccard(one: Sequence[Member], other: Sequence[Member]) -> float:
    a, b = ({member.node_id for member in members} for members in (one, other))
    return len(a & b) / len(a | b)


def _is_open(scouted: Scouted, seed: Seed, shown: set[str]) -> bool:
    """Whether the Seed could still be there without having been shown."""
    if seed.provenance == "annotated":
        return not scouted.notes_read
    counts = next((row for row in scouted.metrics if row.shape == seed.shape), None)
    found = {one.seed_id for one in scouted.seeds}
    denied = {row.seed_id for row in scouted.rejected}
    return (
        counts is None
        or seed.seed_id in (found - shown) | denied
        or counts.found > counts.tried
        or counts.withheld > 0
        or any(cut.shape == seed.shape for cut in scouted.truncated)
    )
