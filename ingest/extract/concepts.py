"""Concept candidates of a turn, and what a thread keeps of them."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache
from typing import Final

from graphstore.model.knowledge import ConceptKind
from ingest.extract.lexicon import soft_words, stop_words, weak_words
from ingest.extract.paths import is_path, merged, relative, spans
from ingest.extract.text import Prose, clip, has_cjk
from ingest.extract.words import PARTICLES, bigrams, german_noun, lemma, singular, slips

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
NESTED: Final = 0.7
"""Share of a term's uses inside one longer term from which only the longer one is kept."""
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
_DIGITS: Final = 4
"""Words with more digits are dates, hashes and model versions."""
_MOST_WORDS: Final = 3
"""Words of a term."""
_LEAST: Final = 3
"""Characters of a word or name that can stand as a concept."""
_SUFFIXED: Final = 6
"""Characters from which a suffix tells what a word is."""
_LONG_PIECE: Final = 4
"""Characters of an unspaced piece beyond which its parts are candidates too."""
_TWICE: Final = 2
_KNOWN: Final = 200_000
"""Words of one language that are remembered."""
_LONGEST: Final = 60
"""Characters of a label that still reads as a name."""

_TOKEN: Final = re.compile(
    # vowel signs of Devanagari are no letters to \\w: its words come first
    r"[\u0900-\u0963\u0966-\u097f]+|[^\W_][^\W_]*(?:[-_.'\u2019][^\W_]+)*|[^\w\s]+|\n|_"
)
_SPAN: Final = re.compile(r"`([^`\n]{2,120})`")
_IDENTIFIER: Final = re.compile(
    r"(?:--?)?[A-Za-z_$@][\w$-]*(?:(?:\.|::|->|#)[A-Za-z_$][\w$]*)*(?:\([^()]*\))?"
)
_CAMEL: Final = re.compile(r"[a-z0-9][A-Z]|[A-Z]{2}[a-z]{2}")
_ACRONYMS: Final = re.compile(r"[A-Z]{2,6}s")
"""Several of what is called by its first letters."""
_MEMBER: Final = re.compile(r"\w\.[A-Z]")
_PLAIN_WORDS: Final = re.compile(r"[a-z][a-z-]+(?: [a-z][a-z-]+){1,2}")
_MARKED: Final = re.compile(r"\*\*([^*\n]{3,60})\*\*|^#{1,6}[ \t]+([^\n]{3,60})$", re.MULTILINE)
_DIFF_SIDE: Final = re.compile(r"(?<![\w/])[ab]/(?=\w+/)")
_FLAG: Final = re.compile(r"(?<![\w-])--[a-z][a-z-]{2,40}\b")
_RAISED: Final = re.compile(
    r"\b((?:[A-Za-z_]+\.)*[A-Z][A-Za-z0-9]*(?:Error|Exception|Panic|Fault))\b(?:: ?([^\n]{4,160}))?"
)
_REPORTED: Final = re.compile(
    r"^[ \t]*((?:error|fatal|panic)(?:\[[A-Z]+\d+\])?): ?([^\n]{4,160})", re.MULTILINE
)
_CODED: Final = re.compile(
    r"\b(?:TS\d{4,5}|ERR_[A-Z_]{4,}|CVE-\d{4}-\d{3,7}|E(?:NO|AD|AC|PE|CO|EX|IS|PI|TI)[A-Z]{3,})\b"
)
_CODE_SIGNS: Final = (
    "TS",
    "ERR_",
    "CVE-",
    "ENO",
    "EAD",
    "EAC",
    "EPE",
    "ECO",
    "EEX",
    "EIS",
    "EPI",
    "ETI",
)
_SIGNS: Final = ("Error", "Exception", "Panic", "Fault")
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
    if "/" in label or is_path(label) or label.startswith("-"):
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
            self._path(path, told=True)
        for block in prose.blocks:
            self._errors(block, told=True)
            self._paths(_DIFF_SIDE.sub("", block))
        text = _SPAN.sub(self._span, prose.text)
        self._errors(text, told=False)
        text = self._paths(text)
        if "--" in text:
            text = _FLAG.sub(self._flag, text)
        if "**" in text or "#" in text:
            self._marks(text, code)
        self._words(text, code)

    def done(self) -> Candidates:
        """Candidates with paths merged, names told from terms and nested terms dropped.

        More turns may follow after it; what was given then changes with them.
        """
        done = dict(self.found)
        _merge_paths(done)
        for key, candidate in done.items():
            if candidate.kind is ConceptKind.TERM and 2 * candidate.proper > candidate.count:
                done[key] = replace(candidate, kind=ConceptKind.ENTITY)
        _drop_nested(done)
        return done

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

    def _path(self, written: str, *, told: bool = False) -> bool:
        path = relative(written, self._project, told=told)
        if path:
            self._add(path, path, ConceptKind.PATH)
        return bool(path)

    def _paths(self, text: str) -> str:
        """Take out the paths of a text; what stays in their place delimits terms."""
        pieces: list[str] = []
        done = 0
        for start, end in spans(text):
            if self._path(text[start:end]):
                pieces.append(text[done:start])
                done = end
        pieces.append(text[done:])
        return " . ".join(pieces)

    def _flag(self, found: "re.Match[str]") -> str:
        self._add(found.group(), found.group(), ConceptKind.SYMBOL)
        return " . "

    def _span(self, found: "re.Match[str]") -> str:
        inner = found.group(1).strip()
        if ("/" in inner or "." in inner) and self._path(inner):
            return " . "
        symbol = symbol_of(inner)
        if symbol:
            self._add(fold(symbol), symbol, ConceptKind.SYMBOL)
            return " . "
        # plain words in a span are words: "the `main` branch"
        return f" {inner} " if _PLAIN_WORDS.fullmatch(inner) or inner.isalpha() else " . "

    def _errors(self, text: str, *, told: bool) -> None:
        """Signatures of errors; a bare type counts only where somebody speaks of it."""
        if any(sign in text for sign in _SIGNS):
            for found in _RAISED.finditer(text):
                kind, message = found.groups()
                if message:
                    self._error(f"{kind}: {skeleton(message)}")
                elif not told and kind not in {"Error", "Exception"}:
                    self._error(kind)
        if "error" in text or "fatal" in text or "panic" in text:
            for found in _REPORTED.finditer(text):
                self._error(f"{found.group(1)}: {skeleton(found.group(2))}")
        if any(sign in text for sign in _CODE_SIGNS):
            for found in _CODED.finditer(text):
                self._error(found.group())

    def _error(self, label: str) -> None:
        if label[-1] not in ": ":
            self._add(fold(label), label, ConceptKind.ERROR)

    def _marks(self, text: str, code: str) -> None:
        for found in _MARKED.finditer(text):
            words = list(_TOKEN.findall(found.group(1) or found.group(2)))
            forms = [_tokens(code)[word] for word in words if word not in "*:#."]
            known = [form for form in forms if form is not None]
            if (
                known
                and len(known) == len(forms) <= _MOST_WORDS
                and not all(one.soft for one in known)
            ):
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
        tokens = _tokens(code)
        for word in _TOKEN.findall(text):
            token = tokens[word]
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
    soft: bool = False
    capital: bool = False
    camel: bool = False
    pieces: tuple[str, ...] = ()
    """Candidates of an unspaced run."""


