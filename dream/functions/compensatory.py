"""What an inquiry is missing: edges from a thread or Journey to what it left open or never met.

Rules: approach_bias, recurring_question, unresolved_edge, blind_spot, circling, single_point,
repeated_correction, missed_source, opposite_angle. Advice-like rules start at 20 points,
pattern-like ones at 30.
"""

from collections.abc import Callable, Iterator
from math import log2
from typing import Final, Literal

from dream.drafting import claim, labels, make
from dream.model import Draft, Pack, PackFrontier, PackQuestion, Pair
from dream.wording import closing, content_words, day, listed, plural, quote, share, since

NAME: Final = "compensatory"
WANTS: Final = (
    "cycle",
    "cut_point",
    "missing_middle",
    "question_link",
    "correction",
    "frontier",
    "journey",
    "recall_miss",
)
EDGE: Final = "COMPENSATES"
RULES: Final = (
    "repeated_correction",
    "circling",
    "recurring_question",
    "single_point",
    "blind_spot",
    "approach_bias",
    "unresolved_edge",
    "missed_source",
    "opposite_angle",
)
MODEL_RULES: Final = ("emotional_balance_note",)
"""What only a model may note; it waits for a human."""
INSTRUCTIONS: Final = (
    "Say what this inquiry leaves out: a question that keeps coming back, an edge that was never "
    "tested, a concept that comes with it elsewhere and is absent here. Cite only the turns given."
)
STALE_DAYS: Final = 14
COMPANY: Final = 3
MIDDLES: Final = 2
"""Concepts and lineages that a blind spot needs, in general and between the sides of a seed."""
OFTEN: Final = 3
OFTEN_LINEAGES: Final = 2
ROUNDS: Final = 3
"""Reopens of a question that stood still, outside a cycle of threads."""
TWICE: Final = 2
ALIKE: Final = 2
PART: Final = 3
"""Nodes of a part that counts."""


def draft(pack: Pack) -> Iterator[Draft]:
    """Every draft that a rule finds in the pack, unranked."""
    found = [each for rule in DRAFTED for each in rule(pack)]
    yield from found
    # with nothing better to say, a stop of yesterday is said too
    yield from unresolved_edge(pack, STALE_DAYS if found else 0)


def edge_of(  # one place that knows which table and function these rules write
    pack: Pack,
    pair: Pair,
    rule: str,
    start: Literal[20, 30],
    support: float,
    title: str,
    text: str,
    aliases: tuple[str, ...],
    more: str = "",
) -> Draft:
    """A draft whose one claim is its summary; ``more`` is said in the summary only."""
    return make(
        pack,
        pair,
        function=NAME,
        edge="COMPENSATES",
        rule=rule,
        start=start,
        support=support,
        title=title,
        summary=text + more,
        claims=(claim(pack, text, aliases, "b"),),
    )


def questions(pack: Pack) -> Iterator[tuple[Pair, PackQuestion]]:
    """Pairs from a thread or Journey to an unresolved question that the pack knows."""
    known = {each.question_id: each for each in pack.questions}
    for pair in pack.pairs:
        asked = known.get(pair.dst)
        if pair.src_table in ("Thread", "Journey") and asked is not None and not asked.resolved:
            yield pair, asked


def recurring_question(pack: Pack) -> Iterator[Draft]:
    """Asked >= 3 times over >= 2 threads, or >= 2 times in one; never resolved."""
    for pair, asked in questions(pack):
        often = asked.askings >= OFTEN and asked.lineages >= OFTEN_LINEAGES
        # a task that is given twice in one thread was sent again
        again = asked.askings >= TWICE and asked.lineages == 1 and not asked.is_task
        newest = pair.src == asked.last_thread_id
        if newest and (often or again) and not asked.is_core:
            where = "one thread" if asked.lineages == 1 else plural(asked.lineages, "thread")
            text = (
                f'"{quote(asked.text)}": asked {plural(asked.askings, "time")} in {where}'
                f"{since(asked.first_seen)}; no later human turn says that it is settled."
            )
            yield edge_of(
                pack,
                pair,
                "recurring_question",
                30,
                share(asked.askings, 6),
                f'Keeps coming back: "{quote(asked.text, 60)}"',
                text,
                asked.aliases,
            )


