"""What readers ask of the members of an object: a member of another type is not there."""

import base64
from datetime import datetime, tzinfo
from typing import Any, TypeAlias

from ingest.instants import instant
from ingest.model import Tally

Json: TypeAlias = dict[str, Any]


def written(value: Json, key: str) -> str | None:
    """A member that is a text with something in it."""
    found = value.get(key)
    return found if isinstance(found, str) and found.strip() else None


def word(value: Json, key: str) -> str:
    """A member that must be a word to say anything; empty if it is none."""
    found = value.get(key)
    return found if isinstance(found, str) else ""


def objects_of(value: object) -> list[Json]:
    """The objects of a list; none of anything else."""
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def from_base64(data: object) -> bytes | None:
    """Bytes of a text in base64."""
    try:
        return base64.b64decode(data) if isinstance(data, str) else None
    except ValueError:
        return None


def timed(
    value: object, tally: Tally, where: int | str | None = None, zone: tzinfo | None = None
) -> datetime | None:
    """A moment; one that is out of bounds is counted at its place."""
    moment, problem = instant(value, zone)
    if problem == "bad_timestamp":
        tally.note(problem, where)
    return moment
