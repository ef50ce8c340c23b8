"""Words and dates as people type them."""

from collections.abc import Iterable
from datetime import UTC, datetime

from graphstore.errors import Error


class WrongValue(Error):
    """{name} cannot be {given}; give {allowed}."""

    hint = "clew COMMAND --help shows what a command takes"

    def __init__(self, name: str, given: str, allowed: str) -> None:
        super().__init__(name, given, allowed)
        self.name = name
        self.given = given
        self.allowed = allowed


def moment(text: str, name: str = "a date") -> datetime | None:
    """An ISO date or time, UTC where no zone is given; None for an empty text.

    Raises WrongValue for anything else.
    """
    if not text:
        return None
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        allowed = "a date such as 2026-01-31, or a time in ISO 8601"
        raise WrongValue(name, text, allowed) from None
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def one_of(name: str, given: str, allowed: Iterable[str]) -> str | None:
    """A word of a closed list; None for an empty one. Raises WrongValue for any other."""
    known = tuple(allowed)
    if given and given not in known:
        raise WrongValue(name, given, "one of " + ", ".join(known))
    return given or None
