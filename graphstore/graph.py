"""The graph of a workspace: its files, the engine that has them open, and who may swap them."""

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Condition

from graphstore import graphfiles
from graphstore.engine import Engine, Transaction
from graphstore.faults import Hook
from graphstore.graphfiles import graph_file


class Gate:
    """Many readers, or one who swaps the files under them."""

    def __init__(self) -> None:
        self._turn = Condition()
        self._readers = 0

    @contextmanager
    def shared(self) -> Iterator[None]:
        """Read; a swap waits until nobody does."""
        with self._turn:
            self._readers += 1
        try:
            yield
        finally:
            with self._turn:
                self._readers -= 1
                self._turn.notify_all()

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Wait until nobody reads, and let nobody begin."""
        with self._turn:
            self._turn.wait_for(lambda: not self._readers)
            yield


class Graph:
    """One set of files and at most one open engine; many read at once, one swaps."""

    def __init__(self, path: Path, engine: str, buffer_pool_mb: int, fault: Hook) -> None:
        self.file = graph_file(path, engine)
        self.engine_name = engine
        self.buffer_pool_mb = buffer_pool_mb
        self._fault = fault
        self._engine: Engine | None = None
        self._gate = Gate()

    def opened(self) -> Engine:
        """The engine; opens the files if nobody has yet. Raises StoreDamaged."""
        if self._engine is None:
            self._engine = Engine(
                self.file,
                name=self.engine_name,
                buffer_pool_mb=self.buffer_pool_mb,
                fault=self._fault,
            )
        return self._engine

    def close(self) -> None:
        """Close the engine if it is open."""
        if self._engine is not None:
            closing, self._engine = self._engine, None
            closing.close()

    @contextmanager
    def reader(self, timeout_s: float = 0) -> Iterator[Transaction]:
        """One read-only transaction."""
        with self._gate.shared(), self.opened().read(timeout_s) as statement:
            yield statement

    def checkpoint(self) -> None:
        """Fold the log into the file."""
        with self._gate.alone():
            self.opened().checkpoint()

    def remove(self) -> None:
        """Delete every file."""
        with self._gate.alone():
            self.close()
            graphfiles.remove_set(self.file)

    def swap(self, fresh: Path, settle: Callable[[], None]) -> None:
        """Put another file, alone in its folder, in the place of this one, and open it.

        ``settle`` is called when it lies there for good.
        """
        with self._gate.alone():
            self.close()
            # the old log goes first: beside the new file it would be replayed into it
            graphfiles.remove_set(self.file)
            self._fault("old_graph_removed")
            for part in reversed(graphfiles.file_set(fresh)):  # the seal, then what it seals
                part.replace(self.file.parent / part.name)
            graphfiles.sync_set(self.file)
            settle()
            self._fault("new_graph_in_place")
            graphfiles.remove_others(self.file.parent, self.engine_name)
            shutil.rmtree(fresh.parent)
            self.opened()

    def quarantine(self, stamp: str) -> str:
        """Move the files aside, as a set; returns the name of the folder that has them."""
        home = self.file.parent / "quarantine"
        folder, number = home / stamp, 0
        while folder.exists():
            number += 1
            folder = home / f"{stamp}-{number}"
        folder.mkdir(parents=True, mode=0o700)
        for part in graphfiles.file_set(self.file):
            part.replace(folder / part.name)
        return folder.name
