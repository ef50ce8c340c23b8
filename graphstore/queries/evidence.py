"""Kinds of evidence that two lineages meet: for each kind, one score per lineage."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import log
from threading import Lock
from typing import Final
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from graphstore.ids import thread_of
from graphstore.model.conversation import Role
from graphstore.model.knowledge import Answers, Concept, Links, ThreadNode
from graphstore.queries.corpus import Floats, Ints
from graphstore.queries.meaning import load
from graphstore.queries.meeting import Meeting
from graphstore.queries.wording import Wording, wording
from graphstore.store import Store

NEAR_DAYS: Final = 14
"""Work further apart than this is not the same stretch of work."""
_HOUR: Final = 3600


def _place(ref: str) -> tuple[str, int]:
    """Thread and turn number."""
    return thread_of(ref), int(ref.rpartition(":")[2])


class Known:
    """What does not depend on the cue; made once, kept until a record is committed."""

    def __init__(self, store: Store) -> None:
        self.version = store.search.version()
        self.meeting = Meeting(store.view())
        view = self.meeting.view
        self.nodes = {node.thread_id: node for node in store.nodes(ThreadNode)}
        self.labels = {node.concept_id: node.label for node in store.nodes(Concept)}
        self.questions = {name: at for at, name in enumerate(view.ids)}
        self.place = {name: at for at, name in enumerate(view.lineages)}
        self.links = self._linked(store)
        self.answers = self._answered(store)
        self.corpus, _ = load(store)
        self.lineage_of_row = self._lineages()
        self.words_of_lineage = self._lengths()

    def _linked(self, store: Store) -> dict[int, dict[int, float]]:
        """Scores of links between questions, by position in the view."""
        links: defaultdict[int, dict[int, float]] = defaultdict(dict)
        for edge in store.edges(Links):
            one, other = self.questions.get(edge.src), self.questions.get(edge.dst)
            if one is not None and other is not None:
                links[one][other] = links[other][one] = edge.score
        return dict(links)

    def _answered(self, store: Store) -> dict[int, dict[int, str]]:
        """By question, then lineage: the first turn that answers it."""
        found: defaultdict[int, dict[int, str]] = defaultdict(dict)
        for edge in sorted(store.edges(Answers), key=lambda edge: _place(edge.src)):
            question = self.questions.get(edge.dst)
            lineage = self.meeting.lineage_of(thread_of(edge.src))
            if question is not None and lineage is not None:
                found[question].setdefault(lineage, edge.src)
        return dict(found)

    def _lineages(self) -> Ints:
        """Lineage of each corpus row; -1 where it is no turn of the view's main lines."""
        view, corpus = self.meeting.view, self.corpus
        number = {name: int(view.lineage[at]) for at, name in enumerate(view.threads)}
        of_thread = np.array([number.get(name, -1) for name in corpus.threads] or [-1], np.int64)
        clean = corpus.main_line & ~corpus.said_by(Role.OTHER.value)
        return np.where(clean, of_thread[corpus.thread], -1)

    def _lengths(self) -> Floats:
        counts = self.lineage_of_row >= 0
        held = self.lineage_of_row[counts], self.corpus.words[counts]
        return np.bincount(*held, len(self.meeting.view.lineages)).astype(np.float64)

    @cached_property
    def touched(self) -> dict[int, frozenset[str]]:
        """Touched paths by lineage."""
        found: defaultdict[int, set[str]] = defaultdict(set)
        view = self.meeting.view
        for at, thread in enumerate(view.threads):
            found[int(view.lineage[at])].update(self.nodes[thread].touched)
        return {lineage: frozenset(paths) for lineage, paths in found.items() if paths}

    @cached_property
    def path_df(self) -> Counter[str]:
        """Lineages that touched each path."""
        return Counter(path for paths in self.touched.values() for path in paths)

    @cached_property
    def spells(self) -> "Spells":
        """When and in which project the threads of the view were worked on."""
        view = self.meeting.view
        return Spells.of(
            [self.nodes[name] for name in view.threads], view.lineage[: len(view.threads)]
        )


@dataclass(frozen=True, slots=True)
class Spells:
    """When threads were worked on, parallel arrays; those without time or project are left out."""

    lineage: Ints
    project: NDArray[np.str_]
    start: Floats
    end: Floats

    @classmethod
    def of(cls, nodes: Sequence[ThreadNode], lineages: NDArray[np.int32]) -> "Spells":
        """From thread nodes, and the lineage of each."""
        held = [
            (int(lineage), node.project, start.timestamp(), (node.ended_at or start).timestamp())
            for node, lineage in zip(nodes, lineages.tolist(), strict=True)
            if (start := node.started_at) is not None and node.project
        ]
        columns: list[tuple[object, ...]] = list(zip(*held, strict=True)) or [()] * 4
        return cls(
            np.array(columns[0], np.int64),
            np.array(columns[1], np.str_),
            np.array(columns[2], np.float64),
            np.array(columns[3], np.float64),
        )

    def gaps(self, mine: int, count: int) -> Floats:
        """Hours between the work on mine and on each of ``count`` lineages; 0 where it overlaps.

        Infinite where they share no project.
        """
        found = np.full(count, np.inf)
        for own in np.flatnonzero(self.lineage == mine).tolist():
            same = self.project == self.project[own]
            apart = np.maximum(self.start[same], self.start[own]) - np.minimum(
                self.end[same], self.end[own]
            )
            np.minimum.at(found, self.lineage[same], np.maximum(apart, 0) / _HOUR)
        return found


