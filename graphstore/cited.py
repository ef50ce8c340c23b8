"""Which thread an address or a number in a text stands for."""

import re
from typing import Final, NamedTuple
from urllib.parse import unquote

ISSUES: Final = "issues"
"""Source of the threads that numbers name."""
_NUMBER: Final = re.compile(r"(?P<repo>[\w.-]+(?:/[\w.-]+)+)?(?P<mark>[#!])(?P<number>\d{1,9})")
_OWN: Final = re.compile(r"(?P<repo>.*?)[#!]?\d+")
_ISSUE: Final = re.compile(
    r"https?://[^/\s]+/(?P<repo>[^\s?#]+?)/(?:-/)?"
    r"(?P<kind>issues|pulls?|merge_requests)/(?P<number>\d{1,9})(?:[/?#].*)?"
)
_MESSAGE: Final = re.compile(
    r"https?://[^/\s]+\.slack\.com/archives/(?P<room>\w+)/p(?P<ts>\d{7,12})(?P<part>\d{6})"
    r"(?:\?(?:[^#\s]*&)?thread_ts=(?P<root>\d+\.\d+)\S*|[?#]\S*)?"
)
_TALKS: Final = (
    ("chatgpt", re.compile(r"https?://(?:chatgpt|chat\.openai)\.com/(?:\S*/)?c/([\w-]+)\S*")),
    ("claude-ai", re.compile(r"https?://claude\.ai/chat/([\w-]+)\S*")),
)


class Meant(NamedTuple):
    """A thread by its source and native id; it may not be in the store yet."""

    source: str
    native_id: str


def is_reference(written: str) -> bool:
    """Whether a link may stand for a thread by address or number."""
    return _NUMBER.fullmatch(written) is not None or _addressed(written) is not None


def meant(written: str, source: str = "", native_id: str = "") -> Meant | None:
    """The thread that a link stands for, or None if it stands for none by itself.

    ``source`` and ``native_id`` are those of the thread it is written in: a number alone counts
    in its repository, and says nothing anywhere else.
    """
    number = _NUMBER.fullmatch(written)
    if number is None:
        return _addressed(written)
    if number["repo"]:
        return Meant(ISSUES, written)
    own = _OWN.fullmatch(native_id) if source == ISSUES else None
    if own is None:
        return None
    repo = own["repo"]
    return Meant(ISSUES, f"{repo}{written}" if repo else number["number"])


def _addressed(written: str) -> Meant | None:
    if not written.startswith("http"):
        return None
    issue = _ISSUE.fullmatch(written)
    if issue is not None:
        mark = "!" if issue["kind"] == "merge_requests" else "#"
        return Meant(ISSUES, f"{unquote(issue['repo'])}{mark}{issue['number']}")
    message = _MESSAGE.fullmatch(written)
    if message is not None:
        root = message["root"] or f"{message['ts']}.{message['part']}"
        return Meant("slack", f"{message['room']}:{root}")
    for source, shape in _TALKS:
        if (talk := shape.fullmatch(written)) is not None:
            return Meant(source, talk[1])
    return None
