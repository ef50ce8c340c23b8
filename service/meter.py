"""Progress of a run of ingest as one line, ten times a second at most."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Final

from ingest.pace import Step

EVERY: Final = timedelta(seconds=0.1)
_MEGA: Final = 1e6


class Meter:
    """Shows the steps of a run: bytes, speed, threads, turns, the file in hand."""

    def __init__(self, show: Callable[[str], None], now: Callable[[], datetime]) -> None:
        self._show = show
        self._now = now
        self._begun = now()
        self._shown: datetime | None = None

    def tell(self, step: Step) -> None:
        """Show a step, unless one was shown just now."""
        at = self._now()
        if self._shown is not None and at - self._shown < EVERY:
            return
        self._shown = at
        self._show(line(step, (at - self._begun).total_seconds()))


def line(step: Step, seconds: float) -> str:
    """How far a run has come after some seconds."""
    done = f"{step.done / _MEGA:.1f}"
    total = "" if step.total is None else f"/{step.total / _MEGA:.1f}"
    speed = f"{step.done / _MEGA / seconds:.1f} MB/s  " if seconds > 0 else ""
    counts = f"{step.threads} threads  {step.turns} turns"
    return f"{done}{total} MB  {speed}{counts}  {step.file}"
