"""Page, report and exports of a store, written to files."""

import io
import json
import sys
from collections import Counter
from collections.abc import Iterator
from datetime import datetime
from importlib.metadata import version
from pathlib import Path

from dream.cycle import known_of
from dream.index import Index
from export import ExportView, Judged, Switches, Written, draws, shown
from export import export as write_export
from export import format_names as export_formats
from export.formats.html import ExplorerMissing
from export.report import (
    HypothesisLine,
    JourneyLine,
    LossLine,
    QuestionLine,
    ReportView,
    SeedLine,
    write_report,
)
from export.write import writer
from graphstore.derivation import Ground
from graphstore.ids import digest
from graphstore.model.hypothesis import LIVE, Hypothesis, standing
from graphstore.model.knowledge import Anchored, Cites, HasTurn, Lineage, Marks, Passes, SeedRow
from graphstore.model.record import Count
from graphstore.queries.journeys import status_now
from graphstore.store import Store
from ingest.model import IngestReport
from ingest.sniff import readers
from service.answers import FormatRow, WrittenFiles
from topology.map import positions

MORE_EDGES = (HasTurn, Lineage, Cites, Passes, Anchored)
PAGE, REPORT = "clew.html", "report"
MOST_QUESTIONS, MOST_SEEDS, MOST_HYPOTHESES = 20, 30, 30


def pictures(
    store: Store, taken: IngestReport | None, folder: Path, now: datetime, *, with_text: bool
) -> WrittenFiles:
    """Write the explorer page and the report into a folder.

    Where this installation holds no page, the report is written all the same. Raises OSError
    when the folder cannot be written.
    """
    files = [folder / name for name in (PAGE, f"{REPORT}.html", f"{REPORT}.md")]
    mark = made_of(store, folder, now, with_text=with_text)
    missing = None
    if store.jobs.reached("pictures") != mark or not all(file.exists() for file in files):
        folder.mkdir(parents=True, exist_ok=True)
        switches = Switches(with_text=with_text, with_paths=True, with_hypotheses=True)
        view = view_of(store, switches, now, places=True)
        try:
            write_export(view, "html", files[0], force=True)
        except ExplorerMissing as cause:
            missing = f"{cause.message} {cause.hint}"
        said = report_view(store, taken, now)
        for file in files[1:]:
            write_report(said, file, force=True)
        if missing is None:
            store.jobs.reach("pictures", mark)
    page, report, markdown = (str(file) for file in files)
    return WrittenFiles(
        page=None if missing else page, page_missing=missing, report=report, markdown=markdown
    )


def made_of(store: Store, folder: Path, now: datetime, *, with_text: bool) -> str:
    """What pictures depend on: records, Seeds, the day (trust has dates), the program."""
    return digest(
        store.ledger.last_seq(),
        store.jobs.reached("seeds"),
        now.date().isoformat(),
        str(folder.resolve()),
        with_text,
        version("clew"),
    )


def view_of(store: Store, switches: Switches, now: datetime, *, places: bool = False) -> ExportView:
    """What an export of this store shows."""
    ground = store.ground()
    edges = [edge for kind in MORE_EDGES for edge in store.edges(kind)]
    seeds = sorted(current_seeds(store), key=lambda row: (row.shape, -row.score, row.seed_id))
    return shown(
        ground,
        edges,
        hypotheses=judged(store, now) if switches.with_hypotheses else (),
        seeds=seeds,
        marks=store.edges(Marks),
        switches=switches,
        places=placed(store.path / "cache" / "places.json", ground) if places else None,
        statuses={each.journey_id: status_now(each, now).value for each in ground.journeys},
    )


def current_seeds(store: Store) -> list[SeedRow]:
    """Seeds of the last run."""
    return [row for row in store.nodes(SeedRow) if row.resolved_run is None]


def judged(store: Store, now: datetime) -> list[Judged]:
    """Every hypothesis with its standing."""
    found = known_of(store)
    current = store.fingerprints({ref for edge in found for ref in edge.refs})
    return [Judged(hypothesis=edge, standing=standing(edge, now, current)) for edge in found]


