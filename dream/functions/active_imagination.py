"""What could join two things that nobody joined: a sandbox, whose edges are tried and not trusted.

Rules: bridge_concept, question_not_yet_asked, synthesis_hypothesis. What rests on one thread is
drafted too and always waits, as a probe.
"""

from collections.abc import Callable, Iterator
from typing import Final, Literal

from dream.drafting import artifact, claim, labels, make
from dream.findings import Middle, Voice
from dream.model import Artifact, Draft, Pack, PackQuestion, Pair
from dream.policies import spread
from dream.wording import closing, day, listed, plural, quote, share
from graphstore.model.hypothesis import Claim

NAME: Final = "active_imagination"
WANTS: Final = (
    "knot",
    "abandoned_direction",
    "rejected_route",
    "self_correction",
    "affect",
    "missing_middle",
)
EDGE: Final = "IMAGINES"
RULES: Final = ("bridge_concept", "question_not_yet_asked", "synthesis_hypothesis")
INSTRUCTIONS: Final = (
    "Imagine what could join two things of different threads that nobody joined: a concept "
    "between them, a question not yet asked, two questions that may be one. Say what speaks "
    "against it. Cite turns of both sides."
)
SHARED: Final = 2
VOICES: Final = 3
PROPOSALS: Final = 2
PROBE_REFS: Final = 3


def draft(pack: Pack) -> Iterator[Draft]:
    """Every draft that a rule finds in the pack, unranked."""
    for rule in DRAFTED:
        yield from rule(pack)


def imagined(
    pack: Pack,
    pair: Pair,
    rule: str,
    start: Literal[20, 30],
    support: float,
    title: str,
    text: str,
    claims: tuple[Claim, ...],
    carried: Artifact,
    voices: tuple[Voice, ...] = (),
) -> Draft:
    """A draft of this function, with the artifact that rides on it."""
    return make(
        pack,
        pair,
        function=NAME,
        edge="IMAGINES",
        rule=rule,
        start=start,
        support=support,
        title=title,
        summary=text,
        claims=claims,
        artifact=carried,
        voices=voices,
    )


def bridge_concept(pack: Pack) -> Iterator[Draft]:
    """Two concepts that never meet, and the concept of fewest links that meets both."""
    most = max((each.weight for each in pack.middles), default=0.0)
    for pair in pack.pairs:
        between = [each for each in pack.middles if (each.src, each.dst) == (pair.src, pair.dst)]
        told = (each for each in between if each.a and each.b)
        middle = min(told, key=lambda each: (-each.weight, each.concept_id), default=None)
        if middle is not None and not pair.is_linked:
            yield bridged(pack, pair, middle, middle.weight / most)


def bridged(pack: Pack, pair: Pair, middle: Middle, support: float) -> Draft:
    """One concept between two."""
    near, far, label = (quote(each, 60) for each in (pair.src_label, pair.dst_label, middle.label))
    claims = (
        claim(pack, f'"{near}" comes with "{label}".', middle.a, "a"),
        claim(pack, f'"{far}" comes with "{label}".', middle.b, "b"),
    )
    text = (
        f'"{near}" and "{far}" never meet in a thread; each of them comes with "{label}". '
        "It may be what joins them."
    )
    return imagined(
        pack,
        pair,
        "bridge_concept",
        30,
        support,
        f'Missing between "{quote(near, 22)}" and "{quote(far, 22)}": "{quote(label, 22)}"?',
        text,
        claims,
        artifact(
            "probe",
            "planning_seed",
            f'What does "{label}" do to "{near}", and does the same hold for "{far}"?',
            (*claims[0].refs, *claims[1].refs),
            pair,
            f'when "{label}" means something else on the two sides',
        ),
    )


def known_pairs(pack: Pack) -> Iterator[tuple[Pair, PackQuestion, PackQuestion]]:
    """Question pairs that nothing links, of different clusters, with turns on both sides."""
    known = {each.question_id: each for each in pack.questions}
    for pair in pack.pairs:
        one, other = known.get(pair.src), known.get(pair.dst)
        apart = pair.src < pair.dst and not pair.is_linked and pair.a and pair.b
        if one and other and apart and one.cluster != other.cluster:
            yield pair, one, other


