"""What the questions asked of a store are answered with."""

from typing import Literal, TypeAlias

from graphstore.model.base import Instant, Value
from graphstore.model.conversation import Role
from graphstore.model.hypothesis import AnyHypothesis, Standing

NotFound: TypeAlias = Literal["empty_store", "empty_cue", "filtered_out", "no_match", "below_floor"]


class Filters(Value):
    """What a search is narrowed to; empty fields narrow nothing."""

    project: str | None = None
    source: str | None = None
    role: Role | None = None
    since: Instant | None = None
    """Turns at or after; turns without a time are left out when either bound is given."""
    until: Instant | None = None
    """Turns before."""
    threads: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    """Scope labels; a thread with any of them passes."""


class Parts(Value):
    """What a hit's rank is made of, each 0 to 1."""

    lexical: float = 0.0
    """BM25 over the turn and its neighbours, against the best turn."""
    vector: float = 0.0
    """Cosine of the static vectors of cue and turn."""
    graph: float = 0.0
    """Reached from other hits over questions and concepts."""
    recency: float = 0.0
    """1 now, a half after 90 days; 0 when undated. Shown, not ranked by."""


class TurnView(Value):
    """One turn as it is shown: its words, where it stands, and how to open the original."""

    ref: str
    thread_id: str
    title: str | None
    project: str | None
    role: Role
    speaker: str | None = None
    at: Instant | None = None
    text: str
    """Whole, or clipped around what matched."""
    file: str | None = None
    line: int | None = None
    superseded_by: int | None = None
    source_gone: bool = False


class Side(Value):
    """The turn before or after a hit, clipped."""

    ref: str
    role: Role
    text: str


class Hit(Value):
    """One turn that answers a cue."""

    turn: TurnView
    score: float
    """0 to 1, comparable within one answer only."""
    parts: Parts
    reasons: tuple[str, ...]
    """In words."""
    before: Side | None = None
    after: Side | None = None


class ThreadHit(Value):
    """A thread, ranked by its best turn and .3 of the next two."""

    thread_id: str
    title: str | None
    score: float
    best: str
    """Reference of its best turn."""


class HypothesisView(Value):
    """A hypothesis and how far it may be trusted now. Never a source."""

    hypothesis: AnyHypothesis
    standing: Standing


class Recalled(Value):
    """What a store holds on a cue; hypotheses stand apart from turns."""

    cue: str
    basis: str
    """What the vectors measure: lexical_static, or none."""
    hits: tuple[Hit, ...] = ()
    threads: tuple[ThreadHit, ...] = ()
    hypotheses: tuple[HypothesisView, ...] = ()
    threats: tuple[HypothesisView, ...] = ()
    """Hypotheses of mode threat."""
    not_found_reason: NotFound | None = None
    nearest: Hit | None = None
    """The best turn below the floor, where nothing was found."""
