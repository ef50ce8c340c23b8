"""Words of Codex sessions: messages told more than once, what an editor adds, paths and files."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from graphstore.model.conversation import Attachment, Role
from ingest.envelopes import open_block
from ingest.jsonio import loads
from ingest.model import RawTurn
from ingest.readers._codex_records import Json, Kind
from ingest.readers._fields import of_data_url, word

_TIMED: Final = re.compile(r"[0-9a-fA-F]{8}-[0-9a-fA-F]{4}(?=-7)")
"""Milliseconds that a UUID of version 7 begins with (RFC 9562)."""
_PATCH: Final = re.compile(
    r"\*\*\* (?<=^\*\*\* )(?:Add|Update|Delete) File: (.{1,500})$", re.MULTILINE
)
"""A head of a patch; its literal comes first, by which it is found fast."""
_PATHS: Final = ("path", "file_path", "filename", "target_file")
_PATCH_MARK: Final = "*** "
_PATH_MARK: Final = 'path"'
_NAMED: Final = ('"filename"', '"target_file"')
"""One of these, or the mark of a path, stands in arguments that have one of the keys."""
_EDITOR: Final = "# Context from my IDE setup:"
_REQUEST: Final = re.compile(r"^## My request for Codex:[ \t]*$", re.MULTILINE)
_FIRST: Final = 8
"""Words by which texts are told apart before they are compared."""
_COMPARED: Final = 64
"""Messages of one turn with equal first words that a copy is compared with."""
_NEAR: Final = 8
"""Equal messages of one turn looked at for the one that a copy belongs to."""


@dataclass(slots=True)
class Said:
    """A message, by whichever of its records is at hand."""

    role: Role
    blocks: tuple[str, ...]
    attachments: tuple[Attachment, ...] = ()
    final: bool | None = None
    turn_id: str | None = None
    tellings: tuple[str, ...] = ()
    """Texts by which it is known again, once it is said."""


@dataclass(slots=True)
class Entry:
    """A message of the turn at hand and the kinds of records that told it."""

    kinds: set[Kind]
    turn: RawTurn | None
    """None if it held no words."""


_Begun: TypeAlias = tuple[str, ...]


@dataclass(slots=True)
class Scope:
    """Where a record can be the copy of another one: a turn, or an exchange without ids."""

    turn_id: str | None = None
    answered: bool = False
    entries: dict[_Begun, list[tuple[str, Entry]]] = field(default_factory=dict)
    """Texts and what was told by them, by role and first words."""

    def find(self, said: Said, kind: Kind) -> Entry | None:
        """Return the message that this record is another telling of."""
        for text in said.tellings:
            near = self.entries.get(_begun(said.role, text), ())[-_COMPARED:]
            alike = [entry for told, entry in near if _alike(told, text)]
            for entry in alike[-_NEAR:]:
                if kind not in entry.kinds:
                    return entry
        return None

    def add(self, said: Said, entry: Entry) -> None:
        for text in said.tellings:
            self.entries.setdefault(_begun(said.role, text), []).append((text, entry))

    def clear(self) -> None:
        self.entries = {}
        self.answered = False


def turn_id_of(value: Json) -> str | None:
    return word(value, "turn_id") or None


def is_older(turn_id: str | None, native_id: str | None) -> bool:
    """Whether a turn began before a session was made: ids of both may begin with their time."""
    turn, session = (_TIMED.match(one or "") for one in (turn_id, native_id))
    return bool(turn and session and turn[0].lower() < session[0].lower())


def tellings(blocks: tuple[str, ...]) -> tuple[str, ...]:
    """Texts by which a message is known again: all of it, and each of its blocks."""
    told = blocks if len(blocks) == 1 else (" ".join(blocks), *blocks)
    return tuple(dict.fromkeys(text for text in told if text and not text.isspace()))


def _begun(role: Role, text: str) -> _Begun:
    """First words of a text: to split them off costs little, however long it is."""
    return role, *text.split(None, _FIRST)[:_FIRST]


def _alike(one: str, other: str) -> bool:
    """Whether two texts differ in nothing but white space; nearly always they do not differ."""
    if one == other:
        return True
    last = one.rsplit(None, 1)[-1]  # tells most of those apart that begin alike
    return other.rstrip().endswith(last) and one.split() == other.split()


def asked(text: str) -> str:
    """Return a person's words without what an editor put before them."""
    if not text.lstrip().startswith(_EDITOR):
        return text
    found = _REQUEST.search(text)
    return text[found.end() :].strip() if found else text


def is_asked(turn: RawTurn) -> bool:
    """Whether a turn begins an exchange or goes on asking."""
    if turn.role is Role.OTHER:
        return turn.taint is None
    return turn.role is Role.HUMAN and any(open_block(block).text for block in turn.blocks)


def touched(arguments: object) -> Iterator[str]:
    """Paths of patch headers, and of the arguments that name one."""
    value = parsed(arguments) if isinstance(arguments, str) else arguments
    if isinstance(value, dict):
        for key in _PATHS:
            if isinstance(value.get(key), str):
                yield value[key]
        texts = [one for held in value.values() for one in _strings(held)]
    else:
        texts = list(_strings(arguments))
    for text in texts:
        if _PATCH_MARK in text:
            yield from filter(None, map(str.strip, _PATCH.findall(text)))


def may_name(arguments: object) -> bool:
    """Whether arguments can name a path at all: nearly always they need not be parsed."""
    if not isinstance(arguments, str):
        return arguments is not None
    return (
        _PATH_MARK in arguments
        or _PATCH_MARK in arguments
        or any(mark in arguments for mark in _NAMED)
    )


def _strings(value: object) -> Iterator[str]:
    for one in value if isinstance(value, list) else (value,):
        if isinstance(one, str):
            yield one


def parsed(text: str) -> Any:  # noqa: ANN401 - JSON
    try:
        return loads(text.encode("utf-8", "surrogatepass"))[0]
    except ValueError:
        return None


def attached(part: Json) -> Attachment:
    """An image, sound or file of a message, without its bytes."""
    url = next((part[key] for key in ("image_url", "file_data", "path") if key in part), None)
    url = url.get("url") if isinstance(url, dict) else url
    name = part.get("filename")
    told = name if isinstance(name, str) else None
    if not isinstance(url, str):
        return Attachment(name=told)
    if not url.startswith("data:"):
        return Attachment(name=told or url)
    return of_data_url(url, told)
