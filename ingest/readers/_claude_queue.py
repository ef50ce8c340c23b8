"""Prompts typed in Claude Code while the assistant worked, until they run or are taken back."""

from collections.abc import Iterable


class Queue:
    """Turns that were only queued so far, by their places in the session."""

    def __init__(self) -> None:
        self._words: dict[int, str] = {}
        self._withdrawn: set[int] = set()

    @property
    def waits(self) -> bool:
        """Whether something was queued that did not run so far."""
        return bool(self._words)

    def put(self, place: int, words: str) -> None:
        """A prompt was queued; its turn stands at a place."""
        self._words[place] = words.strip()

    def take_back(self, content: object, *, every: bool) -> None:
        """Mark what was taken back; it is a turn after all if it is met again."""
        named = [place for place, words in self._words.items() if words == content]
        waiting = [place for place in self._words if place not in self._withdrawn]
        self._withdrawn.update(waiting if every else (named or waiting)[:1])

    def places_of(self, blocks: tuple[str, ...]) -> list[int]:
        """Places where the words of a message were queued: one, or one for each part."""
        if not self._words:
            return []
        words = [block.strip() for block in blocks]
        whole = "\n\n".join(words)
        for place, text in self._words.items():
            if text == whole:
                return [place]
        count = len(words) if len(words) > 1 else _joined(whole, self._words.values())
        first = list(self._words.items())[:count]
        told = len(words) == 1 or words == [text for _, text in first]
        return [place for place, _ in first] if told else []

    def run(self, places: list[int]) -> None:
        """What was queued at these places is run."""
        for place in places:
            del self._words[place]
            self._withdrawn.discard(place)

    def withdrawn(self) -> list[int]:
        """Places of prompts that were taken back without being run: they are no turns."""
        return sorted(self._withdrawn)


def _joined(whole: str, texts: Iterable[str]) -> int:
    """How many of the texts, from the first on and line by line, make up the whole; 0 if none."""
    at = 0
    for count, text in enumerate(texts, start=1):
        if not whole.startswith(text, at):
            return 0
        at += len(text)
        if at == len(whole):
            return count
        if whole[at] != "\n":
            return 0
        at += 1
    return 0
