"""The one-sidedness gate: may an inquiry be told of its other side? Four signs, from clean turns.

It opens for persistent trigrams on annotated arcs, or for any two signs. Closed, it says which
signs there were and how many are missing.
"""

from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from dream.company import is_topic
from dream.findings import OneSided
from dream.index import Index
from dream.model import Focus
from dream.routes import route, speaks_against
from graphstore.model.arcs import named

LAST: Final = 3
TWICE: Final = 2
AVOIDED: Final = frozenset(
    {
        ("texture", "abandoned_direction"),
        ("texture", "rejected_route"),
        ("decision", "rejected"),
        ("frontier", "deferred"),
    }
)
"""Signals (kind, type) of what an inquiry turns away from."""
OPENING: Final = 2


@dataclass(frozen=True)
class Leaning:
    """The signs of one Journey or thread."""

    focus: Focus
    index: Index

    @cached_property
    def rows(self) -> tuple[str, ...]:
        """Its clean turns, oldest first: of the threads it passes."""
        index = self.index
        refs = index.journey_refs.get(self.focus.id, ())
        threads = {index.turns[ref].thread_id for ref in refs if ref in index.turns}
        threads = threads or {self.focus.id} & set(index.threads)
        found = (ref for thread in threads for ref in index.thread_turns.get(thread, ()))
        return tuple(sorted(found, key=index.when))

    @cached_property
    def last(self) -> tuple[str, ...]:
        """Turns of its last three waypoints, else its last three turns."""
        stops = [ref for _, ref in self.index.stops.get(self.focus.id, ())]
        return tuple((stops or list(self.rows))[-LAST:])

    @cached_property
    def arcs_persist(self) -> bool:
        """The last three arcs share a trigram, wherever it stands in them."""
        arcs = route(self.focus.id, self.index)[-LAST:]
        trigrams = [{arc.upper, arc.lower} for arc in arcs]
        return len(arcs) == LAST and bool(set.intersection(*trigrams))

    @cached_property
    def is_annotated(self) -> bool:
        stops = self.index.stops.get(self.focus.id, ())[-LAST:]
        return all(named(waypoint.arc) is not None for waypoint, _ in stops)

    @cached_property
    def opposed(self) -> frozenset[str]:
        """Concepts of its turns that correct or reject."""
        named_in = self.index.turn_concepts
        return frozenset(
            each
            for ref in self.rows
            if speaks_against(ref, self.index)
            for each in self.index.rarest(named_in.get(ref, ()))
        )

    @cached_property
    def asks_without_counter(self) -> bool:
        """A question cluster asked twice, about nothing that a turn of it speaks against."""
        asked = Counter(
            self.index.clusters[question]
            for ref in self.rows
            for question in self.index.turn_questions.get(ref, ())
        )
        return any(
            count >= TWICE and not self.opposed.intersection(self.index.specific(cluster))
            for cluster, count in asked.items()
        )

    @cached_property
    def left(self) -> tuple[str, tuple[str, ...]] | None:
        """(concept, refs): what two rows name as avoided and the last three never mention."""
        index, named_in = self.index, dict[str, list[str]]()
        for ref in self.rows:
            if is_avoiding(ref, index):
                for concept in index.rarest(index.turn_concepts.get(ref, ())):
                    named_in.setdefault(concept, []).append(ref)
        lately = {each for ref in self.last for each in index.turn_concepts.get(ref, ())}
        found = [
            (-len(refs), index.concepts[concept].df, concept)
            for concept, refs in named_in.items()
            if len(refs) >= TWICE and concept not in lately and is_topic(index, concept)
        ]
        return (min(found)[2], tuple(named_in[min(found)[2]])) if found else None

    @cached_property
    def corrected_at_one_angle(self) -> bool:
        """Two corrections name a concept that no later answer of it mentions."""
        given: dict[str, list[str]] = {}
        for ref in self.rows:
            for signal in self.index.turn_signals.get(ref, ()):
                for concept in self.index.rarest(signal.concepts):
                    if signal.kind == "correction":
                        given.setdefault(concept, []).append(ref)
        return any(
            len(refs) >= TWICE and not self._answered(concept, refs)
            for concept, refs in given.items()
        )

    def _answered(self, concept: str, refs: list[str]) -> bool:
        since = max(map(self.index.when, refs))
        return any(
            self.index.turns[ref].role == "assistant"
            and self.index.when(ref) > since
            and concept in self.index.turn_concepts.get(ref, ())
            for ref in self.rows
        )

    def verdict(self) -> OneSided:
        """The signs, and whether they open the gate."""
        signs = {
            "trigram_persistence": self.arcs_persist,
            "questions_without_counter": self.asks_without_counter,
            "absent_theme": self.left is not None,
            "corrections_at_one_angle": self.corrected_at_one_angle,
        }
        found = tuple(name for name, holds in signs.items() if holds)
        is_open = (self.arcs_persist and self.is_annotated) or len(found) >= OPENING
        concept, refs = self.left or (None, ())
        arcs = route(self.focus.id, self.index)
        return OneSided(
            focus=self.focus.id,
            signals=found,
            is_open=is_open,
            missing=0 if is_open else OPENING - len(found),
            concept_id=concept,
            label=self.index.label("Concept", concept) if concept else "",
            named=len(refs),
            aliases=refs,
            arc=arcs[-1].name if arcs else None,
            opposite=arcs[-1].opposite.name if arcs else None,
        )


def is_avoiding(ref: str, index: Index) -> bool:
    """Whether a turn leaves a direction, rejects a route, or puts something off."""
    return any((signal.kind, signal.type) in AVOIDED for signal in index.turn_signals.get(ref, ()))
