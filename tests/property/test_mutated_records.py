"""Sound records with any of their values replaced by any other are still accounted for."""

import json
import sqlite3
from contextlib import closing
from copy import deepcopy
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.model import CODES, RawThread, ReadFailure, Source, Tally
from ingest.sniff import reader_named
from tests.codex_talk import MOVES, Talk

DATA = Path(__file__).parents[1] / "data" / "ingest"

anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=5,
)

CODEX = [
    {
        "type": "session_meta",
        "payload": {"id": "x", "source": {"subagent": {"thread_spawn": {"parent_thread_id": "p"}}}},
    },
    *Talk("x", forked_from_id="y").play(MOVES).records,
    {
        "type": "event_msg",
        "payload": {
            "type": "item_completed",
            "turn_id": "t",
            "item": {"type": "AgentMessage", "content": [{"type": "text", "text": "a"}]},
        },
    },
    {"type": "event_msg", "payload": {"type": "collab_agent_spawn_end", "new_thread_id": "z"}},
    {
        "type": "response_item",
        "payload": {
            "type": "message",
            "role": "user",
            "content": [{"type": "input_image", "image_url": "data:image/png;base64,AA=="}],
        },
    },
    {"type": "response_item", "payload": {"type": "custom_tool_call", "input": "*** Add File: a"}},
    {"session_id": "s", "ts": 1761959019, "text": "t"},
]
CLAUDE_AI = [
    {
        "uuid": "c",
        "name": "T",
        "current_leaf_message_uuid": "2",
        "chat_messages": [
            {"uuid": "1", "sender": "human", "text": "q", "parent_message_uuid": None},
            {
                "uuid": "2",
                "sender": "assistant",
                "parent_message_uuid": "1",
                "created_at": "2026-01-01T10:00:00Z",
                "content": [
                    {"type": "text", "text": "a"},
                    {"type": "tool_use", "name": "f"},
                    {"type": "tool_result", "content": [{"text": "r"}]},
                ],
                "attachments": [
                    {"file_name": "n", "file_size": 1, "extracted_content": "e"},
                    {"file_name": "m"},
                ],
                "files": [{"file_name": "p"}],
            },
            {"uuid": "3", "sender": "human", "text": "q", "parent_message_uuid": "1"},
        ],
    },
]
HEAD = {
    "sessionId": "g",
    "projectHash": "h",
    "startTime": "2026-01-01T10:00:00Z",
    "kind": "subagent",
}
GEMINI = [
    HEAD,
    {"id": "1", "type": "user", "content": [{"text": "q"}], "displayContent": "q"},
    {
        "id": "2",
        "type": "gemini",
        "content": "a",
        "model": "m",
        "thoughts": [],
        "toolCalls": [
            {
                "name": "f",
                "args": {"path": "p"},
                "result": [{"functionResponse": {"response": {"output": "o"}}}],
            }
        ],
    },
    {"$set": {"summary": "s", "directories": ["/w"], "messages": [{"id": "1", "type": "user"}]}},
    {"$rewindTo": "1"},
    {"id": "4", "type": "user", "content": [{"inlineData": {"mimeType": "i", "data": "AA=="}}]},
]
DETAILS = '<details type="tool_calls" name="f">\n</details>\na'
OPENWEBUI = [
    {
        "id": "w",
        "title": "T",
        "created_at": 1767225600,
        "chat": {
            "models": ["m"],
            "history": {
                "currentId": "b",
                "messages": {
                    "a": {
                        "parentId": None,
                        "role": "user",
                        "content": [{"type": "text", "text": "q"}, {"type": "image_url"}],
                        "files": [{"name": "n", "file": {"data": {"content": "c"}, "meta": {}}}],
                    },
                    "b": {"parentId": "a", "role": "assistant", "content": DETAILS, "model": "m"},
                    "c": {
                        "parentId": "a",
                        "role": "assistant",
                        "timestamp": 1767225600,
                        "content": "",
                        "output": [{"type": "message", "content": [{"text": "a"}]}],
                    },
                },
            },
        },
    },
]
LIBRECHAT = {
    "conversationId": "l",
    "title": "T",
    "options": {"model": "m"},
    "messages": [
        {
            "messageId": "1",
            "parentMessageId": "00000000-0000-0000-0000-000000000000",
            "isCreatedByUser": True,
            "text": "q",
            "files": [{"filename": "n", "bytes": 1}],
            "children": [
                {
                    "messageId": "2",
                    "parentMessageId": "1",
                    "sender": "GPT",
                    "createdAt": "2026-01-01T10:00:00Z",
                    "content": [
                        {"type": "text", "text": {"value": "a"}},
                        {"type": "tool_call", "tool_call": {"function": {"name": "f"}}},
                        {"type": "think"},
                    ],
                }
            ],
        },
        {"messageId": "3", "parentMessageId": "lost", "sender": "User", "text": "q"},
    ],
}
COPILOT = [
    {"type": "session.start", "data": {"sessionId": "s", "context": {"cwd": "/w"}}},
    {"type": "user.message", "id": "1", "data": {"content": "q", "attachments": [{"path": "p"}]}},
    {
        "type": "assistant.message",
        "id": "2",
        "data": {
            "content": "a",
            "phase": "commentary",
            "toolRequests": [{"toolCallId": "t", "name": "f", "arguments": {"path": "p"}}],
        },
    },
    {"type": "tool.execution_start", "data": {"toolCallId": "u", "toolName": "f"}},
    {"type": "tool.execution_complete", "data": {"result": {"content": "r"}}},
    {
        "type": "assistant.message",
        "agentId": "g",
        "data": {"content": "a", "parentToolCallId": "t"},
    },
    {"type": "session.snapshot_rewind", "data": {"upToEventId": "2"}},
    {"type": "session.title_changed", "data": {"title": "T"}},
]
CURSOR: dict[str, object] = {
    "composerData:1": {
        "name": "T",
        "createdAt": 1767225600000,
        "modelConfig": {"modelName": "m"},
        "subagentInfo": {"parentComposerId": "0"},
        "workspaceIdentifier": {"uri": {"fsPath": "/w"}},
        "fullConversationHeadersOnly": [
            {"bubbleId": "a", "type": 1},
            {"bubbleId": "b", "type": 2},
            {"bubbleId": "c", "type": 2},
        ],
        "conversationMap": {"c": {"type": 2, "thinking": {"text": "t"}}},
    },
    "composerData:2": {"conversation": [{"type": 1, "text": "q"}]},
    "bubbleId:1:a": {
        "type": 1,
        "richText": {"root": {"children": [{"type": "text", "text": "q"}]}},
        "context": {"fileSelections": [{"uri": {"path": "p"}}]},
        "images": [{"path": "p"}],
    },
    "bubbleId:1:b": {
        "type": 2,
        "text": "a",
        "createdAt": "2026-01-01T10:00:00Z",
        "toolFormerData": {"name": "f", "rawArgs": {"path": "p"}, "result": "r"},
    },
}
EARLY: dict[str, object] = {
    "composer.composerData": {
        "allComposers": [{"composerId": "1", "conversation": [{"type": 1, "text": "q"}]}]
    },
    "workbench.panel.aichat.view.aichat.chatdata": {
        "tabs": [{"tabId": "1", "bubbles": [{"type": "ai", "text": "a"}]}]
    },
}
OLDEST = json.loads((DATA / "25-codex-oldest-single.json").read_bytes())
DISCORD = {
    "guild": {"id": "1", "name": "G"},
    "channel": {"id": "2", "type": "GuildTextChat", "name": "c"},
    "messages": [
        {
            "id": "3",
            "type": "Default",
            "timestamp": "2026-01-01T10:00:00Z",
            "content": "<@5> q",
            "author": {"id": "4", "name": "a", "isBot": False},
            "mentions": [{"id": "5", "name": "b"}],
            "attachments": [{"fileName": "n", "fileSizeBytes": 1}],
            "embeds": [{"title": "t", "fields": [{"name": "n", "value": "v"}]}],
        },
        {
            "id": "6",
            "type": "Reply",
            "timestamp": "2026-01-01T10:01:00Z",
            "content": "",
            "author": {"id": "5", "isBot": True},
            "embeds": [{"description": "d"}],
            "stickers": [{"name": "s"}],
            "reference": {"messageId": "3", "channelId": "2"},
        },
    ],
}
ISSUE = {
    "number": 1,
    "title": "T",
    "url": "https://github.com/o/r/issues/1",
    "state": "CLOSED",
    "author": {"login": "a"},
    "authorAssociation": "OWNER",
    "body": "see #2",
    "createdAt": "2026-01-01T10:00:00Z",
    "closedAt": "2026-01-02T10:00:00Z",
    "comments": {"nodes": [{"id": 1, "author": {"login": "x[bot]"}, "body": "b"}]},
    "reviews": [{"author": "c", "body": "", "comments": [{"body": "n"}]}],
    "discussions": [{"notes": [{"system": True, "body": "s"}]}],
}
ARCHIVE = {"magic": "m", "repo": "o/r", "issues": [ISSUE], "pulls": [ISSUE]}
TAKEOUT = [
    {
        "header": "Gemini Apps",
        "title": "Prompted q Attached 1 file.",
        "time": "2026-01-01T10:00:00Z",
        "subtitles": [{"name": "Attached 1 file."}, {"name": "- n", "url": "u"}],
        "safeHtmlItem": [{"html": "<p>a<ul><li>b"}],
    },
    {"header": "Gemini Apps", "title": "Used x", "time": "2026-01-01T10:00:00Z"},
]
CURSOR_LOG = [
    {
        "role": "user",
        "message": {
            "content": [
                {
                    "type": "text",
                    "text": "<timestamp>Monday, Jul 20, 2026, 1:11 PM (UTC+3)</timestamp>\n"
                    "<user_query>\nq\n</user_query>",
                },
            ],
        },
    },
    {
        "role": "assistant",
        "message": {
            "content": [
                {"type": "text", "text": "a [REDACTED]"},
                {"type": "tool_use", "name": "n", "input": {"path": "p"}},
            ],
        },
    },
    {"type": "turn_ended", "status": "success"},
    {"role": "user", "message": {"content": [{"type": "tool_result", "content": "r"}]}},
]
CASES = [
    ("discord", [DISCORD], False),
    ("issues", [ISSUE], False),
    ("issues", [ARCHIVE], False),
    ("issues", [{"data": {"repository": {"issues": {"nodes": [ISSUE]}}}}], False),
    ("takeout", TAKEOUT, False),
    ("codex", CODEX, True),
    ("codex", [OLDEST], False),
    ("claude-ai", CLAUDE_AI, False),
    ("gemini-cli", GEMINI, True),
    ("gemini-cli", [{**HEAD, "messages": GEMINI[1:3]}], False),
    ("openwebui", OPENWEBUI, False),
    ("librechat", [LIBRECHAT], False),
    ("copilot-cli", COPILOT, True),
    ("cursor", CURSOR_LOG, True),
]


