"""What is known of each file, and what must be read again."""

from datetime import datetime
from functools import lru_cache
from typing import Final

from graphstore.ids import digest_bytes
from graphstore.model.carrier import FileState, PendingTitle, ResumePoint
from graphstore.model.record import Count
from ingest.model import READ_ERRORS, Source, Tally

PROBE: Final = 64 * 1024
"""Bytes hashed at the start of a carrier, and before its last complete record."""
FIGURES: Final = 1024
"""Figures that are remembered."""
_BILLION: Final = 1_000_000_000


def unchanged(src: Source, row: FileState | None, now: datetime, settle_s: int) -> bool:
    """Whether a carrier can be left closed: same size and time, nothing waiting to settle."""
    if row is None or row.size != src.size or row.check != src.check:
        return False
    same = src.check is not None or row.mtime_ns == src.mtime_ns
    return same and (row.settled or not at_rest(src, now, settle_s))


def at_rest(src: Source, now: datetime, settle_s: int) -> bool:
    """Whether a carrier was last changed long enough ago to count as finished."""
    return now.timestamp() * _BILLION - src.mtime_ns >= settle_s * _BILLION


def appended(src: Source, row: FileState) -> bool:
    """Whether a carrier only grew: its beginning and what was its end are as they were.

    Raises ``OSError`` if it cannot be read.
    """
    if src.size <= row.size or row.head_hash is None:
        return False
    return probes(src, row.offset, head=min(row.size, PROBE)) == (row.head_hash, row.tail_hash)


def probes(src: Source, offset: int, head: int = PROBE) -> tuple[str, str]:
    """Hashes of the first bytes and of those before an offset. Raises ``OSError``."""
    with src.open() as stream:
        first = stream.read(head)
        stream.seek(max(0, offset - PROBE))
        last = stream.read(min(offset, PROBE))
    head_hash = digest_bytes(first)
    return head_hash, head_hash if last == first else digest_bytes(last)


def row_of(
    src: Source,
    reader: str,
    version: int,
    tally: Tally,
    thread_ids: tuple[str, ...],
    *,
    titles: tuple[PendingTitle, ...] = (),
    settled: bool = True,
    resume: ResumePoint | None = None,
    choices: str | None = None,
    ignored: tuple[Count, ...] = (),
) -> FileState:
    """State of a carrier that was read; hashed only where it may be read on."""
    head = tail = None
    if src.file is not None and resume is not None:
        try:
            head, tail = probes(src, tally.end_offset)
        except READ_ERRORS:  # gone meanwhile: a later run reads it again
            head = tail = None
    return FileState(
        path=src.path,
        size=src.size,
        mtime_ns=src.mtime_ns,
        check=src.check,
        reader=reader,
        version=version,
        head_hash=head,
        tail_hash=tail,
        offset=tally.end_offset,
        pending_offset=tally.pending_offset,
        settled=settled,
        thread_ids=thread_ids,
        records=tally.records,
        dispositions=_counts(tally.dispositions),
        codes=_counts(tally.codes),
        titles=titles,
        resume=resume,
        ignored=ignored,
        choices=choices,
    )


def _counts(figures: dict[str, int]) -> tuple[Count, ...]:
    return tuple(count_of(name, count) for name, count in sorted(figures.items()))


@lru_cache(FIGURES)
def count_of(name: str, count: int) -> Count:
    """A figure of a disposition or code: small ones are told of nearly every file."""
    return Count(name=name, count=count)
