"""The editor Cursor: ``state.vscdb``, a table of keys and JSON values.

Seen: descriptions of versions 0.4x to 3.x and readers of them; no real file yet. A conversation
is ``composerData:<id>``; its messages, here called bubbles, are ``bubbleId:<id>:<bubble>`` in
the order of ``fullConversationHeadersOnly``. Earlier they stood in the conversation itself, as
``conversation``, and still earlier in two keys of ``ItemTable``. Conversations are milliseconds,
bubbles ISO 8601 or nothing. The same file holds tokens of accounts: no other key is read, and
every key is looked up in its index, however large the file is. Its agent also writes transcripts,
which hold less: see ``_cursor_log``.
"""

import sqlite3
from collections.abc import Iterator
from datetime import datetime
from pathlib import PurePosixPath
from typing import Any, Final, Literal, TypeAlias

from graphstore.model.conversation import Attachment, Event, LineageKind, Role, Taint
from ingest.instants import aware
from ingest.jsonio import loads
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
from ingest.readers._cursor_log import is_line, read_log
from ingest.readers._fields import objects_of, timed, written
from ingest.readers._sqlite import Cell, Database, guarded, opened, tables
from ingest.readers._tree import have_uuids
from ingest.shape import look
from ingest.text import Repairs

NAME: Final = "cursor"
VERSION: Final = 1
APPENDABLE: Final = False
TIER: Final = "unproven"

BUBBLES: Final = 200_000
"""Bubbles of one conversation; the rest is lost."""

Json: TypeAlias = dict[str, Any]
Problem: TypeAlias = Literal["missing_message", "bad_message", "too_big"]

_ABSENT: Final = "missing_message"
_TABLE: Final = "cursorDiskKV"
_COLUMNS: Final = frozenset({"key", "value"})
_COMPOSERS: Final = "composerData:"
# The key after all that begin with the prefix: a colon's successor is a semicolon.
_RANGE: Final = "WHERE key >= 'composerData:' AND key < 'composerData;' ORDER BY key"
_BUBBLES: Final = "bubbleId"
_HEADS: Final = "fullConversationHeadersOnly"
_LISTS: Final = (_HEADS, "conversation", "bubbles")
"""Where the bubbles of a conversation stand, the newest way first."""
_LEGACY: Final = "ItemTable"
_LEGACY_COMPOSERS: Final = "composer.composerData"
_LEGACY_CHATS: Final = "workbench.panel.aichat.view.aichat.chatdata"
_ROLES: Final = {
    1: Role.HUMAN,
    2: Role.ASSISTANT,
    "user": Role.HUMAN,
    "ai": Role.ASSISTANT,
    "assistant": Role.ASSISTANT,
}
_USED_TOOL: Final = 15
_THOUGHT: Final = 30
_COMPACTED: Final = 22
_PATHS: Final = (
    "target_file",
    "targetFile",
    "relativeWorkspacePath",
    "relative_workspace_path",
    "effectiveUri",
    "file_path",
    "path",
)
_BLOCKS: Final = frozenset({"paragraph", "heading", "listitem", "code", "quote"})


def sniff(head: bytes, src: Source) -> Score | None:
    """Known by its table, or by the lines of its agent."""
    del head
    shape = look(src)
    if shape.kind in {"lines", "dict"}:
        if "role" not in shape.keys:
            return None
        matching = sum(is_line(one) for one in shape.objects)
        return Score.by(6, shape.share(matching), "h") if matching else None
    return Score.by(2, 1.0, "a") if tables(src).get(_TABLE, frozenset()) >= _COLUMNS else None


def read(src: Source, tally: Tally) -> Iterator[RawThread | ReadFailure]:
    """Read the conversations of a database, one at a time, or the session of a transcript."""
    if look(src).kind in {"lines", "dict"}:
        return read_log(src, tally)
    return guarded(_threads(src, tally), src, tally)


