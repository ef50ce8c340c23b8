"""Captures of a terminal: what was on the screen of Claude Code, copied into a text file.

Seen: captures from March to July 2025 kept as day logs. A prompt begins with ``> `` in the first
column, an answer with a dot (``⏺``); both go on in lines that are indented by two. A dot before
``Name(`` is a tool call, ``⎿`` its result, a star the thinking. Frames, spinners, the figures of
a session's end and remarks between the sessions are no words of the conversation. There are no
ids and no times; one file is one thread.
"""

import re
from collections.abc import Iterator
from typing import Final, Literal, TypeAlias

from graphstore.model.conversation import Event, Role, Taint
from ingest.model import RawThread, RawTurn, ReadFailure, Score, Source, Tally
from ingest.rows import Row, rows
from ingest.shape import look

NAME: Final = "capture"
VERSION: Final = 1
APPENDABLE: Final = False
TIER: Final = "proven"

_Kind: TypeAlias = Literal["human", "assistant", "tool", "thinking", "meta"]

_PROMPT: Final = re.compile(r"[>\u276f] (?=\s*\S)")
_DOT: Final = re.compile(r"[⏺●] (?=\s*\S)")
_RESULT: Final = re.compile(r"\s{0,4}⎿")
_STAR: Final = re.compile(r"[✻✢✽✶✳∴]\s+Thinking\b|[✻✢✽✶✳∴] (?!\s)")
_SHELL: Final = re.compile(r"! \S")
_FRAME: Final = re.compile(r"[\u2500-\u257f\s]+")
"""Lines that are drawn, not written."""
_CALL: Final = re.compile(
    r"(?P<name>[A-Z][A-Za-z]*(?: [A-Z][A-Za-z]*){0,2}"
    r"|\w[\w.-]*(?::[\w.-]+| - [\w.-]+) \(MCP\)|mcp__\w+)"
    r"\((?P<given>.*)",
    re.DOTALL,
)
_LABEL: Final = re.compile(r"[A-Z]\S*(?: \S+){0,4}")
"""A tool without brackets: a few words, and a result right below."""
_READS_OR_EDITS: Final = frozenset({"Read", "Write", "Edit", "MultiEdit", "Update", "Create"})
_PATH: Final = re.compile(r'(?:(?:file_)?path: )?"?(?P<path>[^"(),\n…]+?)"?(?:, [^()]*)?\)')
_STATUS: Final = re.compile(r"(?<!\s)\s{8,}Cost: \$[\d.]+ \([^()]*\)\s*$")
"""What the tool writes at the right edge of a line."""
_COMPACTED: Final = re.compile(r"=+ Previous Conversation Compacted\b.*")
_INDENT: Final = "  "
_HARD_SPACE: Final = "\xa0"


def sniff(head: bytes, src: Source) -> Score | None:
    """Prompts and dots at the beginning of lines, together; a plain bullet alone is no dot."""
    del head
    shape = look(src)
    if shape.kind != "text":
        return None
    lines = shape.text.replace(_HARD_SPACE, " ").split("\n")
    prompted = any(_PROMPT.match(line) for line in lines)
    dotted = any(_DOT.match(line) for line in lines)
    drawn = any(line.startswith("⏺") or _RESULT.match(line) for line in lines)
    return Score.by(8, 1.0, "d") if prompted and dotted and drawn else None


def read(src: Source, tally: Tally) -> Iterator[RawThread | ReadFailure]:
    """Read a file as one thread."""
    thread = RawThread(
        NAME, None, agent=True, growing=True, rank=3, slash_commands=True, where=src.name
    )
    with src.open() as stream:
        blocks = list(_blocks(rows(stream, tally, limit=src.record_limit)))
    if not any(block.kind in ("human", "assistant") for block in blocks):
        for block in blocks:
            tally.read()
            tally.drop(_disposition(block))
        yield ReadFailure(src.name, "no_conversation", "no prompt and no answer")
        return
    _Capture(thread, src, tally).add(blocks)
    yield thread


class _Block:
    """Lines that belong together, and whose they are."""

    def __init__(self, kind: _Kind, row: Row) -> None:
        self.kind: _Kind = kind
        self.rows = [row]
        self.has_result = False

    def text(self) -> str:
        """Words without marks, indents and frames."""
        first, *others = self.rows
        lines = [first.text[2:], *(_outdented(row.text) for row in others)]
        kept = (_STATUS.sub("", line).rstrip() for line in lines if not _is_frame(line))
        return "\n".join(kept).strip()


