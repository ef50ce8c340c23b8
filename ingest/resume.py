"""Reading on: a carrier that only grew is read from its last exchanges on, not from its start.

The result is that of reading it whole, or the place is not used. A place is kept only if reading
from it gave, when the carrier was last read, what reading the whole gave for that part; it is used
only if the carrier begins and was as before, the options are the same, and the thread in the store
is told by this carrier alone. A reader gives up (``Unsure``) where a record names one before the
place, and the whole is read.
"""

import io
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import BinaryIO, Final, Protocol, cast

from graphstore.ids import digest
from graphstore.model.carrier import FileState, ResumePoint
from graphstore.model.conversation import Event, Role
from graphstore.model.record import Count
from ingest.base import base_of
from ingest.carriers import Carrier
from ingest.clean import CleanThread, CleanTurn, Masker, clean
from ingest.cuts import Cut, Older
from ingest.identity import Whole
from ingest.known import Known
from ingest.lines import RECORD_LIMIT
from ingest.model import READ_ERRORS, RawThread, Reader, Source, Tally, TitleCandidate
from ingest.options import Options
from ingest.settle import is_interim, settle
from ingest.sniff import reader_named
from ingest.state import appended, at_rest

OF_ONE_RUN: Final = frozenset({
    "duplicate_carrier",
    "foreign_summary",
    "forgotten",
    "id_collision",
    "parent_missing",
    "source_gone",
    "turn_revised",
    "unmasked_before",
})  # fmt: skip
"""Codes of what one run met in putting threads together: the next one tells them anew."""


class Resumes(Protocol):
    """A reader that can read on."""

    def resume(self, src: Source, tally: Tally, state: str, older: Older) -> RawThread | None: ...


def resuming(reader: Reader) -> Resumes | None:
    """The reader, if it can read on."""
    return cast("Resumes", reader) if hasattr(reader, "resume") else None


def shaping(options: Options) -> str:
    """Hash of the options that shape what is read."""
    return digest(
        [
            str(options.mask),
            str(options.mask_pii),
            str(options.interim_min_chars),
            str(options.keep_context),
            str(options.naive_zone),
            [[name, shape.pattern] for name, shape in options.extra],
            [shape.pattern for shape in options.allow],
            list(options.me),
            str(options.group_gap),
            str(options.format),
            # left out where it is what it was before it could be chosen: files stay known
            *([str(options.record_bytes)] if options.record_bytes != RECORD_LIMIT else []),
        ]
    )


# --- reading


def rest_of(src: Source, offset: int) -> Source:
    """What stands in a carrier from an offset on."""

    def opener() -> BinaryIO:
        stream = src.open()
        stream.seek(offset)
        return stream

    return replace(src, opener=opener, head=None, seen=None, resumable=True)


def read_on(
    reader: Resumes, src: Source, tally: Tally, line: int, offset: int, state: str, older: Older
) -> RawThread | None:
    """Read a carrier from a place on; None if only the whole can tell.

    Raises what opening and reading it raises.
    """
    tally.lines_before = line - 1
    raw = reader.resume(rest_of(src, offset), tally, state, older)
    tally.end_offset += offset
    if tally.pending_offset is not None:
        tally.pending_offset += offset
    for turn in raw.turns if raw is not None else ():
        if turn.offset is not None:
            turn.offset += offset
        if turn.line is not None:
            turn.line += line - 1
    return raw


# --- places to keep


def likely(cut: Cut, whole: Whole, shift: int) -> int | None:
    """Index of the turn that a place is before, if the turn before it is an answer for good."""
    offset, answered = cut.offset + shift, cut.answered + shift
    turns = whole.turns
    at = next((at for at, turn in enumerate(turns) if (turn.raw.offset or 0) >= offset), 0)
    first = turns[at].raw
    if not at or first.role is not Role.HUMAN or first.alternative:
        return None
    if first.offset != offset and not cut.retold:  # the message itself held no words
        return None
    last = turns[at - 1]
    final = last.raw.role is Role.ASSISTANT and not is_interim(last) and not last.passing
    return at if final and last.raw.offset == answered else None


def same_rest(turns: Sequence[CleanTurn], whole: Whole, at: int) -> bool:
    """Whether reading from a place gave what reading the whole gave from there on."""
    return [_facts(turn) for turn in turns] == [_facts(turn) for turn in whole.turns[at:]]


