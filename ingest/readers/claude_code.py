"""Claude Code transcripts: ``<project>/<session>.jsonl``, subagents in their own files.

Versions seen: 2.0 and 2.1. One JSON object a line, types ``user``, ``assistant``, ``system`` and
many that are no messages. About nine of ten ``user`` records are tool results. An assistant's
message is spread over several lines with one ``message.id``. File order is the order of the
talk; ``parentUuid`` only tells rewinds. Forks and resumes repeat the records of their parent
under the same ``uuid``; times are ISO 8601 with a zone. Subagents carry ``agentId`` and are
threads of their own.
"""

import base64
import re
from collections.abc import Iterator
from datetime import datetime
from typing import Any, Final, NamedTuple

from graphstore.ids import digest_bytes
from graphstore.model.conversation import Attachment, Event, LineageKind, Role, Taint
from ingest.instants import aware
from ingest.jsonio import Line, Record, Skip, instant, records
from ingest.model import (
    Disposition,
    Pointer,
    RawThread,
    RawTurn,
    ReadFailure,
    Score,
    Source,
    Summary,
    Tally,
    TitleCandidate,
)
from ingest.shape import look

NAME: Final = "claude-code"
VERSION: Final = 1
APPENDABLE: Final = True
TIER: Final = "proven"

_KNOWN: Final = frozenset({"type", "uuid", "parentUuid", "sessionId", "message"})
_TYPES: Final = frozenset({
    "summary",
    "file-history-snapshot",
    "queue-operation",
    "progress",
    "attachment",
    "pr-link",
    "ai-title",
    "custom-title",
    "last-prompt",
    "mode",
    "saved_hook_context",
    "system",
})  # fmt: skip
_OWNERS: Final = ("sessionId", "leafUuid", "messageId")
_SCALAR: Final = rb'(?:"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*|true|false|null)'
_PROGRESS_LINE: Final = re.compile(
    rb'\s*\{(?:\s*"[^"\\]*"\s*:\s*' + _SCALAR + rb'\s*,)*?\s*"type"\s*:\s*"progress"\s*[,}]',
    re.DOTALL,
)
_PROGRESS: Final = Skip(b'"progress"', _PROGRESS_LINE)
"""A progress line, known by its scalar keys: it may hold a copy of the whole history."""
_PAIR: Final = re.compile(
    rb'\s*[{,]\s*"([^"\\]*)"\s*:\s*(?:"([^"\\]*)"|' + _SCALAR + rb")(?=\s*[,}])"
)
"""One key with a scalar value, from the opening brace on."""
_LAST_KEYS: Final = re.compile(
    rb'"uuid"\s*:\s*"([^"\\]{1,64})"\s*(?:,\s*"[^"\\]*"\s*:\s*' + _SCALAR + rb"\s*)*\}\s*\Z"
)
"""The uuid of a skipped line, where only scalar keys follow it."""
_UUID: Final = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_WORKTREE: Final = re.compile(r"[\\/]\.(?:claude[\\/])?worktrees[\\/][^\\/]+")
_NOT_ALPHANUMERIC: Final = re.compile(r"[^A-Za-z0-9]")
_ENCODED: Final = re.compile(r"-|[A-Za-z]--")
_COMMAND: Final = re.compile(r"\s*/[\w:-]+(?:\s|\Z)")
_WEB: Final = ("WebFetch", "WebSearch", "web_search", "web_fetch")
_STOPS: Final = ("end_turn", "stop_sequence")  # compared with whatever a record holds
_AGENT_FILE: Final = re.compile(r"agent-([\w-]+)\.jsonl")
_BELOW: Final = 2
"""Folders between a session's own folder and the files of its agents, the file included."""
_PATH_LIMIT: Final = 1024
_TITLE_KEYS: Final = ("customTitle", "aiTitle", "title", "summary")


def sniff(head: bytes, src: Source) -> Score | None:
    """Share of the first records that only this tool writes."""
    del head
    shape = look(src)
    if shape.kind not in {"lines", "dict"}:
        return None
    matching = sum(_is_ours(one) for one in shape.objects)
    return Score.by(6, shape.share(matching), "c") if matching else None


