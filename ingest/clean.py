"""Raw threads to clean ones: safe text, no envelopes, secrets masked, times placed, taint."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache
from typing import Final, TypeAlias

from graphstore.ids import digest, digest_bytes, fingerprint
from graphstore.model.conversation import Attachment, Event, Masked, Role, Taint
from ingest.base import Base
from ingest.envelopes import Opened, open_block, open_slash, without_thoughts
from ingest.model import (
    Disposition,
    Pointer,
    RawThread,
    RawTurn,
    Summary,
    Tally,
    TitleCandidate,
)
from ingest.options import CONTEXT_LIMIT, Options
from ingest.text import joined, safe_text

Masker: TypeAlias = Callable[[str], tuple[str, tuple[Masked, ...]]]
Calls: TypeAlias = tuple[tuple[str, int], ...]

TITLE_LIMIT: Final = 80
"""Characters of a title taken from the first question."""
LINES: Final = 4096
"""Titles, names and paths that are remembered on one line."""
LONG_LINE: Final = 1000
"""Characters from which on none is: they need not be short in a damaged or hostile file."""
LINKS: Final = 200
"""Links kept of one turn."""
_PLAIN: Final = re.compile(r"[0-9a-f-]{1,40}")
"""Native ids of nearly all records: nothing to mask there."""
_NO_TEXT: Final = re.compile("[\x00-\x1f\x7f\ud800-\udfff]")
"""Characters that no id can be kept with."""
_NO_TITLE: Final = frozenset({"new chat", "untitled", "new conversation"})
_TITLE_ORDER: Final = ("user", "native", "ai", "summary", "heading", "stem")
_HOME: Final = re.compile(
    r"\A(?:/Users/[^/]+|/home/[^/]+|/root|[A-Za-z]:[\\/]Users[\\/][^\\/]+)(?=[\\/]|\Z)"
)
# The character that each form begins with comes first: places without it are passed over fast.
_LINK: Final = re.compile(
    r"[!\[h#^](?:"
    r"(?:(?<=!)\[|(?<=\[))\[[^\[\]\n]{1,300}\]\]"
    r"|(?<=h)ttps?://[^\s<>\"'`\])]+"
    r"|(?<=#)(?<![\w/#&]#)[^\W\d_][\w/-]*"
    r"|(?<=\s\^)[\w-]+(?=\s*$)"
    r")",
    re.MULTILINE,
)
_FENCED: Final = re.compile(r"^(```|~~~).*?^\1\s*$", re.MULTILINE | re.DOTALL)


@dataclass(slots=True)
class CleanTurn:
    """A turn that is ready but for its number and its place among others."""

    raw: RawTurn
    """Its native facts; the blocks are gone."""
    text: str
    fingerprint: str
    at: datetime | None
    masked: tuple[Masked, ...]
    links: tuple[str, ...]
    carrier: int
    """Index of its carrier in the run."""
    counter: int
    """Index of the carrier that its records are counted with."""
    calls: Calls = ()
    interim: bool = False
    touched: tuple[str, ...] = ()
    passing: bool = False
    """Interim for certain and too short to be kept: no text here, its print is the folded one."""
    _folded: str = field(default="", init=False, repr=False, compare=False)

    @property
    def clean(self) -> bool:
        """Words of a person or of the assistant."""
        return self.raw.role is not Role.OTHER

    @property
    def folded(self) -> str:
        """Role and text without differences of white space."""
        if self.passing:
            return self.fingerprint
        if not self._folded:
            self._folded = fingerprint(self.raw.role, " ".join(self.text.split()))
        return self._folded


def say_alike(turns: Sequence[CleanTurn], others: Sequence[CleanTurn]) -> bool:
    """Whether one of some turns says what one of some others says, white space apart.

    Nearly always their prints show it, and no text need be folded.
    """
    prints = {turn.fingerprint for turn in turns}
    if any(turn.fingerprint in prints for turn in others):
        return True
    words = {turn.folded for turn in turns}
    return any(turn.folded in words for turn in others)


@dataclass(slots=True)
class CleanThread:
    """One conversation as one carrier has it, cleaned and masked."""

    raw: RawThread
    """Its native facts; the turns are moved to ``turns``."""
    turns: list[CleanTurn]
    carrier: int
    naive: bool = False
    """Some of its times named no zone."""
    closed: bool = True
    """Its carrier has not changed for long enough, or never grows."""
    commands: int = 0
    """How many of its events, the last ones, tell of commands."""
    base: Base | None = None
    """What is stored of it before the place from which its carrier was read on."""


def clean(
    raw: RawThread, carrier: int, tally: Tally, options: Options, masker: Masker, *, closed: bool
) -> CleanThread:
    """Clean one thread and count the records that gave no words.

    Records of the turns that stay are counted later, when it is known which are interim.
    """
    cleaner = _Cleaner(raw, carrier, tally, options, masker)
    turns = cleaner.turns()
    raw.turns = []
    cleaner.head()
    return CleanThread(
        raw,
        turns,
        carrier,
        naive=cleaner.naive,
        closed=closed,
        commands=len(cleaner.commands),
    )


class _Cleaner:
    """Cleaning of one thread: what every step needs at hand."""

    def __init__(
        self, raw: RawThread, carrier: int, tally: Tally, options: Options, masker: Masker
    ) -> None:
        self.raw = raw
        self.carrier = carrier
        self.tally = tally
        self.options = options
        self.masker = masker
        self.naive = False
        self.commands: list[Event] = []
        self.project = (raw.project or "").replace("\\", "/").rstrip("/")
        self.lines: dict[str, str] = {}
        """Names of tools and their like, as they were cleaned before."""
        self.paths: dict[str, str] = {}
        """The same of touched paths."""

    def turns(self) -> list[CleanTurn]:
        kept: list[CleanTurn] = []
        waiting: list[tuple[str, int]] = []
        paths: list[str] = []
        following = [*self.raw.turns[1:], None]
        for raw, after in zip(self.raw.turns, following, strict=False):
            turn = self.turn(raw, after)
            if turn is None:
                waiting.extend(self.calls(raw.calls))
                paths.extend(raw.touched)
                _hand_back(raw, kept)
                continue
            if raw.role is Role.ASSISTANT and waiting:
                turn.calls = (*waiting, *turn.calls)
                waiting = []
            if raw.role is Role.ASSISTANT and paths:
                turn.touched = tuple(sorted({*turn.touched, *map(self.path, paths)}))
                paths = []
            kept.append(turn)
        return kept

    def turn(self, raw: RawTurn, after: RawTurn | None = None) -> CleanTurn | None:
        """The turn of a message, or None if it holds no words: its records are counted."""
        text, dropped = self.words(raw)
        raw.blocks = ()
        if not text:
            self.tally.drop(dropped, raw.records)
            return None
        if self.passes(raw, after, text):
            self.keys(raw)
            folded = fingerprint(raw.role, " ".join(text.split()))
            calls, touched = self.calls(raw.calls), tuple({self.path(one) for one in raw.touched})
            return CleanTurn(
                raw, "", folded, None, (), (), self.carrier, self.carrier, calls, touched=touched,
                passing=True,
            )  # fmt: skip
        masked, spans = self.masker(text)
        at = self.time(raw.at)
        raw.taint = raw.taint or Taint(raw.role.value)
        if raw.attachments:
            raw.attachments = tuple(map(self.attachment, raw.attachments))
        if raw.speaker is not None:
            raw.speaker = self.line(raw.speaker)
        links = self.links(masked, raw) if raw.role is Role.HUMAN else ()
        touched = tuple(sorted(set(map(self.path, raw.touched)))) if raw.touched else ()
        raw.touched = ()
        self.keys(raw)
        return CleanTurn(
            raw=raw,
            text=masked,
            fingerprint=fingerprint(raw.role, masked),
            at=at,
            masked=spans,
            links=links,
            carrier=self.carrier,
            counter=self.carrier,
            calls=self.calls(raw.calls),
            touched=touched,
        )

    def passes(self, raw: RawTurn, after: RawTurn | None, text: str) -> bool:
        """Whether a message is said in passing: short, on the way, with more behind it.

        Most messages of an agent are; they are spared the work on texts that are kept.
        """
        on_the_way = raw.calls_tool if raw.final is None else not raw.final
        if not self.raw.agent or not on_the_way or raw.role is not Role.ASSISTANT:
            return False
        least = self.options.interim_min_chars
        more = after is not None and after.role is Role.ASSISTANT and any(after.blocks)
        return more and (least < 0 or len(text) < least)

    def words(self, raw: RawTurn) -> tuple[str, Disposition]:
        """Words of a message, and what it counts as if there are none."""
        blocks = [self.safe(block, raw) for block in raw.blocks]
        if raw.role is Role.HUMAN:
            return self.human(blocks, raw)
        if raw.role is Role.ASSISTANT:
            parts = [without_thoughts(block) for block in blocks]
            text = joined(part for part, _ in parts)
            thought = any(had for _, had in parts)
            return text, "thinking" if thought else "tool" if raw.calls else "empty"
        text = joined(blocks)
        if raw.taint in {Taint.TOOL, Taint.WEB}:
            return text[:CONTEXT_LIMIT].rstrip() if self.options.keep_context else "", "tool"
        return text, "empty"

    def human(self, blocks: list[str], raw: RawTurn) -> tuple[str, Disposition]:
        opened: list[Opened] = []
        for block in blocks:
            one = open_block(block)
            if self.raw.slash_commands and one.command is None:
                one = open_slash(one.text)
            if one.command is not None:
                self.commands.append(
                    Event(kind="command", at=self.time(raw.at), detail=one.command)
                )
            opened.append(one)
        reasons = [one.removed for one in opened if one.removed is not None]
        dropped: Disposition = "command" if "command" in reasons else (reasons or ["empty"])[0]
        return joined(one.text for one in opened), dropped

    def safe(self, block: str, raw: RawTurn | None = None) -> str:
        text, repairs = safe_text(block)
        for code, count in repairs:
            self.tally.note(code, raw.line if raw else None, count)
        return text

    def line(self, text: str) -> str:
        """A short text beside the turns (title, name, path): safe, masked, on one line."""
        short = len(text) < LONG_LINE
        return self.masker(on_one_line(text) if short else on_one_line.__wrapped__(text))[0]

    def time(self, moment: datetime | None) -> datetime | None:
        """An aware time; one that names no zone gets that of the options."""
        if moment is None or moment.tzinfo is not None:
            return moment
        self.naive = True
        return moment.replace(tzinfo=self.options.naive_zone)

    def links(self, text: str, raw: RawTurn) -> tuple[str, ...]:
        """What a human text links to, and what its source says it does."""
        found = find_links(text)
        if not raw.links:
            return found
        return tuple(dict.fromkeys((*found, *map(self.line, raw.links))))[:LINKS]

    def keys(self, raw: RawTurn) -> None:
        """Native ids of a turn: one that holds a secret is replaced by its hash."""
        raw.key = self.ident(raw.key) if raw.key is not None else None
        raw.parent = self.ident(raw.parent) if raw.parent is not None else None
        if raw.also:
            raw.also = tuple(map(self.ident, raw.also))
        if raw.spawned:
            raw.spawned = tuple(map(self.ident, raw.spawned))

    def ident(self, native: str) -> str:
        """A native id as it is, if it is text without secrets: ids must stay distinct."""
        if _PLAIN.fullmatch(native):
            return native
        if _NO_TEXT.search(native):
            return digest_bytes(native.encode("utf-8", "surrogatepass"))
        return native if self.masker(native)[0] == native else digest(native)

    def calls(self, calls: Calls) -> Calls:
        return tuple([(self.name(name), count) for name, count in calls]) if calls else ()

    def name(self, text: str) -> str:
        """A line that comes again and again."""
        known = self.lines.get(text)
        if known is None:
            known = self.lines[text] = self.line(text)
        return known

    def attachment(self, one: Attachment) -> Attachment:
        name = None if one.name is None else self.line(one.name)
        media = None if one.media_type is None else self.line(one.media_type)
        return one.replace(name=name, media_type=media)

    def path(self, written: str) -> str:
        """A touched path relative to the project, or to the home folder."""
        known = self.paths.get(written)
        if known is None:
            path = written.replace("\\", "/")
            if self.project:
                path = path.removeprefix(f"{self.project}/")
            known = self.paths[written] = self.line(at_home(path))
        return known

    def head(self) -> None:
        """Clean what stands beside the turns, in place."""
        raw = self.raw
        raw.titles = tuple(
            TitleCandidate(one.kind, title)
            for one in raw.titles
            if (title := self.line(one.text)) and title.casefold() not in _NO_TITLE
        )
        raw.summaries = tuple(
            Summary(self.ident(one.leaf), self.line(one.text)) for one in raw.summaries
        )
        raw.native_id = self.ident(raw.native_id) if raw.native_id is not None else None
        raw.native_ids = tuple(self.ident(one) for one in raw.native_ids)
        raw.pointers = tuple(
            Pointer(one.kind, self.ident(one.native_id), self.ident(one.key) if one.key else None)
            for one in raw.pointers
        )
        raw.where = self.line(raw.where)
        raw.tail_calls = self.calls(raw.tail_calls)
        raw.started_at, raw.ended_at = self.time(raw.started_at), self.time(raw.ended_at)
        events = [self.event(one) for one in raw.events]
        raw.events = (*events, *(self.event(one) for one in self.commands))
        raw.project = self.line(at_home(raw.project)) if raw.project else None
        raw.participants = tuple(self.line(one) for one in raw.participants)
        raw.models = tuple(self.line(one) for one in raw.models)

    def event(self, one: Event) -> Event:
        detail = None if one.detail is None else self.line(one.detail)
        return Event(kind=one.kind, at=self.time(one.at), detail=detail)


@lru_cache(LINES)
def on_one_line(text: str) -> str:
    """A short text, safe and with single blanks; titles and names come again and again."""
    return " ".join(safe_text(text)[0].split())


def _hand_back(dropped: RawTurn, kept: list[CleanTurn]) -> None:
    """What a message without words spawned belongs to the message before it."""
    if dropped.spawned and kept:
        asked = [turn for turn in kept if turn.raw.role is not Role.ASSISTANT] or kept
        asked[-1].raw.spawned += dropped.spawned


def at_home(path: str) -> str:
    """A path with the home folder written ``~``."""
    return _HOME.sub("~", path)


def find_links(text: str) -> tuple[str, ...]:
    """Wikilinks, URLs, tags and block marks of a text outside fences, first seen first."""
    if "[[" not in text and "#" not in text and "://" not in text and "^" not in text:
        return ()
    if "```" in text or "~~~" in text:
        text = _FENCED.sub("", text)
    found = (match[0].rstrip(".,;:!?") for match in _LINK.finditer(text))
    return tuple(dict.fromkeys(found))[:LINKS]


def short_title(text: str) -> str:
    """First line of a text, cut at a word."""
    line = " ".join(text.lstrip().partition("\n")[0].split())
    if len(line) <= TITLE_LIMIT:
        return line
    cut = line[: TITLE_LIMIT + 1].rpartition(" ")[0] or line[:TITLE_LIMIT]
    return cut.rstrip(" ,;:-")


def choose_title(
    candidates: tuple[TitleCandidate, ...], turns: tuple[tuple[Role, str], ...]
) -> str | None:
    """The best title: named by the user, native, by the tool's model, else the first question.

    ``turns`` are (role, text) of the main line. The first candidate of the best kind wins.
    """
    ranked = sorted(candidates, key=lambda one: _TITLE_ORDER.index(one.kind))
    if ranked:
        return ranked[0].text
    questions = (text for role, text in turns if role is Role.HUMAN)
    first = next(questions, None)
    return None if first is None else short_title(first) or None
