"""Ctrl-C while conversations are taken in: first a wish to end well, at last an order."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Final

from service.session import Session

PATIENCE: Final = 2
"""Presses that are wishes; the next one breaks off at once."""


class Interrupts:
    """Presses of Ctrl-C: counted while somebody asks for the count, else raised as ever."""

    def __init__(self) -> None:
        self._count = 0
        self._heard = False

    def read(self) -> int:
        """Presses so far."""
        return self._count

    @contextmanager
    def heard(self) -> Iterator[None]:
        """Somebody reads the count now and then, and will end."""
        before, self._heard = self._heard, True
        try:
            yield
        finally:
            self._heard = before

    def press(self, _signal: int, _frame: FrameType | None) -> None:
        """Take note of a press, or raise KeyboardInterrupt."""
        self._count += 1
        if not self._heard or self._count > PATIENCE:
            raise KeyboardInterrupt


@contextmanager
def interrupts(session: Session) -> Iterator[Interrupts]:
    """Presses of Ctrl-C while this lasts; none where nobody sits before the session."""
    wishes = Interrupts()
    if not session.attended:
        yield wishes
        return
    before = signal.signal(signal.SIGINT, wishes.press)
    try:
        yield wishes
    finally:
        signal.signal(signal.SIGINT, before)
