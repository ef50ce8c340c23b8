"""One pass over a thread: what every later step looks at."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import islice
from typing import Final

from graphstore.model.conversation import Role, Thread, Turn
from ingest.extract.concepts import Candidates, Gatherer, fold
from ingest.extract.lexicon import find
from ingest.extract.questions import Asking, askings
from ingest.extract.text import Prose, sentences, strip
from ingest.extract.turns import Sentence, TurnReading
from ingest.extract.words import UNKNOWN, count_words, language_of

GREETING_WORDS: Final = 6
"""Words of the longest turn that may be a greeting alone."""


@dataclass(frozen=True, slots=True)
class Reading:
    """A thread as extraction sees it; needs no store-wide figure."""

    thread_id: str
    project: str | None
    turns: tuple[TurnReading, ...]
    asked: tuple[Asking, ...]
    candidates: Candidates
    asked_about: frozenset[str]
    """Keys of candidates that its questions name."""
    words: int

    def human(self) -> Iterator[TurnReading]:
        """Human turns in order."""
        return (turn for turn in self.turns if turn.human)

    def ref(self, number: int) -> str:
        """SourceRef string of one of its turns."""
        return f"thread:{self.thread_id}#turn:{number}"


@dataclass(slots=True)
class Gist:
    """What one turn says, wherever in its thread it stands."""

    prose: Prose
    code: str
    words: int
    sentences: tuple[Sentence, ...] | None = None
    """Split when they are asked for."""

    def split(self) -> tuple[Sentence, ...]:
        """Its sentences with the cues in them."""
        if self.sentences is None:
            found = sentences(self.prose.text)
            self.sentences = tuple(Sentence(one, find(one, self.code), self.code) for one in found)
        return self.sentences

    def is_greeting(self) -> bool:
        """Whether it only says hello: then what answers it offers help, and is about nothing."""
        if self.words > GREETING_WORDS:
            return False
        said = self.split()  # nothing where only code was pasted
        return bool(said) and all(sentence.of("greeting") for sentence in said)


Gists = dict[tuple[str | int, ...], Gist]
"""By number, fingerprint, and touched paths of a turn."""


@dataclass(slots=True)
class Reader:
    """Reads a thread again and again as it grows: where it only grew, what is new."""

    project: str | None
    gists: Gists = field(default_factory=dict)
    gatherer: Gatherer | None = None

    def read(self, thread: Thread) -> Reading:
        """Read the clean path of the thread."""
        turns: dict[tuple[str | int, ...], Turn] = {
            (one.number, one.fingerprint, *one.tools.touched): one for one in thread.clean()
        }
        known = len(self.gists)
        grown = tuple(self.gists) == tuple(turns)[:known] and thread.project == self.project
        gatherer = self.gatherer if grown else None
        if gatherer is None:
            gatherer, known = Gatherer(thread.project), 0
            self.gists = {}
        code = next((one.code for one in reversed(self.gists.values())), UNKNOWN)
        for key, turn in islice(turns.items(), known, None):
            self.gists[key] = _gist(turn, code)
            code = self.gists[key].code
        self.project, self.gatherer = thread.project, gatherer
        greeted = False
        for place, (turn, gist) in enumerate(zip(turns.values(), self.gists.values(), strict=True)):
            greeted = gist.is_greeting() if turn.role is Role.HUMAN else greeted
            if place >= known and not greeted:
                gatherer.turn(turn.number, gist.prose, gist.code, turn.tools.touched)
        return _reading(thread, tuple(self.gists.values()), gatherer.done())


def _gist(turn: Turn, before: str) -> Gist:
    """``before``: language of the turn before it, for one that is too short to tell its own."""
    prose = strip(turn.text)
    code = language_of(prose.text)
    return Gist(prose, before if code == UNKNOWN else code, count_words(prose.text))


def read(thread: Thread) -> Reading:
    """Read the clean path of a thread once."""
    return Reader(thread.project).read(thread)


def _reading(thread: Thread, gists: tuple[Gist, ...], candidates: Candidates) -> Reading:
    clean = thread.clean()
    turns = []
    for place, (turn, gist) in enumerate(zip(clean, gists, strict=True)):
        human = turn.role is Role.HUMAN
        found = gist.split() if human or place == len(clean) - 1 else ()
        length = len(gist.prose.text)
        turns.append(TurnReading(turn.number, human, turn.at, place, found, gist.words, length))
    asked = askings(turns)
    return Reading(
        thread.thread_id,
        thread.project,
        tuple(turns),
        asked,
        candidates,
        _asked_about(asked, candidates, thread.project),
        sum(turn.words for turn in turns),
    )


def _asked_about(
    asked: tuple[Asking, ...], candidates: Candidates, project: str | None
) -> frozenset[str]:
    named = {key for one in asked for key in named_in(one.text, one.sentence.code, project)}
    if not named:
        return frozenset()
    keys = {fold(form): key for key, one in candidates.items() for form in one.forms}
    return frozenset(keys[key] for key in named if key in keys)


@lru_cache(maxsize=8192)  # a thread that grows is read again
def named_in(sentence: str, code: str, project: str | None) -> tuple[str, ...]:
    """Keys of what a sentence names, in order."""
    gatherer = Gatherer(project)
    gatherer.turn(1, Prose(sentence), code, ())
    return tuple(gatherer.found)
