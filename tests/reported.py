"""What a run over small made-up files came to, in a form that tests can state at a glance."""

import json
from collections import Counter

from graphstore.model.conversation import Role
from tests.ingest_memory import LATE, Memory

LETTERS = {Role.HUMAN: "h", Role.ASSISTANT: "a", Role.OTHER: "o"}


class Taken:
    """Threads, codes and counts of one run into an empty store."""

    def __init__(self, *paths, **options):
        self.store = Memory()
        self.report = self.store.ingest(*paths, now=LATE, **options)
        self.threads = sorted(
            (one for one in self.store.threads.values() if one.turns),
            key=lambda one: one.thread_id,
        )
        self.codes = {one.code: one.count for one in self.report.codes}
        self.exit = self.report.exit_code

    @property
    def thread(self):
        """The only thread."""
        (thread,) = self.threads
        return thread

    @property
    def ids(self):
        return [one.thread_id for one in self.threads]

    @property
    def said(self):
        """Clean turns of the only thread, in reading order."""
        return said(self.thread)

    @property
    def off(self):
        """Turns of the only thread that are off its main line."""
        thread = self.thread
        return [told(one) for one in thread.turns if one.number not in thread.path]

    @property
    def side(self):
        """Side turns of all threads."""
        turns = [turn for thread in self.threads for turn in thread.turns]
        return [told(turn) for turn in turns if turn.role is Role.OTHER]

    @property
    def counts(self):
        """Records by what became of them."""
        return dict(Counter({one.name: one.count for one in self.report.dispositions if one.count}))

    @property
    def calls(self):
        """Tool calls of all turns, by name."""
        found: Counter[str] = Counter()
        for thread in self.threads:
            for turn in thread.turns:
                found.update({one.name: one.count for one in turn.tools.counts})
        return dict(found)


def told(turn):
    return f"{LETTERS[turn.role]} {turn.text}"


def said(thread):
    return [told(turn) for turn in thread.clean()]


def jsonl(folder, name, *records):
    """A file of lines: objects as JSON, text and bytes as they are."""
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(b"".join(_line(one) for one in records))
    return file


def _line(record):
    if isinstance(record, bytes):
        return record
    text = record if isinstance(record, str) else json.dumps(record, ensure_ascii=False)
    return text.encode("utf-8", "surrogatepass") + b"\n"


def document(folder, name, value):
    """A file of one JSON document, or of text."""
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(value if isinstance(value, str) else json.dumps(value), "utf-8")
    return file
