"""The first half of a run: every carrier is found, read and cleaned; threads wait in a spool."""

import gc
import logging
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import datetime
from functools import lru_cache
from traceback import format_tb
from typing import Final

from graphstore.ids import digest
from graphstore.model.carrier import FileState, PendingTitle
from graphstore.model.conversation import Masked
from graphstore.model.record import Count
from ingest.archives import ZipBomb, members
from ingest.carriers import Archive, Carrier, Skipped
from ingest.clean import CleanThread, Masker, clean
from ingest.family import Card, Spool, card_of
from ingest.identity import derived_id
from ingest.known import Known
from ingest.line_ends import mend
from ingest.model import (
    READ_ERRORS,
    WHOLE,
    RawThread,
    Reader,
    ReadFailure,
    Source,
    Tally,
)
from ingest.options import Options
from ingest.pace import Pace, Stopped
from ingest.report import Tables
from ingest.resume import OF_ONE_RUN, Resumption
from ingest.secrets import mask
from ingest.shape import look
from ingest.sniff import choose, readers
from ingest.state import at_rest, unchanged
from ingest.walk import Found, find

_LOG: Final = logging.getLogger(__name__)
ARCHIVE: Final = "zip"
"""Reader name in the state of an archive as a whole."""
CYCLES_AFTER: Final = 32 * 2**20
"""Bytes of carriers after which cycles are looked for: other threads may make some."""
_SHORT_TEXT: Final = 1000
_LONG_TEXT: Final = 16_000
"""Characters of texts that are remembered masked: names and paths come again and again, and
prompts are repeated by histories, forks and resumed sessions."""
_SHORT_TEXTS: Final = 4096
_LONG_TEXTS: Final = 256
"""How many of them are."""


def masker(options: Options) -> Masker:
    """The masking that the options ask for."""
    if not options.mask:
        return lambda text: (text, ())
    salt = options.salt or None

    def masked(text: str) -> tuple[str, tuple[Masked, ...]]:
        return mask(text, salt, extra=options.extra, allow=options.allow, pii=options.mask_pii)

    short, long = lru_cache(_SHORT_TEXTS)(masked), lru_cache(_LONG_TEXTS)(masked)

    def remembered(text: str) -> tuple[str, tuple[Masked, ...]]:
        if len(text) < _SHORT_TEXT:
            return short(text)
        return long(text) if len(text) < _LONG_TEXT else masked(text)

    return remembered


