"""How rules word a draft: one constructor, so that every draft has all it needs."""

from datetime import datetime
from typing import Literal

from dream.gathering import quote
from dream.model import Draft, Pack, Pair, Side
from graphstore.model.hypothesis import Claim

TITLE, SUMMARY = 90, 400
REFS_PER_SIDE, CUES = 4, 6


def share(count: float, of: int) -> float:
    """S(x, k) = min(x, k) / k."""
    return min(count, of) / of


def plural(count: int, noun: str) -> str:
    """``1 thread``, ``3 threads``."""
    return f"{count} {noun}" + ("" if count == 1 else "s")


def day(moment: datetime | None) -> str:
    """A date, or that it is unknown."""
    return moment.date().isoformat() if moment else "an unknown day"


def claim(text: str, aliases: tuple[str, ...], side: Side) -> Claim:
    """One sentence and at most four turns it rests on."""
    return Claim(text=text, side=side, refs=tuple(dict.fromkeys(aliases))[:REFS_PER_SIDE])


def make(
    pack: Pack,
    pair: Pair,
    *,
    function: str,
    edge: Literal["COMPENSATES", "ANTICIPATES", "RESONATES", "IMAGINES"],
    rule: str,
    start: Literal[20, 30],
    support: float,
    title: str,
    summary: str,
    claims: tuple[Claim, ...],
) -> Draft:
    """A draft of one rule on one pair, with cues, counter-evidence and why it is no fact."""
    cited = {alias for each in claims for alias in each.refs}
    return Draft(
        function=function,
        rule=rule,
        edge=edge,
        mode="replay",
        src_table=pair.src_table,
        src=pair.src,
        dst_table=pair.dst_table,
        dst=pair.dst,
        title=quote(title, TITLE),
        summary=quote(summary, SUMMARY),
        claims=claims,
        counter=pair.counter,
        cues=cues(pack, pair, cited),
        why_not_fact=(
            f"Derived from {plural(len(cited), 'turn')} by rule {rule}; no turn states it."
        ),
        next_check="source_reopen_check",
        start=start,
        support=round(min(1.0, support), 6),
    )


def cues(pack: Pack, pair: Pair, cited: set[str]) -> tuple[str, ...]:
    """Labels of specific concepts: what the pair shares, then what the cited turns mention."""
    names = {each.concept_id: each.label for each in pack.concepts}
    mentioned = [each.concept_id for each in pack.concepts if cited.intersection(each.aliases)]
    ends = (pair.dst,) if pair.dst_table == "Concept" else ()
    order = dict.fromkeys((*ends, *pair.shared, *mentioned))
    return tuple(names[each] for each in order if each in names)[:CUES]
