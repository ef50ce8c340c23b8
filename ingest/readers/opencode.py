"""OpenCode: ``opencode.db``, and before 1.2 the folder ``storage/{session,message,part}``.

Seen: the tables of 1.18 and the tree of 1.1, as described; no licensed real file was at hand.
Sessions, messages and parts are rows with a JSON column, or files of the same JSON:
``session/<project>/<session>.json``, ``message/<session>/<message>.json``,
``part/<message>/<part>.json``. Words are parts of type text that are neither synthetic nor
ignored; everything else is tool traffic, reasoning and bookkeeping. ``parent_id`` names the
session that spawned an agent. Version 2 keeps whole messages in ``session_message``, by
``seq``, with their type in a column; the older tables may still hold the rest of a session.
Times are milliseconds.
"""

import re
from collections.abc import Iterator
from datetime import datetime
from typing import Final

from graphstore.model.conversation import Attachment, Event, LineageKind, Role, Taint
from ingest.instants import aware
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
from ingest.readers._fields import timed
from ingest.readers._opencode_storage import (
    HEADS,
    ROLES,
    TABLES,
    WHOLE,
    Disk,
    Head,
    Json,
    Pack,
    Rows,
    Storage,
    Stored,
    Tree,
    created_at,
    text_of,
)
from ingest.readers._sqlite import guarded, opened, tables
from ingest.shape import look

NAME: Final = "opencode"
VERSION: Final = 1
APPENDABLE: Final = False
TIER: Final = "unproven"


_OWN_COLUMNS: Final = frozenset({"session_id", "data"})
_WHOLE_COLUMNS: Final = frozenset({"session_id", "type", "data"})
_BESIDE: Final[dict[str, Disposition]] = {
    "synthetic": "injected",
    "system": "injected",
    "shell": "tool",
    "compaction": "meta",
    "agent-switched": "meta",
    "model-switched": "meta",
    "location-switched": "meta",
}
"""Types of whole messages that nobody wrote."""
_PARTS: Final[dict[str, Disposition]] = {
    "reasoning": "thinking",
    "tool": "tool",
    "file": "meta",
    "step-start": "meta",
    "step-finish": "meta",
    "snapshot": "meta",
    "patch": "meta",
    "agent": "meta",
    "subtask": "meta",
    "retry": "meta",
    "compaction": "meta",
}
_SILENT: Final[tuple[Disposition, ...]] = ("injected", "tool", "thinking")
_PATHS: Final = ("filePath", "file_path", "path")
_GENERIC_TITLE: Final = re.compile(r"(?:New|Child) session - \d{4}-\d\d-\d\dT.*")


def sniff(head: bytes, src: Source) -> Score | None:
    """Known by its tables, or by the three folders of its tree."""
    del head
    if (tree := _tree(src)) is not None:
        return Score.by(0, 1.0, "b") if tree.kinds() >= TABLES else None
    found = tables(src)
    parted = found.keys() >= TABLES and found["message"] >= _OWN_COLUMNS
    whole = any(one in found for one in HEADS) and found.get(WHOLE, frozenset()) >= _WHOLE_COLUMNS
    return Score.by(2, 1.0, "b") if parted or whole else None


def _tree(src: Source) -> "Disk | Pack | None":
    """The folders of files of a source, if it is such a tree."""
    if src.inside is not None:
        return Pack(src.inside, src.record_limit)
    if look(src).kind == "folder" and src.file is not None:
        return Disk(src.file, src.record_limit)
    return None


def read(src: Source, tally: Tally) -> Iterator[RawThread | ReadFailure]:
    """Read the sessions of a database or of a tree, one at a time."""
    return guarded(_either(src, tally), src, tally)


def _either(src: Source, tally: Tally) -> Iterator[RawThread | ReadFailure]:
    if (tree := _tree(src)) is not None:
        yield from _sessions(Tree(tree, tally), src, tally)
        return
    with opened(src, tally) as database:
        yield from _sessions(Rows(database), src, tally)


# --- sessions


def _sessions(storage: Storage, src: Source, tally: Tally) -> Iterator[RawThread | ReadFailure]:
    for head in storage.sessions():
        if head is None:
            yield ReadFailure(src.name, "bad_conversation", "session cannot be read")
        else:
            yield _Session(storage, head, src, tally).thread()


