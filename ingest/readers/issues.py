"""Issues and pull requests of GitHub and GitLab, as their interfaces and archives give them.

Seen: ``archive.json`` of document repositories (``magic``, ``repo``, ``issues``, ``pulls``),
lists of the REST and GraphQL interfaces (``nodes``), JSON of the ``gh`` command, and GitLab
issues with their notes. One issue or pull request is a thread: its text, then comments, reviews
and comments of reviews by time. Who speaks is an author with an association to the repository;
programs are marked, or end in ``[bot]``. Times are ISO 8601.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final, NamedTuple, TypeAlias

from graphstore.model.conversation import Event, Role, Taint
from ingest.document import Element, elements
from ingest.instants import aware
from ingest.model import (
    RawThread,
    RawTurn,
    ReadFailure,
    Score,
    Source,
    Tally,
    TitleCandidate,
)
from ingest.readers._fields import timed, written
from ingest.readers._people import Owners
from ingest.shape import look

NAME: Final = "issues"
VERSION: Final = 1
APPENDABLE: Final = False
TIER: Final = "unproven"

Json: TypeAlias = dict[str, Any]

ITEMS: Final = 200_000
"""Texts of one issue."""
STATE: Final = "issue_state"
"""Kind of the event that tells the state of an issue."""
_ARCHIVE: Final = ("magic", "issues", "pulls")
_LISTS: Final = ("issues", "pulls")
_GITHUB: Final = ("number", "title", "body", "comments")
_GITLAB: Final = ("iid", "title", "description", "web_url")
_WRAPS: Final = ("data", "repository", "project", "issues", "pullRequests", "mergeRequests")
_BODIES: Final = ("body", "description", "note", "bodyText")
_SAID: Final = ("comments", "notes", "reviews", "review_comments", "reviewComments", "discussions")
_BEGINS: Final = ("createdAt", "created_at", "submittedAt", "submitted_at")
_ENDS: Final = ("mergedAt", "merged_at", "closedAt", "closed_at")
_IDS: Final = ("id", "databaseId", "node_id", "url")
_ADDRESSES: Final = ("html_url", "web_url", "url")
_ASSOCIATIONS: Final = ("authorAssociation", "author_association")
_MEMBERS: Final = frozenset({"OWNER", "MEMBER", "COLLABORATOR"})
_BOT: Final = "[bot]"
_GONE: Final = "ghost"
_ADDRESS: Final = re.compile(
    r"https?://[^/\s]+/(?:api/v\d/)?(?:repos/)?(?P<repo>[^\s?#]+?)"
    r"/(?:-/)?(?P<kind>issues|pulls?|merge_requests|work_items)/(?P<number>\d+)"
)
_NUMBER: Final = re.compile(
    r"(?<![\w/#&.!-])(?P<repo>[\w.-]+(?:/[\w.-]+)+)?(?P<mark>[#!])(?P<number>\d{1,9})(?![\w-])"
)
_CODE: Final = re.compile(r"^(```|~~~).*?^\1\s*$|`[^`\n]*`", re.MULTILINE | re.DOTALL)


def sniff(head: bytes, src: Source) -> Score | None:
    """Known by the parts of an archive, or by what every issue has."""
    del head
    shape = look(src)
    if shape.kind == "list":
        return Score.by(5, 1.0, "f") if any(map(_is_issue, shape.objects)) else None
    if shape.kind == "lines":
        if "title" not in shape.keys:
            return None
        matching = sum(map(_is_issue, shape.objects))
        return Score.by(6, shape.share(matching), "h") if matching else None
    if shape.kind != "dict":
        return None
    document = shape.objects[0]
    # The head of a long archive ends before its pull requests.
    parts = _ARCHIVE if shape.whole else _ARCHIVE[:2]
    known = all(key in document for key in parts) or _is_issue(document)
    return Score.by(5, 1.0, "f") if known or any(_unwrapped(document)) else None


def _is_issue(one: Json) -> bool:
    return all(key in one for key in _GITHUB) or all(key in one for key in _GITLAB)


def _unwrapped(document: Json) -> Iterator[Json]:
    """Issues in the answer of a GraphQL query; nothing here recurs over the input."""
    waiting: list[object] = [document] if "data" in document else []
    for _ in range(ITEMS):
        if not waiting:
            return
        at = waiting.pop()
        for one in at if isinstance(at, list) else ():
            if isinstance(one, dict) and "number" in one and "title" in one:
                yield one
        if isinstance(at, dict):
            waiting.extend(at[key] for key in (*_WRAPS, "nodes")[::-1] if key in at)


def read(src: Source, tally: Tally) -> Iterator[RawThread | ReadFailure]:
    """Read the issues of an archive or list, one at a time."""
    shape = look(src)
    first = shape.objects[0] if shape.kind == "dict" and shape.objects else {}
    beside: Json = {key: value for key, value in first.items() if key == "repo"}
    with src.open() as stream:
        for element in elements(stream, tally, *_LISTS, limit=src.record_limit, beside=beside):
            value = element.value
            wrapped = list(_unwrapped(value)) if isinstance(value, dict) else []
            found: list[object] = [*wrapped] or [value]
            for one in found:
                issue = _Issue.of(one, written(beside, "repo"), element, src, tally)
                if issue is None:
                    tally.read()
                    tally.drop("lost")
                    where = f"{src.name}: byte {element.offset}"
                    yield ReadFailure(where, "bad_conversation", "no number or title")
                else:
                    yield issue.thread()


class _Item(NamedTuple):
    """One text of an issue, with the review it is part of."""

    value: Json
    whole: Json | None = None


@dataclass(slots=True)
class _Issue:
    """One issue or pull request while its texts are gone through."""

    value: Json
    native: str
    element: Element
    src: Source
    tally: Tally
    owners: Owners
    members: dict[str, bool] = field(default_factory=dict)
    """Whether an author belongs to the repository, where one of the texts says so."""

    @classmethod
    def of(
        cls, value: object, repo: str | None, element: Element, src: Source, tally: Tally
    ) -> "_Issue | None":
        """The issue of a value; None if it is none."""
        native = _native(value, repo) if isinstance(value, dict) else None
        if not isinstance(value, dict) or native is None or "title" not in value:
            return None
        return cls(value, native, element, src, tally, Owners.of(src.me))

    def thread(self) -> RawThread:
        """Its thread: the text of the issue, then the others by time."""
        items = list(self._items())
        for item in (_Item(self.value), *items):
            member = _member(item.value)
            if member is not None:
                self.members.setdefault(_login(_author(item)), member)
        turns = [self._first()]
        turns += [turn for item in items if (turn := self._turn(item)) is not None]
        turns[1:] = [turn for _, turn in sorted(_timed(turns[1:]), key=lambda one: one[0])]
        title, address = written(self.value, "title"), _address(self.value)
        kept = [turn for turn in turns if self._is_kept(turn)]
        return RawThread(
            source=NAME,
            native_id=self.native,
            turns=kept,
            titles=(TitleCandidate("native", title),) if title else (),
            started_at=self._time(self.value, _BEGINS),
            ended_at=self._time(self.value, _ENDS),
            project=re.split(r"[#!]|^\d+$", self.native)[0] or None,
            participants=tuple(dict.fromkeys(turn.speaker for turn in kept if turn.speaker)),
            native_ids=tuple(one for one in (self.native, address) if one),
            events=tuple(self._events()),
            where=self.native,
        )

    def _events(self) -> Iterator[Event]:
        """State, and since when it is closed."""
        state = written(self.value, "state")
        merged = any(written(self.value, key) for key in ("mergedAt", "merged_at"))
        if state:
            at = self._time(self.value, _ENDS)
            yield Event(kind=STATE, at=aware(at), detail="merged" if merged else state.lower())

    def _items(self) -> Iterator[_Item]:
        """Every text beside the first, each a record; what is no object is lost."""
        waiting: list[tuple[object, Json | None]] = [(self.value, None)]
        count = 0
        while waiting:
            at, whole = waiting.pop()
            inner = at if isinstance(at, dict) else {}
            for key in reversed(_SAID):
                waiting.extend((one, inner) for one in reversed(_nodes(inner.get(key))))
            if at is self.value or _is_group(inner):
                continue
            count += 1
            self.tally.read()
            if not inner or count > ITEMS:
                self.tally.drop("lost")
                self.tally.note("bad_message", self.native)
            elif inner.get("system") is True:
                self.tally.drop("meta")
            else:
                yield _Item(inner, None if whole is self.value else whole)

    # --- turns

    def _first(self) -> RawTurn:
        """The text of the issue; one that is all title says it with that."""
        self.tally.read()
        turn = self._said(_Item(self.value), is_reply=False)
        if not turn.blocks and (title := written(self.value, "title")):
            turn.blocks = (title,)
        return turn

    def _turn(self, item: _Item) -> RawTurn | None:
        turn = self._said(item, is_reply=True)
        if turn.blocks:
            return turn
        self.tally.drop("empty")
        return None

    def _is_kept(self, turn: RawTurn) -> bool:
        """What a program posts of its own accord is the text of a tool."""
        if turn.taint is not Taint.TOOL or self.src.keep_context:
            return True
        self.tally.drop("tool")
        return False

    def _said(self, item: _Item, *, is_reply: bool) -> RawTurn:
        author = _author(item)
        login = _login(author)
        role, taint = self._role(item.value, author, login, is_reply=is_reply)
        text = next((text for key in _BODIES if (text := written(item.value, key))), None)
        return RawTurn(
            role=role,
            blocks=(text,) if text is not None else (),
            key=_key(item.value, "" if is_reply else "#"),
            at=self._time(item.value, _BEGINS) or self._time(item.whole or {}, _BEGINS),
            offset=self.element.offset,
            length=self.element.length,
            taint=taint,
            speaker=login,
            links=tuple(_numbers(text)) if text is not None else (),
            stopped=True,
        )

    def _role(
        self, value: Json, author: object, login: str, *, is_reply: bool
    ) -> tuple[Role, Taint | None]:
        """Role of an author: a program that comments answers, one that opens an issue posts."""
        if _is_bot(author, login):
            return (Role.ASSISTANT, None) if is_reply else (Role.OTHER, Taint.TOOL)
        member = _member(value)
        if member is None:
            member = self.members.get(login)
        name = written(author, "name") if isinstance(author, dict) else None
        return self.owners.role((login, name), member=member), None

    def _time(self, value: Json, keys: tuple[str, ...]) -> datetime | None:
        for key in keys:
            if (at := timed(value.get(key), self.tally, self.native)) is not None:
                return at
        return None


def _timed(turns: list[RawTurn]) -> Iterator[tuple[tuple[datetime, int], RawTurn]]:
    """Turns with what they are sorted by: one without a time stays behind the one before it."""
    last = datetime.min.replace(tzinfo=UTC)
    for place, turn in enumerate(turns):
        if turn.at is not None:
            last = turn.at if turn.at.tzinfo is not None else turn.at.replace(tzinfo=UTC)
        yield (last, place), turn


def _nodes(listed: object) -> list[Any]:
    """Texts of a list, or of the page of a GraphQL answer; a mere count has none."""
    held = listed.get("nodes") if isinstance(listed, dict) else listed
    return held if isinstance(held, list) else []


def _is_group(value: Json) -> bool:
    """Whether an object only holds the notes of one discussion."""
    return "notes" in value and not any(key in value for key in _BODIES)


def _native(value: Json, repo: str | None) -> str | None:
    """``owner/name#number``, with ``!`` for merge requests; the number alone if no more is told."""
    number = next((value[key] for key in ("number", "iid") if key in value), None)
    if not isinstance(number, int) or isinstance(number, bool):
        return None
    address = _ADDRESS.match(_address(value) or "")
    if address is not None:
        mark = "!" if address["kind"] == "merge_requests" else "#"
        return f"{address['repo']}{mark}{number}"
    return f"{repo}#{number}" if repo else str(number)


