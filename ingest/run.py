"""One run of ingest: paths in; records, states of files and a report out.

Everything is read and cleaned before the first thread is given: which carriers tell of one
thread, which of them tells it best and who descends from whom is known only then, and numbers
that were given are never changed. What waits is spooled to disk beyond a bound. Threads then
come family by family, and the state of a carrier right after the last of its threads: a run
that dies loses the thread in hand, and reads again only the carriers of threads not given yet.
"""

import logging
from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import datetime
from functools import lru_cache
from pathlib import Path
from traceback import format_tb
from typing import Final, TypeAlias

from graphstore.ids import thread_id
from graphstore.model.carrier import FileState, PendingTitle, ResumePoint
from graphstore.model.conversation import Masked
from graphstore.model.record import ThreadRecord
from ingest.archives import ZipBomb, members
from ingest.assembly import Assembled, Assembly
from ingest.carriers import Carrier
from ingest.clean import CleanThread, Masker, clean
from ingest.cuts import Older
from ingest.family import Card, Spool, card_of, families
from ingest.halves import can_join, joined, placed
from ingest.identity import chains, derived_id
from ingest.known import Known
from ingest.model import (
    READ_ERRORS,
    IngestReport,
    RawThread,
    Reader,
    ReadFailure,
    Source,
    Tally,
)
from ingest.options import Options
from ingest.pace import Pace, Stopped
from ingest.report import Tables, report
from ingest.resume import Resumption, cumulated
from ingest.secrets import mask
from ingest.shape import look
from ingest.sniff import choose, reader_named, readers
from ingest.state import at_rest, row_of, unchanged
from ingest.walk import Found, find

_LOG: Final = logging.getLogger(__name__)
ARCHIVE: Final = "zip"
"""Reader name in the state of an archive as a whole."""
_TEXT_CACHE: Final = 4096
_SHORT_TEXT: Final = 200
"""Characters; masked texts below are remembered: names and paths come again and again."""

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


def masker(options: Options) -> Masker:
    """The masking that the options ask for."""
    if not options.mask:
        return lambda text: (text, ())
    salt = options.salt or None

    def masked(text: str) -> tuple[str, tuple[Masked, ...]]:
        return mask(text, salt, extra=options.extra, allow=options.allow, pii=options.mask_pii)

    short = lru_cache(_TEXT_CACHE)(masked)
    return lambda text: short(text) if len(text) < _SHORT_TEXT else masked(text)


