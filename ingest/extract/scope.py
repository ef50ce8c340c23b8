"""Scope labels: what kind of life a thread belongs to."""

from typing import Final

from ingest.extract.reading import Reading

TECHNICAL: Final = "technical_work"
OPEN: Final = "open_question"
_TWICE: Final = 2


def scope_labels(reading: Reading, *, touches_files: bool, left_open: bool) -> tuple[str, ...]:
    """Labels in sorted order; technical work needs two cues or a touched file."""
    counts: dict[str, int] = {}
    for turn in reading.human():
        for sentence in turn.sentences:
            for hit in sentence.of("scope"):
                counts[hit.kind] = counts.get(hit.kind, 0) + 1
    labels = {kind for kind, count in counts.items() if kind != TECHNICAL or count >= _TWICE}
    if touches_files:
        labels.add(TECHNICAL)
    if left_open:
        labels.add(OPEN)
    return tuple(sorted(labels))
