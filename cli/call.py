"""How a command reaches an operation: global options in, one call, the result out."""

import sys
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Options:
    """What stands before the command."""

    flags: dict[str, str] = field(default_factory=dict)
    """Settings given as flags, by dotted key."""
    debug: bool = False


OPTIONS: ContextVar[Options] = ContextVar("OPTIONS", default=Options())  # noqa: B039 - frozen


def run(operation: str, **arguments: Any) -> Any:  # noqa: ANN401 - each command knows its result
    """Run one operation of ``service/operations`` and return its value.

    ``quiet=True`` is no argument of it: no progress is shown.
    """
    from pathlib import Path

    from service import dispatch

    quiet = arguments.pop("quiet", False)
    return dispatch.run(
        operation,
        flags=OPTIONS.get().flags,
        folder=Path.cwd(),
        progress=progress if sys.stderr.isatty() and not quiet else None,
        attended=True,
        **arguments,
    )


def progress(line: str) -> None:
    """Show one line that the next one overwrites."""
    sys.stderr.write(f"\r\033[K{line[:110]}")
    sys.stderr.flush()


def clear_progress() -> None:
    """Wipe the progress line before anything is printed."""
    if sys.stderr.isatty():
        sys.stderr.write("\r\033[K")
        sys.stderr.flush()
