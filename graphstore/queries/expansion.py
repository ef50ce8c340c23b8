"""Turns that the graph leads to from those found: over questions, answers and Journeys."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from graphstore.model.knowledge import (
    Anchored,
    Answers,
    Asks,
    Links,
    LinkType,
    Passes,
)
from graphstore.store import Store

DAMPING: Final = 0.5
STEPS: Final = 12
"""After so many the rest of the walk weighs less than 1 in 4,000."""
RELATED: Final = 0.5
"""A related question counts for less than the same one."""


@dataclass(frozen=True, slots=True)
class Reached:
    """A turn that the walk comes to."""

    weight: float
    """Part of the walk that ends here, 0 to 1."""
    why: str
    """In words."""


Reach = Callable[[Mapping[str, float]], dict[str, Reached]]
"""From the turns found and their scores to others that the graph leads to."""

_ANSWERS: Final = "answers a question that a turn found asks"
_ASKS: Final = "asks what a turn found asks or answers"
_STOP: Final = "lies on the same Journey as a turn found"


class _Web:
    """Two steps of the graph around some turns, undirected."""

    def __init__(self) -> None:
        self.near: defaultdict[str, dict[str, float]] = defaultdict(dict)
        self.why: dict[str, str] = {}

    def join(self, one: str, other: str, weight: float = 1.0) -> None:
        self.near[one][other] = self.near[other][one] = weight

    def say(self, refs: Iterable[str], why: str) -> None:
        """Why turns are here; what is said first stays."""
        for ref in refs:
            self.why.setdefault(ref, why)

    def walk(self, seeds: Mapping[str, float]) -> dict[str, float]:
        """Personalised PageRank (Haveliwala 2002) with restarts at the seeds."""
        total = sum(seeds[name] for name in sorted(seeds) if name in self.near)
        start = {name: seeds[name] / total for name in sorted(seeds) if name in self.near}
        order = sorted(self.near)
        held = start
        for _ in range(STEPS):
            moved = {name: (1 - DAMPING) * weight for name, weight in start.items()}
            for name in order:
                if held.get(name):
                    self._pass_on(name, DAMPING * held[name], moved)
            held = moved
        return held

    def _pass_on(self, name: str, amount: float, moved: dict[str, float]) -> None:
        around = self.near[name]
        whole = sum(around[other] for other in sorted(around))
        for other in sorted(around):
            moved[other] = moved.get(other, 0.0) + amount * around[other] / whole


def reached(store: Store, seeds: Mapping[str, float]) -> dict[str, Reached]:
    """Turns within two steps of the seeds, by reference, the seeds left out.

    Steps go over questions (asked, answered, linked) and Journeys. Not over concepts: these lead
    to what shares a word, which wording and vectors tell better; measured, it only costs.
    """
    web = _Web()
    refs = sorted(seeds)
    _over_questions(store, web, refs)
    _over_journeys(store, web, refs)
    found = web.walk(seeds) if web.near else {}
    return {
        name: Reached(found[name], web.why[name])
        for name in sorted(found)
        if name in web.why and name not in seeds
    }


def _over_questions(store: Store, web: _Web, refs: list[str]) -> None:
    said = ("SourceRef", "Question")
    own = {
        question
        for cls in (Asks, Answers)
        for _, question, _ in store.ends(cls, said, "weight", refs)
    }
    if not own:
        return
    questions, between = set(own), ("Question", "Question")
    for one, other, kind in (
        *store.ends(Links, between, "link_type", sorted(own), "a"),
        *store.ends(Links, between, "link_type", sorted(own), "b"),
    ):
        web.join(one, other, 1.0 if kind == LinkType.RECURRING else RELATED)
        questions |= {one, other}
    for cls, why in ((Answers, _ANSWERS), (Asks, _ASKS)):
        pairs = store.ends(cls, said, "weight", sorted(questions), "b")
        for ref, question, _ in pairs:
            web.join(ref, question)
        web.say((ref for ref, _, _ in pairs), why)


def _over_journeys(store: Store, web: _Web, refs: list[str]) -> None:
    anchored, passes = ("Waypoint", "SourceRef"), ("Journey", "Waypoint")
    stops = sorted({stop for stop, _, _ in store.ends(Anchored, anchored, "weight", refs, "b")})
    if not stops:
        return
    journeys = sorted({name for name, _, _ in store.ends(Passes, passes, "seq", stops, "b")})
    own = store.ends(Passes, passes, "seq", journeys)
    of_stop = {stop: journey for journey, stop, _ in own}
    pairs = store.ends(Anchored, anchored, "weight", sorted(of_stop))
    for stop, ref, _ in pairs:
        web.join(of_stop[stop], ref)
    web.say((ref for _, ref, _ in pairs), _STOP)
