"""Evidence gates: the demands of a Seed, checked without knowing its shape."""

from collections.abc import Callable, Hashable
from typing import Final

from topology.model import Demand, Seed

ANY_SIDE: Final = ""


def shortfall(seed: Seed, lineage_of: Callable[[str], Hashable]) -> tuple[str, ...]:
    """Reasons why the refs of a Seed do not carry it, each once, sorted; empty if they do.

    Threads of one lineage are one thread: a resumed or forked conversation is no second witness.
    """
    return tuple(
        sorted({demand.reason for demand in seed.demands if not _met(seed, demand, lineage_of)})
    )


def _met(seed: Seed, demand: Demand, lineage_of: Callable[[str], Hashable]) -> bool:
    refs = {ref.ref for ref in seed.refs if demand.side in {ANY_SIDE, ref.side}}
    threads = {lineage_of(ref) for ref in refs}
    return len(refs) >= demand.refs and len(threads) >= demand.threads


def carried_by(
    seed: Seed, resolved: Callable[[str], bool], lineage_of: Callable[[str], Hashable]
) -> bool:
    """Whether the gate still holds when only the refs that resolve are counted."""
    kept = tuple(ref for ref in seed.refs if resolved(ref.ref))
    return not shortfall(seed.replace(refs=kept), lineage_of)
