"""Codex sessions: ``~/.codex/sessions/**/rollout-*.jsonl`` and the prompts of ``history.jsonl``.

Seen: version 0.34 on disk; the shapes from April 2025 to 2026. The oldest file is one document
``{session, items}``; then a header line and bare items; since September 2025 every line is
``{timestamp, type, payload}``. A message is written as item, as event, or as both: the item is
the message, an equal event of the same turn its copy. Times are ISO 8601, those of the prompt
history seconds. A fork holds a copy of its parent's history and names it; rollbacks take the
last exchanges off the main line.
"""

from collections.abc import Iterator
from typing import Final

from graphstore.model.conversation import Role
from ingest.cuts import Older, Unsure
from ingest.document import elements
from ingest.jsonio import records
from ingest.model import RawThread, RawTurn, ReadFailure, Score, Source, Tally
from ingest.readers._codex_records import WRAPPED, Json, Place, Where
from ingest.readers._codex_session import Session
from ingest.readers._codex_words import asked
from ingest.readers._fields import timed, word
from ingest.shape import look

NAME: Final = "codex"
VERSION: Final = 1
APPENDABLE: Final = True
TIER: Final = "proven"

_BARE: Final = frozenset({
    "message",
    "reasoning",
    "function_call",
    "function_call_output",
    "local_shell_call",
    "custom_tool_call",
    "custom_tool_call_output",
    "web_search_call",
})  # fmt: skip
_HEADER: Final = frozenset({"id", "timestamp", "instructions"})
_PROMPT: Final = frozenset({"session_id", "ts", "text"})
_KNOWN: Final = frozenset({"payload", "record_type", "content", *_HEADER, *_PROMPT})
_NO_KEY: Final = "\0"
"""A key that no object has: a document is one session."""


_TELLING: Final = ("payload", "record_type", "instructions", "session_id")
"""Keys of which every sign of a session has one."""


def sniff(head: bytes, src: Source) -> Score | None:
    """One old document, prompts of the history, or the share of lines of a session."""
    del head
    shape = look(src)
    if shape.kind == "dict" and _is_oldest(shape.objects[0]):
        return Score.by(5)
    if shape.kind not in {"lines", "dict"} or shape.keys.isdisjoint(_TELLING):
        return None
    bare = any("record_type" in one or _is_header(one) for one in shape.objects)
    matching = sum(_is_ours(one, bare=bare) for one in shape.objects)
    return Score.by(6, shape.share(matching), "a") if matching else None


def _is_oldest(one: Json) -> bool:
    return "session" in one and "items" in one


def _is_ours(one: Json, *, bare: bool) -> bool:
    kind = word(one, "type")
    if kind in WRAPPED:
        return "payload" in one
    if "record_type" in one or _is_header(one) or _is_prompt(one):
        return True
    return bare and kind in _BARE


def _is_header(one: Json) -> bool:
    return "type" not in one and one.keys() >= _HEADER


def _is_prompt(one: Json) -> bool:
    return one.keys() == _PROMPT


def read(src: Source, tally: Tally) -> Iterator[RawThread | ReadFailure]:
    """Read the session of a file, the sessions of a joined one, or a prompt history."""
    shape = look(src)
    file = _File(src, tally)
    with src.open() as stream:
        if shape.kind == "dict" and _is_oldest(shape.objects[0]):
            for element in elements(stream, tally, _NO_KEY, limit=src.record_limit):
                yield from file.document(element.value, Place(None, element.offset, element.length))
        else:
            for record in records(stream, tally, _KNOWN, limit=src.record_limit, parsed=src.parsed):
                ended = file.record(record.value, record)
                if ended is not None:
                    yield ended
    yield from file.rest()


def resume(src: Source, tally: Tally, state: str, older: Older) -> RawThread | None:
    """Read what follows a place of a session; None if it may change what was before."""
    file = _File(src, tally)
    session = file.session = Session(src, tally)
    session.go_on(state, older)
    try:
        with src.open() as stream:
            for record in records(stream, tally, _KNOWN, limit=src.record_limit):
                if _is_head(record.value) or _is_prompt(record.value):
                    return None
                session.record(record.value, record)
    except Unsure:
        return None
    return session.thread()


def _is_head(value: Json) -> bool:
    return value.get("type") == "session_meta" or _is_header(value)


class _File:
    """One file while its lines are read: nearly always one session."""

    def __init__(self, src: Source, tally: Tally) -> None:
        self.src = src
        self.tally = tally
        self.session: Session | None = None
        self.prompts: dict[str, RawThread] = {}
        self.is_empty = True

    def document(self, value: object, place: Place) -> Iterator[RawThread | ReadFailure]:
        """Read a whole session in one object."""
        self.tally.read()
        session = value.get("session") if isinstance(value, dict) else None
        items = value.get("items") if isinstance(value, dict) else None
        if not isinstance(session, dict) or not isinstance(items, list):
            self.tally.drop("lost")
            self.is_empty = False
            yield ReadFailure(f"{self.src.name}: byte {place.offset}", "bad_conversation")
            return
        self.tally.drop("meta")
        held = self.session = Session(self.src, self.tally)
        held.meta(session, place)
        for item in items:
            self.tally.read()
            if isinstance(item, dict):
                held.item(item, place._replace(at=item.get("timestamp")))
            else:
                held.lose(place)
        if (ended := self._end()) is not None:
            yield ended

    def record(self, value: Json, place: Where) -> RawThread | None:
        """Take in one line, which is counted already; the session that ends before it."""
        kind = value.get("type")
        if kind is not None and kind != "session_meta" and "payload" in value:  # nearly always
            (self.session or self._held()).record(value, place)
        elif _is_prompt(value):
            self._prompt(value, place)
        else:
            meta = value.get("payload") if kind == "session_meta" else value
            if isinstance(meta, dict) and (meta is not value or _is_header(value)):
                return self._head(meta, place)
            self._held().record(value, place)
        return None

    def _head(self, meta: Json, place: Where) -> RawThread | None:
        self.tally.drop("meta")
        strange = self.session is not None and self.session.is_stranger(meta)
        ended = self._end() if strange else None
        self._held().meta(meta, place)
        return ended

    def _held(self) -> "Session":
        if self.session is None:
            self.session = Session(self.src, self.tally)
        return self.session

    def _prompt(self, value: Json, place: Where) -> None:
        native, text = value["session_id"], value["text"]
        if not isinstance(native, str) or not native or not isinstance(text, str):
            self.tally.drop("lost")
            self.tally.note("bad_message", place.line)
            return
        at = timed(value["ts"], self.tally, place.line)
        fresh = RawThread(NAME, native, agent=True, rank=4, native_ids=(native,), where=native)
        thread = self.prompts.setdefault(native, fresh)
        thread.turns.append(
            RawTurn(
                role=Role.HUMAN,
                blocks=(asked(text),),
                at=at,
                line=place.line,
                offset=place.offset,
                length=place.length,
            )
        )

    def _end(self) -> RawThread | None:
        session, self.session = self.session, None
        if session is None or (session.native_id is None and not session.turns):
            return None
        self.is_empty = False
        return session.thread()

    def rest(self) -> Iterator[RawThread | ReadFailure]:
        """Give what is left when all is read."""
        if (ended := self._end()) is not None:
            yield ended
        yield from self.prompts.values()
        if self.is_empty and not self.prompts:
            yield ReadFailure(self.src.name, "no_conversation", "no session and no message")
