"""What the owner does with hypotheses: each act is one record with actor, time and reason."""

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from itertools import takewhile
from typing import Final, TypeVar

from dream import journal
from dream.cycle import known_of
from dream.evidence import event_id, heard, record_of
from dream.lifecycle import Act, Evidence, Ignored, NotAllowed, acted, moved, weigh
from graphstore.courses import carried
from graphstore.errors import Error, NotFound
from graphstore.model.base import Value
from graphstore.model.conversation import Role
from graphstore.model.hypothesis import AnyHypothesis, standing
from graphstore.model.job import JobState
from graphstore.model.query import Resolved
from graphstore.model.record import CycleRecord, ParkedDraft, ReviewRecord
from graphstore.model.refs import RefUnresolved
from graphstore.store import Store
from ingest.secrets import mask
from service.answers import HypothesisRow
from service.dreaming import Names, row, waiting
from service.session import Session

T = TypeVar("T")
OWNER: Final = "owner"
NEVER_OVERRIDDEN: Final = ("premises_clean", "source_current", "claims_sourced", "both_sides")
"""Failed checks of a parked draft that even the owner's yes does not mend."""
TITLE, SUMMARY = 90, 400
"""Characters of a title and of a summary."""


class NotPossible(Error):
    """{act} is not possible for {target}: {reason}."""

    hint = "clew dream explain ID shows its state and checks"

    def __init__(self, act: str, target: str, reason: str) -> None:
        super().__init__(act, target, reason)
        self.act = act
        self.target = target
        self.reason = reason


class Reviewed(Value):
    """What an act left."""

    act: str
    hypotheses: tuple[HypothesisRow, ...]


class Change(Value):
    """One hypothesis before and after."""

    hypothesis_id: str
    title: str
    before: str | None
    """State before; null where it is new."""
    after: str


class CycleDiff(Value):
    """What one dream cycle changed."""

    cycle_id: str
    ended_at: datetime
    changes: tuple[Change, ...]
    is_rolled_back: bool


