"""What ingest remembers of a file it has read, so that it reads only what is new."""

from graphstore.model.base import Value


class SourceFile(Value):
    """State of one carrier; lost or absent means: read it again, with the same result."""

    path: str
    """Absolute; ``archive.zip!member`` for a zip member."""
    size: int
    mtime_ns: int
    reader: str
    """Name and version."""
    head_hash: str | None = None
    """Of the first 64 KiB."""
    tail_hash: str | None = None
    """Of the 64 KiB before ``offset``."""
    offset: int = 0
    """End of the last complete record."""
    thread_ids: tuple[str, ...] = ()
    tally: str = "{}"
    """JSON object of counts by code."""
    pending: str = "{}"
    """JSON object: titles and links that wait for their thread."""
