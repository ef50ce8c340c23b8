"""The seam through which extraction reaches the store: graphstore names it, ingest authors it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from graphstore.model.conversation import Thread
from graphstore.model.knowledge import (
    Anchored,
    Answers,
    Asks,
    Concept,
    Facts,
    Journey,
    Links,
    Mentions,
    Question,
    Relates,
    SourceRefNode,
    ThreadNode,
    Waypoint,
)
from graphstore.model.record import EpochRecord, JourneyRecord


@dataclass(frozen=True, slots=True)
class Ground:
    """Extracted rows of a store, each family sorted by its keys; a read model, not a Value."""

    threads: tuple[ThreadNode, ...]
    turns: tuple[SourceRefNode, ...]
    questions: tuple[Question, ...]
    concepts: tuple[Concept, ...]
    asks: tuple[Asks, ...]
    answers: tuple[Answers, ...]
    mentions: tuple[Mentions, ...]
    links: tuple[Links, ...] = ()
    relates: tuple[Relates, ...] = ()
    journeys: tuple[Journey, ...] = ()
    waypoints: tuple[Waypoint, ...] = ()
    anchored: tuple[Anchored, ...] = ()
    said: Mapping[tuple[str, str], bool] = field(default_factory=dict)
    """Pairs of questions, first id before second: whether they ask the same, by the owner."""
    whole: frozenset[str] | None = None
    """Questions whose links are all among these rows; None: of every one, and every row is."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A question with what surrounds it in all its threads; a read model, not a Value."""

    question: Question
    keys: frozenset[str]
    concepts: frozenset[str]
    """Specific ones."""
    paths: frozenset[str]
    participants: frozenset[str]
    refs: tuple[str, ...]
    """Turns that ask it, by thread and number."""


class Derive(Protocol):
    """Pure derivation: equal input, equal rows."""

    @property
    def version(self) -> str:
        """Changes whenever the same turns would give other rows."""
        ...

    def epoch(self, threads: Iterable[Thread], roots: Mapping[str, str]) -> EpochRecord:
        """Store-wide figures; ``roots`` maps thread id to lineage root."""
        ...

    def facts(self, thread: Thread, epoch: EpochRecord) -> Facts:
        """What one thread yields."""
        ...

    def link(self, left: Asked, right: Asked, cosine: float) -> Links | None:
        """The link between two questions that look alike, if they are; left id before right."""
        ...

    def journeys(
        self, ground: Ground, known: tuple[JourneyRecord, ...], epoch: EpochRecord
    ) -> tuple[JourneyRecord, ...]:
        """Records for Journeys that begin or go on, in id order; ``known`` is their history.

        Clusters are looked at only where the ground holds them whole.
        """
        ...
