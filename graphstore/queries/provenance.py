"""From a claim to its turns: references to words, file and line; a turn in its thread."""

from collections.abc import Iterable, Iterator
from typing import Final

from graphstore.ids import ref as ref_of
from graphstore.model.answers import Fetched, MissingRef, Opened, OpenedTurn, TurnView
from graphstore.model.conversation import Thread, Turn
from graphstore.model.query import Resolved
from graphstore.model.refs import RefUnresolved, SourceRefId, parse_ref
from graphstore.queries.recall import turn_view
from graphstore.queries.threads import row_of
from graphstore.search import Head
from graphstore.store import Store

RUN_LIMIT: Final = 200
"""Turns given for one reference to a run of them."""


def fetch(store: Store, refs: Iterable[str]) -> tuple[Fetched, ...]:
    """Full turns by reference, in the order asked; a run of turns gives each of them."""
    return tuple(found for ref in refs for found in _fetch(store, ref))


def _fetch(store: Store, ref: str) -> Iterator[Fetched]:
    parsed = parse_ref(ref)
    if isinstance(parsed, RefUnresolved):
        yield MissingRef(ref=ref, reason=parsed.reason)
    elif parsed.last_turn is None:
        yield _turn(store, ref)
    else:
        last = min(parsed.last_turn, parsed.turn + RUN_LIMIT - 1)
        for number in range(parsed.turn, last + 1):
            yield _turn(store, ref_of(parsed.thread_id, number))


def _turn(store: Store, ref: str) -> Fetched:
    found = store.resolve(ref)
    if isinstance(found, RefUnresolved):
        return MissingRef(ref=ref, reason=found.reason)
    return _view(found.thread, found.turn, found.ref)


def _view(thread: Thread, turn: Turn, ref: str) -> TurnView:
    head = Head(thread.title, thread.project, thread.source)
    return turn_view(ref, thread.thread_id, turn, head, turn.text)


def open_turn(store: Store, ref: str, around: int = 2) -> OpenedTurn:
    """A turn with ``around`` turns on each side; a thread id gives the whole thread."""
    parsed = parse_ref(ref)
    if isinstance(parsed, SourceRefId):
        found = store.resolve(ref_of(parsed.thread_id, parsed.turn))
        if isinstance(found, Resolved):
            return _opened(store, found.thread.thread_id, found.turn.number, around)
        return MissingRef(ref=ref, reason=found.reason)
    thread_id = ref.strip().removeprefix("thread:")
    if store.thread(thread_id) is None:
        return MissingRef(ref=ref, reason="malformed" if "#" in ref else "no_thread")
    return _opened(store, thread_id, None, around)


def _opened(store: Store, thread_id: str, number: int | None, around: int) -> OpenedTurn:
    thread = store.thread(thread_id)
    if thread is None:
        return MissingRef(ref=thread_id, reason="no_thread")
    line = thread.on_path()
    if number is not None and all(turn.number != number for turn in line):
        # off the main line it has no neighbours
        line = tuple(turn for turn in thread.turns if turn.number == number)
    first, last = 0, len(line)
    if number is not None:
        at = next(at for at, turn in enumerate(line) if turn.number == number)
        first, last = max(0, at - around), min(len(line), at + around + 1)
    return Opened(
        thread=row_of(thread, store.roots()[thread_id]),
        turns=tuple(_view(thread, turn, thread.ref(turn.number)) for turn in line[first:last]),
        focus=None if number is None else thread.ref(number),
        more_before=first,
        more_after=len(line) - last,
    )
