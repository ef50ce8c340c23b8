"""Transcripts that the agent of Cursor writes: one JSON object a line, with a role and a message.

Seen: descriptions of versions 2.x and 3.x and readers of them; no real file yet. Files are
``agent-transcripts/<session>/<session>.jsonl``, those of its agents ``<session>/subagents/``.
What a person typed stands between ``<user_query>`` tags, its time, when there is one, between
``<timestamp>`` tags; all else in a prompt is context. Thoughts are left out, with a mark at the
end of the words. Lines without a role tell how a turn ended.
"""

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, timezone
from typing import Any, Final, TypeAlias

from graphstore.model.conversation import LineageKind, Role
from ingest.jsonio import Record, records
from ingest.model import Pointer, RawThread, RawTurn, ReadFailure, Source, Tally

Json: TypeAlias = dict[str, Any]

_ROLES: Final = frozenset({"user", "assistant"})
_KNOWN: Final = frozenset({"role", "message", "type"})
_ENDED: Final = "turn_ended"
_QUERY: Final = re.compile(r"<user_query>\s*(.*)</user_query>", re.DOTALL)
_TIME: Final = re.compile(
    r"<timestamp>[^<]*?([A-Z][a-z]{2}) (\d{1,2}), (\d{4}), (\d{1,2}):(\d\d) ([AP]M)"
    r"(?: \(UTC(?:([+-]\d{1,2})(?::?(\d\d))?)?\))?\s*</timestamp>\s*"
)
_MONTHS: Final = ("Jan", "Feb", "Mar", "Apr", "May", "Jun",
                  "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")  # fmt: skip
_REDACTED: Final = "[REDACTED]"
_PLACE: Final = re.compile(
    r"(?:([0-9a-fA-F-]{36})/subagents/)?"
    r"([0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12})\.[^/]*$"
)
"""The session that an agent was sent by, and the one of the file."""
_PATHS: Final = ("path", "target_file", "file_path", "target_notebook")


def is_line(one: Json) -> bool:
    """Whether an object is a message of such a transcript; other tools write a type beside it."""
    role, message = one.get("role"), one.get("message")
    return (
        isinstance(role, str)
        and role in _ROLES
        and "type" not in one
        and isinstance(message, dict)
        and isinstance(message.get("content"), str | list)
    )


def read_log(src: Source, tally: Tally) -> Iterator[RawThread | ReadFailure]:
    """Read a file as one thread."""
    log = _Log(src, tally)
    with src.open() as stream:
        for record in records(stream, tally, _KNOWN, limit=src.record_limit, parsed=src.parsed):
            log.add(record)
    if log.turns:
        yield log.thread()
    else:
        yield ReadFailure(src.name, "no_conversation", "no message")


class _Log:
    """The session of one file while its lines are read."""

    def __init__(self, src: Source, tally: Tally) -> None:
        self.tally = tally
        place = _PLACE.search(src.path)
        self.native = place[2] if place else None
        self.parent = place[1] if place else None
        self.where = self.native or src.name
        self.turns: list[RawTurn] = []
        self.calls: list[tuple[str, int]] = []
        self.touched: list[str] = []
        self.spoken: RawTurn | None = None
        """The answer that a call would directly follow."""

    def thread(self) -> RawThread:
        return RawThread(
            source="cursor",
            native_id=self.native,
            turns=self.turns,
            agent=True,
            growing=self.native is None,
            rank=2,
            native_ids=(self.native,) if self.native else (),
            pointers=(Pointer(LineageKind.SUBAGENT_OF, self.parent),) if self.parent else (),
            tail_calls=tuple(self.calls),
            where=self.where,
        )

    def add(self, record: Record) -> None:
        """Take in one line, which is counted already."""
        value = record.value
        if is_line(value):
            content = value["message"]["content"]
            listed = content if isinstance(content, list) else [content]
            parts = [one if isinstance(one, dict) else {"text": one} for one in listed]
            if value["role"] == "user":
                self._ask(parts, record)
            else:
                self._say(parts, record)
        elif "role" not in value and isinstance(value.get("type"), str):
            self.tally.drop("meta")
            if value["type"] != _ENDED:
                self.tally.note("unknown_record", record.line)
            elif self.spoken is not None:
                self.spoken.stopped = True
        else:
            self.tally.drop("lost")
            self.tally.note("bad_message", record.line)

    def _ask(self, parts: list[Json], record: Record) -> None:
        texts = [text for part in parts if (text := _text(part))]
        if not texts:
            self.tally.drop(
                "tool" if any(_kind(one) == "tool_result" for one in parts) else "empty"
            )
            return
        self.spoken = None
        role = Role.OTHER if self.parent else Role.HUMAN
        turn = self._turn(role, tuple(_asked(text) for text in texts), record)
        turn.at = next((at for text in texts if (at := _when(text))), None)

    def _say(self, parts: list[Json], record: Record) -> None:
        texts = tuple(text for part in parts if (text := _spoken(part)))
        called = [part for part in parts if _kind(part) == "tool_use"]
        if texts:
            turn = self.spoken = self._turn(Role.ASSISTANT, texts, record)
            turn.calls, self.calls = tuple(self.calls), []
            turn.touched, self.touched = tuple(self.touched), []
        else:
            self.tally.drop("tool" if called else "thinking")
        for part in called:
            self._call(part)

    def _call(self, part: Json) -> None:
        name = part.get("name")
        self.calls.append((name if isinstance(name, str) and name else "tool", 1))
        given = part.get("input")
        if isinstance(given, dict):
            self.touched += [path for key in _PATHS if isinstance(path := given.get(key), str)][:1]
        if self.spoken is not None:
            self.spoken.calls_tool = True
            self.spoken = None

    def _turn(self, role: Role, blocks: tuple[str, ...], record: Record) -> RawTurn:
        turn = RawTurn(role, blocks, line=record.line, offset=record.offset, length=record.length)
        self.turns.append(turn)
        return turn


def _kind(part: Json) -> str:
    kind = part.get("type", "text")
    return kind if isinstance(kind, str) else ""


def _text(part: Json) -> str:
    text = part.get("text")
    return text.strip() if _kind(part) == "text" and isinstance(text, str) else ""


def _spoken(part: Json) -> str:
    """Words of an answer without the mark that thoughts were left out."""
    text = _text(part)
    while text.endswith(_REDACTED):
        text = text[: -len(_REDACTED)].rstrip()
    return text


def _asked(text: str) -> str:
    """What a person typed; all of it if nothing says which part that is."""
    found = _QUERY.search(text)
    return found[1].strip() if found else _TIME.sub("", text, count=1)


def _when(text: str) -> datetime | None:
    """Time of a prompt; without a zone it is naive."""
    found = _TIME.search(text)
    if found is None or found[1] not in _MONTHS:
        return None
    hour = int(found[4]) % 12 + (12 if found[6] == "PM" else 0)
    named = "(UTC" in found[0]
    hours, minutes = int(found[7] or 0), int(found[8] or 0)
    off = timedelta(hours=hours, minutes=minutes if hours >= 0 else -minutes)
    try:
        zone = timezone(off) if named else None
        month = _MONTHS.index(found[1]) + 1
        told = datetime(int(found[3]), month, int(found[2]), hour, int(found[5]), tzinfo=zone)
        return told.astimezone(UTC) if named else told
    except (ValueError, OverflowError):
        return None
