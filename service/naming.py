"""The owner's word on pairs of questions and of concepts: one record each, which can be taken back.

What is asked the same recurs, whatever its wording; what is not is never linked. A merged concept
is a spelling of the one that it was merged into, until it is told apart again.
"""

from datetime import datetime
from typing import Final

from graphstore.errors import NotFound
from graphstore.ids import concept_id, question_id
from graphstore.model.answers import ConceptRow, QuestionRow
from graphstore.model.knowledge import Concept, Question
from graphstore.model.record import ReviewRecord
from graphstore.near import pair_of
from graphstore.queries.concepts import concepts
from graphstore.queries.questions import questions
from graphstore.said import APART, DIFFERENT, MERGED, SAME, UNSAID
from graphstore.store import Store
from service.reviewing import NotPossible, only

OF_QUESTIONS: Final = (SAME, DIFFERENT, UNSAID)
OF_CONCEPTS: Final = ("merge", "unmerge")


def settle(store: Store, act: str, one: str, other: str, now: datetime) -> tuple[QuestionRow, ...]:
    """Keep what the owner says of two questions; both as they stand then.

    Raises NotFound for a question that is not there, NotPossible for a question and itself, and
    where there is nothing to take back.
    """
    left, right = _question(store, one), _question(store, other)
    if left == right:
        raise NotPossible(act, left, "both are the same question")
    held = store.said().pairs.get(pair_of(left, right))
    if act == UNSAID and held is None:
        raise NotPossible(act, left, "nothing was said of the two")
    if held is not (act == SAME) or act == UNSAID:
        first, second = pair_of(left, right)
        store.commit(ReviewRecord(act=act, target=first, other=second, at=now), now)
    return questions(store, named=(left, right))


def _question(store: Store, name: str) -> str:
    """Id of a question by its words, its id, or the beginning of the id; raises NotFound."""
    known = store.nodes(Question)
    worded = question_id(name)
    found = only(known, worded, lambda one: one.question_id) or only(
        known, name, lambda one: one.question_id
    )
    if found is None:
        raise NotFound("question", name)
    return found.question_id


def unite(store: Store, act: str, one: str, other: str, now: datetime) -> tuple[ConceptRow, ...]:
    """Merge a concept into another one, or tell it apart again; the concepts that stand then.

    Raises NotFound for a concept that is not there, NotPossible for one and itself.
    """
    if act == "unmerge":
        source, target = _merged(store, one)
        record = ReviewRecord(act=APART, target=source, at=now)
    else:
        source, target = _concept(store, one), _concept(store, other)
        if source == target:
            raise NotPossible(act, source, "both are the same concept")
        record = ReviewRecord(act=MERGED, target=source, other=target, at=now)
    store.commit(record, now)
    return concepts(store, named=(source, target))


def _concept(store: Store, name: str) -> str:
    """Id of a concept by its label, its id, or the beginning of the id; raises NotFound."""
    known = store.nodes(Concept)
    folded = [one for one in known if one.label.casefold() == name.casefold()]
    exact = [one for one in folded if one.label == name]
    if len(exact or folded) == 1:
        return (exact or folded)[0].concept_id
    found = only(known, name, lambda one: one.concept_id)
    if found is None:
        raise NotFound("concept", name)
    return found.concept_id


def _merged(store: Store, name: str) -> tuple[str, str]:
    """A concept that was merged, by a spelling or by its id, and what it stands in now."""
    words = store.said()
    spelt = {
        concept_id(form)
        for one in store.nodes(Concept)
        for form in one.aliases
        if form.casefold() == name.casefold()
    }
    named = sorted(words.merged.keys() & spelt)
    source = named[0] if len(named) == 1 else only(sorted(words.merged), name, str)
    if source is None:
        raise NotFound("merged concept", name)
    return source, words.merged[source]