def places(value):
    """Every place of a value: the container and the key or index in it."""
    waiting = [value]
    while waiting:
        at = waiting.pop()
        for key, inner in at.items() if isinstance(at, dict) else enumerate(at):
            yield at, key
            if isinstance(inner, dict | list):
                waiting.append(inner)


def account(name, content, *, keep_context):
    reader = reader_named(name)
    src = Source.of_bytes(content)
    src.keep_context = keep_context
    reader.sniff(src.peek(), src)
    tally = Tally("x")
    for one in reader.read(src, tally):
        assert isinstance(one, RawThread | ReadFailure)
        for turn in one.turns if isinstance(one, RawThread) else ():
            assert all(isinstance(block, str) for block in turn.blocks)
            tally.drop("turn", turn.records)
    assert tally.balanced
    assert set(tally.codes) <= CODES


def changed(data, sound):
    """A copy with one to three of its values taken out or replaced."""
    records = deepcopy(sound)
    for _ in range(data.draw(st.integers(1, 3))):
        found = list(places(records))
        if not found:
            break
        held, key = data.draw(st.sampled_from(found))
        if isinstance(held, dict) and data.draw(st.booleans()):
            del held[key]
        else:
            held[key] = data.draw(anything)
    return records


@pytest.mark.parametrize(("name", "sound", "is_lines"), CASES)
@given(data=st.data())
def test_any_value_may_be_any_other(name, sound, is_lines, data):
    records = changed(data, sound)
    if is_lines:
        text = "\n".join(json.dumps(one) for one in records)
    else:
        text = json.dumps(records if len(records) > 1 or name == "claude-ai" else records[0])
    account(name, text.encode(), keep_context=data.draw(st.booleans()))


