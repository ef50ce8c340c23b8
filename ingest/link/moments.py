"""Where an inquiry moved inside a thread: its askings, decisions, corrections, ends."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from graphstore.derivation import Ground
from graphstore.ids import thread_of
from graphstore.model.base import adapter
from graphstore.model.knowledge import Signal, SourceRefNode
from ingest.extract.text import clip
from ingest.link.ground import Known

MOMENT: Final = 260
HINT: Final = 220
_PER_THREAD: Final = 4
_LABELS: Final = {
    ("decision", "chose"): "decision",
    ("decision", "decided"): "decision",
    ("decision", "rejected"): "rejected_route",
    ("texture", "rejected_route"): "rejected_route",
    ("texture", "abandoned_direction"): "rejected_route",
}
_ORDER: Final = (
    "asking",
    "resolution",
    "correction",
    "rejected_route",
    "decision",
    "frontier",
)
_SIGNALS: Final = adapter(tuple[Signal, ...])


@dataclass(frozen=True, slots=True)
class Moment:
    """A turn in which the inquiry moved."""

    ref: str
    thread: str
    position: int
    at: datetime | None
    text: str
    labels: tuple[str, ...]
    hint: str | None


class Moments:
    """Looks up what the turns of a store did."""

    def __init__(self, ground: Ground) -> None:
        self._turns: dict[str, list[SourceRefNode]] = {}
        for turn in ground.turns:
            if turn.position is not None:
                self._turns.setdefault(turn.thread_id, []).append(turn)
        self._asks: dict[str, set[str]] = {}
        for row in ground.asks:
            self._asks.setdefault(row.src, set()).add(row.dst)
        self._answers: dict[str, set[str]] = {}
        for answer in ground.answers:
            if answer.kind == "resolved":
                self._answers.setdefault(answer.src, set()).add(answer.dst)

    def of(self, questions: Iterable[Known], concepts: frozenset[str]) -> tuple[Moment, ...]:
        """Moments of an inquiry over all its threads, in time; undated ones come last."""
        group = tuple(questions)
        names = {one.question_id: one for one in group}
        threads = sorted({thread for one in group for thread in one.threads})
        found = [
            moment for thread in threads for moment in self._of_thread(thread, names, concepts)
        ]
        return tuple(sorted(found, key=order))

    def _of_thread(
        self, thread: str, names: dict[str, Known], concepts: frozenset[str]
    ) -> list[Moment]:
        moments: list[Moment] = []
        begun = False
        first: set[str] | None = None
        for turn in sorted(self._turns.get(thread, ()), key=lambda one: one.position or 0):
            asked = sorted(self._asks.get(turn.ref, set()) & names.keys())
            if first is None and turn.ref in self._asks:
                first = set(asked)
            labels = {"asking": names[asked[0]].text} if asked and not begun else {}
            begun = begun or bool(asked)
            if begun:
                labels |= self._moved(turn, names, concepts, opened=bool(first))
            if labels:
                moments.append(_moment(turn, labels))
        # the first asking always stays; of the rest the last ones tell where it stands
        return moments[:1] + moments[1:][-(_PER_THREAD - 1) :]

    def _moved(
        self,
        turn: SourceRefNode,
        names: dict[str, Known],
        concepts: frozenset[str],
        *,
        opened: bool,
    ) -> dict[str, str]:
        """What the turn did for the inquiry; ``opened``: the thread began with it.

        Where such a thread stops, the inquiry stops, whatever the words for it are.
        """
        labels = {}
        if self._answers.get(turn.ref, set()) & names.keys():
            labels["resolution"] = turn.text
        for signal in signals_of(turn):
            label = _LABELS.get((signal.kind, signal.type), signal.kind)
            stops = opened and label == "frontier" and signal.question_id is None
            named = signal.question_id in names or bool(concepts.intersection(signal.concepts))
            touches = named or stops
            if label in _ORDER and touches:
                labels.setdefault(label, signal.clip)
        return labels


def signals_of(turn: SourceRefNode) -> tuple[Signal, ...]:
    """The signals stored with a turn."""
    if turn.signals == "[]":
        return ()
    read: tuple[Signal, ...] = _SIGNALS.validate_json(turn.signals)
    return read


def _moment(turn: SourceRefNode, labels: dict[str, str]) -> Moment:
    ordered = tuple(label for label in _ORDER if label in labels)
    hint = labels.get("frontier")
    return Moment(
        ref=turn.ref,
        thread=thread_of(turn.ref),
        position=turn.position or 0,
        at=turn.at,
        text=clip(labels[ordered[0]], MOMENT),
        labels=ordered,
        hint=clip(hint, HINT) if hint else None,
    )


def order(moment: Moment) -> tuple[bool, str, str, int]:
    """By time, then thread and position; undated moments last."""
    at = moment.at
    return (at is None, "" if at is None else at.isoformat(), moment.thread, moment.position)


def lineages(moments: Iterable[Moment], roots: dict[str, str]) -> set[str]:
    """Distinct lineages that the moments stand in."""
    return {roots.get(moment.thread, moment.thread) for moment in moments}
