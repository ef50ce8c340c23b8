"""Resonance: other lineages that meet the same question, with evidence on both sides."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from itertools import islice
from math import ceil
from typing import Final, Literal, TypeAlias

from graphstore.ids import thread_of
from graphstore.model.answers import Pair, Resonance, Resonances
from graphstore.model.knowledge import Asks
from graphstore.model.refs import SourceRefId, parse_ref
from graphstore.queries.clip import SIDE_LENGTH, start_of
from graphstore.queries.evidence import NEAR_DAYS, Known, Side, known, scores, side
from graphstore.queries.meeting import Said, ranking
from graphstore.queries.recall import recall
from graphstore.search import by_score, fuse
from graphstore.store import Store

Kind: TypeAlias = Literal[
    "same_question", "linked_question", "alike_question", "answered_question", "shared_concepts"
]
Group: TypeAlias = Literal[
    "same_question", "same_obstacle", "same_shape", "same_files", "same_days"
]

NEARNESS: Final = 1.0
WEIGHTS: Final = {
    "questions": 1.0,
    "concepts": 1.0,
    "words": 1.0,
    "alike": 0.3,
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
DAY_HOURS: Final = 24


def resonance(
    store: Store, cue: str, limit: int = 20, *, now: datetime, nearness: float = NEARNESS
) -> Resonances:
    """Find other lineages that meet what a thread, a question, a turn or a text is about.

    Copies, resumes and forks are one lineage and never resonate with each other. Every answer
    has at least one turn on each side. ``nearness`` weighs that both were worked on in the same
    days, in one project: it ranks what meets otherwise too, and brings nothing in alone.
    """
    held = known(store)
    thread, only = _focus(store, cue, now)
    mine = None if thread is None else held.meeting.lineage_of(thread)
    if mine is None:
        return Resonances(cue=cue, thread_id=thread)
    own = side(store, held, mine, only)
    ranked = _Ranked(own, nearness)
    fused = {
        name: score * _surprise(held, thread or "", name) for name, score in ranked.fused.items()
    }
    found = (_resonance(own, ranked, name, fused[name]) for name in by_score(fused))
    kept = list(islice((answer for answer in found if answer is not None), limit))
    best = max((answer.score for answer in kept), default=1.0)
    return Resonances(
        cue=cue,
        thread_id=thread,
        found=tuple(
            answer.replace(score=round(answer.score / best, 4)) for answer in _with_texts(own, kept)
        ),
    )


class _Ranked:
    """Reciprocal rank fusion over the kinds of evidence; names are lineage roots."""

    def __init__(self, own: Side, nearness: float) -> None:
        names = own.meeting.view.lineages
        weights = {**WEIGHTS, "nearness": nearness}
        rankings = {kind: ranking(found, names) for kind, found in scores(own).items()}
        self.fused = fuse(list(rankings.values()), [weights[kind] for kind in rankings])
        self._place = {
            kind: {name: at for at, name in enumerate(ranked)}
            for kind, ranked in rankings.items()
            if weights[kind]
        }

    def foremost(self, name: str) -> str:
        """The kind of evidence in which a lineage stands highest; the first named of equals."""
        places = {kind: at[name] for kind, at in self._place.items() if name in at}
        return min(places, key=lambda kind: places[kind])


def _focus(store: Store, cue: str, now: datetime) -> tuple[str | None, str | None]:
    """The thread on my side, and the one question that matters there, if one was named."""
    named = cue.strip()
    if named.startswith("q:"):
        asking = store.ends(Asks, ("SourceRef", "Question"), "weight", (named,), "b")
        return (thread_of(min(asking)[0]) if asking else None), named
    parsed = parse_ref(named)
    if isinstance(parsed, SourceRefId):
        return parsed.thread_id, None
    if store.thread(named.removeprefix("thread:")) is not None:
        return named.removeprefix("thread:"), None
    hits = recall(store, cue, 1, now=now).hits
    return (hits[0].turn.thread_id if hits else None), None


def _surprise(held: Known, thread: str, name: str) -> float:
    """Other projects and older threads up slightly."""
    mine, theirs = held.nodes.get(thread), held.nodes.get(name)
    if mine is None or theirs is None:
        return 1.0
    factor = OTHER_PROJECT if mine.project != theirs.project else 1.0
    if mine.started_at is not None and theirs.started_at is not None:
        factor *= OLDER if mine.started_at - theirs.started_at > LONG_BEFORE else 1.0
    return factor


def _resonance(own: Side, ranked: _Ranked, name: str, score: float) -> Resonance | None:
    """One answer with its evidence; None when no turn stands on one of the sides."""
    theirs = own.known.place[name]
    pairs = _pairs(own, theirs)
    if not pairs:
        return None
    none: frozenset[str] = frozenset()
    touched = own.known.touched
    paths = sorted(touched.get(own.mine, none) & touched.get(theirs, none))
    journeys = [j for j, held in own.meeting.journeys.items() if {own.mine, theirs} <= held]
    thread = thread_of(pairs[0].theirs)
    node = own.known.nodes[thread]
    gap = float(own.gaps[theirs])
    near = gap <= DAY_HOURS * NEAR_DAYS
    return Resonance(
        thread_id=thread,
        title=node.title,
        project=node.project,
        started_at=node.started_at,
        group=_group(pairs, paths, journeys, near=near and ranked.foremost(name) == "nearness"),
        score=score,
        pairs=tuple(pairs),
        shared_paths=tuple(paths[:LABELS]),
        journeys=tuple(journeys),
        hours_apart=round(gap, 1) if near else None,
        reasons=(*_reasons(pairs, paths, journeys), *((_together(gap),) if near else ())),
    )


def _pairs(own: Side, theirs: int) -> list[Pair]:
    """Turns that meet, the strongest kind first."""
    meeting = own.meeting
    pairs = [
        _pair(own, meeting.asked, theirs, (question, other), kind)
        for question, other, kind in _question_pairs(own, theirs)
    ]
    pairs += _answer_pairs(own, theirs)
    shared = meeting.shared_concepts(own.mine, theirs)
    if shared:
        found = _pair(own, meeting.spoken, theirs, (shared[0], shared[0]), "shared_concepts")
        labels = (own.known.labels[meeting.view.ids[node]] for node in shared[:LABELS])
        pairs.append(found.replace(concepts=tuple(labels)))
    words = own.wording.shared(own.known.corpus, own.known.lineage_of_row, own.mine, theirs, LABELS)
    if words is not None:
        corpus = own.known.corpus
        pairs.append(
            Pair(
                mine=corpus.ref(words[1]),
                theirs=corpus.ref(words[2]),
                kind="shared_words",
                words=words[0],
            )
        )
    return pairs


def _pair(
    own: Side,
    said: Said,
    theirs: int,
    nodes: tuple[int, int],
    kind: Kind,
) -> Pair:
    mine, other = said.first_turn(own.mine, nodes[0]), said.first_turn(theirs, nodes[1])
    return Pair(mine=own.meeting.ref(mine), theirs=own.meeting.ref(other), kind=kind)


def _answer_pairs(own: Side, theirs: int) -> list[Pair]:
    """Where both ask the same and one of them had an answer: who asks, and the answer."""
    meeting = own.meeting
    their_questions = set(meeting.questions_of(theirs).tolist())
    found = []
    for question in own.own_questions:
        answers = own.known.answers.get(question, {})
        if question not in their_questions or not answers.keys() & {own.mine, theirs}:
            continue
        asked = _pair(own, meeting.asked, theirs, (question, question), "answered_question")
        answer = {"theirs": answers[theirs]} if theirs in answers else {"mine": answers[own.mine]}
        found.append(asked.replace(**answer))
    return found[:PAIRS]


def _question_pairs(own: Side, theirs: int) -> list[tuple[int, int, Kind]]:
    """Questions of mine and theirs that meet: the same or linked, else the most alike."""
    their_questions = set(own.meeting.questions_of(theirs).tolist())
    found: list[tuple[float, int, int]] = []
    for question in own.own_questions:
        if question in their_questions:
            found.append((-1.0, question, question))
        links = own.known.links.get(question, {})
        found += [
            (-score, question, other) for other, score in links.items() if other in their_questions
        ]
    pairs: list[tuple[int, int, Kind]] = [
        (question, other, "same_question" if -score >= SAME else "linked_question")
        for score, question, other in sorted(found)[:PAIRS]
    ]
    best = own.alike.get(theirs)
    if not pairs and best is not None and best[0] >= ALIKE:
        pairs.append((best[1], best[2], "alike_question"))
    return pairs


def _group(
    pairs: Sequence[Pair], paths: Sequence[str], journeys: Sequence[str], *, near: bool
) -> Group:
    kinds = {pair.kind for pair in pairs}
    if "same_question" in kinds:
        return "same_question"
    if journeys:
        return "same_shape"
    if not kinds <= {"shared_concepts", "shared_words"}:
        return "same_obstacle"
    if paths:
        return "same_files"
    return "same_days" if near else "same_obstacle"


def _reasons(
    pairs: Sequence[Pair], paths: Sequence[str], journeys: Sequence[str]
) -> tuple[str, ...]:
    words = {
        "same_question": "asks the same question",
        "linked_question": "asks a linked question",
        "answered_question": "one answers what the other asks",
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


def _together(gap: float) -> str:
    """How close in time the work on both was, in words."""
    if gap == 0:
        return "worked on at the same time, in the same project"
    days = ceil(gap / DAY_HOURS)
    span = "a day" if days == 1 else f"{days} days"
    return f"worked on within {span} of it, in the same project"


def _with_texts(own: Side, found: Sequence[Resonance]) -> list[Resonance]:
    """The answers with the beginnings of their turns."""
    refs = sorted(
        {ref for each in found for pair in each.pairs for ref in (pair.mine, pair.theirs)}
    )
    texts = dict(zip(refs, own.store.search.texts(refs), strict=True))
    return [
        each.replace(
            pairs=tuple(
                pair.replace(
                    mine_text=start_of(texts[pair.mine], SIDE_LENGTH),
                    theirs_text=start_of(texts[pair.theirs], SIDE_LENGTH),
                )
                for pair in each.pairs
            )
        )
        for each in found
    ]
