"""Every user-visible operation, one plain function each; faces parse, call one, and show."""

import json
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Final

from dream.corrections import Correction, anchors
from dream.corrections import corrections as found_corrections
from dream.cycle import Ask, Mode, known_of
from dream.evaluation.report import Evaluation
from dream.functions import load as known_function
from dream.gate import Caller, Trigger
from dream.index import Index
from dream.journal import Totals, totals
from dream.queue import order
from dream.use import Request, use
from export import Switches, Written
from graphstore.backup import back_up
from graphstore.backup import restore as unpack
from graphstore.engine import ENGINES
from graphstore.errors import NotFound, StoreNotFound
from graphstore.model.answers import (
    ConceptRow,
    Fetched,
    Filters,
    HypothesisView,
    JourneyRow,
    OpenedTurn,
    QuestionRow,
    Recalled,
    Resonances,
    ThreadRow,
)
from graphstore.model.conversation import Role
from graphstore.model.hypothesis import Expired, HypothesisState, Invalidated, ReviewDue, Valid
from graphstore.model.job import Job, JobState
from graphstore.model.knowledge import ConceptKind, JourneyStatus, QuestionStatus, SeedRow
from graphstore.model.query import QueryTable, RebuildReport, Scalar
from graphstore.queries import provenance
from graphstore.queries import recall as finding
from graphstore.queries.concepts import concepts as listed_concepts
from graphstore.queries.expansion import reached
from graphstore.queries.hypotheses import resting_on
from graphstore.queries.journeys import journey as one_journey
from graphstore.queries.journeys import journeys as listed_journeys
from graphstore.queries.questions import questions as listed_questions
from graphstore.queries.threads import labelled
from graphstore.queries.threads import threads as listed_threads
from graphstore.view import Scope
from ingest.derive import Derivation
from ingest.discover import Discovered, discover, system_of
from ingest.model import IngestReport
from ingest.pace import Pace
from ingest.walk import SourceNotFound
from service import (
    dreaming,
    evaluating,
    explaining,
    following,
    forgetting,
    inquiries,
    keeping,
    scouting,
    settings,
    stages,
    taking,
    writing,
)
from service.answers import (
    BackedUp,
    Check,
    Forgotten,
    FormatRow,
    HypothesisRow,
    LedgerDone,
    LinkRow,
    Restored,
    SecretScan,
    SeedView,
    SettingRows,
    ShapeRow,
    Status,
    UpReport,
    Verified,
    WrittenFiles,
)
from service.calls import Calls, SentCalls
from service.dreaming import Dreamt
from service.explaining import Explanation
from service.health import examine
from service.interrupts import interrupts
from service.meter import Meter
from service.missing import missed as note_missed
from service.moments import WrongValue, moment, one_of
from service.pacing import recalled
from service.reviewing import CycleDiff, Desk, Reviewed
from service.scanning import scan
from service.session import Session
from topology.model import Limits
from topology.report import ScoutReport

STANDINGS: Final = tuple(
    kind.model_fields["standing"].default for kind in (Valid, ReviewDue, Expired, Invalidated)
)


def up(
    session: Session,
    paths: tuple[str, ...] = (),
    *,
    example: bool = False,
    out: str = "",
    with_text: bool = True,
    notes: bool = False,
    mask: bool = True,
    strict: bool = False,
    me: tuple[str, ...] = (),
    group_gap: int = 0,
    since: str = "",
) -> UpReport:
    """Ingest, scout, dream, then write the explorer page and the report."""
    if example:
        paths = (*paths, str(taking.example()))
    clock = stages.Clock()
    report = ingest(
        session,
        paths,
        notes=notes,
        mask=mask,
        strict=strict,
        me=me,
        group_gap=group_gap,
        since=since,
    )
    clock.lap("ingest")
    if report.interrupted:
        return stages.nothing(report, clock)
    with session.store("count") as store:
        if not store.roots():
            return stages.nothing(report, clock)
    session.progress("scouting")
    with session.store("scout") as store:
        scouting.refresh(store, limits(session))
        idle = dreaming.nothing_new(store)
    clock.lap("scout")
    session.progress("dreaming")
    dreamt = dreaming.IDLE if idle else dreaming.dreamt(session, Ask(), limits(session))
    clock.lap("dream")
    session.progress("writing page and report")
    folder = Path(out) if out else session.workspace / "out"
    with session.store("write") as store:
        files = writing.pictures(store, report, folder, session.now(), with_text=with_text)
        clock.lap("write")
        return stages.summary(store, report, dreamt, files, clock)


