"""What the scout found."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from cli import paint
from cli.paint import day, plural
from cli.show import PLACES, emit, spaced

if TYPE_CHECKING:
    from service.answers import SeedView, ShapeRow
    from topology.report import ScoutReport

MEMBERS: Final = 12
TURNS: Final = 8


def scouted(report: ScoutReport, *, as_json: bool, markdown: str) -> None:
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


def shapes(rows: tuple[ShapeRow, ...], *, as_json: bool) -> None:
    """What the scout looks for."""
    if emit(rows, as_json=as_json):
        return
    for row in rows:
        wanted = f"  (read by {', '.join(row.functions)})" if row.functions else ""
        print(f"{row.name}{wanted}")
        paint.paragraph(row.about)


def seed(found: SeedView, *, as_json: bool) -> None:
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
