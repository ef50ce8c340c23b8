"""What became of a question: answered, moved on from, or dropped, by later human turns only."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import takewhile
from typing import Final

from ingest.extract.decisions import decision_types
from ingest.extract.lexicon import weak_words
from ingest.extract.questions import Asking, explicit
from ingest.extract.reading import Reading
from ingest.extract.turns import Sentence, TurnReading

_OPENING: Final = 40
"""Characters within which an acceptance is said; later in a sentence it is told or wished."""
_SHARED: Final = 2
"""Keys by which a sentence names a question."""
_REACH: Final = 6
"""Clean turns within which an acceptance without a name still means the last question."""
_CHOOSING: Final = frozenset({"decide", "compare"})
"""Intents of questions that a decision answers."""
_SETTLING: Final = frozenset({"chose", "decided"})


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
        praised = _praise(turn)
        ended = [
            pair
            for one in turn.opening
            for pair in _of_sentence(one, before, turn, praises=one in praised)
        ]
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


def _praise(turn: TurnReading) -> tuple[Sentence, ...]:
    """The sentences that a turn begins with and that only thank or praise.

    Further on, "thanks!" is said with a request, before anything came of it.
    """
    return tuple(takewhile(lambda one: accepts(one) or accepts(one, "praise"), turn.opening))


def _of_sentence(
    sentence: Sentence, before: list[Asking], turn: TurnReading, *, praises: bool
) -> Iterator[tuple[str, Asking]]:
    if not before or sentence.marked or explicit(sentence) is not None:
        return
    if sentence.of("drop"):
        yield from (("dropped", one) for one in _meant(sentence, before, turn))
    elif praises or accepts(sentence):
        yield from (("resolved", one) for one in _meant(sentence, before, turn))
    elif sentence.of("answer") and not sentence.of("problem"):
        yield from (("resolved", one) for one in _named(sentence, before))
    elif set(decision_types(sentence)) & _SETTLING:
        yield from (("resolved", one) for one in _decided(sentence, before))


def accepts(sentence: Sentence, family: str = "accept") -> bool:
    """Whether a sentence accepts, or praises, without taking it back in the same breath."""
    accepted = [hit for hit in sentence.of(family) if hit.start < _OPENING]
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


def _decided(sentence: Sentence, before: list[Asking]) -> list[Asking]:
    """The last open question that asked for a choice and names something of what was chosen."""
    keys = set(sentence.keys()) - weak_words(sentence.code)
    for one in reversed(before):
        if one.intent in _CHOOSING and one.keys & keys:
            return [one]
    return []


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
