"""Later turns that speak for a hypothesis: links, resolutions, corrections; never likeness."""

import pytest

from dream.evidence import evidence_of, heard, outcomes, record_of
from dream.index import Index
from dream.lifecycle import Evidence
from dream.settings import DreamSettings
from graphstore.ids import concept_id, question_id, thread_id
from graphstore.model.hypothesis import HypothesisState, Imagines, Resonates
from graphstore.model.knowledge import LinkType
from tests.dreamt import a_cycle, a_hypothesis
from tests.fake_derive import a_hypothesis as an_edge
from tests.planted import NOW, Plot, days_ago

OIL, WAX = "Is it the oil on the pallet?", "Does the wax hold on the pallet?"
BORN = days_ago(20)
SETTINGS = DreamSettings()


def plot_of(*lines):
    """(thread, text, days ago, what else is said of it)."""
    plot = Plot()
    for thread, text, days, more in lines:
        plot.say(thread, text, *more.pop("concepts", ()), days=days, **more)
    return plot


def found(hypothesis, plot):
    return [str(each.ref).partition(":test:")[2] for each in evidence_of(hypothesis, index(plot))]


def index(plot):
    return Index(plot.ground())


def rhyme(one, other, kind=Resonates, table="Question", **changes):
    low, high = sorted((one, other))
    return an_edge(kind, low, high, refs=(), src_table=table, dst_table=table).replace(
        created_at=BORN, **changes
    )


def gap(src, dst, rule, **changes):
    table = {"q:": "Question", "c:": "Concept"}.get(dst[:2], "Thread")
    return a_hypothesis(src=src, dst_table=table, dst=dst, rule=rule, created_at=BORN, **changes)


class TestLinks:
    def test_two_questions_that_are_linked_later(self):
        plot = plot_of(("a", OIL, 30, {"asks": True}), ("b", WAX, 5, {"asks": True}))
        held = rhyme(question_id(OIL), question_id(WAX))
        assert found(held, plot) == []
        plot.link(OIL, WAX, LinkType.RELATED)
        assert found(held, plot) == ["a#turn:1", "b#turn:1"]

    def test_a_question_that_names_the_concept_later(self):
        plot = plot_of(("a", OIL, 5, {"asks": True, "concepts": ("oil",)}))
        held = rhyme(question_id(OIL), concept_id("oil"))
        assert found(held, plot) == ["a#turn:1"]

    def test_two_concepts_in_one_turn_are_no_link(self):
        plot = plot_of(("a", "Oil and wax.", 5, {"concepts": ("oil", "wax")}))
        held = rhyme(concept_id("oil"), concept_id("wax"), Imagines, "Concept")
        assert found(held, plot) == []

    def test_the_thread_itself_comes_to_the_concept(self):
        plot = plot_of(
            ("a", "First words.", 30, {}),
            ("a", "Now the wax.", 5, {"concepts": ("wax",)}),
            ("b", "Wax elsewhere.", 5, {"concepts": ("wax",)}),
        )
        held = gap(thread_id("test", "a"), concept_id("wax"), "blind_spot")
        assert found(held, plot) == ["a#turn:2"]
        assert found(gap(thread_id("test", "z"), concept_id("wax"), "blind_spot"), plot) == []


class TestResolutions:
    def test_a_later_human_turn_settles_what_stood_open(self):
        plot = plot_of(
            ("a", OIL, 30, {"asks": True}),
            ("b", "It was the oil, fixed.", 5, {"resolves": OIL}),
        )
        held = gap(thread_id("test", "a"), question_id(OIL), "recurring_question")
        assert found(held, plot) == ["b#turn:1"]

    def test_an_untested_edge_is_tested(self):
        plot = plot_of(
            ("a", OIL, 30, {"asks": True, "concepts": ("oil",)}),
            ("c", "About oil.", 30, {"concepts": ("oil",)}),
            ("a", "I measured the oil with a test strip.", 6, {"concepts": ("oil",)}),
            ("a", "I tested the varnish.", 5, {"concepts": ("varnish",)}),
            ("a", "You should test the oil.", 4, {"concepts": ("oil",), "role": "assistant"}),
            ("c", "I tested the oil.", 3, {"concepts": ("oil",)}),
        )
        held = gap(thread_id("test", "a"), question_id(OIL), "approach_bias")
        assert found(held, plot) == ["a#turn:2"]
        assert found(held.replace(rule="unresolved_edge"), plot) == []
        assert found(held.replace(src=thread_id("test", "z")), plot) == []


class TestCorrections:
    def test_the_same_correction_once_more(self):
        plot = Plot()
        clip = "No, above chart datum."
        refs = [
            plot.say(
                thread,
                clip,
                "datum",
                signals=plot.correct(clip, *concepts, target=target),
                days=days,
            )
            for thread, days, target, concepts in (
                ("a", 40, "claim", ("datum", "sea")),
                ("b", 30, "claim", ("datum",)),
                ("c", 5, "claim", ("datum",)),
                ("d", 4, "scope", ("datum",)),
                ("e", 3, "claim", ("sea",)),
            )
        ]
        held = gap(
            thread_id("test", "b"),
            thread_id("test", "a"),
            "repeated_correction",
            refs=tuple(refs[:2]),
            ref_fingerprints=("b2:1", "b2:2"),
        )
        assert found(held, plot) == ["a#turn:1", "b#turn:1", "c#turn:1"]
        lost = held.replace(refs=(), ref_fingerprints=())
        assert found(lost, plot) == []


class TestSilence:
    @pytest.mark.parametrize(
        "changes", [{"rule": "single_point"}, {"state": HypothesisState.REFUTED}]
    )
    def test_what_no_turn_can_confirm_or_is_closed(self, changes):
        plot = plot_of(("a", OIL, 5, {"asks": True, "concepts": ("oil",)}))
        assert found(rhyme(question_id(OIL), concept_id("oil"), **changes), plot) == []


class TestOutcomes:
    def told(self, held, plot, records=()):
        return list(outcomes((held,), records, index(plot), SETTINGS, NOW))

    def test_each_thread_counts_once_and_each_record_follows_the_one_before(self):
        plot = plot_of(
            ("a", OIL, 30, {"asks": True}),
            ("b", "Fixed.", 9, {"resolves": OIL}),
            ("b", "Fixed, again.", 8, {"resolves": OIL}),
            ("c", "It was the oil.", 7, {"resolves": OIL}),
        )
        held = gap(thread_id("test", "a"), question_id(OIL), "recurring_question", points=30)
        records = self.told(held, plot)
        assert [record.after.points for record in records] == [40, 50]
        assert [record.after.state for record in records] == ["partially_validated", "validated"]
        assert {record.by for record in records} == {"graph"}
        known = records[-1].after
        assert self.told(known, plot, [a_cycle(), *records]) == []
        plot.say("d", "Oil it was.", resolves=OIL, days=1)
        again = self.told(known, plot, [a_cycle(), *records])
        assert [record.after.points for record in again] == [60]

    def test_what_was_heard_is_read_from_records(self):
        evidence = Evidence(
            event_id="e:1", verdict="contradicted", ref="r", lineage="l", at=NOW, by="owner"
        )
        record = record_of(evidence, a_hypothesis())
        assert heard([a_cycle(), record]) == {a_hypothesis().hypothesis_id: [evidence]}

    def test_evidence_without_a_time_makes_no_record(self):
        undated = Evidence(
            event_id="e:1", verdict="confirmed", ref="r", lineage="l", at=None, by="graph"
        )
        with pytest.raises(ValueError, match="without a time"):
            record_of(undated, a_hypothesis())
