"""Open WebUI exports: a list of chats, each with a tree of messages under ``chat.history``.

Seen: descriptions and importers of exports from 2024 to 2026; no real file yet. ``currentId``
names the end of the main line, siblings hang beside it. Reasoning, tool calls and code runs are
written into the answer as ``<details type="...">`` blocks. Chats from before the tree have a
plain list ``chat.messages``. Times are seconds in messages, seconds or nanoseconds in chats. A
chat that was never saved has no id: its own is made from its words.
"""

import re
from collections.abc import Iterator
from datetime import datetime
from typing import Any, Final, NamedTuple, TypeAlias

from graphstore.model.conversation import Attachment, Role
from ingest.document import Element, elements
from ingest.instants import instant
from ingest.model import (
    Disposition,
    RawThread,
    RawTurn,
    ReadFailure,
    Score,
    Source,
    Tally,
    TitleCandidate,
)
from ingest.readers._tree import Up, cut_cycles, line, nearest, newest_leaf
from ingest.shape import look

NAME: Final = "openwebui"
VERSION: Final = 1
APPENDABLE: Final = False
TIER: Final = "unproven"

MESSAGES: Final = 200_000
"""Messages of one chat; the rest is lost."""

Json: TypeAlias = dict[str, Any]

_UUID: Final = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_ROLES: Final = {"user": Role.HUMAN, "assistant": Role.ASSISTANT}
_SILENT: Final[dict[str, Disposition]] = {"system": "injected", "tool": "tool"}
_CURRENT: Final = ("currentId", "current_id")
_MARK: Final = re.compile(r"^ {0,3}(?:```|~~~)|<details\b|</details\s*>", re.MULTILINE)
_KIND: Final = re.compile(r"\stype\s*=\s*[\"']?([\w-]+)")
_NAME: Final = re.compile(r"\sname\s*=\s*\"([^\"]*)\"")
_THOUGHT: Final = "reasoning"
_CALLED: Final = "tool_calls"


def sniff(head: bytes, src: Source) -> Score | None:
    """Tell by ``chat.history.messages`` in the elements of a list, or in the object."""
    del head
    shape = look(src)
    if shape.kind == "list":
        return Score.by(4) if any(map(_is_chat, shape.objects)) else None
    if shape.kind != "dict":
        return None
    document = shape.objects[0]
    inner = document.get("conversations")
    listed = inner if isinstance(inner, list) else [document]
    found = any(isinstance(one, dict) and _is_chat(one) for one in listed)
    return Score.by(5, 1.0, "c") if found else None


def _is_chat(one: Json) -> bool:
    chat = one.get("chat")
    if not isinstance(chat, dict):
        return False
    history = chat.get("history")
    tree = history.get("messages") if isinstance(history, dict) else None
    return isinstance(tree, dict) or isinstance(chat.get("messages"), list)


def read(src: Source, tally: Tally) -> Iterator[RawThread | ReadFailure]:
    """Read the chats of one file, one at a time."""
    with src.open() as stream:
        for number, element in enumerate(elements(stream, tally), start=1):
            value = element.value
            messages = _messages(value) if isinstance(value, dict) else None
            if isinstance(value, dict) and messages is not None:
                yield _Chat(value, messages, element, src, tally).thread()
                continue
            tally.read()
            tally.drop("lost")
            native = _text(value, "id") if isinstance(value, dict) else None
            where = native or f"{src.name}: conversation {number}"
            yield ReadFailure(where, "bad_conversation", "no messages")


def _messages(value: Json) -> list[tuple[str, object]] | None:
    """Messages with their keys: of the tree, else of the plain list."""
    chat = value.get("chat")
    if not isinstance(chat, dict):
        return None
    history = chat.get("history")
    tree = history.get("messages") if isinstance(history, dict) else None
    if isinstance(tree, dict) and (tree or not chat.get("messages")):
        return list(tree.items())
    plain = chat.get("messages")
    if not isinstance(plain, list):
        return None
    return [(_key(one, place), one) for place, one in enumerate(plain, start=1)]


