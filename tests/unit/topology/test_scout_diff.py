"""Two runs with the same parameters: what is new, stays, is gone, or was not looked at."""

import pytest

import topology
from topology.diff import Baseline, Persisting, diff
from topology.model import Limits, Member, Rejection, Seed, ShapeMetrics, Truncation
from topology.report import is_new, report, to_json, to_markdown, to_table


def a_seed(name, *members, shape="knot", kind="dense", **changes):
    plain = {
        "seed_id": f"s:{name}",
        "shape": shape,
        "kind": kind,
        "level": 1,
        "members": tuple(Member(role="member", node_id=f"c:{each}") for each in members),
        "score": 1.0,
        "sentence": "{member} stands.",
    }
    return Seed(**{**plain, **changes})


@pytest.fixture
def run(two_groups):
    """An empty run that looked at everything."""
    metrics = tuple(
        ShapeMetrics(shape=shape, found=0, tried=0, reported=0)
        for shape in ("knot", "cycle", "weak_bridge")
    )
    scouted = topology.scout(two_groups.view(), [], Limits())
    return scouted.replace(metrics=metrics)


def compared(run, now, before):
    scouted = run.replace(seeds=tuple(now))
    return diff(scouted, now, Baseline(run_id="run:1", seeds=tuple(before)))


def lists(found):
    return (found.new, [each.seed_id for each in found.persisting], found.resolved)


def test_each_seed_is_new_persisting_or_resolved(run):
    found = compared(run, [a_seed("a", 1), a_seed("b", 2)], [a_seed("b", 2), a_seed("c", 3)])
    assert lists(found) == (("s:a",), ["s:b"], ("s:c",))
    assert found.not_checked == ()


def test_a_group_with_one_member_more_is_the_same(run):
    found = compared(run, [a_seed("new", 1, 2, 3, 4)], [a_seed("old", 1, 2, 3)])
    assert found.persisting == (Persisting(seed_id="s:new", was="s:old"),)
    assert (found.new, found.resolved) == ((), ())


def test_a_group_with_too_few_in_common_is_another(run):
    found = compared(run, [a_seed("new", 1, 2, 5, 6)], [a_seed("old", 1, 2, 3)])
    assert lists(found) == (("s:new",), [], ("s:old",))


def test_a_cut_with_the_same_members_is_another_cut(run):
    before = a_seed("old", 1, 2, shape="weak_bridge", kind="order_1")
    now = before.replace(seed_id="s:new")
    assert lists(compared(run, [now], [before])) == (("s:new",), [], ("s:old",))


def test_the_best_match_comes_first_and_each_is_used_once(run):
    before = [a_seed("x", 1, 2, 3, 4), a_seed("y", 1, 2, 3)]
    found = compared(run, [a_seed("n", 1, 2, 3), a_seed("o", 2, 3)], before)
    was = {each.seed_id: each.was for each in found.persisting}
    assert was == {"s:n": "s:y", "s:o": "s:x"}


@pytest.mark.parametrize(
    "changes",
    [
        {"metrics": ()},
        {"metrics": (ShapeMetrics(shape="knot", found=9, tried=5, reported=1),)},
        {"metrics": (ShapeMetrics(shape="knot", found=1, tried=1, reported=0, withheld=1),)},
        {"truncated": (Truncation(shape="knot", what="edges", done=1, of=2),)},
        {"rejected": (Rejection(shape="knot", seed_id="s:old", reasons=("x",)),)},
    ],
)
def test_what_was_not_looked_at_is_not_resolved(run, changes):
    found = compared(run.replace(**changes), [], [a_seed("old", 1, 2)])
    assert (found.not_checked, found.resolved) == (("s:old",), ())


def test_a_seed_that_a_red_line_withheld_is_not_resolved(run):
    old = a_seed("old", 1, 2)
    found = diff(run.replace(seeds=(old,)), [], Baseline(run_id="run:1", seeds=(old,)))
    assert found.not_checked == ("s:old",)


def test_annotated_seeds_are_judged_only_with_notes(run):
    old = a_seed("old", 1, provenance="annotated")
    assert compared(run, [], [old]).not_checked == ("s:old",)
    assert compared(run.replace(notes_read=True), [], [old]).resolved == ("s:old",)


def test_the_report_says_what_is_new(two_groups):
    scouted = topology.scout(two_groups.view(), None, Limits(k_min=4))
    seeds = scouted.seeds
    assert report(scouted, {}).diff is None
    assert not is_new(report(scouted, {}), seeds[0])
    before = Baseline(run_id="run:0", seeds=(*seeds[1:], a_seed("gone", 1)))
    shown = report(scouted, {}, before=before)
    assert shown.baseline == "run:0"
    assert "history" not in shown.cannot_claim
    assert is_new(shown, shown.seeds[0])
    assert "new  " in to_table(shown)
    assert "(new)" in to_markdown(shown)
    line = f"since the last run: 1 new, {len(seeds) - 1} persisting, 1 resolved"
    assert line in to_table(shown)
    assert b'"resolved":["s:gone"]' in to_json(shown)


def test_nothing_before_and_nothing_now_is_said(run):
    shown = report(run, {}, before=Baseline(run_id="run:0", seeds=()))
    assert "since the last run: nothing before, nothing now" in to_table(shown)
