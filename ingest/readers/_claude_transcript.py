"""One session of Claude Code, or one agent's work in it, put together record by record."""

import re
from collections import deque
from datetime import datetime
from typing import Any, Final, NamedTuple, TypeAlias

from graphstore.model.conversation import Attachment, Event, LineageKind, Role, Taint
from ingest.cuts import Cuts, Older, Unsure
from ingest.instants import aware
from ingest.jsonio import Record
from ingest.model import Pointer, RawThread, RawTurn, Tally
from ingest.readers._claude_branches import Branches
from ingest.readers._claude_message import Message
from ingest.readers._claude_project import folded, project_of
from ingest.readers._claude_queue import Queue
from ingest.readers._claude_records import (
    content_of,
    result_texts,
    touched,
    unspoken,
    user_parts,
    words_of,
)
from ingest.readers._claude_spots import SPOTS, Spot, begun, cuts_of
from ingest.readers._fields import timed

TYPES: Final = frozenset({
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
    "permission-mode",
    "agent-name",
    "worktree-state",
    "relocated",
    "continued-in",
    "file-history-delta",
    "saved_hook_context",
    "system",
})  # fmt: skip
"""Types of records that are no messages."""
_SPOKEN: Final = frozenset({"user", "assistant"})
_COMMAND: Final = re.compile(r"\s*/[\w:-]+(?:\s|\Z)")
_WEB: Final = ("WebFetch", "WebSearch", "web_search", "web_fetch")
_CONTENT: Final = (str, list)
"""What the content of a message may be; a union would be made anew for every record."""
_STOPS: Final = ("end_turn", "stop_sequence")  # compared with whatever a record holds

_Seen: TypeAlias = tuple[int, str, object]
"""What is remembered of a record that has a uuid: the place of the nearest message of a person
at or above it (-1 if none), its type, and its words for telling copies."""


class SessionKey(NamedTuple):
    """What tells transcripts apart: the session, and the agent in it."""

    session: str
    agent: str | None = None


