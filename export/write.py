"""Write a view to a file: choose the format, write beside the target, rename."""

import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import BinaryIO, Final

from export.view import ExportView
from graphstore.errors import Error, UnknownFormat
from graphstore.model.base import Value
from graphstore.plugins import load, names

PACKAGE: Final = "export.formats"
GROUP: Final = "clew.formats"
REQUIRED: Final = ("NAME", "SUFFIX", "write")


class ExportError(Error):
    """The export failed."""


class TargetExists(ExportError):
    """There is something at {path} already."""

    hint = "choose another file with -o, or overwrite it with --force"

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self.path = path


class Written(Value):
    """A file that an export made."""

    format: str
    path: str
    size: int
    """Bytes."""
    nodes: int
    edges: int
    hypotheses: int


def format_names() -> tuple[str, ...]:
    """Names of all export formats, sorted."""
    return names(PACKAGE)


def writer(name: str) -> ModuleType:
    """The module of one format. Raises ``UnknownFormat``."""
    module = load(PACKAGE, name, GROUP, REQUIRED)
    if module is None:
        raise UnknownFormat(name, ", ".join(format_names()))
    return module


def draws(name: str) -> bool:
    """Whether a format shows the places of a view, so that a layout is worth its time."""
    return bool(getattr(writer(name), "PLACED", False))


def export(
    view: ExportView,
    format: str,  # noqa: A002 - the word users type
    path: Path,
    *,
    force: bool = False,
) -> Written:
    """Write a view to ``path`` in the format of that name.

    The file appears whole or not at all, readable by its owner only. Raises ``UnknownFormat``,
    ``TargetExists`` unless ``force``, and whatever the format itself raises.
    """
    module = writer(format)
    size = replace_file(path, lambda out: module.write(view, out), force=force)
    return Written(
        format=format,
        path=str(path),
        size=size,
        nodes=len(view.nodes),
        edges=len(view.edges),
        hypotheses=len(view.hypotheses),
    )


def replace_file(path: Path, fill: Callable[[BinaryIO], object], *, force: bool) -> int:
    """Write a file beside its target, then rename; returns its size in bytes.

    Raises ``TargetExists`` when there is something at ``path``, unless ``force``.
    """
    if path.exists() and not force:
        raise TargetExists(str(path))
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    temporary = Path(name)
    try:
        with os.fdopen(handle, "wb") as out:
            fill(out)
            out.flush()
            # rename after fsync: a crash here must leave the old file
            os.fsync(out.fileno())
        size = temporary.stat().st_size
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
    return size