def places(session: Session, *, only: tuple[str, ...] = ()) -> Discovered:
    """Look where tools keep their conversations; nothing is read."""
    return discover(
        system_of(sys.platform), Path.home(), session.folder, settings.environment(), only
    )


def ingest(
    session: Session,
    paths: tuple[str, ...] = (),
    *,
    dry_run: bool = False,
    reader: str = "",
    notes: bool = False,
    mask: bool = True,
    strict: bool = False,
    me: tuple[str, ...] = (),
    group_gap: int = 0,
    since: str = "",
    follow: bool = False,
) -> IngestReport:
    """Read transcripts into threads of clean turns."""
    if not paths:
        raise taking.NothingNamed
    if follow and (dry_run or "-" in paths):
        raise WrongValue("--follow", "here", "files or folders, and not --dry-run")
    opened = not dry_run or session.exists
    options = taking.options_of(
        session.settings.ingest,
        session.salt() if opened else b"nothing is kept",
        format=reader or None,
        notes=notes or session.settings.ingest.notes,
        mask=mask and session.settings.ingest.mask,
        strict=strict,
        dry_run=dry_run,
        me=me or session.settings.ingest.me,
        group_gap=group_gap,
        since=moment(since, "since"),
    )
    session.progress("reading")
    if not opened:
        return taking.preview(paths, None, options, session.now())
    if follow:
        return following.follow(session, paths, options)
    with session.store("ingest", make=True) as store:
        if dry_run:
            return taking.preview(paths, store, options, session.now())
        with interrupts(session) as wishes:
            pace = Pace(Meter(session.progress, session.now).tell, wishes.read)
            return taking.take(store, Derivation(), paths, options, session.now(), pace, wishes)


def status(session: Session) -> Status:
    """Show what the store holds and what went wrong."""
    with session.store("status") as store:
        return stages.status(store)


def recall(
    session: Session,
    cue: str,
    *,
    limit: int = 0,
    project: str = "",
    source: str = "",
    role: str = "",
    thread: str = "",
    label: str = "",
    since: str = "",
    until: str = "",
    as_of: str = "",
) -> Recalled:
    """Find the turns that a cue is about."""
    filters = Filters(
        project=project or None,
        source=source or None,
        role=Role(role) if one_of("role", role, Role) else None,
        since=moment(since, "since"),
        until=moment(until, "until"),
        threads=(thread,) if thread else (),
    )
    now, then = session.now(), moment(as_of, "as-of")
    with session.store("recall") as store:
        recalled(store, now)
        if label:
            filters = labelled(store, filters, label)
        return finding.recall(
            store,
            cue,
            limit or session.settings.recall.limit,
            filters,
            then,
            now=now,
            hypotheses=lambda refs: usable(resting_on(store, refs, then or now)),
            reach=lambda seeds: reached(store, seeds),
            graph=session.settings.recall.graph,
        )


def usable(views: tuple[HypothesisView, ...]) -> tuple[HypothesisView, ...]:
    """Hypotheses that an explicit question may see."""
    ask = Request(kind="explicit")
    return tuple(
        view for view in views if use(view.hypothesis, view.standing, ask).manner != "silent"
    )


def resonance(session: Session, cue: str, *, limit: int = 20) -> Resonances:
    """Find other threads that meet the same question."""
    from graphstore.queries import resonance as rhyming

    with session.store("resonance") as store:
        nearness = session.settings.recall.nearness
        return rhyming.resonance(store, cue, limit=limit, now=session.now(), nearness=nearness)