def _is_ours(record: dict[str, Any]) -> bool:
    if "sessionId" in record and "uuid" in record and "parentUuid" in record:
        return True
    return _type(record) in _TYPES and any(key in record for key in _OWNERS)


def _type(value: dict[str, Any]) -> str:
    """Type of a record or block; empty if it is no text."""
    kind = value.get("type")
    return kind if isinstance(kind, str) else ""


class SessionKey(NamedTuple):
    """What tells transcripts apart: the session, and the agent in it."""

    session: str
    agent: str | None = None


class _Known(NamedTuple):
    """What is remembered of a record that has a uuid."""

    human: int
    """Index of the nearest message of a person at or above it, -1 if none."""
    kind: str
    text: object
    """Its words as they are in the record, for telling copies."""


class _Message:
    """One message of the assistant while its lines are read."""

    def __init__(self, ident: object, record: Record) -> None:
        self.ident = ident if isinstance(ident, str) else None
        self.first = record
        self.request = record.value.get("requestId")
        self.keys: list[str] = []
        self.texts: list[str] = []
        self.calls: list[tuple[str, int]] = []
        self.touched: list[str] = []
        self.thought = False
        self.stopped = False
        self.records = 0
        self.turn: RawTurn | None = None
        self.result_since = False

    def goes_on(self, ident: object, request: object) -> bool:
        """Whether a line of that id is part of it: gateways give all replies one id."""
        if self.ident is None or ident != self.ident:
            return False
        return not self.result_since or (request is not None and request == self.request)


