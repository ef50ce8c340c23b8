"""Copilot CLI writes one log as it goes: cut anywhere, copied or put together, it says the same."""

import json
import tempfile
from datetime import UTC, datetime
from pathlib import Path

from hypothesis import example, given
from hypothesis import strategies as st

from tests.ingest_memory import Memory

LATE = datetime(2100, 1, 1, tzinfo=UTC)
MOVES = ["ask", "say", "long", "call", "tool", "end", "agent", "back", "abort", "skill"]


def lines(session, moves):
    """The events of a session, a line each."""
    told: list[bytes] = []

    def add(kind, **data):
        number = len(told)
        event = {"type": kind, "data": data, "id": f"{session}-{number}",
                 "timestamp": f"2026-01-01T00:{number:02}:00.000Z"}  # fmt: skip
        told.append(json.dumps(event).encode() + b"\n")

    add("session.start", sessionId=session)
    for number, move in enumerate(moves):
        match move:
            case "ask":
                add("user.message", content=f"why {number}")
            case "say":
                add("assistant.message", content=f"so {number}")
            case "long":
                words = f"so {number} " * 60
                add("assistant.message", content=words, toolRequests=[{"name": "view"}])
            case "call":
                requests = [{"toolCallId": f"t{number}", "name": "view"}]
                add("assistant.message", content=f"look {number}", toolRequests=requests)
            case "tool":
                add("tool.execution_start", toolCallId=f"x{number}", toolName="bash")
            case "end":
                add("assistant.turn_end")
            case "agent":
                add("assistant.message", content=f"found {number}", parentToolCallId="c1")
            case "back":
                add("session.snapshot_rewind", upToEventId=f"{session}-{number // 2}")
            case "abort":
                add("abort")
            case _:
                add("user.message", content=f"steps {number}", source="skill-x")
    return told


moves = st.lists(st.sampled_from(MOVES), min_size=1, max_size=12).map(lambda some: ["ask", *some])


def told(*files, now=LATE):
    store = Memory()
    store.ingest(*files, now=now)
    return store.told()


@given(moves, st.floats(0, 1))
@example(["ask", "say", "end", "long"], 0.48853211009174313)
def test_a_prefix_and_then_the_whole_is_the_whole(some, share):
    content = b"".join(lines("s", some))
    cut = max(1, round(share * len(content)))
    with tempfile.TemporaryDirectory() as room:
        file = Path(room, "events.jsonl")
        file.write_bytes(content)
        fresh = datetime.fromtimestamp(file.stat().st_mtime, UTC)
        whole = told(file, now=fresh)
        store = Memory()
        file.write_bytes(content[:cut])
        store.ingest(file, now=fresh)
        file.write_bytes(content)
        store.ingest(file, now=fresh)
        assert store.told() == whole
        store.ingest(file, now=LATE)
        assert store.told() == told(file)


@given(moves, moves)
def test_sessions_one_after_the_other_in_one_file_stay_two(first, second):
    with tempfile.TemporaryDirectory() as room:
        one, two, both = (Path(room, f"{name}.jsonl") for name in ("one", "two", "both"))
        one.write_bytes(b"".join(lines("s1", first)))
        two.write_bytes(b"".join(lines("s2", second)))
        both.write_bytes(one.read_bytes() + two.read_bytes())
        assert told(both) == told(one, two)


@given(moves)
def test_a_copy_under_another_name_changes_nothing(some):
    with tempfile.TemporaryDirectory() as room:
        one, copy = Path(room, "events.jsonl"), Path(room, "copy.log")
        for file in (one, copy):
            file.write_bytes(b"".join(lines("s", some)))
        assert told(one) == told(copy, one)
