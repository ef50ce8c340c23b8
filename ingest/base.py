"""What is stored of a thread before the place from which its carrier is read on."""

from dataclasses import dataclass

from graphstore.model.conversation import Event, Thread, Turn


@dataclass(slots=True)
class Base:
    """What a thread held before the place from which its carrier was read on."""

    thread: Thread
    turns: tuple[Turn, ...]
    """Stored before the place, by number."""
    rest: tuple[Turn, ...]
    """Stored from the place on, by number."""

    @property
    def path(self) -> tuple[int, ...]:
        """The part of the path before the place."""
        before = {turn.number for turn in self.turns}
        return tuple(number for number in self.thread.path if number in before)

    @property
    def following(self) -> int:
        """The number that the next turn gets."""
        return max((turn.number for turn in self.thread.turns), default=0) + 1

    @property
    def events(self) -> tuple[Event, ...]:
        """Agents that were spawned before the place."""
        before = {str(turn.number) for turn in self.turns}
        return tuple(
            event
            for event in self.thread.events
            if event.kind == "subagent" and (event.detail or "").rpartition(" ")[2] in before
        )


def base_of(thread: Thread | None, path: str, offset: int) -> Base | None:
    """What a stored thread holds before a place; None unless this carrier alone tells it."""
    if thread is None or thread.lineage:
        return None
    before: list[Turn] = []
    rest: list[Turn] = []
    for turn in thread.turns:
        anchor = turn.anchor
        if anchor is None or anchor.file != path or anchor.offset is None or turn.source_gone:
            return None
        (before if anchor.offset < offset else rest).append(turn)
    return Base(thread, tuple(before), tuple(rest))