class Transcript:
    """One session, or one agent's work, as it is read line by line."""

    def __init__(self, key: SessionKey, tally: Tally, *, keep_context: bool = False) -> None:
        self.key = key
        self.tally = tally
        self.keep_context = keep_context
        self.fetching: set[str] = set()
        """Ids of calls whose results come from the web."""
        self.sessions: dict[str, None] = {}
        self.turns: list[RawTurn | None] = []
        self.index: dict[str, _Known] = {}
        self.before: dict[int, int] = {}
        """Message of a person -> the one before it on its branch."""
        self.under: dict[int, int] = {}
        """Turn -> message of a person that it answers, or is."""
        self.last_human = -1
        self.tip = -1
        """Message of a person on whose branch the last record stands."""
        self.typed_ahead: set[int] = set()
        self.message: _Message | None = None
        self.spoken: RawTurn | None = None
        """Last message with text, while a tool call would directly follow it."""
        self.waiting: list[tuple[str, int]] = []
        self.touched: list[str] = []
        self.queued: dict[int, str] = {}
        """Turns that were only queued so far, with their words."""
        self.withdrawn: set[int] = set()
        self.folder = ""
        self.folders: dict[str, None] = {}
        self.models: dict[str, None] = {}
        self.events: list[Event] = []
        self.pointers: dict[Pointer, None] = {}
        self.first_parent: str | None = None
        self.began = False
        self.background = False

    def meet(self, session: str) -> None:
        """A record of this session id belongs here."""
        if session:
            self.sessions.setdefault(session)

    def begin(self, skipped: list[tuple[str | None, str | None]]) -> None:
        """The file begins with these records that are not read: (uuid, parent)."""
        self.began = True
        self.first_parent = skipped[0][1]
        for uuid, _ in skipped:
            if uuid is not None:
                self.passed(uuid)

    def passed(self, uuid: str) -> None:
        """A progress record stands here, below the last message of a person."""
        self.index.setdefault(uuid, _Known(self.last_human, "progress", None))

    def add(self, record: Record) -> None:
        """Take in one record and dispose of it, now or with its message."""
        value = record.value
        kind = _type(value)
        self._note_head(value, kind)
        if self._is_copy(value, kind, record.line):
            return
        if kind == "user":
            self._user(record)
        elif kind == "assistant":
            self._assistant(record)
        elif kind == "attachment":
            self._attachment(record)
        elif kind == "queue-operation":
            self._queue(record)
        else:
            self._other(record, kind)

    def _note_head(self, value: dict[str, Any], kind: str) -> None:
        folder, fork = value.get("cwd"), value.get("forkedFrom")
        if folder != self.folder and isinstance(folder, str) and folder:
            self.folder = folder
            self.folders.setdefault(folder)
        if value.get("sessionKind") == "bg":
            self.background = True
        if isinstance(fork, dict) and isinstance(fork.get("sessionId"), str):
            self.pointers.setdefault(Pointer(LineageKind.FORKED_FROM, fork["sessionId"]))
        if not self.began and kind in {"user", "assistant", "system"}:
            self.began = True
            parent = value.get("parentUuid")
            self.first_parent = parent if isinstance(parent, str) else None

    def _is_copy(self, value: dict[str, Any], kind: str, line: int) -> bool:
        """Look a record up by its uuid, note it, and say if it repeats an earlier one."""
        uuid = value.get("uuid")
        known = self.index.get(uuid) if isinstance(uuid, str) else None
        if known is not None:
            words = kind in {"user", "assistant"} and known.text == _words(value)
            if words and known.kind == kind:
                self.tally.drop("duplicate")
                self.tally.note("duplicate_record", line)
                return True
            self.tally.note("duplicate_uuid", line)
        return False

    def _human_above(self, record: Record, kind: str) -> int:
        """Nearest message of a person above a record; parents are looked up backwards only."""
        value = record.value
        parent = value.get("parentUuid")
        if parent is None and value.get("subtype") == "compact_boundary":
            parent = value.get("logicalParentUuid")
            if isinstance(parent, str) and parent not in self.index:
                self.tally.note("orphan_parent", record.line)
            return -1
        if not isinstance(parent, str):
            return -1
        known = self.index.get(parent)
        if known is not None:
            return known.human
        if kind in {"user", "assistant"}:
            self.tally.note("orphan_parent", record.line)
        return -1

    def _remember(self, record: Record, kind: str, human: int) -> None:
        uuid = record.value.get("uuid")
        if isinstance(uuid, str):
            self.index[uuid] = _Known(human, kind, _words(record.value))

    # --- what a person said, and what came back from tools

    def _user(self, record: Record) -> None:
        value = record.value
        above = self._human_above(record, "user")
        message = value.get("message")
        content = message.get("content") if isinstance(message, dict) else None
        if not isinstance(content, str | list):
            self._remember(record, "user", above)
            self.tally.drop("lost")
            self.tally.note("bad_message", record.line)
            return
        self._note_agent(value)
        dropped = _unspoken(value)
        blocks, attachments, results = _user_parts(content)
        if dropped is None and not blocks and not attachments and results:
            dropped = "tool"
        if dropped is not None:
            if results and self.message is not None:
                self.message.result_since = True
            self._remember(record, "user", above)
            if dropped == "tool" and self.keep_context:
                self._context(record, content)
            else:
                self.tally.drop(dropped)
            return
        self._close()
        self.spoken = None
        plan = "planContent" in value
        role = Role.OTHER if plan or self.key.agent else Role.HUMAN
        turn = self._turn(record, role, tuple(blocks), tuple(attachments))
        self._place_human(turn, record, above)

    def _context(self, record: Record, content: str | list[Any]) -> None:
        """Keep what a tool gave, where the owner wants it: a side turn, never words."""
        results = [one for one in content if isinstance(one, dict)]
        turn = self._turn(record, Role.OTHER, tuple(_result_texts(results)))
        from_web = any(str(one.get("tool_use_id")) in self.fetching for one in results)
        turn.taint = Taint.WEB if from_web else Taint.TOOL
        self.under[len(self.turns)] = self.tip
        self.turns.append(turn)

    def _place_human(self, turn: RawTurn, record: Record, above: int) -> None:
        """Put a message at its place, which may be where it was queued."""
        places = self._queued_as(turn.blocks)
        if places:
            self._merge_queued(places, turn)
        place = places[-1] if places else self._human(turn, above)
        self._remember(record, "user", place)

    def _human(self, turn: RawTurn, above: int) -> int:
        self.turns.append(turn)
        place = len(self.turns) - 1
        self.before[place] = self._reached(above)
        self.under[place] = self.last_human = self.tip = place
        return place

    def _reached(self, above: int) -> int:
        """The message that a new record follows: an earlier one only after a rewind."""
        last = self.last_human
        while last not in {above, -1} and last in self.typed_ahead:  # in no chain of parents
            last = self.before.get(last, -1)
        return above if above not in {-1, last} else self.last_human

    def _turn(
        self,
        record: Record,
        role: Role,
        blocks: tuple[str, ...],
        attachments: tuple[Attachment, ...] = (),
    ) -> RawTurn:
        value = record.value
        uuid, session = value.get("uuid"), value.get("sessionId")
        return RawTurn(
            role=role,
            blocks=blocks,
            key=uuid if isinstance(uuid, str) else None,
            at=self._time(record),
            line=record.line,
            offset=record.offset,
            length=record.length,
            attachments=attachments,
            owner=session if isinstance(session, str) else None,
            copied="forkedFrom" in value,
        )

    def _time(self, record: Record) -> datetime | None:
        at, problem = instant(record.value.get("timestamp"))
        if problem == "bad_timestamp":
            self.tally.note(problem, record.line)
        return at

    def _note_agent(self, value: dict[str, Any]) -> None:
        """A tool result that names the agent which gave it."""
        result = value.get("toolUseResult")
        agent = result.get("agentId") if isinstance(result, dict) else None
        if not isinstance(agent, str) or self.last_human < 0:
            return
        asked = self.turns[self.last_human]
        native = f"{value.get('sessionId') or self.key.session}:agent-{agent}"
        if asked is not None and native not in asked.spawned:
            asked.spawned = (*asked.spawned, native)

    # --- prompts typed while the assistant was at work

    def _queue(self, record: Record) -> None:
        value = record.value
        operation, content = value.get("operation"), value.get("content")
        if operation == "enqueue" and isinstance(content, str) and content.strip():
            self._enqueue(record, content)
            return
        self.tally.drop("meta")
        if operation in ("remove", "popAll"):
            self._unqueue(content, every=operation == "popAll")

    def _enqueue(self, record: Record, content: str) -> None:
        if _COMMAND.match(content):
            self.tally.drop("command")
            return
        self._close()
        role = Role.OTHER if self.key.agent else Role.HUMAN
        place = self._human(self._turn(record, role, (content,)), -1)
        self.queued[place] = content.strip()
        self.typed_ahead.add(place)

    def _unqueue(self, content: object, *, every: bool) -> None:
        """Mark what was taken back; it is a turn after all if it is met again."""
        named = [place for place, words in self.queued.items() if words == content]
        waiting = [place for place in self.queued if place not in self.withdrawn]
        for place in waiting if every else (named or waiting)[:1]:
            self.withdrawn.add(place)

    def _queued_as(self, blocks: tuple[str, ...]) -> list[int]:
        """Places where the words of a message were queued: one, or one for each part."""
        words = [block.strip() for block in blocks]
        whole = "\n\n".join(words)
        for place, text in self.queued.items():
            if text == whole:
                return [place]
        waiting = list(self.queued.items())
        for count in range(2, len(waiting) + 1):
            texts = [text for _, text in waiting[:count]]
            if words == texts or words == ["\n".join(texts)]:
                return [place for place, _ in waiting[:count]]
        return []

    def _merge_queued(self, places: list[int], turn: RawTurn) -> None:
        """The message that ran is what was queued, and stays where it was typed."""
        for place in places:
            del self.queued[place]
            self.withdrawn.discard(place)
        first = self.turns[places[0]]
        if first is not None:
            first.key = first.key or turn.key
            first.attachments = turn.attachments
            first.records += turn.records

    def _attachment(self, record: Record) -> None:
        inner = record.value.get("attachment")
        above = self._human_above(record, "attachment")
        prompt = inner.get("prompt") if isinstance(inner, dict) else None
        queued = isinstance(inner, dict) and inner.get("type") == "queued_command"
        if not queued or not isinstance(prompt, str | list):
            self._remember(record, "attachment", above)
            self.tally.drop("injected")
            return
        blocks, attachments, _ = _user_parts(prompt)
        role = Role.OTHER if self.key.agent else Role.HUMAN
        self._close()
        turn = self._turn(record, role, tuple(blocks), tuple(attachments))
        self._place_human(turn, record, above)

    # --- what the assistant said

    def _assistant(self, record: Record) -> None:
        value = record.value
        above = self._human_above(record, "assistant")
        self._remember(record, "assistant", above)
        message = value.get("message")
        content = message.get("content") if isinstance(message, dict) else None
        if not isinstance(message, dict) or not isinstance(content, str | list):
            self.tally.drop("lost")
            self.tally.note("bad_message", record.line)
            return
        model = message.get("model")
        if value.get("isApiErrorMessage") or model == "<synthetic>":
            self.tally.drop("meta")
            return
        if isinstance(model, str):
            self.models.setdefault(model)
        self.tip = self._reached(above)
        ident = message.get("id")
        if self.message is None or not self.message.goes_on(ident, value.get("requestId")):
            self._close()
            self.message = _Message(ident, record)
        self._extend(self.message, record, content, message)

    def _extend(
        self, held: _Message, record: Record, content: str | list[Any], message: dict[str, Any]
    ) -> None:
        held.records += 1
        held.result_since = False
        held.stopped = message.get("stop_reason") in _STOPS
        uuid = record.value.get("uuid")
        if isinstance(uuid, str):
            held.keys.append(uuid)
        for block in [{"type": "text", "text": content}] if isinstance(content, str) else content:
            self._block(held, block, record)

    def _block(self, held: _Message, block: object, record: Record) -> None:
        kind = block.get("type") if isinstance(block, dict) else None
        if not isinstance(block, dict) or not isinstance(kind, str):
            self.tally.note("unknown_content", record.line)
        elif kind == "text":
            self._text(held, block, record)
        elif kind in {"thinking", "redacted_thinking"}:
            held.thought = True
        elif kind.endswith("tool_use"):
            self._call(held, block)
        elif not kind.endswith("tool_result"):
            self.tally.note("unknown_content", record.line)

    def _text(self, held: _Message, block: dict[str, Any], record: Record) -> None:
        text = block.get("text")
        if not isinstance(text, str) or not text.strip():
            return
        held.texts.append(text)
        if held.turn is None:
            held.turn = self._turn(record, Role.ASSISTANT, ())
            held.turn.calls_tool = bool(held.calls)
            self.under[len(self.turns)] = self.tip
            self.turns.append(held.turn)
            self.spoken = held.turn

    def _call(self, held: _Message, block: dict[str, Any]) -> None:
        name = block.get("name")
        if name in _WEB:
            self.fetching.add(str(block.get("id")))
        held.calls.append((name if isinstance(name, str) else "unnamed", 1))
        held.touched.extend(_touched(block.get("input")))
        if self.spoken is not None:
            self.spoken.calls_tool = True

    def _close(self) -> None:
        """End the message being read: it becomes a turn, or its records are disposed of."""
        held, self.message = self.message, None
        if held is None:
            return
        if held.calls and held.turn is None:
            self.spoken = None
        calls = (*self.waiting, *held.calls)
        touched = (*self.touched, *held.touched)
        if held.turn is None:
            self.waiting, self.touched = list(calls), list(touched)
            self.tally.drop(_silent(held), held.records)
            return
        self.waiting, self.touched = [], []
        turn = held.turn
        turn.blocks = tuple(held.texts)
        turn.calls, turn.touched = calls, touched
        turn.records = held.records
        turn.key = held.keys[0] if held.keys else None
        turn.also = tuple(held.keys[1:])
        turn.stopped = held.stopped
        turn.calls_tool = turn.calls_tool or bool(held.calls)

    # --- the rest

    def _other(self, record: Record, kind: str) -> None:
        self._remember(record, kind, self._human_above(record, kind))
        if kind == "system":
            self._system(record)
        elif kind == "saved_hook_context":
            self.tally.drop("injected")
        else:
            self.tally.drop("meta")
            if kind not in _TYPES and not kind.endswith("-title"):
                self.tally.note("unknown_record", record.line)

    def _system(self, record: Record) -> None:
        subtype = record.value.get("subtype")
        if subtype == "compact_boundary":
            self.events.append(Event(kind="compaction", at=aware(self._time(record))))
        self.tally.drop("command" if subtype == "local_command" else "meta")

    # --- the thread

    def thread(self, name: str, stem: str | None, parts: tuple[str, ...]) -> RawThread:
        """Everything read, as one raw thread."""
        self._close()
        self._drop_withdrawn()
        off = self._off_path()
        turns: list[RawTurn] = []
        for place, turn in enumerate(self.turns):
            if turn is not None:
                turn.alternative = place in off
                turns.append(turn)
        project, sure = _project(tuple(self.folders), parts, agent=self.key.agent is not None)
        for turn in turns:
            turn.touched = tuple(_folded(path) for path in turn.touched)
        return RawThread(
            source=name,
            native_id=self._native_id(stem),
            turns=turns,
            agent=True,
            rank=1,
            sharing="keys",
            project=project,
            project_sure=sure,
            models=tuple(self.models),
            native_ids=tuple(self.sessions),
            pointers=self._pointers(stem),
            events=tuple(self.events),
            tail_calls=tuple(self.waiting),
            record_keys=tuple(self.index),
            first_parent=self.first_parent,
            background=self.background,
        )

    def _native_id(self, stem: str | None) -> str | None:
        session = self._session(stem)
        if session is None or self.key.agent is None:
            return session
        return f"{session}:agent-{self.key.agent}"

    def _session(self, stem: str | None) -> str | None:
        """The session's id: of the file's name if a record has it, else the last one seen."""
        if stem in self.sessions:
            return stem
        return next(reversed(self.sessions), stem)

    def _pointers(self, stem: str | None) -> tuple[Pointer, ...]:
        if self.key.agent is None:
            own = set(self.sessions)
            return tuple(one for one in self.pointers if one.native_id not in own)
        session = self._session(stem)
        return () if session is None else (Pointer(LineageKind.SUBAGENT_OF, session),)

    def _drop_withdrawn(self) -> None:
        """Prompts that were queued and taken back without being run are no turns."""
        for place in sorted(self.withdrawn):
            self.turns[place] = None
            self.tally.drop("meta")
            before = self.before.pop(place)
            self.before = {
                later: before if earlier == place else earlier
                for later, earlier in self.before.items()
            }
            self.under = {
                turn: before if human == place else human for turn, human in self.under.items()
            }
            if self.tip == place:
                self.tip = before

    def _off_path(self) -> set[int]:
        """Places of turns that a rewind left behind; the branch of the last record is the path."""
        on_path = {-1}
        place = self.tip
        while place not in on_path:
            on_path.add(place)
            place = self.before.get(place, -1)
        return {turn for turn, human in self.under.items() if human not in on_path}


