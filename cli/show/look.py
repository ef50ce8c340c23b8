"""What commands that find and list tell."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from cli import paint
from cli.paint import day, plural
from cli.show import LABEL, MARK, PLACES, emit, spaced

if TYPE_CHECKING:
    from graphstore.model.answers import (
        ConceptRow,
        Fetched,
        JourneyRow,
        OpenedTurn,
        QuestionRow,
        Recalled,
        Resonance,
        Resonances,
        ThreadRow,
        TurnView,
    )
    from service.answers import LinkRow

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

GROUPS: Final = ("same_question", "same_shape", "same_obstacle", "same_files", "same_days")
"""Kinds of resonance, what says most first."""


def recalled(found: Recalled, *, as_json: bool) -> None:
    """Hits with where they stand; hypotheses apart."""
    if emit(found, as_json=as_json):
        return
    if found.unheard:
        paint.paragraph(found.unheard, "", first="")
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


def resonances(found: Resonances, *, as_json: bool) -> None:
    """Other threads, by kind, with the evidence on both sides."""
    if emit(found, as_json=as_json):
        return
    held = {each.group for each in found.found}
    for group in (name for name in GROUPS if name in held):
        print(spaced(group))
        for each in found.found:
            if each.group == group:
                resonance(each)
    if not found.found:
        print("no other thread meets this")


def resonance(each: Resonance) -> None:
    """One other thread."""
    about = f"{each.title or each.thread_id}  ({day(each.started_at)}, {each.score:.2f})"
    paint.paragraph(about, "  ")
    met = {(pair.mine, pair.theirs): pair for pair in reversed(each.pairs)}
    for pair in tuple(reversed(met.values()))[:PLACES]:
        paint.refs((pair.mine, "~", pair.theirs))
        if pair.theirs_text:
            paint.paragraph(paint.cut(pair.theirs_text, 2 * paint.width()), "      ")
    paint.paragraph(", ".join(each.reasons))
    shared = dict.fromkeys(label for pair in each.pairs for label in pair.concepts)
    if shared:
        paint.paragraph("shared: " + ", ".join(tuple(shared)[:6]))
    if each.shared_paths:
        paint.paragraph("files: " + ", ".join(each.shared_paths[:4]))


def fetched(turns: tuple[Fetched, ...], *, as_json: bool) -> None:
    """Full turns."""
    if emit(turns, as_json=as_json):
        return
    for turn in turns:
        if turn.outcome == "missing":
            print(f"{turn.ref}: {MISSING[turn.reason]}")
        else:
            print_turn(turn)


def print_turn(turn: TurnView, *, focus: str | None = None) -> None:
    """One turn with where it comes from."""
    sign = paint.mark("\u25b6 ", "> ") if turn.ref == focus else ""
    who = turn.speaker or turn.role
    print(f"{sign}{turn.ref}  {who}, {day(turn.at)}")
    paint.block(turn.text)
    if turn.file:
        print(f"    -- {turn.file}" + (f":{turn.line}" if turn.line else ""))


def opened(found: OpenedTurn, *, as_json: bool) -> None:
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


def threads(rows: tuple[ThreadRow, ...], *, as_json: bool) -> None:
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


def questions(rows: tuple[QuestionRow, ...], *, as_json: bool) -> None:
    """Questions, most asked first."""
    if emit(rows, as_json=as_json):
        return
    for row in rows:
        times = f"{plural(row.asked, 'time')} in {plural(row.lineages, 'thread')}"
        paint.paragraph(row.text, "")
        print(f"    {row.status}, asked {times}, last {day(row.last_seen)}")
        paint.refs((row.question_id, "in", *row.refs[:PLACES]))
        if row.answers:
            paint.refs(("answered in", *row.answers[:PLACES]))
    if not rows:
        print("no such question")


def borderline(rows: tuple[LinkRow, ...], answer: str, *, as_json: bool) -> None:
    """Pairs that wait for a word of the owner, and the command that gives it."""
    if emit(rows, as_json=as_json):
        return
    for row in rows:
        paint.paragraph(f"{row.one} ({row.one_id})", "      ", first=f"{row.score:.2f}")
        paint.paragraph(f"{row.other} ({row.other_id})", "      ")
    print(f"your word: clew {answer} ONE OTHER" if rows else "no pair waits")


def concepts(rows: tuple[ConceptRow, ...], *, as_json: bool) -> None:
    """Concepts, most shared first."""
    if not emit(rows, as_json=as_json):
        found = [(row.df, row.cf, row.kind, row.label) for row in rows]
        paint.rows(("threads", "turns", "kind", "concept"), found)


def journeys(rows: tuple[JourneyRow, ...], *, as_json: bool) -> None:
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
