"""One pass over a thread: what every later step looks at."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from graphstore.model.conversation import Role, Thread
from ingest.extract.concepts import Candidates, Gatherer
from ingest.extract.lexicon import Hit, find
from ingest.extract.text import sentences, strip
from ingest.extract.words import count_words, keys, language_of

_CLOSING: Final = " \t\"'\u201d\u2019)]*_`\u300d\u300f\u201c"
_OPENING: Final = '"\u201c\u2018\u300c\u300e'


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of a turn with the cues in it."""

    text: str
    hits: tuple[Hit, ...]
    code: str

    def of(self, family: str, kind: str = "") -> tuple[Hit, ...]:
        """Hits of a family, of one kind if given."""
        return tuple(hit for hit in self.hits if hit.family == family and kind in {"", hit.kind})

    @property
    def marked(self) -> bool:
        """Whether it ends in a question mark of its own."""
        return self.text.rstrip(_CLOSING).endswith(("?", "\uff1f")) and not self.quoted

    @property
    def quoted(self) -> bool:
        """Whether its end stands in quotes that were opened inside: somebody else's words."""
        end = self.text.rstrip(" .,")
        return (
            end.endswith(('"', "\u201d", "\u300d", "\u300f"))
            and end[:-1].count(_opener(end[-1])) > 0
        )

    def keys(self) -> tuple[str, ...]:
        """Content keys."""
        return keys(self.text, self.code)


def _opener(closing: str) -> str:
    return dict(zip('"\u201d\u300d\u300f', _OPENING[0] + "\u201c\u300c\u300e", strict=True))[
        closing
    ]


@dataclass(frozen=True, slots=True)
class TurnReading:
    """A clean turn: its number, who speaks, and its sentences where they are read."""

    number: int
    human: bool
    at: datetime | None
    place: int
    """Position among the clean turns, from 0."""
    sentences: tuple[Sentence, ...]
    """Of human turns, and of the last assistant turn."""
    words: int
    length: int
    """Characters of its prose."""


@dataclass(frozen=True, slots=True)
class Reading:
    """A thread as extraction sees it; needs no store-wide figure."""

    thread_id: str
    project: str | None
    turns: tuple[TurnReading, ...]
    candidates: Candidates
    words: int

    def human(self) -> Iterator[TurnReading]:
        """Human turns in order."""
        return (turn for turn in self.turns if turn.human)

    def ref(self, number: int) -> str:
        """SourceRef string of one of its turns."""
        return f"thread:{self.thread_id}#turn:{number}"


def read(thread: Thread) -> Reading:
    """Read the clean path of a thread once."""
    gatherer = Gatherer(thread.project)
    clean = thread.clean()
    last = len(clean) - 1
    turns = []
    for place, turn in enumerate(clean):
        prose = strip(turn.text)
        code = language_of(prose.text)
        gatherer.turn(turn.number, prose, code, turn.tools.touched)
        human = turn.role is Role.HUMAN
        split = sentences(prose.text) if human or place == last else ()
        found = tuple(Sentence(text, find(text, code), code) for text in split)
        words = count_words(prose.text)
        turns.append(TurnReading(turn.number, human, turn.at, place, found, words, len(prose.text)))
    return Reading(
        thread.thread_id,
        thread.project,
        tuple(turns),
        gatherer.done(),
        sum(turn.words for turn in turns),
    )
