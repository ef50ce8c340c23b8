"""What may come, if this goes on: edges to what a Journey or a theme moves towards.

Rules: emergence_signal, pre_articulation_marker, trajectory_hint, revive_signal. A hypothesis,
never a prediction: every draft says "if", and later turns decide.
"""

from collections.abc import Callable, Iterator
from typing import Final

from dream.drafting import claim, make
from dream.findings import Walked
from dream.model import Draft, Invitation, Pack, PackJourney, Pair
from dream.wording import closing, content_words, listed, plural, quote, share

NAME: Final = "prospective"
WANTS: Final = ("island", "journey", "frontier", "uncertainty", "process_note")
EDGE: Final = "ANTICIPATES"
RULES: Final = (
    "emergence_signal",
    "pre_articulation_marker",
    "trajectory_hint",
    "revive_signal",
)
INSTRUCTIONS: Final = (
    "Say what this inquiry may come to if it goes on as it does, as a hypothesis and never as a "
    "prediction. Name what speaks against it. Cite only the turns given."
)
NAMED: Final = 3
WORDS: Final = 2
"""Common words of an island's question and one outside."""


def draft(pack: Pack) -> Iterator[Draft]:
    """Every draft that a rule finds in the pack, unranked."""
    for rule in DRAFTED:
        yield from rule(pack)


def joining(pack: Pack, src: str, dst: str) -> Iterator[Pair]:
    """The pair of two nodes, when both sides have turns and nothing links them."""
    for pair in pack.pairs:
        if (pair.src, pair.dst) == (src, dst) and pair.a and pair.b and not pair.is_linked:
            yield pair


def emergence_signal(pack: Pack) -> Iterator[Draft]:
    """Two concepts that no thread holds together, with more between them than a month ago."""
    most = max((each.support for each in pack.growing), default=0.0)
    for grown in pack.growing:
        for pair in joining(pack, grown.src, grown.dst):
            near, far = quote(pair.src_label, 60), quote(pair.dst_label, 60)
            joins = listed(grown.between)
            text = (
                f'If this goes on, "{near}" and "{far}" may meet: {grown.now} things join them '
                f"now, {grown.before} a month before; the newest: {joins}. No thread names both."
            )
            yield make(
                pack,
                pair,
                function=NAME,
                edge="ANTICIPATES",
                rule="emergence_signal",
                start=30,
                support=grown.support / most if most else 0.0,
                title=f'Drawing together: "{quote(near, 32)}" and "{quote(far, 32)}"',
                summary=text,
                claims=(
                    claim(pack, f'"{near}" comes with {joins}.', pair.a, "a"),
                    claim(pack, f'"{far}" comes with {joins}.', pair.b, "b"),
                ),
            )


def leaving_the_island(pack: Pack) -> Iterator[Draft]:
    """A question of an island and one outside that speaks of the same."""
    if pack.focus.shape != "island":
        return
    known = {each.question_id for each in pack.questions}
    for pair in pack.pairs:
        words = content_words(pair.src_label) & content_words(pair.dst_label)
        apart = pair.a and pair.b and not (pair.is_linked or pair.same_lineage)
        if {pair.src, pair.dst} <= known and apart and len(words) >= WORDS:
            near, far = quote(pair.src_label), quote(pair.dst_label)
            common = listed(tuple(sorted(words))[:NAMED])
            yield make(
                pack,
                pair,
                function=NAME,
                edge="ANTICIPATES",
                rule="emergence_signal",
                start=30,
                support=share(len(words), 4),
                title=f'May leave its island: "{quote(near, 60)}"',
                summary=(
                    f'Nothing ties "{near}" to the rest. If this goes on, it may meet "{far}": '
                    f"both say {common}."
                ),
                claims=(
                    claim(pack, f'"{near}" says {common}.', pair.a, "a"),
                    claim(pack, f'"{far}" says {common}.', pair.b, "b"),
                ),
            )


