"""Turns as extraction sees them: sentences with the cues in them."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from ingest.extract.lexicon import Hit
from ingest.extract.words import keys

LONG: Final = 1500
"""Characters of prose beyond which a turn is rather pasted than typed."""
_HEAD: Final = 3
_TAIL: Final = 2
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

    @property
    def is_long(self) -> bool:
        """Rather pasted than typed."""
        return self.length > LONG

    @property
    def opening(self) -> tuple[Sentence, ...]:
        """Sentences that can be a reply to what stood before: of a long turn its first ones."""
        return self.sentences[:_HEAD] if self.is_long else self.sentences

    @property
    def spoken(self) -> tuple[Sentence, ...]:
        """Sentences that the speaker says now: of a long turn its first and last ones."""
        if not self.is_long or len(self.sentences) <= _HEAD + _TAIL:
            return self.sentences
        return self.sentences[:_HEAD] + self.sentences[-_TAIL:]
