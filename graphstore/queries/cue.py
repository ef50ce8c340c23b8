"""Reading a cue: its content words, the days it names, and who it says was speaking."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Final
from unicodedata import category

FUNCTION_WORDS: Final = frozenset(
    """
    a about above after again all also am an and any are aren as at be because been before being
    below between both but by can cannot could couldn d did didn do does doesn doing don down
    during each few for from further had hadn has hasn have haven having he her here hers herself
    him himself his how i if in into is isn it its itself just ll m may me might more most must my
    myself no nor not now o of off on once only or other our ours ourselves out over own re s same
    shall she should shouldn so some such t than that the their theirs them themselves then there
    these they this those through to too under until up upon ve very was wasn we were weren what
    when where which while who whom whose why will with would wouldn y you your yours yourself
    """.split()  # noqa: SIM905 - readable as prose, not as two hundred quoted lines
)
"""English; in other languages frequency alone tells such words apart."""

_MONTHS: Final = (
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
)
_MONTH: Final = "sept|" + "|".join(f"{name[:3]}(?:{name[3:]})?" for name in _MONTHS)
_ISO: Final = re.compile(r"\b(?P<year>(?:19|20)\d\d)-(?P<month>\d\d?)(?:-(?P<day>\d\d?))?\b")
_CJK: Final = re.compile(
    r"(?P<year>(?:19|20)\d\d)\u5e74(?:(?P<month>\d\d?)\u6708(?:(?P<day>\d\d?)\u65e5)?)?"
)
_NAMED: Final = re.compile(
    rf"\b(?:(?P<lead>in|last|this|since|during|of)\s+)?"
    rf"(?:(?P<day>\d\d?)(?:st|nd|rd|th)?\s+(?:of\s+)?)?(?P<month>{_MONTH})\b\.?"
    rf"(?:\s+(?P<after>\d\d?)(?:st|nd|rd|th)?\b(?!\d))?(?:\s*,?\s*(?P<year>(?:19|20)\d\d)\b)?",
    re.IGNORECASE,
)
_VERBS: Final = ("may", "mar", "march")
"""Months that are other words more often than not, unless a day, a year or a preposition is by."""
_YEAR: Final = re.compile(r"\b(?:in|during|of|since)\s+(?P<year>(?:19|20)\d\d)\b")
_AGO: Final = re.compile(
    r"\b(?P<count>\d{1,3}|an?|one|two|three)\s+(?P<unit>day|week|month|year)s?\s+ago\b"
)
_LAST: Final = re.compile(r"\b(?P<which>last|this|past)\s+(?P<unit>week|month|year)\b")
_DAY: Final = re.compile(r"\b(?P<name>today|yesterday)\b")
_LATIN_END: Final = "\u0250"
_LATIN_MORE: Final = frozenset(map(chr, range(0x1E00, 0x1F00)))
"""Letters with marks below or above, as Vietnamese has them."""
_COUNTS: Final = {"a": 1, "an": 1, "one": 1, "two": 2, "three": 3}
_DAYS: Final = {"day": 1, "week": 7, "month": 30, "year": 365}

_BEFORE: Final = timedelta(days=2)
_AFTER: Final = timedelta(days=6)
_LONG_BEFORE: Final = timedelta(days=10)
_LONG_AFTER: Final = timedelta(days=31)

_MINE: Final = re.compile(
    r"\b(?:did|have|had|do)\s+i\s+(?:ask|say|tell|told|want|write|mention|decide|complain)|"
    r"\bi\s+(?:asked|said|told|wanted|wrote|mentioned|decided|complained)\b"
)
_THEIRS: Final = re.compile(
    r"\b(?:did|have|had)\s+(?:you|it|the\s+(?:assistant|agent|model))\s+"
    r"(?:say|tell|suggest|propose|recommend|answer|explain|advise)|"
    r"\b(?:you|(?:the\s+)?(?:assistant|agent|model))\s+"
    r"(?:said|told|suggested|proposed|recommended|answered|explained|advised)\b"
)


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of time that a cue names, half-open."""

    start: datetime
    end: datetime

    def bounds(self) -> tuple[tuple[float, float], tuple[float, float]]:
        """Where talk about it is likely, and where it is possible, in seconds since 1970.

        People talk of a day some time after it, and sometimes shortly before.
        """
        near = (self.start - _BEFORE, self.end + _AFTER)
        wide = (self.start - _LONG_BEFORE, self.end + _LONG_AFTER)
        return (near[0].timestamp(), near[1].timestamp()), (
            wide[0].timestamp(),
            wide[1].timestamp(),
        )


def spans(cue: str, now: datetime, years: Iterable[int] = ()) -> tuple[Span, ...]:
    """Times that a cue names, absolute or against ``now``, each once.

    A month without a year means that month in any of ``years``.
    """
    text = cue.casefold()
    return tuple(dict.fromkeys((*_absolute(text, now, sorted(years)), *_relative(text, now))))