def fetch(session: Session, refs: tuple[str, ...]) -> tuple[Fetched, ...]:
    """Show the full turns that references name."""
    with session.store("fetch") as store:
        return provenance.fetch(store, refs)


def open_turn(session: Session, ref: str, *, around: int = 2) -> OpenedTurn:
    """Show a turn in its thread, with file and line."""
    with session.store("open") as store:
        return provenance.open_turn(store, ref, around)


def threads(
    session: Session, *, limit: int = 50, project: str = "", source: str = ""
) -> tuple[ThreadRow, ...]:
    """List threads, newest first."""
    with session.store("threads") as store:
        return listed_threads(store, limit, project=project or None, source=source or None)


def questions(
    session: Session, *, limit: int = 50, status: str = "", recurring: bool = False
) -> tuple[QuestionRow, ...]:
    """List questions, most asked first."""
    wanted = one_of("status", status, QuestionStatus)
    with session.store("questions") as store:
        return listed_questions(store, limit, status=wanted, recurring=recurring)


def borderline(session: Session, *, limit: int = 50) -> tuple[LinkRow, ...]:
    """List pairs of questions that only the owner can tell apart."""
    with session.store("borderline") as store:
        ground, epoch = store.ground(), store.epoch()
    if epoch is None:
        return ()
    texts = {question.question_id: question.text for question in ground.questions}
    pairs = Derivation().borderline(ground, epoch)
    order = sorted(pairs, key=lambda pair: (-pair.score, pair.src, pair.dst))
    return tuple(
        LinkRow(
            one_id=pair.src,
            one=texts[pair.src],
            other_id=pair.dst,
            other=texts[pair.dst],
            score=pair.score,
        )
        for pair in order[:limit]
    )


def concepts(session: Session, *, limit: int = 50, generic: bool = False) -> tuple[ConceptRow, ...]:
    """List concepts, most shared first."""
    with session.store("concepts") as store:
        return listed_concepts(store, limit, generic=generic)


def aliases(session: Session, *, limit: int = 50) -> tuple[LinkRow, ...]:
    """List pairs of concepts that may be one thing in two spellings."""
    from ingest.link.aliases import proposals

    with session.store("aliases") as store:
        rows = listed_concepts(store, sys.maxsize)
    known = {row.label: row.concept_id for row in rows if row.kind != ConceptKind.PATH}
    return tuple(
        LinkRow(
            one_id=known[one],
            one=one,
            other_id=known[other],
            other=other,
            score=round(likeness / 100, 3),
        )
        for one, other, likeness in proposals(known)[:limit]
    )


def journeys(session: Session, *, journey: str = "", status: str = "") -> tuple[JourneyRow, ...]:
    """List Journeys and their frontiers, or show one."""
    wanted = one_of("status", status, JourneyStatus)
    with session.store("journeys") as store:
        if journey:
            return (one_journey(store, journey, session.now()),)
        return listed_journeys(store, session.now(), status=wanted)


def steer(session: Session, act: str, journey: str, *, other: str = "") -> JourneyRow:
    """Confirm, correct, merge, abandon, revive or arrive a Journey."""
    one_of("act", act, inquiries.FROM)
    with session.store(f"journeys: {act}") as store:
        return inquiries.steer(store, act, journey, other, session.now(), session.salt())


def hypotheses(
    session: Session, *, state: str = "", standing: str = "", function: str = "", limit: int = 20
) -> tuple[HypothesisRow, ...]:
    """List hypotheses with their evidence, counter-evidence and standing."""
    one_of("state", state, HypothesisState)
    one_of("standing", standing, STANDINGS)
    if function:
        known_function(function)
    with session.store("hypotheses") as store:
        rows = dreaming.rows(store, session.now(), state=state)
    return tuple(
        row
        for row in rows
        if standing in ("", row.standing.standing) and function in ("", row.hypothesis.function)
    )[:limit]


