"""What an export shows, in a fixed order: the one sanitiser before all writers."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from operator import attrgetter
from typing import Final, TypeAlias

from export.privacy import Screen, strip
from graphstore.derivation import Ground
from graphstore.model.base import Value
from graphstore.model.hypothesis import HYPOTHESIS_WORDS, AnyHypothesis, Standing
from graphstore.model.knowledge import Edge, Marks, Node, SeedRow

Cell: TypeAlias = str | int | float | bool | tuple[str, ...] | None

SEED_BOOKKEEPING: Final = frozenset({"detail", "run_id", "first_run", "last_run", "resolved_run"})
"""History of runs and a second copy of what the other columns say."""
ENDS: Final = ("src_table", "src", "dst_table", "dst")


class Switches(Value):
    """What the owner lets out. The default holds no turn text, no file paths, no hypotheses."""

    with_text: bool = False
    with_paths: bool = False
    with_hypotheses: bool = False
    public: bool = False
    """Leaves out titles, labels and question texts too; wins over text and paths."""


class Judged(Value):
    """A hypothesis with its standing at the time of the export."""

    hypothesis: AnyHypothesis
    standing: Standing


@dataclass(frozen=True, slots=True)
class NodeRow:
    """One node. ``columns`` keeps the order of the fields; a column left out is absent."""

    table: str
    key: str
    columns: Mapping[str, Cell]


@dataclass(frozen=True, slots=True)
class EdgeRow:
    """One edge between two nodes given by table and key."""

    table: str
    src_table: str
    src: str
    dst_table: str
    dst: str
    columns: Mapping[str, Cell]
    marked: str | None = None
    """``Hypothesis, not source`` on every dreamt edge, null on every extracted one."""
    standing: str | None = None
    """Of a dreamt edge, when the view was made."""


@dataclass(frozen=True, slots=True)
class ExportView:
    """A read model, not a Value: nodes and edges by (table, keys), dreamt edges after the rest."""

    switches: Switches
    nodes: tuple[NodeRow, ...]
    edges: tuple[EdgeRow, ...]
    hypotheses: tuple[EdgeRow, ...] = ()
    seeds: tuple[NodeRow, ...] = ()
    """Computed before annotated, then in the order handed in."""
    marks: tuple[EdgeRow, ...] = ()
    places: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    """Node key to its place on the map, any scale; only pictures read it."""
    statuses: Mapping[str, str] = field(default_factory=dict)
    """Journey id to its status when the view was made; only the explorer reads it."""

    def every_node(self) -> tuple[NodeRow, ...]:
        """Nodes and seeds: what graph files hold."""
        return self.nodes + self.seeds

    def every_edge(self) -> tuple[EdgeRow, ...]:
        """Extracted edges, marks of seeds and dreamt edges: what graph files hold."""
        return self.edges + self.marks + self.hypotheses


def _instant(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat().replace("+00:00", "Z")


def cell(value: object) -> Cell:
    """A column value in one of the few types that every format knows."""
    if isinstance(value, StrEnum):
        return value.value
    if isinstance(value, str):
        return strip(value)
    if isinstance(value, datetime):
        return _instant(value)
    if isinstance(value, tuple):
        return tuple(strip(str(part)) for part in value)
    if value is None or isinstance(value, bool | int | float):
        return value
    return strip(str(value))


def _columns(row: Node | Edge, skip: frozenset[str], screen: Screen) -> dict[str, Cell]:
    raw = {name: cell(value) for name, value in row if name not in skip}
    return screen.show(row.TABLE, raw)


def _node(row: Node, screen: Screen, skip: frozenset[str] = frozenset()) -> NodeRow:
    return NodeRow(row.TABLE, strip(row.key), _columns(row, skip, screen))


_EDGE_SKIP: Final = frozenset({*ENDS, "edge"})


def _edge(
    row: Edge, screen: Screen, marked: str | None = None, standing: str | None = None
) -> EdgeRow:
    columns = _columns(row, _EDGE_SKIP, screen)
    ends = (row.src_table, strip(row.src), row.dst_table, strip(row.dst))
    return EdgeRow(row.TABLE, *ends, columns, marked, standing)


def order(row: Edge) -> tuple[str, ...]:
    """Sort key of an edge: table, ends, then the fields that tell parallel edges apart."""
    own = tuple(str(getattr(row, name)) for name in row.KEYS)
    return (row.TABLE, row.src_table, row.src, row.dst_table, row.dst, *own)


def _once(edges: Iterable[Edge]) -> Iterator[Edge]:
    last: tuple[str, ...] | None = None
    for key, row in sorted(((order(row), row) for row in edges), key=lambda pair: pair[0]):
        if key != last:
            yield row
        last = key


def _nodes(ground: Ground) -> list[Node]:
    families: tuple[tuple[Node, ...], ...] = (
        ground.threads,
        ground.turns,
        ground.questions,
        ground.concepts,
        ground.journeys,
        ground.waypoints,
    )
    return sorted((row for family in families for row in family), key=attrgetter("TABLE", "key"))


def _edges(ground: Ground) -> Iterator[Edge]:
    yield from ground.asks
    yield from ground.answers
    yield from ground.mentions
    yield from ground.links
    yield from ground.relates


def shown(
    ground: Ground,
    edges: Iterable[Edge] = (),
    *,
    hypotheses: Iterable[Judged] = (),
    seeds: Iterable[SeedRow] = (),
    marks: Iterable[Marks] = (),
    switches: Switches | None = None,
    places: Mapping[str, tuple[float, float]] | None = None,
    statuses: Mapping[str, str] | None = None,
) -> ExportView:
    """Make the view of an export: sorted, screened by the switches, safe for every writer.

    ``edges`` are the families that a Ground does not hold (HAS_TURN, LINEAGE, CITES, PASSES,
    ANCHORED); an edge given twice is shown once. Without ``with_hypotheses`` no dreamt edge
    gets in, whatever is handed over. ``statuses`` are those of the Journeys as they are now: the
    recorded ones, which every other format shows, do not know that time has passed.
    """
    allowed = switches or Switches()
    screen = Screen.of(
        ground.concepts,
        with_text=allowed.with_text,
        with_paths=allowed.with_paths,
        public=allowed.public,
    )
    judged = {order(one.hypothesis): one for one in hypotheses if allowed.with_hypotheses}
    return ExportView(
        switches=allowed,
        nodes=tuple(_node(row, screen) for row in _nodes(ground)),
        edges=tuple(_edge(row, screen) for row in _once((*_edges(ground), *edges))),
        hypotheses=tuple(
            _edge(one.hypothesis, screen, HYPOTHESIS_WORDS, one.standing.standing)
            for _, one in sorted(judged.items(), key=lambda pair: pair[0])
        ),
        seeds=tuple(
            _node(row, screen, SEED_BOOKKEEPING)
            for row in sorted(seeds, key=lambda row: row.provenance != "computed")
        ),
        marks=tuple(_edge(row, screen) for row in _once(marks)),
        places={strip(key): place for key, place in (places or {}).items()},
        statuses=dict(statuses or {}),
    )
