"""What a turn does besides saying: the parts that all kinds of signals share."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from graphstore.model.knowledge import Signal
from ingest.extract.reading import Reading
from ingest.extract.text import clip
from ingest.extract.turns import Sentence, TurnReading

CLIP: Final = 220
Named = Callable[[Sentence], tuple[str, ...]]
"""Concept ids that a sentence names."""


@dataclass(frozen=True, slots=True)
class Found:
    """A signal with the turn it stands in."""

    turn: int
    place: int
    signal: Signal


def signal(kind: str, type_: str, sentence: Sentence, named: Named) -> Signal:
    """A signal in the words of its sentence."""
    return Signal(kind=kind, type=type_, clip=clip(sentence.text, CLIP), concepts=named(sentence))


def follows_answer(reading: Reading, turn: TurnReading) -> bool:
    """Whether an assistant turn stands right before: only then is there something to correct."""
    return turn.place > 0 and not reading.turns[turn.place - 1].human
