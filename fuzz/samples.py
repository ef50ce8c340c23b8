"""Sound conversations of every format, small enough to be read thousands of times a minute."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from fuzz.mutate import Files
from ingest.archives import members
from ingest.model import Source
from ingest.sniff import choose, readers
from ingest.walk import Found, find
from tests.claude_talk import MOVES as CLAUDE_MOVES
from tests.claude_talk import Talk as ClaudeTalk
from tests.codex_talk import MOVES as CODEX_MOVES
from tests.codex_talk import Talk as CodexTalk

ROOT = Path(__file__).parent.parent
PLACES = (
    ROOT / "tests" / "data" / "ingest",
    ROOT.parent / "shared" / "cases" / "ingest",
)
CORPORA = ROOT.parent / "shared" / "corpora"
SMALL = 24 * 1024
"""Bytes of a sample; databases may have more."""
DATABASE = 64 * 1024
SLICES = 40
"""Slices of real conversations taken for one format at most."""
LINES = 8
"""Lines of a slice."""
NOBODY = "nobody"
"""Stands for the format of files that no reader takes."""


class Sample(NamedTuple):
    """Files of one carrier."""

    format: str
    files: Files


def samples(*, real: bool = True) -> dict[str, tuple[Sample, ...]]:
    """Samples by format, every reader among the keys; the same on every run.

    Slices of real conversations are among them where these are on this machine, if asked for.
    """
    found: dict[str, list[Sample]] = {one.NAME: [] for one in readers()}
    for sample in (*_made(), *_kept(), *(_slices() if real else ())):
        found.setdefault(sample.format, []).append(sample)
    spare = [sample for held in found.values() for sample in held[:2]]
    return {name: tuple(held or spare) for name, held in sorted(found.items()) if name != NOBODY}


def _format(content: bytes, name: str) -> str:
    src = Source.of_bytes(content, name)
    if content.startswith(b"PK"):
        inside = [one for one in members(src, Found()) if isinstance(one, Source)]
        chosen = [choose(one) for one in inside]
    else:
        src.as_note = name.endswith(".md")
        chosen = [choose(src)]
    return next((one.NAME for one in chosen if hasattr(one, "NAME")), NOBODY)


def _sample(content: bytes, name: str) -> Sample:
    return Sample(_format(content, name), ((name, content),))


DISCORD = {
    "guild": {"id": "1", "name": "Harbour"},
    "channel": {"id": "2", "type": "GuildTextChat", "category": "c", "name": "tides"},
    "dateRange": {"after": None, "before": None},
    "messages": [
        {
            "id": "10", "type": "Default", "timestamp": "2026-01-02T10:00:00+00:00",
            "content": "When does <@4> see the ebb turn? :wave:", "isPinned": False,
            "author": {"id": "3", "name": "mara", "nickname": "Mara", "isBot": False},
            "attachments": [{"id": "5", "url": "https://a.b/c.png", "fileName": "c.png"}],
            "embeds": [{"title": "Tables", "url": "https://a.b/t", "description": "Of all ports"}],
            "mentions": [{"id": "4", "name": "olaf", "isBot": False}], "reactions": [],
        },
        {
            "id": "11", "type": "Reply", "timestamp": "2026-01-02T10:05:00+00:00",
            "content": "Six hours after the flood.", "author": {"id": "4", "name": "olaf"},
            "reference": {"messageId": "10", "channelId": "2", "guildId": "1"},
        },
        {
            "id": "12", "type": "Reply", "timestamp": "2026-01-02T12:05:00+00:00",
            "content": "Noted.", "author": {"id": "6", "name": "log", "isBot": True},
            "reference": {"messageId": "11", "channelId": "2", "guildId": "1"},
        },
    ],
    "messageCount": 3,
}  # fmt: skip
ISSUE = {
    "number": 7, "title": "The gauge reads low at ebb", "state": "CLOSED", "url":
    "https://github.com/a/harbour/issues/7", "createdAt": "2026-01-02T10:00:00Z",
    "closedAt": "2026-01-03T10:00:00Z", "author": {"login": "mara"},
    "authorAssociation": "MEMBER", "body": "It shows 2 cm less than #3 said.",
    "comments": [
        {"id": "c1", "author": {"login": "olaf"}, "authorAssociation": "NONE",
         "body": "Salt on the float? See https://github.com/a/harbour/pull/8",
         "createdAt": "2026-01-02T11:00:00Z"},
        {"id": "c2", "author": {"login": "helper[bot]", "is_bot": True},
         "body": "Closed for want of words.", "createdAt": "2026-01-03T10:00:00Z"},
    ],
}  # fmt: skip
PULL = {
    **ISSUE, "number": 8, "title": "Rinse the float",
    "reviews": [{"id": "r1", "author": {"login": "mara"}, "state": "APPROVED", "body": "Good.",
                 "submittedAt": "2026-01-02T12:00:00Z"}],
}  # fmt: skip
DOCUMENTS = {
    "discord.json": DISCORD,
    "issues.json": [ISSUE, PULL],
    "archive.json": {"magic": "E!vIA5L86J2I", "repo": "a/harbour", "issues": [ISSUE],
                     "pulls": [PULL]},
    "gitlab.json": [{"iid": 9, "title": "Ebb", "description": "Low", "web_url":
                     "https://gitlab.com/a/h/-/issues/9", "created_at": "2026-01-02T10:00:00Z",
                     "author": {"username": "mara"}, "notes": [{"id": 1, "body": "Yes",
                     "author": {"username": "olaf"}, "created_at": "2026-01-02T11:00:00Z"}]}],
}  # fmt: skip
"""Conversations of formats that no file of the tests has."""
SLACK = {
    "channels.json": [{"id": "C1", "name": "tides", "members": ["U1", "U2"]}],
    "users.json": [{"id": "U1", "name": "mara", "profile": {"real_name": "Mara"}},
                   {"id": "U2", "name": "olaf"}],
    "tides/2026-01-02.json": [
        {"type": "message", "user": "U1", "ts": "1767348000.000100", "thread_ts":
         "1767348000.000100", "text": "When does <@U2> see the <https://a.b/t|ebb> turn &amp; go?"},
        {"type": "message", "user": "U2", "ts": "1767348300.000200", "thread_ts":
         "1767348000.000100", "text": "Six hours after.", "files": [{"name": "t.png"}]},
        {"type": "message", "subtype": "channel_join", "user": "U2", "ts": "1767348301.0"},
    ],
    "tides/2026-01-03.json": [
        {"type": "message", "subtype": "bot_message", "bot_id": "B1", "username": "log",
         "ts": "1767434400.000100", "text": "Gauge is back"},
    ],
}  # fmt: skip


def _made() -> Iterator[Sample]:
    for name, document in DOCUMENTS.items():
        yield _sample(json.dumps(document).encode(), name)
    days = tuple((f"export/{name}", json.dumps(told).encode()) for name, told in SLACK.items())
    yield Sample("slack", days)
    for turn_ids in (True, False):
        talk = CodexTalk("c1", turn_ids=turn_ids, forked_from_id="c0").play(CODEX_MOVES)
        yield _sample(b"\n".join(json.dumps(one).encode() for one in talk.records), "c1.jsonl")
    ours = ClaudeTalk("aaaaaaaa-0000-4000-8000-000000000001").play(["ask", "answer", *CLAUDE_MOVES])
    yield _sample(b"".join(ours.encoded()), "aaaaaaaa-0000-4000-8000-000000000001.jsonl")


def _kept() -> Iterator[Sample]:
    """Files of the tests, of the shared cases; folders that are one source as one sample."""
    seen: set[bytes] = set()
    for place in PLACES:
        for one in find((str(place),), Found()) if place.is_dir() else ():
            if not isinstance(one, Source) or one.name.endswith("expected.json"):
                continue
            if one.inside:
                files = tuple((f"export/{name}", src.peek(DATABASE)) for name, src in one.inside)
                yield Sample(_chosen(one), files)
            elif one.file is not None and one.file.is_file():
                content = one.file.read_bytes()
                limit = DATABASE if content.startswith(b"SQLite") else SMALL
                if content not in seen and len(content) <= limit:
                    seen.add(content)
                    yield _sample(content, one.file.name)


def _chosen(src: Source) -> str:
    reader = choose(src)
    return reader.NAME if reader is not None and hasattr(reader, "NAME") else NOBODY


def _slices() -> Iterator[Sample]:
    """Pieces of real conversations, where they are on this machine."""
    taken: dict[str, int] = {}
    for file in sorted(CORPORA.rglob("*")) if CORPORA.is_dir() else ():
        if file.suffix not in {".jsonl", ".json", ".md", ".html"} or "locomo" in file.parts:
            continue
        for content in _pieces(file):
            sample = _sample(content, file.name)
            if taken.get(sample.format, 0) < SLICES:
                taken[sample.format] = taken.get(sample.format, 0) + 1
                yield sample


def _pieces(file: Path) -> Iterator[bytes]:
    content = file.read_bytes()
    if file.suffix == ".json":
        try:
            value = json.loads(content)
        except ValueError:
            return
        held = value if isinstance(value, list) else [value]
        small = [one for one in held if len(json.dumps(one)) < SMALL][:4]
        if small:
            yield json.dumps(small if isinstance(value, list) else small[0]).encode()
        return
    lines = content.split(b"\n")
    step = LINES if file.suffix == ".jsonl" else 60
    for start in (0, len(lines) // 2):
        piece = b"\n".join([*lines[:1], *lines[start : start + step]])
        if len(piece) < SMALL:
            yield piece
