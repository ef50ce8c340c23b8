"""The seal of a database file: what it was when the engine last wrote it.

Engines check no page of their own and may end the process over a damaged one, so a file that
is not as it was left never reaches them. Size and time of change decide; where they differ, as
in a copied folder, the content does.
"""

import os
from pathlib import Path

from graphstore.ids import digest_stream
from graphstore.model.base import Value

CHUNK = 2**20


class Seal(Value):
    """What a file was."""

    size: int
    mtime_ns: int
    digest: str


def place(path: Path) -> Path:
    """Where the seal of a database lies; it belongs to the set of its files."""
    return path.with_name(path.name + ".seal")


def _now(path: Path) -> Seal:
    with path.open("rb") as source:
        digest, _ = digest_stream(iter(lambda: source.read(CHUNK), b""))
    found = path.stat()
    return Seal(size=found.st_size, mtime_ns=found.st_mtime_ns, digest=digest)


def put(path: Path) -> None:
    """Seal a file that the engine has just written."""
    partial = place(path).with_suffix(".new")
    partial.touch(mode=0o600)
    partial.write_text(_now(path).model_dump_json())
    with partial.open("rb") as written:
        os.fsync(written.fileno())
    partial.replace(place(path))


def broken(path: Path) -> bool:
    """Whether a file is not what its seal says; a file without a seal is taken as it is."""
    try:
        seal = Seal.from_json(place(path).read_bytes())
    except FileNotFoundError:
        return False
    except ValueError:
        return True  # nothing can be said about the file then
    found = path.stat()
    if (found.st_size, found.st_mtime_ns) == (seal.size, seal.mtime_ns):
        return False
    fresh = _now(path)
    if fresh.digest != seal.digest:
        return True
    put(path)
    return False
