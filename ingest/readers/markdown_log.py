"""Conversations saved as Markdown: before each turn a head line with the speaker.

Seen: what browser tools and people write: ``#### You:`` and ``#### ChatGPT:``, ``## User`` and
``## Assistant``, ``**You:**`` and ``**Claude:**``, ``You:`` and ``Assistant:``, ``Human:`` and
``AI:``; ``You said:`` and ``ChatGPT said:``, ``## Prompt:`` and ``## Response:``, ``**User**``
and ``**Cursor**``. All heads of a file look alike. There are no times but those of the front
matter, and no ids unless it names the page that the text was copied from. Nothing tells of forks.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Final, NamedTuple, TypeAlias

from graphstore.model.conversation import Role
from ingest.frontmatter import FrontMatter, front_matter
from ingest.model import RawThread, RawTurn, ReadFailure, Score, Source, Tally, TitleCandidate
from ingest.readers._fields import timed
from ingest.rows import Row, fenced, rows
from ingest.shape import decode, look

NAME: Final = "markdown-log"
VERSION: Final = 1
APPENDABLE: Final = False
TIER: Final = "proven"

HEADS: Final = 2
"""Heads from which a text is a conversation."""
_FAR: Final = 1024 * 1024
"""Bytes looked at for a second head."""
_LONGEST: Final = 80
"""Characters of the part of a line that can be a head."""

_VERSION: Final = (
    r"(?:[ -](?:code|desktop|opus|sonnet|haiku|instant|pro|flash|ultra|cli|v?\d[\w.]*)){0,4}"
)
_NAME: Final = (
    r"(?:(?P<human>you|user|human|me)|(?P<assistant>assistant|ai(?: assistant)?|bot|model"
    rf"|(?:chatgpt|gpt|claude|gemini){_VERSION}"
    r"|copilot|grok|deepseek|perplexity|mistral|llama))"
)
_HEADING: Final = re.compile(rf"(#{{1,6}})[ \t]+(?:role::)?{_NAME}[ \t]*(:?)[ \t]*", re.IGNORECASE)
_STRONG: Final = re.compile(rf"(\*\*|__){_NAME}(:\1|\1:)(?P<rest>.*)", re.IGNORECASE)
_PLAIN: Final = re.compile(rf"{_NAME}(:)(?P<rest>(?:[ \t].*)?)", re.IGNORECASE)
_WEAK: Final = "weak"
"""Marks a style of heads that other texts have too: both speakers must have it."""
_WEAK_HEADS: Final = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"(?P<mark>#{{1,6}}[ \t]+|\*\*|)({_NAME} said:)(?:\*\*)?[ \t]*",
        r"(?P<mark>#{1,6}[ \t]+)(?:(?P<human>prompt)|(?P<assistant>response)):[ \t]*",
        r"(?P<mark>\*\*)(?:(?P<human>user)|(?P<assistant>assistant|cursor))\*\*[ \t]*",
    )
)
_VAGUE: Final = frozenset({"me", "bot", "model"})
"""Names that say nothing without a colon."""

_PAGES: Final = (
    ("chatgpt", re.compile(r"https?://(?:chatgpt\.com|chat\.openai\.com)/(?:g/[^/]+/)?c/([\w-]+)")),
    ("claude-ai", re.compile(r"https?://claude\.ai/chat/([\w-]+)")),
    ("gemini", re.compile(r"https?://gemini\.google\.com/(?:u/\d+/)?app/([\w-]+)")),
)
_LINKS: Final = ("source", "url", "link", "source_url", "conversation_url")
_BEGINS: Final = ("created", "created_at", "create_time", "date")
_ENDS: Final = ("updated", "updated_at", "update_time", "modified")
_RULE: Final = re.compile(r"(?:-{3,}|\*{3,}|_{3,}|<hr\b[^<>]*>)[ \t]*")

Style: TypeAlias = tuple[str, ...]


class Head(NamedTuple):
    """A line that names a speaker."""

    style: Style
    """How it is written: heads of one file are written alike."""
    role: Role
    rest: str
    """Words that follow the name on the line."""


def head_of(text: str) -> Head | None:
    """Return what a line says if it is the head of a turn."""
    begin = text[:1]
    if begin == "#":
        found = _HEADING.fullmatch(text) if len(text) < _LONGEST else None
        if found is None:
            return _weak_head(text)
        if not found[4] and _speaker(found).lower() in _VAGUE:
            return None
        return Head(("heading", found[1], found[4]), _role(found), "")
    if begin in {"*", "_"}:
        found = _STRONG.fullmatch(text)
        style: Style = ("strong", found[1]) if found else ()
    else:
        found = _PLAIN.fullmatch(text) if begin.isalpha() else None
        style = ("plain", _WEAK)
    return Head(style, _role(found), found["rest"].strip()) if found else _weak_head(text)


def _weak_head(text: str) -> Head | None:
    """A head as pages and programs write it, where it says less: ``You said:``, ``**User**``."""
    if len(text) >= _LONGEST:
        return None
    for number, pattern in enumerate(_WEAK_HEADS):
        if found := pattern.fullmatch(text):
            return Head((str(number), found["mark"].strip(), _WEAK), _role(found), "")
    return None


def _speaker(found: re.Match[str]) -> str:
    return found["human"] or found["assistant"] or ""


def _role(found: re.Match[str]) -> Role:
    return Role.HUMAN if found["human"] else Role.ASSISTANT


def heads(texts: Sequence[str]) -> dict[int, Head]:
    """Heads of turns by the index of their line: those written like the first that has its like.

    Lines in code fences are no heads. Heads that are weak must be of both speakers, because
    settings and records of all kinds have lines like these.
    """
    found = {at: head for at, text in enumerate(texts) if (head := head_of(text)) is not None}
    if len(found) < HEADS:
        return {}
    found = dict(_outside_fences(texts, found))
    counts = Counter(head.style for head in found.values())
    both = {
        style
        for style in counts
        if style[-1:] != (_WEAK,)
        or len({one.role for one in found.values() if one.style == style}) > 1
    }
    chosen = next(
        (one.style for one in found.values() if counts[one.style] >= HEADS and one.style in both),
        None,
    )
    return {at: head for at, head in found.items() if head.style == chosen}


def _outside_fences(texts: Sequence[str], found: dict[int, Head]) -> Iterator[tuple[int, Head]]:
    """Heads that no fence hides; one may open on the line of a head, behind the name."""
    lines: list[str] = []
    places: dict[int, int] = {}
    for at, text in enumerate(texts):
        places[at] = len(lines)
        lines.extend(("", found[at].rest) if at in found else (text,))
    inside = fenced(lines)
    yield from ((at, head) for at, head in found.items() if not inside[places[at]])


def sniff(head: bytes, src: Source) -> Score | None:
    """Tell by two heads of turns."""
    del head
    shape = look(src)
    if shape.kind != "text":
        return None
    is_more = src.size > len(shape.text) and any(map(head_of, _lines(shape.text)))
    if _talks(shape.text) or (is_more and _talks(decode(src.peek(_FAR)))):
        return Score.by(8, 1.0, "c")
    return None


def _talks(text: str) -> bool:
    texts = _lines(text)
    return bool(heads(texts[front_matter(texts).lines :]))


def _lines(text: str) -> list[str]:
    return [line.removesuffix("\r") for line in text.split("\n")]


def read(src: Source, tally: Tally) -> Iterator[RawThread | ReadFailure]:
    """Read the one conversation of a file."""
    with src.open() as stream:
        held = list(rows(stream, tally, limit=src.record_limit))
    texts = [row.text for row in held]
    front = front_matter(texts)
    turns = heads(texts[front.lines :])
    if not turns:
        if any(text.strip() for text in texts):
            tally.read()
            tally.drop("lost")
        yield ReadFailure(src.name, "no_conversation", "no heads of turns")
        return
    yield _Log(held, front, turns, tally).thread()


class _Log:
    """One conversation while its blocks are gone through."""

    def __init__(
        self, held: list[Row], front: FrontMatter, found: dict[int, Head], tally: Tally
    ) -> None:
        self.front = front
        self.tally = tally
        self.matter = held[: front.lines]
        self.rows = held[front.lines :]
        self.heads = found
        self.starts = sorted(found)

    def thread(self) -> RawThread:
        self._read_matter()
        titles = [*self._given_titles(), *self._preamble()]
        turns = list(self._turns())
        source, native = self._page()
        model = self.front.first("model")
        return RawThread(
            source=source,
            native_id=native,
            turns=turns,
            growing=True,
            rank=3,
            titles=tuple(titles),
            started_at=self._time(*_BEGINS),
            ended_at=self._time(*_ENDS),
            models=(model,) if model else (),
            native_ids=(native,) if native else (),
            where=native or "",
        )

    def _read_matter(self) -> None:
        if self.matter:
            self.tally.read()
            self.tally.drop("meta")
        for at in self.front.odd:
            self.tally.note("front_matter", self.matter[at].number)

    def _given_titles(self) -> Iterator[TitleCandidate]:
        if title := self.front.first("title"):
            yield TitleCandidate("native", title)

    def _preamble(self) -> Iterator[TitleCandidate]:
        """Titles in the text before the first head, which is no turn."""
        texts = [row.text for row in self.rows[: self.starts[0]] if row.text.strip()]
        if texts:
            self.tally.read()
            self.tally.drop("meta")
        for text in texts:
            if text.startswith("# "):
                yield TitleCandidate("heading", text[2:])

    def _page(self) -> tuple[str, str | None]:
        """Source and id of the conversation that the text was copied from."""
        for link in filter(None, map(self.front.first, _LINKS)):
            for source, page in _PAGES:
                if (found := page.match(link)) is not None:
                    return source, found[1]
        return NAME, None

    def _time(self, *keys: str) -> datetime | None:
        for key in keys:
            if (moment := timed(self.front.first(key), self.tally)) is not None:
                return moment
        return None

    # --- turns

    def _turns(self) -> Iterator[RawTurn]:
        ends = [*self.starts[1:], len(self.rows)]
        blocks = [self.rows[start:end] for start, end in zip(self.starts, ends, strict=True)]
        parted = all(_is_parted(block) for block in blocks[:-1]) and len(blocks) > 1
        for start, block in zip(self.starts, blocks, strict=True):
            self.tally.read()
            head = self.heads[start]
            words = [head.rest, *(row.text for row in block[1:])]
            if parted:
                words = _without_rule(words)
            text = "\n".join(words).strip()
            if not text:
                self.tally.drop("empty")
                continue
            yield RawTurn(
                role=head.role,
                blocks=(text,),
                line=block[0].number,
                offset=block[0].offset,
                length=block[-1].end - block[0].offset,
            )


def _is_parted(block: list[Row]) -> bool:
    """Whether a rule stands at the end of a block."""
    last = next((row for row in reversed(block) if row.text.strip()), block[0])
    return _RULE.fullmatch(last.text) is not None


def _without_rule(words: list[str]) -> list[str]:
    """Lines without the rule at their end: it parts one turn from the next."""
    end = len(words)
    while end and not words[end - 1].strip():
        end -= 1
    return words[: end - 1] if end and _RULE.fullmatch(words[end - 1]) else words