def pre_articulation_marker(pack: Pack) -> Iterator[Draft]:
    """Three concepts that recent threads join two by two, and that no thread names together."""
    most = max((each.weight for each in pack.unspoken), default=0.0)
    for theme in pack.unspoken:
        for pair in joining(pack, theme.question, theme.concept_id):
            three = (theme.label, *theme.with_concepts)
            text = (
                f"If this goes on, {listed(three)} may become one theme: "
                f"{plural(theme.lineages, 'thread')} of the last two months join them in pairs, "
                "none names all three."
            )
            yield make(
                pack,
                pair,
                function=NAME,
                edge="ANTICIPATES",
                rule="pre_articulation_marker",
                start=30,
                support=theme.weight / most if most else 0.0,
                title=f'Not yet said: {listed(three[:2])}, from "{quote(pair.src_label, 30)}"',
                summary=text,
                claims=(
                    claim(
                        pack,
                        f'"{quote(pair.src_label)}" speaks of {listed(theme.with_concepts)}.',
                        pair.a,
                        "a",
                    ),
                    claim(pack, text, theme.aliases or pair.b, "b"),
                ),
            )


def trajectory_hint(pack: Pack) -> Iterator[Draft]:
    """Where the walk from a Journey's frontier leads most often."""
    known = {each.journey_id: each for each in pack.journeys}
    for target in pack.walked:
        journey = known.get(target.src)
        for pair in joining(pack, target.src, target.dst):
            if journey is not None and target.through:
                yield hint(pack, pair, journey, target)


def hint(pack: Pack, pair: Pair, journey: PackJourney, target: Walked) -> Draft:
    """One target of the walk, with what lies between and a question that may be put."""
    stands, label = quote(journey.frontier, 90), quote(target.label, 90)
    way = listed(target.through)
    text = (
        f'If this goes on, the inquiry at "{stands}" may come to "{label}": '
        f"{target.walks} of 64 walks from there pass by way of {way}."
    )
    near = claim(
        pack,
        f'"{quote(journey.core_inquiry)}" speaks of {way}.',
        (*journey.frontier_aliases, *pair.a),
        "a",
    )
    far = claim(pack, f'"{label}" comes with {way}.', pair.b, "b")
    return make(
        pack,
        pair,
        function=NAME,
        edge="ANTICIPATES",
        rule="trajectory_hint",
        start=20,
        support=target.share,
        title=f'May come next: "{quote(target.label, 70)}"',
        summary=text,
        claims=(near, far),
        invitation=Invitation(
            type="prospective_open",
            triggers=target.through,
            opening=f'Does "{label}" belong to what we ask in "{quote(journey.label, 60)}"?',
            refs=far.refs,
            days=pack.invitation_days,
        ),
    )


def revive_signal(pack: Pack) -> Iterator[Draft]:
    """A Journey that rests while later threads touch what it was about."""
    known = {each.journey_id: each for each in pack.journeys}
    asked = {each.question_id: each for each in pack.questions}
    for signal in pack.revivals:
        journey = known.get(signal.journey_id)
        resting = journey is not None and (journey.is_camped or journey.is_abandoned)
        pairs = (each for each in pack.pairs if each.src == signal.journey_id and each.a)
        pair = next((each for each in pairs if each.dst in asked), None)
        if journey is not None and resting and pair is not None and signal.aliases:
            named, question = listed(signal.concepts), quote(pair.dst_label)
            text = (
                f'"{quote(journey.label, 60)}" rests; {plural(signal.lineages, "later thread")} '
                f'came back to {named}. If this goes on, "{question}" may be taken up again.'
            )
            later = claim(pack, f"Later turns speak of {named}.", signal.aliases, "b")
            yield make(
                pack,
                pair,
                function=NAME,
                edge="ANTICIPATES",
                rule="revive_signal",
                start=20,
                support=share(signal.lineages, 4),
                title=f'May wake again: "{quote(question, 65)}"',
                summary=text,
                claims=(
                    claim(pack, f"{closing(journey.core_inquiry)} rests.", pair.a, "a"),
                    later,
                ),
                invitation=Invitation(
                    type="source_reopen_first",
                    triggers=signal.concepts,
                    opening=f'Is "{question}" still open?',
                    refs=later.refs,
                    days=pack.invitation_days,
                ),
            )


DRAFTED: Final[tuple[Callable[[Pack], Iterator[Draft]], ...]] = (
    emergence_signal,
    leaving_the_island,
    pre_articulation_marker,
    trajectory_hint,
    revive_signal,
)
