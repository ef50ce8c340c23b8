"""Dates as people type them."""

from datetime import UTC, datetime

from graphstore.errors import SettingsError


def moment(text: str) -> datetime | None:
    """An ISO date or time, UTC where no zone is given; None for an empty text.

    Raises SettingsError for anything else.
    """
    if not text:
        return None
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        raise SettingsError(text, "a date such as 2026-01-31, or a time in ISO 8601") from None
    return found if found.tzinfo else found.replace(tzinfo=UTC)
