"""LINKS: questions that meet again, lead on to each other, or only look alike."""

from collections.abc import Iterable, Mapping
from contextlib import closing
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from graphstore import near, vectors
from graphstore.derivation import Ground
from graphstore.fold import LINK_REFS
from graphstore.ids import Json, canonical, question_key
from graphstore.ledger import Ledger
from graphstore.model.knowledge import Links, LinkType
from graphstore.model.record import EpochRecord
from ingest.extract.figures import figures
from ingest.extract.lexicon import find
from ingest.link.ground import Known, known

VERSION: Final = "links/3"
STRONG: Final = 0.80
BORDERLINE: Final = 0.66
SHIFT: Final = 0.12
BORDERLINE_SHARE: Final = 0.75
LEAST_GAP: Final = 0.05
MUCH_SHARED: Final = 0.45
SAME_PLACE: Final = 0.5
SALIENT: Final = 0.65
_PAIR: Final = 2
FARTHEST: Final = 0.50
"""Two members of one cluster that score less split it."""
_FAINT: Final = 0.3
"""Likeness of words or vectors below which nothing else brings a pair to the borderline."""
FULL: Final = 0.85
"""Mean of shared words and of the vectors' cosine from which two questions say the same."""
_SAME: Final = 0.84
"""Likeness from which two questions ask the same, whatever surrounds them."""
_REPLACED: Final = 0.86
"""The same where each says a word that the other does not: "for the winter", "with a lid"."""
_NARROWER: Final = 2 / 3
"""Share of words below which what one question adds makes it another one."""
_ASKING: Final = frozenset({"explain", "decide", "compare", "verify", "reflect", "plan"})
"""Intents that only wording tells apart: "which font", "what font should we"."""
_MENDING: Final = frozenset({"fix", "problem"})


@dataclass(frozen=True, slots=True)
class Score:
    """A pair's score, its parts, and the thresholds that hold for it."""

    words: float
    vectors: float
    what: float
    where: float
    phase: float
    collaboration: float
    same_intent: bool
    completion: float
    separation: float

    @property
    def likeness(self) -> float:
        """How much they say the same, 0 to 1: words and vectors must agree.

        Vectors alone take "router" for "server", words alone "large" for something else
        than "big".
        """
        return min(1.0, round((self.words + self.vectors) / (2 * FULL), 6))

    @property
    def total(self) -> float:
        """What all of it adds up to, 0 to 1."""
        raw = (
            0.68 * self.likeness
            + 0.16 * self.what
            + 0.07 * self.where
            + 0.04 * self.phase
            + 0.03 * self.collaboration
            + (0.08 if self.same_intent else -0.10)
        )
        return round(min(1.0, max(0.0, raw)), 6)

    @property
    def strong(self) -> float:
        """Threshold of acceptance."""
        return round(STRONG + SHIFT * (self.separation - self.completion), 6)

    @property
    def borderline(self) -> float:
        """Threshold below which a pair is not even asked about."""
        moved = BORDERLINE + BORDERLINE_SHARE * SHIFT * (self.separation - self.completion)
        return round(min(moved, self.strong - LEAST_GAP), 6)


def score(left: Known, right: Known, cosine: float) -> Score:
    """Compare two questions."""
    what = near.jaccard(left.concepts, right.concepts)
    same_project = left.project is not None and left.project == right.project
    where = (1.0 if left.paths & right.paths else 0.5) if same_project else 0.0
    apart = None not in {left.project, right.project} and not same_project
    words = near.jaccard(left.keys, right.keys)
    same_intent = words == 1 or akin(left.intent, right.intent)
    same_phase = left.phase == right.phase
    unlike = bool(left.concepts) and bool(right.concepts) and not left.concepts & right.concepts
    completion = (
        0.18 * (what >= MUCH_SHARED)
        + 0.12 * (where >= SAME_PLACE)
        + 0.16 * same_intent
        + 0.08 * same_phase
        + 0.06 * (min(left.salience, right.salience) >= SALIENT)
    )
    separation = (
        0.10 * unlike
        + 0.10 * apart
        + 0.22 * (not same_intent)
        + 0.06 * (not same_phase)
        + 0.26 * (not (left.trackable and right.trackable))
    )
    return Score(
        words=words,
        vectors=max(0.0, round(cosine, 5)),
        what=what,
        where=where,
        phase=float(same_phase),
        collaboration=near.jaccard(left.participants, right.participants),
        same_intent=same_intent,
        completion=round(completion, 6),
        separation=round(separation, 6),
    )


