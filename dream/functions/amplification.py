"""What an inquiry rhymes with: undirected edges between questions, or Journeys, that never meet.

Rules: cross_thread_resonance, theme_deepening, journey_pattern_resonance (by frontiers).
"""

from collections.abc import Iterator
from typing import Final

from dream.drafting import claim, labels, make
from dream.model import Bridge, Draft, Pack, PackJourney, PackQuestion, Pair
from dream.wording import closing, day, listed, quote, share

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


def draft(pack: Pack) -> Iterator[Draft]:
    """Every draft that a rule finds in the pack, unranked."""
    for rule in (cross_thread_resonance, theme_deepening, journey_pattern_resonance):
        yield from rule(pack)


def joinable(pack: Pack) -> Iterator[tuple[Pair, PackQuestion, PackQuestion]]:
    """Question pairs of different threads, unlinked, with turns on both sides."""
    known = {question.question_id: question for question in pack.questions}
    for pair in pack.pairs:
        one, other = known.get(pair.src), known.get(pair.dst)
        apart = not (pair.is_linked or pair.same_lineage)
        if one and other and apart and pair.a and pair.b and one.cluster != other.cluster:
            yield pair, one, other


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
    """Two Journeys, both blocked or camped, whose frontiers share a specific concept."""
    known = {journey.journey_id: journey for journey in pack.journeys}
    for pair in pack.pairs:
        one, other = known.get(pair.src), known.get(pair.dst)
        named = labels(pack, pair.shared)
        apart = pair.a and pair.b and not pair.same_lineage
        if one and other and apart and named and is_stuck(one) and is_stuck(other):
            yield stopped_alike(pack, pair, one, other, named)


def is_stuck(journey: PackJourney) -> bool:
    """Whether a Journey waits."""
    return journey.is_blocked or journey.is_camped


def stops(journey: PackJourney, aliases: tuple[str, ...]) -> tuple[str, ...]:
    """Turns where a Journey stands, then others of it."""
    return (*journey.frontier_aliases, *aliases)


def stopped_alike(
    pack: Pack, pair: Pair, one: PackJourney, other: PackJourney, named: tuple[str, ...]
) -> Draft:
    """Two Journeys that stand still at the same thing, with the bridge between them."""
    text = (
        f"Both stand still at {listed(named)}: "
        f'"{quote(one.frontier, 85)}" and {closing(other.frontier, 85)}'
    )
    near = claim(
        pack, f'"{quote(one.frontier)}" stopped at {listed(named)}.', stops(one, pair.a), "a"
    )
    far = claim(
        pack, f'"{quote(other.frontier)}" stopped at {listed(named)}.', stops(other, pair.b), "b"
    )
    return make(
        pack,
        pair,
        function=NAME,
        edge="RESONATES",
        rule="journey_pattern_resonance",
        start=20,
        support=0.5 + 0.25 * share(len(pair.shared), 2),
        title=f'"{quote(one.label, 36)}" stopped like "{quote(other.label, 36)}"',
        summary=text,
        claims=(near, far),
        bridge=Bridge(
            kind="shared_blockage",
            journeys=tuple(sorted((one.journey_id, other.journey_id))),
            refs=(*near.refs, *far.refs),
            shared_pattern=f"both inquiries wait at {listed(named)}",
            possible_reason="the same thing is missing in both",
            unblock_condition=f"one of them moves on at {listed(named)}",
            falsification_cues=("one side moved for an outside reason", "only time was missing"),
        ),
    )