class Desk:
    """The owner's acts on one open store."""

    def __init__(self, session: Session, store: Store) -> None:
        self._session = session
        self._store = store
        self._now = session.now()
        self._settings = session.settings.dream

    # finding

    def edge(self, name: str) -> AnyHypothesis:
        """A hypothesis by id or by an unambiguous beginning of it; raises NotFound."""
        found = only(known_of(self._store), name, lambda one: one.hypothesis_id)
        if found is None:
            raise NotFound("hypothesis", name)
        return found

    def draft(self, name: str) -> ParkedDraft | None:
        """A parked draft by id or beginning; None when nothing waits under it."""
        return only(
            waiting(self._session, self._store), name, lambda one: one.hypothesis.hypothesis_id
        )

    # acts

    def approve(self, name: str, reason: str) -> Reviewed:
        """A parked draft comes to stand; what stands is validated."""
        draft = self.draft(name)
        if draft is None:
            return self._act("approve", self.edge(name), reason)
        return self._act("approve", self._passable(draft), reason)

    def _passable(self, draft: ParkedDraft) -> AnyHypothesis:
        """The hypothesis of a parked draft whose sources hold; raises NotPossible."""
        edge = draft.hypothesis
        failed = [name for name in draft.failed if name in NEVER_OVERRIDDEN]
        current = self._store.fingerprints(edge.refs)
        pairs = zip(edge.refs, edge.ref_fingerprints, strict=True)
        if any(current[ref] != then for ref, then in pairs) and "source_current" not in failed:
            failed.append("source_current")
        if not edge.refs:
            failed.append("claims_sourced")
        if failed:
            raise NotPossible("approve", edge.hypothesis_id, ", ".join(dict.fromkeys(failed)))
        return edge.replace(sensitivity="none")

    def reject(self, name: str, reason: str) -> Reviewed:
        """A parked draft is put away for good; what stands is refuted."""
        draft = self.draft(name)
        if draft is None:
            return self._act("refute", self.edge(name), reason, said="reject")
        edge = draft.hypothesis
        self._record("reject", edge.hypothesis_id, reason, ())
        return Reviewed(act="reject", hypotheses=())

    def modify(self, name: str, title: str, summary: str, reason: str) -> Reviewed:
        """The owner's words replace title and summary; the earlier ones stay in the ledger."""
        draft = self.draft(name)
        edge = self._passable(draft) if draft else self.edge(name)
        if draft is not None:
            edge = self._moved("approve", edge, reason)
        worded = edge.replace(
            title=self._worded(title, TITLE) or edge.title,
            summary=self._worded(summary, SUMMARY) or edge.summary,
            validated_by=OWNER,
        )
        return self._record("modify", edge.hypothesis_id, reason, (worded,))

    def _worded(self, text: str, most: int) -> str:
        """Words of the owner on one line, secrets masked."""
        return mask(" ".join(text.split()), self._session.salt())[0][:most]

    def refute(self, name: str, reason: str, ref: str) -> Reviewed:
        """The owner says that it does not hold."""
        if ref:
            self._turn(ref)
        return self._act("refute", self.edge(name), reason, other=ref or None)

    def renew(self, name: str, reason: str) -> Reviewed:
        """Longer in use, or back in use."""
        return self._act("renew", self.edge(name), reason)

    def confirm(self, name: str, ref: str) -> Reviewed:
        """The owner's word, or a later turn, speaks for it; raises NotPossible if not counted."""
        edge = self.edge(name)
        evidence = self._evidence(edge, ref)
        earlier = heard(self._store.dreams()).get(edge.hypothesis_id, ())
        weighed = weigh(edge, evidence, earlier, self._now)
        if isinstance(weighed, Ignored):
            raise NotPossible("confirm", edge.hypothesis_id, IGNORED[weighed.reason])
        after = moved(edge, evidence, self._settings)
        self._store.commit(record_of(evidence, after), self._now)
        return self._reviewed("confirm", (after,))

    def _evidence(self, edge: AnyHypothesis, ref: str) -> Evidence:
        found = self._turn(ref) if ref else None
        said = found.ref if found else self._now.date().isoformat()
        roots = self._store.roots()
        return Evidence(
            event_id=event_id(edge.hypothesis_id, "confirmed", said),
            verdict="confirmed",
            ref=found.ref if found else None,
            lineage=roots[found.thread.thread_id] if found else None,
            at=found.turn.at if found else self._now,
            by=OWNER,
        )

    def _turn(self, ref: str) -> Resolved:
        """A clean turn that somebody names; raises NotFound."""
        found = self._store.resolve(ref)
        if isinstance(found, RefUnresolved) or found.turn.role is Role.OTHER:
            raise NotFound("turn", ref)
        return found

    def rollback(self, name: str, reason: str) -> Reviewed:
        """Everything that a dream cycle brought leaves use; its work may be done again."""
        cycle = self.cycle(name)
        known = {one.hypothesis_id: one for one in known_of(self._store)}
        brought = [known[one.hypothesis_id] for one in cycle.hypotheses]
        why = reason or f"rollback:{cycle.cycle_id}"
        after = tuple(
            one
            for one in (
                acted(each, "supersede", self._now, self._settings, reason=why) for each in brought
            )
            if not isinstance(one, NotAllowed)
        )
        freed = [self._store.jobs.get(end.job_id) for end in cycle.jobs]
        found = self._record("rollback", cycle.cycle_id, reason, after)
        self._store.jobs.put(
            job.replace(state=JobState.EXPIRED, last_reason="rolled back") for job in freed if job
        )
        return found

    def cycle(self, name: str) -> CycleRecord:
        """A dream cycle by id or beginning; the newest for ``last``; raises NotFound."""
        newest = {each.cycle_id: each for each in self._store.cycles()}
        if name == "last" and newest:
            return list(newest.values())[-1]
        found = only(newest.values(), name, lambda one: one.cycle_id)
        if found is None:
            raise NotFound("dream cycle", name)
        return found

    def diff(self, name: str) -> CycleDiff:
        """What a dream cycle added and closed."""
        cycle = self.cycle(name)
        states: dict[str, str] = {}
        for record in takewhile(lambda each: each != cycle, self._store.dreams()):
            states.update({one.hypothesis_id: one.state for one in carried(record)})
        return CycleDiff(
            cycle_id=cycle.cycle_id,
            ended_at=cycle.ended_at,
            changes=tuple(
                Change(
                    hypothesis_id=one.hypothesis_id,
                    title=one.title,
                    before=states.get(one.hypothesis_id),
                    after=one.state,
                )
                for one in carried(cycle)
            ),
            is_rolled_back=cycle.cycle_id in journal.rolled_back(self._store.dreams()),
        )

    # recording

    def _act(
        self,
        act: Act,
        edge: AnyHypothesis,
        reason: str,
        *,
        said: str = "",
        other: str | None = None,
    ) -> Reviewed:
        after = self._moved(act, edge, reason)
        return self._record(said or act, edge.hypothesis_id, reason, (after,), other)

    def _moved(self, act: Act, edge: AnyHypothesis, reason: str) -> AnyHypothesis:
        after = acted(edge, act, self._now, self._settings, reason=reason)
        if isinstance(after, NotAllowed):
            raise NotPossible(act, edge.hypothesis_id, f"it is {after.state.replace('_', ' ')}")
        return after

    def _record(
        self,
        act: str,
        target: str,
        reason: str,
        after: tuple[AnyHypothesis, ...],
        other: str | None = None,
    ) -> Reviewed:
        self._store.commit(
            ReviewRecord(
                act=act, target=target, other=other, reason=reason, at=self._now, after=after
            ),
            self._now,
        )
        return self._reviewed(act, after)

    def _reviewed(self, act: str, after: Sequence[AnyHypothesis]) -> Reviewed:
        names = Names(self._store.ground())
        current = self._store.fingerprints({ref for one in after for ref in one.refs})
        return Reviewed(
            act=act,
            hypotheses=tuple(
                row(one, (), names, standing(one, self._now, current)) for one in after
            ),
        )


IGNORED: Final[dict[str, str]] = {
    "undated": "the turn has no time",
    "before": "the turn is not later than the hypothesis",
    "after_now": "the turn lies in the future",
    "premise": "the turn is one of its premises",
    "same_thread": "this thread, or you on this day, said so already",
    "known": "this was counted already",
    "closed": "it is closed",
}


def only(found: Iterable[T], name: str, id_of: Callable[[T], str]) -> T | None:
    """The one whose id begins so; None without a name, for none and for several."""
    matching = [one for one in found if name and id_of(one).startswith(name)]
    return matching[0] if len(matching) == 1 else None
