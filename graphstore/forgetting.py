"""Taking threads out of a workspace for good: what goes, the ledger rewritten, what is left.

Order: the request is recorded; one transaction rewrites the ledger and its tables; the graph and
every recomputed file are removed and made again; the ledger file is compacted. Each step may be
repeated, so one that was cut short is completed at the next opening.
"""

import shutil
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Final

import orjson

from graphstore import proof
from graphstore.courses import carried
from graphstore.given import Given
from graphstore.ids import concept_id, keyed_digest, question_id
from graphstore.ids import ref as ref_of
from graphstore.ledger import listed
from graphstore.model.conversation import LineageLink, Thread, Turn
from graphstore.model.hypothesis import AnyHypothesis, Hypothesis
from graphstore.model.record import (
    CycleRecord,
    EpochRecord,
    ForgetRecord,
    GoneRecord,
    JobEnd,
    JourneyRecord,
    OutcomeRecord,
    Record,
    ReviewRecord,
    Stop,
    ThreadRecord,
)
from graphstore.model.refs import SourceRefId, parse_ref
from graphstore.said import OF_CONCEPTS, OF_QUESTIONS
from graphstore.source import Source
from graphstore.threads import PREFIX_KINDS

FOLDERS: Final = ("cache", "out", "dream_calls", "quarantine", "checkpoint", "rebuild")
"""What is below them is made again, or was kept for a while only."""
OWNED: Final = ("PLAYBOOK.md", "MEMORY.md", "notes")
"""What the owner may have written: looked at, listed, never touched."""
SALT: Final = "mask.salt"
"""File of the key of all hashes of a workspace."""
_LABEL: Final = 60
_HALF: Final = 2


def thread_hash(thread_id: str, salt: bytes) -> str:
    """What a tombstone keeps of a thread id."""
    return keyed_digest(salt, b"thread:" + thread_id.encode())


def turn_hash(fingerprint: str, salt: bytes) -> str:
    """What a tombstone keeps of the fingerprint of a turn."""
    return keyed_digest(salt, b"turn:" + fingerprint.encode())


class Tombstones:
    """Threads and turns that must not come back."""

    def __init__(self, records: Iterable[ForgetRecord], salt: bytes) -> None:
        self._salt = salt
        held = tuple(records)
        self._threads = {name for record in held for name in record.threads}
        self._turns = {name for record in held for name in record.turns}

    def holds(self, thread_id: str, fingerprints: Collection[str] = ()) -> bool:
        """Whether a thread was forgotten: by its id, or as a copy by half of its longer turns.

        ``fingerprints`` are those of its turns of 20 characters and more.
        """
        if not self._threads:
            return False
        if thread_hash(thread_id, self._salt) in self._threads:
            return True
        known = sum(turn_hash(mark, self._salt) in self._turns for mark in fingerprints)
        return known > 0 and _HALF * known >= len(fingerprints)


@dataclass(slots=True)
class Going:
    """What goes with some threads; ids and counts, in order."""

    threads: tuple[str, ...]
    turns: int = 0
    adopted: dict[str, tuple[int, ...]] = field(default_factory=dict)
    """Numbers of turns that a kept thread shares with one that goes, by the kept thread."""
    questions: tuple[str, ...] = ()
    concepts: tuple[str, ...] = ()
    journeys: tuple[str, ...] = ()
    """Those that go as a whole."""
    stops: int = 0
    hypotheses: tuple[str, ...] = ()
    records: dict[int, Record] = field(default_factory=dict)
    """What stands at a place of the ledger afterwards."""


