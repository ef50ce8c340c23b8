"""Questions of human turns: asked, implied by a task, implied by a problem."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from graphstore.ids import question_id
from ingest.extract.lexicon import weak_words
from ingest.extract.turns import Sentence, TurnReading
from ingest.extract.words import count_words

CONFIDENT: Final = 0.78
TRACKABLE: Final = 0.35
_MARK: Final = 0.8
"""Confidence of a question mark alone."""
_LONGEST: Final = 400
"""Characters of an implied question; longer sentences are descriptions."""
_LEAST_KEYS: Final = 2
_ORDERED: Final = 0.7
"""Confidence of a request that only its first words tell."""
_DONE: Final = ("\u2705", "\u2611", "\u2714", "[x]", "[X]")
"""Signs of a list that the thing is done."""
_ELSE: Final = ("?:", "? :", *_DONE)
"""Signs that a question without its mark stands in a form or in a list."""
_OPENING: Final = 25
"""Characters within which a task cue opens a sentence."""
_FIRST: Final = 4
"""Characters within which a cue is the first word, but for a sound like "ok"."""
_TELLING: Final = 0.75
"""Confidence from which a cue without a mark asks wherever it stands."""
_SCENES: Final = frozenset({"when", "where"})
_MANY_AXES: Final = 3
_WORDY: Final = 6
_TERSE: Final = 2
_MOST_IMPLIED: Final = 3
_MOST_ASKED: Final = 12
ACTING: Final = frozenset({"decide", "fix", "plan", "task"})


@dataclass(frozen=True, slots=True)
class Asking:
    """One asking of a question in one turn."""

    question_id: str
    text: str
    turn: int
    place: int
    intent: str
    confidence: float
    explicit: bool
    keys: frozenset[str]
    sentence: Sentence
    neighbours: tuple[str, str]
    """The sentences before and after it: templates repeat with their surroundings."""


def askings(turns: Iterable[TurnReading]) -> tuple[Asking, ...]:
    """Every asking of the human turns among these, in order."""
    return tuple(one for turn in turns if turn.human for one in _of_turn(turn))


def _of_turn(turn: TurnReading) -> Iterator[Asking]:
    implied = asked = 0
    most = 1 if turn.is_long else _MOST_IMPLIED
    texts = ["", *(one.text for one in turn.sentences), ""]
    alone = len(turn.sentences) == 1
    for number, sentence in enumerate(turn.sentences):
        told = explicit(sentence) or (bare(sentence) if alone else None)
        plain = told is not None
        if told is not None and asked < _MOST_ASKED:
            asked += 1
        elif told is None and implied < most:
            told = implicit(sentence)
            implied += told is not None
            if told is None:
                continue
        else:
            continue
        intent, confidence = told
        yield Asking(
            question_id(sentence.text),
            sentence.text,
            turn.number,
            turn.place,
            intent,
            confidence,
            plain,
            frozenset(sentence.keys()),
            sentence,
            (texts[number], texts[number + 2]),
        )


def explicit(sentence: Sentence) -> tuple[str, float] | None:
    """Intent and confidence of a sentence that asks; None when it does not."""
    asks = sentence.of("ask")
    marked = sentence.marked
    if sentence.quoted or _no_question(sentence, asks=bool(asks), marked=marked):
        return None
    if not marked and (
        not any(hit.confidence >= _TELLING or hit.start < _FIRST for hit in asks)
        or len(sentence.keys()) < _LEAST_KEYS
        or sentence.text.endswith(":")
        or any(sign in sentence.text for sign in _ELSE)
    ):
        return None
    intent = _intent(sentence)
    best = max((hit.confidence for hit in asks), default=0.0)
    return intent, max(best, _MARK if marked else 0.0)


def bare(sentence: Sentence) -> tuple[str, float] | None:
    """A whole turn that opens like a question and only lacks the mark: "what stops the wheel"."""
    words = sentence.of("wh")
    ends = sentence.text.endswith((".", ":", "!", "\u3002"))
    if not words or ends or sentence.quoted or len(sentence.keys()) < _LEAST_KEYS:
        return None
    # "when autocompleting, don't wrap them" sets a scene
    opening = sentence.text[words[0].start : words[0].end].casefold()
    if opening in _SCENES and "," in sentence.text:
        return None
    if _no_question(sentence, asks=True, marked=False):
        return None
    return words[0].kind, words[0].confidence


def implicit(sentence: Sentence) -> tuple[str, float] | None:
    """Intent and confidence of a task or a stated problem."""
    if len(sentence.text) > _LONGEST or sentence.quoted:
        return None
    if any(sign in sentence.text for sign in _DONE):
        return None
    keys, weak = sentence.keys(), weak_words(sentence.code)
    # "address 55 and 60" names nothing
    if len(keys) < _LEAST_KEYS or not any(
        key not in weak and any(map(str.isalpha, key)) for key in keys
    ):
        return None
    if sentence.of("command") or sentence.of("greeting") or sentence.of("accept"):
        return None
    # what follows a colon is the trouble itself, or a list of what somebody else wants
    opens = sentence.text.endswith(":")
    tasks = sentence.of("task", "fix") if opens else sentence.of("task")
    if tasks:
        return tasks[0].kind, tasks[0].confidence
    if sentence.of("request") and not opens and not sentence.of("decision"):
        return "task", _ORDERED
    problems = sentence.of("problem")
    if problems and not sentence.of("correction"):
        return "problem", problems[0].confidence
    return None


def _no_question(sentence: Sentence, *, asks: bool, marked: bool) -> bool:
    if sentence.of("greeting") or low_information(sentence):
        return True
    if sentence.of("command") and not sentence.of("task"):
        return True
    if sentence.of("rhetorical") and not asks:
        return True
    return not marked and bool(sentence.of("unask"))


def low_information(sentence: Sentence) -> bool:
    """Nothing in it says what it is about: "does that work?"."""
    keys = sentence.keys()
    weak = weak_words(sentence.code)
    return not keys or (len(keys) < _LEAST_KEYS and keys[0] in weak)


def _intent(sentence: Sentence) -> str:
    tasks = sentence.of("task")
    if tasks and tasks[0].start < _OPENING:
        return tasks[0].kind
    asks = sorted(sentence.of("ask"), key=lambda hit: (hit.start, hit.start - hit.end))
    kinds = [hit.kind for hit in asks]
    for telling in ("compare", "plan", "reflect", "decide"):
        if telling in kinds:
            return telling
    # "can you update the readme?" asks for work, "can you explain ...?" for an explanation
    if sentence.of("request") and not set(kinds) - {"verify"}:
        return "task"
    kinds.extend(hit.kind for hit in sentence.of("wh"))
    if kinds:
        return kinds[0]
    if sentence.of("problem"):
        return "fix"
    return "decide" if sentence.of("choice") else "verify"


def salience(
    asking: Asking, *, axes: int, names_typed: bool, first: bool, refs: bool = True
) -> float:
    """How much a question deserves to be followed, 0 to 1."""
    tokens = count_words(asking.text)
    score = 0.24 * refs + 0.14 * (asking.confidence >= CONFIDENT)
    score += 0.20 if axes >= _MANY_AXES else 0.09 * (axes >= 1)
    score += 0.12 * (tokens >= _WORDY) - 0.20 * (tokens <= _TERSE)
    score += 0.10 * names_typed + 0.08 * first + 0.08 * (asking.intent in ACTING)
    score += 0.10 * bool(asking.sentence.of("frontier"))
    score += 0.08 * bool(asking.sentence.of("continuity"))
    return round(min(1.0, max(0.0, score)), 4)


def phase(place: int, turns: int) -> str:
    """Third of the thread that a turn stands in."""
    return ("start", "middle", "end")[min(2, 3 * place // max(1, turns))]
