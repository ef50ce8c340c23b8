"""The report: what is in the store, what is new, what is open, what was dreamt. No clock."""

import html
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import quote

from export.privacy import strip
from export.write import Written, replace_file
from graphstore.model.base import Instant, Value
from graphstore.model.hypothesis import HYPOTHESIS_WORDS
from graphstore.model.record import Count


class ThreadLine(Value):
    """A thread that is new since the last report."""

    thread_id: str
    title: str | None = None
    source: str
    last: Instant | None = None
    """Its newest turn."""


class QuestionLine(Value):
    """An open question that comes back."""

    question_id: str
    text: str
    askings: int
    threads: int
    last: Instant | None = None
    refs: tuple[str, ...] = ()


class JourneyLine(Value):
    """A Journey and where it stands; ``status`` as computed by the reader."""

    journey_id: str
    label: str
    status: str
    inquiry: str
    frontier: str
    waypoints: int
    last: Instant | None = None
    refs: tuple[str, ...] = ()


class SeedLine(Value):
    """A seed with its counterfactual sentence."""

    seed_id: str
    shape: str
    provenance: str
    sentence: str
    is_new: bool = False
    refs: tuple[str, ...] = ()


class HypothesisLine(Value):
    """A hypothesis as it must always be shown: marked, with standing and what speaks against."""

    hypothesis_id: str
    function: str
    standing: str
    title: str
    summary: str
    points: int
    counter_evidence: int
    review_after: Instant
    next_check: str
    refs: tuple[str, ...] = ()


class ProposalLine(Value):
    """A staged change of the playbook that waits for the owner."""

    revision_id: str
    text: str
    refs: tuple[str, ...] = ()


class LossLine(Value):
    """What the last ingest could not read, by code."""

    code: str
    count: int
    detail: str = ""


class ReportView(Value):
    """Everything a report shows, in the order in which it is shown."""

    counts: tuple[Count, ...] = ()
    since: Instant | None = None
    """What "new" is measured from; null for a first report."""
    new: tuple[Count, ...] = ()
    threads: tuple[ThreadLine, ...] = ()
    questions: tuple[QuestionLine, ...] = ()
    journeys: tuple[JourneyLine, ...] = ()
    seeds: tuple[SeedLine, ...] = ()
    hypotheses: tuple[HypothesisLine, ...] = ()
    proposals: tuple[ProposalLine, ...] = ()
    losses: tuple[LossLine, ...] = ()
    explorer: str | None = None
    """File name of the page beside the report; refs link into it."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One thing in a section."""

    head: str
    said: str = ""
    facts: tuple[str, ...] = ()
    refs: tuple[str, ...] = ()
    mark: str = ""


@dataclass(frozen=True, slots=True)
class Section:
    """A heading, what it means, and its entries; an empty one says why."""

    title: str
    entries: tuple[Entry, ...]
    nothing: str
    intro: str = ""


def _day(moment: Instant | None) -> str:
    return "date unknown" if moment is None else moment.strftime("%Y-%m-%d")


def _spoken(name: str) -> str:
    return name.replace("_", " ")


def _many(count: int, one: str, many: str) -> str:
    return f"{count} {one if count == 1 else many}"


def _counts(rows: tuple[Count, ...]) -> tuple[Entry, ...]:
    return tuple(Entry(f"{_spoken(row.name)}: {row.count}") for row in rows)


def _threads(view: ReportView) -> tuple[Entry, ...]:
    return tuple(
        Entry(row.title or row.thread_id, facts=(row.source, f"last turn {_day(row.last)}"))
        for row in view.threads
    )


def _questions(view: ReportView) -> tuple[Entry, ...]:
    return tuple(
        Entry(
            row.text,
            facts=(
                f"asked {_many(row.askings, 'time', 'times')}",
                f"in {_many(row.threads, 'thread', 'threads')}",
                f"last {_day(row.last)}",
            ),
            refs=row.refs,
        )
        for row in view.questions
    )


def _journeys(view: ReportView) -> tuple[Entry, ...]:
    return tuple(
        Entry(
            row.label,
            said=row.frontier,
            facts=(
                row.status,
                row.inquiry,
                _many(row.waypoints, "waypoint", "waypoints"),
                f"last {_day(row.last)}",
            ),
            refs=row.refs,
        )
        for row in view.journeys
    )


