"""Sound conversations of every format, small enough to be read thousands of times a minute."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from fuzz.mutate import Files
from ingest.model import Source
from ingest.sniff import choose, readers
from ingest.walk import Found, find, members
from tests.claude_talk import MOVES as CLAUDE_MOVES
from tests.claude_talk import Talk as ClaudeTalk
from tests.codex_talk import MOVES as CODEX_MOVES
from tests.codex_talk import Talk as CodexTalk

ROOT = Path(__file__).parent.parent
PLACES = (
    ROOT / "tests" / "data" / "ingest",
    ROOT.parent / "shared" / "cases" / "ingest",
)
CORPORA = ROOT.parent / "shared" / "corpora"
SMALL = 24 * 1024
"""Bytes of a sample; databases may have more."""
DATABASE = 64 * 1024
SLICES = 40
"""Slices of real conversations taken for one format at most."""
LINES = 8
"""Lines of a slice."""
NOBODY = "nobody"
"""Stands for the format of files that no reader takes."""


class Sample(NamedTuple):
    """Files of one carrier."""

    format: str
    files: Files


def samples() -> dict[str, tuple[Sample, ...]]:
    """Samples by format, every reader among the keys; the same on every run."""
    found: dict[str, list[Sample]] = {one.NAME: [] for one in readers()}
    for sample in (*_made(), *_kept(), *_slices()):
        found.setdefault(sample.format, []).append(sample)
    spare = [sample for held in found.values() for sample in held[:2]]
    return {name: tuple(held or spare) for name, held in sorted(found.items()) if name != NOBODY}


def _format(content: bytes, name: str) -> str:
    src = Source.of_bytes(content, name)
    if content.startswith(b"PK"):
        inside = [one for one in members(src, Found()) if isinstance(one, Source)]
        chosen = [choose(one) for one in inside]
    else:
        src.as_note = name.endswith(".md")
        chosen = [choose(src)]
    return next((one.NAME for one in chosen if hasattr(one, "NAME")), NOBODY)


def _sample(content: bytes, name: str) -> Sample:
    return Sample(_format(content, name), ((name, content),))


def _made() -> Iterator[Sample]:
    for turn_ids in (True, False):
        talk = CodexTalk("c1", turn_ids=turn_ids, forked_from_id="c0").play(CODEX_MOVES)
        yield _sample(b"\n".join(json.dumps(one).encode() for one in talk.records), "c1.jsonl")
    ours = ClaudeTalk("aaaaaaaa-0000-4000-8000-000000000001").play(["ask", "answer", *CLAUDE_MOVES])
    yield _sample(b"".join(ours.encoded()), "aaaaaaaa-0000-4000-8000-000000000001.jsonl")


def _kept() -> Iterator[Sample]:
    """Files of the tests, of the shared cases; folders that are one source as one sample."""
    seen: set[bytes] = set()
    for place in PLACES:
        for one in find((str(place),), Found()) if place.is_dir() else ():
            if (
                not isinstance(one, Source)
                or one.file is None
                or one.name.endswith("expected.json")
            ):
                continue
            inside = getattr(one, "inside", None)
            if inside:
                files = tuple((f"export/{name}", src.file.read_bytes()) for name, src in inside)
                yield Sample(_chosen(one), files)
            elif one.file.is_file():
                content = one.file.read_bytes()
                limit = DATABASE if content.startswith(b"SQLite") else SMALL
                if content not in seen and len(content) <= limit:
                    seen.add(content)
                    yield _sample(content, one.file.name)


def _chosen(src: Source) -> str:
    reader = choose(src)
    return reader.NAME if reader is not None and hasattr(reader, "NAME") else NOBODY


def _slices() -> Iterator[Sample]:
    """Pieces of real conversations, where they are on this machine."""
    taken: dict[str, int] = {}
    for file in sorted(CORPORA.rglob("*")) if CORPORA.is_dir() else ():
        if file.suffix not in {".jsonl", ".json", ".md", ".html"} or "locomo" in file.parts:
            continue
        for content in _pieces(file):
            sample = _sample(content, file.name)
            if taken.get(sample.format, 0) < SLICES:
                taken[sample.format] = taken.get(sample.format, 0) + 1
                yield sample


def _pieces(file: Path) -> Iterator[bytes]:
    content = file.read_bytes()
    if file.suffix == ".json":
        try:
            value = json.loads(content)
        except ValueError:
            return
        held = value if isinstance(value, list) else [value]
        small = [one for one in held if len(json.dumps(one)) < SMALL][:4]
        if small:
            yield json.dumps(small if isinstance(value, list) else small[0]).encode()
        return
    lines = content.split(b"\n")
    step = LINES if file.suffix == ".jsonl" else 60
    for start in (0, len(lines) // 2):
        piece = b"\n".join([*lines[:1], *lines[start : start + step]])
        if len(piece) < SMALL:
            yield piece
