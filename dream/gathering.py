"""The turns of a pack while it is packed: aliases and caps."""

from collections.abc import Iterable

from dream.index import Index
from dream.model import PackTurn, Side
from dream.settings import PackSettings
from dream.wording import clip, quote

TITLE = 90


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
        """Aliases of the premises among these refs that fit; premises are taken before counters."""
        aliases = (self._add(ref, side, around, self.turns, self.limits.max_refs) for ref in refs)
        return tuple(alias for alias in aliases if alias)

    def counter(self, refs: Iterable[str], around: str = "") -> tuple[str, ...]:
        """Aliases of turns that speak against; premises keep their alias."""
        known = {ref: turn.alias for ref, turn in self.turns.items()}
        cap = self.limits.max_counter
        aliases = (
            known.get(ref) or self._add(ref, "none", around, self.counters, cap) for ref in refs
        )
        return tuple(alias for alias in aliases if alias)

    def aliases(self, refs: Iterable[str]) -> tuple[str, ...]:
        """Aliases of those refs that were taken as premises."""
        return tuple(self.turns[ref].alias for ref in refs if ref in self.turns)

    def _add(
        self, ref: str, side: Side, around: str, family: dict[str, PackTurn], cap: int
    ) -> str | None:
        if ref in family:
            return family[ref].alias
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
            thread_title=quote(thread.title or "", TITLE),
            text=text,
            side=side,
            concepts=self.index.rarest(self.index.turn_concepts.get(ref, ())),
        )