def _seeds(view: ReportView) -> tuple[Entry, ...]:
    return tuple(
        Entry(
            row.sentence,
            facts=(_spoken(row.shape), row.provenance, *(("new",) if row.is_new else ())),
            refs=row.refs,
        )
        for row in view.seeds
    )


def _hypotheses(view: ReportView) -> tuple[Entry, ...]:
    return tuple(
        Entry(
            row.title,
            said=row.summary,
            facts=(
                _spoken(row.function),
                f"standing: {_spoken(row.standing)}",
                f"{row.points} points",
                f"counter-evidence: {row.counter_evidence}",
                f"review after {_day(row.review_after)}",
                f"next: {_spoken(row.next_check)}",
                row.hypothesis_id,
            ),
            refs=row.refs,
            mark=HYPOTHESIS_WORDS,
        )
        for row in view.hypotheses
    )


def _losses(view: ReportView) -> tuple[Entry, ...]:
    return tuple(
        Entry(f"{_spoken(row.code)}: {row.count}", facts=(row.detail,) if row.detail else ())
        for row in view.losses
    )


def sections(view: ReportView) -> tuple[Section, ...]:
    """The report as data, from which both renderings are made."""
    since = f"Since {_day(view.since)}." if view.since else "This is the first report."
    proposals = tuple(
        Entry(row.text, facts=(row.revision_id,), refs=row.refs) for row in view.proposals
    )
    return (
        Section("In the store", _counts(view.counts), "Nothing was read yet."),
        Section("New", (*_counts(view.new), *_threads(view)), "Nothing new.", since),
        Section("Open questions that come back", _questions(view), "No open question came back."),
        Section(
            "Journeys and where they stand",
            _journeys(view),
            "No inquiry has come up in three threads yet.",
        ),
        Section(
            "Seeds",
            _seeds(view),
            "No seeds: no part of the record has one of the shapes.",
            "Shapes worth a second look. A seed is a candidate, not a fact.",
        ),
        Section(
            "Hypotheses",
            _hypotheses(view),
            "Nothing was dreamt.",
            f"{HYPOTHESIS_WORDS}. Read the cited turns again before you rely on one.",
        ),
        Section("Playbook proposals", proposals, "No change is waiting for you."),
        Section(
            "Data losses of the last ingest", _losses(view), "Everything that was found was read."
        ),
    )


def _link(explorer: str | None, ref: str) -> str | None:
    return None if explorer is None else f"{quote(explorer)}#{quote(ref, safe='')}"


SPECIAL: Final = re.compile(r"([\\`*_\[\]<>#|~])")
LEADING: Final = re.compile(r"^(\s*)([-+]|\d+[.)])(?=\s)")


def _flat(text: str) -> str:
    return " ".join(strip(text).split())


def escape_markdown(text: str) -> str:
    """One line of plain words, whatever it holds."""
    return LEADING.sub(r"\1\\\2", SPECIAL.sub(r"\\\1", _flat(text)))


def _markdown_ref(explorer: str | None, ref: str) -> str:
    link = _link(explorer, ref)
    shown = f"`{_flat(ref).replace('`', '')}`"
    return shown if link is None else f"[{shown}]({link})"


def _markdown_entry(entry: Entry, explorer: str | None) -> Iterator[str]:
    mark = f"**{entry.mark}:** " if entry.mark else ""
    yield f"- {mark}{escape_markdown(entry.head)}"
    if entry.said:
        yield f"  > {escape_markdown(entry.said)}"
        yield ""
    if entry.facts:
        yield f"  {' · '.join(map(escape_markdown, entry.facts))}"
    if entry.refs:
        yield f"  {', '.join(_markdown_ref(explorer, ref) for ref in entry.refs)}"


def markdown(view: ReportView) -> str:
    """The report in Markdown."""
    lines = ["# clew report"]
    for section in sections(view):
        lines += ["", f"## {section.title}", ""]
        lines += [section.intro, ""] if section.intro else []
        lines += [] if section.entries else [f"*{section.nothing}*"]
        for entry in section.entries:
            lines += _markdown_entry(entry, view.explorer)
    return "\n".join(lines) + "\n"


