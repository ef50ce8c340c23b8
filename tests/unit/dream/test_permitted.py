"""What a dream cycle may not bring about, whoever made its drafts."""

from datetime import timedelta

import pytest

from dream.permitted import ForbiddenChange, permit
from graphstore.model.hypothesis import HypothesisState
from tests.dreamt import NOW, a_cycle, a_hypothesis, a_pack, a_turn

TURN = a_turn("sr0")
PACK = a_pack(turns=(TURN,), counter_turns=(a_turn("sr1"),))
ONE = a_hypothesis(refs=(TURN.ref,), ref_fingerprints=(TURN.fingerprint,))
KNOWN = {ONE.hypothesis_id: ONE}
S = HypothesisState


def permitted(**record):
    permit(a_cycle(**record), (PACK,), KNOWN)


def test_hypotheses_on_clean_turns_of_a_pack_may_be_added():
    permitted(hypotheses=(ONE.replace(hypothesis_id="h:2"),))


@pytest.mark.parametrize(
    ("changes", "what"),
    [
        ({"refs": (), "ref_fingerprints": ()}, "take for source"),
        ({"refs": ("thread:model:said#turn:1",)}, "take for source"),
        ({"refs": (a_turn("sr1").ref,)}, "take for source"),
        ({"ref_fingerprints": ("b2:words of a model",)}, "take for source"),
        ({"summary": "Deep down it is fear of the salt film."}, "say what a person is"),
    ],
)
def test_words_of_a_model_are_no_source_and_nobody_is_described(changes, what):
    with pytest.raises(ForbiddenChange, match=what):
        permitted(hypotheses=(ONE.replace(**changes),))


def test_a_quote_describes_nobody():
    permitted(hypotheses=(ONE.replace(title='Left open: "deep down it is fear"'),))


@pytest.mark.parametrize("state", [S.EXPIRED, S.SUPERSEDED])
def test_what_is_known_may_be_closed(state):
    closed = ONE.replace(state=state, closed_at=NOW, closed_reason="untested", superseded_by="h:2")
    permitted(changes=(closed,))


def test_what_was_refuted_may_be_followed_by_a_newer_one():
    refuted = ONE.replace(state=S.REFUTED)
    after = refuted.replace(superseded_by="h:2")
    permit(a_cycle(changes=(after,)), (PACK,), {ONE.hypothesis_id: refuted})


@pytest.mark.parametrize(
    "changes",
    [
        {"state": S.VALIDATED},
        {"state": S.REFUTED},
        {"points": 98},
        {"summary": "Other words."},
        {"refs": (), "ref_fingerprints": ()},
        {"expires_at": NOW + timedelta(days=999)},
        {"hypothesis_id": "h:unknown"},
    ],
)
def test_what_is_known_is_never_rewritten(changes):
    with pytest.raises(ForbiddenChange, match="rewrite"):
        permitted(changes=(ONE.replace(**changes),))


def test_a_record_of_dreaming_has_no_place_for_anything_else():
    fields = set(type(a_cycle()).model_fields)
    told = {"kind", "cycle_id", "generation", "trigger", "gate", "leased_seq", "notes"}
    told |= {"started_at", "ended_at", "outcome", "jobs", "calls", "next_action"}
    assert fields - told == {"hypotheses", "changes", "parked"}
