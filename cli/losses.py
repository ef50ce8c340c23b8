"""The account of one run of ingest: what was read, kept, mended and lost."""

from collections import defaultdict
from typing import Any

from cli import paint
from cli.paint import plural

FILES_SHOWN, PLACES_SHOWN, ROOM = 30, 3, 48
HEADER = ("threads", "new", "grown", "human", "assistant", "other", "lost", "format", "file")


def show(report: Any, *, verbose: bool, most: int = FILES_SHOWN) -> None:  # noqa: ANN401
    """A row a file, or a folder where there are more than ``most``; then totals and codes."""
    opened = [row for row in report.carriers if not row.skipped]
    whole = verbose or len(opened) <= most
    rows = (
        [cells(row, paint.tail(row.file, ROOM)) for row in opened] if whole else by_folder(opened)
    )
    paint.rows(HEADER, rows)
    unchanged = len(report.carriers) - len(opened)
    if unchanged:
        print(f"{plural(unchanged, 'file')} unchanged")
    totals(report)
    for code in report.codes:
        places = ", ".join(code.places[:PLACES_SHOWN])
        more = ", ..." if len(code.places) > PLACES_SHOWN else ""
        print(f"  {code.code} {code.count}: {places}{more}")
    if report.masked:
        kinds = ", ".join(f"{each.count} {each.kind}" for each in report.masked)
        print(f"secrets masked: {kinds}")
    if report.ignored:
        print("ignored: " + ", ".join(f"{each.count} {each.name}" for each in report.ignored))
    if report.reasons:
        print("nothing found: " + ", ".join(report.reasons))


def totals(report: Any) -> None:  # noqa: ANN401 - an IngestReport
    """One line of sums."""
    done = "would be new" if report.dry_run else "new"
    print(
        f"{plural(report.new, 'thread')} {done}, {report.grown} grown, {report.same} unchanged; "
        f"{plural(report.human, 'human turn')}, {plural(report.assistant, 'assistant turn')}, "
        f"{plural(report.other, 'side turn')} from {plural(report.records, 'record')}"
    )


def cells(row: Any, name: str) -> tuple[Any, ...]:  # noqa: ANN401 - a CarrierRow
    """One file as a row."""
    return (
        row.new + row.grown + row.same,
        row.new,
        row.grown,
        row.human,
        row.assistant,
        row.other,
        lost(row),
        row.format or "-",
        name,
    )


def lost(row: Any) -> int:  # noqa: ANN401 - a CarrierRow
    """Records of a file that could not be read."""
    return sum(each.count for each in row.dispositions if each.name == "lost")


def by_folder(rows: list[Any]) -> list[tuple[Any, ...]]:
    """Many files as one row per folder and format."""
    sums: defaultdict[tuple[str, str], list[int]] = defaultdict(lambda: [0] * 8)
    for row in rows:
        folder = row.file.rpartition("/")[0] or "."
        figures = [*cells(row, "")[:7], 1]
        key = (folder, row.format or "-")
        sums[key] = [one + other for one, other in zip(sums[key], figures, strict=True)]
    return [
        (*figures[:7], format_, f"{paint.tail(folder, ROOM - 12)} ({plural(figures[7], 'file')})")
        for (folder, format_), figures in sorted(sums.items())
    ]
