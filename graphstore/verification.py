"""What must hold in a store, checked against the ledger; findings never quote a turn."""

from collections.abc import Iterable, Iterator
from contextlib import closing
from typing import Final

from graphstore import bulk, courses, schema
from graphstore.codec import edge_key
from graphstore.delta import difference
from graphstore.engine import Transaction
from graphstore.errors import LedgerDamaged
from graphstore.ids import fingerprint, hypothesis_id, journey_id
from graphstore.ids import ref as ref_of
from graphstore.ledger import Ledger
from graphstore.model.hypothesis import Hypothesis
from graphstore.model.knowledge import Edge, Extracted, Marks, Meta, Node, SeedRow
from graphstore.model.query import Fault
from graphstore.model.record import JourneyRecord
from graphstore.model.refs import SourceRefId, parse_ref
from graphstore.rows import Rows
from graphstore.source import Source
from graphstore.stored import read_edges, read_rows
from graphstore.threads import NAMES, Threads

RECOMPUTED: Final = (SeedRow, Marks)
"""Not derived from the ledger, so not compared with it."""


def verify(source: Source, statement: Transaction) -> tuple[Fault, ...]:
    """Every fault, grouped by what was checked; a damaged chain ends the search."""
    damaged = (*_chain(source.ledger), *_records(source.ledger))
    if damaged:
        return damaged
    return (
        *_derived(source),
        *_fingerprints(source.threads),
        *_identities(source),
        *_refs(source.threads, statement),
        *_counts(statement),
        *_graph(source, statement),
    )


def _chain(ledger: Ledger) -> Iterator[Fault]:
    for broken in ledger.verify():
        yield Fault(kind="chain", subject=str(broken.seq), detail=broken.reason)


def _records(ledger: Ledger) -> Iterator[Fault]:
    for entry in ledger.entries():
        try:
            record = entry.record()
        except LedgerDamaged as damage:
            yield Fault(kind="record", subject=str(entry.seq), detail=damage.reason)
            continue
        if (record.kind, record.subject) != (entry.kind, entry.subject):
            detail = "its kind or subject is not that of its body"
            yield Fault(kind="record", subject=str(entry.seq), detail=detail)


def _derived(source: Source) -> Iterator[Fault]:
    """The derived tables against a replay of the records."""
    with closing(Ledger(None)) as fresh:
        Threads(fresh).replay(source.ledger.of_kind("thread"))
        for name in NAMES:
            rows = f"SELECT * FROM {name} ORDER BY 1, 2"  # noqa: S608 - names of our own
            had, wanted = set(source.ledger.select(rows)), set(fresh.select(rows))
            for key in sorted({str(row[0]) for row in had ^ wanted}):
                detail = f"the row of table {name} is not what the records say"
                yield Fault(kind="derived", subject=key, detail=detail)


def _fingerprints(threads: Threads) -> Iterator[Fault]:
    for thread_id in threads.ids():
        for turn in threads.turns(thread_id):
            if fingerprint(turn.role.value, turn.text) != turn.fingerprint:
                subject = ref_of(thread_id, turn.number)
                detail = "the text does not have this fingerprint"
                yield Fault(kind="fingerprint", subject=subject, detail=detail)


def _identities(source: Source) -> Iterator[Fault]:
    created: dict[str, JourneyRecord] = {}
    for record in source.journeys():
        created.setdefault(record.journey_id, record)
    for key, record in sorted(created.items()):
        first = record.stops[0].refs[0] if record.stops and record.stops[0].refs else ""
        whole = not record.stops or record.stops[0].seq == 1  # else its beginning was forgotten
        if whole and journey_id(record.core_inquiry, first) != key:
            detail = "the id is not that of its inquiry and first turn"
            yield Fault(kind="id", subject=key, detail=detail)
    for edge in courses.hypotheses(source.dreams()):
        derived = hypothesis_id(edge.function, edge.rule, edge.src, edge.dst, edge.refs)
        if derived != edge.hypothesis_id:
            detail = "the id is not that of its content"
            yield Fault(kind="id", subject=edge.hypothesis_id, detail=detail)


def _cited(edge: Edge) -> Iterable[str]:
    match edge:
        case Extracted():
            return edge.source_refs
        case Hypothesis():
            return (*edge.refs, *edge.counter_refs)
        case _:
            return ()


def _resolves(threads: Threads, written: str) -> bool:
    parsed = parse_ref(written)
    if not isinstance(parsed, SourceRefId):
        return False
    return threads.turn(ref_of(*threads.place(parsed.thread_id, parsed.turn))) is not None


def _refs(threads: Threads, statement: Transaction) -> Iterator[Fault]:
    known: dict[str, bool] = {}
    for cls in schema.EDGE_CLASSES:
        for edge in read_edges(statement, cls):
            for ref in _cited(edge):
                if ref not in known:
                    known[ref] = _resolves(threads, ref)
                if not known[ref]:
                    detail = f"{ref} resolves to no turn"
                    yield Fault(kind="ref", subject=_name(edge), detail=detail)


def _counts(statement: Transaction) -> Iterator[Fault]:
    for cls in schema.EDGE_CLASSES:
        for src, dst in cls.PAIRS:
            forward, backward = (
                statement.columns(schema.count_edges(cls, src, dst, backward=way))["rows"][0]
                for way in (False, True)
            )
            if forward != backward:
                detail = f"{forward} edges forward, {backward} backward"
                yield Fault(kind="count", subject=f"{cls.TABLE} {src} {dst}", detail=detail)


def _name(row: Node | Edge) -> str:
    if isinstance(row, Node):
        return f"{row.TABLE} {row.key}"
    return " ".join((row.TABLE, *edge_key(row)))


def _graph(source: Source, statement: Transaction) -> Iterator[Fault]:
    """The graph, and the parts of its shared nodes, against a fresh derivation."""
    wanted, parts = bulk.whole(source, source.ledger.last_seq())
    had = Rows()
    classes: tuple[type[Node | Edge], ...] = (*schema.NODE_CLASSES, *schema.EDGE_CLASSES)
    for cls in classes:
        rows = () if cls in RECOMPUTED else read_rows(statement, cls)
        had.add(rows)
        if len(rows) != had.count(cls):
            yield Fault(kind="count", subject=cls.TABLE, detail="a row is there more than once")
    had.nodes[Meta].pop("seeds", None)
    delta = difference(had, wanted)
    extra: tuple[Node | Edge, ...] = (*delta.drop_nodes, *delta.drop_edges)
    lacking: tuple[Node | Edge, ...] = (
        *delta.new_nodes,
        *delta.set_nodes,
        *delta.set_edges,
        *delta.new_edges,
    )
    for row in extra:
        yield Fault(kind="graph", subject=_name(row), detail="the ledger gives no such row")
    for row in lacking:
        detail = "the ledger gives this row otherwise, or it is missing"
        yield Fault(kind="graph", subject=_name(row), detail=detail)
    if set(source.parts.all()) != set(parts):
        detail = "what threads add to shared nodes is not what their turns give"
        yield Fault(kind="derived", subject="part", detail=detail)
