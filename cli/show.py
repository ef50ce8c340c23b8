"""One renderer per result: tables and texts for people, ``--json`` for programs.

Results are values of the packages below; they are not imported here, so that a command loads
only what it needs.
"""

import shutil
import sys
import webbrowser
from pathlib import Path
from typing import Any, Final, TextIO

from cli import losses as account
from cli import paint
from cli.call import clear_progress
from cli.paint import day, plural

MARK = "Hypothesis, not source"
LABEL, EVIDENCE = " " * 12, " " * 13
PLACES, MEMBERS, TURNS, FAULTS = 3, 12, 8, 20
NOT_FOUND: Final = {
    "empty_store": "the store holds no turn yet",
    "empty_cue": "the cue holds no word",
    "filtered_out": "no turn passes the filters",
    "no_match": "no turn has a word of it",
    "below_floor": "no turn is near enough",
}
MISSING: Final = {
    "malformed": "this is not a reference",
    "no_thread": "there is no such thread",
    "no_turn": "the thread has no such turn",
    "ambiguous": "several threads have this id",
}
DREAMT_NOTHING: Final = {
    "no_draft": "no dream function had anything new to say",
    "below_retention": "no draft was worth keeping yet",
    "duplicate": "everything found stands already",
}


def emit(found: Any, *, as_json: bool) -> bool:  # noqa: ANN401 - a Value or a tuple of Values
    """Clear the progress line; print JSON if asked for, and say whether that was all."""
    clear_progress()
    if as_json:
        paint.as_json(found)
    return as_json


def places(found: Any, out: TextIO | None = None) -> None:  # noqa: ANN401
    """Where conversations were found; on standard error where the result of a run comes after."""
    clear_progress()
    out = out or sys.stderr
    for each in found.places:
        size = f"{plural(each.files, 'file')}, {each.size / 1e6:.1f} MB"
        dates = f"{day(each.oldest_at)} to {day(each.newest_at)}"
        print(f"found  {each.tool:<12} {each.path}  ({size}, {dates})", file=out)
    for each in found.downloads:
        print(f"export {each.tool:<12} read it with: clew ingest {each.path}", file=out)
    if not found.places:
        print("looked where known tools keep conversations: nothing is there", file=out)


def discovered(found: Any, *, as_json: bool) -> None:  # noqa: ANN401
    """Well-known places, as the answer itself."""
    if not emit(found, as_json=as_json):
        places(found, sys.stdout)


def agreed(question: str) -> bool:
    """The owner's word, asked on a terminal; without one, how to give it."""
    if not sys.stdin.isatty():
        print("clew: nobody is here to ask\n      add --yes, or name a PATH", file=sys.stderr)
        return False
    import typer

    return typer.confirm(question, default=True, err=True)


def sure(question: str) -> bool:
    """The owner's word on what cannot be undone; no is the answer where nobody is there."""
    if not sys.stdin.isatty():
        print("clew: nobody is here to ask\n      add --yes", file=sys.stderr)
        return False
    import typer

    return typer.confirm(question, default=False, err=True)


def forgotten(done: Any, *, as_json: bool) -> None:  # noqa: ANN401
    """What goes, or went, and what a look through every file found."""
    if emit(done, as_json=as_json):
        return
    print("gone for good:" if done.done else "would go for good:")
    for thread in done.threads[:TURNS]:
        print(f"  {thread.thread_id}  {thread.title or ''}  ({plural(thread.turns, 'turn')})")
    if len(done.threads) > TURNS:
        print(f"  and {plural(len(done.threads) - TURNS, 'thread')} more")
    print("  with " + ", ".join(f"{row.count} {row.name}" for row in done.counts))
    for row in done.adopted:
        print(f"  stays: {plural(row.count, 'turn')} that {row.name} shares")
    for file in done.files:
        print(f"  removed with it: {file}")
    for file in done.listed:
        print(f"  yours, not touched, quotes it: {file}")
    for file in done.left:
        print(f"  STILL THERE: {file}")
    if done.done:
        print(f"looked for {plural(done.pieces, 'piece')} of text in every file of the workspace")


