"""What several packs have in common, from their cards alone: ids, counts and keys, no text.

A pack is dreamt over by itself; what comes round in many of them is seen from above.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable
from typing import Final, Literal

from dream import lexicon
from dream.journal import counts
from dream.model import Pack
from graphstore.model.base import Value
from graphstore.model.record import Count

HEAD, TAIL, CARD, REF = 1200, 320, 80, 18
"""Tokens of a call on cards: what it begins and ends with, a card, a reference on it."""
LETTERS: Final = 4
"""Characters of a topic that make a token."""
TWICE: Final = 2


class Card(Value):
    """One pack in ids and counts."""

    pack_id: str
    journey: str
    """Of its focus; empty where the focus is none."""
    topic: str
    focus: tuple[str, ...]
    """Nodes that it is about."""
    concepts: tuple[str, ...]
    lineages: tuple[str, ...]
    refs: int
    pairs: int
    """What could come of it."""

    @property
    def tokens(self) -> int:
        """What it costs in a call, by rule; nothing is measured."""
        return max(CARD, CARD + REF * self.refs + len(self.topic) // LETTERS)


class Crossing(Value):
    """A node in which packs meet."""

    kind: Literal["cross_pack_cycle", "cross_pack_bridge"]
    """What several packs are about; or a concept of several packs in several threads."""
    node: str
    label: str
    packs: tuple[str, ...]
    lineages: int


class Atlas(Value):
    """Cards that fit a window, and where they meet."""

    cards: tuple[Card, ...]
    tokens: int
    window: int
    crossings: tuple[Crossing, ...]
    left_out: tuple[Count, ...]
    """Packs without a card, by reason."""


def atlas(packs: Iterable[Pack], window: int) -> Atlas:
    """Cards of the packs that are ready, as many as fit ``window`` tokens, and their crossings."""
    left = Counter[str]()
    ready: list[tuple[Card, Pack]] = []
    for pack in packs:
        if (reason := refused(pack)) is None:
            ready.append((card(pack), pack))
        else:
            left[reason] += 1
    tokens, shown = HEAD + TAIL, []
    for each, pack in sorted(ready, key=lambda pair: place(pair[0])):
        if tokens + each.tokens > window:
            left["window"] += 1
            continue
        tokens += each.tokens
        shown.append((each, pack))
    return Atlas(
        cards=tuple(each for each, _ in shown),
        tokens=tokens,
        window=window,
        crossings=crossings(shown),
        left_out=counts(left),
    )


def refused(pack: Pack) -> Literal["not_ready", "no_refs", "profile"] | None:
    """Why a pack gets no card."""
    if pack.readiness != "ready":
        return "not_ready"
    if not pack.turns:
        return "no_refs"
    return "profile" if lexicon.has("profile_claim", topic_of(pack)) else None


def topic_of(pack: Pack) -> str:
    """Labels of what a pack is about, else of its rarest concept."""
    about = set(focus_of(pack))
    named = [each.label for each in pack.concepts if each.concept_id in about]
    asked = [each.text for each in pack.questions if each.question_id in about]
    rarest = [each.label for each in sorted(pack.concepts, key=lambda one: -one.idf)[:1]]
    return " / ".join((named or asked or rarest)[:2])


def focus_of(pack: Pack) -> tuple[str, ...]:
    """Nodes that a pack is about; of a seed its members."""
    if pack.focus.members:
        return tuple(sorted({node for _, node in pack.focus.members}))
    return tuple(pack.focus.id.split(" "))


def card(pack: Pack) -> Card:
    """The card of one pack."""
    return Card(
        pack_id=pack.pack_id,
        journey=pack.focus.id if pack.focus.kind == "journey" else "",
        topic=topic_of(pack),
        focus=focus_of(pack),
        concepts=tuple(sorted(each.concept_id for each in pack.concepts)),
        lineages=tuple(sorted({turn.lineage for turn in pack.turns})),
        refs=len(pack.turns),
        pairs=len(pack.pairs),
    )


def place(each: Card) -> tuple[str, str, int, str]:
    """Order of cards: Journey, topic, most pairs first, id."""
    return (each.journey, each.topic, -each.pairs, each.pack_id)


def crossings(shown: list[tuple[Card, Pack]]) -> tuple[Crossing, ...]:
    """Nodes in which at least two packs meet; a bridge joins at least two threads besides."""
    about, within = defaultdict[str, list[Card]](list), defaultdict[str, list[Card]](list)
    held: defaultdict[str, set[str]] = defaultdict(set)
    labels: dict[str, str] = {}
    for each, pack in shown:
        labels |= {one.concept_id: one.label for one in pack.concepts}
        for node in each.focus:
            about[node].append(each)
        for concept in each.concepts:
            within[concept].append(each)
        for turn in pack.turns:
            for concept in turn.concepts:
                held[concept].add(turn.lineage)
    found = [
        crossing(
            "cross_pack_cycle",
            node,
            labels.get(node, node),
            met,
            {root for one in met for root in one.lineages},
        )
        for node, met in about.items()
        if len(met) >= TWICE
    ]
    found += [
        crossing("cross_pack_bridge", node, labels[node], met, held[node])
        for node, met in within.items()
        if node not in about and len(met) >= TWICE and len(held[node]) >= TWICE
    ]
    return tuple(sorted(found, key=lambda one: (one.kind, -len(one.packs), one.node)))


def crossing(
    kind: Literal["cross_pack_cycle", "cross_pack_bridge"],
    node: str,
    label: str,
    met: list[Card],
    lineages: set[str],
) -> Crossing:
    """One crossing."""
    packs = tuple(sorted(each.pack_id for each in met))
    return Crossing(kind=kind, node=node, label=label, packs=packs, lineages=len(lineages))