def _threads(src: Source, tally: Tally) -> Iterator[RawThread | ReadFailure]:
    with opened(src, tally) as database:
        found = False
        for row in database.rows(_TABLE, ("key",), _RANGE):
            found = True
            yield _composer(_Cells(database, tally, _TABLE), str(row["key"]), src)
        if not found:
            yield from _legacy(_Cells(database, tally, _LEGACY), src)


def _composer(cells: "_Cells", key: str, src: Source) -> RawThread | ReadFailure:
    """One conversation; a row without a value is one in which nothing was said."""
    native = key.removeprefix(_COMPOSERS)
    problem, value = cells.read(key, native)
    if problem is not None and problem != _ABSENT:
        cells.tally.read()
        cells.tally.drop("lost")
        return ReadFailure(native or src.name, "bad_conversation", problem)
    return _Conversation(native, value, cells, src).thread()


def _legacy(cells: "_Cells", src: Source) -> Iterator[RawThread]:
    """Conversations of early versions, whole in one value; heads without words are none."""
    for key, listed, ident in (
        (_LEGACY_COMPOSERS, "allComposers", "composerId"),
        (_LEGACY_CHATS, "tabs", "tabId"),
    ):
        _, value = cells.read(key, src.name)
        for one in objects_of(value.get(listed)):
            native = written(one, ident)
            if native and (objects_of(one.get("conversation")) or objects_of(one.get("bubbles"))):
                yield _Conversation(native, one, cells, src).thread()


class _Cells:
    """Values of one table, by key."""

    def __init__(self, database: Database, tally: Tally, table: str) -> None:
        self._database = database
        self._table = table
        self.tally = tally

    def read(self, key: str, where: str) -> tuple[Problem | None, Json]:
        """The JSON object under a key, or why there is none."""
        try:
            row = self._database.row(self._table, ("value",), "key", key)
        except sqlite3.DataError:
            return "too_big", {}
        cell = row["value"] if row is not None else None
        if cell is None:
            return _ABSENT, {}
        value, repairs = _json(cell)
        for code, count in repairs:
            self.tally.note(code, where, count)
        return ("bad_message", {}) if value is None else (None, value)


def _json(cell: Cell) -> tuple[Json | None, Repairs]:
    """A JSON object out of text or bytes, and what was put right in it."""
    if isinstance(cell, str):
        cell = cell.encode("utf-8", "surrogatepass")
    try:
        value, repairs = loads(cell) if isinstance(cell, bytes) else (None, ())
    except ValueError:
        return None, ()
    return (value, repairs) if isinstance(value, dict) else (None, ())