def _key(message: object, place: int) -> str:
    named = _text(message, "id") if isinstance(message, dict) else None
    return named or f"#{place}"


class _Said(NamedTuple):
    """What the text of an answer comes to."""

    text: str
    calls: tuple[tuple[str, int], ...] = ()
    thought: bool = False


class _Chat:
    """One chat while its tree is gone through."""

    def __init__(
        self,
        value: Json,
        messages: list[tuple[str, object]],
        element: Element,
        src: Source,
        tally: Tally,
    ) -> None:
        self.value = value
        self.chat: Json = value["chat"]
        self.element = element
        self.tally = tally
        self.native_id = _text(value, "id") or _text(self.chat, "id")
        self.where = self.native_id or f"{src.name}: byte {element.offset}"
        self.nodes = self._nodes(messages)
        self.is_tree = any("parentId" in node for node in self.nodes.values())
        self.up = self._parents()
        self.calls: list[tuple[str, int]] = []
        self.models: dict[str, None] = {}

    def thread(self) -> RawThread:
        path = self._path()
        turns = [turn for key in path for turn in self._turns(key, alternative=False)]
        calls = tuple(self.calls)
        main = set(path)
        for key in self.nodes:
            if key not in main:
                self.calls = []
                turns.extend(self._turns(key, alternative=True))
        return RawThread(
            source=NAME,
            native_id=self.native_id,
            turns=self._linked(turns),
            tree=self.is_tree,
            rank=2,
            sharing="keys" if _are_global(turns) else "none",
            titles=self._titles(),
            started_at=self._time(self.value.get("created_at") or self.chat.get("timestamp")),
            ended_at=self._time(self.value.get("updated_at")),
            models=tuple(self.models) or self._chosen_models(),
            native_ids=(self.native_id,) if self.native_id else (),
            tail_calls=calls,
            where=self.where,
        )

    def _nodes(self, messages: list[tuple[str, object]]) -> dict[str, Json]:
        """Messages that are objects, up to the bound; every one is a record."""
        nodes: dict[str, Json] = {}
        for key, message in messages:
            self.tally.read()
            if not isinstance(message, dict) or len(nodes) >= MESSAGES:
                self._lose()
            elif key in nodes:
                self.tally.drop("duplicate")
                self.tally.note("duplicate_record", self.where)
            else:
                nodes[key] = message
        return nodes

    def _lose(self) -> None:
        self.tally.drop("lost")
        self.tally.note("bad_message", self.where)

    # --- the tree

    def _parents(self) -> Up:
        if not self.is_tree:
            keys = list(self.nodes)
            return dict(zip(keys, [None, *keys], strict=False))
        up: Up = {}
        for key, node in self.nodes.items():
            parent = node.get("parentId")
            up[key] = parent if isinstance(parent, str) and parent in self.nodes else None
            if parent is not None and up[key] is None:
                self.tally.note("orphan_parent", self.where)
        return up

    def _path(self) -> list[str]:
        """Main line from its beginning; the walk cuts the first cycle it would close."""
        current = self._current()
        starts = [current] if current is not None else []
        if cycles := cut_cycles(self.up, [*starts, *self.nodes]):
            self.tally.note("parent_cycle", self.where, cycles)
        if current is None:
            times = {key: _seconds(node) for key, node in self.nodes.items()}
            current = newest_leaf(self.up, times)
            if current is not None and self.is_tree:
                self.tally.note("current_node", self.where)
        return line(self.up, current)

    def _current(self) -> str | None:
        history = self.chat.get("history")
        if not isinstance(history, dict):
            return None
        named = next((one for key in _CURRENT if (one := _text(history, key))), None)
        return named if named in self.nodes else None

    def _linked(self, turns: list[RawTurn]) -> list[RawTurn]:
        """Give each turn the nearest one above it as parent; each node is passed once."""
        given = {turn.key for turn in turns}
        above: dict[str, str | None] = {}
        for turn in turns:
            if turn.key is not None:
                turn.parent = nearest(self.up, turn.key, given, above)
        return turns

    # --- messages

    def _turns(self, key: str, *, alternative: bool) -> Iterator[RawTurn]:
        """Text of attached files, then the turn of a message; silent ones are counted."""
        message = self.nodes[key]
        sender = _text(message, "role") or ""
        role = _ROLES.get(sender)
        if role is None:
            self._without_role(message, sender)
            return
        said = self._said(message, role)
        self.calls.extend(said.calls)
        given = list(self._side_turns(key, message))
        if said.text.strip():
            given.append(self._own(key, message, role, said.text))
        elif given:
            given[-1].records = 1
        else:
            self.tally.drop("tool" if said.calls else "thinking" if said.thought else "empty")
        for turn in given:
            turn.alternative = alternative
            yield turn

    def _without_role(self, message: Json, sender: str) -> None:
        if sender in _SILENT:
            self.tally.drop(_SILENT[sender])
        elif any(text.strip() for text in _texts(message)):
            self._lose()
        else:
            self.tally.drop("empty")

    def _said(self, message: Json, role: Role) -> _Said:
        """Words of a message; those of an answer without what it is wrapped in."""
        text = "\n\n".join(_texts(message))
        if role is Role.HUMAN:
            return _Said(text)
        said = without_details(text)
        return said if said.text.strip() else _output(message, said)

    def _own(self, key: str, message: Json, role: Role, text: str) -> RawTurn:
        turn = self._turn(role, (text,), key, message)
        turn.records = 1
        turn.attachments = tuple(_files(message))
        if role is Role.ASSISTANT:
            turn.calls, self.calls = tuple(self.calls), []
            turn.stopped = message.get("done") is not False
            if model := _text(message, "model"):
                self.models[model] = None
        return turn

    def _side_turns(self, key: str, message: Json) -> Iterator[RawTurn]:
        """Extracted text of attached files, each above the message that brought it."""
        for number, one in enumerate(_listed(message.get("files")), start=1):
            if (text := _extracted(one)) is None:
                continue
            side = f"{key}#{number}"
            if side in self.up:
                continue
            self.up[side], self.up[key] = self.up[key], side
            turn = self._turn(Role.OTHER, (text,), side, message)
            turn.attachments = (_attachment(one),)
            yield turn

    def _turn(self, role: Role, blocks: tuple[str, ...], key: str, message: Json) -> RawTurn:
        return RawTurn(
            role=role,
            blocks=blocks,
            key=key,
            at=self._time(message.get("timestamp")),
            offset=self.element.offset,
            length=self.element.length,
            records=0,
        )

    def _time(self, value: object) -> datetime | None:
        moment, problem = instant(value)
        if problem == "bad_timestamp":
            self.tally.note(problem, self.where)
        return moment

    def _titles(self) -> tuple[TitleCandidate, ...]:
        title = _text(self.value, "title") or _text(self.chat, "title")
        return (TitleCandidate("native", title),) if title else ()

    def _chosen_models(self) -> tuple[str, ...]:
        """Models chosen for the chat, where no answer names its own."""
        listed = self.chat.get("models")
        models = listed if isinstance(listed, list) else ()
        return tuple(one for one in models if isinstance(one, str) and one)


