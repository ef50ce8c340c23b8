"""Sixty days of two owners, one who never rests and one who seldom comes: what is dreamt when.

    python -m benchmarks.dreaming.owners [--days 60] [-o FILE]

Conversations are made up from a few topics; each ends with ``clew dream --if-due``, as a hook
would call it. The clock is simulated, everything else is the product: extraction, scout, gate,
queue, dream cycles, sweeps.
"""

import argparse
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

from dream.cycle import Ask, Landed, NothingDue, known_of
from dream.gate import Caller, Closed
from graphstore.ids import digest, fingerprint, thread_id
from graphstore.model.conversation import Role, Taint, Turn
from graphstore.model.hypothesis import LIVE
from graphstore.model.job import JobState
from graphstore.model.record import CycleRecord, ThreadRecord
from graphstore.store import Store, open_store
from ingest.derive import Derivation
from service import dreaming, operations, settings, taking
from service.session import Session

START = datetime(2026, 1, 5, 8, tzinfo=UTC)
HOUR, WEEK = timedelta(hours=1), 7
TOPICS = (
    ("kiln door", "pyrometric cone", "glaze crawl", "slip trail", "bisque load"),
    ("tide gauge", "stilling well", "float line", "chart datum", "staff gauge"),
    ("bee frame", "queen excluder", "varroa board", "smoker bellows", "brood pattern"),
    ("loom shaft", "warp tension", "reed dent", "selvedge curl", "treadle tie"),
    ("lathe bed", "tailstock ram", "chuck runout", "carbide insert", "spindle taper"),
    ("rain barrel", "gutter mesh", "overflow pipe", "drip emitter", "soil probe"),
)
ASKED = (
    "Why does the {a} fail beside the {b}?",
    "Should I change the {a} before the {b} is measured?",
    "How can the {a} be kept apart from the {b}?",
    "What does the {a} do to the {c} in winter?",
    "Does the {c} wear faster when the {a} is new?",
)
ANSWERED = (
    "The **{a}** fails when the **{b}** is worn; look at the **{c}** first.",
    "Change the **{a}** last: the **{b}** and the **{c}** settle it.",
    "Keep a hand between the **{a}** and the **{b}**; the **{c}** shows the rest.",
)
STUCK = "I am not sure about the {a}; we stopped at the {b}, still open."


def drawn(of: int, *seed: object) -> int:
    """A number below ``of`` that the seed decides."""
    return int(digest(*map(str, seed))[:8], 16) % of


@dataclass(slots=True)
class Owner:
    """When one owner talks."""

    name: str
    gaps: tuple[float, ...]
    """Hours from one conversation to the next, over and over."""


OWNERS = (
    Owner("never idle", (3.0, 4.0, 3.5, 5.0, 4.5, 4.0)),
    Owner("seldom there", (90.0, 40.0, 118.0, 66.0)),
)


def conversation(number: int, at: datetime) -> ThreadRecord:
    """A conversation on one topic, on two now and then."""
    key = thread_id("made", f"talk-{number}")
    turns: list[Turn] = []
    topic = TOPICS[drawn(len(TOPICS), "topic", number)]
    for step in range(2 + drawn(3, "length", number)):
        if drawn(5, "aside", number, step) == 0:
            topic = TOPICS[drawn(len(TOPICS), "other", number, step)]
        first = drawn(len(topic), "word", number, step)
        names = {letter: topic[(first + place) % len(topic)] for place, letter in enumerate("abc")}
        said = [
            (Role.HUMAN, ASKED[drawn(len(ASKED), "ask", number, step)]),
            (Role.ASSISTANT, ANSWERED[drawn(len(ANSWERED), "answer", number, step)]),
        ]
        if drawn(4, "stuck", number, step) == 0:
            said.append((Role.HUMAN, STUCK))
        for role, text in said:
            words = text.format(**names)
            turns.append(
                Turn(
                    number=len(turns) + 1,
                    role=role,
                    taint=Taint(role.value),
                    text=words,
                    fingerprint=fingerprint(role, words),
                    native_key=f"{number}-{len(turns)}",
                    at=at + timedelta(minutes=2 * len(turns)),
                )
            )
    return ThreadRecord(
        thread_id=key,
        source="made",
        native_id=f"talk-{number}",
        title=turns[0].text[:60],
        turns=tuple(turns),
        path=tuple(turn.number for turn in turns),
    )


class Kept(Session):
    """A session whose store stays open: a simulated hour is no new process."""

    held: Store

    @contextmanager
    def store(self, purpose: str, **_: object) -> Iterator[Store]:  # type: ignore[override]
        """The store that is open."""
        del purpose
        yield self.held


@dataclass(frozen=True, slots=True)
class Seen:
    """How one look of the hook ended."""

    at: datetime
    how: str
    landed: int = 0
    """Hypotheses."""
    why: str = ""
    """What an end without a hypothesis was made of."""


@dataclass(slots=True)
class Life:
    """What came of one owner's days."""

    looks: list[Seen] = field(default_factory=list)
    weeks: list[tuple[int, ...]] = field(default_factory=list)
    """By week: conversations, looks, dream cycles, landed, live, parked, queued at its end."""


