"""Open WebUI exports: a list of chats, each with a tree of messages under ``chat.history``.

Seen: descriptions and importers of exports from 2024 to 2026; no real file yet. ``currentId``
names the end of the main line, siblings hang beside it. Reasoning, tool calls and code runs are
written into the answer as ``<details type="...">`` blocks. Chats from before the tree have a
plain list ``chat.messages``. Times are seconds in messages, seconds or nanoseconds in chats. A
chat that was never saved has no id: its own is made from its words.
"""

from collections.abc import Iterator
from datetime import datetime
from typing import Any, Final, TypeAlias

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
from ingest.readers._fields import objects_of, size_of, timed, written
from ingest.readers._openwebui_words import Said, answer, texts
from ingest.readers._tree import Up, cut_cycles, have_uuids, line, linked, newest_leaf
from ingest.shape import look

NAME: Final = "openwebui"
VERSION: Final = 1
APPENDABLE: Final = False
TIER: Final = "unproven"

MESSAGES: Final = 200_000
"""Messages of one chat; the rest is lost."""

Json: TypeAlias = dict[str, Any]

_ROLES: Final = {"user": Role.HUMAN, "assistant": Role.ASSISTANT}
_SILENT: Final[dict[str, Disposition]] = {"system": "injected", "tool": "tool"}
_CURRENT: Final = ("currentId", "current_id")


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
    chats = inner if isinstance(inner, list) else [document]
    found = any(isinstance(one, dict) and _is_chat(one) for one in chats)
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
        for number, element in enumerate(elements(stream, tally, limit=src.record_limit), start=1):
            value = element.value
            messages = _messages(value) if isinstance(value, dict) else None
            if isinstance(value, dict) and messages is not None:
                yield _Chat(value, messages, element, src, tally).thread()
                continue
            tally.read()
            tally.drop("lost")
            native = written(value, "id") if isinstance(value, dict) else None
            where = native or f"{src.name}: conversation {number}"
            yield ReadFailure(where, "bad_conversation", "no messages")


def _messages(value: Json) -> list[tuple[str, object]] | None:
    """Messages with their keys: of the tree, else of the plain list; none if there is neither."""
    chat = value.get("chat")
    if not isinstance(chat, dict):
        return None
    history = chat.get("history")
    tree = history.get("messages") if isinstance(history, dict) else None
    if isinstance(tree, dict) and (tree or not chat.get("messages")):
        return list(tree.items())
    plain = chat.get("messages")
    if plain is None and tree is None:
        return []
    if not isinstance(plain, list):
        return None
    return [(_key(one, place), one) for place, one in enumerate(plain, start=1)]