def akin(one: str, other: str) -> bool:
    """Whether two intents want the same kind of thing."""
    return one == other or any({one, other} <= group for group in (_ASKING, _MENDING))


class Index:
    """Questions with their vectors, and what the owner said of pairs of them."""

    def __init__(
        self,
        questions: tuple[Known, ...],
        epoch: EpochRecord,
        said: Mapping[near.Pair, bool] = MappingProxyType({}),
    ) -> None:
        self.questions = questions
        self.place = {one.question_id: at for at, one in enumerate(questions)}
        self._said = said
        self._kin = _kin(pair for pair in said if said[pair] and self.place.keys() >= {*pair})
        static = vectors.Static(
            epoch.lineages, [(int(row.name), row.count) for row in epoch.token_df]
        )
        self._matrix = static.embed([question_key(one.text) for one in questions])

    def score(self, left: int, right: int) -> Score:
        """Compare two questions by their places."""
        cosine = near.exact(self._matrix, left, right)
        return score(self.questions[left], self.questions[right], cosine)

    def total(self, left: int, right: int) -> float:
        """What their likeness adds up to; 1 or 0 where the owner said whether they ask the same.

        What is the same as one of them by the owner's word speaks for it: they go together.
        """
        one, other = (self.questions[place].question_id for place in (left, right))
        told = self._said.get(near.pair_of(one, other))
        if told is not None:
            return float(told)
        return max(
            1.0 if mine == theirs else self.score(self.place[mine], self.place[theirs]).total
            for mine in self._kin.get(one, (one,))
            for theirs in self._kin.get(other, (other,))
        )


def _kin(pairs: Iterable[near.Pair]) -> dict[str, tuple[str, ...]]:
    """Questions that pairs join, directly or by others, by each of them."""
    groups: dict[str, set[str]] = {}
    for one, other in sorted(pairs):
        joined = groups.get(one, {one}) | groups.get(other, {other})
        groups.update(dict.fromkeys(joined, joined))
    return {name: tuple(sorted(group)) for name, group in groups.items()}


def links(ground: Ground, epoch: EpochRecord) -> tuple[tuple[Links, ...], tuple[Links, ...]]:
    """Accepted links and borderline pairs over a whole store, sorted by their ends.

    Pairs of which the owner said whether they ask the same are left out.
    """
    found = {one.question_id: one for one in known(ground, figures(epoch))}
    static = vectors.Static(epoch.lineages, [(int(row.name), row.count) for row in epoch.token_df])
    worded = [near.Worded(one.question_id, one.text, one.keys) for one in found.values()]
    accepted, asked = [], []
    with closing(Ledger(None)) as aside:
        index = near.Near(aside, None, least=_FAINT)
        index.fill([worded], static)
        for left, right, cosine in index.pairs():
            if (left, right) in ground.said:
                continue
            told = score(found[left], found[right], cosine)
            if told.total >= told.strong:
                accepted.append(_link(found[left], found[right], told))
            elif told.total >= told.borderline:
                asked.append(_link(found[left], found[right], told))
    return _sorted(accepted), _sorted(asked)


def link(left: Known, right: Known, cosine: float) -> Links | None:
    """The link between two questions, if their likeness is accepted; left id before right."""
    told = score(left, right, cosine)
    return _link(left, right, told) if told.total >= told.strong else None


