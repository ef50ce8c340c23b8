"""Scouting a store: view, scout, read again what is cited, check, keep."""

import os
import sys
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from dream import functions
from graphstore import plugins
from graphstore.ids import canonical, digest
from graphstore.model.conversation import Taint
from graphstore.model.hubs import read_stop_list
from graphstore.model.knowledge import (
    Concept,
    Journey,
    Marks,
    Question,
    SeedRow,
    ThreadNode,
    Waypoint,
)
from graphstore.model.query import Resolved
from graphstore.store import Store
from graphstore.view import Scope
from service.answers import SeedTurn, SeedView, ShapeRow
from service.moments import WrongValue
from topology import foreign
from topology import report as reports
from topology.diff import Baseline
from topology.executors import EXECUTORS, INLINE
from topology.model import Limits, Seed
from topology.notes import RESOLVED, Notes, key_of, parse
from topology.report import Reread, ScoutReport
from topology.scout import GROUP, PACKAGE, check_size, scout, shape_names

TABLES = (("q:", "Question"), ("c:", "Concept"))
WHOLE = Scope()


def scouted(
    store: Store,
    limits: Limits,
    *,
    shapes: tuple[str, ...] = (),
    scope: Scope = WHOLE,
    notes: str = "",
    public: bool = False,
    keep: bool = True,
    executor: str = INLINE,
) -> ScoutReport:
    """Scout the store; ``keep`` the Seeds only of a run over everything, with the usual limits.

    ``notes`` is a file of records as JSON Lines. Raises UnknownShape, GraphTooLarge, WrongValue,
    ExecutorUnavailable.
    """
    if scope != WHOLE:
        limits = limits.replace(scope=digest(str(scope)))
    view = store.view(scope)
    check_size(len(view.ids), len(view.u), free_memory())
    read = noted(store, notes) if notes else None
    found = scout(view, shapes or None, limits, read, executor)
    sealed = digest([note.model_dump(mode="json") for note in read.notes]) if read else ""
    wanted = {member.node_id for seed in found.seeds for member in seed.members}
    wanted.update(hub for seed in found.seeds for hub in seed.hubs)
    wanted.update(hub.concept_id for hub in found.hidden_hubs)
    names, again = labels(store, wanted), reread(store, found.seeds)
    before = baseline(store, found.params_hash)
    report = reports.report(found, names, again, public=public, before=before, notes_hash=sealed)
    if keep:
        named = report
        if public:
            named = reports.report(found, names, again, before=before, notes_hash=sealed)
        put(store, named)
        store.jobs.reach("seeds", mark_of(store, limits))
    return report


def foreign_graph(
    path: Path,
    limits: Limits,
    *,
    shapes: tuple[str, ...] = (),
    stops: tuple[str, ...] = (),
    public: bool = False,
    executor: str = INLINE,
) -> ScoutReport:
    """Scout a graph made elsewhere; nothing is stored.

    Raises UnknownShape, GraphUnreadable, GraphTooLarge, ExecutorUnavailable.
    """
    graph = foreign.read(path, frozenset(stops))
    check_size(len(graph.view.ids), len(graph.view.u), free_memory())
    found = scout(graph.view, shapes or None, limits, executor=executor)
    return reports.report(found, graph.labels, public=public)


def executor_named(name: str) -> str:
    """The name of an executor; raises WrongValue for another one."""
    if name not in EXECUTORS:
        raise WrongValue("executor", name, " or ".join(EXECUTORS))
    return name


def stop_labels(path: str) -> tuple[str, ...]:
    """Folded labels of a stop list, one a line; none without a path.

    Raises WrongValue for a file that cannot be read.
    """
    try:
        return tuple(sorted(read_stop_list(Path(path).read_text("utf-8")))) if path else ()
    except (OSError, UnicodeDecodeError) as cause:
        raise WrongValue("stop", path, "a text file with one label a line") from cause


def noted(store: Store, path: str) -> Notes:
    """Notes of a file, with the state of every turn that they name.

    Raises WrongValue for a file that cannot be read.
    """
    try:
        with Path(path).open(encoding="utf-8") as lines:
            found = parse(lines)
    except (OSError, UnicodeDecodeError) as cause:
        raise WrongValue("notes", path, "a file of JSON Lines") from cause
    asked = {key_of(ref) for note in found.notes for ref in note.refs}
    return replace(found, states={key: _state(store, *key) for key in sorted(asked)})


def _state(store: Store, ref: str, was: str) -> str:
    turn = store.resolve(ref)
    if not isinstance(turn, Resolved):
        return "ref_unresolved"
    if was and turn.turn.fingerprint != was:
        return "ref_stale"
    return RESOLVED if turn.turn.taint in {Taint.HUMAN, Taint.ASSISTANT} else "tainted_source"


def free_memory() -> int:
    """Bytes of memory that are free, as far as the system tells; else a lot."""
    try:
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return sys.maxsize


def baseline(store: Store, params_hash: str) -> Baseline | None:
    """The run that was kept last, when it had the same parameters."""
    run = store.meta().get("seeds")
    seeds = [Seed.from_json(row.detail) for row in store.nodes(SeedRow) if not row.resolved_run]
    if run is None or any(seed.params_hash != params_hash for seed in seeds):
        return None
    return Baseline(run_id=run, seeds=tuple(seeds))


def refresh(store: Store, limits: Limits) -> tuple[SeedRow, ...]:
    """Current Seeds of the store; scouted again only when records or limits changed."""
    if store.jobs.reached("seeds") != mark_of(store, limits) or "seeds" not in store.meta():
        scouted(store, limits)
    return tuple(row for row in store.nodes(SeedRow) if row.resolved_run is None)


