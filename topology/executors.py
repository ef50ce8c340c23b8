"""Where bridges and components are found: here, or part by part in processes or Spark.

Parts cost more work than one machine that holds the graph; they are for graphs that none holds. The
answer is the same, so nothing of a report says where it was found.
"""

from collections.abc import Callable
from typing import Final

import numpy as np

from topology.cuts import Longs
from topology.level import Level
from topology.partition import Cuts

PARTS: Final = 4
WORKERS: Final = 2
INLINE: Final = "inline"


def by_processes(level: Level) -> Cuts:
    """Cuts of a level by processes of this machine, a part for each quarter of the lineages."""
    from topology.pool import cuts_by_processes

    u, v = (ends.astype(np.int64) for ends in (level.u, level.v))
    return cuts_by_processes(u, v, shards(level), WORKERS)


def by_spark(level: Level) -> Cuts:
    """The same by Spark on this machine.

    Raises ExecutorUnavailable without pyspark or Java.
    """
    from topology.spark import cuts_here

    u, v = (ends.astype(np.int64) for ends in (level.u, level.v))
    return cuts_here(u, v, shards(level), PARTS)


EXECUTORS: Final[dict[str, Callable[[Level], Cuts] | None]] = {
    INLINE: None,
    "processes": by_processes,
    "spark": by_spark,
}


def shards(level: Level) -> Longs:
    """Part of each edge: that of the lineage at its first end, else at the other; else the first.

    What one lineage says lies together, so that few nodes lie in two parts.
    """
    one, other = level.lineage[level.u], level.lineage[level.v]
    lineage = np.maximum(np.where(one >= 0, one, other), 0).astype(np.int64)
    return lineage * PARTS // (int(level.lineage.max(initial=0)) + 1)
