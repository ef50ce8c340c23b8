"""What readers say and what the common stages answer: sources, raw threads, tallies, reports.

A reader gives native facts only. Text safety, envelopes, the interim rule, titles, masking,
numbers, ids, fingerprints and lineage belong to the common stages. The contract of a reader::

    NAME: str            # "claude-code"; the source name in ids and reports
    VERSION: int         # bump when the output for the same bytes changes
    APPENDABLE: bool     # the tool only ever appends to its file
    TIER: str            # "proven" or "unproven"
    def sniff(head: bytes, src: Source) -> Score | None
    def read(src: Source, tally: Tally) -> Iterator[RawThread | ReadFailure]

Accounting: a reader calls ``tally.read(n)`` for each record it meets, and ``tally.drop(...)``
for each record that becomes no turn. Records of a ``RawTurn`` are disposed of by the common
stage (``RawTurn.records`` says how many they are). The code of a ``ReadFailure`` is counted by
the common stage, its records (if any were counted as read) by the reader, as ``lost``.
"""

import io
import os
import re
import zipfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import BinaryIO, Final, Literal, Protocol, TypeAlias

from graphstore.model.base import Value
from graphstore.model.conversation import Attachment, Event, LineageKind, Role, Taint
from graphstore.model.record import Count
from ingest.cuts import Cuts
from ingest.lines import RECORD_LIMIT
from ingest.secrets import mask, mask_path

HEAD: Final = 64 * 1024
"""Bytes that a sniffer sees without asking for more."""
FOLDER_FILES: Final = 1_000_000
"""Files looked at in a folder that is one source."""
PLACES: Final = 20
"""Places kept per code."""

Disposition: TypeAlias = Literal[
    "turn",
    "interim",
    "thinking",
    "tool",
    "injected",
    "command",
    "meta",
    "duplicate",
    "empty",
    "lost",
]

WHOLE: Final = frozenset({
    "unreadable_file",
    "unknown_format",
    "empty_file",
    "no_conversation",
    "bad_conversation",
    "reader_error",
    "unsafe_path",
    "zip_bomb",
    "nested_zip",
    "ambiguous_format",
})  # fmt: skip
"""Codes of a file or conversation that was lost as a whole."""
PART: Final = frozenset({
    "bad_json",
    "not_an_object",
    "too_big",
    "bad_message",
    "missing_message",
    "stray_text",
    "text_cut",
    "bad_timestamp",
})  # fmt: skip
"""Codes of a part that was lost."""
REPAIR: Final = frozenset({
    "glued_records",
    "joined_lines",
    "nul_bytes",
    "bad_utf8",
    "lone_surrogate",
    "orphan_parent",
    "parent_cycle",
    "duplicate_uuid",
    "current_node",
    "missing_reference",
    "front_matter",
    "naive_time",
    "id_collision",
})  # fmt: skip
"""Codes of something that was put right."""
NOTICE: Final = frozenset({
    "pending_tail",
    "held_back",
    "empty_thread",
    "parent_missing",
    "foreign_summary",
    "duplicate_record",
    "duplicate_thread",
    "duplicate_carrier",
    "turn_revised",
    "unmasked_before",
    "source_gone",
    "forgotten",
    "unknown_record",
    "unknown_content",
})  # fmt: skip
"""Codes worth knowing, nothing lost."""
CODES: Final = WHOLE | PART | REPAIR | NOTICE


