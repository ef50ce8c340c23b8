"""Questions of a store with everything that comparing them needs."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from graphstore.derivation import Ground
from graphstore.model.hubs import generic_ids
from graphstore.model.knowledge import Concept, ConceptKind
from ingest.extract.lexicon import weak_words
from ingest.extract.questions import TRACKABLE
from ingest.extract.words import keys, language_of
from ingest.link.pairs import thread_of

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


def specific(ground: Ground) -> dict[str, Concept]:
    """Concepts that tell something: at least two lineages, and no hub."""
    lineages = len(set(roots(ground).values()))
    hidden = generic_ids(ground.concepts, lineages)
    return {
        one.concept_id: one
        for one in ground.concepts
        if one.df >= LEAST_DF and one.concept_id not in hidden
    }


def known(ground: Ground) -> tuple[Known, ...]:
    """Every question that some turn asks, by id."""
    telling = specific(ground)
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
        spoken = keys(one.text, language_of(one.text))
        found.append(
            Known(
                question_id=one.question_id,
                text=one.text,
                keys=frozenset(spoken),
                intent=one.intent,
                phase=one.phase,
                salience=one.salience,
                trackable=one.salience >= TRACKABLE and not _low(spoken),
                project=one.where,
                first_seen=one.first_seen,
                refs=asked,
                threads=threads,
                lineages=frozenset(lineage.get(thread, thread) for thread in threads),
                concepts=frozenset(named & telling.keys()),
                paths=frozenset(named & paths).union(*(_around(ref, of_turn) for ref in asked)),
                participants=frozenset().union(*(people.get(thread, ()) for thread in threads)),
            )
        )
    return tuple(sorted(found, key=lambda one: one.question_id))


def _low(spoken: tuple[str, ...]) -> bool:
    weak = weak_words("en")
    return all(key in weak for key in spoken)


def _mentioned(
    ground: Ground, table: str, only: Iterable[str] | None = None
) -> Mapping[str, frozenset[str]]:
    wanted = None if only is None else frozenset(only)
    found: dict[str, set[str]] = {}
    for row in ground.mentions:
        if row.src_table == table and (wanted is None or row.dst in wanted):
            found.setdefault(row.src, set()).add(row.dst)
    return {source: frozenset(concepts) for source, concepts in found.items()}


def _around(ref: str, of_turn: Mapping[str, frozenset[str]]) -> frozenset[str]:
    """Paths of the asking turn and of the answer that follows it."""
    thread, number = turn_of(ref)
    answer = f"thread:{thread}#turn:{number + 1}"
    return of_turn.get(ref, frozenset()) | of_turn.get(answer, frozenset())
