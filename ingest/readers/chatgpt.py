"""ChatGPT exports: ``conversations.json``, its shards, or one conversation object.

Seen: exports from 2023 to 2025 and what export tools make of them. A conversation is a tree of
nodes under ``mapping``; ``current_node`` names the end of the main line, regenerated and edited
branches hang beside it. Every field may be null or absent. Times are seconds since 1970. Zip
members and shards come as sources of their own; what has one id is one thread.
"""

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
from ingest.readers._fields import objects_of, size_of, timed
from ingest.readers._tree import Up, cut_cycles, have_uuids, line, linked, newest_leaf
from ingest.shape import look

NAME: Final = "chatgpt"
VERSION: Final = 1
APPENDABLE: Final = False
TIER: Final = "proven"

NODES: Final = 200_000
"""Nodes of one conversation; the rest is lost."""

Json: TypeAlias = dict[str, Any]

_WEB: Final = frozenset({"tether_quote", "tether_browsing_display", "sonic_webpage"})
_WITHOUT_WORDS: Final[dict[str, Disposition]] = {
    "thoughts": "thinking",
    "reasoning_recap": "thinking",
    "system_error": "meta",
    "user_editable_context": "injected",
}
_SPOKEN: Final = frozenset({"text", "multimodal_text", "code", "execution_output"})
_POINTERS: Final = {
    "image_asset_pointer": "image",
    "audio_asset_pointer": "audio",
    "video_container_asset_pointer": "video",
    "real_time_user_audio_video_asset_pointer": "video",
}


def sniff(head: bytes, src: Source) -> Score | None:
    """Tell by ``mapping``: of the elements of a list, of the object, or of its conversations."""
    del head
    shape = look(src)
    if shape.kind == "list":
        return Score.by(4) if any("mapping" in one for one in shape.objects) else None
    if shape.kind == "lines" and (share := shape.most("mapping")):
        return Score.by(6, share)
    if shape.kind != "dict":
        return None
    document = shape.objects[0]
    if "mapping" in document:
        return Score.by(5)
    inner = document.get("conversations")
    if not isinstance(inner, list):
        return None
    found = any(isinstance(one, dict) and "mapping" in one for one in inner)
    return Score.by(5) if found else None


def read(src: Source, tally: Tally) -> Iterator[RawThread | ReadFailure]:
    """Read the conversations of one file, one at a time."""
    with src.open() as stream:
        for number, element in enumerate(elements(stream, tally, limit=src.record_limit), start=1):
            value = element.value
            if isinstance(value, dict) and isinstance(value.get("mapping"), dict):
                yield _Conversation(value, element, src, tally).thread()
            else:
                tally.read()
                tally.drop("lost")
                yield ReadFailure(_where(value, src, number), "bad_conversation", "no mapping")


def _where(value: object, src: Source, number: int) -> str:
    native = _native_id(value) if isinstance(value, dict) else None
    return native or f"{src.name}: conversation {number}"


def _native_id(conversation: Json) -> str | None:
    for key in ("conversation_id", "id"):
        value = conversation.get(key)
        if isinstance(value, str) and value:
            return value
    return None


class _Said(NamedTuple):
    """What a message comes to: words of a role, or what its record counts as."""

    role: Role | None
    blocks: tuple[str, ...] = ()
    drop: Disposition = "empty"
    taint: Taint | None = None


