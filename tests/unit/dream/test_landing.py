"""Accepted drafts become edges; what stands already, or changed meanwhile, does not."""

import json
from datetime import timedelta

import pytest

from dream.findings import Voice
from dream.landing import Dropped, Ground, settle
from dream.model import Accepted, Artifact, Bridge, Invitation, Parked, Rejected
from graphstore.ids import hypothesis_id, source_fingerprint
from graphstore.model.hypothesis import (
    Claim,
    Compensates,
    CounterEvidence,
    HypothesisState,
    Resonates,
)
from tests.dreamt import (
    NOW,
    SETTINGS,
    a_draft,
    a_job,
    a_pack,
    a_pair,
    a_turn,
    judged,
)
from tests.planted import days_ago

PACK = a_pack()
PRINTS = {turn.ref: turn.fingerprint for turn in (*PACK.turns, *PACK.counter_turns)}
NOTHING = Ground(known=(), current=PRINTS)


def landed(*given, ground=NOTHING, settings=SETTINGS, staged=False):
    return settle(given, ground, "dc:9", settings, NOW, staged=staged)


def a_rhyme(**changes):
    """The edge that the draft of ``a_draft`` becomes."""
    return landed(judged()).hypotheses[0].replace(**changes)


def numbered(n, **changes):
    """A judged draft between questions of its own, in threads of its own."""
    turns = tuple(
        a_turn(
            alias,
            lineage=f"test:{alias}{n}",
            thread_id=f"test:{alias}{n}",
            ref=f"thread:test:{alias}{n}#turn:1",
        )
        for alias in ("sr0", "sr1")
    )
    pair = a_pair(src=f"q:a{n}", dst=f"q:b{n}")
    pack = a_pack(turns=turns, pairs=(pair,), counter_turns=())
    draft = a_draft(src=pair.src, dst=pair.dst, **changes)
    return judged(job=a_job(n), pack=pack, verdict=Accepted(draft=draft))


def current_of(*given):
    return {turn.ref: turn.fingerprint for each in given for turn in each.pack.turns}


def test_a_draft_becomes_an_edge_with_all_its_lineage():
    against = CounterEvidence(kind="settled", statement="It was settled.", refs=("sr2",))
    edge = landed(judged(a_draft(counter=(against,)))).hypotheses[0]
    refs = ("thread:test:sr0#turn:1", "thread:test:sr1#turn:1")
    assert isinstance(edge, Resonates)
    assert (edge.refs, edge.counter_refs) == (refs, ("thread:test:sr2#turn:1",))
    assert edge.ref_fingerprints == tuple(PRINTS[ref] for ref in refs)
    assert edge.source_fingerprint == source_fingerprint((ref, PRINTS[ref]) for ref in refs)
    assert edge.hypothesis_id == hypothesis_id(
        "amplification", "cross_thread_resonance", "q:a", "q:b", refs
    )
    assert (edge.state, edge.points, edge.start_points) == ("accepted", 30, 30)
    assert (edge.cycle_id, edge.job_id, edge.pack_id) == ("dc:9", "job:1", "pack:1")
    assert edge.review_after == NOW + timedelta(days=14)
    assert edge.expires_at == NOW + timedelta(days=45)
    assert edge.validated_at is None
    assert json.loads(edge.claims)[0]["refs"] == [refs[0]]
    assert json.loads(edge.counter_evidence)[0]["refs"] == ["thread:test:sr2#turn:1"]
    assert (edge.seed_id, edge.shape) == (None, None)
    assert set(json.loads(edge.extras)) == {"retention"}
    assert len(edge.invalidation_triggers) == 9


@pytest.mark.parametrize(("start", "points"), [(20, 24), (30, 36)])
def test_advice_and_patterns_begin_where_the_owner_says(start, points):
    ladder = SETTINGS.ladder.replace(start_advice=24, start_pattern=36)
    edge = landed(judged(a_draft(start=start)), settings=SETTINGS.replace(ladder=ladder))
    assert (edge.hypotheses[0].start_points, edge.hypotheses[0].points) == (points, points)


