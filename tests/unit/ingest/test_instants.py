from datetime import UTC, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest

from ingest.instants import aware, instant

MOMENT = datetime(2026, 2, 3, 4, 5, 6, tzinfo=UTC)
SECONDS = 1770091506


@pytest.mark.parametrize(
    "value",
    [
        SECONDS,
        float(SECONDS),
        SECONDS * 1000,
        SECONDS * 1_000_000,
        SECONDS * 1_000_000_000,
        str(SECONDS),
        f"{SECONDS}.0",
        f" {SECONDS * 1000} ",
        "2026-02-03T04:05:06Z",
        "2026-02-03t04:05:06z",
        "2026-02-03T04:05:06.000Z",
        "2026-02-03 04:05:06Z",
        "2026-02-03T05:05:06+01:00",
        "2026-02-03T05:05:06+0100",
        "2026-02-02T20:05:06-08:00",
        "20260203T040506Z",
        "2026-02-03 04:05:06 UTC",
        "2026-02-03 05:05:06 +01:00",
    ],
)
def test_every_form_of_one_moment_is_that_moment(value):
    assert instant(value) == (MOMENT, None)


@pytest.mark.parametrize(
    ("value", "moment"),
    [
        (1756000000.5, datetime(2025, 8, 24, 1, 46, 40, 500000, tzinfo=UTC)),
        ("1756000000.5", datetime(2025, 8, 24, 1, 46, 40, 500000, tzinfo=UTC)),
        (1756000000123, datetime(2025, 8, 24, 1, 46, 40, 123000, tzinfo=UTC)),
        (1756000000123456, datetime(2025, 8, 24, 1, 46, 40, 123456, tzinfo=UTC)),
        (1756000000123456789, datetime(2025, 8, 24, 1, 46, 40, 123456, tzinfo=UTC)),
        ("2026-02-03T04:05:06.123456789Z", MOMENT.replace(microsecond=123456)),
        (631152000, datetime(1990, 1, 1, tzinfo=UTC)),
        ("2100-12-31T23:59:59Z", datetime(2100, 12, 31, 23, 59, 59, tzinfo=UTC)),
    ],
)
def test_fractions_and_edges_are_kept(value, moment):
    assert instant(value) == (moment, None)


@pytest.mark.parametrize("value", [None, "", "  \n"])
def test_what_is_absent_is_null_without_a_problem(value):
    assert instant(value) == (None, None)


@pytest.mark.parametrize(
    "value",
    [
        True,
        False,
        0,
        -1,
        "0",
        631151999,
        "1970-01-01T00:00:00Z",
        "1989-12-31T23:59:59Z",
        "2101-01-01T00:00:00Z",
        "+58000-01-01T00:00:00Z",
        1_768_000_000_000_000_000_000,
        10**400,
        float("nan"),
        float("inf"),
        -1e300,
        "yesterday",
        "2026-13-01",
        "2026-02-03T25:00:00Z",
        "9" * 60,
        "0001-01-01T00:00:00+14:00",
        [],
        {"$date": SECONDS},
        b"2026-02-03",
    ],
)
def test_what_is_no_time_of_these_years_is_bad(value):
    assert instant(value) == (None, "bad_timestamp")


def test_a_naive_time_stays_naive_until_a_zone_is_known():
    assert instant("2026-02-03 04:05:06") == (MOMENT.replace(tzinfo=None), "naive_time")
    assert instant("1980-02-03 04:05:06") == (None, "bad_timestamp")


@pytest.mark.parametrize(
    "zone",
    [UTC, ZoneInfo("Europe/Berlin"), ZoneInfo("Asia/Kolkata"), timezone(timedelta(hours=-8))],
)
def test_a_naive_time_is_placed_in_the_zone_given(zone):
    moment, problem = instant("2026-07-03T04:05:06", zone)
    assert problem == "naive_time"
    assert moment == datetime(2026, 7, 3, 4, 5, 6, tzinfo=zone)
    assert moment.tzinfo is UTC


def test_a_named_zone_wins_over_the_one_given():
    assert instant("2026-02-03T04:05:06Z", ZoneInfo("Asia/Tokyo")) == (MOMENT, None)


def test_a_date_alone_is_its_midnight():
    assert instant("2026-02-03", UTC) == (datetime(2026, 2, 3, tzinfo=UTC), "naive_time")


def test_a_time_without_zone_is_null_where_none_may_be_guessed():
    assert aware(MOMENT) is MOMENT
    assert (aware(MOMENT.replace(tzinfo=None)), aware(None)) == (None, None)
