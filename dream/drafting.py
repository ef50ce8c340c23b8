"""How rules word a draft: one constructor, so that every draft has all it needs."""

from collections.abc import Iterable
from typing import Final, Literal

from dream.model import Bridge, Draft, Invitation, Pack, Pair, Side
from dream.wording import cut, plural, quote
from graphstore.model.hypothesis import Claim

TITLE, SUMMARY = 90, 400
REFS_PER_SIDE, CUES = 4, 6
CHECKED: Final[dict[str, Literal["source_reopen_check", "user_probe", "retrospective_check"]]] = {
    "COMPENSATES": "source_reopen_check",
    "RESONATES": "source_reopen_check",
    "ANTICIPATES": "retrospective_check",
    "IMAGINES": "user_probe",
}
"""How a waking mind finds out: read again, ask the owner, or wait for later turns."""


def claim(pack: Pack, text: str, aliases: Iterable[str], side: Side) -> Claim:
    """One sentence and at most four turns it rests on: one of each lineage before a second."""
    lineage = {turn.alias: turn.lineage for turn in pack.turns}
    seen: dict[str, int] = {}
    places = []
    for place, alias in enumerate(dict.fromkeys(aliases)):
        home = lineage[alias]
        places.append((seen.get(home, 0), place, alias))
        seen[home] = seen.get(home, 0) + 1
    kept = sorted(sorted(places)[:REFS_PER_SIDE], key=lambda each: each[1])
    return Claim(text=text, side=side, refs=tuple(alias for _, _, alias in kept))


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
    bridge: Bridge | None = None,
    invitation: Invitation | None = None,
) -> Draft:
    """A draft of one rule on one pair, with cues, counter-evidence and why it is no fact."""
    cited = {alias for each in claims for alias in each.refs}
    return Draft(
        function=function,
        rule=rule,
        edge=edge,
        mode="creative" if edge == "IMAGINES" else "replay",
        src_table=pair.src_table,
        src=pair.src,
        dst_table=pair.dst_table,
        dst=pair.dst,
        title=cut(title, TITLE),
        summary=cut(summary, SUMMARY),
        claims=claims,
        counter=pair.counter,
        cues=cues(pack, pair, cited),
        why_not_fact=(
            f"Derived from {plural(len(cited), 'turn')} by rule {rule}; no turn states it."
        ),
        next_check=CHECKED[edge],
        start=start,
        support=round(min(1.0, support), 6),
        bridge=bridge,
        invitation=invitation,
    )


def cues(pack: Pack, pair: Pair, cited: set[str]) -> tuple[str, ...]:
    """Labels of specific concepts: what the pair shares, then what the cited turns mention."""
    names = {each.concept_id: each.label for each in pack.concepts}
    mentioned = [each.concept_id for each in pack.concepts if cited.intersection(each.aliases)]
    ends = (pair.dst,) if pair.dst_table == "Concept" else ()
    order = dict.fromkeys((*ends, *pair.shared, *mentioned))
    return tuple(quote(names[each], 60) for each in order if each in names)[:CUES]


def labels(pack: Pack, concepts: Iterable[str], most: int = 3) -> tuple[str, ...]:
    """Labels of the first concepts that the pack names."""
    names = {each.concept_id: each.label for each in pack.concepts}
    return tuple(names[each] for each in concepts if each in names)[:most]
