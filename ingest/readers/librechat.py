"""LibreChat exports: one conversation, its messages nested in one another or in a flat list.

Seen: the code that writes and reads exports, 2023 to 2026; no real file yet. A message names
the one before it as ``parentMessageId``, all zeros for the first; with ``recursive`` its
answers are its ``children``. Nothing says which branch was shown last: it is the newest. The
words are ``text``, or parts of ``content`` in newer versions. Times are ISO 8601.
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
from ingest.readers._fields import objects_of, size_of, timed, written
from ingest.readers._tree import Up, cut_cycles, have_uuids, line, linked, newest_leaf
from ingest.shape import look

NAME: Final = "librechat"
VERSION: Final = 1
APPENDABLE: Final = False
TIER: Final = "unproven"

MESSAGES: Final = 200_000
"""Messages of one conversation; the rest is lost."""

Json: TypeAlias = dict[str, Any]

_NO_PARENT: Final = re.compile(r"[0-]*")
_LISTS: Final = ("messagesTree", "messages")
_FILES: Final = ("files", "attachments")
_NO_KEY: Final = "\0"
"""A key that no object has: a document is one conversation, or a list of them."""
_THOUGHTS: Final = re.compile(r"\s*:::thinking\s*\n.*?\n\s*:::[ \t]*(?:\n|\Z)", re.DOTALL)
_PEOPLE: Final = frozenset({"user", "you"})


def sniff(head: bytes, src: Source) -> Score | None:
    """An object with ``conversationId`` and messages, in a list or in a tree."""
    del head
    shape = look(src)
    if shape.kind != "dict" or "conversationId" not in shape.objects[0]:
        return None
    found = any(key in shape.objects[0] for key in _LISTS)
    return Score.by(5, 1.0, "f") if found else None


def read(src: Source, tally: Tally) -> Iterator[RawThread | ReadFailure]:
    """Read the conversation of a file; several after one another too."""
    with src.open() as stream:
        for number, element in enumerate(
            elements(stream, tally, _NO_KEY, limit=src.record_limit), start=1
        ):
            value = element.value
            listed = _messages(value) if isinstance(value, dict) else None
            if isinstance(value, dict) and listed is not None:
                yield _Conversation(value, listed, element, src, tally).thread()
                continue
            tally.read()
            tally.drop("lost")
            native = written(value, "conversationId") if isinstance(value, dict) else None
            where = native or f"{src.name}: conversation {number}"
            yield ReadFailure(where, "bad_conversation", "no messages")


def _messages(value: Json) -> list[Any] | None:
    """The messages of a conversation; one alone may stand without a list, none may be null."""
    for key in _LISTS:
        listed = value.get(key)
        if isinstance(listed, list):
            return listed
        if isinstance(listed, dict):
            return [listed]
    return [] if any(key in value and value[key] is None for key in _LISTS) else None


class _Said(NamedTuple):
    """What a message comes to."""

    blocks: tuple[str, ...]
    calls: tuple[tuple[str, int], ...] = ()
    results: tuple[str, ...] = ()
    """What the tools gave."""
    attachments: tuple[Attachment, ...] = ()
    thought: bool = False

    @property
    def why_silent(self) -> Disposition:
        """What a message without words counts as."""
        return "tool" if self.calls else "thinking" if self.thought else "empty"


class _Conversation:
    """One conversation while its tree is gone through; nothing here recurs over input."""

    def __init__(
        self, value: Json, listed: list[Any], element: Element, src: Source, tally: Tally
    ) -> None:
        self.value = value
        self.element = element
        self.src = src
        self.tally = tally
        self.native_id = written(value, "conversationId")
        self.where = self.native_id or f"{src.name}: byte {element.offset}"
        self.nodes: dict[str, Json] = {}
        self.up: Up = {}
        self.named: dict[str, str] = {}
        self.nested: set[str] = set()
        self._take(listed)
        self._resolve()
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
        title = written(self.value, "title")
        return RawThread(
            source=NAME,
            native_id=self.native_id,
            turns=linked(turns, self.up),
            tree=bool(self.nested or self.named),
            rank=2,
            sharing="keys" if have_uuids(turns) else "none",
            titles=(TitleCandidate("native", title),) if title else (),
            started_at=self._time(self.value.get("createdAt")),
            ended_at=self._time(self.value.get("updatedAt")),
            models=tuple(self.models) or self._chosen_model(),
            native_ids=(self.native_id,) if self.native_id else (),
            tail_calls=calls,
            where=self.where,
        )

    # --- the tree

    def _take(self, listed: list[Any]) -> None:
        """All messages, those before their children, each a record; up to the bound."""
        waiting: list[tuple[str | None, bool, Any]] = [(None, False, one) for one in listed[::-1]]
        before: str | None = None
        while waiting:
            above, is_nested, message = waiting.pop()
            self.tally.read()
            if not isinstance(message, dict) or len(self.nodes) >= MESSAGES:
                self._lose()
                continue
            key = self._keep(message)
            if key is None:
                continue
            self.up[key] = above if is_nested else before
            if is_nested:
                self.nested.add(key)
            if "parentMessageId" in message:
                self.named[key] = written(message, "parentMessageId") or ""
            before = key
            children = message.get("children")
            if isinstance(children, list):
                waiting.extend((key, True, one) for one in children[::-1])

    def _keep(self, message: Json) -> str | None:
        """Key of a message that is new; a copy is counted, another one gets a key of its own."""
        key = written(message, "messageId") or f"#{len(self.nodes) + 1}"
        same = self.nodes.get(key)
        if same is not None and _words(same) == _words(message):
            self.tally.drop("duplicate")
            self.tally.note("duplicate_record", self.where)
            return None
        while key in self.nodes:
            self.tally.note("duplicate_uuid", self.where)
            key = f"{key}#{len(self.nodes) + 1}"
        self.nodes[key] = message
        return key

    def _resolve(self) -> None:
        """A parent by name; one that is not here leaves the message where it stands."""
        for key, parent in self.named.items():
            if parent in self.nodes:
                self.up[key] = parent
            elif key in self.nested:
                continue
            elif _NO_PARENT.fullmatch(parent):
                self.up[key] = None
            else:
                self.tally.note("orphan_parent", self.where)

    def _path(self) -> list[str]:
        """Main line from its beginning to the newest leaf."""
        if cycles := cut_cycles(self.up, self.nodes):
            self.tally.note("parent_cycle", self.where, cycles)
        times = {key: _seconds(node) for key, node in self.nodes.items()}
        return line(self.up, newest_leaf(self.up, times))

    # --- messages

    def _turns(self, key: str, *, alternative: bool) -> Iterator[RawTurn]:
        """Side turns of a message, then its own; its record is disposed of if there are none."""
        message = self.nodes[key]
        if message.get("error") is True:
            self.tally.drop("meta")
            return
        role = _role(message)
        said = self._said(message, role)
        self.calls.extend(said.calls)
        given = list(self._given(key, message, said)) if self.src.keep_context else []
        if said.blocks:
            given.append(self._own(key, message, role, said))
        elif given:
            given[-1].records = 1
        else:
            self.tally.drop(said.why_silent)
        for turn in given:
            turn.alternative = alternative
            yield turn

    def _own(self, key: str, message: Json, role: Role, said: _Said) -> RawTurn:
        turn = self._turn(role, said.blocks, key, message)
        turn.records = 1
        turn.attachments = said.attachments
        if role is Role.ASSISTANT:
            turn.calls, self.calls = tuple(self.calls), []
            turn.stopped = message.get("unfinished") is not True
            if model := written(message, "model"):
                self.models[model] = None
        return turn

    def _given(self, key: str, message: Json, said: _Said) -> Iterator[RawTurn]:
        """What tools gave, between a message and the one above it."""
        for number, text in enumerate(said.results, start=1):
            side = f"{key}#{number}"
            if side not in self.up:
                self.up[side], self.up[key] = self.up[key], side
            turn = self._turn(Role.OTHER, (text,), side, message)
            turn.taint = Taint.TOOL
            yield turn

    def _turn(self, role: Role, blocks: tuple[str, ...], key: str, message: Json) -> RawTurn:
        return RawTurn(
            role=role,
            blocks=blocks,
            key=key,
            at=self._time(message.get("createdAt")),
            offset=self.element.offset,
            length=self.element.length,
            records=0,
        )

    def _said(self, message: Json, role: Role) -> _Said:
        """Words of ``text``, else of the parts; calls and files of both."""
        texts: list[str] = []
        calls: list[tuple[str, int]] = []
        results: list[str] = []
        files = [_file(one) for key in _FILES for one in objects_of(message.get(key))]
        thought = False
        for part in objects_of(message.get("content")):
            kind = part.get("type")
            if kind == "text":
                texts.append(_value(part.get("text")))
            elif kind == "think":
                thought = True
            elif kind == "tool_call":
                calls.append((_tool(part), 1))
                results.extend(_output(part))
            elif kind in ("image_file", "image_url"):
                files.append(Attachment(media_type="image"))
            elif kind not in ("error", "agent_update"):
                self.tally.note("unknown_content", self.where)
        words = _words(message)
        if role is Role.ASSISTANT:
            spoken = _THOUGHTS.sub("", words, count=1) if _THOUGHTS.match(words) else words
            thought = thought or spoken != words
            words = spoken
        blocks = [words] if words.strip() else [one for one in texts if one.strip()]
        return _Said(tuple(blocks), tuple(calls), tuple(results), tuple(files), thought)

    def _lose(self) -> None:
        self.tally.drop("lost")
        self.tally.note("bad_message", self.where)

    def _time(self, value: object) -> datetime | None:
        return timed(value, self.tally, self.where)

    def _chosen_model(self) -> tuple[str, ...]:
        """The model chosen for the conversation, where no answer names its own."""
        options = self.value.get("options")
        model = written(options, "model") if isinstance(options, dict) else None
        return (model,) if model else ()


# --- a message


def _words(message: Json) -> str:
    return written(message, "text") or ""


def _value(part: object) -> str:
    """Text of a part, which assistants of one kind wrap once more."""
    found = part.get("value") if isinstance(part, dict) else part
    return found if isinstance(found, str) else ""


def _role(message: Json) -> Role:
    """Who made it; without the mark, by the name of the sender."""
    mine = message.get("isCreatedByUser")
    if not isinstance(mine, bool):
        mine = (written(message, "sender") or "").strip().lower() in _PEOPLE
    return Role.HUMAN if mine else Role.ASSISTANT


def _tool(part: Json) -> str:
    call = part.get("tool_call")
    if not isinstance(call, dict):
        return "unnamed"
    function = call.get("function")
    inner = written(function, "name") if isinstance(function, dict) else None
    return written(call, "name") or inner or written(call, "type") or "unnamed"


def _output(part: Json) -> Iterator[str]:
    call = part.get("tool_call")
    told = written(call, "output") if isinstance(call, dict) else None
    if told is not None:
        yield told


def _file(one: Json) -> Attachment:
    return Attachment(
        name=written(one, "filename"),
        media_type=written(one, "type"),
        size=size_of(one.get("bytes")),
    )


def _seconds(message: Json) -> float:
    moment = instant(message.get("createdAt"))[0]
    return moment.timestamp() if moment else float("-inf")
