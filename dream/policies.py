"""Retention: attention, never truth. Pure, versioned, recomputable."""

import json
from dataclasses import dataclass
from typing import Final

from dream.wording import share

COEFFICIENTS: Final = "conservative_v1"
COUNTERWEIGHT_FUNCTIONS: Final = frozenset({"compensatory", "active_imagination"})
RECENT_DAYS: Final = 45
UNDATED: Final = 0.4


@dataclass(frozen=True, slots=True)
class Counts:
    """What retention looks at: counts of one draft, novelty and recency from 0 to 1."""

    refs: int
    threads: int
    bridge_refs: int
    voices: int
    proposals: int
    counters: int
    function: str
    novelty: float
    recency: float


def anchor(at: Counts) -> float:
    """How well a draft is tied to turns."""
    return 0.45 * share(at.refs, 4) + 0.40 * share(at.threads, 3) + 0.15 * share(at.bridge_refs, 4)


def divergence(at: Counts) -> float:
    """How far the voices that speak for it differ."""
    return spread(at.voices, at.proposals, at.threads)


def spread(voices: int, proposals: int, threads: int) -> float:
    """Divergence of so many voices, different proposals and threads, 0 to 1."""
    speaking = 0.38 * share(voices - 1, 3) + 0.44 * share(proposals - 1, 3)
    return speaking + 0.18 * share(threads, 3)


def counterweight(at: Counts) -> float:
    """How much was looked for that speaks against it."""
    bonus = 0.25 if at.function in COUNTERWEIGHT_FUNCTIONS else 0.0
    return 0.75 * share(at.counters, 4) + bonus


WEIGHTS: Final = {
    "anchor": 0.42,
    "divergence": 0.24,
    "counterweight": 0.14,
    "novelty": 0.10,
    "recency": 0.10,
}


def components(at: Counts) -> dict[str, float]:
    """What retention is made of, each from 0 to 1."""
    return {
        "anchor": anchor(at),
        "divergence": divergence(at),
        "counterweight": counterweight(at),
        "novelty": at.novelty,
        "recency": at.recency,
    }


def recorded(extras: str) -> dict[str, float]:
    """What retention was made of, from the extras of a hypothesis; empty where it is not told."""
    found: dict[str, float] = json.loads(extras).get("retention", {})
    return found


def retention(at: Counts) -> float:
    """Attention that a draft deserves, 0 to 1, rounded to 6 decimals."""
    return round(sum(WEIGHTS[name] * part for name, part in components(at).items()), 6)


def recency(age_days: float | None) -> float:
    """1 today, 0 after 45 days; undated premises count 0.4."""
    return UNDATED if age_days is None else max(0.0, 1 - max(age_days, 0) / RECENT_DAYS)


def jaccard(one: frozenset[str], other: frozenset[str]) -> float:
    """Common share of two sets, 0 for two empty ones."""
    return len(one & other) / len(one | other) if one | other else 0.0


def novelty(cues: frozenset[str], live: tuple[frozenset[str], ...]) -> float:
    """1 minus the highest overlap with a live hypothesis of the same function."""
    return round(1 - max((jaccard(cues, each) for each in live), default=0.0), 6)
