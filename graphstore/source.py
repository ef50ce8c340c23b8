"""What projection reads: the ledger, the tables beside it, and the derivation."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Final

from graphstore import courses, fold, schema, shards
from graphstore.claims import DREAMS as DREAMT
from graphstore.claims import Claims
from graphstore.derivation import Derive
from graphstore.errors import LedgerDamaged
from graphstore.ids import ref
from graphstore.joining import joined
from graphstore.ledger import Ledger
from graphstore.model.knowledge import Edge, Meta, Node
from graphstore.model.record import (
    CycleRecord,
    DreamRecord,
    EpochRecord,
    JourneyRecord,
    OutcomeRecord,
    ReviewRecord,
)
from graphstore.model.refs import SourceRefId, parse_ref
from graphstore.parts import Parts
from graphstore.said import Said, said
from graphstore.shards import Drawn
from graphstore.threads import Threads

DREAMS: Final = ("cycle", "review", "outcome")
"""Kinds of the records that hypotheses come from."""
DRAWN: Final = 4
"""Threads whose rows are remembered."""


@dataclass(frozen=True, slots=True)
class Source:
    """What projection reads: the ledger, its derived tables, and the derivation."""

    ledger: Ledger
    threads: Threads
    parts: Parts
    claims: Claims
    derive: Derive
    engine_name: str = "kuzu"
    epochs: dict[int, EpochRecord] = field(default_factory=dict)
    """The last epoch by its place in the ledger: reading one takes long."""
    words: dict[int, Said] = field(default_factory=dict)
    """What the owner said of questions and concepts, by the place of the last review."""
    drawn: dict[str, Drawn] = field(default_factory=dict)
    """Threads that changed last, as the graph has them: some of them will change again."""

    def epoch(self) -> EpochRecord:
        """The last epoch, or an empty one before the first."""
        seq = self.ledger.last_seq_of("epoch")
        if seq not in self.epochs:
            self.epochs.clear()
            self.epochs[seq] = self._read_epoch()
        return self.epochs[seq]

    def _read_epoch(self) -> EpochRecord:
        entry = self.ledger.newest("epoch", "epoch")
        if entry is None:
            return EpochRecord(extractor=self.derive.version, lineages=0)
        record = entry.record()
        if not isinstance(record, EpochRecord):
            reason = "a record of another kind is filed as an epoch"
            raise LedgerDamaged(entry.seq, reason)
        return record

    def said(self) -> Said:
        """What the owner said of pairs of questions and of concepts."""
        seq = self.ledger.last_seq_of("review")
        if seq not in self.words:
            self.words.clear()
            self.words[seq] = self.said_until(seq)
        return self.words[seq]

    def said_until(self, seq: int) -> Said:
        """What the owner had said when the ledger ended with a record."""
        found = (entry.record() for entry in self.ledger.of_kind("review") if entry.seq <= seq)
        return said(record for record in found if isinstance(record, ReviewRecord))

    def stirred(self, applied: int) -> frozenset[str]:
        """Threads to derive again for what the owner said since a record.

        Pairs of questions of which something else holds now are marked on the way.
        """
        before, now = self.said_until(applied), self.said()
        self.parts.stir(now.other_pairs(before))
        return self.parts.naming_threads(now.other_concepts(before))

    def journeys(self, journey_id: str | None = None) -> tuple[JourneyRecord, ...]:
        """Every journey record, or those of one Journey, in ledger order.

        Their concepts are those that stand for the recorded ones now.
        """
        words = self.said()
        found = (entry.record() for entry in self.ledger.of_kind("journey", journey_id))
        return tuple(
            record.replace(concepts=words.concepts(record.concepts)) if words.merged else record
            for record in found
            if isinstance(record, JourneyRecord)
        )

    def cycles(self) -> tuple[CycleRecord, ...]:
        """Every cycle record in ledger order."""
        found = (entry.record() for entry in self.ledger.of_kind("cycle"))
        return tuple(record for record in found if isinstance(record, CycleRecord))

    def dreams(self) -> tuple[DreamRecord, ...]:
        """Every record that hypothesis edges are made from, in ledger order."""
        entries = [entry for kind in DREAMS for entry in self.ledger.of_kind(kind)]
        found = (entry.record() for entry in sorted(entries, key=lambda entry: entry.seq))
        return tuple(
            record
            for record in found
            if isinstance(record, CycleRecord | ReviewRecord | OutcomeRecord)
        )

    def roots(self) -> dict[str, str]:
        """Lineage root of every thread."""
        return fold.roots(self.threads.ids(), self.threads.links())

    def meta(self, applied: int) -> tuple[Meta, ...]:
        """What the graph says about itself."""
        return (
            Meta(name="applied", value=str(applied)),
            Meta(name="engine", value=self.engine_name),
            Meta(name="extractor", value=self.derive.version),
            Meta(name="head", value=self.ledger.checksum_at(applied).hex()),
            Meta(name="schema", value=str(schema.SCHEMA_VERSION)),
        )

    def kept_at(self, refs: Iterable[str]) -> dict[str, str]:
        """Where refs into shared prefixes are kept; other refs are left out."""
        found = {}
        for written in sorted(set(refs)):
            parsed = parse_ref(written)
            if isinstance(parsed, SourceRefId):
                kept = ref(*self.threads.place(parsed.thread_id, parsed.turn))
                if kept != written:
                    found[written] = kept
        return found

    def ties(self, thread_ids: Iterable[str]) -> Iterator[Edge]:
        """Lineage and citations that start at these threads."""
        for thread_id in thread_ids:
            links = self.threads.links_of(thread_id)
            ends = {thread_id, *(link.parent for link in links)}
            yield from fold.lineage_edges(links, {end for end in ends if self.threads.exists(end)})
        yield from self._cites(thread_ids)

    def _cites(self, thread_ids: Iterable[str]) -> Iterator[Edge]:
        """Citations by these threads that name a thread of this store."""
        notes = None
        for thread_id in thread_ids:
            targets = self.threads.citations(thread_id)
            if targets and notes is None:
                notes = self.threads.notes()
            named = {
                target: (notes.named(target, thread_id) if notes else None)
                or self.threads.cited_as(target, thread_id)
                for target in sorted(set(targets))
            }
            resolved = {target: thread for target, thread in named.items() if thread is not None}
            thread = self.threads.get(thread_id) if resolved else None
            if thread is not None:
                edges = (
                    fold.cites(thread_id, target, other, thread.turns, thread)
                    for target, other in resolved.items()
                )
                yield from (edge for edge in edges if edge is not None)

    def stories(self) -> tuple[Node | Edge, ...]:
        """Journeys and hypotheses, before their ends are checked."""
        self.claims.clear()
        told: dict[str, list[JourneyRecord]] = defaultdict(list)
        for record in self.journeys():
            told[record.journey_id].append(record)
        journeys = [row for one in sorted(told) for row in self._journey(one, told[one])]
        dreamt = courses.hypotheses(self.dreams())
        self.claims.put(DREAMT, dreamt)
        return (*journeys, *dreamt)

    def journey(self, journey_id: str) -> tuple[Node | Edge, ...]:
        """Rows of one Journey, before their ends are checked."""
        return self._journey(journey_id, self.journeys(journey_id))

    def _journey(
        self, journey_id: str, records: Sequence[JourneyRecord]
    ) -> tuple[Node | Edge, ...]:
        refs = {ref for record in records for stop in record.stops for ref in stop.refs}
        rows = courses.journeys(records, self.kept_at(refs))
        self.claims.put(journey_id, rows, refs)
        return rows

    def present(self, table: str, keys: set[str]) -> set[str]:
        """Which nodes of threads there are, by the tables beside the ledger."""
        holds: Callable[[str], bool]
        match table:
            case "Thread":
                holds = self.threads.exists
            case "SourceRef":
                holds = self.threads.holds
            case "Question" | "Concept":
                holds = partial(self.parts.holds, table)
            case _:
                return set()
        return {key for key in keys if holds(key)}

    def draw(self, thread_id: str, root: str) -> Drawn | None:
        """A thread with its rows, derived anew; None when it is not here."""
        thread = self.threads.get(thread_id)
        if thread is None:
            return None
        facts = joined(self.derive.facts(thread, self.epoch()), self.said())
        return Drawn(thread, shards.shard(thread, facts, root, self.drawn.get(thread_id)))

    def remember(self, drawn: Iterable[Drawn]) -> None:
        """The graph has these rows now; of the threads known so, the last few are kept."""
        for one in drawn:
            self.drawn.pop(one.thread.thread_id, None)
            self.drawn[one.thread.thread_id] = one
        while len(self.drawn) > DRAWN:
            del self.drawn[next(iter(self.drawn))]