def test_a_pack_of_a_seed_leaves_its_name():
    focus = PACK.focus.replace(kind="seed", id="s:1", shape="weak_bridge", provenance="annotated")
    edge = landed(judged(pack=a_pack(focus=focus))).hypotheses[0]
    assert (edge.seed_id, edge.shape, edge.provenance) == ("s:1", "weak_bridge", "annotated")


def test_a_bridge_rides_along_with_real_refs():
    bridge = Bridge(
        kind="shared_blockage",
        journeys=("q:a", "q:b"),
        refs=("sr1", "sr0"),
        shared_pattern="both wait at it",
        possible_reason="x",
        unblock_condition="y",
        falsification_cues=("z",),
    )
    edge = landed(judged(a_draft(bridge=bridge))).hypotheses[0]
    assert json.loads(edge.extras)["bridge"]["refs"] == [
        "thread:test:sr1#turn:1",
        "thread:test:sr0#turn:1",
    ]


def test_a_changed_source_parks():
    moved = Ground(known=(), current={**PRINTS, "thread:test:sr1#turn:1": "b2:other"})
    found = landed(judged(), ground=moved)
    assert found.hypotheses == ()
    assert found.parked[0].failed == ("source_current",)
    assert found.parked[0].hypothesis.state is HypothesisState.PARKED


def test_a_staged_cycle_parks_everything():
    assert landed(judged(), staged=True).parked[0].failed == ("staged_only",)


def test_a_parked_draft_keeps_its_reasons_and_the_id_its_edge_would_have():
    verdict = Parked(draft=a_draft(), failed=("has_cues",))
    found = landed(judged(verdict=verdict))
    assert found.parked[0].failed == ("has_cues",)
    assert found.parked[0].hypothesis.hypothesis_id == a_rhyme().hypothesis_id
    assert found.parked[0].hypothesis.sensitivity == "none"


def test_a_sensitive_draft_waits_for_a_human():
    verdict = Parked(draft=a_draft(), failed=("not_sensitive",))
    assert landed(judged(verdict=verdict)).parked[0].hypothesis.sensitivity == "human_review"


def test_a_rejected_draft_leaves_only_its_reasons():
    verdict = Rejected(draft=a_draft(), failed=("known_rule", "has_cues"))
    found = landed(judged(verdict=verdict))
    assert (found.hypotheses, found.parked) == ((), ())
    assert found.dropped == (
        Dropped(job_id="job:1", reason="has_cues"),
        Dropped(job_id="job:1", reason="known_rule"),
    )


def test_what_stands_is_not_said_again():
    found = landed(judged(), ground=Ground(known=(a_rhyme(),), current=PRINTS))
    assert found.dropped == (Dropped(job_id="job:1", reason="duplicate"),)


def test_of_two_drafts_on_one_pair_the_better_supported_wins():
    weak = judged(a_draft(support=0.2, title="weak salt film"), job=a_job(2))
    found = landed(weak, judged())
    assert [edge.job_id for edge in found.hypotheses] == ["job:1"]
    assert found.dropped == (Dropped(job_id="job:2", reason="duplicate"),)


def test_an_accepted_draft_wins_over_a_parked_one():
    waiting = judged(verdict=Parked(draft=a_draft(support=1.0), failed=("has_cues",)))
    found = landed(waiting, judged(a_draft(support=0.1), job=a_job(2)))
    assert [edge.job_id for edge in found.hypotheses] == ["job:2"]
    assert found.parked == ()


def test_the_same_threads_rhyme_once():
    other = a_pair(src="q:a2", dst="q:b2")
    again = judged(
        a_draft(src="q:a2", dst="q:b2", support=0.5), job=a_job(2), pack=a_pack(pairs=(other,))
    )
    found = landed(judged(), again)
    assert [edge.job_id for edge in found.hypotheses] == ["job:1"]


