"""Figures of an evaluation, by hand on small histories."""

import pytest

from dream.evaluation.chance import DRAWS, Odds, bucket, drawn, interval
from dream.evaluation.recalled import (
    ManualReview,
    Tally,
    added,
    brought_by,
    compare,
    judge,
    report,
    wanted,
)
from dream.evaluation.report import TOO_LITTLE, evaluation, over_cuts, rows
from dream.evaluation.rivals import Rivals
from dream.evaluation.sides import Pool, ordered
from dream.index import Index
from graphstore.ids import concept_id, question_id
from graphstore.model.hypothesis import Anticipates, HypothesisState
from graphstore.model.knowledge import LinkType
from graphstore.model.record import Count
from tests.dreamt import a_hypothesis
from tests.planted import NOW, Plot, days_ago
from tests.replayed import a_cut, sides, unlike, until

T = 50
BEFORE, AFTER = 60, 10
APART = Pool("meet", "Concept", "Concept", apart=True)


def a_plot(met=8, rest=8) -> Plot:
    """Pairs of concepts with one between them; the first ``met`` of them meet later."""
    plot = Plot()
    for at in range(met + rest):
        one, other, middle = f"left {at:02d}", f"right {at:02d}", f"middle {at:02d}"
        for name, own in (("l", one), ("r", other)):
            ref = plot.say(f"{name}{at}", f"{own} and {middle}.", own, middle, days=BEFORE)
            plot.relates.append((own, middle, ref))
            plot.say(f"{name}{at}b", f"{own} again.", own, days=BEFORE)
        if at < met:
            ref = plot.say(f"m{at}", f"{one} with {other}.", one, other, days=AFTER)
            plot.relates.append((one, other, ref))
    return plot


def anticipates(at: int, to: int | None = None, **changes):
    """A hypothesis that a left concept and a right one may meet."""
    src, dst = concept_id(f"left {at:02d}"), concept_id(f"right {at if to is None else to:02d}")
    base = a_hypothesis(hypothesis_id=f"h:{at}-{to}").model_dump(exclude={"edge"})
    return Anticipates.model_validate(
        {
            **base,
            "function": "prospective",
            "rule": "emergence_signal",
            "src_table": "Concept",
            "src": src,
            "dst_table": "Concept",
            "dst": dst,
            **changes,
        }
    )


def test_every_row_has_its_precision_recall_and_lift():
    hypotheses = [anticipates(at) for at in range(6)] + [anticipates(0, 9), anticipates(9)]
    cut = a_cut(a_plot(20, 2), T, hypotheses)
    rule, function, total = rows((cut,))
    assert (rule.name, function.name, total.name) == (
        "rule emergence_signal",
        "function prospective",
        "total",
    )
    assert [each.precision for each in total.at] == [1.0, 1.0, 0.875, 0.875, 0.875]
    assert (total.candidates, total.hits, total.possible) == (8, 7, 20)
    assert total.recall == 7 / 20
    assert total.note == ""
    assert total.lift.lift == pytest.approx(7 / total.lift.expected, rel=1e-4)
    assert (total.lift.low or 0) > 1


def test_fewer_than_twenty_possible_hits_give_no_lift():
    (_, _, total) = rows((a_cut(a_plot(19, 2), T, [anticipates(0)]),))
    assert (total.possible, total.note) == (19, TOO_LITTLE)
    assert (total.lift.lift, total.lift.low, total.lift.high) == (None, None, None)
    assert {each.lift for each in total.rivals} == {None}


def test_baselines_choose_as_many_from_the_same_pairs():
    hypotheses = [anticipates(at, at + 1) for at in range(8)]
    total = rows((a_cut(a_plot(20, 2), T, hypotheses),))[-1]
    got = {each.name: each.at[-1].hits for each in total.rivals}
    assert total.hits == 0
    # 22 pairs have a middle in common, 20 of them meet: eight of them, ties shared
    assert got["common_neighbours"] == pytest.approx(8 * 20 / 22, abs=1e-3)
    assert got["adamic_adar"] == got["resource_allocation"] == got["common_neighbours"]
    assert got["static_vectors"] == pytest.approx(8 * 20 / total.pool, abs=1e-3)
    assert {each.at[-1].of for each in total.rivals} == {8}


def test_a_baseline_may_take_every_pair_there_is():
    pool = a_cut(a_plot(2, 0), T, [anticipates(0)]).pools[APART]
    assert pool.best("preferential_attachment", 10_000) == pool.possible == 2


