"""Stores for measuring extraction: made of questions, or of conversations of one's own."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

from graphstore import open_store
from graphstore.ids import fingerprint, thread_id
from graphstore.model.conversation import Role, Taint, Turn
from graphstore.model.record import ThreadRecord
from graphstore.store import Store
from ingest.derive import Derivation
from ingest.options import Options
from service.taking import take

NOW = datetime(2026, 1, 1, tzinfo=UTC)
START = datetime(2025, 1, 1, tzinfo=UTC)


def spoken(name: str, texts: Iterable[str], day: int) -> ThreadRecord:
    """A thread in which a human and an assistant speak in turns."""
    turns = tuple(
        _turn(number, Role.ASSISTANT if number % 2 == 0 else Role.HUMAN, text, day)
        for number, text in enumerate(texts, 1)
    )
    return ThreadRecord(
        thread_id=thread_id("made", name),
        source="made",
        native_id=name,
        started_at=turns[0].at,
        turns=turns,
        path=tuple(turn.number for turn in turns),
    )


def _turn(number: int, role: Role, text: str, day: int) -> Turn:
    return Turn(
        number=number,
        role=role,
        taint=Taint(role.value),
        text=text,
        fingerprint=fingerprint(role.value, text),
        at=START + timedelta(days=day, minutes=number),
    )


@contextmanager
def made_of(threads: Iterable[ThreadRecord]) -> Iterator[Store]:
    """A store of these threads, with its epoch and its Journeys."""
    derive = Derivation()
    with TemporaryDirectory() as folder, open_store(Path(folder) / "store", derive) as store:
        with store.deferred():
            for thread in threads:
                store.commit(thread, NOW)
            epoch = derive.epoch(store.threads(), store.roots())
            store.commit(epoch, NOW)
        for journey in derive.journeys(store.ground(), (), epoch):
            store.commit(journey, NOW)
        yield store


@contextmanager
def ingested(paths: tuple[str, ...]) -> Iterator[Store]:
    """A store of conversations of one's own, as a run of ingest leaves it."""
    derive = Derivation()
    with TemporaryDirectory() as folder, open_store(Path(folder) / "store", derive) as store:
        take(store, derive, paths, Options(), NOW)
        yield store
