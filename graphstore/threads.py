"""Threads as the ledger file keeps them ready: heads, turns, lineage, citations. All derived."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final

import orjson

from graphstore.cited import is_reference, meant
from graphstore.errors import Error, StoreError
from graphstore.ids import ref as ref_of
from graphstore.ids import thread_id
from graphstore.ledger import Connection, Entry, Ledger
from graphstore.model.conversation import LineageKind, Thread, Turn
from graphstore.model.record import ThreadRecord
from graphstore.notes import Notes, noted

TABLES: Final = (
    """CREATE TABLE IF NOT EXISTS thread(
      thread_id TEXT PRIMARY KEY, seq INTEGER NOT NULL, title TEXT, native_id TEXT NOT NULL,
      body TEXT NOT NULL, citations TEXT NOT NULL)""",
    "CREATE INDEX IF NOT EXISTS thread_native ON thread(native_id)",
    "CREATE INDEX IF NOT EXISTS thread_title ON thread(title COLLATE NOCASE)",
    """CREATE TABLE IF NOT EXISTS lineage(
      child TEXT NOT NULL, place INTEGER NOT NULL, parent TEXT NOT NULL, kind TEXT NOT NULL,
      split INTEGER, PRIMARY KEY(child, place)) WITHOUT ROWID""",
    "CREATE INDEX IF NOT EXISTS lineage_parent ON lineage(parent)",
    """CREATE TABLE IF NOT EXISTS turn(
      ref TEXT PRIMARY KEY, thread_id TEXT NOT NULL, number INTEGER NOT NULL, role TEXT NOT NULL,
      text TEXT NOT NULL, at TEXT, position INTEGER, alternative INTEGER NOT NULL,
      body TEXT NOT NULL)""",
    "CREATE INDEX IF NOT EXISTS turn_place ON turn(thread_id, number)",
    """CREATE INDEX IF NOT EXISTS turn_native
      ON turn(json_extract(body, '$.native_key'), thread_id)""",
    "CREATE INDEX IF NOT EXISTS turn_key ON turn(json_extract(body, '$.native_key'))",
    """CREATE TABLE IF NOT EXISTS citation(
      name TEXT NOT NULL, thread_id TEXT NOT NULL, PRIMARY KEY(name, thread_id)) WITHOUT ROWID""",
    "CREATE INDEX IF NOT EXISTS citation_thread ON citation(thread_id)",
)
NAMES: Final = ("thread", "lineage", "turn", "citation")
_OWNER: Final = {"lineage": "child"}

PREFIX_KINDS: Final = (
    LineageKind.CONTINUES,
    LineageKind.FORKED_FROM,
    LineageKind.DUPLICATE_OF,
)
"""Lineage whose split turn ends a shared prefix; a subagent shares none."""


class TurnRewritten(StoreError):
    """The number of the turn {ref} was given to other words."""

    hint = "a changed turn takes the next number"

    def __init__(self, ref: str) -> None:
        Error.__init__(self, ref)
        self.ref = ref


@dataclass(frozen=True, slots=True)
class Link:
    """One lineage link as stored; its parent may be missing."""

    child: str
    parent: str
    kind: LineageKind
    split: int | None


@dataclass(frozen=True, slots=True)
class Grown:
    """What a thread record changes."""

    fresh: tuple[str, ...]
    """Turns that were not there before."""
    gone: tuple[str, ...]
    """Copies that leave because their parent is here; still there until ``drop``."""


def head_of(record: ThreadRecord) -> Thread:
    """The head of a thread as one record states it."""
    names = set(Thread.model_fields) - {"turns"}
    return Thread.model_validate({name: getattr(record, name) for name in names})


def _json(value: Thread | Turn) -> str:
    return value.model_dump_json()


def _row(head: Thread, turn: Turn, position: int | None) -> tuple[Any, ...]:
    off_path = position is None
    at = None if turn.at is None else turn.at.isoformat().replace("+00:00", "Z")
    return (
        head.ref(turn.number),
        head.thread_id,
        turn.number,
        turn.role.value,
        turn.text,
        at,
        position,
        int(off_path),
        _json(turn),
    )


def positions(head: Thread) -> dict[int, int]:
    """Place on the main line, from 1, by turn number; a shared prefix counts."""
    return {number: place for place, number in enumerate(head.path, start=1)}


def forms(name: str) -> set[str]:
    """Ways in which a name of a thread and a target that means it may both be written."""
    plain = name.removeprefix("thread:").split("#", 1)[0]
    return {plain.casefold(), name.casefold(), noted(name)}


def _cite(connection: Connection, head: Thread, targets: Iterable[str]) -> None:
    names = set()
    for target in targets:
        thread = meant(target, head.source, head.native_id)
        names |= forms(target) | (set() if thread is None else forms(thread_id(*thread)))
    connection.executemany(
        "INSERT INTO citation VALUES (?, ?)", [(name, head.thread_id) for name in sorted(names)]
    )


class Threads:
    """Reading and writing the derived tables; every write joins the ledger's transaction."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        with ledger.transaction() as connection:
            for statement in TABLES:
                connection.execute(statement)
            self._name_citations(connection)

    @staticmethod
    def _name_citations(connection: Connection) -> None:
        """Fill the table of cited names in a file from before there was one."""
        if connection.execute("SELECT 1 FROM citation LIMIT 1").fetchone() is None:
            for body, listed in connection.execute(
                "SELECT body, citations FROM thread WHERE citations != '[]'"
            ).fetchall():
                _cite(connection, Thread.from_json(body), orjson.loads(listed))

    # reading

    def ids(self) -> tuple[str, ...]:
        """Every thread id, sorted."""
        rows = self._ledger.select("SELECT thread_id FROM thread ORDER BY thread_id")
        return tuple(row[0] for row in rows)

    def holding(self, source: str, keys: Iterable[str]) -> tuple[str, ...]:
        """Ids of the threads of a source that store a turn with one of these native keys."""
        found: set[str] = set()
        for key in keys:
            rows = self._ledger.select(
                "SELECT DISTINCT thread_id FROM turn WHERE json_extract(body, '$.native_key') = ?",
                (key,),
            )
            found.update(row[0] for row in rows if row[0].startswith(f"{source}:"))
        return tuple(sorted(found))

    def head(self, thread_id: str) -> Thread | None:
        """A thread without its turns."""
        rows = self._ledger.select("SELECT body FROM thread WHERE thread_id = ?", (thread_id,))
        return Thread.from_json(rows[0][0]) if rows else None

    def heads(self) -> Iterator[Thread]:
        """Every thread without its turns, by id."""
        rows = self._ledger.select("SELECT body FROM thread ORDER BY thread_id")
        return (Thread.from_json(row[0]) for row in rows)

    def turns(self, thread_id: str) -> tuple[Turn, ...]:
        """The own turns of a thread, by number."""
        rows = self._ledger.select(
            "SELECT body FROM turn WHERE thread_id = ? ORDER BY number", (thread_id,)
        )
        return tuple(Turn.from_json(row[0]) for row in rows)

    def turn(self, ref: str) -> Turn | None:
        """One stored turn by its reference."""
        rows = self._ledger.select("SELECT body FROM turn WHERE ref = ?", (ref,))
        return Turn.from_json(rows[0][0]) if rows else None

    def by_native_key(self, thread_id: str, native_key: str) -> tuple[int, ...]:
        """Numbers of the turns that carry a message id of their source."""
        rows = self._ledger.select(
            "SELECT number FROM turn WHERE thread_id = ?"
            " AND json_extract(body, '$.native_key') = ? ORDER BY number",
            (thread_id, native_key),
        )
        return tuple(row[0] for row in rows)

    def get(self, thread_id: str) -> Thread | None:
        """A thread with its own turns; copies of a parent's turns are the parent's."""
        head = self.head(thread_id)
        return None if head is None else head.replace(turns=self.turns(thread_id))

    def links(self) -> tuple[Link, ...]:
        """Every lineage link, pending ones too, by child and order."""
        rows = self._ledger.select(
            "SELECT child, parent, kind, split FROM lineage ORDER BY child, place"
        )
        return tuple(
            Link(child, parent, LineageKind(kind), split) for child, parent, kind, split in rows
        )

    def links_of(self, child: str) -> tuple[Link, ...]:
        """The lineage links of one thread, in their order."""
        rows = self._ledger.select(
            "SELECT child, parent, kind, split FROM lineage WHERE child = ? ORDER BY place",
            (child,),
        )
        return tuple(
            Link(own, parent, LineageKind(kind), split) for own, parent, kind, split in rows
        )

    def children(self, parent: str) -> tuple[str, ...]:
        """Threads that name this one as a parent, sorted."""
        rows = self._ledger.select(
            "SELECT DISTINCT child FROM lineage WHERE parent = ? ORDER BY child", (parent,)
        )
        return tuple(row[0] for row in rows)

    def family(self, thread_ids: Iterable[str]) -> tuple[set[str], list[Link]]:
        """Everyone whom lineage joins to these threads, present or not, and the links."""
        found: set[str] = set()
        links: dict[tuple[str, str, str], Link] = {}
        waiting = list(thread_ids)
        while waiting:
            thread_id = waiting.pop()
            if thread_id in found:
                continue
            found.add(thread_id)
            rows = self._ledger.select(
                "SELECT child, parent, kind, split FROM lineage WHERE child = ?1 OR parent = ?1",
                (thread_id,),
            )
            for child, parent, kind, split in rows:
                links[child, parent, kind] = Link(child, parent, LineageKind(kind), split)
                waiting += [child, parent]
        return found, list(links.values())

    def exists(self, thread_id: str) -> bool:
        """Whether the store has this thread."""
        return bool(self._ledger.select("SELECT 1 FROM thread WHERE thread_id = ?", (thread_id,)))

    def holds(self, ref: str) -> bool:
        """Whether the store has this turn."""
        return bool(self._ledger.select("SELECT 1 FROM turn WHERE ref = ?", (ref,)))

    def citing(self, head: Thread) -> set[str]:
        """Threads that cite what may be a name of this one."""
        names = {head.thread_id, head.native_id, head.title or "", *head.native_ids}
        found: set[str] = set()
        for name in sorted({form for one in names for form in forms(one)}):
            rows = self._ledger.select("SELECT thread_id FROM citation WHERE name = ?", (name,))
            found.update(row[0] for row in rows)
        return found

    def citers(self) -> tuple[str, ...]:
        """Ids of the threads that cite anything, sorted."""
        rows = self._ledger.select("SELECT DISTINCT thread_id FROM citation ORDER BY 1")
        return tuple(row[0] for row in rows)

    def citations(self, thread_id: str) -> tuple[str, ...]:
        """The targets that the turns of a thread name, as written."""
        rows = self._ledger.select("SELECT citations FROM thread WHERE thread_id = ?", (thread_id,))
        return tuple(orjson.loads(rows[0][0])) if rows else ()

    def notes(self) -> Notes:
        """What notes are called and where they lie, as of now."""
        return Notes(self._ledger)

    def cited_as(self, target: str, by: str = "") -> str | None:
        """The one thread that a target written in the thread ``by`` names.

        That is by address or number, else by id or reference, native id, or title.
        """
        if is_reference(target):
            rows = self._ledger.select("SELECT native_id FROM thread WHERE thread_id = ?", (by,))
            thread = meant(target, by.partition(":")[0], str(rows[0][0]) if rows else "")
            cited = thread_id(*thread) if thread is not None else ""
            return cited if self.exists(cited) else None
        named = target.removeprefix("thread:").split("#", 1)[0]
        for condition in ("thread_id = ?", "native_id = ?", "title = ? COLLATE NOCASE"):
            rows = self._ledger.select(
                f"SELECT thread_id FROM thread WHERE {condition} LIMIT 2",  # noqa: S608 - fixed words
                (named if condition.startswith("thread_id") else target,),
            )
            if rows:
                return str(rows[0][0]) if len(rows) == 1 else None
        return None

    def cut(self, thread_id: str) -> int:
        """Last number that a parent in the store holds for this thread; 0 if none."""
        return self.cut_of(self.links_of(thread_id))

    def cut_of(self, links: Iterable[Link]) -> int:
        """Same, for links not stored yet."""
        splits = [
            link.split
            for link in links
            if link.kind in PREFIX_KINDS and link.split is not None and self.exists(link.parent)
        ]
        return max(splits, default=0)

    def place(self, thread_id: str, number: int) -> tuple[str, int]:
        """Where a turn is kept: a shared prefix is followed to the oldest ancestor here."""
        seen = {thread_id}
        while True:
            parents = [
                link.parent
                for link in self.links_of(thread_id)
                if link.kind in PREFIX_KINDS
                and link.split is not None
                and number <= link.split
                and link.parent not in seen
                and self.exists(link.parent)
            ]
            if not parents:
                return thread_id, number
            thread_id = parents[0]
            seen.add(thread_id)

    # writing

    def grow(self, record: ThreadRecord, seq: int) -> Grown | None:
        """Take one record in; None, and nothing written, when it says nothing new."""
        head = head_of(record)
        known = self.get(record.thread_id)
        turns = self._merged(known, record)
        if known is not None and known.replace(turns=()) == head:
            same_citations = self.citations(record.thread_id) == record.citations
            if turns == {turn.number: turn for turn in known.turns} and same_citations:
                return None
        before = {} if known is None else {turn.number: turn for turn in known.turns}
        moved = known is None or known.path != head.path
        with self._ledger.transaction() as connection:
            self._write_head(connection, head, record, seq)
            cut = self.cut(head.thread_id)
            own = [turn for number, turn in sorted(turns.items()) if number > cut]
            changed = [turn for turn in own if moved or before.get(turn.number) != turn]
            self._write_turns(connection, head, changed)
            gone = self._copies(head.thread_id, cut)
            if known is None:
                for child in self.children(head.thread_id):
                    gone += self._copies(child, self.cut(child))
        fresh = tuple(head.ref(turn.number) for turn in own if turn.number not in before)
        return Grown(fresh, tuple(gone))

    def _merged(self, known: Thread | None, record: ThreadRecord) -> dict[int, Turn]:
        turns = {} if known is None else {turn.number: turn for turn in known.turns}
        links = [
            Link(record.thread_id, link.parent, link.kind, link.split_turn)
            for link in record.lineage
        ]
        cut = self.cut_of(links)
        for turn in record.turns:
            before = turns.get(turn.number)
            if before is not None and before.fingerprint != turn.fingerprint:
                raise TurnRewritten(ref_of(record.thread_id, turn.number))
            if turn.number > cut:
                turns[turn.number] = turn
        for change in record.changes:
            changed = turns.get(change.number)
            if changed is not None:
                turns[change.number] = changed.replace(
                    superseded_by=change.superseded_by, source_gone=change.source_gone
                )
        return turns

    @staticmethod
    def _write_head(connection: Connection, head: Thread, record: ThreadRecord, seq: int) -> None:
        connection.execute(
            "INSERT OR REPLACE INTO thread VALUES (?, ?, ?, ?, ?, ?)",
            (
                head.thread_id,
                seq,
                head.title,
                head.native_id,
                _json(head),
                orjson.dumps(record.citations).decode(),
            ),
        )
        connection.execute("DELETE FROM citation WHERE thread_id = ?", (head.thread_id,))
        _cite(connection, head, record.citations)
        connection.execute("DELETE FROM lineage WHERE child = ?", (head.thread_id,))
        connection.executemany(
            "INSERT INTO lineage VALUES (?, ?, ?, ?, ?)",
            [
                (head.thread_id, place, link.parent, link.kind.value, link.split_turn)
                for place, link in enumerate(head.lineage)
            ],
        )

    @staticmethod
    def _write_turns(connection: Connection, head: Thread, turns: list[Turn]) -> None:
        places = positions(head)
        connection.executemany(
            "INSERT INTO turn VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
            " ON CONFLICT(ref) DO UPDATE SET role = excluded.role, text = excluded.text,"
            " at = excluded.at, position = excluded.position,"
            " alternative = excluded.alternative, body = excluded.body",
            [_row(head, turn, places.get(turn.number)) for turn in turns],
        )

    def _copies(self, thread_id: str, cut: int) -> list[str]:
        rows = self._ledger.select(
            "SELECT ref FROM turn WHERE thread_id = ? AND number <= ? ORDER BY number",
            (thread_id, cut),
        )
        return [str(row[0]) for row in rows]

    def replay(self, entries: Iterable[Entry]) -> None:
        """Take thread records in again, as committing them did."""
        for entry in entries:
            record = entry.record()
            if isinstance(record, ThreadRecord):
                grown = self.grow(record, entry.seq)
                if grown is not None:
                    self.drop(grown.gone)

    def drop(self, refs: Iterable[str]) -> None:
        """Remove rows of copies; the records that brought them stay."""
        with self._ledger.transaction() as connection:
            connection.executemany("DELETE FROM turn WHERE ref = ?", [(ref,) for ref in refs])

    def forget(self, thread_ids: Iterable[str]) -> None:
        """Remove every row of some threads, before their records are read again."""
        with self._ledger.transaction() as connection:
            for thread_id in thread_ids:
                for name in NAMES:
                    connection.execute(
                        f"DELETE FROM {name} WHERE {_OWNER.get(name, 'thread_id')} = ?",  # noqa: S608 - names of our own
                        (thread_id,),
                    )
