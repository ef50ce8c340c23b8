"""The questions of a store: most asked first, and which of them keep coming back."""

from collections import defaultdict
from collections.abc import Collection
from typing import Final

from graphstore.model.answers import QuestionRow
from graphstore.model.knowledge import Asks, Links, LinkType, Question
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

    A recurring one was met in two lineages or more, in the same words or in linked ones.
    ``named``: ids of the only ones that are wanted.
    """
    refs: defaultdict[str, list[str]] = defaultdict(list)
    for edge in store.edges(Asks):
        refs[edge.dst].append(edge.src)
    same = _same(store)
    roots = store.roots()
    rows = [
        _row(question, refs[question.question_id], _lineages(question, refs, same, roots), same)
        for question in store.nodes(Question)
        if status in (None, question.status.value) and (not named or question.question_id in named)
    ]
    rows = [row for row in rows if row.lineages > 1 or not recurring]
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
    question: Question, refs: list[str], lineages: int, same: dict[str, list[str]]
) -> QuestionRow:
    return QuestionRow(
        question_id=question.question_id,
        text=question.text,
        status=question.status.value,
        intent=question.intent,
        salience=question.salience,
        where=question.where,
        asked=len(refs),
        recurs=len(same.get(question.question_id, ())),
        lineages=lineages,
        first_seen=question.first_seen,
        last_seen=question.last_seen,
        refs=tuple(sorted(refs)[:SHOWN_REFS]),
    )
