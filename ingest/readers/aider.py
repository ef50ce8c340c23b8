"""Aider histories: ``.aider.chat.history.md``, all runs of the tool in one Markdown file.

Seen: versions 0.20 to 0.86. A run begins with ``# aider chat started at <local time>``; lines
of a prompt begin with four number signs, lines of the program's own output with ``>``, and the
rest is the model's answer. Times are those of the runs only and name no zone. Models leave
code fences open, so a fence never hides a header and only some prompts.
"""

import re
from collections.abc import Iterator
from datetime import datetime
from pathlib import PurePosixPath
from typing import Final, Literal, NamedTuple, TypeAlias

from graphstore.ids import digest
from graphstore.model.conversation import Role, Taint
from ingest.instants import instant
from ingest.model import RawThread, RawTurn, ReadFailure, Score, Source, Tally
from ingest.rows import Fence, Row, rows
from ingest.shape import decode, look

NAME: Final = "aider"
VERSION: Final = 1
APPENDABLE: Final = True
TIER: Final = "proven"

_HISTORY: Final = ".aider.chat.history.md"
_HEADER: Final = re.compile(r"# aider chat started at (\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)[ \t]*")
_HEADERS: Final = re.compile(rf"^{_HEADER.pattern}\r?$", re.MULTILINE)
_PROMPT: Final = "#### "
_BLANK: Final = "<blank>"
_BREAK: Final = "  "
_FAR: Final = 1024 * 1024
"""Bytes looked at for a header in a file with the tool's own name."""
_MODEL: Final = re.compile(r"> (?:Main model|Models?): ([^\s,]+)")
_SHOWING: Final = re.compile(
    r"#### (?:/(?:run|test|git|lint|commit|diff|map|tokens|ls|settings)\b|!)"
)
"""Commands that show long texts, mostly what a program of the shell printed."""
_EDIT: Final = re.compile(r"> Applied edit to (\S.*)")
_REPLY: Final = re.compile(r"(?:> .* )?[(\[][Yy]/n/instructions[)\]]:? *(.*)")
"""End of a question of the program that may be answered in words instead of a letter."""
_LETTERS: Final = frozenset({"", "y", "n", "yes", "no", "a", "s", "all", "skip", "d"})

Kind: TypeAlias = Literal["prompt", "quote", "text"]


def sniff(head: bytes, src: Source) -> Score | None:
    """Tell by a header of a run at a line of its own."""
    del head
    shape = look(src)
    if shape.kind != "text":
        return None
    text = shape.text
    if src.parts and src.parts[-1].endswith(_HISTORY) and not _has_header(text):
        text = decode(src.peek(_FAR))
    return Score.by(8, 1.0, "b") if _has_header(text) else None


def _has_header(text: str) -> bool:
    return any(_time(found[1]) for found in _HEADERS.finditer(text))


def _time(text: str) -> datetime | None:
    return instant(text)[0]


def read(src: Source, tally: Tally) -> Iterator[RawThread | ReadFailure]:
    """Read the runs of a history; what stands before the first one is lost."""
    run: _Run | None = None
    before: list[Row] = []
    seen: dict[str, int] = {}
    with src.open() as stream:
        for row in rows(stream, tally, limit=src.record_limit, live=src.live):
            header = _HEADER.fullmatch(row.text) if row.text.startswith("# ") else None
            if header is None or _time(header[1]) is None:
                (before if run is None else run.rows).append(row)
                continue
            if run is not None:
                yield run.thread(is_last=False)
            else:
                _stray(before, tally)
            ordinal = seen[header[1]] = seen.get(header[1], 0) + 1
            run = _Run(src, tally, header[1], ordinal)
    if run is not None:
        yield run.thread(is_last=True)
        return
    _stray(before, tally)
    yield ReadFailure(src.name, "no_conversation", "no header of a run")


def _stray(before: list[Row], tally: Tally) -> None:
    first = next((row for row in before if row.text.strip()), None)
    if first is not None:
        tally.read()
        tally.drop("lost")
        tally.note("stray_text", first.number)


class _Block(NamedTuple):
    """Lines of one kind that follow each other; blank ones at their end are left out."""

    kind: Kind
    rows: list[Row]


