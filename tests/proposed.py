"""What a model may answer, with defaults, so that a test states only what matters."""

import json

from dream.worker import Proposal, Said


def a_proposal(**changes) -> Proposal:
    """A rhyme of the pack of ``a_pack`` that passes every check."""
    base = Proposal(
        rule="cross_thread_resonance",
        pair="p0",
        title="Both may turn on the salt film",
        summary="Two questions of different threads may turn on the salt film.",
        claims=(
            Said(text="One asks about the salt film.", side="a", refs=("sr0",)),
            Said(text="The other meets the salt film.", side="b", refs=("sr1",)),
        ),
        cues=("salt film",),
        why_not_fact="No turn says that they are one.",
        declared_confidence=0.6,
    )
    return base.replace(**changes)


def answer(*proposals) -> str:
    return json.dumps({"drafts": [each.model_dump(mode="json") for each in proposals]})
