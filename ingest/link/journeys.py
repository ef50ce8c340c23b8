"""Journeys: an inquiry followed over several threads, begun and appended, never rewritten."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from graphstore.derivation import Ground
from graphstore.ids import journey_id
from graphstore.model.knowledge import Concept, JourneyStatus
from graphstore.model.record import Count, EpochRecord, JourneyRecord, Stop
from ingest.extract.figures import Figures, figures
from ingest.link.ground import Known, known, roots, specific
from ingest.link.moments import Moment, Moments, lineages
from ingest.link.questions import Index
from ingest.link.themes import Theme, concept_themes, question_clusters

VERSION: Final = "journeys/3"
LEAST_WAYPOINTS: Final = 3
LEAST_LINEAGES: Final = 3
_LEAST_CHARACTERS: Final = 16
_LEAST_CONCEPTS: Final = 2
_CONCEPTS: Final = 8
_ENDED: Final = frozenset({JourneyStatus.ARRIVED, JourneyStatus.ABANDONED})

NOT_ENOUGH_WAYPOINTS: Final = "not_enough_waypoints"
NOT_ENOUGH_THREADS: Final = "not_enough_threads"
INQUIRY_NOT_SPECIFIC: Final = "inquiry_not_specific"


@dataclass(frozen=True, slots=True)
class Found:
    """Records to commit, and why other groups of questions gave none."""

    records: tuple[JourneyRecord, ...]
    failures: tuple[Count, ...]


@dataclass(frozen=True, slots=True)
class Standing:
    """A Journey as its records leave it."""

    journey_id: str
    status: JourneyStatus
    questions: frozenset[str]
    concepts: tuple[str, ...]
    refs: frozenset[str]
    last_seq: int
    path_label: str
    core_inquiry: str
    merged_into: str | None


def standings(records: Iterable[JourneyRecord]) -> dict[str, Standing]:
    """Fold records, in their order, into one standing for each Journey."""
    found: dict[str, Standing] = {}
    for record in records:
        before = found.get(record.journey_id)
        found[record.journey_id] = Standing(
            record.journey_id,
            record.status,
            frozenset(record.questions) | (before.questions if before else frozenset()),
            record.concepts or (before.concepts if before else ()),
            frozenset(ref for stop in record.stops for ref in stop.refs)
            | (before.refs if before else frozenset()),
            max([stop.seq for stop in record.stops] + [before.last_seq if before else 0]),
            record.path_label,
            record.core_inquiry,
            record.merged_into or (before.merged_into if before else None),
        )
    return found


def find(ground: Ground, history: tuple[JourneyRecord, ...], epoch: EpochRecord) -> Found:
    """Look for Journeys over the whole store; a question belongs to one of them."""
    figured = figures(epoch)
    index = Index(known(ground, figured), epoch, ground.said)
    search = _Search(ground, index, standings(history), figured)
    for theme in question_clusters(ground, index):
        search.consider(theme)
    for theme in concept_themes(ground, index, figured):
        search.consider(theme)
    records = sorted(search.records, key=lambda record: record.journey_id)
    failures = tuple(Count(name=name, count=n) for name, n in sorted(search.failures.items()))
    return Found(tuple(records), failures)


class _Search:
    """One look over a store: what belongs to a Journey already, what was begun, what failed."""

    def __init__(
        self, ground: Ground, index: Index, standing: dict[str, Standing], epoch: Figures
    ) -> None:
        self.records: list[JourneyRecord] = []
        self.failures: dict[str, int] = {}
        self._moments = Moments(ground)
        self._roots = roots(ground)
        self._concepts = specific(ground, epoch)
        self._known = {one.question_id: one for one in index.questions}
        self._status = {one.question_id: one.status for one in ground.questions}
        self._standing = standing
        self._owner: dict[str, str] = {}
        for name, one in sorted(standing.items()):
            for question in one.questions:
                self._owner.setdefault(question, _target(standing, name))
        self._resolved = {row.dst for row in ground.answers if row.kind == "resolved"}

    def consider(self, theme: Theme) -> None:
        """Begin a Journey with a theme, or take the one that it belongs to further."""
        group = [self._known[name] for name in theme.questions]
        if theme.concepts:
            self._company(theme, group)
            return
        owners = sorted(
            {self._owner[one.question_id] for one in group if one.question_id in self._owner}
        )
        if not owners:
            self._begin(group)
        elif owners[0] in self._standing:
            self._go_on(self._standing[owners[0]], group)

    def _company(self, theme: Theme, group: list[Known]) -> None:
        """A theme of concepts goes on a Journey of these; else its free questions begin one.

        Sharing a question with a Journey is not enough here, or pairs would chain them all.
        """
        pair = set(theme.concepts)
        for name, standing in sorted(self._standing.items()):
            if pair <= set(standing.concepts[:_LEAST_CONCEPTS]) and not standing.merged_into:
                mine = [one for one in group if self._owner.get(one.question_id, name) == name]
                self._go_on(standing, mine)
                return
        free = [one for one in group if one.question_id not in self._owner]
        if any(pair <= one.concepts for one in free):
            self._begin(free, theme.concepts)

    def _fail(self, reason: str) -> None:
        self.failures[reason] = self.failures.get(reason, 0) + 1

    def _begin(self, group: list[Known], pair: tuple[str, ...] = ()) -> None:
        named = [one for one in group if set(pair) <= one.concepts]
        telling = [one for one in named if self._is_specific(one)]
        core = max(
            telling or named, key=lambda one: (one.salience, len(one.lineages), one.question_id)
        )
        moments = self._moments.of(group, self._inquiry(group))
        if pair and self._is_walked(moments):
            return
        if len(moments) < LEAST_WAYPOINTS:
            self._fail(NOT_ENOUGH_WAYPOINTS)
        elif len(lineages(moments, self._roots)) < LEAST_LINEAGES:
            self._fail(NOT_ENOUGH_THREADS)
        elif not self._is_specific(core):
            if not pair:
                self._fail(INQUIRY_NOT_SPECIFIC)
        else:
            made = self._record(core, group, moments, pair)
            self.records.append(made)
            for one in group:
                self._owner[one.question_id] = made.journey_id

    def _is_walked(self, moments: tuple[Moment, ...]) -> bool:
        """Whether other Journeys stand on every turn that asks: it is theirs in other words."""
        walked = {ref for one in self._standing.values() for ref in one.refs}
        walked |= {ref for one in self.records for stop in one.stops for ref in stop.refs}
        return all(one.ref in walked for one in moments if "asking" in one.labels)

    def _is_specific(self, core: Known) -> bool:
        named = _distinct([self._concepts[name] for name in sorted(core.concepts)])
        long_enough = len(core.text) >= _LEAST_CHARACTERS
        return long_enough and len(named) >= _LEAST_CONCEPTS and core.trackable

    def _inquiry(self, group: list[Known]) -> frozenset[str]:
        """Concepts of the inquiry: those that at least half of its questions name."""
        counts: dict[str, int] = {}
        for one in group:
            for concept in one.concepts:
                counts[concept] = counts.get(concept, 0) + 1
        return frozenset(concept for concept, n in counts.items() if 2 * n >= len(group))

    def _record(
        self,
        core: Known,
        group: list[Known],
        moments: tuple[Moment, ...],
        pair: tuple[str, ...],
    ) -> JourneyRecord:
        stops = tuple(_stop(seq, moment) for seq, moment in enumerate(moments, 1))
        return JourneyRecord(
            journey_id=journey_id(core.text, moments[0].ref),
            path_label=", ".join(self._label(core, pair)),
            core_inquiry=core.text,
            status=self._arrival(core, moments),
            questions=tuple(sorted(one.question_id for one in group)),
            concepts=self._ranked(core, group, pair),
            stops=stops,
            reason="created",
        )

    def _arrival(self, core: Known, moments: tuple[Moment, ...]) -> JourneyStatus:
        """Arrived when the core inquiry is answered and not asked again after that."""
        resolved = core.question_id in self._resolved
        ends = [moment for moment in moments if {"asking", "resolution"} & set(moment.labels)]
        last = ends[-1].labels if ends else ()
        arrived = resolved and "resolution" in last
        return JourneyStatus.ARRIVED if arrived else JourneyStatus.TRAVELING

    def _label(self, core: Known, pair: tuple[str, ...]) -> tuple[str, ...]:
        """Its two most specific concepts, in the order in which the question names them."""
        names = pair if len(pair) == _LEAST_CONCEPTS else {*pair, *core.concepts}
        chosen = sorted(
            (self._concepts[name] for name in names),
            key=lambda one: (one.concept_id not in pair, _specificity(one)),
        )
        low = core.text.casefold()
        kept = [one for one in chosen if one.concept_id in pair] + _distinct(chosen)
        two = list({one.concept_id: one for one in kept}.values())[:_LEAST_CONCEPTS]
        two.sort(key=lambda one: (_place(low, one), one.label))
        return tuple(one.label for one in two)

    def _ranked(self, core: Known, group: list[Known], pair: tuple[str, ...]) -> tuple[str, ...]:
        """Specific concepts: the pair, those of the core inquiry, those of most questions."""
        counts: dict[str, int] = {}
        for one in group:
            for concept in one.concepts:
                counts[concept] = counts.get(concept, 0) + 1
        ranked = sorted(
            counts,
            key=lambda name: (
                name not in pair,
                name not in core.concepts,
                -counts[name],
                name,
            ),
        )
        return tuple(ranked[:_CONCEPTS])

    def _go_on(self, standing: Standing, group: list[Known]) -> None:
        """Append what is new; an ended Journey goes on only when something asks again."""
        concepts = frozenset(standing.concepts) & self._concepts.keys()
        fresh = [
            moment
            for moment in self._moments.of(group, concepts)
            if moment.ref not in standing.refs
        ]
        new = {one.question_id for one in group} - standing.questions
        asked_again = bool(new) or any("asking" in moment.labels for moment in fresh)
        ended = standing.status in _ENDED
        if (not fresh and not new) or (ended and not asked_again):
            return
        stops = tuple(_stop(standing.last_seq + n, one) for n, one in enumerate(fresh, 1))
        status = JourneyStatus.TRAVELING if ended else standing.status
        if fresh and "resolution" in fresh[-1].labels:
            status = JourneyStatus.ARRIVED
        record = JourneyRecord(
            journey_id=standing.journey_id,
            path_label=standing.path_label,
            core_inquiry=standing.core_inquiry,
            status=status,
            questions=tuple(sorted(standing.questions | new)),
            concepts=standing.concepts,
            stops=stops,
            reason="revived" if ended else "appended",
        )
        self.records.append(record)
        # a second theme of the same Journey in this run sees what the first one appended
        self._standing[standing.journey_id] = standings([_as_record(standing), record])[
            standing.journey_id
        ]
        for name in new:
            self._owner[name] = standing.journey_id


def _as_record(one: Standing) -> JourneyRecord:
    return JourneyRecord(
        journey_id=one.journey_id,
        path_label=one.path_label,
        core_inquiry=one.core_inquiry,
        status=one.status,
        questions=tuple(sorted(one.questions)),
        concepts=one.concepts,
        stops=(Stop(seq=one.last_seq, moment="", refs=tuple(sorted(one.refs))),),
    )


def _target(standing: dict[str, Standing], name: str) -> str:
    """The Journey that a merged one goes on in."""
    seen = {name}
    while (into := standing[name].merged_into) is not None and into in standing:
        if into in seen:
            break
        seen.add(into)
        name = into
    return name


def _specificity(one: Concept) -> tuple[int, int, str]:
    return (one.df, -len(one.label), one.label)


def _distinct(concepts: list[Concept]) -> list[Concept]:
    """Without those whose label is part of another one's."""
    return [
        one
        for one in concepts
        if not any(one is not other and one.label in other.label for other in concepts)
    ]


def _place(low: str, one: Concept) -> int:
    at = low.find(one.label.casefold())
    return at if at >= 0 else len(low)


def _stop(seq: int, moment: Moment) -> Stop:
    return Stop(
        seq=seq,
        moment=moment.text,
        refs=(moment.ref,),
        at=moment.at,
        labels=moment.labels,
        frontier_hint=moment.hint,
    )
