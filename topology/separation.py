"""The second proof of a reported cut, and which generic concepts would undo it."""

import numpy as np

from graphstore.columns import unique
from topology import cuts
from topology.cuts import Ints, Mask
from topology.model import HUBS_NAMED, Amount, Seed
from topology.structure import Separation, Structure

AROUND = 1000
"""Nodes around what lies outside that are looked at first."""


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
    level = graph.level(cut.level)
    inside = cuts.reach(level.matrix, cut.pieces[0][0], cut.edges, cut.node)
    if not _meet(graph, cut, inside):
        return None
    taken = int(graph.in_whole(level, np.array([cut.node]))[0]) if cut.node >= 0 else -1
    return touching_hubs(graph, cut.level, graph.in_whole(level, inside), taken)


def _meet(graph: Structure, cut: Separation, inside: Ints) -> bool:
    """Whether the first piece reaches what lies outside once generic concepts are put back.

    Mostly some of them touch the piece and the neighbourhood of what lies outside of it; only
    where none does, the whole graph is searched.
    """
    level = graph.level(cut.level)
    around = cuts.reach(level.matrix, cut.outside, cut.edges, cut.node, AROUND)
    _, hub, other = graph.hub_ends(cut.level)
    here, there = (hub[_mask(graph, cut.level, nodes)[other]] for nodes in (inside, around))
    if np.intersect1d(here, there).size:
        return True
    whole = graph.whole(cut.level)
    ends = np.array([*(node for edge in cut.edges for node in edge), cut.node, cut.outside])
    *pairs, node, outside = graph.in_whole(level, ends).tolist()
    edges = tuple(zip(pairs[::2], pairs[1::2], strict=True))
    start = graph.in_whole(level, inside[:1])
    grown = cuts.reach(whole.matrix, start, edges, node if cut.node >= 0 else -1)
    return outside in grown


def _mask(graph: Structure, number: int, nodes: Ints) -> Mask:
    mask = np.zeros(graph.whole(number).n, np.bool_)
    mask[graph.in_whole(graph.level(number), nodes)] = True
    return mask


def touching_hubs(graph: Structure, number: int, inside: Ints, taken: int) -> tuple[str, ...]:
    """Generic concepts next to the piece, those that also touch the rest first, by df then id."""
    whole = graph.whole(number)
    generic, hub, other = graph.hub_ends(number)
    within = np.zeros(whole.n, np.bool_)
    within[inside] = True
    near = unique(hub[within[other]])
    beyond = np.zeros(whole.n, np.bool_)
    beyond[hub[~within[other] & ~generic[other] & (other != taken)]] = True
    order = np.lexsort((whole.base[near], -whole.df[near], ~beyond[near]))
    both = near[order][: max(int(beyond[near].sum()), 1)]
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