def test_likeness_of_wording_is_asked_once_for_each_end():
    asked = []

    def alike(near, far):
        asked.append((tuple(near), tuple(far)))
        return [[float(one[-2:] == other[-2:]) for other in far] for one in near]

    plot = a_plot(2, 1)
    plot.say("l0", "Does it hold?", asks=True, days=BEFORE)
    found = sides(plot, T)
    rivals = Rivals(found, alike)
    pairs = tuple(found.pairs(APART))
    scores = dict(zip(pairs, rivals.scores("static_vectors", pairs, APART), strict=True))
    assert scores[ordered(concept_id("left 00"), concept_id("right 00"))] == 1.0
    assert len(asked) == 1
    assert rivals.scores("static_vectors", (), APART) == []
    own = Pool("settle", "Thread", "Question")
    assert len(rivals.scores("static_vectors", tuple(found.pairs(own)), own)) == 1
    assert asked[1] == (("left 00 and middle 00.\nDoes it hold?",), ("Does it hold?",))


def test_what_no_turn_can_judge_is_counted_apart():
    cut = a_cut(a_plot(), T, [anticipates(0), a_hypothesis(src="test:l0", rule="single_point")])
    told = evaluation([cut], 50, 3, (Count(name="has_cues", count=2),), report(Tally(), None))
    assert (told.cuts[0].silent, told.pooled[-1].candidates) == (1, 1)
    assert (told.undated, told.failed_checks[0].count) == (3, 2)
    assert any(line.startswith("truth") for line in told.cannot_claim)
    assert any(line.startswith("causal effect") for line in told.cannot_claim)
    assert any(line.startswith("usefulness") for line in told.cannot_claim)


def test_without_hypotheses_every_figure_is_null_or_zero():
    (total,) = rows((a_cut(a_plot(), T, []),))
    assert (total.candidates, total.hits, total.recall, total.lift.lift) == (0, 0, None, None)
    assert rows(())[-1].lift.expected == 0


def test_cuts_are_pooled_and_their_mean_has_a_spread():
    one = a_cut(a_plot(20, 2), T, [anticipates(0), anticipates(1)])
    other = a_cut(a_plot(20, 2), T, [anticipates(0), anticipates(1, 5)])
    total = rows((one, other))[-1]
    assert (total.candidates, total.hits, total.mean_precision) == (4, 3, 0.75)
    assert total.spread == pytest.approx(1.96 * 0.25, abs=1e-6)
    assert rows((one,))[-1].spread is None
    assert over_cuts([()]) == (None, None)


class TestChance:
    def test_alike_are_pairs_of_equally_long_degrees(self):
        assert bucket(3, 8, directed=False) == bucket(9, 2, directed=False) == (2, 4)
        assert bucket(3, 8, directed=True) != bucket(8, 3, directed=True)

    def test_odds_are_shares_of_a_bucket(self):
        odds = Odds.of(
            [(1, 1), (1, 1), (2, 2)], [("a", "b"), ("a", "c"), ("b", "c")], frozenset({("a", "b")})
        )
        assert odds.shares == {(1, 1): 0.5, (2, 2): 0.0}

    def test_draws_are_the_same_each_time_and_keep_to_the_odds(self):
        sums = drawn("seed", [0.25, 0.25, 0.0])
        assert len(sums) == DRAWS
        assert sums == drawn("seed", [0.25, 0.25, 0.0])
        assert sums != drawn("other", [0.25, 0.25, 0.0])
        assert sum(sums) / DRAWS == pytest.approx(0.5, abs=0.06)

    def test_an_interval_leaves_out_a_fortieth_at_each_end(self):
        assert interval(range(1001)) == (25, 975)


