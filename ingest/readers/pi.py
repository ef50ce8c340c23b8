"""The coding agent pi: ``~/.pi/agent/sessions/<folder>/<time>_<uuid>.jsonl``, one session a file.

Seen: versions 1 to 3 of the format. A header of type ``session`` is followed by entries. From
version 2 on they have ``id`` and ``parentId``: going back to an earlier entry starts a branch in
the same file, and the main line runs from the last entry up. Version 1 is linear. A session that
was branched off into a file of its own copies the entries with their ids and names the file it
came from as ``parentSession``, earlier ``branchedFrom``. A title may stand before the header.
Times are ISO 8601 on entries and milliseconds in messages.
"""

import re
from collections.abc import Iterator
from datetime import datetime
from pathlib import PurePosixPath
from typing import Any, Final, NamedTuple, TypeAlias

from graphstore.model.conversation import Attachment, Event, LineageKind, Role, Taint
from ingest.instants import aware, instant
from ingest.jsonio import Record, records
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
from ingest.readers._fields import inline, timed
from ingest.shape import look

NAME: Final = "pi"
VERSION: Final = 1
APPENDABLE: Final = True
TIER: Final = "proven"

Json: TypeAlias = dict[str, Any]

_UUID: Final = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_HEADER: Final = "session"
_ENTRIES: Final[dict[str, Disposition]] = {
    "message": "empty",
    "custom_message": "injected",
    "compaction": "meta",
    "branch_summary": "meta",
    "model_change": "meta",
    "thinking_level_change": "meta",
    "custom": "meta",
    "label": "meta",
    "session_info": "meta",
    "leaf": "meta",
}
_ROLES: Final[dict[str, Disposition]] = {
    "toolResult": "tool",
    "bashExecution": "tool",
    "custom": "injected",
    "hookMessage": "injected",
    "system": "injected",
    "branchSummary": "meta",
    "compactionSummary": "meta",
}
_EVENTS: Final = {"compaction": "compaction", "branch_summary": "branch"}
_PARENTS: Final = ("parentSession", "branchedFrom")
_PATHS: Final = ("path", "file_path", "filePath")
_KNOWN: Final = frozenset({"type", "id", "parentId", "message"})


def sniff(head: bytes, src: Source) -> Score | None:
    """A header of type ``session``, then entries of the kinds that pi writes."""
    del head
    shape = look(src)
    if shape.kind not in {"lines", "dict"} or _HEADER not in shape.types:
        return None
    if not any(_is_header(one) for one in shape.objects):
        return None
    matching = sum(_is_header(one) or _is_entry(one) for one in shape.objects)
    return Score.by(6, shape.share(matching), "d")


def _is_header(one: Json) -> bool:
    return one.get("type") == _HEADER and isinstance(one.get("id"), str)


def _is_entry(one: Json) -> bool:
    kind = one.get("type")
    if kind == "message":
        return isinstance(one.get("message"), dict)
    return isinstance(kind, str) and kind in _ENTRIES


def read(src: Source, tally: Tally) -> Iterator[RawThread | ReadFailure]:
    """Read the sessions of one file; nearly always it is one."""
    session = _Session(src, tally)
    with src.open() as stream:
        for record in records(stream, tally, _KNOWN, limit=src.record_limit, parsed=src.parsed):
            native = record.value.get("id")
            if _is_header(record.value) and session.native_id not in (None, native):
                yield session.thread()
                session = _Session(src, tally)
            session.add(record)
    if session.native_id is not None or session.entries:
        yield session.thread()


class _Entry(NamedTuple):
    """What is kept of one record: its place in the tree, and its turn if it has words."""

    key: str | None
    parent: str | None
    turn: RawTurn | None


