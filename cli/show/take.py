"""What commands that take conversations in tell."""

from __future__ import annotations

import shutil
import sys
import webbrowser
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from cli import losses as account
from cli import paint
from cli.call import clear_progress
from cli.paint import day, plural
from cli.show import LABEL, emit, named

if TYPE_CHECKING:
    from ingest.discover import Discovered
    from ingest.model import IngestReport
    from service.answers import Status, UpReport


def places(found: Discovered, out: TextIO | None = None) -> None:
    """Where conversations were found; on standard error where the result of a run comes after."""
    clear_progress()
    out = out or sys.stderr
    for each in found.places:
        size = f"{plural(each.files, 'file')}, {each.size / 1e6:.1f} MB"
        dates = f"{day(each.oldest_at)} to {day(each.newest_at)}"
        print(f"found  {each.tool:<12} {each.path}  ({size}, {dates})", file=out)
    for one in found.downloads:
        print(f"export {one.tool:<12} read it with: clew ingest {one.path}", file=out)
    if not found.places:
        print("looked where known tools keep conversations: nothing is there", file=out)


def discovered(found: Discovered, *, as_json: bool) -> None:
    """Well-known places, as the answer itself."""
    if not emit(found, as_json=as_json):
        places(found, sys.stdout)


def up(done: UpReport, *, as_json: bool, verbose: bool) -> None:
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


def open_page(path: str) -> None:
    """Open the page where there is a desktop; silently not elsewhere."""
    desktop = sys.platform in ("darwin", "win32") or any(
        shutil.which(name) for name in ("xdg-open", "wslview")
    )
    if desktop and sys.stdout.isatty():
        webbrowser.open(Path(path).resolve().as_uri())


def ingested(report: IngestReport, *, as_json: bool, verbose: bool) -> None:
    """What one run of ingest found and lost."""
    if not emit(report, as_json=as_json):
        account.show(report, verbose=verbose)


def status(found: Status, *, as_json: bool) -> None:
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
