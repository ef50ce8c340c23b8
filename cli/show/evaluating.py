"""Renderer of an evaluation on real history."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cli import paint
from cli.paint import day, plural
from cli.show import emit, named, spaced

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dream.evaluation.recalled import RecallReport
    from dream.evaluation.report import Evaluation, Lift, Row


def evaluation(found: Evaluation, *, as_json: bool) -> None:
    """Figures by rule and function beside baselines, recall, and what cannot be claimed."""
    if emit(found, as_json=as_json):
        return
    days = f"{plural(found.horizon_days, 'day')} later"
    print(f"{plural(len(found.cuts), 'date')}, looked at {days}; {found.undated} turns undated")
    for each in found.cuts:
        print(
            f"  {day(each.at)}: {plural(each.turns, 'turn')} by then, "
            f"{each.later_turns} later; {plural(each.rows[-1].candidates, 'hypothesis')}"
            f"{f', {each.silent} that no turn can judge' if each.silent else ''}"
        )
    figures("joined by a link of later turns", found.pooled)
    figures("or taken up together by one later turn of a person", found.met)
    recall(found.recall)
    print(f"{'parked for':<15}{named(found.failed_checks)}")
    for line in found.cannot_claim:
        paint.paragraph(line, "", first="cannot claim   ")


def figures(head: str, found: Sequence[Row]) -> None:
    """One reading of what a hit is."""
    print(f"\n{head}")
    paint.rows(
        ("", "made", "hit", "possible", "p@5", "p@20", "all", "recall", "lift over chance"),
        [
            (
                spaced(row.name),
                row.candidates,
                row.hits,
                row.possible,
                share(row.at[1].precision),
                share(row.at[3].precision),
                share(row.at[-1].precision),
                share(row.recall),
                row.note or lifted(row.lift),
            )
            for row in found
        ],
        paint.whole,
    )
    rivals(found[-1])


def share(value: float | None) -> str:
    """A share as it is shown."""
    return "-" if value is None else f"{value:.3f}"


def lifted(found: Lift) -> str:
    """A lift with its interval."""
    if found.lift is None:
        return "-"
    high = "" if found.high is None else f"{found.high:.1f}"
    return f"{found.lift:.1f} ({share(found.low)} to {high or 'any'})"


def rivals(total: Row) -> None:
    """What baselines hit with as many choices from the same pairs."""
    told = ", ".join(f"{spaced(each.name)} {each.at[-1].hits:.2f}" for each in total.rivals)
    paint.paragraph(
        f"{total.hits}; {told}; chance {total.lift.expected:.2f}", "", first="hits of ours   "
    )


def recall(found: RecallReport) -> None:
    """Recall alone and with hypotheses."""
    print(
        f"{'recall':<15}{plural(found.questions, 'later question')}: found "
        f"{share(found.plain.hit_rate)} alone, {share(found.with_hypotheses.hit_rate)} with "
        f"hypotheses; threads {share(found.plain.thread_coverage)}, "
        f"{share(found.with_hypotheses.thread_coverage)}; {found.reflection_rows} rows brought, "
        f"bridges in {share(found.bridge_coverage)}"
    )
    for axis in found.axes:
        print(f"  {spaced(axis.name):<22}{share(axis.value):<8}{axis.basis}")
