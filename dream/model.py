"""Pack, Draft and Verdict: what a dream function may read, what it proposes, what became of it."""

from typing import Annotated, Literal, TypeAlias

from pydantic import Field

from dream.findings import (
    Alike,
    Growth,
    Middle,
    Missed,
    OneSided,
    Resumed,
    Revival,
    Route,
    Unspoken,
    Voice,
    Walked,
)
from graphstore.model.base import Instant, Value
from graphstore.model.hypothesis import Claim, CounterEvidence

Side: TypeAlias = Literal["a", "b", "middle", "none"]
Family: TypeAlias = Literal[
    "operator", "correction", "recall_miss", "journey_frontier", "topic_residue", "ready_pack"
]


class Focus(Value):
    """What a pack is about."""

    kind: str
    """seed, question_link, journey, frontier, theme, concept_edge, correction or recall_miss."""
    id: str
    family: Family
    shape: str | None = None
    """Of a seed."""
    provenance: str = "computed"
    members: tuple[tuple[str, str], ...] = ()
    """(role, node id), for a seed."""


class PackTurn(Value):
    """One clean turn in full view: functions and checks see nothing else of it."""

    alias: str
    """``sr0`` to ``sr31``: the only name a draft may cite."""
    ref: str
    fingerprint: str
    role: Literal["human", "assistant"]
    at: Instant | None
    thread_id: str
    lineage: str
    thread_title: str
    text: str
    """Clipped to 1,200 characters round the mention."""
    side: Side = "none"
    concepts: tuple[str, ...] = ()
    """Ids of the specific concepts it mentions."""


class PackQuestion(Value):
    """A question of the focus, with every asking that the pack holds or counts."""

    question_id: str
    text: str
    status: str
    cluster: str
    """Smallest question id of its recurring cluster."""
    aliases: tuple[str, ...] = ()
    """Pack turns that ask it."""
    askings: int
    """Askings of its whole cluster, the pack's or not."""
    lineages: int
    """Distinct lineages of those askings."""
    first_seen: Instant | None
    last_seen: Instant | None
    days_open: int | None
    resolved: bool
    """A later human turn resolved one of its cluster."""
    is_core: bool = False
    """Its cluster holds the core inquiry of a Journey."""
    concepts: tuple[str, ...] = ()
    last_thread_id: str
    """Of its newest asking."""
    asked_in: tuple[str, ...]
    """Lineages that ask its cluster, sorted."""
    is_task: bool = False
    """It asks for something to be done, or states a problem."""
    answers: tuple[str, ...] = ()
    """Pack turns that resolve it, the newest first."""
    settled_at: Instant | None = None
    reopens: int = 0
    """Times it was asked again while stale, rejected or blocked."""
    ended: str = ""
    """How its last round ended: stale, rejected or blocked."""


class PackFrontier(Value):
    """Where work stopped."""

    alias: str
    thread_id: str
    type: str
    clip: str
    question_id: str | None
    days_open: int | None


class PackConcept(Value):
    concept_id: str
    label: str
    df: int
    idf: float
    aliases: tuple[str, ...] = ()
    """Pack turns that mention it."""


class PackThread(Value):
    """What a thread of the focus did and did not do, over its whole lineage."""

    thread_id: str
    lineage: str
    title: str
    turns: int
    technique: bool
    """It uses words of technique: implement, refactor, measure ..."""
    verification: bool
    """It uses words of verification: test, measure, confirm ..."""
    open_questions: int
    frontiers: int
    concepts: tuple[str, ...]
    """Specific ones, those that most weigh in it first."""
    verified_elsewhere: int
    """Other lineages with >= 2 common specific concepts that use words of verification."""


class Absent(Value):
    """A concept that keeps company with one end elsewhere, and is absent there."""

    src: str
    """The thread or Journey in which it does not occur."""
    concept_id: str
    label: str
    with_concepts: tuple[str, ...]
    """Labels of the specific concepts of that end it comes with, the rarest first."""
    company: int
    """How many they are."""
    lineages: int
    support: float
    """Sum of idf of the concepts it comes with."""
    aliases: tuple[str, ...] = ()


