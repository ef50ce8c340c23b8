"""Records made elsewhere: what forbids them, which shape they name, and how they stand."""

import json

import pytest

import topology
from topology import notes as noting
from topology.model import Limits
from topology.notes import Note, NoteRef, Notes, anchors, parse
from topology.report import report, to_json

A, B = "thread:s:a0#turn:3", "thread:s:b0#turn:3"


def ref(text, side=""):
    return NoteRef(ref=text, side=side)


BOTH = (ref(A, "side_a"), ref(B, "side_b"))
ONE_OF_EACH = (
    Note(note_id="shadow", shadow_probe=True, visible_refs=(A,), latent_refs=(A,), refs=(ref(A),)),
    Note(note_id="bridge", weak_bridge=True, refs=BOTH),
    Note(note_id="island", useful_source_cluster=True, recall_entry_count=0, refs=(ref(A),)),
    Note(note_id="middle", declared_gap="missing_middle", refs=BOTH),
    Note(note_id="cut", declared_gap="cut_point", refs=(ref(A),)),
    Note(note_id="cycle", reopen_attempt_count=3, route_state="stale", refs=(ref(A),)),
    Note(note_id="knot", obligation_count=3, refs=(ref(A),)),
)


@pytest.fixture
def run(two_groups):
    def scout(*notes, shapes=(), states=None, **limits):
        known = None if states is None else {(ref, ""): state for ref, state in states.items()}
        asked = Notes(notes, states=known)
        return topology.scout(two_groups.view(), shapes, Limits(**limits), asked)

    return scout


def shapes_of(scouted):
    return sorted(seed.shape for seed in scouted.seeds)


def reasons(scouted):
    return [row.reasons for row in scouted.rejected]


def test_one_note_of_each_shape_gives_seven_seeds_with_refs(run):
    scouted = run(*ONE_OF_EACH)
    assert shapes_of(scouted) == sorted(noting.KNOWN)
    assert {seed.provenance for seed in scouted.seeds} == {"annotated"}
    assert {seed.level for seed in scouted.seeds} == {None}
    shown = report(scouted, {})
    assert (shown.ref_coverage, shown.ok) == (1.0, True)
    assert [seed.shape for seed in shown.shadow] == ["shadow_route"]
    bridge = next(seed for seed in shown.seeds if seed.shape == "weak_bridge")
    assert bridge.sentence == "A record marks weak bridge here, on 2 turns in 2 threads."
    assert bridge.score == 2.0


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"profile_claim": True}, "profile_claim"),
        ({"user_diagnosis": True}, "user_diagnosis"),
        (
            {"private_psychological_interpretation": True},
            "private_psychological_interpretation",
        ),
        ({"symbolic": True, "refs": ()}, "source_free_symbolic_claim"),
    ],
)
def test_hard_negatives_come_before_any_shape(run, changes, reason):
    shadow = ONE_OF_EACH[0].replace(**changes)
    scouted = run(shadow)
    assert scouted.seeds == ()
    assert reason in reasons(scouted)[0]


def test_all_hits_are_listed(run):
    assert reasons(run(Note(note_id="n", user_diagnosis=True))) == [("user_diagnosis",)]
    note = Note(note_id="n", shape="spiral", profile_claim=True, symbolic=True)
    assert reasons(run(note)) == [("profile_claim", "source_free_symbolic_claim", "unknown_shape")]


@pytest.mark.parametrize(
    ("note", "expected"),
    [
        (Note(note_id="n", shape="island"), ("missing_source_ref",)),
        (
            Note(note_id="n", weak_bridge=True, refs=(ref(A, "side_a"),)),
            ("weak_bridge_needs_both_sides",),
        ),
        (
            Note(note_id="n", weak_bridge=True, refs=(BOTH[0], ref(A, "side_b"))),
            ("weak_bridge_needs_both_sides",),
        ),
        (
            Note(note_id="n", missing_middle=True, refs=(ref(A, "side_a"),)),
            ("missing_source_ref",),
        ),
    ],
)
def test_gates_reject_what_is_not_carried(run, note, expected):
    assert reasons(run(note)) == [expected]