def up(done: Any, *, as_json: bool, verbose: bool) -> None:  # noqa: ANN401
    """What ``clew up`` did."""
    if emit(done, as_json=as_json):
        return
    account.show(done.ingest, verbose=verbose, most=0)
    if done.ingest.interrupted:
        return
    if not done.threads:
        print("store       empty: no conversation was found\ntry         clew up --example")
        return
    paint.paragraph(
        f"{plural(done.threads, 'thread')}, {plural(done.turns, 'clean turn')}, "
        f"{plural(done.questions, 'question')}, {plural(done.concepts, 'concept')}, "
        f"{plural(done.links, 'link')}, {plural(done.journeys, 'Journey')}",
        LABEL,
        first="store",
    )
    paint.paragraph(named(done.seeds), LABEL, first="seeds")
    dreamt_ = named(done.hypotheses) if done.hypotheses else f"none ({done.dream})"
    paint.paragraph(f"{dreamt_}; {done.parked} parked", LABEL, first="hypotheses")
    if verbose:
        for stage in done.stages:
            print(f"  {stage.stage:<8} {stage.cpu_s:6.1f} CPU-s   peak {stage.peak_mb:.0f} MB")
    if done.page is None:
        print(f"page        none: {done.page_missing}")
    else:
        print(f"page        {done.page}")
    print(f"report      {done.report}")
    for command in ("clew questions --recurring", "clew hypotheses", "clew recall WORDS"):
        print(f"try         {command}")


def spaced(name: str) -> str:
    """A name as words: ``review_due`` is ``review due``."""
    return name.replace("_", " ")


def named(counts: Any) -> str:  # noqa: ANN401
    """``3 island, 2 cycle``."""
    return ", ".join(f"{each.count} {spaced(each.name)}" for each in counts) or "none"


def open_page(path: str) -> None:
    """Open the page where there is a desktop; silently not elsewhere."""
    desktop = sys.platform in ("darwin", "win32") or any(
        shutil.which(name) for name in ("xdg-open", "wslview")
    )
    if desktop and sys.stdout.isatty():
        webbrowser.open(Path(path).resolve().as_uri())


def ingested(report: Any, *, as_json: bool, verbose: bool) -> None:  # noqa: ANN401
    """What one run of ingest found and lost."""
    if not emit(report, as_json=as_json):
        account.show(report, verbose=verbose)


def status(found: Any, *, as_json: bool) -> None:  # noqa: ANN401
    """The state of a workspace."""
    if emit(found, as_json=as_json):
        return
    print(f"workspace   {found.workspace} ({found.engine})")
    paint.paragraph(
        f"{plural(found.threads, 'thread')} in {plural(found.lineages, 'lineage')}, "
        f"{plural(found.turns, 'clean turn')}, {plural(found.questions, 'question')}, "
        f"{plural(found.concepts, 'concept')}, {plural(found.journeys, 'Journey')}",
        LABEL,
        first="holds",
    )
    print(f"ledger      {plural(found.records, 'record')} from {plural(found.carriers, 'file')}")
    print(f"seeds       {found.seeds}")
    print(f"hypotheses  {found.hypotheses} standing, {found.parked} parked, {found.queued} queued")
    last = found.last_dream.isoformat(timespec="minutes") if found.last_dream else "never"
    print(f"last dream  {last} ({found.last_dream_outcome})")
    if found.losses:
        print("noted")
        for code in found.losses:
            print(f"  {code.count} {code.name}: {account.MEANING.get(code.name, '')}")
    if found.unmasked:
        print(f"unmasked    {plural(found.unmasked, 'thread')} taken in without masking")
    for notice in found.notices:
        when = f" ({day(notice.at)})" if notice.at else ""
        paint.paragraph(f"{notice.kind}: {notice.detail}{when}", LABEL, first="notice")
    print(f"next        {found.next_action}")


def recalled(found: Any, *, as_json: bool) -> None:  # noqa: ANN401
    """Hits with where they stand; hypotheses apart."""
    if emit(found, as_json=as_json):
        return
    for number, hit in enumerate(found.hits, start=1):
        turn = hit.turn
        about = f"{turn.title or turn.thread_id}  ({turn.role}, {day(turn.at)})"
        paint.paragraph(about, first=f"{number:>2}")
        paint.paragraph(turn.text)
        print(f"    {turn.ref}")
        paint.paragraph(", ".join(hit.reasons))
    if not found.hits:
        print("nothing found: " + NOT_FOUND[found.not_found_reason or "no_match"])
        if found.nearest is not None:
            print(f"nearest: {found.nearest.turn.ref}")
            paint.paragraph(found.nearest.turn.text)
    for view in found.hypotheses:
        edge = view.hypothesis
        paint.paragraph(f"{MARK} ({spaced(view.standing.standing)}): {edge.title}", "  ", first="")
        paint.refs((edge.hypothesis_id, "on", *edge.refs[:PLACES]))


