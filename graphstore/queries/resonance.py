"""Resonance: other lineages that meet the same question, with evidence on both sides."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import islice
from math import log
from threading import Lock
from typing import Final, Literal, TypeAlias
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from graphstore.model.answers import Pair, Resonance, Resonances
from graphstore.model.conversation import Role
from graphstore.model.knowledge import Asks, Concept, Links, Question, ThreadNode
from graphstore.model.refs import SourceRefId, parse_ref
from graphstore.queries.clip import SIDE_LENGTH, start_of
from graphstore.queries.corpus import Corpus, load
from graphstore.queries.meeting import Meeting, ranking
from graphstore.queries.recall import recall
from graphstore.queries.wording import Wording, wording
from graphstore.search import by_score, fuse
from graphstore.store import Store
from graphstore.vectors import cosines

Floats = NDArray[np.float64]
Kind: TypeAlias = Literal["same_question", "linked_question", "alike_question"]
Group: TypeAlias = Literal["same_question", "same_obstacle", "same_shape", "same_files"]

WEIGHTS: Final = {
    "questions": 1.0,
    "concepts": 1.0,
    "words": 1.0,
    "alike": 0.1,
    "paths": 1.0,
    "journeys": 0.5,
}
ALIKE: Final = 0.5
"""Cosine above which two questions are worth showing side by side."""
SAME: Final = 0.8
OTHER_PROJECT: Final = 1.01
"""A meeting across projects is worth a little more: about half a rank."""
OLDER: Final = 1.005
LONG_BEFORE: Final = timedelta(days=30)
PAIRS: Final = 4
LABELS: Final = 6


@dataclass(frozen=True, slots=True)
class _Known:
    """What does not depend on the cue."""

    version: tuple[object, ...]
    meeting: Meeting
    nodes: dict[str, ThreadNode]
    """Thread nodes by id."""
    texts: dict[str, str]
    """Question texts by id."""
    labels: dict[str, str]
    """Concept labels by id."""
    links: dict[int, dict[int, float]]
    """Scores of links between questions, by position in the view."""
    touched: dict[int, frozenset[str]]
    """Touched paths by lineage."""
    corpus: Corpus
    lineage_of_row: NDArray[np.int64]
    """Lineage of each corpus row; -1 where it is no turn of the view's main lines."""


@dataclass(frozen=True, slots=True)
class _Side:
    """My side, and what is known of the others."""

    store: Store
    known: _Known
    mine: int
    own_questions: tuple[int, ...]
    alike: dict[int, tuple[float, int, int]]
    """Per lineage: the best cosine of two questions, mine, theirs."""
    wording: Wording

    @property
    def meeting(self) -> Meeting:
        return self.known.meeting


_kept: WeakKeyDictionary[Store, _Known] = WeakKeyDictionary()
_lock = Lock()


def resonance(store: Store, cue: str, limit: int = 20, *, now: datetime) -> Resonances:
    """Find other lineages that meet what a thread, a question, a turn or a text is about.

    Copies, resumes and forks are one lineage and never resonate with each other. Every answer
    has at least one turn on each side.
    """
    known = _known(store)
    thread, only = _focus(store, cue, now)
    mine = None if thread is None else known.meeting.lineage_of(thread)
    if mine is None:
        return Resonances(cue=cue, thread_id=thread)
    side = _side(store, known, mine, only)
    scores = _scores(side, thread or "")
    found = (_resonance(side, name, scores[name]) for name in by_score(scores))
    kept = list(islice((answer for answer in found if answer is not None), limit))
    best = max((answer.score for answer in kept), default=1.0)
    return Resonances(
        cue=cue,
        thread_id=thread,
        found=tuple(answer.replace(score=round(answer.score / best, 4)) for answer in kept),
    )


def _known(store: Store) -> _Known:
    """Read once, kept until a record is committed."""
    with _lock:
        version = store.search.version()
        held = _kept.get(store)
        if held is None or held.version != version:
            held = _kept[store] = _read(store, version)
        return held


