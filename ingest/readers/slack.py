"""Slack exports: a folder or zip with lists of people and rooms, and a file for each day.

Seen: exports of public channels, of all conversations (``groups.json``, ``mpims.json``,
``dms.json``) and what dump tools write in the same form. A room is a folder by name or id, a day
file a list of messages keyed by ``ts``, which is id and time at once. Replies name the ``ts`` of
their root in ``thread_ts`` and stand in the file of their own day. What stands in no thread is
one conversation until half an hour of silence.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final, TypeAlias

from graphstore.model.conversation import Attachment, Role, Taint
from ingest.document import Element, elements
from ingest.jsonio import loads
from ingest.model import (
    READ_ERRORS,
    RawThread,
    RawTurn,
    ReadFailure,
    Score,
    Source,
    Tally,
)
from ingest.readers._fields import objects_of, size_of, timed, written
from ingest.readers._people import Owners, runs
from ingest.readers._slack_words import Names, links_of, plain
from ingest.shape import look
from ingest.together import PEOPLE, ROOMS, is_day

NAME: Final = "slack"
VERSION: Final = 1
APPENDABLE: Final = False
TIER: Final = "unproven"

Json: TypeAlias = dict[str, Any]

_SPOKEN: Final = frozenset({
    "",
    "bot_message",
    "me_message",
    "file_share",
    "file_comment",
    "thread_broadcast",
    "reply_broadcast",
    "slackbot_response",
    "assistant_app_thread",
})  # fmt: skip
_SYSTEM: Final = re.compile(
    r"(?:channel|group|bot|mpim|im|file|reminder|message|pinned|unpinned|app|canvas|document)_.*"
    r"|tombstone|huddle_thread|sh_room_.*|ekm_access_denied|joiner_notification.*"
)
_TS: Final = re.compile(r"\d{1,12}(?:\.\d{1,9})?")
_SLACKBOT: Final = "USLACKBOT"
_DIRECT: Final = "dms.json"


def sniff(head: bytes, src: Source) -> Score | None:
    """Known by the files that make it up."""
    del head
    names = {name for name, _ in src.inside or ()}
    whole = PEOPLE in names and not names.isdisjoint(ROOMS) and any(map(is_day, names))
    return Score.by(0, 1.0, "a") if whole and look(src).kind == "folder" else None


def read(src: Source, tally: Tally) -> Iterator[RawThread | ReadFailure]:
    """Read the conversations of an export, one room at a time."""
    files = dict(src.inside or ())
    book = _Book(Owners.of(src.me), Names())
    for name in (PEOPLE, *ROOMS):
        if name in files:
            listed = _listed(files[name], src.record_limit)
            if listed is None:
                yield ReadFailure(files[name].name, "unreadable_file")
            book.learn(name, listed or [])
    for folder in sorted({name.partition("/")[0] for name in files if is_day(name)}):
        days = tuple(one for one in files.items() if one[0].startswith(f"{folder}/"))
        room = _Room(book, book.room(folder), src, tally)
        yield from room.take(days)
        yield from room.threads()


def _listed(src: Source, limit: int) -> list[Json] | None:
    """Entries of a list of people or rooms; None if it cannot be read."""
    if src.size > limit:
        return None
    try:
        with src.open() as stream:
            value = loads(stream.read())[0]
    except (ValueError, *READ_ERRORS):
        return None
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else None


@dataclass(frozen=True, slots=True)
class _Place:
    """A room: what its conversations are named after."""

    key: str
    name: str | None
    direct: bool = False


@dataclass(slots=True)
class _Book:
    """People and rooms of an export."""

    owners: Owners
    names: Names
    people: dict[str, Json] = field(default_factory=dict)
    rooms: dict[str, _Place] = field(default_factory=dict)
    """By name and by id."""

    def learn(self, file: str, listed: list[Json]) -> None:
        """Take in one list."""
        for one in listed:
            key = written(one, "id")
            if key is None:
                continue
            name = written(one, "name")
            if file == PEOPLE:
                self.people[key] = one
                called = name or _display(one)
                if called:
                    self.names.people[key] = called
                continue
            place = _Place(key, None if file in {"mpims.json", _DIRECT} else name, file == _DIRECT)
            for known in (name, key):
                if known:
                    self.rooms.setdefault(known, place)
            if name:
                self.names.rooms[key] = name

    def room(self, folder: str) -> _Place:
        """The room of a folder; one that is in no list is named after its folder."""
        return self.rooms.get(folder) or _Place(folder, folder)


def _display(person: Json) -> str | None:
    """What a person is called where others see it."""
    profile = person.get("profile")
    for held in (profile if isinstance(profile, dict) else {}, person):
        for key in ("display_name", "real_name", "name"):
            if name := written(held, key):
                return name
    return None


def _all_names(person: Json) -> Iterator[str | None]:
    profile = person.get("profile")
    for held in (person, profile if isinstance(profile, dict) else {}):
        for key in ("id", "name", "real_name", "display_name", "email"):
            yield written(held, key)


@dataclass(slots=True)
class _Said:
    """A message that may be a turn, with where it belongs."""

    ts: str
    root: str | None
    """The ``ts`` of the first message of its thread."""
    edited: str
    turn: RawTurn
    bot: bool
    context: tuple[str, ...]
    """Text of pages and posts that it unfolds."""

    @property
    def order(self) -> tuple[float, str]:
        return float(self.ts), self.ts


class _Room:
    """One room while its days are read."""

    def __init__(self, book: _Book, place: _Place, src: Source, tally: Tally) -> None:
        self.book = book
        self.place = place
        self.src = src
        self.tally = tally
        self.said: dict[str, _Said] = {}
        """By ``ts``."""

    # --- reading

    def take(self, days: tuple[tuple[str, Source], ...]) -> Iterator[ReadFailure]:
        """Read the messages of all days."""
        whole = self.tally.name
        for name, day in days:
            self.tally.name = day.name
            try:
                with day.open() as stream:
                    for element in elements(stream, self.tally, limit=self.src.record_limit):
                        self._message(element, name)
            except READ_ERRORS as cause:
                yield ReadFailure(day.name, "unreadable_file", type(cause).__name__)
            finally:
                self.tally.name = whole

    def _message(self, element: Element, file: str) -> None:
        self.tally.read()
        value = element.value
        ts = _ts(value, "ts")
        if isinstance(value, dict) and _is_meta(value):
            if _is_unknown(value):
                self.tally.note("unknown_record")
            self.tally.drop("meta")
        elif not isinstance(value, dict) or ts is None:
            self.tally.drop("lost")
            self.tally.note("bad_message")
        else:
            self._keep(self._said(value, ts, element, file))

    def _keep(self, one: _Said) -> None:
        """A message met again is kept once: as it was edited last."""
        known = self.said.get(one.ts)
        if known is None:
            self.said[one.ts] = one
            return
        self.tally.drop("duplicate")
        self.tally.note("duplicate_record")
        if one.edited > known.edited:
            self.said[one.ts] = one

    def _said(self, value: Json, ts: str, element: Element, file: str) -> _Said:
        user = written(value, "user")
        person = self.book.people.get(user or "")
        bot = _is_bot(value, user, person)
        text = plain(value, self.book.names, with_attachments=bot)
        turn = RawTurn(
            role=self._role(user, person),
            blocks=(text,) if text.strip() else (),
            key=ts,
            at=self._time(ts),
            offset=element.offset,
            length=element.length,
            file=file,
            speaker=_speaker(value, user, person),
            attachments=tuple(_files(value)),
            links=links_of(value),
            stopped=True,
        )
        edited = value.get("edited")
        at = _ts(edited, "ts") or ""
        context = () if bot or not self.src.keep_context else tuple(_unfolded(value))
        return _Said(ts, _ts(value, "thread_ts"), at, turn, bot, context)

    def _role(self, user: str | None, person: Json | None) -> Role:
        names = (user, *(_all_names(person) if person is not None else ()))
        member = person is not None if self.book.people else None
        return self.book.owners.role(names, member=member)

    def _time(self, ts: str) -> datetime | None:
        return timed(ts, self.tally)

    # --- threads

    def threads(self) -> Iterator[RawThread]:
        """Threads by their root, then the rest by its silences."""
        roots = {one.root for one in self.said.values() if one.root is not None}
        threads: dict[str, list[_Said]] = {}
        loose: list[_Said] = []
        for one in sorted(self.said.values(), key=lambda one: one.order):
            root = one.root or (one.ts if one.ts in roots else None)
            if one.bot and one.turn.blocks and not self._is_kept(one, root):
                self.tally.drop("tool")
            elif root is not None:
                threads.setdefault(root, []).append(one)
            else:
                loose.append(one)
        for root in sorted(threads):
            thread = self._thread(root, threads[root])
            # Another export may hold the beginning: then this one is the second half.
            if root in self.said:
                thread.record_keys = (root,)
            else:
                thread.first_parent = root
            yield thread
        for run in runs((one.turn.at, one) for one in loose):
            yield self._thread(run[0].ts, run)

    def _is_kept(self, one: _Said, root: str | None) -> bool:
        """Give a bot its role: what it replies is an answer, what it posts the text of a tool.

        Alone with a person it needs no thread to reply.
        """
        if self.place.direct if root is None else one.ts != root:
            one.turn.role = Role.ASSISTANT
            return True
        one.turn.role, one.turn.taint = Role.OTHER, Taint.TOOL
        return self.src.keep_context

    def _thread(self, ts: str, said: list[_Said]) -> RawThread:
        native = f"{self.place.key}:{ts}"
        turns: list[RawTurn] = []
        for one in said:
            turns.append(one.turn)
            turns.extend(
                RawTurn(
                    Role.OTHER,
                    (text,),
                    at=one.turn.at,
                    offset=one.turn.offset,
                    length=one.turn.length,
                    file=one.turn.file,
                    taint=Taint.WEB,
                    records=0,
                )
                for text in one.context
            )
        return RawThread(
            source=NAME,
            native_id=native,
            turns=turns,
            project=f"#{self.place.name}" if self.place.name else None,
            participants=tuple(dict.fromkeys(turn.speaker for turn in turns if turn.speaker)),
            native_ids=(native,),
            where=native,
        )


def _ts(value: object, key: str) -> str | None:
    """A time that names a message."""
    found = value.get(key) if isinstance(value, dict) else None
    if isinstance(found, int | float) and not isinstance(found, bool):
        found = str(found)
    return found if isinstance(found, str) and _TS.fullmatch(found) else None


def _is_meta(value: Json) -> bool:
    """Whether a record tells something that nobody said."""
    kind = value.get("type", "message")
    return kind != "message" or value.get("hidden") is True or _subtype(value) not in _SPOKEN


def _is_unknown(value: Json) -> bool:
    subtype = _subtype(value)
    return subtype not in _SPOKEN and _SYSTEM.fullmatch(subtype) is None


def _subtype(value: Json) -> str:
    return written(value, "subtype") or ""


def _is_bot(value: Json, user: str | None, person: Json | None) -> bool:
    """Whether a program says it; a person may speak through one."""
    if user == _SLACKBOT or (person is not None and person.get("is_bot") is True):
        return True
    marked = written(value, "subtype") == "bot_message" or written(value, "bot_id") is not None
    return marked and person is None


def _speaker(value: Json, user: str | None, person: Json | None) -> str | None:
    if person is not None:
        return _display(person) or user
    for key in ("user_profile", "bot_profile"):
        profile = value.get(key)
        if isinstance(profile, dict) and (name := _display(profile)):
            return name
    return written(value, "username") or user or written(value, "bot_id")


def _files(value: Json) -> Iterator[Attachment]:
    for one in (*objects_of(value.get("files")), *objects_of([value.get("file")])):
        name = written(one, "name") or written(one, "title")
        if name or written(one, "mimetype"):
            yield Attachment(
                name=name, media_type=written(one, "mimetype"), size=size_of(one.get("size"))
            )


def _unfolded(value: Json) -> Iterator[str]:
    """Text of the pages and posts that a message shows."""
    for one in objects_of(value.get("attachments")):
        parts = [written(one, key) for key in ("title", "text")]
        text = "\n".join(part for part in parts if part)
        if text:
            yield text
