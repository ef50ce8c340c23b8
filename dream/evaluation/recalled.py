"""Plain recall against recall with hypotheses: does a hypothesis bring a turn that was wanted?

The wanted turns of a later question are those by T that ask a question which is linked to it, or
that name two specific concepts which its own turn names. Both answers are equally long: what a
hypothesis brings takes the last places.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal

from dream.index import Index
from dream.journal import rate
from dream.use import Request, use
from graphstore.model.base import Value
from graphstore.model.hypothesis import Hypothesis, standing

PLACES: Final = 8
BROUGHT: Final = 2
"""Places of an answer that hypotheses may take."""
COMMON: Final = 2
MOST: Final = 200
"""Later questions of one T that are put; of more, every so manieth."""
Recall = Callable[[str, int], tuple[str, ...]]
"""Refs of the turns that a cue recalls, best first."""


class ManualReview(Value):
    """What a person counted who read hypotheses and their turns; no single one is named."""

    reviewed: int
    useful: int
    annoying: int = 0
    unsupported: int = 0


class Axis(Value):
    """One axis of judgement."""

    name: Literal[
        "structural_validity", "recall_utility", "action_utility", "annoyance", "stale_handling"
    ]
    value: float | None
    basis: str


class RecallFigures(Value):
    """One way of answering, over all later questions that want a turn."""

    hit_rate: float | None
    """Answers that hold a wanted turn."""
    thread_coverage: float | None
    """Wanted lineages that are reached."""


class RecallReport(Value):
    """Recall with and without hypotheses."""

    questions: int
    """Later questions that want a turn by T."""
    plain: RecallFigures
    with_hypotheses: RecallFigures
    reflection_rows: int
    """Turns that hypotheses brought."""
    bridge_coverage: float | None
    """Answers in which a hypothesis brought a lineage that recall did not reach."""
    axes: tuple[Axis, ...]


@dataclass(frozen=True, slots=True)
class Wanted:
    """A later question, and the turns by T that it wants."""

    text: str
    refs: frozenset[str]


@dataclass(slots=True)
class Tally:
    """Sums over the questions of all cuts."""

    questions: int = 0
    hits: tuple[int, int] = (0, 0)
    reached: tuple[float, float] = (0.0, 0.0)
    rows: int = 0
    bridged: int = 0
    shown: int = 0
    """Answers in which a hypothesis brought something."""
    in_vain: int = 0
    """Of these, answers in which nothing it brought was wanted."""
    held: int = 0
    hypotheses: int = 0
    stale: int = 0
    silent: int = 0


def wanted(then: Index, whole: Index, at: datetime, until: datetime) -> tuple[Wanted, ...]:
    """Questions asked after T, until the horizon, with the turns by T that they want."""
    found = []
    for ref, asked in whole.turn_questions.items():
        moment = whole.turns[ref].at
        if moment is not None and at < moment <= until and whole.turns[ref].role == "human":
            refs = frozenset(each for one in asked for each in speaking(one, ref, then, whole))
            if refs:
                found.append((moment, ref, Wanted(whole.questions[asked[0]].text, refs)))
    found.sort(key=lambda each: each[:2])
    step = -(-len(found) // MOST) or 1
    return tuple(each for _, _, each in found[::step])


def speaking(question: str, ref: str, then: Index, whole: Index) -> Iterator[str]:
    """Turns by T that a later question wants."""
    linked = (each for each in whole.neighbours.get(question, ()) if each in whole.questions)
    for one in (question, *linked):
        yield from (each for each in whole.cluster_refs(one) if each in then.turns)
    counts: dict[str, int] = {}
    for concept in whole.rarest(whole.turn_concepts.get(ref, ())):
        for each in then.concept_refs.get(concept, ()):
            counts[each] = counts.get(each, 0) + 1
    yield from (each for each, count in counts.items() if count >= COMMON)


def compare(
    tally: Tally,
    asked: Sequence[Wanted],
    hypotheses: Sequence[Hypothesis],
    recall: Recall,
    then: Index,
) -> None:
    """Put every question twice and add up what came."""
    for one in asked:
        plain = recall(one.text, PLACES)
        brought = brought_by(plain, hypotheses)
        both = (*plain[: PLACES - len(brought)], *brought)
        tally.questions += 1
        goal = then.lineages_of(one.refs)
        places = (plain, both)
        tally.hits = _added(tally.hits, [bool(one.refs.intersection(refs)) for refs in places])
        shares = [
            len(goal & then.lineages_of(one.refs.intersection(r))) / len(goal) for r in places
        ]
        tally.reached = _summed(tally.reached, shares)
        tally.rows += len(brought)
        tally.shown += bool(brought)
        tally.in_vain += bool(brought) and not one.refs.intersection(brought)
        tally.bridged += bool(then.lineages_of(brought) - then.lineages_of(plain))


def added(one: Tally, other: Tally) -> Tally:
    """The sums of two tallies."""
    return Tally(
        questions=one.questions + other.questions,
        hits=_added(one.hits, other.hits),
        reached=_summed(one.reached, other.reached),
        rows=one.rows + other.rows,
        bridged=one.bridged + other.bridged,
        shown=one.shown + other.shown,
        in_vain=one.in_vain + other.in_vain,
        held=one.held + other.held,
        hypotheses=one.hypotheses + other.hypotheses,
        stale=one.stale + other.stale,
        silent=one.silent + other.silent,
    )


def _added(sums: tuple[int, int], more: Sequence[int]) -> tuple[int, int]:
    return sums[0] + more[0], sums[1] + more[1]


def _summed(sums: tuple[float, float], more: Sequence[float]) -> tuple[float, float]:
    return sums[0] + more[0], sums[1] + more[1]


def brought_by(recalled: Sequence[str], hypotheses: Sequence[Hypothesis]) -> tuple[str, ...]:
    """The other turns of hypotheses that rest on a recalled one, those of the best first."""
    seen, found = set(recalled), dict[str, None]()
    for one in hypotheses:
        if seen.intersection(one.refs):
            found.update(dict.fromkeys(ref for ref in one.refs if ref not in seen))
    return tuple(found)[:BROUGHT]


def judge(tally: Tally, hypotheses: Sequence[Hypothesis], later: Index, until: datetime) -> None:
    """Look at the hypotheses of one T at the end of its horizon."""
    current = {ref: turn.fingerprint for ref, turn in later.turns.items()}
    for one in hypotheses:
        stands = standing(one, until, current)
        is_stale = stands.standing != "valid"
        manner = use(one, stands, Request(kind="ambient")).manner
        tally.hypotheses += 1
        tally.held += bool(one.refs) and all(ref in current for ref in one.refs)
        tally.stale += is_stale
        tally.silent += is_stale and manner != "quiet"


def report(tally: Tally, review: ManualReview | None) -> RecallReport:
    """Sums as shares."""
    asked = tally.questions
    rates = [rate(each, asked) for each in tally.hits]
    return RecallReport(
        questions=asked,
        plain=RecallFigures(hit_rate=rates[0], thread_coverage=rate(tally.reached[0], asked)),
        with_hypotheses=RecallFigures(
            hit_rate=rates[1], thread_coverage=rate(tally.reached[1], asked)
        ),
        reflection_rows=tally.rows,
        bridge_coverage=rate(tally.bridged, asked),
        axes=tuple(axes(tally, review)),
    )


def axes(tally: Tally, review: ManualReview | None) -> Iterator[Axis]:
    """Five axes; what only a person can tell is null where nobody looked."""
    gained = tally.hits[1] - tally.hits[0]
    yield Axis(
        name="structural_validity",
        value=rate(tally.held, tally.hypotheses),
        basis="hypotheses whose turns all resolve at the end of the horizon",
    )
    yield Axis(
        name="recall_utility",
        value=rate(gained, tally.questions),
        basis="later questions answered more, less those answered no more",
    )
    yield Axis(
        name="action_utility",
        value=None if review is None else rate(review.useful, review.reviewed),
        basis="manual review" if review else "not reviewed: nobody can tell without reading",
    )
    yield Axis(
        name="annoyance",
        value=(
            rate(tally.in_vain, tally.shown)
            if review is None
            else rate(review.annoying, review.reviewed)
        ),
        basis="manual review" if review else "answers in which what was brought was not wanted",
    )
    yield Axis(
        name="stale_handling",
        value=rate(tally.silent, tally.stale),
        basis="hypotheses no longer valid at the end of the horizon that are not shown unasked",
    )