def _sorted(rows: Iterable[Links]) -> tuple[Links, ...]:
    return tuple(sorted(rows, key=lambda row: (row.src, row.dst)))


def _link(left: Known, right: Known, told: Score) -> Links:
    first, second = sorted((left, right), key=_moment)
    kind, how = link_type(first, second, told)
    if kind is not LinkType.EVOLVING:
        first, second = left, right
    evidence: dict[str, Json] = {
        "words": round(told.words, 4),
        "vectors": told.vectors,
        "what": round(told.what, 4),
        "where": told.where,
        "phase": told.phase,
        "collaboration": round(told.collaboration, 4),
        "same_intent": told.same_intent,
        "strong": told.strong,
        "borderline": told.borderline,
        "how": how,
    }
    refs = {*first.refs[:LINK_REFS], *second.refs[:LINK_REFS]}
    return Links(
        src_table="Question",
        src=first.question_id,
        dst_table="Question",
        dst=second.question_id,
        source_refs=tuple(sorted(refs)),
        weight=told.total,
        extractor=VERSION,
        link_type=kind,
        score=told.total,
        evidence=canonical(evidence).decode(),
    )


def _moment(one: Known) -> tuple[bool, str, str]:
    seen = one.first_seen
    return (seen is None, "" if seen is None else seen.isoformat(), one.question_id)


def link_type(earlier: Known, later: Known, told: Score) -> tuple[LinkType, str]:
    """Recurring, evolving or related, and by which rule."""
    if earlier.keys and earlier.keys == later.keys:
        return LinkType.RECURRING, "same_keys"
    wider, narrower = earlier.keys < later.keys, later.keys < earlier.keys
    nested = wider or narrower
    enough = told.words >= _NARROWER if nested else told.likeness >= _REPLACED
    alike = enough and told.likeness >= _SAME and told.same_intent
    alike = alike and _named(earlier) == _named(later)
    if nested and not alike:
        return LinkType.EVOLVING, "narrower" if wider else "broader"
    turned = [hit.kind for hit in find(later.text) if hit.family == "narrow"]
    if turned:
        return LinkType.EVOLVING, turned[0]
    return (LinkType.RECURRING, "same_words") if alike else (LinkType.RELATED, "alike")


def _named(one: Known) -> frozenset[str]:
    """Keys that are numbers, flags or identifiers: where these differ, something else is asked."""
    return frozenset(key for key in one.keys if not key.isalpha())


def clusters(index: Index, rows: Iterable[Links]) -> tuple[tuple[str, ...], ...]:
    """Question ids that recurring links join; no cluster is held together by chaining alone."""
    parent: dict[str, str] = {}

    def root(name: str) -> str:
        while parent.setdefault(name, name) != name:
            parent[name] = parent[parent[name]]
            name = parent[name]
        return name

    for row in rows:
        if (
            row.link_type is LinkType.RECURRING
            and row.src in index.place
            and row.dst in index.place
        ):
            first, second = sorted((root(row.src), root(row.dst)))
            parent[second] = first
    groups: dict[str, list[str]] = {}
    for name in sorted(parent):
        groups.setdefault(root(name), []).append(name)
    split = [part for group in groups.values() for part in _split(index, group)]
    return tuple(sorted(tuple(part) for part in split))


def _split(index: Index, group: list[str]) -> list[list[str]]:
    """Split while the two farthest members are too far; each goes with the nearer of the two."""
    if len(group) <= _PAIR:
        return [group]
    places = [index.place[name] for name in group]
    worst = min(
        (index.total(left, right), left, right)
        for at, left in enumerate(places)
        for right in places[at + 1 :]
    )
    if worst[0] >= FARTHEST:
        return [group]
    _, left, right = worst
    close: list[str] = []
    far: list[str] = []
    for name in group:
        at = index.place[name]
        closer = at == left or (at != right and index.total(at, left) >= index.total(at, right))
        (close if closer else far).append(name)
    return [*_split(index, close), *_split(index, far)]
