"""Codex sessions: ``~/.codex/sessions/**/rollout-*.jsonl`` and the prompts of ``history.jsonl``.

Seen: version 0.34 on disk; the shapes from April 2025 to 2026. The oldest file is one document
``{session, items}``; then a header line and bare items; since September 2025 every line is
``{timestamp, type, payload}``. A message is written as item, as event, or as both: the item is
the message, an equal event of the same turn its copy. Times are ISO 8601, those of the prompt
history seconds. A fork holds a copy of its parent's history and names it; rollbacks take the
last exchanges off the main line.
"""

import base64
import re
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final, Literal, NamedTuple, TypeAlias

from graphstore.ids import digest_bytes
from graphstore.model.conversation import Attachment, Event, LineageKind, Role, Taint
from ingest.cuts import Cuts, Older, Unsure
from ingest.document import elements
from ingest.envelopes import open_block
from ingest.instants import aware, instant
from ingest.jsonio import loads, records
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
from ingest.readers._codex_spots import SPOTS, Begun, Spot, begun_at, cuts_of
from ingest.shape import look

NAME: Final = "codex"
VERSION: Final = 1
APPENDABLE: Final = True
TIER: Final = "proven"

Json: TypeAlias = dict[str, Any]
Kind: TypeAlias = Literal["item", "event", "completed"]

_WRAPPED: Final = frozenset({
    "session_meta",
    "response_item",
    "turn_context",
    "event_msg",
    "compacted",
    "world_state",
})  # fmt: skip
_BESIDE: Final[dict[str, Disposition]] = {
    "inter_agent_communication": "tool",
    "inter_agent_communication_metadata": "meta",
    "realtime_item": "meta",
    "security_risk_score": "meta",
}
"""Lines that hold no words of the conversation; a line of any other type is told."""
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

_WITHOUT_WORDS: Final[dict[str, Disposition]] = {
    "reasoning": "thinking",
    "agent_message": "tool",  # what agents write to each other
    "compaction": "meta",
    "compaction_summary": "meta",
    "compaction_trigger": "meta",
    "context_compaction": "meta",
    "ghost_snapshot": "meta",
    "other": "meta",
}
"""Items that neither speak nor call."""
_EVENTS: Final[tuple[tuple[str, Disposition], ...]] = (
    ("agent_reasoning", "thinking"),
    ("reasoning_", "thinking"),
    ("exec_", "tool"),
    ("mcp_", "tool"),
    ("patch_", "tool"),
    ("apply_patch", "tool"),
    ("turn_diff", "tool"),
    ("plan_", "tool"),
    ("web_search", "tool"),
    ("view_image", "tool"),
    ("image_generation", "tool"),
    ("dynamic_tool", "tool"),
    ("terminal_", "tool"),
    ("collab_", "tool"),
)
"""What events are, by how their type begins; the others are meta."""
_TOLD: Final = frozenset({"turn_aborted", "thread_rolled_back"})
"""Events that are told with the thread."""
_BEGINNINGS: Final = frozenset({"task_started", "turn_started"})
"""Events that a turn begins with."""
_TEXTS: Final = frozenset({"input_text", "output_text", "text", "Text"})
_FILES: Final = frozenset({"input_image", "input_audio", "input_file", "image", "local_image"})
_SPEAKERS: Final = {
    "usermessage": Role.HUMAN,
    "agentmessage": Role.ASSISTANT,
}
_PHASES: Final = {"commentary": False, "final_answer": True}
_COMPLETED: Final[dict[str, Disposition]] = {
    "reasoning": "thinking",
    "contextcompaction": "meta",
    "plan": "meta",
    "enteredreviewmode": "meta",
    "exitedreviewmode": "meta",
}
"""Completed items that do not speak; the others are tools."""
_STEM_ID: Final = re.compile(r"([0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12})(?=\.[^/]*$)")
_TIMED: Final = re.compile(r"[0-9a-fA-F]{8}-[0-9a-fA-F]{4}(?=-7)")
"""Milliseconds that a UUID of version 7 begins with (RFC 9562)."""
_PATCH: Final = re.compile(r"^\*\*\* (?:Add|Update|Delete) File: (.{1,500})$", re.MULTILINE)
_PATHS: Final = ("path", "file_path", "filename", "target_file")
_PATCH_MARK: Final = "*** "
_PATH_MARKS: Final = (_PATCH_MARK, *(f'"{key}"' for key in _PATHS))
_EDITOR: Final = "# Context from my IDE setup:"
_REQUEST: Final = re.compile(r"^## My request for Codex:[ \t]*$", re.MULTILINE)
_WORKTREE: Final = re.compile(r"[\\/]\.(?:claude[\\/])?worktrees[\\/][^\\/]+")
_SPAWN: Final = "spawn_agent"
_SPAWNED: Final = ("agent_id", "new_thread_id", "thread_id")
_NEAR: Final = 8
"""Equal messages of one turn looked at for the one that a copy belongs to."""


