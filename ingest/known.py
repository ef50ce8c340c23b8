"""What a run of ingest asks of the store."""

from collections.abc import Collection
from typing import Protocol

from graphstore.model.carrier import FileState, PendingTitle
from graphstore.model.conversation import Thread


class Known(Protocol):
    """What the store knows: a read view, nothing is opened through it."""

    def thread(self, thread_id: str) -> Thread | None:
        """A stored thread with the turns that it stores itself."""

    def holding(self, source: str, keys: tuple[str, ...]) -> tuple[str, ...]:
        """Ids of the threads of a source that store a turn with one of these native keys."""

    def descendants(self, thread_id: str) -> tuple[str, ...]:
        """Ids of the threads whose lineage names it as parent."""

    def forgotten(self, thread_id: str, fingerprints: Collection[str]) -> bool:
        """Whether the owner had a thread forgotten, by its id or as a copy by its longer turns."""

    def file(self, path: str) -> FileState | None:
        """State of a carrier when it was last read."""

    def titles(self) -> tuple[PendingTitle, ...]:
        """Titles that wait for their thread."""
