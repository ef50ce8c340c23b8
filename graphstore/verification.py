"""What must hold in a store, checked against the ledger; findings never quote a turn."""

from collections.abc import Iterator

from graphstore.engine import Transaction
from graphstore.model.query import Fault
from graphstore.projection import Source


def verify(source: Source, statement: Transaction) -> tuple[Fault, ...]:
    """Every fault, grouped by what was checked."""
    return (*_chain(source),)


def _chain(source: Source) -> Iterator[Fault]:
    for broken in source.ledger.verify():
        yield Fault(kind="chain", subject=str(broken.seq), detail=broken.reason)
