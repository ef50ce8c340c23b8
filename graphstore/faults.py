"""Write boundaries, named: a test may end the process there."""

from collections.abc import Callable
from typing import TypeAlias

Hook: TypeAlias = Callable[[str], None]
"""Called with the name of a write boundary; tests end the process there."""


def no_fault(boundary: str) -> None:
    """Go on."""
