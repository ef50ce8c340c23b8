"""What an inquiry is missing: edges from a thread or Journey to what it left open or never met.

Rules: approach_bias, recurring_question, unresolved_edge, blind_spot, circling, single_point,
repeated_correction. Advice-like rules start at 20 points, pattern-like ones at 30.
"""

from collections.abc import Iterator
from math import log2
from typing import Final

from dream.drafting import claim, day, make, plural, share
from dream.gathering import quote
from dream.model import Draft, Pack, PackQuestion, Pair

NAME: Final = "compensatory"
WANTS: Final = ("cycle", "cut_point", "missing_middle", "question_link", "frontier", "correction")
EDGE: Final = "COMPENSATES"
RULES: Final = (
    "approach_bias",
    "recurring_question",
    "unresolved_edge",
    "blind_spot",
    "circling",
    "single_point",
    "repeated_correction",
)
INSTRUCTIONS: Final = (
    "Say what this inquiry leaves out: a question that keeps coming back, an edge that was never "
    "tested, a concept that comes with it elsewhere and is absent here. Cite only the turns given."
)
STALE_DAYS: Final = 14
MIDDLES: Final = 2


def draft(pack: Pack) -> Iterator[Draft]:
    """Every draft that a rule finds in the pack, unranked."""
    for rule in (
        repeated_correction,
        circling,
        recurring_question,
        single_point,
        blind_spot,
        approach_bias,
        unresolved_edge,
    ):
        yield from rule(pack)


def questions(pack: Pack) -> Iterator[tuple[Pair, PackQuestion]]:
    """Pairs that end in a question the pack knows."""
    known = {question.question_id: question for question in pack.questions}
    for pair in pack.pairs:
        if pair.dst_table == "Question" and pair.dst in known:
            yield pair, known[pair.dst]


def recurring_question(pack: Pack) -> Iterator[Draft]:
    """Asked >= 3 times over >= 2 threads, or >= 2 times in one; never resolved."""
    for pair, asked in questions(pack):
        often = (asked.askings >= 3 and asked.lineages >= 2) or (  # noqa: PLR2004
            asked.askings >= 2 and asked.lineages == 1  # noqa: PLR2004
        )
        if pair.src_table == "Thread" and often and not asked.resolved and not asked.is_core:
            text = (
                f'"{quote(asked.text)}" was asked {plural(asked.askings, "time")} in '
                f"{plural(asked.lineages, 'thread')} since {day(asked.first_seen)}, "
                "not settled in any."
            )
            yield make(
                pack,
                pair,
                function=NAME,
                edge=EDGE,
                rule="recurring_question",
                start=30,
                support=share(asked.askings, 6),
                title=f'Keeps coming back: "{quote(asked.text, 60)}"',
                summary=text[0].upper() + text[1:],
                claims=(claim(text, asked.aliases, "b"),),
            )


def approach_bias(pack: Pack) -> Iterator[Draft]:
    """Technique without verification, and something left open."""
    thread = pack.thread
    if thread is None or not thread.technique or thread.verification:
        return
    if thread.frontiers < 1 and thread.open_questions < 2:  # noqa: PLR2004
        return
    for pair, asked in questions(pack):
        if pair.src == thread.thread_id and not asked.resolved:
            labels = " and ".join(
                f'"{each.label}"'
                for each in pack.concepts
                if each.concept_id in thread.concepts[:2]
            )
            about = f" on {labels}" if labels else ""
            text = (
                f'{plural(thread.turns, "turn")} work{about}; "{quote(asked.text)}" stays open; '
                "none of them tests or measures."
            )
            others = (
                f" {plural(thread.verified_elsewhere, 'other thread')} did."
                if thread.verified_elsewhere
                else ""
            )
            yield make(
                pack,
                pair,
                function=NAME,
                edge=EDGE,
                rule="approach_bias",
                start=20,
                support=0.5 * share(thread.frontiers, 3) + 0.5 * (thread.verified_elsewhere > 0),
                title=f'Untested edge: "{quote(asked.text, 60)}"',
                summary=text + others,
                claims=(claim(text, (*pair.a[:3], *asked.aliases[:2]), "b"),),
            )


