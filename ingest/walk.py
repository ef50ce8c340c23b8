"""Paths to sources: files, folders, zips in place; all within bounds."""

import io
import os
import stat
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, Final, Literal, TypeAlias, cast

from graphstore.errors import Error
from ingest.model import ReadFailure, Source, legible
from ingest.together import TREE, files_of, is_list

DEPTH: Final = 32
FILES: Final = 200_000
_SKIPPED: Final = """
.git .hg .svn node_modules .venv venv __pycache__ target dist build .cache vendor Library
"""
SKIPPED: Final = frozenset(_SKIPPED.split())
"""Folders left out by name."""
SIDE_NAMES: Final = frozenset({
    "export_manifest.json",
    "conversations.json.index",
    "chat.html",
    "user.json",
    "users.json",
    "projects.json",
    "memories.json",
    "channels.json",
})  # fmt: skip
"""Files beside conversations that are never conversations."""

VAULT: Final = ".obsidian"
"""Folder by which a vault of notes is known."""
MARKDOWN: Final = frozenset({".md", ".markdown", ".mdown"})
_TOGETHER: Final = {"storage": TREE}
"""Names of folders that are one source, and the folders in them by which they are known."""
_BESIDE: Final = ("-wal", "-shm", "-journal")
_Kind: TypeAlias = Literal["folder", "file", "symlink", "special_file"]
"""What lies at a path; the last two are never opened, and counted by these names."""

SPOOL: Final = 64 * 2**20
"""Bytes of standing input kept in memory."""
_CHUNK: Final = 2**20


class IngestError(Error):
    """Ingest failed."""


class SourceNotFound(IngestError):
    """There is no file or folder at {path}."""

    hint = "check the path"

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self.path = path


@dataclass(slots=True)
class Found:
    """What a walk met and did not give: reasons with counts, and side files."""

    ignored: dict[str, int] = field(default_factory=dict)
    side_files: int = 0

    vaults: dict[Path, bool] = field(default_factory=dict)
    """Folders looked at, and whether they lie in a vault of notes."""

    def ignore(self, reason: str, count: int = 1) -> None:
        self.ignored[reason] = self.ignored.get(reason, 0) + count

    def in_vault(self, file: Path) -> bool:
        """Whether a Markdown file lies in a vault: a folder above it holds ``.obsidian``."""
        if file.suffix.lower() not in MARKDOWN:
            return False
        asked: list[Path] = []
        for folder in file.absolute().parents:
            if folder not in self.vaults:
                asked.append(folder)
                if not (folder / VAULT).is_dir():
                    continue
                self.vaults[folder] = True
            self.vaults.update(dict.fromkeys(asked, self.vaults[folder]))
            return self.vaults[folder]
        self.vaults.update(dict.fromkeys(asked, False))
        return False


def find(
    paths: tuple[str, ...], found: Found, skip: frozenset[str] = SKIPPED
) -> Iterator[Source | ReadFailure]:
    """Sources below the given paths, sorted within each; ``-`` is standing input.

    What is reached by several of the paths is given once, the first time. Raises
    ``SourceNotFound`` before anything is read if a path does not exist.
    """
    for path in paths:
        if path != "-" and not os.path.lexists(path):
            raise SourceNotFound(legible(path))
    met: set[str] = set()
    for path in dict.fromkeys(paths):
        for one in _below(path, found, skip):
            where = one.path if isinstance(one, Source) else one.where
            if where not in met:
                met.add(where)
                yield one


def _below(path: str, found: Found, skip: frozenset[str]) -> Iterator[Source | ReadFailure]:
    if path == "-":
        yield from standing_input()
    elif (place := _without_climbs(Path(path))).is_dir():
        yield from _folder(place, found, skip)
    else:
        yield from _named(place, found)


def _without_climbs(path: Path) -> Path:
    """A path without ``..``, so that one file has one path whatever folder one stands in."""
    return path.resolve() if ".." in path.parts else path


def _named(file: Path, found: Found) -> Iterator[Source | ReadFailure]:
    if is_side(file):
        found.side_files += 1
    elif not _is_regular(file):
        yield ReadFailure(legible(str(file)), "unreadable_file", "not a regular file")
    else:
        yield from _source(file, file.name, str(file.absolute().parent), explicit=True)


def _folder(root: Path, found: Found, skip: frozenset[str]) -> Iterator[Source | ReadFailure]:
    place = root.absolute()
    for taken, one in enumerate(_walk(root, found, skip)):
        if isinstance(one, ReadFailure):
            yield one
            continue
        if taken >= FILES:
            found.ignore("too_many_files")
            return
        path, kind = one
        name = "/".join((place.name, *path.parts[len(root.parts) :]))
        yield from _source(path, name, str(place), found, kind=kind, explicit=False)


