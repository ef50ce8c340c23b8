"""Why: the gate condition by condition, a hypothesis score by score, a draft check by check."""

from contextlib import ExitStack
from typing import Final

from dream import policies
from dream.activation import Activation, activation
from dream.adjudicate import CHECKS
from dream.cycle import known_of
from dream.gate import Caller, Look, gate
from dream.use import Request
from graphstore.errors import NotFound
from graphstore.model.base import Instant, Value
from graphstore.model.hypothesis import AnyHypothesis
from graphstore.model.query import Resolved
from graphstore.model.record import DreamRecord, GateLine, OutcomeRecord, ReviewRecord
from graphstore.store import Store
from service import dreaming
from service.answers import HypothesisRow
from service.pacing import GateFacts
from service.reviewing import CycleDiff, Desk, only
from service.session import Session

HOOK: Final = Caller(trigger="hook")


class Part(Value):
    """One part of a score: its value times its weight is what it adds."""

    name: str
    value: float
    weight: float


class Distance(Value):
    """What is missing to the next state."""

    to: str
    missing: str


class Said(Value):
    """A premise or an event, with its words."""

    ref: str
    role: str
    at: Instant | None
    text: str


class Heard(Value):
    """One entry of the history of a hypothesis."""

    at: Instant
    what: str
    by: str
    why: str


class Explanation(Value):
    """The gate as a schedule would find it; or one hypothesis or draft; or one dream cycle."""

    gate: tuple[GateLine, ...] = ()
    row: HypothesisRow | None = None
    passed: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()
    retention: tuple[Part, ...] = ()
    unasked: Activation | None = None
    """How it shows itself where it is talked about."""
    distances: tuple[Distance, ...] = ()
    premises: tuple[Said, ...] = ()
    history: tuple[Heard, ...] = ()
    cycle: CycleDiff | None = None


def explained(session: Session, name: str) -> Explanation:
    """Explain the gate without a name, else a dream cycle, a hypothesis or a parked draft.

    Raises NotFound.
    """
    if not name:
        return Explanation(gate=of_gate(session))
    with session.store("dream: explain") as store:
        desk = Desk(session, store)
        if name.startswith("dc:") or name == "last":
            return Explanation(cycle=desk.diff(name))
        stands = ((edge, ()) for edge in known_of(store))
        judged = only(
            (*stands, *dreaming.drafts(session, store)), name, lambda each: each[0].hypothesis_id
        )
        if judged is None:
            raise NotFound("hypothesis", name)
        (row,) = dreaming.rows_of(store, session.now(), (judged,))
        return of_hypothesis(session, store, row)


def of_gate(session: Session) -> tuple[GateLine, ...]:
    """All nine conditions, as a hook would find them now."""
    with ExitStack() as kept:
        facts = GateFacts(session, kept, wait_s=0)
        try:
            look = Look(facts, HOOK, session.settings.dream, session.now())
            return gate(look, every=True).lines
        finally:
            facts.done()


def of_hypothesis(session: Session, store: Store, row: HypothesisRow) -> Explanation:
    """One hypothesis or draft: checks, score, distances, premises, history."""
    edge = row.hypothesis
    names = [check.__name__ for check in CHECKS]
    return Explanation(
        row=row,
        passed=tuple(name for name in names if name not in row.failed),
        failed=row.failed,
        retention=parts(edge),
        unasked=unasked(row),
        distances=distances(edge, session, row.failed),
        premises=tuple(said(store, ref) for ref in edge.refs),
        history=tuple(
            heard(record) for record in store.dreams() if names_it(record, edge.hypothesis_id)
        ),
    )


def parts(edge: AnyHypothesis) -> tuple[Part, ...]:
    """What its retention is made of."""
    found = policies.recorded(edge.extras)
    return tuple(
        Part(name=name, value=found[name], weight=weight)
        for name, weight in policies.WEIGHTS.items()
        if name in found
    )


def unasked(row: HypothesisRow) -> Activation:
    """How it would show itself in a conversation about its own cues."""
    edge = row.hypothesis
    return activation(
        edge,
        row.standing,
        Request(kind="ambient"),
        " ".join(edge.cues),
        budget=1.0,
        anchor=policies.recorded(edge.extras).get("anchor", 0.0),
    )


def distances(
    edge: AnyHypothesis, session: Session, failed: tuple[str, ...]
) -> tuple[Distance, ...]:
    """What is missing to retained, validated and applied."""
    settings = session.settings.dream
    ladder = settings.ladder
    found = []
    if failed:
        found.append(Distance(to="accepted", missing=f"checks: {', '.join(failed)}"))
    if edge.retention < settings.retention_min:
        missing = f"{settings.retention_min - edge.retention:.3f} of retention"
        found.append(Distance(to="retained", missing=missing))
    for name, points in (("validated", ladder.validated), ("applied", ladder.applied)):
        if edge.points < points:
            steps = -(-(points - edge.points) // ladder.up)
            missing = f"{points - edge.points} points: {steps} later turns that confirm it"
            found.append(Distance(to=name, missing=missing))
    return tuple(found)


def said(store: Store, ref: str) -> Said:
    """A premise as it is now; without words where it is gone."""
    found = store.resolve(ref)
    if isinstance(found, Resolved):
        return Said(ref=ref, role=found.turn.role, at=found.turn.at, text=found.turn.text)
    return Said(ref=ref, role="gone", at=None, text="")


def names_it(record: DreamRecord, hypothesis_id: str) -> bool:
    """Whether an act or an outcome is about a hypothesis."""
    match record:
        case OutcomeRecord():
            return record.hypothesis_id == hypothesis_id
        case ReviewRecord():
            return record.target == hypothesis_id or any(
                one.hypothesis_id == hypothesis_id for one in record.after
            )
        case _:
            return False


def heard(record: DreamRecord) -> Heard:
    """A record as one line of history."""
    if isinstance(record, OutcomeRecord):
        return Heard(at=record.at, what=record.verdict, by=record.by, why=record.ref or "")
    if isinstance(record, ReviewRecord):
        return Heard(at=record.at, what=record.act, by=record.actor, why=record.reason)
    raise TypeError(type(record).__name__)
