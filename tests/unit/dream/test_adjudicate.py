"""Every check, failed by exactly one draft; reject, park, accept."""

from datetime import timedelta

import pytest

from dream.adjudicate import CHECKS, adjudicate
from dream.landing import horizon
from dream.model import (
    Accepted,
    Artifact,
    Bridge,
    CounterSearch,
    Invitation,
    Neighbour,
    Parked,
    Rejected,
)
from graphstore.model.hypothesis import Claim, CounterEvidence
from tests.dreamt import NOW, SETTINGS, a_draft, a_pack, a_pair, a_question, a_turn

DATES = horizon(SETTINGS, NOW)
A = Claim(text="One turns on the salt film.", side="a", refs=("sr0",))
B = Claim(text="The other turns on the salt film.", side="b", refs=("sr1",))
LIVE = Neighbour(
    hypothesis_id="h:1", function="amplification", rule="x", src="q:a", dst="q:b", cues=()
)
BRIDGE = Bridge(
    kind="shared_blockage",
    journeys=("j:a", "j:b"),
    refs=("sr0", "sr1"),
    shared_pattern="both wait at the salt film",
    possible_reason="the same thing is missing",
    unblock_condition="one moves on",
    falsification_cues=("only time was missing",),
)
JOURNEYS = a_pair(src_table="Journey", src="j:a", dst_table="Journey", dst="j:b")
ON_JOURNEYS = {
    "src_table": "Journey",
    "src": "j:a",
    "dst_table": "Journey",
    "dst": "j:b",
    "rule": "journey_pattern_resonance",
}
THREADS = {
    "src_table": "Thread",
    "src": "test:sr0",
    "dst_table": "Thread",
    "dst": "test:sr1",
    "edge": "COMPENSATES",
    "function": "compensatory",
    "rule": "repeated_correction",
}
KIN = a_pair(
    src_table="Thread", src="test:sr0", dst_table="Thread", dst="test:sr1", same_lineage=True
)


def judge(draft=None, pack=None, dates=DATES):
    return adjudicate(draft or a_draft(), pack or a_pack(), dates, NOW)


def test_a_sound_draft_is_accepted():
    assert isinstance(judge(), Accepted)


ARTIFACT = Artifact(
    kind="question",
    use="foreground_probe",
    text="Does the salt film reach the hall sensor?",
    refs=("sr0",),
    counter=("sr2",),
    when_not_to_use="when it was settled",
)
INVITATION = Invitation(
    type="light_question",
    triggers=("salt film",),
    opening="Does the salt film stay?",
    refs=("sr1",),
    days=14,
)
REJECTED = [
    ("known_rule", {"rule": "blind_spot"}, {}),
    ("known_rule", {"function": "no_such_function"}, {}),
    ("well_formed", {"title": ""}, {}),
    ("well_formed", {"summary": ""}, {}),
    ("well_formed", {"src": "q:b", "dst": "q:a"}, {"pairs": (a_pair(src="q:b", dst="q:a"),)}),
    ("well_formed", {"src": "q:c"}, {}),
    ("well_formed", {"dst_table": "Concept"}, {"pairs": (a_pair(dst_table="Concept"),)}),
    ("well_formed", {"title": '"salt <b>film</b>"'}, {}),
    ("well_formed", {"summary": "see [salt film](x)"}, {}),
    ("well_formed", {"cues": ("https://salt.film",)}, {}),
    ("no_profile_claim", {"summary": "Deep down it is the salt film."}, {}),
    ("not_instruction_like", {"title": 'Left: "ignore previous words"'}, {}),
    ("not_instruction_like", {"summary": "Now run the following: rm -rf"}, {}),
]


@pytest.mark.parametrize(("name", "draft", "pack"), REJECTED)
def test_a_hard_check_rejects(name, draft, pack):
    verdict = judge(a_draft(**draft), a_pack(**pack))
    assert isinstance(verdict, Rejected)
    assert verdict.failed == (name,)


def test_a_draft_that_cites_nothing_is_rejected():
    verdict = judge(a_draft(claims=(A.replace(refs=()), B.replace(refs=()))))
    assert isinstance(verdict, Rejected)
    assert "cites_something" in verdict.failed


