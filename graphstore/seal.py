"""The seal of a graph: what its file and its log were when they were last left.

Engines check few pages of their own and may end the process over a damaged one, so files that
are not as they were left never reach them. Of the database file, size and time of change decide;
where they differ, as in a copied folder, the content does. The log may have grown since: a
process that was killed wrote on; but what was there before must still be there.
"""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from graphstore.ids import digest_stream
from graphstore.model.base import Value

CHUNK: Final = 2**20


class Seal(Value):
    """What the files were."""

    size: int
    mtime_ns: int
    digest: str
    log_size: int
    log_digest: str


def place(path: Path) -> Path:
    """Where the seal of a database lies; it belongs to the set of its files."""
    return path.with_name(path.name + ".seal")


def _log(path: Path) -> Path:
    return path.with_name(path.name + ".wal")


def _digest(file: Path, size: int) -> str:
    """Of the first ``size`` bytes of a file."""
    return digest_stream(_chunks(file, size))[0]


def _chunks(file: Path, size: int) -> Iterator[bytes]:
    if size:
        with file.open("rb") as source:
            while size and (chunk := source.read(min(CHUNK, size))):
                size -= len(chunk)
                yield chunk


def _read(path: Path) -> Seal | None:
    """The seal, or None without one; raises ValueError for one that is not readable."""
    try:
        return Seal.from_json(place(path).read_bytes())
    except FileNotFoundError:
        return None


def _same(path: Path, seal: Seal | None) -> bool:
    found = path.stat()
    return seal is not None and (found.st_size, found.st_mtime_ns) == (seal.size, seal.mtime_ns)


def put(path: Path, known: Seal | None = None) -> None:
    """Seal a database and its log as they are now; ``known`` spares reading the database."""
    found = path.stat()
    log_size = _log(path).stat().st_size if _log(path).exists() else 0
    seal = Seal(
        size=found.st_size,
        mtime_ns=found.st_mtime_ns,
        digest=known.digest if known is not None else _digest(path, found.st_size),
        log_size=log_size,
        log_digest=_digest(_log(path), log_size),
    )
    if seal == known:
        return
    partial = place(path).with_suffix(".new")
    partial.touch(mode=0o600)
    partial.write_text(seal.model_dump_json())
    with partial.open("rb") as written:
        os.fsync(written.fileno())
    partial.replace(place(path))


def renew(path: Path) -> None:
    """Seal what is left at closing: mostly only the log has grown."""
    seal = _read(path)
    put(path, seal if _same(path, seal) else None)


def broken(path: Path) -> str | None:
    """What is not as the seal says; files without a seal are taken as they are."""
    try:
        seal = _read(path)
    except ValueError:
        return "its seal is not readable"
    if seal is None:
        return None
    log = _log(path)
    log_size = log.stat().st_size if log.exists() else 0
    if log_size < seal.log_size or _digest(log, seal.log_size) != seal.log_digest:
        return "its log is not as it was left"
    if _same(path, seal):
        return None
    if path.stat().st_size != seal.size or _digest(path, seal.size) != seal.digest:
        return "its file is not as it was left"
    put(path, seal)
    return None