def mark_of(store: Store, limits: Limits) -> str:
    """What the Seeds of a run depend on."""
    return f"{knowledge_seq(store)} {digest(limits.model_dump(mode='json'))}"


def knowledge_seq(store: Store) -> int:
    """Sequence of the newest record that changes what the scout sees: dreams do not."""
    return store.ledger.last_seq_of("thread", "journey", "epoch")


def untitled(thread: ThreadNode) -> str:
    """What a thread without a title is called."""
    began = f" of {thread.started_at.date().isoformat()}" if thread.started_at else ""
    return f"untitled thread{began}"


def labels(store: Store, wanted: Iterable[str]) -> dict[str, str]:
    """What people call some nodes."""
    nodes = set(wanted)
    found: dict[str, str] = {}
    for question in store.nodes(Question):
        if question.question_id in nodes:
            found[question.question_id] = question.text
    for concept in store.nodes(Concept):
        if concept.concept_id in nodes:
            found[concept.concept_id] = concept.label
    for thread in store.nodes(ThreadNode):
        if thread.thread_id in nodes:
            found[thread.thread_id] = thread.title or untitled(thread)
    for waypoint in store.nodes(Waypoint):
        if waypoint.waypoint_id in nodes:
            found[waypoint.waypoint_id] = waypoint.moment
    for journey in store.nodes(Journey):
        if journey.journey_id in nodes:
            found[journey.journey_id] = journey.path_label
    return found


def reread(store: Store, seeds: tuple[Seed, ...]) -> Reread:
    """Cited turns, read again from the store."""
    refs = sorted({ref.ref for seed in seeds for ref in seed.refs})
    now = store.fingerprints(refs)
    turns = [store.resolve(ref) for ref in refs if now[ref] is not None]
    return Reread(
        resolved=tuple(ref for ref in refs if now[ref] is not None),
        texts=tuple(turn.turn.text for turn in turns if isinstance(turn, Resolved)),
        lineages=tuple((one, root) for one, root in sorted(store.roots().items()) if one != root),
    )


def put(store: Store, report: ScoutReport) -> None:
    """Write the Seeds of a run; those of earlier runs that are gone are marked resolved.

    Without a baseline, all earlier Seeds are gone: other parameters, other Seeds.
    """
    before = {row.seed_id: row for row in store.nodes(SeedRow)}
    seeds = (*report.seeds, *report.shadow)
    was = {each.seed_id: each.was for each in report.diff.persisting} if report.diff else {}
    rows = [
        row_of(seed, report.run_id, before.get(was.get(seed.seed_id) or seed.seed_id))
        for seed in seeds
    ]
    now = {row.seed_id for row in rows}
    open_still = set(report.diff.not_checked) if report.diff else set()
    rows += [
        row.replace(resolved_run=report.run_id)
        for row in before.values()
        if row.seed_id not in now | open_still and row.resolved_run is None
    ]
    marks = tuple(mark for seed in seeds for mark in marks_of(seed))
    store.put_seeds(report.run_id, tuple(rows), marks)


def row_of(seed: Seed, run_id: str, known: SeedRow | None) -> SeedRow:
    """A Seed as it is stored; ``known`` is its row of an earlier run."""
    return SeedRow(
        seed_id=seed.seed_id,
        shape=seed.shape,
        kind=seed.kind,
        level=seed.level,
        score=seed.score,
        provenance=seed.provenance,
        sentence=seed.sentence,
        members=tuple(f"{member.role}={member.node_id}" for member in seed.members),
        source_refs=tuple(sorted({ref.ref for ref in seed.refs})),
        detail=canonical(seed.model_dump(mode="json")).decode(),
        view_hash=seed.view_hash,
        run_id=run_id,
        first_run=known.first_run if known and known.resolved_run is None else run_id,
        last_run=run_id,
        resolved_run=None,
    )


def marks_of(seed: Seed) -> Iterable[Marks]:
    """Edges from a Seed to its members."""
    for member in seed.members:
        yield Marks(
            src_table="Seed",
            src=seed.seed_id,
            dst_table=table_of(member.node_id),
            dst=member.node_id,
            role=member.role,
        )


def table_of(node: str) -> str:
    """Node table of a member, by the form of its id."""
    if node.startswith("j:"):
        return "Waypoint" if "/" in node else "Journey"
    return next((table for prefix, table in TABLES if node.startswith(prefix)), "Thread")


def shown(store: Store, row: SeedRow) -> SeedView:
    """A stored Seed with names and turns."""
    seed = Seed.from_json(row.detail)
    names = labels(store, {member.node_id for member in seed.members})
    turns = [(ref, store.resolve(ref.ref)) for ref in seed.refs]
    return SeedView(
        seed=seed,
        sentence=seed.sentence,
        members=tuple(
            (member.role, member.node_id, names.get(member.node_id, member.node_id))
            for member in seed.members
        ),
        turns=tuple(
            SeedTurn(
                ref=ref.ref,
                side=ref.side,
                title=turn.thread.title,
                role=turn.turn.role.value,
                at=turn.turn.at,
                text=turn.turn.text,
            )
            for ref, turn in turns
            if isinstance(turn, Resolved)
        ),
        functions=functions.wanting(seed.shape),
    )


def shape_rows() -> tuple[ShapeRow, ...]:
    """Every shape with the first sentence of its definition."""
    rows = []
    for name in shape_names():
        module = plugins.load(PACKAGE, name, GROUP)
        about = (module.__doc__ or "").strip().split("\n\n")[0] if module else "broken"
        rows.append(
            ShapeRow(name=name, about=" ".join(about.split()), functions=functions.wanting(name))
        )
    return tuple(rows)
