"""The scout: a view in, ranked Seeds out; pure and deterministic."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from types import ModuleType
from typing import Final

from graphstore import ids, plugins
from graphstore.errors import GraphTooLarge, UnknownShape
from graphstore.model.hubs import stop_fingerprint, stop_list
from graphstore.model.view import KINDS, GraphView, view_hash
from topology import engine
from topology.executors import EXECUTORS, INLINE
from topology.gates import shortfall
from topology.model import (
    HUBS_LISTED,
    Amount,
    Limits,
    Rejection,
    Scouted,
    Seed,
    ShapeMetrics,
    ShapeSkipped,
    ViewCounts,
)
from topology.notes import Notes, annotate
from topology.rank import interleaved, is_one_place, numbered, place_of, related, told_better
from topology.separation import holds, soften
from topology.structure import Structure

PACKAGE: Final = "topology.shapes"
GROUP: Final = "clew.shapes"
TRIES: Final = 5
"""Candidates looked at, as a multiple of the Seeds asked for."""
SAME_PLACE: Final = "same_place"
"""Reason of a rejection: a better Seed of the shape shares half of its place."""
BYTES_PER_EDGE: Final = 300
SHARE_OF_MEMORY: Final = 60
"""Per cent of the free memory that a run may need."""
MEGABYTE: Final = 1_000_000
MOST: Final = 2**31 - 2
"""Nodes or edges that positions of 32 bits can name."""


def shape_names() -> tuple[str, ...]:
    """Names of all shapes that are installed."""
    return plugins.names(PACKAGE)


def scout(
    view: GraphView,
    shapes: Sequence[str] | None,
    limits: Limits,
    notes: Notes | None = None,
    executor: str = INLINE,
) -> Scouted:
    """Find, prove, gate and rank the Seeds of a view; ``shapes`` None means all.

    ``executor`` says where bridges and components are found, one of ``EXECUTORS``; the result is
    the same. Raises ``UnknownShape`` for a name that no shape has, ``ExecutorUnavailable``.
    """
    loaded, skipped = _load(shapes)
    graph = Structure(view, limits, EXECUTORS[executor])
    runs = _each_place_once([_search(graph, shape) for shape in loaded], graph.thread_ids)
    computed = [seed for run in runs for seed in run.seeds]
    noted = annotate(notes or Notes(), computed, graph.lineage_of_ref, limits)
    name = view_hash(view)
    parameters = params_hash(limits, loaded)
    found = related(_numbered((*noted.computed, *noted.seeds)))
    stamped = (seed.replace(view_hash=name, params_hash=parameters) for seed in found)
    return Scouted(
        seeds=interleaved(stamped),
        controls=(*graph.tally.controls, *noted.controls),
        rejected=(*(row for run in runs for row in run.rejected), *noted.rejected),
        skipped=skipped,
        truncated=(*graph.tally.truncated, *(notes.truncated if notes else ())),
        hidden_hubs=graph.hubs[:HUBS_LISTED],
        hidden_hub_count=len(graph.hubs),
        metrics=tuple(run.metrics(graph) for run in runs),
        communities=graph.communities,
        view=_counts(graph),
        view_hash=name,
        params_hash=parameters,
        limits=limits,
        notes_read=notes is not None,
        diagnostics=noted.diagnostics,
        tasks=noted.tasks,
        confirmed_by_structure=noted.confirmed,
        dropped_anchors=noted.dropped_anchors,
        dreamt_rows=view.dreamt_rows,
        false_positives=sum(run.withheld for run in runs),
        source_backed=view.has_refs,
    )


def _numbered(seeds: Sequence[Seed]) -> list[Seed]:
    """Ranks within each shape, shapes in the order of their first Seed."""
    shapes: dict[str, list[Seed]] = {}
    for seed in seeds:
        shapes.setdefault(seed.shape, []).append(seed)
    return [seed for group in shapes.values() for seed in numbered(group)]


def check_size(nodes: int, edges: int, free: int) -> None:
    """Raise GraphTooLarge where positions would not fit, or ``free`` bytes of memory not do."""
    need = BYTES_PER_EDGE * edges
    allowed = free * SHARE_OF_MEMORY // 100
    if max(nodes, edges) > MOST or need > allowed:
        raise GraphTooLarge(nodes, edges, need // MEGABYTE, allowed // MEGABYTE)


def params_hash(limits: Limits, shapes: Sequence[ModuleType]) -> str:
    """``b2:`` and a hash of everything but the view that decides the result."""
    versions = [[shape.NAME, getattr(shape, "VERSION", 1)] for shape in shapes]
    stop = limits.stop or stop_fingerprint(stop_list())
    return "b2:" + ids.digest(
        limits.model_dump(mode="json"), stop, list(versions), engine.engine_version()
    )


def _load(asked: Sequence[str] | None) -> tuple[list[ModuleType], tuple[ShapeSkipped, ...]]:
    known = shape_names()
    loaded: list[ModuleType] = []
    skipped: list[ShapeSkipped] = []
    for name in known if asked is None else sorted(set(asked)):
        if name not in known:
            raise UnknownShape(name, ", ".join(known))
        shape = plugins.load(PACKAGE, name, GROUP, ("NAME", "find"))
        if shape is None:
            skipped.append(ShapeSkipped(shape=name, reason="plugin_broken"))
        elif "engine" in getattr(shape, "NEEDS", ()) and not engine.is_available():
            skipped.append(ShapeSkipped(shape=name, reason="engine_missing"))
        else:
            loaded.append(shape)
    return loaded, tuple(skipped)


@dataclass(slots=True)
class _Run:
    """The account of one shape."""

    shape: str
    seeds: list[Seed] = field(default_factory=list)
    rejected: list[Rejection] = field(default_factory=list)
    tried: int = 0
    withheld: int = 0
    places: list[frozenset[str]] = field(default_factory=list)
    """What each reported Seed is about."""

    def reject(self, seed: Seed, *reasons: str) -> None:
        self.rejected.append(Rejection(shape=self.shape, seed_id=seed.seed_id, reasons=reasons))

    def metrics(self, graph: Structure) -> ShapeMetrics:
        return ShapeMetrics(
            shape=self.shape,
            raw=graph.tally.raw.get(self.shape, 0),
            found=graph.tally.found.get(self.shape, self.tried),
            tried=self.tried,
            reported=len(self.seeds),
            withheld=self.withheld,
        )


def _search(graph: Structure, shape: ModuleType) -> _Run:
    """Take candidates in order until enough of them hold, or enough were tried."""
    run, limits = _Run(shape.NAME), graph.limits
    for seed in islice(_of_level(shape.find(graph, limits), limits), TRIES * limits.top):
        run.tried += 1
        _judge(graph, run, seed)
        if len(run.seeds) == limits.top:
            break
    return run


def _of_level(found: Iterator[Seed], limits: Limits) -> Iterator[Seed]:
    return (seed for seed in found if limits.level is None or seed.level == limits.level)


def _judge(graph: Structure, run: _Run, seed: Seed) -> None:
    reasons = shortfall(seed, graph.lineage_of_ref)
    cut = graph.tally.separations.get(seed.seed_id)
    if reasons:
        run.reject(seed, *reasons)
    elif cut is not None and not holds(graph, cut):
        run.withheld += 1
    elif not _is_new_place(run, place_of(seed, graph.thread_ids)):
        run.reject(seed, SAME_PLACE)
    else:
        run.seeds.append(soften(graph, seed))


def _is_new_place(run: _Run, place: frozenset[str]) -> bool:
    """Whether no better Seed of the shape is about the same place; the place is then taken."""
    if any(is_one_place(place, taken) for taken in run.places):
        return False
    run.places.append(place)
    return True


def _each_place_once(runs: list[_Run], threads: frozenset[str]) -> list[_Run]:
    """Leave out what another Seed tells more exactly."""
    twice = told_better([seed for run in runs for seed in run.seeds], threads)
    for run in runs:
        for seed in run.seeds:
            if seed.seed_id in twice:
                run.reject(seed, SAME_PLACE)
        run.seeds = [seed for seed in run.seeds if seed.seed_id not in twice]
    return runs


def _counts(graph: Structure) -> ViewCounts:
    view = graph.view
    sizes = graph.component_sizes(graph.level(0))
    return ViewCounts(
        nodes=tuple(
            Amount(name=name, value=int((view.kind == kind).sum()))
            for kind, name in enumerate(KINDS)
        ),
        edges=len(view.u),
        lineages=len(view.lineages),
        components=len(sizes),
        largest_component=int(sizes.max(initial=0)),
        hub_limit=graph.hub_limit,
        collapsed_rows=view.collapsed_rows,
        self_loops=view.self_loops,
        undated=view.undated,
    )
