"""What an inquiry rhymes with: undirected edges between questions, or Journeys, that never meet.

Rules: cross_thread_resonance, theme_deepening, journey_pattern_resonance (by frontiers, by arcs).
"""

from collections.abc import Iterator
from datetime import timedelta
from typing import Final, Literal

from dream.drafting import claim, labels, make
from dream.findings import Alike, Resumed
from dream.model import Bridge, Draft, Pack, PackJourney, PackQuestion, Pair
from dream.wording import closing, day, listed, quote, share
from graphstore.model.hypothesis import Claim

NAME: Final = "amplification"
WANTS: Final = ("weak_bridge", "concept_edge", "theme", "knot", "question_link", "journey")
EDGE: Final = "RESONATES"
RULES: Final = (
    "cross_thread_resonance",
    "theme_deepening",
    "journey_pattern_resonance",
)
INSTRUCTIONS: Final = (
    "Say which two questions of different threads turn on the same thing without meeting. "
    "Cite turns of both sides. Shared vocabulary alone is not enough."
)
SHARED, NEIGHBOURS = 2, 2
SITTING: Final = timedelta(hours=12)
"""Two questions asked within so long are one piece of work, and whoever asked them knows it."""
DOUBTS: Final = ("one side moved for an outside reason", "only time was missing")
"""What would speak against a bridge between two Journeys."""


def draft(pack: Pack) -> Iterator[Draft]:
    """Every draft that a rule finds in the pack, unranked."""
    for rule in (cross_thread_resonance, theme_deepening, journey_pattern_resonance):
        yield from rule(pack)


def joinable(pack: Pack) -> Iterator[tuple[Pair, PackQuestion, PackQuestion]]:
    """Question pairs of different threads, unlinked, with turns on both sides."""
    known = {question.question_id: question for question in pack.questions}
    for pair in pack.pairs:
        one, other = known.get(pair.src), known.get(pair.dst)
        if pair.is_linked or pair.same_lineage or not (one and other and pair.a and pair.b):
            continue
        if one.cluster != other.cluster and not one_sitting(one, other):
            yield pair, one, other


def one_sitting(one: PackQuestion, other: PackQuestion) -> bool:
    """Whether two questions came up hard upon each other; undated ones did not."""
    if one.first_seen is None or other.first_seen is None:
        return False
    return abs(one.first_seen - other.first_seen) < SITTING