@pytest.mark.parametrize("state", ["ref_unresolved", "ref_stale", "tainted_source"])
def test_a_turn_that_does_not_hold_is_named(run, state):
    states = {A: state} if state != "ref_unresolved" else {}
    scouted = run(Note(note_id="n", shape="island", refs=(ref(A),)), states=states)
    assert reasons(scouted) == [tuple(sorted(("missing_source_ref", state)))]
    kept = run(
        Note(note_id="n", shape="island", refs=(ref(A), ref(B))), states={**states, B: "resolved"}
    )
    assert [each.ref for each in kept.seeds[0].refs] == [B]


@pytest.mark.parametrize(
    ("note", "reason"),
    [
        (Note(note_id="n", refs=(ref(A),)), "no_shape"),
        (Note(note_id="n", partial_glue=True, refs=(ref(A),)), "partial_glue"),
        (
            Note(note_id="n", route_ids=("j:1", "j:2"), refs=(ref(A),)),
            "shared_vocabulary_without_source_or_residue",
        ),
        (Note(note_id="n", obligation_count=3, unlinking_move_present=True), "no_shape"),
        (Note(note_id="n", reopen_attempt_count=3, route_state="open"), "no_shape"),
        (Note(note_id="n", useful_source_cluster=True, recall_entry_count=2), "no_shape"),
    ],
)
def test_what_is_no_shape_is_a_control(run, note, reason):
    scouted = run(note)
    assert [(c.reason, c.subject) for c in scouted.controls] == [(reason, "n")]
    assert scouted.seeds == ()


def test_failed_attempts_with_a_turn_make_a_shadow_route(run):
    note = Note(note_id="n", route_ids=("j:1", "j:2"), failed_route_residue_count=1, refs=(ref(A),))
    (seed,) = run(note).seeds
    assert (seed.shape, seed.claim) == ("shadow_route", "none_before_reopen")
    assert run(note.replace(refs=())).seeds == ()


def test_the_first_trigger_wins(run):
    note = ONE_OF_EACH[0].replace(shape="island", weak_bridge=True)
    assert shapes_of(run(note)) == ["shadow_route"]
    assert shapes_of(run(note.replace(shadow_probe=False))) == ["island"]


def test_annotated_stand_behind_computed(run):
    scouted = run(*ONE_OF_EACH, shapes=None, k_min=4)
    kinds = [seed.provenance for seed in scouted.seeds]
    assert kinds == sorted(kinds, key=lambda kind: kind == "annotated")
    assert set(kinds) == {"computed", "annotated"}
    bridges = [seed for seed in scouted.seeds if seed.shape == "weak_bridge"]
    assert [seed.rank for seed in bridges] == list(range(1, len(bridges) + 1))
    assert {c.name: c.count for c in report(scouted, {}).red_lines}["annotated_outranks"] == 0


def test_a_note_that_structure_confirms_is_folded_into_its_seed(run):
    plain = run(shapes=("weak_bridge",), k_min=4).seeds[0]
    turns = [each.ref for each in plain.refs]
    sides = (ref(turns[0], "side_a"), ref(next(t for t in turns if "s:b" in t), "side_b"))
    note = Note(note_id="n", weak_bridge=True, refs=sides, members=(plain.members[0].node_id,))
    scouted = run(note, shapes=("weak_bridge",), k_min=4)
    assert scouted.confirmed_by_structure == 1
    assert scouted.seeds[0].notes == ("note:n",)
    assert all(seed.provenance == "computed" for seed in scouted.seeds)
    apart = run(note.replace(members=("c:else",)), shapes=("weak_bridge",), k_min=4)
    assert (apart.confirmed_by_structure, apart.seeds[-1].provenance) == (0, "annotated")


def test_two_notes_of_one_place_are_one_seed(run):
    notes = [Note(note_id=name, shape="island", refs=(ref(A),), members=("q:1",)) for name in "yx"]
    (seed,) = run(*notes).seeds
    assert seed.notes == ("note:x", "note:y")


