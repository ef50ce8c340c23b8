"""Secrets that a workspace holds: where and of what kind, never the words themselves."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TypeAlias

import orjson

from graphstore.backup import NOTES, SINGLE
from graphstore.ids import ref as ref_of
from graphstore.ledger import Ledger
from graphstore.model.record import Count
from ingest.secrets import mask
from service.answers import SecretPlace, SecretScan

Tree: TypeAlias = "str | int | float | bool | list[Tree] | dict[str, Tree] | None"

_HASHED = ("fingerprint", "fingerprints", "hash", "id", "ids", "ref", "refs", "key", "head")
"""Last words of the names of fields that hold hashes and ids: they look like secrets."""


def scan(workspace: Path, ledger: Ledger, *, pii: bool) -> SecretScan:
    """Every text of every record, and the files that the owner may have written."""
    places, records = [], 0
    for entry in ledger.entries():
        records += 1
        places += list(_in_record(entry.subject, orjson.loads(entry.body), pii=pii))
    files = [workspace / name for name in SINGLE if name.endswith(".md")]
    files += sorted((workspace / NOTES).rglob("*.md"))
    for file in files:
        if file.is_file():
            text = file.read_text("utf-8", "replace")
            places += list(_in_text(file.relative_to(workspace).as_posix(), text, pii=pii))
    kinds: Counter[str] = Counter()
    for place in places:
        kinds[place.kind] += place.count
    return SecretScan(
        records=records,
        kinds=tuple(Count(name=name, count=kinds[name]) for name in sorted(kinds)),
        places=tuple(dict.fromkeys(places)),  # a thread that was taken in twice says it twice
    )


def _in_record(subject: str, body: dict[str, Tree], *, pii: bool) -> Iterator[SecretPlace]:
    turns = body.pop("turns", None)
    for turn in turns if isinstance(turns, list) else ():
        if isinstance(turn, dict) and isinstance(turn.get("number"), int):
            place = ref_of(subject, int(str(turn["number"])))
            for text in _texts(turn):
                yield from _in_text(place, text, pii=pii)
    for text in _texts(body):
        yield from _in_text(subject, text, pii=pii)


def _texts(tree: Tree) -> Iterator[str]:
    match tree:
        case str():
            yield tree
        case list():
            for part in tree:
                yield from _texts(part)
        case dict():
            for name, part in tree.items():
                if name.rpartition("_")[2] not in _HASHED:
                    yield from _texts(part)


def _in_text(place: str, text: str, *, pii: bool) -> Iterator[SecretPlace]:
    _, spots = mask(text, pii=pii)
    counts = Counter(spot.kind for spot in spots)
    for kind in sorted(counts):
        yield SecretPlace(place=place, kind=kind, count=counts[kind])