def sniff(head: bytes, src: Source) -> Score | None:
    """One old document, prompts of the history, or the share of lines of a session."""
    del head
    shape = look(src)
    if shape.kind == "dict" and _is_oldest(shape.objects[0]):
        return Score.by(5)
    if shape.kind not in {"lines", "dict"}:
        return None
    bare = any("record_type" in one or _is_header(one) for one in shape.objects)
    matching = sum(_is_ours(one, bare=bare) for one in shape.objects)
    return Score.by(6, shape.share(matching), "a") if matching else None


def _is_oldest(one: Json) -> bool:
    return "session" in one and "items" in one


def _is_ours(one: Json, *, bare: bool) -> bool:
    kind = _word(one, "type")
    if kind in _WRAPPED:
        return "payload" in one
    if "record_type" in one or _is_header(one) or _is_prompt(one):
        return True
    return bare and kind in _BARE


def _word(value: Json, key: str) -> str:
    """Return a member that must be a word to say anything; empty if it is none."""
    word = value.get(key)
    return word if isinstance(word, str) else ""


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
            for element in elements(stream, tally, _NO_KEY):
                yield from file.document(
                    element.value, _Place(None, element.offset, element.length)
                )
        else:
            for record in records(stream, tally, _KNOWN, parsed=src.parsed):
                at = record.value.get("timestamp")
                place = _Place(record.line, record.offset, record.length, at)
                yield from file.record(record.value, place)
    yield from file.rest()


def resume(src: Source, tally: Tally, state: str, older: Older) -> RawThread | None:
    """Read what follows a place of a session; None if it may change what was before."""
    file = _File(src, tally)
    session = file.session = _Session(src, tally)
    session.go_on(state, older)
    try:
        with src.open() as stream:
            for record in records(stream, tally, _KNOWN):
                if _is_head(record.value) or _is_prompt(record.value):
                    return None
                at = record.value.get("timestamp")
                place = _Place(record.line, record.offset, record.length, at)
                session.record(record.value, place)
    except Unsure:
        return None
    return session.thread()


def _is_head(value: Json) -> bool:
    return value.get("type") == "session_meta" or _is_header(value)


class _Place(NamedTuple):
    """Where and when a record was written."""

    line: int | None
    offset: int
    length: int
    at: object = None
    """As written: most records are no turns, and their times are not needed."""


