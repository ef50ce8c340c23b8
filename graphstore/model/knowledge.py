"""The graph's rows: nodes and extracted relations. DDL, upserts and exports derive from them.

Every node class names its table and key; every edge class its table and the pairs of node
tables it joins. A field is a column; tuples of strings are lists; ``Instant`` is stored as
UTC without offset by the codec. Fields that hold JSON text say so.
"""

from enum import StrEnum
from typing import ClassVar

from graphstore.model.base import Instant, Value


class Node(Value):
    """A row of a node table."""

    TABLE: ClassVar[str]
    KEY: ClassVar[str]

    @property
    def key(self) -> str:
        """Primary key."""
        return str(getattr(self, self.KEY))


class Edge(Value):
    """A row of a relationship table between two nodes given by table and key."""

    TABLE: ClassVar[str]
    PAIRS: ClassVar[tuple[tuple[str, str], ...]]
    KEYS: ClassVar[tuple[str, ...]] = ()
    """Fields that tell apart two edges of one pair of nodes."""

    src_table: str
    src: str
    dst_table: str
    dst: str


class Extracted(Edge):
    """An edge that was read from turns; it always says from which."""

    source_refs: tuple[str, ...]
    """Sorted."""
    weight: float = 1.0
    extractor: str = ""
    """``<step>/<version>``."""


class ThreadNode(Node):
    TABLE = "Thread"
    KEY = "thread_id"

    thread_id: str
    title: str | None
    source: str
    project: str | None
    participants: tuple[str, ...]
    started_at: Instant | None
    ended_at: Instant | None
    turn_count: int
    """Clean turns on the path, stored here."""
    models: tuple[str, ...]
    native_ids: tuple[str, ...]
    scope_labels: tuple[str, ...]
    flags: tuple[str, ...]
    lineage_root: str
    """Oldest ancestor; threads with one root count as one."""
    touched: tuple[str, ...]
    events: str
    """JSON list."""
    state: str


class SourceRefNode(Node):
    TABLE = "SourceRef"
    KEY = "ref"

    ref: str
    thread_id: str
    turn: int
    position: int | None
    """Order on the path, from 1; null off the path."""
    role: str
    speaker: str | None
    text: str
    at: Instant | None
    fingerprint: str
    taint: str
    interim: bool
    alternative: bool
    """Off the main line."""
    superseded_by: int | None
    attachments: str
    """JSON list."""
    links: tuple[str, ...]
    tools: str
    """JSON object."""
    signals: str
    """JSON list of Signal."""
    masked: str
    """JSON list of kind and offset."""
    source_gone: bool
    file: str | None
    line: int | None
    offset: int | None
    length: int | None


class QuestionStatus(StrEnum):
    OPEN = "open"
    ANSWERED = "answered"
    DROPPED = "dropped"


class Question(Node):
    TABLE = "Question"
    KEY = "question_id"

    question_id: str
    text: str
    """As first asked."""
    status: QuestionStatus
    salience: float
    """0 to 1."""
    intent: str
    """explain, decide, fix, compare, plan, verify, reflect, task or problem."""
    phase: str
    """start, middle or end of its thread."""
    where: str | None
    """Project, or null."""
    first_seen: Instant | None
    last_seen: Instant | None
    ref_count: int


class ConceptKind(StrEnum):
    TERM = "term"
    ENTITY = "entity"
    PATH = "path"
    SYMBOL = "symbol"
    ERROR = "error"


class Concept(Node):
    TABLE = "Concept"
    KEY = "concept_id"

    concept_id: str
    label: str
    aliases: tuple[str, ...]
    df: int
    """Distinct lineages that mention it, live."""
    cf: int
    """Mentions, live."""
    generic: bool
    """On the stop list, or marked by the owner."""
    kind: ConceptKind


class JourneyStatus(StrEnum):
    TRAVELING = "traveling"
    ARRIVED = "arrived"
    ABANDONED = "abandoned"
    CAMPED = "camped"
    """Computed at read time, never stored."""


class Journey(Node):
    TABLE = "Journey"
    KEY = "journey_id"

    journey_id: str
    path_label: str
    core_inquiry: str
    status: JourneyStatus
    """As recorded."""
    frontier: str
    """At most 360 characters: where it stands."""
    frontier_refs: tuple[str, ...]
    first_seen: Instant | None
    last_seen: Instant | None
    last_activity_at: Instant | None
    expires_at: Instant | None
    merged_into: str | None


class Waypoint(Node):
    TABLE = "Waypoint"
    KEY = "waypoint_id"

    waypoint_id: str
    journey_id: str
    seq: int
    """From 1."""
    moment: str
    """A clip of the turn, at most 260 characters."""
    arc: str
    """Name of one of the 64 states, or ``unmapped``."""
    arc_provenance: str
    """annotated, computed or none."""
    upper: str | None
    lower: str | None
    at: Instant | None
    frontier_hint: str | None
    """At most 220 characters."""
    labels: tuple[str, ...]


