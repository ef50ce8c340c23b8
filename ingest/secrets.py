"""Masking: secrets in clean text are replaced by ``[masked:<kind>]`` before anything keeps it."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from graphstore.ids import digest_bytes, keyed_digest
from graphstore.model.conversation import Masked
from ingest.secret_gate import Gate
from ingest.secret_shapes import lower
from ingest.secret_table import PII, TABLE

_MASK: Final = re.compile(r"\[masked:[^\[\]\s]{1,64}\]")
_GATE: Final = Gate(TABLE)
_GATE_PII: Final = Gate(TABLE + PII)
SHORTEST: Final = 6
"""Characters; no text shorter than this holds a secret of the table."""
NAMES: Final = 4096
"""Names of files and folders that are remembered: most come again."""
NAME_MARK: Final = 4
"""Hexadecimal digits: enough to keep files of one folder apart, too few to guess a secret by."""
_ROUNDS: Final = 8
"""A replacement can bring a new boundary and so a new hit; this many rounds always settle it."""


class _Hit(NamedTuple):
    start: int
    end: int
    kind: str
    order: int


def mask(
    text: str,
    salt: bytes | None = None,
    *,
    extra: Sequence[tuple[str, re.Pattern[str]]] = (),
    allow: Sequence[re.Pattern[str]] = (),
    pii: bool = False,
) -> tuple[str, tuple[Masked, ...]]:
    """Replace secrets in a text; masking a masked text changes nothing.

    Args:
        text: One clean text, a title, a link or a name.
        salt: Key of the store (1 to 64 bytes); without it hits carry no ``keyed_hash``.
        extra: More kinds and what they look like; the whole match is the secret.
        allow: What is found in a secret by one of these is never masked.
        pii: Mask e-mail addresses, phone numbers and IBANs too.

    Returns:
        The masked text and its hits by offset in it. Overlapping hits: the longest wins,
        then the order of the table.
    """
    gate = _GATE_PII if pii else _GATE
    spots: list[Masked] = []
    for _ in range(_ROUNDS):
        hits = _hits(text, gate, extra, allow)
        if not hits:
            break
        text, spots = _replace(text, hits, spots, salt)
    return text, tuple(spots)


@lru_cache(NAMES)
def _mask_name(name: str) -> str:
    masked, spots = mask(name)
    if not spots:
        return name
    mark = digest_bytes(name.encode("utf-8", "surrogatepass"))[:NAME_MARK]
    end = masked.index("]", spots[-1].offset) + 1
    return f"{masked[:end]}~{mark}{masked[end:]}"


def mask_path(path: str) -> str:
    """A path whose names hold no secrets: it is kept, shown and told where files went wrong.

    Names that differed still differ, by a few digits of their hash, and keep their endings.
    """
    if len(path) < SHORTEST:
        return path
    return "/".join(map(_mask_name, path.split("/")))


def _hits(
    text: str,
    gate: Gate,
    extra: Sequence[tuple[str, re.Pattern[str]]],
    allow: Sequence[re.Pattern[str]],
) -> list[_Hit]:
    """Hits that do not overlap, by place."""
    if len(text) < SHORTEST and not extra:
        return []
    found: list[_Hit] = []
    if opened := gate.open(text):
        lowered = lower(text)
        found = [
            _Hit(start, end, shape.kind, order)
            for order, shape in opened
            for start, end in shape.find(text, lowered)
        ]
    for order, (kind, pattern) in enumerate(extra, start=len(TABLE) + len(PII)):
        found.extend(_Hit(*match.span(), kind, order) for match in pattern.finditer(text))
    if not found:
        return []
    marks = [match.span() for match in _MASK.finditer(text)]
    return _longest(
        hit
        for hit in found
        if hit.start < hit.end
        and not _touches_mask(hit, marks)
        and not any(pattern.search(text[hit.start : hit.end]) for pattern in allow)
    )


def _touches_mask(hit: _Hit, marks: list[tuple[int, int]]) -> bool:
    """A hit inside a mask, or across its edge; one around whole masks may replace them."""
    first = bisect_right(marks, hit.start, key=lambda mark: mark[1])
    last = bisect_left(marks, hit.end, key=lambda mark: mark[0]) - 1
    if first > last:
        return False
    return marks[first][0] <= hit.start or hit.end <= marks[last][1]


def _longest(hits: Iterable[_Hit]) -> list[_Hit]:
    """Hits that stand apart, and of each heap of overlapping ones the longest that fit."""
    kept: list[_Hit] = []
    heap: list[_Hit] = []
    end = 0
    for hit in sorted(hits):
        if heap and hit.start >= end:
            kept.extend(_fitting(heap))
            heap = []
        heap.append(hit)
        end = max(end, hit.end)
    return kept + _fitting(heap)


def _fitting(heap: list[_Hit]) -> list[_Hit]:
    kept: list[_Hit] = []
    for hit in sorted(heap, key=lambda one: (one.start - one.end, one.order, one.start)):
        if all(hit.end <= other.start or other.end <= hit.start for other in kept):
            kept.append(hit)
    return sorted(kept)


def _replace(
    text: str, hits: list[_Hit], spots: list[Masked], salt: bytes | None
) -> tuple[str, list[Masked]]:
    """Replace the hits, and move what was found in earlier rounds to its new place."""
    pieces: list[str] = []
    moved: list[Masked] = []
    earlier = iter((*spots, None))
    spot = next(earlier)
    at = length = 0
    for hit in (*hits, _Hit(len(text), len(text), "", 0)):
        while spot is not None and spot.offset < hit.end:
            if spot.offset < hit.start:
                moved.append(spot.replace(offset=length + spot.offset - at))
            spot = next(earlier)
        pieces.append(text[at : hit.start])
        length += hit.start - at
        if hit.kind:
            moved.append(_masked(hit.kind, length, text[hit.start : hit.end], salt))
            pieces.append(f"[masked:{hit.kind}]")
            length += len(pieces[-1])
        at = hit.end
    return "".join(pieces), moved


def _masked(kind: str, offset: int, secret: str, salt: bytes | None) -> Masked:
    digest = keyed_digest(salt, secret.encode("utf-8", "surrogatepass")) if salt else None
    return Masked(kind=kind, offset=offset, keyed_hash=digest)