def approach_bias(pack: Pack) -> Iterator[Draft]:
    """Technique without verification, and something left open: its most salient question."""
    thread = pack.thread
    if thread is None or not thread.technique or thread.verification:
        return
    if thread.frontiers < 1 and thread.open_questions < TWICE:
        return
    named = labels(pack, thread.concepts, 2)
    own = (
        (pair, asked)
        for pair, asked in questions(pack)
        # a task is done or not: that nobody tested it is no question left open
        if pair.src == thread.thread_id and thread.lineage in asked.asked_in and not asked.is_task
    )
    pair, asked = next(own, (None, None))
    if pair is None or asked is None or not named:
        return
    text = (
        f"The thread works on {listed(named)} for {plural(thread.turns, 'turn')} and leaves "
        f'"{quote(asked.text)}" unconfirmed; none of its turns speaks of a test or a measurement.'
    )
    others = f" {plural(thread.verified_elsewhere, 'other thread')} on the same did."
    yield edge_of(
        pack,
        pair,
        "approach_bias",
        20,
        0.5 * share(thread.frontiers, 3) + 0.5 * (thread.verified_elsewhere > 0),
        f'Untested edge: "{quote(asked.text, 60)}"',
        text,
        (*pair.b[:2], *pair.a),
        others if thread.verified_elsewhere else "",
    )


def unresolved_edge(pack: Pack, stale_days: int = STALE_DAYS) -> Iterator[Draft]:
    """A frontier that stood open for a fortnight, on an open question."""
    stopped = {each.question_id: each for each in reversed(pack.frontiers)}
    for pair, asked in questions(pack):
        edge = stopped.get(asked.question_id)
        here = pair.src_table == "Journey" or (edge is not None and edge.thread_id == pair.src)
        if edge is not None and here and is_stale(edge, stale_days):
            text = (
                f'"{quote(asked.text)}" was last asked {day(asked.last_seen)}, not settled since; '
                f"work stopped ({edge.type}) at: {closing(edge.clip)}"
            )
            yield edge_of(
                pack,
                pair,
                "unresolved_edge",
                20,
                share(edge.days_open or 0, 60),
                f'Left open: "{quote(asked.text, 60)}"',
                text,
                (edge.alias, *asked.aliases),
            )


def is_stale(edge: PackFrontier, days: int) -> bool:
    """Whether a frontier stood open so long; one without a date did not."""
    return edge.days_open is not None and edge.days_open >= days


def blind_spot(pack: Pack) -> Iterator[Draft]:
    """A concept that comes with three of ours in three other threads, and is absent here."""
    most = max((each.support for each in pack.absent), default=0.0)
    floor = MIDDLES if pack.focus.shape == "missing_middle" else COMPANY
    for missing in pack.absent:
        pair = next(
            each for each in pack.pairs if (each.src, each.dst) == (missing.src, missing.concept_id)
        )
        if missing.company >= floor and missing.lineages >= floor and missing.aliases:
            here = pair.src_label if pair.src_table == "Thread" else f"the Journey {pair.src_label}"
            text = (
                f'In {plural(missing.lineages, "other thread")} "{quote(missing.label, 60)}" comes '
                f"with {'at least two of ' if missing.company > MIDDLES else ''}"
                f'{listed(missing.with_concepts)}; in "{quote(here, 80)}" it does not occur.'
            )
            yield edge_of(
                pack,
                pair,
                "blind_spot",
                30,
                missing.support / most if most else 0.0,
                f'Never looked at here: "{quote(missing.label, 60)}"',
                text,
                missing.aliases,
            )


def circling(pack: Pack) -> Iterator[Draft]:
    """A cycle of threads that comes back to a question, or one reopened while it stood still."""
    in_cycle = pack.focus.shape == "cycle"
    for pair, asked in questions(pack):
        rounds = asked.askings - 1 if in_cycle else asked.reopens
        # of the threads that ask, the newest one stands for it
        here = in_cycle or pair.src_table == "Journey" or pair.src == asked.last_thread_id
        if here and rounds >= (1 if in_cycle else ROUNDS):
            again = plural(rounds, "time")
            ended = f"the last round ended {asked.ended}" if asked.ended else ""
            text = (
                f'"{quote(asked.text)}" was taken up again {again} over '
                f"{plural(asked.lineages, 'thread')}{since(asked.first_seen)}; "
                + (ended or "no human turn says that it is settled")
                + "."
            )
            yield edge_of(
                pack,
                pair,
                "circling",
                20,
                share(rounds, 6),
                f'Going round: "{quote(asked.text, 60)}"',
                text,
                asked.aliases,
            )