def _words(value: dict[str, Any]) -> object:
    """The text of a message as it stands in its record, to compare copies by."""
    message = value.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    if not isinstance(content, list):
        return content
    for block in content:
        if isinstance(block, dict) and "text" in block:
            return [one.get("text") for one in content if isinstance(one, dict)]
    return len(content)


def _unspoken(value: dict[str, Any]) -> Disposition | None:
    """What a user record counts as that no person wrote, or None."""
    if value.get("isCompactSummary"):
        return "meta"
    if value.get("isMeta") or value.get("isVisibleInTranscriptOnly"):
        return "injected"
    return None


def _user_parts(content: str | list[Any]) -> tuple[list[str], list[Attachment], bool]:
    """Texts, attachments, and whether there is a tool result."""
    if isinstance(content, str):
        return [content], [], False
    blocks: list[str] = []
    attachments: list[Attachment] = []
    results = False
    for block in content:
        kind = _type(block) if isinstance(block, dict) else ""
        if isinstance(block, str):
            blocks.append(block)
        elif kind == "text" and isinstance(block.get("text"), str):
            blocks.append(block["text"])
        elif kind == "tool_result":
            results = True
        elif kind in {"image", "document"}:
            attachments.append(_file(block))
    return blocks, attachments, results


def _result_texts(results: list[dict[str, Any]]) -> Iterator[str]:
    """Texts of tool results."""
    for result in results:
        content = result.get("content")
        if isinstance(content, str):
            yield content
        for part in content if isinstance(content, list) else ():
            if isinstance(part, dict) and isinstance(part.get("text"), str):
                yield part["text"]