@dataclass(frozen=True, slots=True)
class Side:
    """My side, and what each kind of evidence says of the others."""

    store: Store
    known: Known
    mine: int
    own_questions: tuple[int, ...]
    alike: dict[int, tuple[float, int, int]]
    """Per lineage: the best cosine of two questions, mine, theirs."""
    wording: Wording
    gaps: Floats
    """Per lineage: hours between its work and mine in one project."""

    @property
    def meeting(self) -> Meeting:
        return self.known.meeting


_kept: WeakKeyDictionary[Store, Known] = WeakKeyDictionary()
_lock = Lock()


def known(store: Store) -> Known:
    """Read once, kept until a record is committed."""
    with _lock:
        held = _kept.get(store)
        if held is None or held.version != store.search.version():
            held = _kept[store] = Known(store)
        return held


def side(store: Store, held: Known, mine: int, only: str | None) -> Side:
    """What is known from the side of one lineage, or of one of its questions."""
    view, corpus = held.meeting.view, held.corpus
    own = [q for q in held.meeting.questions_of(mine).tolist() if only in (None, view.ids[q])]
    rows = corpus.by_thread(np.flatnonzero(held.lineage_of_row == mine).tolist())
    # what the human said first: only so many words are looked at
    rows.sort(key=lambda row: corpus.role(row) is not Role.HUMAN)
    texts = store.search.texts(corpus.refs(rows))
    return Side(
        store,
        held,
        mine,
        tuple(own),
        _alike(store, held, mine, own),
        wording(
            corpus, store.search, texts, held.lineage_of_row, mine, lengths=held.words_of_lineage
        ),
        held.spells.gaps(mine, len(view.lineages)),
    )


def _alike(
    store: Store, held: Known, mine: int, own: Sequence[int]
) -> dict[int, tuple[float, int, int]]:
    """The best pair of questions with each other lineage, by the vectors."""
    best: dict[int, tuple[float, int, int]] = {}
    for node in own:
        for name, cosine in sorted(store.alike(held.meeting.view.ids[node]).items()):
            other = held.questions.get(name)
            if other is None:
                continue
            for lineage in held.meeting.askers(other).tolist():
                found = (cosine, -node, -other)
                if lineage != mine:
                    best[lineage] = max(best.get(lineage, found), found)
    return {lineage: (cosine, -a, -b) for lineage, (cosine, a, b) in best.items()}


def scores(side: Side) -> dict[str, Floats]:
    """Per kind of evidence: one score per lineage, 0 for none and for mine."""
    found = {
        "questions": _by_questions(side),
        "concepts": side.meeting.adamic_adar(side.mine),
        "words": side.wording.scores,
        "alike": _by_likeness(side),
        "paths": _by_paths(side),
        "journeys": _by_journeys(side),
    }
    # work of the same days alone is no evidence: most of it is about something else
    met = np.any([values > 0 for values in found.values()], axis=0)
    return {**found, "nearness": np.where(met, _by_nearness(side), 0)}


def _by_questions(side: Side) -> Floats:
    """Over my questions: 1 when it asks the same, else its best link's score."""
    found = np.zeros(len(side.meeting.view.lineages))
    for node in side.own_questions:
        best = dict.fromkeys(side.meeting.askers(node).tolist(), 1.0)
        for other, score in sorted(side.known.links.get(node, {}).items()):
            for lineage in side.meeting.askers(other).tolist():
                best[lineage] = max(best.get(lineage, 0.0), score)
        for lineage, score in sorted(best.items()):
            found[lineage] += score
    found[side.mine] = 0
    return found


def _by_likeness(side: Side) -> Floats:
    found = np.zeros(len(side.meeting.view.lineages))
    for lineage, (cosine, _, _) in side.alike.items():
        found[lineage] = cosine
    return found


def _by_paths(side: Side) -> Floats:
    """Idf of the touched paths that both touched."""
    touched, df = side.known.touched, side.known.path_df
    found = np.zeros(len(side.meeting.view.lineages))
    mine = touched.get(side.mine, frozenset())
    for lineage, paths in touched.items():
        found[lineage] = sum(log((len(touched) + 1) / df[path]) for path in sorted(paths & mine))
    found[side.mine] = 0
    return found


def _by_journeys(side: Side) -> Floats:
    found = np.zeros(len(side.meeting.view.lineages))
    for lineages in side.meeting.journeys.values():
        if side.mine in lineages:
            for lineage in sorted(lineages - {side.mine}):
                found[lineage] += 1
    return found


def _by_nearness(side: Side) -> Floats:
    """The less time between the work on both in one project, the more they share.

    Contiguity in time as evidence of relation: Howard and Kahana, A distributed representation of
    temporal context (2002).
    """
    found = np.where(side.gaps <= 24 * NEAR_DAYS, 1 / (1 + side.gaps), 0)
    found[side.mine] = 0
    return found
