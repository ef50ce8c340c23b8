"""What the questions asked of a store are answered with."""

from typing import Annotated, Literal, TypeAlias

from pydantic import Field

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

    outcome: Literal["turn"] = "turn"
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
    """What the vectors measure: lexical_static, the name of a model, or none."""
    unheard: str | None = None
    """Why the model that is set gave no vectors; wording was compared instead."""
    hits: tuple[Hit, ...] = ()
    threads: tuple[ThreadHit, ...] = ()
    hypotheses: tuple[HypothesisView, ...] = ()
    threats: tuple[HypothesisView, ...] = ()
    """Hypotheses of mode threat."""
    not_found_reason: NotFound | None = None
    nearest: Hit | None = None
    """The best turn below the floor, where nothing was found."""


class MissingRef(Value):
    """A reference that gives no turn."""

    outcome: Literal["missing"] = "missing"
    ref: str
    """As asked."""
    reason: Literal["malformed", "no_thread", "no_turn", "ambiguous"]


Fetched: TypeAlias = Annotated[TurnView | MissingRef, Field(discriminator="outcome")]


class ThreadRow(Value):
    """One thread in a list."""

    thread_id: str
    title: str | None
    source: str
    project: str | None
    started_at: Instant | None
    ended_at: Instant | None
    turns: int
    """Clean turns on the main line, stored here."""
    labels: tuple[str, ...]
    state: str
    lineage_root: str
    """Another id than its own where it continues or forks a thread."""


class Opened(Value):
    """A turn in its thread, or a whole thread."""

    outcome: Literal["opened"] = "opened"
    thread: ThreadRow
    turns: tuple[TurnView, ...]
    """In reading order."""
    focus: str | None = None
    """Reference of the turn that was asked for."""
    more_before: int = 0
    more_after: int = 0


OpenedTurn: TypeAlias = Annotated[Opened | MissingRef, Field(discriminator="outcome")]


class QuestionRow(Value):
    """One question in a list."""

    question_id: str
    text: str
    status: str
    intent: str
    salience: float
    where: str | None
    asked: int
    """Turns that ask it."""
    recurs: int
    """Other questions that ask the same."""
    lineages: int
    """Lineages in which it, or a question that asks the same, was asked."""
    first_seen: Instant | None
    last_seen: Instant | None
    refs: tuple[str, ...]
    """Where it was asked, sorted, at most 8."""
    answers: tuple[str, ...] = ()
    """Turns of people that answer it, or a later question that asks the same; at most 8."""


class ConceptRow(Value):
    """One concept in a list."""

    concept_id: str
    label: str
    kind: str
    df: int
    """Distinct lineages."""
    cf: int
    """Mentions."""
    generic: bool
    """Too common to tell anything, by list, mark or frequency."""
    aliases: tuple[str, ...]


class StopRow(Value):
    """One waypoint of a Journey."""

    seq: int
    moment: str
    at: Instant | None
    labels: tuple[str, ...]
    frontier_hint: str | None
    refs: tuple[str, ...]


class JourneyRow(Value):
    """One Journey as it stands now."""

    journey_id: str
    path_label: str
    core_inquiry: str
    status: str
    """With time taken into account: camped, or abandoned because it lapsed."""
    frontier: str
    frontier_refs: tuple[str, ...]
    first_seen: Instant | None
    last_seen: Instant | None
    expires_at: Instant | None
    merged_into: str | None
    waypoints: int
    rank: float
    """0 to 1, as confidence and visibility: by status, and by what the owner did with it."""
    confidence: float
    visibility: float
    layer: Literal["foreground", "visible", "collapsed"]
    """Of a map of Journeys; it says nothing of what is joined to what."""
    stops: tuple[StopRow, ...] = ()
    """Given when one Journey is asked for."""


class Pair(Value):
    """Two turns that meet, one on each side, and what joins them."""

    mine: str
    """Reference."""
    theirs: str
    kind: Literal[
        "same_question",
        "linked_question",
        "alike_question",
        "answered_question",
        "shared_concepts",
        "shared_words",
    ]
    concepts: tuple[str, ...] = ()
    """Labels of shared specific concepts."""
    words: tuple[str, ...] = ()
    """Stems of rare shared words."""
    mine_text: str = ""
    theirs_text: str = ""


class Resonance(Value):
    """Another lineage that meets the same question, and the evidence on both sides."""

    thread_id: str
    title: str | None
    project: str | None
    started_at: Instant | None
    group: Literal["same_question", "same_obstacle", "same_shape", "same_files", "same_days"]
    score: float
    """0 to 1, comparable within one answer only."""
    pairs: tuple[Pair, ...]
    shared_paths: tuple[str, ...] = ()
    journeys: tuple[str, ...] = ()
    """Journeys that pass through both."""
    hours_apart: float | None = None
    """Between the work on both, when they are of one project and no more than a fortnight apart."""
    reasons: tuple[str, ...] = ()


class Resonances(Value):
    """What rhymes with a thread, a question, or a text."""

    cue: str
    thread_id: str | None
    """The thread that stands on our side; null when the cue met none."""
    found: tuple[Resonance, ...] = ()
