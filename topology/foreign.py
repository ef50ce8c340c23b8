"""Graphs made elsewhere as a view: GraphML, node-link JSON, edge lists in CSV and Parquet.

A node is a concept and a lineage of its own, unless its attributes ``kind`` and ``lineage`` say
otherwise. There are no turns, so evidence gates are off.
"""

import csv
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final
from urllib.parse import quote

import numpy as np
from numpy.typing import NDArray

from graphstore.errors import GraphUnreadable
from graphstore.model.hubs import fold
from graphstore.model.view import (
    CAUSES,
    CONCEPT,
    DEPENDS_ON,
    EVOLVING,
    KINDS,
    LINK,
    NO_DAY,
    STOP,
    SUCCESSION,
    VOICED,
    GraphView,
)
from topology import engine

ARCS: Final[Mapping[str, int]] = {
    "causes": CAUSES,
    "depends_on": DEPENDS_ON,
    "evolving": EVOLVING,
}
"""Relations that run one way whatever the file says; others do where the file is directed."""
_NO_ARC: Final = -1
_MOST: Final = np.iinfo(np.int32).max


@dataclass(frozen=True, slots=True)
class Foreign:
    """A view, and what the file calls its nodes."""

    view: GraphView
    labels: Mapping[str, str]


@dataclass(slots=True)
class Rows:
    """What a file says: nodes with attributes, and edge rows by name, parallel ones apart."""

    nodes: dict[str, Mapping[str, object]] = field(default_factory=dict)
    source: list[str] = field(default_factory=list)
    target: list[str] = field(default_factory=list)
    weight: list[int] = field(default_factory=list)
    arc: list[int] = field(default_factory=list)

    def add(
        self, source: object, target: object, weight: object, relation: object, arc: int
    ) -> None:
        """Add one edge row; ``arc`` is the code of a row without a relation that has one."""
        self.source.append(str(source))
        self.target.append(str(target))
        self.weight.append(_weight(weight))
        self.arc.append(ARCS.get(str(relation), arc))


def read(path: Path, stops: frozenset[str] = frozenset()) -> Foreign:
    """Read a graph; the format is told by the end of the name. ``stops`` are folded labels.

    Rows of one pair, in either direction, become one edge whose weight is their sum; self-loops
    are dropped and counted. Raises GraphUnreadable.
    """
    reader = READERS.get(path.suffix.lower())
    if reader is None:
        raise GraphUnreadable(path.name, f"its name must end in {', '.join(sorted(READERS))}")
    try:
        return assembled(reader(path), stops)
    except Exception as cause:  # a border: the fault is in the file, not in us
        raise GraphUnreadable(path.name, _reason(cause)) from cause


class _BadWeight(ValueError):
    """A weight that is not above 0."""


def _reason(cause: Exception) -> str:
    """What kind of fault it is; never a line of the file."""
    known: dict[type[Exception], str] = {
        _BadWeight: "a weight is not above 0",
        KeyError: "an edge lacks source or target",
        FileNotFoundError: "there is no such file",
        UnicodeDecodeError: "it is not UTF-8",
    }
    return known.get(type(cause), f"it is not what its name says ({type(cause).__name__})")


def _weight(value: object) -> int:
    """A weight as a whole number of at least 1; nothing is 1."""
    if value is None or value == "":
        return 1
    found = float(str(value))
    if not 0 < found <= _MOST:
        raise _BadWeight
    return max(1, round(found))


def _csv(path: Path) -> Rows:
    rows = Rows()
    with path.open(encoding="utf-8-sig", newline="") as file:
        for line in csv.DictReader(file):
            relation = line.get("relation")
            rows.add(line["source"], line["target"], line.get("weight"), relation, _NO_ARC)
    return rows


def _parquet(path: Path) -> Rows:
    from pyarrow import parquet

    rows = Rows()
    names = {"source", "target", "weight", "relation"}
    file = parquet.ParquetFile(path)
    for batch in file.iter_batches(columns=sorted(names.intersection(file.schema.names))):
        for line in batch.to_pylist():
            relation = line.get("relation")
            rows.add(line["source"], line["target"], line.get("weight"), relation, _NO_ARC)
    return rows


def _node_link(path: Path) -> Rows:
    found = json.loads(path.read_text(encoding="utf-8"))
    rows = Rows()
    for node in found["nodes"]:
        rows.nodes[str(node["id"])] = node
    for edge in found.get("links", found.get("edges", [])):
        arc = SUCCESSION if found.get("directed") else _NO_ARC
        rows.add(edge["source"], edge["target"], edge.get("weight"), edge.get("relation"), arc)
    return rows