class SeedRow(Node):
    """A seed as stored; recomputable, so never in the ledger."""

    TABLE = "Seed"
    KEY = "seed_id"

    seed_id: str
    shape: str
    kind: str
    level: int | None
    score: float
    provenance: str
    sentence: str
    members: tuple[str, ...]
    """``role=node id``."""
    source_refs: tuple[str, ...]
    detail: str
    """JSON of the whole seed."""
    view_hash: str
    run_id: str
    first_run: str
    last_run: str
    resolved_run: str | None


class Meta(Node):
    TABLE = "Meta"
    KEY = "name"

    name: str
    value: str


class HasTurn(Extracted):
    TABLE = "HAS_TURN"
    PAIRS = (("Thread", "SourceRef"),)

    turn: int


class Lineage(Extracted):
    TABLE = "LINEAGE"
    PAIRS = (("Thread", "Thread"),)
    KEYS = ("kind",)

    kind: str
    split_turn: int | None


class Asks(Extracted):
    TABLE = "ASKS"
    PAIRS = (("SourceRef", "Question"),)


class Answers(Extracted):
    TABLE = "ANSWERS"
    PAIRS = (("SourceRef", "Question"),)

    kind: str
    """resolved or partial."""


class Mentions(Extracted):
    TABLE = "MENTIONS"
    PAIRS = (("SourceRef", "Concept"), ("Question", "Concept"))

    salience: float


class Cites(Extracted):
    TABLE = "CITES"
    PAIRS = (("Thread", "Thread"),)
    KEYS = ("target",)

    target: str
    """As written."""


class LinkType(StrEnum):
    RECURRING = "recurring"
    RELATED = "related"
    EVOLVING = "evolving"


class Links(Extracted):
    TABLE = "LINKS"
    PAIRS = (("Question", "Question"),)

    link_type: LinkType
    score: float
    evidence: str
    """JSON object: the parts of the score."""


class Relates(Extracted):
    TABLE = "RELATES"
    PAIRS = (("Concept", "Concept"),)
    KEYS = ("edge_type",)

    edge_type: str
    """co_occurs, causes, part_of, alternative_to, depends_on, contradicts or related."""
    why: str


class Passes(Extracted):
    TABLE = "PASSES"
    PAIRS = (("Journey", "Waypoint"), ("Waypoint", "Waypoint"))

    seq: int


class Anchored(Extracted):
    TABLE = "ANCHORED"
    PAIRS = (("Waypoint", "SourceRef"), ("Journey", "Question"), ("Journey", "Concept"))


class Marks(Edge):
    TABLE = "MARKS"
    PAIRS = tuple(
        ("Seed", table)
        for table in ("Thread", "SourceRef", "Question", "Concept", "Journey", "Waypoint")
    )
    KEYS = ("role",)

    role: str
    """member, side_a, side_b, cut or via."""


class Signal(Value):
    """What a turn does besides saying: a frontier, a correction, a decision, a texture."""

    kind: str
    """frontier, correction, decision or texture."""
    type: str
    """Frontier: unresolved, blocked, deferred, next. Correction: its target. Texture: its name.
    Decision: chose, rejected or decided."""
    clip: str
    """The words, at most 220 characters."""
    question_id: str | None = None
    concepts: tuple[str, ...] = ()
    """Concept ids."""


class Company(Value):
    """A concept in one thread, for finding the concepts that it is met with."""

    concept_id: str
    df: int
    """Lineages that name it, of the epoch."""
    turns: tuple[int, ...]
    """Numbers of the turns that mention it, ascending."""


class Asking(Value):
    """What surrounds a question in one thread, for comparing it with others."""

    question_id: str
    keys: tuple[str, ...]
    """Its words as they are compared; the same in every thread."""
    concepts: tuple[str, ...] = ()
    """Specific ones that it names."""
    paths: tuple[str, ...] = ()
    participants: tuple[str, ...] = ()
    refs: tuple[str, ...] = ()
    """Turns that ask it."""


class Facts(Value):
    """What one thread yields: its own nodes and the edges that need no other thread."""

    thread_id: str
    scope_labels: tuple[str, ...] = ()
    signals: tuple[tuple[int, tuple[Signal, ...]], ...] = ()
    """By turn number."""
    questions: tuple[Question, ...] = ()
    """As this thread knows them: first_seen, last_seen, ref_count count this thread only."""
    concepts: tuple[Concept, ...] = ()
    """``df`` and ``cf`` are this thread's own mentions; the store sums them."""
    asks: tuple[Asks, ...] = ()
    answers: tuple[Answers, ...] = ()
    mentions: tuple[Mentions, ...] = ()
    company: tuple[Company, ...] = ()
    """Concepts that are paired with others; the store counts how often they meet."""
    told: tuple[Relates | Links, ...] = ()
    """Relations that this thread states; the store joins those of several threads."""
    askings: tuple[Asking, ...] = ()
    """What surrounds each of its questions, by question id."""
    dropped: int = 0
    """Rows left out because they had no ref."""


NODES: tuple[type[Node], ...] = (
    ThreadNode,
    SourceRefNode,
    Question,
    Concept,
    Journey,
    Waypoint,
    SeedRow,
    Meta,
)
EDGES: tuple[type[Edge], ...] = (
    HasTurn,
    Lineage,
    Asks,
    Answers,
    Mentions,
    Cites,
    Links,
    Relates,
    Passes,
    Anchored,
    Marks,
)
