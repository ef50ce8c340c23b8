"""The graph as arrays: what the scout reads."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

THREAD, QUESTION, CONCEPT, WAYPOINT = range(4)
KINDS = ("thread", "question", "concept", "waypoint")

# edge role bits
CONTAINMENT, MENTION, LINK = 1, 2, 4

# node flag bits
GENERIC, VISITED, OPEN, RESOLVED = 1, 2, 4, 8

# relation codes of arcs
SUCCESSION, EVOLVING, DEPENDS_ON, CAUSES = range(4)

NO_DAY = np.iinfo(np.int32).min
CONCEPT_LINEAGE, SHARED_LINEAGE = -1, -2


@dataclass(frozen=True, slots=True)
class Route:
    """A Journey as the scout sees it: its waypoints and the turns it rests on."""

    journey_id: str
    waypoints: tuple[int, ...]
    """Node positions."""
    refs: tuple[str, ...]
    failed_refs: tuple[str, ...] = ()
    """Refs of recorded attempts that failed."""
    merged_into: str | None = None


@dataclass(frozen=True, slots=True)
class GraphView:
    """Nodes sorted by (kind, UTF-8 bytes of id), edges by (u, v); positions are canonical.

    A buffer, not a Value: it is never serialised. ``n`` nodes, ``m`` edges, ``t`` threads.
    """

    ids: tuple[str, ...]
    """Primary keys, length n."""
    kind: NDArray[np.int8]
    """n: index into KINDS."""
    lineage: NDArray[np.int32]
    """n: number of the lineage; CONCEPT_LINEAGE for concepts, SHARED_LINEAGE for questions of several."""
    ref_thread: NDArray[np.int32]
    """n: position in ``threads`` of the smallest clean source turn, -1 if none."""
    ref_turn: NDArray[np.int32]
    day: NDArray[np.int32]
    """n: newest turn in days since 1970-01-01 UTC; NO_DAY if unknown."""
    flags: NDArray[np.uint8]
    u: NDArray[np.int32]
    v: NDArray[np.int32]
    """m: ends, u < v."""
    weight: NDArray[np.int32]
    """m: distinct source turns."""
    roles: NDArray[np.uint8]
    edge_ref_thread: NDArray[np.int32]
    edge_ref_turn: NDArray[np.int32]
    arcs: NDArray[np.int32]
    """k x 3: tail, head, relation code."""
    threads: tuple[str, ...]
    """Thread ids that refs point into (every thread that holds a turn, sorted)."""
    lineages: tuple[str, ...]
    """Root thread id of each lineage number."""
    df: NDArray[np.int32]
    """n: distinct lineages that mention the concept; 0 for other kinds."""
    journeys: tuple[Route, ...] = ()
    turn_thread: NDArray[np.int32] = field(default_factory=lambda: np.empty(0, np.int32))
    """Incidence of distinct source turns to edges, three parallel arrays (edge, thread, turn)."""
    turn_number: NDArray[np.int32] = field(default_factory=lambda: np.empty(0, np.int32))
    turn_edge: NDArray[np.int32] = field(default_factory=lambda: np.empty(0, np.int32))
    collapsed_rows: int = 0
    self_loops: int = 0
    undated: int = 0
    has_refs: bool = True
    """False for a foreign graph: evidence gates are off."""