def test_no_more_than_asked_for_are_shown_per_shape(run):
    notes = [
        Note(note_id=f"n{at}", shape="island", refs=(ref(A),), members=(f"q:{at}",))
        for at in range(4)
    ]
    assert len(run(*notes, top=2).seeds) == 2


def test_diagnostics_block_no_shape(run):
    note = ONE_OF_EACH[4].replace(
        candidate_as_certainty=True, agency_suppression=True, relation_preserved=True
    )
    shown = report(run(note), {})
    assert len(shown.seeds) == 1
    assert [(d.note_id, d.name) for d in shown.diagnostics] == [
        ("cut", "authority_overreach"),
        ("cut", "agency_suppression"),
        ("cut", "relation_preserved"),
    ]


def test_what_is_meant_to_be_shown_unasked_must_state_its_sides(run):
    note = ONE_OF_EACH[4].replace(foreground=True, need_side=True)
    names = [d.name for d in run(note).diagnostics]
    assert names == ["missing_source_side", "missing_agency_side"]


@pytest.mark.parametrize(
    ("changes", "suppressed"),
    [
        ({}, ""),
        ({"scope": "private"}, "scope"),
        ({"freshness": "retired"}, "freshness"),
        ({"refs": ()}, "no_ref"),
        ({"declared_gap": ""}, "no_shape"),
    ],
)
def test_a_finding_becomes_one_review(run, changes, suppressed):
    note = ONE_OF_EACH[4].replace(finding_id="F-1", scope="public").replace(**changes)
    scouted = run(note)
    (task,) = scouted.tasks
    assert (task.finding_id, task.suppressed) == ("F-1", suppressed)
    assert bool(task.seed_id) == (suppressed == "")
    assert report(scouted, {}).tasks == (task,)


def test_anchors_are_labels_of_plain_characters(run):
    note = Note(
        note_id="n",
        anchors=("A-1", "x:2#3", "a/b", "c\\d", "source://x", "y" * 81, *map(str, range(9))),
    )
    assert anchors(note) == ("A-1", "x:2#3", *map(str, range(6)))
    assert run(note).dropped_anchors == 7


def test_a_private_reading_may_not_show_anywhere(run):
    plain = run(shapes=("weak_bridge",), k_min=4).seeds[0]
    note = Note(
        note_id="n",
        shape="weak_bridge",
        profile_claim=True,
        refs=(ref(plain.refs[0].ref),),
        members=(plain.members[0].node_id,),
    )
    shown = report(run(note, shapes=("weak_bridge",), k_min=4), {})
    assert {c.name for c in shown.red_lines if c.count} == {"private_interpretation"}
    assert plain.seed_id not in {seed.seed_id for seed in shown.seeds}


def test_lines_are_read_and_bad_ones_named_by_field(monkeypatch):
    lines = [
        json.dumps({"note_id": "a", "shape": "island", "refs": [{"ref": A}]}),
        "",
        json.dumps({"note_id": "b", "colour": "secret"}),
        json.dumps({"note_id": "c", "obligation_count": -1}),
        "{",
        json.dumps({"note_id": "d" * noting.LONGEST_LINE}),
    ]
    found = parse(lines)
    assert [note.note_id for note in found.notes] == ["a"]
    named = [row.subject for row in found.rejected]
    assert named == ["line 3: colour", "line 4: obligation_count", "line 5: line", "line 6: line"]
    assert {row.reasons for row in found.rejected} == {("bad_note",)}
    monkeypatch.setattr(noting, "MOST", 1)
    (cut,) = parse([*lines[:1], *lines[:1], *lines[:1]]).truncated
    assert (cut.what, cut.done, cut.of) == ("notes", 1, 3)


def test_bad_notes_are_told_and_the_rest_goes_on(two_groups):
    found = parse([json.dumps({"note_id": "n", "shape": "island", "refs": [{"ref": A}]}), "[]"])
    scouted = topology.scout(two_groups.view(), [], Limits(), found)
    assert [seed.shape for seed in scouted.seeds] == ["island"]
    assert b"bad_note" in to_json(report(scouted, {}))
