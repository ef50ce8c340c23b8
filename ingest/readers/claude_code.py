"""Claude Code transcripts: ``<project>/<session>.jsonl``, subagents in their own files.

Versions seen: 2.0 and 2.1. One JSON object a line, types ``user``, ``assistant``, ``system`` and
many that are no messages. About nine of ten ``user`` records are tool results. An assistant's
message is spread over several lines with one ``message.id``. File order is the order of the
talk; ``parentUuid`` only tells rewinds. Forks and resumes repeat the records of their parent
under the same ``uuid``; times are ISO 8601 with a zone. Subagents carry ``agentId`` and are
threads of their own.
"""

import re
from collections.abc import Iterator
from typing import Any, Final

from ingest.cuts import Older, Unsure
from ingest.jsonio import Line, Record, Skip, records
from ingest.model import RawThread, ReadFailure, Score, Source, Summary, Tally, TitleCandidate
from ingest.readers._claude_records import kind_of, type_of
from ingest.readers._claude_spots import begun
from ingest.readers._claude_transcript import TYPES, SessionKey, Transcript
from ingest.shape import look

NAME: Final = "claude-code"
VERSION: Final = 1
APPENDABLE: Final = True
TIER: Final = "proven"

_SPOKEN: Final = frozenset({"user", "assistant"})
_TITLES: Final = frozenset({"summary", "ai-title", "custom-title"})
_BESIDE: Final = frozenset({"file-history-snapshot", "progress"})
_KNOWN: Final = frozenset({"type", "uuid", "parentUuid", "sessionId", "message"})
_OWNERS: Final = ("sessionId", "leafUuid", "messageId")
_SCALAR: Final = rb'(?:"[^"\\]*+(?:\\.[^"\\]*+)*+"|-?\d[\d.eE+-]*|true|false|null)'
_PROGRESS_LINE: Final = re.compile(
    rb'\s*\{(?:\s*"[^"\\]*"\s*:\s*' + _SCALAR + rb'\s*,)*?\s*"type"\s*:\s*"progress"\s*[,}]',
    re.DOTALL,
)
_PROGRESS: Final = Skip(b'"progress"', _PROGRESS_LINE)
"""A progress line, known by its scalar keys: it may hold a copy of the whole history."""
_PAIR: Final = re.compile(
    rb'\s*[{,]\s*"([^"\\]*)"\s*:\s*(?:"([^"\\]*)"|' + _SCALAR + rb")(?=\s*[,}])"
)
"""One key with a scalar value, from the opening brace on."""
_LAST_KEYS: Final = re.compile(
    rb'"uuid"\s*:\s*"([^"\\]{1,64})"\s*(?:,\s*"[^"\\]*"\s*:\s*' + _SCALAR + rb"\s*)*\}\s*\Z"
)
"""The uuid of a skipped line, where only scalar keys follow it."""
_UUID: Final = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_AGENT_FILE: Final = re.compile(r"agent-([\w-]+)\.jsonl")
_BELOW: Final = 2
"""Folders between a session's own folder and the files of its agents, the file included."""
_TITLE_KEYS: Final = ("customTitle", "aiTitle", "title", "summary")


def sniff(head: bytes, src: Source) -> Score | None:
    """Share of the first records that only this tool writes."""
    del head
    shape = look(src)
    if shape.kind not in {"lines", "dict"}:
        return None
    matching = sum(_is_ours(one) for one in shape.objects)
    return Score.by(6, shape.share(matching), "c") if matching else None


def _is_ours(record: dict[str, Any]) -> bool:
    if "sessionId" in record and "uuid" in record and "parentUuid" in record:
        return True
    return type_of(record) in TYPES and any(key in record for key in _OWNERS)


def read(src: Source, tally: Tally) -> Iterator[RawThread | ReadFailure]:
    """Read every session of one file; a file may hold several."""
    sessions = _File(src, tally)
    sessions.read()
    yield from sessions.threads()


def resume(src: Source, tally: Tally, state: str, older: Older) -> RawThread | None:
    """Read what follows a place of a session; None if it may change what was before."""
    sessions = _File(src, tally)
    sessions.go_on(state, older)
    try:
        sessions.read()
    except Unsure:
        return None
    return next(sessions.threads())


def _leading_pairs(head: bytes) -> Iterator[tuple[str, str]]:
    """Keys with text values that a line begins with."""
    at = 0
    while (pair := _PAIR.match(head, at)) is not None:
        if pair[2] is not None:
            yield pair[1].decode("ascii", "replace"), pair[2].decode("ascii", "replace")
        at = pair.end()


