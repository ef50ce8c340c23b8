"""What a dream cycle landed, and hypotheses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from cli import paint
from cli.paint import day, plural
from cli.show import EVIDENCE, MARK, emit, spaced

if TYPE_CHECKING:
    from service.answers import HypothesisRow
    from service.dreaming import Dreamt

DREAMT_NOTHING: Final = {
    "no_draft": "no dream function had anything new to say",
    "below_retention": "no draft was worth keeping yet",
    "duplicate": "everything found stands already",
}


def advised(reason: str, function: str) -> str:
    """What came of asking a model."""
    name = spaced(function)
    if reason == "answered":
        return f"a model was asked ({name}); clew dream sent shows every byte"
    return f"a model gave nothing ({name}: {spaced(reason)}); rules dreamt instead"


def dreamt(done: Dreamt, *, as_json: bool, dry_run: bool = False) -> None:
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


def hypotheses(rows: tuple[HypothesisRow, ...], *, as_json: bool) -> None:
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