def resonances(found: Any, *, as_json: bool) -> None:  # noqa: ANN401
    """Other threads, by kind, with the evidence on both sides."""
    if emit(found, as_json=as_json):
        return
    groups = dict.fromkeys(each.group for each in found.found)
    for group in groups:
        print(group.replace("_", " "))
        for each in found.found:
            if each.group == group:
                resonance(each)
    if not found.found:
        print("no other thread meets this")


def resonance(each: Any) -> None:  # noqa: ANN401
    """One other thread."""
    about = f"{each.title or each.thread_id}  ({day(each.started_at)}, {each.score:.2f})"
    paint.paragraph(about, "  ")
    met = {(pair.mine, pair.theirs): pair for pair in reversed(each.pairs)}
    for pair in tuple(reversed(met.values()))[:PLACES]:
        paint.refs((pair.mine, "~", pair.theirs))
        if pair.theirs_text:
            paint.paragraph(paint.cut(pair.theirs_text, 2 * paint.width()), "      ")
    shared = dict.fromkeys(label for pair in each.pairs for label in pair.concepts)
    if shared:
        paint.paragraph("shared: " + ", ".join(tuple(shared)[:6]))
    if each.shared_paths:
        paint.paragraph("files: " + ", ".join(each.shared_paths[:4]))


def fetched(turns: Any, *, as_json: bool) -> None:  # noqa: ANN401
    """Full turns."""
    if emit(turns, as_json=as_json):
        return
    for turn in turns:
        if turn.outcome == "missing":
            print(f"{turn.ref}: {MISSING[turn.reason]}")
        else:
            print_turn(turn)


def print_turn(turn: Any, *, focus: str | None = None) -> None:  # noqa: ANN401
    """One turn with where it comes from."""
    sign = paint.mark("\u25b6 ", "> ") if turn.ref == focus else ""
    who = turn.speaker or turn.role
    print(f"{sign}{turn.ref}  {who}, {day(turn.at)}")
    paint.block(turn.text)
    if turn.file:
        print(f"    -- {turn.file}" + (f":{turn.line}" if turn.line else ""))


def opened(found: Any, *, as_json: bool) -> None:  # noqa: ANN401
    """A turn in its thread."""
    if emit(found, as_json=as_json):
        return
    if found.outcome == "missing":
        print(f"{found.ref}: {MISSING[found.reason]}")
        return
    print(f"{found.thread.title or found.thread.thread_id}  ({found.thread.source})")
    if found.more_before:
        print(f"  ... {plural(found.more_before, 'turn')} before")
    for turn in found.turns:
        print_turn(turn, focus=found.focus)
    if found.more_after:
        print(f"  ... {plural(found.more_after, 'turn')} after")


def threads(rows: Any, *, as_json: bool) -> None:  # noqa: ANN401
    """Threads, newest first."""
    if emit(rows, as_json=as_json):
        return
    for row in rows:
        last = day(row.ended_at or row.started_at)
        about = f"{row.title or 'no title'}  ({plural(row.turns, 'turn')})"
        paint.paragraph(about, LABEL, first=last)
        print(LABEL + row.thread_id)
    if not rows:
        print("no such thread")


def questions(rows: Any, *, as_json: bool) -> None:  # noqa: ANN401
    """Questions, most asked first."""
    if emit(rows, as_json=as_json):
        return
    for row in rows:
        times = f"{plural(row.asked, 'time')} in {plural(row.lineages, 'thread')}"
        paint.paragraph(row.text, "")
        print(f"    {row.status}, asked {times}, last {day(row.last_seen)}")
        paint.refs((row.question_id, "in", *row.refs[:PLACES]))
    if not rows:
        print("no such question")


def borderline(rows: Any, *, as_json: bool) -> None:  # noqa: ANN401
    """Pairs that wait for a word of the owner."""
    if emit(rows, as_json=as_json):
        return
    for row in rows:
        paint.paragraph(f"{row.one} ({row.one_id})", "      ", first=f"{row.score:.2f}")
        paint.paragraph(f"{row.other} ({row.other_id})", "      ")
    if not rows:
        print("no pair waits")