@contextmanager
def _no_cycles() -> Iterator[None]:
    """Look for no cycles unasked: parsed JSON has none, and goes as soon as it was read."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


class Reading:
    """What is gathered from all carriers before threads are put together."""

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
        self.skipped: list[Skipped] = []
        self.archives: list[Archive] = []
        self.tables = Tables()
        self.spool = Spool()
        self.cards: list[Card] = []
        self.held: dict[int, int] = {}
        """Threads by carrier."""

    def gather(self, paths: tuple[str, ...]) -> None:
        """Read and clean every carrier; threads wait in the spool.

        If the owner wants an end, the carrier in hand is dropped and no other one is opened.
        """
        found: Iterable[Source | ReadFailure] = find(paths, self.found, self.options.skip_dirs)
        if "-" not in paths:  # standing input can be read only until the next one is asked for
            found = list(found)
            self.pace.begin(sum(one.size for one in found if isinstance(one, Source)))
        try:
            with _no_cycles():
                self._take_all(found)
        except Stopped:
            dropped = len(self.carriers) - 1
            del self.carriers[dropped:]
            self.cards = [card for card in self.cards if card.carrier != dropped]

    def _take_all(self, found: Iterable[Source | ReadFailure]) -> None:
        done = looked = 0
        for one in found:
            if done - looked >= CYCLES_AFTER:
                gc.collect(0)
                looked = done
            if isinstance(one, ReadFailure):
                self.loose.note(one.code, one.where)
                continue
            if self._wanted(one):
                self._take(one)
            done += one.size
            self.pace.passed(done)

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
        if row.reader == ARCHIVE:
            current = row.version == archive_version(self.options)
        else:
            current = _current(row)
        current = current and row.choices == self.resumption.shaping
        if not current or _lost_whole(row):
            return False
        self.skipped.append(_as_known(src, row))
        self.tables.skip(src.path, len(row.thread_ids))
        for one in row.ignored:
            self.found.ignore(one.name, one.count)
        return True

    def _archive(self, src: Source) -> None:
        archive = Archive(src, Tally(src.name))
        self.archives.append(archive)
        ignored = dict(self.found.ignored)
        around, self.loose = self.loose, archive.outside
        try:
            self._members(src)
        finally:
            self.loose = around
        archive.ignored = tuple(
            Count(name=name, count=count - ignored.get(name, 0))
            for name, count in sorted(self.found.ignored.items())
            if count > ignored.get(name, 0)
        )

    def _members(self, archive: Source) -> None:
        before = len(self.carriers)
        known_skips = len(self.skipped)
        for one in members(archive, self.found, self.options.skip_dirs):
            if isinstance(one, ReadFailure):
                self.loose.note(one.code, one.where)
                if one.where == archive.name:  # nothing of it can be read, and that is told
                    return
            elif not self._skip(one):
                if look(one).kind == "zip":
                    self.loose.note("nested_zip", one.name)
                elif (reader := self._reader(one)) is not None and self._read(one, reader):
                    break
        if archive.explicit and len(self.carriers) == before and len(self.skipped) == known_skips:
            self.loose.note("unknown_format", archive.name)

    def _reader(self, src: Source) -> Reader | None:
        src.as_note = src.as_note or self.options.notes
        mend(src)
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
        src.record_limit = self.options.record_bytes
        opener, src.opener = src.opener, lambda: self.pace.opened(src.name, opener)
        tally = Tally(src.name)
        carrier = Carrier(src, reader.NAME, reader.VERSION, tally)
        src.resumable = self.resumption.wanted(src)
        src.live = reader.APPENDABLE and not at_rest(src, self.now, self.options.settle_s)
        self.carriers.append(carrier)
        stop = False
        try:
            self._gather(carrier, reader)
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

    def _gather(self, carrier: Carrier, reader: Reader) -> None:
        """Read a carrier, on or whole; its threads wait for their families."""
        index = len(self.carriers) - 1
        rest = self.resumption.read(carrier, reader, index)
        for thread in self._threads(carrier, reader, index) if rest is None else (rest,):
            self._keep(thread, carrier)

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
        carrier.titles += [_pending(title.leaf, title.text) for title in thread.raw.summaries]
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


@lru_cache(_SHORT_TEXTS)
def _pending(leaf: str, text: str) -> PendingTitle:
    """A title for a thread that is named by a record; many files offer the same ones."""
    return PendingTitle(leaf=leaf, text=text)


def _as_known(src: Source, row: FileState) -> Skipped:
    """A carrier that is left closed: what was lost of it is still lost, and told again."""
    tally = Tally(src.name)
    for one in row.codes:
        if one.name not in OF_ONE_RUN or one.name == "unmasked_before":
            tally.note(one.name, count=one.count)
    return Skipped(src.path, src.name, src.root, row.reader, tally, row.thread_ids)


def _current(row: FileState) -> bool:
    """Whether the reader that read it is still the same."""
    return any(row.reader == one.NAME and row.version == one.VERSION for one in readers())


def _lost_whole(row: FileState) -> bool:
    """Whether nothing was kept of it, which the next run must say again."""
    return not row.thread_ids and any(one.name in WHOLE for one in row.codes)


def archive_version(options: Options) -> int:
    """Number of what decides which members of an archive are read: readers and choices."""
    able = [f"{one.NAME} {one.VERSION}" for one in readers()]
    return int(
        digest(able, options.format, list(options.only), options.notes, sorted(options.skip_dirs))[
            :12
        ],
        16,
    )


def _live(raw: RawThread) -> bool:
    """Whether a thread can still grow in its carrier: native transcripts and growing logs."""
    return raw.rank == 1 or raw.growing
