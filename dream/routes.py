"""Routes: the arcs of a Journey, named by somebody or read off its turns, and how two are alike."""

from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise
from typing import Final

from dream.findings import Alike, Route
from dream.index import Index
from dream.lexicon import has
from graphstore.model.arcs import Arc, Likeness, likeness, named, of_lines

REJECTED: Final = ("decision", "rejected")
REMEMBERED: Final = 4096


def route(journey: str, index: Index) -> tuple[Arc, ...]:
    """The arcs of a Journey, one for each waypoint with a clean turn; read once."""
    if journey not in index.arcs:
        index.arcs[journey] = tuple(arcs_of(journey, index))
    return index.arcs[journey]


def arcs_of(journey: str, index: Index) -> Iterator[Arc]:
    """The arc that somebody named at each waypoint, else the one that its turn gives."""
    stops = index.stops.get(journey, ())
    met: set[str] = set()
    for waypoint, ref in stops:
        yield named(waypoint.arc) or structural(ref, met, index)
        met.update(index.turn_concepts.get(ref, ()))


def route_of(journey: str, index: Index) -> Route:
    """The same, for a pack."""
    arcs = route(journey, index)
    annotated = sum(named(waypoint.arc) is not None for waypoint, _ in index.stops.get(journey, ()))
    return Route(journey_id=journey, arcs=tuple(arc.name for arc in arcs), annotated=annotated)


def structural(ref: str, met: set[str], index: Index) -> Arc:
    """Six facts of a turn as the lines of an arc, from the bottom.

    It asks; what it asks was asked or linked before; it names a concept new to the Journey; it
    speaks of verification; nobody corrects or rejects in it; what it asks is resolved later.
    """
    asked = index.turn_questions.get(ref, ())
    specific = set(index.rarest(index.turn_concepts.get(ref, ())))
    answers = [each for question in asked for each in index.cluster_answers(question)]
    return of_lines(
        (
            bool(asked),
            any(was_met(question, ref, index) for question in asked),
            bool(specific - met),
            has("verification", index.turns[ref].text),
            not speaks_against(ref, index),
            any(index.when(each) > index.when(ref) for each in answers),
        )
    )


def was_met(question: str, ref: str, index: Index) -> bool:
    """Whether a question's cluster was asked before, or is linked to one asked before."""
    linked = {each for each in index.neighbours.get(question, ()) if each in index.askings}
    before = {*index.cluster_refs(question), *(r for each in linked for r in index.askings[each])}
    return any(index.when(each) < index.when(ref) for each in before)


def speaks_against(ref: str, index: Index) -> bool:
    """Whether a turn corrects or rejects."""
    return any(
        signal.kind == "correction" or (signal.kind, signal.type) == REJECTED
        for signal in index.turn_signals.get(ref, ())
    )


@lru_cache(maxsize=REMEMBERED)
def resonance(one: tuple[Arc, ...], other: tuple[Arc, ...], seed: str) -> Likeness | None:
    """Path resonance of two routes, remembered: every Journey is compared with every other."""
    return likeness(one, other, seed)


def alike(one: str, other: str, index: Index) -> Alike | None:
    """How two Journeys of no common thread resonate; None when they do not."""
    near, far = (index.lineages_of(index.journey_refs.get(each, ())) for each in (one, other))
    if near & far:
        return None
    low, high = sorted((one, other))
    paths = route(low, index), route(high, index)
    found = resonance(*paths, f"{low} {high}")
    if found is None or not found.fires:
        return None
    opposite = paths[0][-1].opposite == paths[1][-1]
    return Alike(src=low, dst=high, score=found.score, opposite=opposite)


def resumed(journey: str, index: Index) -> tuple[str, str] | None:
    """(ref, clip) of the human turn that a blocked Journey went on with, the newest such."""
    blocked = {
        ref for ref, signal in index.signal_refs.get("frontier", ()) if signal.type == "blocked"
    }
    for (_, stopped), (_, went_on) in reversed(list(pairwise(index.stops.get(journey, ())))):
        turn = index.turns[stopped]
        stood = blocked.intersection(index.thread_turns[turn.thread_id])
        if stood and index.turns[went_on].thread_id != turn.thread_id:
            ref = human(went_on, index)
            return (ref, index.turns[ref].text) if ref else None
    return None


def human(ref: str, index: Index) -> str | None:
    """A human turn itself, else the one before it in its thread."""
    before = index.thread_turns[index.turns[ref].thread_id]
    upto = before[: before.index(ref) + 1]
    return next((each for each in reversed(upto) if index.turns[each].role == "human"), None)
