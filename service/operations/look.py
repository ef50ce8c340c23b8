"""What was said is found, listed and read."""

import sys
from functools import partial
from typing import Literal

from dream.use import Request, use
from graphstore.model.answers import (
    ConceptRow,
    Fetched,
    Filters,
    HypothesisView,
    JourneyRow,
    OpenedTurn,
    QuestionRow,
    Recalled,
    Resonances,
    ThreadRow,
)
from graphstore.model.conversation import Role
from graphstore.model.knowledge import ConceptKind, JourneyStatus, QuestionStatus
from graphstore.queries import provenance
from graphstore.queries import recall as finding
from graphstore.queries.concepts import concepts as listed_concepts
from graphstore.queries.encoders import EncoderFailed
from graphstore.queries.expansion import reached
from graphstore.queries.hypotheses import resting_on
from graphstore.queries.journeys import journey as one_journey
from graphstore.queries.journeys import journeys as listed_journeys
from graphstore.queries.questions import questions as listed_questions
from graphstore.queries.threads import labelled
from graphstore.queries.threads import threads as listed_threads
from ingest.derive import Derivation
from service import inquiries, naming
from service.ambient import HITS, Ambient
from service.answers import LinkRow
from service.encoding import encoder
from service.moments import moment, one_of
from service.pacing import recalled
from service.session import Session


def recall(
    session: Session,
    cue: str,
    *,
    limit: int = 0,
    project: str = "",
    source: str = "",
    role: str = "",
    thread: str = "",
    label: str = "",
    since: str = "",
    until: str = "",
    as_of: str = "",
    ambient: str = "",
) -> Recalled:
    """Find the turns that a cue is about."""
    asked = (cue, limit, project, source, role, thread, label, since, until, as_of)
    filters = Filters(
        project=project or None,
        source=source or None,
        role=Role(role) if one_of("role", role, Role) else None,
        since=moment(since, "since"),
        until=moment(until, "until"),
        threads=(thread,) if thread else (),
    )
    now, then = session.now(), moment(as_of, "as-of")
    with session.store("recall") as store:
        recalled(store, now)
        given = Ambient(store, session.salt(), ambient, asked) if ambient else None
        if given is not None and (kept := given.kept(now)) is not None:
            return kept
        if label:
            filters = labelled(store, filters, label)
        find = partial(
            finding.recall,
            store,
            cue,
            min(limit or HITS, HITS) if ambient else limit or session.settings.recall.limit,
            filters,
            then,
            now=now,
            hypotheses=lambda refs: usable(
                resting_on(store, refs, then or now), "ambient" if ambient else "explicit"
            ),
            reach=lambda seeds: reached(store, seeds),
            graph=session.settings.recall.graph,
        )
        try:
            found = find(model=encoder(session))
        except EncoderFailed as failed:
            found = find().replace(unheard=failed.message)
        return found if given is None else given.keep(found, now)


def usable(
    views: tuple[HypothesisView, ...], kind: Literal["ambient", "explicit"] = "explicit"
) -> tuple[HypothesisView, ...]:
    """Hypotheses that a question, or an agent that asks by itself, may see."""
    ask = Request(kind=kind)
    return tuple(
        view for view in views if use(view.hypothesis, view.standing, ask).manner != "silent"
    )


def resonance(session: Session, cue: str, *, limit: int = 20) -> Resonances:
    """Find other threads that meet the same question."""
    from graphstore.queries import resonance as rhyming

    with session.store("resonance") as store:
        nearness = session.settings.recall.nearness
        return rhyming.resonance(store, cue, limit=limit, now=session.now(), nearness=nearness)


def fetch(session: Session, refs: tuple[str, ...]) -> tuple[Fetched, ...]:
    """Show the full turns that references name."""
    with session.store("fetch") as store:
        return provenance.fetch(store, refs)


def open_turn(session: Session, ref: str, *, around: int = 2) -> OpenedTurn:
    """Show a turn in its thread, with file and line."""
    with session.store("open") as store:
        return provenance.open_turn(store, ref, around)


def threads(
    session: Session, *, limit: int = 50, project: str = "", source: str = ""
) -> tuple[ThreadRow, ...]:
    """List threads, newest first."""
    with session.store("threads") as store:
        return listed_threads(store, limit, project=project or None, source=source or None)


def questions(
    session: Session, *, limit: int = 50, status: str = "", recurring: bool = False
) -> tuple[QuestionRow, ...]:
    """List questions, most asked first."""
    wanted = one_of("status", status, QuestionStatus)
    with session.store("questions") as store:
        return listed_questions(store, limit, status=wanted, recurring=recurring)


def borderline(session: Session, *, limit: int = 50) -> tuple[LinkRow, ...]:
    """List pairs of questions that only the owner can tell apart."""
    with session.store("borderline") as store:
        ground, epoch = store.ground(), store.epoch()
    if epoch is None:
        return ()
    texts = {question.question_id: question.text for question in ground.questions}
    pairs = Derivation().borderline(ground, epoch)
    order = sorted(pairs, key=lambda pair: (-pair.score, pair.src, pair.dst))
    return tuple(
        LinkRow(
            one_id=pair.src,
            one=texts[pair.src],
            other_id=pair.dst,
            other=texts[pair.dst],
            score=pair.score,
        )
        for pair in order[:limit]
    )


def settle(session: Session, act: str, one: str, other: str) -> tuple[QuestionRow, ...]:
    """Say that two questions ask the same, or different things; or take that back."""
    one_of("act", act or "nothing", naming.OF_QUESTIONS)
    with session.store(f"questions: {act}") as store:
        return naming.settle(store, act, one, other, session.now())


def concepts(session: Session, *, limit: int = 50, generic: bool = False) -> tuple[ConceptRow, ...]:
    """List concepts, most shared first."""
    with session.store("concepts") as store:
        return listed_concepts(store, limit, generic=generic)


def aliases(session: Session, *, limit: int = 50) -> tuple[LinkRow, ...]:
    """List pairs of concepts that may be one thing in two spellings."""
    from ingest.link.aliases import proposals

    with session.store("aliases") as store:
        rows = listed_concepts(store, sys.maxsize)
    known = {row.label: row.concept_id for row in rows if row.kind != ConceptKind.PATH}
    return tuple(
        LinkRow(
            one_id=known[one],
            one=one,
            other_id=known[other],
            other=other,
            score=round(likeness / 100, 3),
        )
        for one, other, likeness in proposals(known)[:limit]
    )


def unite(session: Session, act: str, one: str, other: str = "") -> tuple[ConceptRow, ...]:
    """Merge a concept into another one, or tell it apart again."""
    one_of("act", act or "nothing", naming.OF_CONCEPTS)
    with session.store(f"concepts: {act}") as store:
        return naming.unite(store, act, one, other, session.now())


def journeys(session: Session, *, journey: str = "", status: str = "") -> tuple[JourneyRow, ...]:
    """List Journeys and their frontiers, or show one."""
    wanted = one_of("status", status, JourneyStatus)
    with session.store("journeys") as store:
        if journey:
            return (one_journey(store, journey, session.now()),)
        return listed_journeys(store, session.now(), status=wanted)


def steer(session: Session, act: str, journey: str, *, other: str = "") -> JourneyRow:
    """Confirm, correct, merge, abandon, revive or arrive a Journey."""
    one_of("act", act, inquiries.FROM)
    with session.store(f"journeys: {act}") as store:
        return inquiries.steer(store, act, journey, other, session.now(), session.salt())
