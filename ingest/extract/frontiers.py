"""Frontier markers: turns that say where work stopped."""

from collections.abc import Iterator
from typing import Final

from ingest.extract.questions import explicit
from ingest.extract.reading import Reading
from ingest.extract.signals import Found, Named, signal
from ingest.extract.turns import Sentence

_OPENING: Final = 12
_ORDER: Final = ("blocked", "deferred", "next", "unresolved")


def frontiers(reading: Reading, named: Named) -> Iterator[Found]:
    """At most one frontier of each type per turn: human turns, and the thread's last turn."""
    for turn in reading.turns:
        seen: set[str] = set()
        for sentence in turn.spoken:
            kind = frontier_type(sentence)
            if not turn.human and not _opens(sentence):
                continue
            if kind and kind not in seen:
                seen.add(kind)
                yield Found(turn.number, turn.place, signal("frontier", kind, sentence, named))


def _opens(sentence: Sentence) -> bool:
    """An assistant's frontier opens its sentence ("Next: ..."); later in it, it only tells."""
    return any(hit.start < _OPENING for hit in sentence.of("frontier"))


def frontier_type(sentence: Sentence) -> str:
    """blocked, deferred, next or unresolved; empty when it is no frontier."""
    hits = sentence.of("frontier")
    if not hits or sentence.marked or explicit(sentence) is not None or sentence.quoted:
        return ""
    kinds = {hit.kind for hit in hits}
    return next(kind for kind in _ORDER if kind in kinds)
