"""Members of zips as sources: read in place, within bounds, opened once for all."""

import io
import re
import stat
import zipfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, BinaryIO, Final, cast

from ingest.model import READ_ERRORS, ReadFailure, Source, legible
from ingest.together import exports, is_list, trees
from ingest.walk import SKIPPED, VAULT, Found, IngestError, is_side

MEMBERS: Final = 20_000
ZIP_TOTAL: Final = 20 * 2**30
"""Bytes unpacked from one zip."""
MEMBER_TOTAL: Final = 8 * 2**30
RATIO: Final = 200
RATIO_FROM: Final = 64 * 2**20
"""Bytes of a member from which its ratio is looked at."""
_DRIVE: Final = re.compile(r"[A-Za-z]:")
_CHUNK: Final = 2**20


class ZipBomb(IngestError):
    """The archive unpacks to more than it may."""

    hint = "unpack it by hand if you trust it, and ingest the folder"


def members(
    archive: Source, found: Found, skip: frozenset[str] = SKIPPED
) -> Iterator[Source | ReadFailure]:
    """Sources of the members of a zip, by name; read in place, never extracted.

    Folders with the names ``skip`` are left out, as a walk leaves them out. Members that are
    one source only together come as one, where the first of them stands.
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
            yield from _members(opened, _wanted(infos, found, skip), found)


def _wanted(
    infos: dict[str, zipfile.ZipInfo], found: Found, skip: frozenset[str]
) -> dict[str, zipfile.ZipInfo]:
    """Members that lie in no folder left out by name; the zipped folder itself never is."""
    tops = {name.partition("/")[0] for name in infos}
    left_out: dict[str, None] = {}
    wanted: dict[str, zipfile.ZipInfo] = {}
    for name, info in infos.items():
        parts = name.split("/")[:-1]
        start = 1 if len(tops) == 1 else 0
        at = next((at for at in range(start, len(parts)) if parts[at] in skip), None)
        if at is None or _unsafe(info):
            wanted[name] = info
        else:
            left_out.setdefault("/".join(parts[: at + 1]))
    if left_out:
        found.ignore("skipped_folder", len(left_out))
    return wanted


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
    if safe and is_side(Path(info.filename)):
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
