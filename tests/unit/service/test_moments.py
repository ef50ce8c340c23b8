"""Dates and words as people type them."""

from datetime import UTC, datetime, timedelta, timezone

import pytest

from graphstore.model.conversation import Role
from service.moments import WrongValue, moment, one_of


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", None),
        ("2026-01-31", datetime(2026, 1, 31, tzinfo=UTC)),
        ("2026-01-31T08:00", datetime(2026, 1, 31, 8, tzinfo=UTC)),
        ("2026-01-31T08:00Z", datetime(2026, 1, 31, 8, tzinfo=UTC)),
        ("2026-01-31T08:00+02:00", datetime(2026, 1, 31, 8, tzinfo=timezone(timedelta(hours=2)))),
    ],
)
def test_a_date_or_a_time_is_understood(text, found):
    assert moment(text) == found


@pytest.mark.parametrize("text", ["yesterday", "31.01.2026", "2026-13-01"])
def test_another_date_is_refused_with_an_example(text):
    with pytest.raises(WrongValue, match=r"since cannot be .*2026-01-31"):
        moment(text, "since")


def test_a_word_of_a_list_is_itself_and_an_empty_one_is_none():
    assert one_of("role", "human", Role) == "human"
    assert one_of("role", "", Role) is None


def test_another_word_is_refused_with_the_list():
    with pytest.raises(WrongValue, match=r"role cannot be robot; give one of human, assistant"):
        one_of("role", "robot", Role)