class _File:
    """One file while its lines are read: nearly always one session."""

    def __init__(self, src: Source, tally: Tally) -> None:
        self.src = src
        self.tally = tally
        self.session: _Session | None = None
        self.prompts: dict[str, RawThread] = {}
        self.is_empty = True

    def document(self, value: object, place: _Place) -> Iterator[RawThread | ReadFailure]:
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
        held = self.session = _Session(self.src, self.tally)
        held.meta(session, place)
        for item in items:
            self.tally.read()
            if isinstance(item, dict):
                held.item(item, place._replace(at=item.get("timestamp")))
            else:
                held.lose(place)
        yield from self._end()

    def record(self, value: Json, place: _Place) -> Iterator[RawThread]:
        """Take in one line, which is counted already."""
        if _is_prompt(value):
            self._prompt(value, place)
            return
        payload = value.get("payload")
        meta = payload if value.get("type") == "session_meta" else value
        if isinstance(meta, dict) and (meta is payload or _is_header(value)):
            self.tally.drop("meta")
            if self.session is not None and self.session.is_stranger(meta):
                yield from self._end()
            self._held().meta(meta, place)
        else:
            self._held().record(value, place)

    def _held(self) -> "_Session":
        if self.session is None:
            self.session = _Session(self.src, self.tally)
        return self.session

    def _prompt(self, value: Json, place: _Place) -> None:
        native, text = value["session_id"], value["text"]
        if not isinstance(native, str) or not native or not isinstance(text, str):
            self.tally.drop("lost")
            self.tally.note("bad_message", place.line)
            return
        at, problem = instant(value["ts"])
        if problem == "bad_timestamp":
            self.tally.note(problem, place.line)
        fresh = RawThread(NAME, native, agent=True, rank=4, native_ids=(native,), where=native)
        thread = self.prompts.setdefault(native, fresh)
        thread.turns.append(
            RawTurn(
                role=Role.HUMAN,
                blocks=(_asked(text),),
                at=at,
                line=place.line,
                offset=place.offset,
                length=place.length,
            )
        )

    def _end(self) -> Iterator[RawThread]:
        session, self.session = self.session, None
        if session is not None and (session.native_id is not None or session.turns):
            self.is_empty = False
            yield session.thread()

    def rest(self) -> Iterator[RawThread | ReadFailure]:
        """Give what is left when all is read."""
        yield from self._end()
        yield from self.prompts.values()
        if self.is_empty and not self.prompts:
            yield ReadFailure(self.src.name, "no_conversation", "no session and no message")


@dataclass(slots=True)
class _Said:
    """A message, by whichever of its records is at hand."""

    role: Role
    blocks: tuple[str, ...]
    attachments: tuple[Attachment, ...] = ()
    final: bool | None = None
    turn_id: str | None = None
    tellings: tuple[str, ...] = ()
    """Texts by which it is known again, once it is said."""


@dataclass(slots=True)
class _Entry:
    """A message of the turn at hand and the kinds of records that told it."""

    kinds: set[Kind]
    turn: RawTurn | None
    """None if it held no words."""


@dataclass(slots=True)
class _Scope:
    """Where a record can be the copy of another one: a turn, or an exchange without ids."""

    turn_id: str | None = None
    answered: bool = False
    entries: dict[tuple[Role, str], list[_Entry]] = field(default_factory=dict)

    def find(self, said: _Said, kind: Kind) -> _Entry | None:
        """Return the message that this record is another telling of."""
        for text in said.tellings:
            for entry in self.entries.get((said.role, text), ())[-_NEAR:]:
                if kind not in entry.kinds:
                    return entry
        return None

    def add(self, said: _Said, entry: _Entry) -> None:
        for text in said.tellings:
            self.entries.setdefault((said.role, text), []).append(entry)

    def clear(self) -> None:
        self.entries = {}
        self.answered = False


