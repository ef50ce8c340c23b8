"""What the store answers: resolved references, query tables, faults, rebuild reports."""

from typing import Literal

from graphstore.model.base import Instant, Value
from graphstore.model.conversation import Thread, Turn

Scalar = str | int | float | bool | None


class Resolved(Value):
    """A reference and the turn it points at."""

    outcome: Literal["resolved"] = "resolved"
    thread: Thread
    """Head of the thread that keeps the turn, without its turns."""
    turn: Turn
    ref: str
    """The canonical reference: shared prefixes are the parent's."""


class QueryTable(Value):
    """Rows of an ad-hoc query; values that are no scalars are JSON text."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Scalar, ...], ...]
    truncated: bool = False
    """There were more rows than the limit."""


class Fault(Value):
    """Something in a store that does not hold; never with turn text."""

    kind: str
    """chain, record, derived, fingerprint, id, ref, count or graph."""
    subject: str
    detail: str

    @property
    def of_ledger(self) -> bool:
        """Whether the file of the ledger is at fault, so that a new graph mends nothing."""
        return self.kind in ("chain", "record", "derived", "fingerprint") and self.subject != "part"


class Notice(Value):
    """Something the store did on its own while opening."""

    kind: str
    """restored, rebuilt, quarantined, behind or salvaged."""
    detail: str
    at: Instant | None = None
    """When, where the store was told the time."""


class LostRecord(Value):
    """A ledger record that could not be saved."""

    seq: int
    kind: str | None = None
    """Kind and subject, where they could be read."""
    subject: str | None = None


class Salvaged(Value):
    """What became of the records of a damaged ledger."""

    kept: int
    lost: tuple[LostRecord, ...]
    quarantine: str
    """Folder of the old ledger; empty while nothing was changed."""


class RebuildReport(Value):
    """What a new graph holds."""

    at: Instant
    applied: int
    nodes: int
    edges: int
