"""Message trees in the way Open Assistant published its conversations.

One tree a line, or a list of them: ``message_tree_id`` and a ``prompt`` whose ``replies`` hold
replies, any number at each step. People ranked them: the lowest ``rank`` is the best and goes on
the main line, no rank comes last. Deleted messages keep their place, not their words: replies to
them count as replies to what they replied to.
"""

import math
from collections.abc import Iterator
from typing import Any, Final, NamedTuple, TypeAlias

from graphstore.model.conversation import Role
from ingest.document import elements
from ingest.jsonio import records
from ingest.model import RawThread, RawTurn, ReadFailure, Score, Source, Tally
from ingest.readers._fields import timed
from ingest.shape import look

NAME: Final = "oasst"
VERSION: Final = 1
APPENDABLE: Final = False
TIER: Final = "proven"

NODES: Final = 200_000
"""Messages of one tree; the rest is lost."""

Json: TypeAlias = dict[str, Any]

_ROLES: Final = {"prompter": Role.HUMAN, "assistant": Role.ASSISTANT}
_KNOWN: Final = frozenset({"message_tree_id", "prompt"})
_NO_KEY: Final = "\0"
"""A key that no object has: a document is one tree, or a list of them."""


def sniff(head: bytes, src: Source) -> Score | None:
    """Share of the first records that are trees."""
    del head
    shape = look(src)
    if shape.kind not in {"lines", "dict", "list"}:
        return None
    if "message_tree_id" not in shape.keys:
        return None
    matching = sum("message_tree_id" in one and _has_replies(one) for one in shape.objects)
    return Score.by(6, shape.share(matching), "e") if matching else None


def _has_replies(tree: Json) -> bool:
    prompt = tree.get("prompt")
    return isinstance(prompt, dict) and ("replies" in prompt or "text" in prompt)


class _Place(NamedTuple):
    """Where a tree stands in its carrier."""

    line: int | None
    offset: int
    length: int


def read(src: Source, tally: Tally) -> Iterator[RawThread | ReadFailure]:
    """Read the trees of one file, one at a time."""
    with src.open() as stream:
        if look(src).kind == "lines":
            for record in records(stream, tally, _KNOWN, limit=src.record_limit, parsed=src.parsed):
                place = _Place(record.line, record.offset, record.length)
                yield _tree(record.value, place, tally)
        else:
            for element in elements(stream, tally, _NO_KEY, limit=src.record_limit):
                tally.read()
                yield _tree(element.value, _Place(None, element.offset, element.length), tally)


def _tree(value: object, place: _Place, tally: Tally) -> RawThread | ReadFailure:
    prompt = value.get("prompt") if isinstance(value, dict) else None
    if not isinstance(value, dict) or not isinstance(prompt, dict):
        tally.drop("lost")
        return ReadFailure(tally.place(place.line), "bad_conversation", "no tree")
    tally.read(-1)  # the record is counted by its messages
    native = value.get("message_tree_id")
    native = native if isinstance(native, str) and native else None
    thread = RawThread(NAME, native, tree=True, where=native or tally.place(place.line))
    reading = _Reading(thread.where, place, tally)
    thread.turns = reading.turns(prompt)
    return thread


class _Node(NamedTuple):
    """A message, where its words hang, and whether it is on the main line."""

    message: Json
    parent: str | None
    main: bool


class _Reading:
    """One tree while it is gone through; nothing here recurs over input."""

    def __init__(self, where: str, place: _Place, tally: Tally) -> None:
        self.where = where
        self.place = place
        self.tally = tally
        self.count = 0

    def turns(self, prompt: Json) -> list[RawTurn]:
        turns: list[RawTurn] = []
        waiting = self._on([prompt], None, main=True)
        while waiting:
            node = waiting.pop()
            turn = self._turn(node)
            turns.append(turn)
            replies = self._on(node.message.get("replies"), turn.key or node.parent, main=node.main)
            waiting.extend(replies)
        return turns

    def _on(self, replies: object, parent: str | None, *, main: bool) -> list[_Node]:
        """Replies that go on from a message, the best last; deleted ones by their own replies."""
        live: list[Json] = []
        waiting = [replies]
        while waiting:
            listed = waiting.pop()
            for one in listed if isinstance(listed, list) else ():
                if self._is_there(one):
                    live.append(one)
                elif isinstance(one, dict):
                    waiting.append(one.get("replies"))
        live.sort(key=_rank)
        nodes = [_Node(one, parent, main and not place) for place, one in enumerate(live)]
        return nodes[::-1]

    def _is_there(self, message: object) -> bool:
        """Whether it is a message that still has its words; counts it."""
        self.tally.read()
        self.count += 1
        if not isinstance(message, dict) or self.count > NODES:
            self.tally.drop("lost")
            self.tally.note("bad_message", self.where)
        elif message.get("deleted") is True:
            self.tally.drop("empty")
        elif not isinstance(message.get("text"), str) or _role(message) is None:
            self.tally.drop("lost")
            self.tally.note("bad_message", self.where)
        else:
            return True
        return False

    def _turn(self, node: _Node) -> RawTurn:
        message = node.message
        key = message.get("message_id")
        return RawTurn(
            role=_role(message) or Role.OTHER,
            blocks=(message["text"],),
            key=key if isinstance(key, str) and key else None,
            parent=node.parent,
            at=timed(message.get("created_date"), self.tally, self.where),
            line=self.place.line,
            offset=self.place.offset,
            length=self.place.length,
            alternative=not node.main,
        )


def _role(message: Json) -> Role | None:
    role = message.get("role")
    return _ROLES.get(role) if isinstance(role, str) else None


def _rank(message: Json) -> float:
    rank = message.get("rank")
    if not isinstance(rank, int | float) or isinstance(rank, bool) or not rank <= math.inf:
        return math.inf  # "not a number" is not below anything
    return rank
