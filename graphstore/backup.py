"""A workspace as one file, and a new workspace from it; the graph is left out, it is remade."""

import errno
import os
import shutil
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import datetime
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import IO, Final

from pydantic import ValidationError

from graphstore.errors import DiskFull, Error, LedgerDamaged, StoreDamaged, StoreError
from graphstore.folder import private
from graphstore.ids import canonical, digest_stream
from graphstore.ledger import Ledger, copy_file
from graphstore.model.backup import BackupFile, Manifest
from graphstore.model.record import Count

LEDGER: Final = "ledger.db"
SINGLE: Final = ("mask.salt", "PLAYBOOK.md", "MEMORY.md")
NOTES: Final = "notes"
MANIFEST: Final = "manifest.json"
MANIFEST_LIMIT: Final = 64 * 2**20
"""Bytes; a longer manifest is none of ours."""
FORMAT: Final = 1
CHUNK: Final = 2**20
_UNREADABLE: Final = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError)
"""What reading a damaged or locked archive may raise."""


class BackupTaken(StoreError):
    """There is something at {path} already."""

    hint = "choose another file, or overwrite it with --force"

    def __init__(self, path: str) -> None:
        Error.__init__(self, path)
        self.path = path


class BackupInvalid(StoreError):
    """The file {path} is no sound backup: {reason}."""

    hint = "nothing was restored; try an earlier backup"

    def __init__(self, path: str, reason: str) -> None:
        Error.__init__(self, path, reason)
        self.path = path
        self.reason = reason


class WorkspaceTaken(StoreError):
    """There is a workspace at {path} already."""

    hint = "restore under another name: clew --workspace NAME restore FILE"

    def __init__(self, path: str) -> None:
        Error.__init__(self, path)
        self.path = path


# making one


def back_up(workspace: Path, target: Path, at: datetime, version: str, *, force: bool) -> Manifest:
    """Write a workspace into one file, while other processes read and write it.

    The ledger is copied as it stands at one moment. The file appears whole or not at all, and
    only its owner can read it.

    Raises BackupTaken unless ``force``, LedgerDamaged, DiskFull.
    """
    if target.exists() and not force:
        raise BackupTaken(str(target))
    private(target.parent)
    with _enough_space(target.parent), _beside(target) as folder:
        copy_file(workspace / LEDGER, folder / LEDGER)
        records, threads, head = _figures(folder / LEDGER)
        members = ((LEDGER, folder / LEDGER), *_others(workspace))
        packed = folder / "packed"
        packed.touch(mode=0o600)
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
            files = tuple(_pack(archive, name, file) for name, file in members)
            manifest = Manifest(
                format=FORMAT,
                clew=version,
                at=at,
                records=records,
                threads=threads,
                head=head,
                files=files,
            )
            archive.writestr(MANIFEST, canonical(manifest.model_dump(mode="json")))
        with packed.open("rb") as written:
            os.fsync(written.fileno())
        packed.replace(target)
    return manifest


def _others(workspace: Path) -> Iterator[tuple[str, Path]]:
    """What a workspace holds beside the ledger that no one can make again."""
    for name in SINGLE:
        if (workspace / name).is_file():
            yield name, workspace / name
    for file in sorted((workspace / NOTES).rglob("*")):
        if file.is_file() and not file.is_symlink():
            yield file.relative_to(workspace).as_posix(), file


def _pack(archive: zipfile.ZipFile, name: str, file: Path) -> BackupFile:
    with file.open("rb") as source, archive.open(name, "w", force_zip64=True) as member:
        digest, size = digest_stream(_copied(source, member))
    return BackupFile(name=name, size=size, digest=digest)


def _copied(source: IO[bytes], target: IO[bytes]) -> Iterator[bytes]:
    """The chunks of one stream, each written to the other first."""
    while chunk := source.read(CHUNK):
        target.write(chunk)
        yield chunk


def _figures(file: Path) -> tuple[tuple[Count, ...], int, str]:
    """Records by kind, threads, and the end of the chain of a closed ledger file.

    Raises LedgerDamaged when its chain does not hold.
    """
    with closing(Ledger(file)) as ledger:
        for broken in ledger.verify():
            raise LedgerDamaged(broken.seq, broken.reason)
        kinds = ledger.select("SELECT kind, count(*) FROM record GROUP BY kind ORDER BY kind")
        threads = ledger.select("SELECT count(DISTINCT subject) FROM record WHERE kind = 'thread'")
        head = ledger.checksum_at(ledger.last_seq()).hex()
    return tuple(Count(name=kind, count=count) for kind, count in kinds), threads[0][0], head


# taking one back


