"""What the scout says: Seeds, the evidence they need, and the account of one run."""

from typing import Annotated, Literal, TypeAlias

from pydantic import Field

from graphstore.model.base import Value

Role: TypeAlias = Literal["cut", "side_a", "side_b", "via", "member"]
HubRule: TypeAlias = Literal["marked", "stop_list", "df", "name"]
"""``name``: more lineages carry it as name of their tool, model, project or folder."""
LevelNumber: TypeAlias = Literal[0, 1, 2]
Provenance: TypeAlias = Literal["computed", "annotated"]

REF_LIMIT = 24
LISTED_LIMIT = 50
HUBS_NAMED = 5
HUBS_LISTED = 50


class Limits(Value):
    """How far the scout looks. Caps count work, never seconds."""

    top: Annotated[int, Field(ge=1, le=200)] = 20
    """Seeds reported per shape."""
    k_min: Annotated[int, Field(ge=2, le=50)] = 3
    """Smallest side or piece, in nodes, that makes a cut worth a look."""
    side_threads: Annotated[int, Field(ge=1, le=50)] = 2
    """Fewest lineages on every side or piece of a cut; of no effect in a graph without threads."""
    s_min: Annotated[int, Field(ge=3, le=1000)] = 10
    """Smallest community that a claim about communities may name."""
    max_cycle: Annotated[int, Field(ge=3, le=8)] = 6
    """Longest cycle that is searched, in edges."""
    level: LevelNumber | None = None
    """Keep only Seeds of this level."""
    hub_df: Annotated[int, Field(ge=1)] | None = None
    """Largest df of a concept that is not generic, instead of the rule."""
    cycle_work: Annotated[int, Field(ge=0)] = 2_000_000
    """Edge visits spent on cycles, for directed and undirected ones each."""
    cycles_per_part: Annotated[int, Field(ge=1)] = 100
    """Cycles kept per strongly connected or biconnected component."""
    wedges: Annotated[int, Field(ge=0)] = 20_000_000
    """Paths of length two looked at for missing middles."""
    pairs: Annotated[int, Field(ge=1)] = 1000
    """Missing middles kept."""
    themes: bool = True
    """Whether communities are computed."""
    raises: Annotated[int, Field(ge=0)] = 30
    """How often k is raised to split an over-large knot."""
    scope: str = ""
    """Fingerprint of the scope that the view was read with."""
    stop: str = ""
    """Fingerprint of the stop list that the view was read with; empty for the shipped one."""


class Member(Value):
    """A node of a Seed and the part it plays."""

    role: Role
    node_id: str


class Amount(Value):
    """A named figure."""

    name: str
    value: int | float


class SeedRef(Value):
    """A clean turn and the side of the Seed that it speaks for."""

    ref: str
    side: str


class Demand(Value):
    """Evidence that a Seed must have: so many refs, from so many lineages, for one side."""

    side: str
    """Empty: any side."""
    refs: int = 1
    threads: int = 1
    reason: str = "missing_source_ref"
    """What is said when it is not met."""


class Seed(Value):
    """A place whose structure is worth a second look. A candidate, never a fact."""

    seed_id: str
    shape: str
    kind: str
    provenance: Provenance = "computed"
    level: LevelNumber | None
    also_at: tuple[int, ...] = ()
    """Other levels at which the same cut exists."""
    members: tuple[Member, ...]
    score: float
    rank: int = 0
    """Place within its shape, counted from 1; 0 before ranking."""
    sizes: tuple[Amount, ...] = ()
    """True node counts by side, where members list a part only."""
    weight: int = 0
    numbers: tuple[Amount, ...] = ()
    """Every figure used by score and sentence."""
    refs: tuple[SeedRef, ...] = ()
    demands: tuple[Demand, ...] = ()
    sentence: str
    """Template: ``{name}`` is a number, ``{role}`` or ``{role_2}`` the label of a member."""
    hubs: tuple[str, ...] = ()
    """Generic concepts that would join what the Seed says is apart."""
    soft: bool = False
    """True: apart only because generic concepts are set aside."""
    related: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    authority: Literal["candidate_not_fact"] = "candidate_not_fact"
    foreground: Literal[False] = False
    reopen_required: Literal[True] = True
    next: Literal["review"] = "review"
    claim: Literal["", "none_before_reopen"] = ""
    """For shadow routes: nothing may be said of it before its turns are read again."""
    view_hash: str = ""
    params_hash: str = ""


