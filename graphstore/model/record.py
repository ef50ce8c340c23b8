"""Ledger records: what cannot be recomputed. One record is one atomic change."""

from typing import Annotated, Literal, TypeAlias

from pydantic import Field

from graphstore.model.base import Instant, Value
from graphstore.model.conversation import Event, LineageLink, ThreadState, Turn
from graphstore.model.hypothesis import AnyHypothesis
from graphstore.model.knowledge import JourneyStatus


class TurnChange(Value):
    """What became of an already stored turn."""

    number: int
    superseded_by: int | None = None
    source_gone: bool = False


class ThreadRecord(Value):
    """A new thread, or what is new of a known one. Head fields replace, turns are added."""

    kind: Literal["thread"] = "thread"
    thread_id: str
    source: str
    native_id: str
    title: str | None = None
    project: str | None = None
    participants: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    native_ids: tuple[str, ...] = ()
    started_at: Instant | None = None
    ended_at: Instant | None = None
    flags: tuple[str, ...] = ()
    state: ThreadState = ThreadState.CLOSED
    events: tuple[Event, ...] = ()
    lineage: tuple[LineageLink, ...] = ()
    citations: tuple[str, ...] = ()
    """Targets named in its turns, as written."""
    turns: tuple[Turn, ...] = ()
    changes: tuple[TurnChange, ...] = ()
    path: tuple[int, ...] = ()

    @property
    def subject(self) -> str:
        return self.thread_id


class Stop(Value):
    """A waypoint as recorded: a moment of the inquiry and the turns it stands on."""

    seq: int
    moment: str
    refs: tuple[str, ...]
    at: Instant | None = None
    labels: tuple[str, ...] = ()
    frontier_hint: str | None = None
    arc: str = "unmapped"
    arc_provenance: str = "none"


class JourneyRecord(Value):
    """A Journey was created, or went on. Stops are only ever added."""

    kind: Literal["journey"] = "journey"
    journey_id: str
    path_label: str
    core_inquiry: str
    status: JourneyStatus
    questions: tuple[str, ...] = ()
    """Question ids of its cluster, sorted."""
    concepts: tuple[str, ...] = ()
    """Its specific concepts, most salient first."""
    stops: tuple[Stop, ...] = ()
    """New ones."""
    last_activity_at: Instant | None = None
    merged_into: str | None = None
    frontier: str | None = None
    """Where it stands, in the owner's words; holds until a later waypoint says more."""
    reason: str = ""
    """created, appended, revived, or the owner's act."""

    @property
    def subject(self) -> str:
        return self.journey_id


class Count(Value):
    """A named figure: one row of a mapping."""

    name: str
    count: int


class EpochRecord(Value):
    """Store-wide figures that extraction uses until the next epoch."""

    kind: Literal["epoch"] = "epoch"
    extractor: str
    lineages: int
    """N: distinct lineages with clean turns."""
    turns: int = 0
    """Clean turns."""
    token_df: tuple[Count, ...] = ()
    """Lineages that hold a word token; tokens of one lineage are left out (their df is 1)."""
    concept_df: tuple[Count, ...] = ()
    """Lineages that name a candidate, by canonical label; df 1 left out."""
    vector_df: tuple[tuple[int, int], ...] = ()
    """Lineages that hold a token of the static vectors, as (token id, count); df 1 left out."""
    templates: tuple[str, ...] = ()
    """Question ids of texts repeated in five or more lineages: injected templates."""
    pmi_floor: float = 0.0
    """0.75 quantile of pointwise mutual information over co-occurring concepts."""

    @property
    def subject(self) -> str:
        return "epoch"


class ParkedDraft(Value):
    """A draft that waits: what it proposed and every check it failed."""

    hypothesis: AnyHypothesis
    failed: tuple[str, ...]


class JobEnd(Value):
    """How one job of a dream cycle ended."""

    job_id: str
    function: str
    focus: str
    pack_id: str
    state: Literal["done", "parked", "failed", "queued"]
    reason: str
    accepted: int = 0
    parked: int = 0
    rejected_drafts: int = 0
    rejected: tuple[Count, ...] = ()
    """Failed checks of the rejected drafts."""
    advice: str | None = None
    """What came of asking a model; null where none was asked."""