def restore(file: Path, workspace: Path) -> Manifest:
    """Unpack a backup into a new workspace, once every hash and the chain of records hold.

    Raises WorkspaceTaken when something is there, BackupInvalid, DiskFull.
    """
    if workspace.exists() and (not workspace.is_dir() or any(workspace.iterdir())):
        raise WorkspaceTaken(str(workspace))
    private(workspace.parent)
    with _enough_space(workspace.parent), _beside(workspace) as folder:
        manifest = _unpack(file, folder / "new")
        _check_ledger(file, folder / "new", manifest)
        try:
            (folder / "new").replace(workspace)
        except OSError as cause:
            if workspace.exists():  # made meanwhile by somebody else
                raise WorkspaceTaken(str(workspace)) from cause
            raise
    return manifest


def _unpack(file: Path, folder: Path) -> Manifest:
    try:
        with zipfile.ZipFile(file) as archive:
            manifest = _manifest_of(file, archive)
            needed = sum(member.size for member in manifest.files)
            free = shutil.disk_usage(folder.parent).free
            if needed > free:
                raise DiskFull(str(folder.parent), needed, free)
            for member in manifest.files:
                _unpack_one(file, archive, member, folder / member.name)
    except _UNREADABLE as cause:
        raise BackupInvalid(str(file), "it is no archive, or a damaged one") from cause
    return manifest


def _manifest_of(file: Path, archive: zipfile.ZipFile) -> Manifest:
    names = archive.namelist()
    if MANIFEST not in names or archive.getinfo(MANIFEST).file_size > MANIFEST_LIMIT:
        raise BackupInvalid(str(file), "it has no list of its contents")
    try:
        manifest = Manifest.from_json(archive.read(MANIFEST))
    except ValidationError as cause:
        raise BackupInvalid(str(file), "the list of its contents is not readable") from cause
    if manifest.format > FORMAT:
        raise BackupInvalid(str(file), "a newer clew wrote it")
    listed = [member.name for member in manifest.files]
    if sorted([*listed, MANIFEST]) != sorted(names) or LEDGER not in listed:
        raise BackupInvalid(str(file), "it does not hold what it lists")
    for name in listed:
        if not _is_ours(name):
            raise BackupInvalid(str(file), "a name in it belongs to no workspace")
    return manifest


def _is_ours(name: str) -> bool:
    if name in (LEDGER, *SINGLE):
        return True
    path = PurePosixPath(name)
    plain = path.as_posix() == name and not {"..", "."} & set(path.parts)
    return plain and path.parts[0] == NOTES and len(path.parts) > 1 and not set("\\:") & set(name)


def _unpack_one(file: Path, archive: zipfile.ZipFile, member: BackupFile, target: Path) -> None:
    private(target.parent)
    target.touch(mode=0o600)
    if archive.getinfo(member.name).file_size != member.size:
        raise BackupInvalid(str(file), f"{member.name} has another size than listed")
    with archive.open(member.name) as source, target.open("wb") as out:
        digest, _ = digest_stream(_copied(source, out))
        out.flush()
        os.fsync(out.fileno())
    if digest != member.digest:
        raise BackupInvalid(str(file), f"{member.name} is not what was put in")


def _check_ledger(file: Path, folder: Path, manifest: Manifest) -> None:
    try:
        foreign, found = _foreign(folder / LEDGER), _figures(folder / LEDGER)
    except (LedgerDamaged, StoreDamaged) as cause:
        raise BackupInvalid(str(file), "its ledger does not hold") from cause
    if foreign:
        raise BackupInvalid(str(file), "its ledger holds triggers or views")
    if found != (manifest.records, manifest.threads, manifest.head):
        raise BackupInvalid(str(file), "its ledger is not the one listed")


def _foreign(ledger: Path) -> bool:
    """Whether a trigger or a view would act on what is written later; clew makes none."""
    with closing(Ledger(ledger)) as opened:
        asked = "SELECT count(*) FROM sqlite_master WHERE type IN ('trigger', 'view')"
        return bool(opened.select(asked)[0][0])


@contextmanager
def _beside(target: Path) -> Iterator[Path]:
    """A folder next to a target, for its owner alone, gone afterwards."""
    prefix = f".{target.name}."
    with TemporaryDirectory(prefix=prefix, dir=target.parent, ignore_cleanup_errors=True) as made:
        yield Path(made)


@contextmanager
def _enough_space(folder: Path) -> Iterator[None]:
    """A disk that runs full, told as such."""
    try:
        yield
    except OSError as cause:
        if cause.errno not in (errno.ENOSPC, errno.EFBIG, errno.EDQUOT):
            raise
        raise DiskFull.at(folder) from cause