def _file(block: dict[str, Any]) -> Attachment:
    """An attachment without its bytes."""
    source = block.get("source")
    source = source if isinstance(source, dict) else {}
    name, media, data = block.get("title"), source.get("media_type"), source.get("data")
    content = _bytes(data) if isinstance(data, str) and source.get("type") == "base64" else None
    return Attachment(
        name=name if isinstance(name, str) else None,
        media_type=media if isinstance(media, str) else None,
        size=None if content is None else len(content),
        content_hash=None if content is None else digest_bytes(content),
    )


def _bytes(data: str) -> bytes | None:
    try:
        return base64.b64decode(data)
    except ValueError:
        return None


def _touched(arguments: object) -> Iterator[str]:
    """Paths in the arguments of a read or edit call."""
    if isinstance(arguments, dict):
        for key in ("file_path", "notebook_path"):
            path = arguments.get(key)
            if isinstance(path, str) and path and len(path) < _PATH_LIMIT:
                yield path


def _silent(held: _Message) -> Disposition:
    """What a message without text counts as."""
    if held.calls:
        return "tool"
    return "thinking" if held.thought else "empty"


def _project(
    folders: tuple[str, ...], parts: tuple[str, ...], *, agent: bool
) -> tuple[str | None, bool]:
    """The project of a session: the first working folder that the folder's name encodes."""
    above = parts[:-1]
    if agent and "subagents" in above:
        above = above[: above.index("subagents") - 1]
    name = above[-1] if above else ""
    for folder in folders:
        if _NOT_ALPHANUMERIC.sub("-", folder) == name:
            return _folded(folder), True
    if folders:
        return _folded(folders[0]), True
    return (name, False) if _ENCODED.match(name) else (None, True)


