"""What became of a question: answered, moved on from, or dropped, by later human turns only."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from ingest.extract.questions import Asking, explicit
from ingest.extract.reading import Reading
from ingest.extract.turns import Sentence, TurnReading

_OPENING: Final = 40
"""Characters within which an acceptance is said; later in a sentence it is told or wished."""
_SHARED: Final = 2
"""Keys by which a sentence names a question."""
_REACH: Final = 6
"""Clean turns within which an acceptance without a name still means the last question."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """A later human turn that changes the standing of a question."""

    question_id: str
    turn: int
    place: int
    kind: str
    """resolved, partial or dropped."""


def outcomes(reading: Reading, asked: tuple[Asking, ...]) -> tuple[Outcome, ...]:
    """Outcomes in order of turns; silence gives none."""
    found: dict[tuple[int, str, str], Outcome] = {}
    closed: set[str] = set()
    for turn in reading.human():
        before = [
            one for one in asked if one.place < turn.place - 1 and one.question_id not in closed
        ]
        ended = [pair for one in turn.opening for pair in _of_sentence(one, before, turn)]
        closed.update(one.question_id for _, one in ended)
        now = [one for one in asked if one.turn == turn.number]
        ended.extend(("partial", one) for one in _narrowed(before, now))
        for kind, one in ended:
            found[turn.number, kind, one.question_id] = Outcome(
                one.question_id, turn.number, turn.place, kind
            )
        # asked again: it is open again
        closed -= {one.question_id for one in now}
    return tuple(found.values())


def _of_sentence(
    sentence: Sentence, before: list[Asking], turn: TurnReading
) -> Iterator[tuple[str, Asking]]:
    if not before or sentence.marked or explicit(sentence) is not None:
        return
    if sentence.of("drop"):
        yield from (("dropped", one) for one in _meant(sentence, before, turn))
    elif accepts(sentence):
        yield from (("resolved", one) for one in _meant(sentence, before, turn))
    elif sentence.of("answer") and not sentence.of("problem"):
        yield from (("resolved", one) for one in _named(sentence, before))


def accepts(sentence: Sentence) -> bool:
    """Whether a sentence accepts without taking it back in the same breath."""
    accepted = [hit for hit in sentence.of("accept") if hit.start < _OPENING]
    return bool(accepted) and not any(
        all(hit.start >= one.end or hit.end <= one.start for one in accepted)
        for hit in sentence.of("unless")
    )


def _named(sentence: Sentence, before: list[Asking]) -> list[Asking]:
    """Open questions that the sentence speaks of: the largest overlap of keys, at least two."""
    keys = set(sentence.keys())
    shared = [len(keys & one.keys) for one in before]
    best = max(shared, default=0)
    if best < _SHARED:
        return []
    chosen = [one for one, count in zip(before, shared, strict=True) if count == best]
    return [one for one in chosen if one.turn == chosen[-1].turn]


def _meant(sentence: Sentence, before: list[Asking], turn: TurnReading) -> list[Asking]:
    """The questions it names, else those of the nearest asking turn within reach."""
    named = _named(sentence, before)
    if named:
        return named
    last = before[-1]
    if turn.place - last.place > _REACH:
        return []
    nearest = [one for one in before if one.turn == last.turn]
    asked = [one for one in nearest if one.explicit]
    return asked or nearest


def _narrowed(before: list[Asking], now: list[Asking]) -> list[Asking]:
    """Earlier questions whose keys a later one holds all, and more; one per later question."""
    found = []
    for keys in [later.keys for later in now]:
        found += [one for one in before if one.keys < keys and len(one.keys) >= _SHARED]
    return found
