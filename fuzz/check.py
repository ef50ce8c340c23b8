"""What must hold of a carrier, however damaged: the laws of reading, checked on one input."""

import random
import re
import resource
import signal
import tempfile
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from time import process_time
from types import FrameType
from typing import NamedTuple

from benchmarks.ingest import Nothing
from fuzz.mutate import Files, zipped
from graphstore.model.conversation import Role, Taint
from graphstore.model.record import ThreadRecord
from ingest.archives import members
from ingest.clean import CleanThread, CleanTurn, clean
from ingest.model import CODES, IngestReport, RawThread, ReadFailure, Source, Tally
from ingest.options import Options
from ingest.run import masker, run
from ingest.secrets import mask
from ingest.sniff import choose, reader_named
from ingest.walk import Found

NOW = datetime(2100, 1, 1, tzinfo=UTC)
OPTIONS = Options(salt=b"fuzz")
CONTEXT = Options(salt=b"fuzz", keep_context=True)
SECONDS = 1.0
"""CPU of one execution at most."""
STUCK = 20
"""Seconds after which an execution is broken off."""
GROWTH = 64 * 1024
"""Kilobytes by which the peak of memory may grow in one execution."""
RESET = Path("/proc/self/clear_refs")
"""Takes the highest memory so far back to that at hand."""
SPOKEN = {Role.HUMAN: Taint.HUMAN, Role.ASSISTANT: Taint.ASSISTANT}
_LONE = re.compile("[\x00\ud800-\udfff]")
_MASKERS = (masker(OPTIONS), masker(CONTEXT))


class Seen(NamedTuple):
    """What an execution came to."""

    threads: int
    turns: int
    records: int
    seconds: float


class Broken(AssertionError):
    """A law does not hold."""


def hold(what: object, law: str) -> None:
    """Raise ``Broken`` unless a law holds."""
    if not what:
        raise Broken(law)


def stuck(_signal: int, _frame: FrameType | None) -> None:
    raise Broken("ends in time")


def execute(rng: random.Random, name: str, files: Files, folder: Path) -> Seen:
    """Read one damaged sample as the reader of its format and as whatever it looks like."""
    signal.signal(signal.SIGALRM, stuck)
    signal.alarm(STUCK)
    with suppress(OSError):  # where it can be, the peak is that of this execution alone
        RESET.write_text("5")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = process_time()
    try:
        seen = _carriers(rng, name, files)
        if rng.random() < 0.02:
            _whole_run(files, folder)
    finally:
        signal.alarm(0)
    seconds = process_time() - start
    hold(seconds < SECONDS, f"takes less than {SECONDS} s of CPU: took {seconds:.2f}")
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - peak
    hold(grown < GROWTH, f"takes less than {GROWTH} kB of memory: took {grown}")
    return seen._replace(seconds=seconds)


def _carriers(rng: random.Random, name: str, files: Files) -> Seen:
    if len(files) == 1 and not files[0][1].startswith(b"PK"):
        content, path = files[0][1], files[0][0]
        sources = [Source.of_bytes(content, path)]
        forced = {name}
    else:
        content = files[0][1] if len(files) == 1 else zipped(files)
        archive = Source.of_bytes(content, "archive.zip")
        sources = [one for one in members(archive, Found()) if isinstance(one, Source)]
        forced = set()
    seen = Seen(0, 0, 0, 0.0)
    for src in sources:
        src.keep_context = rng.random() < 0.2
        src.as_note = rng.random() < 0.2
        chosen = choose(src)
        if isinstance(chosen, ReadFailure):
            hold(chosen.code in CODES, "codes are known")
        found = None if isinstance(chosen, ReadFailure) else chosen
        names = forced | ({found.NAME} if found is not None else set())
        for one in sorted(names):
            src.parsed = src.parsed if one == min(names) else {}
            seen = _read(rng, one, src, seen)
    return seen


def _read(rng: random.Random, name: str, src: Source, before: Seen) -> Seen:
    """One reading: records add up, codes are known, turns are what the store can hold."""
    tally = Tally("x")
    held = threads = turns = 0
    options = CONTEXT if src.keep_context else OPTIONS
    masked = _MASKERS[src.keep_context]
    for one in reader_named(name).read(src, tally):
        if isinstance(one, ReadFailure):
            hold(one.code in CODES, "codes are known")
            continue
        hold(isinstance(one, RawThread), "a reader gives threads or failures")
        thread = clean(one, 0, tally, options, masked, closed=True)
        _sound(thread)
        threads += 1
        turns += len(thread.turns)
        held += sum(turn.raw.records for turn in thread.turns)
        for turn in thread.turns:
            _turn(turn, again=rng.random() < 0.1)
    hold(
        tally.records == held + sum(tally.dispositions.values()), "each record has one disposition"
    )
    hold(set(tally.codes) <= CODES, "codes are known")
    return Seen(before.threads + threads, before.turns + turns, before.records + tally.records, 0.0)


def _sound(thread: CleanThread) -> None:
    """What stands beside the words can be kept: it is text."""
    raw = thread.raw
    beside = [raw.native_id, raw.project, raw.where, *raw.native_ids, *raw.models]
    beside += [*raw.participants, *(one.text for one in raw.titles)]
    beside += [one.native_id for one in raw.pointers]
    for turn in thread.turns:
        beside += [turn.raw.key, turn.raw.parent, turn.raw.speaker, *turn.raw.also, *turn.links]
        beside += [*turn.touched, *(name for name, _ in turn.calls)]
        beside += [one.name for one in turn.raw.attachments]
    for text in beside:
        hold(text is None or not _LONE.search(text), "what stands beside the words is text")


def _turn(turn: CleanTurn, *, again: bool) -> None:
    if turn.passing:
        hold(turn.raw.role is Role.ASSISTANT, "only the assistant says things in passing")
        return
    spoken = SPOKEN.get(turn.raw.role)
    hold(
        turn.raw.taint is spoken if spoken else turn.raw.taint not in SPOKEN.values(),
        "clean roles are clean",
    )
    hold(turn.text.strip(), "a turn has words")
    hold(len(turn.text.encode()) <= 3 * 2**20, "a turn is bounded")
    hold(not any(c < " " and c not in "\t\n" for c in turn.text), "no control characters")
    if again:
        hold(mask(turn.text)[0] == turn.text, "masking twice is masking once")


def _whole_run(files: Files, folder: Path) -> None:
    """The same files on disk through a whole run: valid records, a report that adds up."""
    with tempfile.TemporaryDirectory(dir=folder) as place:
        for name, content in files:
            file = Path(place, name)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content)
        given = list(run([place], Nothing(), OPTIONS, NOW))
    reports = [one for one in given if isinstance(one, IngestReport)]
    hold(reports == given[-1:], "a run ends with its report")
    hold("reader_error" not in {one.code for one in reports[0].codes}, "no reader fails")
    for one in given:
        if isinstance(one, ThreadRecord):
            numbers = [turn.number for turn in one.turns]
            hold(len(set(numbers)) == len(numbers), "numbers are given once")
            shared = max((link.split_turn or 0 for link in one.lineage), default=0)
            hold({*one.path} - {*range(shared + 1)} <= {*numbers}, "the path leads over turns")
