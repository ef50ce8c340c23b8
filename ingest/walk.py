"""Paths to sources: files, folders, zips in place; all within bounds."""

import io
import os
import re
import stat
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, BinaryIO, Final, cast

from graphstore.errors import Error
from ingest.model import READ_ERRORS, ReadFailure, Source, legible
from ingest.together import TREE, exports, files_of, is_list, trees

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

MEMBERS: Final = 20_000
ZIP_TOTAL: Final = 20 * 2**30
"""Bytes unpacked from one zip."""
MEMBER_TOTAL: Final = 8 * 2**30
RATIO: Final = 200
RATIO_FROM: Final = 64 * 2**20
"""Bytes of a member from which its ratio is looked at."""
SPOOL: Final = 64 * 2**20
"""Bytes of standing input kept in memory."""
_CHUNK: Final = 2**20
_DRIVE: Final = re.compile(r"[A-Za-z]:")


class IngestError(Error):
    """Ingest failed."""


class SourceNotFound(IngestError):
    """There is no file or folder at {path}."""

    hint = "check the path"

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self.path = path


class ZipBomb(IngestError):
    """The archive unpacks to more than it may."""

    hint = "unpack it by hand if you trust it, and ingest the folder"


@dataclass(slots=True)
class Found:
    """What a walk met and did not give: reasons with counts, and side files."""

    ignored: dict[str, int] = field(default_factory=dict)
    side_files: int = 0

    vaults: dict[Path, bool] = field(default_factory=dict)
    """Folders looked at, and whether they lie in a vault of notes."""

    def ignore(self, reason: str) -> None:
        self.ignored[reason] = self.ignored.get(reason, 0) + 1

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
    if _is_side(file):
        found.side_files += 1
    elif not _is_regular(file, follow=True):
        yield ReadFailure(legible(str(file)), "unreadable_file", "not a regular file")
    else:
        yield from _source(file, file.name, str(file.absolute().parent), explicit=True)


def _folder(root: Path, found: Found, skip: frozenset[str]) -> Iterator[Source | ReadFailure]:
    for taken, file in enumerate(_walk(root, found, skip)):
        if taken >= FILES:
            found.ignore("too_many_files")
            return
        base = root.absolute().name
        name = base if file == root else f"{base}/{file.relative_to(root).as_posix()}"
        yield from _source(file, name, str(root.absolute()), found, explicit=False)


def _walk(root: Path, found: Found, skip: frozenset[str]) -> Iterator[Path]:
    """Regular files in the order of their paths; iterative, links not followed.

    A folder that is one source is given as a whole.
    """
    pending = [(root, 0)]
    while pending:
        path, depth = pending.pop()
        if depth and path.is_symlink():
            found.ignore("symlink")
        elif path.is_dir():
            if depth > DEPTH:
                found.ignore("too_deep")
            elif _is_one_source(path):
                yield path
            elif not depth or path.name not in skip:
                pending.extend((one, depth + 1) for one in reversed(_entries(path, found)))
        elif not _is_regular(path, follow=False):
            found.ignore("special_file")
        elif _is_side(path):
            found.side_files += 1
        else:
            yield path


def _is_one_source(folder: Path) -> bool:
    """Whether the files of a folder only make sense together."""
    inner = _TOGETHER.get(folder.name)
    if inner is not None and all((folder / name).is_dir() for name in inner):
        return True
    return bool(files_of(folder))


def _entries(folder: Path, found: Found) -> list[Path]:
    try:
        return sorted(folder.iterdir())
    except OSError:
        found.ignore("unreadable_folder")
        return []


def _source(
    file: Path, name: str, root: str, found: Found | None = None, *, explicit: bool
) -> Iterator[Source | ReadFailure]:
    try:
        if file.is_dir():
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


def _is_regular(file: Path, *, follow: bool) -> bool:
    try:
        return stat.S_ISREG((file.stat() if follow else file.lstat()).st_mode)
    except OSError:
        return False


def _is_side(file: Path) -> bool:
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


def members(archive: Source, found: Found) -> Iterator[Source | ReadFailure]:
    """Sources of the members of a zip, by name; read in place, never extracted.

    Members that are one source only together come as one, where the first of them stands.
    """
    with ExitStack() as held:
        opened = _Archive(archive)
        try:
            listed = held.enter_context(opened.kept())
        except READ_ERRORS as cause:
            yield ReadFailure(archive.name, "unreadable_file", type(cause).__name__)
            return
        infos = {info.filename: info for info in listed if not info.is_dir()}
        if len(infos) > MEMBERS:
            yield ReadFailure(archive.name, "zip_bomb", "too many members")
        else:
            yield from _members(opened, infos, found)


def _members(
    archive: "_Archive", infos: dict[str, zipfile.ZipInfo], found: Found
) -> Iterator[Source | ReadFailure]:
    vaults = tuple(sorted({name.partition(f"{VAULT}/")[0] for name in infos if _shows_vault(name)}))
    groups = dict((*exports(infos.keys()), *trees(infos.keys())))
    grouped = {f"{prefix}{one}": prefix for prefix, files in groups.items() for one in files}
    for name in sorted(infos):
        if (prefix := grouped.get(name)) is not None:
            if prefix in groups:
                yield from _group(archive, prefix, groups.pop(prefix), infos, found)
            continue
        for one in _member(archive, infos[name], found):
            if isinstance(one, Source):
                one.as_note = name.startswith(vaults)
            yield one


