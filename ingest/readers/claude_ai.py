"""Claude.ai exports: ``conversations.json``, or one conversation object.

Seen: exports from 2024 to 2026 and what browser tools save. A conversation lists its messages;
where these name their parents it is a tree whose main line ends at the current leaf. Words
are in content blocks, and again in ``text`` with tool output mixed in. Times are ISO 8601.
Nothing tells of forks between conversations.
"""

import re
from collections.abc import Iterator
from datetime import datetime
from typing import Any, Final, NamedTuple, TypeAlias

from graphstore.model.conversation import Attachment, Role, Taint
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
from ingest.readers._fields import timed
from ingest.shape import look

NAME: Final = "claude-ai"
VERSION: Final = 1
APPENDABLE: Final = False
TIER: Final = "proven"

MESSAGES: Final = 200_000
"""Messages of one conversation; the rest is lost."""

Json: TypeAlias = dict[str, Any]

_UUID: Final = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_NO_PARENT: Final = re.compile(r"[0-]*(?:-4000-8000-0{12})?")
_LISTS: Final = ("chat_messages", "messages")
_HEADS: Final = ("name", "created_at", "updated_at")
_ROLES: Final = {"human": Role.HUMAN, "user": Role.HUMAN, "assistant": Role.ASSISTANT}
_SPOKEN: Final = frozenset({"text", "voice_note"})
_THOUGHTS: Final = frozenset({"thinking", "redacted_thinking"})
_TOOLS: Final = frozenset({"tool_use", "tool_result", "server_tool_use", "web_search_tool_result"})
_META: Final = frozenset({"token_budget", "flag"})
_WEB: Final = re.compile(r"web|fetch", re.IGNORECASE)
_THINKING: Final = ("<antThinking>", "</antThinking>")
_LONG_AGO: Final = float("-inf")


def sniff(head: bytes, src: Source) -> Score | None:
    """Tell by the list of messages: of the elements of a list, or of one object."""
    del head
    shape = look(src)
    if shape.kind == "list":
        return Score.by(4, 1.0, "b") if any(map(_is_ours, shape.objects)) else None
    if shape.kind == "lines" and (share := shape.most("chat_messages")):
        return Score.by(6, share, "b")
    if shape.kind != "dict":
        return None
    document = shape.objects[0]
    inner = document.get("conversations")
    listed = inner if isinstance(inner, list) else []
    found = any(isinstance(one, dict) and _is_ours(one) for one in (document, *listed))
    return Score.by(5, 1.0, "b") if found else None


def _is_ours(one: Json) -> bool:
    return "chat_messages" in one or ("uuid" in one and "messages" in one)


def read(src: Source, tally: Tally) -> Iterator[RawThread | ReadFailure]:
    """Read the conversations of one file, one at a time."""
    with src.open() as stream:
        for number, element in enumerate(elements(stream, tally, limit=src.record_limit), start=1):
            value = element.value
            if isinstance(value, dict) and (messages := _messages(value)) is not None:
                yield _Conversation(value, messages, element, src, tally).thread()
            else:
                tally.read()
                tally.drop("lost")
                where = _native_id(value) or f"{src.name}: conversation {number}"
                yield ReadFailure(where, "bad_conversation", "no messages")


def _messages(value: Json) -> list[Any] | None:
    """Messages of a conversation; one that has a head but no list has none."""
    for key in _LISTS:
        if isinstance(value.get(key), list):
            held: list[Any] = value[key]
            return held
    if any(value.get(key) is not None for key in _LISTS):
        return None
    headed = _native_id(value) is not None and any(key in value for key in _HEADS)
    return [] if headed else None


def _native_id(value: object) -> str | None:
    native = value.get("uuid") if isinstance(value, dict) else None
    return native if isinstance(native, str) and native else None


class _Said(NamedTuple):
    """What the blocks of a message come to."""

    blocks: tuple[str, ...]
    calls: tuple[tuple[str, int], ...]
    context: tuple[tuple[str, Taint], ...]
    drop: Disposition
    """What its record counts as if there are no words."""