class _Session:
    """One session while its records are read."""

    def __init__(self, src: Source, tally: Tally) -> None:
        self.src = src
        self.tally = tally
        self.native_id: str | None = None
        self.header: Json = {}
        self.entries: list[_Entry] = []
        self.keys: set[str] = set()
        self.events: list[Event] = []
        self.models: dict[str, None] = {}
        self.title: str | None = None
        self.name: str | None = None
        self.calls: list[tuple[str, int]] = []
        self.touched: list[str] = []
        self.spoken: RawTurn | None = None

    # --- records

    def add(self, record: Record) -> None:
        """Take in one record."""
        value = record.value
        if _is_header(value):
            self._begin(value)
            self.tally.drop("meta" if not self.entries else "duplicate")
            return
        if not self.entries and value.get("type") in (None, "title") and _text(value, "title"):
            self.title = _text(value, "title")
            self.tally.drop("meta")
            return
        key = _text(value, "id")
        if key is not None and key in self.keys:
            self.tally.drop("duplicate")
            self.tally.note("duplicate_record", record.line)
            return
        if key is not None:
            self.keys.add(key)
        kind = value.get("type")
        turn = None
        if kind == "message":
            turn = self._message(value, record)
        else:
            known = _ENTRIES.get(kind) if isinstance(kind, str) else None
            if known is None:
                self.tally.note("unknown_record", record.line)
            self.tally.drop(known or "meta")
            self._note(value, record)
        self.entries.append(_Entry(key, _text(value, "parentId"), turn))

    def _begin(self, value: Json) -> None:
        if self.native_id is None:
            self.native_id = value["id"]
            self.header = value
            self._use(value.get("modelId"))

    def _note(self, value: Json, record: Record) -> None:
        """Facts beside the words: names, models, compactions."""
        kind = value.get("type")
        if kind == "session_info":
            self.name = _text(value, "name")  # an empty one takes the name back
        elif kind == "model_change":
            self._use(value.get("modelId"))
        elif isinstance(kind, str) and kind in _EVENTS:
            at = self._time(value.get("timestamp"), record)
            self.events.append(Event(kind=_EVENTS[kind], at=aware(at)))

    def _use(self, model: object) -> None:
        if isinstance(model, str) and model:
            self.models[model] = None

    def _time(self, value: object, record: Record) -> datetime | None:
        return timed(value, self.tally, record.line)

    def _message(self, value: Json, record: Record) -> RawTurn | None:
        message = value.get("message")
        role = message.get("role") if isinstance(message, dict) else None
        if not isinstance(message, dict) or not isinstance(role, str):
            self.tally.drop("lost")
            self.tally.note("bad_message", record.line)
            return None
        if role == "user":
            self.spoken = None
            return self._turn(Role.HUMAN, value, message, record)
        if role == "assistant":
            self._use(message.get("model"))
            return self._answer(value, message, record)
        if role in ("toolResult", "bashExecution") and self.src.keep_context:
            turn = self._turn(Role.OTHER, value, message, record)
            turn.blocks = turn.blocks or tuple(filter(None, [_text(message, "output")]))
            turn.taint = Taint.TOOL
            return turn
        if role not in _ROLES:
            self.tally.note("unknown_record", record.line)
        self.tally.drop(_ROLES.get(role, "meta"))
        return None

    def _answer(self, value: Json, message: Json, record: Record) -> RawTurn | None:
        """An answer, or what is said on the way; without words its calls go to the next one."""
        turn = self._turn(Role.ASSISTANT, value, message, record)
        called = list(_calls(message))
        self.calls.extend((name, 1) for name, _ in called)
        self.touched.extend(path for _, path in called if path is not None)
        if any(block.strip() for block in turn.blocks):
            turn.calls, self.calls = tuple(self.calls), []
            turn.touched, self.touched = tuple(self.touched), []
            turn.calls_tool = bool(called)
            turn.stopped = message.get("stopReason") in ("stop", "length")
            self.spoken = turn
            return turn
        if called and self.spoken is not None:
            self.spoken.calls_tool = True
        if called:
            self.spoken = None
        self.tally.drop("tool" if called else "thinking" if _thinks(message) else "empty")
        return None

    def _turn(self, role: Role, value: Json, message: Json, record: Record) -> RawTurn:
        at = self._time(value.get("timestamp") or message.get("timestamp"), record)
        return RawTurn(
            role=role,
            blocks=tuple(_blocks(message)),
            key=_text(value, "id"),
            at=at,
            line=record.line,
            offset=record.offset,
            length=record.length,
            attachments=tuple(_images(message)),
        )

    # --- the session

    def thread(self) -> RawThread:
        up = {one.key: one.parent for one in self.entries if one.key is not None}
        main = self._main_line(up)
        given = {one.key for one in self.entries if one.turn is not None}
        turns: list[RawTurn] = []
        for one in self.entries:
            if one.turn is None:
                continue
            one.turn.alternative = main is not None and one.key not in main
            one.turn.parent = _nearest(up, one.parent, given)
            turns.append(one.turn)
        parent = self._parent()
        return RawThread(
            source=NAME,
            native_id=self.native_id,
            turns=turns,
            agent=True,
            growing=self.native_id is None,
            rank=1,
            sharing="keys" if up else "words",
            titles=tuple(self._titles()),
            started_at=instant(self.header.get("timestamp"))[0],
            project=_text(self.header, "cwd"),
            models=tuple(self.models),
            native_ids=(self.native_id,) if self.native_id else (),
            pointers=(Pointer(LineageKind.FORKED_FROM, parent),) if parent else (),
            events=tuple(self.events),
            tail_calls=tuple(self.calls),
            record_keys=tuple(one.key for one in self.entries if one.key and one.turn is None),
            slash_commands=True,
            where=self.native_id or "",
        )

    def _titles(self) -> Iterator[TitleCandidate]:
        if self.name:
            yield TitleCandidate("user", self.name)
        if self.title:
            yield TitleCandidate("native", self.title)

    def _main_line(self, up: dict[str, str | None]) -> set[str] | None:
        """Keys from the last entry up; None where the entries are no tree."""
        last = next((one.key for one in reversed(self.entries) if one.key is not None), None)
        if last is None:
            return None
        passed: set[str] = set()
        at: str | None = last
        while at is not None and at in up:
            passed.add(at)
            at = up[at]
            if at in passed:
                self.tally.note("parent_cycle", self.native_id)
                break
        else:
            if at is not None:
                self.tally.note("orphan_parent", self.native_id)
        return passed

    def _parent(self) -> str | None:
        """Native id of the session this one was branched off from."""
        path = next((text for key in _PARENTS if (text := _text(self.header, key))), None)
        if path is None:
            return None
        stem = PurePosixPath(path.replace("\\", "/")).stem
        found = _UUID.findall(stem)
        return found[-1] if found else stem.rpartition("_")[2] or None