class _Tokens(dict[str, Token | None]):
    """Words of one language as they were read before: each stands there again and again."""

    def __init__(self, code: str) -> None:
        super().__init__()
        self._code = code

    def __missing__(self, word: str) -> Token | None:
        if len(self) >= _KNOWN:
            self.clear()
        made = self[word] = _token(word, self._code)
        return made


@cache
def _tokens(code: str) -> _Tokens:
    return _Tokens(code)


def _token(word: str, code: str) -> Token | None:
    """What a word gives to terms; None when it delimits them."""
    if not (word[0].isalnum() or "\u0900" <= word[0] <= "\u097f"):
        return None
    if has_cjk(word):
        pieces = unspaced(word)
        return Token(word, word, ConceptKind.TERM, pieces=pieces) if pieces else None
    low = word.casefold().replace("\u2019", "'")
    if low.endswith("'s"):
        low, word = low[:-2], word[:-2]
    if _ACRONYMS.fullmatch(word):
        low, word = low[:-1], word[:-1]
    named = code == "de" and word[0].isupper()
    single = german_noun(word) if named else singular(low, code)
    if not _worthy(low, code) or not _worthy(single, code):
        return None
    camel = _CAMEL.search(word) is not None
    dotted = "." in word and (camel or _MEMBER.search(word) is not None)
    if "_" in word or dotted or (camel and word[0].islower()):
        return Token(fold(word), word, ConceptKind.SYMBOL)
    caps = word.isupper() and len(word) > 1
    base = singular(low.replace("-", " "), code) if "-" in low else single
    soft = low in soft_words(code) or single in soft_words(code) or _qualifies(low, code)
    # an ordinary word is capital at the start of a sentence: its spelling is the small one
    shown = word if camel or caps else single[:1].upper() + single[1:] if named else single
    return Token(base, shown, ConceptKind.TERM, soft=soft, capital=word[0].isupper(), camel=camel)


