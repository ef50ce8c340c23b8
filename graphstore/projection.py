"""From the ledger to the graph, record by record: what changed, in one transaction."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final, Literal, TypeVar

from graphstore import courses, fold, schema, shards
from graphstore.claims import DREAMS as DREAMT
from graphstore.claims import Claims
from graphstore.codec import (
    decode_edges,
    decode_nodes,
    edge_key,
    encode_edge,
    encode_edge_key,
    encode_node,
)
from graphstore.derivation import Derive, Ground
from graphstore.engine import Engine, Transaction
from graphstore.errors import LedgerDamaged
from graphstore.ids import ref
from graphstore.ledger import Ledger
from graphstore.model.conversation import Committed, Unchanged
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
from graphstore.rows import Rows, joined
from graphstore.schema import END_COLUMNS, KEY_COLUMN, Column
from graphstore.shards import Drawn, Shard
from graphstore.threads import Threads

N = TypeVar("N", bound=Node)
E = TypeVar("E", bound=Edge)

Present = Callable[[str, set[str]], set[str]]
"""Which of some keys exist in a node table."""

STORIES: Final[tuple[type[Node] | type[Edge], ...]] = (
    Journey,
    Waypoint,
    Passes,
    Anchored,
    *HYPOTHESES,
)
"""Rows of Journeys and dreams: few, so all are made again when a dream may change."""


DREAMS: Final = ("cycle", "review", "outcome")
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
        found = (entry.record() for entry in self.ledger.of_kind("journey", journey_id))
        records = [record for record in found if isinstance(record, JourneyRecord)]
        return self._journey(journey_id, records)

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
        facts = self.derive.facts(thread, self.epoch())
        return Drawn(thread, shards.shard(thread, facts, root, self.drawn.get(thread_id)))

    def remember(self, drawn: Iterable[Drawn]) -> None:
        """The graph has these rows now; of the threads known so, the last few are kept."""
        for one in drawn:
            self.drawn.pop(one.thread.thread_id, None)
            self.drawn[one.thread.thread_id] = one
        while len(self.drawn) > DRAWN:
            del self.drawn[next(iter(self.drawn))]


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


def found_nodes(statement: Transaction, cls: type[N], keys: Sequence[str]) -> tuple[N, ...]:
    """Nodes of a class with these keys."""
    rows = [(key,) for key in keys]
    tables = statement.each_batch(schema.find_nodes(cls), (KEY_COLUMN,), rows)
    return tuple(node for table in tables for node in decode_nodes(cls, table))


def found_edges(
    statement: Transaction,
    cls: type[E],
    pair: tuple[str, str],
    keys: Sequence[str],
    end: Literal["a", "b"] = "a",
) -> tuple[E, ...]:
    """Edges of one pair that start (a) or end (b) at the given keys."""
    rows = [(key,) for key in keys]
    cypher = schema.find_edges(cls, *pair, end=end)
    tables = statement.each_batch(cypher, (KEY_COLUMN,), rows)
    return tuple(edge for table in tables for edge in decode_edges(cls, *pair, table))


def found_ends(
    statement: Transaction,
    cls: type[Edge],
    pair: tuple[str, str],
    name: str,
    keys: Sequence[str],
    end: Literal["a", "b"] = "a",
) -> list[tuple[str, str, Any]]:
    """Source, target and one column of the edges that start or end at the given keys."""
    cypher = schema.find_ends(cls, *pair, name, end=end)
    tables = statement.each_batch(cypher, (KEY_COLUMN,), [(key,) for key in keys])
    return [
        row
        for table in tables
        for row in zip(table["src"], table["dst"], table["value"], strict=True)
    ]


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


def complete(rows: Sequence[Node | Edge], present: Present) -> tuple[Node | Edge, ...]:
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
    return (*nodes, *joined(edges, holds))


@dataclass(frozen=True, slots=True)
class Pending:
    """What records that the graph has not got yet are about."""

    threads: frozenset[str]
    journeys: frozenset[str]
    dreams: bool
    """Whether records of dreams are among them."""


def incremental(source: Source, engine: Engine, pending: Pending, applied: int) -> None:
    """Bring the graph to ``applied`` in one transaction, by what pending records touch.

    Everything is read before anything is written.
    """
    old, new = Rows(), Rows()
    drawn: list[Drawn] = []
    family: set[str] = set()
    with engine.read() as statement:
        if pending.threads:
            drawn, family = _plan_threads(source, statement, set(pending.threads), old, new)
        touched = source.claims.owners(family | _come_and_gone(old, new) | pending.journeys)
        told = sorted(pending.journeys | touched - {DREAMT})
        if told:
            _old_journeys(statement, told, old)
            made = [row for one in told for row in source.journey(one)]
            new.add(complete(made, source.present))
        if pending.dreams or DREAMT in touched | source.claims.owners(_come_and_gone(old, new)):
            # an end of a hypothesis may be any Journey
            for cls in STORIES:
                old.add(read_rows(statement, cls))
            new.add(complete(source.stories(), source.present))
    for one in drawn:  # should this fail, nobody knows which rows the graph has
        source.drawn.pop(one.thread.thread_id, None)
    with engine.write() as statement:
        write(statement, difference(old, new))
        rows = [encode_node(row) for row in source.meta(applied)]
        statement.put(schema.merge_node(Meta), schema.columns(Meta), rows)
    source.parts.settle(applied)
    source.remember(drawn)


def _come_and_gone(old: Rows, new: Rows) -> set[str]:
    """Keys of nodes that are in one of the two only."""
    return {key for cls in old.nodes for key in old.nodes[cls].keys() ^ new.nodes[cls].keys()}


def _plan_threads(
    source: Source, statement: Transaction, changed: set[str], old: Rows, new: Rows
) -> tuple[list[Drawn], set[str]]:
    """Old and new rows of all that changed threads touch.

    Returns the changed threads, and everyone whose turns may lie elsewhere now.
    """
    roots, family = affected(source, changed)
    known = sorted(thread for thread in roots if source.parts.root(thread) is not None)
    drawn = [
        made
        for thread_id, root in sorted(roots.items())
        if (made := source.draw(thread_id, root)) is not None
    ]
    source.parts.put([made.shard for made in drawn], source.epoch())
    for made in drawn:
        before = source.drawn.get(made.thread.thread_id)
        _plan_own(before.shard if before else None, made.shard, old, new)
    _plan_shared(source, statement, old, new)
    unread = [thread for thread in known if thread not in source.drawn]
    if unread:
        _old_threads(statement, unread, old)
    _plan_ties(source, statement, set(roots), set(known), old, new)
    return drawn, family


def _plan_own(before: Shard | None, now: Shard, old: Rows, new: Rows) -> None:
    """Rows of one thread; those that are the very same on both sides are left out."""
    had: tuple[Node | Edge, ...] = () if before is None else (*before.nodes, *before.edges)
    has: tuple[Node | Edge, ...] = (*now.nodes, *now.edges)
    same = set(map(id, had)).intersection(map(id, has))
    old.add(row for row in had if id(row) not in same)
    new.add(row for row in has if id(row) not in same)


def _old_journeys(statement: Transaction, journeys: Sequence[str], old: Rows) -> None:
    """Take in Journeys, their stops, and what these are joined to."""
    passes = found_edges(statement, Passes, ("Journey", "Waypoint"), journeys)
    stops = sorted(edge.dst for edge in passes)
    old.add(passes)
    old.add(found_nodes(statement, Journey, journeys))
    old.add(found_nodes(statement, Waypoint, stops))
    old.add(found_edges(statement, Passes, ("Waypoint", "Waypoint"), stops))
    old.add(found_edges(statement, Anchored, ("Waypoint", "SourceRef"), stops))
    for table in ("Question", "Concept"):
        old.add(found_edges(statement, Anchored, ("Journey", table), journeys))


def _plan_ties(
    source: Source,
    statement: Transaction,
    threads: set[str],
    in_graph: set[str],
    old: Rows,
    new: Rows,
) -> None:
    """Lineage and citations of these threads, and citations of those who may mean them."""
    heads = [source.threads.head(thread_id) for thread_id in sorted(threads)]
    known = [head for head in heads if head is not None]
    for node in old.sorted_nodes(ThreadNode):
        # whoever meant an old name may mean another thread now
        known += [
            head.replace(title=node.title, native_ids=node.native_ids)
            for head in known
            if head.thread_id == node.thread_id
        ]
    citing = {thread for head in known for thread in source.threads.citing(head)}
    for cls in (Lineage, Cites):
        old.add(found_edges(statement, cls, ("Thread", "Thread"), sorted(in_graph | citing)))
    new.add(source.ties(sorted(threads | citing)))


def _plan_shared(source: Source, statement: Transaction, old: Rows, new: Rows) -> None:
    """What several threads share and one of them changed."""
    parts = source.parts
    nodes, asked, pairs = (parts.dirty(what) for what in ("node", "link", "pair"))
    near = {(one, other) for one, other in (pair.split(" ") for pair in parts.dirty("near"))}
    single = [node for node in nodes if " " not in node]
    stated = {tuple(node.split(" ", 2)) for node in nodes if " " in node}
    old.add(found_nodes(statement, Question, single))
    old.add(found_nodes(statement, Concept, single))
    old.add(found_edges(statement, Mentions, ("Question", "Concept"), single))
    ends = {(src, dst, *more) for src, dst, *more in stated}
    ends |= {(*pair.split(" "), "co_occurs") for pair in pairs}
    starts = sorted({end[0] for end in ends})
    for relates in found_edges(statement, Relates, ("Concept", "Concept"), starts):
        if (relates.src, relates.dst, relates.edge_type) in ends:
            old.add((relates,))
    _old_links(statement, set(asked), near | {end[:2] for end in stated}, old)
    new.add(parts.shared(nodes))
    new.add(parts.company(pairs))
    new.add(parts.links(asked, sorted(near), source.derive))


def _old_links(
    statement: Transaction, asked: set[str], pairs: set[tuple[str, ...]], old: Rows
) -> None:
    """Links that have one of these questions as an end, and those of these pairs."""
    between = ("Question", "Question")
    ends = sorted(asked.union(*pairs))
    for link in found_edges(statement, Links, between, ends):
        if link.src in asked or link.dst in asked or _either(link) & pairs:
            old.add((link,))
    old.add(found_edges(statement, Links, between, sorted(asked), end="b"))


def _either(link: Links) -> set[tuple[str, ...]]:
    return {(link.src, link.dst), (link.dst, link.src)}


def _old_threads(statement: Transaction, threads: Sequence[str], old: Rows) -> None:
    """Take in the nodes of threads and their turns, and what these are joined to."""
    held = found_edges(statement, HasTurn, ("Thread", "SourceRef"), threads)
    refs = sorted(edge.dst for edge in held)
    old.add(held)
    old.add(found_nodes(statement, ThreadNode, threads))
    old.add(found_nodes(statement, SourceRefNode, refs))
    old.add(found_edges(statement, Asks, ("SourceRef", "Question"), refs))
    old.add(found_edges(statement, Answers, ("SourceRef", "Question"), refs))
    old.add(found_edges(statement, Mentions, ("SourceRef", "Concept"), refs))


def affected(source: Source, changed: set[str]) -> tuple[dict[str, str], set[str]]:
    """Threads to derive again, with their lineage roots; and everyone whom lineage joins to them.

    They are the changed ones, the children whose prefix these hold, and those who moved to
    another root: who was joined to them before, or is now.
    """
    before = {root for thread in changed if (root := source.parts.root(thread)) is not None}
    joined = changed | {member for root in before for member in source.parts.members(root)}
    family, links = source.threads.family(joined)
    roots = fold.roots((one for one in family if source.threads.exists(one)), links)
    children = {child for thread in changed for child in source.threads.children(thread)}
    again = {
        thread: root
        for thread, root in roots.items()
        if thread in changed or thread in children or source.parts.root(thread) != root
    }
    return again, family if links else set()


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
        old.add(found_nodes(statement, SeedRow, keys))
        for pair in Marks.PAIRS:
            old.add(found_edges(statement, Marks, pair, keys))
        new.add(complete((*rows, *marks), present_in(statement)))
        applied = int(read_meta(statement)["applied"])
    new.add((Meta(name="seeds", value=run_id),))
    delta = difference(old, new)
    if not (delta.drop_edges or delta.set_edges or delta.new_edges or len(delta.put_nodes) > 1):
        return Unchanged()
    with engine.write() as statement:
        write(statement, delta)
    return Committed(seq=applied)