class _Conversation:
    """One conversation while its tree is gone through; nothing here recurs over input."""

    def __init__(self, value: Json, element: Element, src: Source, tally: Tally) -> None:
        self.value = value
        self.element = element
        self.src = src
        self.tally = tally
        self.native_id = _native_id(value)
        self.where = self.native_id or f"{src.name}: byte {element.offset}"
        self.nodes = self._nodes()
        self.up = _parents(self.nodes)
        self.calls: list[tuple[str, int]] = []
        self.models: dict[str, None] = {}

    def thread(self) -> RawThread:
        path = self._path()
        turns = self._turns(path)
        calls = tuple(self.calls)
        main = set(path)
        for key in self.nodes:
            if key not in main:
                self.calls = []
                turns.extend(self._turn(key, alternative=True))
        commented = any(turn.final is False for turn in turns)
        return RawThread(
            source=NAME,
            native_id=self.native_id,
            turns=linked(turns, self.up),
            agent=commented,
            tree=True,
            rank=2,
            sharing="keys" if have_uuids(turns) else "none",
            titles=self._titles(),
            started_at=self._time(self.value.get("create_time")),
            ended_at=self._time(self.value.get("update_time")),
            models=tuple(self.models) or self._default_model(),
            native_ids=(self.native_id,) if self.native_id else (),
            tail_calls=calls,
            where=self.where,
        )

    def _nodes(self) -> dict[str, Json]:
        """Nodes that are objects, up to the bound; every one is a record."""
        nodes: dict[str, Json] = {}
        for key, node in self.value["mapping"].items():
            self.tally.read()
            if isinstance(node, dict) and len(nodes) < NODES:
                nodes[key] = node
            else:
                self._lose("bad_message")
        return nodes

    def _lose(self, code: str) -> None:
        self.tally.drop("lost")
        self.tally.note(code, self.where)

    def _path(self) -> list[str]:
        """Main line from its beginning; the walk cuts the first cycle it would close."""
        current = self.value.get("current_node")
        if not isinstance(current, str) or current not in self.nodes:
            current = None
        cycles = cut_cycles(self.up, [current, *self.nodes] if current else list(self.nodes))
        if cycles:
            self.tally.note("parent_cycle", self.where, cycles)
        if current is None:
            current = self._latest_leaf()
        return line(self.up, current)

    def _latest_leaf(self) -> str | None:
        """Leaf with the latest time, depth, id."""
        if not any(_message(node) for node in self.nodes.values()):
            return None
        self.tally.note("current_node", self.where)
        return newest_leaf(self.up, {key: _seconds(node) for key, node in self.nodes.items()})

    def _turns(self, path: list[str]) -> list[RawTurn]:
        return [turn for key in path for turn in self._turn(key, alternative=False)]

    def _turn(self, key: str, *, alternative: bool) -> Iterator[RawTurn]:
        """The turn of a node, if it has words; its record is disposed of otherwise."""
        message = self.nodes[key].get("message")
        if message is None:
            self.tally.drop("meta")
            return
        if not isinstance(message, dict):
            self._lose("bad_message")
            return
        said = self._said(message)
        if said.role is None:
            if said.drop == "lost":
                self.tally.note("bad_message", self.where)
            self.tally.drop(said.drop)
            return
        yield self._raw_turn(key, message, said, alternative=alternative)

    def _raw_turn(self, key: str, message: Json, said: _Said, *, alternative: bool) -> RawTurn:
        turn = RawTurn(
            role=said.role or Role.OTHER,
            blocks=said.blocks,
            key=key,
            at=self._time(message.get("create_time")),
            offset=self.element.offset,
            length=self.element.length,
            taint=said.taint,
            attachments=_attachments(message),
            alternative=alternative,
        )
        if turn.role is Role.ASSISTANT:
            turn.calls, self.calls = tuple(self.calls), []
            turn.final = message.get("channel") != "commentary"
            turn.stopped = True
            model = _metadata(message).get("model_slug")
            if isinstance(model, str) and model:
                self.models[model] = None
        return turn

    def _said(self, message: Json) -> _Said:
        """Decide by author, addressee and kind of content, in this order."""
        author = message.get("author")
        role = author.get("role") if isinstance(author, dict) else None
        if role == "system" or _metadata(message).get("is_visually_hidden_from_conversation"):
            return _Said(None, drop="injected")
        kind, blocks = _content(message)
        if role == "tool":
            return self._context(Taint.WEB if kind in _WEB else Taint.TOOL, blocks)
        if kind in _WEB:
            return self._context(Taint.WEB, blocks)
        if kind in _WITHOUT_WORDS:
            return _Said(None, drop=_WITHOUT_WORDS[kind])
        if kind not in _SPOKEN:
            self.tally.note("unknown_content", self.where)
            return _Said(None)
        if role == "user":
            return _Said(Role.HUMAN, blocks) if blocks else _Said(None)
        if role == "assistant":
            return self._answer(message, kind, blocks)
        return _Said(None, drop="lost" if blocks else "empty")

    def _answer(self, message: Json, kind: str, blocks: tuple[str, ...]) -> _Said:
        recipient = message.get("recipient")
        if isinstance(recipient, str) and recipient != "all":
            self.calls.append((recipient, 1))
            return _Said(None, drop="tool")
        if kind in {"code", "execution_output"} and recipient is None:
            return _Said(None, drop="tool")
        if message.get("channel") == "analysis":
            return _Said(None, drop="thinking")
        return _Said(Role.ASSISTANT, blocks) if blocks else _Said(None)

    def _context(self, taint: Taint, blocks: tuple[str, ...]) -> _Said:
        if self.src.keep_context and blocks:
            return _Said(Role.OTHER, blocks, taint=taint)
        return _Said(None, drop="tool")

    def _time(self, value: object) -> datetime | None:
        return timed(value, self.tally, self.where)

    def _default_model(self) -> tuple[str, ...]:
        """Newer exports name the model with the conversation alone."""
        model = self.value.get("default_model_slug")
        return (model,) if isinstance(model, str) and model else ()

    def _titles(self) -> tuple[TitleCandidate, ...]:
        title = self.value.get("title")
        if isinstance(title, str) and title.strip():
            return (TitleCandidate("native", title),)
        return ()


