"""Rows of one thread: its questions, concepts, mentions, answers and signals, each with refs."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Final, TypeVar

from graphstore.model.conversation import Thread
from graphstore.model.knowledge import (
    Answers,
    Asks,
    Concept,
    ConceptKind,
    Extracted,
    Facts,
    Mentions,
    Question,
    QuestionStatus,
    Signal,
)
from ingest.extract.concepts import TYPED, fold
from ingest.extract.corrections import corrections
from ingest.extract.decisions import decisions
from ingest.extract.figures import Figures, Kept, keep
from ingest.extract.frontiers import frontiers
from ingest.extract.questions import TRACKABLE, Asking, phase, salience
from ingest.extract.reading import Reading, named_in
from ingest.extract.scope import scope_labels
from ingest.extract.signals import Found
from ingest.extract.status import Outcome, outcomes
from ingest.extract.textures import textures
from ingest.extract.turns import Sentence

VERSION: Final = "extract/5"
_COARSE: Final = 2
"""Decimals of a mention's salience: with more, each turn would change every mention before it."""
_SIGNALS: Final = (frontiers, corrections, decisions, textures)

Row = TypeVar("Row", bound=Extracted)


class _Named:
    """Which kept concepts a sentence names; sentences are asked for more than once."""

    def __init__(self, reading: Reading, kept: Iterable[Kept]) -> None:
        self._project = reading.project
        self._by_key: dict[str, Kept] = {}
        for one in kept:
            for form in one.candidate.forms:
                self._by_key.setdefault(fold(form), one)
            self._by_key[one.key] = one
        self._known: dict[str, tuple[Kept, ...]] = {}

    def kept(self, sentence: Sentence) -> tuple[Kept, ...]:
        """Concepts in order of salience."""
        found = self._known.get(sentence.text)
        if found is None:
            named = {
                one.concept_id: one
                for key in named_in(sentence.text, sentence.code, self._project)
                if (one := self._by_key.get(key)) is not None
            }
            found = tuple(sorted(named.values(), key=lambda one: (-one.salience, one.label)))
            self._known[sentence.text] = found
        return found

    def ids(self, sentence: Sentence) -> tuple[str, ...]:
        """Their ids."""
        return tuple(one.concept_id for one in self.kept(sentence))


def facts(thread: Thread, reading: Reading, epoch: Figures, before: Facts | None = None) -> Facts:
    """Everything that one thread yields under the figures of an epoch.

    Rows that are equal to those of ``before`` are the same objects: a long thread has many.
    """
    kept = keep(reading.candidates, reading.words, epoch, reading.asked_about)
    named = _Named(reading, kept)
    asked = tuple(one for one in reading.asked if one.question_id not in epoch.templates)
    ended = outcomes(reading, asked)
    questions = tuple(_questions(thread, reading, asked, ended, named))
    had = {(row.src, row.dst): row for row in before.mentions} if before else {}
    mentions = [*_mentions(reading, kept, had), *_question_mentions(reading, asked, named, had)]
    rows = (
        _anchored(_asks(reading, asked)),
        _anchored(_answers(reading, ended)),
        _anchored(mentions),
    )
    return Facts(
        thread_id=thread.thread_id,
        scope_labels=scope_labels(
            reading,
            touches_files=any(turn.tools.touched for turn in thread.turns),
            left_open=any(
                one.status is QuestionStatus.OPEN and one.salience >= TRACKABLE for one in questions
            ),
        ),
        signals=_signals(reading, asked, named, epoch),
        questions=questions,
        concepts=tuple(sorted(map(_concept, kept), key=lambda row: row.concept_id)),
        asks=rows[0],
        answers=rows[1],
        mentions=rows[2],
        dropped=len(asked) + len(mentions) - len(rows[0]) - len(rows[2]),
    )


def _anchored(rows: Iterable[Row]) -> tuple[Row, ...]:
    """Rows that say where they come from, sorted by their ends."""
    held = [row for row in rows if row.source_refs]
    return tuple(sorted(held, key=lambda row: (row.src_table, row.src, row.dst)))


def _concept(one: Kept) -> Concept:
    return Concept(
        concept_id=one.concept_id,
        label=one.label,
        aliases=one.aliases,
        df=1,
        cf=one.candidate.count,
        generic=one.generic,
        kind=one.kind,
    )


def _mentions(
    reading: Reading, kept: Iterable[Kept], had: Mapping[tuple[str, str], Mentions]
) -> Iterator[Mentions]:
    for one in kept:
        salience = round(one.salience, _COARSE)
        for turn, times in one.candidate.turns.items():
            ref = reading.ref(turn)
            known = had.get((ref, one.concept_id))
            if known is not None and known.weight == times and known.salience == salience:
                yield known
                continue
            yield Mentions(
                src_table="SourceRef",
                src=ref,
                dst_table="Concept",
                dst=one.concept_id,
                source_refs=(ref,),
                weight=float(times),
                extractor=VERSION,
                salience=salience,
            )


