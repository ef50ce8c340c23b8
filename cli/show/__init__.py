"""One renderer per result: tables and texts for people, ``--json`` for programs.

Each file shows what the commands of the file of its name return; ``files`` is that of ``out``,
``evaluating`` one command of ``judging``. Types of results are imported for the type checker only,
so that a command loads no more than it needs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from cli import paint
from cli.call import clear_progress

if TYPE_CHECKING:
    from graphstore.model.record import Count

MARK: Final = "Hypothesis, not source"
LABEL: Final = " " * 12
EVIDENCE: Final = " " * 13
PLACES: Final = 3
"""References shown of a list."""


def emit(found: Any, *, as_json: bool) -> bool:  # noqa: ANN401 - a Value or a tuple of Values
    """Clear the progress line; print JSON if asked for, and say whether that was all."""
    clear_progress()
    if as_json:
        paint.as_json(found)
    return as_json


def spaced(name: str) -> str:
    """A name as words: ``review_due`` is ``review due``."""
    return name.replace("_", " ")


def named(counts: tuple[Count, ...]) -> str:
    """``3 island, 2 cycle``."""
    return ", ".join(f"{each.count} {spaced(each.name)}" for each in counts) or "none"