# --- the tree


def _parents(nodes: dict[str, Json]) -> Up:
    """Parent of each node: its own word, else that of a node which calls it a child."""
    claimed: dict[str, str] = {}
    for key, node in nodes.items():
        children = node.get("children")
        for child in children if isinstance(children, list) else ():
            if isinstance(child, str):
                claimed.setdefault(child, key)
    up: Up = {}
    for key, node in nodes.items():
        parent = node["parent"] if "parent" in node else claimed.get(key)
        up[key] = parent if isinstance(parent, str) and parent in nodes else None
    return up


# --- a message


def _message(node: Json) -> Json | None:
    message = node.get("message")
    return message if isinstance(message, dict) else None


def _seconds(node: Json) -> float:
    moment = instant((_message(node) or {}).get("create_time"))[0]
    return moment.timestamp() if moment else float("-inf")


def _metadata(message: Json) -> Json:
    metadata = message.get("metadata")
    return metadata if isinstance(metadata, dict) else {}


def _content(message: Json) -> tuple[str, tuple[str, ...]]:
    """Kind of the content and its text blocks, blank ones left out."""
    content = message.get("content")
    if isinstance(content, str):
        return "text", _filled([content])
    if not isinstance(content, dict):
        return "text", ()
    kind = content.get("content_type")
    parts = content.get("parts")
    texts = [_part_text(part) for part in parts] if isinstance(parts, list) else []
    texts.append(content.get("text"))
    texts.append(content.get("result"))
    return kind if isinstance(kind, str) else "text", _filled(texts)


def _part_text(part: object) -> object:
    if isinstance(part, dict) and part.get("content_type") in ("audio_transcription", "text"):
        return part.get("text")
    return part


def _filled(texts: list[Any]) -> tuple[str, ...]:
    return tuple(text for text in texts if isinstance(text, str) and text.strip())


def _attachments(message: Json) -> tuple[Attachment, ...]:
    """Files named in the metadata, then assets that only the content points to."""
    found = objects_of(_metadata(message).get("attachments"))
    named = " ".join(str(one.get("id")) for one in found)
    given = [
        Attachment(
            name=_text(one.get("name")),
            media_type=_text(one.get("mime_type")) or _text(one.get("mimeType")),
            size=size_of(one.get("size")),
        )
        for one in found
    ]
    content = message.get("content")
    for part in objects_of(content.get("parts")) if isinstance(content, dict) else ():
        medium = _POINTERS.get(str(part.get("content_type")))
        pointer = _text(part.get("asset_pointer"))
        if medium and not (pointer and pointer.rpartition("/")[2] in named):
            size = size_of(part.get("size_bytes"))
            given.append(Attachment(name=pointer, media_type=medium, size=size))
    return tuple(given)


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None