@dataclass(slots=True)
class Source:
    """One carrier: a file, or a member of a zip, opened as often as asked for."""

    path: str
    """Absolute path; ``archive.zip!member`` for a member."""
    name: str
    """The path as reports show it."""
    size: int
    mtime_ns: int
    opener: Callable[[], BinaryIO]
    file: Path | None = None
    """The file on disk, ``None`` inside a zip (databases need one)."""
    root: str = ""
    """The folder or archive that was given; the folder of a file named explicitly."""
    explicit: bool = False
    """Named by the user, not found inside a folder or a zip."""
    as_note: bool = False
    """Markdown without the marks of a chat is a note here."""
    keep_context: bool = False
    """The owner wants tool and web text as side turns (taint ``tool`` or ``web``)."""
    me: tuple[str, ...] = ()
    """Names of the owner in archives of several people."""
    group_gap: int = 0
    """Minutes up to which questions without a conversation are put together; 0: never."""
    record_limit: int = RECORD_LIMIT
    """Bytes of one record; a larger one is lost by itself."""
    inside: "tuple[tuple[str, Source], ...] | None" = None
    """Files of a folder or archive that is one carrier, by their path in it, sorted."""
    check: int | None = None
    """CRC of a zip member."""
    live: bool = False
    """It may still be written: a last line of text without an end is not read yet."""
    resumable: bool = False
    """Its reader shall say where it may be read on from when it has grown."""
    head: bytes | None = None
    seen: object = None
    """What ``ingest.shape.look`` found; filled once."""
    parsed: dict[int, tuple[bytes, object]] = field(default_factory=dict)
    """First lines that were parsed already, by their offsets: bytes and value, taken once."""

    def open(self) -> BinaryIO:
        """Open it for reading; the caller closes. Raises ``OSError`` and zip errors."""
        return self.opener()

    def peek(self, size: int = HEAD) -> bytes:
        """Return the first ``size`` bytes; read once and kept while small."""
        if self.head is None or (len(self.head) < size and len(self.head) < self.size):
            with self.open() as stream:
                self.head = stream.read(size)
        return self.head[:size]

    def within(self, file: str | None) -> str:
        """Path of one of its files; its own path if it is a single file."""
        if file is None:
            return self.path
        return f"{self.path}{file}" if self.path.endswith("!") else f"{self.path}/{file}"

    def holds(self, path: str) -> bool:
        """Whether a path is its own, or that of one of its files."""
        return path == self.path or (self.inside is not None and path.startswith(self.within("")))

    @property
    def parts(self) -> tuple[str, ...]:
        """Components of the path, those inside a zip included."""
        return tuple(part for part in self.path.replace("!", "/").split("/") if part)

    @classmethod
    def of_file(
        cls, file: Path, *, name: str = "", root: str = "", explicit: bool = False
    ) -> "Source":
        """Source of a file on disk. Raises ``OSError`` if it cannot be looked at."""
        stat = file.stat()
        return cls(
            path=legible(str(file.absolute())),
            name=legible(name or str(file)),
            size=stat.st_size,
            mtime_ns=max(stat.st_mtime_ns, _time_of_log(file)),
            opener=lambda: file.open("rb"),
            file=file,
            root=legible(root or str(file.absolute().parent)),
            explicit=explicit,
        )

    @classmethod
    def of_folder(cls, folder: Path, *, name: str, root: str) -> "Source":
        """Source of a folder that is one carrier: as large and as new as what is in it.

        Raises ``OSError`` if it cannot be looked at.
        """
        found = [one.lstat() for one in sorted(folder.rglob("*"))[:FOLDER_FILES]]
        return cls(
            path=legible(str(folder.absolute())),
            name=legible(name),
            size=sum(one.st_size for one in found),
            mtime_ns=max((one.st_mtime_ns for one in found), default=folder.stat().st_mtime_ns),
            opener=io.BytesIO,
            file=folder,
            root=legible(root),
        )

    @classmethod
    def of_files(
        cls, inside: "tuple[tuple[str, Source], ...]", path: str, name: str, root: str
    ) -> "Source":
        """Source of files that are one carrier together: as large and as new as they are."""
        sums = "".join(f"{one}:{src.check};" for one, src in inside)
        return cls(
            path=legible(path),
            name=legible(name),
            size=sum(src.size for _, src in inside),
            mtime_ns=max((src.mtime_ns for _, src in inside), default=0),
            opener=io.BytesIO,
            root=legible(root),
            inside=inside,
            check=zlib.crc32(sums.encode()) if any(src.check for _, src in inside) else None,
        )

    @classmethod
    def of_bytes(cls, content: bytes, name: str = "-") -> "Source":
        """Source of bytes in memory (standing input, tests)."""
        return cls(
            path=name,
            name=name,
            size=len(content),
            mtime_ns=0,
            opener=lambda: io.BytesIO(content),
            explicit=True,
        )


_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f-\x9f]")


def legible(path: str) -> str:
    """A path as text that can be kept and printed: what is no text is written in hex.

    That is bytes that are not UTF-8, and control characters, which a terminal would obey.
    Secrets in names are masked. Such names are legal on most systems; they differ afterwards
    if they differed before.
    """
    try:
        path.encode()
    except UnicodeEncodeError:
        path = os.fsencode(path).decode("utf-8", "backslashreplace")
    return mask_path(_CONTROL.sub(lambda found: f"\\x{ord(found.group()):02x}", path))


def _time_of_log(file: Path) -> int:
    """When the write-ahead log of a database last changed: its newest rows are there."""
    try:
        return os.stat(f"{file}-wal").st_mtime_ns  # noqa: PTH116 - asked for every file there is
    except (OSError, ValueError):
        return 0


READ_ERRORS: Final = (OSError, EOFError, zipfile.BadZipFile, NotImplementedError, RuntimeError)
"""What opening or reading a carrier may raise: not ours to repair, ``unreadable_file``."""


@dataclass(frozen=True, slots=True, order=True)
class Score:
    """How surely a source is of a format; the greatest wins.

    ``rule`` is the number of the sniffing rule that matched (an earlier rule is surer),
    ``share`` the part of the looked-at records that match, ``place`` the letter of the rule.
    """

    weight: tuple[int, float, int]

    @classmethod
    def by(cls, rule: int, share: float = 1.0, letter: str = "a") -> "Score":
        """Score of a rule, the share of matching records (0 to 1) and the rule's letter."""
        return cls((-rule, share, -ord(letter)))