def database(rows, items):
    with closing(sqlite3.connect(":memory:")) as connection:
        for table, held in (("cursorDiskKV", rows), ("ItemTable", items)):
            connection.execute(f"CREATE TABLE {table} (key TEXT UNIQUE, value BLOB)")
            text = f"INSERT INTO {table} VALUES (?, ?)"  # noqa: S608 - two fixed words
            cells = [(key, None if one is None else json.dumps(one)) for key, one in held.items()]
            connection.executemany(text, cells)
        connection.commit()
        return bytes(connection.serialize())


@given(data=st.data(), is_early=st.booleans())
def test_any_value_of_a_database_may_be_any_other(data, is_early):
    rows, items = ({}, changed(data, EARLY)) if is_early else (changed(data, CURSOR), EARLY)
    account("cursor", database(rows, items), keep_context=data.draw(st.booleans()))


MARKS = [
    "# aider chat started at 2026-01-02 03:04:05", "#### Ask  ", "#### /run x", "> out", "> out  ",
    "```", "~~~~ md", "", " ", "words", "words  ", "**You:** a", "**Claude:**", "You: a", "AI:",
    "---", "title: T", "- a", "key: [a", "## User", "## Assistant",
]  # fmt: skip


@pytest.mark.parametrize("name", ["aider", "markdown-log"])
@given(lines=st.lists(st.sampled_from(MARKS), max_size=25), end=st.sampled_from(["\n", "\r\n"]))
def test_any_order_of_marks_is_accounted_for(name, lines, end):
    account(name, end.join(lines).encode(), keep_context=False)
