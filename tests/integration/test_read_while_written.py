"""Files read while tools write them: no half turn is ever seen, and in the end all is there."""

import json
from datetime import UTC, datetime

import pytest

from tests.claude_talk import WORDS, a_session
from tests.codex_talk import Talk as CodexTalk
from tests.ingest_memory import Memory

ONE = "aaaaaaaa-0000-4000-8000-000000000001"
LATE = datetime(2100, 1, 1, tzinfo=UTC)
EARLY = datetime(2000, 1, 1, tzinfo=UTC)


def flat():
    said = [("user", WORDS), ("assistant", "Because of the vent."), ("user", "And the film?")]
    said.append(("assistant", "The film too."))
    lines = (json.dumps({"role": role, "content": text}, ensure_ascii=False) for role, text in said)
    return "".join(f"{line}\n" for line in lines).encode()


AIDER = f"""
# aider chat started at 2026-02-01 10:00:00

> aider v0.5

#### {WORDS}

Because of the vent.

#### And the film?
#### Is it thick?

The film too. It is
thick.
""".encode()

WRITTEN = {
    "claude-code": (f"{ONE}.jsonl", a_session()),
    "codex": (
        f"rollout-2026-04-01T09-00-00-{ONE}.jsonl",
        b"".join(CodexTalk(ONE).play(["ask", "work", "answer", "ask", "answer"]).encoded()),
    ),
    "generic": ("log.jsonl", flat()),
    "aider": (".aider.chat.history.md", AIDER),
}

STEP = {"claude-code": 29, "codex": 23, "generic": 1, "aider": 1}
"""Bytes written between two readings: the longer a file, the more."""


def prints(store):
    return {turn.fingerprint for thread in store.threads.values() for turn in thread.turns}


@pytest.mark.parametrize("name", list(WRITTEN))
def test_byte_by_byte_no_half_turn_is_seen(tmp_path, name):
    called, content = WRITTEN[name]
    file = tmp_path / called
    file.write_bytes(content)
    whole = Memory()
    whole.ingest(file, now=LATE)
    store = Memory()
    for end in (*range(1, len(content), STEP[name]), len(content)):
        file.write_bytes(content[:end])
        store.ingest(tmp_path, now=EARLY, resume_bytes=0)
        assert prints(store) <= prints(whole)
    store.ingest(tmp_path, now=LATE, resume_bytes=0)
    assert store.told() == whole.told()