def export(
    session: Session,
    name: str,
    *,
    out: str = "-",
    with_text: bool = False,
    with_paths: bool = False,
    with_hypotheses: bool = False,
    public: bool = False,
    force: bool = False,
) -> Written:
    """Write the graph in another format."""
    switches = Switches(
        with_text=with_text, with_paths=with_paths, with_hypotheses=with_hypotheses, public=public
    )
    with session.store("export") as store:
        return writing.exported(store, name, out, switches, session.now(), force=force)


def limits(session: Session, *, level: int = -1, top: int = 0) -> Limits:
    """Limits of the scout: the settings, and what was asked for this time."""
    chosen = session.settings.scout
    return Limits(
        top=top or chosen.top,
        k_min=chosen.k_min,
        side_threads=chosen.side_threads,
        max_cycle=chosen.max_cycle,
        hub_df=chosen.hub_df or None,
        level=(None, 0, 1, 2)[level + 1],
    )


def scout(
    session: Session,
    shapes: tuple[str, ...] = (),
    *,
    level: int = -1,
    top: int = 0,
    k_min: int = 0,
    s_min: int = 0,
    max_cycle: int = 0,
    hub_df: int = 0,
    themes: bool = True,
    since: str = "",
    until: str = "",
    threads: tuple[str, ...] = (),
    labels: tuple[str, ...] = (),
    stop: str = "",
    notes: str = "",
    graph: str = "",
    store: bool = True,
    public: bool = False,
) -> ScoutReport:
    """Find the places of the graph that are worth a second look."""
    usual = limits(session)
    given = {"k_min": k_min, "s_min": s_min, "max_cycle": max_cycle, "hub_df": hub_df}
    asked = limits(session, level=level, top=top).replace(
        themes=themes, **{name: value for name, value in given.items() if value}
    )
    stops = scouting.stop_labels(stop)
    if graph:
        return scouting.foreign_graph(Path(graph), asked, shapes=shapes, stops=stops, public=public)
    scope = Scope(
        since=moment(since, "since"),
        until=moment(until, "until"),
        threads=threads,
        labels=labels,
        stops=stops,
    )
    whole = store and not (shapes or notes) and scope == Scope() and asked == usual
    with session.store("scout") as opened:
        return scouting.scouted(
            opened, asked, shapes=shapes, scope=scope, notes=notes, public=public, keep=whole
        )


def seed(session: Session, seed_id: str) -> SeedView:
    """Show a seed: members, sides, turns, how it would vanish."""
    with session.store("seed") as store:
        row = next((row for row in store.nodes(SeedRow) if row.seed_id == seed_id), None)
        if row is None:
            raise NotFound("seed", seed_id)
        return scouting.shown(store, row)


def shapes(session: Session) -> tuple[ShapeRow, ...]:
    """List the shapes and the dream functions that want each."""
    del session
    return scouting.shape_rows()


def dream(
    session: Session,
    *,
    dry_run: bool = False,
    stage: bool = False,
    function: str = "",
    seed: str = "",
    if_due: bool = False,
    sub_agent: bool = False,
    thread: str = "",
) -> Dreamt:
    """Run one dream cycle: hypotheses from seeds, links and Journeys."""
    if function:
        known_function(function)
    mode: Mode = "dry_run" if dry_run else "stage" if stage else "normal"
    trigger: Trigger = "hook" if if_due else "manual"
    caller = Caller(trigger=trigger, is_sub_agent=sub_agent, thread_id=thread)
    ask = Ask(mode=mode, function=function or None, seed=seed or None, caller=caller)
    return dreaming.dreamt(session, ask, limits(session))


def explain(session: Session, name: str = "") -> Explanation:
    """Say why: the gate, or the checks, scores and sources of a hypothesis, draft or cycle."""
    return explaining.explained(session, name)


def diff(session: Session, cycle: str = "last") -> CycleDiff:
    """Show what a dream cycle added and closed."""
    with session.store("dream: diff") as store:
        return Desk(session, store).diff(cycle)