def without_times(cue: str) -> str:
    """The cue without the times it names: they say when, not what."""
    text = _NAMED.sub(lambda found: found[0] if _is_verb(found) else " ", cue)
    for pattern in (_ISO, _CJK, _YEAR, _DAY, _LAST, _AGO):
        text = pattern.sub(" ", text)
    return text


def _is_verb(found: re.Match[str]) -> bool:
    bare = not (found["day"] or found["after"] or found["year"] or found["lead"])
    return bare and found["month"].casefold() in _VERBS


def _absolute(text: str, now: datetime, years: list[int]) -> Iterator[Span]:
    for pattern in (_ISO, _CJK):
        for found in pattern.finditer(text):
            yield from _span(found["year"], found["month"], found["day"])
    for found in _NAMED.finditer(text):
        yield from _by_name(found, now, years)
    for found in _YEAR.finditer(text):
        yield from _span(found["year"], None, None)


def _by_name(found: re.Match[str], now: datetime, years: list[int]) -> Iterator[Span]:
    month = 1 + next(n for n, name in enumerate(_MONTHS) if found["month"][:3] == name[:3])
    day = found["day"] or found["after"]
    if _is_verb(found):
        return
    if found["year"]:
        meant = [int(found["year"])]
    elif found["lead"] in ("last", "this"):
        meant = [now.year if month <= now.month else now.year - 1]
    else:
        meant = years
    for year in meant:
        yield from _span(str(year), str(month), day)


def _span(year: str, month: str | None, day: str | None) -> Iterator[Span]:
    """The year, month or day named, or nothing when there is no such day."""
    try:
        start = datetime(int(year), int(month or 1), int(day or 1), tzinfo=UTC)
    except ValueError:
        return
    if day:
        yield Span(start, start + timedelta(days=1))
    elif month:
        yield Span(start, (start + timedelta(days=32)).replace(day=1))
    else:
        yield Span(start, start.replace(year=start.year + 1))


def _relative(text: str, now: datetime) -> Iterator[Span]:
    today = now.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    for found in _DAY.finditer(text):
        start = today - timedelta(days=int(found["name"] == "yesterday"))
        yield Span(start, start + timedelta(days=1))
    for found in _LAST.finditer(text):
        days = _DAYS[found["unit"]]
        back = days if found["which"] == "this" else 2 * days
        yield Span(today - timedelta(days=back), today + timedelta(days=1))
    for found in _AGO.finditer(text):
        count = _COUNTS.get(found["count"]) or int(found["count"])
        days = _DAYS[found["unit"]]
        start = today - timedelta(days=count * days)
        yield Span(start - timedelta(days=days // 2), start + timedelta(days=days // 2 + 1))


def role_meant(cue: str) -> str | None:
    """The role whose words a cue asks for: "what did I ask", "what did you suggest"."""
    text = cue.casefold()
    if _MINE.search(text):
        return "human"
    return "assistant" if _THEIRS.search(text) else None


def speakers_meant(cue: str, speakers: Iterable[str]) -> tuple[str, ...]:
    """Speakers whose name stands in the cue, sorted."""
    words = _words(cue)
    return tuple(sorted(name for name in set(speakers) if _words(name) and _words(name) <= words))


def content_words(cue: str, names: Iterable[str] = ()) -> str:
    """The cue without function words and without the given names.

    When nothing would be left, the names stay, and then the function words.
    """
    words = words_of(cue)
    named = frozenset[str]().union(*map(_words, names))
    content = [word for word in words if word.casefold() not in FUNCTION_WORDS]
    without = [word for word in content if word.casefold() not in named]
    return " ".join(without or content or words) if words else cue


def _words(text: str) -> frozenset[str]:
    return frozenset(words_of(text.casefold()))


def words_of(text: str) -> list[str]:
    """Runs of letters and digits with the marks on them, as the text index splits them."""
    marks = (sign for sign in set(text) if not sign.isascii() and category(sign)[0] == "M")
    return _runs("".join(sorted(marks))).findall(text)


@lru_cache(maxsize=256)
def _runs(marks: str) -> re.Pattern[str]:
    # marks are no word characters to `re`: Devanagari falls apart at each vowel sign
    return re.compile(rf"(?:[^\W_]|[{marks}])+" if marks else r"[^\W_]+")


def in_latin(text: str) -> bool:
    """Whether at least half of the letters of a text are Latin; true for a text without any."""
    letters = [letter for letter in text if letter.isalpha()]
    latin = sum(letter < _LATIN_END or letter in _LATIN_MORE for letter in letters)
    return 2 * latin >= len(letters)
