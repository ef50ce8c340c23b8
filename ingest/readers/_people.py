"""Whose words are whose in an archive of several people."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final, TypeVar

from graphstore.model.conversation import Role

GAP: Final = timedelta(minutes=30)
"""Silence after which messages of a room are another conversation."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Owners:
    """Who counts as a person in the owner's place: those named, else the members."""

    named: frozenset[str]

    @classmethod
    def of(cls, names: Iterable[str]) -> "Owners":
        """The names as the owner gave them; case and a leading ``@`` say nothing."""
        return cls(frozenset(folded for name in names if (folded := _folded(name))))

    def role(self, names: Iterable[str | None], *, member: bool | None) -> Role:
        """Role of a person called by any of the names.

        ``member``: whether the archive lists the person; ``None`` if it lists nobody.
        """
        if self.named:
            own = any(name is not None and _folded(name) in self.named for name in names)
            return Role.HUMAN if own else Role.OTHER
        return Role.OTHER if member is False else Role.HUMAN


def _folded(name: str) -> str:
    return name.strip().removeprefix("@").casefold()


def runs(found: Iterable[tuple[datetime | None, T]]) -> Iterator[list[T]]:
    """Messages in the order of time, cut where nothing was said for longer than the gap.

    A message without a time stays with the one before it.
    """
    run: list[T] = []
    last: datetime | None = None
    for when, one in found:
        at = when if when is None or when.tzinfo else when.replace(tzinfo=UTC)
        if run and at is not None and last is not None and at - last > GAP:
            yield run
            run = []
        run.append(one)
        last = at or last
    if run:
        yield run
