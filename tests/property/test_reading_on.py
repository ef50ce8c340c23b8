"""Laws of reading on: a carrier that grew gives what reading it whole would have given."""

import tempfile
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests import codex_talk
from tests.claude_talk import MOVES, Talk
from tests.ingest_memory import Memory

ONE = "aaaaaaaa-0000-4000-8000-000000000001"
TWO = "bbbbbbbb-0000-4000-8000-000000000002"
LATE = datetime(2100, 1, 1, tzinfo=UTC)
"""When every file has long come to rest."""
EARLY = datetime(2000, 1, 1, tzinfo=UTC)
"""When no file has."""
FEW = settings(max_examples=max(8, settings().max_examples // 6))
"""Each example reads a file as often as it has lines, twice."""
NEVER, ALWAYS = 2**60, 0
"""From how many bytes on a carrier is read on."""
ODD = (
    *("rewind", "far rewind", "retell", "compact", "title", "plan", "agent", "model"),
    *("elsewhere", "take back", "side", "orphan", "broken", "name"),
)
moves = st.lists(st.sampled_from((*MOVES, "ask", "answer", *ODD)), min_size=4, max_size=24).map(
    lambda some: ["ask", "answer", *some]
)


class Odd(Talk):
    """Sessions with everything that reaches back."""

    def _of(self, kind):
        return [line for line in self.lines if isinstance(line, dict) and line.get("type") == kind]

    def rewind(self):
        self._back_to(self._of("assistant")[-2:])

    def far_rewind(self):
        self._back_to(self._of("assistant"))

    def _back_to(self, lines):
        if lines:
            self.parent = lines[0]["uuid"]
            self.ask()

    def retell(self):
        if spoken := self._of("user"):
            self.lines.append(spoken[len(spoken) // 2])

    def compact(self):
        self.add(type="system", subtype="compact_boundary")

    def title(self):
        words = f"Title {self.count}"
        self.lines.append({"type": "ai-title", "sessionId": self.session, "aiTitle": words})

    def name(self, kind=None):
        if kind is not None:
            return super().name(kind)
        words = f"Name {self.count}"
        self.lines.append({"type": "custom-title", "sessionId": self.session, "title": words})
        return None

    def plan(self):
        self.add(type="user", planContent="p", message={"role": "user", "content": "The plan."})

    def agent(self):
        result = {"type": "tool_result", "tool_use_id": "t", "content": "done"}
        self.add(
            type="user",
            toolUseResult={"agentId": f"a{self.count}"},
            message={"role": "user", "content": [result]},
        )

    def model(self):
        text = {"type": "text", "text": f"From another model {self.count}."}
        message = {"id": self.name("m"), "role": "assistant", "content": [text]}
        self.add(type="assistant", message={**message, "model": "claude-y", "stop_reason": None})

    def elsewhere(self):
        before, self.cwd = self.cwd, f"/w/other{self.count}"
        self.ask()
        self.cwd = before

    def take_back(self):
        words = f"Never mind {self.count}."
        fields = {"type": "queue-operation", "sessionId": self.session, "timestamp": self.at()}
        self.lines.append({**fields, "operation": "enqueue", "content": words})
        self.lines.append({**fields, "operation": "remove", "content": words})

    def side(self):
        self.add(
            type="user",
            isSidechain=True,
            agentId=f"s{self.count}",
            message={"role": "user", "content": "Do this."},
        )

    def orphan(self):
        self.parent = f"gone{self.count}"
        self.ask()

    def broken(self):
        self.lines.append(f'{{"type": "user", "uuid": "b{self.count}"')

    def encoded(self):
        import json

        return [
            (line if isinstance(line, str) else json.dumps(line)).encode() + b"\n"
            for line in self.lines
        ]


class Twice:
    """Two stores that see the same file: one reads on, the other never does."""

    def __init__(self, folder, name):
        self.file = folder / name
        self.on, self.whole = Memory(), Memory()
        self.spared = 0
        """Records that were not read again."""

    def see(self, content, now):
        self.file.write_bytes(content)
        on = self.on.ingest(self.file, now=now, resume_bytes=ALWAYS)
        whole = self.whole.ingest(self.file, now=now, resume_bytes=NEVER)
        self.spared += whole.records - on.records
        assert self.on.threads == self.whole.threads
        assert self.on.records == self.whole.records
        rows = [
            {path: row.replace(resume=None) for path, row in store.files.items()}
            for store in (self.on, self.whole)
        ]
        kept = [
            {
                path: (row.size, row.offset, row.pending_offset, row.settled, row.thread_ids)
                for path, row in some.items()
            }
            for some in rows
        ]
        assert kept[0] == kept[1]
        assert rows[0].keys() == rows[1].keys()
        for path, row in rows[0].items():
            assert (row.records, row.dispositions) == (
                rows[1][path].records,
                rows[1][path].dispositions,
            )


def every_cut(folder, name, lines, now):
    """Grow a file line by line; records spared."""
    twice = Twice(folder, name)
    for cut in range(1, len(lines) + 1):
        twice.see(b"".join(lines[:cut]), now)
    return twice.spared


def test_a_plain_session_is_read_on(tmp_path):
    talk = Odd(ONE).play(["ask", "call", "answer"] * 12)
    lines = talk.encoded()
    spared = every_cut(tmp_path, f"{ONE}.jsonl", lines, LATE)
    assert spared > len(lines) ** 2 / 3


@pytest.mark.parametrize("now", [EARLY, LATE])
@FEW
@given(some=moves)
def test_growing_line_by_line_is_as_reading_whole(some, now):
    with tempfile.TemporaryDirectory() as room:
        every_cut(Path(room), f"{ONE}.jsonl", Odd(ONE).play(some).encoded(), now)


@FEW
@given(moves, moves, st.data())
def test_growing_by_any_bytes_is_as_reading_whole(first, second, data):
    content = b"".join(Odd(ONE).play(first).encoded())
    if data.draw(st.booleans()):
        content += b"".join(Odd(TWO, "b").play(second).encoded())
    cuts = data.draw(st.lists(st.integers(1, len(content)), min_size=1, max_size=6))
    now = data.draw(st.sampled_from((EARLY, LATE)))
    with tempfile.TemporaryDirectory() as room:
        twice = Twice(Path(room), f"{ONE}.jsonl")
        for cut in (*sorted(cuts), len(content)):
            twice.see(content[:cut], now)


codex_moves = st.lists(st.sampled_from(codex_talk.MOVES), min_size=2, max_size=16).map(
    lambda some: ["ask", "answer", *some]
)
ROLLOUT = f"rollout-2026-04-01T09-00-00-{ONE}.jsonl"


@pytest.mark.parametrize("turn_ids", [True, False])
def test_a_plain_session_of_codex_is_read_on(tmp_path, turn_ids):
    talk = codex_talk.Talk(ONE, turn_ids=turn_ids).play(["ask", "work", "answer"] * 6)
    lines = talk.encoded()
    assert every_cut(tmp_path, ROLLOUT, lines, LATE) > len(lines) ** 2 / 4


@FEW
@given(some=codex_moves, turn_ids=st.booleans(), now=st.sampled_from((EARLY, LATE)))
def test_growing_sessions_of_codex_are_as_read_whole(some, turn_ids, now):
    with tempfile.TemporaryDirectory() as room:
        talk = codex_talk.Talk(ONE, turn_ids=turn_ids).play(some)
        every_cut(Path(room), ROLLOUT, talk.encoded(), now)


@FEW
@given(codex_moves, codex_moves, st.booleans(), st.data())
def test_growing_files_of_codex_are_as_read_whole(first, second, turn_ids, data):
    content = b"".join(codex_talk.Talk(ONE, turn_ids=turn_ids).play(first).encoded())
    if data.draw(st.booleans()):
        other = codex_talk.Talk(TWO, turn_ids=turn_ids, words="b").play(second)
        content += b"".join(other.encoded())
    cuts = data.draw(st.lists(st.integers(1, len(content)), min_size=1, max_size=6))
    now = data.draw(st.sampled_from((EARLY, LATE)))
    with tempfile.TemporaryDirectory() as room:
        twice = Twice(Path(room), ROLLOUT)
        for cut in (*sorted(cuts), len(content)):
            twice.see(content[:cut], now)