class _File:
    """The sessions of one file, told apart while it is read."""

    def __init__(self, src: Source, tally: Tally) -> None:
        self.src = src
        self.tally = tally
        self.transcripts: dict[SessionKey, Transcript] = {}
        self.current: Transcript | None = None
        self.session: str | None = None
        """Session id of the last record that was no agent's."""
        self.early: list[tuple[str | None, str | None]] = []
        """(uuid, parent) of lines that were skipped before any session was known."""
        self.side_roots: dict[str, str] = {}
        self.summaries: list[Summary] = []
        self.resumes = False
        """Only the rest of a file is read."""
        self.titles: list[tuple[str | None, TitleCandidate]] = []
        name = src.parts[-1] if src.parts else ""
        stem = _UUID.search(name)
        self.stem = stem[0] if stem else None
        agent = _AGENT_FILE.fullmatch(name)
        self.agent = agent[1] if agent else None

    def go_on(self, state: str, older: Older) -> None:
        """Be where a reading of the same file has been."""
        self.resumes = True
        key = SessionKey(begun(state).session)
        self.current = self.transcripts[key] = self.opened(key)
        self.current.go_on(state, older)
        self.session = key.session

    def read(self) -> None:
        """Read every record of the file, or of its rest."""
        # what was parsed before goes by its offsets in the whole file
        parsed = None if self.resumes else self.src.parsed
        with self.src.open() as stream:
            for record in records(
                stream,
                self.tally,
                _KNOWN,
                limit=self.src.record_limit,
                skip=_PROGRESS,
                skipped="meta",
                on_skip=self.skip,
                parsed=parsed,
            ):
                self.add(record)

    def add(self, record: Record) -> None:
        value = record.value
        kind = kind_of(value)
        if kind in _SPOKEN:  # nearly always
            self.transcript(value).add(record, kind)
        elif kind in _TITLES:
            self.title(value, kind)
        elif kind in _BESIDE:
            self.tally.drop("meta")
        else:
            self.transcript(value).add(record, kind)

    def skip(self, line: Line) -> None:
        """Note the uuid of a progress line, for chains of parents that lead through it.

        It hangs below whatever was read last: which is all that a chain needs of it.
        """
        last = _LAST_KEYS.search(line.raw)
        first = dict(_leading_pairs(line.head)) if last is None or self.current is None else {}
        uuid = last[1].decode("ascii", "replace") if last else first.get("uuid") or None
        if self.current is None:
            self.early.append((uuid, first.get("parentUuid")))
        elif uuid is not None:
            self.current.passed(uuid)

    def title(self, value: dict[str, Any], kind: str) -> None:
        """A title names a record of any session, or the session itself."""
        self.tally.drop("meta")
        text = next((value[key] for key in _TITLE_KEYS if isinstance(value.get(key), str)), None)
        leaf, session = value.get("leafUuid"), value.get("sessionId")
        if text is None:
            return
        if kind == "custom-title":
            owner = session if isinstance(session, str) else None
            self.titles.append((owner, TitleCandidate("user", text)))
        elif isinstance(leaf, str):
            self.summaries.append(Summary(leaf, text))
        elif kind == "ai-title":
            owner = session if isinstance(session, str) else None
            self.titles.append((owner, TitleCandidate("ai", text)))

    def transcript(self, value: dict[str, Any]) -> Transcript:
        """The transcript that a record belongs to."""
        current = self.current
        if (
            current is not None
            and value.get("sessionId") == self.session
            and not value.get("isSidechain")
        ):  # nearly always
            return current
        key = self.key(value)
        found = self.transcripts.get(key)
        if found is None:
            if self.resumes:
                raise Unsure
            found = self.resumed(key, value) or self.opened(key)
            self.transcripts[key] = found
            if self.early:
                found.begin(self.early)
                self.early = []
        if not key.agent:
            self.current, self.session = found, key.session
        found.meet(key.session)
        return found

    def opened(self, key: SessionKey) -> Transcript:
        return Transcript(
            key,
            self.tally,
            keep_context=self.src.keep_context,
            resumable=self.src.resumable and not self.transcripts,
        )

    def key(self, value: dict[str, Any]) -> SessionKey:
        session = value.get("sessionId")
        if not isinstance(session, str):
            if self.current is not None and not value.get("isSidechain"):
                return self.current.key
            session = self.current.key.session if self.current else ""
        if not value.get("isSidechain") and self.agent is None:
            return SessionKey(session)
        agent = value.get("agentId") or self.agent
        return SessionKey(session, agent if isinstance(agent, str) else self.side_root(value))

    def side_root(self, value: dict[str, Any]) -> str:
        """Root of a sidechain in a main file, by the parents of its records."""
        uuid, parent = value.get("uuid"), value.get("parentUuid")
        own = uuid if isinstance(uuid, str) else ""
        root = self.side_roots.get(parent, own) if isinstance(parent, str) else own
        if own:
            self.side_roots[own] = root
        return root

    def resumed(self, key: SessionKey, value: dict[str, Any]) -> Transcript | None:
        """An earlier session of this file that the parent of the first record stands in."""
        parent = value.get("parentUuid")
        if key.agent or not isinstance(parent, str):
            return None
        for earlier in self.transcripts.values():
            if not earlier.key.agent and parent in earlier.index:
                return earlier
        return None

    def threads(self) -> Iterator[RawThread]:
        """One raw thread for each transcript; titles and summaries ride on the first."""
        found = list(dict.fromkeys(self.transcripts.values()))
        parts = self.src.parts
        below = self.agent is not None and len(parts) > _BELOW and parts[-2] == "subagents"
        stem = parts[-_BELOW - 1] if below else self.stem
        raws = [one.thread(NAME, stem, parts) for one in found]
        if not raws:
            raws = [RawThread(NAME, self.stem, rank=1)]
        raws[0].summaries = tuple(self.summaries)
        if len(raws) > 1 or self.summaries:
            raws[0].cuts = None
        for owner, title in self.titles:
            owned = [raw for raw in raws if owner is None or owner in raw.native_ids]
            for raw in owned[:1]:
                raw.titles = (title, *raw.titles)
        yield from raws
