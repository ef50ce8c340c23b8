"""The command-line tool ``llm``: its ``logs.db``, both ways it has stored conversations.

Seen: 0.27 and 0.36. Since 0.36 there are ``threads``, ``turns``, ``messages`` and ``parts``:
a message names its parent by hash, a thread its last message; messages with equal hashes are
shared by threads, so a fork costs nothing and shows as a shared prefix. Before, ``responses``
held prompt and answer in one row, grouped by ``conversations``; those tables are still there,
empty, in newer files, so both are looked at. Times are UTC, written in ISO 8601. The text of
fragments stands in other tables, as that of an attachment, and is not read.
"""

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import Final

from graphstore.model.conversation import LineageKind, Role, Taint
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
from ingest.readers._sqlite import Cell, Database, Row, guarded, opened, tables, words

NAME: Final = "llm"
VERSION: Final = 1
APPENDABLE: Final = False
TIER: Final = "proven"

_NEW: Final = frozenset({"threads", "turns", "messages", "parts"})
_OLD: Final = frozenset({"conversations", "responses"})
_ROLES: Final = {"user": Role.HUMAN, "assistant": Role.ASSISTANT}
_DROPPED: Final[dict[str, Disposition]] = {
    "system": "injected",
    "developer": "injected",
    "tool": "tool",
}
_THREAD: Final = ("id", "name", "tip_message_hash", "forked_from", "datetime_utc")
_TURN: Final = (
    "id", "thread_id", "parent_message_hash", "tip_message_hash", "model", "datetime_utc",
)  # fmt: skip
_MESSAGE: Final = ("hash", "parent_hash", "role")
_PART: Final = ("id", "position", "type", "tool_name", "text", "payload")
_RESPONSE: Final = ("id", "model", "prompt", "response", "datetime_utc")


def sniff(head: bytes, src: Source) -> Score | None:
    """Known by the names of its tables."""
    del head
    found = tables(src).keys()
    return Score.by(2, 1.0, "c") if found >= _NEW or found >= _OLD else None


def read(src: Source, tally: Tally) -> Iterator[RawThread | ReadFailure]:
    """Read the threads of both storages, one at a time."""
    return guarded(_both(src, tally), src, tally)


def _both(src: Source, tally: Tally) -> Iterator[RawThread | ReadFailure]:
    with opened(src, tally) as database:
        if database.tables.keys() >= _NEW:
            yield from _threads(database, src, tally)
        if database.tables.keys() >= _OLD:
            yield from _conversations(database, tally)


def _time(value: Cell, where: str, tally: Tally) -> datetime | None:
    """A time of a column whose name says that it is UTC."""
    return timed(value, tally, where, UTC)


def _titles(name: Cell) -> tuple[TitleCandidate, ...]:
    return (TitleCandidate("native", words(name)),) if words(name).strip() else ()


# --- threads and messages


class _Asked:
    """Rows of ``turns``: when messages were written, by which model, in which thread."""

    def __init__(self, database: Database, tally: Tally) -> None:
        self.tips: dict[Cell, list[str]] = {}
        self.models: dict[Cell, dict[str, None]] = {}
        self.times: dict[Cell, dict[str, datetime]] = {}
        self.earliest: dict[str, datetime] = {}
        for row in sorted(database.rows("turns", _TURN), key=lambda one: str(one["id"])):
            self._add(row, _time(row["datetime_utc"], str(row["id"]), tally))

    def _add(self, row: Row, at: datetime | None) -> None:
        thread = row["thread_id"]
        self.tips.setdefault(thread, []).append(words(row["tip_message_hash"]))
        if words(row["model"]):
            self.models.setdefault(thread, {})[words(row["model"])] = None
        for name in ("tip_message_hash", "parent_message_hash"):
            if at is not None and words(row[name]):
                self.times.setdefault(thread, {}).setdefault(words(row[name]), at)
                self.earliest.setdefault(words(row[name]), at)

    def at(self, thread: Cell, message: str) -> datetime | None:
        """When it was written: as the thread itself tells, else where it was first."""
        return self.times.get(thread, {}).get(message) or self.earliest.get(message)


def _threads(database: Database, src: Source, tally: Tally) -> Iterator[RawThread | ReadFailure]:
    asked = _Asked(database, tally)
    for row in sorted(database.rows("threads", _THREAD), key=lambda one: str(one["id"])):
        if words(row["id"]):
            yield _Thread(database, row, asked, src, tally).thread()
        else:
            yield ReadFailure(src.name, "bad_conversation", "no id")


