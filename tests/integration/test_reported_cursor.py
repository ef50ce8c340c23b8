"""Shapes of the editor Cursor, and of its agent's transcripts, that other tools failed on.

Each test names the public report whose shape it has; the words are made up.
"""

import json
import sqlite3
from datetime import UTC, datetime

import pytest

from tests.reported import Taken, jsonl

SECONDS = 1767225600
"""2026-01-01T00:00:00Z."""


# --- its database

CHAT = "11111111-0000-4000-8000-000000000001"


def cursor(folder, *bubbles, items=(), rows=(), name="state.vscdb", **head):
    """A database with one conversation if there are bubbles, and other rows of its two tables."""
    heads = [{"bubbleId": f"b{number}", "type": one["type"]} for number, one in enumerate(bubbles)]
    held = {f"bubbleId:{CHAT}:b{number}": one for number, one in enumerate(bubbles)}
    if bubbles:
        held[f"composerData:{CHAT}"] = {"composerId": CHAT, "fullConversationHeadersOnly": heads,
                                        "createdAt": SECONDS * 1000, **head}  # fmt: skip
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    base = sqlite3.connect(file)
    for table, cells in (("cursorDiskKV", {**held, **dict(rows)}), ("ItemTable", dict(items))):
        base.execute(f"CREATE TABLE {table} (key TEXT UNIQUE, value BLOB)")
        base.executemany(
            f"INSERT INTO {table} VALUES (?, ?)",  # noqa: S608 - two fixed words
            [(key, json.dumps(value)) for key, value in cells.items()],
        )
    base.commit()
    base.close()
    return Taken(file)


ASKED = {"type": 1, "text": "why does the kettle hum"}
ANSWERED = {"type": 2, "text": "water sings in it"}


def test_only_the_key_names_the_conversation(tmp_path):
    """siropkin/budi#557: bubbles without an id of a conversation and without a time."""
    taken = cursor(tmp_path, ASKED, ANSWERED)
    assert taken.said == ["h why does the kettle hum", "a water sings in it"]
    assert [turn.at for turn in taken.thread.turns] == [None, None]
    assert taken.exit == 0


def test_old_answers_have_the_time_of_their_request(tmp_path):
    """S2thend/cursor-history#13: no ``createdAt``; never the time of reading in its place."""
    timed = {**ANSWERED, "timingInfo": {"clientRpcSendTime": (SECONDS + 60) * 1000}}
    taken = cursor(tmp_path, ASKED, timed)
    assert [turn.at for turn in taken.thread.turns] == [
        None,
        datetime(2026, 1, 1, 0, 1, tzinfo=UTC),
    ]


def test_calls_of_tools_are_bubbles_without_words(tmp_path):
    """kenn-io/agentsview#168: they count with the answer that follows them."""
    call = {"type": 2, "text": "", "capabilityType": 15,
            "toolFormerData": {"name": "read_file", "status": "completed"}}  # fmt: skip
    taken = cursor(tmp_path, ASKED, call, ANSWERED, subComposerIds=["other"])
    assert taken.said == ["h why does the kettle hum", "a water sings in it"]
    assert taken.calls == {"read_file": 1}


def test_blobs_of_the_agent_are_not_read(tmp_path):
    """tuo-lei/vibe-replay#279: a second copy of the words, with the system's among them."""
    blob = {"role": "user", "content": "why does the kettle hum"}
    taken = cursor(tmp_path, ASKED, ANSWERED, rows=[("agentKv:blob:0a", blob)])
    assert taken.said == ["h why does the kettle hum", "a water sings in it"]
    assert "duplicate" not in taken.counts


def test_a_conversation_of_empty_bubbles_is_empty(tmp_path):
    """tuo-lei/vibe-replay#298: placeholders only."""
    taken = cursor(tmp_path, {"type": 1, "text": ""}, {"type": 2, "text": ""})
    assert taken.threads == []
    assert (taken.codes["empty_thread"], taken.exit) == (1, 3)


def test_chats_of_before_the_composer(tmp_path):
    """somogyijanos/cursor-chat-export#12: in the other table, or nowhere at all."""
    tab = {"tabId": "t1", "chatTitle": "T", "bubbles": [
        {"type": "user", "text": "why does the kettle hum"},
        {"type": "ai", "rawText": "water sings in it"},
    ]}  # fmt: skip
    key = "workbench.panel.aichat.view.aichat.chatdata"
    taken = cursor(tmp_path / "old", items=[(key, {"tabs": [tab]})])
    assert taken.said == ["h why does the kettle hum", "a water sings in it"]
    assert cursor(tmp_path / "none").threads == []


# --- transcripts of its agent

SESSION = "22222222-0000-4000-8000-000000000002"
LOG = f"projects/w-kitchen/agent-transcripts/{SESSION}"


def turn(role, *parts):
    texts = [{"type": "text", "text": part} if isinstance(part, str) else part for part in parts]
    return {"role": role, "message": {"content": texts}}


def asking(text, when=""):
    return turn("user", f"{when}<user_query>\n{text}\n</user_query>")