STYLE: Final = """
:root{color-scheme:light dark;--ink:#22252b;--muted:#666c76;--line:#e6e2da;--paper:#fbfaf7;
--mark:#c2304f}
@media(prefers-color-scheme:dark){:root{--ink:#e9e6df;--muted:#9aa1ab;--line:#2c3138;
--paper:#14161a;--mark:#f2728c}}
body{margin:0 auto;padding:2.5rem 1.25rem 5rem;max-width:44rem;background:var(--paper);
color:var(--ink);
font:16px/1.6 "Iowan Old Style","Palatino Linotype",Palatino,Georgia,serif;overflow-wrap:anywhere}
h1{font-size:1.9rem;margin:0 0 2rem}
h2{font-size:1.2rem;margin:2.6rem 0 .6rem;padding-bottom:.3rem;border-bottom:1px solid var(--line)}
ul{list-style:none;margin:0;padding:0}li{margin:0 0 1.1rem}
li.plain{margin:0}li.plain p{margin:.1rem 0}
blockquote{margin:.25rem 0;padding-left:.8rem;
border-left:2px solid var(--line)}p{margin:.3rem 0}.facts,.refs,.intro{color:var(--muted);
font:13px/1.55 system-ui,sans-serif}.mark{color:var(--mark);font-style:italic}
.refs code{font-size:12px}a{color:inherit}.nothing{color:var(--muted);font-style:italic}
"""
HEAD: Final = (
    '<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>clew report</title>\n'
    '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
    '<meta http-equiv="Content-Security-Policy" content="default-src \'none\';'
    " style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'\">\n"
)


def _escape(text: str) -> str:
    return html.escape(strip(text))


def _html_ref(explorer: str | None, ref: str) -> str:
    link = _link(explorer, ref)
    code = f"<code>{_escape(ref)}</code>"
    return code if link is None else f'<a href="{_escape(link)}">{code}</a>'


def _html_entry(entry: Entry, explorer: str | None) -> Iterator[str]:
    mark = f'<b class="mark">{_escape(entry.mark)}:</b> ' if entry.mark else ""
    plain = "" if entry.said or entry.facts or entry.refs else ' class="plain"'
    yield f"<li{plain}><p>{mark}{_escape(entry.head)}</p>"
    if entry.said:
        yield f"<blockquote>{_escape(entry.said)}</blockquote>"
    if entry.facts:
        yield f'<p class="facts">{" · ".join(map(_escape, entry.facts))}</p>'
    if entry.refs:
        refs = ", ".join(_html_ref(explorer, ref) for ref in entry.refs)
        yield f'<p class="refs">{refs}</p>'
    yield "</li>"


def _html_section(section: Section, explorer: str | None) -> Iterator[str]:
    yield f"<section><h2>{_escape(section.title)}</h2>"
    if section.intro:
        yield f'<p class="intro">{_escape(section.intro)}</p>'
    if not section.entries:
        yield f'<p class="nothing">{_escape(section.nothing)}</p>'
    else:
        yield "<ul>"
        for entry in section.entries:
            yield from _html_entry(entry, explorer)
        yield "</ul>"
    yield "</section>"


def page(view: ReportView) -> str:
    """The report as one HTML page without scripts."""
    parts = [f"{HEAD}<style>{STYLE}</style></head><body><h1>clew report</h1>"]
    for section in sections(view):
        parts += _html_section(section, view.explorer)
    return "\n".join([*parts, "</body></html>"]) + "\n"


def write_report(view: ReportView, path: Path, *, force: bool = False) -> Written:
    """Write the report: HTML for ``.html``, Markdown for anything else.

    Raises ``TargetExists`` unless ``force``.
    """
    is_page = path.suffix == ".html"
    text = page(view) if is_page else markdown(view)
    size = replace_file(path, lambda out: out.write(text.encode()), force=force)
    return Written(
        format="html" if is_page else "markdown",
        path=str(path),
        size=size,
        nodes=0,
        edges=0,
        hypotheses=len(view.hypotheses),
    )
