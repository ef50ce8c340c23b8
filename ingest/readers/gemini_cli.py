"""Gemini CLI sessions: ``~/.gemini/tmp/<project>/chats/*.json`` and ``*.jsonl``.

Seen: versions 0.23 to 0.30. A session is one document with its messages, or a first line with
its head and then one message, change of the head or rewind a line; a message of the same id
replaces the one before. Thoughts and tool calls hang on the model's messages. Times are
ISO 8601. A rewind takes a message and all later ones off the main line.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, NamedTuple, TypeAlias

from graphstore.model.conversation import Attachment, Event, LineageKind, Role, Taint
from ingest.document import elements
from ingest.jsonio import records
from ingest.model import (
    Disposition,
    Pointer,
    RawThread,
    RawTurn,
    ReadFailure,
    Score,
    Source,
    Tally,
    TitleCandidate,
)
from ingest.readers._fields import inline, objects_of, timed, word
from ingest.shape import look

NAME: Final = "gemini-cli"
VERSION: Final = 1
APPENDABLE: Final = False
TIER: Final = "proven"

Json: TypeAlias = dict[str, Any]

_TYPES: Final = frozenset({"user", "gemini", "info", "error", "warning"})
_HEAD: Final = ("sessionId", "projectHash")
_CHANGES: Final = ("$set", "$rewindTo")
_KNOWN: Final = frozenset({*_HEAD, *_CHANGES, "type", "content", "messages"})
_NO_KEY: Final = "\0"
"""A key that no object has: a document is one session."""
_GO_ON: Final = "System: Please continue."
"""What the tool itself asks in the user's place."""
_FILES_BEGIN: Final = "--- Content from referenced files ---"
_FILES_END: Final = "--- End of content ---"
_REFERENCED: Final = re.compile(
    rf"\n?{re.escape(_FILES_BEGIN)}.*?(?:{re.escape(_FILES_END)}\n?|\Z)", re.DOTALL
)
_PATHS: Final = ("file_path", "absolute_path", "path")
_CHATS: Final = "chats"


_SIGNS: Final = ("projectHash", *_CHANGES)
_TELLING: Final = (*_SIGNS, "id")


def sniff(head: bytes, src: Source) -> Score | None:
    """Tell by the head of a document, else by the share of lines of a session."""
    del head
    shape = look(src)
    if shape.kind not in {"dict", "lines"}:
        return None
    if shape.kind == "dict" and all(key in shape.objects[0] for key in _HEAD):
        return Score.by(5, 1.0, "d")
    if shape.keys.isdisjoint(_TELLING):
        return None
    matching = sum(map(_is_ours, shape.objects))
    return Score.by(6, shape.share(matching), "b") if matching else None


def _is_ours(one: Json) -> bool:
    if any(key in one for key in _SIGNS):
        return True
    return word(one, "type") in _TYPES and "id" in one and "parentUuid" not in one


def read(src: Source, tally: Tally) -> Iterator[RawThread | ReadFailure]:
    """Read the session of a file; lines of several sessions are several threads."""
    file = _File(src, tally)
    with src.open() as stream:
        if look(src).kind in {"dict", "list"}:
            for element in elements(stream, tally, _NO_KEY, limit=src.record_limit):
                tally.read()
                place = _Place(None, element.offset, element.length)
                yield from file.record(element.value, place)
        else:
            for record in records(stream, tally, _KNOWN, limit=src.record_limit, parsed=src.parsed):
                place = _Place(record.line, record.offset, record.length)
                yield from file.record(record.value, place)
    yield from file.rest()


class _Place(NamedTuple):
    line: int | None
    offset: int
    length: int


class _File:
    """One file while its records are read: nearly always one session."""

    def __init__(self, src: Source, tally: Tally) -> None:
        self.src = src
        self.tally = tally
        self.session: _Session | None = None
        self.is_empty = True

    def record(self, value: object, place: _Place) -> Iterator[RawThread]:
        """Take in one record, which is counted already."""
        if not isinstance(value, dict):
            self.tally.drop("lost")
            self.tally.note("not_an_object", place.line)
            return
        native = word(value, "sessionId")
        if native and self.session is not None and self.session.native_id not in {None, native}:
            yield from self._end()
        if self.session is None:
            self.session = _Session(self.src, self.tally)
        if native or "projectHash" in value:
            self.tally.drop("meta")
            self.session.head(value, place)
        elif any(key in value for key in _CHANGES):
            self.tally.drop("meta")
            self.session.change(value, place)
        else:
            self.session.message(value, place)

    def _end(self) -> Iterator[RawThread]:
        session, self.session = self.session, None
        if session is not None and (session.native_id or session.messages):
            self.is_empty = False
            yield session.thread()

    def rest(self) -> Iterator[RawThread | ReadFailure]:
        """Give what is left when all is read."""
        yield from self._end()
        if self.is_empty:
            yield ReadFailure(self.src.name, "no_conversation", "no session and no message")