def _walk(
    root: Path, found: Found, skip: frozenset[str]
) -> Iterator[tuple[Path, _Kind] | ReadFailure]:
    """Regular files in the order of their paths; iterative, links not followed.

    A folder that is one source is given as a whole; one that cannot be listed is a failure.
    """
    pending: list[tuple[Path, _Kind, int]] = [(root, "folder", 0)]
    while pending:
        path, kind, depth = pending.pop()
        if kind == "folder":
            if depth > DEPTH:
                found.ignore("too_deep")
            elif _is_one_source(path):
                yield path, kind
            elif depth and path.name in skip:
                found.ignore("skipped_folder")
            else:
                entries = _entries(path)
                if isinstance(entries, ReadFailure):
                    yield entries
                    continue
                pending.extend((one, what, depth + 1) for one, what in reversed(entries))
        elif kind != "file":
            found.ignore(kind)
        elif is_side(path):
            found.side_files += 1
        else:
            yield path, kind


def _is_one_source(folder: Path) -> bool:
    """Whether the files of a folder only make sense together."""
    inner = _TOGETHER.get(folder.name)
    if inner is not None and all((folder / name).is_dir() for name in inner):
        return True
    return bool(files_of(folder))


def _entries(folder: Path) -> list[tuple[Path, _Kind]] | ReadFailure:
    """What a folder holds, sorted; to list it tells what everything is, without a look at it."""
    try:
        with os.scandir(folder) as listed:
            entries = sorted(listed, key=lambda one: os.path.normcase(one.name))
            return [(folder / one.name, _kind(one)) for one in entries]
    except OSError as cause:
        return ReadFailure(legible(str(folder)), "unreadable_file", type(cause).__name__)


def _kind(entry: "os.DirEntry[str]") -> _Kind:
    if entry.is_symlink():
        return "symlink"
    if entry.is_dir(follow_symlinks=False):
        return "folder"
    return "file" if entry.is_file(follow_symlinks=False) else "special_file"


def _source(
    file: Path,
    name: str,
    root: str,
    found: Found | None = None,
    *,
    kind: _Kind = "file",
    explicit: bool,
) -> Iterator[Source | ReadFailure]:
    try:
        if kind == "folder":
            yield _together(file, name, root, found or Found())
        else:
            src = Source.of_file(file, name=name, root=root, explicit=explicit)
            src.as_note = explicit or (found is not None and found.in_vault(file))
            yield src
    except OSError as cause:
        yield ReadFailure(legible(str(file)), "unreadable_file", type(cause).__name__)


def _together(folder: Path, name: str, root: str, found: Found) -> Source:
    """Source of a folder that is one carrier."""
    files = files_of(folder)
    if not files:
        return Source.of_folder(folder, name=name, root=root)
    found.side_files += sum(map(is_list, files))
    inside = tuple(
        (one, Source.of_file(folder / one, name=f"{name}/{one}", root=root)) for one in files
    )
    return Source.of_files(inside, str(folder.absolute()), name, root)


def _is_regular(file: Path) -> bool:
    try:
        return stat.S_ISREG(file.stat().st_mode)
    except OSError:
        return False


def is_side(file: Path) -> bool:
    name = file.name
    workflow = name == "journal.jsonl" and "workflows" in file.parts
    return name in SIDE_NAMES or name.endswith(".meta.json") or workflow or _is_beside(file)


def _is_beside(file: Path) -> bool:
    """A log, an index of one or a journal, beside its database."""
    base = next((end for end in _BESIDE if file.name.endswith(end)), None)
    return base is not None and file.with_name(file.name.removesuffix(base)).is_file()


def standing_input() -> Iterator[Source]:
    """Standard input as one source, in memory or in a private temporary file.

    It can be read until the next source is asked for.
    """
    import sys

    with tempfile.SpooledTemporaryFile(max_size=SPOOL) as spool:
        while chunk := sys.stdin.buffer.read(_CHUNK):
            spool.write(chunk)
        size = spool.tell()

        def opener() -> BinaryIO:
            spool.seek(0)
            return cast("BinaryIO", _Kept(spool))

        yield Source("-", "-", size, 0, opener, explicit=True)


class _Kept(io.BufferedIOBase):
    """A spool that survives the closing of its readers."""

    def __init__(self, spool: "tempfile.SpooledTemporaryFile[bytes]") -> None:
        self._spool = spool

    def read(self, size: int | None = -1, /) -> bytes:
        return self._spool.read(-1 if size is None else size)

    def readline(self, size: int | None = -1, /) -> bytes:
        return self._spool.readline(-1 if size is None else size)

    def seek(self, offset: int, whence: int = 0, /) -> int:
        return self._spool.seek(offset, whence)

    def tell(self) -> int:
        return self._spool.tell()

    def seekable(self) -> bool:
        return True

    def readable(self) -> bool:
        return True