def question_not_yet_asked(pack: Pack) -> Iterator[Draft]:
    """A question that is open and one that was settled elsewhere, on two common concepts."""
    for pair, one, other in known_pairs(pack):
        named = labels(pack, pair.shared)
        if one.resolved is not other.resolved and len(named) >= SHARED and not pair.same_lineage:
            still, settled = (other, one) if one.resolved else (one, other)
            yield unasked(pack, pair, still, settled, named)


def unasked(
    pack: Pack, pair: Pair, still: PackQuestion, settled: PackQuestion, named: tuple[str, ...]
) -> Draft:
    """Whether what settled one question settles the other."""
    turns = {pair.src: pair.a, pair.dst: pair.b}
    sides: dict[str, Literal["a", "b"]] = {pair.src: "a", pair.dst: "b"}
    ask = (
        f'Does what settled "{quote(settled.text, 110)}" ({day(settled.settled_at)}) also settle '
        f'"{quote(still.text, 110)}"?'
    )
    spoken = listed(named)
    claims = tuple(
        sorted(
            (
                claim(
                    pack,
                    f'"{quote(still.text)}" is open and turns on {spoken}.',
                    turns[still.question_id],
                    sides[still.question_id],
                ),
                claim(
                    pack,
                    f'"{quote(settled.text)}" was settled and turns on {spoken}.',
                    (*settled.answers, *turns[settled.question_id]),
                    sides[settled.question_id],
                ),
            ),
            key=lambda each: each.side,
        )
    )
    return imagined(
        pack,
        pair,
        "question_not_yet_asked",
        20,
        share(len(pair.shared), 4),
        f'Does the answer to "{quote(settled.text, 25)}" also settle "{quote(still.text, 25)}"?',
        f"{ask} Both turn on {spoken}; nobody asked this.",
        claims,
        artifact(
            "question",
            "foreground_probe",
            ask,
            tuple(ref for each in claims for ref in each.refs),
            pair,
            "when the open question was settled or dropped meanwhile",
        ),
    )


def synthesis_hypothesis(pack: Pack) -> Iterator[Draft]:
    """Three voices with two proposals for one frontier: two of the questions may be one."""
    proposed = {each.node for each in pack.voices}
    if len(pack.voices) < VOICES or len(proposed) < PROPOSALS:
        return
    for pair, one, other in known_pairs(pack):
        named = labels(pack, pair.shared)
        told = {pair.src, pair.dst} <= proposed and not pair.same_lineage
        # one common word makes two questions neighbours, not one
        if told and len(named) >= SHARED:
            yield joined(pack, pair, (one, other), named)
            return


def joined(
    pack: Pack,
    pair: Pair,
    questions: tuple[PackQuestion, PackQuestion],
    named: tuple[str, ...],
) -> Draft:
    """Two questions that may be one, with the voices that propose them."""
    near, far = (quote(each.text) for each in questions)
    names = {each.voice.replace("_", " "): None for each in pack.voices}
    text = (
        f'"{quote(near, 100)}" and "{quote(far, 100)}" may be one question. '
        f"Both turn on {listed(named)}. {plural(len(pack.voices), 'voice')} speak here: "
        f"{', '.join(names)}."
    )
    claims = (
        claim(pack, f"Here it is asked: {closing(near)}", pair.a, "a"),
        claim(pack, f"There it is asked: {closing(far)}", pair.b, "b"),
    )
    return imagined(
        pack,
        pair,
        "synthesis_hypothesis",
        20,
        spread(len(pack.voices), len({each.node for each in pack.voices}), pack.lineages),
        f'"{quote(near, 32)}" and "{quote(far, 32)}" may be one question',
        text,
        claims,
        artifact(
            "outline",
            "planning_seed",
            f'Put as one: what would answer both "{quote(near, 200)}" and "{quote(far, 200)}"?',
            (*claims[0].refs, *claims[1].refs),
            pair,
            "when the two are settled by different turns",
        ),
        pack.voices,
    )


def single_thread_probe(pack: Pack) -> Iterator[Draft]:
    """In one thread: two open questions that may be one. Drafted to wait, never to land."""
    if pack.readiness != "single_thread":
        return
    for pair, one, other in known_pairs(pack):
        turns, named = {*pair.a, *pair.b}, labels(pack, pair.shared)
        if len(turns) >= PROBE_REFS and len(named) >= SHARED:
            yield joined(pack, pair, (one, other), named)
            return


DRAFTED: Final[tuple[Callable[[Pack], Iterator[Draft]], ...]] = (
    bridge_concept,
    question_not_yet_asked,
    synthesis_hypothesis,
    single_thread_probe,
)