def lived(owner: Owner, days: int, folder: Path, tell: Callable[[Life], object] = id) -> Life:
    """Live the days of an owner; ``tell`` hears of every week."""
    clock = [START]
    loaded = settings.load({"store.home": str(folder)}, folder)
    session = Kept(loaded=loaded, folder=folder, now=lambda: clock[0])
    derive, life, number, talks = Derivation(), Life(), 0, 0
    with open_store(session.workspace, derive) as store:
        object.__setattr__(session, "held", store)
        end, week = START + timedelta(days=days), 1
        while clock[0] < end:
            record = conversation(number, clock[0])
            clock[0] = record.turns[-1].at or clock[0]
            with store.deferred():
                store.commit(record, clock[0])
                taking.renew(store, derive, clock[0])
            taking.walk(store, derive, clock[0])
            number, talks = number + 1, talks + 1
            clock[0] += timedelta(minutes=1)
            life.looks.append(look(session, record.thread_id))
            clock[0] += HOUR * owner.gaps[number % len(owner.gaps)]
            if clock[0] >= START + timedelta(days=WEEK * week) or clock[0] >= end:
                life.weeks.append(figures(session, life, talks))
                tell(life)
                week, talks = week + 1, 0
    return life


def look(session: Session, own: str) -> Seen:
    """The hook of a conversation that ended."""
    ask = Ask(caller=Caller(trigger="hook", thread_id=own))
    found = dreaming.dreamt(session, ask, operations.limits(session)).result
    match found:
        case Closed():
            return Seen(session.now(), f"gate:{found.condition}", why=found.lines[-1].distance)
        case NothingDue():
            counted = (f"{each.count} {each.name}" for each in found.notes if each.count)
            return Seen(session.now(), found.reason, why=", ".join(counted))
        case Landed():
            made = len(found.record.hypotheses)
            why = "" if made else emptiness(found.record)
            return Seen(session.now(), found.why_nothing or "landed", made, why)
        case _:
            return Seen(session.now(), found.outcome)


def emptiness(record: CycleRecord) -> str:
    """What the jobs of a dream cycle without a hypothesis ended with, and on which checks."""
    ends = Counter(end.reason for end in record.jobs)
    checks = Counter(name for draft in record.parked for name in draft.failed)
    for end in record.jobs:
        checks.update({each.name: each.count for each in end.rejected})
    said = [
        f"{count} {name}" for counts in (ends, checks) for name, count in sorted(counts.items())
    ]
    return f"{len(record.jobs)} jobs: " + ", ".join(said)


def figures(session: Kept, life: Life, talks: int) -> tuple[int, ...]:
    """One week."""
    store = session.held
    known, cycles = known_of(store), store.cycles()
    before = [sum(week[at] for week in life.weeks) for at in range(4)]
    return (
        talks,
        len(life.looks) - before[1],
        len(cycles) - before[2],
        sum(len(cycle.hypotheses) for cycle in cycles) - before[3],
        sum(one.state in LIVE for one in known),
        len(dreaming.waiting(session, store)),
        len(store.jobs.all(JobState.QUEUED)),
    )


HEADS = ("week", "talks", "looks", "cycles", "landed", "live", "parked", "queued")


def told(owner: Owner, life: Life, days: int) -> Iterator[str]:
    """Tables and totals."""
    yield f"\n{owner.name}, {days} days"
    yield "".join(f"{head:>8}" for head in HEADS)
    for number, week in enumerate(life.weeks, start=1):
        yield "".join(f"{cell:>8}" for cell in (number, *week))
    ends = Counter(seen.how for seen in life.looks)
    yield "looks ended: " + ", ".join(f"{count} {how}" for how, count in sorted(ends.items()))
    landed = [seen.at for seen in life.looks if seen.landed]
    last = life.looks[-1].at
    gaps = [b - a for a, b in zip([START, *landed], [*landed, last], strict=True)]
    yield f"longest time without a new hypothesis: {max(gaps).total_seconds() / 3600:.0f} h"
    empty = [seen for seen in life.looks if not seen.landed and not seen.how.startswith("gate:")]
    yield f"{len(empty)} looks passed the gate and brought nothing:"
    yield from (f"  {seen.at:%m-%d %H:%M} {seen.how}: {seen.why}" for seen in empty)


def main() -> None:
    """Live both lives and tell."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--days", type=int, default=60)
    parser.add_argument("-o", "--out", type=Path)
    chosen = parser.parse_args()
    before = ["Simulated owners; python -m benchmarks.dreaming.owners"]

    def tell(owner: Owner, life: Life) -> list[str]:
        """Everything so far: a long run that is cut short leaves its weeks."""
        lines = [*before, *told(owner, life, 7 * len(life.weeks))]
        if chosen.out:
            chosen.out.write_text("\n".join(lines) + "\n", "utf-8")
        return lines

    for owner in reversed(OWNERS):
        with tempfile.TemporaryDirectory() as folder:
            life = lived(owner, chosen.days, Path(folder), partial(tell, owner))
            before = tell(owner, life)
    print("\n".join(before))


if __name__ == "__main__":
    main()
