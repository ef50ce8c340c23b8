"""Threads and turns as the ledger keeps them: what was said, and where it stands."""

from enum import StrEnum
from typing import Literal

from graphstore.ids import ref
from graphstore.model.base import Instant, Value


class Role(StrEnum):
    """Who speaks. ``other`` is a side turn: context and search only, never a premise."""

    HUMAN = "human"
    ASSISTANT = "assistant"
    OTHER = "other"


class Taint(StrEnum):
    """Where the words come from; only human and assistant words can be premises."""

    HUMAN = "human"
    ASSISTANT = "assistant"
    TOOL = "tool"
    WEB = "web"
    OTHER = "other"


class Anchor(Value):
    """The bytes a turn was read from."""

    file: str
    """Path of the carrier; ``archive.zip!member`` for a zip member."""
    line: int | None = None
    """1-based line of the record, where the carrier has lines."""
    offset: int | None = None
    """Byte offset of the record in the carrier."""
    length: int | None = None
    """Length of the record in bytes."""


class Attachment(Value):
    """A file, image or sound of a turn; its bytes are never stored."""

    name: str | None = None
    media_type: str | None = None
    size: int | None = None
    """Bytes."""
    content_hash: str | None = None
    """BLAKE2b-128 of the bytes, where they were at hand."""


class ToolCount(Value):
    """How often one tool was called for one answer."""

    name: str
    count: int


class ToolUse(Value):
    """Tool traffic that an answer rests on: names, counts and touched paths, no payloads."""

    counts: tuple[ToolCount, ...] = ()
    """Sorted by name."""
    touched: tuple[str, ...] = ()
    """Paths read or edited, relative to the project root, sorted."""


class Masked(Value):
    """One secret that was replaced by ``[masked:<kind>]``."""

    kind: str
    offset: int
    """Characters from the start of the masked text."""
    keyed_hash: str | None = None
    """BLAKE2b-128 keyed with the store's salt; never exported."""


class Turn(Value):
    """One stored turn. Numbers are assigned at first ingest and never reused."""

    number: int
    role: Role
    taint: Taint
    text: str
    """After text safety, cleaning and masking."""
    fingerprint: str
    native_key: str | None = None
    """Id of the message in its source."""
    at: Instant | None = None
    speaker: str | None = None
    interim: bool = False
    """Said on the way to a tool call, kept because it is long."""
    attachments: tuple[Attachment, ...] = ()
    links: tuple[str, ...] = ()
    """Wikilinks, URLs, tags of a human turn or note, as written."""
    tools: ToolUse = ToolUse()
    masked: tuple[Masked, ...] = ()
    anchor: Anchor | None = None
    superseded_by: int | None = None
    """Number of the turn that replaced this one in a later export."""
    source_gone: bool = False
    """The carrier no longer holds it."""


class Event(Value):
    """Something that happened to a thread without being said: a compaction, a rollback."""

    kind: str
    at: Instant | None = None
    detail: str | None = None


class LineageKind(StrEnum):
    CONTINUES = "continues"
    FORKED_FROM = "forked_from"
    SUBAGENT_OF = "subagent_of"
    DUPLICATE_OF = "duplicate_of"


class LineageLink(Value):
    """How a thread descends from another one of the same source."""

    kind: LineageKind
    parent: str
    """Thread id; it may not be in the store yet."""
    split_turn: int | None = None
    """Last shared turn, or the human turn that spawned a subagent."""


class ThreadState(StrEnum):
    LIVE = "live"
    CLOSED = "closed"


class Thread(Value):
    """One conversation, assembled: its head and all its stored turns.

    A child of a fork or resume stores only its own turns; numbers up to ``split_turn``
    of its lineage resolve to the parent's.
    """

    thread_id: str
    source: str
    native_id: str
    title: str | None = None
    project: str | None = None
    participants: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    native_ids: tuple[str, ...] = ()
    """Every native id seen in its carriers."""
    started_at: Instant | None = None
    ended_at: Instant | None = None
    flags: tuple[str, ...] = ()
    """``unmasked``, ``naive_time``, ``unsure_project``."""
    state: ThreadState = ThreadState.CLOSED
    events: tuple[Event, ...] = ()
    lineage: tuple[LineageLink, ...] = ()
    turns: tuple[Turn, ...] = ()
    """By number."""
    path: tuple[int, ...] = ()
    """Numbers of the main line in reading order, side turns included."""

    def ref(self, turn: int) -> str:
        """SourceRef string of one of its turns."""
        return ref(self.thread_id, turn)

    def on_path(self) -> tuple[Turn, ...]:
        """Its own stored turns on the main line, in reading order."""
        by_number = {turn.number: turn for turn in self.turns}
        return tuple(by_number[number] for number in self.path if number in by_number)

    def clean(self) -> tuple[Turn, ...]:
        """Human and assistant turns on the main line: what claims may rest on."""
        return tuple(turn for turn in self.on_path() if turn.role is not Role.OTHER)


class Committed(Value):
    """A record was appended."""

    outcome: Literal["committed"] = "committed"
    seq: int


class Unchanged(Value):
    """The record says nothing new; nothing was appended."""

    outcome: Literal["unchanged"] = "unchanged"