class _Conversation:
    """One conversation while its bubbles are read."""

    def __init__(self, native: str, value: Json, cells: _Cells, src: Source) -> None:
        self.native = native
        self.value = value
        self.cells = cells
        self.tally = cells.tally
        self.src = src
        self.is_agents = self._parent() is not None
        self.turns: list[RawTurn] = []
        self.models: dict[str, None] = {}
        self.events: list[Event] = []
        self.seen: set[str] = set()
        self.spoken: RawTurn | None = None
        """The answer so far, while nothing but thoughts follow it."""

    def thread(self) -> RawThread:
        self._use(self.value.get("modelConfig"))
        for key, bubble in self._bubbles():
            self._bubble(key, bubble)
        title = written(self.value, "name") or written(self.value, "chatTitle")
        parent = self._parent()
        return RawThread(
            source=NAME,
            native_id=self.native,
            turns=self.turns,
            agent=True,
            rank=1,
            sharing="keys" if have_uuids(self.turns) else "none",
            titles=(TitleCandidate("native", title),) if title else (),
            started_at=self._time(self.value.get("createdAt")),
            ended_at=self._time(self.value.get("lastUpdatedAt", self.value.get("lastSendTime"))),
            project=_path(_object(self.value, "workspaceIdentifier").get("uri")),
            models=tuple(self.models),
            native_ids=(self.native,),
            pointers=(Pointer(LineageKind.SUBAGENT_OF, parent),) if parent else (),
            events=tuple(self.events),
            where=self.native,
        )

    def _parent(self) -> str | None:
        return written(_object(self.value, "subagentInfo"), "parentComposerId")

    def _time(self, value: object) -> datetime | None:
        return timed(value, self.tally, self.native)

    def _use(self, told: object) -> None:
        model = written(told, "modelName") if isinstance(told, dict) else None
        if model and model != "default":
            self.models[model] = None

    # --- bubbles

    def _bubbles(self) -> Iterator[tuple[str | None, Json]]:
        """Keys and values in their order; what is listed and absent is counted as lost."""
        inline = _object(self.value, "conversationMap")
        for name in _LISTS:
            held = self.value.get(name)
            if not isinstance(held, list) or not held:
                continue
            for one in held[:BUBBLES]:
                self.tally.read()
                if name == _HEADS:
                    yield from self._listed_bubble(one, inline)
                elif isinstance(one, dict):
                    yield written(one, "bubbleId") or written(one, "id"), one
                else:
                    self._lose("bad_message")
            for _ in held[BUBBLES:]:
                self.tally.read()
                self._lose("bad_message")
            return

    def _listed_bubble(self, head: object, inline: Json) -> Iterator[tuple[str, Json]]:
        key = written(head, "bubbleId") if isinstance(head, dict) else None
        if key is None or not isinstance(head, dict):
            self._lose("bad_message")
            return
        problem, value = self.cells.read(f"{_BUBBLES}:{self.native}:{key}", self.native)
        held = inline.get(key)
        if problem == _ABSENT and isinstance(held, dict):
            problem, value = None, held
        if problem is not None:
            self._lose(problem)
        else:
            yield key, value if "type" in value else {**value, "type": head.get("type")}

    def _lose(self, code: Problem) -> None:
        self.tally.drop("lost")
        self.tally.note(code, self.native)

    def _bubble(self, key: str | None, value: Json) -> None:
        """One bubble is a message, a tool that was used, or a thought."""
        if key is not None and key in self.seen:
            self.tally.drop("duplicate")
            self.tally.note("duplicate_record", self.native)
            return
        self.seen.update([key] if key is not None else ())
        kind = value.get("type")
        role = _ROLES.get(kind) if isinstance(kind, int | str) else None
        words = _words(value)
        if role is None:
            if words:
                self._lose("bad_message")
            else:
                self.tally.drop("empty")
        elif role is Role.HUMAN:
            self._asked(key, value, words)
        else:
            self._answered(key, value, words)

    def _asked(self, key: str | None, value: Json, words: str) -> None:
        self.spoken = None
        if not words:
            self.tally.drop("empty")
            return
        role = Role.OTHER if self.is_agents else Role.HUMAN
        turn = self._turn(role, words, key, value)
        turn.attachments = tuple(_attachments(value))
        self.turns.append(turn)

    def _answered(self, key: str | None, value: Json, words: str) -> None:
        """Words are an answer; a tool makes those before it something said on the way."""
        self._use(value.get("modelInfo"))
        tool = value.get("toolFormerData")
        capability = value.get("capabilityType")
        used = isinstance(tool, dict) and bool(tool)
        if words:
            turn = self._turn(Role.ASSISTANT, words, key, value)
            turn.calls_tool = used
            self.spoken = turn
            self.turns.append(turn)
        if used and isinstance(tool, dict):
            self._called(key, value, tool, with_words=bool(words))
        elif not words:
            if capability == _COMPACTED:
                self.events.append(
                    Event(kind="compaction", at=aware(self._time(value.get("createdAt"))))
                )
            self.tally.drop(_why_silent(value, capability))

    def _called(self, key: str | None, value: Json, tool: Json, *, with_words: bool) -> None:
        if self.spoken is not None:
            self.spoken.calls_tool = True
        turn = self.turns[-1] if with_words else self._turn(Role.ASSISTANT, "", key, value)
        name = written(tool, "name")
        turn.calls = ((name or "unnamed", 1),)
        path = _touched(tool)
        turn.touched = (path,) if path else ()
        if not with_words:
            self.turns.append(turn)
            self.spoken = None
        result = tool.get("result")
        if self.src.keep_context and isinstance(result, str) and result.strip():
            context = self._turn(Role.OTHER, result, key and f"{key}#1", value)
            context.taint = Taint.TOOL
            context.records, turn.records = (0, 1) if with_words else (1, 0)
            self.turns.append(context)

    def _turn(self, role: Role, words: str, key: str | None, value: Json) -> RawTurn:
        return RawTurn(
            role=role,
            blocks=(words,) if words else (),
            key=key,
            at=self._time(_when(value)),
            stopped=True,
        )


