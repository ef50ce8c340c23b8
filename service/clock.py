"""The one reading of the wall clock."""

from datetime import UTC, datetime


def now() -> datetime:
    """This moment, aware, in UTC."""
    return datetime.now(UTC)
