"""One Codex session while it is read: heads, messages and their copies, calls, rollbacks."""

import re
from collections import deque
from datetime import datetime
from typing import Final

from graphstore.model.conversation import Attachment, Event, LineageKind, Role, Taint
from ingest.cuts import Cuts, Older, Unsure
from ingest.envelopes import open_block
from ingest.instants import aware
from ingest.model import Pointer, RawThread, RawTurn, Source, Tally, TitleCandidate
from ingest.readers._codex_records import (
    BEGINNINGS,
    BESIDE,
    COMPLETED,
    ENDS,
    FILES,
    HAPPENINGS,
    PHASES,
    SPEAKERS,
    TEXTS,
    TOLD,
    WITHOUT_WORDS,
    WRAPPED,
    Json,
    Kind,
    Where,
    of_event,
)
from ingest.readers._codex_spots import SPOTS, Begun, Spot, begun_at, cuts_of
from ingest.readers._codex_words import (
    Entry,
    Said,
    Scope,
    asked,
    attached,
    is_asked,
    is_older,
    may_name,
    parsed,
    tellings,
    touched,
    turn_id_of,
)
from ingest.readers._fields import timed, word

_STEM_ID: Final = re.compile(r"([0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12})(?=\.[^/]*$)")
_WORKTREE: Final = re.compile(r"[\\/]\.(?:claude[\\/])?worktrees[\\/][^\\/]+")
_SPAWN: Final = "spawn_agent"
_SPAWNED: Final = ("agent_id", "new_thread_id", "thread_id")