class ModelCall(Value):
    """One call of a model: no word of it. A count is null where the endpoint tells none."""

    job_id: str
    function: str
    host: str
    model: str
    prompt_version: str
    outcome: str
    """reply, or why none came."""
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cached_tokens: int | None = None

    @property
    def tokens(self) -> int | None:
        """Of both ways together."""
        told = [each for each in (self.prompt_tokens, self.completion_tokens) if each is not None]
        return sum(told) if told else None


class GateLine(Value):
    """One condition of the gate as it was evaluated."""

    name: str
    result: Literal["open", "closed", "waived", "skipped", "not_evaluated"]
    value: str
    required: str
    distance: str


class CycleRecord(Value):
    """One dream cycle that landed or failed, with its journal entry."""

    kind: Literal["cycle"] = "cycle"
    cycle_id: str
    generation: int
    trigger: Literal["manual", "hook", "timer"]
    gate: tuple[GateLine, ...]
    leased_seq: int
    """Ledger position at the lease."""
    started_at: Instant
    ended_at: Instant
    outcome: Literal["landed", "interrupted", "failed"]
    jobs: tuple[JobEnd, ...] = ()
    hypotheses: tuple[AnyHypothesis, ...] = ()
    changes: tuple[AnyHypothesis, ...] = ()
    """Known hypotheses as they stand after it: expired, superseded."""
    parked: tuple[ParkedDraft, ...] = ()
    calls: tuple[ModelCall, ...] = ()
    """Of a model, in order."""
    notes: tuple[Count, ...] = ()
    """Counted facts of the run, by name."""
    next_action: str = ""

    @property
    def subject(self) -> str:
        return self.cycle_id


class ReviewRecord(Value):
    """An act of the owner on a hypothesis, a concept, a pair of questions."""

    kind: Literal["review"] = "review"
    act: str
    target: str
    other: str | None = None
    actor: str = "owner"
    reason: str = ""
    at: Instant
    after: tuple[AnyHypothesis, ...] = ()
    """Hypotheses as they stand after an act on them."""

    @property
    def subject(self) -> str:
        return self.target


class OutcomeRecord(Value):
    """Later evidence that names a hypothesis and was counted."""

    kind: Literal["outcome"] = "outcome"
    event_id: str
    hypothesis_id: str
    verdict: Literal["confirmed", "contradicted"]
    ref: str | None
    """The turn that says it; null for the owner's bare word."""
    lineage: str | None
    """Of the turn."""
    by: str
    """owner, graph, or agent:<name>."""
    at: Instant
    """Time of the turn, or of the word."""
    after: AnyHypothesis
    """The hypothesis as it stands then."""

    @property
    def subject(self) -> str:
        return self.event_id


class ForgetRecord(Value):
    """Threads that the owner had removed: keyed hashes, and no word of them."""

    kind: Literal["forget"] = "forget"
    threads: tuple[str, ...]
    """Hashes of thread ids, sorted."""
    turns: tuple[str, ...]
    """Hashes of the fingerprints of turns that no kept thread holds, sorted."""

    @property
    def subject(self) -> str:
        return "forget"


class GoneRecord(Value):
    """Stands where a record was that has been forgotten."""

    kind: Literal["gone"] = "gone"
    was: str
    """Kind of the record."""

    @property
    def subject(self) -> str:
        return "gone"


DreamRecord: TypeAlias = CycleRecord | ReviewRecord | OutcomeRecord
"""Records that hypothesis edges are made from, in ledger order."""

Record: TypeAlias = Annotated[
    ThreadRecord
    | JourneyRecord
    | EpochRecord
    | CycleRecord
    | ReviewRecord
    | OutcomeRecord
    | ForgetRecord
    | GoneRecord,
    Field(discriminator="kind"),
]
"""Closed; revision, feedback and note records join it with their features."""