def top_quarter(pack: Pack) -> float:
    """Smallest idf of the pack's rarest quarter of concepts."""
    found = sorted((each.idf for each in pack.concepts), reverse=True)
    return found[max(0, len(found) // 4 - 1)] if found else 0.0


def cross_thread_resonance(pack: Pack) -> Iterator[Draft]:
    """>= 2 shared specific concepts, or a rare one with >= 2 common neighbours."""
    most = max((pair.adamic_adar for pair in pack.pairs), default=0.0)
    idf = {each.concept_id: each.idf for each in pack.concepts}
    for pair, one, other in joinable(pack):
        rare = any(idf.get(each, -1.0) >= top_quarter(pack) for each in pair.shared)
        enough = len(pair.shared) >= SHARED or (rare and pair.common_neighbours >= NEIGHBOURS)
        named = labels(pack, pair.shared)
        if pair.new_concept is None and enough and named:
            support = pair.adamic_adar / most if most else 0.0
            yield rhyme(pack, pair, one, other, named, "cross_thread_resonance", support)


def theme_deepening(pack: Pack) -> Iterator[Draft]:
    """A theme's newest thread asks with a concept new to it, which another thread asks about."""
    idf = {each.concept_id: each.idf for each in pack.concepts}
    most = max(idf.values(), default=0.0)
    theme = labels(pack, (pack.focus.id,))
    for pair, one, other in joinable(pack):
        rare = idf.get(pair.new_concept or "", -1.0) >= top_quarter(pack)
        if theme and pair.new_concept is not None and rare:
            named = labels(pack, (pair.new_concept,))
            support = idf[pair.new_concept] / most if most else 0.0
            more = f" It is new to {listed(theme)}."
            yield rhyme(pack, pair, one, other, named, "theme_deepening", support, more)


def rhyme(
    pack: Pack,
    pair: Pair,
    one: PackQuestion,
    other: PackQuestion,
    named: tuple[str, ...],
    rule: str,
    support: float,
    more: str = "",
) -> Draft:
    """Two questions and what both turn on."""
    days = list(dict.fromkeys((day(one.first_seen), day(other.first_seen))))
    text = (
        f"Both turn on {listed(named)}; asked {' and '.join(days)} "
        f"in threads that never meet.{more}"
    )
    return make(
        pack,
        pair,
        function=NAME,
        edge="RESONATES",
        rule=rule,
        start=30,
        support=support,
        title=f'"{quote(one.text, 36)}" rhymes with "{quote(other.text, 36)}"',
        summary=text,
        claims=(
            claim(pack, f'"{quote(one.text)}" turns on {listed(named)}.', pair.a, "a"),
            claim(pack, f'"{quote(other.text)}" turns on {listed(named)}.', pair.b, "b"),
        ),
    )


def journey_pattern_resonance(pack: Pack) -> Iterator[Draft]:
    """Two Journeys that stand still at the same thing, or whose routes resonate."""
    known = {journey.journey_id: journey for journey in pack.journeys}
    routes = {(each.src, each.dst): each for each in pack.alike}
    for pair in pack.pairs:
        one, other = known.get(pair.src), known.get(pair.dst)
        if one and other and pair.a and pair.b and not pair.same_lineage:
            if (found := stopped(pack, pair, one, other)) is not None:
                yield found
            elif (like := routes.get((pair.src, pair.dst))) is not None:
                yield rhyming_routes(pack, pair, one, other, like)


def is_stuck(journey: PackJourney) -> bool:
    """Whether a Journey waits."""
    return journey.is_blocked or journey.is_camped


def stops(journey: PackJourney, aliases: tuple[str, ...]) -> tuple[str, ...]:
    """Turns where a Journey stands, then others of it."""
    return (*journey.frontier_aliases, *aliases)


def stopped(pack: Pack, pair: Pair, one: PackJourney, other: PackJourney) -> Draft | None:
    """One waits at what the other waits at, or at what the other went on from."""
    named = labels(pack, pair.shared)
    went_on = {each.journey_id: each for each in pack.resumed}
    if not named or not (is_stuck(one) or is_stuck(other)):
        return None
    if is_stuck(one) and is_stuck(other):
        return stopped_alike(pack, pair, one, other, named)
    moved = went_on.get(other.journey_id if is_stuck(one) else one.journey_id)
    return None if moved is None else unblocked(pack, pair, (one, other), named, moved)


def bridge_of(
    kind: Literal["shared_unblock_condition", "shared_blockage", "counterpath", "frontier_rhyme"],
    claims: tuple[Claim, Claim],
    pair: Pair,
    pattern: str,
    reason: str,
    condition: str,
) -> Bridge:
    """A bridge between the two Journeys of a pair, resting on the turns of both claims."""
    near, far = claims
    return Bridge(
        kind=kind,
        journeys=tuple(sorted((pair.src, pair.dst))),
        refs=(*near.refs, *far.refs),
        shared_pattern=pattern,
        possible_reason=reason,
        unblock_condition=condition,
        falsification_cues=DOUBTS,
    )


def like(
    pack: Pack,
    pair: Pair,
    support: float,
    title: str,
    summary: str,
    claims: tuple[Claim, Claim],
    bridge: Bridge,
) -> Draft:
    """Two Journeys, and the bridge between them."""
    return make(
        pack,
        pair,
        function=NAME,
        edge="RESONATES",
        rule="journey_pattern_resonance",
        start=20,
        support=support,
        title=title,
        summary=summary,
        claims=claims,
        bridge=bridge,
    )


def stopped_alike(
    pack: Pack, pair: Pair, one: PackJourney, other: PackJourney, named: tuple[str, ...]
) -> Draft:
    """Two Journeys that stand still at the same thing."""
    text = (
        f"Both stand still at {listed(named)}: "
        f'"{quote(one.frontier, 85)}" and {closing(other.frontier, 85)}'
    )
    claims = (
        claim(
            pack, f'"{quote(one.frontier)}" stopped at {listed(named)}.', stops(one, pair.a), "a"
        ),
        claim(
            pack,
            f'"{quote(other.frontier)}" stopped at {listed(named)}.',
            stops(other, pair.b),
            "b",
        ),
    )
    return like(
        pack,
        pair,
        0.5 + 0.25 * share(len(pair.shared), 2),
        f'"{quote(one.label, 36)}" stopped like "{quote(other.label, 36)}"',
        text,
        claims,
        bridge_of(
            "shared_blockage",
            claims,
            pair,
            f"both inquiries wait at {listed(named)}",
            "the same thing is missing in both",
            f"one of them moves on at {listed(named)}",
        ),
    )


def unblocked(
    pack: Pack,
    pair: Pair,
    journeys: tuple[PackJourney, PackJourney],
    named: tuple[str, ...],
    moved: Resumed,
) -> Draft:
    """One waits where the other, blocked once too, went on: what it went on with."""
    one, other = journeys
    free, held = (one, other) if one.journey_id == moved.journey_id else (other, one)
    text = (
        f'"{quote(held.label, 50)}" waits at {listed(named)}; "{quote(free.label, 50)}" was '
        f"blocked there too and went on with: {closing(moved.clip)}"
    )
    sides = {
        free.journey_id: (
            f'"{quote(free.label, 60)}" went on with: {closing(moved.clip)}',
            (moved.alias, *(pair.a if free is one else pair.b)),
        ),
        held.journey_id: (
            f'"{quote(held.frontier)}" waits at {listed(named)}.',
            stops(held, pair.a if held is one else pair.b),
        ),
    }
    claims = (
        claim(pack, *sides[one.journey_id], "a"),
        claim(pack, *sides[other.journey_id], "b"),
    )
    return like(
        pack,
        pair,
        0.5 + 0.25 * share(len(pair.shared), 2),
        f'What freed "{quote(free.label, 30)}" may free "{quote(held.label, 30)}"',
        text,
        claims,
        bridge_of(
            "shared_unblock_condition",
            claims,
            pair,
            f"both inquiries came to a stop at {listed(named)}",
            "what was missing in one may be missing in the other",
            quote(moved.clip),
        ),
    )


def rhyming_routes(
    pack: Pack, pair: Pair, one: PackJourney, other: PackJourney, alike: Alike
) -> Draft:
    """Two Journeys of no common thread that took steps of the same kind in the same order."""
    across = " and stand now at opposite ends" if alike.opposite else ""
    text = (
        f"Both took steps of the same kind in the same order{across} (likeness {alike.score:.2f}, "
        f'arcs alone): "{quote(one.frontier, 70)}" and {closing(other.frontier, 70)}'
    )
    claims = (
        claim(pack, f"One came to: {closing(one.frontier)}", stops(one, pair.a), "a"),
        claim(pack, f"The other came to: {closing(other.frontier)}", stops(other, pair.b), "b"),
    )
    return like(
        pack,
        pair,
        alike.score,
        f'"{quote(one.label, 36)}" moves like "{quote(other.label, 36)}"',
        text,
        claims,
        bridge_of(
            "counterpath" if alike.opposite else "frontier_rhyme",
            claims,
            pair,
            "steps of the same kind in the same order",
            "the two inquiries may be at the same point of their way",
            "what moves one of them is tried in the other",
        ),
    )
