"""Dream cycles by the clock, in a process that stays: it looks at the gate now and then."""

from contextlib import suppress
from datetime import datetime, timedelta

from dream.cycle import Ask, Landed
from dream.gate import Caller
from graphstore.errors import StoreLocked
from service import dreaming
from service.session import Session
from topology.model import Limits


class Timer:
    """Looks at the gate every ``dream.check_interval_seconds``; never without a schedule."""

    def __init__(self, session: Session, limits: Limits) -> None:
        self._session = session
        self._limits = limits
        self._next: datetime | None = None

    def look(self) -> None:
        """Dream if it is time to look and the gate is open; a busy store waits for the next look.

        The files that this process follows are read before, so it counts as nobody's conversation.
        """
        settings, now = self._session.settings.dream, self._session.now()
        wait = settings.check_interval_seconds
        if not wait or settings.schedule == "off" or (self._next is not None and now < self._next):
            return
        self._next = now + timedelta(seconds=wait)
        ask = Ask(caller=Caller(trigger="timer"))
        with suppress(StoreLocked):
            result = dreaming.dreamt(self._session, ask, self._limits).result
            if isinstance(result, Landed):
                self._session.progress(f"dreamt: {len(result.record.hypotheses)} new")
