"""One run of ingest: paths in; records, states of files and a report out.

Everything is read and cleaned before the first thread is given: which carriers tell of one
thread, which of them tells it best and who descends from whom is known only then, and numbers
that were given are never changed. What waits is spooled to disk beyond a bound. Threads then
come family by family, and the state of a carrier right after the last of its threads: a run
that dies loses the thread in hand, and reads again only the carriers of threads not given yet.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import datetime
from pathlib import Path
from typing import TypeAlias

from graphstore.ids import thread_id
from graphstore.model.carrier import FileState, PendingTitle, ResumePoint
from graphstore.model.record import ThreadRecord
from ingest.assembly import UNMASKED, Assembled, Assembly
from ingest.carriers import Carrier
from ingest.clean import CleanThread, clean
from ingest.cuts import Older
from ingest.family import Card, families
from ingest.halves import can_join, joined, placed
from ingest.identity import chains
from ingest.known import Known
from ingest.model import (
    READ_ERRORS,
    IngestReport,
    RawThread,
    Source,
    Tally,
)
from ingest.options import Options
from ingest.pace import Pace
from ingest.reading import ARCHIVE, Reading, archive_version, masker
from ingest.report import report
from ingest.resume import cumulated
from ingest.sniff import reader_named
from ingest.state import row_of

Product: TypeAlias = ThreadRecord | FileState | IngestReport


def run(
    paths: Iterable[str], known: Known, options: Options, now: datetime, pace: Pace | None = None
) -> Iterator[Product]:
    """Read what lies at the paths and give what is new of it.

    Gives a ``ThreadRecord`` for each new or changed thread, parents before children, and a
    ``FileState`` for each carrier after its last record, to be kept once these are committed;
    last the ``IngestReport``. Each thread must be committed before the next one is asked for.
    The store is only looked at through ``known``. Raises ``SourceNotFound`` and
    ``UnknownReader`` before anything is read.
    """
    for name in (*options.only, *((options.format,) if options.format else ())):
        reader_named(name)
    one = _Run(known, options, now, pace or Pace())
    try:
        one.gather(tuple(paths))
        yield from one.products()
        yield one.report()
    finally:
        one.spool.close()


class _Run(Reading):
    """One run: threads are put together from what was read, and given with states and report."""

    def __init__(self, known: Known, options: Options, now: datetime, pace: Pace) -> None:
        super().__init__(known, options, now, pace)
        self.waiting: Counter[int] = Counter()
        """Threads by carrier that are not given yet."""
        self.stated: set[int] = set()
        """Carriers whose state was given."""
        self.ended = False
        """Not all threads that wait are to be given."""
        self.assembly: Assembly | None = None

    def products(self) -> Iterator[ThreadRecord | FileState]:
        """Records of all threads family by family, states of carriers as they are done."""
        offered = [title for carrier in self.carriers for title in carrier.titles]
        spawners = frozenset(parent for card in self.cards for parent in card.spawners)
        self.assembly = Assembly(
            self.known,
            self.carriers,
            self.options,
            (*offered, *self.known.titles()),
            spawners,
        )
        self.waiting = Counter(card.carrier for card in self.cards)
        for family in families(self.cards):
            yield from self._records(family, self.assembly)
            if self.ended:
                return
            yield from self._done({card.carrier: None for card in family})
        yield from self.assembly.titles.late(self.carriers, self.known)
        yield from self._states(range(len(self.carriers)))
        if not self.pace.interrupted:
            yield from self._archive_states()

    def _records(self, family: list[Card], assembly: Assembly) -> Iterator[ThreadRecord]:
        taken = [(card.native_id, self.spool.take(card.place)) for card in family]
        threads = self._grounded(taken, assembly)
        threads += self._other_halves(threads, assembly)
        for one in assembly.family(self._sewn(threads)):
            if self.pace.stopping():
                self.ended = True
                return
            if one.of_run:
                self.tables.add(one, self.carriers)
            if one.record is not None:
                yield one.record
                name = self.carriers[one.carriers[0]].source.name if one.carriers else ""
                self.pace.stored(name, len(one.record.turns))
        self.waiting.subtract(card.carrier for card in family)

    def _done(self, indexes: Iterable[int]) -> Iterator[FileState]:
        """States of carriers whose threads are all given, but for those with titles to offer."""
        carriers = [
            index
            for index in indexes
            if not self.waiting[index] and not self.carriers[index].titles
        ]
        return self._states(carriers)

    def _grounded(
        self, threads: list[tuple[str, CleanThread]], assembly: Assembly
    ) -> list[tuple[str, CleanThread]]:
        """Threads whose carriers were read on; those that lack what it takes are read whole."""
        many = Counter((thread.raw.source, native) for native, thread in threads)
        found: list[tuple[str, CleanThread]] = []
        for native, thread in threads:
            carrier = self.carriers[thread.carrier]
            point = carrier.point
            if point is None:
                found.append((native, thread))
                continue
            alone = many[thread.raw.source, native] == 1
            untold = not assembly.titles.any_for(Older.of_text(point.keys))
            if alone and untold and self.resumption.grounded(thread, carrier):
                found.append((native, thread))
            else:
                found.extend(self._read_whole(carrier, thread.carrier))
        return found

    def _other_halves(
        self, threads: list[tuple[str, CleanThread]], assembly: Assembly
    ) -> list[tuple[str, CleanThread]]:
        """What earlier runs read of the same sessions in other files, read again.

        Only where a stored thread holds nothing that is told now: then it is another half of
        the session, or a stranger of its name, which takes both to tell.
        """
        files: dict[str, None] = {}
        for native, thread in threads:
            if thread.base is None and thread.raw.record_keys and thread.turns:
                files.update(dict.fromkeys(self._files_of_half(native, thread)))
        found: list[tuple[str, CleanThread]] = []
        for file in files:
            try:
                src = Source.of_file(Path(file))
            except (OSError, ValueError):
                continue
            reader = self._reader(src)
            if reader is None:
                continue
            before = len(self.cards)
            self._read(src, reader)
            assembly.tallies.append(self.carriers[-1].tally)
            fresh = self.cards[before:]
            del self.cards[before:]
            found += [(card.native_id, self.spool.take(card.place)) for card in fresh]
        return found

    def _files_of_half(self, native: str, thread: CleanThread) -> Iterator[str]:
        """Files outside this run that a stored thread of an id was read from, if it is another."""
        source = thread.raw.source
        identity = thread_id(source, native)
        key = thread.turns[0].raw.key
        if key is None or identity in self.known.holding(source, (key,)):
            return
        stored = self.known.thread(identity)
        if stored is None:
            return
        read = {carrier.source.path for carrier in self.carriers}
        for turn in stored.turns:
            if turn.anchor is not None and turn.anchor.file not in read:
                yield turn.anchor.file

    def _read_whole(self, carrier: Carrier, index: int) -> list[tuple[str, CleanThread]]:
        """Read a carrier from its start after all."""
        carrier.point = None
        self._carry(carrier.tally, Tally(carrier.tally.name))
        try:
            threads = list(self._threads(carrier, reader_named(carrier.reader), index))
        except READ_ERRORS:
            carrier.tally.note("unreadable_file")
            return []
        self.held[index] = len(threads)
        return [(self._native(thread), thread) for thread in threads]

    def _sewn(self, threads: list[tuple[str, CleanThread]]) -> list[tuple[str, CleanThread]]:
        """Halves of a session are read again end to end, and are one."""
        by_id: dict[tuple[str, str], list[CleanThread]] = {}
        for native, thread in threads:
            by_id.setdefault((thread.raw.source, native), []).append(thread)
        sewn: list[tuple[str, CleanThread]] = []
        for (_, native), carriers in by_id.items():
            for chain in chains(carriers):
                whole = self._reread(chain) if len(chain) > 1 else None
                sewn.extend((native, one) for one in ([whole] if whole else chain))
        return sewn

    def _reread(self, chain: list[CleanThread]) -> CleanThread | None:
        """The thread of carriers put end to end, or None if they hold other threads too."""
        indexes = [one.carrier for one in chain]
        first, *others = (self.carriers[index] for index in indexes)
        parts = [self.carriers[index].source for index in indexes]
        if any(self.held[index] != 1 for index in indexes) or not can_join(parts):
            return None
        tally = Tally(first.tally.name)
        reader = reader_named(first.reader)
        found = [one for one in reader.read(joined(parts), tally) if isinstance(one, RawThread)]
        if len(found) != 1:
            return None
        closed = chain[-1].closed
        thread = clean(found[0], indexes[0], tally, self.options, self.masker, closed=closed)
        placed(thread, parts, indexes)
        self._carry(first.tally, tally)
        for other in others:
            self._carry(other.tally, Tally(other.tally.name))
        return thread

    def _carry(self, into: Tally, tally: Tally) -> None:
        """Count anew what a carrier holds: halves are counted with the first of them."""
        into.records, into.dispositions = tally.records, tally.dispositions
        into.codes, into.places = tally.codes, tally.places
        into.pending_offset = tally.pending_offset

    def _states(self, indexes: Iterable[int]) -> Iterator[FileState]:
        """States of carriers that have none yet; unbalanced ones are told as such."""
        for index in indexes:
            if index in self.stated:
                continue
            self.stated.add(index)
            carrier = self.carriers[index]
            self._check(carrier)
            self._tell_unmasked(carrier)
            waiting = self._pending(carrier)
            yield row_of(
                carrier.source,
                carrier.reader,
                carrier.version,
                cumulated(carrier.tally, carrier.point),
                tuple(sorted(carrier.thread_ids)),
                titles=waiting,
                settled=not (carrier.live or (carrier.source.live and _has_tail(carrier.tally))),
                resume=self._resumed_from(index),
                choices=self.resumption.shaping,
            )

    def _resumed_from(self, index: int) -> ResumePoint | None:
        """Where a carrier of one thread can be read on from when it has grown."""
        carrier = self.carriers[index]
        if self.held.get(index) != 1 or _failed(carrier.tally):
            carrier.whole = None
        return self.resumption.keep(carrier)

    def _archive_states(self) -> Iterator[FileState]:
        """States of archives as a whole, after those of their members."""
        version = archive_version(self.options)
        for archive in self.archives:
            src = archive.source
            inside = [one for one in self.carriers if one.source.root == src.path]
            known = [one for one in self.skipped if one.root == src.path]
            ids = {identity for one in inside for identity in one.thread_ids}
            ids |= {identity for one in known for identity in one.thread_ids}
            live = any(one.live for one in inside)
            if not ids:  # nothing was kept of it, which the next run must say again
                continue
            tally = Tally(src.name)
            members = (*(one.tally for one in inside), *(one.tally for one in known))
            for told in (*members, archive.outside):
                for code, count in told.codes.items():
                    tally.note(code, count=count)
            yield row_of(
                src,
                ARCHIVE,
                version,
                tally,
                tuple(sorted(ids)),
                settled=not live,
                choices=self.resumption.shaping,
                ignored=archive.ignored,
            )

    def _check(self, carrier: Carrier) -> None:
        """Conservation: each record read has one disposition, or the reader is wrong."""
        if not carrier.tally.balanced and not _failed(carrier.tally):
            carrier.tally.note("reader_error")

    def _tell_unmasked(self, carrier: Carrier) -> None:
        """Count threads of a carrier that masking gave another id: the old ones stay unmasked."""
        row = self.known.file(carrier.source.path) if self.options.mask else None
        for identity in row.thread_ids if row is not None else ():
            old = None if identity in carrier.thread_ids else self.known.thread(identity)
            if old is not None and UNMASKED in old.flags:
                carrier.tally.note("unmasked_before", identity)

    def _pending(self, carrier: Carrier) -> tuple[PendingTitle, ...]:
        """Titles whose thread was not met; counted where they were offered."""
        resolved = self.assembly.titles.resolved if self.assembly is not None else set()
        waiting = tuple(title for title in carrier.titles if title.leaf not in resolved)
        if waiting:
            carrier.tally.note("foreign_summary", count=len(waiting))
        return waiting

    def report(self) -> IngestReport:
        """The report of the run; if it ended early, of the carriers that are done."""
        done = self.carriers
        if self.ended:
            done = [one for index, one in enumerate(done) if index in self.stated]
        return report(
            self.tables,
            done,
            self.skipped,
            [self.loose, *(one.outside for one in self.archives)],
            self.found,
            strict=self.options.strict,
            dry_run=self.options.dry_run,
            interrupted=self.pace.interrupted,
        )


def _has_tail(tally: Tally) -> bool:
    """Whether the end of a carrier was left for later."""
    return tally.pending_offset is not None


def _failed(tally: Tally) -> bool:
    """Whether reading ended early, so that nothing adds up."""
    return any(code in tally.codes for code in ("zip_bomb", "unreadable_file", "reader_error"))


__all__ = ["Assembled", "Known", "Product", "masker", "run"]