class PackJourney(Value):
    journey_id: str
    label: str
    status: str
    core_inquiry: str
    frontier: str
    frontier_aliases: tuple[str, ...]
    concepts: tuple[str, ...]
    waypoints: int
    is_blocked: bool
    is_camped: bool
    is_abandoned: bool = False
    is_slowing: bool = False
    """Fewer waypoints in the last fortnight than in the one before."""


class PackCorrection(Value):
    alias: str
    thread_id: str
    lineage: str
    target: str
    clip: str
    concepts: tuple[str, ...]


class Part(Value):
    """One far part of a cut-point."""

    node: str
    label: str
    nodes: int
    aliases: tuple[str, ...]


class Pair(Value):
    """A candidate (src, dst) with the figures and the evidence on both sides."""

    pair_id: str
    src_table: str
    src: str
    src_label: str
    dst_table: str
    dst: str
    dst_label: str
    a: tuple[str, ...]
    """Aliases that speak for src."""
    b: tuple[str, ...]
    shared: tuple[str, ...]
    """Ids of shared specific concepts, rarest first."""
    common_neighbours: int
    adamic_adar: float
    resource_allocation: float
    distance: int | None
    """In the extracted graph, up to 4."""
    is_linked: bool
    """An extracted link joins them directly."""
    same_lineage: bool
    newest: Instant | None
    new_concept: str | None = None
    """For a theme: the concept its newest thread brings, known from elsewhere."""
    counter: tuple[CounterEvidence, ...] = ()
    """Refs are aliases."""


class Contribution(Value):
    """What was put into a pack, in which role."""

    kind: str
    id: str
    role: Literal["clean_anchor", "focus", "texture", "weak_context"]


class CounterSearch(Value):
    """Kinds of counter-evidence: which were looked for, which were found."""

    searched: tuple[str, ...]
    found: tuple[str, ...]


class Neighbour(Value):
    """A live hypothesis near the focus."""

    hypothesis_id: str
    function: str
    rule: str
    src: str
    dst: str
    cues: tuple[str, ...]


class Pack(Value):
    """Everything a dream function may see, text included."""

    outcome: Literal["pack"] = "pack"
    pack_id: str
    focus: Focus
    readiness: Literal["ready", "single_thread"]
    lineages: int
    turns: tuple[PackTurn, ...]
    counter_turns: tuple[PackTurn, ...] = ()
    questions: tuple[PackQuestion, ...] = ()
    frontiers: tuple[PackFrontier, ...] = ()
    concepts: tuple[PackConcept, ...] = ()
    journeys: tuple[PackJourney, ...] = ()
    corrections: tuple[PackCorrection, ...] = ()
    parts: tuple[Part, ...] = ()
    thread: PackThread | None = None
    absent: tuple[Absent, ...] = ()
    walked: tuple[Walked, ...] = ()
    growing: tuple[Growth, ...] = ()
    unspoken: tuple[Unspoken, ...] = ()
    revivals: tuple[Revival, ...] = ()
    routes: tuple[Route, ...] = ()
    alike: tuple[Alike, ...] = ()
    resumed: tuple[Resumed, ...] = ()
    one_sided: OneSided | None = None
    middles: tuple[Middle, ...] = ()
    voices: tuple[Voice, ...] = ()
    missed: tuple[Missed, ...] = ()
    textures: tuple[str, ...] = ()
    """Names of the textures of its turns, sorted: they open functions and prove nothing."""
    invitation_days: int = 14
    """How long an invitation stands."""
    confidence: tuple[float, float] = (0.55, 0.86)
    """Least and most confidence that a model may declare."""
    pairs: tuple[Pair, ...] = ()
    neighbours: tuple[Neighbour, ...] = ()
    contributions: tuple[Contribution, ...] = ()
    counter_search: CounterSearch = CounterSearch(searched=(), found=())
    eligible: tuple[str, ...] = ()
    """Names of the functions that may read it, the wanted one first."""
    left_out: int = 0
    """Turns that did not fit."""
    store_lineages: int = 0


