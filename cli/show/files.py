"""What commands tell that take things out: rows of a query, where exports and pages went."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cli import paint
from cli.call import clear_progress
from cli.paint import plural
from cli.show import emit

if TYPE_CHECKING:
    from export import Written
    from graphstore.model.query import QueryTable
    from service.answers import FormatRow, WrittenFiles


def table(found: QueryTable, *, as_json: bool) -> None:
    """Rows of a query."""
    if not emit(found, as_json=as_json):
        paint.rows(found.columns, found.rows)
        if not found.rows:
            print("no row")
        if found.truncated:
            print("there are more rows: raise --limit")


def exported(done: Written) -> None:
    """Where an export went; silent for standard output."""
    clear_progress()
    if done.path != "-":
        extra = f", {plural(done.hypotheses, 'hypothesis')} (marked)" if done.hypotheses else ""
        print(f"{done.path}  {plural(done.nodes, 'node')}, {plural(done.edges, 'edge')}{extra}")


def written(done: WrittenFiles, *, as_json: bool) -> None:
    """Where page and report are."""
    if not emit(done, as_json=as_json):
        print(f"page    {done.page or f'none: {done.page_missing}'}")
        print(f"report  {done.report}\n        {done.markdown}")


def formats(rows: tuple[FormatRow, ...], *, as_json: bool) -> None:
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