def _outdented(text: str) -> str:
    return text[2:] if text[:2].replace(_HARD_SPACE, " ") == _INDENT else text


def _is_frame(text: str) -> bool:
    return bool(text.strip()) and _FRAME.fullmatch(text) is not None


def _blocks(lines: Iterator[Row]) -> Iterator[_Block]:
    """Split at marks in the first column; what is indented goes on with what it stands under."""
    block: _Block | None = None
    for row in lines:
        text = row.text.replace(_HARD_SPACE, " ")
        kind = _begins(text)
        if kind is None and block is not None and _goes_on(text, block):
            block.rows.append(row)
            continue
        if kind == "tool" and block is not None and _RESULT.match(text):
            if block.kind == "assistant" and _is_label(block):
                block.kind = "tool"
            if block.kind == "tool":
                block.has_result = True
                block.rows.append(row)
                continue
        if kind is None and not text.strip():
            continue
        if block is not None:
            yield block
        block = _Block(kind or "meta", row)
    if block is not None:
        yield block


def _begins(text: str) -> _Kind | None:
    """What a line begins by its mark, if it has one."""
    if _PROMPT.match(text):
        return "human"
    if _DOT.match(text):
        return "tool" if _CALL.match(text[2:].lstrip()) else "assistant"
    if _RESULT.match(text) or _SHELL.match(text):
        return "tool"
    return "thinking" if _STAR.match(text) else None


def _goes_on(text: str, block: _Block) -> bool:
    """Whether a line without a mark belongs to the block above it."""
    if block.kind == "meta":
        return not text.startswith(_INDENT) or not text.strip()
    return not text.strip() or text.startswith(_INDENT)


def _is_label(block: _Block) -> bool:
    """Whether all that was written is the name of a tool, as ``Update Todos``."""
    text = block.text()
    return _LABEL.fullmatch(text) is not None and not text.endswith((".", "?", "!"))


class _Capture:
    """The thread of one file while its blocks are gone through."""

    def __init__(self, thread: RawThread, src: Source, tally: Tally) -> None:
        self.thread = thread
        self.src = src
        self.tally = tally
        self.calls: list[tuple[str, int]] = []
        self.touched: list[str] = []
        self.spoken: RawTurn | None = None

    def add(self, blocks: list[_Block]) -> None:
        """Take in the blocks of the file, each a record."""
        for block in blocks:
            self.tally.read()
            if block.kind in ("human", "assistant"):
                self._words(block)
            elif block.kind == "tool":
                self._tool(block)
            else:
                self._event(block)
                self.tally.drop(_disposition(block))
        self.thread.tail_calls = tuple(self.calls)

    def _words(self, block: _Block) -> None:
        role = Role.HUMAN if block.kind == "human" else Role.ASSISTANT
        turn = _turn(block, role)
        turn.stopped = True
        self.spoken = None
        if role is Role.ASSISTANT:
            turn.calls, self.calls = tuple(self.calls), []
            turn.touched, self.touched = tuple(self.touched), []
            self.spoken = turn
        self.thread.turns.append(turn)

    def _tool(self, block: _Block) -> None:
        """A call counts with the next answer; a result alone belongs to a prompt or nothing."""
        called = _DOT.match(block.rows[0].text.replace(_HARD_SPACE, " ")) is not None
        if called:
            self._called(block)
        if self.src.keep_context:
            turn = _turn(block, Role.OTHER)
            turn.taint = Taint.TOOL
            self.thread.turns.append(turn)
        else:
            self.tally.drop("tool")

    def _called(self, block: _Block) -> None:
        if self.spoken is not None:
            self.spoken.calls_tool = True
        self.spoken = None
        first = block.rows[0].text[2:].strip()
        call = _CALL.match(first)
        name = call["name"] if call else first
        self.calls.append((name, 1))
        path = _PATH.match(call["given"]) if call and name in _READS_OR_EDITS else None
        if path is not None:
            self.touched.append(path["path"])

    def _event(self, block: _Block) -> None:
        if any(_COMPACTED.match(row.text) for row in block.rows):
            self.thread.events = (*self.thread.events, Event(kind="compaction"))


def _turn(block: _Block, role: Role) -> RawTurn:
    first, last = block.rows[0], block.rows[-1]
    return RawTurn(
        role=role,
        blocks=(block.text(),),
        line=first.number,
        offset=first.offset,
        length=last.end - first.offset,
    )


def _disposition(block: _Block) -> Literal["tool", "thinking", "meta"]:
    return block.kind if block.kind in ("tool", "thinking") else "meta"
