"""Files that tools are still writing: looked at again and again, read again when they change."""

from typing import Final

from graphstore.errors import StoreLocked
from graphstore.store import Store
from ingest.derive import Derivation
from ingest.model import IngestReport, Source
from ingest.options import Options
from ingest.pace import Pace
from ingest.reports import joined
from ingest.walk import Found, SourceNotFound, find
from service import taking
from service.interrupts import Interrupts, interrupts
from service.meter import Meter
from service.session import Session
from service.timer import Timer

SLICE: Final = 0.1
"""Seconds after which a wait looks whether it is to end."""
_BILLION: Final = 1_000_000_000

Look = dict[str, tuple[int, int]]


class Follower:
    """What was seen of the files, and what was taken in of them so far."""

    def __init__(self, session: Session, paths: tuple[str, ...], options: Options) -> None:
        self.session = session
        self.paths = paths
        self.options = options
        self.reports: list[IngestReport] = []
        self._seen: Look = {}
        self._rest: float | None = None
        """When something held back comes to rest, in seconds of the epoch."""

    def turn(self, wishes: Interrupts) -> None:
        """Look once, and take in what has changed or come to rest."""
        seen = look(self.paths, self.options)
        rested = self._rest is not None and self.session.now().timestamp() >= self._rest
        if self.reports and (not seen or (seen == self._seen and not rested)):
            return
        try:
            with self.session.store("ingest", make=True) as store:
                self.reports.append(self._take(store, wishes))
                self._rest = next_rest(store, seen, self.options, self.session.now().timestamp())
        except StoreLocked:
            if not self.reports:
                raise
            return  # somebody is at work in it: there will be another turn
        self._seen = seen
        self.session.progress(f"following {len(seen)} files")

    def _take(self, store: Store, wishes: Interrupts) -> IngestReport:
        pace = Pace(Meter(self.session.progress, self.session.now).tell, wishes.read)
        return taking.take(
            store, Derivation(), self.paths, self.options, self.session.now(), pace, wishes
        )


def follow(
    session: Session, paths: tuple[str, ...], options: Options, timer: Timer
) -> IngestReport:
    """Take in what is new at the paths whenever a file has changed or come to rest.

    In between only sizes and times are looked at, and the store is closed; where dreaming has a
    schedule, ``timer`` looks at its gate. Ends when Ctrl-C is pressed; gives the reports of all
    rounds as one.
    """
    follower = Follower(session, paths, options)
    with interrupts(session) as wishes, wishes.heard():
        while not wishes.read() or not follower.reports:
            follower.turn(wishes)
            timer.look()
            _wait(session, wishes)
    return joined(follower.reports, strict=options.strict)


def _wait(session: Session, wishes: Interrupts) -> None:
    left = session.settings.ingest.follow_s
    while left > 0 and not wishes.read():
        session.pause(min(SLICE, left))
        left -= SLICE


def look(paths: tuple[str, ...], options: Options) -> Look:
    """Size and time of every file; what is gone meanwhile is not there."""
    try:
        return {
            one.path: (one.size, one.mtime_ns)
            for one in find(paths, Found(), options.skip_dirs)
            if isinstance(one, Source)
        }
    except SourceNotFound:
        return {}


def next_rest(store: Store, seen: Look, options: Options, now: float) -> float | None:
    """When the next file with something held back comes to rest, in seconds of the epoch."""
    rests = (
        row.mtime_ns / _BILLION + options.settle_s
        for row in store.files.all()
        if not row.settled and row.path in seen
    )
    return min((at for at in rests if at > now), default=None)