def _facts(turn: CleanTurn) -> tuple[object, ...]:
    raw = turn.raw
    return (
        *(raw.role, raw.key, raw.also, raw.alternative, raw.spawned, raw.records),
        *(raw.line, raw.offset, raw.length, raw.attachments, raw.taint),
        *(turn.fingerprint, turn.at, turn.masked, turn.links, turn.calls, turn.touched),
        *(turn.interim, turn.passing),
    )


def same_head(rest: CleanThread, whole: Whole) -> bool:
    """Whether a reading from a place tells the same of its thread."""
    one, head = rest.raw, whole.heads[0]
    return (
        one.native_id == head.native_id
        and set(one.native_ids) == set(head.native_ids)
        and set(one.models) == set(head.models)
        and (one.project, one.project_sure) == (head.project, head.project_sure)
        and (one.started_at, one.ended_at) == (head.started_at, head.ended_at)
        and (one.pointers, one.background) == (head.pointers, head.background)
        and one.tail_calls == head.tail_calls
    )


def best_titles(raw: RawThread) -> tuple[tuple[str, str], ...]:
    """The first title of each kind."""
    first: dict[str, str] = {}
    for title in raw.titles:
        first.setdefault(title.kind, title.text)
    return tuple(sorted(first.items()))


def before(total: Mapping[str, int], rest: Mapping[str, int]) -> tuple[Count, ...]:
    """What of some counts stands before a place."""
    left = {name: count - rest.get(name, 0) for name, count in total.items()}
    return tuple(
        Count(name=name, count=count)
        for name, count in sorted(left.items())
        if count > 0 and name not in OF_ONE_RUN
    )


def cumulated(tally: Tally, point: ResumePoint | None) -> Tally:
    """What a carrier holds in all: what stands before a place, and what was read from it on."""
    if point is None:
        return tally
    total = replace(
        tally,
        records=tally.records + point.records,
        dispositions=dict(tally.dispositions),
        codes=dict(tally.codes),
    )
    for name, count in ((one.name, one.count) for one in point.dispositions):
        total.drop(name, count)  # type: ignore[arg-type]
    for one in point.codes:
        total.codes[one.name] = total.codes.get(one.name, 0) + one.count
    return total


def at_line_start(src: Source, offset: int) -> bool:
    """Whether a line begins at an offset, in a carrier whose lines are bytes as they are."""
    with src.open() as stream:
        wide = stream.read(2) in {b"\xff\xfe", b"\xfe\xff"}
        stream.seek(offset - 1, io.SEEK_SET)
        return stream.read(1) == b"\n" and not wide


