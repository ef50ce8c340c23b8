"""The agent Copilot CLI: ``~/.copilot/session-state/<session>/events.jsonl``, earlier one file.

Seen: the published list of events and readers of versions 0.0.3 to 1.0; no real file yet. Each
line is an event ``{type, data, id, timestamp, parentId}``. ``user.message`` and
``assistant.message`` are words, tools are called in ``toolRequests`` of an answer, everything
else tells what happened. Agents write into the same file: their events name the call that
spawned them, and are a thread of their own. ``session.snapshot_rewind`` takes back an event and
all after it. ``session.start`` names the session; a log without it is known by its first words.
"""

import re
from collections.abc import Iterator
from datetime import datetime
from pathlib import PurePosixPath
from typing import Any, Final, TypeAlias

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
from ingest.readers._fields import inline, objects_of, timed, written
from ingest.shape import look

NAME: Final = "copilot-cli"
VERSION: Final = 1
APPENDABLE: Final = True
TIER: Final = "unproven"

Json: TypeAlias = dict[str, Any]

_KNOWN: Final = frozenset({"type", "data", "id", "parentId"})
_START: Final = "session.start"
_TAKEN_OVER: Final = "session.import_legacy"
"""Holds a session of the first versions in a form that is not published: told, not read."""
_TELLING: Final = ("user.", "assistant.", "tool.", "session.")
_FAMILIES: Final[dict[str, Disposition]] = {
    "tool": "tool",
    "external_tool": "tool",
    "mcp_app": "tool",
    "user_input": "tool",
    "elicitation": "tool",
    "system": "injected",
    "skill": "injected",
    "command": "command",
    "session": "meta",
    "assistant": "meta",
    "user": "meta",
    "pending_messages": "meta",
    "subagent": "meta",
    "hook": "meta",
    "permission": "meta",
    "sampling": "meta",
    "model": "meta",
    "mcp": "meta",
    "abort": "meta",
    "exit_plan_mode": "meta",
    "custom": "meta",
}
"""What events count as by the first part of their type, where nothing more exact is known."""
_THOUGHTS: Final = frozenset({
    "assistant.reasoning",
    "assistant.reasoning_delta",
    "assistant.intent",
})  # fmt: skip
_DELTAS: Final = frozenset({"assistant.message_delta", "assistant.streaming_delta"})
_EVENTS: Final = {
    "abort": "abort",
    "session.compaction_complete": "compaction",
    "session.context_cleared": "clear",
    "session.snapshot_rewind": "rewind",
}
_ENDS: Final = frozenset({"assistant.turn_end", "assistant.idle", "session.shutdown"})
_FINAL: Final = {"final_answer": True, "commentary": False}
_TYPED: Final = (None, "", "user")
"""Where a message comes from that a person typed; skills, schedules and agents say so."""
_TAGS: Final = ("current_datetime", "reminder", "system_reminder", "tagged_files")
_OPENING: Final = re.compile(rf"\s*<({'|'.join(_TAGS)})>")
_PATHS: Final = ("path", "file_path", "filePath")


def sniff(head: bytes, src: Source) -> Score | None:
    """Share of the first records that are events with a type in two parts and data."""
    del head
    shape = look(src)
    if shape.kind not in {"lines", "dict"} or "data" not in shape.keys:
        return None
    if not any(_is_event(one) and one["type"].startswith(_TELLING) for one in shape.objects):
        return None
    return Score.by(6, shape.share(sum(map(_is_event, shape.objects))), "f")


def _is_event(one: Json) -> bool:
    kind = one.get("type")
    return (
        isinstance(kind, str) and _family(kind) in _FAMILIES and isinstance(one.get("data"), dict)
    )


def _family(kind: str) -> str:
    return kind.partition(".")[0]


