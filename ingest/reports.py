"""Runs over the same paths, one after the other, told as one."""

from collections import Counter
from collections.abc import Iterable, Sequence

from graphstore.model.record import Count
from ingest.model import CarrierRow, CodeCount, IngestReport, MaskedCount, Tally, ThreadRow
from ingest.report import codes_of, dispositions_of, outcome


def joined(reports: Sequence[IngestReport], *, strict: bool) -> IngestReport:
    """One report of several: each file as it was read last, threads and turns added up.

    Of secrets, the distinct ones are those of the run that met most: the others may be the same.
    """
    last = reports[-1]
    rows: dict[str, CarrierRow] = {}
    threads: dict[str, ThreadRow] = {}
    for one in reports:
        for row in one.carriers:
            rows[row.file] = _read_again(rows.get(row.file), row)
        for thread in one.threads:
            threads[thread.thread_id] = _grown(threads.get(thread.thread_id), thread)
    tallies = [_tally(row.codes, row.dispositions) for row in rows.values()]
    told = [_tally(row.codes, ()) for row in rows.values() if not _in_closed(row, last)]
    codes = codes_of([*told, _outside(last)])
    kept = any(not one.reasons for one in reports)
    status = Counter(one.status for one in threads.values())
    return last.replace(
        carriers=tuple(rows[file] for file in sorted(rows)),
        threads=tuple(threads[identity] for identity in sorted(threads)),
        new=status["new"],
        grown=status["grown"],
        same=last.new + last.grown + last.same - status["new"] - status["grown"],
        human=sum(one.human for one in reports),
        assistant=sum(one.assistant for one in reports),
        other=sum(one.other for one in reports),
        records=sum(row.records for row in rows.values()),
        dispositions=dispositions_of(tallies),
        codes=codes,
        masked=_masked(reports),
        interrupted=True,
        exit_code=outcome(codes, kept=kept, strict=strict),
        reasons=() if kept else last.reasons,
    )


def _in_closed(row: CarrierRow, last: IngestReport) -> bool:
    """Whether a file lies in an archive that was left closed since, which tells its codes."""
    archive, inside, _ = row.file.partition("!")
    return bool(inside) and any(one.skipped and one.file == archive for one in last.carriers)


def _read_again(before: CarrierRow | None, row: CarrierRow) -> CarrierRow:
    """A file as it was read last, with what is new of it in all runs."""
    if before is None:
        return row
    told = before if row.skipped else row
    is_new = before.new > 0
    return told.replace(
        new=before.new + row.new,
        grown=0 if is_new else max(before.grown, row.grown),
        human=before.human + row.human,
        assistant=before.assistant + row.assistant,
        other=before.other + row.other,
    )


def _grown(before: ThreadRow | None, row: ThreadRow) -> ThreadRow:
    if before is None:
        return row
    order = ("new", "grown", "same")
    status = order[min(order.index(before.status), order.index(row.status))]
    return row.replace(status=status, new_turns=before.new_turns + row.new_turns)


def _outside(report: IngestReport) -> Tally:
    """Codes of a run that belong to no carrier: files without a reader, unsafe members."""
    tally = _tally(report.codes, ())
    for row in report.carriers:
        for one in row.codes:
            tally.codes[one.code] -= one.count
            inside = set(one.places)
            tally.places[one.code] = [at for at in tally.places[one.code] if at not in inside]
    tally.codes = {code: count for code, count in tally.codes.items() if count > 0}
    return tally


def _tally(codes: Iterable[CodeCount], dispositions: Iterable[Count]) -> Tally:
    return Tally(
        dispositions={one.name: one.count for one in dispositions},
        codes={one.code: one.count for one in codes},
        places={one.code: list(one.places) for one in codes},
    )


def _masked(reports: Iterable[IngestReport]) -> tuple[MaskedCount, ...]:
    found: dict[str, MaskedCount] = {}
    for one in (row for report in reports for row in report.masked):
        before = found.get(one.kind)
        found[one.kind] = (
            one
            if before is None
            else one.replace(
                count=before.count + one.count, distinct=max(before.distinct, one.distinct)
            )
        )
    return tuple(found[kind] for kind in sorted(found))
