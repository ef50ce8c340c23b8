"""Discord as DiscordChatExporter writes it: one JSON document for each channel.

Seen: exports of versions 2.2x to 2.4x. ``guild``, ``channel`` and ``messages`` in the order of
time, each message with author, content, attachments, embeds and stickers; a reply names its
message in ``reference``. There are no threads but those that replies make: a message that is no
reply goes on with the conversation at hand until half an hour of silence. Nobody is listed as a
member; programs are marked ``isBot``.
"""

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any, Final, NamedTuple, TypeAlias

from graphstore.model.conversation import Attachment, Role, Taint
from ingest.document import Element, elements
from ingest.model import RawThread, RawTurn, ReadFailure, Score, Source, Tally
from ingest.readers._fields import objects_of, size_of, timed, written
from ingest.readers._people import GAP, Owners
from ingest.shape import look

NAME: Final = "discord"
VERSION: Final = 1
APPENDABLE: Final = False
TIER: Final = "unproven"

Json: TypeAlias = dict[str, Any]

_MESSAGES: Final = "messages"
_HEADS: Final = ("guild", "channel", _MESSAGES)
_SPOKEN: Final = frozenset({
    "Default", "Reply", "ChatInputCommand", "ContextMenuCommand", "0", "19", "20", "23",
})  # fmt: skip
"""Kinds of messages that somebody said; newer ones are told by number."""
_ASKED: Final = frozenset({"ChatInputCommand", "ContextMenuCommand", "20", "23"})
"""Kinds by which a program answers a command."""
_MENTION: Final = re.compile(r"<@!?(?P<id>\d+)>")
_EMOJI: Final = re.compile(r"<a?(?P<name>:\w+:)\d+>")


def sniff(head: bytes, src: Source) -> Score | None:
    """Known by the three parts of its one document."""
    del head
    shape = look(src)
    if shape.kind != "dict" or not all(key in shape.objects[0] for key in _HEADS):
        return None
    return Score.by(5, 1.0, "d")


def read(src: Source, tally: Tally) -> Iterator[RawThread | ReadFailure]:
    """Read the conversations of a channel."""
    room = _Room(src, tally)
    with src.open() as stream:
        for element in elements(stream, tally, _MESSAGES, limit=src.record_limit, beside=room.head):
            room.take(element)
    yield from room.threads()


class _Said(NamedTuple):
    """A message that may be a turn."""

    turn: RawTurn
    answers: str | None
    """The message of this channel that it replies to."""
    context: tuple[str, ...]
    """Text of pages that it shows."""


