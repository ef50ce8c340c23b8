"""The turns of a pack while it is packed: aliases, clips and caps."""

from collections.abc import Iterable

from dream.index import Index
from dream.model import PackTurn, Side
from dream.settings import PackSettings

CLIP = 1200
QUOTE = 120


def clip(text: str, around: str, width: int = CLIP) -> str:
    """A window of a text round a mention, cut at blanks."""
    if len(text) <= width:
        return text
    at = max(text.casefold().find(around.casefold()[:60]), 0) if around else 0
    start = max(0, min(at - width // 3, len(text) - width))
    window = text[start : start + width]
    if start:
        window = "\u2026" + window.partition(" ")[2]
    return window if start + width >= len(text) else window.rpartition(" ")[0] + "\u2026"


def quote(text: str, width: int = QUOTE) -> str:
    """One line of a text, cut at a word."""
    line = " ".join(text.split())
    if len(line) <= width:
        return line
    return line[: width - 1].rpartition(" ")[0].rstrip(",;:") + "\u2026"


class Gathering:
    """Turns taken so far. A turn that does not fit is left out whole and counted."""

    def __init__(self, index: Index, limits: PackSettings) -> None:
        self.index = index
        self.limits = limits
        self.turns: dict[str, PackTurn] = {}
        self.counters: dict[str, PackTurn] = {}
        self.left_out: set[str] = set()
        self.characters = 0

    def take(self, refs: Iterable[str], side: Side, around: str = "") -> tuple[str, ...]:
        """Aliases of the premises among these refs that fit."""
        aliases = (self._add(ref, side, around, counter=False) for ref in refs)
        return tuple(alias for alias in aliases if alias)

    def counter(self, refs: Iterable[str], around: str = "") -> tuple[str, ...]:
        """Aliases of turns that speak against; those already taken keep their alias."""
        aliases = (self._add(ref, "none", around, counter=True) for ref in refs)
        return tuple(alias for alias in aliases if alias)

    def alias(self, ref: str) -> str | None:
        """Alias of a turn that was taken."""
        found = self.turns.get(ref) or self.counters.get(ref)
        return found.alias if found else None

    def aliases(self, refs: Iterable[str]) -> tuple[str, ...]:
        """Aliases of those refs that were taken as premises."""
        return tuple(self.turns[ref].alias for ref in refs if ref in self.turns)

    def _add(self, ref: str, side: Side, around: str, *, counter: bool) -> str | None:
        if known := self.alias(ref):
            return known
        family, cap = (
            (self.counters, self.limits.max_counter)
            if counter
            else (self.turns, self.limits.max_refs)
        )
        turn = self.index.turns.get(ref)
        if turn is None:
            return None
        text = clip(turn.text, around)
        if len(family) >= cap or self.characters + len(text) > self.limits.max_characters:
            self.left_out.add(ref)
            return None
        self.characters += len(text)
        family[ref] = self._turn(ref, side, text)
        return family[ref].alias

    def _turn(self, ref: str, side: Side, text: str) -> PackTurn:
        turn = self.index.turns[ref]
        thread = self.index.threads[turn.thread_id]
        return PackTurn(
            alias=f"sr{len(self.turns) + len(self.counters)}",
            ref=ref,
            fingerprint=turn.fingerprint,
            role="human" if turn.role == "human" else "assistant",
            at=turn.at,
            thread_id=turn.thread_id,
            lineage=thread.lineage_root,
            thread_title=quote(thread.title or "", 90),
            text=text,
            side=side,
            concepts=self.index.rarest(self.index.turn_concepts.get(ref, ())),
        )