class _Thread:
    """One thread while its messages are gone through, from its end to its beginning."""

    def __init__(
        self, database: Database, row: Row, asked: _Asked, src: Source, tally: Tally
    ) -> None:
        self.database = database
        self.row = row
        self.asked = asked
        self.src = src
        self.tally = tally
        self.where = words(row["id"])
        self.met: dict[str, Row] = {}

    def thread(self) -> RawThread:
        main = self._way(words(self.row["tip_message_hash"]))
        turns = [turn for key in main for turn in self._turn(key, alternative=False)]
        for tip in self.asked.tips.get(self.row["id"], ()):
            for key in self._way(tip):
                turns.extend(self._turn(key, alternative=True))
        forked = words(self.row["forked_from"])
        return RawThread(
            source=NAME,
            native_id=self.where,
            turns=turns,
            rank=1,
            sharing="keys",
            titles=_titles(self.row["name"]),
            started_at=_time(self.row["datetime_utc"], self.where, self.tally),
            models=tuple(self.asked.models.get(self.row["id"], ())),
            native_ids=(self.where,),
            pointers=(Pointer(LineageKind.FORKED_FROM, forked),) if forked else (),
            where=self.where,
        )

    def _way(self, tip: str) -> list[str]:
        """Messages not met yet from the first one down to ``tip``."""
        way: dict[str, None] = {}
        at = tip
        while at and at not in self.met:
            row = self.database.row("messages", _MESSAGE, "hash", at)
            if row is None:
                self.tally.note("missing_message", self.where)
                break
            self.met[at] = row
            way[at] = None
            at = words(row["parent_hash"])
            if at in way:
                self.tally.note("parent_cycle", self.where)
        return list(way)[::-1]

    def _turn(self, key: str, *, alternative: bool) -> Iterator[RawTurn]:
        self.tally.read()
        said_by = words(self.met[key]["role"])
        parts = sorted(self.database.children("parts", _PART, "message_hash", key), key=_place_of)
        texts = tuple(words(one["text"]) for one in parts if one["type"] == "text")
        borrowed = sum(one["type"] == "text" and _is_borrowed(one) for one in parts)
        if borrowed:
            self.tally.note("unknown_content", self.where, borrowed)
        role = _ROLES.get(said_by)
        if said_by == "tool" and self.src.keep_context:
            texts = tuple(words(one["text"]) for one in parts)
            yield self._raw(key, Role.OTHER, texts, parts, alternative=alternative)
        elif role is not None:
            yield self._raw(key, role, texts, parts, alternative=alternative)
        else:
            if said_by not in _DROPPED:
                self.tally.note("unknown_record", self.where)
            self.tally.drop(_DROPPED.get(said_by, "meta"))

    def _raw(
        self,
        key: str,
        role: Role,
        texts: tuple[str, ...],
        parts: Iterable[Row],
        *,
        alternative: bool,
    ) -> RawTurn:
        calls = (words(one["tool_name"]) for one in parts if one["type"] == "tool_call")
        return RawTurn(
            role=role,
            blocks=tuple(text for text in texts if text.strip()),
            key=key,
            parent=words(self.met[key]["parent_hash"]) or None,
            at=self.asked.at(self.row["id"], key),
            taint=Taint.TOOL if role is Role.OTHER else None,
            calls=tuple((name or "unnamed", 1) for name in calls),
            stopped=True,
            alternative=alternative,
        )


def _is_borrowed(part: Row) -> bool:
    """Whether the words of a part stand in fragments that it only names."""
    return not words(part["text"]) and bool(words(part["payload"]))


def _place_of(part: Row) -> tuple[int, int]:
    """Position in the message, then the order of writing."""
    position, written = part["position"], part["id"]
    return (
        position if isinstance(position, int) else 0,
        written if isinstance(written, int) else 0,
    )


# --- conversations and responses


def _conversations(database: Database, tally: Tally) -> Iterator[RawThread]:
    """Threads of the older storage; only ids are kept of all rows at once."""
    asked: dict[str, list[tuple[str, str]]] = {}
    for row in database.rows("responses", ("id", "conversation_id", "datetime_utc")):
        response = words(row["id"])
        native = words(row["conversation_id"]) or response
        asked.setdefault(native, []).append((words(row["datetime_utc"]), response))
    named = {
        words(row["id"]): row
        for row in database.rows("conversations", ("id", "name", "model"))
        if words(row["id"])
    }
    for native in sorted({*asked, *named}):
        head = named.get(native, {})
        responses = [response for _, response in sorted(asked.get(native, ()))]
        yield _conversation(database, native, head, responses, tally)


def _conversation(
    database: Database, native: str, head: Row, responses: list[str], tally: Tally
) -> RawThread:
    thread = RawThread(
        source=NAME,
        native_id=native,
        rank=1,
        sharing="keys",
        titles=_titles(head.get("name")),
        native_ids=(native,),
        where=native,
    )
    models = {words(head.get("model")): None}
    for response in responses:
        row = database.row("responses", _RESPONSE, "id", response)
        if row is not None:
            models[words(row["model"])] = None
            thread.turns.extend(_exchange(row, native, tally))
    thread.models = tuple(model for model in models if model)
    return thread


def _exchange(row: Row, where: str, tally: Tally) -> Iterator[RawTurn]:
    """Two turns of one row: the record is counted with what was asked, if anything was."""
    tally.read()
    at = _time(row["datetime_utc"], where, tally)
    key = words(row["id"])
    asked, answered = words(row["prompt"]), words(row["response"])
    is_asked = bool(asked.strip()) or not answered.strip()
    if is_asked:
        yield RawTurn(Role.HUMAN, (asked,), key=f"{key}:prompt", at=at)
    if answered.strip():
        yield RawTurn(
            Role.ASSISTANT,
            (answered,),
            key=f"{key}:response",
            at=at,
            stopped=True,
            records=0 if is_asked else 1,
        )
