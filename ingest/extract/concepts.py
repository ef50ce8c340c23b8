"""Concept candidates of a turn, and what a thread keeps of them."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final

from graphstore.model.knowledge import ConceptKind
from ingest.extract.lexicon import soft_words, stop_words, weak_words
from ingest.extract.paths import is_path, merged, relative
from ingest.extract.text import Prose, clip, has_cjk
from ingest.extract.words import bigrams, singular

WEIGHTS: Final = {
    ConceptKind.PATH: 1.3,
    ConceptKind.SYMBOL: 1.3,
    ConceptKind.ERROR: 1.3,
    ConceptKind.ENTITY: 1.1,
    ConceptKind.TERM: 1.0,
}
EMPHASIS: Final = 1.2
"""Weight of a term that stood in bold or in a heading."""
TYPED: Final = frozenset({ConceptKind.PATH, ConceptKind.SYMBOL, ConceptKind.ERROR})
_RANK: Final = {
    kind: place
    for place, kind in enumerate(
        (
            ConceptKind.TERM,
            ConceptKind.ENTITY,
            ConceptKind.SYMBOL,
            ConceptKind.PATH,
            ConceptKind.ERROR,
        )
    )
}
_LONGEST: Final = 60
"""Characters of a label that still reads as a name."""

_TOKEN: Final = re.compile(r"[^\W_][^\W_]*(?:[-_.'\u2019][^\W_]+)*|[\u0900-\u097f]+|[^\w\s]|\n|_")
_SPAN: Final = re.compile(r"`([^`\n]{2,120})`")
_IDENTIFIER: Final = re.compile(
    r"(?:--?)?[A-Za-z_$@][\w$-]*(?:(?:\.|::|->|#)[A-Za-z_$][\w$]*)*(?:\([^()]*\))?"
)
_CAMEL: Final = re.compile(r"[a-z0-9][A-Z]|[A-Z]{2}[a-z]{2}")
_PLAIN_WORDS: Final = re.compile(r"[a-z][a-z-]+(?: [a-z][a-z-]+){1,2}")
_MARKED: Final = re.compile(r"\*\*([^*\n]{3,60})\*\*|^#{1,6}[ \t]+([^\n]{3,60})$", re.MULTILINE)
_PATH: Final = re.compile(
    r"(?<![\w/@.~-])(?:~?/|\.{1,2}/)?[\w.@+-]+(?:/[\w.@+-]+)+/?|(?<![\w/@-])[\w-]+(?:\.[\w-]+)*\.[A-Za-z]{1,5}\b(?!\()"
)
_ERROR: Final = re.compile(
    r"\b((?:[A-Za-z_]+\.)*[A-Z][A-Za-z0-9]*(?:Error|Exception|Panic|Fault))\b(?:: ?([^\n]{4,160}))?"
    r"|^[ \t]*((?:error|fatal|panic)(?:\[[A-Z]+\d+\])?): ?([^\n]{4,160})"
    r"|\b((?:TS|E|ERR_|CVE-)(?:\d{3,5}(?:-\d+)?|[A-Z][A-Z_]{4,}))\b",
    re.MULTILINE,
)
_VARIABLE: Final = re.compile(
    r"\"[^\"\n]*\"|'[^'\n]*'|`[^`\n]*`|\S*[/\\]\S*|\b0x[0-9a-fA-F]+\b|\b[0-9a-f]{7,}\b|\d+"
)


@dataclass(slots=True)
class Candidate:
    """One key within one thread: how often, where, in which spellings."""

    kind: ConceptKind
    count: int = 0
    proper: int = 0
    """Times it was written as a name inside a sentence."""
    emphasised: bool = False
    forms: dict[str, int] = field(default_factory=dict)
    turns: dict[int, int] = field(default_factory=dict)

    @property
    def weight(self) -> float:
        """Kind weight of its salience."""
        plain = WEIGHTS[self.kind]
        return max(plain, EMPHASIS) if self.emphasised else plain

    def label(self) -> str:
        """Its most frequent spelling; of equals the first in code point order."""
        return min(self.forms, key=lambda form: (-self.forms[form], form))


Candidates = dict[str, Candidate]


@lru_cache(maxsize=200_000)
def fold(label: str) -> str:
    """Key under which spellings meet: case and hyphens do not matter, paths keep theirs."""
    if is_path(label) or label.startswith("-"):
        return label
    return label.casefold().replace("-", " ")


class Gatherer:
    """Collects the candidates of one thread, turn by turn."""

    def __init__(self, project: str | None) -> None:
        self.found: Candidates = {}
        self._project = project
        self._turn = 0

    def turn(self, number: int, prose: Prose, code: str, touched: Iterable[str]) -> None:
        """Read one turn."""
        self._turn = number
        for path in touched:
            self._path(path)
        for block in prose.blocks:
            self._errors(block, told=True)
            for found in _PATH.finditer(block):
                self._path(found.group())
        text = _SPAN.sub(self._span, prose.text)
        if "rror" in text or "xception" in text or ":" in text:
            self._errors(text, told=False)
        if "." in text or "/" in text:
            text = _PATH.sub(self._path_mark, text)
        if "**" in text or "#" in text:
            self._marks(text, code)
        self._words(text, code)

    def done(self) -> Candidates:
        """Candidates with paths merged, names told from terms and nested terms dropped."""
        _merge_paths(self.found)
        for candidate in self.found.values():
            if candidate.kind is ConceptKind.TERM and 2 * candidate.proper > candidate.count:
                candidate.kind = ConceptKind.ENTITY
        _drop_nested(self.found)
        return self.found

    def _add(self, key: str, form: str, kind: ConceptKind, times: int = 1) -> Candidate:
        found = self.found.get(key)
        if found is None:
            found = self.found[key] = Candidate(kind)
        elif _RANK[kind] > _RANK[found.kind]:
            found.kind = kind
        found.count += times
        found.forms[form] = found.forms.get(form, 0) + times
        found.turns[self._turn] = found.turns.get(self._turn, 0) + times
        return found

    def _path(self, written: str) -> bool:
        path = relative(written, self._project)
        if path:
            self._add(path, path, ConceptKind.PATH)
        return bool(path)

    def _path_mark(self, found: "re.Match[str]") -> str:
        return " . " if self._path(found.group()) else found.group()

    def _span(self, found: "re.Match[str]") -> str:
        inner = found.group(1).strip()
        if ("/" in inner or "." in inner) and _PATH.fullmatch(inner) and self._path(inner):
            return " . "
        symbol = symbol_of(inner)
        if symbol:
            self._add(fold(symbol), symbol, ConceptKind.SYMBOL)
            return " . "
        # plain words in a span are words: "the `main` branch"
        return f" {inner} " if _PLAIN_WORDS.fullmatch(inner) or inner.isalpha() else " . "

    def _errors(self, text: str, *, told: bool) -> None:
        for found in _ERROR.finditer(text):
            kind, message, level, rest, code = found.groups()
            if code:
                self._add(fold(code), code, ConceptKind.ERROR)
            elif message or rest:
                label = f"{kind or level}: {skeleton(message or rest)}"
                self._add(fold(label), label, ConceptKind.ERROR)
            elif kind and not told and kind not in {"Error", "Exception"}:
                self._add(fold(kind), kind, ConceptKind.ERROR)

    def _marks(self, text: str, code: str) -> None:
        for found in _MARKED.finditer(text):
            words = [word for word in _TOKEN.findall(found.group(1) or found.group(2))]
            forms = [_token(word, code) for word in words if word not in "*:#."]
            known = [form for form in forms if form is not None]
            if known and len(known) == len(forms) <= 3 and not all(one.soft for one in known):
                key = " ".join(one.key for one in known)
                mark = self.found.get(key)
                if mark is None:
                    form = " ".join(one.form for one in known)
                    mark = self._add(key, form, ConceptKind.TERM, times=0)
                mark.emphasised = True

    def _words(self, text: str, code: str) -> None:
        """Runs of content words between words without content: one to three words each."""
        before: Token | None = None
        last: Token | None = None
        inside = False
        for word in _TOKEN.findall(text):
            token = _token(word, code)
            if token is None:
                before = last = None
                inside = word[0].isalnum()
                continue
            if token.pieces:
                for piece in token.pieces:
                    self._add(piece, piece, ConceptKind.TERM)
                before = last = None
                inside = True
                continue
            if not token.soft:
                single = self._add(token.key, token.form, token.kind)
                single.proper += token.camel or (token.capital and inside)
            if last is not None and not (token.soft and last.soft):
                self._pair(last, token)
                if before is not None and not (before.soft and token.soft):
                    self._add(
                        f"{before.key} {last.key} {token.key}",
                        f"{before.form} {last.form} {token.form}",
                        ConceptKind.TERM,
                    ).proper += before.capital and last.capital and token.capital
            before, last = last, token
            inside = True

    def _pair(self, last: "Token", token: "Token") -> None:
        pair = self._add(f"{last.key} {token.key}", f"{last.form} {token.form}", ConceptKind.TERM)
        pair.proper += last.capital and token.capital


@dataclass(frozen=True, slots=True)
class Token:
    """A word that may be part of a term."""

    key: str
    form: str
    kind: ConceptKind
    soft: bool
    capital: bool
    camel: bool
    pieces: tuple[str, ...] = ()
    """Candidates of an unspaced run."""


@lru_cache(maxsize=200_000)
def _token(word: str, code: str) -> Token | None:
    """What a word gives to terms; None when it delimits them."""
    if has_cjk(word):
        pieces = unspaced(word)
        return Token(word, word, ConceptKind.TERM, False, False, False, pieces) if pieces else None
    low = word.casefold().replace("\u2019", "'")
    if low.endswith("'s"):
        low, word = low[:-2], word[:-2]
    if not _worthy(low, code):
        return None
    camel = _CAMEL.search(word) is not None
    if "_" in word or ("." in word and camel) or (camel and word[0].islower()):
        return Token(fold(word), word, ConceptKind.SYMBOL, False, False, False)
    caps = word.isupper() and len(word) > 1
    single = singular(low, code)
    base = singular(low.replace("-", " "), code) if "-" in low else single
    soft = low in soft_words(code) or single in soft_words(code)
    if soft and not camel:
        form = single
    elif camel or caps:
        form = word
    else:
        form = word[0] + single[1:] if word[0].isupper() else single
    # an ordinary word is capital at the start of a sentence: its spelling is the small one
    shown = form if camel or caps else single
    return Token(base, shown, ConceptKind.TERM, soft, word[0].isupper(), camel)


def _worthy(low: str, code: str) -> bool:
    if low in stop_words(code) or len(low) < 3 or low[0].isdigit() or "'" in low:
        return False
    if low in soft_words(code):
        return True
    adverb = low.endswith("ly") and len(low) > 5 and code in {"en", "und"}
    return low not in weak_words(code) and not adverb and not low.replace(".", "").isdigit()


def symbol_of(inner: str) -> str:
    """The name in a code span, without call brackets; empty when it is no name."""
    if not _IDENTIFIER.fullmatch(inner) or len(inner) > _LONGEST:
        return ""
    name = inner.split("(", maxsplit=1)[0]
    marked = "_" in name or "." in name or "::" in name or name != inner or name.startswith("--")
    shaped = marked or _CAMEL.search(name) is not None or name.isupper()
    low = name.strip("-_$").casefold()
    if not shaped or len(low) < 3 or low in weak_words("en"):
        return ""
    return name


def skeleton(message: str) -> str:
    """An error message without what varies: numbers, quoted names, paths, addresses."""
    bare = " ".join(_VARIABLE.sub("\u2026", message).split())
    return clip(bare, _LONGEST).rstrip("\u2026 .:,;(")


_PARTICLES: Final = re.compile(
    "[\u7684\u4e86\u662f\u5728\u548c\u6709\u6211\u4f60\u4ed6\u5979\u5b83\u4eec\u8fd9\u90a3\u4e0d\u5c31\u4e5f\u90fd\u628a\u88ab\u5417\u5462\u5427\u554a"
    "\u4e0e\u6216\u53ca\u5f88\u8981\u4f1a\u80fd\u53ef\u60f3\u8bf7\u8ba9\u7ed9\u5230\u4ece\u5bf9\u8bf4\u770b\u53bb\u6765\u600e\u4e48\u4ec0\u4e3a\u54ea\u8c01\u51e0]+"
    "|[\u3040-\u309f]+"
)
_RUN: Final = range(2, 9)


def unspaced(run: str) -> tuple[str, ...]:
    """Term candidates of an unspaced run: its pieces between particles, and their short parts."""
    found: list[str] = []
    for piece in _PARTICLES.split(run):
        if len(piece) in _RUN:
            found.append(piece)
        if len(piece) > 4:
            found.extend(bigrams(piece))
            found.extend(piece[at : at + 4] for at in range(len(piece) - 3))
    return tuple(found)


def _merge_paths(found: Candidates) -> None:
    paths = sorted(key for key, one in found.items() if one.kind is ConceptKind.PATH)
    for source, target in merged(paths):
        gone = found.pop(source)
        kept = found[target]
        kept.count += gone.count
        for turn, times in gone.turns.items():
            kept.turns[turn] = kept.turns.get(turn, 0) + times
        # the written short form stays known as an alias, the label is the path kept
        kept.forms.setdefault(source, 0)


def _parts(key: str) -> Iterator[str]:
    words = key.split(" ")
    for size in range(1, len(words)):
        for start in range(len(words) - size + 1):
            yield " ".join(words[start : start + size])
    if has_cjk(key) and len(words) == 1:
        for size in range(2, len(key)):
            for start in range(len(key) - size + 1):
                yield key[start : start + size]


def _drop_nested(found: Candidates) -> None:
    """Drop a term that hardly occurs outside one longer term."""
    nested: set[str] = set()
    for key, longer in found.items():
        if longer.count < 2 or longer.kind not in {ConceptKind.TERM, ConceptKind.ENTITY}:
            continue
        for part in _parts(key):
            shorter = found.get(part)
            if (
                shorter is not None
                and shorter.kind not in TYPED
                and longer.count >= 0.8 * shorter.count
            ):
                nested.add(part)
    for part in sorted(nested):
        del found[part]