class Forgetting:
    """Works out what goes, and takes it out of the ledger's file."""

    def __init__(self, source: Source, path: Path, salt: bytes) -> None:
        self._source = source
        self._ledger = source.ledger
        self._threads = source.threads
        self._path = path
        self._salt = salt
        self._removed: frozenset[str] = frozenset()
        self._vanished: frozenset[str] = frozenset()
        self._lessened: set[str] = set()
        """Journeys that lose a waypoint."""

    # the request

    def request(self, thread_ids: Iterable[str]) -> ForgetRecord:
        """The record that asks for it."""
        removed = sorted(thread_ids)
        kept = self._kept_fingerprints(frozenset(removed))
        marks = {
            turn.fingerprint
            for thread_id in removed
            for turn in self._threads.turns(thread_id)
            if len(turn.text) >= proof.LEAST
        }
        return ForgetRecord(
            threads=tuple(sorted(thread_hash(name, self._salt) for name in removed)),
            turns=tuple(sorted(turn_hash(mark, self._salt) for mark in marks - kept)),
        )

    def _kept_fingerprints(self, removed: frozenset[str]) -> set[str]:
        kept = {
            row[0]
            for row in self._ledger.select(
                "SELECT DISTINCT json_extract(body, '$.fingerprint') FROM turn"
                " WHERE thread_id NOT IN (SELECT value FROM json_each(?))",
                (listed(sorted(removed)),),
            )
        }
        for turns in self._adopted(removed).values():
            kept.update(turn.fingerprint for turn in turns)
        return kept

    def matching(self, records: Iterable[ForgetRecord]) -> tuple[str, ...]:
        """Ids of the threads that are to go and are still here."""
        asked = {name for record in records for name in record.threads}
        return tuple(
            thread_id
            for thread_id in self._threads.ids()
            if thread_hash(thread_id, self._salt) in asked
        )

    # what goes

    def plan(self, thread_ids: Iterable[str]) -> Going:
        """Everything that goes with these threads; nothing is changed."""
        self._removed = frozenset(thread_ids)
        going = Going(tuple(sorted(self._removed)))
        going.turns = sum(len(self._threads.turns(name)) for name in going.threads)
        adopted = self._adopted(self._removed)
        going.adopted = {
            child: tuple(turn.number for turn in turns) for child, turns in adopted.items() if turns
        }
        going.questions = self._only("part", "node", " AND kind = 'question'")
        going.concepts = self._only("named", "concept")
        self._vanished = self._removed.union(going.questions, going.concepts)
        going.journeys = self._journeys_lost()
        self._vanished |= set(going.journeys)
        lost = {edge.hypothesis_id for edge in self._hypotheses() if self._loses(edge)}
        going.hypotheses = tuple(sorted(lost))
        self._rewrite(going, adopted, lost)
        return going

    def _only(self, table: str, column: str, also: str = "") -> tuple[str, ...]:
        """Nodes that these threads alone support."""
        rows = self._ledger.select(
            f"SELECT DISTINCT {column} FROM {table}"  # noqa: S608 - names of our own
            f" WHERE thread_id IN (SELECT value FROM json_each(?1)){also}"
            f" EXCEPT SELECT {column} FROM {table}"
            f" WHERE thread_id NOT IN (SELECT value FROM json_each(?1)){also} ORDER BY 1",
            (listed(sorted(self._removed)),),
        )
        return tuple(row[0] for row in rows)

    def _adopted(self, removed: frozenset[str]) -> dict[str, tuple[Turn, ...]]:
        """Turns of a shared prefix that kept threads hold themselves from now on."""
        found: dict[str, tuple[Turn, ...]] = {}
        for link in self._threads.links():
            if (
                link.parent in removed
                and link.child not in removed
                and link.kind in PREFIX_KINDS
                and link.split is not None
                and self._threads.exists(link.child)
            ):
                places = (self._threads.place(link.child, n) for n in range(1, link.split + 1))
                turns = (self._threads.turn(ref_of(*place)) for place in places)
                found[link.child] = tuple(turn for turn in turns if turn is not None)
        return found

    def _gone(self, ref: str) -> bool:
        parsed = parse_ref(ref)
        return isinstance(parsed, SourceRefId) and parsed.thread_id in self._removed

    def _hypotheses(self) -> Iterator[Hypothesis]:
        for record in self._source.dreams():
            yield from carried(record)
            if isinstance(record, CycleRecord):
                yield from (draft.hypothesis for draft in record.parked)

    def _loses(self, edge: Hypothesis) -> bool:
        """Whether a hypothesis rests on what goes: its words may quote it."""
        ends = {edge.src, edge.dst}
        return bool(ends & self._vanished) or any(map(self._gone, (*edge.refs, *edge.counter_refs)))

    def _journeys_lost(self) -> tuple[str, ...]:
        inquiries: dict[str, str] = {}
        stops: dict[str, int] = {}
        for record in self._source.journeys():
            inquiries.setdefault(record.journey_id, record.core_inquiry)
            left = sum(self._stop(stop) is not None for stop in record.stops)
            stops[record.journey_id] = stops.get(record.journey_id, 0) + left
            if left < len(record.stops):
                self._lessened.add(record.journey_id)
        return tuple(
            name
            for name, inquiry in sorted(inquiries.items())
            if question_id(inquiry) in self._vanished or not stops[name]
        )

    def _stop(self, stop: Stop) -> Stop | None:
        """A waypoint without the refs that go; None when its words are those of one."""
        if stop.refs and self._gone(stop.refs[0]):
            return None
        refs = tuple(ref for ref in stop.refs if not self._gone(ref))
        return stop if refs == stop.refs else stop.replace(refs=refs)

    # the ledger rewritten

    def _rewrite(self, going: Going, adopted: dict[str, tuple[Turn, ...]], lost: set[str]) -> None:
        filled: set[str] = set()
        labels = self._labels(going.concepts)
        touched = self._touched(self._removed, adopted)
        for entry in self._ledger.entries():
            if entry.kind == "thread" and entry.subject not in touched:
                continue
            record = entry.record()
            changed: Record | None
            match record:
                case ThreadRecord():
                    first = record.thread_id not in filled
                    filled.add(record.thread_id)
                    turns = adopted.get(record.thread_id, ()) if first else ()
                    changed = self._thread(record, turns)
                case JourneyRecord():
                    changed = self._journey(record, labels, going)
                case EpochRecord():
                    changed = None  # its labels are words of all threads; a new one is counted
                case CycleRecord():
                    changed = _cycle(record, lost, self._removed)
                case ReviewRecord() if self._names_gone(record):
                    changed = None
                case ReviewRecord():
                    other = None if self._gone(record.other or "") else record.other
                    changed = record.replace(after=_left(record.after, lost), other=other)
                case OutcomeRecord():
                    gone = record.hypothesis_id in lost or self._gone(record.ref or "")
                    changed = None if gone else record
                case _:
                    changed = record
            if changed != record:
                going.records[entry.seq] = changed or GoneRecord(was=entry.kind)

    def _names_gone(self, record: ReviewRecord) -> bool:
        """Whether the owner spoke of a question or a concept that goes."""
        ends = {record.target, record.other or record.target}
        if record.act in OF_QUESTIONS:
            return not ends.isdisjoint(self._vanished)
        return record.act in OF_CONCEPTS and not all(map(self._spelt, sorted(ends)))

    def _spelt(self, concept: str) -> bool:
        """Whether a thread that stays names a concept, be it as a spelling of another one."""
        rows = self._ledger.select(
            "SELECT label, aliases FROM named WHERE concept = ?"
            " AND thread_id NOT IN (SELECT value FROM json_each(?))",
            (self._source.said().concept(concept), listed(sorted(self._removed))),
        )
        forms = {form for label, aliases in rows for form in (label, *orjson.loads(aliases))}
        return concept in map(concept_id, forms)

    def _touched(self, removed: Iterable[str], adopted: Iterable[str]) -> frozenset[str]:
        """Threads whose records change: those that go, and those that name them as parents."""
        names = set(removed)
        children = {child for name in sorted(names) for child in self._threads.children(name)}
        return frozenset(names | children | set(adopted))

    def _labels(self, concepts: Iterable[str]) -> frozenset[str]:
        rows = self._ledger.select(
            "SELECT DISTINCT label FROM named WHERE concept IN (SELECT value FROM json_each(?))",
            (listed(sorted(concepts)),),
        )
        return frozenset(row[0] for row in rows)

    def _thread(self, record: ThreadRecord, adopted: tuple[Turn, ...]) -> ThreadRecord | None:
        if record.thread_id in self._removed:
            return None
        lineage = tuple(self._link(link) for link in record.lineage)
        held = {turn.number for turn in record.turns}
        turns = tuple(turn for turn in adopted if turn.number not in held)
        if lineage == record.lineage and not turns:
            return record
        ordered = sorted((*turns, *record.turns), key=lambda turn: turn.number)
        return record.replace(lineage=lineage, turns=tuple(ordered))

    def _link(self, link: LineageLink) -> LineageLink:
        """A link to a thread that goes keeps its place under another name: siblings stay so."""
        if link.parent not in self._removed:
            return link
        return link.replace(parent=f"forgotten:{thread_hash(link.parent, self._salt)}")

    def _journey(
        self, record: JourneyRecord, labels: frozenset[str], going: Going
    ) -> JourneyRecord | None:
        if record.journey_id in going.journeys:
            going.stops += len(record.stops)
            return None
        left = tuple(stop for one in record.stops if (stop := self._stop(one)) is not None)
        going.stops += len(record.stops) - len(left)
        told = any(label in record.path_label for label in labels)
        label = record.core_inquiry[:_LABEL] if told else record.path_label
        # words of the owner may be about what goes
        words = None if record.journey_id in self._lessened else record.frontier
        return record.replace(stops=left, path_label=label, frontier=words)

    # carrying it out

    def carry_out(self, going: Going, at: datetime) -> None:
        """Rewrite the ledger and the tables that are read from it, in one transaction."""
        removed = frozenset(going.threads)
        epochs = self._ledger.last_seq_of("epoch")
        with self._ledger.transaction() as connection:
            connection.execute(
                "DELETE FROM source_file WHERE EXISTS ("
                " SELECT 1 FROM json_each(body, '$.thread_ids') WHERE value IN"
                " (SELECT value FROM json_each(?)))",
                (listed(sorted(removed)),),
            )
            self._drop_jobs(removed.union(going.questions, going.concepts, going.journeys))
            self._ledger.rewrite(going.records)
            self._replay(self._touched(removed, going.adopted))
            self._source.epochs.clear()
            self._source.words.clear()
            Given(self._ledger).clear()
            if epochs and self._threads.ids():
                threads = (self._threads.get(name) for name in self._threads.ids())
                known = (thread for thread in threads if thread is not None)
                epoch = self._source.derive.epoch(known, self._source.roots())
                self._ledger.append(epoch, at)

    def _replay(self, names: Collection[str]) -> None:
        """Read the records of some threads again, into tables that know nothing of these."""
        touched = sorted(names)
        self._threads.forget(touched)
        entries = (entry for name in touched for entry in self._ledger.of_kind("thread", name))
        self._threads.replay(sorted(entries, key=lambda entry: entry.seq))

    def _drop_jobs(self, names: Iterable[str]) -> None:
        """Queue rows that name what goes; they are planned again."""
        wanted = tuple(names)
        with self._ledger.transaction() as connection:
            for job_id, body in self._ledger.select("SELECT job_id, body FROM job"):
                if any(name in body for name in wanted):
                    connection.execute("DELETE FROM job WHERE job_id = ?", (job_id,))

    def clear_files(self) -> tuple[str, ...]:
        """Remove recomputed files of the workspace; returns what was there."""
        removed = []
        for name in FOLDERS:
            if (self._path / name).exists():
                removed.append(f"{name}/")
                shutil.rmtree(self._path / name)
        for file in sorted(self._path.glob("vectors.*")):
            removed.append(file.name)
            file.unlink()
        return tuple(removed)


def words_of(threads: Iterable[Thread], kept: Iterable[str]) -> proof.Search:
    """What a proof looks for: pieces of removed turns that no kept text holds."""
    found = {
        piece for thread in threads for turn in thread.turns for piece in proof.pieces(turn.text)
    }
    return proof.Search(found - proof.Search(found).in_texts(kept))


def _left(edges: tuple[AnyHypothesis, ...], lost: set[str]) -> tuple[AnyHypothesis, ...]:
    return tuple(edge for edge in edges if edge.hypothesis_id not in lost)


def _cycle(record: CycleRecord, lost: set[str], removed: Collection[str]) -> CycleRecord:
    return record.replace(
        jobs=tuple(_without_id(end, removed) for end in record.jobs),
        hypotheses=_left(record.hypotheses, lost),
        changes=_left(record.changes, lost),
        parked=tuple(
            draft for draft in record.parked if draft.hypothesis.hypothesis_id not in lost
        ),
    )


def _without_id(end: JobEnd, removed: Collection[str]) -> JobEnd:
    """How a job ended, without the id of a removed thread: it may tell what it was about."""
    kind, _, focus = end.focus.partition(" ")
    return end.replace(focus=kind) if focus in removed else end
