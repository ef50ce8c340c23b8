"""From a reference as a person or a model wrote it to the one turn it points at; never guessed."""

from typing import Final

import orjson

from graphstore.ids import ref as ref_of
from graphstore.model.query import Resolved
from graphstore.model.refs import RefUnresolved, parse_ref
from graphstore.threads import PREFIX_KINDS, Threads

_ALIASES: Final = ("thread_key:", "thread_id:")
_THREAD_FIELDS: Final = ("thread", "thread_key", "thread_id")

Resolution = Resolved | RefUnresolved


def resolve(threads: Threads, text: str) -> Resolution:
    """The turn of a reference, of an alias of one, or of an object in JSON.

    The object form is ``{"thread": ..., "turn": ..., "message_id": ...}``; a message id of the
    source helps where the number does not. A run of turns resolves to its first.
    """
    written = text.strip()
    if written.startswith("{"):
        return _resolve_object(threads, written)
    for alias in _ALIASES:
        if written.startswith(alias):
            written = "thread:" + written.removeprefix(alias)
    parsed = parse_ref(written)
    if isinstance(parsed, RefUnresolved):
        return parsed
    return _at(threads, parsed.thread_id, parsed.turn)


def _at(threads: Threads, thread_id: str, number: int) -> Resolution:
    kept_in, kept_as = threads.place(thread_id, number)
    head = threads.head(kept_in)
    if head is None:
        return RefUnresolved(reason="no_thread")
    turn = threads.turn(ref_of(kept_in, kept_as))
    if turn is None:
        return RefUnresolved(reason="no_turn")
    return Resolved(thread=head, turn=turn, ref=ref_of(kept_in, kept_as))


def _resolve_object(threads: Threads, text: str) -> Resolution:
    try:
        fields = orjson.loads(text)
    except ValueError:
        return RefUnresolved(reason="malformed")
    named = [fields[name] for name in _THREAD_FIELDS if isinstance(fields.get(name), str)]
    if not named:
        return RefUnresolved(reason="malformed")
    thread_id = named[0].removeprefix("thread:")
    turn, message = fields.get("turn"), fields.get("message_id")
    found: Resolution = RefUnresolved(reason="no_turn")
    if isinstance(turn, int) and turn > 0:
        found = _at(threads, thread_id, turn)
    if isinstance(found, RefUnresolved) and isinstance(message, str):
        return _by_message(threads, thread_id, message)
    return found


def _by_message(threads: Threads, thread_id: str, message: str) -> Resolution:
    """The turn that carries a message id, in the thread or in those whose prefix it shares."""
    waiting, seen = [thread_id], {thread_id}
    while waiting:
        current = waiting.pop(0)
        numbers = threads.by_native_key(current, message)
        if len(numbers) == 1:
            return _at(threads, current, numbers[0])
        if numbers:
            return RefUnresolved(reason="ambiguous")
        for link in threads.links_of(current):
            if link.kind in PREFIX_KINDS and link.parent not in seen:
                seen.add(link.parent)
                waiting.append(link.parent)
    return RefUnresolved(reason="no_turn" if threads.exists(thread_id) else "no_thread")
