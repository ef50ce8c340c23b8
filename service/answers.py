"""What operations answer with, beside the values of the packages below."""

from typing import Literal

from graphstore.model.backup import Manifest
from graphstore.model.base import Instant, Value
from graphstore.model.hypothesis import (
    HYPOTHESIS_WORDS,
    AnyHypothesis,
    Claim,
    CounterEvidence,
    Standing,
)
from graphstore.model.query import Fault, Notice, Salvaged
from graphstore.model.record import Count
from ingest.model import IngestReport
from service.settings import Setting
from topology.model import Seed


class StageTime(Value):
    """CPU seconds of one stage and the peak memory of the process after it."""

    stage: str
    cpu_s: float
    peak_mb: float


class ForgottenThread(Value):
    """A thread that goes."""

    thread_id: str
    title: str | None
    turns: int
    """Of its own: a prefix that it shares with its parent is the parent's."""


class Forgotten(Value):
    """What goes, or went, with some threads."""

    done: bool = False
    """False for a plan."""
    threads: tuple[ForgottenThread, ...] = ()
    counts: tuple[Count, ...] = ()
    """Turns, questions, concepts, journeys, waypoints and hypotheses."""
    adopted: tuple[Count, ...] = ()
    """Turns that a kept thread shares with one that goes, and keeps."""
    files: tuple[str, ...] = ()
    """Recomputed files of the workspace that are removed."""
    pieces: int = 0
    """Pieces of removed text that were looked for in every file."""
    listed: tuple[str, ...] = ()
    """Files of the owner that quote them; they were not touched."""
    left: tuple[str, ...] = ()
    """Other files that still hold one: empty unless something is wrong."""


class UpReport(Value):
    """What ``clew up`` did, stage by stage, and where page and report are."""

    ingest: IngestReport
    threads: int
    turns: int
    questions: int
    concepts: int
    links: int
    journeys: int
    seeds: tuple[Count, ...] = ()
    """Reported, per shape."""
    hypotheses: tuple[Count, ...] = ()
    """Standing now, per rule."""
    parked: int = 0
    dream: str
    """Outcome of the dream cycle, with the reason where nothing came out."""
    page: str | None = None
    report: str | None = None
    page_missing: str | None = None
    """Why there is no page."""
    stages: tuple[StageTime, ...] = ()


class WrittenFiles(Value):
    """Page and report, as paths."""

    page: str | None
    report: str
    markdown: str
    page_missing: str | None = None
    """Why there is no page."""


class Status(Value):
    """The state of a workspace."""

    workspace: str
    engine: str
    threads: int
    lineages: int
    turns: int
    questions: int
    concepts: int
    journeys: int
    seeds: int
    hypotheses: int
    parked: int
    records: int
    carriers: int
    unmasked: int
    """Threads that were taken in without masking."""
    losses: tuple[Count, ...]
    """By code, over all carriers as last read."""
    last_dream: Instant | None
    last_dream_outcome: str
    queued: int
    notices: tuple[Notice, ...]
    next_action: str


class Verified(Value):
    """Everything that does not hold, and how much was checked."""

    records: int
    turns: int
    faults: tuple[Fault, ...]


class BackedUp(Value):
    """A backup, and what it holds."""

    path: str
    size: int
    """Bytes."""
    manifest: Manifest


class Restored(Value):
    """A workspace made from a backup."""

    workspace: str
    manifest: Manifest
    faults: tuple[Fault, ...]


class Check(Value):
    """One thing that ``clew doctor`` looked at."""

    name: str
    level: Literal["good", "note", "bad", "damaged"]
    found: str
    hint: str
    """What to do; empty where all is well."""


class SecretPlace(Value):
    """Secrets of one kind in one place."""

    place: str
    """Reference of a turn, subject of a record, or name of a file."""
    kind: str
    count: int


class SecretScan(Value):
    """What looks like a secret and is not masked; never the words."""

    records: int
    kinds: tuple[Count, ...]
    places: tuple[SecretPlace, ...]


class LedgerDone(Value):
    """What became of the ledger: written out, or saved."""

    act: Literal["export", "salvage"]
    path: str = ""
    """Where an export is."""
    records: int = 0
    salvaged: Salvaged | None = None


class SettingRows(Value):
    """Settings, or what was written where."""

    rows: tuple[Setting, ...]
    written: str | None = None


class SeedTurn(Value):
    """A turn that a Seed rests on."""

    ref: str
    side: str
    title: str | None
    role: str
    at: Instant | None
    text: str


class SeedView(Value):
    """A Seed with its members by name and its turns in full."""

    seed: Seed
    sentence: str
    members: tuple[tuple[str, str, str], ...]
    """(role, node id, label)."""
    turns: tuple[SeedTurn, ...]
    functions: tuple[str, ...]
    """Dream functions that want this shape."""


class ShapeRow(Value):
    """A shape and what it means."""

    name: str
    about: str
    functions: tuple[str, ...]


class FormatRow(Value):
    """A reader or an export format."""

    name: str
    direction: str
    """read or write."""
    tier: str
    about: str


class LinkRow(Value):
    """Two questions, or two concepts, that may be the same, by name."""

    one_id: str
    one: str
    other_id: str
    other: str
    score: float


class HypothesisRow(Value):
    """A hypothesis as it is shown: marked, judged, with its evidence resolved."""

    words: str = HYPOTHESIS_WORDS
    hypothesis: AnyHypothesis
    standing: Standing
    use: str
    """How it may be used when asked for: quiet, ask_to_confirm, reopen_source or silent."""
    src_label: str
    dst_label: str
    claims: tuple[Claim, ...]
    counter: tuple[CounterEvidence, ...]
    failed: tuple[str, ...] = ()
    """Checks that a parked draft did not pass."""