class _Run:
    """One run of the tool while its lines are gathered."""

    def __init__(self, src: Source, tally: Tally, header: str, ordinal: int) -> None:
        self.src = src
        self.tally = tally
        self.header = header
        self.ordinal = ordinal
        self.rows: list[Row] = []
        self.turns: list[RawTurn] = []
        self.answer: list[_Block] = []
        """Parts of the answer to the prompt at hand."""
        self.outputs: list[RawTurn] = []
        """What the program said meanwhile, if it is to be kept."""
        self.models: dict[str, None] = {}
        self.touched: list[str] = []
        self.first_prompt: str | None = None

    def thread(self, *, is_last: bool) -> RawThread:
        self.tally.read()
        self.tally.drop("meta")
        self._take(list(_blocks(self.rows)))
        self._close_answer()
        if not is_last:
            for turn in self.turns:
                turn.stopped = turn.role is Role.ASSISTANT
        named = self.src.parts[-1:] == (_HISTORY,) and "!" not in self.src.path
        where = f"{self.src.name}: run {self.header}"
        return RawThread(
            source=NAME,
            native_id=digest(self.header, self.ordinal, self.first_prompt),
            turns=self.turns,
            rank=1,
            started_at=_time(self.header),
            project=str(PurePosixPath(self.src.path).parent) if named else None,
            project_sure=False,
            models=tuple(self.models),
            slash_commands=True,
            open_ended=is_last,
            where=where if self.ordinal == 1 else f"{where} ({self.ordinal})",
        )

    def _take(self, blocks: list[_Block]) -> None:
        """Sort the blocks: prompts, parts of answers, output of the program."""
        begun = False
        for place, block in enumerate(blocks):
            self.tally.read()
            following = blocks[place + 1].kind if place + 1 < len(blocks) else None
            if block.kind == "prompt":
                begun = True
                self._close_answer()
                self._prompt(block)
            elif not begun:
                self.tally.drop("meta")
                self._notice(block)
            elif block.kind == "quote" and _is_output(block, following):
                parts = list(_parts(block))
                self.tally.read(len(parts) - 1)
                for part in parts:
                    self._program(part)
            else:
                self.answer.append(block)

    def _prompt(self, block: _Block) -> None:
        text = "\n".join(row.text[len(_PROMPT) :].rstrip() for row in block.rows).strip()
        if self.first_prompt is None:
            self.first_prompt = text
        if text in {"", _BLANK}:
            self.tally.drop("empty")
        elif text.startswith("!"):  # a command for the shell
            self.tally.drop("command")
        else:
            self.turns.append(_turn(Role.HUMAN, [block], text))

    def _program(self, block: _Block) -> None:
        """Output of the program, and the words it was answered with if there are any."""
        reply = _reply(block.rows[-1])
        if reply is not None:
            self._close_answer()
            self.turns.append(_turn(Role.HUMAN, [block], reply))
        else:
            self._output(block)
        self._notice(block)

    def _output(self, block: _Block) -> None:
        """What the program says, without the marks of a quote."""
        if not self.src.keep_context:
            self.tally.drop("tool")
            return
        text = "\n".join(row.text.removeprefix(">").strip() for row in block.rows)
        turn = _turn(Role.OTHER, [block], text)
        turn.taint = Taint.TOOL
        self.outputs.append(turn)

    def _close_answer(self) -> None:
        """All that was said to one prompt is one answer."""
        if self.answer:
            turn = _turn(Role.ASSISTANT, self.answer, _joined(self.answer))
            turn.touched = tuple(self.touched)
            self.turns.append(turn)
        elif self.touched:
            spoken = next((turn for turn in reversed(self.turns) if turn.taint is None), None)
            if spoken is not None and spoken.role is Role.ASSISTANT:
                spoken.touched += tuple(self.touched)
        self.turns += self.outputs
        self.answer, self.touched, self.outputs = [], [], []

    def _notice(self, block: _Block) -> None:
        """Take model and edited files from what the program says."""
        for row in block.rows:
            if model := _MODEL.match(row.text):
                self.models[model[1]] = None
            elif edit := _EDIT.fullmatch(row.text):
                self.touched.append(edit[1].rstrip())


def _is_output(block: _Block, following: Kind | None) -> bool:
    """Whether a quoted block is the program's: the model's own quotes lie inside an answer."""
    return following in {None, "prompt"} or any(row.text.endswith(_BREAK) for row in block.rows)


def _reply(row: Row) -> str | None:
    """Words that answer a question of the program."""
    found = _REPLY.fullmatch(row.text.rstrip())
    return None if found is None or found[1].lower() in _LETTERS else found[1]


