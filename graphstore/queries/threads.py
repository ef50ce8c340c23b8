"""The threads of a store, newest first."""

from datetime import UTC, datetime
from typing import Final

from graphstore.model.answers import Filters, ThreadRow
from graphstore.model.conversation import Thread
from graphstore.model.knowledge import ThreadNode
from graphstore.store import Store

LONG_AGO: Final = datetime(1, 1, 1, tzinfo=UTC)


def threads(
    store: Store, limit: int = 50, *, project: str | None = None, source: str | None = None
) -> tuple[ThreadRow, ...]:
    """Threads by their last turn, undated ones last, ties by id."""
    rows = [
        _row(node)
        for node in store.nodes(ThreadNode)
        if project in (None, node.project) and source in (None, node.source)
    ]
    rows.sort(key=lambda row: row.thread_id)
    rows.sort(key=lambda row: row.ended_at or row.started_at or LONG_AGO, reverse=True)
    return tuple(rows[:limit])


def _row(node: ThreadNode) -> ThreadRow:
    return ThreadRow(
        thread_id=node.thread_id,
        title=node.title,
        source=node.source,
        project=node.project,
        started_at=node.started_at,
        ended_at=node.ended_at,
        turns=node.turn_count,
        labels=node.scope_labels,
        state=node.state,
        lineage_root=node.lineage_root,
    )


def row_of(thread: Thread, root: str) -> ThreadRow:
    """The row of a thread as the ledger has it: its labels are known to the graph only."""
    return ThreadRow(
        thread_id=thread.thread_id,
        title=thread.title,
        source=thread.source,
        project=thread.project,
        started_at=thread.started_at,
        ended_at=thread.ended_at,
        turns=len(thread.clean()),
        labels=(),
        state=thread.state.value,
        lineage_root=root,
    )


def labelled(store: Store, filters: Filters, label: str) -> Filters:
    """The same filters for the threads of one scope label only."""
    held = {node.thread_id for node in store.nodes(ThreadNode) if label in node.scope_labels}
    kept = held & set(filters.threads) if filters.threads else held
    # no names would narrow nothing: one that no thread has stands for none
    return filters.replace(threads=tuple(sorted(kept)) or ("",))