def concepts(rows: Any, *, as_json: bool) -> None:  # noqa: ANN401
    """Concepts, most shared first."""
    if not emit(rows, as_json=as_json):
        found = [(row.df, row.cf, row.kind, row.label) for row in rows]
        paint.rows(("threads", "turns", "kind", "concept"), found)


def journeys(rows: Any, *, as_json: bool) -> None:  # noqa: ANN401
    """Journeys and where they stand; waypoints where one is shown whole."""
    if emit(rows, as_json=as_json):
        return
    for row in rows:
        print(f"{row.path_label}  ({row.status}, {plural(row.waypoints, 'waypoint')})")
        paint.paragraph(row.core_inquiry)
        for stop in row.stops:
            labels = ", ".join(spaced(label) for label in stop.labels)
            print(f"    {stop.seq:>2} {day(stop.at)} {labels}")
            paint.paragraph(stop.moment, "       ")
            paint.refs(stop.refs, indent="       ")
        paint.paragraph("frontier: " + paint.cut(row.frontier, 2 * paint.width()))
        paint.refs((row.journey_id, "at", *row.frontier_refs[:PLACES]))
    if not rows:
        print("no Journey: one begins when an inquiry moves through three threads")


def scouted(report: Any, *, as_json: bool, markdown: str) -> None:  # noqa: ANN401
    """Seeds by shape, then the account of the run."""
    from topology import report as reports

    if markdown:
        Path(markdown).write_text(reports.to_markdown(report), "utf-8")
    if emit(report, as_json=as_json):
        return
    shape = ""
    for one in (*report.seeds, *report.shadow):
        if one.shape != shape:
            shape = one.shape
            print(spaced(shape))
        new = "new: " if reports.is_new(report, one) else ""
        paint.paragraph(new + one.sentence, "    ", first=f"{one.rank:>2}")
        paint.refs((one.seed_id, "on", *dict.fromkeys(ref.ref for ref in one.refs[:PLACES])))
    for line in reports.account(report):
        paint.paragraph(line, "")
    if report.seeds:
        print("more about one of them: clew seed ID")


def shapes(rows: Any, *, as_json: bool) -> None:  # noqa: ANN401
    """What the scout looks for."""
    if emit(rows, as_json=as_json):
        return
    for row in rows:
        wanted = f"  (read by {', '.join(row.functions)})" if row.functions else ""
        print(f"{row.name}{wanted}")
        paint.paragraph(row.about)


def seed(found: Any, *, as_json: bool) -> None:  # noqa: ANN401
    """A Seed whole."""
    if emit(found, as_json=as_json):
        return
    one = found.seed
    level = "threads" if one.level else "nodes"
    print(f"{spaced(one.shape)} {one.rank} ({spaced(one.kind)}, {one.provenance}, among {level})")
    paint.paragraph(found.sentence, "  ")
    figures = ", ".join(
        f"{spaced(each.name)} {each.value:g}" for each in (*one.sizes, *one.numbers)
    )
    paint.paragraph(f"score {one.score:g}; {figures}", "  ")
    for role in dict.fromkeys(role for role, _, _ in found.members):
        names = [name for each, _, name in found.members if each == role]
        rest = f" and {len(names) - MEMBERS} more" if len(names) > MEMBERS else ""
        quoted = ", ".join(f'"{name}"' for name in names[:MEMBERS])
        paint.paragraph(f"{spaced(role)}: {quoted}{rest}", "    ", first="  ")
    sides: dict[str, list[str]] = {}
    for turn in found.turns:
        sides.setdefault(turn.ref, []).append(spaced(turn.side) or "any side")
    turns = {turn.ref: turn for turn in found.turns}
    for ref, turn in tuple(turns.items())[:TURNS]:
        print(f"  {ref}")
        paint.paragraph(f"for {', '.join(sides[ref])}; {turn.role}, {day(turn.at)}")
        paint.paragraph(paint.cut(turn.text, 3 * paint.width()))
    if len(turns) > TURNS:
        print(f"  and {plural(len(turns) - TURNS, 'turn')} more; --json shows everything")
    if found.functions:
        print("  read by the dream function " + ", ".join(found.functions))


