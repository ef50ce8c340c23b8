"""Forgetting on request: which threads are meant, what goes with them, and the proof."""

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

from graphstore import proof
from graphstore.errors import NotFound
from graphstore.forgetting import FOLDERS, OWNED, Going, words_of
from graphstore.model.conversation import Thread
from graphstore.model.record import Count
from graphstore.store import Store
from service.answers import Forgotten, ForgottenThread
from service.moments import WrongValue, moment

WHATS = ("thread", "project", "before", "query")


def chosen(store: Store, what: str, value: str, *, lineage: bool) -> tuple[str, ...]:
    """Ids of the threads that are meant, sorted.

    A thread by id; a project by its path or the last part of it; threads whose last turn is
    before a day; threads with a turn that holds some words as written, whatever their case.
    Raises WrongValue, NotFound.
    """
    match what:
        case "thread":
            found = [value] if store.thread(value) is not None else []
        case "project":
            found = [each.thread_id for each in store.threads() if _in_project(each, value)]
        case "before":
            limit = moment(value, "before")
            found = [each.thread_id for each in store.threads() if _ended_before(each, limit)]
        case "query":
            found = [each.thread_id for each in store.threads() if _says(each, value)]
        case _:
            raise WrongValue("what", what, ", ".join(WHATS))
    if not found:
        raise NotFound(what, value)
    if lineage:
        roots = store.roots()
        families = {roots[thread] for thread in found}
        found = [thread for thread, root in roots.items() if root in families]
    return tuple(sorted(found))


def _in_project(thread: Thread, value: str) -> bool:
    held = thread.project or ""
    return bool(value) and (held == value or Path(held).name == value)


def _ended_before(thread: Thread, limit: datetime | None) -> bool:
    moments = [turn.at for turn in thread.turns if turn.at is not None]
    moments += [at for at in (thread.started_at, thread.ended_at) if at is not None]
    return limit is not None and bool(moments) and max(moments) < limit


def _says(thread: Thread, words: str) -> bool:
    low = words.casefold()
    return bool(low.strip()) and any(low in turn.text.casefold() for turn in thread.turns)


def planned(store: Store, threads: tuple[str, ...], salt: bytes) -> Forgotten:
    """What would go; nothing is changed."""
    return _told(store, store.going(threads, salt), _present(store.path))


def forgotten(
    store: Store, threads: tuple[str, ...], salt: bytes, now: datetime, *, also_notes: bool
) -> Forgotten:
    """Remove threads for good, look through every file, and tell what was found."""
    removed = [thread for name in threads if (thread := store.thread(name)) is not None]
    plan = planned(store, threads, salt)
    search = words_of(removed, ())
    store.forget(threads, now, salt)
    kept = (turn.text for thread in store.threads() for turn in thread.turns)
    search = proof.Search(search.wanted - search.in_texts(kept))
    hits = proof.scan(store.path, search)
    if also_notes:
        for hit in hits:
            if hit.file.startswith("notes/"):
                (store.path / hit.file).unlink()
        hits = proof.scan(store.path, search)
    listed = tuple(hit.file for hit in hits if hit.file.split("/")[0] in OWNED)
    left = tuple(hit.file for hit in hits if hit.file not in listed)
    return plan.replace(done=True, pieces=len(search.wanted), listed=listed, left=left)


def _present(folder: Path) -> tuple[str, ...]:
    names = [f"{name}/" for name in FOLDERS if (folder / name).exists()]
    return (*names, *(file.name for file in sorted(folder.glob("vectors.*"))))


def _told(store: Store, going: Going, files: tuple[str, ...]) -> Forgotten:
    heads = (store.thread(name) for name in going.threads)
    return Forgotten(
        threads=tuple(
            ForgottenThread(thread_id=head.thread_id, title=head.title, turns=len(head.turns))
            for head in heads
            if head is not None
        ),
        counts=tuple(_counts(going)),
        adopted=tuple(
            Count(name=child, count=len(numbers)) for child, numbers in going.adopted.items()
        ),
        files=files,
    )


def _counts(going: Going) -> Iterator[Count]:
    yield Count(name="turns", count=going.turns)
    yield Count(name="questions", count=len(going.questions))
    yield Count(name="concepts", count=len(going.concepts))
    yield Count(name="journeys", count=len(going.journeys))
    yield Count(name="waypoints", count=going.stops)
    yield Count(name="hypotheses", count=len(going.hypotheses))
