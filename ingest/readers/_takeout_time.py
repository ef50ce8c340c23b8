"""Times as English pages of a Takeout show them: month names, odd blanks, zones by name."""

import re
import unicodedata
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from typing import Final, NamedTuple

from ingest.instants import TimeProblem, instant

_MONTHS: Final = (
    "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
)  # fmt: skip
_CLOCK: Final = r"(?P<hour>\d{1,2})[:.](?P<minute>\d\d)(?:[:.](?P<second>\d\d))?"
_HALF: Final = r"(?: ?(?P<half>[AaPp])\.?[Mm]\.?)?"
_ZONE: Final = r"(?: (?P<zone>[A-Za-z]{1,5})?(?P<shift>[+\-\u2212]\d{1,2}(?::?\d\d)?)?)?"
_MONTH: Final = r"(?P<month>[A-Za-z]{3,9})\.?"
_AMERICAN: Final = re.compile(
    rf"{_MONTH} (?P<day>\d{{1,2}}),? (?P<year>\d{{4}}),?(?: at)? {_CLOCK}{_HALF}{_ZONE}"
)
_BRITISH: Final = re.compile(
    rf"(?P<day>\d{{1,2}}) {_MONTH},? (?P<year>\d{{4}}),?(?: at)? {_CLOCK}{_HALF}{_ZONE}"
)
_ANY_CLOCK: Final = re.compile(r"\d{1,2}[:.]\d\d[:.]\d\d")
_ANY_YEAR: Final = re.compile(r"(?:19|20)\d\d")
_LONGEST: Final = 64
"""Characters of a line that is a time and nothing else."""
_NOON: Final = 12
_ZONES: Final = {
    "UTC": 0, "GMT": 0, "Z": 0, "WET": 0, "WEST": 60, "CET": 60, "CEST": 120, "EET": 120,
    "EEST": 180, "MSK": 180, "EST": -300, "EDT": -240, "CST": -360, "CDT": -300, "MST": -420,
    "MDT": -360, "PST": -480, "PDT": -420, "AKST": -540, "AKDT": -480, "HST": -600, "JST": 540,
    "KST": 540, "AEST": 600, "AEDT": 660, "NZST": 720, "NZDT": 780,
}  # fmt: skip
"""Minutes east of Greenwich, for names that mean one zone on a page in English."""


class Moment(NamedTuple):
    """A line that is a time: when, if it can be told, and what is wrong with it."""

    at: datetime | None
    problem: TimeProblem | None


def moment(line: str) -> Moment | None:
    """The time that a line is, or None if it is something else.

    A line of another language has the shape of a time and no month that is known here: it is
    ``bad_timestamp``. A zone that is not told, or by a name of several zones, leaves the time
    naive.
    """
    text = " ".join(unicodedata.normalize("NFKC", line).split())
    if not 0 < len(text) <= _LONGEST:
        return None
    found = _AMERICAN.fullmatch(text) or _BRITISH.fullmatch(text)
    if found is not None:
        return _told(found)
    if _ANY_CLOCK.search(text) and _ANY_YEAR.search(text):
        return Moment(None, "bad_timestamp")
    return None


def _told(found: re.Match[str]) -> Moment:
    month = found["month"][:3].lower()
    hour = int(found["hour"])
    if found["half"]:
        hour = hour % _NOON + (_NOON if found["half"] in "Pp" else 0)
    try:
        at = datetime(  # noqa: DTZ001 - the zone comes next, if there is one
            int(found["year"]),
            _MONTHS.index(month) + 1,
            int(found["day"]),
            hour,
            int(found["minute"]),
            int(found["second"] or 0),
        )
        zone = _zone(found["zone"], found["shift"])
        placed = at if zone is None else at.replace(tzinfo=zone).astimezone(UTC)
    except (ValueError, OverflowError):
        return Moment(None, "bad_timestamp")
    return Moment(*instant(placed.isoformat()))


def _zone(name: str | None, shift: str | None) -> tzinfo | None:
    """Zone of a name and a shift from it; None if neither says one. Raises ``ValueError``."""
    base = _ZONES.get((name or "GMT").upper()) if name or shift else None
    if base is None or not shift:
        return None if base is None else timezone(timedelta(minutes=base))
    digits = shift[1:].replace(":", "")
    hours, minutes = (int(digits[:-2]), int(digits[-2:])) if len(digits) > 2 else (int(digits), 0)  # noqa: PLR2004
    total = hours * 60 + minutes
    return timezone(timedelta(minutes=base + (total if shift[0] == "+" else -total)))