class _Session:
    """One session while its messages are read."""

    def __init__(self, storage: Storage, head: Head, src: Source, tally: Tally) -> None:
        self.storage = storage
        self.head = head
        self.src = src
        self.tally = tally
        self.turns: list[RawTurn] = []
        self.models: dict[str, None] = {}
        self.events: list[Event] = []
        self.asked: RawTurn | None = None
        self.spoken: RawTurn | None = None

    def thread(self) -> RawThread:
        for message in self.storage.messages(self.head.key):
            self._message(message)
        head = self.head
        title = head.title if head.title and not _GENERIC_TITLE.fullmatch(head.title) else None
        return RawThread(
            source=NAME,
            native_id=head.key,
            turns=self.turns,
            agent=True,
            rank=1,
            titles=(TitleCandidate("native", title),) if title else (),
            started_at=self._time(head.created),
            project=head.folder,
            models=tuple(self.models),
            native_ids=(head.key,),
            pointers=(Pointer(LineageKind.SUBAGENT_OF, head.parent),) if head.parent else (),
            events=tuple(self.events),
            where=head.key,
        )

    def _time(self, value: object) -> datetime | None:
        return timed(value, self.tally, self.head.key)

    def lose(self) -> None:
        """Count a message or part that cannot be read."""
        self.tally.drop("lost")
        self.tally.note("bad_message", self.head.key)

    def _message(self, message: Stored) -> None:
        self.tally.read()
        if message.beside is not None:
            self._beside(message)
            return
        value = message.value
        role = ROLES.get(text_of(value, "role") or "") if value is not None else None
        if value is None or role is None:
            self.lose()
            return
        at = self._time(created_at(value) or message.created)
        parts = _Parts(self, role, at)
        for part in self.storage.parts(message.key):
            parts.add(part)
        if role is Role.ASSISTANT and value.get("summary") is True:
            self.events.append(Event(kind="compaction", at=aware(at)))
            self.tally.drop("meta", 1 + parts.records)
            return
        self._use(value)
        self._turn(message.key, parts, role, at)

    def _beside(self, message: Stored) -> None:
        """Count a whole message that nobody wrote."""
        kind = message.beside or ""
        if kind == "compaction":
            self.events.append(Event(kind=kind, at=aware(self._time(message.created))))
        if kind not in _BESIDE:
            self.tally.note("unknown_record", self.head.key)
        self.tally.drop(_BESIDE.get(kind, "meta"))

    def _use(self, value: Json) -> None:
        inner = value.get("model")
        model = text_of(value, "modelID") or (
            text_of(inner, "modelID") if isinstance(inner, dict) else None
        )
        if model:
            self.models[model] = None

    def _turn(self, key: str, parts: "_Parts", role: Role, at: datetime | None) -> None:
        """A message with words is a turn; without, its calls go to the next answer."""
        if role is Role.HUMAN and self.head.parent:
            role = Role.OTHER
        turn = RawTurn(
            role=role,
            blocks=tuple(parts.texts),
            key=key,
            at=at,
            attachments=tuple(parts.attachments),
            calls=tuple(parts.calls),
            touched=tuple(parts.touched),
            calls_tool=bool(parts.calls),
            stopped=True,
            records=1 + parts.records,
        )
        if parts.calls and not parts.texts and self.spoken is not None:
            self.spoken.calls_tool = True
        if role is not Role.ASSISTANT:
            self.asked, self.spoken = turn, None
        elif parts.texts or parts.calls:
            self.spoken = turn if parts.texts else None
        if self.asked is not None:
            self.asked.spawned += tuple(parts.spawned)
        if parts.texts or parts.calls:
            self.turns.append(turn)
        else:
            self.tally.drop(parts.why_silent())
        self.turns.extend(parts.context)


class _Parts:
    """What the parts of one message come to."""

    def __init__(self, session: _Session, role: Role, at: datetime | None) -> None:
        self.session = session
        self.role = role
        self.at = at
        self.texts: list[str] = []
        self.records = 0
        """Parts that are words."""
        self.calls: list[tuple[str, int]] = []
        self.touched: list[str] = []
        self.spawned: list[str] = []
        self.attachments: list[Attachment] = []
        self.context: list[RawTurn] = []
        self.kinds: dict[Disposition, None] = {}

    def add(self, part: Stored) -> None:
        """Take in one part; every part is a record."""
        tally = self.session.tally
        tally.read()
        value = part.value
        kind = text_of(value, "type") if value is not None else None
        if value is None or kind is None:
            self.session.lose()
            return
        if kind == "text":
            self._words(value)
            return
        if kind not in _PARTS:
            tally.note("unknown_content", self.session.head.key)
        self.kinds[_PARTS.get(kind, "meta")] = None
        if kind == "tool":
            self._tool(part.key, value)
            return
        if kind == "file":
            self._file(value)
        elif kind == "compaction":
            self.session.events.append(Event(kind="compaction", at=aware(self.at)))
        tally.drop(_PARTS.get(kind, "meta"))

    def _words(self, value: Json) -> None:
        text = text_of(value, "text") or ""
        if value.get("synthetic") is True or value.get("ignored") is True:
            self.kinds["injected"] = None
            self.session.tally.drop("injected")
        elif text.strip():
            self.texts.append(text)
            self.records += 1
        else:
            self.session.tally.drop("empty")

    def _tool(self, key: str, value: Json) -> None:
        state = value.get("state")
        state = state if isinstance(state, dict) else {}
        given, told = state.get("input"), state.get("metadata")
        self.calls.append((text_of(value, "tool") or "unnamed", 1))
        if isinstance(given, dict):
            path = next((one for name in _PATHS if (one := text_of(given, name))), None)
            self.touched.extend([path] if path else [])
        if isinstance(told, dict):
            child = text_of(told, "sessionId") or text_of(told, "sessionID")
            self.spawned.extend([child] if child else [])
        output = text_of(state, "output")
        if output and self.session.src.keep_context:
            self.context.append(
                RawTurn(Role.OTHER, (output,), key=key or None, at=self.at, taint=Taint.TOOL)
            )
        else:
            self.session.tally.drop("tool")

    def _file(self, value: Json) -> None:
        name = text_of(value, "filename") or None
        self.attachments.append(Attachment(name=name, media_type=text_of(value, "mime")))

    def why_silent(self) -> Disposition:
        """What a message without words counts as."""
        return next((reason for reason in _SILENT if reason in self.kinds), "empty")