def read(src: Source, tally: Tally) -> Iterator[RawThread | ReadFailure]:
    """Read the sessions of one file, nearly always one, and the agents each spawned."""
    session = _Session(src, tally)
    with src.open() as stream:
        for record in records(stream, tally, _KNOWN, limit=src.record_limit):
            named = _named(record.value)
            if named is not None and session.native_id not in (None, named):
                yield from session.threads()
                session = _Session(src, tally)
            session.add(record)
    if session.is_begun:
        yield from session.threads()


def _named(value: Json) -> str | None:
    """The session that a line says begins here."""
    data = value.get("data")
    begins = value.get("type") == _START and isinstance(data, dict)
    return written(data, "sessionId") if begins and isinstance(data, dict) else None


class _Line:
    """What one speaker of a session, it or an agent of it, has said so far."""

    def __init__(self) -> None:
        self.turns: list[RawTurn] = []
        self.calls: list[tuple[str, int]] = []
        self.touched: list[str] = []
        self.asked: RawTurn | None = None
        self.spoken: RawTurn | None = None
        """The last answer, while no tool was called after it."""

    def answer(self, turn: RawTurn, called: list[tuple[str, str | None]]) -> bool:
        """Take in an answer and its calls; whether it has words of its own."""
        self.calls.extend((name, 1) for name, _ in called)
        self.touched.extend(path for _, path in called if path is not None)
        if called and self.spoken is not None:
            self.spoken.calls_tool = True
        if not any(block.strip() for block in turn.blocks):
            self.spoken = None if called else self.spoken
            return False
        turn.calls, self.calls = tuple(self.calls), []
        turn.touched, self.touched = tuple(self.touched), []
        turn.calls_tool = bool(called)
        self.spoken = turn
        self.turns.append(turn)
        return True

    def use(self, name: str, path: str | None) -> None:
        """Take in a tool that ran without being asked for in an answer."""
        self.calls.append((name, 1))
        self.touched.extend([path] if path else [])
        if self.spoken is not None:
            self.spoken.calls_tool = True
            self.spoken = None

    def end(self) -> None:
        """The turn is over: the answer is complete if nothing was called in it."""
        if self.spoken is not None and not self.spoken.calls_tool:
            self.spoken.stopped = self.spoken.final = True


