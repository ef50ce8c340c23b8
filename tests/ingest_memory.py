"""A store of threads in memory, for tests of ingest: what a run knows, and what it gives."""

import tempfile
from datetime import UTC, datetime
from pathlib import Path

from graphstore.model.carrier import FileState
from graphstore.model.conversation import LineageKind, Thread
from graphstore.model.record import ThreadRecord
from ingest.model import IngestReport
from ingest.options import Options
from ingest.run import run

SALT = b"salt of the tests"
NOW = datetime(2026, 3, 2, tzinfo=UTC)
LATE = datetime(2100, 1, 1, tzinfo=UTC)
"""When every file has long come to rest: nothing of it is held back."""
PREFIX = {LineageKind.CONTINUES, LineageKind.FORKED_FROM, LineageKind.DUPLICATE_OF}


class Memory:
    """Threads, file states and the records that made them."""

    def __init__(self):
        self.threads = {}
        self.files = {}
        self.records = []
        self.gone = set()

    def thread(self, thread_id):
        return self.threads.get(thread_id)

    def holding(self, source, keys):
        return tuple(
            sorted(
                one.thread_id
                for one in self.threads.values()
                if one.source == source and any(turn.native_key in keys for turn in one.turns)
            )
        )

    def descendants(self, thread_id):
        return tuple(
            sorted(
                one.thread_id
                for one in self.threads.values()
                if any(link.parent == thread_id for link in one.lineage)
            )
        )

    def forgotten(self, thread_id, fingerprints):  # noqa: ARG002 - copies are the store's affair
        return thread_id in self.gone

    def file(self, path):
        return self.files.get(path)

    def titles(self):
        return tuple(title for row in self.files.values() for title in row.titles)

    def commit(self, record):
        assert record.thread_id not in self.gone
        self.records.append(record)
        old = self.threads.get(record.thread_id)
        turns = {turn.number: turn for turn in (old.turns if old else ())}
        for turn in record.turns:
            assert turn.number not in turns, "a number is never given twice"
            turns[turn.number] = turn
        for change in record.changes:
            turns[change.number] = turns[change.number].replace(
                superseded_by=change.superseded_by, source_gone=change.source_gone
            )
        head = {name: getattr(record, name) for name in Thread.model_fields if name != "turns"}
        thread = Thread(**head, turns=tuple(turns[number] for number in sorted(turns)))
        self.threads[record.thread_id] = thread
        self._let_go()

    def _let_go(self):
        """Copies of turns that a parent in the store holds leave."""
        for identity, thread in self.threads.items():
            for link in thread.lineage:
                if link.kind in PREFIX and link.parent in self.threads and link.split_turn:
                    own = tuple(turn for turn in thread.turns if turn.number > link.split_turn)
                    self.threads[identity] = thread.replace(turns=own)

    def ingest(self, *paths, now=NOW, **options):
        """Run over the paths, keep everything, give the report."""
        given = list(run([str(path) for path in paths], self, Options(salt=SALT, **options), now))
        for one in given:
            if isinstance(one, ThreadRecord):
                self.commit(one)
            elif isinstance(one, FileState):
                self.files[one.path] = one
        report = given[-1]
        assert isinstance(report, IngestReport)
        for row in report.carriers:
            broken = {one.code for one in row.codes} & {"unreadable_file", "zip_bomb"}
            assert broken or row.records == sum(one.count for one in row.dispositions), row.file
        return report

    def told(self):
        """Everything that must not depend on how the input lay on disk: ids, refs, prints."""
        return {
            identity: (
                tuple((turn.number, turn.fingerprint) for turn in thread.turns),
                thread.path,
                thread.lineage,
                thread.title,
            )
            for identity, thread in sorted(self.threads.items())
            if thread.turns
        }


class Room:
    """A folder of its own for each example."""

    def __enter__(self):
        self.held = tempfile.TemporaryDirectory()
        return Path(self.held.name)

    def __exit__(self, *_):
        self.held.cleanup()


def told(*paths, now=LATE):
    """What a store holds after files were taken in one by one."""
    store = Memory()
    for path in paths:
        store.ingest(path, now=now)
    return store.told()