def _are_global(turns: list[RawTurn]) -> bool:
    """Short ids are local to a chat and say nothing about another one."""
    return all(_UUID.fullmatch((turn.key or "").partition("#")[0]) for turn in turns)


# --- an answer


def without_details(text: str) -> _Said:
    """An answer without its ``<details type=...>`` blocks, and what those were.

    A block starts its line, outside fences, and ends where its tags are even again; if they
    never are, at its last closing tag. One that is never closed is text.
    """
    kept: list[str] = []
    kinds: list[tuple[str, str]] = []
    at = 0
    while (found := _block(text, at)) is not None:
        start, end, tag = found
        kept.append(text[at:start])
        kind, name = _KIND.search(tag), _NAME.search(tag)
        kinds.append((kind[1] if kind else "", name[1] if name else ""))
        at = end
    kept.append(text[at:])
    calls = tuple((name or kind, 1) for kind, name in kinds if kind != _THOUGHT)
    return _Said("".join(kept), calls, any(kind == _THOUGHT for kind, _ in kinds))


def _block(text: str, at: int) -> tuple[int, int, str] | None:
    """Start, end and opening tag of the next block."""
    is_fenced = False
    for mark in _MARK.finditer(text, at):
        if not mark[0].startswith("<"):
            is_fenced = not is_fenced
        elif mark[0].startswith("<d") and not is_fenced and _starts_line(text, at, mark.start()):
            tag = text[mark.start() : text.find(">", mark.end()) + 1]
            if _KIND.search(tag):
                end = _end(text, mark.end())
                return (mark.start(), end, tag) if end > 0 else None
    return None