def placed(cache: Path, ground: Ground) -> dict[str, tuple[float, float]]:
    """Places on the map; kept beside the store so that a grown map does not jump."""
    previous = remembered(cache)
    nodes = [
        *(each.thread_id for each in ground.threads),
        *(each.question_id for each in ground.questions),
        *(each.concept_id for each in ground.concepts),
        *(each.journey_id for each in ground.journeys),
        *(each.waypoint_id for each in ground.waypoints),
    ]
    found = positions(nodes, ties(ground), previous)
    cache.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    cache.write_text(json.dumps(found, sort_keys=True), "utf-8")
    return found


def remembered(cache: Path) -> dict[str, tuple[float, float]]:
    """Places of the last time; none where the file is missing or unreadable."""
    try:
        found = json.loads(cache.read_text("utf-8"))
        return {str(node): (float(x), float(y)) for node, (x, y) in found.items()}
    except (OSError, ValueError, TypeError, AttributeError):
        return {}


def ties(ground: Ground) -> Iterator[tuple[str, str]]:
    """Edges of the map: a turn is drawn as its thread."""
    thread = {turn.ref: turn.thread_id for turn in ground.turns}
    families = (ground.asks, ground.mentions, ground.links, ground.relates, ground.anchored)
    for family in families:
        for edge in family:
            yield thread.get(edge.src, edge.src), thread.get(edge.dst, edge.dst)
    for waypoint in ground.waypoints:
        yield waypoint.journey_id, waypoint.waypoint_id


def report_view(store: Store, taken: IngestReport | None, now: datetime) -> ReportView:
    """What the report says."""
    index = Index(store.ground())
    hypotheses = judged(store, now)
    return ReportView(
        counts=tuple(counts(index, hypotheses)),
        new=new(taken),
        questions=tuple(recurring(index))[:MOST_QUESTIONS],
        journeys=tuple(journeys(index, now)),
        seeds=tuple(map(seed_line, best(current_seeds(store)))),
        hypotheses=tuple(map(hypothesis_line, live_first(hypotheses)))[:MOST_HYPOTHESES],
        losses=losses(store, taken),
        explorer=PAGE,
    )


def counts(index: Index, hypotheses: list[Judged]) -> Iterator[Count]:
    """How much there is."""
    ground = index.ground
    figures = {
        "threads": len(ground.threads),
        "clean_turns": len(index.turns),
        "questions": len(ground.questions),
        "concepts": len(ground.concepts),
        "journeys": len(ground.journeys),
        "hypotheses": sum(each.hypothesis.state in LIVE for each in hypotheses),
    }
    for name, count in figures.items():
        yield Count(name=name, count=count)


def new(taken: IngestReport | None) -> tuple[Count, ...]:
    """What the last ingest added."""
    if taken is None:
        return ()
    figures = {"new_threads": taken.new, "grown_threads": taken.grown, "human_turns": taken.human}
    return tuple(Count(name=name, count=count) for name, count in figures.items())


def losses(store: Store, taken: IngestReport | None) -> tuple[LossLine, ...]:
    """What could not be read or had to be mended: of every file, as last read.

    Files that gave nothing at all are known to the last ingest alone.
    """
    counts: Counter[str] = Counter()
    places: dict[str, list[str]] = {}
    for row in store.files.all():
        for code in row.codes:
            counts[code.name] += code.count
            places.setdefault(code.name, []).append(Path(row.path).name)
    for lost in taken.codes if taken is not None else ():
        if lost.code not in counts:
            counts[lost.code] = lost.count
            places[lost.code] = list(lost.places)
    return tuple(
        LossLine(code=code, count=counts[code], detail=", ".join(places[code][:3]))
        for code in sorted(counts)
    )


def recurring(index: Index) -> Iterator[QuestionLine]:
    """Open questions asked again, those of most threads first."""
    rows = []
    for cluster, members in index.members.items():
        refs = index.cluster_refs(cluster)
        if len(refs) > 1 and not index.cluster_answers(cluster):
            first = min(members, key=lambda each: index.when(index.askings[each][0]))
            rows.append((-len(index.lineages_of(refs)), -len(refs), first, refs))
    for threads, askings, question, refs in sorted(rows):
        yield QuestionLine(
            question_id=question,
            text=index.questions[question].text,
            askings=-askings,
            threads=-threads,
            last=index.turns[refs[-1]].at,
            refs=refs[:8],
        )


