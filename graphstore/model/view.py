"""The graph as arrays: what the scout reads."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from graphstore import ids

THREAD, QUESTION, CONCEPT, WAYPOINT = range(4)
KINDS = ("thread", "question", "concept", "waypoint")

# edge role bits
CONTAINMENT, MENTION, LINK, CONTRADICTION, VOICED = 1, 2, 4, 8, 16
"""CONTRADICTION stands beside LINK: two concepts that exclude each other. VOICED stands beside any
other: a human turn states it."""

# node flag bits
GENERIC, VISITED, OPEN, RESOLVED, STOP, PLAIN = 1, 2, 4, 8, 16, 32
"""Marked by the owner; met by recall or a Journey; unresolved; answered; label in the stop list; a
common word alone: no phrase, proper name, path, symbol or error."""

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
    """n: number of the lineage; CONCEPT_LINEAGE, or SHARED_LINEAGE for questions of several."""
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
    began: NDArray[np.int32]
    """n: day of the oldest turn; NO_DAY if unknown."""
    settled: NDArray[np.int32]
    """n: newest day on which a question was resolved; NO_DAY if never, or unknown."""
    carried: NDArray[np.int32]
    """n: lineages that carry the name of the concept, whether or not they say it: it names their
    tool, model, project or folder; 0 for other kinds."""
    labels: tuple[str, ...]
    """n: what a concept is called; empty for other kinds."""
    journeys: tuple[Route, ...] = ()
    turn_thread: NDArray[np.int32] = field(default_factory=lambda: np.empty(0, np.int32))
    """Incidence of distinct source turns to edges, three parallel arrays (edge, thread, turn)."""
    turn_number: NDArray[np.int32] = field(default_factory=lambda: np.empty(0, np.int32))
    turn_edge: NDArray[np.int32] = field(default_factory=lambda: np.empty(0, np.int32))
    collapsed_rows: int = 0
    self_loops: int = 0
    undated: int = 0
    dreamt_rows: int = 0
    """Rows of dreamt relations that were met; a check, as none may be read."""
    has_refs: bool = True
    """False for a foreign graph: evidence gates are off."""


@dataclass(frozen=True, slots=True)
class NodeRow:
    """One node as a caller knows it, before positions are given."""

    id: str
    kind: int = CONCEPT
    lineage: str | None = None
    """Root thread id; None for concepts and for questions of several lineages."""
    turns: tuple[tuple[str, int], ...] = ()
    """Clean source turns as (thread id, turn)."""
    day: int | None = None
    flags: int = 0
    df: int | None = None
    """Lineages that mention the concept; None counts them from the rows."""
    began: int | None = None
    settled: int | None = None
    carried: int = 0
    """Lineages that carry the name of the concept."""
    label: str = ""


@dataclass(frozen=True, slots=True)
class EdgeRow:
    """One relation between two nodes, as read; rows of one pair are collapsed."""

    a: str
    b: str
    role: int = LINK
    turns: tuple[tuple[str, int], ...] = ()
    weight: int = 1
    """Used only where no row of the pair has turns."""
    arc: int | None = None
    """Relation code when the row is directed from a to b."""
    voiced: bool = True
    """Whether a human turn states it."""


def from_edges(
    nodes: Iterable[NodeRow],
    edges: Iterable[EdgeRow],
    journeys: tuple[Route, ...] = (),
    *,
    has_refs: bool = True,
) -> GraphView:
    """Make a view from rows in any order: canonical positions, collapsed pairs.

    An edge row whose end is not among the nodes raises ``KeyError``.
    """
    rows = sorted(nodes, key=lambda row: (row.kind, row.id.encode()))
    place = {row.id: position for position, row in enumerate(rows)}
    pairs: defaultdict[tuple[int, int], list[EdgeRow]] = defaultdict(list)
    arcs: set[tuple[int, int, int]] = set()
    count = loops = 0
    for row in edges:
        a, b = place[row.a], place[row.b]
        count += 1
        if a == b:
            loops += 1
            continue
        pairs[min(a, b), max(a, b)].append(row)
        if row.arc is not None:
            arcs.add((a, b, row.arc))
    return _assemble(rows, pairs, sorted(arcs), journeys, (count, loops), has_refs=has_refs)


def _assemble(
    rows: list[NodeRow],
    pairs: dict[tuple[int, int], list[EdgeRow]],
    arcs: list[tuple[int, int, int]],
    journeys: tuple[Route, ...],
    counted: tuple[int, int],
    *,
    has_refs: bool,
) -> GraphView:
    keys = sorted(pairs)
    turns = [sorted({turn for row in pairs[key] for turn in row.turns}) for key in keys]
    own = [sorted(row.turns) for row in rows]
    threads = _names({thread for found in (*turns, *own) for thread, _ in found})
    lineages = _names({row.lineage for row in rows if row.lineage is not None})
    thread_at = {name: position for position, name in enumerate(threads)}
    numbers = _lineage_numbers(rows, {name: n for n, name in enumerate(lineages)})
    node_thread, node_turn = _first(own, thread_at)
    edge_thread, edge_turn = _first(turns, thread_at)
    incidence = np.array(
        [(edge, thread_at[t], n) for edge, found in enumerate(turns) for t, n in found], np.int32
    ).reshape(-1, 3)
    ends = np.array(keys, np.int32).reshape(-1, 2)
    roles = np.array([_roles(pairs[key]) for key in keys], np.uint8)
    return GraphView(
        ids=tuple(row.id for row in rows),
        kind=np.array([row.kind for row in rows], np.int8),
        lineage=numbers,
        ref_thread=node_thread,
        ref_turn=node_turn,
        day=_days(row.day for row in rows),
        flags=np.array([row.flags for row in rows], np.uint8),
        u=ends[:, 0].copy(),
        v=ends[:, 1].copy(),
        weight=np.array(
            [
                len(found) or sum(row.weight for row in pairs[key])
                for key, found in zip(keys, turns, strict=True)
            ],
            np.int32,
        ),
        roles=roles,
        edge_ref_thread=edge_thread,
        edge_ref_turn=edge_turn,
        arcs=np.array(arcs, np.int32).reshape(-1, 3),
        threads=threads,
        lineages=lineages,
        df=_frequencies(rows, keys, roles, numbers),
        began=_days(row.began for row in rows),
        settled=_days(row.settled for row in rows),
        carried=np.array([row.carried for row in rows], np.int32),
        labels=tuple(row.label for row in rows),
        journeys=journeys,
        turn_thread=incidence[:, 1].copy(),
        turn_number=incidence[:, 2].copy(),
        turn_edge=incidence[:, 0].copy(),
        collapsed_rows=counted[0] - counted[1] - len(keys),
        self_loops=counted[1],
        undated=sum(row.day is None for row in rows),
        has_refs=has_refs,
    )


def _days(found: Iterable[int | None]) -> NDArray[np.int32]:
    return np.array([NO_DAY if day is None else day for day in found], np.int32)


def _names(found: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(found, key=str.encode))


def _roles(rows: list[EdgeRow]) -> int:
    bits = 0
    for row in rows:
        bits |= row.role | (VOICED if row.voiced else 0)
    return bits


def _lineage_numbers(rows: list[NodeRow], at: dict[str, int]) -> NDArray[np.int32]:
    def number(row: NodeRow) -> int:
        if row.lineage is not None:
            return at[row.lineage]
        return CONCEPT_LINEAGE if row.kind == CONCEPT else SHARED_LINEAGE

    return np.array([number(row) for row in rows], np.int32)


def _first(
    found: list[list[tuple[str, int]]], thread_at: dict[str, int]
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Smallest turn of each list as (thread position, turn number), -1 where there is none."""
    smallest = [
        min(((thread_at[thread], turn) for thread, turn in turns), default=(-1, -1))
        for turns in found
    ]
    columns = np.array(smallest, np.int32).reshape(-1, 2)
    return columns[:, 0].copy(), columns[:, 1].copy()