def single_point(pack: Pack) -> Iterator[Draft]:
    """One question or concept that alone holds two parts together."""
    if len(pack.parts) < 2:  # noqa: PLR2004 - two parts make a cut
        return
    near, far = pack.parts[:2]
    smaller = min(near, far, key=lambda part: (part.nodes, part.node))
    pair = next(each for each in pack.pairs if each.dst == smaller.node)
    if smaller.nodes >= PART and near.aliases and far.aliases:
        text = (
            f'"{quote(near.label, 90)}" and "{quote(far.label, 90)}" meet only at '
            f'"{quote(pair.src_label, 60)}"; no second path exists.'
        )
        yield make(
            pack,
            pair,
            function=NAME,
            edge="COMPENSATES",
            rule="single_point",
            start=30,
            support=log2(smaller.nodes) / 6,
            title=f'One point holds it together: "{quote(pair.src_label, 50)}"',
            summary=text,
            claims=(
                claim(pack, text, near.aliases, "a"),
                claim(pack, text, far.aliases, "b"),
            ),
        )


def repeated_correction(pack: Pack) -> Iterator[Draft]:
    """The same correction, given in at least two threads."""
    lineages = {each.lineage for each in pack.corrections}
    shared = [
        concept
        for concept in (pack.corrections[0].concepts if pack.corrections else ())
        if all(concept in each.concepts for each in pack.corrections)
    ]
    if len(lineages) < OFTEN_LINEAGES or not pack.pairs or not alike(pack, shared):
        return
    named = telling(labels(pack, shared, len(shared)), pack.corrections[-1].clip)
    if not named:
        return
    text = (
        f"A correction about {listed(named)} was given in {plural(len(lineages), 'thread')}, "
        f"last: {closing(pack.corrections[-1].clip)}"
    )
    yield edge_of(
        pack,
        pack.pairs[0],
        "repeated_correction",
        20,
        share(len(lineages), 4),
        f'Corrected before: "{quote(named[0], 60)}"',
        text,
        tuple(each.alias for each in pack.corrections),
    )


def missed_source(pack: Pack) -> Iterator[Draft]:
    """A recall needed a turn and did not bring it: where the question was answered already."""
    known = {each.question_id: each for each in pack.questions}
    for miss in pack.missed:
        for pair in pack.pairs:
            asked = known.get(pair.src)
            if (pair.src, pair.dst) == (miss.question_id, miss.thread_id) and asked is not None:
                text = (
                    f'"{quote(asked.text)}" had a turn to go by{since(miss.at)} in '
                    f'"{quote(pair.dst_label, 80)}", and a recall did not bring it in time.'
                )
                yield edge_of(
                    pack,
                    pair,
                    "missed_source",
                    20,
                    1.0,
                    f'Answered earlier than remembered: "{quote(asked.text, 50)}"',
                    text,
                    (miss.alias, *pair.a),
                )


def opposite_angle(pack: Pack) -> Iterator[Draft]:
    """A one-sided Journey, at its frontier: what was named and left."""
    side = pack.one_sided
    if side is None or not side.is_open or not side.aliases:
        return
    for pair, asked in questions(pack):
        if pair.src == side.focus and pair.src_table == "Journey" and stands_at(pack, asked):
            kept = " and ".join(SIGNS[each] for each in side.signals)
            text = (
                f'At "{quote(asked.text, 90)}" we {kept}; "{quote(side.label, 60)}" was named '
                f"{plural(side.named, 'time')} and left."
            )
            yield edge_of(
                pack,
                pair,
                "opposite_angle",
                20,
                share(len(side.signals), 4),
                f'The other side of "{quote(asked.text, 60)}"',
                text,
                (*side.aliases, *asked.aliases),
            )
            return


def stands_at(pack: Pack, asked: PackQuestion) -> bool:
    """Whether a question is the one at the frontier, else the core of a Journey."""
    fronts = {each.node for each in pack.voices if each.voice == "current_frontier"}
    return asked.question_id in fronts or (not fronts and asked.is_core)


def alike(pack: Pack, shared: list[str]) -> bool:
    """Whether corrections say the same: two common concepts, or two common words of their own."""
    said = [content_words(each.clip) for each in pack.corrections]
    return len(shared) >= ALIKE or len(frozenset.intersection(*said)) >= ALIKE


def telling(names: tuple[str, ...], clip: str) -> tuple[str, ...]:
    """The two labels that say most: of several words before one, then in the order of the clip."""
    folded = clip.casefold()
    order = sorted(names, key=lambda name: (-len(name.split()), folded.find(name.casefold())))
    return tuple(order[:2])


SIGNS: Final = {
    "trigram_persistence": "keep to steps of one kind",
    "questions_without_counter": "ask again without a word against",
    "absent_theme": "leave out what was put off",
    "corrections_at_one_angle": "pass over what was corrected",
}
"""How a sign of one-sidedness is said, after "we"."""
DRAFTED: Final[tuple[Callable[[Pack], Iterator[Draft]], ...]] = (
    repeated_correction,
    circling,
    recurring_question,
    single_point,
    blind_spot,
    approach_bias,
    missed_source,
    opposite_angle,
)
