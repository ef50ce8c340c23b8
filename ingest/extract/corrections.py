"""Corrections: human turns that set an assistant turn right, and what they aim at."""

from collections.abc import Iterator
from typing import Final

from graphstore.model.knowledge import Signal
from ingest.extract.questions import explicit
from ingest.extract.reading import Reading
from ingest.extract.signals import Found, Named, follows_answer, signal
from ingest.extract.turns import Sentence

_ORDER: Final = ("test", "doc_contract", "tool_result", "handoff", "default", "scope", "route")
STRONG: Final = 0.8


def corrections(reading: Reading, named: Named) -> Iterator[Found]:
    """At most one correction a turn; the first turn of a thread corrects nothing."""
    for turn in reading.human():
        if not follows_answer(reading, turn):
            continue
        for number, sentence in enumerate(turn.spoken):
            if corrects(sentence, opening=number == 0):
                told = turn.spoken[number : number + 2]
                yield Found(turn.number, turn.place, _signal(told, named))
                break


def _signal(told: tuple[Sentence, ...], named: Named) -> Signal:
    # "No, that is wrong." says nothing; the sentence after it says what is right
    best = max(told, key=lambda one: (len(named(one)), one is told[0]))
    made = signal("correction", target(told), best, named)
    if best is not told[0]:
        joined = Sentence(f"{told[0].text} {best.text}", (), told[0].code)
        made = signal("correction", target(told), joined, lambda _: named(best))
    return made


def corrects(sentence: Sentence, *, opening: bool) -> bool:
    """Whether a sentence corrects; weak cues do so only where a turn opens with them."""
    hits = sentence.of("correction")
    if not hits or explicit(sentence) is not None or sentence.marked or sentence.quoted:
        return False
    return max(hit.confidence for hit in hits) >= STRONG or opening


def target(told: tuple[Sentence, ...]) -> str:
    """What a correction aims at: the first kind of target word found, else a claim."""
    kinds = {hit.kind for sentence in told for hit in sentence.of("target")}
    return next((kind for kind in _ORDER if kind in kinds), "claim")
