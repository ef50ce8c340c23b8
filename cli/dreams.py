"""Renderers of what the owner asks and decides about dreams."""

from typing import Any, Final

from cli import paint
from cli.paint import day, plural
from cli.show import EVIDENCE, MARK, emit, spaced

CLIP: Final = 200
"""Characters shown of a premise."""


def explained(found: Any, *, as_json: bool) -> None:  # noqa: ANN401 - an Explanation
    """The gate, or one hypothesis, or one dream cycle."""
    if emit(found, as_json=as_json):
        return
    if found.cycle is not None:
        diff(found.cycle, as_json=False)
    elif found.row is not None:
        hypothesis(found)
    else:
        gate(found.gate)


def gate(lines: Any) -> None:  # noqa: ANN401 - gate lines
    """Every condition with what is missing."""
    paint.rows(
        ("condition", "result", "is", "needs", "missing"),
        [(each.name, each.result, each.value, each.required, each.distance) for each in lines],
    )


def hypothesis(found: Any) -> None:  # noqa: ANN401 - an Explanation of one hypothesis
    """Checks, score, distances, premises and history."""
    edge = found.row.hypothesis
    paint.paragraph(edge.title, "")
    paint.paragraph(
        f"{MARK}; {spaced(edge.state)}, {spaced(found.row.standing.standing)}, "
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
    for each in found.distances:
        paint.paragraph(f"{each.to}: {each.missing}", EVIDENCE, first="    missing")
    for each in found.premises:
        words = f'{each.role}, {day(each.at)}: "{paint.cut(each.text, CLIP)}"'
        paint.paragraph(words if each.text else "the turn is gone", EVIDENCE, first="    for")
        print(f"{EVIDENCE}{each.ref}")
    for each in found.history:
        why = f": {each.why}" if each.why else ""
        paint.paragraph(
            f"{day(each.at)} {spaced(each.what)} by {each.by}{why}", EVIDENCE, first="    then"
        )
    print(f"    {edge.hypothesis_id}")


def diff(found: Any, *, as_json: bool) -> None:  # noqa: ANN401 - a CycleDiff
    """What a dream cycle changed."""
    if emit(found, as_json=as_json):
        return
    back = ", taken back since" if found.is_rolled_back else ""
    print(f"{found.cycle_id}  {day(found.ended_at)}: {plural(len(found.changes), 'change')}{back}")
    for each in found.changes:
        was = "new" if each.before is None else spaced(each.before)
        print(f"  {was} -> {spaced(each.after)}  {each.title}\n    {each.hypothesis_id}")


def queue(jobs: Any, *, as_json: bool) -> None:  # noqa: ANN401 - jobs
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


def totals(found: Any, *, as_json: bool) -> None:  # noqa: ANN401 - Totals
    """Sums of all dream cycles."""
    if emit(found, as_json=as_json):
        return
    for name, figures in (
        ("dream cycles", found.cycles),
        ("jobs", found.jobs),
        ("failed checks", found.failed_checks),
    ):
        said = ", ".join(f"{each.count} {spaced(each.name)}" for each in figures)
        print(f"{name:<15}{said or 'none'}")
    print(f"{'hypotheses':<15}{found.hypotheses}")
    for each in found.functions:
        states = ", ".join(f"{one.count} {spaced(one.name)}" for one in each.states)
        drafts = f"{each.accepted} accepted, {each.parked} parked, {each.rejected} rejected"
        print(f"  {each.function:<20} {drafts}; {states}")
    rate = (
        "none was judged yet" if found.validation_rate is None else f"{found.validation_rate:.2f}"
    )
    print(f"{'validated':<15}{rate}")
    print(f"{'last success':<15}{day(found.last_success)}")


def reviewed(done: Any, *, as_json: bool) -> None:  # noqa: ANN401 - Reviewed
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


def sent(found: Any, *, as_json: bool) -> None:  # noqa: ANN401 - SentCalls
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
