"""RELATES: concepts that a sentence joins by a cue."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final

from graphstore.model.knowledge import Concept, Mentions, Relates
from ingest.extract.lexicon import Hit, find
from ingest.extract.text import clip, sentences, strip

VERSION: Final = "relates/2"
_CLIP: Final = 220
_REFS: Final = 8
_NEAR: Final = 20
"""Characters between a cue and the concepts that it joins."""
_LEAST_LETTERS: Final = 3
_PAIR: Final = 2
_ADJACENT: Final = 6
_MUTUAL: Final = frozenset({"alternative_to", "contradicts"})
"""Relations without direction: the first id stands first."""
_TURNED: Final = {"caused_by": "causes"}


@dataclass(slots=True)
class _Told:
    """One typed relation and where it was told."""

    why: str
    refs: set[str] = field(default_factory=set)


Stated = tuple[tuple[tuple[str, str, str], str], ...]
"""Relations of one turn, ends and type, each with the words for it."""
Memo = dict[str, tuple[tuple[tuple[str, str], ...], Stated]]
"""By turn: the spellings in it, and what it states."""


def told(
    turns: Iterable[tuple[str, str]],
    concepts: Iterable[Concept],
    mentions: Iterable[Mentions],
    memo: Memo | None = None,
) -> tuple[Relates, ...]:
    """Relations that the turns (ref, text) of one thread state, by ends and type.

    ``memo`` keeps what each turn states, for a thread that comes again.
    """
    memo = {} if memo is None else memo
    known = {one.concept_id: one for one in concepts if not one.generic}
    in_turn: dict[str, list[Concept]] = {}
    for row in sorted(mentions, key=lambda row: (row.src, row.dst)):
        if row.src_table == "SourceRef" and row.dst in known:
            in_turn.setdefault(row.src, []).append(known[row.dst])
    forms = {
        name: [
            (form.casefold(), name)
            for form in (one.label, *one.aliases)
            if len(form) >= _LEAST_LETTERS
        ]
        for name, one in known.items()
    }
    found: dict[tuple[str, str, str], _Told] = {}
    for ref, text in sorted(turns):
        named = in_turn.get(ref, [])
        if len(named) > 1:
            spelled = [pair for one in named for pair in forms[one.concept_id]]
            low = text.casefold()
            here = tuple(pair for pair in spelled if pair[0] in low)
            if ref not in memo or memo[ref][0] != here:
                memo[ref] = (here, tuple(_of_turn(text, here)))
            for key, why in memo[ref][1]:
                found.setdefault(key, _Told(why)).refs.add(ref)
    return tuple(
        Relates(
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
        for (src, dst, kind), one in sorted(found.items())
    )


def _of_turn(
    text: str, spelled: tuple[tuple[str, str], ...]
) -> Iterator[tuple[tuple[str, str, str], str]]:
    if len({concept for _, concept in spelled}) < _PAIR:
        return
    for sentence in sentences(strip(text).text):
        if sentence.endswith("?"):
            continue
        folded = sentence.casefold()
        present = [pair for pair in spelled if pair[0] in folded]
        # few sentences name two of them, and looking for cues takes longest
        if len(present) > 1 and len({concept for _, concept in present}) > 1:
            for hit in find(sentence, family="relation"):
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
