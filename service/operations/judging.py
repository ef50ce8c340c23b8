"""The owner asks about dreams and decides."""

from dream.atlas import Atlas
from dream.atlas import atlas as drawn
from dream.corrections import Correction, anchors
from dream.corrections import corrections as found_corrections
from dream.cycle import known_of
from dream.evaluation.report import Evaluation
from dream.index import Index
from dream.journal import Totals, totals
from dream.queue import order
from graphstore.errors import NotFound
from graphstore.model.job import Job, JobState
from service import dreaming, evaluating, explaining
from service.calls import Calls, SentCalls
from service.explaining import Explanation
from service.missing import missed as note_missed
from service.moments import WrongValue, moment
from service.operations.think import limits
from service.reviewing import CycleDiff, Desk, Reviewed
from service.session import Session


def explain(session: Session, name: str = "") -> Explanation:
    """Say why: the gate, or the checks, scores and sources of a hypothesis, draft or cycle."""
    return explaining.explained(session, name)


def diff(session: Session, cycle: str = "last") -> CycleDiff:
    """Show what a dream cycle added and closed."""
    with session.store("dream: diff") as store:
        return Desk(session, store).diff(cycle)


def sent(session: Session, cycle: str = "last") -> SentCalls:
    """Show what a dream cycle sent to a model, byte by byte, and what came back."""
    return Calls(session.workspace).sent(cycle)


def evaluate(
    session: Session,
    at: tuple[str, ...] = (),
    *,
    horizon: int = 90,
    cuts: int = 6,
    review: str = "",
) -> Evaluation:
    """Dream as of earlier dates, and count which hypotheses later turns bore out."""
    moments = tuple(each for text in at if (each := moment(text, "at")) is not None)
    return evaluating.evaluated(session, moments, cuts, horizon, limits(session), review)


def queue(session: Session) -> tuple[Job, ...]:
    """List the jobs of the dream queue, the most urgent first."""
    with session.store("dream: queue") as store:
        return tuple(sorted(store.jobs.all(JobState.QUEUED, JobState.RUNNING), key=order))


def atlas(session: Session, *, window: int = 32_000) -> Atlas:
    """Show in what the packs of the next dream cycle meet, by ids and counts."""
    with session.store("dream: atlas") as store:
        return drawn(dreaming.packs(session, store, limits(session)), window)


def dream_totals(session: Session) -> Totals:
    """Show what all dream cycles add up to."""
    with session.store("dream: totals") as store:
        return totals(store.cycles(), known_of(store))


def corrections(session: Session, *, thread: str = "", limit: int = 20) -> tuple[Correction, ...]:
    """List what you corrected, and what came of it; or what of it holds for a thread."""
    with session.store("dream: corrections") as store:
        index = Index(store.ground())
    known = found_corrections(index)
    if not thread:
        return known[:limit]
    if thread not in index.threads:
        raise NotFound("thread", thread)
    return anchors(known, index.thread_concepts(thread), index.thread_turns.get(thread, ()))


def approve(session: Session, name: str, *, reason: str = "") -> Reviewed:
    """Let a parked draft stand, or call a hypothesis validated."""
    with session.store("dream: approve") as store:
        return Desk(session, store).approve(name, reason)


def reject(session: Session, name: str, *, reason: str = "") -> Reviewed:
    """Put a parked draft away, or refute a hypothesis."""
    with session.store("dream: reject") as store:
        return Desk(session, store).reject(name, reason)


def modify(
    session: Session, name: str, *, title: str = "", summary: str = "", reason: str = ""
) -> Reviewed:
    """Put a hypothesis in your own words."""
    if not title and not summary:
        raise WrongValue("modify", "nothing", "a --title or a --summary")
    with session.store("dream: modify") as store:
        return Desk(session, store).modify(name, title, summary, reason)


def confirm(session: Session, name: str, *, ref: str = "") -> Reviewed:
    """Say that a hypothesis holds, by your word or by a later turn."""
    with session.store("dream: confirm") as store:
        return Desk(session, store).confirm(name, ref)


def refute(session: Session, name: str, *, ref: str = "", reason: str = "") -> Reviewed:
    """Say that a hypothesis does not hold."""
    with session.store("dream: refute") as store:
        return Desk(session, store).refute(name, reason, ref)


def renew(session: Session, name: str, *, reason: str = "") -> Reviewed:
    """Keep a hypothesis in use for longer, or bring it back."""
    with session.store("dream: renew") as store:
        return Desk(session, store).renew(name, reason)


def missed(session: Session, question: str, ref: str, *, reason: str = "") -> Reviewed:
    """Say that a recall for a question did not bring a turn that it needed, or brought it late."""
    with session.store("dream: missed") as store:
        return note_missed(store, question, ref, reason, session.now())


def rollback(session: Session, cycle: str, *, reason: str = "") -> Reviewed:
    """Take back everything that a dream cycle brought."""
    with session.store("dream: rollback") as store:
        return Desk(session, store).rollback(cycle, reason)