def compensating(n, rule="recurring_question", dst="q:b", dst_table="Question"):
    draft = a_draft(
        function="compensatory",
        rule=rule,
        edge="COMPENSATES",
        src_table="Thread",
        src=f"test:{n}",
        dst_table=dst_table,
        dst=dst,
        claims=(Claim(text="salt film", side="b", refs=("sr0", "sr1")),),
    )
    return judged(draft, job=a_job(n))


def test_one_gap_is_told_once_whichever_thread_tells_it():
    found = landed(compensating(1), compensating(2), compensating(3, rule="unresolved_edge"))
    assert sorted(edge.rule for edge in found.hypotheses) == [
        "recurring_question",
        "unresolved_edge",
    ]
    assert all(isinstance(edge, Compensates) for edge in found.hypotheses)


def test_a_gap_between_threads_is_told_for_each_pair():
    found = landed(
        compensating(1, "repeated_correction", "test:x", "Thread"),
        compensating(2, "repeated_correction", "test:x", "Thread"),
    )
    assert len(found.hypotheses) == 2


def closed(**changes):
    return a_rhyme(
        hypothesis_id="h:before", state=HypothesisState.REFUTED, closed_at=days_ago(6), **changes
    )


def test_a_refuted_pair_comes_back_with_two_later_turns():
    found = landed(judged(), ground=Ground(known=(closed(),), current=PRINTS))
    assert found.hypotheses[0].supersedes == "h:before"


def test_a_refuted_pair_stays_closed_without_later_turns():
    before = closed().replace(closed_at=days_ago(5))
    found = landed(judged(), ground=Ground(known=(before,), current=PRINTS))
    assert found.dropped == (Dropped(job_id="job:1", reason="duplicate"),)


def test_undated_turns_do_not_reopen_a_pair():
    pack = a_pack(turns=tuple(turn.replace(at=None) for turn in PACK.turns))
    found = landed(judged(pack=pack), ground=Ground(known=(closed(),), current=PRINTS))
    assert found.hypotheses == ()


def test_an_expired_pair_reopens_from_its_expiry():
    past = a_rhyme(hypothesis_id="h:before", expires_at=days_ago(6), review_after=days_ago(9))
    found = landed(judged(), ground=Ground(known=(past,), current=PRINTS))
    assert found.hypotheses[0].supersedes == "h:before"


def test_the_same_hypothesis_never_supersedes_itself():
    past = a_rhyme(expires_at=days_ago(6), review_after=days_ago(9))
    assert landed(judged(), ground=Ground(known=(past,), current=PRINTS)).hypotheses == ()


def test_superseded_and_sourceless_ones_stand_in_nobodys_way():
    gone = a_rhyme(hypothesis_id="h:gone", ref_fingerprints=("b2:1", "b2:2"))
    over = a_rhyme(hypothesis_id="h:over", state=HypothesisState.SUPERSEDED)
    found = landed(judged(), ground=Ground(known=(gone, over), current=PRINTS))
    assert [edge.supersedes for edge in found.hypotheses] == [None]


def test_a_poor_store_keeps_its_three_best():
    given = [numbered(n) for n in range(5)]
    ground = Ground(known=(), current=current_of(*given))
    strict = SETTINGS.replace(retention_min=0.99)
    found = landed(*given, ground=ground, settings=strict)
    assert (len(found.hypotheses), len(found.parked)) == (3, 2)
    assert {each.failed for each in found.parked} == {("below_retention",)}
    none = landed(*given, ground=ground, settings=strict.replace(keep_best=0))
    assert none.hypotheses == ()


def test_everything_above_the_floor_is_kept():
    given = [numbered(n) for n in range(5)]
    ground = Ground(known=(), current=current_of(*given))
    found = landed(*given, ground=ground, settings=SETTINGS.replace(retention_min=0.1))
    assert len(found.hypotheses) == 5