# --- a bubble


def _when(value: Json) -> object:
    """Time of a bubble; old ones have none of their own, but answers that of their request."""
    found = value.get("createdAt", value.get("timestamp"))
    return _object(value, "timingInfo").get("clientRpcSendTime") if found is None else found


def _object(value: Json, key: str) -> Json:
    found = value.get(key)
    return found if isinstance(found, dict) else {}


def _words(value: Json) -> str:
    """The plain text; where there is none, that of the editor's document."""
    for key in ("text", "rawText"):
        if (plain := written(value, key)) is not None:
            return plain
    rich = value.get("richText")
    return _plain(rich).strip() if isinstance(rich, str | dict) else ""


def _plain(rich: str | Json) -> str:
    """Text of a document of nested nodes, a line for each block; nothing recurs over input."""
    if isinstance(rich, str):
        rich = _json(rich)[0] or {}
    found: list[str] = []
    waiting: list[Any] = [rich.get("root", rich)]
    while waiting:
        node = waiting.pop()
        if isinstance(node, str):
            found.append(node)
        if not isinstance(node, dict):
            continue
        kind = node.get("type")
        if isinstance(node.get("text"), str):
            found.append(node["text"])
        elif kind in ("linebreak", "hardBreak"):
            found.append("\n")
        inner = node.get("children", node.get("content"))
        if isinstance(kind, str) and kind.lower() in _BLOCKS:
            waiting.append("\n")
        waiting.extend(reversed(inner) if isinstance(inner, list) else ())
    return "".join(found)


def _why_silent(value: Json, capability: object) -> Disposition:
    """What a bubble without words and without a tool counts as."""
    if value.get("thinking") or value.get("allThinkingBlocks") or capability == _THOUGHT:
        return "thinking"
    if capability == _COMPACTED:
        return "meta"
    return "tool" if capability == _USED_TOOL or value.get("toolResults") else "empty"


def _touched(tool: Json) -> str | None:
    """The path that a reading or editing tool was given."""
    for name in ("rawArgs", "params"):
        given = tool.get(name)
        told = _json(given)[0] if isinstance(given, str) else given
        if isinstance(told, dict):
            path = next((one for key in _PATHS if (one := written(told, key))), None)
            if path:
                return path
    return None


def _path(uri: object) -> str | None:
    """The place that an address of the editor names on this machine."""
    if not isinstance(uri, dict):
        return None
    return written(uri, "fsPath") or written(uri, "path")


def _attachments(value: Json) -> Iterator[Attachment]:
    """Files and images that a person put beside the words."""
    context = _object(value, "context")
    for one in objects_of(context.get("fileSelections")):
        if path := _path(one.get("uri")):
            yield Attachment(name=PurePosixPath(path.replace("\\", "/")).name or None)
    images = objects_of(value.get("images")) or objects_of(context.get("selectedImages"))
    for one in images:
        path = written(one, "path")
        name = PurePosixPath(path.replace("\\", "/")).name if path else None
        yield Attachment(name=name or None, media_type="image")