class _Run:
    """One run: what is gathered from all carriers before threads are put together."""

    def __init__(self, known: Known, options: Options, now: datetime, pace: Pace) -> None:
        self.known = known
        self.pace = pace
        self.options = options
        self.now = now
        self.masker = masker(options)
        self.resumption = Resumption(known, options, self.masker, now)
        self.found = Found()
        self.loose = Tally()
        self.carriers: list[Carrier] = []
        self.skipped: list[tuple[str, str, str]] = []
        self.archives: list[tuple[Source, dict[str, None]]] = []
        self.tables = Tables()
        self.spool = Spool()
        self.cards: list[Card] = []
        self.held: dict[int, int] = {}
        """Threads by carrier."""
        self.waiting: Counter[int] = Counter()
        """Threads by carrier that are not given yet."""
        self.stated: set[int] = set()
        """Carriers whose state was given."""
        self.ended = False
        """Not all threads that wait are to be given."""
        self.assembly: Assembly | None = None

    # --- reading

    def gather(self, paths: tuple[str, ...]) -> None:
        """Read and clean every carrier; threads wait in the spool.

        If the owner wants an end, the carrier in hand is dropped and no other one is opened.
        """
        found: Iterable[Source | ReadFailure] = find(paths, self.found, self.options.skip_dirs)
        if "-" not in paths:  # standing input can be read only until the next one is asked for
            found = list(found)
            self.pace.begin(sum(one.size for one in found if isinstance(one, Source)))
        done = 0
        try:
            for one in found:
                if isinstance(one, ReadFailure):
                    self.loose.note(one.code, one.where)
                    continue
                if self._wanted(one):
                    self._take(one)
                done += one.size
                self.pace.passed(done)
        except Stopped:
            dropped = len(self.carriers) - 1
            del self.carriers[dropped:]
            self.cards = [card for card in self.cards if card.carrier != dropped]

    def _wanted(self, src: Source) -> bool:
        since = self.options.since
        if since is not None and src.mtime_ns < since.timestamp() * 1e9:
            self.found.ignore("older")
            return False
        return True

    def _take(self, src: Source) -> None:
        if self._skip(src):
            return
        if look(src).kind == "zip":
            self._archive(src)
            return
        reader = self._reader(src)
        if reader is not None:
            self._read(src, reader)

    def _skip(self, src: Source) -> bool:
        """Leave a carrier closed that is as it was."""
        row = self.known.file(src.path)
        if row is None or not unchanged(src, row, self.now, self.options.settle_s):
            return False
        if row.reader != ARCHIVE and not _current(row):
            return False
        self.skipped.append((src.path, src.name, row.reader))
        self.tables.skip(src.path, len(row.thread_ids))
        return True

    def _archive(self, archive: Source) -> None:
        before = len(self.carriers)
        known_skips = len(self.skipped)
        for one in members(archive, self.found):
            if isinstance(one, ReadFailure):
                self.loose.note(one.code, one.where)
            elif not self._skip(one):
                if look(one).kind == "zip":
                    self.loose.note("nested_zip", one.name)
                elif (reader := self._reader(one)) is not None and self._read(one, reader):
                    break
        if archive.explicit and len(self.carriers) == before and len(self.skipped) == known_skips:
            self.loose.note("unknown_format", archive.name)
        self.archives.append((archive, {}))

    def _reader(self, src: Source) -> Reader | None:
        src.as_note = src.as_note or self.options.notes
        chosen = choose(src, self.options.format)
        if chosen is None:
            self.found.side_files += 1
        elif isinstance(chosen, ReadFailure):
            self._refuse(src, chosen)
        elif self.options.only and chosen.NAME not in self.options.only:
            self.found.ignore("not_asked_for")
        else:
            return chosen
        return None

    def _refuse(self, src: Source, why: ReadFailure) -> None:
        """A file without a reader is a loss if it was named, else it is ignored and counted."""
        if src.explicit or why.code in {"unreadable_file", "ambiguous_format"}:
            self.loose.note(why.code, src.name)
        else:
            self.found.ignore(why.code)

    def _read(self, src: Source, reader: Reader) -> bool:
        """Read one carrier; whether its archive must be left."""
        src.keep_context = self.options.keep_context
        src.me, src.group_gap = self.options.me, self.options.group_gap
        opener, src.opener = src.opener, lambda: self.pace.opened(src.name, opener)
        tally = Tally(src.name)
        carrier = Carrier(src, reader.NAME, reader.VERSION, tally)
        src.resumable = self.resumption.wanted(src)
        src.live = reader.APPENDABLE and not at_rest(src, self.now, self.options.settle_s)
        self.carriers.append(carrier)
        stop = False
        try:
            thread = self.resumption.read(carrier, reader, len(self.carriers) - 1)
            if thread is not None:
                self._keep(thread, carrier)
            else:
                for thread in self._threads(carrier, reader, len(self.carriers) - 1):
                    self._keep(thread, carrier)
        except Stopped:
            raise
        except ZipBomb:
            tally.note("zip_bomb")
            stop = True
        except READ_ERRORS as cause:
            tally.note("unreadable_file")
            _LOG.debug("%s: %s", src.name, type(cause).__name__)
        except Exception as cause:  # noqa: BLE001 - one carrier is a border: its reader's fault must not stop the run
            tally.note("reader_error")
            frames = "".join(format_tb(cause.__traceback__))  # its message may quote the input
            _LOG.debug("reader %s failed, %s:\n%s", reader.NAME, type(cause).__name__, frames)
        src.opener = opener
        src.head = None
        src.seen = None
        src.parsed = {}
        return stop

    def _threads(self, carrier: Carrier, reader: Reader, index: int) -> Iterator[CleanThread]:
        """Read a carrier whole; its threads, cleaned."""
        src, tally = carrier.source, carrier.tally
        rest = at_rest(src, self.now, self.options.settle_s)
        for one in reader.read(src, tally):
            if isinstance(one, ReadFailure):
                tally.note(one.code, self.masker(one.where)[0])
                continue
            closed = rest or not reader.APPENDABLE or not _live(one)
            yield clean(one, index, tally, self.options, self.masker, closed=closed)

    def _keep(self, thread: CleanThread, carrier: Carrier) -> None:
        """Let a thread wait for its family."""
        carrier.titles += [
            PendingTitle(leaf=title.leaf, text=title.text) for title in thread.raw.summaries
        ]
        if thread.naive and thread.turns:
            carrier.tally.note("naive_time", thread.raw.where or None)
        native = self._native(thread)
        self.held[thread.carrier] = self.held.get(thread.carrier, 0) + 1
        card = card_of(thread, native, self.spool.put(thread))
        if carrier.point is not None and card.first_key is not None:
            card.first_key = carrier.point.first_key
        self.cards.append(card)

    def _native(self, thread: CleanThread) -> str:
        return thread.raw.native_id or (
            derived_id(thread) if thread.turns else f"empty {len(self.cards)}"
        )

    # --- putting together

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
        read = {carrier.source.path for carrier in self.carriers}
        for turn in stored.turns if stored is not None else ():
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
            waiting = self._pending(carrier)
            row = row_of(
                carrier.source,
                carrier.reader,
                carrier.version,
                cumulated(carrier.tally, carrier.point),
                tuple(sorted(carrier.thread_ids)),
                waiting,
                settled=not (carrier.live or (carrier.source.live and _has_tail(carrier.tally))),
            )
            yield row.replace(resume=self._resumed_from(index))

    def _resumed_from(self, index: int) -> ResumePoint | None:
        """Where a carrier of one thread can be read on from when it has grown."""
        carrier = self.carriers[index]
        if self.held.get(index) != 1 or _failed(carrier.tally):
            carrier.whole = None
        return self.resumption.keep(carrier)

    def _archive_states(self) -> Iterator[FileState]:
        """States of archives as a whole, after those of their members."""
        for archive, _ in self.archives:
            inside = [one for one in self.carriers if one.source.root == archive.path]
            ids = {identity for one in inside for identity in one.thread_ids}
            live = any(one.live for one in inside)
            yield row_of(archive, ARCHIVE, 1, Tally(), tuple(sorted(ids)), settled=not live)

    def _check(self, carrier: Carrier) -> None:
        """Conservation: each record read has one disposition, or the reader is wrong."""
        if not carrier.tally.balanced and not _failed(carrier.tally):
            carrier.tally.note("reader_error")

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
            self.loose,
            self.found,
            strict=self.options.strict,
            dry_run=self.options.dry_run,
            interrupted=self.pace.interrupted,
        )


def _current(row: FileState) -> bool:
    """Whether the reader that read it is still the same."""
    return any(row.reader == one.NAME and row.version == one.VERSION for one in readers())


def _live(raw: RawThread) -> bool:
    """Whether a thread can still grow in its carrier: native transcripts and growing logs."""
    return raw.rank == 1 or raw.growing


def _has_tail(tally: Tally) -> bool:
    """Whether the end of a carrier was left for later."""
    return tally.pending_offset is not None


def _failed(tally: Tally) -> bool:
    """Whether reading ended early, so that nothing adds up."""
    return any(code in tally.codes for code in ("zip_bomb", "unreadable_file", "reader_error"))


__all__ = ["Assembled", "Known", "Product", "masker", "run"]
