"""What a record tells of its thread beside the turns, and whether it is news."""

import re
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Final

from graphstore.cited import is_reference
from graphstore.model.conversation import LineageLink, Thread, Turn
from graphstore.model.record import ThreadRecord
from ingest.identity import Whole

_WIKILINK: Final = re.compile(r"!?\[\[(?P<name>[^\[\]|#^\n]*[^\[\]|#^\s])[^\[\]\n]*\]\]")
"""``[[name]]``, with what may follow the name: a heading, a block, other words to show."""


def relinked(thread: Thread, links: tuple[LineageLink, ...]) -> ThreadRecord:
    """A record that only tells another lineage of a known thread."""
    head = {name: getattr(thread, name) for name in Thread.model_fields if name != "turns"}
    named = citations(thread.turns, thread.path)
    return ThreadRecord.model_validate({**head, "lineage": links, "citations": named})


def citations(turns: Iterable[Turn], path: Sequence[int]) -> tuple[str, ...]:
    """What the turns of the main line link to, as written, sorted.

    That is names of notes, numbers of issues, and addresses that stand for threads.
    """
    on_path = set(path)
    links = [link for turn in turns if turn.number in on_path for link in turn.links]
    named = (_WIKILINK.fullmatch(link) for link in links)
    names = {found["name"].strip() for found in named if found is not None}
    return tuple(sorted(names.union(filter(is_reference, links))))


def told_times(whole: Whole) -> list[datetime]:
    """Every time that turns and the heads of the best carriers tell."""
    times = [turn.at for turn in whole.turns if turn.at is not None]
    for head in whole.heads:
        if head.rank != whole.heads[0].rank:
            continue
        times += [at for at in (head.started_at, head.ended_at) if at is not None]
    return times


def says_more(record: ThreadRecord, known: Thread) -> bool:
    if record.turns or record.changes:
        return True
    names = set(Thread.model_fields) - {"turns", "thread_id", "source", "native_id", "lineage"}
    if set(record.lineage) != set(known.lineage):
        return True
    return any(getattr(record, name) != getattr(known, name) for name in sorted(names))
