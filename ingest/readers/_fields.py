"""What readers ask of the members of an object: a member of another type is not there."""

import base64
from datetime import datetime, tzinfo
from typing import Any, Final, TypeAlias

from graphstore.ids import digest_bytes
from graphstore.model.conversation import Attachment
from ingest.instants import instant
from ingest.model import Tally

Json: TypeAlias = dict[str, Any]

_WHOLE: Final = 2**63
"""Numbers below can be stored."""


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


def size_of(value: object) -> int | None:
    """A whole number of bytes."""
    if not isinstance(value, int) or isinstance(value, bool):
        return None
    return value if 0 <= value < _WHOLE else None


def inline(data: object, name: str | None = None, media: str | None = None) -> Attachment:
    """An attachment whose bytes stand in the record, in base64: what they are, without them."""
    try:
        content = base64.b64decode(data) if isinstance(data, str) else None
    except ValueError:
        content = None
    return Attachment(
        name=name,
        media_type=media,
        size=None if content is None else len(content),
        content_hash=None if content is None else digest_bytes(content),
    )


def of_data_url(url: str, name: str | None) -> Attachment:
    """An attachment whose bytes stand in its address (RFC 2397)."""
    head, _, data = url.partition(",")
    return inline(data, name, head.removeprefix("data:").partition(";")[0] or None)


def timed(
    value: object, tally: Tally, where: int | str | None = None, zone: tzinfo | None = None
) -> datetime | None:
    """A moment; one that is out of bounds is counted at its place."""
    moment, problem = instant(value, zone)
    if problem == "bad_timestamp":
        tally.note(problem, where)
    return moment
