"""The account of one run of ingest: what was read, kept, mended and lost."""

from collections import defaultdict
from typing import Any, Final

from cli import paint
from cli.paint import plural

RARE: Final = (2, 5, 6)
"""Columns that are left out when they hold nothing."""
FILES_SHOWN, PLACES_SHOWN = 30, 3
HEADER = ("threads", "new", "grown", "human", "assistant", "other", "lost", "format", "file")


MEANING: Final = {
    "unreadable_file": "the file could not be read",
    "unknown_format": "no reader knows this file",
    "empty_file": "the file is empty",
    "no_conversation": "JSON, but no conversation inside",
    "bad_conversation": "a conversation could not be read",
    "reader_error": "the reader failed on this file",
    "unsafe_path": "a name in an archive that leads out of it",
    "zip_bomb": "an archive that unpacks to more than it may",
    "nested_zip": "an archive inside an archive",
    "ambiguous_format": "two readers claim this file",
    "bad_json": "a line that is not valid JSON",
    "not_an_object": "a record that is not an object",
    "too_big": "a record larger than the limit",
    "bad_message": "a message that could not be read",
    "missing_message": "a message that is referred to and missing",
    "stray_text": "text outside of any turn",
    "text_cut": "a text longer than the limit, cut",
    "bad_timestamp": "a time that cannot be read",
    "glued_records": "records on one line, taken apart",
    "joined_lines": "a record over several lines, joined",
    "nul_bytes": "NUL bytes, taken out",
    "bad_utf8": "bytes that are not UTF-8, replaced",
    "lone_surrogate": "half a character, replaced",
    "orphan_parent": "an answer to something missing, put at its place in the file",
    "parent_cycle": "turns that follow each other in a circle, opened",
    "duplicate_uuid": "two records of one id",
    "current_node": "the current branch is not named; the latest one was taken",
    "missing_reference": "a reference that leads nowhere",
    "front_matter": "a header that could not be read",
    "naive_time": "a time without a zone",
    "id_collision": "two conversations of one id, kept apart",
    "pending_tail": "an unfinished last line, read next time",
    "held_back": (
        "the last message of a file that may still grow, read when it has rested for some minutes"
        " (settle_s)"
    ),
    "empty_thread": "a conversation without words",
    "parent_missing": "the conversation it continues is not here",
    "foreign_summary": "a title for a conversation that is not here",
    "duplicate_record": "a record that came twice",
    "duplicate_thread": "a conversation that came twice",
    "duplicate_carrier": "a second copy of a file",
    "turn_revised": "a turn that was changed later",
    "unmasked_before": (
        "taken in before without masking: those words stay until the conversation is forgotten"
    ),
    "source_gone": "a file that is no longer there; what it held stays",
    "forgotten": "a conversation that was forgotten on request",
    "unknown_record": "a kind of record that the reader does not know",
    "unknown_content": "a kind of content that the reader does not know",
}
"""What each code of a run says, in words."""


def show(report: Any, *, verbose: bool, most: int = FILES_SHOWN) -> None:  # noqa: ANN401
    """A row a file, or a folder where there are more than ``most``; then totals and codes."""
    opened = [row for row in report.carriers if not row.skipped]
    whole = verbose or len(opened) <= most
    rows = [cells(row, row.file) for row in opened] if whole else by_folder(opened)
    filled = [at for at in range(len(HEADER)) if at not in RARE or any(row[at] for row in rows)]
    paint.rows(
        [HEADER[at] for at in filled],
        [[row[at] for at in filled] for row in rows],
        paint.tail,
    )
    unchanged = len(report.carriers) - len(opened)
    if unchanged:
        print(f"{plural(unchanged, 'file')} unchanged")
    totals(report)
    if report.interrupted:
        print("interrupted: what was committed stays; the next run takes in the rest")
    for code in report.codes:
        noted(code)
    if report.masked:
        kinds = ", ".join(f"{each.count} {each.kind}" for each in report.masked)
        print(f"secrets masked: {kinds}")
    if report.ignored:
        named = (f"{each.count} ({MEANING.get(each.name, each.name)})" for each in report.ignored)
        print("files left alone: " + ", ".join(named))
    if report.reasons:
        print("nothing found: " + ", ".join(report.reasons))


def noted(code: Any) -> None:  # noqa: ANN401 - a CodeCount
    """One code, what it means, and where it was met first."""
    print(f"  {code.count} {code.code}: {MEANING.get(code.code, 'see docs/errors.md')}")
    for place in code.places[:PLACES_SHOWN]:
        print("      " + paint.tail(place, paint.width() - 6))
    if len(code.places) > PLACES_SHOWN:
        print(f"      and {plural(len(code.places) - PLACES_SHOWN, 'place')} more")


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
        (*figures[:7], format_, f"{folder} ({plural(figures[7], 'file')})")
        for (folder, format_), figures in sorted(sums.items())
    ]