class _Session:
    """One session while its events are read."""

    def __init__(self, src: Source, tally: Tally) -> None:
        self.src = src
        self.tally = tally
        self.native_id: str | None = None
        self.is_begun = False
        self.start: Json = {}
        self.project: str | None = None
        self.title: str | None = None
        self.main = _Line()
        self.agents: dict[str, _Line] = {}
        self.names: dict[str, str] = {}
        """Agent by the call that spawned it, where both are told."""
        self.seen: dict[str, int] = {}
        """Place of each event, by its id."""
        self.placed: list[tuple[int, RawTurn]] = []
        self.requested: set[str] = set()
        self.silent: list[str] = []
        self.events: list[Event] = []
        self.models: dict[str, None] = {}

    # --- events

    def add(self, record: Record) -> None:
        """Take in one event; each is a record."""
        self.is_begun = True
        value = record.value
        kind, data = value.get("type"), value.get("data")
        if not isinstance(kind, str):
            self._lose(record)
            return
        key = written(value, "id")
        if key is not None and key in self.seen:
            self.tally.drop("duplicate")
            self.tally.note("duplicate_record", record.line)
            return
        if key is not None:
            self.seen[key] = len(self.seen)
        told: Json = data if isinstance(data, dict) else {}
        if kind == "user.message":
            self._asked(told, record)
        elif kind == "assistant.message":
            self._answered(told, record)
        else:
            self._happened(kind, told, record)

    def _lose(self, record: Record) -> None:
        self.tally.drop("lost")
        self.tally.note("bad_message", record.line)

    def _drop(self, disposition: Disposition, record: Record) -> None:
        self.tally.drop(disposition)
        if (key := written(record.value, "id")) is not None:
            self.silent.append(key)

    def _time(self, value: object, record: Record) -> datetime | None:
        return timed(value, self.tally, record.line)

    def _line(self, data: Json, record: Record) -> _Line:
        """The main line, or that of the agent whose event it is."""
        agent, call = written(record.value, "agentId"), written(data, "parentToolCallId")
        if agent and call:
            self.names[call] = agent
        name = agent or (self.names.get(call, call) if call else None)
        if name is None:
            return self.main
        if name not in self.agents:
            self.agents[name] = _Line()
            if self.main.asked is not None:
                self.main.asked.spawned += (self._agent_id(name),)
        return self.agents[name]

    def _agent_id(self, name: str) -> str:
        return f"{self.native_id}:agent-{name}" if self.native_id else f"agent-{name}"

    # --- words

    def _asked(self, data: Json, record: Record) -> None:
        line = self._line(data, record)
        typed = data.get("source") in _TYPED and data.get("isAutopilotContinuation") is not True
        if not typed and line is self.main:
            self._drop("injected", record)
            return
        words = data.get("content")
        if not isinstance(words, str):
            self._lose(record)
            return
        words, is_wrapped = without_reminders(words)
        if is_wrapped and not words:
            self._drop("injected", record)
            return
        role = Role.HUMAN if line is self.main else Role.OTHER
        turn = self._turn(role, words, record)
        turn.attachments = tuple(_attachments(data))
        line.asked, line.spoken = turn, None
        line.turns.append(turn)

    def _answered(self, data: Json, record: Record) -> None:
        words = data.get("content")
        line = self._line(data, record)
        turn = self._turn(Role.ASSISTANT, words if isinstance(words, str) else "", record)
        turn.final = _FINAL.get(str(data.get("phase")))
        self._use(data.get("model"))
        called = list(self._calls(data))
        if line.answer(turn, called):
            return
        thought = written(data, "reasoningText") or written(data, "reasoningOpaque")
        self._drop("tool" if called else "thinking" if thought else "empty", record)

    def _calls(self, data: Json) -> Iterator[tuple[str, str | None]]:
        """Tools that an answer asks for, with the path that a reading or editing one names."""
        for one in objects_of(data.get("toolRequests")):
            self.requested.update([ident] if (ident := written(one, "toolCallId")) else [])
            yield written(one, "name") or "unnamed", _path(one)

    def _turn(self, role: Role, words: str, record: Record) -> RawTurn:
        turn = RawTurn(
            role=role,
            blocks=(words,),
            key=written(record.value, "id"),
            at=self._time(record.value.get("timestamp"), record),
            line=record.line,
            offset=record.offset,
            length=record.length,
        )
        self.placed.append((len(self.seen) - 1, turn))
        return turn

    # --- what happened

    def _happened(self, kind: str, data: Json, record: Record) -> None:
        if kind in _EVENTS:
            at = self._time(record.value.get("timestamp"), record)
            self.events.append(Event(kind=_EVENTS[kind], at=aware(at)))
        if kind in _ENDS:
            self._line(data, record).end()
        if kind == "tool.execution_complete" and self._context(data, record):
            return
        if kind.startswith("session."):
            self._told(kind, data)
        elif kind == "tool.execution_start" and written(data, "toolCallId") not in self.requested:
            self._line(data, record).use(written(data, "toolName") or "unnamed", _path(data))
        self._drop(self._counts_as(kind, record), record)

    def _counts_as(self, kind: str, record: Record) -> Disposition:
        if kind in _THOUGHTS:
            return "thinking"
        if kind in _DELTAS:
            return "duplicate"
        if kind == _TAKEN_OVER:
            self.tally.note("unknown_content", record.line)
        family = _FAMILIES.get(_family(kind))
        if family is None:
            self.tally.note("unknown_record", record.line)
        return family or "meta"

    def _told(self, kind: str, data: Json) -> None:
        """Facts about the session: its id, folder, title, models; what was taken back."""
        if kind in (_START, "session.resume"):
            self._begin(kind, data)
        elif kind == "session.title_changed":
            self.title = written(data, "title") or self.title
        elif kind == "session.model_change":
            self._use(data.get("newModel"))
        elif kind == "session.snapshot_rewind":
            self._rewind(written(data, "upToEventId"))

    def _begin(self, kind: str, data: Json) -> None:
        if kind == _START and self.native_id is None:
            self.native_id = written(data, "sessionId")
            self.start = data
        context = data.get("context")
        if self.project is None and isinstance(context, dict):
            self.project = written(context, "gitRoot") or written(context, "cwd")
        self._use(data.get("selectedModel"))

    def _use(self, model: object) -> None:
        if isinstance(model, str) and model:
            self.models[model] = None

    def _rewind(self, key: str | None) -> None:
        """An event and all that came after it are off the main line."""
        since = self.seen.get(key) if key is not None else None
        if since is None:
            return
        for place, turn in self.placed:
            turn.alternative = turn.alternative or place >= since
        self.main.spoken = self.main.asked = None

    def _context(self, data: Json, record: Record) -> bool:
        """What a tool gave, if the owner wants it as a side turn."""
        result = data.get("result")
        words = written(result, "content") if isinstance(result, dict) else None
        if words is None or not self.src.keep_context:
            return False
        turn = self._turn(Role.OTHER, words, record)
        turn.taint = Taint.TOOL
        self._line(data, record).turns.append(turn)
        return True

    # --- the threads

    def threads(self) -> Iterator[RawThread]:
        """The session, then its agents in the order in which they began."""
        main = self._thread(self.native_id, self.main)
        main.growing = self.native_id is None
        main.titles = (TitleCandidate("native", self.title),) if self.title else ()
        main.started_at = instant(self.start.get("startTime"))[0]
        main.models = tuple(self.models)
        main.events = tuple(self.events)
        main.record_keys = tuple(self.silent)
        yield main
        for name, line in self.agents.items():
            thread = self._thread(self._agent_id(name), line)
            if self.native_id is not None:
                thread.pointers = (Pointer(LineageKind.SUBAGENT_OF, self.native_id),)
            yield thread

    def _thread(self, native: str | None, line: _Line) -> RawThread:
        return RawThread(
            source=NAME,
            native_id=native,
            turns=line.turns,
            agent=True,
            rank=1,
            sharing="keys",
            project=self.project,
            native_ids=(native,) if native else (),
            tail_calls=tuple(line.calls),
            slash_commands=True,
            where=native or "",
        )