def _parts(block: _Block) -> Iterator[_Block]:
    """Split output around every question that was answered in words."""
    start = 0
    for place, row in enumerate(block.rows):
        if _reply(row) is None:
            continue
        asked = max(start, place - (not row.text.startswith(">")))
        if asked > start:
            yield _Block(block.kind, block.rows[start:asked])
        yield _Block(block.kind, block.rows[asked : place + 1])
        start = place + 1
    if start < len(block.rows):
        yield _Block(block.kind, block.rows[start:])


def _turn(role: Role, blocks: list[_Block], text: str) -> RawTurn:
    first, last = blocks[0].rows[0], blocks[-1].rows[-1]
    return RawTurn(
        role=role,
        blocks=(text,),
        line=first.number,
        offset=first.offset,
        length=last.end - first.offset,
        records=len(blocks),
    )


def _joined(blocks: list[_Block]) -> str:
    """Text of the parts of an answer, with a blank line where there was one or more."""
    held: list[str] = []
    number = 0
    for block in blocks:
        if held and block.rows[0].number > number + 1:
            held.append("")
        held.extend(row.text for row in block.rows)
        number = block.rows[-1].number
    return "\n".join(held)


def _blocks(run: list[Row]) -> Iterator[_Block]:
    """Split a run into prompts, quotes and the rest; only the rest holds blank lines."""
    fence = Fence()
    block: _Block | None = None
    after_blank = True
    quoted = 0
    long = joins = False
    for place, row in enumerate(run):
        kind: Kind = "quote"
        if place >= quoted:
            kind = _kind(row.text, fence, block, after_blank=after_blank)
            if kind == "text":
                fence.pass_over(row.text)
            elif kind == "prompt":
                fence.close()
                long = _SHOWING.match(row.text) is not None
            elif not row.text.endswith(_BREAK):
                quoted = _end_of_output(run, place, long=long or joins)
                long = long and quoted > place  # it is not looked for in vain again
        if block is not None and block.kind != kind:
            yield from _filled(block)
            block = None
        if block is None:
            block = _Block(kind, [])
        block.rows.append(row)
        after_blank = not row.text.strip()
        # an answer begins after a blank line: what follows at once is the program's too
        joins = place < quoted or kind == "prompt" or (kind == "quote" and _ends(row))
    if block is not None:
        yield from _filled(block)


def _end_of_output(run: list[Row], start: int, *, long: bool) -> int:
    """Index after a quoted text of several lines, only the first of them marked.

    The program writes its messages so: two blanks end the last line. A long one
    may hold blank lines and quotes of its own.
    """
    for place in range(start + 1, len(run)):
        text = run[place].text
        if text.startswith(_PROMPT) or (text.startswith("> ") and _begins_anew(run, place)):
            break
        if text.endswith(_BREAK) and text.strip() and (not long or _is_last(run, place)):
            return place + 1
        if not long and (not text.strip() or text.startswith(">")):
            break
    return start


def _ends(row: Row) -> bool:
    return row.text.endswith(_BREAK)


def _begins_anew(run: list[Row], place: int) -> bool:
    """Whether the program speaks again after a blank line, so that an answer lies before."""
    return _ends(run[place]) and not run[place - 1].text.strip()


def _is_last(run: list[Row], place: int) -> bool:
    """Whether a blank line, a quote or nothing follows."""
    return place + 1 == len(run) or not run[place + 1].text.lstrip("> ").strip()


def _kind(text: str, fence: Fence, block: _Block | None, *, after_blank: bool) -> Kind:
    """What a line is: a fence hides a prompt unless it looks just as the program writes it."""
    if text.startswith(_PROMPT):
        if not fence.is_open or (after_blank and text.endswith(_BREAK)):
            return "prompt"
    elif text.rstrip() == _PROMPT.rstrip() and block is not None and block.kind == "prompt":
        return "prompt"
    return "quote" if text.startswith("> ") or text.rstrip() == ">" else "text"


def _filled(block: _Block) -> Iterator[_Block]:
    """Give the block without the blank lines around it, if anything is left."""
    kept = block.rows
    start = next((place for place, row in enumerate(kept) if row.text.strip()), len(kept))
    del kept[:start]
    while kept and not kept[-1].text.strip():
        kept.pop()
    if kept:
        yield block
