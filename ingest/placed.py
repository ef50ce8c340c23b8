"""Threads that are known by the place of their file: edited, moved, or another of the name."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from graphstore.model.conversation import Thread
from ingest.identity import Whole
from ingest.known import Known

NAMESAKES: Final = 200
"""Stored threads looked at that hold a place of the same name."""


def native_of_place(whole: Whole, known: Known, files: Sequence[str]) -> str:
    """Native id of a thread known by its place: that of its file, or of where it was before."""
    for file in files:
        row = known.file(file)
        stored = known.thread(row.thread_ids[0]) if row and len(row.thread_ids) == 1 else None
        if stored is not None and stored.source == whole.source:
            return stored.native_id
    key = whole.turns[0].raw.key
    if key is None or known.thread(whole.thread_id) is not None:
        return whole.native_id
    words = [whole.turns[place].fingerprint for place in whole.path]
    for identity in sorted(known.holding(whole.source, (key,)))[:NAMESAKES]:
        stored = known.thread(identity)
        if stored is not None and _says(stored, words) and _is_gone(stored):
            return stored.native_id
    return whole.native_id


def is_of_place(whole: Whole, stored: Thread, files: Sequence[str]) -> bool:
    """Whether a stored thread stands for the file of this one, whatever it says now."""
    return whole.heads[0].placed and (not _files(stored).isdisjoint(files) or _is_gone(stored))


def _says(stored: Thread, words: list[str]) -> bool:
    return [turn.fingerprint for turn in stored.on_path()] == words


def _files(stored: Thread) -> set[str]:
    """Carriers that a stored thread was read from."""
    return {turn.anchor.file for turn in stored.turns if turn.anchor is not None}


def _is_gone(stored: Thread) -> bool:
    """Whether no file of a stored thread is there any more."""
    return not any(Path(file.partition("!")[0]).exists() for file in _files(stored))
