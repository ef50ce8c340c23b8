"""A workspace folder filled from turns at hand: ledger and text index, no graph."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Self

from graphstore import ids
from graphstore.ledger import Ledger
from graphstore.model.conversation import Role, Taint, Turn
from graphstore.model.record import EpochRecord, ThreadRecord
from graphstore.search import SearchIndex
from graphstore.threads import Threads

AT = datetime(2026, 1, 15, 12, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Said:
    """One turn of a data set."""

    key: str
    """Its id there."""
    text: str
    role: str = "human"
    speaker: str | None = None


class Workspace:
    """What recall asks of a store."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.ledger = Ledger(path / "ledger.db")
        # a measurement needs no durability
        self.ledger.connection.execute("PRAGMA synchronous=OFF")
        self.threads = Threads(self.ledger)
        self.search = SearchIndex(self.ledger)
        self.figures: EpochRecord | None = None

    def epoch(self) -> EpochRecord | None:
        return self.figures

    def add(
        self,
        source: str,
        native_id: str,
        turns: Sequence[Said],
        *,
        title: str | None = None,
        started_at: datetime | None = None,
    ) -> dict[str, str]:
        """Commit one thread; gives the reference of each turn by its key."""
        thread_id = ids.thread_id(source, native_id)
        numbered = tuple(
            Turn(
                number=number,
                role=Role(said.role),
                taint=Taint(said.role),
                text=said.text,
                fingerprint=ids.fingerprint(said.role, said.text),
                native_key=said.key,
                at=started_at,
                speaker=said.speaker,
            )
            for number, said in enumerate(turns, start=1)
        )
        record = ThreadRecord(
            thread_id=thread_id,
            source=source,
            native_id=native_id,
            title=title,
            started_at=started_at,
            turns=numbered,
            path=tuple(turn.number for turn in numbered),
        )
        with self.ledger.transaction():
            seq = self.ledger.append(record, AT)
            grown = self.threads.grow(record, seq)
            self.search.index(() if grown is None else grown.fresh)
        return {said.key: ids.ref(thread_id, n) for n, said in enumerate(turns, start=1)}

    def again(self) -> Self:
        """The same workspace as if just opened: nothing is remembered."""
        other = type(self).__new__(type(self))
        other.path, other.ledger, other.threads = self.path, self.ledger, self.threads
        other.search, other.figures = SearchIndex(self.ledger), self.figures
        return other

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.ledger.close()
