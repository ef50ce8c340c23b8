"""Recall: the turns that answer a cue, ranked, with reasons; hypotheses apart."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Final

import numpy as np

from graphstore.model.answers import (
    Filters,
    Hit,
    HypothesisView,
    NotFound,
    Parts,
    Recalled,
    Side,
    ThreadHit,
    TurnView,
)
from graphstore.model.base import Instant
from graphstore.model.conversation import Turn
from graphstore.queries.clip import SIDE_LENGTH, around, start_of
from graphstore.queries.corpus import Bools, Corpus, Floats, Ints, Lexical
from graphstore.queries.cue import (
    Span,
    content_words,
    in_latin,
    role_meant,
    spans,
    speakers_meant,
    without_times,
)
from graphstore.queries.expansion import Reach, Reached
from graphstore.queries.meaning import Archive, Meaning, load
from graphstore.search import Head
from graphstore.vectors import Embedding

LEXICAL: Final = 0.65
"""Weight of the wording against that of the vectors; measured on dialogue recall."""
SPEAKER: Final = 0.2
ROLE: Final = 0.15
TIME: Final = 0.5
"""For each of: said when talk of the named time is possible, when it is likely, and in it."""
FLOORS: Final = ((0.34, 0.0), (0.0, 0.28), (0.2, 0.2))
"""An answer is given when one of its best turns reaches a share and a cosine of one pair."""
WORDED_ALIKE: Final = 0.28
FAINT: Final = 0.2
"""Turns below this part of the best score are noise beside it."""
SAMPLE: Final = 10
NEXT_TURNS: Final = 0.3
HALF_LIFE_DAYS: Final = 90
SEEDS: Final = 10
"""Best turns from which the graph is followed."""
GRAPH: Final = 0.3

Hypotheses = Callable[[Sequence[str]], tuple[HypothesisView, ...]]
"""Gives the hypotheses that rest on any of some references, with their standing."""


@dataclass(frozen=True, slots=True)
class _Ranked:
    """The turns that have anything of the cue, scored."""

    corpus: Corpus
    lexical: Lexical
    cosines: Floats
    rows: Ints
    values: Floats
    """Score of each of ``rows``; 0 where it may not be given."""
    scores: Floats
    """The same for every row of the corpus."""
    spans: tuple[Span, ...]
    speakers: tuple[str, ...]
    reached: Mapping[int, Reached] = field(default_factory=dict)
    """Rows that the graph leads to, their weights against the largest."""

    def led(self, reach: Reach, graph: float, allowed: Bools) -> "_Ranked":
        """The same with what the graph leads to from the best rows, if these are an answer."""
        seeds = self.answers(self.top(SEEDS))
        found = reach({self.corpus.ref(row): float(self.scores[row]) for row in seeds})
        rows = self.corpus.rows(found)
        largest = max((found[ref].weight for ref in rows), default=1.0)
        reached = {
            row: replace(found[ref], weight=found[ref].weight / largest)
            for ref, row in rows.items()
            if allowed[row]
        }
        scores = self.scores.copy()
        for row, each in reached.items():
            scores[row] += graph * each.weight
        chosen = np.union1d(self.rows, np.array(sorted(reached), np.int64))
        return replace(self, rows=chosen, values=scores[chosen], scores=scores, reached=reached)

    def top(self, limit: int) -> list[int]:
        """The best rows, ties by reference."""
        values, found = self.values, self.values > 0
        if limit < len(values):
            found &= values >= float(np.partition(values, -limit)[-limit])
        rows: list[int] = self.rows[found].tolist()
        rows.sort(key=lambda row: (-self.scores[row], self.corpus.ref(row)))
        return rows[:limit]

    def answers(self, rows: Sequence[int]) -> list[int]:
        """The rows worth giving, best first; none when even the best share too little."""
        best = rows[:SAMPLE]
        share, cosine = self.lexical.share[best], self.cosines[best]
        if not any(((share >= s) & (cosine >= c)).any() for s, c in FLOORS):
            return []
        floor = FAINT * float(self.scores[rows[0]])
        return [row for row in rows if self.scores[row] >= floor]


def recall(
    archive: Archive,
    cue: str,
    limit: int = 10,
    filters: Filters | None = None,
    as_of: datetime | None = None,
    *,
    now: datetime,
    hypotheses: Hypotheses | None = None,
    reach: Reach | None = None,
    graph: float = GRAPH,
    model: Embedding | None = None,
) -> Recalled:
    """Find the turns that answer a cue.

    ``as_of`` hides what was said later. ``reach`` gives the turns that the graph leads to from
    the best ones; they count ``graph`` times as much as wording and vectors together. ``model``
    gives other vectors than the static ones, or raises EncoderFailed. Ties go by
    reference; the same store, cue and ``now`` give the same answer.
    """
    corpus, meaning = load(archive, model)
    if not len(corpus):
        return Recalled(cue=cue, basis=meaning.embedding.basis, not_found_reason="empty_store")
    allowed = _allowed(archive, corpus, filters or Filters(), as_of)
    ranked = rank(archive, corpus, meaning, cue, allowed, as_of or now)
    if ranked is None:
        return Recalled(cue=cue, basis=meaning.embedding.basis, not_found_reason="empty_cue")
    if reach is not None and graph > 0:
        ranked = ranked.led(reach, graph, allowed)
    return _answer(
        archive, ranked, cue, meaning.embedding.basis, limit, allowed, as_of or now, hypotheses
    )


def rank(
    archive: Archive, corpus: Corpus, meaning: Meaning, cue: str, allowed: Bools, now: datetime
) -> _Ranked | None:
    """Score every turn; None when the cue holds no word."""
    speakers = speakers_meant(cue, corpus.columns.speakers)
    named = spans(cue, now, corpus.years())
    words = content_words(without_times(cue) if named else cue, speakers)
    terms = archive.search.terms(words)
    if not terms:
        return None
    lexical = corpus.lexical(archive.search, terms)
    cosines, near = meaning.scored(words, lexical.scores)
    if meaning.by_letters and not in_latin(words):
        # the vectors know other scripts by their letters: they order what shares words
        worded = lexical.scores > 0
        cosines, near = cosines * worded, near * worded
    rows = np.flatnonzero(((lexical.scores > 0) | (near > 0)) & allowed)
    values = LEXICAL * _scaled(lexical.scores, rows) + (1 - LEXICAL) * _scaled(near, rows)
    values *= _boost(corpus, rows, cue, speakers, named)
    scores = np.zeros(len(corpus))
    scores[rows] = values
    return _Ranked(corpus, lexical, cosines, rows, values, scores, named, speakers)


def _scaled(values: Floats, rows: Ints) -> Floats:
    """Those of some rows against the best of all, so that wording and vectors can be added."""
    best = float(values.max(initial=0.0))
    found: Floats = values[rows] / best if best > 0 else values[rows]
    return found


def _boost(
    corpus: Corpus, rows: Ints, cue: str, speakers: Sequence[str], named: Sequence[Span]
) -> Floats:
    """What the cue says of speaker, role and time, as soft preferences."""
    boost = np.ones(len(rows))
    if len(speakers) == 1:
        boost *= 1 + SPEAKER * corpus.spoken_by(speakers[0])[rows]
    role = role_meant(cue)
    if role is not None:
        boost *= 1 + ROLE * corpus.said_by(role)[rows]
    when, at = np.zeros(len(rows)), corpus.at[rows] if named else corpus.at[:0]
    for span in named:
        exact = span.start.timestamp(), span.end.timestamp()
        steps = [_between(at, bounds) for bounds in (*span.bounds(), exact)]
        when = np.maximum(when, np.sum(steps, axis=0))
    return boost * (1 + TIME * when)


def _between(at: Floats, bounds: tuple[float, float]) -> Bools:
    inside: Bools = (at >= bounds[0]) & (at < bounds[1])
    return inside


def _allowed(archive: Archive, corpus: Corpus, filters: Filters, as_of: datetime | None) -> Bools:
    allowed = corpus.main_line.copy()
    if filters.role is not None:
        allowed &= corpus.said_by(filters.role.value)
    if filters.since is not None:
        allowed &= corpus.at >= filters.since.timestamp()
    if filters.until is not None:
        allowed &= corpus.at < filters.until.timestamp()
    if as_of is not None:
        allowed &= ~(corpus.at >= as_of.timestamp())
    if filters.threads or filters.project or filters.source:
        heads = archive.search.heads(corpus.threads)
        passes = [_passes(name, heads[name], filters) for name in corpus.threads]
        allowed &= np.array(passes, np.bool_)[corpus.thread]
    return allowed


def _passes(thread_id: str, head: Head, filters: Filters) -> bool:
    return (
        (not filters.threads or thread_id in filters.threads)
        and filters.project in (None, head.project)
        and filters.source in (None, head.source)
    )


def _answer(
    archive: Archive,
    ranked: _Ranked,
    cue: str,
    basis: str,
    limit: int,
    allowed: Bools,
    now: datetime,
    hypotheses: Hypotheses | None,
) -> Recalled:
    rows = ranked.answers(ranked.top(4 * limit + 40))
    if not rows:
        nearest = _hits(archive, ranked, ranked.top(1), now)
        reason: NotFound = "no_match" if allowed.any() else "filtered_out"
        reason = "below_floor" if nearest else reason
        return Recalled(
            cue=cue, basis=basis, not_found_reason=reason, nearest=nearest[0] if nearest else None
        )
    hits = _hits(archive, ranked, rows, now, limit)
    found = () if hypotheses is None else hypotheses([hit.turn.ref for hit in hits])
    return Recalled(
        cue=cue,
        basis=basis,
        hits=hits,
        threads=_threads(archive, ranked, rows, limit),
        hypotheses=tuple(view for view in found if view.hypothesis.mode != "threat"),
        threats=tuple(view for view in found if view.hypothesis.mode == "threat"),
    )


def _hits(
    archive: Archive, ranked: _Ranked, rows: Sequence[int], now: datetime, limit: int = 1
) -> tuple[Hit, ...]:
    """Hits of rows in order; words already given by another turn are not given again."""
    texts = archive.search.texts(ranked.corpus.refs(rows))
    seen: dict[str, int] = {}
    for row, text in zip(rows, texts, strict=True):
        seen.setdefault(text, row)
    chosen = list(seen.values())[:limit]
    sides = {row: _sides(ranked.corpus, row) for row in chosen}
    wanted = {n for row in chosen for n in (row, *sides[row]) if n is not None}
    turns = archive.search.turns(ranked.corpus.refs(sorted(wanted)))
    heads = archive.search.heads(sorted({ranked.corpus.thread_id(row) for row in chosen}))
    return tuple(_hit(ranked, row, sides[row], turns, heads, now) for row in chosen)


def _sides(corpus: Corpus, row: int) -> tuple[int | None, int | None]:
    """Rows of the turn before and after, on the same main line."""

    def beside(other: int) -> int | None:
        inside = 0 <= other < len(corpus) and corpus.thread[other] == corpus.thread[row]
        return other if inside and corpus.main_line[other] and corpus.main_line[row] else None

    return beside(row - 1), beside(row + 1)


def _hit(
    ranked: _Ranked,
    row: int,
    sides: tuple[int | None, int | None],
    turns: dict[str, Turn],
    heads: dict[str, Head],
    now: datetime,
) -> Hit:
    corpus = ranked.corpus
    ref, thread = corpus.ref(row), corpus.thread_id(row)
    terms = ranked.lexical.terms_at(row)
    turn = turns[ref]
    before, after = (
        None
        if side is None
        else Side(
            ref=corpus.ref(side),
            role=corpus.role(side),
            text=start_of(turns[corpus.ref(side)].text, SIDE_LENGTH),
        )
        for side in sides
    )
    return Hit(
        turn=turn_view(ref, thread, turn, heads[thread], around(turn.text, terms)),
        score=round(float(ranked.scores[row] / max(ranked.scores.max(), 1.0)), 4),
        parts=_parts(ranked, row, turn, now),
        reasons=_reasons(ranked, row, terms, turn),
        before=before,
        after=after,
    )


def turn_view(ref: str, thread_id: str, turn: Turn, head: Head, text: str) -> TurnView:
    """A stored turn as it is shown, with the given words of it."""
    anchor = turn.anchor
    return TurnView(
        ref=ref,
        thread_id=thread_id,
        title=head.title,
        project=head.project,
        role=turn.role,
        speaker=turn.speaker,
        at=turn.at,
        text=text,
        file=None if anchor is None else anchor.file,
        line=None if anchor is None else anchor.line,
        superseded_by=turn.superseded_by,
        source_gone=turn.source_gone,
    )


def _parts(ranked: _Ranked, row: int, turn: Turn, now: datetime) -> Parts:
    best = float(ranked.lexical.scores.max(initial=0.0)) or 1.0
    return Parts(
        lexical=round(float(ranked.lexical.scores[row]) / best, 4),
        vector=round(float(ranked.cosines[row]), 4),
        graph=round(ranked.reached[row].weight, 4) if row in ranked.reached else 0.0,
        recency=_recency(turn.at, now),
    )


def _recency(at: Instant | None, now: datetime) -> float:
    if at is None:
        return 0.0
    days = max((now - at).total_seconds() / 86_400, 0.0)
    recency: float = 0.5 ** (days / HALF_LIFE_DAYS)
    return round(recency, 4)


def _reasons(ranked: _Ranked, row: int, terms: Sequence[str], turn: Turn) -> tuple[str, ...]:
    folded = turn.text.casefold()
    own = [term for term in terms if term[:-1] in folded or term in folded]
    near = [term for term in terms if term not in own]
    found = []
    if own:
        found.append("says " + ", ".join(own[:5]))
    if near:
        found.append("beside a turn that says " + ", ".join(near[:5]))
    if ranked.cosines[row] >= WORDED_ALIKE:
        found.append("worded alike")
    if len(ranked.speakers) == 1 and turn.speaker == ranked.speakers[0]:
        found.append("said by " + ranked.speakers[0])
    if turn.at is not None and any(span.start <= turn.at < span.end for span in ranked.spans):
        found.append("said at the time named")
    if row in ranked.reached:
        found.append(ranked.reached[row].why)
    return tuple(found) or ("few words in common",)


def _threads(
    archive: Archive, ranked: _Ranked, rows: Sequence[int], limit: int
) -> tuple[ThreadHit, ...]:
    """Threads of ranked rows: the best turn and a part of the next two, ties by id."""
    held: dict[str, list[int]] = {}
    for row in rows:
        held.setdefault(ranked.corpus.thread_id(row), []).append(row)
    scores = {
        name: float(ranked.scores[own[0]]) + NEXT_TURNS * float(ranked.scores[own[1:3]].sum())
        for name, own in held.items()
    }
    best = max(scores.values())
    order = sorted(scores, key=lambda name: (-scores[name], name))[:limit]
    heads = archive.search.heads(order)
    return tuple(
        ThreadHit(
            thread_id=name,
            title=heads[name].title,
            score=round(scores[name] / best, 4),
            best=ranked.corpus.ref(held[name][0]),
        )
        for name in order
    )