class LinkEffect(Value):
    """What one more edge changed."""

    joined: bool = False
    """Two components became one."""
    sizes_before: tuple[int, int] | None = None
    """Nodes of the two, the smaller first."""
    new_bridge: bool = False
    """The edge is now all that joins two sides."""
    closed: tuple[tuple[int, int], ...] = ()
    """Bridges that are none any more, as sorted pairs in order."""


class Control(Value):
    """Something that looked like a shape and is none, with the reason."""

    outcome: Literal["no_shape"] = "no_shape"
    reason: str
    shape: str = ""
    subject: str = ""


class Rejection(Value):
    """A candidate whose evidence did not hold."""

    outcome: Literal["rejected"] = "rejected"
    shape: str
    seed_id: str
    reasons: tuple[str, ...]
    subject: str = ""
    """Id of a note, or the line and field that make it a bad one."""
    refs: tuple[str, ...] = ()
    members: tuple[str, ...] = ()
    """What a rejected note spoke of."""


class Diagnostic(Value):
    """How a note stands to its reader. It blocks no shape, only unasked use."""

    note_id: str
    name: str


class ReviewTask(Value):
    """A look that a finding asks for, or the reason why none is asked."""

    finding_id: str
    seed_id: str
    suppressed: str = ""


class ShapeSkipped(Value):
    """A shape that was asked for and not searched."""

    outcome: Literal["skipped"] = "skipped"
    shape: str
    reason: Literal["engine_missing", "plugin_broken"]


class Truncation(Value):
    """A cap that was hit: what was left out."""

    shape: str
    what: str
    done: int
    of: int


class HiddenHub(Value):
    """A generic concept that was set aside, and why."""

    concept_id: str
    df: int
    rule: HubRule
    label: str = ""
    """What people call it; filled by the report, empty in its public form."""


class ShapeMetrics(Value):
    """Counts of one shape."""

    shape: str
    raw: int = 0
    """What plain graph theory counts, before sizes: bridges, or articulation points, of level 0."""
    found: int
    """Candidates by structure."""
    tried: int
    """Candidates whose evidence was looked at."""
    reported: int
    withheld: int = 0
    """Candidates whose cut could not be proved again."""


class ViewCounts(Value):
    """How big the view was."""

    nodes: tuple[Amount, ...]
    """Per kind."""
    edges: int
    lineages: int
    components: int
    largest_component: int
    hub_limit: int
    collapsed_rows: int
    self_loops: int
    undated: int


class Communities(Value):
    """Two partitions of level 1, how far they agree, and whether themes may be claimed."""

    first: str = ""
    second: str = ""
    """Algorithms."""
    first_count: int = 0
    second_count: int = 0
    ari: float | None = None
    """Adjusted Rand index."""
    nmi: float | None = None
    """Normalised mutual information."""
    stable: int = 0
    """Communities of the first partition that the second one confirms."""
    verdict: Literal["communities_agree", "communities_disagree", "not_computed"] = "not_computed"


class Scouted(Value):
    """All that one run of the scout found, in order."""

    seeds: tuple[Seed, ...]
    """Round robin over shapes: the order of the report and of the dream queue."""
    controls: tuple[Control, ...] = ()
    rejected: tuple[Rejection, ...] = ()
    skipped: tuple[ShapeSkipped, ...] = ()
    truncated: tuple[Truncation, ...] = ()
    hidden_hubs: tuple[HiddenHub, ...] = ()
    hidden_hub_count: int = 0
    metrics: tuple[ShapeMetrics, ...] = ()
    communities: Communities = Communities()
    view: ViewCounts
    view_hash: str
    params_hash: str
    limits: Limits
    notes_read: bool = False
    """Whether records made elsewhere were looked at."""
    diagnostics: tuple[Diagnostic, ...] = ()
    tasks: tuple[ReviewTask, ...] = ()
    confirmed_by_structure: int = 0
    """Notes that say what a computed Seed says."""
    dropped_anchors: int = 0
    dreamt_rows: int = 0
    """Dreamt relations that the export of the view met; none may be there."""
    false_positives: int = 0
    """Candidates that failed the second proof; they were withheld."""
    source_backed: bool = True
    """False for a graph without refs: evidence gates were off."""