@dataclass(frozen=True, slots=True)
class ReadFailure:
    """One conversation, or a whole file, that could not be read. Never quotes content."""

    where: str
    code: str
    detail: str = ""


@dataclass(slots=True)
class RawTurn:
    """One message as its source has it. Everything but ``role`` and ``blocks`` may be unknown."""

    role: Role
    """``OTHER`` makes a side turn: delegated prompts, attachment text, other speakers."""
    blocks: tuple[str, ...]
    """Text blocks as written; envelopes are removed block by block later."""
    key: str | None = None
    """Native id of the message."""
    parent: str | None = None
    """Native id of the nearest earlier message that is also given (trees, replies)."""
    at: datetime | None = None
    """Naive if the source names no zone: the common stage gives it one."""
    line: int | None = None
    """1-based."""
    offset: int | None = None
    """Bytes from the start of the carrier."""
    length: int | None = None
    """Bytes."""
    file: str | None = None
    """Path of the record's file inside a carrier of several files."""
    taint: Taint | None = None
    """``None``: follows from the role (``OTHER`` is ``other``)."""
    speaker: str | None = None
    attachments: tuple[Attachment, ...] = ()
    links: tuple[str, ...] = ()
    """What a human message refers to, where its words do not show it."""
    calls: tuple[tuple[str, int], ...] = ()
    """Tool calls of this message and of messages without text before it: (name, count)."""
    touched: tuple[str, ...] = ()
    """Paths of read and edit calls and patch headers, as written."""
    calls_tool: bool = False
    """A tool call is in it, or directly follows it (reasoning and counters ignored)."""
    final: bool | None = None
    """The source's own mark, if it has one: final answer (True) or commentary (False)."""
    stopped: bool = False
    """The source's own mark says that the message is complete."""
    alternative: bool = False
    """Off the main line."""
    ahead: bool = False
    """Typed while the assistant was at work: what it was answering is not ended by it."""
    records: int = 1
    """Physical records merged into it; 0 for an extra turn made from one record."""
    also: tuple[str, ...] = ()
    """Native ids of the other records merged into it."""
    owner: str | None = None
    """Native id of the thread that the record says it belongs to."""
    copied: bool = False
    """The source marks it as a copy out of another thread."""
    spawned: tuple[str, ...] = ()
    """Native ids of threads that were spawned while this message was being answered."""

    @property
    def keys(self) -> tuple[str, ...]:
        """Native ids of its records, its own first."""
        return (*((self.key,) if self.key else ()), *self.also)


@dataclass(frozen=True, slots=True)
class TitleCandidate:
    """A title that a source offers; the common stage chooses."""

    kind: Literal["user", "native", "ai", "summary", "heading", "stem"]
    text: str


@dataclass(frozen=True, slots=True)
class Summary:
    """A title for whichever thread owns the record it names."""

    leaf: str
    text: str


@dataclass(frozen=True, slots=True)
class Pointer:
    """A native statement that this thread descends from another one of its source."""

    kind: LineageKind
    native_id: str
    key: str | None = None
    """Native key of the spawning record or of the last shared one, in the parent."""


Sharing: TypeAlias = Literal["keys", "words", "none"]


@dataclass(slots=True)
class RawThread:
    """One conversation as one carrier has it: native facts only."""

    source: str
    native_id: str | None
    """``None``: derived from the content."""
    turns: list[RawTurn] = field(default_factory=list)
    """In source order; any order for trees."""
    agent: bool = False
    """The interim rule applies: the tool is an agent, not a chat."""
    tree: bool = False
    """Numbers go by (effective time, depth, native key), not by source order."""
    growing: bool = False
    """Without a native id: a log that may grow, so its id comes from its beginning."""
    rank: int = 2
    """1 native transcript, 2 export, 3 rendering, 4 prompt history."""
    sharing: Sharing = "none"
    """How a prefix shared with another thread is known: equal native keys, or a pointer
    and equal words; ``none`` if keys are local to a thread."""
    titles: tuple[TitleCandidate, ...] = ()
    summaries: tuple[Summary, ...] = ()
    """Titles for threads named by one of their records, this one or others."""
    started_at: datetime | None = None
    ended_at: datetime | None = None
    project: str | None = None
    project_sure: bool = True
    """``False``: read off a folder name."""
    models: tuple[str, ...] = ()
    participants: tuple[str, ...] = ()
    native_ids: tuple[str, ...] = ()
    """Every native id seen in the carrier for this thread."""
    pointers: tuple[Pointer, ...] = ()
    events: tuple[Event, ...] = ()
    tail_calls: tuple[tuple[str, int], ...] = ()
    """Tool calls after the last message with text: (name, count)."""
    record_keys: tuple[str, ...] = ()
    """Native ids of records that are no turns, for what refers to them."""
    first_parent: str | None = None
    """Native id that the first record names as its parent: a file may be the second half."""
    slash_commands: bool = False
    """A human text that begins with ``/name`` is a command of the tool."""
    placed: bool = False
    """The native id stands for the place of the carrier: moved, it is the same thread."""
    open_ended: bool = False
    """Nothing marks the end of a message: in a growing carrier the last one may go on."""
    background: bool = False
    """The source stamps it as the copy of a session taken over in the background."""
    where: str = ""
    """Place of the conversation for reports; the carrier if empty."""
    cuts: Cuts | None = None
    """Where its carrier may be read on from, if it was asked for and can be told."""