def _by_question(asked: tuple[Asking, ...]) -> dict[str, list[Asking]]:
    grouped: dict[str, list[Asking]] = {}
    for one in asked:
        grouped.setdefault(one.question_id, []).append(one)
    return grouped


def _refs(reading: Reading, turns: Iterable[int]) -> tuple[str, ...]:
    return tuple(sorted({reading.ref(turn) for turn in turns}))


def _question_mentions(
    reading: Reading,
    asked: tuple[Asking, ...],
    named: _Named,
    had: Mapping[tuple[str, str], Mentions],
) -> Iterator[Mentions]:
    for question, group in _by_question(asked).items():
        refs = _refs(reading, (one.turn for one in group))
        for concept in named.kept(group[0].sentence):
            salience = round(concept.salience, _COARSE)
            known = had.get((question, concept.concept_id))
            if known is not None and known.source_refs == refs and known.salience == salience:
                yield known
                continue
            yield Mentions(
                src_table="Question",
                src=question,
                dst_table="Concept",
                dst=concept.concept_id,
                source_refs=refs,
                extractor=VERSION,
                salience=salience,
            )


def _asks(reading: Reading, asked: tuple[Asking, ...]) -> Iterator[Asks]:
    seen: set[tuple[int, str]] = set()
    for one in asked:
        if (one.turn, one.question_id) in seen:
            continue
        seen.add((one.turn, one.question_id))
        ref = reading.ref(one.turn)
        yield Asks(
            src_table="SourceRef",
            src=ref,
            dst_table="Question",
            dst=one.question_id,
            source_refs=(ref,),
            weight=one.confidence,
            extractor=VERSION,
        )


def _answers(reading: Reading, ended: Iterable[Outcome]) -> Iterator[Answers]:
    best: dict[tuple[int, str], str] = {}
    for one in ended:
        # of two in one turn, resolved says more than partial
        if one.kind != "dropped" and best.get((one.turn, one.question_id)) != "resolved":
            best[one.turn, one.question_id] = one.kind
    for (turn, question), kind in best.items():
        ref = reading.ref(turn)
        yield Answers(
            src_table="SourceRef",
            src=ref,
            dst_table="Question",
            dst=question,
            source_refs=(ref,),
            extractor=VERSION,
            kind=kind,
        )


def _questions(
    thread: Thread,
    reading: Reading,
    asked: tuple[Asking, ...],
    ended: tuple[Outcome, ...],
    named: _Named,
) -> Iterator[Question]:
    moments = {turn.number: turn.at for turn in reading.turns}
    for question, group in sorted(_by_question(asked).items()):
        first = group[0]
        times = sorted(at for one in group if (at := moments[one.turn]) is not None)
        concepts = named.kept(first.sentence)
        yield Question(
            question_id=question,
            text=first.text,
            status=_status(group, [one for one in ended if one.question_id == question]),
            salience=max(
                salience(
                    one,
                    axes=_axes(thread, concepts, dated=moments[one.turn] is not None),
                    names_typed=any(concept.kind in TYPED for concept in concepts),
                    first=place == 0,
                )
                for place, one in enumerate(group)
            ),
            intent=first.intent,
            phase=phase(first.place, len(reading.turns)),
            where=thread.project,
            first_seen=times[0] if times else None,
            last_seen=times[-1] if times else None,
            ref_count=len({one.turn for one in group}),
        )


def _axes(thread: Thread, concepts: tuple[Kept, ...], *, dated: bool) -> int:
    """How many of what, where, intent, phase and when are known; intent and phase always are."""
    where = thread.project is not None or any(one.kind is ConceptKind.PATH for one in concepts)
    return 2 + bool(concepts) + where + dated


def _status(group: list[Asking], ended: list[Outcome]) -> QuestionStatus:
    """By the last word after the last asking; without one it is open."""
    asked = max(one.place for one in group)
    after = [one for one in ended if one.place > asked and one.kind != "partial"]
    if not after:
        return QuestionStatus.OPEN
    last = max(after, key=lambda one: (one.place, one.kind))
    return QuestionStatus.DROPPED if last.kind == "dropped" else QuestionStatus.ANSWERED


def _signals(
    reading: Reading, asked: tuple[Asking, ...], named: _Named, epoch: Figures
) -> tuple[tuple[int, tuple[Signal, ...]], ...]:
    by_turn: dict[int, list[Signal]] = {}
    for step in _SIGNALS:
        for found in step(reading, named.ids):
            made = found.signal
            if made.kind == "frontier":
                made = _joined(found, asked, named, epoch)
            by_turn.setdefault(found.turn, []).append(made)
    return tuple((turn, tuple(found)) for turn, found in sorted(by_turn.items()))


def _joined(found: Found, asked: tuple[Asking, ...], named: _Named, epoch: Figures) -> Signal:
    """The frontier with the nearest preceding question that shares a specific concept."""
    here = set(found.signal.concepts)
    for one in reversed(asked):
        specific = {
            concept.concept_id
            for concept in named.kept(one.sentence)
            if not concept.generic and epoch.df(concept.key) > 1
        }
        if one.place <= found.place and here & specific:
            return found.signal.replace(question_id=one.question_id)
    return found.signal
