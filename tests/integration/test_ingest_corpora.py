"""Real conversations, where they are at hand: counts, losses, and whose words become turns."""

import json
from datetime import UTC, datetime

import pytest

from graphstore.model.conversation import Role
from ingest.envelopes import ENVELOPES, open_block
from tests.ingest_memory import Memory

NOW = datetime(2100, 1, 1, tzinfo=UTC)
COUNTS = {
    "claude-code/entire-cli": (87, 0),
    "claude-code/m-claude": (49, 6),
    "claude-code/session-share": (12, 1),
    "specstory": (66, 2),
    "chatgpt": (7, 0),
    "codex": (2, 1),
    "claude-ai": (18, 2),
    "gemini-cli": (3, 1),
    "aider": (577, 556),
    "llm-sqlite": (4, 0),
    "oasst": (100, 0),
    "bookminder": (7, 0),
}
"""Threads with turns, and empty ones."""


@pytest.fixture(scope="module", params=sorted(COUNTS))
def read(request, shared):
    folder = shared / "corpora" / request.param
    if not folder.is_dir():
        pytest.skip("these conversations are not on this machine")
    store = Memory()
    report = store.ingest(folder, now=NOW)
    return request.param, folder, store, report


@pytest.mark.slow
def test_every_session_is_one_thread_and_nothing_is_lost_whole(read):
    name, _, store, report = read
    empty = sum(one.count for one in report.codes if one.code == "empty_thread")
    full = [one for one in store.threads.values() if one.turns]
    assert (len(full), empty) == COUNTS[name]
    assert report.exit_code == 0


@pytest.mark.slow
def test_no_words_of_a_tool_become_a_persons(read):
    name, folder, store, _ = read
    results = {text for file in sorted(folder.rglob("*.jsonl")) for text in tool_results(file)}
    human = [
        turn.text
        for thread in store.threads.values()
        for turn in thread.turns
        if turn.role is Role.HUMAN
    ]
    assert human
    assert [text for text in human if text in results] == []
    assert [text for text in human if open_block(text).text != text] == []
    opening = tuple(f"<{tag}>" for tag in ENVELOPES)
    assert [text for text in human if text.startswith(opening)] == []
    assert name


def tool_results(file):
    for line in file.read_bytes().split(b"\n"):
        try:
            value = json.loads(line)
        except ValueError:
            continue
        message = value.get("message") if isinstance(value, dict) else None
        content = message.get("content") if isinstance(message, dict) else None
        for block in content if isinstance(content, list) else ():
            if isinstance(block, dict) and isinstance(block.get("content"), str):
                yield block["content"].strip()


@pytest.mark.slow
def test_a_second_run_finds_nothing_new(read):
    _, folder, store, report = read
    records = len(store.records)
    store.files.clear()
    again = store.ingest(folder, now=NOW)
    assert len(store.records) == records
    assert (again.new, again.grown, again.same) == (0, 0, report.new)


@pytest.mark.slow
def test_the_order_of_the_files_does_not_matter(read):
    _, folder, store, _ = read
    files = sorted(file for file in folder.rglob("*") if file.is_file())
    other = Memory()
    other.ingest(*reversed(files), now=NOW)
    told = other.told()  # what is named is a note, what lies in a folder is not
    assert {one: told[one] for one in told if not one.startswith("note:")} == store.told()