def advised(reason: str, function: str) -> str:
    """What came of asking a model."""
    name = spaced(function)
    if reason == "answered":
        return f"a model was asked ({name}); clew dream sent shows every byte"
    return f"a model gave nothing ({name}: {spaced(reason)}); rules dreamt instead"


def dreamt(done: Any, *, as_json: bool, dry_run: bool = False) -> None:  # noqa: ANN401
    """What one dream cycle landed, or why nothing came out."""
    if emit(done, as_json=as_json):
        return
    result = done.result
    match result.outcome:
        case "landed":
            record = result.record
            said = "would land" if dry_run else "landed"
            print(
                f"{said}: {plural(len(record.hypotheses), 'hypothesis')}, "
                f"{len(record.parked)} parked, {plural(len(record.jobs), 'job')}"
            )
            for edge in record.hypotheses:
                paint.paragraph(f"{MARK}: {edge.title}", "  ")
                paint.paragraph(edge.summary)
            for job in record.jobs:
                if job.advice is not None:
                    print(f"  {advised(job.advice, job.function)}")
            if result.why_nothing:
                why = result.why_nothing.partition(" ")[0]
                print(f"  none accepted: {DREAMT_NOTHING.get(why, spaced(result.why_nothing))}")
            print(f"next: {record.next_action}")
        case "nothing_due":
            print(f"nothing due\nnext: {result.next_action}")
        case "closed":
            line = result.lines[-1]
            print(
                f"closed: {line.name} is {line.value}, needs {line.required}\nnext: {line.distance}"
            )
        case _:
            print("another dream cycle was leased meanwhile; nothing was written")


def hypotheses(rows: Any, *, as_json: bool) -> None:  # noqa: ANN401
    """Hypotheses with evidence, counter-evidence and standing."""
    if emit(rows, as_json=as_json):
        return
    for row in rows:
        edge = row.hypothesis
        paint.paragraph(edge.title, "")
        paint.paragraph(
            f"{MARK}; {spaced(row.standing.standing)}, {edge.points} points, "
            f"{spaced(edge.rule)} ({edge.function})"
        )
        paint.paragraph(edge.summary)
        for claim in row.claims:
            paint.refs(claim.refs, "    for", EVIDENCE)
        for each in row.counter:
            paint.paragraph(each.statement, EVIDENCE, first="    against")
            paint.refs(each.refs, indent=EVIDENCE)
        if row.failed:
            why = ", ".join(spaced(name) for name in row.failed)
            paint.paragraph(why, EVIDENCE, first="    parked")
        print(f"    review   {day(edge.review_after)}: {spaced(edge.next_check)}")
        print(f"    {edge.hypothesis_id}")
    if not rows:
        print("no such hypothesis")
        print("next: clew dream makes some; clew hypotheses --state parked lists what waits")


def table(found: Any, *, as_json: bool) -> None:  # noqa: ANN401
    """Rows of a query."""
    if not emit(found, as_json=as_json):
        paint.rows(found.columns, found.rows)
        if not found.rows:
            print("no row")
        if found.truncated:
            print("there are more rows: raise --limit")


def exported(done: Any) -> None:  # noqa: ANN401
    """Where an export went; silent for standard output."""
    clear_progress()
    if done.path != "-":
        extra = f", {plural(done.hypotheses, 'hypothesis')} (marked)" if done.hypotheses else ""
        print(f"{done.path}  {plural(done.nodes, 'node')}, {plural(done.edges, 'edge')}{extra}")


def written(done: Any, *, as_json: bool) -> None:  # noqa: ANN401
    """Where page and report are."""
    if not emit(done, as_json=as_json):
        print(f"page    {done.page or 'none: ' + done.page_missing}")
        print(f"report  {done.report}\n        {done.markdown}")


def formats(rows: Any, *, as_json: bool) -> None:  # noqa: ANN401
    """Readers and export formats."""
    if emit(rows, as_json=as_json):
        return
    for direction, title in (("read", "clew ingest reads"), ("write", "clew export writes")):
        print(title)
        for row in rows:
            if row.direction == direction:
                tier = f" ({row.tier})" if row.tier != "-" else ""
                print(f"  {row.name}{tier}")
                paint.paragraph(row.about, "      ")