def journeys(index: Index, now: datetime) -> Iterator[JourneyLine]:
    """Journeys and where they stand, the latest moved first."""
    order = sorted(
        index.ground.journeys,
        key=lambda each: (-(each.last_seen.timestamp() if each.last_seen else 0), each.journey_id),
    )
    for journey in order:
        yield JourneyLine(
            journey_id=journey.journey_id,
            label=journey.path_label,
            status=status_now(journey, now).value,
            inquiry=journey.core_inquiry,
            frontier=journey.frontier,
            waypoints=len(index.waypoints.get(journey.journey_id, ())),
            last=journey.last_seen,
            refs=journey.frontier_refs,
        )


def best(seeds: list[SeedRow]) -> list[SeedRow]:
    """A round robin over the shapes, best score first."""
    places: Counter[str] = Counter()
    ranked = []
    for row in sorted(seeds, key=lambda each: (-each.score, each.seed_id)):
        places[row.shape] += 1
        ranked.append(
            (row.provenance != "computed", places[row.shape], row.shape, row.seed_id, row)
        )
    return [row for *_, row in sorted(ranked, key=lambda each: each[:4])][:MOST_SEEDS]


def seed_line(row: SeedRow) -> SeedLine:
    """A Seed as the report shows it."""
    return SeedLine(
        seed_id=row.seed_id,
        shape=row.shape,
        provenance=row.provenance,
        sentence=row.sentence,
        is_new=row.first_run == row.last_run,
        refs=row.source_refs[:6],
    )


def live_first(hypotheses: list[Judged]) -> list[Judged]:
    """Those that count, the most certain and best retained first."""
    live = [each for each in hypotheses if each.hypothesis.state in LIVE]
    return sorted(live, key=lambda each: rank(each.hypothesis))


def rank(edge: Hypothesis) -> tuple[int, float, str]:
    """Sort key: points, retention, id."""
    return (-edge.points, -edge.retention, edge.hypothesis_id)


def hypothesis_line(each: Judged) -> HypothesisLine:
    """A hypothesis as the report shows it."""
    edge = each.hypothesis
    return HypothesisLine(
        hypothesis_id=edge.hypothesis_id,
        function=edge.function,
        standing=each.standing.standing,
        title=edge.title,
        summary=edge.summary,
        points=edge.points,
        counter_evidence=len(json.loads(edge.counter_evidence)),
        review_after=edge.review_after,
        next_check=edge.next_check,
        refs=edge.refs,
    )


def exported(
    store: Store, name: str, out: str, switches: Switches, now: datetime, *, force: bool
) -> Written:
    """Write one export to a file, or to standard output for ``-``."""
    view = view_of(store, switches, now, places=draws(name))
    if out != "-":
        return write_export(view, name, Path(out), force=force)
    whole = io.BytesIO()  # an archive written to a pipe would have other bytes than a file
    writer(name).write(view, whole)
    sys.stdout.buffer.write(whole.getbuffer())
    return Written(
        format=name,
        path="-",
        size=0,
        nodes=len(view.nodes),
        edges=len(view.edges),
        hypotheses=len(view.hypotheses),
    )


def format_rows() -> tuple[FormatRow, ...]:
    """Readers with their tier, then export formats."""
    reading = [
        FormatRow(name=each.NAME, direction="read", tier=each.TIER, about=first_line(each))
        for each in readers()
    ]
    writing = [
        FormatRow(name=name, direction="write", tier="-", about=first_line(writer(name)))
        for name in export_formats()
    ]
    return (*sorted(reading, key=lambda row: row.name), *writing)


def first_line(module: object) -> str:
    """First sentence or line of a docstring, in plain signs."""
    line = (module.__doc__ or "").strip().split("\n\n")[0]
    return " ".join(line.replace("``", "`").split())
