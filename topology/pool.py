"""Cuts of a graph in parts, summarised by processes of their own."""

from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import numpy as np

from topology.cuts import Longs
from topology.partition import Cuts, Summary, finish, merge, partition_summary, shared_vertices


def cuts_by_processes(
    u: Longs, v: Longs, shard: Longs, workers: int, *, contracted: bool = True
) -> Cuts:
    """Cuts of the edges u-v, one part for each number in ``shard``.

    ``contracted`` parts send little when few vertices lie in two of them, but tell no cut points.
    Processes are spawned, not forked, so that it is the same everywhere.
    """
    boundary = shared_vertices(u, v, shard) if contracted else None
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        parts = [(u[own], v[own], boundary) for own in _parts(shard)]
        summaries: Sequence[Summary] = list(pool.map(partition_summary, *zip(*parts, strict=True)))
    return finish(merge(summaries, contracted=contracted), contracted=contracted)


def _parts(shard: Longs) -> list[Longs]:
    """Edges of each shard, in order."""
    order = np.argsort(shard, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(shard[order])) + 1)
