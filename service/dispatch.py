"""Run an operation by name; later also in the process that owns the store."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from service import operations, settings
from service.session import Session, silent
from service.settings import Leaf


def run(
    operation: str,
    *,
    flags: Mapping[str, Leaf],
    folder: Path,
    progress: Callable[[str], None] | None = None,
    attended: bool = False,
    **arguments: Any,  # noqa: ANN401 - the operation's own
) -> Any:  # noqa: ANN401 - the operation's own
    """Load the settings, make a session, call ``service.operations.<operation>``."""
    session = Session(
        loaded=settings.load(flags, folder),
        folder=folder,
        progress=progress or silent,
        attended=attended,
    )
    return getattr(operations, operation)(session, **arguments)
