"""Facts of a thread as they read when the owner has merged some of its concepts."""

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable
from typing import Final, TypeVar

from graphstore.codec import edge_key
from graphstore.model.knowledge import (
    Asking,
    Company,
    Concept,
    Facts,
    Links,
    Mentions,
    Relates,
    Signal,
)
from graphstore.said import Said

T = TypeVar("T")
_COARSE: Final = 2


def joined(facts: Facts, words: Said) -> Facts:
    """The same facts, each merged concept under the id of the one that stands for it."""
    if not any(one.concept_id in words.merged for one in facts.concepts):
        return facts
    return facts.replace(
        signals=tuple(
            (number, tuple(_signal(one, words) for one in signals))
            for number, signals in facts.signals
        ),
        concepts=_each(facts.concepts, lambda row: words.concept(row.concept_id), words, _concept),
        mentions=_each(
            (row.replace(dst=words.concept(row.dst)) for row in facts.mentions),
            edge_key,
            words,
            _mention,
        ),
        company=_each(facts.company, lambda row: words.concept(row.concept_id), words, _company),
        told=_each(
            (row for one in facts.told if (row := _stated(one, words)) is not None),
            edge_key,
            words,
            _relation,
        ),
        askings=tuple(_asking(one, words) for one in facts.askings),
    )


def _each(
    rows: Iterable[T],
    key: Callable[[T], Hashable],
    words: Said,
    join: Callable[[list[T], Said], T],
) -> tuple[T, ...]:
    """Rows of equal keys made one, in the order of the keys."""
    groups: dict[Hashable, list[T]] = defaultdict(list)
    for row in rows:
        groups[key(row)].append(row)
    return tuple(join(groups[name], words) for name in sorted(groups, key=str))


def _concept(rows: list[Concept], words: Said) -> Concept:
    """One's own row first: a spelling of it may be all that this thread has."""
    name = words.concept(rows[0].concept_id)
    first = min(rows, key=lambda row: (row.concept_id != name, row.label))
    forms = {form for row in rows for form in (row.label, *row.aliases)}
    return first.replace(
        concept_id=name,
        aliases=tuple(sorted(forms - {first.label})),
        cf=sum(row.cf for row in rows),
        # a stop word that is merged into a name makes no stop word of it
        generic=first.generic and first.concept_id == name,
    )


def _mention(rows: list[Mentions], _: Said) -> Mentions:
    if len(rows) == 1:
        return rows[0]
    return rows[0].replace(
        source_refs=tuple(sorted({ref for row in rows for ref in row.source_refs})),
        weight=sum(row.weight for row in rows),
        salience=round(max(row.salience for row in rows), _COARSE),
    )


def _company(rows: list[Company], words: Said) -> Company:
    return Company(
        concept_id=words.concept(rows[0].concept_id),
        df=max(row.df for row in rows),
        turns=tuple(sorted({turn for row in rows for turn in row.turns})),
    )


def _stated(row: Relates | Links, words: Said) -> Relates | Links | None:
    """A stated relation between what stands for its ends; none of a thing with itself."""
    src, dst = words.concept(row.src), words.concept(row.dst)
    return None if src == dst else row.replace(src=src, dst=dst)


def _relation(rows: list[Relates | Links], _: Said) -> Relates | Links:
    first = min(rows, key=lambda row: row.source_refs)
    refs = {ref for row in rows for ref in row.source_refs}
    return first.replace(source_refs=tuple(sorted(refs)), weight=sum(row.weight for row in rows))


def _asking(row: Asking, words: Said) -> Asking:
    return Asking(  # a field of it is called keys, so it is no mapping to ``replace``
        question_id=row.question_id,
        keys=row.keys,
        concepts=tuple(sorted(words.concepts(row.concepts))),
        paths=tuple(sorted(words.concepts(row.paths))),
        participants=row.participants,
        refs=row.refs,
    )


def _signal(row: Signal, words: Said) -> Signal:
    return row.replace(concepts=words.concepts(row.concepts))
