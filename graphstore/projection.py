"""From the ledger to the graph, record by record: what changed, in one transaction."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from graphstore import fold, schema
from graphstore.claims import DREAMS as DREAMT
from graphstore.codec import encode_node
from graphstore.delta import Delta, difference, write
from graphstore.engine import Engine, Transaction
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
from graphstore.near import Pair
from graphstore.parts import Parts
from graphstore.rows import Rows, joined
from graphstore.shards import Drawn, Shard
from graphstore.source import Source
from graphstore.stored import (
    Present,
    found_edges,
    found_nodes,
    found_turn_edges,
    found_turns,
    present_in,
    read_meta,
    read_rows,
)
from graphstore.sums import Sums

STORIES: Final[tuple[type[Node] | type[Edge], ...]] = (
    Journey,
    Waypoint,
    Passes,
    Anchored,
    *HYPOTHESES,
)
"""Rows of Journeys and dreams: few, so all are made again when a dream may change."""


_OF_TURNS: Final[tuple[tuple[type[Edge], str], ...]] = (
    (Asks, "Question"),
    (Answers, "Question"),
    (Mentions, "Concept"),
)
_FEW: Final = 10
"""Threads whose turns are looked for one thread after another."""


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
    with engine.read(threads=1) as statement:
        if pending.threads or source.parts.dirty("near"):
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
        _put_meta(statement, source.meta(applied))
    source.parts.settle(applied)
    source.remember(drawn)


def _put_meta(statement: Transaction, rows: Iterable[Meta]) -> None:
    cells = [encode_node(row) for row in rows]
    statement.put(schema.merge_node(Meta), schema.columns(Meta), cells)


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
    with source.parts.earlier() as earlier:
        source.parts.put([made.shard for made in drawn], source.epoch())
        due = _due(source.parts)
        if earlier is None:
            unknown = source.parts.only_of(set() if known else set(roots))
            _old_shared(statement, due, unknown, old)
        else:
            old.add(_shared(earlier, due, source))
    new.add(_shared(source.parts, due, source))
    for made in drawn:
        before = source.drawn.get(made.thread.thread_id)
        _plan_own(before.shard if before else None, made.shard, old, new)
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


@dataclass(frozen=True, slots=True)
class _Due:
    """What several threads share and one of them changed."""

    nodes: tuple[str, ...]
    """Questions and concepts, and relations as their ends and keys with spaces between."""
    asked: tuple[str, ...]
    """Questions of which every link may change."""
    pairs: tuple[str, ...]
    """Two concepts, with a space between."""
    near: tuple[Pair, ...]
    """Questions."""


def _due(parts: Parts) -> _Due:
    near = (pair.split(" ") for pair in parts.dirty("near"))
    return _Due(
        nodes=parts.dirty("node"),
        asked=parts.dirty("link"),
        pairs=parts.dirty("pair"),
        near=tuple((one, other) for one, other in near),
    )


def _shared(sums: Sums, due: _Due, source: Source) -> Iterator[Node | Edge]:
    """What threads share, as the tables beside the ledger tell it."""
    yield from sums.shared(due.nodes)
    yield from sums.meetings.relations(due.pairs)
    yield from sums.links(due.asked, due.near, source.derive, source.said())


def _old_shared(statement: Transaction, due: _Due, unknown: set[str], old: Rows) -> None:
    """The same, as the graph has it.

    ``unknown``: questions that the graph cannot have, so that nothing is asked of them.
    """
    single = [node for node in due.nodes if " " not in node and node not in unknown]
    questions = [node for node in single if not node.startswith("c:")]
    stated = {tuple(node.split(" ", 2)) for node in due.nodes if " " in node}
    old.add(found_nodes(statement, Question, questions))
    old.add(found_nodes(statement, Concept, [node for node in single if not node.startswith("q:")]))
    old.add(found_edges(statement, Mentions, ("Question", "Concept"), questions))
    ends = {(src, dst, *more) for src, dst, *more in stated}
    ends |= {(*pair.split(" "), "co_occurs") for pair in due.pairs}
    starts = sorted({end[0] for end in ends})
    for relates in found_edges(statement, Relates, ("Concept", "Concept"), starts):
        if (relates.src, relates.dst, relates.edge_type) in ends:
            old.add((relates,))
    joined = {
        pair for pair in {*due.near, *(end[:2] for end in stated)} if unknown.isdisjoint(pair)
    }
    _old_links(statement, set(due.asked) - unknown, joined, old)


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
    old.add(held)
    old.add(found_nodes(statement, ThreadNode, threads))
    if len(threads) <= _FEW:
        for thread in threads:
            old.add(found_turns(statement, thread))
            for cls, dst in _OF_TURNS:
                old.add(found_turn_edges(statement, cls, dst, thread))
    else:
        refs = sorted(edge.dst for edge in held)
        old.add(found_nodes(statement, SourceRefNode, refs))
        for cls, dst in _OF_TURNS:
            old.add(found_edges(statement, cls, ("SourceRef", dst), refs))


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
        meta = read_meta(statement)
    delta = difference(old, new)
    if delta == Delta():
        return Unchanged()
    with engine.write() as statement:
        _put_meta(statement, (Meta(name="seeds", value=run_id),))
        write(statement, delta)
    return Committed(seq=int(meta["applied"]))
