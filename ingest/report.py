"""What a run found, kept and lost, as one value; and how it ended."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

from graphstore.model.conversation import Role, Turn
from graphstore.model.record import Count
from ingest.assembly import Assembled
from ingest.carriers import Carrier, Skipped
from ingest.model import (
    PART,
    PLACES,
    WHOLE,
    CarrierRow,
    CodeCount,
    IngestReport,
    MaskedCount,
    Tally,
    ThreadRow,
)
from ingest.state import count_of
from ingest.walk import Found

REASONS: Final = 3
"""Commonest reasons told when nothing was found."""


@dataclass(slots=True)
class Tables:
    """Figures of a run while it goes on."""

    rows: dict[str, list[int]] = field(default_factory=dict)
    """Carrier -> threads new, grown, same; turns human, assistant, other."""
    threads: dict[str, ThreadRow] = field(default_factory=dict)
    secrets: dict[str, tuple[int, set[str]]] = field(default_factory=dict)
    kept: bool = False
    """At least one thread was found."""

    def add(self, one: Assembled, carriers: Sequence[Carrier]) -> None:
        """Count one thread of the run."""
        self.kept = True
        status: Literal["new", "grown", "same"] = "new" if one.is_new else "grown"
        turns = one.record.turns if one.record is not None else ()
        if one.record is None:
            status = "same"
        self.threads[one.thread_id] = ThreadRow(
            thread_id=one.thread_id, status=status, title=one.title, new_turns=len(turns)
        )
        row = self.row(carriers[one.carriers[0]].source.path)
        row[("new", "grown", "same").index(status)] += 1
        for turn in turns:
            row[3 + (Role.HUMAN, Role.ASSISTANT, Role.OTHER).index(turn.role)] += 1
        self._count_secrets(turns)

    def row(self, path: str) -> list[int]:
        """Figures of one carrier."""
        return self.rows.setdefault(path, [0] * 6)

    def skip(self, path: str, threads: int) -> None:
        """Count the threads of a carrier that was left closed."""
        self.kept = self.kept or threads > 0
        self.row(path)[2] += threads

    def _count_secrets(self, turns: Iterable[Turn]) -> None:
        for turn in turns:
            for span in turn.masked:
                count, distinct = self.secrets.get(span.kind, (0, set()))
                distinct.add(span.keyed_hash or "")
                self.secrets[span.kind] = (count + 1, distinct)


def report(
    tables: Tables,
    carriers: Sequence[Carrier],
    skipped: Sequence[Skipped],
    loose: Sequence[Tally],
    found: Found,
    *,
    strict: bool,
    dry_run: bool,
    interrupted: bool = False,
) -> IngestReport:
    """Put the figures of a run together.

    ``skipped`` are carriers that were left closed; ``loose`` holds what was met outside any
    carrier that was read: files without a reader, unsafe members.
    """
    rows = [_row(one, tables) for one in carriers]
    rows += [_skipped_row(one, tables) for one in skipped]
    met = (*(one.tally for one in carriers), *(one.tally for one in skipped), *loose)
    codes = codes_of(met)
    figures = list(tables.rows.values())
    totals = [sum(row[place] for row in figures) for place in range(6)]
    return IngestReport(
        carriers=tuple(sorted(rows, key=lambda row: row.file)),
        threads=tuple(tables.threads[one] for one in sorted(tables.threads)),
        new=totals[0],
        grown=totals[1],
        same=totals[2],
        human=totals[3],
        assistant=totals[4],
        other=totals[5],
        records=sum(one.tally.records for one in carriers),
        dispositions=dispositions_of(one.tally for one in carriers),
        codes=codes,
        ignored=_counts(found.ignored),
        side_files=found.side_files + sum(one.tally.side_files for one in carriers),
        masked=tuple(
            MaskedCount(kind=kind, count=count, distinct=len(distinct))
            for kind, (count, distinct) in sorted(tables.secrets.items())
        ),
        dry_run=dry_run,
        interrupted=interrupted,
        exit_code=outcome(codes, kept=tables.kept, strict=strict),
        reasons=() if tables.kept else _reasons(codes, found),
    )


def outcome(codes: Iterable[CodeCount], *, kept: bool, strict: bool) -> Literal[0, 1, 3]:
    """0: threads and nothing lost as a whole; 1: something was; 3: no thread at all."""
    if not kept:
        return 3
    losses = WHOLE | PART if strict else WHOLE
    return 1 if any(one.code in losses for one in codes) else 0


def _row(carrier: Carrier, tables: Tables) -> CarrierRow:
    tally = carrier.tally
    new, grown, same, human, assistant, other = tables.row(carrier.source.path)
    return CarrierRow(
        file=carrier.source.name,
        format=carrier.reader,
        new=new,
        grown=grown,
        same=same,
        human=human,
        assistant=assistant,
        other=other,
        records=tally.records,
        dispositions=dispositions_of([tally]),
        codes=codes_of([tally]),
        pending_offset=tally.pending_offset,
    )


def _skipped_row(one: Skipped, tables: Tables) -> CarrierRow:
    return CarrierRow(
        file=one.name,
        format=one.reader,
        skipped=True,
        same=tables.row(one.path)[2],
        codes=codes_of([one.tally]),
    )


def dispositions_of(tallies: Iterable[Tally]) -> tuple[Count, ...]:
    total: dict[str, int] = {}
    for tally in tallies:
        for name, count in tally.dispositions.items():
            total[name] = total.get(name, 0) + count
    return _counts(total)


def codes_of(tallies: Iterable[Tally]) -> tuple[CodeCount, ...]:
    """Codes with their first places."""
    total: dict[str, int] = {}
    places: dict[str, list[str]] = {}
    for tally in tallies:
        for code, count in tally.codes.items():
            total[code] = total.get(code, 0) + count
            places.setdefault(code, []).extend(tally.places[code])
    return tuple(
        CodeCount(code=code, count=total[code], places=tuple(places[code][:PLACES]))
        for code in sorted(total)
    )


def _counts(figures: dict[str, int]) -> tuple[Count, ...]:
    return tuple(count_of(name, count) for name, count in sorted(figures.items()) if count)


def _reasons(codes: Iterable[CodeCount], found: Found) -> tuple[str, ...]:
    """The commonest reasons why nothing was found, or that there was nothing."""
    met = Counter({one.code: one.count for one in codes})
    met.update(found.ignored)
    ranked = sorted(met, key=lambda reason: (-met[reason], reason))
    return tuple(ranked[:REASONS]) or ("no_files",)