def _address(value: Json) -> str | None:
    return next((text for key in _ADDRESSES if (text := written(value, key))), None)


def _key(value: Json, mark: str) -> str | None:
    """Native id of a text; the mark keeps the issue apart from its comments."""
    for key in _IDS:
        found = value.get(key)
        if isinstance(found, str | int) and not isinstance(found, bool) and found != "":
            return f"{mark}{found}"
    return None


def _author(item: _Item) -> object:
    """Who said it: a comment of a review may leave that to the review."""
    for value in (item.value, item.whole or {}):
        for key in ("author", "user"):
            if key in value:
                return value[key]
    return None


def _login(author: object) -> str:
    if isinstance(author, str) and author.strip():
        return author
    for key in ("login", "username", "name"):
        if isinstance(author, dict) and (found := written(author, key)):
            return found
    return _GONE


def _is_bot(author: object, login: str) -> bool:
    if login.endswith(_BOT):
        return True
    if not isinstance(author, dict):
        return False
    marked = any(author.get(key) is True for key in ("is_bot", "isBot", "bot"))
    return marked or "Bot" in (author.get("type"), author.get("__typename"))


def _member(value: Json) -> bool | None:
    """Whether the author belongs to the repository; None if it is not told."""
    told = next((text for key in _ASSOCIATIONS if (text := written(value, key))), None)
    return None if told is None else told.upper() in _MEMBERS


def _numbers(text: str) -> Iterator[str]:
    """Other issues that a text names by number, as written."""
    for found in _NUMBER.finditer(_CODE.sub(" ", text)):
        yield found[0]
