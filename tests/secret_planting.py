"""Secrets planted in conversations of every format, in all places that hold words."""

import io
import json
import random
import sqlite3
import zipfile
from contextlib import closing
from itertools import chain, count

from fuzz.mutate import zipped
from fuzz.samples import samples
from tests.made_up_secrets import ASSIGNED, TOKENS

SHORTEST = 8
"""Characters of a secret that can stand nowhere by chance."""
LONGEST_NAME = 180
_HELD = [(kind, secret, secret) for kind, secret in TOKENS] + [
    (kind, place.format(secret), secret)
    for kind, place, secret in ASSIGNED
    if len(secret) >= SHORTEST
]
PLANTED = [text for _, text, _ in _HELD]
IN_NAMES = [one for _, one in TOKENS if not set("/\n") & set(one) and len(one) < LONGEST_NAME]
# What a format needs to be what it is: times, kinds, and ids that other records name.
_FORM_KEYS = """
type role sender sessionId uuid parentUuid id parent content_type timestamp created_at leafUuid
source magic from record_type operation subtype current_node parent_message_uuid currentId kind
conversation_id projectHash startTime messageId agentId media_type createdAt ts thread_ts user
message_tree_id parent_id time header bubbleId composerId turn_id session_id parentId recipient
conversationId parentMessageId reference authorAssociation author_association
"""
_FORM = frozenset(_FORM_KEYS.split())
_FORM_COLUMNS = ("id", "hash", "_from", "type", "role", "utc", "key")
_FORM_LINES = ("# aider", "<!--", "_**", "---")


def canaries():
    """What must be found nowhere: every secret, lines of a key block one by one."""
    found = set()
    for kind, _, secret in _HELD:
        if kind == "private_key":
            found.update(secret.split("\n")[1:-1])
        else:
            found.add(secret.split("=", 1)[-1].split(";")[0] if kind == "cookie" else secret)
    return sorted(one.encode() for one in found if len(one) >= SHORTEST)


class Planter:
    """Puts one secret after the other into places, all of them or those that chance takes."""

    def __init__(self, chance, *, everywhere, share):
        self.chance = chance
        self.everywhere = everywhere
        self.share = share
        self.secrets = chain.from_iterable(chance.sample(PLANTED, len(PLANTED)) for _ in count())

    def wanted(self):
        return self.chance.random() < self.share

    def after(self, words):
        secret = next(self.secrets)
        return f"{words} {secret} end" if words else secret

    def into(self, content):
        if content.startswith(b"SQLite format 3"):
            return self.database(content)
        if content.startswith(b"PK"):
            with zipfile.ZipFile(io.BytesIO(content)) as archive:
                files = [(name, archive.read(name)) for name in archive.namelist()]
            return zipped(tuple((name, self.into(inner)) for name, inner in files))
        if content.lstrip(b"\xef\xbb\xbf")[:1] in (b"{", b"["):
            return self.records(content)
        return self.text(content)

    def records(self, content):
        try:
            return self.value(content)
        except ValueError:
            return b"\n".join(map(self.line, content.split(b"\n")))

    def line(self, line):
        try:
            return self.value(line)
        except (ValueError, AttributeError):
            return line

    def value(self, content):
        value = json.loads(content)
        waiting = [value]
        while waiting:
            at = waiting.pop()
            for key, inner in list(at.items() if isinstance(at, dict) else enumerate(at)):
                if isinstance(inner, dict | list):
                    waiting.append(inner)
                elif isinstance(inner, str) and (self.everywhere or key not in _FORM):
                    at[key] = self.after(inner) if self.wanted() else inner
        return json.dumps(value).encode()

    def text(self, content):
        lines = content.decode("utf-8", "replace").split("\n")
        return "\n".join(map(self.text_line, lines)).encode()

    def text_line(self, line):
        bound = line.startswith(_FORM_LINES) and not self.everywhere
        if len(line.split()) < 2 or bound or not self.wanted():
            return line
        return self.after(line.rstrip()) + ("  " if line.endswith("  ") else "")

    def database(self, content):
        with closing(sqlite3.connect(":memory:")) as held:
            held.deserialize(content)
            names = held.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
            for (table,) in names:
                for column in held.execute(f'PRAGMA table_info("{table}")').fetchall():
                    self.cells(held, table, column[1])
            held.commit()
            return held.serialize()

    def cells(self, held, table, column):
        rows = held.execute(f'SELECT rowid, "{column}" FROM "{table}"').fetchall()  # noqa: S608
        for row, cell in rows:
            words = cell.decode("utf-8", "replace") if isinstance(cell, bytes) else cell
            if not isinstance(words, str):
                continue
            if words[:1] in {"{", "["}:
                planted = self.line(words.encode()).decode()
            elif self.is_form(column) or not self.wanted():
                continue
            else:
                planted = self.after(words)
            update = f'UPDATE OR IGNORE "{table}" SET "{column}" = ? WHERE rowid = ?'  # noqa: S608
            held.execute(update, (planted, row))

    def is_form(self, column):
        return column.endswith(_FORM_COLUMNS) and not self.everywhere


def plant(folder, most):
    """Fill a folder with carriers of every format, at most so many samples of each.

    Each comes twice: with a secret in every place that is words, and with some anywhere, in
    what makes the format too. Every third folder and every second file is named by a secret.
    """
    chance = random.Random(1)  # noqa: S311 - nothing to guard here
    number = 0
    for name, held in samples(real=False).items():
        for sample in [one for one in held if one.format == name][:most]:
            for planter in (
                Planter(chance, everywhere=False, share=1.0),
                Planter(chance, everywhere=True, share=0.15),
            ):
                number += 1
                place = chance.choice(IN_NAMES) if number % 3 == 0 else f"part {number}"
                for path, content in sample.files:
                    file = folder / name / place / path
                    if len(sample.files) == 1 and number % 2:
                        file = file.with_name(f"{chance.choice(IN_NAMES)} {file.name}")
                    file.parent.mkdir(parents=True, exist_ok=True)
                    file.write_bytes(planter.into(content))
    return number