def _read(store: Store, version: tuple[object, ...]) -> _Known:
    meeting = Meeting(store.view())
    nodes = {node.thread_id: node for node in store.nodes(ThreadNode)}
    place = {name: at for at, name in enumerate(meeting.view.ids)}
    links: defaultdict[int, dict[int, float]] = defaultdict(dict)
    for edge in store.edges(Links):
        if edge.src in place and edge.dst in place:
            links[place[edge.src]][place[edge.dst]] = edge.score
            links[place[edge.dst]][place[edge.src]] = edge.score
    touched: defaultdict[int, set[str]] = defaultdict(set)
    for at, thread in enumerate(meeting.view.threads):
        touched[int(meeting.view.lineage[at])].update(nodes[thread].touched)
    corpus, _ = load(store)
    number = {name: int(meeting.view.lineage[at]) for at, name in enumerate(meeting.view.threads)}
    of_thread = np.array([number.get(name, -1) for name in corpus.threads] or [-1], np.int64)
    clean = corpus.main_line & (corpus.role != Role.OTHER.value)
    return _Known(
        version,
        meeting,
        nodes,
        {node.question_id: node.text for node in store.nodes(Question)},
        {node.concept_id: node.label for node in store.nodes(Concept)},
        dict(links),
        {lineage: frozenset(paths) for lineage, paths in touched.items() if paths},
        corpus,
        np.where(clean, of_thread[corpus.thread], -1),
    )


def _focus(store: Store, cue: str, now: datetime) -> tuple[str | None, str | None]:
    """The thread on my side, and the one question that matters there, if one was named."""
    named = cue.strip()
    if named.startswith("q:"):
        asking = sorted(edge.src for edge in store.edges(Asks) if edge.dst == named)
        parsed = parse_ref(asking[0]) if asking else None
        return (parsed.thread_id if isinstance(parsed, SourceRefId) else None), named
    parsed = parse_ref(named)
    if isinstance(parsed, SourceRefId):
        return parsed.thread_id, None
    if store.thread(named.removeprefix("thread:")) is not None:
        return named.removeprefix("thread:"), None
    hits = recall(store, cue, 1, now=now).hits
    return (hits[0].turn.thread_id if hits else None), None


def _side(store: Store, known: _Known, mine: int, only: str | None) -> _Side:
    ids = known.meeting.view.ids
    own = [q for q in known.meeting.questions_of(mine).tolist() if only in (None, ids[q])]
    view, corpus = known.meeting.view, known.corpus
    refs = [corpus.docs[row].ref for row in np.flatnonzero(known.lineage_of_row == mine).tolist()]
    turns = store.search.turns(refs)
    used = wording(
        corpus,
        store.search,
        [turns[ref] for ref in refs],
        known.lineage_of_row,
        mine,
        len(view.lineages),
    )
    return _Side(store, known, mine, tuple(own), _alike(store, known, mine, own), used)


def _alike(
    store: Store, known: _Known, mine: int, own: Sequence[int]
) -> dict[int, tuple[float, int, int]]:
    """The best pair of questions with each other lineage, by the vectors."""
    asked, ids = known.meeting.asked, known.meeting.view.ids
    other = asked.lineage != mine
    pairs = np.unique(np.stack((asked.node[other], asked.lineage[other]), axis=1), axis=0)
    if not len(pairs) or not own:
        return {}
    _, meaning = load(store)
    theirs = meaning.static.embed(known.texts[ids[node]] for node in pairs[:, 0].tolist())
    close = cosines(theirs, meaning.static.embed(known.texts[ids[node]] for node in own))
    best: dict[int, tuple[float, int, int]] = {}
    for (node, lineage), row in zip(pairs.tolist(), close, strict=True):
        at = int(row.argmax())
        found = (float(row[at]), -own[at], -node)
        best[lineage] = max(best.get(lineage, found), found)
    return {lineage: (score, -a, -b) for lineage, (score, a, b) in best.items()}