def _folded(folder: str) -> str:
    """A path inside a worktree, as it is in its repository."""
    return _WORKTREE.sub("", folder)


def read(src: Source, tally: Tally) -> Iterator[RawThread | ReadFailure]:
    """Read every session of one file; a file may hold several."""
    with src.open() as stream:
        sessions = _File(src, tally)
        for record in records(
            stream, tally, _KNOWN, skip=_PROGRESS, skipped="meta", on_skip=sessions.skip
        ):
            sessions.add(record)
    yield from sessions.threads()


def _leading_pairs(head: bytes) -> Iterator[tuple[str, str]]:
    """Keys with text values that a line begins with."""
    at = 0
    while (pair := _PAIR.match(head, at)) is not None:
        if pair[2] is not None:
            yield pair[1].decode("ascii", "replace"), pair[2].decode("ascii", "replace")
        at = pair.end()


class _File:
    """The sessions of one file, told apart while it is read."""

    def __init__(self, src: Source, tally: Tally) -> None:
        self.src = src
        self.tally = tally
        self.transcripts: dict[SessionKey, Transcript] = {}
        self.current: Transcript | None = None
        self.session: str | None = None
        """Session id of the last record that was no agent's."""
        self.early: list[tuple[str | None, str | None]] = []
        """(uuid, parent) of lines that were skipped before any session was known."""
        self.side_roots: dict[str, str] = {}
        self.summaries: list[Summary] = []
        self.titles: list[tuple[str | None, TitleCandidate]] = []
        name = src.parts[-1] if src.parts else ""
        stem = _UUID.search(name)
        self.stem = stem[0] if stem else None
        agent = _AGENT_FILE.fullmatch(name)
        self.agent = agent[1] if agent else None

    def add(self, record: Record) -> None:
        value = record.value
        kind = _type(value)
        if kind in {"summary", "ai-title", "custom-title"}:
            self.title(value, kind)
        elif kind in {"file-history-snapshot", "progress"}:
            self.tally.drop("meta")
        else:
            self.transcript(value).add(record)

    def skip(self, line: Line) -> None:
        """Note the uuid of a progress line, for chains of parents that lead through it.

        It hangs below whatever was read last: which is all that a chain needs of it.
        """
        first = dict(_leading_pairs(line.head))
        last = _LAST_KEYS.search(line.raw)
        uuid = first.get("uuid") or (last[1].decode("ascii", "replace") if last else None)
        if self.current is None:
            self.early.append((uuid, first.get("parentUuid")))
        elif uuid is not None:
            self.current.passed(uuid)

    def title(self, value: dict[str, Any], kind: str) -> None:
        """A title names a record of any session, or the session itself."""
        self.tally.drop("meta")
        text = next((value[key] for key in _TITLE_KEYS if isinstance(value.get(key), str)), None)
        leaf, session = value.get("leafUuid"), value.get("sessionId")
        if text is None:
            return
        if kind == "custom-title":
            owner = session if isinstance(session, str) else None
            self.titles.append((owner, TitleCandidate("user", text)))
        elif isinstance(leaf, str):
            self.summaries.append(Summary(leaf, text))
        elif kind == "ai-title":
            owner = session if isinstance(session, str) else None
            self.titles.append((owner, TitleCandidate("ai", text)))

    def transcript(self, value: dict[str, Any]) -> Transcript:
        """The transcript that a record belongs to."""
        current = self.current
        here = current is not None and value.get("sessionId") == self.session
        if here and current is not None and not value.get("isSidechain"):  # nearly always
            return current
        key = self.key(value)
        found = self.transcripts.get(key)
        if found is None:
            found = self.resumed(key, value) or self.opened(key)
            self.transcripts[key] = found
            if self.early:
                found.begin(self.early)
                self.early = []
        if not key.agent:
            self.current, self.session = found, key.session
        found.meet(key.session)
        return found

    def opened(self, key: SessionKey) -> Transcript:
        return Transcript(key, self.tally, keep_context=self.src.keep_context)

    def key(self, value: dict[str, Any]) -> SessionKey:
        session = value.get("sessionId")
        if not isinstance(session, str):
            if self.current is not None and not value.get("isSidechain"):
                return self.current.key
            session = self.current.key.session if self.current else ""
        if not value.get("isSidechain") and self.agent is None:
            return SessionKey(session)
        agent = value.get("agentId") or self.agent
        return SessionKey(session, agent if isinstance(agent, str) else self.side_root(value))

    def side_root(self, value: dict[str, Any]) -> str:
        """Root of a sidechain in a main file, by the parents of its records."""
        uuid, parent = value.get("uuid"), value.get("parentUuid")
        own = uuid if isinstance(uuid, str) else ""
        root = self.side_roots.get(parent, own) if isinstance(parent, str) else own
        if own:
            self.side_roots[own] = root
        return root

    def resumed(self, key: SessionKey, value: dict[str, Any]) -> Transcript | None:
        """An earlier session of this file that the parent of the first record stands in."""
        parent = value.get("parentUuid")
        if key.agent or not isinstance(parent, str):
            return None
        for earlier in self.transcripts.values():
            if not earlier.key.agent and parent in earlier.index:
                return earlier
        return None

    def threads(self) -> Iterator[RawThread]:
        """One raw thread for each transcript; titles and summaries ride on the first."""
        found = list(dict.fromkeys(self.transcripts.values()))
        parts = self.src.parts
        below = self.agent is not None and len(parts) > _BELOW and parts[-2] == "subagents"
        stem = parts[-_BELOW - 1] if below else self.stem
        raws = [one.thread(NAME, stem, parts) for one in found]
        if not raws:
            raws = [RawThread(NAME, self.stem, rank=1)]
        raws[0].summaries = tuple(self.summaries)
        for owner, title in self.titles:
            owned = [raw for raw in raws if owner is None or owner in raw.native_ids]
            for raw in owned[:1]:
                raw.titles = (title, *raw.titles)
        yield from raws
