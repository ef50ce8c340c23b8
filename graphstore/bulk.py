"""The graph made anew from the ledger: every row, streamed into a fresh file by COPY."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Final

from graphstore import projection, schema
from graphstore.arrow import BATCH, Spill
from graphstore.claims import Claims
from graphstore.codec import edge_key, encode_edge, encode_node
from graphstore.engine import Engine, Transaction
from graphstore.errors import StoreDamaged
from graphstore.faults import Hook, no_fault
from graphstore.graphfiles import sync_set
from graphstore.ledger import Ledger
from graphstore.model.knowledge import Edge, Node
from graphstore.parts import Parts
from graphstore.rows import Rows
from graphstore.schema import END_COLUMNS
from graphstore.source import Source

Row = Node | Edge
Pair = tuple[type[Edge], str, str]

_NODES: Final = 10 * BATCH
"""Rows of a node table that are loaded at once."""
_POOL: Final = 4
"""Bytes of the engine's pool for one byte of edges: with a third of it, it gives up (kuzu 0.11)."""


def every_row(source: Source, applied: int) -> Iterator[Row]:
    """Every row of the graph; the parts beside the ledger are made anew on the way."""
    parts, epoch = source.parts, source.epoch()
    parts.clear()
    source.drawn.clear()
    for thread_id, root in source.roots().items():
        drawn = source.draw(thread_id, root)
        if drawn is not None:
            made = drawn.shard
            parts.add(made)
            yield from made.nodes
            yield from {(edge.TABLE, *edge_key(edge)): edge for edge in made.edges}.values()
    parts.finish(epoch)
    yield from parts.every(source.derive, source.said())
    yield from source.ties(source.threads.ids())
    yield from projection.complete(source.stories(), source.present)
    yield from source.meta(applied)


def whole(source: Source, applied: int) -> tuple[Rows, tuple[tuple[object, ...], ...]]:
    """Every row and every part, without touching what the store keeps: for comparing."""
    with closing(Ledger(None)) as aside:
        fresh = Source(
            source.ledger,
            source.threads,
            Parts(aside),
            Claims(aside),
            source.derive,
            source.engine_name,
        )
        rows = Rows()
        rows.add(every_row(fresh, applied))
        return rows, fresh.parts.all()


class _Load:
    """Rows on their way into a fresh file: nodes at once, edges when every node is there."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._nodes: dict[type[Node], list[Sequence[object]]] = defaultdict(list)
        self._spills: dict[Pair, Spill] = {}
        self.counts: Counter[type[Node] | Pair] = Counter()

    def nodes(self, statement: Transaction, rows: Iterable[Row]) -> None:
        """Load nodes as they come, and keep the edges."""
        for row in rows:
            if isinstance(row, Node):
                held = self._nodes[type(row)]
                held.append(encode_node(row))
                if len(held) >= _NODES:
                    self._copy_nodes(statement, type(row))
            else:
                self._edge(row)
        for cls in schema.NODE_CLASSES:
            self._copy_nodes(statement, cls)

    def _copy_nodes(self, statement: Transaction, cls: type[Node]) -> None:
        cells = self._nodes.pop(cls, [])
        statement.copy(schema.copy_nodes(cls), schema.columns(cls), cells)
        self.counts[cls] += len(cells)

    def _edge(self, edge: Edge) -> None:
        pair = (type(edge), edge.src_table, edge.dst_table)
        if pair not in self._spills:
            columns = (*END_COLUMNS, *schema.columns(pair[0]))
            self._spills[pair] = Spill(self._folder / f"edges-{len(self._spills)}", columns)
        self._spills[pair].add(encode_edge(edge))
        self.counts[pair] += 1

    def pool_mb(self) -> int:
        """What the engine needs to load the largest relation at once: a multiple of its size."""
        largest = max((spill.size() for spill in self._spills.values()), default=0)
        return _POOL * largest // 2**20

    def edges(self, statement: Transaction) -> None:
        """Load each relation by one COPY: a second one takes twenty times as long."""
        for pair, spill in self._spills.items():
            statement.run(schema.copy_edges(*pair), rows=spill.table())
            spill.remove()


def bulk(
    path: Path,
    rows: Iterable[Row],
    *,
    engine: str,
    buffer_pool_mb: int,
    fault: Hook = no_fault,
) -> tuple[int, int]:
    """Write rows into a fresh database file by COPY, check the counts, close and sync it.

    Returns the number of nodes and of edges.
    """
    load = _Load(path.parent)
    with _opened(path, engine, buffer_pool_mb, fault) as statement:
        for cypher in schema.ddl():
            statement.run(cypher)
        load.nodes(statement, rows)
        fits = load.pool_mb() <= buffer_pool_mb
        if fits:
            load.edges(statement)
            _check_counts(statement, load.counts, path)
    if not fits:
        with _opened(path, engine, load.pool_mb(), fault) as statement:
            load.edges(statement)
            _check_counts(statement, load.counts, path)
    sync_set(path)
    nodes = sum(count for key, count in load.counts.items() if isinstance(key, type))
    return nodes, load.counts.total() - nodes


@contextmanager
def _opened(path: Path, engine: str, pool_mb: int, fault: Hook) -> Iterator[Transaction]:
    fresh = Engine(path, name=engine, buffer_pool_mb=pool_mb, fault=fault)
    try:
        with fresh.autocommit() as statement:
            yield statement
    finally:
        fresh.close(fold=True)


def _check_counts(statement: Transaction, counts: Counter[type[Node] | Pair], path: Path) -> None:
    """Compare the number of edges of every pair with what was meant to be written."""
    for key, count in counts.items():
        if isinstance(key, tuple):
            for backward in (False, True):
                cypher = schema.count_edges(*key, backward=backward)
                if statement.columns(cypher)["rows"] != [count]:
                    reason = f"the bulk load lost edges of {key[0].TABLE}"
                    raise StoreDamaged(str(path), reason)
