"""Claude Code sessions made up for tests: moves of a talk to lines of a transcript."""

import json
from datetime import UTC, datetime, timedelta

START = datetime(2026, 2, 1, tzinfo=UTC)
MOVES = (
    "ask",
    "answer",
    "call",
    "long call",
    "split call",
    "think",
    "meta",
    "progress",
    "snapshot",
    "command",
    "hook",
    "queue",
)
WORDS = "Why does the sensor read Ω — naïve, 日本?"
LONG = "On the way to the answer, one step after the other. " * 8


class Talk:
    """Lines of one session; each move adds some."""

    def __init__(self, session, salt="", cwd="/w/graph"):
        self.session = session
        self.salt = salt
        self.cwd = cwd
        self.lines = []
        self.parent = None
        self.count = 0

    def copy(self, session):
        """Another session that repeats everything so far under its own id."""
        child = Talk(session, self.salt + "-" + session[-4:], self.cwd)
        child.lines = [
            {**line, "sessionId": session} if "sessionId" in line else line for line in self.lines
        ]
        child.parent, child.count = self.parent, self.count
        return child

    def play(self, moves):
        for move in moves:
            getattr(self, move.replace(" ", "_"))()
        return self

    def name(self, kind):
        self.count += 1
        return f"{kind}{self.salt}{self.count}"

    def at(self):
        return (START + timedelta(seconds=self.count)).isoformat().replace("+00:00", "Z")

    def add(self, **fields):
        uuid = self.name("u")
        self.lines.append(
            {
                "parentUuid": self.parent,
                "isSidechain": False,
                "cwd": self.cwd,
                "sessionId": self.session,
                "uuid": uuid,
                "timestamp": self.at(),
                **fields,
            }
        )
        self.parent = uuid

    def say(self, ident, *content, stop=None):
        message = {"id": ident, "role": "assistant", "model": "claude-x", "content": list(content)}
        self.add(
            type="assistant", message={**message, "stop_reason": stop}, requestId=f"req-{ident}"
        )

    def ask(self, text=None):
        words = text or f"Question {self.count} of {self.session}?"
        self.add(type="user", message={"role": "user", "content": words})

    def answer(self, text=None):
        words = text or f"Answer {self.count} to {self.session}."
        self.say(self.name("m"), {"type": "text", "text": words}, stop="end_turn")

    def _use(self, ident):
        tool = {
            "type": "tool_use",
            "id": "t",
            "name": "Read",
            "input": {"file_path": "/w/graph/a.py"},
        }
        self.say(ident, tool)
        result = {"type": "tool_result", "tool_use_id": "t", "content": f"result {self.count}"}
        self.add(type="user", message={"role": "user", "content": [result]})

    def call(self):
        self._use(self.name("m"))

    def long_call(self):
        ident = self.name("m")
        self.say(ident, {"type": "text", "text": f"{LONG}{self.count}"})
        self._use(ident)

    def split_call(self):
        ident = self.name("m")
        self.say(ident, {"type": "thinking", "thinking": "hm"})
        self.say(ident, {"type": "text", "text": f"Let me look {self.count}."})
        self._use(ident)

    def think(self):
        self.say(self.name("m"), {"type": "thinking", "thinking": "hm"})

    def meta(self):
        self.add(type="user", isMeta=True, message={"role": "user", "content": "<skill>x</skill>"})

    def progress(self):
        self.add(type="progress", data={"copies": ["x"] * 5})

    def snapshot(self):
        self.lines.append({"type": "file-history-snapshot", "messageId": f"s{self.count}"})

    def command(self):
        text = "<command-name>/clear</command-name>\n<command-args></command-args>"
        self.add(type="user", message={"role": "user", "content": text})

    def hook(self):
        self.add(type="system", subtype="stop_hook_summary")

    def queue(self):
        words = f"Typed ahead {self.count}."
        fields = {"type": "queue-operation", "sessionId": self.session, "timestamp": self.at()}
        self.lines.append({**fields, "operation": "enqueue", "content": words})
        self.lines.append({**fields, "operation": "dequeue"})
        self.ask(words)

    def encoded(self):
        return [json.dumps(line).encode() + b"\n" for line in self.lines]

    def write(self, folder, name=None):
        folder.mkdir(parents=True, exist_ok=True)
        file = folder / (name or f"{self.session}.jsonl")
        file.write_bytes(b"".join(self.encoded()))
        return file


def a_session(moves=("ask", "split call", "answer", "queue", "answer")):
    """Bytes of a session whose first words are not all ASCII."""
    talk = Talk("aaaaaaaa-0000-4000-8000-000000000001")
    talk.ask(WORDS)
    lines = (json.dumps(line, ensure_ascii=False) for line in talk.play(moves).lines)
    return "".join(f"{line}\n" for line in lines).encode()
