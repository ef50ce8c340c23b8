"""The questions of a store: most asked first, and which of them keep coming back."""

from collections import defaultdict
from collections.abc import Collection, Mapping
from typing import Final

from graphstore.model.answers import QuestionRow
from graphstore.model.knowledge import Answers, Asks, Links, LinkType, Question, QuestionStatus
from graphstore.model.refs import SourceRefId, parse_ref
from graphstore.store import Store

SHOWN_REFS: Final = 8


def questions(
    store: Store,
    limit: int = 50,
    *,
    status: str | None = None,
    recurring: bool = False,
    named: Collection[str] = (),
) -> tuple[QuestionRow, ...]:
    """Questions by the lineages that met them, then by askings and salience, ties by id.

    A recurring one was met in two lineages or more, in the same words or in linked ones. One
    that nobody answered where it was asked is answered where it was asked again, in other words.
    ``named``: ids of the only ones that are wanted.
    """
    refs: defaultdict[str, list[str]] = defaultdict(list)
    for edge in store.edges(Asks):
        refs[edge.dst].append(edge.src)
    same = _same(store)
    roots = store.roots()
    found = {one.question_id: one for one in store.nodes(Question)}
    answers = _answers(store, found, same)
    rows = [
        _row(one, refs[name], _lineages(one, refs, same, roots), same, answers[name])
        for name, one in found.items()
        if not named or name in named
    ]
    rows = [
        row for row in rows if status in (None, row.status) and (row.lineages > 1 or not recurring)
    ]
    rows.sort(key=lambda row: (-row.lineages, -row.asked, -row.salience, row.question_id))
    return tuple(rows[:limit])


def _same(store: Store) -> dict[str, list[str]]:
    """Questions that ask the same, by question."""
    same: defaultdict[str, list[str]] = defaultdict(list)
    for edge in store.edges(Links):
        if edge.link_type is LinkType.RECURRING:
            same[edge.src].append(edge.dst)
            same[edge.dst].append(edge.src)
    return same


def _answers(
    store: Store, found: Mapping[str, Question], same: Mapping[str, list[str]]
) -> defaultdict[str, list[str]]:
    """Turns of people that answer each question, or one that asks the same and was asked later."""
    own: defaultdict[str, list[str]] = defaultdict(list)
    for edge in store.edges(Answers):
        if edge.kind == "resolved" and found[edge.dst].status is QuestionStatus.ANSWERED:
            own[edge.dst].append(edge.src)
    answers = defaultdict(list, {name: list(turns) for name, turns in own.items()})
    for name, others in same.items():
        if found[name].status is QuestionStatus.OPEN:
            for other in others:
                if _later(found[other], found[name]):
                    answers[name] += own.get(other, ())
    return answers


def _later(one: Question, other: Question) -> bool:
    """Whether one was still asked when the other had been asked for the last time."""
    if one.last_seen is None or other.last_seen is None:
        return False
    return one.last_seen >= other.last_seen


def _lineages(
    question: Question,
    refs: dict[str, list[str]],
    same: dict[str, list[str]],
    roots: dict[str, str],
) -> int:
    group = (question.question_id, *same.get(question.question_id, ()))
    parsed = (parse_ref(ref) for member in group for ref in refs[member])
    threads = {found.thread_id for found in parsed if isinstance(found, SourceRefId)}
    return len({roots.get(thread, thread) for thread in threads})


def _row(
    question: Question,
    refs: list[str],
    lineages: int,
    same: dict[str, list[str]],
    answers: list[str],
) -> QuestionRow:
    return QuestionRow(
        question_id=question.question_id,
        text=question.text,
        status=(QuestionStatus.ANSWERED if answers else question.status).value,
        intent=question.intent,
        salience=question.salience,
        where=question.where,
        asked=len(refs),
        recurs=len(same.get(question.question_id, ())),
        lineages=lineages,
        first_seen=question.first_seen,
        last_seen=question.last_seen,
        refs=tuple(sorted(refs)[:SHOWN_REFS]),
        answers=tuple(sorted(answers)[:SHOWN_REFS]),
    )