class TooThin(Value):
    """There is too little ground for a pack."""

    outcome: Literal["too_thin"] = "too_thin"
    status: Literal["no_clean_refs", "single_thread", "nothing_to_ask"]
    refs: int
    lineages: int


Packed: TypeAlias = Annotated[Pack | TooThin, Field(discriminator="outcome")]


class Bridge(Value):
    """How two Journeys may unlock each other; shown as an optional probe only."""

    kind: Literal["shared_unblock_condition", "shared_blockage", "counterpath", "frontier_rhyme"]
    journeys: tuple[str, ...]
    """The two ids, sorted."""
    refs: tuple[str, ...]
    """Of both sides; aliases in a draft."""
    shared_pattern: str
    """At least four words."""
    possible_reason: str
    unblock_condition: str
    falsification_cues: tuple[str, ...]
    """What would speak against it; at least one."""


class Invitation(Value):
    """A question that may be put once, when its concepts come up; never pressed."""

    type: Literal["light_question", "prospective_open", "source_reopen_first"]
    triggers: tuple[str, ...]
    """Labels of the concepts that call for it."""
    opening: str
    """In the form of a question."""
    refs: tuple[str, ...]
    """Aliases in a draft."""
    days: int
    """How long it stands, 1 to 90."""
    annoyance: Literal["low", "medium", "high"] = "low"
    """High: it stays silent."""


class Artifact(Value):
    """A text ready to be used: a draft, not source."""

    kind: Literal["question", "prompt", "outline", "probe"]
    use: Literal["foreground_probe", "source_reopen_check", "planning_seed"]
    text: str
    """At most 520 characters."""
    refs: tuple[str, ...]
    """Aliases in a draft."""
    counter: tuple[str, ...]
    """Aliases of what speaks against it."""
    when_not_to_use: str


class Draft(Value):
    """What a function or a model proposes. Refs are aliases of its pack."""

    function: str
    rule: str
    edge: Literal["COMPENSATES", "ANTICIPATES", "RESONATES", "IMAGINES"]
    mode: Literal["replay", "counterfactual", "creative", "threat"]
    src_table: str
    src: str
    dst_table: str
    dst: str
    title: str
    summary: str
    claims: tuple[Claim, ...]
    counter: tuple[CounterEvidence, ...] = ()
    cues: tuple[str, ...]
    why_not_fact: str
    next_check: Literal["source_reopen_check", "user_probe", "retrospective_check"]
    start: Literal[20, 30]
    support: float
    bridge: Bridge | None = None
    invitation: Invitation | None = None
    artifact: Artifact | None = None
    voices: tuple[Voice, ...] = ()
    atmosphere: tuple[str, ...] = ()
    """At most six tags: a direction, no claim."""
    declared_confidence: float | None = None
    method: Literal["deterministic", "model"] = "deterministic"
    model: str | None = None
    """Name of the model that proposed it."""

    @property
    def refs(self) -> tuple[str, ...]:
        """Aliases of all premises, each once, in pack order."""
        cited = {alias for claim in self.claims for alias in claim.refs}
        return tuple(sorted(cited, key=lambda alias: (len(alias), alias)))


class Accepted(Value):
    outcome: Literal["accepted"] = "accepted"
    draft: Draft


class Parked(Value):
    outcome: Literal["parked"] = "parked"
    draft: Draft
    failed: tuple[str, ...]


class Rejected(Value):
    outcome: Literal["rejected"] = "rejected"
    draft: Draft
    failed: tuple[str, ...]


Verdict: TypeAlias = Annotated[Accepted | Parked | Rejected, Field(discriminator="outcome")]