class Transcript:
    """One session, or one agent's work, as it is read line by line."""

    def __init__(
        self, key: SessionKey, tally: Tally, *, keep_context: bool = False, resumable: bool = False
    ) -> None:
        self.key = key
        self.tally = tally
        self.keep_context = keep_context
        self.fetching: set[str] = set()
        """Ids of calls whose results come from the web."""
        self.sessions: dict[str, None] = {}
        self.turns: list[RawTurn | None] = []
        self.index: dict[str, _Seen] = {}
        self.branches = Branches()
        self.queue = Queue()
        self.message: Message | None = None
        self.spoken: RawTurn | None = None
        """Last message with text, while a tool call would directly follow it."""
        self.waiting: list[tuple[str, int]] = []
        self.touched: list[str] = []
        self.folder = ""
        self.folders: dict[str, None] = {}
        self.models: dict[str, None] = {}
        self.events: list[Event] = []
        self.pointers: dict[Pointer, None] = {}
        self.first_parent: str | None = None
        self.began = False
        self.background = False
        self.resumable = resumable
        self.spots: deque[Spot] = deque(maxlen=SPOTS)
        self.older: Older | None = None
        """Records before those that are read, where reading goes on from a place."""

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
        self._require_new(uuid)
        self.index.setdefault(uuid, (self.branches.last_human, "progress", None))

    def add(self, record: Record, kind: str) -> None:
        """Take in one record of a type and dispose of it, now or with its message."""
        value = record.value
        self._note_head(value, kind)
        uuid = value.get("uuid")
        if isinstance(uuid, str):
            if self.older is not None:
                self._require_new(uuid)
            if uuid in self.index and self._is_copy(uuid, record, kind):
                return
        if kind == "assistant":
            self._assistant(record)
        elif kind == "user":
            self._user(record)
        elif kind == "attachment":
            self._attachment(record)
        elif kind == "queue-operation":
            self._queue(record)
        else:
            self._other(record, kind)

    def _require_new(self, uuid: str) -> None:
        """Raises ``Unsure`` for a record that may stand before those that are read."""
        if self.older is not None and self.older.has(uuid):
            raise Unsure

    def _note_head(self, value: dict[str, Any], kind: str) -> None:
        folder = value.get("cwd")
        if folder != self.folder and isinstance(folder, str) and folder:
            self.folder = folder
            self.folders.setdefault(folder)
        if "sessionKind" in value and value["sessionKind"] == "bg":
            self.background = True
        if "forkedFrom" in value:
            self._note_fork(value["forkedFrom"])
        if not self.began and (kind in _SPOKEN or kind == "system"):
            self.began = True
            parent = value.get("parentUuid")
            self.first_parent = parent if isinstance(parent, str) else None

    def _note_fork(self, fork: object) -> None:
        if isinstance(fork, dict) and isinstance(fork.get("sessionId"), str):
            self.pointers.setdefault(Pointer(LineageKind.FORKED_FROM, fork["sessionId"]))

    def _is_copy(self, uuid: str, record: Record, kind: str) -> bool:
        """Whether a record repeats the earlier one of its uuid, and not only its uuid."""
        _, known, words = self.index[uuid]
        if kind in _SPOKEN and known == kind and words == words_of(record.value):
            self.tally.drop("duplicate")
            self.tally.note("duplicate_record", record.line)
            return True
        self.tally.note("duplicate_uuid", record.line)
        return False

    def _human_above(self, record: Record, kind: str) -> int:
        """Nearest message of a person above a record; parents are looked up backwards only."""
        value = record.value
        parent = value.get("parentUuid")
        if isinstance(parent, str):
            known = self.index.get(parent)
            if known is not None:
                return known[0]
            self._require_new(parent)
            if kind in _SPOKEN:
                self.tally.note("orphan_parent", record.line)
        elif parent is None and value.get("subtype") == "compact_boundary":
            parent = value.get("logicalParentUuid")
            if isinstance(parent, str) and parent not in self.index:
                self._require_new(parent)
                self.tally.note("orphan_parent", record.line)
        return -1

    def _remember(self, value: dict[str, Any], kind: str, human: int) -> None:
        uuid = value.get("uuid")
        if isinstance(uuid, str):
            self.index[uuid] = human, kind, words_of(value)

    # --- what a person said, and what came back from tools

    def _user(self, record: Record) -> None:
        value = record.value
        above = self._human_above(record, "user")
        content = content_of(value)
        if not isinstance(content, _CONTENT):
            self._remember(value, "user", above)
            self.tally.drop("lost")
            self.tally.note("bad_message", record.line)
            return
        self._note_agent(value)
        dropped = unspoken(value)
        blocks, attachments, results = user_parts(content)
        if dropped is None and results and not blocks and not attachments:
            dropped = "tool"
        if dropped is not None:
            if results and self.message is not None:
                self.message.result_since = True
            self._remember(value, "user", above)
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
        if role is Role.HUMAN and self.resumable:
            self._note_spot(record, above)
        self._place_human(turn, record, above)

    def _context(self, record: Record, content: str | list[Any]) -> None:
        """Keep what a tool gave, where the owner wants it: a side turn, never words."""
        results = [one for one in content if isinstance(one, dict)]
        turn = self._turn(record, Role.OTHER, tuple(result_texts(results)))
        from_web = any(str(one.get("tool_use_id")) in self.fetching for one in results)
        turn.taint = Taint.WEB if from_web else Taint.TOOL
        self._answer(turn)

    def _answer(self, turn: RawTurn) -> None:
        self.branches.answer(len(self.turns))
        self.turns.append(turn)

    def _place_human(self, turn: RawTurn, record: Record, above: int) -> None:
        """Put a message at its place, which may be where it was queued."""
        places = self.queue.places_of(turn.blocks)
        if places:
            self._merge_queued(places, turn)
        place = places[-1] if places else self._ask(turn, above)
        self._remember(record.value, "user", place)

    def _merge_queued(self, places: list[int], turn: RawTurn) -> None:
        """The message that ran is what was queued, and stays where it was typed."""
        self.queue.run(places)
        first = self.turns[places[0]]
        if first is not None:
            first.key = first.key or turn.key
            first.attachments = turn.attachments
            first.records += turn.records

    def _note_spot(self, record: Record, above: int) -> None:
        """Keep where a message begins an exchange that nothing before it waits for."""
        before = self.branches.last_human
        last = self.turns[-1] if self.turns else None
        answered = last is not None and last.role is Role.ASSISTANT and not last.calls_tool
        goes_on = above in {-1, before} and before >= 0 and not self.branches.is_ahead(before)
        if last is None or not (answered and goes_on) or self.waiting or self.queue.waits:
            return
        parent = record.value.get("parentUuid") if above == before else None
        self.spots.append(
            Spot(
                place=len(self.turns),
                line=record.line,
                offset=record.offset,
                answered=last.offset or 0,
                records=len(self.index),
                events=len(self.events),
                parent=parent if isinstance(parent, str) else None,
            )
        )

    def cuts(self, off: set[int]) -> Cuts | None:
        """Where this session may be read on from, if it is a plain one."""
        special = self.pointers or self.background or self.first_parent or self.key.agent
        if not self.resumable or special or self.keep_context or len(self.sessions) != 1:
            return None
        spots = [spot for spot in self.spots if spot.place not in off]
        return cuts_of(
            spots,
            self.index,
            session=self.key.session,
            folders=tuple(self.folders),
            models=tuple(self.models),
            events=tuple(self.events),
        )

    def go_on(self, state: str, older: Older) -> None:
        """Know what a reading up to a place has found; nothing of it is given again."""
        begin = begun(state)
        self.older, self.began = older, True
        self.meet(begin.session)
        self.folders = dict.fromkeys(begin.folders)
        self.models = dict.fromkeys(begin.models)
        self.events = list(begin.events)
        self.turns.append(None)
        self.branches.go_on(0)
        if begin.parent is not None:
            self.index[begin.parent] = 0, "", None

    def _ask(self, turn: RawTurn, above: int) -> int:
        place = len(self.turns)
        self.turns.append(turn)
        self.branches.ask(place, above)
        return place

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
        return timed(record.at, self.tally, record.line)

    def _note_agent(self, value: dict[str, Any]) -> None:
        """A tool result that names the agent which gave it."""
        result = value.get("toolUseResult")
        agent = result.get("agentId") if isinstance(result, dict) else None
        if not isinstance(agent, str) or self.branches.last_human < 0:
            return
        asked = self.turns[self.branches.last_human]
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
            self.queue.take_back(content, every=operation == "popAll")

    def _enqueue(self, record: Record, content: str) -> None:
        if _COMMAND.match(content):
            self.tally.drop("command")
            return
        self._close()
        role = Role.OTHER if self.key.agent else Role.HUMAN
        turn = self._turn(record, role, (content,))
        turn.ahead = True
        place = self._ask(turn, -1)
        self.queue.put(place, content)
        self.branches.type_ahead(place)

    def _attachment(self, record: Record) -> None:
        inner = record.value.get("attachment")
        above = self._human_above(record, "attachment")
        prompt = inner.get("prompt") if isinstance(inner, dict) else None
        queued = isinstance(inner, dict) and inner.get("type") == "queued_command"
        if not queued or not isinstance(prompt, str | list):
            self._remember(record.value, "attachment", above)
            self.tally.drop("injected")
            return
        blocks, attachments, _ = user_parts(prompt)
        role = Role.OTHER if self.key.agent else Role.HUMAN
        self._close()
        turn = self._turn(record, role, tuple(blocks), tuple(attachments))
        turn.ahead = True
        self._place_human(turn, record, above)

    # --- what the assistant said

    def _assistant(self, record: Record) -> None:
        value = record.value
        above = self._human_above(record, "assistant")
        message, content = value.get("message"), content_of(value)
        self._remember(value, "assistant", above)
        if not isinstance(message, dict) or not isinstance(content, _CONTENT):
            self.tally.drop("lost")
            self.tally.note("bad_message", record.line)
            return
        model = message.get("model")
        if value.get("isApiErrorMessage") or model == "<synthetic>":
            self.tally.drop("meta")
            return
        if isinstance(model, str) and model not in self.models:
            self.models[model] = None
        self.branches.tip = self.branches.reached(above)
        ident, request = message.get("id"), value.get("requestId")
        if self.message is None or not self.message.goes_on(ident, request):
            self._close()
            self.message = Message(ident, request)
        self._extend(self.message, record, content, message)

    def _extend(
        self, held: Message, record: Record, content: str | list[Any], message: dict[str, Any]
    ) -> None:
        held.records += 1
        held.result_since = False
        held.stopped = message.get("stop_reason") in _STOPS
        uuid = record.value.get("uuid")
        if isinstance(uuid, str):
            held.keys.append(uuid)
        for block in [{"type": "text", "text": content}] if isinstance(content, str) else content:
            self._block(held, block, record)

    def _block(self, held: Message, block: object, record: Record) -> None:
        kind = block.get("type") if isinstance(block, dict) else None
        if not isinstance(block, dict) or not isinstance(kind, str):
            self.tally.note("unknown_content", record.line)
        elif kind.endswith("tool_use"):
            self._call(held, block)
        elif kind == "text":
            self._text(held, block, record)
        elif kind in {"thinking", "redacted_thinking"}:
            held.thought = True
        elif not kind.endswith("tool_result"):
            self.tally.note("unknown_content", record.line)

    def _text(self, held: Message, block: dict[str, Any], record: Record) -> None:
        text = block.get("text")
        if not isinstance(text, str) or not text.strip():
            return
        held.say(text)
        if held.turn is None:
            held.turn = self._turn(record, Role.ASSISTANT, ())
            held.turn.calls_tool = bool(held.calls)
            self._answer(held.turn)
            self.spoken = held.turn

    def _call(self, held: Message, block: dict[str, Any]) -> None:
        name = block.get("name")
        if name in _WEB:
            self.fetching.add(str(block.get("id")))
        if held.is_new_call(block.get("id")):
            held.calls.append((name if isinstance(name, str) else "unnamed", 1))
            held.touched += touched(block.get("input"))
        if self.spoken is not None:
            self.spoken.calls_tool = True

    def _close(self) -> None:
        """End the message being read: it becomes a turn, or its records are disposed of."""
        held, self.message = self.message, None
        if held is None:
            return
        if held.calls and held.turn is None:
            self.spoken = None
        self.waiting += held.calls
        self.touched += held.touched
        turn = held.turn
        if turn is None:
            self.tally.drop(held.silent, held.records)
            return
        turn.blocks = tuple(held.texts)
        turn.calls, turn.touched = tuple(self.waiting), tuple(self.touched)
        self.waiting, self.touched = [], []
        turn.records = held.records
        turn.key = held.keys[0] if held.keys else None
        turn.also = tuple(held.keys[1:])
        turn.stopped = held.stopped
        turn.final = True if held.stopped and not held.calls else None  # it ended its turn
        turn.calls_tool = turn.calls_tool or bool(held.calls)

    # --- the rest

    def _other(self, record: Record, kind: str) -> None:
        self._remember(record.value, kind, self._human_above(record, kind))
        if kind == "system":
            self._system(record)
        elif kind == "saved_hook_context":
            self.tally.drop("injected")
        else:
            self.tally.drop("meta")
            if kind not in TYPES and not kind.endswith("-title"):
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
        off = self.branches.left_behind()
        turns: list[RawTurn] = []
        for place, turn in enumerate(self.turns):
            if turn is not None:
                turn.alternative = place in off
                turns.append(turn)
        project, sure = project_of(tuple(self.folders), parts, agent=self.key.agent is not None)
        for turn in turns:
            turn.touched = tuple(folded(path) for path in turn.touched)
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
            cuts=self.cuts(off),
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
        places = self.queue.withdrawn()
        if places:
            self.branches.take_out(places)
            self.tally.drop("meta", len(places))
        for place in places:
            self.turns[place] = None