class Session:
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
        self.scope = Scope()
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
            source="codex",
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

    def _note_spot(self, turn_id: str | None, place: Where) -> None:
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

    def meta(self, meta: Json, place: Where) -> None:
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

    def record(self, value: Json, place: Where) -> None:
        """Take in one line that is no head."""
        kind, payload = value.get("type"), value.get("payload")
        if not isinstance(payload, dict):
            self._bare(value, place)
        elif self.is_agent and self._replayed(kind, payload):
            self.tally.drop("duplicate")
        elif kind == "response_item":
            self.item(payload, place)
        elif kind == "event_msg":
            self.event(payload, place)
        else:
            self._beside(word(value, "type"), payload, place)

    def _bare(self, value: Json, place: Where) -> None:
        """Take in a line that wraps nothing: an item as it is, or what stands beside one."""
        if "payload" in value:
            self.lose(place)
        elif "record_type" in value:
            self.tally.drop("meta")
        else:
            self.item(value, place)

    def _beside(self, kind: str, payload: Json, place: Where) -> None:
        self.tally.drop(BESIDE.get(kind, "meta"))
        if kind == "turn_context":
            self._turn_begins(payload)
            self._place_of_work(payload.get("cwd"))
            model = payload.get("model")
            if isinstance(model, str) and model:
                self.models[model] = None
        elif kind == "compacted":
            self._tell("compaction", place)
        elif kind not in WRAPPED and kind not in BESIDE:
            self.tally.note("unknown_record", place.line)

    def _tell(self, kind: str, place: Where) -> None:
        """Keep what happened; a time that names no zone is none for an event."""
        self.events.append(Event(kind=kind, at=aware(self.time(place.at, place))))

    def _turn_begins(self, payload: Json) -> None:
        self.turn_id = word(payload, "turn_id") or self.turn_id
        if self.is_agent:
            self.replays = is_older(self.turn_id, self.native_id)

    def _replayed(self, kind: object, payload: Json) -> bool:
        """Whether a record is the spawner's, which an agent's session may begin with.

        It is known by its turn, which began before the session was made.
        """
        began = kind == "turn_context" or word(payload, "type") in BEGINNINGS
        if began:
            self._turn_begins(payload)
        return self.replays

    def item(self, item: Json, place: Where) -> None:
        """Take in an item of the model's context."""
        kind = item.get("type")
        if kind == "message" or (kind is None and "role" in item):
            self._message(item, place)
        elif not isinstance(kind, str):
            self.lose(place)
        elif kind.endswith("_output"):
            self._output(item, place)
        elif kind.endswith("_call"):
            self._call(item, kind)
        elif kind in WITHOUT_WORDS:
            self.tally.drop(WITHOUT_WORDS[kind])
        else:
            self.tally.drop("meta")
            self.tally.note("unknown_record", place.line)

    def _message(self, item: Json, place: Where) -> None:
        role = word(item, "role")
        if role in {"system", "developer"}:
            self.tally.drop("injected")
        elif role == "tool":
            self.tally.drop("tool")
        elif role in {"user", "assistant"}:
            blocks, attachments = self._content(item.get("content"), place)
            speaker = Role.HUMAN if role == "user" else Role.ASSISTANT
            final = PHASES.get(word(item, "phase"))
            said = Said(speaker, blocks, attachments, final, turn_id_of(item))
            self._say(said, "item", place)
        else:
            self.lose(place)

    def event(self, event: Json, place: Where) -> None:
        """Take in an event of the interface: some repeat messages, most tell of progress."""
        kind = word(event, "type")
        if kind in {"user_message", "agent_message"}:
            self._told(event, place)
        elif kind == "item_completed" and isinstance(event.get("item"), dict):
            self._completed(event, event["item"], place)
        elif kind:
            self.tally.drop(of_event(kind))
            if kind in HAPPENINGS:
                self._happened(kind, event, place)
        else:
            self.lose(place)

    def _told(self, event: Json, place: Where) -> None:
        text = event.get("message")
        role = Role.HUMAN if event.get("type") == "user_message" else Role.ASSISTANT
        blocks = (text,) if isinstance(text, str) else ()
        final = PHASES.get(word(event, "phase"))
        self._say(Said(role, blocks, (), final, turn_id_of(event)), "event", place)

    def _completed(self, event: Json, item: Json, place: Where) -> None:
        kind = word(item, "type").replace("_", "").lower()
        role = SPEAKERS.get(kind)
        if role is None:
            self.tally.drop(COMPLETED.get(kind, "tool"))
            return
        blocks, attachments = self._content(item.get("content", item.get("text")), place)
        final = PHASES.get(word(item, "phase"))
        said = Said(role, blocks, attachments, final, turn_id_of(event))
        self._say(said, "completed", place)

    def _happened(self, kind: str, event: Json, place: Where) -> None:
        if kind in BEGINNINGS:
            self._turn_begins(event)
        elif kind in ENDS and self.spoken is not None:
            self.spoken.stopped = True
        elif kind == "thread_name_updated" and isinstance(event.get("thread_name"), str):
            self.titles = [TitleCandidate("user", event["thread_name"])]
        elif kind == "collab_agent_spawn_end":
            self._spawned(event.get("new_thread_id"))
        elif kind in TOLD:
            self._tell(kind, place)
        if kind == "thread_rolled_back":
            self._roll_back(event.get("num_turns"))

    # --- messages

    def _say(self, said: Said, kind: Kind, place: Where) -> None:
        """Make a turn of a message, unless another record told it already."""
        if said.role is Role.HUMAN:
            said.blocks = tuple(asked(block) for block in said.blocks)
        said.tellings = tellings(said.blocks)
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
        self.scope.add(said, Entry({kind}, turn))
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

    def _tell_again(self, entry: Entry, said: Said, kind: Kind, place: Where) -> None:
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

    def _turn(self, said: Said, turn_id: str | None, place: Where) -> RawTurn | None:
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
        self, content: object, place: Where
    ) -> tuple[tuple[str, ...], tuple[Attachment, ...]]:
        if isinstance(content, str):
            return (content,), ()
        blocks: list[str] = []
        attachments: list[Attachment] = []
        for part in content if isinstance(content, list) else ():
            told: Json = part if isinstance(part, dict) else {"text": part}
            kind, text = word(told, "type"), told.get("text")
            if isinstance(text, str) and (not kind or kind in TEXTS):
                blocks.append(text)
            elif kind in FILES:
                attachments.append(attached(told))
            else:
                self.tally.note("unknown_content", place.line)
        return tuple(blocks), tuple(attachments)

    # --- tools

    def _call(self, item: Json, kind: str) -> None:
        name = item.get("name")
        called = name if isinstance(name, str) and name else kind.removesuffix("_call")
        self.calls.append((called, 1))
        arguments = item.get("arguments", item.get("input"))
        if may_name(arguments):
            self.touched += touched(arguments)
        if called == _SPAWN and isinstance(item.get("call_id"), str):
            self.spawning.add(item["call_id"])
        if self.spoken is not None:
            self.spoken.calls_tool = True
            self.spoken = None
        if self.scope.turn_id is None:
            self.scope.clear()
        self.scope.answered = True
        self.tally.drop("tool")

    def _output(self, item: Json, place: Where) -> None:
        output = item.get("output")
        if isinstance(output, dict):
            output = output.get("content")
        call = item.get("call_id")
        if isinstance(call, str) and call in self.spawning and isinstance(output, str):
            told = parsed(output)
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
            if is_asked(turn):
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

    def lose(self, place: Where) -> None:
        """Count a record that cannot be understood."""
        self.tally.drop("lost")
        self.tally.note("bad_message", place.line)

    def time(self, value: object, place: Where) -> datetime | None:
        """Time of a record; what is wrong with it is counted."""
        return timed(value, self.tally, place.line)