class _Session:
    """One session while its records are read."""

    def __init__(self, src: Source, tally: Tally) -> None:
        self.tally = tally
        self.keep_context = src.keep_context
        named = _STEM_ID.search(src.path)
        self.stem_id = named[1] if named else None
        self.native_id: str | None = None
        self.has_meta = False
        self.ancestors: set[str] = set()
        self.passed: set[str] = set()
        """Ancestors whose copied head was met."""
        self.started_at: datetime | None = None
        self.project: str | None = None
        self.is_agent = False
        self.pointers: dict[Pointer, None] = {}
        self.titles: list[TitleCandidate] = []
        self.models: dict[str, None] = {}
        self.events: list[Event] = []
        self.turns: list[RawTurn] = []
        self.path: list[RawTurn] = []
        """The turns that no rollback took back."""
        self.barren = 0
        """Turns at the start of the path that ask for nothing."""
        self.asked: RawTurn | None = None
        """What was last asked for."""
        self.turn_id: str | None = None
        self.replays = False
        """Records at hand are a copy of the history of an agent's spawner."""
        self.scope = _Scope()
        self.ordinals: dict[str, int] = {}
        self.calls: list[tuple[str, int]] = []
        self.touched: list[str] = []
        self.spawning: set[str] = set()
        """Ids of calls that spawn an agent."""
        self.spoken: RawTurn | None = None
        """The message that a call would directly follow."""
        self.spots: deque[Spot] = deque(maxlen=SPOTS)
        self.resumable = src.resumable and not src.keep_context
        self.older: Older | None = None
        """Turns before those that are read, where reading goes on from a place."""

    def thread(self) -> RawThread:
        native = self.native_id or self.stem_id
        return RawThread(
            source=NAME,
            native_id=native,
            turns=self.turns,
            agent=True,
            growing=native is None,
            rank=1,
            sharing="words",
            titles=tuple(self.titles),
            started_at=self.started_at,
            project=self.project,
            models=tuple(self.models),
            native_ids=(native,) if native else (),
            pointers=tuple(self.pointers),
            events=tuple(self.events),
            tail_calls=tuple(self.calls),
            where=native or "",
            cuts=self._cuts(),
        )

    # --- reading on

    def _note_spot(self, turn_id: str | None, place: _Place) -> None:
        """Keep where a message begins an exchange that nothing before it waits for."""
        last = self.path[-1] if self.turns and self.path else None
        waits = self.calls or self.touched or self.spawning or self.scope.entries
        known = turn_id is not None and turn_id in self.ordinals
        if last is None or last is not self.turns[-1] or place.line is None:
            return
        answered = last.role is Role.ASSISTANT and not last.calls_tool
        if answered and not waits and not known and self.barren < len(self.path):
            self.spots.append(
                Spot(
                    line=place.line,
                    offset=place.offset,
                    answered=last.offset or 0,
                    turn_ids=len(self.ordinals),
                    events=len(self.events),
                    turn_id=self.turn_id,
                    scope=self.scope.turn_id,
                )
            )

    def _cuts(self) -> Cuts | None:
        """Where this session may be read on from, if it is a plain one."""
        special = self.ancestors or self.pointers or self.is_agent
        if not self.resumable or special or not self.has_meta or self.native_id is None:
            return None
        begun = Begun(
            native_id=self.native_id,
            started_at=self.started_at,
            project=self.project,
            models=tuple(self.models),
            events=tuple(self.events),
            turn_id=None,
            scope=None,
        )
        return cuts_of(self.spots, self.ordinals, begun)

    def go_on(self, state: str, older: Older) -> None:
        """Know what a reading up to a place has found; nothing of it is given again."""
        begun = begun_at(state)
        self.older, self.has_meta = older, True
        self.native_id, self.started_at = begun.native_id, begun.started_at
        self.project, self.models = begun.project, dict.fromkeys(begun.models)
        self.events = list(begun.events)
        self.turn_id, self.scope.turn_id = begun.turn_id, begun.scope
        self.path.append(RawTurn(Role.ASSISTANT, ()))  # the answer before: rollbacks end at it

    # --- heads

    def is_stranger(self, meta: Json) -> bool:
        """Whether a head begins another session: neither this one's nor an ancestor's copy."""
        native = meta.get("id")
        if not self.has_meta or not isinstance(native, str) or native == self.native_id:
            return False
        if native not in self.ancestors or native in self.passed:
            return True
        self.passed.add(native)
        return False

    def meta(self, meta: Json, place: _Place) -> None:
        """Take in a head; the first one says what the session is."""
        fork = meta.get("forked_from_id")
        source = meta.get("source")
        spawned = source.get("subagent") if isinstance(source, dict) else None
        spawn = spawned.get("thread_spawn") if isinstance(spawned, dict) else None
        parent = spawn.get("parent_thread_id") if isinstance(spawn, dict) else None
        self.ancestors.update(one for one in (fork, parent) if isinstance(one, str))
        if self.has_meta:
            return
        self.has_meta = True
        native = meta.get("id")
        self.native_id = native if isinstance(native, str) and native else None
        self.started_at = self.time(meta.get("timestamp"), place)
        self._place_of_work(meta.get("cwd"))
        self.is_agent = spawned is not None or meta.get("thread_source") == "subagent"
        if isinstance(parent, str) and parent:
            self.pointers[Pointer(LineageKind.SUBAGENT_OF, parent)] = None
        elif isinstance(fork, str) and fork:
            self.pointers[Pointer(LineageKind.FORKED_FROM, fork)] = None

    def _place_of_work(self, folder: object) -> None:
        if self.project is None and isinstance(folder, str) and folder:
            self.project = _WORKTREE.sub("", folder)

    # --- records

    def record(self, value: Json, place: _Place) -> None:
        """Take in one line that is no head."""
        kind, payload = _word(value, "type"), value.get("payload")
        if "payload" not in value:
            if "record_type" in value:
                self.tally.drop("meta")
            else:
                self.item(value, place)
            return
        if not isinstance(payload, dict):
            self.lose(place)
        elif self._replayed(kind, payload):
            self.tally.drop("duplicate")
        elif kind == "response_item":
            self.item(payload, place)
        elif kind == "event_msg":
            self.event(payload, place)
        else:
            self._beside(kind, payload, place)

    def _beside(self, kind: str, payload: Json, place: _Place) -> None:
        self.tally.drop(_BESIDE.get(kind, "meta"))
        if kind == "turn_context":
            self._turn_begins(payload)
            self._place_of_work(payload.get("cwd"))
            model = payload.get("model")
            if isinstance(model, str) and model:
                self.models[model] = None
        elif kind == "compacted":
            self._tell("compaction", place)
        elif kind not in _WRAPPED and kind not in _BESIDE:
            self.tally.note("unknown_record", place.line)

    def _tell(self, kind: str, place: _Place) -> None:
        """Keep what happened; a time that names no zone is none for an event."""
        self.events.append(Event(kind=kind, at=aware(self.time(place.at, place))))

    def _turn_begins(self, payload: Json) -> None:
        self.turn_id = _word(payload, "turn_id") or self.turn_id
        if self.is_agent:
            self.replays = _is_older(self.turn_id, self.native_id)

    def _replayed(self, kind: str, payload: Json) -> bool:
        """Whether a record is the spawner's, which an agent's session may begin with.

        It is known by its turn, which began before the session was made.
        """
        began = kind == "turn_context" or _word(payload, "type") in _BEGINNINGS
        if self.is_agent and began:
            self._turn_begins(payload)
        return self.replays

    def item(self, item: Json, place: _Place) -> None:
        """Take in an item of the model's context."""
        kind = item.get("type")
        if kind == "message" or (kind is None and "role" in item):
            self._message(item, place)
        elif not isinstance(kind, str):
            self.lose(place)
        elif kind in _WITHOUT_WORDS:
            self.tally.drop(_WITHOUT_WORDS[kind])
        elif kind.endswith("_output"):
            self._output(item, place)
        elif kind.endswith("_call"):
            self._call(item, kind)
        else:
            self.tally.drop("meta")
            self.tally.note("unknown_record", place.line)

    def _message(self, item: Json, place: _Place) -> None:
        role = _word(item, "role")
        if role in {"system", "developer"}:
            self.tally.drop("injected")
        elif role == "tool":
            self.tally.drop("tool")
        elif role in {"user", "assistant"}:
            blocks, attachments = self._content(item.get("content"), place)
            speaker = Role.HUMAN if role == "user" else Role.ASSISTANT
            final = _PHASES.get(_word(item, "phase"))
            said = _Said(speaker, blocks, attachments, final, _turn_id(item))
            self._say(said, "item", place)
        else:
            self.lose(place)

    def event(self, event: Json, place: _Place) -> None:
        """Take in an event of the interface: some repeat messages, most tell of progress."""
        kind = _word(event, "type")
        if kind in {"user_message", "agent_message"}:
            self._told(event, place)
        elif kind == "item_completed" and isinstance(event.get("item"), dict):
            self._completed(event, event["item"], place)
        elif kind:
            self.tally.drop(
                next((what for start, what in _EVENTS if kind.startswith(start)), "meta")
            )
            self._happened(kind, event, place)
        else:
            self.lose(place)

    def _told(self, event: Json, place: _Place) -> None:
        text = event.get("message")
        role = Role.HUMAN if event.get("type") == "user_message" else Role.ASSISTANT
        blocks = (text,) if isinstance(text, str) else ()
        final = _PHASES.get(_word(event, "phase"))
        self._say(_Said(role, blocks, (), final, _turn_id(event)), "event", place)

    def _completed(self, event: Json, item: Json, place: _Place) -> None:
        kind = _word(item, "type").replace("_", "").lower()
        role = _SPEAKERS.get(kind)
        if role is None:
            self.tally.drop(_COMPLETED.get(kind, "tool"))
            return
        blocks, attachments = self._content(item.get("content", item.get("text")), place)
        final = _PHASES.get(_word(item, "phase"))
        said = _Said(role, blocks, attachments, final, _turn_id(event))
        self._say(said, "completed", place)

    def _happened(self, kind: str, event: Json, place: _Place) -> None:
        if kind in _BEGINNINGS:
            self._turn_begins(event)
        elif kind in {"task_complete", "turn_complete"} and self.spoken is not None:
            self.spoken.stopped = True
        elif kind == "thread_name_updated" and isinstance(event.get("thread_name"), str):
            self.titles = [TitleCandidate("user", event["thread_name"])]
        elif kind == "collab_agent_spawn_end":
            self._spawned(event.get("new_thread_id"))
        elif kind in _TOLD:
            self._tell(kind, place)
        if kind == "thread_rolled_back":
            self._roll_back(event.get("num_turns"))

    # --- messages

    def _say(self, said: _Said, kind: Kind, place: _Place) -> None:
        """Make a turn of a message, unless another record told it already."""
        if said.role is Role.HUMAN:
            said.blocks = tuple(_asked(block) for block in said.blocks)
        said.tellings = _tellings(said.blocks)
        turn_id = said.turn_id or self.turn_id
        if self.older is not None and turn_id is not None and self.older.has(turn_id):
            raise Unsure
        self._enter(turn_id, said.role)
        entry = self.scope.find(said, kind)
        if entry is not None:
            self._tell_again(entry, said, kind, place)
            return
        if self.resumable and said.role is Role.HUMAN:
            self._note_spot(turn_id, place)
        turn = self._turn(said, turn_id, place)
        self.scope.add(said, _Entry({kind}, turn))
        if turn is not None:
            self._append(turn)
            self.asked = self.asked if turn.role is Role.ASSISTANT else turn

    def _append(self, turn: RawTurn) -> None:
        self.turns.append(turn)
        self.path.append(turn)

    def _enter(self, turn_id: str | None, role: Role) -> None:
        """Leave the scope that a message of this turn is not of."""
        scope = self.scope
        if turn_id is not None and turn_id != scope.turn_id:
            if scope.turn_id is not None or scope.answered:
                scope.clear()
            scope.turn_id = turn_id
        elif turn_id is None and role is Role.HUMAN and scope.answered:
            scope.clear()
        scope.answered = scope.answered or role is Role.ASSISTANT

    def _tell_again(self, entry: _Entry, said: _Said, kind: Kind, place: _Place) -> None:
        """Count a copy; of all tellings the item is the one to keep."""
        entry.kinds.add(kind)
        self.tally.drop("duplicate")
        turn = entry.turn
        if turn is None:
            return
        turn.attachments = turn.attachments or said.attachments
        turn.final = said.final if turn.final is None else turn.final
        turn.stopped = turn.stopped or bool(turn.final)
        if kind == "item":
            turn.blocks = said.blocks if turn.role is not Role.OTHER else turn.blocks
            turn.attachments = said.attachments or turn.attachments
            turn.line, turn.offset, turn.length, _ = place
            turn.at = self.time(place.at, place) or turn.at

    def _turn(self, said: _Said, turn_id: str | None, place: _Place) -> RawTurn | None:
        role, blocks = said.role, said.blocks
        key = self._key(turn_id)
        if role is Role.HUMAN and self.is_agent:
            role = Role.OTHER
            blocks = tuple(text for block in blocks if (text := open_block(block).text))
            if not blocks:
                self.tally.drop("injected")
                return None
        turn = RawTurn(
            role=role,
            blocks=blocks,
            key=key,
            at=self.time(place.at, place),
            line=place.line,
            offset=place.offset,
            length=place.length,
            attachments=said.attachments,
        )
        if role is Role.ASSISTANT:
            turn.final = said.final
            turn.stopped = bool(said.final)
            turn.calls, self.calls = tuple(self.calls), []
            turn.touched, self.touched = tuple(self.touched), []
        self.spoken = turn if role is Role.ASSISTANT else None
        return turn

    def _key(self, turn_id: str | None) -> str | None:
        """Native key of a message: the turn and its place in it, equal in a copy of the turn."""
        if turn_id is None:
            return None
        self.ordinals[turn_id] = self.ordinals.get(turn_id, 0) + 1
        return f"{turn_id}:{self.ordinals[turn_id]}"

    def _content(
        self, content: object, place: _Place
    ) -> tuple[tuple[str, ...], tuple[Attachment, ...]]:
        if isinstance(content, str):
            return (content,), ()
        blocks: list[str] = []
        attachments: list[Attachment] = []
        for part in content if isinstance(content, list) else ():
            told: Json = part if isinstance(part, dict) else {"text": part}
            kind, text = _word(told, "type"), told.get("text")
            if isinstance(text, str) and (not kind or kind in _TEXTS):
                blocks.append(text)
            elif kind in _FILES:
                attachments.append(_file(told))
            else:
                self.tally.note("unknown_content", place.line)
        return tuple(blocks), tuple(attachments)

    # --- tools

    def _call(self, item: Json, kind: str) -> None:
        name = item.get("name")
        called = name if isinstance(name, str) and name else kind.removesuffix("_call")
        self.calls.append((called, 1))
        self.touched.extend(_touched(item.get("arguments", item.get("input"))))
        if called == _SPAWN and isinstance(item.get("call_id"), str):
            self.spawning.add(item["call_id"])
        if self.spoken is not None:
            self.spoken.calls_tool = True
            self.spoken = None
        if self.scope.turn_id is None:
            self.scope.clear()
        self.scope.answered = True
        self.tally.drop("tool")

    def _output(self, item: Json, place: _Place) -> None:
        output = item.get("output")
        if isinstance(output, dict):
            output = output.get("content")
        call = item.get("call_id")
        if isinstance(call, str) and call in self.spawning and isinstance(output, str):
            told = _parsed(output)
            for key in _SPAWNED if isinstance(told, dict) else ():
                self._spawned(told.get(key))
        if self.keep_context and isinstance(output, str) and output.strip():
            turn = RawTurn(Role.OTHER, (output,), taint=Taint.TOOL)
            turn.line, turn.offset, turn.length, _ = place
            turn.at = self.time(place.at, place)
            self._append(turn)
        else:
            self.tally.drop("tool")

    def _spawned(self, native: object) -> None:
        """Keep an agent's id with the last thing that was asked for."""
        if not isinstance(native, str) or not native:
            return
        if self.asked is not None and native not in self.asked.spawned:
            self.asked.spawned = (*self.asked.spawned, native)

    # --- what happens to a thread

    def _roll_back(self, count: object) -> None:
        """Take the last exchanges off the main line."""
        if not isinstance(count, int) or isinstance(count, bool) or count < 1:
            return
        cut, begun = len(self.path), False
        for place in range(len(self.path) - 1, self.barren - 1, -1):
            turn = self.path[place]
            if _is_asked(turn):
                cut, begun = place, True
            elif begun and turn.role is Role.ASSISTANT:
                count, begun = count - 1, False
                if not count:
                    break
        else:
            if self.older is not None:
                raise Unsure
            self.barren = cut
        for turn in self.path[cut:]:
            turn.alternative = True
        del self.path[cut:]
        self.spoken = None
        self.scope.clear()

    def lose(self, place: _Place) -> None:
        """Count a record that cannot be understood."""
        self.tally.drop("lost")
        self.tally.note("bad_message", place.line)

    def time(self, value: object, place: _Place) -> datetime | None:
        """Time of a record; what is wrong with it is counted."""
        at, problem = instant(value)
        if problem == "bad_timestamp":
            self.tally.note(problem, place.line)
        return at


