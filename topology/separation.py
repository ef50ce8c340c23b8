"""The second proof of a reported cut, and which generic concepts would undo it."""

import numpy as np

from topology import cuts
from topology.cuts import Ints
from topology.model import HUBS_NAMED, Amount, Seed
from topology.structure import Separation, Structure


def holds(graph: Structure, cut: Separation) -> bool:
    """Take the cut out and grow each piece: it must have the claimed size and stay apart."""
    level = graph.level(cut.level)
    for start, size in cut.pieces:
        grown = cuts.reach(level.matrix, start, cut.edges, cut.node)
        if len(grown) != size or cut.outside in grown:
            return False
    return True


def joining_hubs(graph: Structure, cut: Separation) -> tuple[str, ...] | None:
    """Generic concepts through which the pieces meet again; None when they stay apart."""
    if not graph.hubs:
        return None
    level, whole = graph.level(cut.level), graph.whole(cut.level)
    nodes = graph.in_whole(level, np.arange(level.n, dtype=np.int32))
    edges = tuple((int(nodes[a]), int(nodes[b])) for a, b in cut.edges)
    node = int(nodes[cut.node]) if cut.node >= 0 else -1
    start = int(nodes[cut.pieces[0][0]])
    grown = cuts.reach(whole.matrix, start, edges, node)
    if nodes[cut.outside] not in grown:
        return None
    inside = nodes[cuts.reach(level.matrix, cut.pieces[0][0], cut.edges, cut.node)]
    return touching_hubs(graph, cut.level, inside, node)


def touching_hubs(graph: Structure, number: int, inside: Ints, taken: int) -> tuple[str, ...]:
    """Generic concepts next to the piece, those that also touch the rest first, by df then id."""
    whole = graph.whole(number)
    generic = np.zeros(whole.n, np.bool_)
    generic[whole.base >= 0] = graph.generic[whole.base[whole.base >= 0]]
    generic[whole.base < 0] = graph.hidden_lineages[whole.lineage[whole.base < 0]]
    within = np.zeros(whole.n, np.bool_)
    within[inside] = True
    ends = np.concatenate((whole.u, whole.v)), np.concatenate((whole.v, whole.u))
    hub_end = generic[ends[0]]
    near = np.unique(ends[0][hub_end & within[ends[1]]])
    beyond = ~within[ends[1]] & ~generic[ends[1]] & (ends[1] != taken)
    far = np.isin(near, ends[0][hub_end & beyond])
    order = np.lexsort((whole.base[near], -whole.df[near], ~far))
    both = near[order][: max(int(far.sum()), 1)]
    return graph.node_ids(whole, both.tolist())


def soften(graph: Structure, seed: Seed) -> Seed:
    """Mark a Seed whose separation rests on generic concepts being set aside."""
    cut = graph.tally.separations.get(seed.seed_id)
    hubs = joining_hubs(graph, cut) if cut is not None and not seed.soft else None
    if hubs is None:
        return seed
    numbers = (*seed.numbers, Amount(name="hubs", value=len(hubs)))
    return seed.replace(
        soft=True,
        hubs=hubs[:HUBS_NAMED],
        numbers=tuple(sorted(numbers, key=lambda amount: amount.name)),
        sentence=f"{seed.sentence} ({{hubs}} generic concepts set aside)",
    )