@dataclass(slots=True)
class _Message:
    """A message as it was last written."""

    value: Json
    place: _Place
    index: int
    """Among the messages of the session."""
    alternative: bool = False


class _Session:
    """One session while its records are read."""

    def __init__(self, src: Source, tally: Tally) -> None:
        self.src = src
        self.tally = tally
        self.native_id: str | None = None
        self.meta: Json = {}
        self.messages: list[_Message | None] = []
        """None where a message was that is written again further down."""
        self.path: list[_Message] = []
        """The messages that no rewind took back."""
        self.places: dict[str, int] = {}
        """Place of a message by its id."""
        self.events: list[Event] = []
        self.models: dict[str, None] = {}
        self.calls: dict[bool, list[tuple[str, int]]] = {False: [], True: []}
        """Calls that wait for an answer, on the main line and off it."""
        self.touched: dict[bool, list[str]] = {False: [], True: []}
        self.spoken: RawTurn | None = None
        """The message that a call would directly follow."""

    # --- records

    def head(self, value: Json, place: _Place) -> None:
        """Take in what is told of the session, and messages told with it."""
        self.native_id = self.native_id or word(value, "sessionId") or None
        self.meta.update((key, told) for key, told in value.items() if key != "messages")
        messages = value.get("messages")
        for one in messages if isinstance(messages, list) else ():
            self.tally.read()
            self.message(one, place)

    def change(self, value: Json, place: _Place) -> None:
        """Take in a change of the head, or a rewind."""
        told = value.get("$set")
        if isinstance(told, dict):
            self.head({key: one for key, one in told.items() if key != "sessionId"}, place)
        if "$rewindTo" in value:
            self._rewind(value["$rewindTo"], place)

    def _rewind(self, key: object, place: _Place) -> None:
        at = self.places.get(key) if isinstance(key, str) else None
        if at is None:
            self.tally.note("missing_reference", place.line)
            return
        self.events.append(Event(kind="rewind"))
        while self.path and self.path[-1].index >= at:
            self.path.pop().alternative = True

    def message(self, value: object, place: _Place) -> None:
        """Take in a message; one whose id is known replaces that one."""
        if not isinstance(value, dict) or not word(value, "type"):
            self.tally.drop("lost")
            self.tally.note("bad_message", place.line)
            return
        if not self.src.keep_context:
            for call in objects_of(value.get("toolCalls")):
                call.pop("result", None)  # it can be large and is not wanted
        key = word(value, "id")
        at = self.places.get(key) if key else None
        before = self.messages[at] if at is not None else None
        if at is not None and before is not None:
            self.tally.drop("duplicate")
            if "content" not in value:  # an update: the words stay
                value = {**before.value, **value, "type": before.value["type"]}
            if not before.alternative:
                before.value, before.place = value, place
                return
            self.messages[at] = None
        if key:
            self.places[key] = len(self.messages)
        told = _Message(value, place, len(self.messages))
        self.messages.append(told)
        self.path.append(told)

    # --- the thread

    def thread(self) -> RawThread:
        turns = [turn for one in self.messages if one is not None for turn in self._turns(one)]
        return RawThread(
            source=NAME,
            native_id=self.native_id,
            turns=turns,
            agent=True,
            growing=self.native_id is None,
            rank=1,
            sharing="keys",
            titles=self._titles(),
            started_at=self._time(self.meta.get("startTime"), None),
            ended_at=self._time(self.meta.get("lastUpdated"), None),
            project=self._project(),
            models=tuple(self.models),
            native_ids=(self.native_id,) if self.native_id else (),
            pointers=self._pointers(),
            events=tuple(self.events),
            tail_calls=tuple(self.calls[False]),
            where=self.native_id or "",
        )

    def _titles(self) -> tuple[TitleCandidate, ...]:
        summary = word(self.meta, "summary")
        return (TitleCandidate("ai", summary),) if summary.strip() else ()

    def _project(self) -> str | None:
        folders = self.meta.get("directories")
        for one in folders if isinstance(folders, list) else ():
            if isinstance(one, str) and one:
                return one
        return word(self.meta, "projectHash") or None

    @property
    def _is_agent(self) -> bool:
        return self.meta.get("kind") == "subagent"

    def _pointers(self) -> tuple[Pointer, ...]:
        """The session that an agent works for: told, or the folder that it lies in."""
        if not self._is_agent:
            return ()
        parts = self.src.parts
        folder = parts[-2] if parts[-3:-2] == (_CHATS,) else ""
        parent = word(self.meta, "parentSessionId") or folder
        return (Pointer(LineageKind.SUBAGENT_OF, parent),) if parent else ()

    # --- messages

    def _turns(self, one: _Message) -> Iterator[RawTurn]:
        """The turn of a message, if it has words; its record is disposed of otherwise."""
        kind = word(one.value, "type")
        if kind == "user":
            yield from self._human(one)
        elif kind == "gemini":
            yield from self._assistant(one)
        else:
            self.tally.drop("meta")
            if kind not in _TYPES:
                self.tally.note("unknown_record", one.place.line)

    def _human(self, one: _Message) -> Iterator[RawTurn]:
        shown = one.value.get("displayContent")
        blocks, attachments, drop = self._content(shown or one.value.get("content"), one.place)
        words = _without_files(blocks)
        if not words:
            self.tally.drop("injected" if blocks else drop)
        elif words == (_GO_ON,):
            self.tally.drop("injected")
        else:
            self.spoken = None
            role = Role.OTHER if self._is_agent else Role.HUMAN
            turn = self._turn(one, role, words)
            turn.attachments = attachments
            yield turn

    def _assistant(self, one: _Message) -> Iterator[RawTurn]:
        model = word(one.value, "model")
        if model:
            self.models[model] = None
        blocks, attachments, drop = self._content(one.value.get("content"), one.place)
        calls, touched = self._calls(one.value)
        waiting, paths = self.calls[one.alternative], self.touched[one.alternative]
        waiting.extend(calls)
        paths.extend(touched)
        if calls and not blocks and self.spoken is not None:
            self.spoken.calls_tool = True
        if blocks:
            turn = self._turn(one, Role.ASSISTANT, blocks)
            turn.attachments = attachments
            turn.calls, turn.touched = tuple(waiting), tuple(paths)
            turn.calls_tool = bool(calls)
            waiting.clear()
            paths.clear()
            self.spoken = turn
            yield turn
        elif calls:
            self.spoken = None
            self.tally.drop("tool")
        else:
            self.tally.drop("thinking" if one.value.get("thoughts") else drop)
        yield from self._context(one)

    def _turn(self, one: _Message, role: Role, blocks: tuple[str, ...]) -> RawTurn:
        return RawTurn(
            role=role,
            blocks=blocks,
            key=word(one.value, "id") or None,
            at=self._time(one.value.get("timestamp"), one.place.line),
            line=one.place.line,
            offset=one.place.offset,
            length=one.place.length,
            alternative=one.alternative,
        )

    def _content(
        self, content: object, place: _Place
    ) -> tuple[tuple[str, ...], tuple[Attachment, ...], Disposition]:
        """Text blocks, files, and what a message without text is."""
        blocks: list[str] = []
        attachments: list[Attachment] = []
        drop: Disposition = "empty"
        for part in content if isinstance(content, list) else [content]:
            text = part.get("text") if isinstance(part, dict) else part
            if isinstance(part, dict) and part.get("thought"):
                drop = "thinking"
            elif isinstance(text, str):
                blocks.extend([text] if text.strip() else [])
            elif not isinstance(part, dict):
                continue
            elif "functionCall" in part or "functionResponse" in part:
                drop = "tool"
            elif (found := _file(part)) is not None:
                attachments.append(found)
            elif part:
                self.tally.note("unknown_content", place.line)
        return tuple(blocks), tuple(attachments), drop

    def _calls(self, value: Json) -> tuple[list[tuple[str, int]], list[str]]:
        calls: list[tuple[str, int]] = []
        touched: list[str] = []
        for one in objects_of(value.get("toolCalls")):
            calls.append((word(one, "name") or "tool", 1))
            arguments = one.get("args")
            if isinstance(arguments, dict):
                touched.extend(filter(None, (word(arguments, key) for key in _PATHS)))
        return calls, touched

    def _context(self, one: _Message) -> Iterator[RawTurn]:
        """What tools gave, as side turns, where the owner wants them."""
        for call in objects_of(one.value.get("toolCalls")) if self.src.keep_context else ():
            for result in objects_of(call.get("result")):
                response = result.get("functionResponse")
                told = response.get("response") if isinstance(response, dict) else None
                output = word(told, "output") if isinstance(told, dict) else ""
                if output.strip():
                    turn = self._turn(one, Role.OTHER, (output,))
                    web = word(call, "name").startswith(("web_", "google_web"))
                    turn.taint = Taint.WEB if web else Taint.TOOL
                    turn.key, turn.records = None, 0
                    yield turn

    def _time(self, value: object, line: int | None) -> datetime | None:
        return timed(value, self.tally, line)


def _without_files(blocks: tuple[str, ...]) -> tuple[str, ...]:
    """Blocks of a person without the files that the tool put behind them."""
    kept: list[str] = []
    inside = False
    for block in blocks:
        text = block.strip()
        if inside:
            inside = not text.endswith(_FILES_END)
            continue
        if text == _FILES_BEGIN:
            inside = True
            continue
        words = _REFERENCED.sub("\n", block) if _FILES_BEGIN in block else block
        if words.strip():
            kept.append(words)
    return tuple(kept)


def _file(part: Json) -> Attachment | None:
    """An image, sound or file of a message, without its bytes."""
    held = part.get("inlineData", part.get("fileData"))
    if not isinstance(held, dict):
        return None
    media, name = word(held, "mimeType") or None, held.get("displayName", held.get("fileUri"))
    return inline(held.get("data"), name if isinstance(name, str) else None, media)