def _group(
    archive: "_Archive",
    prefix: str,
    files: tuple[str, ...],
    infos: dict[str, zipfile.ZipInfo],
    found: Found,
) -> Iterator[Source | ReadFailure]:
    """Members below a folder of the archive as one source; those that cannot be read apart."""
    inside: list[tuple[str, Source]] = []
    for file in files:
        for one in _opened(archive, infos[f"{prefix}{file}"]):
            if isinstance(one, ReadFailure):
                yield one
            else:
                inside.append((file, one))
    found.side_files += sum(is_list(file) for file, _ in inside)
    place = f"!{prefix.rstrip('/')}"
    src = archive.src
    yield Source.of_files(tuple(inside), f"{src.path}{place}", f"{src.name}{place}", src.path)


def _shows_vault(name: str) -> bool:
    return name.startswith(f"{VAULT}/") or f"/{VAULT}/" in name


def _member(
    archive: "_Archive", info: zipfile.ZipInfo, found: Found
) -> Iterator[Source | ReadFailure]:
    safe = not _unsafe(info) and not info.flag_bits & 1
    if safe and _is_side(Path(info.filename)):
        found.side_files += 1
    else:
        yield from _opened(archive, info)


def _opened(archive: "_Archive", info: zipfile.ZipInfo) -> Iterator[Source | ReadFailure]:
    """A member as a source, or why it must not be read."""
    src = archive.src
    member = legible(info.filename)
    where = f"{src.name}!{member}"
    if _unsafe(info):
        yield ReadFailure(where, "unsafe_path")
    elif info.flag_bits & 1:
        yield ReadFailure(where, "unreadable_file", "encrypted")
    else:
        yield Source(
            path=f"{src.path}!{member}",
            name=where,
            size=info.file_size,
            mtime_ns=src.mtime_ns,
            opener=lambda: cast("BinaryIO", _Member(archive, info)),
            root=src.path,
            check=info.CRC,
        )


def _unsafe(info: zipfile.ZipInfo) -> bool:
    name = info.orig_filename
    mode = info.external_attr >> 16
    special = bool(stat.S_IFMT(mode)) and not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))
    climbs = name.startswith("/") or ".." in name.split("/")
    return special or climbs or "\\" in name or "\0" in name or bool(_DRIVE.match(name))


@dataclass(slots=True)
class _Budget:
    """Bytes unpacked from one archive, whatever its headers say."""

    most: dict[str, int] = field(default_factory=dict)
    total: int = 0

    def spend(self, info: zipfile.ZipInfo, so_far: int) -> None:
        """Count how far a member was read; raises ``ZipBomb`` beyond the bounds."""
        before = self.most.get(info.filename, 0)
        if so_far > before:
            self.most[info.filename] = so_far
            self.total += so_far - before
        swollen = so_far > RATIO_FROM and so_far > RATIO * max(info.compress_size, 1)
        if swollen or so_far > MEMBER_TOTAL or self.total > ZIP_TOTAL:
            raise ZipBomb


@contextmanager
def _damage_told() -> Iterator[None]:
    """Whatever unpacking a damaged member raises, each method in its own way, is one error."""
    try:
        yield
    except READ_ERRORS:
        raise
    except Exception as cause:
        raise zipfile.BadZipFile from cause


@dataclass(slots=True)
class _Archive:
    """An archive: its list of members is read once while they are gone through."""

    src: Source
    budget: _Budget = field(default_factory=_Budget)
    kept_open: zipfile.ZipFile | None = None

    @contextmanager
    def kept(self) -> Iterator[list[zipfile.ZipInfo]]:
        """Keep it open for a while, and give the list. Raises ``READ_ERRORS``."""
        with ExitStack() as held:
            with _damage_told():
                self.kept_open = self._opened(held)
                listed = self.kept_open.infolist()
            try:
                yield listed
            finally:
                self.kept_open = None

    def _opened(self, held: ExitStack) -> zipfile.ZipFile:
        return held.enter_context(zipfile.ZipFile(held.enter_context(self.src.open())))

    def member(self, info: zipfile.ZipInfo, held: ExitStack) -> IO[bytes]:
        """Open a member; what must be closed with it is put in ``held``."""
        with _damage_told():
            opened = self.kept_open or self._opened(held)
            return held.enter_context(opened.open(info))


class _Member(io.BufferedIOBase):
    """One member opened for reading, counted as it is unpacked."""

    def __init__(self, archive: _Archive, info: zipfile.ZipInfo) -> None:
        self._info = info
        self._budget = archive.budget
        self._count = 0
        self._held = ExitStack()
        try:
            self._member = archive.member(info, self._held)
        except BaseException:
            self._held.close()
            raise

    def read(self, size: int | None = -1, /) -> bytes:
        if size is None or size < 0:
            return b"".join(iter(lambda: self.read(_CHUNK), b""))
        with _damage_told():
            piece = self._member.read(size)
        return self._counted(piece)

    def readline(self, size: int | None = -1, /) -> bytes:
        with _damage_told():
            piece = self._member.readline(-1 if size is None else size)
        return self._counted(piece)

    def _counted(self, piece: bytes) -> bytes:
        self._count += len(piece)
        self._budget.spend(self._info, self._count)
        return piece

    def readable(self) -> bool:
        return True

    def close(self) -> None:
        if not self.closed:
            self._held.close()
        super().close()