class Resumption:
    """Reading on in one run: which carriers, from where, and where the next run may."""

    def __init__(self, known: Known, options: Options, masker: Masker, now: datetime) -> None:
        self._known = known
        self._options = options
        self._masker = masker
        self._now = now
        self.shaping = shaping(options)

    def wanted(self, src: Source) -> bool:
        """Whether it pays to read a carrier on, now or later."""
        plain = src.file is not None and src.check is None
        return plain and src.size >= self._options.resume_bytes

    def place(self, src: Source, reader: Reader) -> ResumePoint | None:
        """The place from which a carrier may be read on now."""
        row = self._known.file(src.path) if src.resumable else None
        if row is None or row.resume is None or row.reader != reader.NAME:
            return None
        fits = row.version == reader.VERSION and row.resume.options == self.shaping
        return row.resume if fits and _only_grew(src, row) else None

    def read(self, carrier: Carrier, reader: Reader, index: int) -> CleanThread | None:
        """The rest of a carrier as a thread of its own; None if it must be read whole."""
        able, point = resuming(reader), self.place(carrier.source, reader)
        if able is None or point is None:
            return None
        tally = Tally(carrier.tally.name)
        older = Older.of_text(point.keys)
        raw = read_on(able, carrier.source, tally, point.line, point.offset, point.state, older)
        if raw is None:
            return None
        thread = clean(
            raw, index, tally, self._options, self._masker, closed=self._rests(carrier.source)
        )
        if not thread.turns:
            return None
        _told_before(thread, point)
        carrier.tally, carrier.point = tally, point
        return thread

    def _rests(self, src: Source) -> bool:
        return at_rest(src, self._now, self._options.settle_s)

    def grounded(self, thread: CleanThread, carrier: Carrier) -> bool:
        """Find what is stored of a thread that was read on; whether it is as it must be."""
        if carrier.point is None:
            return False
        stored = self._known.thread(carrier.point.thread_id)
        thread.base = base_of(stored, carrier.source.path, carrier.point.offset)
        return thread.base is not None

    def keep(self, carrier: Carrier) -> ResumePoint | None:
        """The place from which a carrier that was just read may be read on later.

        That from which it was read on now still serves if there is none further on.
        """
        whole, carrier.whole = carrier.whole, None
        able = resuming(reader_named(carrier.reader))
        cuts = whole.heads[0].cuts if whole is not None else None
        if whole is None or cuts is None or able is None:
            return None
        try:
            for cut in reversed(cuts.found):
                if not _spares(carrier, cut):
                    break
                at = likely(cut, whole, carrier.point.offset if carrier.point else 0)
                point = None if at is None else self._proven(able, carrier, whole, at, cut)
                if point is not None:
                    return point
        except READ_ERRORS:  # gone meanwhile: it will be read whole
            return None
        return carrier.point

    def _proven(
        self, reader: Resumes, carrier: Carrier, whole: Whole, at: int, cut: Cut
    ) -> ResumePoint | None:
        """A place, if reading from it gives what was given of that part."""
        used, src, head = carrier.point, carrier.source, whole.heads[0]
        keys = head.cuts.keys if head.cuts is not None else ()
        line = cut.line + (used.line - 1 if used else 0)
        offset = cut.offset + (used.offset if used else 0)
        older = Older.of_text(used.keys) if used else Older(())
        older = older.and_more(keys[: cut.records])
        if self._masker(cut.state)[0] != cut.state or not at_line_start(src, offset):
            return None
        tally = Tally(carrier.tally.name)
        raw = read_on(reader, src, tally, line, offset, cut.state, older)
        if raw is None:
            return None
        rest = clean(raw, 0, tally, self._options, self._masker, closed=self._rests(src))
        settled = settle(rest.turns, [tally], self._options, agent=raw.agent, closed=rest.closed)
        commands = _commands_before(rest, whole)
        same = (
            commands is not None
            and (settled.live, settled.held) == (whole.live, whole.held)
            and same_rest(settled.turns, whole, at)
            and same_head(rest, whole)
        )
        if not same or commands is None:
            return None
        total = cumulated(carrier.tally, used)
        return ResumePoint(
            thread_id=whole.thread_id,
            line=line,
            offset=offset,
            state=cut.state,
            keys=older.text(),
            first_key=used.first_key if used else whole.turns[0].raw.key,
            options=self.shaping,
            titles=best_titles(head),
            commands=commands,
            records=total.records - tally.records,
            dispositions=before(total.dispositions, tally.dispositions),
            codes=before(total.codes, tally.codes),
        )


def _spares(carrier: Carrier, cut: Cut) -> bool:
    """Whether to read on from a place would spare half of the carrier: else it is not proven."""
    before = carrier.point.offset if carrier.point else 0
    return 2 * (before + cut.offset) >= carrier.source.size


def _only_grew(src: Source, row: FileState) -> bool:
    try:
        return appended(src, row)
    except READ_ERRORS:
        return False


def _told_before(thread: CleanThread, point: ResumePoint) -> None:
    """Add what a carrier told of its thread, beside the turns, before the place."""
    raw = thread.raw
    at = len(raw.events) - thread.commands
    raw.events = (*raw.events[:at], *point.commands, *raw.events[at:])
    thread.commands += len(point.commands)
    offered = (TitleCandidate(kind, text) for kind, text in point.titles)  # type: ignore[arg-type]
    raw.titles = (*raw.titles, *offered)


def _commands_before(rest: CleanThread, whole: Whole) -> tuple[Event, ...] | None:
    """Commands of a thread that are not in its rest; None if the events do not fit."""
    events, later = whole.heads[0].events, rest.raw.events
    at, mine = len(events) - whole.commands, len(later) - rest.commands
    commands = events[at:]
    split = len(commands) - rest.commands
    if events[:at] != later[:mine] or commands[split:] != later[mine:]:
        return None
    return commands[:split]
