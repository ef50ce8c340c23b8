"""Role and text in JSON: OpenAI messages, ShareGPT pairs, flat logs; one line or one list.

Shapes: ``{"messages": [{"role", "content"}]}`` with content as string, parts or null beside
``tool_calls``; ``{"conversations": [{"from", "value"}]}`` or with role and content; flat lines
``{"role", "content"}``, where the whole file is one growing thread. Times, where there are any,
stand in the message. There are no forks. ``id`` or ``conversation_id`` names a conversation.
"""

from collections.abc import Iterator
from datetime import datetime
from typing import Any, Final

from graphstore.model.conversation import Attachment, Role, Taint
from ingest.document import elements
from ingest.jsonio import records
from ingest.model import RawThread, RawTurn, ReadFailure, Score, Source, Tally, TitleCandidate
from ingest.readers._fields import of_data_url, timed
from ingest.shape import look

NAME: Final = "generic"
VERSION: Final = 1
APPENDABLE: Final = True
TIER: Final = "proven"

_LISTS: Final = ("messages", "conversations")
_ROLES: Final = {
    "user": Role.HUMAN,
    "human": Role.HUMAN,
    "prompter": Role.HUMAN,
    "assistant": Role.ASSISTANT,
    "gpt": Role.ASSISTANT,
    "chatgpt": Role.ASSISTANT,
    "model": Role.ASSISTANT,
    "bot": Role.ASSISTANT,
}
_INJECTED: Final = frozenset({"system", "developer"})
_TOOLS: Final = frozenset({
    "tool",
    "function",
    "function_call",
    "function_response",
    "function_result",
    "tool_call",
    "tool_response",
    "observation",
})  # fmt: skip
_TIMES: Final = ("timestamp", "created_at", "create_time", "createdAt", "date")
_IDS: Final = ("id", "conversation_id")
_TEXTS: Final = ("text", "input_text", "output_text")  # compared with whatever a part holds
_TELLING: Final = (*_LISTS, "role", "from")
_KNOWN: Final = frozenset({*_LISTS, "role", "content", "from", "value"})
_NO_KEY: Final = "\0"
"""A key that no object has: a document is one conversation, or a list of them."""


def sniff(head: bytes, src: Source) -> Score | None:
    """Share of the first records that hold messages with role and text."""
    del head
    shape = look(src)
    if shape.kind not in {"lines", "dict", "list"} or shape.keys.isdisjoint(_TELLING):
        return None
    matching = sum(_talks(one) or (shape.kind != "list" and _is_flat(one)) for one in shape.objects)
    if not matching:
        return None
    if shape.kind == "dict" and "messages" in shape.objects[0]:
        return Score.by(5, 1.0, "z")
    return Score.by(6, shape.share(matching), "g")


def _talks(one: dict[str, Any]) -> bool:
    return any(_is_talk(one.get(key)) for key in _LISTS)


def _is_talk(listed: object) -> bool:
    """Whether a list holds messages; an empty one says nothing against it."""
    if not isinstance(listed, list):
        return False
    first = next((one for one in listed if isinstance(one, dict)), None)
    return first is not None and _is_flat(first)


def _is_flat(one: dict[str, Any]) -> bool:
    return isinstance(_said_by(one), str) and any(key in one for key in ("content", "value"))


def _said_by(message: dict[str, Any]) -> object:
    return message.get("role") or message.get("from")


def read(src: Source, tally: Tally) -> Iterator[RawThread | ReadFailure]:
    """Read every conversation of a file; flat lines are one."""
    flat = RawThread(NAME, None, growing=True)
    with src.open() as stream:
        if look(src).kind == "lines":
            for record in records(stream, tally, _KNOWN, limit=src.record_limit, parsed=src.parsed):
                at_line = (record.line, record.offset, record.length)
                yield from _one(record.value, at_line, flat, tally, keep=src.keep_context)
        else:
            for element in elements(stream, tally, _NO_KEY, limit=src.record_limit):
                tally.read()
                place = (None, element.offset, element.length)
                yield from _one(element.value, place, flat, tally, keep=src.keep_context)
    if flat.turns:
        yield flat


_Place = tuple[int | None, int, int]


