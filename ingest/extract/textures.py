"""Textures: how a human turn goes about it, from doubt to a route given up."""

from collections.abc import Iterator

from ingest.extract.reading import Reading
from ingest.extract.signals import Found, Named, signal


def textures(reading: Reading, named: Named) -> Iterator[Found]:
    """At most one texture of each name per turn."""
    for turn in reading.human():
        seen: set[str] = set()
        for sentence in turn.spoken:
            for hit in sentence.of("texture"):
                if hit.kind not in seen and not sentence.quoted:
                    seen.add(hit.kind)
                    yield Found(
                        turn.number, turn.place, signal("texture", hit.kind, sentence, named)
                    )