_ENGLISH: Final = frozenset({"en", "und"})
_QUALITIES: Final = ("able", "ible", "ful", "less", "ous", "ative")


def _qualifies(low: str, code: str) -> bool:
    """Participles and words of quality name something only in company: "winding drum"."""
    if code not in _ENGLISH or len(low) < _SUFFIXED:
        return False
    return low.endswith(_QUALITIES) or (low.endswith(("ing", "ed")) and lemma(low, code) != low)


def _worthy(low: str, code: str) -> bool:
    if low in stop_words(code) or len(low) < _LEAST or low[0].isdigit() or "'" in low:
        return False
    if low in soft_words(code):
        return True
    # "puis-je", "gibt-es": a verb with its pronoun
    if code not in _ENGLISH and "-" in low and low.rpartition("-")[2] in stop_words(code):
        return False
    adverb = low.endswith("ly") and len(low) >= _SUFFIXED and code in _ENGLISH
    # "haha" is no name; "ssh" and "css" are
    if len(set(low)) < (_LEAST if len(low) > _LEAST else _LEAST - 1):
        return False
    numbered = sum(map(str.isdigit, low)) > _DIGITS
    if adverb or numbered or low in weak_words(code):
        return False
    return low not in slips(code)


def symbol_of(inner: str) -> str:
    """The name in a code span, without call brackets; empty when it is no name."""
    if not _IDENTIFIER.fullmatch(inner) or len(inner) > _LONGEST:
        return ""
    name = inner.split("(", maxsplit=1)[0]
    marked = "_" in name or "." in name or "::" in name or name != inner or name.startswith("--")
    shaped = marked or _CAMEL.search(name) is not None or name.isupper()
    low = name.strip("-_$").casefold()
    if not shaped or len(low) < _LEAST or low in weak_words("en"):
        return ""
    return name


def skeleton(message: str) -> str:
    """An error message without what varies: numbers, quoted names, paths, addresses."""
    bare = " ".join(_VARIABLE.sub("\u2026", message).split())
    return clip(bare, _LONGEST).rstrip("\u2026 .:,;(")


_RUN: Final = range(2, 9)


def unspaced(run: str) -> tuple[str, ...]:
    """Term candidates of an unspaced run: its pieces between particles, and their short parts."""
    found: list[str] = []
    for piece in PARTICLES.split(run):
        if len(piece) in _RUN:
            found.append(piece)
        if len(piece) > _LONG_PIECE:
            found.extend(bigrams(piece))
            found.extend(piece[at : at + 3] for at in range(len(piece) - 2))
            found.extend(piece[at : at + 4] for at in range(len(piece) - 3))
    return tuple(found)


def _merge_paths(found: Candidates) -> None:
    paths = sorted(key for key, one in found.items() if one.kind is ConceptKind.PATH)
    for source, target in merged(paths):
        gone = found.pop(source)
        known = found[target]
        kept = replace(known, forms=dict(known.forms), turns=dict(known.turns))
        found[target] = kept
        kept.count += gone.count
        for turn, times in gone.turns.items():
            kept.turns[turn] = kept.turns.get(turn, 0) + times
        # the written short form stays known as an alias, the label is the path kept
        kept.forms.setdefault(source, 0)


def parts(key: str) -> Iterator[str]:
    """Shorter terms inside a term."""
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
        if longer.count < _TWICE or longer.kind not in {ConceptKind.TERM, ConceptKind.ENTITY}:
            continue
        for part in parts(key):
            shorter = found.get(part)
            if (
                shorter is not None
                and shorter.kind not in TYPED
                and longer.count > NESTED * shorter.count
            ):
                nested.add(part)
    for part in sorted(nested):
        del found[part]
