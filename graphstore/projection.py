"""From the ledger to the graph: incremental in one transaction, or bulk into a fresh file."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, TypeVar

from graphstore import fold, schema
from graphstore.codec import (
    decode_edges,
    decode_nodes,
    edge_key,
    encode_edge,
    encode_edge_key,
    encode_node,
)
from graphstore.derivation import Derive, Ground
from graphstore.engine import Engine, Hook, Transaction, no_fault, sync_set
from graphstore.errors import LedgerDamaged, StoreDamaged
from graphstore.fold import Part, Rows, Shard
from graphstore.ids import ref
from graphstore.ledger import Ledger
from graphstore.model.conversation import Committed, Thread, Unchanged
from graphstore.model.hypothesis import HYPOTHESES
from graphstore.model.knowledge import (
    Anchored,
    Answers,
    Asks,
    Cites,
    Concept,
    Edge,
    HasTurn,
    Journey,
    Lineage,
    Links,
    Marks,
    Mentions,
    Meta,
    Node,
    Passes,
    Question,
    Relates,
    SeedRow,
    SourceRefNode,
    ThreadNode,
    Waypoint,
)
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
from graphstore.schema import END_COLUMNS, KEY_COLUMN, Column
from graphstore.threads import Threads

N = TypeVar("N", bound=Node)
E = TypeVar("E", bound=Edge)

Present = Callable[[str, set[str]], set[str]]
"""Which of some keys exist in a node table."""

FAMILIES: Final[Mapping[str, tuple[tuple[type[Node], ...], tuple[type[Edge], ...]]]] = {
    "thread": ((), (Lineage, Cites)),
    "journey": ((Journey, Waypoint), (Passes, Anchored)),
    "cycle": ((), HYPOTHESES),
}
"""Small families, made again as a whole; by the kind of record they begin with."""
DREAMS: Final = ("cycle", "review", "outcome")


@dataclass(frozen=True, slots=True)
class Source:
    """What projection reads: the ledger, its derived tables, and the derivation."""

    ledger: Ledger
    threads: Threads
    parts: Parts
    derive: Derive
    engine_name: str = "kuzu"

    def epoch(self) -> EpochRecord:
        """The last epoch, or an empty one before the first."""
        entry = self.ledger.newest("epoch", "epoch")
        if entry is None:
            return EpochRecord(extractor=self.derive.version, lineages=0)
        record = entry.record()
        if not isinstance(record, EpochRecord):
            reason = "a record of another kind is filed as an epoch"
            raise LedgerDamaged(entry.seq, reason)
        return record

    def journeys(self) -> tuple[JourneyRecord, ...]:
        """Every journey record in ledger order."""
        found = (entry.record() for entry in self.ledger.of_kind("journey"))
        return tuple(record for record in found if isinstance(record, JourneyRecord))

    def cycles(self) -> tuple[CycleRecord, ...]:
        """Every cycle record in ledger order."""
        return tuple(record for record in self.dreams() if isinstance(record, CycleRecord))

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

    def families(self) -> tuple[Node | Edge, ...]:
        """Lineage, citations, journeys and hypotheses, before their ends are checked."""
        records = self.journeys()
        refs = {ref for record in records for stop in record.stops for ref in stop.refs}
        links = self.threads.links()
        present = set(self.threads.ids())
        return (
            *fold.lineage_edges(links, present),
            *self.cites(),
            *fold.journeys(records, self.kept_at(refs)),
            *fold.hypotheses(self.dreams()),
        )

    def cites(self) -> tuple[Edge, ...]:
        """Citations that name a thread of this store."""
        found = []
        citations = self.threads.citations()
        notes = self.threads.notes() if citations else None
        for thread_id, targets in citations:
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
                found += [edge for edge in edges if edge is not None]
        return tuple(found)


# reading rows back


def read_nodes(statement: Transaction, cls: type[N]) -> tuple[N, ...]:
    """Every node of a class, by key."""
    found = decode_nodes(cls, statement.columns(schema.scan_nodes(cls)))
    return tuple(sorted(found, key=lambda node: node.key))


def read_edges(statement: Transaction, cls: type[E]) -> tuple[E, ...]:
    """Every edge of a class, by ends and keys."""
    found: list[E] = []
    for src, dst in cls.PAIRS:
        table = statement.columns(schema.scan_edges(cls, src, dst))
        found.extend(decode_edges(cls, src, dst, table))
    return tuple(sorted(found, key=edge_key))


def read_rows(
    statement: Transaction, cls: type[Node] | type[Edge]
) -> tuple[Node, ...] | tuple[Edge, ...]:
    """Every row of a class, sorted."""
    return read_nodes(statement, cls) if issubclass(cls, Node) else read_edges(statement, cls)


def read_ground(statement: Transaction) -> Ground:
    """The extracted rows of the graph."""
    return Ground(
        threads=read_nodes(statement, ThreadNode),
        turns=read_nodes(statement, SourceRefNode),
        questions=read_nodes(statement, Question),
        concepts=read_nodes(statement, Concept),
        asks=read_edges(statement, Asks),
        answers=read_edges(statement, Answers),
        mentions=read_edges(statement, Mentions),
        links=read_edges(statement, Links),
        relates=read_edges(statement, Relates),
        journeys=read_nodes(statement, Journey),
        waypoints=read_nodes(statement, Waypoint),
        anchored=read_edges(statement, Anchored),
    )


def _found_nodes(statement: Transaction, cls: type[N], keys: Sequence[str]) -> tuple[N, ...]:
    rows = [(key,) for key in keys]
    tables = statement.each_batch(schema.find_nodes(cls), (KEY_COLUMN,), rows)
    return tuple(node for table in tables for node in decode_nodes(cls, table))


def _found_edges(
    statement: Transaction, cls: type[E], pair: tuple[str, str], keys: Sequence[str]
) -> tuple[E, ...]:
    """Edges of one pair that start at the given keys."""
    rows = [(key,) for key in keys]
    cypher = schema.find_edges(cls, *pair, end="a")
    tables = statement.each_batch(cypher, (KEY_COLUMN,), rows)
    return tuple(edge for table in tables for edge in decode_edges(cls, *pair, table))


def present_in(statement: Transaction) -> Present:
    """A check of keys against the graph as this transaction sees it."""

    def present(table: str, keys: set[str]) -> set[str]:
        rows = [(key,) for key in sorted(keys)]
        found = statement.each_batch(schema.find_keys(table), (KEY_COLUMN,), rows)
        return {key for batch in found for key in batch["key"]}

    return present


# writing the difference


@dataclass(slots=True)
class Delta:
    """What must change so that old rows become new ones."""

    put_nodes: list[Node] = field(default_factory=list)
    drop_nodes: list[Node] = field(default_factory=list)
    new_edges: list[Edge] = field(default_factory=list)
    set_edges: list[Edge] = field(default_factory=list)
    drop_edges: list[Edge] = field(default_factory=list)


def _differs(had: Node | Edge | None, wanted: Node | Edge) -> bool:
    return had is not wanted and had != wanted  # most rows are the very same object


def difference(old: Rows, new: Rows) -> Delta:
    """Compare by class and key."""
    delta = Delta()
    for cls, wanted in new.nodes.items():
        had = old.nodes[cls]
        delta.put_nodes += [
            wanted[key] for key in sorted(wanted) if _differs(had.get(key), wanted[key])
        ]
        delta.drop_nodes += [had[key] for key in sorted(had) if key not in wanted]
    for edge_cls, edges in new.edges.items():
        before = old.edges[edge_cls]
        for key in sorted(edges):
            if key not in before:
                delta.new_edges.append(edges[key])
            elif _differs(before[key], edges[key]):
                delta.set_edges.append(edges[key])
        delta.drop_edges += [before[key] for key in sorted(before) if key not in edges]
    return delta


def _by_class(nodes: Iterable[N]) -> dict[type[N], list[N]]:
    grouped: dict[type[N], list[N]] = defaultdict(list)
    for node in nodes:
        grouped[type(node)].append(node)
    return grouped


def _by_pair(edges: Iterable[E]) -> dict[tuple[type[E], str, str], list[E]]:
    grouped: dict[tuple[type[E], str, str], list[E]] = defaultdict(list)
    for edge in edges:
        grouped[type(edge), edge.src_table, edge.dst_table].append(edge)
    return grouped


def _key_columns(cls: type[Edge]) -> tuple[Column, ...]:
    kept = tuple(column for column in schema.columns(cls) if column.name in cls.KEYS)
    return (*END_COLUMNS, *sorted(kept, key=lambda column: cls.KEYS.index(column.name)))


def write(statement: Transaction, delta: Delta) -> None:
    """Write a difference. New edges come last, and nothing reads relations after them.

    Beside edges that the same transaction wrote, the engine (kuzu 0.11.3) returns some edges
    twice and others not at all, and MERGE matches wrongly; what it reads before is right.
    """
    for (edge_cls, src, dst), edges in _by_pair(delta.drop_edges).items():
        rows = [encode_edge_key(edge) for edge in edges]
        statement.discard(schema.delete_edge(edge_cls, src, dst), _key_columns(edge_cls), rows)
    _write_edges(statement, delta.set_edges, schema.set_edge)
    for cls, nodes in _by_class(delta.drop_nodes).items():
        keys = [(node.key,) for node in nodes]
        for cypher in schema.delete_node(cls):
            statement.discard(cypher, (KEY_COLUMN,), keys)
    for cls, nodes in _by_class(delta.put_nodes).items():
        cells = [encode_node(node) for node in nodes]
        statement.put(schema.merge_node(cls), schema.columns(cls), cells)
    _write_edges(statement, delta.new_edges, schema.create_edge)


def _write_edges(
    statement: Transaction,
    edges: Iterable[Edge],
    cypher: Callable[[type[Edge], str, str], str],
) -> None:
    for (cls, src, dst), found in _by_pair(edges).items():
        columns = (*END_COLUMNS, *schema.columns(cls))
        statement.put(cypher(cls, src, dst), columns, [encode_edge(edge) for edge in found])


# both ways


def _shard(source: Source, thread: Thread, epoch: EpochRecord, root: str) -> Shard:
    return fold.shard(thread, source.derive.facts(thread, epoch), root)


def _complete(rows: Iterable[Node | Edge], present: Present) -> tuple[Node | Edge, ...]:
    """Nodes, and the edges whose ends are among them or in the graph."""
    nodes = [row for row in rows if isinstance(row, Node)]
    edges = [row for row in rows if isinstance(row, Edge)]
    asked: dict[str, set[str]] = defaultdict(set)
    for edge in edges:
        asked[edge.src_table].add(edge.src)
        asked[edge.dst_table].add(edge.dst)
    holds = {table: present(table, keys) for table, keys in sorted(asked.items())}
    for node in nodes:
        holds.setdefault(node.TABLE, set()).add(node.key)
    return (*nodes, *fold.complete(edges, holds))


def _relations(
    source: Source, ground: Ground, epoch: EpochRecord, present: Present
) -> tuple[Node | Edge, ...]:
    found = source.derive.relations(ground, epoch)
    return _complete((*found.links, *found.relates), present)


def _extracted(ground: Ground) -> Ground:
    """Ground without what is made from it: links, relations and journeys."""
    return Ground(
        threads=ground.threads,
        turns=ground.turns,
        questions=ground.questions,
        concepts=ground.concepts,
        asks=ground.asks,
        answers=ground.answers,
        mentions=ground.mentions,
    )


def whole(source: Source, applied: int) -> tuple[Rows, tuple[Part, ...]]:
    """Every row of the graph and every part, derived anew from the ledger."""
    rows = Rows()
    epoch, roots = source.epoch(), source.roots()
    parts: list[Part] = []
    for thread_id, root in roots.items():
        thread = source.threads.get(thread_id)
        if thread is not None:
            made = _shard(source, thread, epoch, root)
            rows.add((*made.nodes, *made.edges))
            parts += made.parts
    rows.add(fold.shared(parts, roots))

    def present(table: str, keys: set[str]) -> set[str]:
        return {key for key in keys if rows.holds(table, key)}

    rows.add(_relations(source, _extracted(rows.ground()), epoch, present))
    rows.add(_complete(source.families(), present))
    rows.add(source.meta(applied))
    return rows, tuple(parts)


def bulk(
    path: Path, rows: Rows, *, engine: str, buffer_pool_mb: int, fault: Hook = no_fault
) -> None:
    """Write rows into a fresh database file by COPY, check the counts, close and sync it."""
    fresh = Engine(path, name=engine, buffer_pool_mb=buffer_pool_mb, fault=fault)
    try:
        with fresh.autocommit() as statement:
            for cypher in schema.ddl():
                statement.run(cypher)
            _copy(statement, rows)
            check_counts(statement, rows, path)
    finally:
        fresh.close(fold=True)
    sync_set(path)


def _copy(statement: Transaction, rows: Rows) -> None:
    for cls in schema.NODE_CLASSES:
        encoded = [encode_node(node) for node in rows.sorted_nodes(cls)]
        statement.copy(schema.copy_nodes(cls), schema.columns(cls), encoded)
    for edge_cls in schema.EDGE_CLASSES:
        for (_, src, dst), edges in _by_pair(rows.sorted_edges(edge_cls)).items():
            statement.copy(
                schema.copy_edges(edge_cls, src, dst),
                (*END_COLUMNS, *schema.columns(edge_cls)),
                [encode_edge(edge) for edge in edges],
            )


def check_counts(statement: Transaction, rows: Rows, path: Path) -> None:
    """Compare the number of edges of every pair with what was meant to be written."""
    for cls in schema.EDGE_CLASSES:
        for (_, src, dst), edges in _by_pair(rows.sorted_edges(cls)).items():
            for backward in (False, True):
                cypher = schema.count_edges(cls, src, dst, backward=backward)
                if statement.columns(cypher)["rows"] != [len(edges)]:
                    reason = f"the bulk load lost edges of {cls.TABLE}"
                    raise StoreDamaged(str(path), reason)


def _affected(
    source: Source, ground: Ground, changed: set[str], roots: Mapping[str, str]
) -> set[str]:
    """Changed threads, the children whose prefix they hold, and those whose root is another."""
    children = {child for thread in changed for child in source.threads.children(thread)}
    moved = {
        node.thread_id for node in ground.threads if roots.get(node.thread_id) != node.lineage_root
    }
    return {thread for thread in changed | children | moved if thread in roots}


def _old_rows(ground: Ground, affected: set[str], dirty: set[str]) -> Iterable[Node | Edge]:
    """The rows of affected threads, and of nodes whose sum is due, as the graph has them."""
    refs = {node.ref for node in ground.turns if node.thread_id in affected}
    yield from (node for node in ground.threads if node.thread_id in affected)
    yield from (node for node in ground.turns if node.ref in refs)
    for node in (*ground.questions, *ground.concepts):
        if node.key in dirty:
            yield node
    for edge in (*ground.asks, *ground.answers, *ground.mentions):
        if edge.src in (refs if edge.src_table == "SourceRef" else dirty):
            yield edge


def _replaced(ground: Ground, old: Rows, new: Rows) -> Rows:
    """All extracted rows with old ones taken out and new ones put in."""
    after = Rows()
    for nodes in new.nodes.values():
        after.add(nodes.values())
    for edges in new.edges.values():
        after.add(edges.values())
    for node in (*ground.threads, *ground.turns, *ground.questions, *ground.concepts):
        if node.key not in old.nodes[type(node)]:
            after.add((node,))
    for edge in (*ground.asks, *ground.answers, *ground.mentions):
        if edge_key(edge) not in old.edges[type(edge)]:
            after.add((edge,))
    return after


def _plan_threads(
    source: Source, statement: Transaction, changed: set[str], old: Rows, new: Rows
) -> Present:
    """Old and new rows of what changed threads touch; returns which nodes there will be."""
    epoch, roots = source.epoch(), source.roots()
    ground = read_ground(statement)
    affected = _affected(source, ground, changed, roots)
    threads = (source.threads.get(thread_id) for thread_id in sorted(affected))
    shards = [
        _shard(source, thread, epoch, roots[thread.thread_id])
        for thread in threads
        if thread is not None
    ]
    source.parts.put(shards)
    dirty = source.parts.dirty()
    for made in shards:
        new.add((*made.nodes, *made.edges))
    new.add(fold.shared(source.parts.of(dirty), roots))
    old.add(_old_rows(ground, affected, set(dirty)))
    after = _replaced(ground, old, new)
    old.add(_found_edges(statement, HasTurn, ("Thread", "SourceRef"), sorted(affected)))

    def present(table: str, keys: set[str]) -> set[str]:
        return {key for key in keys if after.holds(table, key)}

    old.add((*ground.links, *ground.relates))
    new.add(_relations(source, after.ground(), epoch, present))
    return present


def _plan_families(
    source: Source, statement: Transaction, old: Rows, new: Rows, present: Present
) -> None:
    kinds = source.ledger.kinds()
    for kind, (node_classes, edge_classes) in FAMILIES.items():
        if kind in kinds:
            for cls in node_classes:
                old.add(read_nodes(statement, cls))
            for edge_cls in edge_classes:
                old.add(read_edges(statement, edge_cls))
    new.add(_complete(source.families(), present))


def incremental(source: Source, engine: Engine, changed: set[str], applied: int) -> None:
    """Bring the graph to ``applied`` in one transaction; ``changed`` names the grown threads.

    Everything is read before anything is written.
    """
    old, new = Rows(), Rows()
    with engine.read() as statement:
        present = present_in(statement)
        if changed:
            present = _plan_threads(source, statement, changed, old, new)
        _plan_families(source, statement, old, new, present)
    with engine.write() as statement:
        write(statement, difference(old, new))
        rows = [encode_node(row) for row in source.meta(applied)]
        statement.put(schema.merge_node(Meta), schema.columns(Meta), rows)
    source.parts.settle(applied)


def read_meta(statement: Transaction) -> dict[str, str]:
    """Meta values by name."""
    return {row.name: row.value for row in read_nodes(statement, Meta)}


def put_seeds(
    engine: Engine, run_id: str, rows: Sequence[SeedRow], marks: Sequence[Marks]
) -> Committed | Unchanged:
    """Write seeds and replace their marks; ``Unchanged`` when all of it is there already."""
    keys = [row.key for row in rows]
    old, new = Rows(), Rows()
    with engine.read() as statement:
        old.add(_found_nodes(statement, SeedRow, keys))
        for pair in Marks.PAIRS:
            old.add(_found_edges(statement, Marks, pair, keys))
        new.add(_complete((*rows, *marks), present_in(statement)))
        applied = int(read_meta(statement)["applied"])
    new.add((Meta(name="seeds", value=run_id),))
    delta = difference(old, new)
    if not (delta.drop_edges or delta.set_edges or delta.new_edges or len(delta.put_nodes) > 1):
        return Unchanged()
    with engine.write() as statement:
        write(statement, delta)
    return Committed(seq=applied)