class _Room:
    """One channel while its messages are gone through."""

    def __init__(self, src: Source, tally: Tally) -> None:
        self.src = src
        self.tally = tally
        self.owners = Owners.of(src.me)
        self.head: dict[str, object] = {}
        """Members of the document beside the messages."""
        self.said: dict[str, _Said] = {}
        """By id."""
        self.silent: set[str] = set()
        """Ids of messages that are there and say nothing."""

    # --- reading

    def take(self, element: Element) -> None:
        """Take in one message."""
        self.tally.read()
        value = element.value
        key = written(value, "id") if isinstance(value, dict) else None
        if not isinstance(value, dict) or key is None:
            self.tally.drop("lost")
            self.tally.note("bad_message", self._place(element))
        elif key in self.said or key in self.silent:
            self.tally.drop("duplicate")
            self.tally.note("duplicate_record", key)
        elif str(value.get("type", "Default")) not in _SPOKEN:
            self.silent.add(key)
            self.tally.drop("meta")
        else:
            self._message(key, value, element)

    def _place(self, element: Element) -> str:
        return f"{self.src.name}: byte {element.offset}"

    def _message(self, key: str, value: Json, element: Element) -> None:
        author = value.get("author")
        author = author if isinstance(author, dict) else {}
        bot = author.get("isBot") is True
        answers = self._reference(value)
        text = _content(value)
        shown = tuple(_embedded(value))
        if bot and not text.strip():
            text, shown = "\n\n".join(shown), ()
        is_reply = answers is not None or _is_asked(value)
        role, taint = self._role(author, bot=bot, is_reply=is_reply)
        if taint is Taint.TOOL and text.strip() and not self.src.keep_context:
            self.silent.add(key)
            self.tally.drop("tool")
            return
        turn = RawTurn(
            role=role,
            blocks=(text,) if text.strip() else (),
            key=key,
            parent=answers,
            at=self._time(value.get("timestamp"), key),
            offset=element.offset,
            length=element.length,
            taint=taint,
            speaker=_speaker(author),
            attachments=tuple(_files(value)),
            stopped=True,
        )
        context = shown if self.src.keep_context else ()
        self.said[key] = _Said(turn, answers, context)

    def _role(self, author: Json, *, bot: bool, is_reply: bool) -> tuple[Role, Taint | None]:
        """A bot that replies answers; what it posts of its own accord is the text of a tool."""
        if not bot:
            names = (written(author, key) for key in ("id", "name", "nickname", "username"))
            return self.owners.role(names, member=None), None
        return (Role.ASSISTANT, None) if is_reply else (Role.OTHER, Taint.TOOL)

    def _time(self, value: object, key: str) -> datetime | None:
        return timed(value, self.tally, key)

    def _reference(self, value: Json) -> str | None:
        """Id of the message that this one answers, if it is one of this channel."""
        held = value.get("reference")
        if not isinstance(held, dict) or held.get("type") == "Forward":
            return None
        channel, here = written(held, "channelId"), self._channel("id")
        return None if channel and here and channel != here else written(held, "messageId")

    def _channel(self, key: str) -> str | None:
        channel = self.head.get("channel")
        return written(channel, key) if isinstance(channel, dict) else None

    # --- threads

    def threads(self) -> Iterator[RawThread]:
        """Conversations: replies belong to what they answer, the rest to what went before."""
        open_run: list[_Said] = []
        placed: dict[str, list[_Said]] = {}
        found: list[list[_Said]] = []
        for key, one in sorted(self.said.items(), key=_order):
            talk = placed.get(one.answers) if one.answers is not None else None
            if talk is None:
                self._check(one)
                if not open_run or _gap(open_run[-1], one):
                    open_run = []
                    found.append(open_run)
                talk = open_run
            talk.append(one)
            placed[key] = talk
        for talk in found:
            yield self._thread(talk)

    def _check(self, one: _Said) -> None:
        """A reply to a message that is not there is told; the message stays."""
        if one.answers is None:
            return
        if one.answers not in self.silent and one.answers not in self.said:
            self.tally.note("missing_reference", one.turn.key)
        one.turn.parent = None

    def _thread(self, talk: list[_Said]) -> RawThread:
        room = self._channel("id")
        native = f"{room}:{talk[0].turn.key}" if room else str(talk[0].turn.key)
        turns: list[RawTurn] = []
        for one in talk:
            turns.append(one.turn)
            turns.extend(_context(one.turn, text) for text in one.context)
        return RawThread(
            source=NAME,
            native_id=native,
            turns=turns,
            project=self._project(),
            participants=tuple(dict.fromkeys(turn.speaker for turn in turns if turn.speaker)),
            native_ids=(native,),
            where=native,
        )

    def _project(self) -> str | None:
        """Server and channel; none for a talk between persons."""
        guild = self.head.get("guild")
        kind = self._channel("type") or ""
        if kind.startswith("Direct"):
            return None
        names = [written(guild, "name") if isinstance(guild, dict) else None]
        channel = self._channel("name")
        names.append(f"#{channel}" if channel else None)
        return " ".join(name for name in names if name) or None


def _context(turn: RawTurn, text: str) -> RawTurn:
    """Text of a page as a side turn behind the message that shows it."""
    return RawTurn(
        Role.OTHER,
        (text,),
        at=turn.at,
        offset=turn.offset,
        length=turn.length,
        taint=Taint.WEB,
        records=0,
    )


def _order(item: tuple[str, _Said]) -> tuple[datetime, int, str]:
    """By time, then by id: ids grow with time."""
    key, one = item
    return _when(one) or datetime.min.replace(tzinfo=UTC), len(key), key


def _when(one: _Said) -> datetime | None:
    at = one.turn.at
    return at if at is None or at.tzinfo is not None else at.replace(tzinfo=UTC)


def _gap(last: _Said, one: _Said) -> bool:
    before, after = _when(last), _when(one)
    return before is not None and after is not None and after - before > GAP


def _is_asked(value: Json) -> bool:
    """Whether a program says it because it was given a command."""
    return str(value.get("type")) in _ASKED or isinstance(value.get("interaction"), dict)


def _speaker(author: Json) -> str | None:
    return written(author, "nickname") or written(author, "name") or written(author, "id")


def _content(value: Json) -> str:
    """Words of a message; people and emoji by name."""
    content = written(value, "content") or ""
    called = {
        ident: name
        for one in objects_of(value.get("mentions"))
        if (ident := written(one, "id")) and (name := _speaker(one))
    }
    content = _MENTION.sub(lambda found: f"@{called.get(found['id'], found['id'])}", content)
    return _EMOJI.sub(lambda found: found["name"], content)


def _embedded(value: Json) -> Iterator[str]:
    """Text of the pages that a message shows, or of the cards that a program writes."""
    for one in objects_of(value.get("embeds")):
        parts = [written(one, "title"), written(one, "description")]
        for held in objects_of(one.get("fields")):
            parts += [written(held, "name"), written(held, "value")]
        text = "\n".join(part for part in parts if part)
        if text:
            yield text


def _files(value: Json) -> Iterator[Attachment]:
    for key, names in (("attachments", ("fileName", "url")), ("stickers", ("name",))):
        for one in objects_of(value.get(key)):
            name = next((found for each in names if (found := written(one, each))), None)
            if name:
                yield Attachment(name=name, size=size_of(one.get("fileSizeBytes")))
