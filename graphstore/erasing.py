"""Requests to forget: recorded, carried out in every file, taken up again when cut short."""

from collections.abc import Iterable
from datetime import datetime

from graphstore.errors import NotForgotten
from graphstore.forgetting import SALT, Forgetting, Going, Tombstones
from graphstore.ledger import Entry
from graphstore.model.record import ForgetRecord
from graphstore.workspace import Workspace
from graphstore.writing import Writer


class Erasing:
    """What was asked to be forgotten, and the order in which it goes."""

    def __init__(self, space: Workspace, writer: Writer) -> None:
        self._space = space
        self._writer = writer

    def _forgetting(self, salt: bytes) -> Forgetting:
        return Forgetting(self._space.source, self._space.path, salt)

    def asked(self) -> tuple[Entry, ...]:
        """Requests that were recorded and not carried out to the end."""
        done = int(self._space.jobs.reached("forgotten") or 0)
        return tuple(entry for entry in self._space.ledger.of_kind("forget") if entry.seq > done)

    def tombstones(self, salt: bytes) -> Tombstones:
        """What was forgotten and must not come back."""
        return Tombstones(_records(self._space.ledger.of_kind("forget")), salt)

    def going(self, thread_ids: Iterable[str], salt: bytes) -> Going:
        """What would go with some threads."""
        return self._forgetting(salt).plan(thread_ids)

    def forget(self, thread_ids: Iterable[str], at: datetime, salt: bytes) -> None:
        """Record the request, then carry it out."""
        with self._writer.turn:
            self._space.ledger.append(self._forgetting(salt).request(thread_ids), at)
            self._space.fault("forget_recorded")
            self.finish()

    def finish(self) -> None:
        """Carry out what was asked; each step may be repeated. Raises NotForgotten."""
        space, asked = self._space, self.asked()
        forgetting = self._forgetting((space.path / SALT).read_bytes())
        with space.ledger.transaction():
            here = forgetting.matching(_records(asked))
            if here:
                forgetting.carry_out(forgetting.plan(here), datetime.fromisoformat(asked[-1].at))
            space.search.rebuild()
        space.fault("forget_rewritten")
        try:
            space.graph.remove()
            space.fault("forget_graph_removed")
            forgetting.clear_files()
        except OSError as cause:
            raise NotForgotten(str(space.path), str(cause.filename)) from cause
        space.fault("forget_files_removed")
        self._writer.bulk()
        space.ledger.compact()
        space.fault("forget_compacted")
        space.jobs.reach("forgotten", str(asked[-1].seq))


def _records(entries: Iterable[Entry]) -> tuple[ForgetRecord, ...]:
    found = (entry.record() for entry in entries)
    return tuple(record for record in found if isinstance(record, ForgetRecord))
