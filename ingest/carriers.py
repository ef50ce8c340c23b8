"""Files and members of a run, and which of them are copies that hold the same thread."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from graphstore.model.carrier import PendingTitle, ResumePoint
from graphstore.model.record import Count
from ingest.clean import CleanThread, say_alike
from ingest.identity import Whole, begin_alike, is_derived, told
from ingest.model import Source, Tally

EXPORT: Final = 2
"""Rank of carriers that are exports."""


@dataclass(slots=True)
class Carrier:
    """One file or member of the run that was read."""

    source: Source
    reader: str
    version: int
    tally: Tally
    closed: bool = True
    thread_ids: dict[str, None] = field(default_factory=dict)
    live: bool = False
    titles: list[PendingTitle] = field(default_factory=list)
    """Offered by it for any thread."""
    point: ResumePoint | None = None
    """From where it was read on."""
    whole: Whole | None = None
    """Its one thread, as long as it may be asked where it can be read on from."""


@dataclass(frozen=True, slots=True)
class Skipped:
    """One file or member that was left closed, as it was known."""

    path: str
    name: str
    root: str
    reader: str
    tally: Tally
    """Codes that were met in it when it was read."""
    thread_ids: tuple[str, ...]


@dataclass(slots=True)
class Archive:
    """One archive of the run that was opened."""

    source: Source
    outside: Tally
    """Codes of what belongs to no member that was read."""
    ignored: tuple[Count, ...] = ()
    """Members that were left alone, by reason."""


def count_copies(threads: Sequence[CleanThread], carriers: Sequence[Carrier]) -> None:
    """Count carriers of one thread beyond the first, unless they are halves of a file."""
    seen: list[CleanThread] = []
    for thread in threads:
        twin = next((one for one in seen if _overlap(one, thread)), None)
        if twin is not None:
            tally = carriers[thread.carrier].tally
            if _one_export(twin, thread, carriers):
                tally.note("duplicate_thread", thread.raw.where or None)
            else:
                tally.note("duplicate_carrier")
        seen.append(thread)


def _one_export(one: CleanThread, other: CleanThread, carriers: Sequence[Carrier]) -> bool:
    """Whether two carriers are one file, or shards of one export."""
    first, second = carriers[one.carrier].source, carriers[other.carrier].source
    one_archive = first.check is not None and first.root == second.root
    exported = one.raw.rank == EXPORT and _folder(first) == _folder(second)
    shards = exported and _is_shard(first, second)
    return first is second or one_archive or shards


def _overlap(one: CleanThread, other: CleanThread) -> bool:
    """Whether two carriers of one id tell the same, so that one is a copy."""
    if not one.turns or not other.turns:
        return one.raw.first_parent is None and other.raw.first_parent is None
    keys = set() if one.raw.placed else {turn.raw.key for turn in one.turns} - {None}
    if any(turn.raw.key in keys for turn in other.turns):
        return True
    if is_derived(one.raw) and is_derived(other.raw):
        return begin_alike(told(one.turns), told(other.turns))
    return say_alike(one.turns, other.turns)


def _folder(src: Source) -> tuple[str, ...]:
    return src.parts[:-1]


def _is_shard(one: Source, other: Source) -> bool:
    """``conversations-000.json`` and its like."""
    stems = [src.parts[-1].rpartition(".")[0].rstrip("0123456789") for src in (one, other)]
    return one is not other and stems[0] == stems[1] and stems[0].endswith("-")