class TestRecall:
    def asked(self):
        plot = a_plot(1, 0)
        text = "Do left and right meet in the middle?"
        plot.say("q", text, "left 00", "middle 00", asks=True, days=AFTER)
        plot.say("q", "Thanks.", role="assistant", days=AFTER)
        return plot, text

    def test_a_later_question_wants_turns_that_name_two_of_its_concepts(self):
        plot, text = self.asked()
        then, whole = Index(until(plot, T).ground()), Index(plot.ground())
        (one,) = wanted(then, whole, days_ago(T), NOW)
        assert one.text == text
        assert one.refs == {plot.lines["test:l0"][0].ref}

    def test_it_wants_askings_of_what_it_is_linked_to(self):
        plot, text = self.asked()
        before = "Is there anything in the middle?"
        ref = plot.say("r0", before, asks=True, days=BEFORE)
        plot.link(before, text, LinkType.RELATED)
        aside = ("Is it wet?", "Is it very wet?")
        for each in aside:
            plot.say("w", each, asks=True, days=BEFORE)
        plot.link(*aside)
        then, whole = Index(until(plot, T).ground()), Index(plot.ground())
        (one,) = wanted(then, whole, days_ago(T), NOW)
        assert ref in one.refs

    def test_a_question_that_wants_nothing_is_not_put(self):
        plot = a_plot(1, 0)
        plot.say("q", "Is it late?", asks=True, days=AFTER)
        assert wanted(Index(until(plot, T).ground()), Index(plot.ground()), days_ago(T), NOW) == ()

    def test_what_a_hypothesis_brings_takes_the_last_places(self):
        plot, _ = self.asked()
        near, far = plot.lines["test:l0"][0].ref, plot.lines["test:r0"][0].ref
        then, whole = Index(until(plot, T).ground()), Index(plot.ground())
        asked = wanted(then, whole, days_ago(T), NOW)
        rhyme = anticipates(0, refs=(near, far), ref_fingerprints=("b2:1", "b2:2"))
        tally = Tally()
        compare(tally, asked, [rhyme], lambda *_: (far,), then)
        assert (tally.hits, tally.rows, tally.bridged) == ((0, 1), 1, 1)
        compare(tally, asked, [], lambda *_: (far,), then)
        told = report(tally, None)
        assert (told.plain.hit_rate, told.with_hypotheses.hit_rate) == (0.0, 0.5)
        assert (told.reflection_rows, told.bridge_coverage) == (1, 0.5)
        assert told.with_hypotheses.thread_coverage == 0.5
        assert {axis.name: axis.value for axis in told.axes} == {
            "structural_validity": None,
            "recall_utility": 0.5,
            "action_utility": None,
            "annoyance": 0.0,
            "stale_handling": None,
        }

    def test_at_most_two_turns_are_brought_and_none_that_is_there(self):
        one = anticipates(0, refs=("a", "b", "c", "d"), ref_fingerprints=("1",) * 4)
        assert brought_by(("a", "b"), [one]) == ("c", "d")
        assert brought_by(("a",), [one]) == ("b", "c")
        assert brought_by(("e",), [one]) == ()

    def test_what_is_stale_is_kept_silent(self):
        plot, _ = self.asked()
        turn = plot.lines["test:l0"][0].node(1)
        held = anticipates(0, refs=(turn.ref,), ref_fingerprints=(turn.fingerprint,))
        gone = anticipates(1, refs=("x",), ref_fingerprints=("b2:1",))
        tally = Tally()
        later = Index(plot.ground())
        judge(tally, [held, gone], later, NOW)
        assert (tally.hypotheses, tally.held, tally.stale, tally.silent) == (2, 1, 1, 1)
        judge(tally, [held.replace(state=HypothesisState.REFUTED)], later, NOW)
        assert (tally.stale, tally.silent) == (2, 2)

    def test_tallies_of_several_histories_add_up(self):
        one, other = (Tally(n, (n, n), (n / 2, n), *[n] * 8) for n in (1, 2))
        assert added(one, other) == Tally(3, (3, 3), (1.5, 3), *[3] * 8)

    def test_what_only_a_person_can_tell_comes_from_the_review(self):
        told = report(Tally(), ManualReview(reviewed=10, useful=4, annoying=1))
        values = {axis.name: (axis.value, axis.basis) for axis in told.axes}
        assert values["action_utility"] == (0.4, "manual review")
        assert values["annoyance"] == (0.1, "manual review")


def test_a_hypothesis_on_a_pair_that_was_never_open_has_no_chance():
    plot = a_plot(20, 0)
    ref = plot.say("x", "left and right.", "left 00", "right 00", days=BEFORE)
    plot.relates.append(("left 00", "right 00", ref))
    question = question_id("nobody asked")
    odd = a_hypothesis(src="test:l0", dst=question)
    total = rows((a_cut(plot, T, [odd], likeness=unlike),))[-1]
    assert (total.candidates, total.hits, total.lift.expected) == (1, 0, 0)