def test_retention_counts_premises_sides_and_counters():
    edge = a_rhyme()
    # 2 refs, 2 threads, 2 bridge refs, 1 voice, 1 proposal, no counters, new, five days old
    assert edge.retention == round(
        0.42 * (0.225 + 0.8 / 3 + 0.075) + 0.24 * 0.12 + 0.1 + 0.1 * (1 - (5 / 45)), 6
    )
    assert edge.divergence == 0.12
    assert edge.coefficients == "conservative_v1"


def test_novelty_falls_beside_live_hypotheses_of_the_function():
    alike = a_rhyme(hypothesis_id="h:n", src="q:x", dst="q:y", refs=(), ref_fingerprints=())
    edge = landed(judged(), ground=Ground(known=(alike,), current=PRINTS)).hypotheses[0]
    assert round(a_rhyme().retention - edge.retention, 6) == 0.1


def test_undated_premises_count_as_middling_recent():
    pack = a_pack(turns=tuple(turn.replace(at=None) for turn in PACK.turns))
    edge = landed(judged(pack=pack)).hypotheses[0]
    assert round(a_rhyme().retention - edge.retention, 6) == round(0.1 * (1 - 5 / 45) - 0.04, 6)


def test_the_order_of_verdicts_changes_nothing():
    given = [numbered(n) for n in range(4)]
    ground = Ground(known=(), current=current_of(*given))
    assert landed(*given, ground=ground) == landed(*reversed(given), ground=ground)


def test_what_a_draft_carries_is_kept_with_refs_for_aliases():
    voices = (
        Voice(voice="active_question", node="q:a", label="Salt film?", refs=("sr0",)),
        Voice(voice="resonance", node="q:b", label="Hall sensor?", refs=("sr1",)),
        Voice(voice="current_frontier", node="q:a", label="Salt film?", refs=()),
    )
    draft = a_draft(
        voices=voices,
        artifact=Artifact(
            kind="probe",
            use="planning_seed",
            text="What of the salt film?",
            refs=("sr0",),
            counter=("sr2",),
            when_not_to_use="never mind",
        ),
        invitation=an_invitation(),
        atmosphere=tuple(f"tag:{number}" for number in range(7)),
    )
    (edge,) = landed(judged(draft)).hypotheses
    first, second, against = PACK.turns[0].ref, PACK.turns[1].ref, PACK.counter_turns[0].ref
    held = json.loads(edge.extras)
    assert (held["artifact"]["refs"], held["artifact"]["counter"]) == ([first], [against])
    assert (held["invitation"]["refs"], held["invitation"]["annoyance"]) == ([second], "low")
    assert [each["refs"] for each in held["voices"]] == [[first], [second], []]
    assert len(held["atmosphere"]) == 6
    # a voice without turns is not counted: two voices, two proposals, two threads
    assert edge.voices == ("active_question", "resonance")
    assert edge.divergence == round(0.38 / 3 + 0.44 / 3 + 0.18 * 2 / 3, 6)


def an_invitation():
    return Invitation(
        type="light_question",
        triggers=("salt film",),
        opening="Does it stay?",
        refs=("sr1",),
        days=14,
    )


def test_an_invitation_with_a_history_is_not_made_again():
    before = a_rhyme(state=HypothesisState.REFUTED, closed_at=days_ago(9), hypothesis_id="h:old")
    ground = Ground(known=(before,), current=PRINTS)
    (edge,) = landed(judged(a_draft(invitation=an_invitation())), ground=ground).hypotheses
    assert edge.supersedes == "h:old"
    assert json.loads(edge.extras)["invitation"]["annoyance"] == "high"
    (plain,) = landed(judged(), ground=ground).hypotheses
    assert "invitation" not in json.loads(plain.extras)