def _starts_line(text: str, at: int, start: int) -> bool:
    """Whether only blanks stand before it on its line, or since the last block."""
    return not text[max(at, text.rfind("\n", at, start) + 1) : start].strip()


def _end(text: str, at: int) -> int:
    """Index after the closing tag of a block that is open."""
    depth = 1
    last = -1
    for mark in _MARK.finditer(text, at):
        if mark[0].startswith("</"):
            depth -= 1
            last = mark.end()
            if depth == 0:
                return last
        elif mark[0].startswith("<"):
            depth += 1
    return last


def _output(message: Json, said: _Said) -> _Said:
    """Words of an answer that only stands in its list of outputs."""
    words: list[str] = []
    calls = list(said.calls)
    thought = said.thought
    for item in _listed(message.get("output")):
        kind = item.get("type")
        if kind == "message":
            words.extend(_texts(item))
        elif kind == "function_call" and not said.calls:
            calls.append((_text(item, "name") or "unnamed", 1))
        elif kind == _THOUGHT:
            thought = True
    return _Said("\n\n".join(words), tuple(calls), thought)


# --- values


def _text(value: Json, key: str) -> str | None:
    found = value.get(key)
    return found if isinstance(found, str) and found.strip() else None


def _listed(value: object) -> list[Json]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def _texts(message: Json) -> list[str]:
    """Text of the content: a string, or parts of which some are text."""
    content = message.get("content")
    if isinstance(content, str):
        return [content]
    found = [part.get("text") for part in _listed(content)]
    return [one for one in found if isinstance(one, str) and one.strip()]


def _seconds(message: Json) -> float:
    moment = instant(message.get("timestamp"))[0]
    return moment.timestamp() if moment else float("-inf")


def _inner(one: Json) -> Json:
    """The file itself, which newer versions put one level down."""
    inner = one.get("file")
    return inner if isinstance(inner, dict) else {}


def _extracted(one: Json) -> str | None:
    data = _inner(one).get("data")
    return _text(data, "content") if isinstance(data, dict) else None


def _files(message: Json) -> Iterator[Attachment]:
    """Files and images of a message whose text is not given."""
    for one in _listed(message.get("files")):
        if _extracted(one) is None:
            yield _attachment(one)
    for part in _listed(message.get("content")):
        if part.get("type") == "image_url":
            yield Attachment(media_type="image")


def _attachment(one: Json) -> Attachment:
    inner = _inner(one)
    meta = inner.get("meta")
    meta = meta if isinstance(meta, dict) else {}
    named = (_text(one, "name"), _text(inner, "filename"), _text(meta, "name"))
    size = next((each for each in (one.get("size"), meta.get("size")) if _is_size(each)), None)
    kind = _text(meta, "content_type") or _text(one, "content_type") or _text(one, "type")
    return Attachment(name=next((each for each in named if each), None), media_type=kind, size=size)


def _is_size(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**63
