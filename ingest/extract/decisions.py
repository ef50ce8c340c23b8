"""Decisions: what a human turn chose, decided or rejected."""

from collections.abc import Iterator
from typing import Final

from ingest.extract.questions import explicit
from ingest.extract.reading import Reading
from ingest.extract.signals import Found, Named, signal
from ingest.extract.turns import Sentence

_ORDER: Final = ("rejected", "chose", "decided")


def decisions(reading: Reading, named: Named) -> Iterator[Found]:
    """At most one decision of each type per turn."""
    for turn in reading.human():
        seen: set[str] = set()
        for sentence in turn.spoken:
            for kind in decision_types(sentence):
                if kind not in seen:
                    seen.add(kind)
                    yield Found(turn.number, turn.place, signal("decision", kind, sentence, named))


def decision_types(sentence: Sentence) -> tuple[str, ...]:
    """Types of decision that a sentence states; a choice may reject in the same breath."""
    hits = sentence.of("decision")
    if not hits or explicit(sentence) is not None or sentence.marked or sentence.text.endswith(":"):
        return ()
    kinds = {hit.kind for hit in hits}
    return tuple(kind for kind in _ORDER if kind in kinds)