class _Conversation:
    """One conversation while its messages are gone through; nothing here recurs over input."""

    def __init__(
        self, value: Json, messages: list[Any], element: Element, src: Source, tally: Tally
    ) -> None:
        self.value = value
        self.element = element
        self.src = src
        self.tally = tally
        self.native_id = _native_id(value)
        self.where = self.native_id or f"{src.name}: byte {element.offset}"
        self.calls: list[tuple[str, int]] = []
        self.messages = self._sound(messages)
        self.up, self.is_tree = self._parents()
        self.last: dict[int, str | None] = {}
        """Native key under which what follows a message hangs, by its place."""

    def thread(self) -> RawThread:
        path = self._path()
        turns = [turn for place in path for turn in self._turns(place, alternative=False)]
        calls = tuple(self.calls)
        main = set(path)
        for place in self._downward():
            if place not in main:
                self.calls = []
                turns.extend(self._turns(place, alternative=True))
        model, project = self.value.get("model"), self.value.get("project")
        name = project.get("name") if isinstance(project, dict) else None
        keyed = all(_UUID.match(turn.key or "") for turn in turns)
        return RawThread(
            source=NAME,
            native_id=self.native_id,
            turns=turns,
            tree=self.is_tree,
            rank=2,
            sharing="keys" if keyed else "none",
            titles=self._titles(),
            started_at=self._time(self.value.get("created_at")),
            ended_at=self._time(self.value.get("updated_at")),
            project=name if isinstance(name, str) and name else None,
            models=(model,) if isinstance(model, str) and model else (),
            native_ids=(self.native_id,) if self.native_id else (),
            tail_calls=calls,
            where=self.where,
        )

    def _titles(self) -> tuple[TitleCandidate, ...]:
        title = self.value.get("name")
        if isinstance(title, str) and title.strip():
            return (TitleCandidate("native", title),)
        return ()

    def _sound(self, messages: list[Any]) -> list[Json]:
        """Messages that are objects, up to the bound; every one is a record."""
        self.tally.read(len(messages))
        sound = [one for one in messages if isinstance(one, dict)][:MESSAGES]
        for _ in range(len(messages) - len(sound)):
            self._lose()
        return sound

    def _lose(self) -> None:
        self.tally.drop("lost")
        self.tally.note("bad_message", self.where)

    # --- the tree

    def _parents(self) -> tuple[list[int | None], bool]:
        """Place of the parent of each message, and whether the messages name any."""
        places: dict[str, int] = {}
        for place, one in enumerate(self.messages):
            if (key := _native_id(one)) is not None:
                places.setdefault(key, place)
        named = [_parent(one) for one in self.messages]
        if not any(parent in places for parent in named if parent is not None):
            return [place - 1 if place else None for place in range(len(named))], False
        up: list[int | None] = []
        for place, parent in enumerate(named):
            if parent is not None and parent not in places and place:
                self.tally.note("orphan_parent", self.where)
                up.append(place - 1)
            else:
                up.append(places.get(parent) if parent is not None else None)
        return up, True

    def _path(self) -> list[int]:
        """Main line from its beginning; the walk cuts the first cycle it would close."""
        if not self.is_tree:
            return list(range(len(self.messages)))
        if cycles := self._cut_cycles():
            self.tally.note("parent_cycle", self.where, cycles)
        path: list[int] = []
        at: int | None = self._leaf()
        while at is not None:
            path.append(at)
            at = self.up[at]
        return path[::-1]

    def _cut_cycles(self) -> int:
        """Take the parent off each message whose parent was passed on the way to it."""
        done: set[int] = set()
        cut = 0
        for start in range(len(self.up) - 1, -1, -1):
            passed: dict[int, None] = {}
            at: int | None = start
            while at is not None and at not in done:
                passed[at] = None
                parent = self.up[at]
                if parent in passed:
                    self.up[at] = parent = None
                    cut += 1
                at = parent
            done.update(passed)
        return cut

    def _downward(self) -> Iterator[int]:
        """Places of all messages, parents before children."""
        below: dict[int | None, list[int]] = {}
        for place, above in enumerate(self.up):
            below.setdefault(above, []).append(place)
        level = below.get(None, [])
        while level:
            yield from level
            level = [one for place in level for one in below.get(place, ())]

    def _leaf(self) -> int:
        """Place of the current leaf, else of the newest one."""
        current = self.value.get("current_leaf_message_uuid")
        for place, one in enumerate(self.messages):
            if isinstance(current, str) and one.get("uuid") == current:
                return place
        if current is not None:
            self.tally.note("current_node", self.where)
        inner = set(self.up)
        leaves = [place for place in range(len(self.up)) if place not in inner]
        return max(leaves, key=lambda place: (_seconds(self.messages[place]), place))

    # --- messages

    def _turns(self, place: int, *, alternative: bool) -> Iterator[RawTurn]:
        """Side turns of a message and its own; its record is disposed of if there are none."""
        message = self.messages[place]
        sender = message.get("sender") or message.get("role")
        role = _ROLES.get(sender) if isinstance(sender, str) else None
        above = self.up[place]
        parent = self.last.get(above) if above is not None else None
        self.last[place] = parent
        if role is None:
            self._lose()
            return
        said = self._said(message, role)
        self.calls.extend(said.calls if role is Role.ASSISTANT else ())
        turns = self._side_turns(message, said)
        files = tuple(_files(message))
        if said.blocks:
            turns.append(self._own(message, role, said, files))
        elif turns:
            turns[-1].records = 1
            turns[-1].attachments += files
        else:
            self.tally.drop(said.drop)
        for turn in turns:
            turn.parent, parent = parent, turn.key or parent
            turn.alternative = alternative
            yield turn
        self.last[place] = parent

    def _own(
        self, message: Json, role: Role, said: _Said, files: tuple[Attachment, ...]
    ) -> RawTurn:
        turn = self._turn(message, role, said.blocks, _native_id(message))
        turn.records = 1
        turn.attachments = files
        if role is Role.ASSISTANT:
            turn.calls, self.calls = tuple(self.calls), []
            turn.stopped = True
        return turn

    def _turn(self, message: Json, role: Role, blocks: tuple[str, ...], key: str | None) -> RawTurn:
        return RawTurn(
            role=role,
            blocks=blocks,
            key=key,
            at=self._time(message.get("created_at")),
            offset=self.element.offset,
            length=self.element.length,
            records=0,
        )

    def _side_turns(self, message: Json, said: _Said) -> list[RawTurn]:
        """Text of attached files, and what tools gave if it is asked for."""
        key = _native_id(message)
        turns: list[RawTurn] = []
        listed = message.get("attachments")
        for one in listed if isinstance(listed, list) else ():
            if isinstance(one, dict) and _has_text(one):
                numbered = f"{key}#{len(turns) + 1}" if key else None
                text = one["extracted_content"]
                turn = self._turn(message, Role.OTHER, (text,), numbered)
                turn.attachments = (_attachment(one),)
                turns.append(turn)
        for text, taint in said.context if self.src.keep_context else ():
            numbered = f"{key}#{len(turns) + 1}" if key else None
            turn = self._turn(message, Role.OTHER, (text,), numbered)
            turn.taint = taint
            turns.append(turn)
        return turns

    def _said(self, message: Json, role: Role) -> _Said:
        """Words of the text blocks; the plain text only where there are none and no tool."""
        content = message.get("content")
        listed = content if isinstance(content, list) else [content]
        words: list[object] = []
        calls: list[tuple[str, int]] = []
        context: list[tuple[str, Taint]] = []
        used = thought = False
        for one in listed:
            block: Json = one if isinstance(one, dict) else {"text": one}
            kind = str(block.get("type", "text"))
            if kind in _SPOKEN:
                words.append(block.get("text"))
            elif kind in _THOUGHTS:
                thought = True
            elif kind in _TOOLS:
                used = True
                calls.extend(_calls(block))
                context.extend(_context(block))
            elif kind not in _META:
                self.tally.note("unknown_content", self.where)
        blocks = _filled(words, role)
        if not blocks and not used:
            blocks = _filled([message.get("text")], role)
        drop: Disposition = "tool" if used else "thinking" if thought else "empty"
        return _Said(blocks, tuple(calls), tuple(context), drop)

    def _time(self, value: object) -> datetime | None:
        return timed(value, self.tally, self.where)


