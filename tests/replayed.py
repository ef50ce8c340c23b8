"""A planted history cut at a moment, and hypotheses dreamt over it without a store."""

from dataclasses import replace

from dream.adjudicate import adjudicate
from dream.evaluation.report import Cut
from dream.evaluation.rivals import Rivals
from dream.evaluation.sides import Sides
from dream.focus import foci
from dream.functions import load
from dream.index import Index
from dream.landing import Ground, Judged, horizon, settle
from dream.model import Pack
from dream.pack import pack
from graphstore.ids import question_id
from tests.dreamt import SETTINGS, a_job
from tests.planted import NOW, Plot, days_ago


def until(plot: Plot, days: float) -> Plot:
    """What was said at least so many days ago, and what extraction saw of it."""
    at = days_ago(days)
    lines = {
        key: [line for line in own if line.at is not None and line.at <= at]
        for key, own in plot.lines.items()
    }
    kept = {line.ref for own in lines.values() for line in own}
    asked = {question_id(line.asks) for own in lines.values() for line in own if line.asks}
    relates = (
        (one, other, [ref for ref in refs if ref in kept]) for one, other, *refs in plot.relates
    )
    journeys = []
    for journey, refs, questions, concepts in plot.journeys:
        own = tuple(ref for ref in refs if ref in kept)
        known = tuple(each for each in questions if question_id(each) in asked)
        if own:
            stands = journey.replace(
                frontier_refs=tuple(ref for ref in journey.frontier_refs if ref in kept)
            )
            journeys.append((stands, own, known, concepts))
    return replace(
        plot,
        lines={key: own for key, own in lines.items() if own},
        links=[link for link in plot.links if {question_id(each) for each in link[:2]} <= asked],
        relates=[(one, other, *refs) for one, other, refs in relates if refs],
        journeys=journeys,
    )


def sides(plot: Plot, days: float, later: float = 0) -> Sides:
    """A history at a moment, and as it was later."""
    then, after = until(plot, days).ground(), until(plot, later).ground()
    return Sides(Index(then), Index(after), days_ago(days))


def unlike(near, far):
    """No text is like another."""
    return [[0.0] * len(far) for _ in near]


def a_cut(plot: Plot, days: float, hypotheses, later: float = 0, likeness=unlike) -> Cut:
    """One T with its hypotheses, best first."""
    found = sides(plot, days, later)
    return Cut(found, Rivals(found, likeness), tuple(hypotheses), until=days_ago(later))


def dreamt(plot: Plot, days: float):
    """What rules would land, with everything that they may draft, as it is listed."""
    at = days_ago(days)
    index = Index(until(plot, days).ground())
    judged: list[Judged] = []
    for focus in foci(index, ()):
        made = pack(focus, index, (), SETTINGS, at)
        if isinstance(made, Pack):
            for name in made.eligible:
                for draft in load(name).draft(made):
                    verdict = adjudicate(draft, made, horizon(SETTINGS, at), at)
                    judged.append(Judged(job=a_job(len(judged)), pack=made, verdict=verdict))
    current = {ref: turn.fingerprint for ref, turn in index.turns.items()}
    ground = Ground(known=(), current=current)
    landed = settle(judged, ground, "dc:0", SETTINGS, at, staged=False).hypotheses
    return sorted(landed, key=lambda one: (-one.points, -one.retention, one.hypothesis_id))


__all__ = ["NOW", "a_cut", "dreamt", "sides", "unlike", "until"]
