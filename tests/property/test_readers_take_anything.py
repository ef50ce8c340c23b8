"""A reader never raises, never stops at a bad record, and accounts for each one it read."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.model import CODES, RawThread, ReadFailure, Source, Tally
from ingest.sniff import readers
from tests.claude_talk import MOVES, Talk
from tests.ingest_memory import Memory

DATA = Path(__file__).parents[1] / "data" / "ingest"
SAMPLES = sorted(
    file
    for file in DATA.rglob("*")
    if file.suffix in {".json", ".jsonl", ".md", ".html"} and file.stat().st_size < 8000
)
NAMES = [reader.NAME for reader in readers()]

keys = st.sampled_from([
    "type", "uuid", "parentUuid", "sessionId", "message", "content", "role", "text", "id",
    "attachment", "operation", "isSidechain", "agentId", "cwd", "timestamp", "toolUseResult",
    "mapping", "author", "parts", "create_time", "children", "parent", "current_node", "metadata",
    "messages", "conversations", "from", "value", "tool_calls", "input", "name", "prompt", "source",
    "chat", "history", "currentId", "parentId", "conversationId", "messageId", "parentMessageId",
    "isCreatedByUser", "data", "toolRequests", "agentId", "files",
    "header", "title", "time", "number", "body", "comments", "reference", "embeds", "ts",
])  # fmt: skip
anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(keys, inner, max_size=4),
    max_leaves=8,
)
words = st.sampled_from([
    "user", "assistant", "system", "summary", "attachment", "queue-operation", "session.start",
    "user.message", "assistant.message", "tool.execution_start", "session.snapshot_rewind",
])  # fmt: skip


@st.composite
def records(draw):
    value = draw(st.dictionaries(keys, anything, max_size=6))
    if draw(st.booleans()):
        value["type"] = draw(words)
    return json.dumps(value).encode()


def reader_named(name):
    return next(one for one in readers() if name == one.NAME)


def account(name, content):
    """Read bytes and see that the records add up."""
    tally = Tally("x")
    held = 0
    for one in reader_named(name).read(Source.of_bytes(content), tally):
        assert isinstance(one, RawThread | ReadFailure)
        if isinstance(one, RawThread):
            held += sum(turn.records for turn in one.turns)
            assert all(isinstance(block, str) for turn in one.turns for block in turn.blocks)
    assert tally.records == held + sum(tally.dispositions.values())
    assert set(tally.codes) <= CODES


@pytest.mark.parametrize("name", NAMES)
@given(content=st.binary(max_size=400))
def test_random_bytes_are_accounted_for(name, content):
    account(name, content)


@pytest.mark.parametrize("name", NAMES)
@given(lines=st.lists(records(), min_size=1, max_size=6), whole=st.booleans())
def test_random_json_is_accounted_for(name, lines, whole):
    account(name, b"[" + b",".join(lines) + b"]" if whole else b"\n".join(lines))


@st.composite
def damaged(draw):
    content = draw(st.sampled_from(SAMPLES)).read_bytes()
    lines = content.split(b"\n")
    match draw(st.sampled_from(["cut", "flip", "shuffle", "drop", "double"])):
        case "cut":
            return content[: draw(st.integers(0, len(content)))]
        case "flip":
            at = draw(st.integers(0, max(0, len(content) - 1)))
            bit = 1 << draw(st.integers(0, 7))
            return content[:at] + bytes([content[at] ^ bit]) + content[at + 1 :] if content else b""
        case "shuffle":
            return b"\n".join(draw(st.permutations(lines)))
        case "drop":
            at = draw(st.integers(0, len(lines) - 1))
            return b"\n".join(lines[:at] + lines[at + 1 :])
        case _:
            return content + content


@pytest.mark.parametrize("name", NAMES)
@given(content=damaged())
def test_damaged_samples_are_accounted_for(name, content):
    account(name, content)


json_lines = st.lists(records(), min_size=1, max_size=5).map(b"\n".join)


@given(content=damaged() | st.binary(max_size=300) | json_lines)
def test_a_run_over_damaged_files_is_balanced(tmp_path_factory, content):
    file = tmp_path_factory.mktemp("damaged") / "file.jsonl"
    file.write_bytes(content)
    report = Memory().ingest(file)
    assert {one.code for one in report.codes} <= CODES - {"reader_error"}
    assert (report.exit_code == 3) == (not report.threads)


@given(st.lists(st.sampled_from(MOVES), min_size=3, max_size=12), st.data())
def test_a_bad_line_costs_one_line(some, data):
    lines = Talk("aaaaaaaa-0000-4000-8000-000000000001").play(["ask", "answer", *some]).encoded()
    at = data.draw(st.integers(0, len(lines) - 1))
    broken = [*lines[:at], b'{"type": "user", oops}\n', *lines[at:]]
    tally = Tally("x")
    reader = reader_named("claude-code")
    (before,) = reader.read(Source.of_bytes(b"".join(lines)), Tally("x"))
    (after,) = reader.read(Source.of_bytes(b"".join(broken)), tally)
    assert [turn.blocks for turn in after.turns] == [turn.blocks for turn in before.turns]
    assert (tally.codes["bad_json"], tally.places["bad_json"]) == (1, [f"x:{at + 1}"])
