"""Codex sessions made up move by move, for tests of their reading."""

import json

AT = "2026-04-01T09:00:{:02d}.000Z"
MOVES = ("ask", "answer", "work", "think", "told", "alone", "back", "long", "again")


class Talk:
    """A session as Codex writes it; every message is an item, an event or both."""

    def __init__(self, native, *, turn_ids=True, words="a", **meta):
        self.native = native
        self.turn_ids = turn_ids
        self.words = words
        self.turns = 0
        self.count = 0
        self.records = []
        self.meta(native, **meta)

    def add(self, kind, **payload):
        at = AT.format(len(self.records) % 60)
        self.records.append({"timestamp": at, "type": kind, "payload": payload})

    def meta(self, native, **more):
        self.add("session_meta", id=native, cwd="/w/a", timestamp=AT.format(0), **more)

    def item(self, role, text):
        kind = "input_text" if role == "user" else "output_text"
        content = [{"type": kind, "text": text}]
        self.add("response_item", type="message", role=role, content=content)

    def event(self, role, text):
        kind = "user_message" if role == "user" else "agent_message"
        self.add("event_msg", type=kind, message=text)

    def text(self, size=1):
        self.count += 1
        return " ".join([f"{self.words}{self.count}"] * size)

    def begin(self):
        self.turns += 1
        turn_id = {"turn_id": f"{self.words}-t{self.turns}"} if self.turn_ids else {}
        self.add("turn_context", model="m-1", **turn_id)

    def play(self, moves):
        for move in moves:
            getattr(self, f"do_{move}")()
        return self

    def do_ask(self):
        self.begin()
        text = self.text()
        self.item("user", text)
        self.event("user", text)

    def do_told(self):
        self.begin()
        self.event("user", self.text())

    def do_again(self):
        self.begin()
        self.item("user", "yes")
        self.event("user", "yes")

    def do_answer(self):
        text = self.text()
        self.event("assistant", text)
        self.add("event_msg", type="token_count")
        self.item("assistant", text)

    def do_alone(self):
        self.item("assistant", self.text())

    def do_work(self):
        self.do_answer()
        self.add("response_item", type="function_call", name="shell", arguments="{}")
        self.add("response_item", type="function_call_output", output="x")

    def do_long(self):
        self.item("assistant", self.text(120))
        self.add("response_item", type="function_call", name="shell", arguments="{}")

    def do_think(self):
        self.add("response_item", type="reasoning", encrypted_content="gA")

    def do_back(self):
        self.add("event_msg", type="thread_rolled_back", num_turns=1)

    def fork(self, native):
        """Return a session that begins with a copy of this one."""
        child = Talk(native, turn_ids=self.turn_ids, words=f"{self.words}b",
                     forked_from_id=self.native)  # fmt: skip
        child.records.extend(self.records)
        return child

    def encoded(self):
        return [json.dumps(one).encode() + b"\n" for one in self.records]

    def write(self, folder):
        file = folder / f"rollout-2026-04-01T09-00-00-{self.native}.jsonl"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(b"".join(self.encoded()))
        return file
