"""Figures of an evaluation: precision, recall and lift by rule, beside the same of baselines."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import sqrt
from typing import Final

from dream.evaluation.chance import Bucket, Odds, bucket, drawn, interval
from dream.evaluation.met import Met
from dream.evaluation.recalled import RecallReport
from dream.evaluation.rivals import NAMES, Rivals
from dream.evaluation.sides import Ends, Pool, Sides
from dream.journal import rate
from graphstore.model.base import Instant, Value
from graphstore.model.hypothesis import Hypothesis
from graphstore.model.record import Count

CUTOFFS: Final = (1, 5, 10, 20)
ENOUGH: Final = 20
"""Possible hits below which nothing is said of lift."""
TOO_LITTLE: Final = "too little later evidence"
CANNOT_CLAIM: Final = (
    "truth: a later link says that two things were joined, not that the hypothesis is right",
    "a finding: who takes up two things in one turn may mean nothing by it",
    "usefulness to the owner: nobody was asked",
    "causal effect: nobody saw the hypotheses before the later turns were said",
)
TOTAL: Final = "total"
Z: Final = 1.96


class At(Value):
    """The first k: how many there were, how many of them were hits."""

    k: int
    of: int
    hits: float
    """A baseline that ties is given its share of the tied."""
    precision: float | None


class Lift(Value):
    """How many times the hits of random pairs of the same type and degrees."""

    expected: float
    """Hits of so many random pairs."""
    lift: float | None
    low: float | None
    high: float | None
    """Null: without bound."""


class Rival(Value):
    """A baseline on the same pools, given as many choices in each."""

    name: str
    at: tuple[At, ...]
    lift: float | None


class Row(Value):
    """One rule, one function, or all."""

    name: str
    candidates: int
    hits: int
    possible: int
    """Pairs of its pools that were joined later."""
    pool: int
    """Pairs of its pools."""
    at: tuple[At, ...]
    """The first 1, 5, 10, 20 and all of its candidates, best first."""
    recall: float | None
    lift: Lift
    note: str = ""
    """Why no lift is given."""
    rivals: tuple[Rival, ...] = ()
    mean_precision: float | None = None
    spread: float | None = None
    """Over cuts: half of a 95 % interval of the mean; null below two cuts."""


class CutReport(Value):
    """One T."""

    at: Instant
    until: Instant
    threads: int
    turns: int
    later_turns: int
    rows: tuple[Row, ...]
    silent: int
    """Hypotheses of which no later turn can say that they hold."""


class Evaluation(Value):
    """Hypotheses of several T against what later turns linked."""

    horizon_days: int
    undated: int
    """Turns without a time: left out."""
    cuts: tuple[CutReport, ...]
    pooled: tuple[Row, ...]
    """A hit is a link of later turns."""
    met: tuple[Row, ...]
    """A hit is that, or one later turn of a person that takes up both ends."""
    recall: RecallReport
    failed_checks: tuple[Count, ...] = ()
    """What kept drafts from landing, over all cuts."""
    cannot_claim: tuple[str, ...] = CANNOT_CLAIM


@dataclass(frozen=True, slots=True)
class Choice:
    """One hypothesis as a prediction, best first among its own."""

    rule: str
    function: str
    pool: Pool
    hit: bool
    chance: float


@dataclass(frozen=True)
class Cut:
    """One T, measured; ``seed`` makes its draws its own."""

    sides: Sides
    rivals: Rivals
    hypotheses: tuple[Hypothesis, ...]
    """Best first."""
    until: Instant
    met: Met | None = None
    """Of the wide reading; without it links alone are hits."""

    def widened(self) -> "Cut":
        """The same cut, where what one later turn takes up counts as joined too."""
        return replace(self, met=Met(self.sides))

    @property
    def seed(self) -> str:
        return self.sides.at.isoformat()

    @cached_property
    def predicted(self) -> tuple[tuple[Hypothesis, Pool, Ends], ...]:
        """Hypotheses that later turns can judge, each pair of ends once."""
        found: dict[tuple[str, Pool, Ends], tuple[Hypothesis, Pool, Ends]] = {}
        for one in self.hypotheses:
            told = self.sides.predicted(one)
            if told is not None:
                found.setdefault((one.rule, *told), (one, *told))
        return tuple(found.values())

    @cached_property
    def pools(self) -> "dict[Pool, Drawn]":
        """What there was to choose from, in each pool that a hypothesis chose from."""
        wanted = sorted({pool for _, pool, _ in self.predicted})
        return {pool: Drawn(pool, self.sides, self.rivals, self.met) for pool in wanted}

    @cached_property
    def choices(self) -> tuple[Choice, ...]:
        return tuple(
            Choice(
                rule=one.rule,
                function=one.function,
                pool=pool,
                hit=ends in self.pools[pool].hits,
                chance=self.pools[pool].chance(ends),
            )
            for one, pool, ends in self.predicted
        )

    @property
    def silent(self) -> int:
        return sum(self.sides.predicted(one) is None for one in self.hypotheses)


@dataclass(frozen=True)
class Drawn:
    """One pool of one cut: its pairs, which of them were joined later, and the odds."""

    pool: Pool
    sides: Sides
    rivals: Rivals
    met: Met | None = None

    @cached_property
    def pairs(self) -> tuple[Ends, ...]:
        return tuple(self.sides.pairs(self.pool))

    @cached_property
    def hits(self) -> frozenset[Ends]:
        linked = self.sides.hits(self.pool)
        return linked if self.met is None else linked | self.met.hits(self.pool)

    @cached_property
    def possible(self) -> int:
        return sum(pair in self.hits for pair in self.pairs)

    def _bucket(self, pair: Ends) -> Bucket:
        degree = self.rivals.degree
        return bucket(degree(pair[0]), degree(pair[1]), directed=self.pool.src != self.pool.dst)

    @cached_property
    def _odds(self) -> Odds:
        return Odds.of([self._bucket(pair) for pair in self.pairs], self.pairs, self.hits)

    def chance(self, pair: Ends) -> float:
        """Share of pairs like this one that were joined later."""
        return self._odds.shares.get(self._bucket(pair), 0.0)

    @cached_property
    def ranked(self) -> dict[str, tuple[tuple[int, int], ...]]:
        """By baseline: groups of equal score, best first, as (pairs, hits)."""
        return {name: self._groups(name) for name in NAMES}

    def _groups(self, name: str) -> tuple[tuple[int, int], ...]:
        sizes: dict[float, int] = {}
        joined: dict[float, int] = {}
        for score, pair in zip(
            self.rivals.scores(name, self.pairs, self.pool), self.pairs, strict=True
        ):
            sizes[score] = sizes.get(score, 0) + 1
            joined[score] = joined.get(score, 0) + (pair in self.hits)
        return tuple((sizes[score], joined[score]) for score in sorted(sizes, reverse=True))

    def best(self, name: str, most: int) -> float:
        """Hits among the first so many pairs of a baseline."""
        found, left = 0.0, most
        for size, joined in self.ranked[name]:
            if left <= 0:
                break
            found += joined * min(1.0, left / size)
            left -= size
        return round(found, 6)


def rows(cuts: Sequence[Cut]) -> tuple[Row, ...]:
    """Every rule, every function, and all together, pooled over some cuts."""
    found = sorted({(one.function, one.rule) for cut in cuts for one in cut.choices})
    named = [(f"rule {rule}", ("rule", rule)) for _, rule in found]
    named += [(f"function {name}", ("function", name)) for name in sorted({f for f, _ in found})]
    return tuple(row(name, cuts, wanted) for name, wanted in (*named, (TOTAL, None)))


def row(name: str, cuts: Sequence[Cut], wanted: tuple[str, str] | None) -> Row:
    """One row of figures: of a rule, of a function, of everything."""
    chosen = [
        tuple(one for one in cut.choices if wanted is None or getattr(one, wanted[0]) == wanted[1])
        for cut in cuts
    ]
    used = [(cut, sorted({one.pool for one in own})) for cut, own in zip(cuts, chosen, strict=True)]
    pools = [cut.pools[pool] for cut, own in used for pool in own]
    possible, size = sum(each.possible for each in pools), sum(len(each.pairs) for each in pools)
    at = tuple(first(chosen, k) for k in (*CUTOFFS, most(chosen)))
    hits, candidates = round(at[-1].hits), at[-1].of
    enough = possible >= ENOUGH
    chance = lift(cuts, chosen, name)
    mean, spread = over_cuts(chosen)
    return Row(
        name=name,
        candidates=candidates,
        hits=hits,
        possible=possible,
        pool=size,
        at=at,
        recall=rate(hits, possible),
        lift=chance if enough else chance.replace(lift=None, low=None, high=None),
        note="" if enough else TOO_LITTLE,
        rivals=tuple(rival(each, cuts, chosen, chance.expected, enough=enough) for each in NAMES),
        mean_precision=mean,
        spread=spread,
    )


def most(chosen: Sequence[Sequence[Choice]]) -> int:
    """Candidates of the cut that has most."""
    return max(map(len, chosen), default=0)


def first(chosen: Sequence[Sequence[Choice]], k: int) -> At:
    """The first k of every cut together."""
    taken = [one for own in chosen for one in own[:k]]
    return at_most(k, len(taken), float(sum(one.hit for one in taken)))


def at_most(k: int, of: int, hits: float) -> At:
    """Precision of the first k."""
    return At(k=k, of=of, hits=round(hits, 4), precision=rate(hits, of))


def lift(cuts: Sequence[Cut], chosen: Sequence[Sequence[Choice]], name: str) -> Lift:
    """Hits over those of random pairs, with the interval that 1,000 draws of them give."""
    expected = sum(one.chance for own in chosen for one in own)
    hits = sum(one.hit for own in chosen for one in own)
    draws = [
        drawn(f"{cut.seed} {name}", [one.chance for one in own])
        for cut, own in zip(cuts, chosen, strict=True)
    ]
    few, many = interval([sum(each) for each in zip(*draws, strict=True)] or [0])
    return Lift(
        expected=round(expected, 6),
        lift=rate(hits, expected),
        low=rate(hits, many),
        high=rate(hits, few),
    )


def rival(
    name: str,
    cuts: Sequence[Cut],
    chosen: Sequence[Sequence[Choice]],
    expected: float,
    *,
    enough: bool,
) -> Rival:
    """A baseline, which takes of each pool as many pairs as the first k of ours did."""
    at = tuple(rivalled(name, cuts, chosen, k) for k in (*CUTOFFS, most(chosen)))
    return Rival(name=name, at=at, lift=rate(at[-1].hits, expected) if enough else None)


def rivalled(name: str, cuts: Sequence[Cut], chosen: Sequence[Sequence[Choice]], k: int) -> At:
    """The first k of a baseline."""
    hits, of = 0.0, 0
    for cut, own in zip(cuts, chosen, strict=True):
        taken = [one.pool for one in own[:k]]
        for pool in sorted(set(taken)):
            hits += cut.pools[pool].best(name, taken.count(pool))
        of += len(taken)
    return at_most(k, of, hits)


def over_cuts(chosen: Sequence[Sequence[Choice]]) -> tuple[float | None, float | None]:
    """Mean precision over the cuts that have candidates, and half of its 95 % interval."""
    found = [sum(one.hit for one in own) / len(own) for own in chosen if own]
    if not found:
        return None, None
    mean = sum(found) / len(found)
    if len(found) < 2:  # noqa: PLR2004 - one value has no spread
        return round(mean, 6), None
    variance = sum((each - mean) ** 2 for each in found) / (len(found) - 1)
    return round(mean, 6), round(Z * sqrt(variance / len(found)), 6)


def cut_report(cut: Cut) -> CutReport:
    """One T by itself."""
    then, later = cut.sides.then, cut.sides.later
    return CutReport(
        at=cut.sides.at,
        until=cut.until,
        threads=then.lineages,
        turns=len(then.turns),
        later_turns=len(later.turns) - len(then.turns),
        rows=rows((cut,)),
        silent=cut.silent,
    )


def evaluation(
    cuts: Iterable[Cut],
    horizon_days: int,
    undated: int,
    failed: tuple[Count, ...],
    recall: RecallReport,
) -> Evaluation:
    """All cuts, each by itself and pooled."""
    measured = tuple(cuts)
    return Evaluation(
        horizon_days=horizon_days,
        undated=undated,
        cuts=tuple(cut_report(cut) for cut in measured),
        pooled=rows(measured),
        met=rows([cut.widened() for cut in measured]),
        recall=recall,
        failed_checks=failed,
    )
