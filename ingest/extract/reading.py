"""One pass over a thread: what every later step looks at."""

from collections.abc import Iterator
from dataclasses import dataclass

from graphstore.model.conversation import Role, Thread
from ingest.extract.concepts import Candidates, Gatherer, fold
from ingest.extract.lexicon import find
from ingest.extract.questions import Asking, askings
from ingest.extract.text import Prose, sentences, strip
from ingest.extract.turns import Sentence, TurnReading
from ingest.extract.words import count_words, language_of


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
    asked = askings(turns)
    candidates = gatherer.done()
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
    gatherer = Gatherer(project)
    for one in asked:
        gatherer.turn(one.turn, Prose(one.text), one.sentence.code, ())
    keys = {fold(form): key for key, one in candidates.items() for form in one.forms}
    return frozenset(keys[key] for key in gatherer.found if key in keys)