def _one(
    value: object, place: _Place, flat: RawThread, tally: Tally, *, keep: bool
) -> Iterator[RawThread | ReadFailure]:
    """One conversation, or one message of the flat thread; its record is counted already."""
    if not isinstance(value, dict):
        tally.drop("lost")
        tally.note("not_an_object", place[0])
        return
    listed = next((value[key] for key in _LISTS if isinstance(value.get(key), list)), None)
    if listed is not None:
        yield _conversation(value, listed, place, tally, keep=keep)
    elif _is_flat(value):
        flat.turns.extend(_message(value, place, tally, keep=keep))
    else:
        tally.drop("lost")
        yield ReadFailure(tally.place(place[0]), "bad_conversation")


def _conversation(
    value: dict[str, Any], listed: list[Any], place: _Place, tally: Tally, *, keep: bool
) -> RawThread:
    tally.read(len(listed) - 1)  # the record itself is counted: now its messages are instead
    native = next((value[key] for key in _IDS if isinstance(value.get(key), str | int)), None)
    title = value.get("title")
    thread = RawThread(NAME, None if native is None or native == "" else str(native))
    thread.where = thread.native_id or ""
    if isinstance(title, str):
        thread.titles = (TitleCandidate("native", title),)
    thread.started_at = _time(value, place, tally)
    for message in listed:
        thread.turns.extend(_message(message, place, tally, keep=keep))
    return thread


def _message(message: object, place: _Place, tally: Tally, *, keep: bool) -> Iterator[RawTurn]:
    """The turn of a message; what a tool says is one if it is to be kept."""
    said_by = _said_by(message) if isinstance(message, dict) else None
    if not isinstance(message, dict) or not isinstance(said_by, str):
        tally.drop("lost")
        tally.note("bad_message", place[0])
        return
    name = said_by.strip().lower()
    if name in _INJECTED:
        tally.drop("injected")
    elif name in _TOOLS and not keep:
        tally.drop("tool")
    elif name in _TOOLS:
        turn = _turn(message, name, place, tally)
        turn.taint = Taint.TOOL
        yield turn
    else:
        yield _turn(message, name, place, tally)


def _turn(message: dict[str, Any], name: str, place: _Place, tally: Tally) -> RawTurn:
    role = _ROLES.get(name, Role.OTHER)
    blocks, attachments = _content(message, place, tally)
    key = message.get("id")
    return RawTurn(
        role=role,
        blocks=blocks,
        key=key if isinstance(key, str) else None,
        at=_time(message, place, tally),
        line=place[0],
        offset=place[1],
        length=place[2],
        speaker=name if role is Role.OTHER else None,
        attachments=attachments,
        calls=tuple(_calls(message)),
    )


def _content(
    message: dict[str, Any], place: _Place, tally: Tally
) -> tuple[tuple[str, ...], tuple[Attachment, ...]]:
    content = message.get("content", message.get("value"))
    if isinstance(content, str):
        return (content,), ()
    if not isinstance(content, list):
        return (), ()
    blocks: list[str] = []
    attachments: list[Attachment] = []
    for part in content:
        kind = part.get("type", "text") if isinstance(part, dict) else None
        if isinstance(part, str):
            blocks.append(part)
        elif not isinstance(part, dict):
            continue
        elif isinstance(part.get("text"), str) and kind in _TEXTS:
            blocks.append(part["text"])
        elif (found := _file(part)) is not None:
            attachments.append(found)
        else:
            tally.note("unknown_content", place[0])
    return tuple(blocks), tuple(attachments)


def _file(part: dict[str, Any]) -> Attachment | None:
    """An image, sound or file of a message, without its bytes."""
    held = next((part[key] for key in ("image_url", "input_audio", "file") if key in part), None)
    if held is None:
        return None
    url = held.get("url") or held.get("file_data") if isinstance(held, dict) else held
    name = held.get("filename") if isinstance(held, dict) else None
    if isinstance(url, str) and url.startswith("data:"):
        return of_data_url(url, name if isinstance(name, str) else None)
    return Attachment(name=name if isinstance(name, str) else url if isinstance(url, str) else None)


def _calls(message: dict[str, Any]) -> Iterator[tuple[str, int]]:
    calls = message.get("tool_calls")
    for call in calls if isinstance(calls, list) else ():
        function = call.get("function") if isinstance(call, dict) else None
        name = function.get("name") if isinstance(function, dict) else None
        yield (name if isinstance(name, str) else "unnamed", 1)


def _time(value: dict[str, Any], place: _Place, tally: Tally) -> datetime | None:
    for key in _TIMES:
        if (at := timed(value.get(key), tally, place[0])) is not None:
            return at
    return None