# --- an event


def without_reminders(text: str) -> tuple[str, bool]:
    """What a person typed, without what the tool wrote before or behind it; whether it did."""
    start, end = 0, len(text)
    before = behind = True  # where no tag fits once, none fits later: the text only shrinks
    while before or behind:
        while end > start and text[end - 1].isspace():
            end -= 1
        if before:
            opening = _OPENING.match(text, start, end)
            close = text.find(f"</{opening[1]}>", start, end) if opening else -1
            before = close >= 0
            start = close + len(opening[1]) + 3 if opening and before else start
        if behind:
            last = next((one for one in _TAGS if text.endswith(f"</{one}>", start, end)), None)
            begin = text.rfind(f"<{last}>", start, end) if last else -1
            behind = begin >= 0
            end = begin if behind else end
    return text[start:end].strip(), (start, end) != (0, len(text.rstrip()))


def _path(call: Json) -> str | None:
    given = call.get("arguments")
    paths = (written(given, key) for key in _PATHS) if isinstance(given, dict) else iter(())
    return next((one for one in paths if one), None)


def _attachments(data: Json) -> Iterator[Attachment]:
    """Files, folders, images and references that a person put beside the words."""
    for one in objects_of(data.get("attachments")):
        path = written(one, "path") or written(one, "filePath") or ""
        name = PurePosixPath(path.replace("\\", "/")).name
        yield inline(
            one.get("data"),
            written(one, "displayName") or name or written(one, "title"),
            written(one, "mimeType") or written(one, "type"),
        )
