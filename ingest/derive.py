"""Extraction as the projection uses it: one pure object that remembers what it has just read."""

import pickle
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from graphstore.derivation import Asked, Ground
from graphstore.ids import digest
from graphstore.model.conversation import Thread
from graphstore.model.knowledge import Facts, Links
from graphstore.model.record import EpochRecord, JourneyRecord
from ingest.extract import facts as extract
from ingest.extract.figures import Figures, figures
from ingest.extract.reading import Reader, Reading, read
from ingest.link import concepts, journeys, questions
from ingest.link import epoch as counting
from ingest.link.ground import as_known, askings
from ingest.link.pairs import company

_REMEMBERED: Final = 50_000
"""Bounds memory: a reading weighs as much as its candidates, some 500 bytes each."""
_PACKED: Final = 2**28
"""Bytes of packed readings that wait, between an epoch and the facts under it."""
_GROWING: Final = 4
"""Threads whose turns are kept as they were read: those that grow now."""


@dataclass(slots=True)
class _Growing:
    """A thread that was derived before and may come again, a little longer."""

    reader: Reader
    facts: Facts | None = None
    stated: concepts.Memo = field(default_factory=dict)


class Derivation:
    """Derives every extracted row; equal input gives equal rows, whatever came before."""

    def __init__(self, remembered: int = _REMEMBERED) -> None:
        """``remembered``: concept candidates of the readings that are kept."""
        self._remembered = remembered
        self._readings: dict[str, tuple[str, Reading]] = {}
        self._held = 0
        self._packed: dict[str, bytes] = {}
        self._room = 0
        self._growing: dict[str, _Growing] = {}
        self._epoch: EpochRecord | None = None
        self._figures: Figures | None = None

    @property
    def version(self) -> str:
        """Versions of all steps; a change makes the store derive again."""
        return f"{extract.VERSION} {concepts.VERSION} {questions.VERSION} {journeys.VERSION}"

    def epoch(self, threads: Iterable[Thread], roots: Mapping[str, str]) -> EpochRecord:
        """Store-wide figures; ``roots`` maps thread id to lineage root."""
        self._packed.clear()
        self._room = _PACKED
        counted = counting.epoch(threads, roots, self._read, self.version)
        self._room = 0
        return counted

    def facts(self, thread: Thread, epoch: EpochRecord) -> Facts:
        """What one thread yields, and what the store needs to relate it to others."""
        known = self._known(epoch)
        reading = self._read(thread)
        growing = self._growing.get(thread.thread_id)
        found = extract.facts(thread, reading, known, growing.facts if growing else None)
        turns = [(thread.ref(turn.number), turn.text) for turn in thread.turns]
        made = found.replace(
            company=company(found.concepts, found.mentions, known),
            told=concepts.told(
                turns, found.concepts, found.mentions, growing.stated if growing else None
            ),
            askings=askings(thread, found, known),
        )
        if growing:
            growing.facts = made
        return made

    def link(self, left: Asked, right: Asked, cosine: float) -> Links | None:
        """The link between two questions that look alike, if they are; left id before right."""
        return questions.link(as_known(left), as_known(right), cosine)

    def borderline(self, ground: Ground, epoch: EpochRecord) -> tuple[Links, ...]:
        """Pairs of questions that only the owner can tell apart, over a whole store."""
        return questions.links(ground, epoch)[1]

    def journeys(
        self, ground: Ground, known: tuple[JourneyRecord, ...], epoch: EpochRecord
    ) -> tuple[JourneyRecord, ...]:
        """Records for Journeys that begin or go on, in id order."""
        return journeys.find(ground, known, epoch).records

    def _known(self, epoch: EpochRecord) -> Figures:
        if self._figures is None or self._epoch is not epoch:
            self._epoch, self._figures = epoch, figures(epoch)
        return self._figures

    def _read(self, thread: Thread) -> Reading:
        content = _content(thread)
        known, found = self._readings.pop(thread.thread_id, ("", None))
        if found is not None:
            self._held -= len(found.candidates)
        if found is None:
            packed = self._packed.pop(content, None)
            found = read(thread) if packed is None else _unpack(packed)
        elif known != content:
            found = self._read_on(thread)
        self._held += len(found.candidates)
        self._readings[thread.thread_id] = (content, found)
        while self._held > self._remembered and len(self._readings) > 1:
            content, oldest = self._readings.pop(next(iter(self._readings)))
            self._held -= len(oldest.candidates)
            if self._room > 0:  # facts follow, and unpacking takes a fifth of reading
                self._packed[content] = _pack(oldest)
                self._room -= len(self._packed[content])
        return found

    def _read_on(self, thread: Thread) -> Reading:
        """Read a thread that was read before and has changed since: it may do so again."""
        growing = self._growing.pop(thread.thread_id, None) or _Growing(Reader(thread.project))
        self._growing[thread.thread_id] = growing
        if len(self._growing) > _GROWING:
            del self._growing[next(iter(self._growing))]
        return growing.reader.read(thread)


def _pack(reading: Reading) -> bytes:
    return zlib.compress(pickle.dumps(reading, pickle.HIGHEST_PROTOCOL), 1)


def _unpack(packed: bytes) -> Reading:
    reading: Reading = pickle.loads(zlib.decompress(packed))  # noqa: S301 - packed by this process
    return reading


def _content(thread: Thread) -> str:
    """Fingerprint of what a reading looks at."""
    return digest(
        thread.thread_id,
        thread.project,
        [
            [turn.number, turn.fingerprint, str(turn.at), *turn.tools.touched]
            for turn in thread.clean()
        ],
    )
