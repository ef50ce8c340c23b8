"""Taking conversations in: one run of ingest into a store, its epoch, its Journeys."""

from collections.abc import Collection, Iterator
from contextlib import nullcontext, suppress
from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from graphstore.derivation import Derive
from graphstore.errors import Error, SettingsError
from graphstore.model.carrier import FileState, PendingTitle
from graphstore.model.conversation import Thread
from graphstore.model.record import ThreadRecord
from graphstore.store import Store
from ingest.link.journeys import LEAST_LINEAGES
from ingest.model import IngestReport
from ingest.options import Options
from ingest.pace import Pace, Stopped
from ingest.run import Product, run
from ingest.walk import SKIPPED
from service.interrupts import Interrupts
from service.settings import IngestSettings

FEW = 200
"""Changed threads around which Journeys are looked for; of more, the whole store is read."""
GROWTH = 1.2
"""Lineages, against those of the last epoch, at which a new one is due."""


class NothingNamed(Error):
    """No file or folder was named."""

    hint = "name one, or try the bundled conversations: clew up --example"


class KnownStore:
    """A store as ingest reads it."""

    def __init__(self, store: Store, salt: bytes) -> None:
        self._store = store
        self._gone = store.tombstones(salt)

    def thread(self, thread_id: str) -> Thread | None:
        return self._store.thread(thread_id)

    def holding(self, source: str, keys: tuple[str, ...]) -> tuple[str, ...]:
        return self._store.holding(source, keys)

    def descendants(self, thread_id: str) -> tuple[str, ...]:
        return self._store.descendants(thread_id)

    def forgotten(self, thread_id: str, fingerprints: Collection[str]) -> bool:
        return self._gone.holds(thread_id, fingerprints)

    def file(self, path: str) -> FileState | None:
        return self._store.files.get(path)

    def titles(self) -> tuple[PendingTitle, ...]:
        return tuple(title for row in self._store.files.all() for title in row.titles)


class Nothing:
    """What is known where there is no store yet."""

    def thread(self, thread_id: str) -> None:
        del thread_id

    def holding(self, source: str, keys: tuple[str, ...]) -> tuple[str, ...]:
        del source, keys
        return ()

    def descendants(self, thread_id: str) -> tuple[str, ...]:
        del thread_id
        return ()

    def forgotten(self, thread_id: str, fingerprints: Collection[str]) -> bool:
        del thread_id, fingerprints
        return False

    def file(self, path: str) -> None:
        del path

    def titles(self) -> tuple[PendingTitle, ...]:
        return ()


def options_of(
    settings: IngestSettings, salt: bytes, paths: tuple[str, ...] = (), **chosen: object
) -> Options:
    """Options of a run over these paths: the settings, and what was asked for this time.

    Raises SettingsError for an unknown time zone.
    """
    try:
        zone = ZoneInfo(settings.naive_tz)
    except (ZoneInfoNotFoundError, ValueError):
        raise SettingsError("ingest.naive_tz", "a time zone, for example Europe/Paris") from None
    return Options(
        salt=salt,
        interim_min_chars=settings.interim_min_chars,
        naive_zone=zone,
        settle_s=0 if paths == (str(example()),) else settings.settle_s,
        keep_context=settings.keep_context,
        mask_pii=settings.mask_pii,
        record_bytes=settings.max_record_mb * 2**20,
        skip_dirs=SKIPPED | frozenset(settings.skip_dirs),
        **chosen,  # type: ignore[arg-type]
    )


def take(
    store: Store,
    derive: Derive,
    paths: tuple[str, ...],
    options: Options,
    now: datetime,
    pace: Pace | None = None,
    interrupts: Interrupts | None = None,
) -> IngestReport:
    """Commit what is new at the paths, then the epoch if one is due, then Journeys.

    If the owner wants an end, what was committed stays, and the rest waits for another run:
    the graph catches up when the store is next opened.
    """
    report = IngestReport()
    with suppress(Stopped), store.deferred():
        with interrupts.heard() if interrupts is not None else nullcontext():
            known = KnownStore(store, options.salt)
            report = keep(store, run(paths, known, options, now, pace), now)
        if report.interrupted:
            raise Stopped
        renew(store, derive, now)
    if not report.interrupted:
        walk(store, derive, now)
    return report


def keep(store: Store, products: Iterator[Product], now: datetime) -> IngestReport:
    """Commit what a run gives, each record before the next one is made; its report."""
    report = IngestReport()
    for product in products:
        match product:
            case ThreadRecord():
                store.commit(product, now)
            case FileState():
                store.files.put((product,))
            case IngestReport():
                report = product
    return report


def renew(store: Store, derive: Derive, now: datetime) -> None:
    """Commit a new epoch when there is none, or the store has grown by a fifth since."""
    last, roots = store.epoch(), store.roots()
    lineages = len(set(roots.values()))
    if lineages and (last is None or lineages >= GROWTH * last.lineages):
        store.commit(derive.epoch(store.threads(), roots), now)


def walk(store: Store, derive: Derive, now: datetime) -> None:
    """Look for Journeys around what changed, and commit what is new of them.

    A mark says up to which record this was done, so that a run with nothing new does nothing.
    """
    epoch = store.epoch()
    reached = store.jobs.reached("journeys")
    mark = f"{store.ledger.last_seq_of('thread', 'epoch')} {derive.version}"
    if epoch is None or reached == mark:
        return
    changed = _changed_since(store, reached, derive.version)
    if changed is None:
        ground, history = store.ground(), store.journey_records()
    else:
        ground, history = store.around(changed, LEAST_LINEAGES)
    with store.deferred():
        for record in derive.journeys(ground, history, epoch):
            store.commit(record, now)
    store.jobs.reach("journeys", mark)


def _changed_since(store: Store, mark: str, version: str) -> frozenset[str] | None:
    """Threads that changed since Journeys were looked for; None when all must be looked at."""
    seq, _, by = mark.partition(" ")
    if by != version or store.ledger.last_seq_of("epoch") > int(seq):
        return None
    rows = store.ledger.select(
        "SELECT DISTINCT subject FROM record WHERE seq > ? AND kind = 'thread'", (int(seq),)
    )
    return frozenset(row[0] for row in rows) if len(rows) <= FEW else None


def preview(
    paths: tuple[str, ...], store: Store | None, options: Options, now: datetime
) -> IngestReport:
    """What a run would find; nothing is committed."""
    known = Nothing() if store is None else KnownStore(store, options.salt)
    reports: Iterator[IngestReport] = (
        product for product in run(paths, known, options, now) if isinstance(product, IngestReport)
    )
    return next(reports)


def example() -> Path:
    """Folder of the bundled conversations: nobody writes on them, however new the files are."""
    return Path(__file__).parent / "example"