def _turn_id(value: Json) -> str | None:
    return _word(value, "turn_id") or None


def _is_older(turn_id: str | None, native_id: str | None) -> bool:
    """Whether a turn began before a session was made: ids of both may begin with their time."""
    turn, session = (_TIMED.match(one or "") for one in (turn_id, native_id))
    return bool(turn and session and turn[0].lower() < session[0].lower())


def _tellings(blocks: tuple[str, ...]) -> tuple[str, ...]:
    """Texts by which a message is known again: all of it, and each of its blocks."""
    folded = [" ".join(block.split()) for block in blocks]
    return tuple(dict.fromkeys(text for text in (" ".join(folded), *folded) if text))


def _asked(text: str) -> str:
    """Return a person's words without what an editor put before them."""
    if not text.lstrip().startswith(_EDITOR):
        return text
    found = _REQUEST.search(text)
    return text[found.end() :].strip() if found else text


def _is_asked(turn: RawTurn) -> bool:
    """Whether a turn begins an exchange or goes on asking."""
    if turn.role is Role.OTHER:
        return turn.taint is None
    return turn.role is Role.HUMAN and any(open_block(block).text for block in turn.blocks)


def _touched(arguments: object) -> Iterator[str]:
    """Paths of patch headers, and of the arguments that name one."""
    if isinstance(arguments, str) and not any(mark in arguments for mark in _PATH_MARKS):
        return  # nearly always: it need not be parsed
    value = _parsed(arguments) if isinstance(arguments, str) else arguments
    if isinstance(value, dict):
        for key in _PATHS:
            if isinstance(value.get(key), str):
                yield value[key]
        texts = [one for held in value.values() for one in _strings(held)]
    else:
        texts = list(_strings(arguments))
    for text in texts:
        if _PATCH_MARK in text:
            yield from filter(None, map(str.strip, _PATCH.findall(text)))


def _strings(value: object) -> Iterator[str]:
    for one in value if isinstance(value, list) else (value,):
        if isinstance(one, str):
            yield one


def _parsed(text: str) -> Any:  # noqa: ANN401 - JSON
    try:
        return loads(text.encode("utf-8", "surrogatepass"))[0]
    except ValueError:
        return None


def _file(part: Json) -> Attachment:
    """An image, sound or file of a message, without its bytes."""
    url = next((part[key] for key in ("image_url", "file_data", "path") if key in part), None)
    url = url.get("url") if isinstance(url, dict) else url
    name = part.get("filename")
    told = name if isinstance(name, str) else None
    if not isinstance(url, str):
        return Attachment(name=told)
    if not url.startswith("data:"):
        return Attachment(name=told or url)
    head, _, data = url.partition(",")
    media = head.removeprefix("data:").partition(";")[0] or None
    try:
        content = base64.b64decode(data)
    except ValueError:
        return Attachment(name=told, media_type=media)
    return Attachment(
        name=told, media_type=media, size=len(content), content_hash=digest_bytes(content)
    )
