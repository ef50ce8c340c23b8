"""When something last happened: what changed since a record, the newest turn, the first thread."""

from collections.abc import Iterator
from datetime import datetime

from graphstore.ledger import Ledger
from graphstore.model.record import ThreadRecord

CLEAN = ("human", "assistant")


def grown_since(ledger: Ledger, seq: int) -> frozenset[str]:
    """Ids of the threads that got clean turns in records after a sequence."""
    return frozenset(record.thread_id for record in threads_after(ledger, seq) if spoke(record))


def threads_after(ledger: Ledger, seq: int) -> Iterator[ThreadRecord]:
    """Thread records after a sequence, in order."""
    for entry in ledger.entries(after=seq):
        if entry.kind == "thread":
            record = entry.record()
            if isinstance(record, ThreadRecord):
                yield record


def spoke(record: ThreadRecord) -> bool:
    """Whether a record brings words of a person or final words of an assistant."""
    return any(turn.role in CLEAN for turn in record.turns)


def newest_turn(ledger: Ledger, but: str = "") -> datetime | None:
    """Time of the newest clean turn outside one thread; None where no turn has a time."""
    rows = ledger.select(
        "SELECT max(at) FROM turn WHERE thread_id != ? AND role IN ('human', 'assistant')", (but,)
    )
    return moment(rows[0][0])


def first_taken(ledger: Ledger) -> datetime | None:
    """When the first thread was recorded."""
    rows = ledger.select("SELECT min(at) FROM record WHERE kind = 'thread'")
    return moment(rows[0][0])


def moment(text: str | None) -> datetime | None:
    """A stored time."""
    return None if text is None else datetime.fromisoformat(text)