def test_lines_with_a_role_and_no_type(tmp_path):
    """vectorize-io/hindsight#2464, melagiri/code-insights#312: and lines of how it ended."""
    taken = Taken(jsonl(
        tmp_path, f"{LOG}/{SESSION}.jsonl",
        asking("why does the kettle hum"),
        turn("assistant", "let me look", {"type": "tool_use", "name": "Read",
                                          "input": {"path": "kettle.md"}}),
        turn("assistant", "water sings in it"), {"type": "turn_ended", "status": "success"},
        {"role": "user", "message": {"content": "and the pan"}}, turn("assistant", "it does not"),
    ))  # fmt: skip
    assert taken.said == [
        "h why does the kettle hum", "a water sings in it", "h and the pan", "a it does not",
    ]  # fmt: skip
    assert (taken.thread.source, taken.thread.native_id) == ("cursor", SESSION)
    assert taken.counts == {"turn": 4, "interim": 1, "meta": 1}
    assert (taken.calls, taken.codes, taken.exit) == ({"Read": 1}, {}, 0)


def test_thoughts_left_out_leave_a_mark(tmp_path):
    """receptron/mulmoterminal#2072: at the end of the words, or instead of any."""
    taken = Taken(jsonl(
        tmp_path, f"{LOG}/{SESSION}.jsonl", asking("why does the kettle hum"),
        turn("assistant", "[REDACTED]"), turn("assistant", "water sings in it\n\n[REDACTED]"),
    ))  # fmt: skip
    assert taken.said == ["h why does the kettle hum", "a water sings in it"]
    assert taken.counts == {"turn": 2, "thinking": 1}


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        ("Tuesday, Jul 21, 2026, 1:11 PM (UTC+3)", datetime(2026, 7, 21, 10, 11, tzinfo=UTC)),
        ("Friday, Jan 2, 2026, 12:05 AM (UTC-3:30)", datetime(2026, 1, 2, 3, 35, tzinfo=UTC)),
        ("Friday, Jan 2, 2026, 12:05 AM (UTC)", datetime(2026, 1, 2, 0, 5, tzinfo=UTC)),
        ("Friday, Jan 2, 2026, 9:05 AM", datetime(2026, 1, 2, 9, 5, tzinfo=UTC)),
        ("Friday, Feb 31, 2026, 9:05 AM", None),
        ("Friday, Mai 2, 2026, 9:05 AM", None),
    ],
)
def test_the_time_of_a_prompt_stands_in_its_text(tmp_path, told, expected):
    """ctxrs/ctx#956: beside what was typed, and in no field."""
    asked = asking("why does the kettle hum", f"<timestamp>{told}</timestamp>\n")
    taken = Taken(jsonl(tmp_path, f"{LOG}/{SESSION}.jsonl", asked, turn("assistant", "water")))
    assert taken.said == ["h why does the kettle hum", "a water"]
    assert taken.thread.turns[0].at == expected


def test_the_agents_of_a_session_lie_below_it(tmp_path):
    """microsoft/AI-Engineering-Coach#264: nobody typed what an agent was sent to do."""
    agent = "33333333-0000-4000-8000-000000000003"
    jsonl(tmp_path, f"{LOG}/{SESSION}.jsonl", asking("look"), turn("assistant", "the tea shelf"))
    jsonl(tmp_path, f"{LOG}/subagents/{agent}.jsonl",
          turn("user", "list the shelf"), turn("assistant", "tea, salt"))  # fmt: skip
    taken = Taken(tmp_path)
    sent = next(one for one in taken.threads if one.native_id == agent)
    assert [link.kind.value for link in sent.lineage] == ["subagent_of"]
    assert [(one.role.value, one.text) for one in sent.turns] == [
        ("other", "list the shelf"), ("assistant", "tea, salt"),
    ]  # fmt: skip


def test_a_session_is_in_the_database_and_in_a_transcript(tmp_path):
    """kenn-io/agentsview#168: one conversation, and the database holds more of it."""
    cursor(tmp_path, ASKED, ANSWERED)
    jsonl(tmp_path, f"agent-transcripts/{CHAT}/{CHAT}.jsonl",
          asking("why does the kettle hum"), turn("assistant", "water sings in it"))  # fmt: skip
    taken = Taken(tmp_path)
    assert taken.said == ["h why does the kettle hum", "a water sings in it"]
    assert taken.codes["duplicate_carrier"] == 1


def test_lines_that_are_no_messages_are_told(tmp_path):
    """centauri-ai/coslash#184: unknown types, roles and shapes beside the words."""
    taken = Taken(jsonl(
        tmp_path, f"{LOG}/{SESSION}.jsonl", asking("why"), {"type": "mood", "value": 3},
        {"role": "user", "message": {"content": [{"type": "tool_result", "content": "x"}]}},
        {"role": "narrator", "message": {"content": "no"}}, turn("user", ""),
        turn("assistant", {"type": "tool_use", "name": 7, "input": None}), turn("assistant", 5),
    ))  # fmt: skip
    assert taken.said == ["h why"]
    assert taken.counts == {"turn": 1, "meta": 1, "tool": 2, "lost": 1, "empty": 1, "thinking": 1}
    assert taken.codes == {"unknown_record": 1, "bad_message": 1}
