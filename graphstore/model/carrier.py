"""What ingest remembers of a file it has read, so that it reads only what is new."""

from graphstore.model.base import Value
from graphstore.model.record import Count


class PendingTitle(Value):
    """A title for a thread that is not known yet."""

    leaf: str
    """Native id of one of its records."""
    text: str


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
