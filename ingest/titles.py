"""Titles that one file offers for a thread of another, and the title that a thread gets."""

from collections.abc import Iterable, Iterator, Sequence

from graphstore.model.carrier import PendingTitle
from graphstore.model.conversation import Thread
from graphstore.model.record import ThreadRecord
from ingest.carriers import Carrier
from ingest.clean import choose_title
from ingest.cuts import Older
from ingest.heads import relinked
from ingest.identity import Whole
from ingest.known import Known
from ingest.model import TitleCandidate


class Titles:
    """Titles offered to whichever thread owns a record, and which of them found their thread."""

    def __init__(self, offered: Iterable[PendingTitle]) -> None:
        self._offered: dict[str, str] = {}
        for title in sorted(offered, key=lambda one: one.text):  # files come in any order
            self._offered.setdefault(title.leaf, title.text)
        self.resolved: set[str] = set()

    def of(self, whole: Whole, known: Thread | None = None) -> str | None:
        """The title of a thread; those offered for its records are resolved.

        A thread that was named by another file before keeps its name.
        """
        candidates = [title for head in whole.heads for title in head.titles]
        last: str | None = None
        for key in _record_keys(whole) if self._offered else ():
            if key in self._offered:
                self.resolved.add(key)
                last = self._offered[key]
        if last is not None:
            candidates.append(TitleCandidate("summary", last))
        if not candidates and known is not None and not _is_unnamed(known):
            return known.title
        turns = [(whole.turns[place].raw.role, whole.turns[place].text) for place in whole.path]
        if whole.base is not None:
            on_path = set(whole.base.path)
            before = (turn for turn in whole.base.turns if turn.number in on_path)
            turns = [*((turn.role, turn.text) for turn in before), *turns]
        return choose_title(tuple(candidates), tuple(turns))

    def any_for(self, older: Older) -> bool:
        """Whether a title is offered for one of these records, as far as their hashes tell."""
        return any(older.has(leaf) for leaf in self._offered)

    def late(self, carriers: Sequence[Carrier], known: Known) -> Iterator[ThreadRecord]:
        """Titles offered by this run for threads that it does not hold but the store does."""
        for carrier in carriers:
            for title in carrier.titles:
                if title.leaf in self.resolved:
                    continue
                for identity in known.holding(carrier.reader, (title.leaf,))[:1]:
                    self.resolved.add(title.leaf)
                    thread = known.thread(identity)
                    if thread is not None and _is_unnamed(thread):
                        yield relinked(thread, thread.lineage).replace(title=title.text)


def _record_keys(whole: Whole) -> Iterator[str]:
    for head in whole.heads:
        yield from head.record_keys
    for turn in whole.turns:
        if turn.raw.key is not None:
            yield turn.raw.key
        yield from turn.raw.also


def _is_unnamed(thread: Thread) -> bool:
    """Whether a stored thread has no title but its first question."""
    said = tuple((turn.role, turn.text) for turn in thread.on_path())
    return thread.title in (None, choose_title((), said))
