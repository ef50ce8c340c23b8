"""Cues: words that tell what a sentence does, read from one data file per language."""

import tomllib
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Final

from ingest.extract.text import WORD, has_cjk, script_language

FOLDER: Final = Path(__file__).parent / "cues"
_GAP: Final = 60
"""Characters that ``...`` inside a cue may stand for."""
_FILLERS: Final = 3
"""Filler words that may come before a cue bound to the start."""


@dataclass(frozen=True, slots=True)
class Cue:
    """One cue: what it looks like and what it tells."""

    family: str
    kind: str
    confidence: float
    parts: tuple[str, ...]
    at_start: bool
    at_end: bool


@dataclass(frozen=True, slots=True)
class Hit:
    """A cue found in a sentence, with the characters it covers."""

    family: str
    kind: str
    confidence: float
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Language:
    """The data file of one language, indexed by the first word of each cue."""

    code: str
    stop: frozenset[str]
    weak: frozenset[str]
    soft: frozenset[str]
    fillers: frozenset[str]
    spaced: dict[str, tuple[Cue, ...]]
    unspaced: tuple[Cue, ...]


@cache
def codes() -> tuple[str, ...]:
    """Languages with a data file, sorted."""
    return tuple(sorted(path.stem for path in FOLDER.glob("*.toml")))


@cache
def language(code: str) -> Language:
    """Read the data file of a language."""
    table = tomllib.loads((FOLDER / f"{code}.toml").read_text("utf-8"))
    cues = [
        _cue(group["family"], group.get("kind", ""), group["confidence"], text)
        for group in table["group"]
        for text in group["cues"]
    ]
    spaced: dict[str, list[Cue]] = {}
    unspaced = []
    for cue in cues:
        if has_cjk(cue.parts[0]):
            unspaced.append(cue)
        else:
            first = WORD.search(cue.parts[0])
            spaced.setdefault(first.group() if first else cue.parts[0], []).append(cue)
    return Language(
        code,
        frozenset(table["stop"].split()),
        frozenset(table["weak"].split()),
        frozenset(table["soft"].split()),
        frozenset(table["fillers"].split()),
        {word: tuple(sorted(of, key=_longest)) for word, of in spaced.items()},
        tuple(sorted(unspaced, key=_longest)),
    )


def _cue(family: str, kind: str, confidence: float, text: str) -> Cue:
    parts = tuple(part.strip() for part in text.strip("^$").split("..."))
    return Cue(family, kind, confidence, parts, text.startswith("^"), text.endswith("$"))


def _longest(cue: Cue) -> tuple[int, str, str, tuple[str, ...]]:
    return (-sum(map(len, cue.parts)), cue.family, cue.kind, cue.parts)


@cache
def _speaking(code: str, script: str) -> tuple[Language, ...]:
    """English is always among them: people mix it into every language when they work."""
    wanted = dict.fromkeys((code, script, "en"))
    return tuple(language(name) for name in wanted if name in codes())


@dataclass(frozen=True, slots=True)
class _Spoken:
    """The languages of a sentence, joined for one look per word."""

    spaced: dict[str, tuple[Cue, ...]]
    inside: dict[str, tuple[Cue, ...]]
    """Without the cues that are bound to the start."""
    fillers: frozenset[str]
    unspaced: tuple[Cue, ...]


@cache
def _spoken(code: str, script: str, family: str) -> _Spoken:
    own = _speaking(code, script)
    others = tuple(one for one in map(language, codes()) if one not in own)

    def heard(one: Language, cues: tuple[Cue, ...]) -> tuple[Cue, ...]:
        wanted = cues if one in own else filter(_greets, cues)
        return tuple(cue for cue in wanted if family in {"", cue.family})

    spaced: dict[str, tuple[Cue, ...]] = {}
    for one in (*own, *others):
        for word, cues in one.spaced.items():
            if told := heard(one, cues):
                spaced[word] = (*spaced.get(word, ()), *told)
    inside = {word: tuple(cue for cue in cues if not cue.at_start) for word, cues in spaced.items()}
    return _Spoken(
        spaced,
        {word: cues for word, cues in inside.items() if cues},
        frozenset().union(*(one.fillers for one in own)),
        tuple(cue for one in (*own, *others) for cue in heard(one, one.unspaced)),
    )