def unresolved_edge(pack: Pack) -> Iterator[Draft]:
    """A frontier that stood open for a fortnight, on an open question."""
    stopped = {each.question_id: each for each in reversed(pack.frontiers) if each.question_id}
    for pair, asked in questions(pack):
        edge = stopped.get(asked.question_id)
        if pair.src_table != "Thread" or asked.resolved or edge is None:
            continue
        if (edge.days_open or 0) >= STALE_DAYS:
            text = (
                f'"{quote(asked.text)}" was last touched {day(asked.last_seen)}; '
                f'boundary: {edge.type}, "{quote(edge.clip)}".'
            )
            yield make(
                pack,
                pair,
                function=NAME,
                edge=EDGE,
                rule="unresolved_edge",
                start=20,
                support=share(edge.days_open or 0, 60),
                title=f'Left open: "{quote(asked.text, 60)}"',
                summary=text,
                claims=(claim(text, (*asked.aliases[:3], edge.alias), "b"),),
            )


def blind_spot(pack: Pack) -> Iterator[Draft]:
    """A concept that comes with three of ours in three other threads, and is absent here."""
    thread = pack.thread
    if thread is None:
        return
    most = max((each.support for each in thread.absent), default=0.0)
    middle = pack.focus.shape == "missing_middle"
    floor = MIDDLES if middle else 3
    for missing in thread.absent:
        enough = len(missing.with_concepts) >= floor and missing.lineages >= floor
        pair = next((each for each in pack.pairs if each.dst == missing.concept_id), None)
        if enough and pair is not None and missing.aliases:
            company = ", ".join(f'"{label}"' for label in missing.with_concepts)
            text = (
                f"In {plural(missing.lineages, 'other thread')} {company} come with "
                f'"{missing.label}"; here it does not occur.'
            )
            yield make(
                pack,
                pair,
                function=NAME,
                edge=EDGE,
                rule="blind_spot",
                start=30,
                support=missing.support / most if most else 0.0,
                title=f'Never looked at here: "{quote(missing.label, 60)}"',
                summary=text,
                claims=(claim(text, missing.aliases, "b"),),
            )


def circling(pack: Pack) -> Iterator[Draft]:
    """A cycle of threads that comes back to one unsettled question."""
    if pack.focus.shape != "cycle":
        return
    for pair, asked in questions(pack):
        if not asked.resolved:
            threads = sum(role == "member" for role, _ in pack.focus.members)
            text = (
                f'"{quote(asked.text)}" lies on a loop of {plural(threads, "node")}; '
                f"asked {plural(asked.askings, 'time')}; each round ended {asked.status}."
            )
            yield make(
                pack,
                pair,
                function=NAME,
                edge=EDGE,
                rule="circling",
                start=20,
                support=share(asked.askings, 6),
                title=f'Going round: "{quote(asked.text, 60)}"',
                summary=text,
                claims=(claim(text, asked.aliases, "b"),),
            )


def single_point(pack: Pack) -> Iterator[Draft]:
    """One question or concept that alone holds two parts together."""
    if pack.focus.shape != "cut_point" or len(pack.parts) < 2:  # noqa: PLR2004
        return
    near, far = pack.parts[:2]
    smaller = min(pack.parts[:2], key=lambda part: (part.nodes, part.node))
    for pair in pack.pairs:
        if pair.dst == smaller.node and near.aliases and far.aliases:
            text = (
                f'"{quote(near.label, 90)}" and "{quote(far.label, 90)}" meet only at '
                f'"{quote(pair.src_label, 60)}"; no second path exists.'
            )
            yield make(
                pack,
                pair,
                function=NAME,
                edge=EDGE,
                rule="single_point",
                start=30,
                support=min(1.0, log2(max(smaller.nodes, 1)) / 6),
                title=f'One thread holds it together: "{quote(pair.src_label, 50)}"',
                summary=text,
                claims=(
                    claim(text, near.aliases, "a"),
                    claim(text, far.aliases, "b"),
                ),
            )


def repeated_correction(pack: Pack) -> Iterator[Draft]:
    """The same correction, given in at least two threads."""
    lineages = {each.lineage for each in pack.corrections}
    if len(lineages) < 2:  # noqa: PLR2004
        return
    names = {each.concept_id: each.label for each in pack.concepts}
    shared = [
        concept
        for concept in pack.corrections[0].concepts
        if all(concept in each.concepts for each in pack.corrections) and concept in names
    ]
    if shared and pack.pairs:
        label = names[shared[0]]
        text = (
            f'The same correction about "{label}" was given in {plural(len(lineages), "thread")}: '
            f'"{quote(pack.corrections[-1].clip)}".'
        )
        yield make(
            pack,
            pack.pairs[0],
            function=NAME,
            edge=EDGE,
            rule="repeated_correction",
            start=20,
            support=share(len(lineages), 4),
            title=f'Corrected before: "{quote(label, 60)}"',
            summary=text,
            claims=(claim(text, tuple(each.alias for each in pack.corrections), "none"),),
        )
