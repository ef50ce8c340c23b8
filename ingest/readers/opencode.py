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
from pathlib import Path, PurePosixPath
from typing import Any, Final, NamedTuple, Protocol, TypeAlias

from graphstore.model.conversation import Attachment, Event, LineageKind, Role, Taint
from ingest.instants import aware, instant
from ingest.jsonio import loads
from ingest.lines import RECORD_LIMIT
from ingest.model import (
    READ_ERRORS,
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
from ingest.readers._sqlite import Cell, Database, Row, guarded, opened, tables, words
from ingest.shape import look

NAME: Final = "opencode"
VERSION: Final = 1
APPENDABLE: Final = False
TIER: Final = "unproven"

Json: TypeAlias = dict[str, Any]

_TABLES: Final = frozenset({"session", "message", "part"})
_OWN_COLUMNS: Final = frozenset({"session_id", "data"})
_WHOLE: Final = "session_message"
_WHOLE_COLUMNS: Final = frozenset({"session_id", "type", "data"})
_HEADS: Final = ("session", "session_v2")
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
_ROLES: Final = {"user": Role.HUMAN, "assistant": Role.ASSISTANT}
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
_RECORD: Final = ".json"
_LEVELS: Final = 3
"""Names in the path of a record: its kind, what it belongs to, its own."""
_GENERIC_TITLE: Final = re.compile(r"(?:New|Child) session - \d{4}-\d\d-\d\dT.*")


def sniff(head: bytes, src: Source) -> Score | None:
    """Known by its tables, or by the three folders of its tree."""
    del head
    if (tree := _tree(src)) is not None:
        return Score.by(0, 1.0, "b") if tree.kinds() >= _TABLES else None
    found = tables(src)
    parted = found.keys() >= _TABLES and found["message"] >= _OWN_COLUMNS
    whole = any(one in found for one in _HEADS) and found.get(_WHOLE, frozenset()) >= _WHOLE_COLUMNS
    return Score.by(2, 1.0, "b") if parted or whole else None


def _tree(src: Source) -> "_Disk | _Pack | None":
    """The folders of files of a source, if it is such a tree."""
    if src.inside is not None:
        return _Pack(src.inside)
    if look(src).kind == "folder" and src.file is not None:
        return _Disk(src.file)
    return None


def read(src: Source, tally: Tally) -> Iterator[RawThread | ReadFailure]:
    """Read the sessions of a database or of a tree, one at a time."""
    return guarded(_either(src, tally), src, tally)


def _either(src: Source, tally: Tally) -> Iterator[RawThread | ReadFailure]:
    if (tree := _tree(src)) is not None:
        yield from _sessions(_Tree(tree, tally), src, tally)
        return
    with opened(src, tally) as database:
        yield from _sessions(_Rows(database), src, tally)


class _Head(NamedTuple):
    """What a session says of itself."""

    key: str
    parent: str | None
    folder: str | None
    title: str | None
    created: object


class _Stored(NamedTuple):
    """A message or part as it is stored: None where its JSON cannot be read."""

    key: str
    created: object
    value: Json | None
    beside: str | None = None
    """Type of a whole message that is neither a person's nor the assistant's."""


class _Storage(Protocol):
    """Where sessions are kept, in their own order."""

    def sessions(self) -> Iterator[_Head | None]: ...

    def messages(self, session: str) -> Iterator[_Stored]: ...

    def parts(self, message: str) -> Iterator[_Stored]: ...


class _Rows:
    """The tables of a database, those of both versions."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._held: dict[str, list[_Stored]] = {}
        """Parts of the whole messages of the session at hand."""

    def sessions(self) -> Iterator[_Head | None]:
        columns = ("id", "parent_id", "directory", "title", "time_created")
        listed = [row for table in _HEADS for row in self._database.rows(table, columns)]
        unnamed = [row for row in listed if not words(row["id"])]
        named = {words(row["id"]): row for row in listed if words(row["id"])}
        yield from (None for _ in unnamed)
        for key in sorted(named):
            row = named[key]
            yield _Head(
                key,
                words(row["parent_id"]) or None,
                words(row["directory"]) or None,
                words(row["title"]) or None,
                row["time_created"],
            )

    def messages(self, session: str) -> Iterator[_Stored]:
        columns = ("id", "type", "seq", "time_created", "data")
        rows = self._database.children(_WHOLE, columns, "session_id", session)
        ordered = sorted(rows, key=lambda row: (_number(row["seq"]), words(row["id"])))
        whole = [self._whole(row) for row in ordered]
        known = {one.key for one in whole}
        parted = self._children("message", "session_id", session)
        before = [one for one in parted if one.key not in known]
        yield from _in_order(before, whole)

    def parts(self, message: str) -> Iterator[_Stored]:
        if message in self._held:
            return iter(self._held.pop(message))
        return self._children("part", "message_id", message)

    def _whole(self, row: Row) -> _Stored:
        """A whole message as one with parts."""
        key, kind, value = words(row["id"]), words(row["type"]), _json(row["data"])
        if kind not in _ROLES:
            return _Stored(key, row["time_created"], value, kind)
        if value is not None:
            parts = [*_own_text(value), *_listed(value, "files"), *_listed(value, "content")]
            self._held[key] = [
                _Stored(f"{key}#{number}", None, part) for number, part in enumerate(parts)
            ]
            model = value.get("model")
            named = model.get("id") if isinstance(model, dict) else None
            value = {"role": kind, "time": value.get("time"), "modelID": named}
        return _Stored(key, row["time_created"], value)

    def _children(self, table: str, column: str, parent: str) -> Iterator[_Stored]:
        columns = ("id", "time_created", "data")
        rows = self._database.children(table, columns, column, parent)
        found = [_Stored(words(row["id"]), row["time_created"], _json(row["data"])) for row in rows]
        yield from sorted(found, key=_order)


def _number(cell: Cell) -> int:
    return cell if isinstance(cell, int) else 0


def _own_text(value: Json) -> Iterator[Json]:
    """Words of a person's whole message."""
    if isinstance(value.get("text"), str):
        yield {"type": "text", "text": value["text"]}


def _listed(value: Json, key: str) -> Iterator[Json]:
    """Parts that a whole message holds, as they stand in a table of their own."""
    listed = value.get(key)
    for one in listed if isinstance(listed, list) else ():
        part: Json = one if isinstance(one, dict) else {}
        if key == "files":
            yield {"type": "file", "filename": part.get("name"), "mime": part.get("mime")}
        else:
            yield {**part, "tool": part.get("name")} if part.get("type") == "tool" else part


def _in_order(before: list[_Stored], whole: list[_Stored]) -> Iterator[_Stored]:
    """Messages of both storages: whole ones keep their order, the others go by their time."""
    waiting = before[::-1]
    for one in whole:
        while waiting and _order(waiting[-1]) <= _order(one):
            yield waiting.pop()
        yield one
    yield from reversed(waiting)


class _File(NamedTuple):
    """One file of a tree."""

    stem: str
    held: Path | Source

    def content(self) -> bytes:
        """Its bytes. Raises ``ValueError`` if it is too large, and ``READ_ERRORS``."""
        with self.held.open("rb") if isinstance(self.held, Path) else self.held.open() as stream:
            content = stream.read(RECORD_LIMIT + 1)
        if len(content) > RECORD_LIMIT:
            raise ValueError
        return content


class _Disk:
    """A tree in a folder; links are not followed."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def kinds(self) -> set[str]:
        return {one.name for one in self._root.iterdir() if one.is_dir()}

    def folders(self, kind: str) -> list[str]:
        return [one.name for one in _entries(self._root / kind)]

    def files(self, kind: str, folder: str) -> list[_File]:
        place = self._root / kind / folder
        listed = [] if place.is_symlink() else _entries(place)
        return [_File(one.stem, one) for one in listed if _is_record(one)]


class _Pack:
    """A tree in an archive."""

    def __init__(self, inside: tuple[tuple[str, Source], ...]) -> None:
        self._folders: dict[str, dict[str, list[_File]]] = {}
        for name, src in inside:
            path = PurePosixPath(name)
            if len(path.parts) == _LEVELS and path.suffix == _RECORD:
                kind, folder, _ = path.parts
                held = self._folders.setdefault(kind, {}).setdefault(folder, [])
                held.append(_File(path.stem, src))

    def kinds(self) -> set[str]:
        return set(self._folders)

    def folders(self, kind: str) -> list[str]:
        return list(self._folders.get(kind, ()))

    def files(self, kind: str, folder: str) -> list[_File]:
        return self._folders.get(kind, {}).get(folder, [])


class _Tree:
    """The files that older versions kept: a folder for each session and for each message."""

    def __init__(self, files: _Disk | _Pack, tally: Tally) -> None:
        self._files = files
        self._tally = tally

    def sessions(self) -> Iterator[_Head | None]:
        folders = self._files.folders("session")
        found = [one for folder in folders for one in self._files.files("session", folder)]
        for file in sorted(found, key=lambda one: one.stem):
            value = self._value(file)
            if value is None:
                yield None
                continue
            yield _Head(
                _text(value, "id") or file.stem,
                _text(value, "parentID"),
                _text(value, "directory"),
                _text(value, "title"),
                _created(value),
            )

    def messages(self, session: str) -> Iterator[_Stored]:
        return self._children("message", session)

    def parts(self, message: str) -> Iterator[_Stored]:
        return self._children("part", message)

    def _children(self, kind: str, parent: str) -> Iterator[_Stored]:
        if not _is_plain(parent):
            return
        found = []
        for file in self._files.files(kind, parent):
            value = self._value(file)
            created = None if value is None else _created(value)
            found.append(_Stored(file.stem, created, value))
        yield from sorted(found, key=_order)

    def _value(self, file: _File) -> Json | None:
        try:
            value, repairs = loads(file.content())
        except (ValueError, *READ_ERRORS):
            return None
        for code, count in repairs:
            self._tally.note(code, file.stem, count)
        return value if isinstance(value, dict) else None


def _is_plain(name: str) -> bool:
    """Whether a name stays inside its folder."""
    return bool(name) and not {"/", "\\", "\0"} & set(name) and name not in {".", ".."}


def _entries(folder: Path) -> list[Path]:
    try:
        return sorted(folder.iterdir())
    except OSError:
        return []


def _is_record(path: Path) -> bool:
    return path.suffix == _RECORD and path.is_file() and not path.is_symlink()


def _json(cell: Cell) -> Json | None:
    try:
        value = loads(words(cell).encode("utf-8", "surrogatepass"))[0]
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def _order(one: _Stored) -> tuple[float, str]:
    """By the time of making, then by id; ids grow with time too."""
    moment = instant(one.created)[0]
    return (moment.timestamp() if moment else 0.0, one.key)


# --- sessions


def _sessions(storage: _Storage, src: Source, tally: Tally) -> Iterator[RawThread | ReadFailure]:
    for head in storage.sessions():
        if head is None:
            yield ReadFailure(src.name, "bad_conversation", "session cannot be read")
        else:
            yield _Session(storage, head, src, tally).thread()


class _Session:
    """One session while its messages are read."""

    def __init__(self, storage: _Storage, head: _Head, src: Source, tally: Tally) -> None:
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
        moment, problem = instant(value)
        if problem == "bad_timestamp":
            self.tally.note(problem, self.head.key)
        return moment

    def lose(self) -> None:
        """Count a message or part that cannot be read."""
        self.tally.drop("lost")
        self.tally.note("bad_message", self.head.key)

    def _message(self, message: _Stored) -> None:
        self.tally.read()
        if message.beside is not None:
            self._beside(message)
            return
        value = message.value
        role = _ROLES.get(_text(value, "role") or "") if value is not None else None
        if value is None or role is None:
            self.lose()
            return
        at = self._time(_created(value) or message.created)
        parts = _Parts(self, role, at)
        for part in self.storage.parts(message.key):
            parts.add(part)
        if role is Role.ASSISTANT and value.get("summary") is True:
            self.events.append(Event(kind="compaction", at=aware(at)))
            self.tally.drop("meta", 1 + parts.records)
            return
        self._use(value)
        self._turn(message.key, parts, role, at)

    def _beside(self, message: _Stored) -> None:
        """Count a whole message that nobody wrote."""
        kind = message.beside or ""
        if kind == "compaction":
            self.events.append(Event(kind=kind, at=aware(self._time(message.created))))
        if kind not in _BESIDE:
            self.tally.note("unknown_record", self.head.key)
        self.tally.drop(_BESIDE.get(kind, "meta"))

    def _use(self, value: Json) -> None:
        inner = value.get("model")
        model = _text(value, "modelID") or (
            _text(inner, "modelID") if isinstance(inner, dict) else None
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

    def add(self, part: _Stored) -> None:
        """Take in one part; every part is a record."""
        tally = self.session.tally
        tally.read()
        value = part.value
        kind = _text(value, "type") if value is not None else None
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
        text = _text(value, "text") or ""
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
        self.calls.append((_text(value, "tool") or "unnamed", 1))
        if isinstance(given, dict):
            path = next((one for name in _PATHS if (one := _text(given, name))), None)
            self.touched.extend([path] if path else [])
        if isinstance(told, dict):
            child = _text(told, "sessionId") or _text(told, "sessionID")
            self.spawned.extend([child] if child else [])
        output = _text(state, "output")
        if output and self.session.src.keep_context:
            self.context.append(
                RawTurn(Role.OTHER, (output,), key=key or None, at=self.at, taint=Taint.TOOL)
            )
        else:
            self.session.tally.drop("tool")

    def _file(self, value: Json) -> None:
        name = _text(value, "filename") or None
        self.attachments.append(Attachment(name=name, media_type=_text(value, "mime")))

    def why_silent(self) -> Disposition:
        """What a message without words counts as."""
        return next((reason for reason in _SILENT if reason in self.kinds), "empty")


def _text(value: Json | None, key: str) -> str | None:
    found = value.get(key) if value is not None else None
    return found if isinstance(found, str) and found else None


def _created(value: Json) -> object:
    """When it was made: a session or message says created, a part start."""
    time = value.get("time")
    if not isinstance(time, dict):
        return None
    return time.get("created", time.get("start"))