def _greets(cue: Cue) -> bool:
    """Whether it is all that is said: too short to tell its language, so it is of every one."""
    return cue.family == "greeting" and cue.at_start and cue.at_end


@lru_cache(maxsize=8192)  # a thread that grows is read again
def find(sentence: str, code: str = "und", family: str = "") -> tuple[Hit, ...]:
    """Cues of a sentence, in reading order; of several at one place and family the longest.

    Those of one family, if it is given: of a few cues, which is much faster.
    """
    low = sentence.casefold().replace("\u2019", "'")
    script = script_language(low)
    spoken = _spoken(code, script, family)
    seen: set[tuple[str, int]] = set()
    hits: list[Hit] = []
    words = WORD.finditer(low)
    for number, found in enumerate(words):
        word = found[0]
        if cues := spoken.spaced.get(word):
            _spaced(low, cues, found.start(), seen, hits)
        if number >= _FILLERS or word not in spoken.fillers:
            break
    inside = spoken.inside
    for found in words:
        if cues := inside.get(found[0]):
            _spaced(low, cues, found.start(), seen, hits)
    if script and spoken.unspaced:
        hits.extend(_unspaced(low, spoken.unspaced, seen))
    if len(hits) > 1:
        hits.sort(key=lambda hit: (hit.start, -hit.end, hit.family, hit.kind))
    return tuple(hits)


def _spaced(
    low: str, cues: tuple[Cue, ...], start: int, seen: set[tuple[str, int]], hits: list[Hit]
) -> None:
    """Add the cues that begin at a word; of each family the first, which is the longest."""
    for cue in cues:
        if not low.startswith(cue.parts[0], start) or (cue.family, start) in seen:
            continue
        end = _match(low, cue, start)
        if end and (not cue.at_end or _closes(low, end)):
            seen.add((cue.family, start))
            hits.append(Hit(cue.family, cue.kind, cue.confidence, start, end))


def _closes(low: str, end: int) -> bool:
    """Whether no word follows."""
    return WORD.search(low, end) is None


def _match(low: str, cue: Cue, start: int) -> int:
    """End of the cue whose first part starts here, 0 when the rest does not follow."""
    end = start + len(cue.parts[0])
    if _inside_word(low, end):
        return 0
    for part in cue.parts[1:]:
        at = low.find(part, end, end + _GAP + len(part))
        if at < 0 or _inside_word(low, at) or _inside_word(low, at + len(part)):
            return 0
        end = at + len(part)
    return end


def _inside_word(low: str, at: int) -> bool:
    return 0 < at < len(low) and _letter(low[at - 1]) and _letter(low[at])


def _letter(mark: str) -> bool:
    # vowel signs of Devanagari are no letters to ``isalnum``
    return mark.isalnum() or "\u0900" <= mark <= "\u0963"


def _unspaced(low: str, cues: tuple[Cue, ...], seen: set[tuple[str, int]]) -> list[Hit]:
    hits = []
    for cue in cues:
        start = low.find(cue.parts[0])
        if start < 0 or (cue.family, start) in seen or (cue.at_start and start > _FILLERS):
            continue
        end = start + len(cue.parts[0])
        for part in cue.parts[1:]:
            at = low.find(part, end, end + _GAP)
            end = at + len(part) if at >= 0 and end else 0
        if end and (not cue.at_end or _closes(low, end)):
            seen.add((cue.family, start))
            hits.append(Hit(cue.family, cue.kind, cue.confidence, start, end))
    return hits


@cache
def stop_words(code: str) -> frozenset[str]:
    """Words without content of their own; those of English are always among them."""
    return frozenset().union(*(one.stop for one in _speaking(code, "")))


@cache
def weak_words(code: str) -> frozenset[str]:
    """Words too common in working talk to stand as a term, those without content among them."""
    return stop_words(code).union(*(one.weak for one in _speaking(code, "")))


@cache
def soft_words(code: str) -> frozenset[str]:
    """Words that are terms in company ("merge conflict") and none alone ("merge")."""
    return frozenset().union(*(one.soft for one in _speaking(code, "")))
