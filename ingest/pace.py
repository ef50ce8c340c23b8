"""How far a run has come, told to whoever watches, and whether it is to end early."""

import io
from collections.abc import Callable
from dataclasses import dataclass
from typing import BinaryIO, Final, cast

_CHUNK: Final = 2**20


class Stopped(Exception):
    """The run is to end."""


@dataclass(slots=True)
class Step:
    """How far a run has come; bytes are those of the carriers, packed as they are."""

    file: str = ""
    """What is read or stored at the moment, as reports show it."""
    done: int = 0
    total: int | None = None
    """``None``: standing input, of which nobody knows the size."""
    threads: int = 0
    """New or changed so far."""
    turns: int = 0


def _unseen(_step: Step) -> None:
    """Progress that nobody watches."""


def _never() -> int:
    """Nobody is there to end it."""
    return 0


class Pace:
    """Progress of one run.

    ``tell`` gets every step, far more than a terminal should show. ``stops`` counts how often
    the owner asked for an end: once while files are read ends the reading, and what was read
    whole is still given; once more, or once later, ends the run after the thread in hand.
    """

    def __init__(
        self, tell: Callable[[Step], None] = _unseen, stops: Callable[[], int] = _never
    ) -> None:
        self.step = Step()
        self._tell = tell
        self._stops = stops
        self._heard = 0

    @property
    def interrupted(self) -> bool:
        """Whether the owner asked for an end."""
        return self._heard > 0

    def begin(self, total: int | None) -> None:
        """So many bytes are to be read."""
        self.step.total = total

    def stopping(self) -> bool:
        """Whether an end was asked for since this was last answered with yes."""
        count = self._stops()
        stop, self._heard = count > self._heard, max(count, self._heard)
        return stop

    def opened(self, name: str, opener: Callable[[], BinaryIO]) -> BinaryIO:
        """Open a carrier such that what is read of it counts.

        Reading on raises ``Stopped`` once an end was asked for.
        """
        self.step.file = name
        return cast("BinaryIO", _Metered(opener(), self, self.step.done))

    def reached(self, done: int) -> None:
        """So many bytes have been read. Raises ``Stopped``."""
        self.step.done = done
        self._tell(self.step)
        if self.stopping():
            raise Stopped

    def passed(self, done: int) -> None:
        """A carrier is done with, read or left closed."""
        self.step.done = done
        self._tell(self.step)

    def stored(self, name: str, turns: int) -> None:
        """A thread was given."""
        self.step.file = name
        self.step.threads += 1
        self.step.turns += turns
        self._tell(self.step)


class _Metered(io.BufferedIOBase):
    """A carrier that tells how much of it was read."""

    def __init__(self, stream: BinaryIO, pace: Pace, start: int) -> None:
        self._stream = stream
        self._pace = pace
        self._start = start
        self._count = 0

    def read(self, size: int | None = -1, /) -> bytes:
        if size is None or size < 0:
            return b"".join(iter(lambda: self.read(_CHUNK), b""))
        piece = self._stream.read(size)
        self._count += len(piece)
        self._pace.reached(self._start + self._count)
        return piece

    def seek(self, offset: int, whence: int = 0, /) -> int:
        return self._stream.seek(offset, whence)

    def readable(self) -> bool:
        return True

    def close(self) -> None:
        if not self.closed:
            self._stream.close()
        super().close()
