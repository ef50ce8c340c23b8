"""The one reading of the wall clock, and the one wait on it."""

from datetime import UTC, datetime
from time import sleep


def now() -> datetime:
    """This moment, aware, in UTC."""
    return datetime.now(UTC)


def pause(seconds: float) -> None:
    """Do nothing for a while."""
    sleep(seconds)
