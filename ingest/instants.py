"""Times as transcripts write them: numbers of any magnitude, ISO 8601, nothing guessed."""

import re
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Final, Literal, TypeAlias

TimeProblem: TypeAlias = Literal["bad_timestamp", "naive_time"]

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_FIRST_YEAR: Final = 1990
_LAST_YEAR: Final = 2100
_SECONDS: Final = 1e11
_MILLISECONDS: Final = 1e14
_MICROSECONDS: Final = 1e17
_USUAL: Final = (20, 24, 27)
"""Lengths of ``2026-02-03T04:05:06Z``, with milliseconds, with microseconds."""
_NUMBER: Final = re.compile(r"[+-]?\d{1,40}(?:\.\d{1,40})?(?:[eE][+-]?\d{1,3})?")
# `2026-02-03 04:05:06 UTC`, `... +01:00`: the blank before the zone is not ISO, yet common.
_SPACED_ZONE: Final = re.compile(r"(.*\d)\s+(?:(?:UTC|GMT|[Zz])|([+-]\d\d:?\d\d))")


def instant(
    value: object, zone: tzinfo | None = None
) -> tuple[datetime | None, TimeProblem | None]:
    """Read a time: aware UTC, or null with what is wrong with it.

    Numbers and numeric strings are seconds, milliseconds, microseconds or nanoseconds by
    their magnitude; strings are ISO 8601. A time without offset is taken in ``zone`` and
    flagged ``naive_time``; with no zone given it stays naive, for a later stage to place.
    Null and blank strings are null without a problem; anything else that is not a time from
    1990 to 2100 is null and ``bad_timestamp``.
    """
    if isinstance(value, str) and len(value) in _USUAL and value[-1] == "Z":
        moment = _usual(value)
        if moment is not None:
            return moment, None
    if value is None or (isinstance(value, str) and not value.strip()):
        return None, None
    moment = _parsed(value)
    if moment is None:
        return None, "bad_timestamp"
    if moment.tzinfo is None:
        return _placed(moment, zone)
    return _checked(moment, None)


def aware(moment: datetime | None) -> datetime | None:
    """Return a time that names its zone; null for one that does not, where none may be guessed."""
    return moment if moment is not None and moment.tzinfo is not None else None


def _usual(text: str) -> datetime | None:
    """A time in the form of nearly all of them; None if it is something else after all."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    usual = moment.tzinfo is UTC and _FIRST_YEAR <= moment.year <= _LAST_YEAR
    return moment if usual else None


def _placed(moment: datetime, zone: tzinfo | None) -> tuple[datetime | None, TimeProblem | None]:
    if zone is None:
        in_range = _FIRST_YEAR <= moment.year <= _LAST_YEAR
        return (moment, "naive_time") if in_range else (None, "bad_timestamp")
    return _checked(moment.replace(tzinfo=zone), "naive_time")


def _checked(
    moment: datetime, problem: TimeProblem | None
) -> tuple[datetime | None, TimeProblem | None]:
    try:
        moment = moment.astimezone(UTC)
    except OverflowError:
        return None, "bad_timestamp"
    if _FIRST_YEAR <= moment.year <= _LAST_YEAR:
        return moment, problem
    return None, "bad_timestamp"


def _parsed(value: object) -> datetime | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return _from_number(value)
    if isinstance(value, str):
        return _from_text(value.strip())
    return None


def _from_text(text: str) -> datetime | None:
    if _NUMBER.fullmatch(text):
        return _from_number(float(text) if "." in text or "e" in text.lower() else int(text))
    spaced = _SPACED_ZONE.fullmatch(text)
    if spaced:
        text = spaced[1] + (spaced[2] or "Z")
    try:
        return datetime.fromisoformat(text.upper())
    except ValueError:
        return None


def _from_number(number: float) -> datetime | None:
    size = abs(number)
    try:
        if size < _SECONDS:
            return _EPOCH + timedelta(seconds=number)
        if size < _MILLISECONDS:
            return _EPOCH + timedelta(milliseconds=number)
        if size < _MICROSECONDS:
            return _EPOCH + timedelta(microseconds=number)
        return _EPOCH + timedelta(microseconds=number // 1000)
    except (OverflowError, ValueError):  # out of the calendar; not a number
        return None
