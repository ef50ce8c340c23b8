"""The last guard before a dream cycle is written: what a record of dreaming may bring about.

It may add hypotheses on clean turns of its packs, park drafts, and close what is known. Nothing
else: whatever made the drafts, a rule, a model or a function of somebody else's package.
"""

from collections.abc import Mapping, Sequence
from typing import Final

from dream import lexicon
from dream.adjudicate import QUOTED
from dream.model import Pack
from graphstore.errors import Error
from graphstore.model.hypothesis import AnyHypothesis, Hypothesis, HypothesisState
from graphstore.model.record import CycleRecord

CLOSING: Final = frozenset({"state", "closed_at", "closed_reason", "superseded_by"})
"""Fields of a known hypothesis that a dream cycle may set."""
ENDS: Final = frozenset({HypothesisState.EXPIRED, HypothesisState.SUPERSEDED})
"""States that it may put one into; refuting is for later turns and the owner."""


class ForbiddenChange(Error):
    """A dream cycle may not {what}; nothing of it was written."""

    hint = "this is a fault in a dream function: clew status names those of other packages"

    def __init__(self, what: str) -> None:
        super().__init__(what)
        self.what = what


def permit(record: CycleRecord, packs: Sequence[Pack], known: Mapping[str, AnyHypothesis]) -> None:
    """Raise ForbiddenChange for a record that does more than it may."""
    clean = {turn.ref: turn.fingerprint for pack in packs for turn in pack.turns}
    for one in record.hypotheses:
        prints = zip(one.refs, one.ref_fingerprints, strict=True)
        if not one.refs or any(clean.get(ref) != then for ref, then in prints):
            raise ForbiddenChange("take for source what no pack holds")
        if lexicon.has("profile_claim", QUOTED.sub('""', f"{one.title}\n{one.summary}")):
            raise ForbiddenChange("say what a person is")
    for after in record.changes:
        if not closes(known.get(after.hypothesis_id), after):
            raise ForbiddenChange("rewrite a known hypothesis")


def closes(before: Hypothesis | None, after: Hypothesis) -> bool:
    """Whether a change only closes what is known."""
    if before is None or after.state not in {before.state, *ENDS}:
        return False
    kept = set(type(after).model_fields) - CLOSING
    return all(getattr(before, name) == getattr(after, name) for name in kept)