def _key(message: object, place: int) -> str:
    named = written(message, "id") if isinstance(message, dict) else None
    return named or f"#{place}"


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
        self.src = src
        self.tally = tally
        self.native_id = written(value, "id") or written(self.chat, "id")
        self.where = self.native_id or f"{src.name}: byte {element.offset}"
        self.nodes = self._nodes(messages)
        self.is_tree = any("parentId" in node for node in self.nodes.values())
        self.up = self._parents()
        self.sides: dict[str, int] = {}
        """Side turns so far, by message."""
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
            turns=linked(turns, self.up),
            tree=self.is_tree,
            rank=2,
            sharing="keys" if have_uuids(turns) else "none",
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
        """Parent of each message: its own word, else that of one which calls it a child."""
        if not self.is_tree:
            keys = list(self.nodes)
            return dict(zip(keys, [None, *keys], strict=False))
        up: Up = {}
        claimed = self._claimed()
        for key, node in self.nodes.items():
            named = written(node, "parentId")
            up[key] = named if named in self.nodes else claimed.get(key)
            if named is not None and named not in self.nodes:
                self.tally.note("orphan_parent", self.where)
        return up

    def _claimed(self) -> dict[str, str]:
        """By message, the first that names it as its child; some are linked from above only."""
        claimed: dict[str, str] = {}
        for key, node in self.nodes.items():
            children = node.get("childrenIds")
            for child in children if isinstance(children, list) else ():
                if isinstance(child, str) and child != key:
                    claimed.setdefault(child, key)
        return claimed

    def _path(self) -> list[str]:
        """Main line from its beginning; the walk cuts the first cycle it would close."""
        current = self._current()
        starts = [current] if current is not None else []
        if cycles := cut_cycles(self.up, [*starts, *self.nodes]):
            self.tally.note("parent_cycle", self.where, cycles)
        if current is None:
            inner = set(self.up.values())
            up = {key: above for key, above in self.up.items() if not self._is_stray(key, inner)}
            current = newest_leaf(up, {key: _seconds(self.nodes[key]) for key in up})
            if current is not None and self.is_tree:
                self.tally.note("current_node", self.where)
        return line(self.up, current)

    def _is_stray(self, key: str, inner: set[str | None]) -> bool:
        """Whether a message has neither a speaker nor a link to any other."""
        spoken = written(self.nodes[key], "role") in _ROLES
        return self.is_tree and not spoken and self.up[key] is None and key not in inner

    def _current(self) -> str | None:
        history = self.chat.get("history")
        if not isinstance(history, dict):
            return None
        named = next((one for key in _CURRENT if (one := written(history, key))), None)
        return named if named in self.nodes and written(self.nodes[named], "role") else None

    # --- messages

    def _turns(self, key: str, *, alternative: bool) -> Iterator[RawTurn]:
        """Side turns of a message, then its own; silent ones are counted."""
        message = self.nodes[key]
        sender = written(message, "role") or ""
        role = _ROLES.get(sender)
        if role is None:
            given = list(self._without_role(key, message, sender))
        else:
            words = "\n\n".join(texts(message))
            said = Said(words) if role is Role.HUMAN else answer(message)
            self.calls.extend(said.calls)
            given = [*self._files(key, message), *self._given(key, message, said.results)]
            if said.text.strip():
                given.append(self._own(key, message, role, said.text))
            elif given:
                given[-1].records = 1
            else:
                self.tally.drop("tool" if said.calls else "thinking" if said.thought else "empty")
        for turn in given:
            turn.alternative = alternative
            yield turn

    def _without_role(self, key: str, message: Json, sender: str) -> Iterator[RawTurn]:
        """A message that nobody spoke; what a tool gave may be wanted."""
        told = [text for text in texts(message) if text.strip()]
        if sender == "tool" and told and self.src.keep_context:
            turn = self._turn(Role.OTHER, tuple(told), key, message)
            turn.taint, turn.records = Taint.TOOL, 1
            yield turn
        elif sender in _SILENT:
            self.tally.drop(_SILENT[sender])
        elif told:
            self._lose()
        else:
            self.tally.drop("empty")

    def _own(self, key: str, message: Json, role: Role, text: str) -> RawTurn:
        turn = self._turn(role, (text,), key, message)
        turn.records = 1
        turn.attachments = tuple(_files(message))
        if role is Role.ASSISTANT:
            turn.calls, self.calls = tuple(self.calls), []
            turn.stopped = message.get("done") is not False
            if model := written(message, "model"):
                self.models[model] = None
        return turn

    def _files(self, key: str, message: Json) -> Iterator[RawTurn]:
        """Extracted text of attached files."""
        for one in objects_of(message.get("files")):
            if (text := _extracted(one)) is not None:
                turn = self._above(key, message, text)
                turn.attachments = (_attachment(one),)
                yield turn

    def _given(self, key: str, message: Json, results: tuple[str, ...]) -> Iterator[RawTurn]:
        """What tools gave, if the owner wants it."""
        for text in results if self.src.keep_context else ():
            turn = self._above(key, message, text)
            turn.taint = Taint.TOOL
            yield turn

    def _above(self, key: str, message: Json, text: str) -> RawTurn:
        """A side turn between a message and the one above it."""
        side = key
        while side in self.up:
            self.sides[key] = self.sides.get(key, 0) + 1
            side = f"{key}#{self.sides[key]}"
        self.up[side], self.up[key] = self.up[key], side
        return self._turn(Role.OTHER, (text,), side, message)

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
        return timed(value, self.tally, self.where)

    def _titles(self) -> tuple[TitleCandidate, ...]:
        title = written(self.value, "title") or written(self.chat, "title")
        return (TitleCandidate("native", title),) if title else ()

    def _chosen_models(self) -> tuple[str, ...]:
        """Models chosen for the chat, where no answer names its own."""
        listed = self.chat.get("models")
        models = listed if isinstance(listed, list) else ()
        return tuple(one for one in models if isinstance(one, str) and one)


# --- values


def _seconds(message: Json) -> float:
    """When it was said; what has no role was never said and ends no line."""
    moment = instant(message.get("timestamp"))[0] if written(message, "role") else None
    return moment.timestamp() if moment else float("-inf")


def _inner(one: Json) -> Json:
    """The file itself, which newer versions put one level down."""
    inner = one.get("file")
    return inner if isinstance(inner, dict) else {}


def _extracted(one: Json) -> str | None:
    data = _inner(one).get("data")
    return written(data, "content") if isinstance(data, dict) else None


def _files(message: Json) -> Iterator[Attachment]:
    """Files and images of a message whose text is not given."""
    for one in objects_of(message.get("files")):
        if _extracted(one) is None:
            yield _attachment(one)
    for part in objects_of(message.get("content")):
        if part.get("type") == "image_url":
            yield Attachment(media_type="image")


def _attachment(one: Json) -> Attachment:
    inner = _inner(one)
    meta = inner.get("meta")
    meta = meta if isinstance(meta, dict) else {}
    named = (written(one, "name"), written(inner, "filename"), written(meta, "name"))
    size = size_of(one.get("size"))
    kind = written(meta, "content_type") or written(one, "content_type") or written(one, "type")
    return Attachment(
        name=next((each for each in named if each), None),
        media_type=kind,
        size=size_of(meta.get("size")) if size is None else size,
    )
