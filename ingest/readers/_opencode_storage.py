"""Where OpenCode keeps sessions: tables of two versions, and a tree of files on disk or packed."""

from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any, Final, NamedTuple, Protocol, TypeAlias

from graphstore.model.conversation import Role
from ingest.instants import instant
from ingest.jsonio import loads
from ingest.model import READ_ERRORS, Source, Tally
from ingest.readers._sqlite import Cell, Database, Row, words

Json: TypeAlias = dict[str, Any]

TABLES: Final = frozenset({"session", "message", "part"})
WHOLE: Final = "session_message"
HEADS: Final = ("session", "session_v2")
ROLES: Final = {"user": Role.HUMAN, "assistant": Role.ASSISTANT}
_RECORD: Final = ".json"
_LEVELS: Final = 3
"""Names in the path of a record: its kind, what it belongs to, its own."""


class Head(NamedTuple):
    """What a session says of itself."""

    key: str
    parent: str | None
    folder: str | None
    title: str | None
    created: object


class Stored(NamedTuple):
    """A message or part as it is stored: None where its JSON cannot be read."""

    key: str
    created: object
    value: Json | None
    beside: str | None = None
    """Type of a whole message that is neither a person's nor the assistant's."""


class Storage(Protocol):
    """Where sessions are kept, in their own order."""

    def sessions(self) -> Iterator[Head | None]: ...

    def messages(self, session: str) -> Iterator[Stored]: ...

    def parts(self, message: str) -> Iterator[Stored]: ...


class Rows:
    """The tables of a database, those of both versions."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._held: dict[str, list[Stored]] = {}
        """Parts of the whole messages of the session at hand."""

    def sessions(self) -> Iterator[Head | None]:
        columns = ("id", "parent_id", "directory", "title", "time_created")
        listed = [row for table in HEADS for row in self._database.rows(table, columns)]
        unnamed = [row for row in listed if not words(row["id"])]
        named = {words(row["id"]): row for row in listed if words(row["id"])}
        yield from (None for _ in unnamed)
        for key in sorted(named):
            row = named[key]
            yield Head(
                key,
                words(row["parent_id"]) or None,
                words(row["directory"]) or None,
                words(row["title"]) or None,
                row["time_created"],
            )

    def messages(self, session: str) -> Iterator[Stored]:
        columns = ("id", "type", "seq", "time_created", "data")
        rows = self._database.children(WHOLE, columns, "session_id", session)
        ordered = sorted(rows, key=lambda row: (_number(row["seq"]), words(row["id"])))
        whole = [self._whole(row) for row in ordered]
        known = {one.key for one in whole}
        parted = self._children("message", "session_id", session)
        before = [one for one in parted if one.key not in known]
        yield from _in_order(before, whole)

    def parts(self, message: str) -> Iterator[Stored]:
        if message in self._held:
            return iter(self._held.pop(message))
        return self._children("part", "message_id", message)

    def _whole(self, row: Row) -> Stored:
        """A whole message as one with parts."""
        key, kind, value = words(row["id"]), words(row["type"]), _json(row["data"])
        if kind not in ROLES:
            return Stored(key, row["time_created"], value, kind)
        if value is not None:
            parts = [*_own_text(value), *_listed(value, "files"), *_listed(value, "content")]
            self._held[key] = [
                Stored(f"{key}#{number}", None, part) for number, part in enumerate(parts)
            ]
            model = value.get("model")
            named = model.get("id") if isinstance(model, dict) else None
            value = {"role": kind, "time": value.get("time"), "modelID": named}
        return Stored(key, row["time_created"], value)

    def _children(self, table: str, column: str, parent: str) -> Iterator[Stored]:
        columns = ("id", "time_created", "data")
        rows = self._database.children(table, columns, column, parent)
        found = [Stored(words(row["id"]), row["time_created"], _json(row["data"])) for row in rows]
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


def _in_order(before: list[Stored], whole: list[Stored]) -> Iterator[Stored]:
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
    limit: int

    def content(self) -> bytes:
        """Its bytes. Raises ``ValueError`` if it is too large, and ``READ_ERRORS``."""
        with self.held.open("rb") if isinstance(self.held, Path) else self.held.open() as stream:
            content = stream.read(self.limit + 1)
        if len(content) > self.limit:
            raise ValueError
        return content


class Disk:
    """A tree in a folder; links are not followed."""

    def __init__(self, root: Path, limit: int) -> None:
        self._root = root
        self._limit = limit

    def kinds(self) -> set[str]:
        return {one.name for one in self._root.iterdir() if one.is_dir()}

    def folders(self, kind: str) -> list[str]:
        return [one.name for one in _entries(self._root / kind)]

    def files(self, kind: str, folder: str) -> list[_File]:
        place = self._root / kind / folder
        listed = [] if place.is_symlink() else _entries(place)
        return [_File(one.stem, one, self._limit) for one in listed if _is_record(one)]


class Pack:
    """A tree in an archive."""

    def __init__(self, inside: tuple[tuple[str, Source], ...], limit: int) -> None:
        self._folders: dict[str, dict[str, list[_File]]] = {}
        for name, src in inside:
            path = PurePosixPath(name)
            if len(path.parts) == _LEVELS and path.suffix == _RECORD:
                kind, folder, _ = path.parts
                held = self._folders.setdefault(kind, {}).setdefault(folder, [])
                held.append(_File(path.stem, src, limit))

    def kinds(self) -> set[str]:
        return set(self._folders)

    def folders(self, kind: str) -> list[str]:
        return list(self._folders.get(kind, ()))

    def files(self, kind: str, folder: str) -> list[_File]:
        return self._folders.get(kind, {}).get(folder, [])


class Tree:
    """The files that older versions kept: a folder for each session and for each message."""

    def __init__(self, files: Disk | Pack, tally: Tally) -> None:
        self._files = files
        self._tally = tally

    def sessions(self) -> Iterator[Head | None]:
        folders = self._files.folders("session")
        found = [one for folder in folders for one in self._files.files("session", folder)]
        for file in sorted(found, key=lambda one: one.stem):
            value = self._value(file)
            if value is None:
                yield None
                continue
            yield Head(
                text_of(value, "id") or file.stem,
                text_of(value, "parentID"),
                text_of(value, "directory"),
                text_of(value, "title"),
                created_at(value),
            )

    def messages(self, session: str) -> Iterator[Stored]:
        return self._children("message", session)

    def parts(self, message: str) -> Iterator[Stored]:
        return self._children("part", message)

    def _children(self, kind: str, parent: str) -> Iterator[Stored]:
        if not _is_plain(parent):
            return
        found = []
        for file in self._files.files(kind, parent):
            value = self._value(file)
            created = None if value is None else created_at(value)
            found.append(Stored(file.stem, created, value))
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


def _order(one: Stored) -> tuple[float, str]:
    """By the time of making, then by id; ids grow with time too."""
    moment = instant(one.created)[0]
    return (moment.timestamp() if moment else 0.0, one.key)


def text_of(value: Json | None, key: str) -> str | None:
    found = value.get(key) if value is not None else None
    return found if isinstance(found, str) and found else None


def created_at(value: Json) -> object:
    """When it was made: a session or message says created, a part start."""
    time = value.get("time")
    if not isinstance(time, dict):
        return None
    return time.get("created", time.get("start"))