def verified(checked: Any, *, as_json: bool) -> None:  # noqa: ANN401
    """What does not hold."""
    if emit(checked, as_json=as_json):
        return
    print(f"checked {plural(checked.records, 'record')}, {plural(checked.turns, 'turn')}")
    for fault in checked.faults[:FAULTS]:
        paint.paragraph(f"{fault.kind}: {fault.subject}: {fault.detail}", "  ")
    if len(checked.faults) > FAULTS:
        print(f"  and {len(checked.faults) - FAULTS} more; --json shows everything")
    print(plural(len(checked.faults), "fault") if checked.faults else "everything holds")
    if checked.faults:
        print("next: clew rebuild, then clew verify")


def rebuilt(done: Any, *, as_json: bool) -> None:  # noqa: ANN401
    """What the new graph holds."""
    if not emit(done, as_json=as_json):
        print(
            f"graph made again from {plural(done.applied, 'record')}: "
            f"{plural(done.nodes, 'node')}, {plural(done.edges, 'edge')}"
        )


def backed_up(done: Any, *, as_json: bool) -> None:  # noqa: ANN401
    """Where a backup is and what it holds."""
    if emit(done, as_json=as_json):
        return
    print(f"{done.path}  {done.size / 1e6:.1f} MB")
    print(f"holds       {held(done.manifest)}")
    print("restore     clew --workspace NAME restore FILE")


def restored(done: Any, *, as_json: bool) -> None:  # noqa: ANN401
    """What a new workspace holds."""
    if emit(done, as_json=as_json):
        return
    print(f"workspace   {done.workspace}")
    print(f"holds       {held(done.manifest)}, as of {day(done.manifest.at)}")
    print(plural(len(done.faults), "fault") if done.faults else "everything holds")


def held(manifest: Any) -> str:  # noqa: ANN401
    """The figures of a backup."""
    records = plural(sum(each.count for each in manifest.records), "record")
    return f"{plural(manifest.threads, 'thread')}, {records}, {plural(len(manifest.files), 'file')}"


def examined(checks: Any, *, as_json: bool) -> None:  # noqa: ANN401
    """Each check in a line, and what to do about it."""
    if emit(checks, as_json=as_json):
        return
    for check in checks:
        sign = "ok" if check.level == "good" else check.level
        paint.paragraph(f"{check.name}: {check.found}", "         ", first=sign)
        if check.hint:
            paint.paragraph(check.hint, "         ")


def scanned(found: Any, *, as_json: bool) -> None:  # noqa: ANN401
    """Kinds and places of what looks like a secret."""
    if emit(found, as_json=as_json):
        return
    for place in found.places[:FAULTS]:
        print(f"{place.count} {place.kind}  {place.place}")
    if len(found.places) > FAULTS:
        print(f"and {plural(len(found.places) - FAULTS, 'place')} more; --json shows everything")
    print(f"looked at {plural(found.records, 'record')}: {named(found.kinds)}")
    if found.places:
        print("next: clew forget takes threads out; then ingest them again, with masking on")


def ledger(done: Any, *, as_json: bool) -> None:  # noqa: ANN401
    """Where the ledger went, or what was saved of it."""
    if done.act == "export":
        clear_progress()
        if done.path != "-" and not emit(done, as_json=as_json):
            print(f"{done.path}  {plural(done.records, 'record')}")
        return
    if emit(done, as_json=as_json):
        return
    saved = done.salvaged
    for lost in saved.lost[:FAULTS]:
        print(f"lost  record {lost.seq}: {lost.kind or 'unreadable'} {lost.subject or ''}".rstrip())
    if len(saved.lost) > FAULTS:
        print(f"  and {len(saved.lost) - FAULTS} more; --json shows everything")
    print(f"{plural(saved.kept, 'record')} hold, {len(saved.lost)} are lost")
    if saved.quarantine:
        print(f"the old ledger is in {saved.quarantine}")
        print("next: clew verify")


def settings(found: Any, *, as_json: bool) -> None:  # noqa: ANN401
    """Settings and where each comes from."""
    if emit(found, as_json=as_json):
        return
    rows = [(row.key, row.value, row.origin, row.allowed) for row in found.rows]
    paint.rows(("key", "value", "from", "allowed"), rows, paint.whole)
    if found.written:
        print(f"written to {found.written}")
