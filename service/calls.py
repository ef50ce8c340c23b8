"""What was sent to a model and what came back: kept in the workspace, for its owner alone."""

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final

from pydantic import ValidationError

from dream.consult import Exchange
from dream.gate import Budget
from dream.settings import ModelSettings
from graphstore.errors import NotFound
from graphstore.folder import private
from graphstore.model.base import Instant, Value
from graphstore.model.record import ModelCall

FOLDER: Final = "dream_calls"


class SentCall(Value):
    """One call of a model, with the bytes of both ways."""

    at: Instant
    call: ModelCall
    refs: tuple[str, ...]
    """Turns whose words went out."""
    sent: str
    received: str
    """Without hidden reasoning; bytes that are not UTF-8 stand as backslash escapes."""
    ms: int


class SentCalls(Value):
    """What one dream cycle sent to a model."""

    cycle_id: str
    calls: tuple[SentCall, ...]


@dataclass(frozen=True, slots=True)
class Calls:
    """The record of calls of a workspace."""

    workspace: Path

    @property
    def folder(self) -> Path:
        return self.workspace / FOLDER

    def _file(self, cycle_id: str) -> Path:
        """File of a dream cycle; a colon is no part of a name everywhere."""
        return self.folder / f"{cycle_id.removeprefix('dc:')}.jsonl"

    def keep(self, cycle_id: str, exchange: Exchange, now: datetime) -> None:
        """Add a call to the record of its cycle, on the disk before the next one begins."""
        row = SentCall(
            at=now,
            call=exchange.call,
            refs=exchange.refs,
            sent=exchange.sent.decode("utf-8", "backslashreplace"),
            received=exchange.received.decode("utf-8", "backslashreplace"),
            ms=exchange.ms,
        )
        private(self.folder)
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND
        with os.fdopen(os.open(self._file(cycle_id), flags, 0o600), "ab") as out:
            out.write(row.model_dump_json().encode() + b"\n")
            out.flush()
            os.fsync(out.fileno())

    def sent(self, name: str) -> SentCalls:
        """What a dream cycle sent: by id or beginning, or ``last``.

        Raises NotFound where nothing is kept of it. The ledger is not asked: a cycle that never
        landed may have sent something all the same.
        """
        read_ones = ((file.stem, tuple(read(file))) for file in self._files())
        kept = {stem: rows for stem, rows in read_ones if rows}
        found = [stem for stem in kept if stem.startswith(name.removeprefix("dc:")) and name]
        if name == "last":
            found = sorted(kept, key=lambda stem: max(row.at for row in kept[stem]))[-1:]
        if len(found) != 1:
            raise NotFound("record of what was sent in dream cycle", name)
        return SentCalls(cycle_id=f"dc:{found[0]}", calls=kept[found[0]])

    def budget(self, model: str, limits: ModelSettings, now: datetime) -> Budget:
        """What the day (UTC) has left, by what is kept of it."""
        today = [row.call for row in self._all() if row.at.date() == now.date()]
        return Budget(
            model=model,
            calls_left=max(limits.calls_per_day - len(today), 0),
            tokens_left=max(limits.tokens_per_day - sum(each.tokens or 0 for each in today), 0),
        )

    def tidy(self, kept: timedelta, now: datetime) -> None:
        """Drop files whose newest call is older than they are kept."""
        for file in self._files():
            if all(row.at + kept <= now for row in read(file)):
                file.unlink()

    def _all(self) -> Iterator[SentCall]:
        for file in self._files():
            yield from read(file)

    def _files(self) -> Iterable[Path]:
        return sorted(self.folder.glob("*.jsonl"))


def read(file: Path) -> Iterator[SentCall]:
    """Calls of a file; what a crash cut short is left out."""
    for line in file.read_bytes().splitlines():
        try:
            yield SentCall.from_json(line)
        except ValidationError:
            continue