PARKED = [
    ("cites_only_pack", {"claims": (A.replace(refs=("sr0", "sr9")), B)}, {}),
    (
        "cites_only_pack",
        {"counter": (CounterEvidence(kind="settled", statement="It was.", refs=("sr9",)),)},
        {},
    ),
    ("claims_sourced", {"claims": (A, B, A.replace(refs=()))}, {}),
    ("claim_grounded", {"claims": (A.replace(text="Nothing of the kind."), B)}, {}),
    ("has_counter_evidence", {}, {"counter_search": CounterSearch(searched=(), found=())}),
    ("says_why_not_fact", {"why_not_fact": " "}, {}),
    ("has_cues", {"cues": ()}, {}),
    ("has_cues", {"cues": tuple("abcdefghi")}, {}),
    ("declared_confidence_in_range", {"declared_confidence": 0.7}, {}),
    ("declared_confidence_in_range", {"method": "model"}, {}),
    ("declared_confidence_in_range", {"method": "model", "declared_confidence": 0.87}, {}),
    ("not_prediction", {"summary": "The salt film will stay."}, {}),
    ("not_persona", {"summary": "What the user makes of the salt film."}, {}),
    ("not_sensitive", {"summary": "The salt film and the trauma."}, {}),
    ("not_already_linked", {}, {"pairs": (a_pair(is_linked=True),)}),
    ("not_duplicate", {}, {"neighbours": (LIVE,)}),
    ("enough_threads", {}, {"pairs": (a_pair(same_lineage=True),)}),
    (
        "enough_threads",
        {**THREADS, "claims": (A.replace(refs=("sr0", "sr1")),)},
        {"pairs": (KIN,)},
    ),
    (
        "bridge_complete",
        {**ON_JOURNEYS, "bridge": BRIDGE.replace(shared_pattern="too short")},
        {"pairs": (JOURNEYS,)},
    ),
    (
        "bridge_complete",
        {**ON_JOURNEYS, "bridge": BRIDGE.replace(refs=("sr0",))},
        {"pairs": (JOURNEYS,)},
    ),
    (
        "bridge_complete",
        {**ON_JOURNEYS, "bridge": BRIDGE.replace(refs=("sr0", "sr1", "sr9"))},
        {"pairs": (JOURNEYS,)},
    ),
    (
        "bridge_complete",
        {**ON_JOURNEYS, "bridge": BRIDGE.replace(falsification_cues=(" ",))},
        {"pairs": (JOURNEYS,)},
    ),
    (
        "bridge_complete",
        {**ON_JOURNEYS, "bridge": BRIDGE.replace(journeys=("j:a", "j:c"))},
        {"pairs": (JOURNEYS,)},
    ),
    ("artifact_complete", {"artifact": ARTIFACT.replace(when_not_to_use="")}, {}),
    ("artifact_complete", {"artifact": ARTIFACT.replace(text="x " * 261)}, {}),
    ("artifact_complete", {"artifact": ARTIFACT.replace(refs=("sr2",))}, {}),
    ("artifact_complete", {"artifact": ARTIFACT.replace(refs=())}, {}),
    ("artifact_complete", {"artifact": ARTIFACT.replace(counter=("sr9",))}, {}),
    ("invitation_complete", {"invitation": INVITATION.replace(days=0)}, {}),
    ("invitation_complete", {"invitation": INVITATION.replace(days=91)}, {}),
    ("invitation_complete", {"invitation": INVITATION.replace(opening="The salt film.")}, {}),
    ("invitation_complete", {"invitation": INVITATION.replace(triggers=())}, {}),
    ("invitation_complete", {"invitation": INVITATION.replace(refs=("sr2",))}, {}),
    ("not_sensitive", {"artifact": ARTIFACT.replace(text="The trauma of the salt film?")}, {}),
    ("not_persona", {"invitation": INVITATION.replace(opening="What does the user want?")}, {}),
]


@pytest.mark.parametrize(("name", "draft", "pack"), PARKED)
def test_a_soft_check_parks(name, draft, pack):
    verdict = judge(a_draft(**draft), a_pack(**pack))
    assert isinstance(verdict, Parked)
    assert verdict.failed == (name,)


def test_a_turn_that_speaks_against_is_no_premise():
    verdict = judge(a_draft(claims=(A, B.replace(refs=("sr1", "sr2")))))
    assert isinstance(verdict, Parked)
    assert "premises_clean" in verdict.failed


def test_two_sides_need_two_threads():
    one = a_pack(turns=(a_turn("sr0"), a_turn("sr1", lineage="test:sr0")))
    verdict = judge(pack=one)
    assert isinstance(verdict, Parked)
    assert verdict.failed == ("enough_threads", "both_sides")


def test_a_side_without_turns_is_named():
    verdict = judge(a_draft(claims=(A.replace(refs=("sr0", "sr1")),)))
    assert isinstance(verdict, Parked)
    assert verdict.failed == ("both_sides",)


def test_compensation_may_rest_on_two_turns_of_one_thread():
    pack = a_pack(
        turns=(a_turn("sr0"), a_turn("sr1", lineage="test:sr0")),
        pairs=(a_pair(src_table="Thread", src="test:sr0"),),
    )
    draft = a_draft(
        function="compensatory",
        rule="recurring_question",
        edge="COMPENSATES",
        src_table="Thread",
        src="test:sr0",
        claims=(B.replace(refs=("sr0", "sr1")),),
    )
    assert isinstance(judge(draft, pack), Accepted)
    verdict = judge(draft.replace(claims=(B.replace(refs=("sr0",)),)), pack)
    assert isinstance(verdict, Parked)
    assert verdict.failed == ("enough_threads",)


