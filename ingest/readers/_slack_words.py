"""Words of a Slack message: what its marks, blocks and attachments say."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from ingest.readers._fields import written

Json: TypeAlias = dict[str, Any]

BLOCKS: Final = 10_000
"""Pieces of one message that are looked at."""
_MARK: Final = re.compile(r"<([@#!][^<>|\n]+|[A-Za-z][A-Za-z0-9+.-]*:[^<>|\n]+)(?:\|([^<>\n]*))?>")
_URL: Final = re.compile(r"(?:https?|ftp|mailto|tel):.+")
_ESCAPES: Final = (("&lt;", "<"), ("&gt;", ">"), ("&amp;", "&"))
_LINES: Final = frozenset({"rich_text_section", "rich_text_quote", "rich_text_preformatted"})


@dataclass(slots=True)
class Names:
    """What people and rooms are called, by id."""

    people: dict[str, str] = field(default_factory=dict)
    rooms: dict[str, str] = field(default_factory=dict)


def plain(value: Json, names: Names, *, with_attachments: bool) -> str:
    """The text of a message, else of its blocks, else (of a bot) of its attachments."""
    text = written(value, "text")
    if text is not None:
        return _unmarked(text, names)
    text = "".join(_of_blocks(value.get("blocks"), names)).strip("\n")
    if text.strip() or not with_attachments:
        return text
    listed = value.get("attachments")
    parts = [
        _unmarked(part, names)
        for one in (listed if isinstance(listed, list) else ())
        if isinstance(one, dict)
        for part in _of_attachment(one)
    ]
    return "\n".join(parts)


def _of_attachment(one: Json) -> Iterator[str]:
    parts = [written(one, key) for key in ("pretext", "title", "text")]
    found = [part for part in parts if part]
    fallback = written(one, "fallback")
    yield from found or ([fallback] if fallback else [])


def links_of(value: Json) -> tuple[str, ...]:
    """Addresses behind the words of a message, in order, each once."""
    text = written(value, "text") or ""
    found = [mark[1] for mark in _MARK.finditer(text) if _URL.fullmatch(mark[1])]
    found += [
        one["url"]
        for one in _pieces(value.get("blocks"))
        if one.get("type") == "link" and isinstance(one.get("url"), str)
    ]
    return tuple(dict.fromkeys(_unescaped(one) for one in found if one.startswith("http")))


def _unmarked(text: str, names: Names) -> str:
    return _unescaped(_MARK.sub(lambda mark: _named(mark[1], mark[2], names), text))


def _unescaped(text: str) -> str:
    for escape, meant in _ESCAPES:
        text = text.replace(escape, meant)
    return text


def _named(target: str, label: str | None, names: Names) -> str:
    """What a mark shows: a person, a room, a call to many, or the words of a link."""
    kind, rest = target[0], target[1:]
    if kind == "@":
        return f"@{names.people.get(rest) or label or rest}"
    if kind == "#":
        return f"#{label or names.rooms.get(rest) or rest}"
    if kind == "!":
        return label or f"@{rest.partition('^')[0]}"
    return label or target.removeprefix("mailto:").removeprefix("tel:")


def _pieces(blocks: object) -> Iterator[Json]:
    """Every piece of a layout in reading order, outer ones first; nothing here recurs."""
    waiting: list[object] = [blocks]
    for _ in range(BLOCKS):
        if not waiting:
            return
        at = waiting.pop()
        if isinstance(at, list):
            waiting.extend(reversed(at))
        elif isinstance(at, dict):
            yield at
            inner = [at.get(key) for key in ("text", "fields", "elements")]
            waiting.extend(one for one in reversed(inner) if isinstance(one, dict | list))


def _of_blocks(blocks: object, names: Names) -> Iterator[str]:
    """Texts of a layout; what is a line of its own ends in a new line."""
    for one in _pieces(blocks):
        kind = written(one, "type")
        text = written(one, "text")
        if kind in _LINES:
            yield "\n"
        elif kind == "user":
            yield f"@{_called(one, 'user_id', names.people)}"
        elif kind == "channel":
            yield f"#{_called(one, 'channel_id', names.rooms)}"
        elif kind == "broadcast":
            yield f"@{one.get('range')}"
        elif kind == "emoji":
            yield f":{one.get('name')}:"
        elif kind == "link":
            yield text or written(one, "url") or ""
        elif kind in {"mrkdwn", "plain_text"} and text:
            yield f"\n{_unmarked(text, names)}"
        elif kind == "text" and isinstance(one.get("text"), str):
            yield one["text"]


def _called(one: Json, key: str, known: dict[str, str]) -> str:
    ident = written(one, key) or ""
    return known.get(ident, ident)
