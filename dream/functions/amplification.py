"""What an inquiry rhymes with: undirected edges between questions, or Journeys, that never meet.

Rules: cross_thread_resonance, theme_deepening, journey_pattern_resonance (by frontiers).
"""

from collections.abc import Iterator
from typing import Final

from dream.drafting import claim, day, make, share
from dream.gathering import quote
from dream.model import Draft, Pack, PackQuestion, Pair

NAME: Final = "amplification"
WANTS: Final = ("weak_bridge", "question_link", "theme", "journey")
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
NEIGHBOURS: Final = 2


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


def labels(pack: Pack, concepts: tuple[str, ...]) -> tuple[str, ...]:
    """Labels of the first three concepts that the pack names."""
    names = {each.concept_id: each.label for each in pack.concepts}
    return tuple(names[each] for each in concepts if each in names)[:3]


def top_quarter(pack: Pack) -> float:
    """Smallest idf of the pack's rarest quarter of concepts."""
    found = sorted((each.idf for each in pack.concepts), reverse=True)
    return found[max(0, len(found) // 4 - 1)] if found else 0.0


def cross_thread_resonance(pack: Pack) -> Iterator[Draft]:
    """>= 2 shared specific concepts, or a rare one with >= 2 common neighbours."""
    most = max((pair.adamic_adar for pair in pack.pairs), default=0.0)
    idf = {each.concept_id: each.idf for each in pack.concepts}
    for pair, one, other in joinable(pack):
        rare = any(idf.get(each, 0.0) >= top_quarter(pack) for each in pair.shared)
        enough = len(pair.shared) >= 2 or (rare and pair.common_neighbours >= NEIGHBOURS)  # noqa: PLR2004
        named = labels(pack, pair.shared)
        if pair.new_concept is None and enough and named:
            yield rhyme(
                pack,
                pair,
                one,
                other,
                named,
                "cross_thread_resonance",
                pair.adamic_adar / most if most else 0.0,
            )


def theme_deepening(pack: Pack) -> Iterator[Draft]:
    """A theme's newest thread brings a concept that another thread discusses."""
    idf = {each.concept_id: each.idf for each in pack.concepts}
    most = max(idf.values(), default=0.0)
    for pair, one, other in joinable(pack):
        if pair.new_concept is not None and pair.new_concept in idf:
            named = labels(pack, (pair.new_concept, *pair.shared))
            yield rhyme(
                pack,
                pair,
                one,
                other,
                named,
                "theme_deepening",
                idf[pair.new_concept] / most if most else 0.0,
            )


def rhyme(
    pack: Pack,
    pair: Pair,
    one: PackQuestion,
    other: PackQuestion,
    named: tuple[str, ...],
    rule: str,
    support: float,
) -> Draft:
    """Two questions and what both turn on."""
    turn_on = ", ".join(f'"{label}"' for label in named)
    text = (
        f"Both turn on {turn_on}; asked {day(one.first_seen)} and {day(other.first_seen)} "
        "in threads that never meet."
    )
    return make(
        pack,
        pair,
        function=NAME,
        edge=EDGE,
        rule=rule,
        start=30,
        support=support,
        title=f'"{quote(one.text, 38)}" rhymes with "{quote(other.text, 38)}"',
        summary=text,
        claims=(
            claim(f'"{quote(one.text)}" turns on {turn_on}.', pair.a, "a"),
            claim(f'"{quote(other.text)}" turns on {turn_on}.', pair.b, "b"),
        ),
    )


def journey_pattern_resonance(pack: Pack) -> Iterator[Draft]:
    """Two Journeys, both blocked or camped, whose frontiers share a specific concept."""
    known = {journey.journey_id: journey for journey in pack.journeys}
    for pair in pack.pairs:
        one, other = known.get(pair.src), known.get(pair.dst)
        if one is None or other is None or not (pair.a and pair.b) or not pair.shared:
            continue
        if (one.is_blocked or one.is_camped) and (other.is_blocked or other.is_camped):
            turn_on = ", ".join(f'"{label}"' for label in labels(pack, pair.shared))
            if turn_on:
                text = f'Both stopped at {turn_on}: "{quote(one.frontier)}" and "{quote(other.frontier)}".'
                yield make(
                    pack,
                    pair,
                    function=NAME,
                    edge=EDGE,
                    rule="journey_pattern_resonance",
                    start=20,
                    support=0.5 + 0.25 * share(len(pair.shared), 2),
                    title=f'"{quote(one.label, 38)}" stopped like "{quote(other.label, 38)}"',
                    summary=quote(text, 400),
                    claims=(
                        claim(f'"{quote(one.frontier)}" stopped at {turn_on}.', pair.a, "a"),
                        claim(f'"{quote(other.frontier)}" stopped at {turn_on}.', pair.b, "b"),
                    ),
                )
