"""How rules word a draft: one constructor, so that every draft has all it needs."""

from collections.abc import Iterable
from typing import Final, Literal

from dream.findings import Voice
from dream.model import Artifact, Bridge, Draft, Invitation, Pack, Pair, Side
from dream.wording import cut, plural, quote
from graphstore.model.hypothesis import Claim

TITLE, SUMMARY = 90, 400
REFS_PER_SIDE, CUES = 4, 6
ARTIFACT: Final = 520
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
    artifact: Artifact | None = None,
    voices: tuple[Voice, ...] = (),
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
        artifact=artifact,
        voices=voices,
        atmosphere=atmosphere(pack, pair),
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


def atmosphere(pack: Pack, pair: Pair) -> tuple[str, ...]:
    """Where a Journey stands among the arcs, and what lies across: a direction only."""
    side = pack.one_sided
    if side is None or side.focus != pair.src or side.arc is None:
        return ()
    return (f"arc:{side.arc}", f"across:{side.opposite}")


def artifact(
    kind: Literal["question", "prompt", "outline", "probe"],
    use: Literal["foreground_probe", "source_reopen_check", "planning_seed"],
    text: str,
    refs: tuple[str, ...],
    pair: Pair,
    when_not_to_use: str,
) -> Artifact:
    """A text that rides on a draft, with what speaks against the pair."""
    return Artifact(
        kind=kind,
        use=use,
        text=cut(text, ARTIFACT),
        refs=refs,
        counter=tuple(dict.fromkeys(alias for each in pair.counter for alias in each.refs)),
        when_not_to_use=when_not_to_use,
    )
