"""Run as a program: work on a workspace, saying what is committed, until the end or a kill.

``work FOLDER ENGINE ACTION [BOUNDARY]`` does one kind of work again and again; with a boundary
it kills itself there. ``check FOLDER ENGINE`` opens the workspace and prints what is found.
"""

import json
import os
import signal
import sys
import time
from collections.abc import Callable
from itertools import count, islice
from pathlib import Path

from graphstore import Store, open_store
from graphstore.backup import back_up
from graphstore.faults import Hook, no_fault
from tests.fake_derive import NOW, FakeDerive, a_cycle_record, a_thread_record

SALT = b"salt of the trials"
WORDS = ("Why do locks fail under load?", "Because threads wait", "thanks", "Which lock is fair?")
ACTIONS = ("ingest", "bulk", "land", "checkpoint", "rebuild", "backup", "forget")


def say(what: str, **more: object) -> None:
    """One line that the parent reads, whatever happens next."""
    os.write(1, json.dumps({"what": what, **more}).encode() + b"\n")


def aimed(boundary: str) -> Hook:
    """Die at the second passing of a boundary, or at the first of those that come once."""
    if not boundary:
        return no_fault
    name, _, wanted = boundary.partition(":")
    seen = 0

    def fault(passed: str) -> None:
        nonlocal seen
        seen += passed == name
        if passed == name and seen >= int(wanted or 1):
            os.kill(os.getpid(), signal.SIGKILL)

    return fault


def work(folder: str, engine: str, action: str, boundary: str = "") -> None:
    """Do one kind of work for ever, or until a boundary is passed."""
    path = Path(folder)
    with open_store(path, FakeDerive(), engine=engine, fault=aimed(boundary)) as store:
        say("open", seq=store.ledger.last_seq())
        do = {
            "ingest": ingest,
            "bulk": bulk,
            "land": land,
            "checkpoint": checkpoint,
            "rebuild": lambda store, _: store.rebuild(NOW),
            "backup": backup,
            "forget": forget,
        }[action]
        repeat(store, do)


def repeat(store: Store, do: Callable[[Store, int], object], most: int | None = None) -> None:
    """Steps without end, or a number of them, each said when it is done."""
    for step in islice(count(store.ledger.last_seq() + 1), most):
        do(store, step)
        say("done", seq=store.ledger.last_seq())


def ingest(store: Store, step: int) -> None:
    """A new thread, or one that grew."""
    store.commit(a_thread_record(f"t{step}", *WORDS[: 2 + step % 3]), NOW)


def bulk(store: Store, step: int) -> None:
    """Many threads at once: the graph is made anew where they are many."""
    with store.deferred():
        for number in range(20):
            store.commit(a_thread_record(f"b{step}-{number}", *WORDS), NOW)


def land(store: Store, step: int) -> None:
    """A dream cycle lands."""
    store.commit(a_cycle_record(cycle_id=f"dc:{step}"), NOW)


def checkpoint(store: Store, step: int) -> None:
    """A thread, and the log folded into the file."""
    ingest(store, step)
    store.checkpoint()


def backup(store: Store, step: int) -> None:
    """A thread, and a backup of all."""
    ingest(store, step)
    back_up(store.path, store.path.parent / "one.backup", NOW, "trial", force=True)


def forget(store: Store, step: int) -> None:
    """A thread comes and goes; what is cut short is completed with the key beside the store."""
    (store.path / "mask.salt").write_bytes(SALT)
    record = a_thread_record(f"f{step}", "Why does the heron wait?", *WORDS)
    store.commit(record, NOW)
    say("done", seq=store.ledger.last_seq())
    store.forget([record.thread_id], NOW, SALT)


def check(folder: str, engine: str) -> None:
    """Open, compare the graph with a fresh derivation, and say what was put right."""
    began = time.monotonic()
    with open_store(Path(folder), FakeDerive(), engine=engine) as store:
        opened = time.monotonic() - began
        say(
            "checked",
            seq=store.ledger.last_seq(),
            faults=[f"{fault.kind} {fault.subject}: {fault.detail}" for fault in store.verify()],
            notices=[notice.kind for notice in store.notices],
            opened=round(opened, 2),
        )


if __name__ == "__main__":
    {"work": work, "check": check}[sys.argv[1]](*sys.argv[2:])
