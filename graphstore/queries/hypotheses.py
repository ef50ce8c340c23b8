"""Hypotheses with their standing; never mixed with turns."""

from collections.abc import Iterable, Sequence
from datetime import datetime

from graphstore.model.answers import HypothesisView
from graphstore.model.hypothesis import (
    LIVE,
    Anticipates,
    AnyHypothesis,
    Compensates,
    Imagines,
    Resonates,
    standing,
)
from graphstore.store import Store


def hypotheses(
    store: Store,
    now: datetime,
    *,
    standings: Sequence[str] = (),
    function: str | None = None,
    closed: bool = False,
) -> tuple[HypothesisView, ...]:
    """Hypotheses, most points first, ties by id.

    Refuted, superseded, expired and parked ones only when ``closed`` asks for them.
    """
    found = [
        view
        for view in _views(store, _all(store, closed=closed), now)
        if function in (None, view.hypothesis.function)
        and (not standings or view.standing.standing in standings)
    ]
    found.sort(key=lambda view: (-view.hypothesis.points, view.hypothesis.hypothesis_id))
    return tuple(found)


def resting_on(store: Store, refs: Iterable[str], now: datetime) -> tuple[HypothesisView, ...]:
    """Live hypotheses that name any of some turns, for or against, most points first."""
    wanted = set(refs)
    touching = [
        found
        for found in _all(store, closed=False)
        if not wanted.isdisjoint(found.refs) or not wanted.isdisjoint(found.counter_refs)
    ]
    views = [view for view in _views(store, touching, now) if view.hypothesis.created_at <= now]
    views.sort(key=lambda view: (-view.hypothesis.points, view.hypothesis.hypothesis_id))
    return tuple(views)


def _all(store: Store, *, closed: bool) -> list[AnyHypothesis]:
    found: list[AnyHypothesis] = [
        *store.edges(Compensates),
        *store.edges(Anticipates),
        *store.edges(Resonates),
        *store.edges(Imagines),
    ]
    return [row for row in found if closed or row.state in LIVE]


def _views(store: Store, found: Sequence[AnyHypothesis], now: datetime) -> list[HypothesisView]:
    current = store.fingerprints(sorted({ref for row in found for ref in row.refs}))
    return [HypothesisView(hypothesis=row, standing=standing(row, now, current)) for row in found]
