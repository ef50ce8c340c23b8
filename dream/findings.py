"""What packing finds out about a focus beyond its turns, ready for the functions to word."""

from typing import Literal

from graphstore.model.base import Value

Speaker = Literal["active_question", "current_frontier", "opposite", "resonance"]


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