def sent(session: Session, cycle: str = "last") -> SentCalls:
    """Show what a dream cycle sent to a model, byte by byte, and what came back."""
    return Calls(session.workspace).sent(cycle)


def queue(session: Session) -> tuple[Job, ...]:
    """List the jobs of the dream queue, the most urgent first."""
    with session.store("dream: queue") as store:
        return tuple(sorted(store.jobs.all(JobState.QUEUED, JobState.RUNNING), key=order))


def dream_totals(session: Session) -> Totals:
    """Show what all dream cycles add up to."""
    with session.store("dream: totals") as store:
        return totals(store.cycles(), known_of(store))


def corrections(session: Session, *, thread: str = "", limit: int = 20) -> tuple[Correction, ...]:
    """List what you corrected, and what came of it; or what of it holds for a thread."""
    with session.store("dream: corrections") as store:
        index = Index(store.ground())
    known = found_corrections(index)
    if not thread:
        return known[:limit]
    if thread not in index.threads:
        raise NotFound("thread", thread)
    return anchors(known, index.thread_concepts(thread), index.thread_turns.get(thread, ()))


def evaluate(
    session: Session,
    at: tuple[str, ...] = (),
    *,
    horizon: int = 90,
    cuts: int = 6,
    review: str = "",
) -> Evaluation:
    """Dream as of earlier dates, and count which hypotheses later turns bore out."""
    moments = tuple(each for text in at if (each := moment(text, "at")) is not None)
    return evaluating.evaluated(session, moments, cuts, horizon, limits(session), review)


def approve(session: Session, name: str, *, reason: str = "") -> Reviewed:
    """Let a parked draft stand, or call a hypothesis validated."""
    with session.store("dream: approve") as store:
        return Desk(session, store).approve(name, reason)


def reject(session: Session, name: str, *, reason: str = "") -> Reviewed:
    """Put a parked draft away, or refute a hypothesis."""
    with session.store("dream: reject") as store:
        return Desk(session, store).reject(name, reason)


def modify(
    session: Session, name: str, *, title: str = "", summary: str = "", reason: str = ""
) -> Reviewed:
    """Put a hypothesis in your own words."""
    if not title and not summary:
        raise WrongValue("modify", "nothing", "a --title or a --summary")
    with session.store("dream: modify") as store:
        return Desk(session, store).modify(name, title, summary, reason)


def confirm(session: Session, name: str, *, ref: str = "") -> Reviewed:
    """Say that a hypothesis holds, by your word or by a later turn."""
    with session.store("dream: confirm") as store:
        return Desk(session, store).confirm(name, ref)


def refute(session: Session, name: str, *, ref: str = "", reason: str = "") -> Reviewed:
    """Say that a hypothesis does not hold."""
    with session.store("dream: refute") as store:
        return Desk(session, store).refute(name, reason, ref)


def renew(session: Session, name: str, *, reason: str = "") -> Reviewed:
    """Keep a hypothesis in use for longer, or bring it back."""
    with session.store("dream: renew") as store:
        return Desk(session, store).renew(name, reason)


def missed(session: Session, question: str, ref: str, *, reason: str = "") -> Reviewed:
    """Say that a recall for a question did not bring a turn that it needed, or brought it late."""
    with session.store("dream: missed") as store:
        return note_missed(store, question, ref, reason, session.now())


def rollback(session: Session, cycle: str, *, reason: str = "") -> Reviewed:
    """Take back everything that a dream cycle brought."""
    with session.store("dream: rollback") as store:
        return Desk(session, store).rollback(cycle, reason)


def query(
    session: Session, cypher: str, params: tuple[tuple[str, str], ...] = (), limit: int = 1000
) -> QueryTable:
    """Run read-only Cypher on the graph."""
    values: dict[str, Scalar] = {name: scalar(text) for name, text in params}
    with session.store("query") as store:
        return store.query(cypher, values, limit=limit)


