"""Run as a program: do something to a store and die at a named write boundary."""

import os
import sys
from pathlib import Path

from graphstore import open_store
from tests.fake_derive import NOW, FakeDerive, a_thread_record

WHY = "Why do locks fail under load?"


def record(number):
    return a_thread_record(f"t{number}", WHY, "Because threads wait", "thanks")


def crash_at(boundary, wanted):
    seen = 0

    def fault(name):
        nonlocal seen
        seen += name == boundary
        if name == boundary and seen >= wanted:
            os._exit(9)

    return fault


def main(folder, boundary, action, times):
    armed = crash_at(boundary, int(times))
    engine = os.environ.get("CLEW_STORE__ENGINE", "auto")
    with open_store(Path(folder), FakeDerive(), engine=engine, fault=armed) as store:
        if action == "commit":
            for number in range(3, 6):
                store.commit(record(number), NOW)
        if action == "rebuild":
            store.commit(record(3), NOW)
            store.rebuild(NOW)
        if action == "checkpoint":
            store.commit(record(3), NOW)
            store.checkpoint()


if __name__ == "__main__":
    main(*sys.argv[1:])
