"""Renderers of what the owner asks and decides about dreams."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from cli import paint
from cli.paint import day, plural
from cli.show import EVIDENCE, MARK, emit, named, spaced

if TYPE_CHECKING:
    from dream.atlas import Atlas
    from dream.corrections import Correction
    from dream.journal import Totals
    from graphstore.model.job import Job
    from graphstore.model.record import GateLine
    from service.answers import HypothesisRow
    from service.calls import SentCalls
    from service.explaining import Explanation
    from service.reviewing import CycleDiff, Reviewed

MEETING: Final = {"cross_pack_cycle": "are about it", "cross_pack_bridge": "come to it"}
"""What packs have to do with the node in which they meet."""
CLIP: Final = 200
"""Characters shown of a premise."""


def explained(found: Explanation, *, as_json: bool) -> None:
    """The gate, or one hypothesis, or one dream cycle."""
    if emit(found, as_json=as_json):
        return
    if found.cycle is not None:
        diff(found.cycle, as_json=False)
    elif found.row is not None:
        hypothesis(found, found.row)
    else:
        gate(found.gate)


def gate(lines: tuple[GateLine, ...]) -> None:
    """Every condition with what is missing."""
    paint.rows(
        ("condition", "result", "is", "needs", "missing"),
        [(each.name, each.result, each.value, each.required, each.distance) for each in lines],
    )


def hypothesis(found: Explanation, row: HypothesisRow) -> None:
    """Checks, score, distances, premises and history."""
    edge = row.hypothesis
    paint.paragraph(edge.title, "")
    paint.paragraph(
        f"{MARK}; {spaced(edge.state)}, {spaced(row.standing.standing)}, "
        f"{edge.points} points, {spaced(edge.rule)} ({edge.function})"
    )
    paint.paragraph(edge.summary)
    paint.paragraph(edge.why_not_fact, EVIDENCE, first="    no fact")
    total = f"{edge.retention:.3f} = " + " + ".join(
        f"{each.weight:g} x {each.value:.3f} {each.name}" for each in found.retention
    )
    paint.paragraph(total, EVIDENCE, first="    kept")
    if found.failed:
        paint.paragraph(", ".join(map(spaced, found.failed)), EVIDENCE, first="    failed")
    paint.paragraph(", ".join(map(spaced, found.passed)), EVIDENCE, first="    passed")
    if found.unasked is not None:
        shown = f"{spaced(found.unasked.visibility)}: {spaced(found.unasked.reason)}"
        paint.paragraph(shown, EVIDENCE, first="    unasked")
    for way in found.distances:
        paint.paragraph(f"{way.to}: {way.missing}", EVIDENCE, first="    missing")
    for said in found.premises:
        words = f'{said.role}, {day(said.at)}: "{paint.cut(said.text, CLIP)}"'
        paint.paragraph(words if said.text else "the turn is gone", EVIDENCE, first="    for")
        print(f"{EVIDENCE}{said.ref}")
    for heard in found.history:
        why = f": {heard.why}" if heard.why else ""
        paint.paragraph(
            f"{day(heard.at)} {spaced(heard.what)} by {heard.by}{why}", EVIDENCE, first="    then"
        )
    print(f"    {edge.hypothesis_id}")


def diff(found: CycleDiff, *, as_json: bool) -> None:
    """What a dream cycle changed."""
    if emit(found, as_json=as_json):
        return
    back = ", taken back since" if found.is_rolled_back else ""
    print(f"{found.cycle_id}  {day(found.ended_at)}: {plural(len(found.changes), 'change')}{back}")
    for each in found.changes:
        was = "new" if each.before is None else spaced(each.before)
        print(f"  {was} -> {spaced(each.after)}  {each.title}\n    {each.hypothesis_id}")


def queue(jobs: tuple[Job, ...], *, as_json: bool) -> None:
    """Queued and running jobs."""
    if emit(jobs, as_json=as_json):
        return
    paint.rows(
        ("state", "priority", "function", "not before", "focus"),
        [
            (
                job.state,
                job.priority,
                job.function,
                day(job.not_before),
                f"{job.focus_kind} {job.focus_id}",
            )
            for job in jobs
        ],
    )
    if not jobs:
        print("no job waits\nnext: clew dream")


def atlas(found: Atlas, *, as_json: bool) -> None:
    """Where packs meet, and what the cards of all of them cost."""
    if emit(found, as_json=as_json):
        return
    paint.rows(
        ("packs", "threads", "", "in"),
        [
            (len(each.packs), each.lineages, MEETING[each.kind], each.label)
            for each in sorted(found.crossings, key=lambda one: (-len(one.packs), one.node))
        ],
    )
    print(
        f"{plural(len(found.cards), 'pack')}, {found.tokens} tokens as cards of {found.window}; "
        f"left out: {named(found.left_out)}"
    )


def totals(found: Totals, *, as_json: bool) -> None:
    """Sums of all dream cycles."""
    if emit(found, as_json=as_json):
        return
    for name, figures in (
        ("dream cycles", found.cycles),
        ("jobs", found.jobs),
        ("failed checks", found.failed_checks),
    ):
        print(f"{name:<15}{named(figures)}")
    print(f"{'hypotheses':<15}{found.hypotheses}")
    for each in found.functions:
        states = ", ".join(f"{one.count} {spaced(one.name)}" for one in each.states)
        drafts = f"{each.accepted} accepted, {each.parked} parked, {each.rejected} rejected"
        print(f"  {each.function:<20} {drafts}; {states}")
    rate = (
        "none was judged yet" if found.validation_rate is None else f"{found.validation_rate:.2f}"
    )
    print(f"{'validated':<15}{rate}")
    for mode in found.modes:
        held = "" if mode.validation_rate is None else f", {mode.validation_rate:.2f} validated"
        print(f"  {mode.mode:<20} {plural(mode.hypotheses, 'hypothesis')}{held}")
    if found.tokens:
        print(f"{'tokens':<15}{found.tokens:,}")
    print(f"{'retention':<15}{named(found.signals)}")
    print(f"{'last success':<15}{day(found.last_success)}")


def corrections(found: tuple[Correction, ...], *, as_json: bool) -> None:
    """What was corrected, what came of it, and where it may be used."""
    if emit(found, as_json=as_json):
        return
    for each in found:
        paint.paragraph(f'"{each.clip}"', "  ", first="")
        print(
            f"    {day(each.at)}, {spaced(each.target)}: {spaced(each.status)}, "
            f"{spaced(each.route)}; reaches {spaced(each.importance)}"
        )
        print(f"    {each.ref}")
    if not found:
        print("nothing was corrected")


def reviewed(done: Reviewed, *, as_json: bool) -> None:
    """What an act left."""
    if emit(done, as_json=as_json):
        return
    print(f"recorded: {done.act}")
    for row in done.hypotheses:
        edge = row.hypothesis
        paint.paragraph(edge.title, "  ")
        stands = f"{spaced(edge.state)}, {edge.points} points, {spaced(row.standing.standing)}"
        print(f"    {MARK}; {stands}")
        print(f"    {edge.hypothesis_id}")


def sent(found: SentCalls, *, as_json: bool) -> None:
    """What went to a model and came back, call by call."""
    if emit(found, as_json=as_json):
        return
    print(f"{found.cycle_id}: {plural(len(found.calls), 'call')}")
    for each in found.calls:
        call = each.call
        told = "tokens not told" if call.tokens is None else plural(call.tokens, "token")
        print(
            f"\n{each.at:%Y-%m-%d %H:%M:%S} {call.model} at {call.host}: "
            f"{spaced(call.outcome)}, {each.ms} ms, {told}, {plural(len(each.refs), 'turn')}"
        )
        print(f"sent:\n{each.sent}\nreceived:\n{each.received}")