def _frequencies(
    rows: list[NodeRow],
    keys: list[tuple[int, int]],
    roles: NDArray[np.uint8],
    numbers: NDArray[np.int32],
) -> NDArray[np.int32]:
    """Distinct lineages around each concept; a shared question stands for all of its threads."""
    lineages = numbers.tolist()
    near: defaultdict[int, set[int]] = defaultdict(set)
    for a, b in keys:
        for one, other in ((a, b), (b, a)):
            if lineages[one] == SHARED_LINEAGE and rows[other].kind == THREAD:
                near[one].add(lineages[other])
    holders: defaultdict[int, set[int]] = defaultdict(set)
    for (a, b), role in zip(keys, roles.tolist(), strict=True):
        if not role & MENTION:
            continue
        for one, other in ((a, b), (b, a)):
            if rows[one].kind == CONCEPT:
                holders[one] |= {lineages[other]} if lineages[other] >= 0 else near[other]
    counted = [
        0 if row.kind != CONCEPT else len(holders[position]) if row.df is None else row.df
        for position, row in enumerate(rows)
    ]
    return np.array(counted, np.int32)


def view_hash(view: GraphView) -> str:
    """``b2:`` and BLAKE2b-128 over every array of the view, little-endian, and its ids."""
    arrays = (
        *(view.kind, view.lineage, view.ref_thread, view.ref_turn, view.day, view.flags),
        *(view.u, view.v, view.weight, view.roles, view.edge_ref_thread, view.edge_ref_turn),
        *(
            view.arcs,
            view.df,
            view.began,
            view.settled,
            view.carried,
            view.turn_edge,
            view.turn_thread,
            view.turn_number,
        ),
    )
    names = (view.ids, view.threads, view.lineages, view.labels)
    routes = [
        [r.journey_id, list(r.waypoints), list(r.refs), list(r.failed_refs), r.merged_into]
        for r in view.journeys
    ]
    shape = [len(view.ids), len(view.u), len(view.threads), len(view.lineages), view.has_refs]
    parts = [b"clew.view/3", ids.canonical(list(shape))]
    parts += ["\0".join(group).encode() for group in names]
    parts += [array.astype(array.dtype.newbyteorder("<")).tobytes() for array in arrays]
    return "b2:" + ids.digest_bytes(b"\0".join([*parts, ids.canonical(list(routes))]))