def scalar(text: str) -> Scalar:
    """A parameter: JSON where it is a number, a truth value or null, else text."""
    try:
        found = json.loads(text)
    except ValueError:
        return text
    return found if isinstance(found, int | float | bool | None) else text


def report(session: Session, *, out: str = "", with_text: bool = True) -> WrittenFiles:
    """Write the explorer page and the report again."""
    folder = Path(out) if out else session.workspace / "out"
    with session.store("report") as store:
        return writing.pictures(store, None, folder, session.now(), with_text=with_text)


def verify(session: Session) -> Verified:
    """Check every id, fingerprint and reference against the ledger."""
    with session.store("verify") as store:
        return Verified(
            records=store.ledger.last_seq(),
            turns=sum(len(thread.turns) for thread in store.threads()),
            faults=store.verify(),
        )


def backup(session: Session, file: str, *, force: bool = False) -> BackedUp:
    """Copy the workspace into one file, while others may use it."""
    if not session.exists:
        raise StoreNotFound(str(session.workspace))
    target = session.folder / Path(file).expanduser()
    made = back_up(session.workspace, target, session.now(), version("clew"), force=force)
    return BackedUp(path=str(target), size=target.stat().st_size, manifest=made)


def restore(session: Session, file: str) -> Restored:
    """Make a new workspace from a backup, after checking it."""
    source = session.folder / Path(file).expanduser()
    if not source.is_file():
        raise SourceNotFound(str(source))
    manifest = unpack(source, session.workspace)
    with session.store("restore") as store:
        return Restored(workspace=str(session.workspace), manifest=manifest, faults=store.verify())


def doctor(session: Session) -> tuple[Check, ...]:
    """Check workspace and surroundings, with a fix for each finding."""
    return examine(session)


def scan_secrets(session: Session) -> SecretScan:
    """Look for secrets that are not masked: kinds and places, never the words."""
    with session.store("scan-secrets") as store:
        return scan(store.path, store.ledger, pii=session.settings.ingest.mask_pii)


def ledger(
    session: Session, act: str, *, out: str = "-", force: bool = False, dry_run: bool = False
) -> LedgerDone:
    """Write the ledger as JSON Lines, or save what holds of a damaged one."""
    if not session.exists:
        raise StoreNotFound(str(session.workspace))
    match act:
        case "export":
            return keeping.written_out(session, out, force=force)
        case "salvage":
            return keeping.saved(session, dry_run=dry_run)
        case _:
            raise WrongValue("ledger", act, "export or salvage")


def rebuild(session: Session, *, engine: str = "") -> RebuildReport:
    """Make the graph again from the ledger."""
    one_of("engine", engine, ENGINES)
    with session.store("rebuild", engine=engine, anew=True) as store:
        return store.rebuild(session.now())


def forget(
    session: Session,
    what: str,
    value: str,
    *,
    lineage: bool = False,
    also_notes: bool = False,
    dry_run: bool = False,
) -> Forgotten:
    """Remove conversations and everything made from them, for good."""
    with session.store("forget") as store:
        threads = forgetting.chosen(store, what, value, lineage=lineage)
        if dry_run:
            return forgetting.planned(store, threads, session.salt())
        session.progress("forgetting")
        return forgetting.forgotten(
            store, threads, session.salt(), session.now(), also_notes=also_notes
        )


def config(session: Session, act: str = "list", key: str = "", value: str = "") -> SettingRows:
    """Show settings and where each comes from, or set one."""
    match act:
        case "list":
            return SettingRows(rows=session.loaded.rows)
        case "get":
            return SettingRows(rows=(settings.row(session.loaded, key),))
        case "set":
            return SettingRows(
                rows=(settings.write(session.loaded, key, value, session.folder),),
                written=str(settings.user_file()),
            )
        case _:
            raise WrongValue("config", act, "list, get or set")


def formats(session: Session) -> tuple[FormatRow, ...]:
    """List what can be read and what can be written."""
    del session
    return writing.format_rows()
