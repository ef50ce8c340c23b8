"""References to turns: read from text, written to text, never guessed."""

import re
from typing import Annotated, Final, Literal, TypeAlias

from pydantic import Field

from graphstore.model.base import Value

_REF: Final = re.compile(
    r"thread:(?P<thread>[^#\s]+)#turn:(?P<first>[1-9]\d{0,8})(?:-(?P<last>[1-9]\d{0,8}))?"
)


class SourceRefId(Value):
    """A reference to one turn, or to a run of turns, of a thread."""

    outcome: Literal["ref"] = "ref"
    thread_id: str
    turn: int
    last_turn: int | None = None

    def __str__(self) -> str:
        end = "" if self.last_turn is None else f"-{self.last_turn}"
        return f"thread:{self.thread_id}#turn:{self.turn}{end}"


class RefUnresolved(Value):
    """A reference that is malformed or points nowhere."""

    outcome: Literal["unresolved"] = "unresolved"
    reason: Literal["malformed", "no_thread", "no_turn", "ambiguous"]


ParsedRef: TypeAlias = Annotated[SourceRefId | RefUnresolved, Field(discriminator="outcome")]


def parse_ref(text: str) -> ParsedRef:
    """Read a reference; total: whatever is not one becomes ``RefUnresolved``."""
    found = _REF.fullmatch(text.strip())
    if found is None:
        return RefUnresolved(reason="malformed")
    last = found["last"]
    if last is not None and int(last) < int(found["first"]):
        return RefUnresolved(reason="malformed")
    return SourceRefId(
        thread_id=found["thread"],
        turn=int(found["first"]),
        last_turn=None if last is None else int(last),
    )
