"""Histories made to be slow are read in a time that grows with their length only."""

import json
import time

import pytest

from ingest.model import Source, Tally
from ingest.sniff import reader_named
from tests.codex_talk import Talk

SIZE = 2000


def lines(records):
    return b"\n".join(json.dumps(one).encode() for one in records)


def rolled_back(size):
    talk = Talk("x")
    for _ in range(size):
        talk.item("assistant", talk.text())
    for _ in range(size):
        talk.do_back()
        talk.add("event_msg", type="collab_agent_spawn_end", new_thread_id="z")
    return lines(talk.records)


def told_again(size):
    talk = Talk("x").play(["ask"])
    for _ in range(size):
        talk.item("assistant", "same")
    return lines(talk.records)


def begun_alike(size):
    talk = Talk("x").play(["ask"])
    for number in range(size):
        talk.item("assistant", f"one two three four five six seven eight {'x ' * 40}{number}")
    return lines(talk.records)


def rewound(size):
    messages = [{"type": "user", "id": f"m{n}", "content": "a"} for n in range(size)]
    return lines([{"sessionId": "g"}, *messages, *[{"$rewindTo": "m0"}] * size])


def output(size):
    return b"# aider chat started at 2026-01-02 03:04:05\n#### /run x\n" + b"> x\n\n" * size


def thoughts(size):
    message = {"uuid": "1", "sender": "assistant", "text": "<antThinking>" * size * 10}
    return lines([{"uuid": "c", "chat_messages": [message]}])


def fences(size):
    return b"You: a\nAI: b\n" + b"```x\n````\n" * size


def blanks(size):
    return b"---\nkey:" + b" \t" * size * 10 + b"x\n---\nYou: a\nAI: b\n"


def typed_ahead(size):
    head = {"type": "queue-operation", "sessionId": "s"}
    queued = [{**head, "operation": "enqueue", "content": f"and {n}"} for n in range(size)]
    asked = {"type": "user", "sessionId": "s", "message": {"content": "and 0\nand 1\nor 2"}}
    back = [{**head, "operation": "popAll"}]
    return lines([*queued, *[{**asked, "uuid": "u", "parentUuid": "p"}] * 3, *back])


@pytest.mark.parametrize(
    ("name", "made"),
    [
        ("claude-code", typed_ahead),
        ("codex", rolled_back),
        ("codex", told_again),
        ("codex", begun_alike),
        ("gemini-cli", rewound),
        ("aider", output),
        ("claude-ai", thoughts),
        ("markdown-log", fences),
        ("markdown-log", blanks),
    ],
)
def test_four_times_the_length_is_not_sixteen_times_the_work(name, made):
    def cost(size):
        src = Source.of_bytes(made(size))
        start = time.process_time()
        assert list(reader_named(name).read(src, Tally("x")))
        return time.process_time() - start

    cost(10)
    small = min(cost(SIZE) for _ in range(2))
    assert min(cost(SIZE * 4) for _ in range(2)) < 10 * small + 0.05