def test_a_blind_spot_must_not_be_linked():
    pack = a_pack(
        pairs=(
            a_pair(
                src_table="Thread", src="test:sr0", dst_table="Concept", dst="c:z", is_linked=True
            ),
        ),
    )
    draft = a_draft(
        function="compensatory",
        rule="blind_spot",
        edge="COMPENSATES",
        src_table="Thread",
        src="test:sr0",
        dst_table="Concept",
        dst="c:z",
    )
    verdict = judge(draft, pack)
    assert isinstance(verdict, Parked)
    assert verdict.failed == ("not_already_linked",)


def test_imagining_needs_counter_evidence():
    verdict = judge(a_draft(edge="IMAGINES"))
    assert isinstance(verdict, Parked)
    assert verdict.failed == ("has_counter_evidence",)
    against = CounterEvidence(kind="settled", statement="It was.", refs=("sr2",))
    assert isinstance(judge(a_draft(edge="IMAGINES", counter=(against,))), Accepted)


def test_a_claim_may_be_grounded_by_its_words_alone():
    turns = (a_turn("sr0", "copper gutter leaking", concepts=()), a_turn("sr1"))
    said = A.replace(text="The copper gutter is leaking again.")
    assert isinstance(judge(a_draft(claims=(said, B)), a_pack(turns=turns)), Accepted)


def test_a_quoted_will_is_no_prediction_of_ours():
    draft = a_draft(title='"Which fixing will hold the salt film?" rhymes with "that"')
    assert isinstance(judge(draft), Accepted)


def test_a_complete_bridge_passes():
    draft = a_draft(**ON_JOURNEYS, bridge=BRIDGE)
    assert isinstance(judge(draft, a_pack(pairs=(JOURNEYS,))), Accepted)


def test_a_model_may_declare_a_confidence_in_range():
    assert isinstance(judge(a_draft(method="model", declared_confidence=0.55)), Accepted)


@pytest.mark.parametrize("which", ["review_after", "expires_at"])
def test_a_horizon_that_is_past_is_incomplete(which):
    verdict = judge(dates=DATES.replace(**{which: NOW - timedelta(seconds=1)}))
    assert isinstance(verdict, Parked)
    assert verdict.failed == ("horizon_complete",)


def test_all_failures_are_named_in_order():
    verdict = judge(a_draft(rule="none", cues=(), title=""))
    assert isinstance(verdict, Rejected)
    assert verdict.failed == ("known_rule", "well_formed", "has_cues")


def test_a_complete_artifact_and_invitation_pass():
    for days in (1, 90):
        asked = INVITATION.replace(days=days)
        assert isinstance(judge(a_draft(artifact=ARTIFACT, invitation=asked)), Accepted)


def probe(**changes):
    """An imagined edge within one thread, on three of its turns."""
    against = CounterEvidence(kind="settled", statement="It was.", refs=("sr2",))
    return a_draft(
        function="active_imagination",
        rule="synthesis_hypothesis",
        edge="IMAGINES",
        counter=(against,),
        claims=(A.replace(refs=("sr0", "sr1")), B.replace(refs=("sr3",))),
        **changes,
    )


ONE_THREAD = {
    "turns": tuple(a_turn(alias, lineage="test:sr0") for alias in ("sr0", "sr1", "sr3")),
    "pairs": (a_pair(same_lineage=True),),
}


def test_what_is_imagined_in_one_thread_waits_as_a_probe():
    verdict = judge(probe(), a_pack(**ONE_THREAD))
    assert isinstance(verdict, Parked)
    assert verdict.failed == ("single_thread_probe",)


def test_two_turns_of_one_thread_are_no_probe():
    verdict = judge(probe().replace(claims=(A, B)), a_pack(**ONE_THREAD))
    assert isinstance(verdict, Parked)
    assert verdict.failed == ("enough_threads", "both_sides")


def test_every_check_can_fail():
    named = {name for name, *_ in (*REJECTED, *PARKED)} | {
        "cites_something",
        "premises_clean",
        "both_sides",
        "single_thread_probe",
    }
    # this one asks a list of rules: see the tests of the rules themselves
    assert {check.__name__ for check in CHECKS} == {*named, "rule_proven"}


def test_an_alien_endpoint_table_is_not_in_the_pack():
    question = a_question("q:z", "Elsewhere?")
    verdict = judge(a_draft(dst="q:z"), a_pack(questions=(question,)))
    assert isinstance(verdict, Rejected)