def _parent(message: Json) -> str | None:
    """Native id of the parent that a message names; the root of all trees is none."""
    parent = message.get("parent_message_uuid")
    return parent if isinstance(parent, str) and not _NO_PARENT.fullmatch(parent) else None


def _seconds(message: Json) -> float:
    moment = instant(message.get("created_at"))[0]
    return moment.timestamp() if moment else _LONG_AGO


def _filled(texts: list[object], role: Role) -> tuple[str, ...]:
    """Texts that say something, without thoughts that the assistant wrote into them."""
    told = [text for text in texts if isinstance(text, str)]
    if role is Role.ASSISTANT:
        told = [_without_thinking(text) for text in told]
    return tuple(text for text in told if text.strip())


def _without_thinking(text: str) -> str:
    """Take out the thoughts that older models wrote between marks of their own."""
    opening, closing = _THINKING
    kept: list[str] = []
    at = 0
    while (begin := text.find(opening, at)) >= 0 and (end := text.find(closing, begin)) >= 0:
        kept.append(text[at:begin])
        at = end + len(closing)
        while text[at : at + 1].isspace():
            at += 1
    return "".join((*kept, text[at:]))


def _calls(block: Json) -> Iterator[tuple[str, int]]:
    if str(block.get("type")).endswith("_use"):
        name = block.get("name")
        yield (name if isinstance(name, str) and name else "tool", 1)


def _context(block: Json) -> Iterator[tuple[str, Taint]]:
    """What a tool gave, as text."""
    if str(block.get("type")).endswith("_use"):
        return
    taint = Taint.WEB if _WEB.search(str(block.get("name"))) else Taint.TOOL
    content = block.get("content")
    for one in content if isinstance(content, list) else [content]:
        text = one.get("text") if isinstance(one, dict) else one
        if isinstance(text, str) and text.strip():
            yield text, taint


def _has_text(one: Json) -> bool:
    text = one.get("extracted_content")
    return isinstance(text, str) and bool(text.strip())


def _attachment(one: Json) -> Attachment:
    name, kind, size = one.get("file_name"), one.get("file_type"), one.get("file_size")
    whole = isinstance(size, int) and not isinstance(size, bool) and size >= 0
    return Attachment(
        name=name if isinstance(name, str) else None,
        media_type=kind if isinstance(kind, str) else None,
        size=size if whole else None,
    )


def _files(message: Json) -> Iterator[Attachment]:
    """Files of a message whose text is not given, each once."""
    seen: set[str] = set()
    for key in ("attachments", "files", "files_v2"):
        listed = message.get(key)
        for one in listed if isinstance(listed, list) else ():
            if not isinstance(one, dict) or _has_text(one):
                continue
            ident = one.get("file_uuid") or one.get("file_name")
            if isinstance(ident, str) and ident not in seen:
                seen.add(ident)
                yield _attachment(one)