def _nearest(up: dict[str, str | None], parent: str | None, given: set[str | None]) -> str | None:
    """Nearest entry above that is a turn."""
    passed: set[str] = set()
    while parent is not None and parent not in given and parent not in passed:
        passed.add(parent)
        parent = up.get(parent)
    return parent if parent in given else None


# --- a message


def _text(value: Json, key: str) -> str | None:
    found = value.get(key)
    return found if isinstance(found, str) and found else None


def _parts(message: Json) -> Iterator[Json]:
    content = message.get("content")
    if isinstance(content, str):
        yield {"type": "text", "text": content}
    for part in content if isinstance(content, list) else ():
        if isinstance(part, dict):
            yield part


def _blocks(message: Json) -> Iterator[str]:
    for part in _parts(message):
        if part.get("type") == "text" and isinstance(part.get("text"), str):
            yield part["text"]


def _thinks(message: Json) -> bool:
    return any(part.get("type") == "thinking" for part in _parts(message))


def _images(message: Json) -> Iterator[Attachment]:
    for part in _parts(message):
        if part.get("type") == "image":
            yield inline(part.get("data"), media=_text(part, "mimeType"))


def _calls(message: Json) -> Iterator[tuple[str, str | None]]:
    """Tools called, with the path that a reading or editing one names."""
    for part in _parts(message):
        if part.get("type") == "toolCall":
            given = part.get("arguments")
            paths = (given.get(key) for key in _PATHS) if isinstance(given, dict) else iter(())
            path = next((one for one in paths if isinstance(one, str) and one), None)
            yield _text(part, "name") or "unnamed", path
