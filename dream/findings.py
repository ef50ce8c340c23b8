"""What packing finds out about a focus beyond its turns, ready for the functions to word."""

from typing import Literal, TypeAlias

from graphstore.model.base import Instant, Value

Speaker: TypeAlias = Literal["active_question", "current_frontier", "opposite", "resonance"]


class Walked(Value):
    """A node that the walk from a Journey's frontier comes to."""

    src: str
    """The Journey."""
    dst: str
    dst_table: Literal["Question", "Concept"]
    label: str
    walks: int
    """Different walks, of 64, that came there."""
    visits: int
    share: float
    """Visits over those of the most visited target, 0 to 1."""
    through: tuple[str, ...]
    """Labels of what lies between, the most travelled first."""


class Growth(Value):
    """Two concepts that no thread holds together and that more and more things join."""

    src: str
    dst: str
    between: tuple[str, ...]
    """Labels of common neighbours, the newest first."""
    before: int
    """Common neighbours a month before the newest turn of the store."""
    now: int
    support: float
    """Resource allocation times recency."""


class Unspoken(Value):
    """Three concepts that met two by two in recent threads, and never all in one."""

    question: str
    concept_id: str
    """The one that the thread of the question does not hold."""
    label: str
    with_concepts: tuple[str, str]
    """Labels of the other two."""
    lineages: int
    weight: float
    """Mean idf of the three."""
    aliases: tuple[str, ...] = ()
    """Turns in which two of the three meet."""


class Revival(Value):
    """Later threads that touch what a resting Journey was about."""

    journey_id: str
    concepts: tuple[str, ...]
    """Labels of its concepts that they touch."""
    lineages: int
    aliases: tuple[str, ...]


class Route(Value):
    """The arcs of a Journey, one for each waypoint that has a turn."""

    journey_id: str
    arcs: tuple[str, ...]
    """Names of states, in the order of the waypoints."""
    annotated: int
    """How many of them somebody named; the others were computed from the turns."""


class Alike(Value):
    """Two Journeys of no common thread whose routes resonate."""

    src: str
    dst: str
    score: float
    opposite: bool
    """They stand now at opposite arcs."""


class Resumed(Value):
    """A Journey that was blocked and went on: what a human said before its next waypoint."""

    journey_id: str
    clip: str
    alias: str


class OneSided(Value):
    """Whether an inquiry keeps to one side, by which signs, and what it leaves out."""

    focus: str
    signals: tuple[str, ...]
    is_open: bool
    """It may be told of the other side."""
    missing: int
    """Signals that it would still take."""
    concept_id: str | None = None
    """What was named and left, when that is a sign."""
    label: str = ""
    named: int = 0
    """Turns that name it."""
    aliases: tuple[str, ...] = ()
    arc: str | None = None
    """Where it stands."""
    opposite: str | None = None
    """The arc across: a direction only, shown whether open or not."""


class Middle(Value):
    """What joins two concepts that never meet."""

    src: str
    dst: str
    concept_id: str
    label: str
    weight: float
    """Its part of their resource allocation."""
    a: tuple[str, ...]
    """Aliases of turns in which it meets src."""
    b: tuple[str, ...]


class Voice(Value):
    """A structure of the sources that proposes one node; never a persona."""

    voice: Speaker
    node: str
    label: str
    refs: tuple[str, ...]
    """Aliases in a draft; a voice without any is not counted."""


class Missed(Value):
    """A turn that a recall needed and did not bring, or brought late."""

    question_id: str
    thread_id: str
    alias: str
    at: Instant | None