def _graphml(path: Path) -> Rows:
    nodes, edges, directed = engine.graphml(path)
    rows = Rows()
    names = [str(node.get("id", at)) for at, node in enumerate(nodes)]
    rows.nodes.update(zip(names, nodes, strict=True))
    arc = SUCCESSION if directed else _NO_ARC
    for source, target, values in edges:
        rows.add(names[source], names[target], values.get("weight"), values.get("relation"), arc)
    return rows


READERS: Final = {
    ".csv": _csv,
    ".graphml": _graphml,
    ".json": _node_link,
    ".parquet": _parquet,
}


def node_id(name: str) -> str:
    """The id of a foreign node: its name with everything but letters and digits escaped."""
    return "n:" + quote(name, safe="")


def assembled(rows: Rows, stops: frozenset[str]) -> Foreign:
    """A view in canonical order from rows by name."""
    for name in (*rows.source, *rows.target):
        rows.nodes.setdefault(name, {})
    kinds = {name: _kind(values) for name, values in rows.nodes.items()}
    names = sorted(rows.nodes, key=lambda name: (kinds[name], node_id(name)))
    place = {name: at for at, name in enumerate(names)}
    tail, head = (
        np.fromiter((place[name] for name in column), np.int64, len(column))
        for column in (rows.source, rows.target)
    )
    labels = {node_id(name): _label(name, rows.nodes[name]) for name in names}
    stopped = [STOP * (fold(labels[node_id(name)]) in stops) for name in names]
    view = _view(
        [node_id(name) for name in names],
        np.array([kinds[name] for name in names], np.int8),
        [_lineage(name, rows.nodes[name]) for name in names],
        np.array(stopped, np.uint8),
        (tail, head, np.array(rows.weight, np.int64), np.array(rows.arc, np.int64)),
    )
    return Foreign(view, labels)


def _kind(values: Mapping[str, object]) -> int:
    kind = values.get("kind")
    return KINDS.index(kind) if isinstance(kind, str) and kind in KINDS else CONCEPT


def _lineage(name: str, values: Mapping[str, object]) -> str:
    lineage = values.get("lineage")
    return node_id(str(lineage) if lineage not in {None, ""} else name)


def _label(name: str, values: Mapping[str, object]) -> str:
    label = values.get("label")
    return label if isinstance(label, str) and label else name


def _view(
    ids: Sequence[str],
    kind: NDArray[np.int8],
    lineages: Sequence[str],
    flags: NDArray[np.uint8],
    edges: tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]],
) -> GraphView:
    tail, head, weight, code = edges
    n, loops = len(ids), tail == head
    low, high = np.minimum(tail, head)[~loops], np.maximum(tail, head)[~loops]
    pairs, group = np.unique(low * max(n, 1) + high, return_inverse=True)
    u, v = np.divmod(pairs, max(n, 1))
    total = np.bincount(group, weight[~loops], len(pairs)) if len(pairs) else np.zeros(0)
    directed = np.flatnonzero(~loops & (code >= 0))
    arcs = np.column_stack((tail[directed], head[directed], code[directed]))
    roots, number = _numbers(lineages)
    nothing, days = np.full(n, -1, np.int32), np.full(n, NO_DAY, np.int32)
    return GraphView(
        ids=tuple(ids),
        kind=kind,
        lineage=number,
        ref_thread=nothing,
        ref_turn=nothing,
        day=days,
        flags=flags,
        u=u.astype(np.int32),
        v=v.astype(np.int32),
        weight=np.minimum(total, _MOST).astype(np.int32),
        roles=np.full(len(pairs), LINK | VOICED, np.uint8),
        edge_ref_thread=np.full(len(pairs), -1, np.int32),
        edge_ref_turn=np.full(len(pairs), -1, np.int32),
        arcs=np.unique(arcs, axis=0).astype(np.int32).reshape(-1, 3),
        threads=(),
        lineages=roots,
        df=np.bincount(np.concatenate((u, v)), minlength=n).astype(np.int32),
        began=days,
        settled=days,
        carried=np.zeros(n, np.int32),
        labels=("",) * n,
        collapsed_rows=int((~loops).sum()) - len(pairs),
        self_loops=int(loops.sum()),
        undated=n,
        has_refs=False,
    )


def _numbers(names: Iterable[str]) -> tuple[tuple[str, ...], NDArray[np.int32]]:
    """Distinct names in order, and which one each is."""
    every = list(names)
    roots = sorted(set(every))
    at = {root: number for number, root in enumerate(roots)}
    return tuple(roots), np.array([at[name] for name in every], np.int32)
