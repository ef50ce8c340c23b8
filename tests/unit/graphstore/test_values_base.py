from datetime import UTC, datetime, timedelta, timezone

import pytest
from pydantic import ValidationError

from graphstore.model.base import Instant, Value, adapter


class Point(Value):
    at: Instant
    name: str = "a"


MOMENT = datetime(2026, 1, 1, 14, tzinfo=timezone(timedelta(hours=2)))


def test_times_become_utc():
    assert Point(at=MOMENT).at.tzinfo is UTC
    assert Point(at=MOMENT).at.hour == 12


def test_naive_times_are_refused():
    with pytest.raises(ValidationError):
        Point(at=datetime(2026, 1, 1))  # noqa: DTZ001


def test_unknown_keys_are_refused():
    with pytest.raises(ValidationError):
        Point.model_validate({"at": MOMENT, "other": 1})


def test_values_are_frozen_and_equal_by_content():
    point = Point(at=MOMENT)
    with pytest.raises(ValidationError):
        point.name = "b"  # type: ignore[misc]
    assert point == Point(at=MOMENT.astimezone(UTC))
    assert hash(point) == hash(Point(at=MOMENT))


def test_reading_json_is_strict():
    assert Point.from_json(Point(at=MOMENT).model_dump_json()) == Point(at=MOMENT)
    with pytest.raises(ValidationError):
        Point.from_json('{"at": "2026-01-01T00:00:00Z", "name": 3}')


def test_replace_validates_again():
    assert Point(at=MOMENT).replace(name="b").name == "b"
    with pytest.raises(ValidationError):
        Point(at=MOMENT).replace(name=None)


@pytest.mark.parametrize("text", ['{"at": "canary"}', '{"at": 1, "canary": 2}'])
def test_errors_do_not_quote_input_values(text):
    with pytest.raises(ValidationError) as caught:
        Point.from_json(text)
    assert "canary" not in str(caught.value).replace("\ncanary\n", "")


def test_an_adapter_hides_input_too():
    with pytest.raises(ValidationError) as caught:
        adapter(Point | None).validate_json('{"at": "canary"}', strict=True)
    assert "canary" not in str(caught.value)
