"""RELATES: concepts that occur together more than chance explains, or are joined by a cue."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from graphstore.derivation import Ground
from graphstore.model.knowledge import Concept, Relates
from graphstore.model.record import EpochRecord
from ingest.extract.lexicon import Hit, find
from ingest.extract.text import clip, sentences, strip
from ingest.link.pairs import LEAST, Pair, thread_of, together

VERSION: Final = "relates/1"
_CLIP: Final = 220
_REFS: Final = 8
_PER_CONCEPT: Final = 10
"""Relations by mere company that one concept keeps, the strongest first."""
_LOCAL: Final = 3
"""Those of them that stand in one thread only: they tell little."""
_NEAR: Final = 20
"""Characters between a cue and the concepts that it joins."""
_LEAST_LETTERS: Final = 3
_ADJACENT: Final = 6
_MUTUAL: Final = frozenset({"alternative_to", "contradicts"})
"""Relations without direction: the first id stands first."""
_TURNED: Final = {"caused_by": "causes"}


def relates(ground: Ground, epoch: EpochRecord) -> tuple[Relates, ...]:
    """Relations sorted by ends and type."""
    concepts = {one.concept_id: one for one in ground.concepts if not one.generic}
    mentions = [
        (row.dst, row.src)
        for row in ground.mentions
        if row.src_table == "SourceRef" and row.dst in concepts
    ]
    rows = [*_company(mentions, epoch.pmi_floor), *_typed(ground, concepts, mentions)]
    return tuple(sorted(rows, key=lambda row: (row.src, row.dst, row.edge_type)))


def _company(mentions: list[tuple[str, str]], floor: float) -> Iterator[Relates]:
    refs: dict[str, set[str]] = {}
    for concept, ref in mentions:
        refs.setdefault(concept, set()).add(ref)
    chosen = [pair for pair in together(mentions) if pair.pmi > 0 and pair.pmi > floor]
    for pair in _strongest(chosen):
        yield Relates(
            src_table="Concept",
            src=pair.first,
            dst_table="Concept",
            dst=pair.second,
            source_refs=_shared_refs(refs[pair.first], refs[pair.second]),
            weight=float(max(pair.turns, pair.threads)),
            extractor=VERSION,
            edge_type="co_occurs",
            why=f"together in {pair.turns} turns and {pair.threads} threads",
        )


def _strongest(pairs: list[Pair]) -> Iterator[Pair]:
    """Pairs that are among the strongest of at least one of their concepts."""
    kept: dict[str, int] = {}
    for pair in sorted(pairs, key=_strength):
        places = (kept.get(pair.first, 0), kept.get(pair.second, 0))
        if min(places) < (_PER_CONCEPT if pair.threads >= LEAST else _LOCAL):
            kept[pair.first], kept[pair.second] = places[0] + 1, places[1] + 1
            yield pair


def _strength(pair: Pair) -> tuple[bool, float, str, str]:
    several = pair.threads >= LEAST
    return (not several, -pair.pmi * max(pair.turns, pair.threads), pair.first, pair.second)


def _shared_refs(left: set[str], right: set[str]) -> tuple[str, ...]:
    """Turns that name both; else, thread by thread, a turn for each."""
    both = sorted(left & right)
    if both:
        return tuple(both[:_REFS])
    threads = {thread_of(ref) for ref in left} & {thread_of(ref) for ref in right}
    found: set[str] = set()
    for thread in sorted(threads)[: _REFS // 2]:
        for side in (left, right):
            found.add(min(ref for ref in side if thread_of(ref) == thread))
    return tuple(sorted(found))


@dataclass(slots=True)
class _Told:
    """One typed relation and where it was told."""

    why: str
    refs: set[str] = field(default_factory=set)


def _typed(
    ground: Ground, concepts: dict[str, Concept], mentions: list[tuple[str, str]]
) -> Iterator[Relates]:
    in_turn: dict[str, list[Concept]] = {}
    for concept, ref in sorted(mentions):
        in_turn.setdefault(ref, []).append(concepts[concept])
    told: dict[tuple[str, str, str], _Told] = {}
    for turn in ground.turns:
        named = in_turn.get(turn.ref, [])
        if len(named) > 1:
            for key, why in _of_turn(turn.text, named):
                told.setdefault(key, _Told(why)).refs.add(turn.ref)
    for (src, dst, kind), one in told.items():
        yield Relates(
            src_table="Concept",
            src=src,
            dst_table="Concept",
            dst=dst,
            source_refs=tuple(sorted(one.refs)[:_REFS]),
            weight=float(len(one.refs)),
            extractor=VERSION,
            edge_type=kind,
            why=one.why,
        )


def _of_turn(text: str, named: list[Concept]) -> Iterator[tuple[tuple[str, str, str], str]]:
    spelled = [
        (form.casefold(), one.concept_id)
        for one in named
        for form in (one.label, *one.aliases)
        if len(form) >= _LEAST_LETTERS
    ]
    low = text.casefold()
    spelled = [pair for pair in spelled if pair[0] in low]
    if len({concept for _, concept in spelled}) < LEAST:
        return
    for sentence in sentences(strip(text).text):
        folded = sentence.casefold()
        present = [(form, concept) for form, concept in spelled if form in folded]
        if len({concept for _, concept in present}) > 1 and not sentence.endswith("?"):
            for hit in find(sentence):
                if hit.family == "relation":
                    yield from _joined(folded, hit, present, clip(sentence, _CLIP))


def _joined(
    folded: str, hit: Hit, present: list[tuple[str, str]], why: str
) -> Iterator[tuple[tuple[str, str, str], str]]:
    near = _ADJACENT if hit.kind == "part_of" else _NEAR
    left = _nearest(present, folded, hit.start - near, hit.start, last=True)
    right = _nearest(present, folded, hit.end, hit.end + near, last=False)
    if left and right and left != right:
        src, dst = (right, left) if hit.kind in _TURNED else (left, right)
        if hit.kind in _MUTUAL:
            src, dst = sorted((src, dst))
        yield (src, dst, _TURNED.get(hit.kind, hit.kind)), why


def _nearest(
    present: list[tuple[str, str]], folded: str, start: int, end: int, *, last: bool
) -> str:
    """Concept closest to the cue within a window; the longest spelling where several end there."""
    best: tuple[int, int, str] | None = None
    for form, concept in present:
        if last:
            at = folded.rfind(form, 0, end)
            gap = end - at - len(form)
        else:
            at = folded.find(form, start)
            gap = at - start
        if at >= 0 and 0 <= gap <= abs(end - start):
            rank = (gap, -len(form), concept)
            best = rank if best is None or rank < best else best
    return best[2] if best else ""
