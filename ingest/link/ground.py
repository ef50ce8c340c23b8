"""Questions of a store with everything that comparing them needs."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cache, lru_cache
from typing import Final

from graphstore.derivation import Asked, Ground
from graphstore.ids import question_key, thread_of
from graphstore.model.conversation import Thread
from graphstore.model.knowledge import Asking, Concept, ConceptKind, Facts
from ingest.extract.concepts import fold
from ingest.extract.figures import Figures
from ingest.extract.lexicon import weak_words
from ingest.extract.questions import TRACKABLE
from ingest.extract.words import keys, language_of, stem

LEAST_DF: Final = 2


@dataclass(frozen=True, slots=True)
class Known:
    """One question with its surroundings."""

    question_id: str
    text: str
    keys: frozenset[str]
    intent: str
    phase: str
    salience: float
    trackable: bool
    project: str | None
    first_seen: datetime | None
    refs: tuple[str, ...]
    """Turns that ask it, in reading order of each thread."""
    threads: frozenset[str]
    lineages: frozenset[str]
    concepts: frozenset[str]
    """Specific ones."""
    paths: frozenset[str]
    participants: frozenset[str]


def turn_of(ref: str) -> tuple[str, int]:
    """Thread id and turn number of a ref: refs sort by it as people count."""
    thread, _, number = ref.removeprefix("thread:").rpartition("#turn:")
    return thread, int(number.split("-")[0])


def roots(ground: Ground) -> dict[str, str]:
    """Lineage root of each thread."""
    return {thread.thread_id: thread.lineage_root for thread in ground.threads}


def specific(ground: Ground, epoch: Figures) -> dict[str, Concept]:
    """Concepts that tell something, as of the epoch."""
    return {one.concept_id: one for one in ground.concepts if telling(one, epoch)}


def telling(one: Concept, epoch: Figures) -> bool:
    """Whether a concept says something: at least two lineages name it, and it is no hub.

    Both are of the epoch: else one more thread could change what any other two have in common.
    """
    return not one.generic and LEAST_DF <= epoch.df(fold(one.label)) <= epoch.hub_limit


@lru_cache(maxsize=8192)  # a thread that grows asks the same again
def spoken(text: str) -> tuple[str, ...]:
    """Words of a question as they are compared; the same however it was written."""
    plain = question_key(text)
    code = language_of(plain)
    return tuple(dict.fromkeys(stem(key, code) for key in keys(plain, code)))


def known(ground: Ground, epoch: Figures) -> tuple[Known, ...]:
    """Every question that some turn asks, by id."""
    specifics = specific(ground, epoch)
    paths = {one.concept_id for one in ground.concepts if one.kind is ConceptKind.PATH}
    lineage = roots(ground)
    people = {thread.thread_id: frozenset(thread.participants) for thread in ground.threads}
    refs: dict[str, set[str]] = {}
    for row in ground.asks:
        refs.setdefault(row.dst, set()).add(row.src)
    of_question = _mentioned(ground, "Question")
    of_turn = _mentioned(ground, "SourceRef", paths)
    found = []
    for one in ground.questions:
        asked = tuple(sorted(refs.get(one.question_id, ()), key=turn_of))
        if not asked:
            continue
        threads = frozenset(map(thread_of, asked))
        named = of_question.get(one.question_id, frozenset())
        words = spoken(one.text)
        found.append(
            Known(
                question_id=one.question_id,
                text=one.text,
                keys=frozenset(words),
                intent=one.intent,
                phase=one.phase,
                salience=one.salience,
                trackable=one.salience >= TRACKABLE and not low(words),
                project=one.where,
                first_seen=one.first_seen,
                refs=asked,
                threads=threads,
                lineages=frozenset(lineage.get(thread, thread) for thread in threads),
                concepts=frozenset(named & specifics.keys()),
                paths=frozenset(named & paths).union(*(around(ref, of_turn) for ref in asked)),
                participants=frozenset().union(*(people.get(thread, ()) for thread in threads)),
            )
        )
    return tuple(sorted(found, key=lambda one: one.question_id))


def askings(thread: Thread, facts: Facts, epoch: Figures) -> tuple[Asking, ...]:
    """What surrounds each question in one thread, by question id."""
    specifics = {one.concept_id for one in facts.concepts if telling(one, epoch)}
    paths = {one.concept_id for one in facts.concepts if one.kind is ConceptKind.PATH}
    refs: dict[str, set[str]] = {}
    for row in facts.asks:
        refs.setdefault(row.dst, set()).add(row.src)
    named: dict[str, set[str]] = {}
    for mention in facts.mentions:
        named.setdefault(mention.src, set()).add(mention.dst)
    of_turn = {source: frozenset(found & paths) for source, found in named.items()}
    found = []
    for one in facts.questions:
        asked = sorted(refs.get(one.question_id, ()), key=turn_of)
        own = named.get(one.question_id, set())
        near = (own & paths).union(*(around(ref, of_turn) for ref in asked))
        found.append(
            Asking(
                question_id=one.question_id,
                keys=spoken(one.text),
                concepts=tuple(sorted(own & specifics)),
                paths=tuple(sorted(near)),
                participants=tuple(sorted(thread.participants)),
                refs=tuple(asked),
            )
        )
    return tuple(sorted(found, key=lambda one: one.question_id))


def as_known(asked: Asked) -> Known:
    """A question of the store with its surroundings; lineages are not known there."""
    one = asked.question
    return Known(
        question_id=one.question_id,
        text=one.text,
        keys=asked.keys,
        intent=one.intent,
        phase=one.phase,
        salience=one.salience,
        trackable=one.salience >= TRACKABLE and not low(asked.keys),
        project=one.where,
        first_seen=one.first_seen,
        refs=asked.refs,
        threads=frozenset(map(thread_of, asked.refs)),
        lineages=frozenset(),
        concepts=asked.concepts,
        paths=asked.paths,
        participants=asked.participants,
    )


@cache
def _weak() -> frozenset[str]:
    return frozenset(stem(word, "en") for word in weak_words("en"))


def low(words: Iterable[str]) -> bool:
    """Whether a question has no word that tells anything."""
    return all(key in _weak() for key in words)


def _mentioned(
    ground: Ground, table: str, only: Iterable[str] | None = None
) -> Mapping[str, frozenset[str]]:
    wanted = None if only is None else frozenset(only)
    found: dict[str, set[str]] = {}
    for row in ground.mentions:
        if row.src_table == table and (wanted is None or row.dst in wanted):
            found.setdefault(row.src, set()).add(row.dst)
    return {source: frozenset(concepts) for source, concepts in found.items()}


def around(ref: str, of_turn: Mapping[str, frozenset[str]]) -> frozenset[str]:
    """Paths of the asking turn and of the answer that follows it."""
    thread, number = turn_of(ref)
    answer = f"thread:{thread}#turn:{number + 1}"
    return of_turn.get(ref, frozenset()) | of_turn.get(answer, frozenset())
