"""The sweep of a dream cycle: what later turns said is heard, what is past its date is closed."""

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime

from dream.evidence import outcomes
from dream.index import Index
from dream.lifecycle import PENDING, NotAllowed, Tally, acted, bucket
from dream.settings import DreamSettings
from graphstore.model.hypothesis import AnyHypothesis, Hypothesis
from graphstore.store import Store


def hear(
    store: Store,
    known: Sequence[AnyHypothesis],
    index: Index,
    settings: DreamSettings,
    now: datetime,
) -> Counter[str]:
    """Record what later turns say of live hypotheses; how many confirmed, by state after it."""
    told: Counter[str] = Counter()
    with store.deferred():
        for record in outcomes(known, store.dreams(), index, settings, now):
            store.commit(record, now)
            told[f"{record.verdict}:{record.after.state}"] += 1
    return told


def expired(
    known: Iterable[AnyHypothesis], settings: DreamSettings, now: datetime
) -> tuple[AnyHypothesis, ...]:
    """Hypotheses whose date has passed, as they stand after it."""
    due = (one for one in known if one.state in PENDING and one.expires_at <= now)
    after = (acted(one, "expire", now, settings) for one in due)
    return tuple(one for one in after if not isinstance(one, NotAllowed))


def looked_back(known: Iterable[Hypothesis], now: datetime) -> Counter[str]:
    """Hypotheses by what became of them, those that are not due left out."""
    found = Counter(f"review:{bucket(one, Tally(), now)}" for one in known)
    del found["review:pending"]
    return found