class Reader(Protocol):
    """A module of ``ingest.readers``, as the common stages see it."""

    NAME: str
    VERSION: int
    APPENDABLE: bool
    TIER: str

    def sniff(self, head: bytes, src: Source) -> Score | None: ...

    def read(self, src: Source, tally: "Tally") -> Iterator[RawThread | ReadFailure]: ...


@dataclass(slots=True)
class Tally:
    """What became of the records of one carrier, and which codes were met where."""

    name: str = ""
    """The carrier as reports show it."""
    records: int = 0
    dispositions: dict[str, int] = field(default_factory=dict)
    codes: dict[str, int] = field(default_factory=dict)
    places: dict[str, list[str]] = field(default_factory=dict)
    pending_offset: int | None = None
    """Byte offset of a half-written last record: read again when it is complete."""
    end_offset: int = 0
    """Byte offset of the end of the last complete record, where the carrier has lines."""
    lines_before: int = 0
    """Lines before the part that is read."""
    side_files: int = 0

    def read(self, count: int = 1) -> None:
        """Count records met."""
        self.records += count

    def drop(self, disposition: Disposition, count: int = 1) -> None:
        """Count records by what became of them."""
        self.dispositions[disposition] = self.dispositions.get(disposition, 0) + count

    def note(self, code: str, where: int | str | None = None, count: int = 1) -> None:
        """Count a code; a line number is told as ``carrier:line``."""
        self.codes[code] = self.codes.get(code, 0) + count
        kept = self.places.setdefault(code, [])
        if len(kept) < PLACES:
            kept.append(self.place(where))

    def place(self, where: int | str | None) -> str:
        """A place as reports show it; the id of a conversation may hold anything: masked."""
        if where is None:
            return self.name
        if isinstance(where, int):
            return f"{self.name}:{where + self.lines_before}"
        return mask(where)[0]

    @property
    def balanced(self) -> bool:
        """Conservation: every record read has exactly one disposition."""
        return self.records == sum(self.dispositions.values())


class CodeCount(Value):
    """How often a code was met, and where first."""

    code: str
    count: int
    places: tuple[str, ...] = ()
    """``file:line`` or conversation id, the first twenty."""


class CarrierRow(Value):
    """What one carrier gave."""

    file: str
    format: str | None = None
    skipped: bool = False
    """Unchanged since the last run, not opened."""
    new: int = 0
    """Threads."""
    grown: int = 0
    same: int = 0
    human: int = 0
    """Turns."""
    assistant: int = 0
    other: int = 0
    records: int = 0
    dispositions: tuple[Count, ...] = ()
    """Sorted by name; they add up to ``records``."""
    codes: tuple[CodeCount, ...] = ()
    pending_offset: int | None = None


class MaskedCount(Value):
    """Secrets masked, of one kind."""

    kind: str
    count: int
    distinct: int


class ThreadRow(Value):
    """One thread of the run."""

    thread_id: str
    status: Literal["new", "grown", "same"]
    title: str | None = None
    new_turns: int = 0


class IngestReport(Value):
    """What one run of ingest found, kept and lost."""

    carriers: tuple[CarrierRow, ...] = ()
    threads: tuple[ThreadRow, ...] = ()
    new: int = 0
    """Threads."""
    grown: int = 0
    same: int = 0
    human: int = 0
    """New turns."""
    assistant: int = 0
    other: int = 0
    records: int = 0
    dispositions: tuple[Count, ...] = ()
    codes: tuple[CodeCount, ...] = ()
    ignored: tuple[Count, ...] = ()
    """Files not read, by reason."""
    side_files: int = 0
    masked: tuple[MaskedCount, ...] = ()
    dry_run: bool = False
    interrupted: bool = False
    """The owner wanted an end: what was not reached is left for another run."""
    exit_code: Literal[0, 1, 3] = 0
    reasons: tuple[str, ...] = ()
    """Commonest reasons why no thread was found."""
