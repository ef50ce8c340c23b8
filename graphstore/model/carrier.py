"""What ingest remembers of a file it has read, so that it reads only what is new."""

from graphstore.model.base import Value
from graphstore.model.conversation import Event
from graphstore.model.record import Count


class PendingTitle(Value):
    """A title for a thread that is not known yet."""

    leaf: str
    """Native id of one of its records."""
    text: str


class ResumePoint(Value):
    """Where a carrier that only grew may be read on from, and what was before that place."""

    thread_id: str
    line: int
    """1-based."""
    offset: int
    """Bytes."""
    state: str
    """What its reader must know there, as JSON."""
    keys: str
    """Hashes of the native ids of the records before it."""
    first_key: str | None = None
    """Native id of the first turn of the thread."""
    options: str
    """Hash of the options that shape what is read."""
    titles: tuple[tuple[str, str], ...] = ()
    """Kind and text of the titles offered so far, the best of each kind."""
    commands: tuple[Event, ...] = ()
    """Commands given before it."""
    records: int = 0
    """What was read before it, and what became of it."""
    dispositions: tuple[Count, ...] = ()
    codes: tuple[Count, ...] = ()


class FileState(Value):
    """One carrier as it was when its threads were committed.

    Lost or absent means: read it again, with the same result.
    """

    path: str
    """Absolute; ``archive.zip!member`` for a zip member."""
    size: int
    mtime_ns: int
    check: int | None = None
    """CRC of a zip member."""
    reader: str
    version: int
    head_hash: str | None = None
    """Of the first 64 KiB."""
    tail_hash: str | None = None
    """Of the 64 KiB before ``offset``."""
    offset: int = 0
    """Bytes up to the end of the last complete record."""
    pending_offset: int | None = None
    settled: bool = True
    """Nothing was held back because it might still grow."""
    thread_ids: tuple[str, ...] = ()
    records: int = 0
    dispositions: tuple[Count, ...] = ()
    codes: tuple[Count, ...] = ()
    titles: tuple[PendingTitle, ...] = ()
    resume: ResumePoint | None = None
    ignored: tuple[Count, ...] = ()
    """Members of an archive that were left alone, by reason."""
    choices: str | None = None
    """Hash of the choices that shaped what was read; read again when they are others."""