def _scores(side: _Side, thread: str) -> dict[str, float]:
    """Reciprocal rank fusion over the kinds of evidence; names are lineage roots."""
    names = side.meeting.view.lineages
    rankings = {
        "questions": ranking(_by_questions(side), names),
        "concepts": ranking(side.meeting.adamic_adar(side.mine), names),
        "words": ranking(side.wording.scores, names),
        "alike": ranking(_by_likeness(side), names),
        "paths": ranking(_by_paths(side), names),
        "journeys": ranking(_by_journeys(side), names),
    }
    fused = fuse(list(rankings.values()), [WEIGHTS[kind] for kind in rankings])
    return {name: score * _surprise(side, thread, name) for name, score in fused.items()}


def _by_questions(side: _Side) -> Floats:
    """Per lineage, over my questions: 1 when it asks the same, else its best link's score."""
    asked = side.meeting.asked
    scores = np.zeros(len(side.meeting.view.lineages))
    askers: defaultdict[int, list[int]] = defaultdict(list)
    for lineage, node in np.unique(np.stack((asked.lineage, asked.node), axis=1), axis=0).tolist():
        askers[node].append(lineage)
    for node in side.own_questions:
        best = dict.fromkeys(askers[node], 1.0)
        for other, score in sorted(side.known.links.get(node, {}).items()):
            for lineage in askers[other]:
                best[lineage] = max(best.get(lineage, 0.0), score)
        for lineage, score in sorted(best.items()):
            scores[lineage] += score
    scores[side.mine] = 0
    return scores


def _by_likeness(side: _Side) -> Floats:
    scores = np.zeros(len(side.meeting.view.lineages))
    for lineage, (score, _, _) in side.alike.items():
        scores[lineage] = score
    return scores


def _by_paths(side: _Side) -> Floats:
    """Per lineage: idf of the touched paths that both touched."""
    touched = side.known.touched
    held = Counter(path for paths in touched.values() for path in paths)
    scores = np.zeros(len(side.meeting.view.lineages))
    for lineage, paths in touched.items():
        shared = sorted(paths & touched.get(side.mine, frozenset()))
        scores[lineage] = sum(log((len(touched) + 1) / held[path]) for path in shared)
    scores[side.mine] = 0
    return scores


def _by_journeys(side: _Side) -> Floats:
    scores = np.zeros(len(side.meeting.view.lineages))
    for lineages in side.meeting.journeys_of().values():
        if side.mine in lineages:
            for lineage in sorted(lineages - {side.mine}):
                scores[lineage] += 1
    return scores


def _surprise(side: _Side, thread: str, name: str) -> float:
    """Other projects and older threads up slightly."""
    mine, theirs = side.known.nodes.get(thread), side.known.nodes.get(name)
    if mine is None or theirs is None:
        return 1.0
    factor = OTHER_PROJECT if mine.project != theirs.project else 1.0
    if mine.started_at is not None and theirs.started_at is not None:
        factor *= OLDER if mine.started_at - theirs.started_at > LONG_BEFORE else 1.0
    return factor


def _resonance(side: _Side, name: str, score: float) -> Resonance | None:
    """One answer with its evidence; None when no turn stands on one of the sides."""
    view = side.meeting.view
    theirs = view.lineages.index(name)
    pairs = _pairs(side, theirs)
    if not pairs:
        return None
    none: frozenset[str] = frozenset()
    touched = side.known.touched
    paths = sorted(touched.get(side.mine, none) & touched.get(theirs, none))
    journeys = [j for j, held in side.meeting.journeys_of().items() if {side.mine, theirs} <= held]
    parsed = parse_ref(pairs[0].theirs)
    thread = parsed.thread_id if isinstance(parsed, SourceRefId) else name
    node = side.known.nodes[thread]
    return Resonance(
        thread_id=thread,
        title=node.title,
        project=node.project,
        started_at=node.started_at,
        group=_group(pairs, paths, journeys),
        score=score,
        pairs=_with_texts(side, pairs),
        shared_paths=tuple(paths[:LABELS]),
        journeys=tuple(journeys),
        reasons=_reasons(pairs, paths, journeys),
    )


def _pairs(side: _Side, theirs: int) -> list[Pair]:
    """Turns that meet, the strongest kind first."""
    found = _question_pairs(side, theirs)
    asked, spoken = side.meeting.asked, side.meeting.spoken
    pairs = [
        Pair(
            mine=side.meeting.first_turn(asked, side.mine, own),
            theirs=side.meeting.first_turn(asked, theirs, other),
            kind=kind,
        )
        for own, other, kind in found
    ]
    shared = side.meeting.shared_concepts(side.mine, theirs)
    if shared:
        pairs.append(
            Pair(
                mine=side.meeting.first_turn(spoken, side.mine, shared[0]),
                theirs=side.meeting.first_turn(spoken, theirs, shared[0]),
                kind="shared_concepts",
                concepts=tuple(side.meeting.view.ids[node] for node in shared[:LABELS]),
            )
        )
    words = side.wording.shared(side.known.lineage_of_row, side.mine, theirs, LABELS)
    if words is not None:
        docs = side.known.corpus.docs
        pairs.append(
            Pair(
                mine=docs[words[1]].ref,
                theirs=docs[words[2]].ref,
                kind="shared_words",
                words=words[0],
            )
        )
    return pairs


def _question_pairs(side: _Side, theirs: int) -> list[tuple[int, int, Kind]]:
    """Questions of mine and theirs that meet: the same or linked, else the most alike."""
    their_questions = set(side.meeting.questions_of(theirs).tolist())
    found: list[tuple[float, int, int]] = []
    for own in side.own_questions:
        if own in their_questions:
            found.append((-1.0, own, own))
        links = side.known.links.get(own, {})
        found += [
            (-score, own, other) for other, score in links.items() if other in their_questions
        ]
    pairs: list[tuple[int, int, Kind]] = [
        (own, other, "same_question" if -score >= SAME else "linked_question")
        for score, own, other in sorted(found)[:PAIRS]
    ]
    best = side.alike.get(theirs)
    if not pairs and best is not None and best[0] >= ALIKE:
        pairs.append((best[1], best[2], "alike_question"))
    return pairs


def _group(pairs: Sequence[Pair], paths: Sequence[str], journeys: Sequence[str]) -> Group:
    kinds = {pair.kind for pair in pairs}
    if "same_question" in kinds:
        return "same_question"
    if journeys:
        return "same_shape"
    speaks = kinds <= {"shared_concepts", "shared_words"}
    return "same_files" if paths and speaks else "same_obstacle"


def _reasons(
    pairs: Sequence[Pair], paths: Sequence[str], journeys: Sequence[str]
) -> tuple[str, ...]:
    words = {
        "same_question": "asks the same question",
        "linked_question": "asks a linked question",
        "alike_question": "asks in like words",
        "shared_concepts": "speaks of the same specific things",
        "shared_words": "uses the same rare words",
    }
    found = list(dict.fromkeys(words[pair.kind] for pair in pairs))
    if paths:
        found.append(f"touched {len(paths)} of the same files")
    if journeys:
        found.append("lies on the same Journey")
    return tuple(found)


def _with_texts(side: _Side, pairs: Sequence[Pair]) -> tuple[Pair, ...]:
    refs = sorted({ref for pair in pairs for ref in (pair.mine, pair.theirs)})
    turns = side.store.search.turns(refs)
    return tuple(
        pair.replace(
            concepts=tuple(side.known.labels[name] for name in pair.concepts),
            mine_text=start_of(turns[pair.mine].text, SIDE_LENGTH),
            theirs_text=start_of(turns[pair.theirs].text, SIDE_LENGTH),
        )
        for pair in pairs
    )
